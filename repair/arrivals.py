"""The baseline predictor: arrival times by arithmetic, to be compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cognitive.plans import plan_of_view
from cognitive.protocols import PlanView
from repair.config import RepairConfig
from repair.constraints import evaluate
from repair.forecast import NOBODY, Counts, Evidence, Forecast, Group, Trial, groups_of
from worlds.api import NO_TASK, AgentId, Attempt, Cell, Part, Standing, Task, World

__all__ = ["AnalyticPredictor"]

Plans = tuple[PlanView, ...]


@dataclass(frozen=True)
class _Window:
    """Steps in which an agent's plan acts on the task, from where and with what."""

    agent: AgentId
    first: int
    last: int
    cell: Cell
    holdings: Mapping[str, int]


class AnalyticPredictor:
    """Arrival times by Manhattan distance; no obstacles, no bodies, no failing actions."""

    def __init__(self, world: World, config: RepairConfig) -> None:
        self._world = world
        self._config = config

    def predict(
        self, state: Any, plans: Plans, t: int, followers: frozenset[AgentId] = NOBODY
    ) -> tuple[Forecast, ...]:
        """One forecast for each engagement, from the instant when most members meet."""
        stages = {view.agent: view.stage for view in plans}
        return tuple(
            self._forecast(state, task, group, plans, t, stages)
            for task, group in groups_of(plans).items()
        )

    def attempt(self, state: Any, plans: Plans, t: int, task: str, until: bool) -> Trial:
        """Add up the estimates of the new plans."""
        new = [view for view in plans if view.plan is not None and view.plan.endswith(".new")]
        arrivals: dict[AgentId, int | None] = {
            view.agent: self._walk(state, view, t)[-1].steps for view in new
        }
        found = self._world.tasks.find(state, task)
        windows = self._windows(state, found, plans, t) if found is not None else []
        if found is None or not windows:
            return Trial(arrivals, 0, 0)
        counts, _, _ = self._meeting(state, found, windows)
        is_success = counts[0] >= found.need
        return Trial(arrivals, int(is_success), int(not is_success))

    def _forecast(
        self,
        state: Any,
        task: str,
        group: Group,
        plans: Plans,
        t: int,
        stages: Mapping[AgentId, str],
    ) -> Forecast:
        found = self._world.tasks.find(state, task)
        agents = {agent for agent, _ in group}
        mine = tuple(view for view in plans if view.agent in agents)
        windows = self._windows(state, found, mine, t) if found is not None else []
        is_provisional = any(stages[agent] in ("R", "I") for agent in agents)
        if found is None or not windows:
            need = found.need if found is not None else 0
            return Forecast(
                task, need, group, t, 1, 0, (0, 0, 0, 0), 0, None, None, "no_attempt",
                is_provisional=is_provisional,
            )  # fmt: skip
        counts, step, evidence = self._meeting(state, found, windows)
        row = _row(found, counts, step, evidence)
        verdict = evaluate(row, agents)
        a, b, c, d = (int(flag) for flag in verdict.held)
        return Forecast(
            task, found.need, group, t, 1, 1, (a, b, c, d), int(verdict.is_success), step, step,
            "decided", verdict.cause, counts if verdict.cause else None,
            evidence if verdict.cause else (), is_provisional=is_provisional,
        )  # fmt: skip

    def _walk(self, state: Any, view: PlanView, t: int) -> list[Standing]:
        """Standings before each remaining action, and after the last; steps count from t."""
        sheet = self._world.text.sheet(state, view.agent)
        row, column = sheet["cell"]
        trail = [Standing(0, (row, column), sheet.get("holdings", {}))]
        for action in view.actions[view.index :]:
            after = self._world.skills.estimate(state, view.agent, action, trail[-1])
            steps = max(after.steps, trail[-1].steps + 1)
            trail.append(after._replace(steps=steps))
        return trail

    def _windows(self, state: Any, task: Task, plans: Plans, t: int) -> list[_Window]:
        found = []
        for view in plans:
            if plan_of_view(view) is None or task.number == NO_TASK:
                continue
            trail = self._walk(state, view, t)
            for before, after in pairwise(trail):
                if after.task == task.number:
                    found.append(
                        _Window(
                            view.agent,
                            t + before.steps + 1,
                            t + after.steps,
                            before.cell,
                            before.holdings,
                        )
                    )
        return found

    def _meeting(
        self, state: Any, task: Task, windows: list[_Window]
    ) -> tuple[Counts, int, tuple[Evidence, ...]]:
        """Counts at the anchor where most agents meet, that step, and each one's evidence."""
        slack = self._config.tolerance
        anchors = sorted({one.first for one in windows} | {one.last for one in windows})

        def there(step: int) -> dict[AgentId, _Window]:
            return {
                one.agent: one for one in windows if one.first - slack <= step <= one.last + slack
            }

        step = max(anchors, key=lambda u: (len(there(u)), -u))
        present = there(step)
        slots = self._world.tasks.slots(state, task)
        near = {a for a, one in present.items() if _is_near(one.cell, slots, slack - 1)}
        able = {a for a, one in present.items() if not task.tool or one.holdings.get(task.tool)}
        counts = (len(near & able), len(near), len(present), len(able) if task.tool else 0)
        evidence = tuple(
            Evidence(
                one.agent, one.agent in near, one.agent in present, one.agent in able, one.cell,
                one.first,
            )
            for one in sorted(windows, key=lambda one: (one.agent, one.first))
        )  # fmt: skip
        return counts, step, evidence


def _is_near(cell: Cell, slots: Iterable[Cell], distance: int) -> bool:
    return any(abs(cell[0] - r) + abs(cell[1] - c) <= distance for r, c in slots)


def _row(task: Task, counts: Counts, step: int, evidence: tuple[Evidence, ...]) -> Attempt:
    """An attempt row made of estimates, for the one evaluator there is."""
    members = {entry.agent: Part.TRYING for entry in evidence if entry.is_trying}
    is_met = counts[0] >= task.need
    return Attempt(
        task.id, task.kind, "", task.need, *counts, task.need if task.tool else 0,
        tuple(sorted(members.items())), 0, "done" if is_met else "short", "", (), True, {},
    )  # fmt: skip
