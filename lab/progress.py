"""How far a sweep is, in one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from numpy import ndarray

from worlds.api import Json

BAR = 10
SECONDS = 60.0
REFRESH = 0.2


@dataclass
class Tally:
    """Counts of a sweep while it goes on."""

    total: int
    finished: int
    failed: int = 0
    stopped: int = 0
    running: int = 0
    played: int = 0
    calls: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Runs that need nothing more."""
        return self.finished + self.failed


class Progress:
    """One line on a terminal; otherwise a line every tenth of the runs or minute."""

    def __init__(
        self, is_terminal: bool, show: Callable[[str], None], note: Callable[[str], None]
    ) -> None:
        self._is_terminal = is_terminal
        self._show = show
        self._note = note
        self._tenth = -1
        self._said = 0.0

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if self._is_terminal:
            if now - self._said >= REFRESH or tally.done == tally.total:
                self._said = now
                self._show(progress_line(tally, now - tally.began))
            return
        tenth = tally.done * 10 // max(1, tally.total)
        if tenth > self._tenth or now - self._said >= SECONDS:
            self._tenth, self._said = tenth, now
            self._note(progress_line(tally, now - tally.began))


def progress_line(tally: Tally, seconds: float) -> str:
    """`[=====>    ] 37/120 done · 2 failed · 4 running · 1.8 runs/min · 12,340 calls · left …`."""
    filled = tally.done * BAR // max(1, tally.total)
    bar = "=" * filled + (">" if filled < BAR else "")
    rate = tally.played / seconds * 60 if seconds > 0 else 0.0
    left = "?"
    if rate > 0:
        whole = round((tally.total - tally.done) / rate * 60)
        left = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return (
        f"[{bar:<{BAR}}] {tally.done}/{tally.total} done · {tally.failed} failed · "
        f"{tally.running} running · {rate:.1f} runs/min · {tally.calls:,} calls · left {left}"
    )


class StepLine:
    """A sink that shows how far one run is: steps, score, clock, decisions."""

    def __init__(self, steps: int, show: Callable[[str], None]) -> None:
        """steps: the limit, 0 for none."""
        self._steps = steps
        self._show = show
        self._said = 0.0
        self._score = 0.0
        self._decisions = 0
        self._at = (0, 0)

    def event(self, line: Json) -> None:
        """Count."""
        self._at = (line["step"], line["ms"])
        self._decisions += line["e"] == "decision_ended"
        if line["e"] == "score":
            self._score = line["total"]
        if line["e"] == "decision_ended" or line["e"] == "step":
            self._say()

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Frames are not looked at."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held open."""

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._said < REFRESH:
            return
        self._said = now
        step, ms = self._at
        of = f"/{self._steps}" if self._steps else ""
        self._show(
            f"step {step}{of} · score {self._score:g} · {ms / 1000:.1f} s · "
            f"{self._decisions} decisions"
        )
