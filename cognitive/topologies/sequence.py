"""Individual, chain and ring: one agent after another, or each for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cognitive.dialogue import commit_of
from cognitive.topologies.base import Living, plan_message
from worlds.api import Advance, AgentId, Ask, Draft, Json, Reply, Setting

__all__ = ["AloneRound", "ChainRound", "RingRound"]


@dataclass(frozen=True, slots=True)
class TurnState:
    """Who is asked in which order, and whose turn it is."""

    order: Living
    turn: int


class AloneRound:
    """One agent plans for itself."""

    kind = "individual"

    def __init__(self, agent: AgentId) -> None:
        self._agent = agent

    def begin(self, setting: Setting) -> Advance[TurnState]:
        """Nothing is sent."""
        return Advance(TurnState((self._agent,), 0))

    def members(self, state: TurnState) -> frozenset[AgentId]:
        """The agent, until it has answered."""
        return frozenset(state.order[state.turn :])

    def requests(self, state: TurnState) -> tuple[Ask, ...]:
        """Its own plan."""
        return tuple(Ask(agent, "own", None) for agent in state.order[state.turn :])

    def apply(self, state: TurnState, replies: tuple[Reply, ...]) -> Advance[TurnState]:
        """It goes on with its answer."""
        commit = commit_of(replies[0])
        return Advance(replace(state, turn=1), (commit,) if commit else ())

    def result(self, state: TurnState) -> Json:
        """Nothing beyond the commits."""
        return None


class ChainRound:
    """Living agents in ascending order; a new plan is told to all later ones at once.

    window: how many of the later ones are told; 0: all.
    """

    kind = "chain"

    def __init__(self, window: int = 0) -> None:
        self._window = window

    def begin(self, setting: Setting) -> Advance[TurnState]:
        """Start with the lowest agent."""
        return Advance(TurnState(setting.living, 0))

    def members(self, state: TurnState) -> frozenset[AgentId]:
        """Those whose turn is still to come."""
        return frozenset(state.order[state.turn :])

    def requests(self, state: TurnState) -> tuple[Ask, ...]:
        """The next agent's own plan."""
        if state.turn == len(state.order):
            return ()
        context = {"place": state.turn + 1, "of": len(state.order)}
        return (Ask(state.order[state.turn], "own", None, context),)

    def apply(self, state: TurnState, replies: tuple[Reply, ...]) -> Advance[TurnState]:
        """It goes on; a new plan is proposed to the later ones."""
        commit = commit_of(replies[0])
        later = state.order[state.turn + 1 :]
        told = later[: self._window] if self._window else later
        following = replace(state, turn=state.turn + 1)
        sends = plan_message(commit, told, "proposal")
        return Advance(following, (commit,) if commit else (), sends)

    def result(self, state: TurnState) -> Json:
        """Nothing beyond the commits."""
        return None


class RingRound:
    """Once around from the lowest agent that must decide; each new plan goes to the next one.

    If the last plan interrupts the first speaker, it is asked once more.
    """

    kind = "ring"

    def begin(self, setting: Setting) -> Advance[TurnState]:
        """Start with the lowest agent that must decide."""
        living = setting.living
        first = living.index(setting.needing[0]) if setting.needing else 0
        return Advance(TurnState(living[first:] + living[:first], 0))

    def members(self, state: TurnState) -> frozenset[AgentId]:
        """Those whose turn is still to come, the first speaker included until the end."""
        if state.turn > len(state.order):
            return frozenset()
        return frozenset((*state.order[state.turn :], state.order[0]))

    def requests(self, state: TurnState) -> tuple[Ask, ...]:
        """The next agent's own plan; at the end the first speaker's, if it was interrupted."""
        count = len(state.order)
        if state.turn < count:
            context = {"place": state.turn + 1, "of": count}
            return (Ask(state.order[state.turn], "own", None, context),)
        if state.turn > count:
            return ()
        context = {"place": count + 1, "of": count}
        closing = Ask(
            state.order[0], "own", None, context,
            stages=frozenset("I"), unread=frozenset({"proposal"}),
        )  # fmt: skip
        return (closing,)

    def apply(self, state: TurnState, replies: tuple[Reply, ...]) -> Advance[TurnState]:
        """It goes on; a new plan is proposed to the next one, but not after the closing ask."""
        commit = commit_of(replies[0])
        count = len(state.order)
        sends: tuple[Draft, ...] = ()
        if state.turn < count:
            following = state.order[(state.turn + 1) % count]
            sends = plan_message(commit, (following,), "proposal")
        return Advance(replace(state, turn=state.turn + 1), (commit,) if commit else (), sends)

    def result(self, state: TurnState) -> Json:
        """Nothing beyond the commits."""
        return None
