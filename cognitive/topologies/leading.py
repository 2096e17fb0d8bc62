"""Centralized and hierarchy: orders first, then everybody plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from cognitive.dialogue import commit_of
from cognitive.schemas import AckReply, DirectiveReply
from cognitive.topologies.base import Living, ack, directive, plan_message, reports
from worlds.api import Advance, AgentId, Ask, Commit, Draft, Json, Reply, Setting

__all__ = ["CentralizedRound", "CentralizedState", "TreeRound", "TreeState", "parent_of"]

_DEGRADED = {"degraded": "directive_failed"}


# --- centralized ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CentralizedState:
    """own: what the leader does about its own plan; `own` where no directive said so."""

    leader: AgentId
    workers: Living
    phase: Literal["directive", "acknowledge", "revise", "leader", "workers", "closed"]
    own: Literal["own", "keep", "replan"] = "own"
    objections: tuple[tuple[AgentId, str, str | None, str], ...] = ()


class CentralizedRound:
    """A leader gives orders, hears objections once, plans, and then the workers plan.

    is_full: the leader must decide, all others are workers and report to it; else only `workers`
    must, who ask it (if `asks`) or plan under their last orders.
    """

    kind = "centralized"

    def __init__(
        self,
        leader: AgentId,
        workers: Living,
        is_full: bool,
        asks: bool = True,
        sends_reports: bool = True,
        sends_notice: bool = True,
    ) -> None:
        self._leader = leader
        self._workers = workers
        self._is_full = is_full
        self._asks = asks
        self._sends_reports = sends_reports
        self._sends_notice = sends_notice

    def begin(self, setting: Setting) -> Advance[CentralizedState]:
        """Workers report to the leader or ask it."""
        if not self._is_full and not self._asks:
            return Advance(CentralizedState(self._leader, self._workers, "workers"))
        sends: tuple[Draft, ...] = ()
        if not self._is_full:
            sends = reports(setting, self._workers, self._leader, "request")
        elif self._sends_reports:
            sends = reports(setting, self._workers, self._leader, "report")
        return Advance(CentralizedState(self._leader, self._workers, "directive"), sends=sends)

    def members(self, state: CentralizedState) -> frozenset[AgentId]:
        """The workers, and the leader until it has planned."""
        if state.phase == "closed":
            return frozenset()
        if state.phase == "workers":
            return frozenset(state.workers)
        return frozenset((state.leader, *state.workers))

    def requests(self, state: CentralizedState) -> tuple[Ask, ...]:
        """What is asked in this phase."""
        if state.phase == "directive":
            return (self._directive(state, frozenset()),)
        if state.phase == "acknowledge":
            context = {"leader": state.leader}
            unread = frozenset({"directive"})
            return tuple(Ask(a, "acknowledge", None, context, unread=unread) for a in state.workers)
        if state.phase == "revise":
            return (self._directive(state, frozenset({"objection"})),)
        if state.phase == "leader":
            kind = "plan" if state.own == "replan" else "own"
            return (Ask(state.leader, kind, None, {"workers": list(state.workers)}),)
        if state.phase == "workers":
            context = {"leader": state.leader}
            return tuple(Ask(agent, "own", None, context) for agent in state.workers)
        return ()

    def apply(
        self, state: CentralizedState, replies: tuple[Reply, ...]
    ) -> Advance[CentralizedState]:
        """What follows from the answers of this phase."""
        if state.phase == "directive":
            return self._directed(state, replies[0])
        if state.phase == "acknowledge":
            return self._acknowledged(state, replies)
        if state.phase == "revise":
            return self._revised(state, replies[0])
        if state.phase == "leader":
            commit = commit_of(replies[0])
            told = state.workers if self._sends_notice else ()
            sends = plan_message(commit, told, "plan_notice")
            following = replace(state, phase="workers")
            return Advance(following, (commit,) if commit else (), sends)
        commits = tuple(c for c in map(commit_of, replies) if c is not None)
        return Advance(replace(state, phase="closed"), commits)

    def result(self, state: CentralizedState) -> Json:
        """Who led, who objected."""
        return {"leader": state.leader, "objected": [entry[0] for entry in state.objections]}

    def _directive(self, state: CentralizedState, unread: frozenset[str]) -> Ask:
        context: dict[str, Json] = {"workers": list(state.workers), "is_full": self._is_full}
        if state.objections:
            names = ("agent", "code", "task", "text")
            context["objections"] = [
                dict(zip(names, entry, strict=True)) for entry in state.objections
            ]
        return Ask(state.leader, "directive", None, context, unread=unread)

    def _directed(self, state: CentralizedState, reply: Reply) -> Advance[CentralizedState]:
        value = reply.value
        if reply.outcome == "skipped":
            return Advance(replace(state, phase="workers"))
        if not isinstance(value, DirectiveReply):
            return Advance(replace(state, phase="leader"), note=_DEGRADED)
        sends = directive(state.leader, state.workers, value)
        return Advance(replace(state, phase="acknowledge", own=value.own), sends=sends)

    def _acknowledged(
        self, state: CentralizedState, replies: tuple[Reply, ...]
    ) -> Advance[CentralizedState]:
        answers = [
            (reply.ask.agent, reply.value) for reply in replies if isinstance(reply.value, AckReply)
        ]
        sends = tuple(ack(agent, state.leader, value) for agent, value in answers)
        objections = tuple(
            (agent, value.code or "other", value.task, value.text)
            for agent, value in answers
            if value.answer == "object"
        )
        if objections:
            return Advance(replace(state, phase="revise", objections=objections), sends=sends)
        following, commits = self._to_leader(state)
        return Advance(following, commits, sends)

    def _revised(self, state: CentralizedState, reply: Reply) -> Advance[CentralizedState]:
        value = reply.value
        sends: tuple[Draft, ...] = ()
        if isinstance(value, DirectiveReply):
            objectors = tuple(entry[0] for entry in state.objections)
            sends = directive(state.leader, objectors, value)
            state = replace(state, own=value.own)
        following, commits = self._to_leader(state)
        note = _DEGRADED if reply.outcome == "failed" else None
        return Advance(following, commits, sends, note)

    def _to_leader(self, state: CentralizedState) -> tuple[CentralizedState, tuple[Commit, ...]]:
        """The leader plans next, unless it keeps its plan: then it resumes without an ask."""
        if state.own == "keep":
            return replace(state, phase="workers"), (Commit(state.leader, "resume"),)
        return replace(state, phase="leader"), ()


# --- hierarchy -----------------------------------------------------------------------------------


def parent_of(agent: AgentId, living: Living, branching: int) -> AgentId | None:
    """The parent in the tree over the living by rank; None for the root."""
    rank = living.index(agent)
    return living[(rank - 1) // branching] if rank else None


Nodes = tuple[tuple[AgentId, Living], ...]
"""Inner nodes and the children each of them directs."""


@dataclass(frozen=True, slots=True)
class TreeState:
    """levels: those who direct, the root's first; turn: the level that is next."""

    levels: tuple[Nodes, ...]
    planning: Living
    turn: int
    is_closed: bool


