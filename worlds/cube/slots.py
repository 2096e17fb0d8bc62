"""Left faces of blocks as places to stand: what is in the way of them, and who takes which cell."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.cube.board import GOAL_FACE, Board, Terrain

__all__ = ["blocks_under", "corridors", "is_narrow", "matched", "must_wait"]

CORRIDOR_WAYS = 2
"""Walkable neighbours of a cell in a corridor, at most."""


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
