"""Who can do a task together at least cost: an exact assignment of agents to slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from worlds.api import AgentId, Cell

__all__ = ["FORBIDDEN", "Cohort", "Seat", "assign"]

FORBIDDEN = -1


class Seat(NamedTuple):
    """One member of a cohort: its slot, its cost, and the steps until it is there, able."""

    agent: AgentId
    slot: Cell
    cost: int
    arrival: int


class Cohort(NamedTuple):
    """Seats in ascending order of agents."""

    seats: tuple[Seat, ...]

    @property
    def agents(self) -> tuple[AgentId, ...]:
        """Ascending ids."""
        return tuple(seat.agent for seat in self.seats)

    @property
    def total(self) -> int:
        """Sum of the costs, in steps."""
        return sum(seat.cost for seat in self.seats)

    @property
    def latest(self) -> int:
        """Steps until the last one is there."""
        return max(seat.arrival for seat in self.seats)


def assign(cost: NDArray[np.int64], need: int) -> tuple[tuple[int, int], ...] | None:
    """The `need` pairs (agent rank, slot rank) of least total cost, ascending; None: infeasible.

    cost: [A, S] int64, steps; FORBIDDEN where the agent cannot take the slot. Ties go to the
    smallest agents (least sum of ranks), then to small slots for small agents: both are decided
    inside the integers handed to the solver.
    """
    kept = _cheapest_rows(cost, need)
    agents, slots = len(kept), cost.shape[1]
    if agents < need or slots < need:
        return None
    from scipy.optimize import linear_sum_assignment  # late: its import takes half a second

    matrix = _padded(cost[kept], need)
    try:
        rows, columns = linear_sum_assignment(matrix)
    except ValueError:  # the solver's word for "infeasible"
        return None
    return tuple(
        (int(kept[i]), int(s))
        for i, s in zip(rows, columns, strict=True)
        if i < agents and s < slots
    )


def _cheapest_rows(cost: NDArray[np.int64], need: int) -> NDArray[np.intp]:
    """Rows that are among the `need` cheapest of some slot; no optimum needs another one."""
    agents = len(cost)
    ranked = np.where(cost == FORBIDDEN, np.iinfo(np.int64).max, cost)
    order = np.argsort(ranked, axis=0, kind="stable")[:need]
    usable = np.take_along_axis(cost, order, axis=0) != FORBIDDEN
    is_kept = np.zeros(agents, bool)
    is_kept[order[usable]] = True
    return np.flatnonzero(is_kept)


def _padded(cost: NDArray[np.int64], need: int) -> NDArray[np.float64]:
    """A square matrix of side A + S - need whose optimum seats exactly `need` agents."""
    agents, slots = cost.shape
    unit = agents * (slots - 1) * need + 1
    scale = need * ((agents - 1) * unit + agents * (slots - 1)) + 1
    i = np.arange(agents)[:, None]
    s = np.arange(slots)[None, :]
    entry = cost * scale + i * unit + (agents - i) * s
    side = agents + slots - need
    matrix = np.full((side, side), np.inf)
    matrix[:agents, :slots] = np.where(cost == FORBIDDEN, np.inf, entry)
    matrix[:agents, slots:] = 0.0
    matrix[agents:, :slots] = 0.0
    return matrix


def seated(
    agents: Sequence[AgentId],
    slots: Sequence[Cell],
    pairs: Sequence[tuple[int, int]],
    cost: NDArray[np.int64],
    arrival: NDArray[np.int64],
) -> Cohort:
    """The cohort that `pairs` of ranks mean. cost, arrival: [A, S] int64, steps."""
    seats = sorted(Seat(agents[i], slots[s], int(cost[i, s]), int(arrival[i, s])) for i, s in pairs)
    return Cohort(tuple(seats))
