"""The methods of a model client, and what passes through them."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from cognitive.errors import ConfigError
from cognitive.protocols import Usage
from worlds.api import Json

__all__ = ["Client", "Completion", "Request", "Secret", "Transport", "estimated_usage", "scrub"]

CHARACTERS_PER_TOKEN = 4
SHORTEST_SECRET = 4


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


# --- secrets -------------------------------------------------------------------------------------


class Secret:
    """A key that shows itself to nobody who does not ask.

    Blanks around it are dropped; raises ConfigError for what no header can carry.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if not re.fullmatch(r"[!-~]*", self._text):
            raise ConfigError("a key must be made of printable ASCII characters without blanks")

    def reveal(self) -> str:
        """The key itself, for the one header it belongs in."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        raise TypeError("a secret is not written to any file")


_HEADERS = re.compile(
    r"(?i)\b(authorization|(?:x-)?api[-_]key)(['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",;}]+"
)
_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")


def scrub(text: str, secret: Secret | None) -> str:
    """`text` without the key, without values of key headers and without logins in addresses."""
    cleaned = _LOGIN.sub("***@", _HEADERS.sub(r"\1\2***", text))
    return without_key(cleaned, secret)


def without_key(text: str, secret: Secret | None) -> str:
    """`text` with the key blanked and nothing else changed."""
    if secret is None or len(secret.reveal()) < SHORTEST_SECRET:
        return text
    return text.replace(secret.reveal(), "***")
