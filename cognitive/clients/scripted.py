"""A client whose replies and faults are written down beforehand; the double of every endpoint."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from cognitive.clients.base import Completion, Request, estimated_usage
from cognitive.clients.refusals import connection_error, status_error
from cognitive.errors import ClientError, ClientTimeout
from cognitive.protocols import Usage

__all__ = ["Drop", "Scripted", "Slow", "Status", "Text", "Timeout", "addressed"]


class Text(NamedTuple):
    """A reply, with the reason why it ended and the tokens it is said to have cost."""

    text: str
    finish_reason: str = "stop"
    tokens: int | None = None


class Timeout(NamedTuple):
    """No answer within the time limit."""


class Status(NamedTuple):
    """An HTTP status instead of an answer."""

    status: int
    retry_after: float | None = None
    text: str = ""


class Drop(NamedTuple):
    """The connection is lost."""


class Slow(NamedTuple):
    """A reply that takes its time."""

    ms: int
    text: str = "{}"


Move = str | Text | Timeout | Status | Drop | Slow
Script = Iterable[Move] | Mapping[tuple[int, str], Iterable[Move]] | Callable[[Request, str], Move]

_HEADER = re.compile(r"^agent_(\d+), decision (\w+)", re.MULTILINE)


def addressed(request: Request) -> tuple[int, str] | None:
    """Agent and kind of decision that a prompt is for, read from its header."""
    found = _HEADER.search(request.messages[1]["content"]) if len(request.messages) > 1 else None
    return (int(found[1]), found[2]) if found else None


class Scripted:
    """Client and transport in one: a list of moves, one per (agent, kind), or a function.

    A list that has come to its end is an error of the test: IndexError. `requests` keeps what was
    asked, as (scope, request).
    """

    def __init__(self, script: Script, level: str = "json_schema") -> None:
        self.requests: list[tuple[str, Request]] = []
        self.is_closed = False
        self._level = level
        self._next = _chooser(script)

    async def complete(self, request: Request, scope: str) -> Completion:
        """The next reply of the script, as a client without time limit."""
        return await self.attempt(request, scope, float("inf"))

    async def attempt(self, request: Request, scope: str, limit_s: float) -> Completion:
        """The next reply of the script, as a transport."""
        self.requests.append((scope, request))
        move = self._next(request, scope)
        if isinstance(move, Slow):
            return await self._slow(move, request, limit_s)
        if isinstance(move, Timeout):
            raise _lasting(ClientTimeout("scripted: no answer", "timeout", retry="later"), limit_s)
        if isinstance(move, Status):
            after = None if move.retry_after is None else str(move.retry_after)
            raise status_error("scripted", move.status, move.text, after)
        if isinstance(move, Drop):
            raise connection_error("scripted", "the connection was dropped")
        return self._completion(Text(move) if isinstance(move, str) else move, request, 1)

    async def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True

    async def _slow(self, move: Slow, request: Request, limit_s: float) -> Completion:
        await asyncio.sleep(min(move.ms / 1000, limit_s))
        if move.ms / 1000 > limit_s:
            raise _lasting(ClientTimeout("scripted: too slow", "timeout", retry="later"), limit_s)
        return self._completion(Text(move.text), request, move.ms)

    def _completion(self, move: Text, request: Request, ms: int) -> Completion:
        usage = estimated_usage(request, move.text)
        if move.tokens is not None:
            usage = Usage(usage.prompt, move.tokens, usage.prompt + move.tokens, False)
        return Completion(move.text, move.finish_reason, usage, 1, ms, self._level, request.model)


def _lasting(error: ClientError, limit_s: float) -> ClientError:
    error.measured_ms = 0 if limit_s == float("inf") else round(limit_s * 1000)
    return error


def _chooser(script: Script) -> Callable[[Request, str], Move]:
    if callable(script):
        return script
    if isinstance(script, Mapping):
        queues = {key: list(moves) for key, moves in script.items()}
        return lambda request, scope: queues[addressed(request) or (-1, "")].pop(0)
    moves = list(script)
    return lambda request, scope: moves.pop(0)
