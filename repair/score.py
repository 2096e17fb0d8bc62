"""What became of each forecast: one label for one engagement.

An engagement is a maximal run of steps in which the same agents follow the same plans for one
task. It ends as soon as a member's plan ends or is replaced, or somebody joins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from repair.constraints import Flags, evaluate, is_attempt
from repair.forecast import Group
from worlds.api import Attempt

__all__ = ["Scored", "Scorer"]


class Scored(NamedTuple):
    """The label of a forecast with what was seen."""

    forecast: int
    label: str
    held: Flags
    succeeded: bool
    attempts: int
    first: int | None
    lead: int | None


@dataclass
class _Engagement:
    forecast: int
    step: int
    is_alarm: bool
    group: Group
    rows: list[tuple[int, Attempt]] = field(default_factory=list)

    def scored(self, end: str) -> Scored:
        agents = [agent for agent, _ in self.group]
        seen = [evaluate(row, agents) for _, row in self.rows]
        a, b, c, d = (any(one.held[i] for one in seen) for i in range(4))
        held: Flags = (a, b, c, d)
        first = self.rows[0][0] if self.rows else None
        return Scored(
            self.forecast,
            self._label(end, held),
            held,
            any(e.is_success for e in seen),
            len(seen),
            first,
            None if first is None else first - self.step,
        )

    def _label(self, end: str, held: Flags) -> str:
        if end == "treated":
            return "treated"
        if not self.rows:
            return "unrealised"
        if end == "cut" and not held[0]:
            return "cut"
        if self.is_alarm:
            return "false_alarm" if held[0] else "hit"
        return "correct_rejection" if held[0] else "miss"


class Scorer:
    """Follows the engagements that have a forecast and labels each at its end.

    plan_end: plan id -> (status, reason code), None while the plan lives.
    """

    def __init__(self, plan_end: Callable[[str], tuple[str, str] | None]) -> None:
        self._plan_end = plan_end
        self._open: dict[str, _Engagement] = {}

    def is_followed(self, task: str, group: Group) -> bool:
        """Whether this engagement has its forecast already."""
        return task in self._open and self._open[task].group == group

    def follow(self, forecast: int, task: str, group: Group, step: int, is_alarm: bool) -> None:
        """Take in the forecast of an engagement that had none."""
        self._open[task] = _Engagement(forecast, step, is_alarm, group)

    def changed(self, groups: Mapping[str, Group]) -> list[Scored]:
        """Close engagements whose group is no longer the one in `groups` (task -> group)."""
        over = [task for task, one in self._open.items() if groups.get(task, ()) != one.group]
        return [self._close(task, self._cause(self._open[task].group)) for task in over]

    def observe(self, step: int, attempts: tuple[Attempt, ...]) -> list[Scored]:
        """Take in the rows of a step, then close engagements whose plans ended in it."""
        for row in attempts:
            if row.task in self._open and is_attempt(row):
                self._open[row.task].rows.append((step, row))
        over = [
            task
            for task, one in self._open.items()
            if any(self._plan_end(plan) is not None for _, plan in one.group)
        ]
        return [self._close(task, self._cause(self._open[task].group)) for task in over]

    def finish(self) -> list[Scored]:
        """Close what is left at the end of the run."""
        return [self._close(task, "cut") for task in list(self._open)]

    def _close(self, task: str, end: str) -> Scored:
        return self._open.pop(task).scored(end)

    def _cause(self, group: Group) -> str:
        """`treated` by a channel, `over` because a plan ran out, else `cut`."""
        ends = [self._plan_end(plan) for _, plan in group]
        if any(end is not None and end[1] == "repaired" for end in ends):
            return "treated"
        if any(end is not None and end[0] in ("success", "failed") for end in ends):
            return "over"
        return "cut"
