"""Who pushes which block next: list scheduling over left faces, by arithmetic on one board."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.cube.board import GOAL_FACE, Board, Terrain

__all__ = ["Crew", "blocks_under", "corridors", "is_narrow", "matched", "must_wait", "schedule"]

Ints = NDArray[np.int64]
FAR = 1 << 20
"""Arrival of an agent that cannot come at all."""
CORRIDOR_WAYS = 2
"""Walkable neighbours of a cell in a corridor, at most."""


RULES: tuple[Callable[[int, int, int], tuple[int, ...]], ...] = (
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


def blocks_under(terrain: Terrain, block: int) -> frozenset[int] | None:
    """Blocks that must be gone before right pushes can deliver this one; None: they never can."""
    cells = terrain.contacts(block, GOAL_FACE)
    if len(cells) < terrain.weights[block]:
        return None
    behind = (-int(terrain.ground[cell]) - 1 for cell in cells if terrain.ground[cell] < 0)
    return frozenset(terrain.ahead(block)) | frozenset(behind)


def corridors(terrain: Terrain) -> set[Cell]:
    """Cells that can be walked and on which somebody who stands there is in everybody's way."""
    padded = np.pad(terrain.walkable, 1).astype(np.int8)
    ways = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    rows, columns = np.nonzero(terrain.walkable & (ways <= CORRIDOR_WAYS))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def must_wait(terrain: Terrain, block: int) -> bool:
    """Whether nobody should go to the block yet: another is in its way, and its face in others'."""
    cells = terrain.contacts(block, GOAL_FACE)
    return bool(blocks_under(terrain, block)) and bool(corridors(terrain) & set(cells))


def is_narrow(terrain: Terrain, block: int) -> bool:
    """Whether agents on some left contact cells can shut others out of the rest."""
    inner = terrain.contacts(block, GOAL_FACE)[1:-1]
    return any(not _is_open(terrain, (row, column - 1)) for row, column in inner)


def _is_open(terrain: Terrain, cell: Cell) -> bool:
    return terrain.is_inside(cell) and bool(terrain.walkable[cell])


def matched(
    board: Board,
    block: int,
    agents: Sequence[AgentId],
    arrivals: Sequence[int],
    promised: Mapping[AgentId, Cell],
) -> dict[AgentId, Cell]:
    """A left contact cell for each agent; agents beyond the number of cells get none.

    Whoever was promised a cell gets it. On a narrow face, where nobody can pass anybody, those
    who are there and then those who arrive first go in as deep as they can. On others whoever
    stands on a cell keeps it and the rest follow in the order of rows, so that no two ways cross.
    """
    cells = board.terrain.contacts(block, GOAL_FACE)
    kept = {a: cell for a in agents if (cell := promised.get(a)) in cells and cell is not None}
    if is_narrow(board.terrain, block):
        arrival = dict(zip(agents, arrivals, strict=True))
        return _deepest_first(board, cells, arrival, kept)
    coming = [agent for agent in agents if agent not in kept]
    there = {a: board.agents[a] for a in coming if board.agents[a] in cells}
    found = kept | {a: cell for a, cell in there.items() if cell not in kept.values()}
    left = [cell for cell in cells if cell not in found.values()]
    rest = sorted((a for a in coming if a not in found), key=lambda a: board.agents[a])
    return found | dict(zip(rest, left, strict=False))


def _deepest_first(
    board: Board,
    cells: tuple[Cell, ...],
    arrival: Mapping[AgentId, int],
    kept: Mapping[AgentId, Cell],
) -> dict[AgentId, Cell]:
    """Slots of a narrow face: those who are there, who were promised one, then the others."""
    there = [agent for agent in arrival if board.agents[agent] in cells]
    found = {agent: kept[agent] for agent in there if agent in kept}
    depth = _depths(board.terrain, cells, ())
    moving = [agent for agent in there if agent not in kept]
    for agent in sorted(moving, key=lambda a: (-depth[board.agents[a]], a)):
        row = board.agents[agent][0]
        left = _depths(board.terrain, cells, found.values())
        reach = [cell for cell in left if _in_reach(left, row, cell[0])]
        if reach:
            found[agent] = min(reach, key=lambda c: (-depth[c], abs(c[0] - row), c))
    for agent, cell in kept.items():
        if agent not in found and cell not in found.values():
            found[agent] = cell
    late = _late(board, cells, arrival, found)
    for agent in sorted(late, key=lambda a: (late[a], a)):
        row = board.agents[agent][0]
        left = _depths(board.terrain, cells, found.values())
        if left:
            found[agent] = min(left, key=lambda c: (-left[c], abs(c[0] - row), c))
    return found