class TreeRound:
    """Orders go down a tree level by level, then everybody plans.

    If the root must decide, all report to their parents and all inner nodes direct; else those
    who must decide ask their parents, and parents that are interrupted direct those who asked.
    """

    kind = "hierarchy"

    def __init__(self, branching: int) -> None:
        self._branching = branching

    def begin(self, setting: Setting) -> Advance[TreeState]:
        """Reports or requests go up."""
        living, branching = setting.living, self._branching
        is_full = bool(setting.needing) and setting.needing[0] == living[0]
        asking = living[1:] if is_full else setting.needing
        children: dict[AgentId, list[AgentId]] = {}
        rank = {agent: place for place, agent in enumerate(living)}
        drafts: list[Draft] = []
        for agent in asking:
            parent = living[(rank[agent] - 1) // branching]
            children.setdefault(parent, []).append(agent)
            drafts += reports(setting, (agent,), parent, "report" if is_full else "request")
        levels: dict[int, list[tuple[AgentId, Living]]] = {}
        for parent in sorted(children):
            depth = _depth(rank[parent], branching)
            levels.setdefault(depth, []).append((parent, tuple(children[parent])))
        ordered = tuple(tuple(levels[depth]) for depth in sorted(levels))
        planning = living if is_full else tuple(sorted({*asking, *children}))
        return Advance(TreeState(ordered, planning, 0, False), sends=tuple(drafts))

    def members(self, state: TreeState) -> frozenset[AgentId]:
        """All who plan in the end."""
        return frozenset() if state.is_closed else frozenset(state.planning)

    def requests(self, state: TreeState) -> tuple[Ask, ...]:
        """The orders of a level, or the plans."""
        if state.is_closed:
            return ()
        if state.turn < len(state.levels):
            return tuple(
                Ask(node, "directive", None, {"workers": list(children)})
                for node, children in state.levels[state.turn]
            )
        above = {
            child: node for level in state.levels for node, children in level for child in children
        }
        return tuple(
            Ask(agent, "own", None, {"leader": above[agent]} if agent in above else {})
            for agent in state.planning
        )

    def apply(self, state: TreeState, replies: tuple[Reply, ...]) -> Advance[TreeState]:
        """Orders go to the children; who keeps its plan resumes; plans are committed."""
        if state.turn == len(state.levels):
            commits = tuple(c for c in map(commit_of, replies) if c is not None)
            return Advance(replace(state, is_closed=True), commits)
        sends: tuple[Draft, ...] = ()
        resumed = []
        for (node, children), reply in zip(state.levels[state.turn], replies, strict=True):
            if isinstance(reply.value, DirectiveReply):
                sends += directive(node, children, reply.value)
                if reply.value.own == "keep":
                    resumed.append(Commit(node, "resume"))
        note = _DEGRADED if any(reply.outcome == "failed" for reply in replies) else None
        return Advance(replace(state, turn=state.turn + 1), tuple(resumed), sends, note)

    def result(self, state: TreeState) -> Json:
        """Nothing beyond orders and commits."""
        return None


def _depth(rank: int, branching: int) -> int:
    depth = 0
    while rank:
        rank = (rank - 1) // branching
        depth += 1
    return depth
