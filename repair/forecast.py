"""What a predictor says about one engagement, and when that is a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cognitive.protocols import PlanView
from repair.config import RepairConfig
from worlds.api import AgentId, Cell, Json

__all__ = ["NOBODY", "Counts", "Evidence", "Forecast", "Group", "Trial", "fails", "groups_of"]

Counts = tuple[int, int, int, int]
Group = tuple[tuple[AgentId, str], ...]
"""Sorted (agent, plan id) of the agents whose committed plan names a task."""

NOBODY: frozenset[AgentId] = frozenset()
_LIVE = ("pending", "executing")


@dataclass(frozen=True)
class Trial:
    """Plans tried together: when each agent's plan succeeded, and the attempts on one task."""

    arrivals: Mapping[AgentId, int | None]
    successes: int
    failures: int


class Evidence(NamedTuple):
    """One agent of the group in the best attempt of the first rollout that failed."""

    agent: AgentId
    is_in_place: bool
    is_trying: bool
    is_able: bool
    cell: Cell | None
    arrival: int | None

    def as_json(self) -> Json:
        """Plain data for an event."""
        cell = None if self.cell is None else list(self.cell)
        return [
            self.agent,
            int(self.is_in_place),
            int(self.is_trying),
            int(self.is_able),
            cell,
            self.arrival,
        ]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Counts over rollouts for the engagement of `group` with `task`, seen from `step`.

    support: rollouts with at least one attempt. held: rollouts in which each constraint held.
    first, last: steps of the earliest first and the latest last attempt. counts: participation,
    spatial, temporal, dependency of the best failed attempt.
    """

    task: str
    need: int
    group: Group
    step: int
    rollouts: int
    support: int
    held: Counts
    succeeded: int
    first: int | None
    last: int | None
    status: str
    cause: str | None = None
    counts: Counts | None = None
    evidence: tuple[Evidence, ...] = ()
    is_truncated: bool = False
    is_provisional: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether enough rollouts hold an attempt."""
        return self.status == "decided"

    @property
    def agents(self) -> tuple[AgentId, ...]:
        """Ascending ids of the group."""
        return tuple(agent for agent, _ in self.group)

    def as_json(self) -> dict[str, Json]:
        """The fields of a `repair_predicted` event."""
        return {
            "task": self.task,
            "need": self.need,
            "group": [list(entry) for entry in self.group],
            "rollouts": self.rollouts,
            "support": self.support,
            "held": list(self.held),
            "succeeded": self.succeeded,
            "first": self.first,
            "last": self.last,
            "status": self.status,
            "cause": self.cause,
            "evidence": [entry.as_json() for entry in self.evidence],
        }


def fails(forecast: Forecast, config: RepairConfig) -> bool:
    """Whether a decided forecast puts some constraint below its least probability."""
    if not forecast.is_decided:
        return False
    support = forecast.support
    if any(held < tau * support for held, tau in zip(forecast.held, config.tau, strict=True)):
        return True
    return config.on_blocked and forecast.succeeded < config.tau[0] * support


def groups_of(plans: Iterable[PlanView]) -> dict[str, Group]:
    """Task -> group over the live plans, tasks in the order of their smallest agent."""
    groups: dict[str, list[tuple[AgentId, str]]] = {}
    for view in plans:
        if view.plan is not None and view.status in _LIVE and view.task != "none":
            groups.setdefault(view.task, []).append((view.agent, view.plan))
    return {task: tuple(sorted(members)) for task, members in groups.items()}
