"""A repair channel: members speak in turn, then revise side by side, until a judge agrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from cognitive.plans import draft_of
from worlds.api import (
    Advance,
    AgentId,
    Ask,
    Commit,
    Draft,
    Json,
    PlanDraft,
    Reply,
    Setting,
)

__all__ = ["Channel", "ChannelState", "Judge", "Proposal", "Verdict"]

Proposal = tuple[PlanDraft | None, ...]
"""One entry a member, in their order: a new plan, or None to keep the present one."""


class Verdict(NamedTuple):
    """How a proposal does: no failing forecast of the members, no harm to others, no less value.

    failing: tasks whose forecast fails. value: thousandths of a point.
    """

    is_settled: bool
    is_harmless: bool
    is_no_worse: bool
    failing: tuple[str, ...]
    value: int

    @property
    def is_accepted(self) -> bool:
        """Whether all three hold."""
        return self.is_settled and self.is_harmless and self.is_no_worse


Judge = Callable[[Proposal], Verdict]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """Where a channel stands; `turn` counts speeches, then revising waves."""

    phase: Literal["speaking", "revising", "closed"]
    turn: int
    live: tuple[AgentId, ...]
    statements: tuple[tuple[AgentId, str], ...] = ()
    proposals: tuple[Proposal, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    outcome: str = ""
    value_after: int = 0


class Channel:
    """The dialogue among `members`, ascending, about one failing task.

    contexts: what each member is told. judge: pure, closed over a copy of the world at opening.
    value_before: value of the plans at opening, in thousandths of a point.
    """

    kind = "repair"

    def __init__(
        self,
        members: tuple[AgentId, ...],
        contexts: Mapping[AgentId, Mapping[str, Json]],
        schemas: Mapping[str, type[BaseModel]],
        judge: Judge,
        value_before: int,
        rounds: int = 1,
        revisions: int = 2,
        on_reject: str = "best",
    ) -> None:
        self._members = members
        self._contexts = contexts
        self._schemas = schemas
        self._judge = judge
        self._value_before = value_before
        self._rounds = rounds
        self._revisions = revisions
        self._on_reject = on_reject

    def begin(self, setting: Setting) -> Advance[ChannelState]:
        """Start with the first speaker, or with the revisions if nobody is to speak."""
        live = tuple(agent for agent in self._members if agent in setting.live_plans)
        phase: Literal["speaking", "revising"] = "speaking" if self._rounds else "revising"
        return Advance(ChannelState(phase, 0, live))

    def members(self, state: ChannelState) -> frozenset[AgentId]:
        """All members until the channel closes."""
        return frozenset() if state.phase == "closed" else frozenset(self._members)

    def requests(self, state: ChannelState) -> tuple[Ask, ...]:
        """One speaker, or everybody's revision."""
        if state.phase == "speaking":
            speaker = self._members[state.turn % len(self._members)]
            return (self._ask(speaker, "repair_intention", state),)
        if state.phase == "revising":
            return tuple(self._ask(agent, "repair_revision", state) for agent in self._members)
        return ()

    def apply(self, state: ChannelState, replies: tuple[Reply, ...]) -> Advance[ChannelState]:
        """Take a speech, or judge a set of revisions."""
        if state.phase == "speaking":
            return self._spoken(state, replies[0])
        return self._revised(state, replies)

    def result(self, state: ChannelState) -> Json:
        """Outcome, number of proposals, verdict of each wave, value before and after."""
        return {
            "outcome": state.outcome,
            "proposals": len(state.proposals),
            "waves": [_verdict_json(verdict) for verdict in state.verdicts],
            "v_before": self._value_before,
            "v_after": state.value_after,
        }

    def _ask(self, agent: AgentId, kind: str, state: ChannelState) -> Ask:
        context = dict(self._contexts[agent])
        context["statements"] = [list(entry) for entry in state.statements]
        context["still_failing"] = list(state.verdicts[-1].failing) if state.verdicts else []
        return Ask(agent, kind, self._schemas[kind], context)

    def _spoken(self, state: ChannelState, reply: Reply) -> Advance[ChannelState]:
        speaker = reply.ask.agent
        value: Any = reply.value
        text = value.text if value is not None else ""
        others = tuple(agent for agent in self._members if agent != speaker)
        body = {"task": value.task, "keeps_plan": value.keeps_plan} if value is not None else None
        is_sent = bool(others) and reply.outcome != "skipped"
        sends = (Draft(speaker, others, "repair_statement", text, body),) if is_sent else ()
        turn = state.turn + 1
        is_last = turn == len(self._members) * self._rounds
        following = replace(
            state,
            phase="revising" if is_last else "speaking",
            turn=0 if is_last else turn,
            statements=(*state.statements, (speaker, text)),
        )
        return Advance(following, sends=sends)

    def _revised(self, state: ChannelState, replies: tuple[Reply, ...]) -> Advance[ChannelState]:
        proposal = tuple(_revision(reply) for reply in replies)
        verdict = self._judge(proposal)
        is_new = any(proposal) and proposal not in state.proposals
        following = replace(
            state,
            turn=state.turn + 1,
            proposals=(*state.proposals, proposal),
            verdicts=(*state.verdicts, verdict),
        )
        note = _verdict_json(verdict)
        if not verdict.is_accepted and is_new and following.turn < self._revisions:
            return Advance(following, note=note)
        outcome, taken, value = self._settled(following)
        closed = replace(following, phase="closed", outcome=outcome, value_after=value)
        present = [reply.ask.agent for reply in replies if reply.outcome != "skipped"]
        commits = tuple(
            _commit(agent, draft, state.live)
            for agent, draft in zip(self._members, taken, strict=True)
            if agent in present
        )
        return Advance(closed, commits, note=note)

    def _settled(self, state: ChannelState) -> tuple[str, Proposal, int]:
        """Outcome, the plans that stand, and their value."""
        kept: Proposal = (None,) * len(self._members)
        last, verdict = state.proposals[-1], state.verdicts[-1]
        if verdict.is_accepted:
            return "accepted", last, verdict.value
        taken, value = kept, self._value_before
        if self._on_reject == "last":
            taken, value = last, verdict.value
        elif self._on_reject == "best":
            for proposal, judged in zip(state.proposals, state.verdicts, strict=True):
                if judged.value > value:
                    taken, value = proposal, judged.value
        return ("improved" if any(taken) else "kept"), taken, value


def _revision(reply: Reply) -> PlanDraft | None:
    value: Any = reply.value
    if value is None or value.choice == "keep":
        return None
    return draft_of(value.plan)


def _commit(agent: AgentId, draft: PlanDraft | None, live: tuple[AgentId, ...]) -> Commit:
    if draft is not None:
        return Commit(agent, "plan", draft)
    return Commit(agent, "resume" if agent in live else "none")


def _verdict_json(verdict: Verdict) -> Json:
    return {
        "a1": verdict.is_settled,
        "a2": verdict.is_harmless,
        "a3": verdict.is_no_worse,
        "failing": list(verdict.failing),
        "v": verdict.value,
    }
