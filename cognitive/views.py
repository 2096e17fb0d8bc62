"""What a planner gets: one agent's view of the world, and notes of what it went through.

`AgentNotes` is the `memory` of a question:

    agent, agents      its number; how many started
    step, stage        world steps played; R or I
    topology, leader   name of the topology; the number of who leads, or null
    left               steps, ms, agent_ms, calls, tokens: what is left of each limit, or null
    events             event memory, oldest first: dicts with kind, step, ms, n and more
    team               {"3": {task, actions, note, sheet, step, kind}}: newest word of each teammate
    own_plan           {plan, task, actions: [{verb, ...}], index, progress} of a live plan, or null
    last               {plan, task, status, reason, facts, step, done, of, verb, task_result, text}
                       of the last plan that ended, or null; reason is a code or null

A question's `messages` are those newly read, {id, sender, kind, text, body, step} each, and its
`orders` {"sender", "step", "assignments"} of the last directive, or null. The body of a report or
request is the world's fact sheet with stage, task, progress ("1/3") and last (a reason code).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cognitive.plans import Plan
from worlds.api import Action, AgentId, Failed, Json, Reason, Recipe, Task, VerbSpec, World

__all__ = ["BoundView", "action_json", "own_plan_json", "report_body", "scripted_notes"]

_SCRIPTED = ("agent", "agents", "team", "own_plan", "last", "step")


class BoundView:
    """World, state and agent bound together (an `AgentView`)."""

    __slots__ = ("_agent", "_state", "_world", "verbs")

    def __init__(self, world: World, state: Any, agent: AgentId) -> None:
        self._world = world
        self._state = state
        self._agent = agent
        self.verbs: tuple[VerbSpec, ...] = world.skills.verbs

    def describe(self, limit: int) -> str:
        """What the agent may see, in at most `limit` characters."""
        return self._world.text.describe(self._state, self._agent, limit)

    def view(self) -> Json:
        """The same as data."""
        return self._world.text.view(self._state, self._agent)

    def sheet(self) -> Json:
        """What a report carries."""
        return self._world.text.sheet(self._state, self._agent)

    def check(self, action: Action) -> tuple[Reason, ...]:
        """Why the action cannot be named now."""
        return self._world.skills.check(self._state, self._agent, action)

    def known(self) -> tuple[Task, ...]:
        """Tasks the agent has itself seen."""
        return self._world.tasks.known(self._state, self._agent)

    def find(self, id: str) -> Task | None:
        """The task of that id, if the agent knows it and it is open."""
        return self._world.tasks.find(self._state, id, self._agent)

    def recipe(self, task: Task, slot: tuple[int, int] | None = None) -> Recipe | Failed:
        """The agent's share of a task, from here."""
        return self._world.tasks.recipe(self._state, self._agent, task, slot)

    def answer(self, kind: str, notes: Json) -> Json:
        """The scripted reply. Raises ValueError for a world without scripted play."""
        if self._world.policy is None:
            raise ValueError(f"{self._world.id} has no scripted play")
        return self._world.policy.answer(self._state, self._agent, kind, notes)


def action_json(action: Action) -> Json:
    """An action as replies and events hold it: the verb, then its arguments."""
    return {"verb": action.verb, **action.args}


def own_plan_json(plan: Plan | None) -> Json:
    """A live plan as its agent sees it; None without one."""
    if plan is None or not plan.is_live:
        return None
    return {
        "plan": plan.id,
        "task": plan.task,
        "actions": [action_json(action) for action in plan.actions],
        "index": plan.index,
        "progress": plan.progress,
    }


def report_body(sheet: Json, stage: str, plan: Plan | None, last: Json) -> Json:
    """The fact sheet of a world with where its agent stands."""
    is_live = plan is not None and plan.is_live
    return {
        **(sheet if isinstance(sheet, Mapping) else {"sheet": sheet}),
        "stage": stage,
        "task": plan.task if plan is not None and is_live else "none",
        "progress": f"{plan.index}/{len(plan.actions)}" if plan is not None and is_live else "0/0",
        "last": last["reason"] if last else None,
    }


def scripted_notes(memory: Json, messages: Json, orders: Json, context: Json) -> Json:
    """The notes that a world's scripted play gets, made from the parts of a question."""
    return {
        **{name: memory[name] for name in _SCRIPTED},
        "memory": {"events": memory["events"]},
        "messages": messages,
        "orders": orders,
        "context": context,
    }
