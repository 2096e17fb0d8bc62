"""What a model service can do, as findings of the doctor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from importlib import util
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from cognitive.clients.probe import Probed, probe
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.secrets import Secret
from cognitive.errors import ConfigError
from lab.doctor import Finding, State
from lab.settings import secret

ENDPOINT_SECONDS = 5
MAX_LISTED_BYTES = 1_000_000
PATIENCE: Mapping[str, Any] = {"attempt_s": 30.0, "try_s": 30.0, "attempts": 1}


def endpoint(address: str, model: str | None, key_env: str | None) -> list[Finding]:
    """Whether the service can be reached, and what a handful of short calls show of it.

    model: None is the first it lists. key_env: variable with its key; ConfigError if it is not set.
    """
    if not address.startswith(("http://", "https://")):
        return [Finding("endpoint", "broken", f"{address}: allowed an address with http or https")]
    key = secret(key_env or "", "doctor")
    reached, models = _listed(address, key)
    name = model or next(iter(models), None)
    if reached.state != "ok" or util.find_spec("openai") is None:
        return [reached]
    if name is None:
        why = "it lists no model; name one with --model, and a key's variable with --key-env"
        return [reached, Finding("endpoint answers", "missing", why)]
    try:
        profile = EndpointProfile(name, base_url=address, **PATIENCE)
    except ConfigError as problem:
        return [Finding("endpoint", "broken", str(problem))]
    return [reached, *map(_probed, asyncio.run(probe(profile, key)))]


def _listed(address: str, key: Secret | None) -> tuple[Finding, list[str]]:
    """Whether somebody answers there, and the models it lists."""
    headers = {} if key is None else {"Authorization": f"Bearer {key.reveal()}"}
    try:
        asked = Request(f"{address.rstrip('/')}/models", headers=headers)
        with urlopen(asked, timeout=ENDPOINT_SECONDS) as answer:
            body = answer.read(MAX_LISTED_BYTES)
            return Finding("endpoint", "ok", f"{address} answers {answer.status}"), _names(body)
    except HTTPError as answer:
        return Finding("endpoint", "ok", f"{address} answers {answer.code}"), []
    except (URLError, OSError, ValueError) as problem:
        reason = problem.reason if isinstance(problem, URLError) else problem
        return Finding("endpoint", "broken", f"{address} cannot be reached: {reason}"), []


def _names(body: bytes) -> list[str]:
    """Names in a list of models; none if it is no such list."""
    try:
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def _probed(found: Probed) -> Finding:
    state: State = "ok" if found.state == "ok" else "missing"
    return Finding(f"endpoint {found.what}", state, found.text)
