"""Who pushes which block next: list scheduling over left faces, by arithmetic on one board."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.cube.board import GOAL_FACE, Board
from worlds.cube.slots import blocks_under, matched

__all__ = ["Crew", "schedule"]

Ints = NDArray[np.int64]
FAR = 1 << 20
"""Arrival of an agent that cannot come at all."""

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
    promised: slots given before.
    """
    plans = [_planned(board, queues, promised or {}, rule) for rule in RULES]
    return min(plans, key=lambda crews: (-len(crews), max((c.finish for c in crews), default=0)))


def _planned(
    board: Board,
    queues: Mapping[AgentId, Sequence[int]],
    promised: Mapping[AgentId, Cell],
    rule: Rule,
) -> tuple[Crew, ...]:
    """The schedule by one rule: known work in its order, then everything that is left."""
    work = _Work(board, promised)
    pending: dict[int, list[AgentId]] = {}
    turn: dict[int, int] = {}
    for agent, queue in sorted(queues.items()):
        for place, block in enumerate(queue):
            pending.setdefault(block, []).append(agent)
            turn[block] = max(turn.get(block, 0), place)
    work.add_blockers(pending, turn)
    while work.form_first(pending, pending, lambda block, start: (turn[block], start)):
        pass
    way = board.terrain.distance_to_goal
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
        under = {block: blocks_under(terrain, block) for block in terrain.open}
        self.under = {block: found for block, found in under.items() if found is not None}
        self.left = sorted(b for b in self.under if self.needs[b] <= len(board.agents))
        self.crews: list[Crew] = []
        self.crew_of: dict[int, Crew] = {}
        self.free_at: Ints = np.zeros(len(board.agents), np.int64)
        self.walk: Ints = np.full((len(self.needs), len(board.agents)), FAR, np.int64)
        rows, columns = np.array(board.agents).T
        for block in self.left:
            self.walk[block] = self._steps(block, rows, columns)

    def _steps(self, block: int, rows: Ints, columns: Ints) -> Ints:
        """[N] steps to the left face; from a cell that is under a block now, as the crow flies."""
        cells = self.terrain.contacts(block, GOAL_FACE)
        found = self.terrain.field(cells)[rows, columns].astype(np.int64)
        middle = cells[len(cells) // 2]
        straight = np.abs(rows - middle[0]) + np.abs(columns - middle[1])
        covered = np.where(self.terrain.ground[rows, columns] < 0, straight, FAR)
        return np.where(found < UNREACHABLE, found, covered)

    def arrivals(self, block: int) -> Ints:
        arrivals: Ints = self.free_at + self.walk[block]
        return arrivals

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
        crews = {block: self.crew(block, pending) for block in blocks}
        starts = {block: self.start(block, crew) for block, crew in crews.items()}
        able = [block for block in sorted(crews) if starts[block] < FAR]
        if not able:
            return False
        block = min(able, key=lambda b: (rank(b, starts[b]), b))
        self.form(block, crews[block])
        pending.pop(block, None)
        return True

    def crew(self, block: int, pending: Mapping[int, Sequence[AgentId]]) -> list[AgentId]:
        """Those at work on it, then the nearest of those who are at work on nothing, then all.

        One of those who take each block in its way away comes along: nobody begins too early.
        No one at all if such a block stays, or if that makes too many.
        """
        if block not in self.left or not self.under[block] <= self.crew_of.keys():
            return []
        arrivals, need = self.arrivals(block), self.needs[block]
        order = np.argsort(arrivals, kind="stable").tolist()
        here = set(pending.get(block, ()))
        sure = set([agent for agent in order if agent in here][:need])
        bound = {agent for crew in pending.values() for agent in crew}
        for other in sorted(self.under[block]):
            before = self.crew_of[other].agents
            if not sure & set(before):
                sure.add(min(before, key=lambda agent: (arrivals[agent], agent)))
        ranked = sorted(order, key=lambda agent: 0 if agent in sure else 1 + (agent in bound))
        return [] if len(sure) > need else ranked[:need]

    def start(self, block: int, crew: list[AgentId]) -> int:
        """Steps until the crew is together; FAR for no crew."""
        return int(self.arrivals(block)[crew].max()) if crew else FAR

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
        rows = np.array([cell[0] for cell in slots])
        columns = np.full(len(slots), max(0, terrain.columns - terrain.weights[block] - 1))
        for other in self.left:
            self.walk[other, crew] = self._steps(other, rows, columns)
