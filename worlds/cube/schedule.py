"""Who pushes which block next: list scheduling over left faces, by arithmetic on one board."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.cube.board import GOAL_FACE, Board, Terrain
from worlds.cube.slots import blocks_under, matched

__all__ = ["Crew", "schedule"]

Ints = NDArray[np.int64]
Queues = tuple[tuple[AgentId, tuple[int, ...]], ...]
FAR = 1 << 20
"""Arrival of an agent that cannot come at all."""
GROUP = 1 << 44
"""More than any arrival counts in an order of agents."""

Rule = Callable[[int, int, int], tuple[int, ...]]
RULES: tuple[Rule, ...] = (
    lambda start, need, way: (start,),
    lambda start, need, way: (10 * start - 3 * need * way,),
    lambda start, need, way: (-need, start),
    lambda start, need, way: (need, start),
)
"""Which crew is formed next, least first: by its start, its size and the block's way to go."""


class Crew(NamedTuple):
    """One delivery: agents with their slots, and steps from now to its start and its end."""

    block: int
    agents: tuple[AgentId, ...]
    cells: tuple[Cell, ...]
    start: int
    finish: int


def schedule(
    board: Board,
    queues: Mapping[AgentId, Sequence[int]],
    promised: Mapping[AgentId, Cell] | None = None,
) -> tuple[Crew, ...]:
    """Crews in the order in which they were formed; each agent works through its own in turn.

    queues: the blocks an agent is known to be at work on, in its order. These crews are formed
    first, with more hands where they lack some; the rest in the order of the rule whose last
    crew is done first. Ties go to the first rule, the lowest block, the lowest agents.
    promised: slots given before. Agents who know the same get the same schedule, made once.
    """
    known = tuple((agent, tuple(queue)) for agent, queue in sorted(queues.items()))
    given = tuple(sorted((promised or {}).items()))
    made = _made(board)
    if (known, given) not in made:
        made[known, given] = _schedule(board, known, dict(given))
    return made[known, given]


@lru_cache(maxsize=2)
def _made(board: Board) -> dict[tuple[Queues, object], tuple[Crew, ...]]:
    """Schedules of a board by all that enters them."""
    return {}


def _schedule(board: Board, queues: Queues, promised: Mapping[AgentId, Cell]) -> tuple[Crew, ...]:
    """Known work in its order, then everything that is left by the best rule."""
    known = _Work(board, promised)
    pending: dict[int, list[AgentId]] = {}
    turn: dict[int, int] = {}
    for agent, queue in queues:
        for place, block in enumerate(queue):
            pending.setdefault(block, []).append(agent)
            turn[block] = max(turn.get(block, 0), place)
    known.add_blockers(pending, turn)
    while known.form_first(pending, pending, lambda block, start: (turn[block], start)):
        pass
    plans = [_completed(known.copy(), rule) for rule in RULES]
    return min(plans, key=lambda crews: (-len(crews), max((c.finish for c in crews), default=0)))


def _completed(work: _Work, rule: Rule) -> tuple[Crew, ...]:
    """The crews so far, then those of everything that is left by one rule."""
    way = work.terrain.distance_to_goal
    while work.form_first(work.left, {}, lambda b, start: rule(start, work.needs[b], way(b))):
        pass
    return tuple(work.crews)


