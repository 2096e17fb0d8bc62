"""What is to be known about an endpoint before the first call: a table of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args, get_type_hints
from urllib.parse import urlsplit

from cognitive.clients.secrets import scrub
from cognitive.errors import ConfigError
from cognitive.protocols import Usage
from worlds.api import Json

__all__ = ["EndpointProfile", "read_profile"]

Level = Literal["json_schema", "json_object", "text"]
TokenParameter = Literal["max_completion_tokens", "max_tokens"]


@dataclass(frozen=True)
class EndpointProfile:
    """An OpenAI-compatible endpoint, a model of it, and how it is used.

    `base_url` may stay empty for OpenAI itself. Keys are never part of a profile.
    """

    model: str
    """Name of the model, as the endpoint knows it."""
    label: str = "endpoint"
    """What events and messages call the endpoint; never its address."""
    base_url: str = ""
    """Address of the service, up to and including /v1; for Azure that of the resource."""
    api_key_env: str = "OPENAI_API_KEY"
    """Name of the variable that holds the key; empty for a service that needs none."""
    service: Literal["openai", "azure"] = "openai"
    """Azure puts deployment and version into its addresses."""
    azure_deployment: str = ""
    """Name of the deployment; empty: the model's name."""
    api_version: str = ""
    """Version of Azure's interface."""
    schema_level: Level = "json_schema"
    """Structured output to begin with; steps down by itself when the endpoint refuses."""
    token_parameter: TokenParameter = "max_completion_tokens"
    """Name of the output limit to begin with; the other one is tried when it is refused."""
    temperature: float | None = 0.7
    """Sampling temperature; none leaves it out."""
    seed: int | None = None
    """Sampling seed; none leaves it out."""
    size: Literal["full", "small"] = "full"
    """For small models: short prompts, and a schema that keeps texts and lists short."""
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of every request, for switches only this service has."""
    connect_s: float = 5.0
    """Seconds to reach the service."""
    attempt_s: float = 60.0
    """Seconds for one request and its answer."""
    try_s: float = 120.0
    """Seconds for an answer in all, with every retry and wait."""
    attempts: int = 5
    """Requests made for one answer before giving up."""
    concurrency: int = 16
    """Requests in flight at once."""
    price_in: float = 0.0
    """Money for a million prompt tokens."""
    price_out: float = 0.0
    """Money for a million completion tokens."""

    def __post_init__(self) -> None:
        findings = [text for name in _BOUNDS for text in self._outside(name)]
        if self.service == "azure" and not (self.base_url and self.api_version):
            findings.append('service = "azure": base_url and api_version are needed')
        if self.base_url and not _is_address(self.base_url):
            shown = scrub(self.base_url, None)
            findings.append(f"base_url = {shown!r}: allowed http(s)://host[:port]/path")
        if not self.model:
            findings.append('model = "": the name of a model is needed')
        if findings:
            raise ConfigError("; ".join(findings))

    def _outside(self, name: str) -> list[str]:
        low, high = _BOUNDS[name]
        value = vars(self)[name]
        if value is None or low <= value <= high:
            return []
        return [f"{name} = {value}: allowed {low} to {high}"]

    def money(self, usage: Usage) -> int:
        """The price of `usage` in millionths, rounded up."""
        exact = _exact(self.price_in) * usage.prompt + _exact(self.price_out) * usage.completion
        return -(-exact.numerator // exact.denominator)


_BOUNDS: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "connect_s": (0.01, 600.0),
    "attempt_s": (0.01, 3600.0),
    "try_s": (0.01, 3600.0),
    "attempts": (1, 100),
    "concurrency": (1, 4096),
    "price_in": (0.0, 1e6),
    "price_out": (0.0, 1e6),
}


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _exact(price: float) -> Fraction:
    return Fraction(str(price))


def read_profile(table: Mapping[str, Any]) -> EndpointProfile:
    """A profile from a table of a settings file. Raises ConfigError with all findings."""
    hints = get_type_hints(EndpointProfile)
    findings = []
    for key, value in table.items():
        if key not in hints:
            findings.append(f'unknown setting "{key}"; an endpoint has: {", ".join(hints)}')
        elif not _fits(value, hints[key]):
            findings.append(f"{key} = {value!r}: allowed {_allowed(hints[key])}")
    if "model" not in table:
        findings.append("model: the name of a model is needed")
    if findings:
        raise ConfigError("; ".join(findings))
    return EndpointProfile(**table)


def _fits(value: object, hint: Any) -> bool:
    if _is_choice(hint):
        return value in get_args(hint)
    kinds = _KINDS[hint][0]
    return isinstance(value, kinds) and not isinstance(value, bool)


def _allowed(hint: Any) -> str:
    return ", ".join(get_args(hint)) if _is_choice(hint) else _KINDS[hint][1]


def _is_choice(hint: Any) -> bool:
    return hint not in _KINDS


_KINDS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    int: ((int,), "an integer"),
    int | None: ((int, type(None)), "an integer, or none"),
    float: ((float, int), "a number"),
    float | None: ((float, int, type(None)), "a number, or none"),
    Mapping[str, Json]: ((Mapping,), "a table"),
}
