"""Stages of an agent, which may follow which, and how long each agent was in each."""

from __future__ import annotations

from collections.abc import Mapping

from cognitive.errors import IllegalTransition
from worlds.api import AgentId

__all__ = [
    "EXECUTING",
    "GONE",
    "INTERRUPTED",
    "REASONING",
    "STAGES",
    "THINKING",
    "WAITING",
    "StageBook",
]

REASONING, WAITING, EXECUTING, INTERRUPTED, GONE = "R", "W", "X", "I", "G"
THINKING = (REASONING, INTERRUPTED)
STAGES = (REASONING, WAITING, EXECUTING, INTERRUPTED, GONE)

_LOCKSTEP: Mapping[str, frozenset[str]] = {
    REASONING: frozenset("WG"),
    WAITING: frozenset("RXIG"),
    EXECUTING: frozenset("RIG"),
    INTERRUPTED: frozenset("W"),
    GONE: frozenset(),
}
_FOLLOWING = {"lockstep": _LOCKSTEP, "realtime": {**_LOCKSTEP, INTERRUPTED: frozenset("WRG")}}
"""Pace -> stage -> stages that may follow."""


class StageBook:
    """The present stage of every agent, since when, and the sums of the durations so far."""

    def __init__(self, agents: int, pace: str = "lockstep") -> None:
        """Everybody starts in R at 0 ms."""
        self._following = _FOLLOWING[pace]
        self.stage = [REASONING] * agents
        self.since_ms = [0] * agents
        self._spent = [dict.fromkeys(STAGES, 0) for _ in range(agents)]

    def enter(self, agent: AgentId, to: str, ms: int) -> str:
        """Move `agent` to stage `to` at `ms`; returns the stage it leaves.

        Raises IllegalTransition, and changes nothing, if the stage does not follow or time would
        run backwards.
        """
        before, since = self.stage[agent], self.since_ms[agent]
        if to not in self._following[before]:
            allowed = ", ".join(sorted(self._following[before])) or "nothing"
            raise IllegalTransition(f"agent {agent}: {before} to {to}; allowed: {allowed}")
        if ms < since:
            raise IllegalTransition(f"agent {agent}: {before} since {since} ms, {to} at {ms} ms")
        self._spent[agent][before] += ms - since
        self.stage[agent] = to
        self.since_ms[agent] = ms
        return before

    def durations(self, end_ms: int) -> list[dict[str, int]]:
        """Per agent the ms spent in each stage; the last one is closed at `end_ms`."""
        closed = [dict(spent) for spent in self._spent]
        for agent, spent in enumerate(closed):
            spent[self.stage[agent]] += end_ms - self.since_ms[agent]
        return closed
