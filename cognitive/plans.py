"""Plans, how they move from status to status, and the one place where they are played."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from cognitive.errors import IllegalTransition
from cognitive.protocols import PlanView
from cognitive.schemas import PlanReply
from worlds.api import (
    NO_TASK,
    STAY,
    Action,
    AgentId,
    Done,
    Failed,
    Json,
    PlanDraft,
    Primitive,
    Reason,
    Running,
    Stepped,
    World,
)

__all__ = [
    "NO_PLAN_TASK",
    "REASONS",
    "Change",
    "Plan",
    "PlanStep",
    "Played",
    "draft_of",
    "plan_of_view",
    "play_step",
    "view_of",
]

NO_PLAN_TASK = "none"
"""The task of a plan that is about no task of the world."""

PlanStatus = Literal["pending", "executing", "success", "failed", "interrupted"]
StepStatus = Literal["todo", "running", "done", "failed", "cancelled"]

_LEGAL: Mapping[PlanStatus, tuple[PlanStatus, ...]] = {
    "pending": ("executing", "interrupted"),
    "executing": ("success", "failed", "interrupted"),
    "success": (),
    "failed": (),
    "interrupted": (),
}
_LIVE = ("pending", "executing")

REASONS: Mapping[str, str] = {
    "replaced": "another plan took its place",
    "repaired": "a repair channel put another plan in its place",
    "agent_gone": "the agent is gone",
    "run_ended": "the run ended",
    "stale": "the world had moved on before the answer took effect",
    "agent_budget": "the agent has used up its decision time",
    "unavailable": "no answer came",
    "refused": "the answer was refused",
    "planner_error": "the planner failed",
}
"""Sentences of the reason codes of this layer."""


class PlanStep(NamedTuple):
    """One action of a plan; steps are numbers of world steps, None while it has not come to it."""

    action: Action
    status: StepStatus
    started_step: int | None
    ended_step: int | None
    reason: Reason | None
    progress: Json


@dataclass(slots=True)
class Plan:
    """A committed plan and how far it is.

    id: "agent.k". index: the current action, `len(actions)` once all are done. progress: what the
    current action's verb remembers. started_steps, ended_steps: one entry per action that started
    or ended, the number of the world step. worked: primitives given by the current action. mark:
    the world's note on the task when the plan started, () without one.
    """

    id: str
    agent: AgentId
    task: str
    actions: tuple[Action, ...]
    note: str = ""
    decision: str = ""
    committed_ms: int = 0
    committed_step: int = 0
    status: PlanStatus = "pending"
    reason: Reason | None = None
    task_result: str = "unknown"
    index: int = 0
    progress: Json = None
    worked: int = 0
    started_steps: list[int] = field(default_factory=list)
    ended_steps: list[int] = field(default_factory=list)
    mark: tuple[Json, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether it is pending or executing."""
        return self.status in _LIVE

    @property
    def is_action_running(self) -> bool:
        """Whether the current action has started and not ended."""
        return len(self.started_steps) > len(self.ended_steps)

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """Every action with its status."""
        return tuple(self._step(i) for i in range(len(self.actions)))

    def move(self, status: PlanStatus, reason: Reason | None = None) -> None:
        """Go to `status`. Raises IllegalTransition, and changes nothing, if it does not follow."""
        if status not in _LEGAL[self.status]:
            allowed = ", ".join(_LEGAL[self.status]) or "nothing"
            raise IllegalTransition(
                f"plan {self.id} is {self.status} and cannot become {status}; allowed: {allowed}"
            )
        self.status = status
        self.reason = reason

    def fork(self) -> Plan:
        """A copy that can be played on a clone of the world."""
        return replace(
            self, started_steps=list(self.started_steps), ended_steps=list(self.ended_steps)
        )

    def _step(self, i: int) -> PlanStep:
        started = self.started_steps[i] if i < len(self.started_steps) else None
        ended = self.ended_steps[i] if i < len(self.ended_steps) else None
        status: StepStatus = "todo" if started is None else "running"
        if i < self.index:
            status = "done"
        elif self.status == "failed" and i == self.index:
            status = "failed"
        elif not self.is_live:
            status = "cancelled"
        is_current = i == self.index
        reason = self.reason if is_current and status in ("failed", "cancelled") else None
        return PlanStep(
            self.actions[i], status, started, ended, reason, self.progress if is_current else None
        )


def draft_of(reply: PlanReply) -> PlanDraft:
    """The accepted part of a plan reply."""
    actions = tuple(action.as_action() for action in reply.actions)
    return PlanDraft(reply.task, actions, reply.note)


def view_of(agent: AgentId, stage: str, plan: Plan | None) -> PlanView:
    """An agent's plan as gates see it; status and task are `none` without a plan."""
    if plan is None:
        return PlanView(agent, stage, None, NO_PLAN_TASK, (), 0, None, "none")
    return PlanView(
        agent, stage, plan.id, plan.task, plan.actions, plan.index, plan.progress, plan.status
    )


