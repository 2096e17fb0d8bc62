"""From an ask of a dialogue to a decision: what its agent is told, and what its answer must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import BaseModel

from cognitive.agents import Agent, Team
from cognitive.desk import Decision
from cognitive.dialogue import Respond
from cognitive.errors import DialogueError
from cognitive.memory import outcome_sentence
from cognitive.messages import Message
from cognitive.plans import NO_PLAN_TASK
from cognitive.protocols import Question
from cognitive.stages import INTERRUPTED
from cognitive.topologies.base import Structure
from cognitive.validation import Situation, check_reply
from cognitive.views import BoundView, own_plan_json
from worlds.api import Ask, Json

__all__ = ["Questions"]

_TOLD = ("task", "target")
"""Names under which the context of an ask tells of a task."""


class Questions:
    """Makes decisions, numbered in order of issue; the messages shown with one are read by it."""

    def __init__(
        self,
        team: Team,
        topology: Structure,
        respond: Respond,
        schemas: Mapping[str, type[BaseModel]],
    ) -> None:
        self._team = team
        self._topology = topology
        self._respond = respond
        self._schemas = schemas
        self._settings = team.settings
        self._reasons = team.world.text.reasons
        self._count = 0

    def decision(
        self, dialogue: int, index: int, ask: Ask, start_ms: int
    ) -> tuple[Decision, list[Message]]:
        """The decision of an ask that starts at `start_ms`, and the messages taken for it."""
        team, agent = self._team, self._team.agents[ask.agent]
        id = f"d{self._count}"
        self._count += 1
        asked, schema = self._resolved(ask, agent)
        messages = agent.mailbox.take(start_ms)
        read = tuple(message.id for message in messages)
        team.memories.read(agent.id, read, team.step, start_ms)
        situation = self.situation(asked)
        limit = self._settings.limits.agent_ms
        decision = Decision(
            id, dialogue, index, ask, asked.kind, schema, self._respond(asked), start_ms, read,
            self._question(f"{dialogue}/{id}", asked, agent, messages),
            lambda value: check_reply(value, situation),
            limit - agent.spent_ms if limit else None,
        )  # fmt: skip
        return decision, messages

    def situation(self, ask: Ask) -> Situation:
        """What an answer to `ask` is checked against, as of now."""
        team, agent = self._team, self._team.agents[ask.agent]
        told = [ask.context[name] for name in _TOLD if isinstance(ask.context.get(name), str)]
        return Situation(
            agent.id,
            BoundView(team.world, team.state, agent.id),
            self._reasons,
            self._settings.max_actions,
            agent.live_plan is not None,
            (*agent.memory.told_tasks(agent.id), *told),
            tuple(ask.context.get("workers", ())),
            lambda: self._topology.neighbours(agent.id, team.living),
        )

    def _resolved(self, ask: Ask, agent: Agent) -> tuple[Ask, type[BaseModel]]:
        """The ask with its kind and schema settled, and the schema."""
        kind = ask.kind
        if kind == "own":
            is_interrupt = self._team.stage(agent.id) == INTERRUPTED and agent.live_plan is not None
            kind = "interrupt" if is_interrupt else "plan"
        schema = ask.schema or self._schemas.get(kind)
        if schema is None:
            kinds = ", ".join(self._schemas)
            raise DialogueError(f'no reply schema for an ask of kind "{kind}"; kinds: {kinds}')
        if kind == ask.kind and schema is ask.schema:
            return ask, schema
        return replace(ask, kind=kind, schema=schema), schema

    def _question(
        self, path: str, ask: Ask, agent: Agent, messages: list[Message]
    ) -> Callable[[tuple[Json, ...]], Question]:
        view = BoundView(self._team.world, self._team.state, agent.id)
        memory = self._notes(agent, view)
        notes = [message.note for message in messages]
        orders, seed = agent.memory.orders, self._settings.seed
        scope = f"{self._settings.run}/{path}"

        def question(tries: tuple[Json, ...]) -> Question:
            at = f"{scope}/{len(tries) + 1}"
            return Question(at, ask, view, memory, notes, orders, tries, seed)

        return question

    def _notes(self, agent: Agent, view: BoundView) -> Json:
        """The memory of a question; standing orders whose task is over are forgotten first."""
        team, mind = self._team, agent.memory
        told = [task for task in mind.told_tasks(agent.id) if task != NO_PLAN_TASK]
        if told:
            is_known = any(view.find(task) is not None for task in told)
            if mind.orders_seen and not is_known:
                mind.orders = None
            mind.orders_seen = is_known
        last = mind.last
        if last is not None and "text" not in last:
            last["text"] = outcome_sentence(last, self._reasons)
        return {
            "agent": agent.id,
            "agents": len(team.agents),
            "step": team.step,
            "stage": team.stage(agent.id),
            "topology": self._topology.kind,
            "leader": self._topology.leader(team.living),
            "left": self._left(agent),
            "events": list(mind.events),
            "team": dict(mind.team),
            "own_plan": own_plan_json(agent.live_plan),
            "last": last,
        }

    def _left(self, agent: Agent) -> Json:
        limits, team = self._settings.limits, self._team
        return {
            "steps": limits.steps - team.step if limits.steps else None,
            "ms": limits.team_ms - team.now_ms if limits.team_ms else None,
            "agent_ms": limits.agent_ms - agent.spent_ms if limits.agent_ms else None,
        }
