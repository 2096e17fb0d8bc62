"""All to all, gossip and graph: statements first, then everybody plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Literal

from cognitive.dialogue import commit_of
from cognitive.schemas import StatementReply
from cognitive.topologies.base import Living, statement
from worlds.api import Advance, AgentId, Ask, Draft, Json, Reply, Setting, draw

__all__ = ["Audience", "TalkRound", "TalkState", "everybody", "gossip"]


@dataclass(frozen=True, slots=True)
class TalkState:
    """Rounds of statements made so far, and who speaks next in the present one.

    speaker: index of the one who speaks next where they speak one by one, else 0.
    """

    dialogue: int
    seed: int
    living: Living
    speakers: Living
    round: int
    speaker: int
    phase: Literal["talk", "plan", "closed"]


Audience = Callable[[TalkState, AgentId], Living]
"""Whom an agent speaks to in the present round, ascending."""


def everybody(state: TalkState, speaker: AgentId) -> Living:
    """All other living agents."""
    return tuple(agent for agent in state.living if agent != speaker)


def gossip(fanout: int) -> Audience:
    """The `fanout` other living agents with the smallest draws of this dialogue and round."""

    def audience(state: TalkState, speaker: AgentId) -> Living:
        def key(agent: AgentId) -> tuple[int, AgentId]:
            drawn = draw(state.seed, "gossip", state.dialogue, state.round, speaker, agent)
            return drawn, agent

        return tuple(sorted(nsmallest(fanout, everybody(state, speaker), key=key)))

    return audience


class TalkRound:
    """`rounds` rounds of statements by those who must decide, then the plans of all in R or I.

    audience: whom a speaker speaks to. speakers: who makes statements, ascending. is_ascending:
    one speaker after another instead of all together.
    """

    def __init__(
        self,
        kind: str,
        audience: Audience,
        speakers: Living,
        rounds: int = 1,
        is_ascending: bool = False,
    ) -> None:
        self.kind = kind
        self._audience = audience
        self._speakers = speakers
        self._rounds = rounds
        self._is_ascending = is_ascending

    def begin(self, setting: Setting) -> Advance[TalkState]:
        """Start with the first round of statements, if somebody makes one."""
        phase: Literal["talk", "plan"] = "talk" if self._speakers and self._rounds else "plan"
        return Advance(
            TalkState(setting.dialogue, setting.seed, setting.living, self._speakers, 0, 0, phase)
        )

    def members(self, state: TalkState) -> frozenset[AgentId]:
        """All living agents: a statement may interrupt any of them."""
        return frozenset() if state.phase == "closed" else frozenset(state.living)

    def requests(self, state: TalkState) -> tuple[Ask, ...]:
        """Statements, then own plans."""
        if state.phase == "closed":
            return ()
        if state.phase == "plan":
            return tuple(Ask(agent, "own", None) for agent in state.living)
        context = {"round": state.round + 1, "rounds": self._rounds}
        return tuple(Ask(agent, "statement", None, context) for agent in self._speaking(state))

    def apply(self, state: TalkState, replies: tuple[Reply, ...]) -> Advance[TalkState]:
        """Statements are sent; plans are committed."""
        if state.phase == "plan":
            commits = tuple(c for c in map(commit_of, replies) if c is not None)
            return Advance(replace(state, phase="closed"), commits)
        sends: tuple[Draft, ...] = ()
        for reply in replies:
            if isinstance(reply.value, StatementReply):
                speaker = reply.ask.agent
                sends += statement(speaker, self._audience(state, speaker), reply.value)
        return Advance(self._next(state), sends=sends)

    def result(self, state: TalkState) -> Json:
        """Nothing beyond statements and commits."""
        return None

    def _speaking(self, state: TalkState) -> Living:
        return state.speakers[state.speaker :][:1] if self._is_ascending else state.speakers

    def _next(self, state: TalkState) -> TalkState:
        if self._is_ascending and state.speaker + 1 < len(state.speakers):
            return replace(state, speaker=state.speaker + 1)
        following = replace(state, round=state.round + 1, speaker=0)
        return replace(following, phase="plan") if following.round == self._rounds else following
