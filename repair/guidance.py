"""What a channel aims at, who should do it, and the plans it recommends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from cognitive.protocols import PlanView
from repair.cohort import FORBIDDEN, Cohort, assign, seated
from repair.config import RepairConfig
from repair.forecast import Forecast
from repair.predict import Predictor
from worlds.api import Action, AgentId, Cell, Failed, Json, PlanDraft, Recipe, Task, World

__all__ = ["Advice", "Scene", "aim", "cohort_for", "proposed", "recommend", "with_plans"]

_MARGINS = (0, 1, 2, 3)
_LET_GO = PlanDraft("none", (Action("wait", {"steps": 3}),))
_PAUSE = 3
_LONGEST_WAIT = 50
_MOST_ACTIONS = 8


@dataclass(frozen=True)
class Scene:
    """A moment that guidance reasons about: the world, its state, everybody's plans.

    candidates: who may be invited, ascending. names_everything: whether tasks that no candidate
    has seen may be named.
    """

    world: World
    state: Any
    plans: tuple[PlanView, ...]
    t: int
    candidates: tuple[AgentId, ...]
    config: RepairConfig
    predictor: Predictor
    names_everything: bool = False

    def view(self, agent: AgentId) -> PlanView:
        """The plan of one agent."""
        return next(view for view in self.plans if view.agent == agent)

    def cell(self, agent: AgentId) -> Cell:
        """Where an agent stands."""
        row, column = self.state.agent_cell[0, agent].tolist()
        return row, column


@dataclass(frozen=True)
class Advice:
    """A target with its cohort, and one recommended plan for each agent that should change.

    meeting: steps until all are there, None if somebody never arrives. plans: agent -> plan.
    """

    strategy: str
    target: Task | None
    cohort: Cohort
    meeting: int | None
    plans: dict[AgentId, PlanDraft]

    def as_json(self, agent: AgentId, t: int) -> Json:
        """What one member is told: where to be, when to act, its own and its partners' plans."""
        seat = next((seat for seat in self.cohort.seats if seat.agent == agent), None)
        own = self.plans.get(agent)
        return {
            "strategy": self.strategy,
            "target": None if self.target is None else self.target.id,
            "slot": None if seat is None else list(seat.slot),
            "arrival": None if seat is None else seat.arrival,
            "act_at": None if self.meeting is None else t + self.meeting + 1,
            "recommended": None if own is None else draft_json(own),
            "partners": {
                f"agent_{other}": draft_json(plan)
                for other, plan in sorted(self.plans.items())
                if other != agent
            },
        }


def draft_json(draft: PlanDraft) -> Json:
    """A plan as plain data, in the form of a plan reply."""
    actions = [{"verb": action.verb, **action.args} for action in draft.actions]
    return {"task": draft.task, "actions": actions}


# --- target and cohort ---------------------------------------------------------------------------


def cohort_for(scene: Scene, task: Task, alarmed: Task) -> Cohort | None:
    """The cheapest team that can do `task`; None if there is none."""
    slots = scene.world.tasks.slots(scene.state, task)
    agents = scene.candidates
    if len(slots) < task.need or len(agents) < task.need:
        return None
    walk = _walks(scene, slots, agents)
    extra = [_preparation(scene, agent, task) for agent in agents]
    switch = [_switch(scene, agent, task, alarmed) for agent in agents]
    prepare = np.array([0 if steps is None else steps for steps in extra], np.int64)[:, None]
    arrival = walk + prepare
    cost = arrival + np.array(switch, np.int64)[:, None]
    is_out = np.array([steps is None for steps in extra])[:, None] | (walk == FORBIDDEN)
    cost = np.where(is_out, FORBIDDEN, cost)
    pairs = assign(cost, task.need)
    return None if pairs is None else seated(agents, slots, pairs, cost, arrival)


