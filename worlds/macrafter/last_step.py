"""What the last step was for one agent, read back from the records in the state."""

from __future__ import annotations

from typing import NamedTuple

from worlds.api import NO_ATTEMPT, AgentId, Attempt, Part
from worlds.macrafter.reports import attempt, harms
from worlds.macrafter.state import FACINGS, OUTCOMES, REASONS, MacrafterState
from worlds.macrafter.table import Table

__all__ = ["LastStep", "is_success", "last_attempt", "last_score", "last_step", "reason_of"]

_MOVE_REASONS = frozenset({"wall", "agent", "creature", "ground"})
_SHARE_REASONS = frozenset(
    {
        "no_arguments",
        "no_such_recipient",
        "not_shareable",
        "too_far",
        "nothing_to_give",
        "recipient_full",
    }
)
_PRIMITIVES = {"craft": "make", "place": "place"}


class LastStep(NamedTuple):
    """Action, outcome, reason (None: none), harm and attempt of one agent."""

    action: str
    outcome: str
    reason: str | None
    harm: tuple[str, ...]
    attempt: Attempt | None


def reason_of(state: MacrafterState, agent: AgentId) -> str | None:
    """Name of the reason of the agent's last outcome, None for none."""
    code = int(state.agent_reason[0, agent])
    return REASONS[code] if code else None


def last_attempt(state: MacrafterState, table: Table, agent: AgentId) -> Attempt | None:
    """The row the agent is in; None without one."""
    index = int(state.agent_attempt[0, agent])
    return None if index == NO_ATTEMPT else attempt(state, table, index)


def last_score(state: MacrafterState, agent: AgentId) -> float:
    """Score of the event of the agent's row, 0 without one."""
    index = int(state.agent_attempt[0, agent])
    return 0.0 if index == NO_ATTEMPT else float(state.attempt_score[0, index])


def is_success(row: Attempt) -> bool:
    """Whether the attempt succeeded."""
    return row.result in ("done", "delivered")


def last_step(state: MacrafterState, table: Table, agent: AgentId) -> LastStep | None:
    """The agent's last step; None before the first."""
    if not state.step[0]:
        return None
    outcome, reason = OUTCOMES[state.agent_outcome[0, agent]], reason_of(state, agent)
    row = last_attempt(state, table, agent)
    action = _action(state, agent, outcome, reason, row)
    return LastStep(action, outcome, reason, harms(int(state.agent_harm[0, agent])), row)


def _action(
    state: MacrafterState,
    agent: AgentId,
    outcome: str,
    reason: str | None,
    row: Attempt | None,
) -> str:
    """The primitive action, told from what it left in the records."""
    if outcome == "idle":
        return "noop"
    if row and int(state.agent_part[0, agent]) & (Part.ACTING | Part.TRYING):
        return f"{_PRIMITIVES[row.action]}_{row.kind}" if row.action in _PRIMITIVES else "do"
    if state.share_amount[0, agent] or reason in _SHARE_REASONS:
        return "share"
    if state.is_asleep[0, agent] or reason == "not_tired":
        return "sleep"
    if outcome == "done" or reason in _MOVE_REASONS:
        return f"move_{FACINGS[state.agent_facing[0, agent]]}"
    return "do"
