"""What every benchmark shares: a row, a fixed baseline, interleaved rounds.

Absolute times on a shared machine mean little: each figure stands beside a fixed pure-Python loop
of the same rounds, and their ratio is what compares. CPU time, medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cognitive.loop import Ending

__all__ = ["ROUNDS", "Row", "baseline_us", "interleaved", "require_whole", "show"]

ROUNDS = 5
LCG_TURNS = 10_000


class Row(NamedTuple):
    """A figure, the baseline of the same run, their ratio, the bar and the aim (None: none).

    baseline: CPU microseconds of the fixed loop, unless the row names another peer. A unit that
    ends with "/s" or "faster" is better high, any other better low.
    """

    name: str
    figure: float
    unit: str
    baseline: float
    ratio: float
    must: float | None
    aim: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None without one."""
        if self.must is None:
            return None
        return (
            self.figure >= self.must
            if self.unit.endswith(("/s", "faster"))
            else self.figure <= self.must
        )


def baseline_us() -> float:
    """CPU microseconds of 10,000 turns of a linear congruential generator."""
    began = time.process_time()
    x = 1
    for _ in range(LCG_TURNS):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return (time.process_time() - began) * 1e6


def interleaved(
    measures: Mapping[str, Callable[[], float]], rounds: int = ROUNDS
) -> dict[str, tuple[float, float]]:
    """Median figure and median baseline of each measure, taken in turn so that drift is shared."""
    figures: dict[str, list[float]] = {name: [] for name in measures}
    bases: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            bases[name].append(baseline_us())
            figures[name].append(measure())
    return {
        name: (statistics.median(figures[name]), statistics.median(bases[name]))
        for name in measures
    }


def show(rows: Iterable[Row]) -> None:
    """Print a row a line."""
    for row in rows:
        bar = "" if row.must is None else f"  must {row.must:g}"
        aim = "" if row.aim is None else f"  aim {row.aim:g}"
        print(f"{row.name:46} {row.figure:11.4g} {row.unit:16} base {row.baseline:.4g}{bar}{aim}")


def require_whole(ending: Ending, *also: str) -> None:
    """Raise what cut an episode short: figures count only if the world or its steps ended it.

    also: further ends that are meant.

    A planner that fails again and again ends a run early without an exception, and whoever has
    not died by then would pass for alive.
    """
    if ending.error is not None:
        raise ending.error
    if ending.ended_by not in ("world", "steps", *also):
        raise RuntimeError(f"ended by {ending.ended_by} at step {ending.steps}: {ending.detail}")
