"""The planner that goes for what pays best for itself, whoever else is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from cognitive.planners.scripted import scripted_answer
from cognitive.plans import NO_PLAN_TASK
from cognitive.protocols import Answer, Latency, Question, Usage
from cognitive.views import action_json
from worlds.api import AgentView, Failed, Json, Recipe, Task

__all__ = ["GreedyPlanner"]

MAX_ACTIONS = 8
MAX_ARRIVAL = 999
GROUP = 256
IDLE_STEPS = 3
PER_FAILURE = 0.5
FAILURE_STEPS = 60
"""For how long a failure counts; memory holds that many steps whatever else happens in them."""
_SEARCHING = "explore"
_REPAIR_KINDS = frozenset({"repair_intention", "repair_revision"})


class GreedyPlanner:
    """Takes the known task with the best worth per step of its recipe, as if it were alone.

    Needs and teammates are ignored; a task counts half for every time that it failed at it in the
    last 60 steps. It always resumes, accepts and keeps. heeds_guidance: in a repair channel it
    answers as scripted play.
    """

    name = "greedy"

    def __init__(self, latency: Latency | None = None, heeds_guidance: bool = False) -> None:
        self.latency = latency or Latency()
        self._heeds_guidance = heeds_guidance

    async def answer(self, question: Question) -> Answer:
        """Its reply to a question of any kind."""
        kind = question.ask.kind
        if kind in _REPAIR_KINDS and self._heeds_guidance:
            raw = scripted_answer(question)
        else:
            raw = _REPLIES[kind](question)
        return Answer(raw, None, Usage(), 0)

    async def close(self) -> None:
        """Nothing is held open."""


def _best(question: Question) -> tuple[Task, Recipe] | None:
    """The task it goes for; ties go to the lowest number."""
    view = question.view
    assert view is not None
    since = question.memory["step"] - FAILURE_STEPS
    failures = Counter(
        entry["task"]
        for entry in question.memory["events"]
        if entry["kind"] == "plan_ended" and entry["status"] == "failed" and entry["step"] >= since
    )
    options = []
    for task in view.known():
        recipe = view.recipe(task) if task.worth > 0 else None
        if recipe is not None and not isinstance(recipe, Failed):
            rate = task.worth / max(1, recipe.steps) * PER_FAILURE ** failures[task.id]
            options.append((-rate, task.number, task.id, task, recipe))
    return min(options, key=lambda option: option[:3])[3:] if options else None


def _plan(question: Question) -> Json:
    best = _best(question)
    if best is None:
        assert question.view is not None
        return {"task": NO_PLAN_TASK, "actions": [_search(question.view)]}
    task, recipe = best
    actions = (*recipe.prepare, *recipe.approach, *recipe.act)[:MAX_ACTIONS]
    return {"task": task.id, "actions": [action_json(action) for action in actions]}


def _search(view: AgentView) -> Json:
    """Look for something to do where there is a verb for it, else wait."""
    if any(verb.name == _SEARCHING for verb in view.verbs):
        return {"verb": _SEARCHING}
    return {"verb": "wait", "steps": IDLE_STEPS}


def _task(question: Question) -> str:
    own = question.memory["own_plan"]
    if own is not None:
        return str(own["task"])
    best = _best(question)
    return best[0].id if best else NO_PLAN_TASK


def _directive(question: Question) -> Json:
    workers = list(question.ask.context["workers"])
    task = _task(question)
    groups = [workers[i : i + GROUP] for i in range(0, len(workers), GROUP)]
    return {
        "own": "keep" if question.memory["own_plan"] else "replan",
        "assignments": [{"agents": group, "task": task, "role": "free"} for group in groups],
    }


def _statement(question: Question) -> Json:
    best = _best(question)
    if best is None:
        return {"text": "I have no task.", "task": NO_PLAN_TASK, "arrival": None, "partners": 0}
    task, recipe = best
    steps = min(MAX_ARRIVAL, recipe.steps)
    return {"text": f"I go for {task.id}.", "task": task.id, "arrival": steps, "partners": 0}


def _intention(question: Question) -> Json:
    task = _task(question)
    has_plan = question.memory["own_plan"] is not None
    return {"text": f"I go for {task}.", "task": task, "keeps_plan": has_plan}


_REPLIES: Mapping[str, Callable[[Question], Json]] = {
    "plan": _plan,
    "interrupt": lambda question: {"choice": "resume"},
    "directive": _directive,
    "acknowledge": lambda question: {"answer": "accept"},
    "statement": _statement,
    "repair_intention": _intention,
    "repair_revision": lambda question: {"choice": "keep", "follows_guidance": False},
}
