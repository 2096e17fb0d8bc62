"""The planner that draws: a valid plan of 1 to 3 actions, and any answer to anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognitive.plans import NO_PLAN_TASK
from cognitive.protocols import Answer, Latency, Question, Usage
from cognitive.validation import argument_findings
from cognitive.views import action_json
from worlds.api import Action, AgentView, ArgSpec, Failed, Json, VerbSpec, below

__all__ = ["RandomPlanner"]

MAX_ACTIONS = 3
MAX_DRAWS = 32
LONGEST = 999
TASKS_LOOKED_AT = 6
_OBJECTIONS = ("cannot_reach", "missing_tool", "better_task", "unsafe", "other")
_WAIT = Action("wait", {"steps": 1})


class RandomPlanner:
    """Every choice is a draw that depends on the seed and on the decision alone."""

    name = "random"

    def __init__(self, latency: Latency | None = None) -> None:
        self.latency = latency or Latency()

    async def answer(self, question: Question) -> Answer:
        """A drawn reply."""
        raw = _REPLIES[question.ask.kind](_Dice(question), question)
        return Answer(raw, None, Usage(), 0)

    async def close(self) -> None:
        """Nothing is held open."""


class _Dice:
    """Draws of one try, one after another."""

    def __init__(self, question: Question) -> None:
        self._seed = question.seed
        self._scope = question.scope
        self._count = 0

    def below(self, limit: int) -> int:
        self._count += 1
        return below(limit, self._seed, "planner", self._scope, self._count)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]


def _plan(dice: _Dice, question: Question) -> Json:
    assert question.view is not None
    view = question.view
    values = _values(dice, view)
    count = 1 + dice.below(MAX_ACTIONS)
    actions = [action_json(_action(dice, view, values)) for _ in range(count)]
    return {"task": _task(dice, question), "actions": actions}


def _action(dice: _Dice, view: AgentView, values: Mapping[str, list[Json]]) -> Action:
    """A valid action: verbs and arguments are drawn until one can be named."""
    for _ in range(MAX_DRAWS):
        verb: VerbSpec = dice.pick(view.verbs)
        drawn = {arg.name: _argument(dice, arg, values) for arg in verb.args}
        action = Action(verb.name, {k: v for k, v in drawn.items() if v is not None})
        if not any(argument_findings(action, view.verbs, "")) and not view.check(action):
            return action
    return _WAIT


def _argument(dice: _Dice, arg: ArgSpec, values: Mapping[str, list[Json]]) -> Json:
    if not arg.is_required and dice.below(2):
        return None
    if arg.type == "int" and arg.high >= arg.low:
        return arg.low + dice.below(arg.high - arg.low + 1)
    options = list(arg.choices) if arg.type == "choice" else values.get(arg.name, [])
    return dice.pick(options) if options else None


def _values(dice: _Dice, view: AgentView) -> dict[str, list[Json]]:
    """Values that arguments have in the recipes of some known tasks, by argument."""
    found: dict[str, list[Json]] = {}
    known = view.known()
    for task in [dice.pick(known) for _ in range(min(len(known), TASKS_LOOKED_AT))]:
        recipe = view.recipe(task)
        if isinstance(recipe, Failed):
            continue
        for action in (*recipe.prepare, *recipe.approach, *recipe.act):
            for name, value in action.args.items():
                if value not in found.setdefault(name, []):
                    found[name].append(value)
    return found


def _task(dice: _Dice, question: Question) -> str:
    assert question.view is not None
    known = [task.id for task in question.view.known()]
    return str(dice.pick([NO_PLAN_TASK, *known]))


def _interrupt(dice: _Dice, question: Question) -> Json:
    choice = dice.pick(("resume", "replan"))
    return {"choice": choice, "plan": _plan(dice, question) if choice == "replan" else None}


def _directive(dice: _Dice, question: Question) -> Json:
    choices = ("keep", "replan") if question.memory["own_plan"] else ("replan",)
    workers = list(question.ask.context["workers"])
    task = _task(dice, question)
    groups = [workers[i : i + 256] for i in range(0, len(workers), 256)]
    return {
        "own": dice.pick(choices),
        "assignments": [{"agents": group, "task": task, "role": "free"} for group in groups],
    }


def _acknowledge(dice: _Dice, question: Question) -> Json:
    answer = dice.pick(("accept", "object"))
    return {"answer": answer, "code": dice.pick(_OBJECTIONS) if answer == "object" else None}


def _statement(dice: _Dice, question: Question) -> Json:
    task = _task(dice, question)
    return {
        "text": f"Perhaps {task}.",
        "task": task,
        "arrival": dice.pick((None, dice.below(LONGEST + 1))),
        "partners": dice.below(question.memory["agents"]) % 256,
    }


def _intention(dice: _Dice, question: Question) -> Json:
    own = question.memory["own_plan"]
    task = own["task"] if own else NO_PLAN_TASK
    return {"text": f"I go for {task}.", "task": task, "keeps_plan": own is not None}


def _revision(dice: _Dice, question: Question) -> Json:
    """Keep, or the plan that guidance recommends, if there is one."""
    recommended = question.ask.context.get("recommended")
    if recommended and dice.below(2):
        return {"choice": "revise", "follows_guidance": True, "plan": recommended}
    return {"choice": "keep", "follows_guidance": False, "plan": None}


_REPLIES: Mapping[str, Callable[[_Dice, Question], Json]] = {
    "plan": _plan,
    "interrupt": _interrupt,
    "directive": _directive,
    "acknowledge": _acknowledge,
    "statement": _statement,
    "repair_intention": _intention,
    "repair_revision": _revision,
}
