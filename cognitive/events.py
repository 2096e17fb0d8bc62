"""Event lines: their fields in order, their numbers, their bytes, and reading them back.

One JSON object a line: `v` (schema), `n` (0, 1, ...), `e` (type), `step`, `ms`, then the fields
of its type in the order of EVENT_FIELDS.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from cognitive.errors import DialogueError, RecordError
from cognitive.protocols import Sink
from worlds.api import Attempt, Json, Reason

__all__ = [
    "CLOSING_EVENTS",
    "EVENT_FIELDS",
    "SCHEMA",
    "EventLog",
    "draft",
    "encode",
    "parse_events",
    "read_events",
    "reason_json",
    "stream_events",
]

SCHEMA = 1
_ENVELOPE = ("v", "n", "e", "step", "ms")

EVENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(fields.split())
    for name, fields in {
        "run_started": "product schema world preset agents seed config_digest topology policy "
        "pace planners budgets",
        "phase_started": "needing",
        "phase_ended": "passes",
        "dialogue_opened": "dialogue kind members needing clock_ms cause leader",
        "dialogue_advanced": "dialogue wave note",
        "dialogue_closed": "dialogue waves result",
        "round_degraded": "dialogue cause",
        "review_limit": "dialogue cause",
        "decision_started": "decision dialogue agent kind planner prompt_hash prompt_chars read "
        "try_limit",
        "decision_ended": "decision outcome value tries usage charge_ms reasons",
        "structure_level": "endpoint model from to",
        "stage": "agent from to reason",
        "plan_committed": "plan agent decision task actions note replaces",
        "plan_resumed": "plan agent decision",
        "plan_started": "plan",
        "action_started": "plan index verb args",
        "action_ended": "plan index status reason steps",
        "plan_ended": "plan agent status reason done of task_result",
        "message_sent": "message dialogue sender recipients kind text body reply_to",
        "message_delivered": "message recipients effects due_ms",
        "message_lost": "message recipients cause",
        "step": "primitives rewards living",
        "attempt": " ".join(Attempt._fields),
        "score": "task points credited total",
        "gone": "agent cause",
        "repair_predicted": "forecast task need group rollouts support held succeeded first last "
        "status cause evidence predictor alarm verdict truncated provisional",
        "repair_opened": "repair forecast dialogue task target strategy members cohort arrival "
        "verified",
        "repair_closed": "repair outcome proposals waves v_before v_after answers calls tokens "
        "sends deliveries clock_ms charged_ms",
        "repair_scored": "forecast label held succeeded attempts first lead",
        "budget": "which used limit",
        "error": "where code exception",
        "run_ended": "ended_by detail score counters usage stages",
    }.items()
}
"""Fields of every event type, in the order in which they are written."""

CLOSING_EVENTS = frozenset(
    {
        "decision_ended",
        "message_lost",
        "action_ended",
        "plan_ended",
        "repair_closed",
        "repair_scored",
        "budget",
        "run_ended",
    }
)
"""Types that may occur while a run is closed."""

_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ASCII = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def encode(line: Json) -> bytes:
    """One event as its bytes, line end included; half a surrogate pair is written escaped."""
    try:
        return _COMPACT.encode(line).encode() + b"\n"
    except UnicodeEncodeError:
        return _ASCII.encode(line).encode() + b"\n"


def draft(e: str, **fields: Json) -> Json:
    """An event without number and time, as gates return them; its fields come in table order.

    Raises DialogueError on an unknown type and on a field that is missing or too much.
    """
    if e not in EVENT_FIELDS:
        raise DialogueError(f'no event type "{e}"; types: {", ".join(EVENT_FIELDS)}')
    if fields.keys() != set(EVENT_FIELDS[e]):
        raise DialogueError(
            f"event {e} has fields {', '.join(fields)}; needed: {', '.join(EVENT_FIELDS[e])}"
        )
    return {"e": e, **{name: fields[name] for name in EVENT_FIELDS[e]}}


def reason_json(reason: Reason | None) -> Json:
    """A reason as events hold it: code and facts."""
    return None if reason is None else {"code": reason.code, "facts": dict(reason.facts)}


class EventLog:
    """Numbers event lines and hands them to a sink.

    tags: fields put right after `v` of every line, for logs of many matches.
    """

    def __init__(self, sink: Sink, tags: Mapping[str, Json] | None = None) -> None:
        self.count = 0
        self._sink = sink
        self._tags = dict(tags or {})

    def write(self, e: str, step: int, ms: int, *values: Json) -> Json:
        """Write an event; `values` are those of EVENT_FIELDS, in that order. Returns the line."""
        head = {"v": SCHEMA, **self._tags, "n": self.count, "e": e, "step": step, "ms": ms}
        line = head | dict(zip(EVENT_FIELDS[e], values, strict=True))
        self.count += 1
        self._sink.event(line)
        return line

    def write_draft(self, event: Json, step: int, ms: int) -> Json:
        """Write what a gate returned; a `step` or `ms` of its own is kept."""
        values = [event[name] for name in EVENT_FIELDS[event["e"]]]
        return self.write(event["e"], event.get("step", step), event.get("ms", ms), *values)


# --- reading -------------------------------------------------------------------------------------


def read_events(path: Path) -> list[dict[str, Any]]:
    """The events of a file; an unfinished last line is left out with a warning.

    Raises RecordError, with file and line, on any other damage and on another schema.
    """
    return list(stream_events(path))


def stream_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file one by one, so that it never is in memory as a whole."""
    if not path.is_file():
        raise RecordError(f"{path}: no such file")
    with path.open("rb") as file:
        yield from _checked(_whole_lines(file, str(path)), str(path))


def parse_events(data: bytes, name: str) -> list[dict[str, Any]]:
    """The events in `data`; `name` is what warnings and errors call it. As `read_events`."""
    return list(_checked(_whole_lines(BytesIO(data), name), name))


def _whole_lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    for line in file:
        if line.endswith(b"\n"):
            yield line
        else:
            warnings.warn(f"{name}: an unfinished last line was left out", stacklevel=4)


def _checked(lines: Iterable[bytes], name: str) -> Iterator[dict[str, Any]]:
    for n, raw in enumerate(lines):
        place = f"{name}, line {n + 1}"
        try:
            line = json.loads(raw)
        except ValueError as problem:
            raise RecordError(f"{place}: no JSON: {problem}") from None
        if not isinstance(line, dict) or not line.keys() >= set(_ENVELOPE):
            raise RecordError(f"{place}: no event; an event has {', '.join(_ENVELOPE)}")
        if line["v"] != SCHEMA:
            raise RecordError(f"{place}: events schema {line['v']}; this version reads {SCHEMA}")
        if line["n"] != n:
            raise RecordError(f"{place}: event number {line['n']} where {n} belongs")
        yield line
