"""When no block can be pushed to the goal: one that is pushed aside so that another can."""

from functools import lru_cache
from typing import NamedTuple

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.cube.board import GOAL_FACE, STEPS, Board, Terrain
from worlds.cube.slots import blocks_under
from worlds.cube.state import FACES, push_direction

__all__ = ["Detour", "detour"]

FARTHEST = 10
"""Most steps by which a block is pushed aside."""


class Detour(NamedTuple):
    """A block, the face from which it is pushed, how far, and by whom."""

    block: int
    face: int
    steps: int
    agents: tuple[AgentId, ...]


@lru_cache(maxsize=4)
def detour(board: Board) -> Detour | None:
    """The lightest shortest push up, down or back after which some block can be delivered.

    Ties go to the lowest block, then to up, down, left, right. None if some block can be
    delivered as it is, or if one push cannot help.
    """
    terrain = board.terrain
    if any(_is_within_reach(board, terrain, block) for block in terrain.open):
        return None
    found: list[tuple[int, int, int, int]] = []
    for block in terrain.open:
        for face in range(len(FACES)):
            crew = _crew(board, block, face)
            if face == GOAL_FACE or not crew:
                continue
            steps = _steps_that_help(board, block, face)
            if steps:
                found.append((terrain.weights[block], steps, block, face))
    if not found:
        return None
    _, steps, block, face = min(found)
    return Detour(block, face, steps, _crew(board, block, face))


def _crew(board: Board, block: int, face: int) -> tuple[AgentId, ...]:
    """The nearest agents that fill the face; () if they are too few or a cell cannot be taken."""
    terrain, need = board.terrain, board.terrain.weights[block]
    cells = terrain.contacts(block, face)
    if len(cells) < need or not all(terrain.walkable[cell] for cell in cells):
        return ()
    field = terrain.field(cells)
    steps = sorted((int(field[cell]), agent) for agent, cell in enumerate(board.agents))[:need]
    if len(steps) < need or steps[-1][0] == UNREACHABLE:
        return ()
    return tuple(sorted(agent for _, agent in steps))


def _steps_that_help(board: Board, block: int, face: int) -> int:
    """The fewest steps over free cells after which a block is ready; 0 for none."""
    terrain = board.terrain
    cell, (down, right) = terrain.cells[block], STEPS[push_direction(face)]
    assert cell is not None
    for steps in range(1, min(FARTHEST, terrain.free_run(block, face)) + 1):
        moved = _moved(terrain, block, (cell[0] + steps * down, cell[1] + steps * right))
        if any(_is_within_reach(board, moved, other) for other in moved.open):
            return steps
    return 0


def _moved(terrain: Terrain, block: int, cell: Cell) -> Terrain:
    cells = tuple(cell if other == block else c for other, c in enumerate(terrain.cells))
    return Terrain(terrain.rules, terrain.ground.shape, cells, terrain.weights)


def _is_within_reach(board: Board, moved: Terrain, block: int) -> bool:
    """Whether the block would be ready, and its face could be reached."""
    if blocks_under(moved, block) != frozenset() or moved.weights[block] > len(board.agents):
        return False
    field = moved.field(moved.contacts(block, GOAL_FACE))
    return any(field[cell] < UNREACHABLE for cell in board.agents)