def aim(scene: Scene, forecast: Forecast, alarmed: Task) -> tuple[Task | None, Cohort]:
    """The task worth working on now, and its team; (None, no seats) if there is none."""
    way, end = scene.world.tasks.way(scene.state, alarmed)
    own = cohort_for(scene, alarmed, alarmed) if way >= 1 else None
    if own is not None and way >= end:
        return alarmed, own
    others = [
        (task, cohort)
        for task in _other_targets(scene, forecast, alarmed)
        if (cohort := cohort_for(scene, task, alarmed)) is not None
    ]
    alike = [pair for pair in others if pair[0].kind == alarmed.kind]
    if alike:
        return min(alike, key=lambda p: (p[1].latest, p[1].total, p[0].number, p[0].id))
    if others:
        return min(
            others, key=lambda p: (-Fraction(p[0].worth) / (p[1].latest + 1), p[0].number, p[0].id)
        )
    return (alarmed, own) if own is not None else (None, Cohort(()))


def _walks(
    scene: Scene, slots: Sequence[Cell], agents: Sequence[AgentId]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """[A, S] int64 path lengths from each agent to each slot; FORBIDDEN where there is no path."""
    cells = [scene.cell(agent) for agent in agents]
    rows = np.array([r for r, _ in cells])
    columns = np.array([c for _, c in cells])
    farthest = scene.world.rules.agents + _span(scene)
    walk = np.empty((len(agents), len(slots)), np.int64)
    for s, slot in enumerate(slots):
        field = scene.world.tasks.distances(scene.state, (slot,))
        walk[:, s] = field[rows, columns]
    return np.where((walk < 0) | (walk > farthest), FORBIDDEN, walk)


def _span(scene: Scene) -> int:
    """More steps than any path on this map has."""
    field = scene.world.tasks.distances(scene.state, ((0, 0),))
    return int(field.size)


def _preparation(scene: Scene, agent: AgentId, task: Task) -> int | None:
    recipe = scene.world.tasks.recipe(scene.state, agent, task)
    return None if isinstance(recipe, Failed) else recipe.prepare_steps


def _switch(scene: Scene, agent: AgentId, target: Task, alarmed: Task) -> int:
    view = scene.view(agent)
    is_free = view.plan is None or view.status not in ("pending", "executing")
    if is_free or view.task in ("none", alarmed.id, target.id):
        return 0
    return scene.config.switch_cost


def _other_targets(scene: Scene, forecast: Forecast, alarmed: Task) -> list[Task]:
    """Open tasks worth a channel whose way is clear, those nearest to the group."""
    tasks = scene.world.tasks
    named = None if scene.names_everything else _named(scene)
    group = tuple(scene.cell(agent) for agent in forecast.agents)
    if not group:
        return []
    field = tasks.distances(scene.state, group)
    far = _span(scene) + scene.world.rules.agents
    ranked = []
    for task in tasks.open(scene.state):
        if task.worth <= 0 or task.id == alarmed.id or (named is not None and task.id not in named):
            continue
        steps = [int(field[slot]) for slot in tasks.slots(scene.state, task)]
        near = [length for length in steps if 0 <= length <= far]
        if near:
            ranked.append((min(near), task.number, task))
    ranked.sort(key=lambda entry: entry[:2])
    nearest = [task for _, _, task in ranked[: scene.config.max_targets]]
    return [task for task in nearest if _is_clear(scene, task)]


def _is_clear(scene: Scene, task: Task) -> bool:
    way, end = scene.world.tasks.way(scene.state, task)
    return way >= end


def _named(scene: Scene) -> set[str]:
    """Ids of the tasks that at least one candidate has itself seen."""
    return {
        task.id
        for agent in scene.candidates
        for task in scene.world.tasks.known(scene.state, agent)
    }


# --- recommended plans ---------------------------------------------------------------------------


def recommend(
    scene: Scene, forecast: Forecast, alarmed: Task, target: Task | None, cohort: Cohort
) -> Advice:
    """The plans that bring the cohort together, and let the others go."""
    let_go = () if target is not None and target.id == alarmed.id else forecast.agents
    plans = {agent: _LET_GO for agent in let_go if agent not in cohort.agents}
    if target is None:
        return Advice("release", None, cohort, None, plans)
    recipes = {
        seat.agent: scene.world.tasks.recipe(scene.state, seat.agent, target, seat.slot)
        for seat in cohort.seats
    }
    able = {agent: one for agent, one in recipes.items() if isinstance(one, Recipe)}
    strategy = _strategy(forecast, alarmed, target, able)
    if len(able) < len(recipes):
        return Advice(strategy, target, cohort, None, plans)
    arrivals = _arrivals(scene, target, able, plans)
    latest = None
    if all(steps is not None for steps in arrivals.values()):
        latest = max((steps for steps in arrivals.values() if steps is not None), default=0)
    if strategy == "equip" and (latest is None or latest > scene.config.equip_wait):
        first = {agent: _equip(target, one) for agent, one in able.items()}
        return Advice(strategy, target, cohort, latest, {**plans, **first})
    meeting, own = _joint(scene, target, able, arrivals, latest, plans)
    return Advice(strategy, target, cohort, meeting, {**plans, **own})


def _strategy(
    forecast: Forecast, alarmed: Task, target: Task, recipes: dict[AgentId, Recipe]
) -> str:
    if target.id != alarmed.id:
        return "switch"
    if any(recipe.prepare for recipe in recipes.values()):
        return "equip"
    return "synchronise" if len(forecast.group) >= target.need else "recruit"


def _arrivals(
    scene: Scene, target: Task, recipes: dict[AgentId, Recipe], others: dict[AgentId, PlanDraft]
) -> dict[AgentId, int | None]:
    """Steps until each cohort member is there and able, all walking together."""
    ways = {
        agent: PlanDraft(target.id, (*recipe.prepare, *recipe.approach)[:_MOST_ACTIONS])
        for agent, recipe in recipes.items()
    }
    walking = {agent: draft for agent, draft in ways.items() if draft.actions}
    standing = {agent: None for agent in ways if agent not in walking}
    plans = with_plans(scene.plans, {**others, **walking, **standing})
    trial = scene.predictor.attempt(scene.state, plans, scene.t, target.id, until=True)
    return {agent: trial.arrivals[agent] if agent in walking else 0 for agent in ways}


def _joint(
    scene: Scene,
    target: Task,
    recipes: dict[AgentId, Recipe],
    arrivals: dict[AgentId, int | None],
    latest: int | None,
    others: dict[AgentId, PlanDraft],
) -> tuple[int | None, dict[AgentId, PlanDraft]]:
    """Plans that act together after a margin: the least one that wastes no attempt."""
    if latest is None:
        return None, {agent: _share(target, one, 0) for agent, one in recipes.items()}
    succeeded = None
    for margin in _MARGINS:
        own = {
            agent: _share(target, recipe, latest + margin - (arrivals[agent] or 0))
            for agent, recipe in recipes.items()
        }
        plans = with_plans(scene.plans, {**others, **own})
        trial = scene.predictor.attempt(scene.state, plans, scene.t, target.id, until=False)
        if trial.successes and not trial.failures:
            return latest + margin, own
        if trial.successes and succeeded is None:
            succeeded = latest + margin, own
        if margin == 0:
            plain = latest, own
    return succeeded or plain


def _share(target: Task, recipe: Recipe, wait: int) -> PlanDraft:
    waits = []
    while wait > 0:
        waits.append(Action("wait", {"steps": min(wait, _LONGEST_WAIT)}))
        wait -= _LONGEST_WAIT
    actions = (*recipe.prepare, *recipe.approach, *waits, *recipe.act)
    return PlanDraft(target.id, actions[:_MOST_ACTIONS])


def _equip(target: Task, recipe: Recipe) -> PlanDraft:
    actions = recipe.prepare[:_MOST_ACTIONS] or (Action("wait", {"steps": _PAUSE}),)
    return PlanDraft(target.id, actions)


def with_plans(plans: Iterable[PlanView], changed: dict[AgentId, Any]) -> tuple[PlanView, ...]:
    """`plans` with new ones (agent -> PlanDraft) put in; None takes an agent's plan away."""
    return tuple(
        _changed(view, changed[view.agent]) if view.agent in changed else view for view in plans
    )


def _changed(view: PlanView, draft: PlanDraft | None) -> PlanView:
    if draft is None:
        return PlanView(view.agent, "W", None, "none", (), 0, None, "none")
    name = f"{view.agent}.new"
    return PlanView(view.agent, "W", name, draft.task, draft.actions, 0, None, "pending")


def proposed(scene: Scene, plans: dict[AgentId, PlanDraft]) -> Scene:
    """The scene in which `plans` are committed."""
    return replace(scene, plans=with_plans(scene.plans, dict(plans)))
