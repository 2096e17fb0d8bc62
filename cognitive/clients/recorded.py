"""Recorded replies: written while a run is live, given back when it is played again.

A cassette is a file of lines, one per completion or final error. The key of a line is its scope
(`run/dialogue/decision/try`) and the hash of what was asked, so equal prompts are two samples and
no order of arrival enters. A line `{"stop": ...}` says that the recorded run was stopped there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cognitive.clients.base import Client, Completion, Request
from cognitive.errors import (
    ClientError,
    ClientRefused,
    ClientTimeout,
    ClientUnavailable,
    RecordError,
    ReplyFormatError,
    RunStopped,
)
from cognitive.protocols import Usage
from worlds.api import Json

__all__ = [
    "Cassette",
    "Filled",
    "Recording",
    "Replayed",
    "first_difference",
    "read_cassette",
    "request_hash",
    "stop_mark",
]

VERSION = 1
_ERRORS: Mapping[str, type[ClientError]] = {
    kind.__name__: kind
    for kind in (ClientTimeout, ClientRefused, ClientUnavailable, ReplyFormatError)
}
_LINE_FIELDS = frozenset({"scope", "hash", "request", "completion", "error", "charge_ms"})


def request_hash(request: Request) -> str:
    """SHA-256 hex of the canonical JSON of what is asked, version included."""
    return sha256(_canonical({"v": VERSION, **request._asdict()}).encode()).hexdigest()


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def stop_mark(ended_by: str, step: int) -> Json:
    """The line that ends the cassette of a run that was stopped before its end."""
    return {"stop": ended_by, "step": step}


# --- the file ------------------------------------------------------------------------------------


class Cassette(NamedTuple):
    """Recorded lines by scope and hash; `stop` is the mark of a stopped run, if it is the last."""

    lines: Mapping[tuple[str, str], Json]
    by_scope: Mapping[str, Json]
    stop: Json


def read_cassette(path: Path) -> Cassette:
    """The lines of a cassette; an unfinished last line is left out. Raises RecordError."""
    lines: dict[tuple[str, str], Json] = {}
    by_scope: dict[str, Json] = {}
    stop: Json = None
    data = path.read_bytes() if path.exists() else b""
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        line = _parsed(raw, f"{path}, line {number}")
        stop = line if "stop" in line else None
        if stop is None:
            lines[line["scope"], line["hash"]] = line
            by_scope[line["scope"]] = line
    return Cassette(lines, by_scope, stop)


def _parsed(raw: bytes, place: str) -> dict[str, Json]:
    try:
        line = json.loads(raw)
    except ValueError as problem:
        raise RecordError(f"{place}: no JSON: {problem}") from None
    if not isinstance(line, dict) or not ("stop" in line or line.keys() >= _LINE_FIELDS):
        raise RecordError(f"{place}: no recorded reply; one has {', '.join(sorted(_LINE_FIELDS))}")
    return line


def _line(request: Request, scope: str) -> dict[str, Json]:
    return {"scope": scope, "hash": request_hash(request), "request": request._asdict()}


def _given_back(line: Json, scope: str, may_retry: Callable[[str], bool]) -> Completion:
    """The recorded completion, its measured time being what was charged for it.

    Raises the recorded error instead, if it was one.
    """
    for _ in range(line["attempts"] - 1):
        may_retry(scope)
    if line["error"] is not None:
        raise _recorded_error(line)
    stored = {**line["completion"], "measured_ms": line["charge_ms"]}
    return Completion(**{**stored, "usage": Usage(**stored["usage"])})


def _recorded_error(line: Json) -> ClientError:
    stored = line["error"]
    kind = _ERRORS.get(stored["class"], ClientUnavailable)
    tokens = (stored["tokens"][0], stored["tokens"][1])
    error = kind(stored["message"], stored["cause"], tokens=tokens, text=stored["text"])
    error.attempts, error.measured_ms = line["attempts"], line["charge_ms"]
    return error


# --- clients -------------------------------------------------------------------------------------


class Recording:
    """Writes every completion and final error before it is handed on.

    An error that ends the run is not written: a resumed run asks again at that place.
    charge: what the clock charges for an outcome, stored for replays of latency `recorded`.
    """

    def __init__(
        self,
        inner: Client,
        write: Callable[[Json], None],
        charge: Callable[[Completion | ClientError], int],
    ) -> None:
        self._inner = inner
        self._write = write
        self._charge = charge

    async def complete(self, request: Request, scope: str) -> Completion:
        """Ask, write down, hand on."""
        try:
            completion = await self._inner.complete(request, scope)
        except ClientError as error:
            if not error.ends_run:
                self._write(self._error_line(request, scope, error))
            raise
        self._write(
            {
                **_line(request, scope),
                "completion": {**completion._asdict(), "usage": completion.usage._asdict()},
                "error": None,
                "attempts": completion.attempts,
                "measured_ms": completion.measured_ms,
                "charge_ms": self._charge(completion),
            }
        )
        return completion

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()

    def _error_line(self, request: Request, scope: str, error: ClientError) -> Json:
        stored = {
            "class": type(error).__name__,
            "cause": error.cause,
            "message": str(error),
            "tokens": list(error.tokens),
            "text": error.text,
        }
        return {
            **_line(request, scope),
            "completion": None,
            "error": stored,
            "attempts": error.attempts,
            "measured_ms": error.measured_ms,
            "charge_ms": self._charge(error),
        }


class Replayed:
    """Gives back recorded replies and asks nobody.

    may_retry: as of the client that was recorded; called for every further request it made.
    """

    def __init__(
        self, cassette: Cassette, may_retry: Callable[[str], bool] = lambda scope: True
    ) -> None:
        self._cassette = cassette
        self._may_retry = may_retry

    async def complete(self, request: Request, scope: str) -> Completion:
        """The recorded reply. Raises RecordError if there is none for this question.

        Raises RunStopped where the recorded run had been stopped.
        """
        line = self._cassette.lines.get((scope, request_hash(request)))
        if line is not None:
            return _given_back(line, scope, self._may_retry)
        recorded = self._cassette.by_scope.get(scope)
        if recorded is None and self._cassette.stop is not None:
            ended_by = self._cassette.stop["stop"]
            raise RunStopped(f"the recorded run ends here: {ended_by}", ended_by, ends_run=True)
        raise RecordError(_missing(request, scope, recorded))

    async def close(self) -> None:
        """Nothing is open."""


class Filled:
    """Gives back what is recorded, as `Replayed` does, and asks for the rest."""

    def __init__(
        self,
        cassette: Cassette,
        live: Client,
        may_retry: Callable[[str], bool] = lambda scope: True,
    ) -> None:
        self._cassette = cassette
        self._live = live
        self._may_retry = may_retry

    async def complete(self, request: Request, scope: str) -> Completion:
        """The recorded reply, or else a new one."""
        line = self._cassette.lines.get((scope, request_hash(request)))
        if line is None:
            return await self._live.complete(request, scope)
        return _given_back(line, scope, self._may_retry)

    async def close(self) -> None:
        """Close what is below."""
        await self._live.close()


# --- differences ---------------------------------------------------------------------------------


def _missing(request: Request, scope: str, recorded: Json) -> str:
    if recorded is None:
        return f"no recorded reply for {scope}"
    return f"{scope}: the question differs from the recorded one in {_where(request, recorded)}"


def _where(request: Request, recorded: Json) -> str:
    now = json.loads(json.dumps(request._asdict()))
    for name in Request._fields:
        if now[name] != recorded["request"].get(name):
            if name == "messages":
                return first_difference(recorded["request"]["messages"], now["messages"])
            return f"{name} ({recorded['request'].get(name)} recorded, {now[name]} now)"
    return "its version"


def first_difference(recorded: Json, now: Json) -> str:
    """The heading of the first section in which two lists of messages differ."""
    if len(recorded) != len(now):
        return f"the number of messages ({len(recorded)} recorded, {len(now)} now)"
    for before, after in zip(recorded, now, strict=True):
        heading = f"the {after['role']} message"
        lines_before, lines_after = before["content"].split("\n"), after["content"].split("\n")
        for old, new in zip(lines_before, lines_after, strict=False):
            if old != new:
                return f"{heading}: {old[:80]!r} recorded, {new[:80]!r} now"
            if new.startswith("## "):
                heading = f"section {new[3:]}"
        if len(lines_before) != len(lines_after):
            return heading
    return "nothing but its settings"
