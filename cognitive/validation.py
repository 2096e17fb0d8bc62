"""Whether a reply that fits its schema can be used: the number of actions, verbs, ids, tasks.

The checks run in groups, in this order; the first group that finds something ends them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel

from cognitive.memory import reason_sentence
from cognitive.parsing import MAX_FINDINGS, Finding
from cognitive.plans import NO_PLAN_TASK
from cognitive.schemas import (
    AckReply,
    DirectiveReply,
    InterruptReply,
    PlanReply,
    RevisionReply,
    TalkingPlanReply,
)
from worlds.api import Action, AgentId, AgentView, ArgSpec, Json, VerbSpec

__all__ = ["Situation", "argument_findings", "check_reply"]


@dataclass(frozen=True, slots=True)
class Situation:
    """What an answer is checked against.

    told_tasks: tasks that orders or guidance named. workers: whom a directive may name besides
    its author. neighbours: whom it may write to. reasons: the world's sentences.
    """

    agent: AgentId
    view: AgentView
    reasons: Mapping[str, str]
    max_actions: int
    has_live_plan: bool
    told_tasks: tuple[str, ...] = ()
    workers: tuple[AgentId, ...] = ()
    neighbours: Callable[[], frozenset[AgentId]] = frozenset


def check_reply(value: BaseModel, at: Situation) -> tuple[Finding, ...]:
    """Findings of the first group that has any, at most 8; () if the reply can be used."""
    for group in _GROUPS:
        findings = tuple(group(value, at))[:MAX_FINDINGS]
        if findings:
            return findings
    return ()


def recheck(value: BaseModel, at: Situation) -> tuple[Finding, ...]:
    """Findings that a world which moved on can have brought: ids and tasks."""
    for group in (_references, _tasks_and_agents):
        findings = tuple(group(value, at))[:MAX_FINDINGS]
        if findings:
            return findings
    return ()


def plan_in(value: BaseModel) -> tuple[PlanReply | None, str]:
    """The plan a reply carries, if it carries one, and where it stands in it."""
    if isinstance(value, PlanReply):
        return value, ""
    if isinstance(value, InterruptReply | RevisionReply):
        return value.plan, "plan."
    return None, ""


def _count(value: BaseModel, at: Situation) -> Iterator[Finding]:
    plan, place = plan_in(value)
    if plan is None:
        return
    count = len(plan.actions)
    if count == 0:
        yield Finding("empty_plan", f"{place}actions: a plan has at least 1 action; wait is one")
    if count > at.max_actions:
        text = f"{place}actions: {count} actions, at most {at.max_actions} are allowed"
        yield Finding("too_many_actions", text)


def _verbs(value: BaseModel, at: Situation) -> Iterator[Finding]:
    plan, place = plan_in(value)
    for i, action in enumerate(plan.actions if plan else ()):
        yield from argument_findings(action.as_action(), at.view.verbs, f"{place}actions[{i}]")


def _references(value: BaseModel, at: Situation) -> Iterator[Finding]:
    plan, place = plan_in(value)
    for i, action in enumerate(plan.actions if plan else ()):
        for reason in at.view.check(action.as_action()):
            sentence = reason_sentence(reason.code, reason.facts, at.reasons)
            yield Finding(reason.code, f"{place}actions[{i}]: {sentence}")


def _tasks_and_agents(value: BaseModel, at: Situation) -> Iterator[Finding]:
    plan, place = plan_in(value)
    if plan is not None and not _knows(plan.task, at):
        text = f'{place}task: "{plan.task}" is no task you know; say "{NO_PLAN_TASK}" for none'
        yield Finding("unknown_task", text)
    if isinstance(plan, TalkingPlanReply):
        yield from _recipients(plan, at)
    if isinstance(value, DirectiveReply):
        yield from _directive(value, at)
    if isinstance(value, AckReply) and value.task is not None and not _knows(value.task, at):
        yield Finding("unknown_task", f'task: "{value.task}" is no task you know')


def _knows(task: str, at: Situation) -> bool:
    is_told = task == NO_PLAN_TASK or task in at.told_tasks
    return is_told or at.view.find(task) is not None


def _recipients(plan: TalkingPlanReply, at: Situation) -> Iterator[Finding]:
    neighbours = at.neighbours()
    for i, message in enumerate(plan.messages):
        for agent in message.recipients:
            if agent not in neighbours:
                allowed = ", ".join(map(str, sorted(neighbours))) or "nobody"
                text = f"messages[{i}].recipients: you cannot write to {agent}, only to {allowed}"
                yield Finding("not_allowed", text)


def _directive(value: DirectiveReply, at: Situation) -> Iterator[Finding]:
    if value.own == "keep" and not at.has_live_plan:
        yield Finding("not_allowed", 'own: you have no plan to keep; say "replan"')
    if at.workers and not value.assignments:
        yield Finding("not_allowed", "assignments: give your workers at least one")
    allowed = {*at.workers, at.agent}
    named: set[AgentId] = set()
    for i, assignment in enumerate(value.assignments):
        for agent in assignment.agents:
            if agent not in allowed:
                text = f"assignments[{i}].agents: {agent} is not one of your workers"
                yield Finding("not_allowed", text)
            if agent in named:
                yield Finding("not_allowed", f"assignments[{i}].agents: {agent} is named twice")
            named.add(agent)


_GROUPS: tuple[Callable[[BaseModel, Situation], Iterator[Finding]], ...] = (
    _count,
    _verbs,
    _references,
    _tasks_and_agents,
)


# --- the verb table ------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _by_name(verbs: tuple[VerbSpec, ...]) -> Mapping[str, VerbSpec]:
    return {verb.name: verb for verb in verbs}


def argument_findings(action: Action, verbs: tuple[VerbSpec, ...], place: str) -> Iterator[Finding]:
    """What is wrong with an action by the verb table: name, arguments, types, ranges, choices."""
    spec = _by_name(verbs).get(action.verb)
    if spec is None:
        names = ", ".join(verb.name for verb in verbs)
        yield Finding("unknown_verb", f'{place}: no verb "{action.verb}"; verbs: {names}')
        return
    known = {arg.name: arg for arg in spec.args}
    for name in action.args:
        if name not in known:
            names = ", ".join(known) or "no arguments"
            text = f"{place}.{name}: {spec.name} has no such argument; it has {names}"
            yield Finding("extra_argument", text)
    for name, arg in known.items():
        if name not in action.args:
            if arg.is_required:
                yield Finding("missing_argument", f"{place}.{name}: missing ({spec.name})")
            continue
        wrong = _wrong(arg, action.args[name])
        if wrong:
            yield Finding("bad_argument", f"{place}.{name}: {wrong} ({spec.name})")


def _wrong(arg: ArgSpec, value: Json) -> str | None:
    if arg.type == "int":
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{value!r} is not an integer"
        return None if arg.low <= value <= arg.high else f"{value} is not in {arg.low}..{arg.high}"
    if arg.type == "choice":
        choices = ", ".join(arg.choices)
        return None if value in arg.choices else f"{value!r} is not one of {choices}"
    if arg.type == "cell":
        is_cell = isinstance(value, list | tuple) and len(value) == 2
        is_cell = is_cell and all(type(part) is int for part in value)
        return None if is_cell else f"{value!r} is not a cell [row, column]"
    is_id = isinstance(value, str) or type(value) is int
    return None if is_id else f"{value!r} is not an id"
