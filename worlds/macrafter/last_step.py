"""What the last step was for one agent, read back from the records in the state."""

from __future__ import annotations

from typing import NamedTuple

from worlds.api import NO_ATTEMPT, AgentId, AttemptColumn, AttemptResult, Part
from worlds.macrafter.state import (
    ACTION,
    ATTEMPT_ACTIONS,
    COLUMN,
    FACINGS,
    HARMS,
    ITEM,
    OUTCOMES,
    REASONS,
    ROW,
    THINGS,
    MacrafterState,
    cell_id,
    creature_id,
)
from worlds.macrafter.table import Table

__all__ = ["LastAttempt", "LastStep", "last_attempt", "last_step", "reason_of"]

FROM_CELL, FROM_CREATURE, CRAFT, PLACE = range(len(ATTEMPT_ACTIONS))
CONSTRAINTS = ("participation", "spatial", "temporal", "dependency")
_FIRST_CONSTRAINT = AttemptColumn.PARTICIPATION
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


class LastAttempt(NamedTuple):
    """An attempt row as one of its members may read it; `is_delivered`: the target is used up."""

    task: str
    number: int
    action: int
    need: int
    participation: int
    spatial: int
    temporal: int
    dependency: int
    dependency_need: int
    members: int
    result: str
    reason: str
    unmet: tuple[str, ...]
    score: float

    @property
    def is_success(self) -> bool:
        """Whether the row is a success."""
        return self.result in ("done", "delivered")


class LastStep(NamedTuple):
    """Action, outcome, reason (None: none), harm and attempt of one agent."""

    action: str
    outcome: str
    reason: str | None
    harm: tuple[str, ...]
    attempt: LastAttempt | None


def reason_of(state: MacrafterState, agent: AgentId) -> str | None:
    """Name of the reason of the agent's last outcome, None for none."""
    code = int(state.agent_reason[0, agent])
    return REASONS[code] if code else None


def last_attempt(state: MacrafterState, table: Table, agent: AgentId) -> LastAttempt | None:
    """The row the agent is in; None without one."""
    index = int(state.agent_attempt[0, agent])
    if index == NO_ATTEMPT:
        return None
    row = state.attempts[0, index].tolist()
    counts = row[_FIRST_CONSTRAINT : _FIRST_CONSTRAINT + len(CONSTRAINTS)]
    need, dependency_need = row[AttemptColumn.NEED], row[AttemptColumn.DEPENDENCY_NEED]
    needs = (need, need, need, dependency_need)
    unmet = [
        name for name, count, least in zip(CONSTRAINTS, counts, needs, strict=True) if count < least
    ]
    if row[AttemptColumn.RESULT] == AttemptResult.BLOCKED:
        unmet.append("passage")
    participation, spatial, temporal, dependency = counts
    return LastAttempt(
        _task_id(state, table, row),
        row[AttemptColumn.TASK],
        row[ACTION],
        need,
        participation,
        spatial,
        temporal,
        dependency,
        dependency_need,
        row[AttemptColumn.MEMBERS],
        AttemptResult.NAMES[row[AttemptColumn.RESULT]],
        REASONS[row[AttemptColumn.REASON]],
        tuple(unmet),
        float(state.attempt_score[0, index]),
    )


def _task_id(state: MacrafterState, table: Table, row: list[int]) -> str:
    name = THINGS[row[ITEM]]
    if row[ACTION] == FROM_CREATURE:
        cells = state.material.shape[1] * state.material.shape[2]
        return creature_id(name, row[AttemptColumn.TASK] - cells)
    if row[ROW] < 0:
        return f"{name}@nowhere"
    source = table.source_of(name) if row[ACTION] == FROM_CELL else None
    return cell_id(source.source if source else name, (row[ROW], row[COLUMN]))


def last_step(state: MacrafterState, table: Table, agent: AgentId) -> LastStep | None:
    """The agent's last step; None before the first."""
    if not state.step[0]:
        return None
    outcome, reason = OUTCOMES[state.agent_outcome[0, agent]], reason_of(state, agent)
    attempt = last_attempt(state, table, agent)
    bits = int(state.agent_harm[0, agent])
    harm = tuple(name for bit, name in enumerate(HARMS) if bits >> bit & 1)
    action = _action(state, agent, outcome, reason, attempt)
    return LastStep(action, outcome, reason, harm, attempt)


def _action(
    state: MacrafterState,
    agent: AgentId,
    outcome: str,
    reason: str | None,
    attempt: LastAttempt | None,
) -> str:
    """The primitive action, told from what it left in the records."""
    if outcome == "idle":
        return "noop"
    if attempt and int(state.agent_part[0, agent]) & (Part.ACTING | Part.TRYING):
        thing = attempt.task.partition("@")[0]
        return {CRAFT: f"make_{thing}", PLACE: f"place_{thing}"}.get(attempt.action, "do")
    if state.share_amount[0, agent] or reason in _SHARE_REASONS:
        return "share"
    if state.is_asleep[0, agent] or reason == "not_tired":
        return "sleep"
    if outcome == "done" or reason in _MOVE_REASONS:
        return f"move_{FACINGS[state.agent_facing[0, agent]]}"
    return "do"
