"""The cognitive clock: what a try costs in whole milliseconds, and real time where it runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cognitive.protocols import Answer, Latency
from worlds.api import Json

__all__ = ["Recall", "WallClock", "charge_of", "recall_of"]

_MS_PER_SECOND = 1000
_COST_CAP = frozenset({"timeout", "unavailable", "outage"})
"""Problems charged like the slowest answer; all others cost as much as the shortest one."""


def charge_of(latency: Latency, answer: Answer, elapsed_ms: int) -> int:
    """What a try is charged on the cognitive clock, in ms; at least 1.

    elapsed_ms: measured around the call; used under `wall` by planners that measure nothing.
    """
    if latency.model == "fixed":
        charge = latency.fixed_ms
    elif latency.model == "tokens":
        charge = _token_charge(latency, answer)
    else:
        charge = answer.measured_ms or (elapsed_ms if latency.model == "wall" else 0)
    return max(1, charge)


def _token_charge(latency: Latency, answer: Answer) -> int:
    """Base plus completion tokens over the rate, half rounded up, never above the cap."""
    if answer.problem in _COST_CAP:
        return latency.cap
    if answer.problem is not None:
        return latency.base
    tokens = answer.usage.completion
    generating = (2 * tokens * _MS_PER_SECOND + latency.rate) // (2 * latency.rate)
    return min(latency.cap, latency.base + generating)


class WallClock:
    """Real time; the first moment that is waited for is now."""

    def __init__(self) -> None:
        self._origin: float | None = None

    async def sleep_until(self, ms: int) -> None:
        """Wait until `ms` on this clock; returns at once if that is past."""
        if self._origin is None:
            self._origin = time.monotonic() - ms / _MS_PER_SECOND
        await asyncio.sleep(max(0.0, self._origin + ms / _MS_PER_SECOND - time.monotonic()))


@dataclass(frozen=True)
class Recall:
    """What was measured in a run that is played again, up to `until_ms`.

    charges: ms of each try, by decision. cut: decisions among them that never took effect.
    """

    charges: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    until_ms: int = -1
    cut: frozenset[str] = frozenset()

    def was_applied(self, decision: str) -> bool:
        """Whether a decision took effect in that run."""
        return decision in self.charges and decision not in self.cut

    def charge(self, decision: str, place: int) -> int | None:
        """What was measured for a try; None if it was not recorded."""
        charges = self.charges.get(decision, ())
        return charges[place] if place < len(charges) else None


def recall_of(events: Iterable[Json]) -> Recall:
    """What the events of a run say of measured time."""
    charges, cut, until_ms = {}, set(), -1
    for line in events:
        if line["e"] == "step":
            until_ms = line["ms"]
        elif line["e"] == "decision_ended":
            charges[line["decision"]] = tuple(entry["charge_ms"] for entry in line["tries"])
            if line["outcome"] == "cut":
                cut.add(line["decision"])
    return Recall(charges, until_ms, frozenset(cut))