class _Work:
    """A schedule in the making.

    free_at: [A] int64, step from now at which an agent is free. walk: [K, A] int64, steps from
    where it then is to the left face of each block. crew_of: crews of blocks that will be gone.
    """

    def __init__(self, board: Board, promised: Mapping[AgentId, Cell]) -> None:
        terrain = board.terrain
        self.board, self.terrain, self.needs = board, terrain, terrain.weights
        self.promised = promised
        self.under = _under(terrain)
        self.left = sorted(b for b in self.under if self.needs[b] <= len(board.agents))
        self.crews: list[Crew] = []
        self.crew_of: dict[int, Crew] = {}
        self.free_at: Ints = np.zeros(len(board.agents), np.int64)
        self.walk: Ints = _walks(board).copy()

    def copy(self) -> _Work:
        """One that goes on from here by itself."""
        other = copy(self)
        other.left, other.crews, other.crew_of = [*self.left], [*self.crews], {**self.crew_of}
        other.free_at, other.walk = self.free_at.copy(), self.walk.copy()
        return other

    def add_blockers(self, pending: dict[int, list[AgentId]], turn: dict[int, int]) -> None:
        """Let blocks in the way of pending ones be pending too, for hands that are free."""
        waiting = list(pending)
        while waiting:
            block = waiting.pop()
            for other in sorted(self.under.get(block, ())):
                if other not in pending:
                    pending[other], turn[other] = [], turn[block]
                    waiting.append(other)

    def form_first(
        self,
        blocks: Collection[int],
        pending: dict[int, list[AgentId]],
        rank: Callable[[int, int], tuple[int, ...]],
    ) -> bool:
        """Form the crew of least rank by block and start; False if none can be formed.

        pending: blocks and who is at work on them; the one that gets its crew is taken out.
        """
        order = self.order(blocks, pending)
        starts = self.starts(order)
        able = [block for block in sorted(starts) if starts[block] < FAR]
        if not able:
            return False
        block = min(able, key=lambda b: (rank(b, starts[b]), b))
        self.form(block, np.argsort(order[block])[: self.needs[block]].tolist())
        pending.pop(block, None)
        return True

    def order(
        self, blocks: Collection[int], pending: Mapping[int, Sequence[AgentId]]
    ) -> dict[int, Ints]:
        """[A] int64 for each block that can have a crew: those with the least numbers form it.

        Those at work on it, then the nearest of those who are at work on nothing, then all. One
        of those who take each block in its way away comes along: nobody begins too early. No
        crew at all if such a block stays, or if that makes too many. No two numbers are equal.
        """
        able = [b for b in blocks if b in self.left and self.under[b] <= self.crew_of.keys()]
        if not able:
            return {}
        agents = len(self.free_at)
        table = (self.free_at + self.walk[able]) * agents + np.arange(agents)
        table[:, sorted({agent for crew in pending.values() for agent in crew})] += GROUP
        found = {}
        for block, row in zip(able, table, strict=True):
            sure = self._sure(block, row, pending.get(block, ()))
            if len(sure) <= self.needs[block]:
                row[sure] = row[sure] % GROUP - GROUP
                found[block] = row
        return found

    def _sure(self, block: int, row: Ints, here: Sequence[AgentId]) -> list[AgentId]:
        """Those who come in any case."""
        if not here and not self.under[block]:
            return []
        arrivals = self.arrivals(block).tolist()

        def near(agent: AgentId) -> tuple[int, AgentId]:
            return arrivals[agent], agent

        sure = set(sorted(set(here), key=near)[: self.needs[block]])
        for other in sorted(self.under[block]):
            before = self.crew_of[other].agents
            if not sure & set(before):
                sure.add(min(before, key=near))
        return sorted(sure)

    def arrivals(self, block: int) -> Ints:
        """[A] int64, steps until each agent is free and at the block."""
        arrivals: Ints = self.free_at + self.walk[block]
        return arrivals

    def starts(self, order: Mapping[int, Ints]) -> dict[int, int]:
        """Steps until the crew of each block is together."""
        by_need: dict[int, list[int]] = {}
        for block in order:
            by_need.setdefault(self.needs[block], []).append(block)
        found: dict[int, int] = {}
        for need, blocks in by_need.items():
            table = np.stack([order[block] for block in blocks])
            crews = np.argpartition(table, need - 1)[:, :need]
            arrivals = np.take_along_axis(self.free_at + self.walk[blocks], crews, axis=1)
            found |= zip(blocks, arrivals.max(axis=1).tolist(), strict=True)
        return found

    def form(self, block: int, agents: list[AgentId]) -> None:
        """Let the crew deliver the block; afterwards they stand before the goal column."""
        terrain, arrivals = self.terrain, self.arrivals(block)
        near = arrivals[agents].tolist()
        cells = matched(self.board, block, agents, near, self.promised)
        crew = sorted(cells, key=lambda agent: cells[agent])
        start = int(arrivals[crew].max())
        finish = start + terrain.distance_to_goal(block)
        slots = tuple(cells[agent] for agent in crew)
        self.crew_of[block] = Crew(block, tuple(crew), slots, start, finish)
        self.crews.append(self.crew_of[block])
        self.left.remove(block)
        self.free_at[crew] = finish
        self.walk[:, crew] = _walks_after(terrain)[self.needs[block]][:, [row for row, _ in slots]]


@lru_cache(maxsize=2)
def _walks(board: Board) -> Ints:
    """[K, A] int64, steps from where each agent stands to the left face of each block."""
    rows, columns = np.array(board.agents).T
    return _steps(board.terrain, rows, columns)


@lru_cache(maxsize=2)
def _walks_after(terrain: Terrain) -> dict[int, Ints]:
    """Weight -> [K, H] int64, the same from each row once a block of that weight is delivered."""
    rows = np.arange(terrain.rows)
    return {
        weight: _steps(terrain, rows, np.full_like(rows, max(0, terrain.columns - weight - 1)))
        for weight in {terrain.weights[block] for block in terrain.open}
    }


@lru_cache(maxsize=2)
def _under(terrain: Terrain) -> dict[int, frozenset[int]]:
    """Blocks that can be delivered, each with those that must be gone before."""
    under = {block: blocks_under(terrain, block) for block in terrain.open}
    return {block: found for block, found in under.items() if found is not None}


def _steps(terrain: Terrain, rows: Ints, columns: Ints) -> Ints:
    """[K, N] steps to the left faces; from a cell that is under a block now, as the crow flies."""
    steps: Ints = np.full((len(terrain.weights), len(rows)), FAR, np.int64)
    is_covered = terrain.ground[rows, columns] < 0
    for block in _under(terrain):
        cells = terrain.contacts(block, GOAL_FACE)
        found = terrain.field(cells)[rows, columns].astype(np.int64)
        middle = cells[len(cells) // 2]
        straight = np.abs(rows - middle[0]) + np.abs(columns - middle[1])
        covered = np.where(is_covered, straight, FAR)
        steps[block] = np.where(found < UNREACHABLE, found, covered)
    return steps
