"""The cognitive clock: what a try costs in whole milliseconds, and real time where it runs."""

from __future__ import annotations

import asyncio
import time

from cognitive.protocols import Answer, Latency

__all__ = ["WallClock", "charge_of"]

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
    """Real milliseconds since it was made."""

    def __init__(self) -> None:
        self._origin = time.monotonic()

    def now_ms(self) -> int:
        """Whole milliseconds that have begun since the start."""
        return -int(-(time.monotonic() - self._origin) * _MS_PER_SECOND // 1)

    async def sleep_until(self, ms: int) -> None:
        """Wait until `ms` after the start; returns at once if that is past."""
        await asyncio.sleep(max(0.0, ms / _MS_PER_SECOND - (time.monotonic() - self._origin)))
