"""The four cooperative constraints, read off an attempt row; one evaluator for seen and foreseen.

participation: members that act in place, in this step, and are able. spatial: members in place.
temporal: members acting or trying. dependency: members that hold what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from worlds.api import AgentId, Attempt

__all__ = ["CONSTRAINTS", "Evaluation", "Flags", "best_attempt", "evaluate", "is_attempt"]

CONSTRAINTS = ("participation", "spatial", "temporal", "dependency")
Flags = tuple[bool, bool, bool, bool]


class Evaluation(NamedTuple):
    """Which constraints an attempt satisfied, whether it succeeded, and why not if not."""

    held: Flags
    is_success: bool
    cause: str | None


def is_attempt(row: Attempt) -> bool:
    """Whether somebody acted or tried."""
    return row.result != "none"


def evaluate(row: Attempt, group: Iterable[AgentId]) -> Evaluation:
    """Judge one attempt row; `group` are the agents whose committed plan names its task."""
    held = (
        row.participation >= row.need,
        row.spatial >= row.need,
        row.temporal >= row.need,
        row.dependency >= row.dependency_need,
    )
    is_success = row.result in ("done", "delivered")
    return Evaluation(held, is_success, None if is_success else _cause(row, held, group))


def _cause(row: Attempt, held: Flags, group: Iterable[AgentId]) -> str:
    if row.result == "blocked":
        return "passage"
    involved = set(group).union(agent for agent, _ in row.members)
    if len(involved) < row.need:
        return "participation"
    _, spatial, temporal, dependency = held
    for is_held, name in (
        (spatial, "spatial"),
        (dependency, "dependency"),
        (temporal, "temporal"),
    ):
        if not is_held:
            return name
    return "mixed"


def best_attempt(rows: Iterable[tuple[int, Attempt]]) -> tuple[int, Attempt]:
    """The (step, row) with most participation, then spatial, then temporal, then the earliest."""
    return max(
        rows,
        key=lambda entry: (
            entry[1].participation,
            entry[1].spatial,
            entry[1].temporal,
            -entry[0],
        ),
    )
