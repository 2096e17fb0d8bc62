"""The one method of a model client, and what passes through it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cognitive.protocols import Usage
from worlds.api import Json


class Request(NamedTuple):
    """A chat completion to ask for; `schema` is the reduced reply schema or None."""

    model: str
    messages: tuple[Json, ...]
    schema: Json
    temperature: float | None
    max_output_tokens: int
    seed: int | None


class Completion(NamedTuple):
    """What came back; `level` is the structured-output level that was used."""

    text: str
    finish_reason: str
    usage: Usage
    attempts: int
    measured_ms: int
    level: str
    model: str


class Client(Protocol):
    """Any endpoint. Raises ClientTimeout, ClientRefused, ClientUnavailable."""

    async def complete(self, request: Request, scope: str) -> Completion: ...

    async def close(self) -> None: ...
