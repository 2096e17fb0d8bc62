"""Where the events and frames of a run go: files, listeners, and a comparison when it resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy import ndarray

from cognitive.errors import RecordError
from cognitive.events import CLOSING_EVENTS, encode
from cognitive.protocols import Sink
from lab import records
from lab.records import LineWriter
from render.replay import FrameEncoder
from worlds.api import Json

_OF_CONFIG = {"run_started": ("config_digest", "budgets")}
"""Fields that say what a resumed run may change."""
_AT_THE_END = frozenset({"error", "structure_level"})


class Recorder:
    """Writes each event and frame as a line, at once."""

    def __init__(self, events: LineWriter, frames: LineWriter, world: str, legend: Json) -> None:
        self._events = events
        self._frames = frames
        self._encoder = FrameEncoder(world, legend)

    def event(self, line: Json) -> None:
        """Append an event."""
        self._events.append(encode(line))

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Append a frame."""
        self._frames.append(self._encoder.encode(step, layers))

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """The writers belong to whoever opened them."""


class Chain:
    """Several sinks as one."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)

    def event(self, line: Json) -> None:
        """To each."""
        for sink in self._sinks:
            sink.event(line)

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """To each."""
        for sink in self._sinks:
            sink.frame(step, layers)

    def flush(self) -> None:
        """Each."""
        for sink in self._sinks:
            sink.flush()

    def close(self) -> None:
        """Each."""
        for sink in self._sinks:
            sink.close()


class Progress:
    """Calls `report` whenever a step has been written."""

    def __init__(self, report: Callable[[], None]) -> None:
        self._report = report

    def event(self, line: Json) -> None:
        """Events say nothing about what was spent in tries that failed."""

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Nor do frames."""

    def flush(self) -> None:
        """A step was written."""
        self._report()

    def close(self) -> None:
        """Nothing is held open."""


# --- resuming ------------------------------------------------------------------------------------


def closing_from(events: Sequence[Mapping[str, Any]]) -> int:
    """The index of the first event that was written because the run was being closed."""
    if not events or events[-1]["e"] != "run_ended":
        return len(events)
    index = len(events) - 1
    while index and _may_close(events[index - 1]):
        index -= 1
    return index


def _may_close(event: Mapping[str, Any]) -> bool:
    """All decisions of the last pass count: one that failed may follow one that was cut."""
    return event["e"] in CLOSING_EVENTS or event["e"] in _AT_THE_END


class Comparison:
    """Compares the events of a run with those recorded, until it has caught up.

    recorded: events up to the first closing one. caught_up: called once all of them came again.
    is_changed: whether budgets differ, so that their marks and the numbers after them may. Raises
    RecordError at the first difference.
    """

    def __init__(
        self,
        path: Path,
        recorded: Sequence[Mapping[str, Any]],
        is_changed: bool,
        caught_up: Callable[[], None],
    ) -> None:
        self._path = path
        self._recorded = [e for e in recorded if not (is_changed and e["e"] == "budget")]
        self._is_changed = is_changed
        self._caught_up = caught_up
        self._next = 0

    @property
    def is_done(self) -> bool:
        """Whether everything recorded came again."""
        return self._next >= len(self._recorded)

    def event(self, line: Json) -> None:
        """Compare the next event."""
        if self.is_done or (self._is_changed and line["e"] == "budget"):
            return
        expected = self._recorded[self._next]
        if encode(self._kept(expected)) != encode(self._kept(line)):
            raise RecordError(
                f"{self._path}, line {expected['n'] + 1}: recorded {_text(expected)}, now "
                f"{_text(line)}"
            )
        self._next += 1
        if self.is_done:
            self._caught_up()

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Frames follow from the events."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held open."""

    def _kept(self, event: Mapping[str, Any]) -> dict[str, Any]:
        dropped = (*_OF_CONFIG.get(event["e"], ()), *(("n",) if self._is_changed else ()))
        return {key: event[key] for key in event if key not in dropped}


def _text(event: Mapping[str, Any]) -> str:
    return encode(event).decode().strip()


def written_beside(folder: Path, name: str) -> Path:
    """Where a file is written before it replaces the one of that name."""
    return folder / f".{name}.new"


def replace_recorded(folder: Path) -> None:
    """Put events and frames written beside in the place of the recorded ones."""
    (folder / records.SUMMARY).unlink(missing_ok=True)
    for name in (records.FRAMES, records.EVENTS):
        beside = written_beside(folder, name)
        if beside.exists():
            beside.replace(folder / name)
