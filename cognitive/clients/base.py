"""The methods of a model client, and what passes through them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cognitive.protocols import Usage
from worlds.api import Json

__all__ = ["Client", "Completion", "Request", "Transport", "estimated_usage"]

CHARACTERS_PER_TOKEN = 4


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
    """Any endpoint. Raises ClientTimeout, ClientRefused, ClientUnavailable, ReplyFormatError."""

    async def complete(self, request: Request, scope: str) -> Completion: ...

    async def close(self) -> None: ...


class Transport(Protocol):
    """One request and its answer within `limit_s` seconds; raises as a client does."""

    async def attempt(self, request: Request, scope: str, limit_s: float) -> Completion: ...

    async def close(self) -> None: ...


def estimated_usage(request: Request, text: str) -> Usage:
    """Tokens counted from characters, four to a token, for endpoints that report none."""
    asked = sum(len(message["content"]) for message in request.messages)
    prompt, completion = _tokens(asked), _tokens(len(text))
    return Usage(prompt, completion, prompt + completion, True)


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