def _late(
    board: Board,
    cells: tuple[Cell, ...],
    arrival: Mapping[AgentId, int],
    found: Mapping[AgentId, Cell],
) -> dict[AgentId, int]:
    """Arrival of those without a slot; of who comes at once, round all agents to a free end."""
    here = [cell for cell in cells if board.occupant[cell] > 0]
    doors = tuple(cell for cell, d in _depths(board.terrain, cells, here).items() if d == 0)
    straight, round_all = board.terrain.field(cells), board.field(doors)
    late = {}
    for agent in arrival:
        if agent not in found:
            is_free = arrival[agent] == straight[board.agents[agent]]
            steps = board.steps(round_all, agent) if is_free else UNREACHABLE
            late[agent] = arrival[agent] if steps == UNREACHABLE else steps
    return late


def _depths(terrain: Terrain, cells: Sequence[Cell], taken: Collection[Cell]) -> dict[Cell, int]:
    """For each cell of a face that is not taken the number of others to pass on the way in.

    0 for one that is entered from the left or from beyond an end of the face, -1 where taken
    cells shut off every way.
    """
    column, rows = cells[0][1], {row for row, _ in cells} - {row for row, _ in taken}
    doors = {row for row in rows if _is_open(terrain, (row, column - 1))}
    for end, beyond in ((cells[0][0], -1), (cells[-1][0], 1)):
        if end in rows and _is_open(terrain, (end + beyond, column)):
            doors.add(end)
    depth, waiting = dict.fromkeys(doors, 0), deque(sorted(doors))
    while waiting:
        row = waiting.popleft()
        for beside in (row - 1, row + 1):
            if beside in rows and beside not in depth:
                depth[beside] = depth[row] + 1
                waiting.append(beside)
    return {(row, column): depth.get(row, -1) for row in sorted(rows)}


def _in_reach(depth: Mapping[Cell, int], start: int, goal: int) -> bool:
    """Whether no taken cell lies between two rows of a face."""
    rows = {row for row, _ in depth}
    low, high = min(start, goal), max(start, goal)
    return all(row in rows for row in range(low, high + 1))


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
    rule: Callable[[int, int, int], tuple[int, ...]],
) -> tuple[Crew, ...]:
    work = _Work(board, promised)
    pending: dict[int, list[AgentId]] = {}
    turn: dict[int, int] = {}
    for agent, queue in sorted(queues.items()):
        for place, block in enumerate(queue):
            pending.setdefault(block, []).append(agent)
            turn[block] = max(turn.get(block, 0), place)
    work.add_blockers(pending, turn)
    while pending:
        crews = {block: work.crew(block, pending) for block in pending}
        formable = {block: crew for block, crew in crews.items() if crew}
        if not formable:
            break
        block = min(formable, key=lambda b: (turn[b], work.start(b, crews[b]), b))
        work.form(block, crews[block])
        del pending[block]
    while True:
        crews = {block: work.crew(block, {}) for block in work.left}
        starts = {block: work.start(block, crew) for block, crew in crews.items()}
        able = [block for block in work.left if starts[block] < FAR]
        if not able:
            return tuple(work.crews)
        ranks = {b: rule(starts[b], work.needs[b], board.terrain.distance_to_goal(b)) for b in able}
        block = min(able, key=lambda b: (ranks[b], b))
        work.form(block, crews[block])


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

    def crew(self, block: int, pending: Mapping[int, Sequence[AgentId]]) -> list[AgentId]:
        """Those at work on it, then the nearest of those who are at work on nothing, then all.

        One of those who take each block in its way away comes along: nobody begins too early.
        """
        if block not in self.left or not self.under[block] <= self.crew_of.keys():
            return []
        arrivals = self.arrivals(block)
        sure = set(pending.get(block, ()))
        bound = {agent for crew in pending.values() for agent in crew}
        for other in sorted(self.under[block]):
            before = self.crew_of[other].agents
            if not sure & set(before):
                sure.add(min(before, key=lambda agent: (arrivals[agent], agent)))
        order = np.argsort(arrivals, kind="stable").tolist()
        ranked = sorted(order, key=lambda agent: 0 if agent in sure else 1 + (agent in bound))
        return [] if len(sure) > self.needs[block] else ranked[: self.needs[block]]

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
