"""The simulating predictor: committed plans are played ahead on clones of the world."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cognitive.plans import Plan, plan_of_view, play_step
from cognitive.protocols import PlanView
from repair.arrivals import AnalyticPredictor
from repair.config import RepairConfig
from repair.constraints import best_attempt, evaluate, is_attempt
from repair.forecast import NOBODY, Counts, Evidence, Forecast, Group, Trial, groups_of
from worlds.api import (
    AgentId,
    Attempt,
    Cell,
    Part,
    Reason,
    World,
    draw,
)

__all__ = ["Predictor", "SimulatedPredictor", "make_predictor"]

_CACHE_SIZE = 32
Plans = tuple[PlanView, ...]


class Predictor(Protocol):
    """Foresees the engagements of committed plans, and what plans on trial would do."""

    def predict(
        self, state: Any, plans: Plans, t: int, followers: frozenset[AgentId] = NOBODY
    ) -> tuple[Forecast, ...]:
        """One forecast for each engagement alive.

        An engagement with a member in `followers` lasts as long as the plan of one of them.
        """
        ...

    def attempt(self, state: Any, plans: Plans, t: int, task: str, until: bool) -> Trial:
        """Play `plans` once; with `until`, stop when all new plans (those at step t) ended."""
        ...


def make_predictor(
    world: World, config: RepairConfig, seed: int, last_step: int, thinking_continues: bool = True
) -> Predictor:
    """The predictor that `config` names; `last_step` is the run's step limit, 0 for none."""
    if config.predictor == "analytic":
        return AnalyticPredictor(world, config)
    return SimulatedPredictor(world, config, seed, last_step, thinking_continues)


@dataclass
class _Followed:
    """One engagement inside one rollout."""

    group: Group
    watch: frozenset[AgentId]
    """Members whose plans keep it alive; with `needs_all` every one must live."""
    needs_all: bool
    is_over: bool = False
    rows: list[tuple[int, Attempt]] = field(default_factory=list)
    best: tuple[int, Attempt] | None = None
    cells: dict[AgentId, Cell] = field(default_factory=dict)
    arrivals: dict[AgentId, int] = field(default_factory=dict)

    @property
    def held(self) -> tuple[bool, ...]:
        agents = [agent for agent, _ in self.group]
        seen = [evaluate(row, agents).held for _, row in self.rows]
        return tuple(any(flags[i] for flags in seen) for i in range(4))

    @property
    def succeeded(self) -> bool:
        return any(row.result in ("done", "delivered") for _, row in self.rows)

    def plan_ended(self, executing: set[AgentId]) -> None:
        alive = self.watch & executing
        self.is_over = alive != self.watch if self.needs_all else not alive


