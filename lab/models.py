"""Planners, models and services named on the command line, in place of those of a preset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cognitive.errors import ConfigError
from lab import settings

_UNFIT = re.compile(r"[^A-Za-z0-9.-]+")


class Choice(NamedTuple):
    """What the options say; None leaves the preset as it is.

    planner: of every agent. model: of every agent, and the name of its planner. endpoint: address
    of every model. key_env: variable with the key of that endpoint; none is sent without.
    """

    planner: str | None = None
    model: str | None = None
    endpoint: str | None = None
    key_env: str | None = None

    def check(self) -> None:
        """Raise ConfigError for options that do not go together."""
        if self.planner and self.model:
            raise ConfigError("--planner and --model: give one of them")
        if self.key_env and not self.endpoint:
            raise ConfigError("--key-env: only with --endpoint")
        if self.endpoint and not self.endpoint.startswith(("http://", "https://")):
            raise ConfigError(f"--endpoint {self.endpoint}: allowed an address with http or https")

    @property
    def name(self) -> str | None:
        """The planner that is to play for everybody, if one is chosen."""
        return self.planner or (_UNFIT.sub("-", self.model) if self.model else None)

    def planners(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """The tables of named planners, with the model that was chosen and the endpoint of all."""
        tables = {name: dict(table) for name, table in named.items()}
        if self.model and self.name:
            tables[self.name] = {"kind": "llm", "model": self.model}
        return {name: self.pointed(table) for name, table in tables.items()}

    def pointed(self, planner: Any) -> Any:
        """A planner as settings have it, at the endpoint that was chosen if it is a model."""
        if not self.endpoint or not isinstance(planner, Mapping) or planner.get("kind") != "llm":
            return planner
        service = {"base_url_env": settings.ENDPOINT_ADDRESS, "api_key_env": self.key_env or ""}
        return {**planner, **service}

    def announce(self) -> None:
        """Tell this process and its children where the endpoint is."""
        if self.endpoint:
            settings.set_endpoint_address(self.endpoint)