def plan_of_view(view: PlanView) -> Plan | None:
    """A live plan, as executing, that can be played on a clone; None for an agent without one."""
    if view.plan is None or view.status not in _LIVE:
        return None
    return Plan(
        view.plan,
        view.agent,
        view.task,
        view.actions,
        status="executing",
        index=view.index,
        progress=view.progress,
        started_steps=[0] * (view.index + (view.progress is not None)),
        ended_steps=[0] * view.index,
    )


# --- playing -------------------------------------------------------------------------------------


class Change(NamedTuple):
    """Something that happened to a plan: an action started or ended, or the plan ended.

    what: `started`, `done`, `failed`, or `ended` for the plan. index: the action. reason: of a
    failed action. worked: primitives the action gave. is_before: seen before the world stepped.
    """

    plan: Plan
    what: Literal["started", "done", "failed", "ended"]
    index: int  # type: ignore[assignment]  # hides tuple.index
    reason: Reason | None
    worked: int
    is_before: bool


class Played(NamedTuple):
    """One world step: what every agent did, what became of the plans, what the rules say.

    primitives: [A] int, the action numbers. changes: in order, agents ascending before and after
    the step. ended: plans that ended, agents ascending.
    """

    primitives: list[int]
    changes: list[Change]
    ended: list[Plan]
    stepped: Stepped


def play_step(world: World, state: Any, plans: Iterable[Plan]) -> Played:
    """Ground, step and settle: play one world step of `state` in place.

    plans: at most one per agent, ascending by agent; those that are not executing stay as they
    are, and agents without one do nothing. Changes `state`, and index, progress and status of the
    plans; draws nothing and knows no clock. A verb that cannot go on never becomes another action:
    its agent stays in this step and the plan fails after it.
    """
    executing = [plan for plan in plans if plan.status == "executing"]
    step = int(state.step[0]) + 1
    changes: list[Change] = []
    given = [_ground(world, state, plan, step, changes) for plan in executing]
    primitives, stepped = _step(world, state, executing, given)
    ended: list[Plan] = []
    for plan, primitive in zip(executing, given, strict=True):
        if isinstance(primitive, Primitive):
            _settle(world, state, plan, step, changes)
        elif isinstance(primitive, Failed):
            _fail(plan, primitive.reason, step, changes)
        if plan.index == len(plan.actions):
            plan.move("success")
        if plan.status != "executing":
            ended.append(plan)
            changes.append(Change(plan, "ended", plan.index, plan.reason, 0, False))
    return Played(primitives, changes, ended, stepped)


def _ground(
    world: World, state: Any, plan: Plan, step: int, changes: list[Change]
) -> Primitive | Failed | None:
    """The primitive of the current action, or why there is none; None if no action is left."""
    while plan.index < len(plan.actions):
        if not plan.is_action_running:
            plan.started_steps.append(step)
            changes.append(Change(plan, "started", plan.index, None, 0, True))
        action = plan.actions[plan.index]
        given = world.skills.ground(state, plan.agent, action, plan.progress)
        if isinstance(given, Primitive):
            plan.progress = given.progress
            plan.worked += 1
            return given
        if isinstance(given, Failed):
            return given
        _finish(plan, step, changes, True)
    return None


def _step(
    world: World, state: Any, plans: list[Plan], given: list[Primitive | Failed | None]
) -> tuple[list[int], Stepped]:
    """Step the rules with one primitive per agent; all but those given stay."""
    agents = world.rules.agents
    primitives, declared = [STAY] * agents, [NO_TASK] * agents
    arguments = None
    for plan, primitive in zip(plans, given, strict=True):
        if isinstance(primitive, Primitive):
            primitives[plan.agent] = primitive.action
            declared[plan.agent] = primitive.declared
            if primitive.arguments:
                if arguments is None:
                    arguments = np.full((1, agents, world.rules.argument_count), -1, np.int32)
                arguments[0, plan.agent] = primitive.arguments
    actions, tasks = np.array([primitives], np.int32), np.array([declared], np.int32)
    return primitives, world.rules.step(state, actions, tasks, arguments)


def _settle(world: World, state: Any, plan: Plan, step: int, changes: list[Change]) -> None:
    """Ask the current action's verb how it went."""
    action = plan.actions[plan.index]
    verdict = world.skills.settle(state, plan.agent, action, plan.progress)
    if isinstance(verdict, Running):
        plan.progress = verdict.progress
    elif isinstance(verdict, Done):
        _finish(plan, step, changes, False)
    else:
        _fail(plan, verdict.reason, step, changes)


def _finish(plan: Plan, step: int, changes: list[Change], is_before: bool) -> None:
    plan.ended_steps.append(step)
    changes.append(Change(plan, "done", plan.index, None, plan.worked, is_before))
    plan.index += 1
    plan.progress = None
    plan.worked = 0


def _fail(plan: Plan, reason: Reason, step: int, changes: list[Change]) -> None:
    plan.ended_steps.append(step)
    changes.append(Change(plan, "failed", plan.index, reason, plan.worked, False))
    plan.move("failed", reason)