class SimulatedPredictor:
    """Plays the committed plans on reseeded clones; never reads the world's own stream."""

    def __init__(
        self,
        world: World,
        config: RepairConfig,
        seed: int,
        last_step: int = 0,
        thinking_continues: bool = True,
    ) -> None:
        self._world = world
        self._config = config
        self._seed = seed
        self._last_step = last_step
        self._thinking_continues = thinking_continues
        self._cache: OrderedDict[Any, tuple[Forecast, ...]] = OrderedDict()

    def predict(
        self, state: Any, plans: Plans, t: int, followers: frozenset[AgentId] = NOBODY
    ) -> tuple[Forecast, ...]:
        """Rollouts until they agree or are used up; equal questions give the same object."""
        horizon = self._horizon(t)
        key = (t, self._config.rollouts, horizon, followers, tuple(map(_plan_key, plans)))
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        rollouts = self._rollouts(state, plans, t, horizon, followers)
        stages = {view.agent: view.stage for view in plans}
        is_cut = horizon < self._config.horizon
        forecasts = tuple(
            self._forecast(state, task, group, t, [run[task] for run in rollouts], stages, is_cut)
            for task, group in groups_of(plans).items()
        )
        self._cache[key] = forecasts
        if len(self._cache) > _CACHE_SIZE:
            self._cache.popitem(last=False)
        return forecasts

    def attempt(self, state: Any, plans: Plans, t: int, task: str, until: bool) -> Trial:
        """Play `plans` once with the chance of rollout 0."""
        clone = self._clone(state, t, 0)
        played = self._plans(plans)
        new = [plan for plan in played if plan.id.endswith(".new")]
        arrivals: dict[AgentId, int | None] = {plan.agent: None for plan in new}
        successes = failures = 0
        for step in range(1, self._limit(t, self._config.horizon) + 1):
            ended, rows, is_over = self._advance(clone, played)
            for plan in ended:
                if plan.agent in arrivals and plan.status == "success":
                    arrivals[plan.agent] = step
            for row in rows:
                if row.task == task and is_attempt(row):
                    is_success = row.result in ("done", "delivered")
                    successes, failures = successes + is_success, failures + (not is_success)
            if is_over or all(plan.status != "executing" for plan in (new if until else played)):
                break
        return Trial(arrivals, successes, failures)

    def _horizon(self, t: int) -> int:
        cost = self._config.rollouts * self._world.rules.agents
        return min(self._config.horizon, max(1, self._config.max_agent_steps // cost))

    def _limit(self, t: int, horizon: int) -> int:
        return min(horizon, self._last_step - t) if self._last_step else horizon

    def _clone(self, state: Any, t: int, rollout: int) -> Any:
        clone = self._world.rules.clone(state)
        key = draw(self._seed, "repair", "forecast", t, rollout)
        self._world.rules.reseed(clone, np.array([key], np.uint64))
        return clone

    def _plans(self, plans: Plans) -> list[Plan]:
        played = []
        for view in plans:
            plan = plan_of_view(view)
            if plan is not None:
                if view.stage == "I" and not self._thinking_continues:
                    plan.status = "pending"  # its body stands still
                played.append(plan)
        return played

    def _rollouts(
        self, state: Any, plans: Plans, t: int, horizon: int, followers: frozenset[AgentId]
    ) -> list[dict[str, _Followed]]:
        groups = groups_of(plans)
        runs: list[dict[str, _Followed]] = []
        if not groups:
            return runs
        for k in range(self._config.rollouts):
            clone = self._clone(state, t, k)
            runs.append(self._play(clone, plans, t, horizon, groups, followers))
            if k == 0 and int(clone.stream[0, 1]) == 0:
                break  # nothing was drawn: every rollout is this one
            if k + 1 >= self._config.early and _agree(runs):
                break
        return runs

    def _play(
        self,
        clone: Any,
        plans: Plans,
        t: int,
        horizon: int,
        groups: Mapping[str, Group],
        followers: frozenset[AgentId],
    ) -> dict[str, _Followed]:
        played = self._plans(plans)
        run = {task: _followed(group, followers) for task, group in groups.items()}
        for step in range(t + 1, t + self._limit(t, horizon) + 1):
            ended, rows, is_over = self._advance(clone, played)
            for row in rows:
                one = run.get(row.task)
                if one is not None and not one.is_over and is_attempt(row):
                    self._note(clone, one, step, row)
            if ended:
                executing = {plan.agent for plan in played if plan.is_live}
                for one in run.values():
                    if not one.is_over:
                        one.plan_ended(executing)
            if is_over or all(one.is_over for one in run.values()):
                break
        return run

    def _advance(
        self, clone: Any, played: list[Plan]
    ) -> tuple[list[Plan], tuple[Attempt, ...], bool]:
        """One step of the clone: plans that ended, attempt rows, whether the world is over."""
        done = play_step(self._world, clone, played)
        report = self._world.rules.report(clone)
        ended = list(done.ended)
        for agent, _ in report.gone:
            for plan in played:
                if plan.agent == agent and plan.is_live:
                    plan.move("interrupted", Reason("agent_gone"))
                    ended.append(plan)
        is_over = report.ended is not None or bool(done.stepped.truncated[0])
        return ended, report.attempts, is_over

    def _note(self, clone: Any, one: _Followed, step: int, row: Attempt) -> None:
        one.rows.append((step, row))
        for agent, bits in row.members:
            if bits & Part.NEAR:
                one.arrivals.setdefault(agent, step)
        if one.best is None or best_attempt([one.best, (step, row)])[0] == step:
            one.best = (step, row)
            for agent, _ in one.group:
                one.cells[agent] = tuple(clone.agent_cell[0, agent].tolist())

    def _forecast(
        self,
        state: Any,
        task: str,
        group: Group,
        t: int,
        runs: list[_Followed],
        stages: Mapping[AgentId, str],
        is_cut: bool,
    ) -> Forecast:
        known = self._world.tasks.find(state, task)
        tried = [run for run in runs if run.rows]
        held = [sum(run.held[i] for run in tried) for i in range(4)]
        status = "no_attempt"
        if tried and len(tried) >= self._config.min_support * len(runs):
            status = "decided"
        elif any(not run.is_over for run in runs):
            status = "open"
        failed = next((run for run in tried if not run.succeeded), None)
        cause, counts, evidence = _explain(failed)
        return Forecast(
            task=task,
            need=known.need if known is not None else 0,
            group=group,
            step=t,
            rollouts=len(runs),
            support=len(tried),
            held=(held[0], held[1], held[2], held[3]),
            succeeded=sum(run.succeeded for run in tried),
            first=min((run.rows[0][0] for run in tried), default=None),
            last=max((run.rows[-1][0] for run in tried), default=None),
            status=status,
            cause=cause,
            counts=counts,
            evidence=evidence,
            is_truncated=is_cut,
            is_provisional=any(stages[agent] in ("R", "I") for agent, _ in group),
        )


def _followed(group: Group, followers: frozenset[AgentId]) -> _Followed:
    agents = frozenset(agent for agent, _ in group)
    inside = agents & followers
    return _Followed(group, inside or agents, needs_all=not inside)


def _agree(runs: list[dict[str, _Followed]]) -> bool:
    """Whether every (task, constraint) has the same answer in all rollouts so far."""
    first = {task: (bool(one.rows), one.held) for task, one in runs[0].items()}
    return all(
        (bool(one.rows), one.held) == first[task] for run in runs[1:] for task, one in run.items()
    )


def _explain(
    failed: _Followed | None,
) -> tuple[str | None, Counts | None, tuple[Evidence, ...]]:
    if failed is None:
        return None, None, ()
    _, row = best_attempt(failed.rows)
    bits = dict(row.members)
    agents = [agent for agent, _ in failed.group]
    evidence = tuple(
        Evidence(
            agent,
            bool(bits.get(agent, 0) & Part.NEAR),
            bool(bits.get(agent, 0) & (Part.ACTING | Part.TRYING)),
            bool(bits.get(agent, 0) & Part.CAPABLE),
            failed.cells.get(agent),
            failed.arrivals.get(agent),
        )
        for agent in agents
    )
    counts = (row.participation, row.spatial, row.temporal, row.dependency)
    return evaluate(row, agents).cause, counts, evidence


def _plan_key(view: PlanView) -> tuple[Any, ...]:
    rest = [[action.verb, dict(action.args)] for action in view.actions[view.index :]]
    text = json.dumps([view.progress, rest], sort_keys=True)
    return (view.agent, view.stage, view.plan, view.task, view.index, view.status, text)
