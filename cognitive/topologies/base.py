"""What all topologies share: how one is described, and how answers become messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cognitive.schemas import AckReply, DirectiveReply, StatementReply
from cognitive.views import action_json
from worlds.api import AgentId, Commit, Dialogue, Draft, Json, Setting

__all__ = ["Structure", "ack", "directive", "plan_message", "reports", "statement"]

Living = tuple[AgentId, ...]


def _no_leader(living: Living) -> AgentId | None:
    return None


def _no_neighbours(agent: AgentId, living: Living) -> frozenset[AgentId]:
    return frozenset()


@dataclass(frozen=True)
class Structure:
    """A topology: which dialogues open for those who must decide, who leads, who may write to whom.

    open_rounds: as `Topology.open`, for at least two living agents. options: as recorded.
    """

    kind: str
    agents: int
    options: Mapping[str, Json]
    open_rounds: Callable[[Setting], tuple[Dialogue[Any], ...]]
    open_alone: Callable[[Setting], tuple[Dialogue[Any], ...]]
    leader_of: Callable[[Living], AgentId | None] = _no_leader
    links: Callable[[AgentId, Living], frozenset[AgentId]] = field(default=_no_neighbours)

    def open(self, setting: Setting) -> tuple[Dialogue[Any], ...]:
        """Dialogues with disjoint members; whoever is left alone plans alone."""
        if len(setting.living) == 1:
            return self.open_alone(setting)
        return self.open_rounds(setting)

    def leader(self, living: Living) -> AgentId | None:
        """Who leads among the living, where somebody does."""
        return self.leader_of(living) if living else None

    def neighbours(self, agent: AgentId, living: Living) -> frozenset[AgentId]:
        """Whom `agent` may write to."""
        return self.links(agent, living)

    def max_waves(self, living: int) -> int:
        """How many waves a dialogue may take before it counts as broken."""
        rounds: int = self.options.get("rounds", 1)
        return (4 + rounds) * living + 16


# --- answers as messages -------------------------------------------------------------------------


def plan_message(commit: Commit | None, recipients: Living, kind: str) -> tuple[Draft, ...]:
    """A new plan told to others; nothing if there is none or nobody to tell."""
    if commit is None or commit.plan is None or not recipients:
        return ()
    plan = commit.plan
    body = {
        "task": plan.task,
        "actions": [action_json(action) for action in plan.actions],
        "note": plan.note,
    }
    return (Draft(commit.agent, recipients, kind, "", body),)


def reports(setting: Setting, senders: Living, to: AgentId, kind: str) -> tuple[Draft, ...]:
    """A fact sheet of each sender to one agent."""
    return tuple(Draft(a, (to,), kind, "", setting.sheets[a]) for a in senders if a != to)


def directive(sender: AgentId, recipients: Living, value: DirectiveReply) -> tuple[Draft, ...]:
    """Orders as a message."""
    if not recipients:
        return ()
    body = {"assignments": value.model_dump(mode="json")["assignments"]}
    return (Draft(sender, recipients, "directive", "", body),)


def ack(sender: AgentId, leader: AgentId, value: AckReply) -> Draft:
    """An answer to orders as a message."""
    if value.answer == "accept":
        return Draft(sender, (leader,), "ack", value.text, {"answer": "accept"})
    body = {"answer": "object", "code": value.code, "task": value.task}
    return Draft(sender, (leader,), "objection", value.text, body)


def statement(sender: AgentId, recipients: Living, value: StatementReply) -> tuple[Draft, ...]:
    """A statement as a message."""
    if not recipients:
        return ()
    body = {"task": value.task, "arrival": value.arrival, "partners": value.partners}
    return (Draft(sender, recipients, "statement", value.text, body),)
