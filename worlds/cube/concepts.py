"""The symbolic concepts of CUBE: named questions about one board.

Blocks and agents are numbers, faces are names; a place is a cell, `agent_<id>`, `block_<id>` or
`goal`. The manual lists the same names, so that plans and notes can use them.
"""

from typing import NamedTuple

from primitives.navigation import UNREACHABLE
from worlds.api import Cell
from worlds.cube.board import GOAL_FACE, STEPS, Board
from worlds.cube.state import ACTIONS, FACES, push_direction
from worlds.errors import ConfigError

LINE_DEPTH = 10
"""Cells behind a contact cell that `aligned_positions` lists under `chain`."""

SUMMARIES = {
    "get_block(block)": "its weight, cells, top-left cell, and whether it is delivered",
    "distance(x, y)": "least row plus column difference between cells of two places: an agent, a"
    " block, a cell or goal",
    "block_progress(block)": "pushes to the right until it is delivered; 0 once it is",
    "delivered(block)": "whether it is delivered",
    "face_cells(block, face)": "its contact cells: where agents stand to push from that face",
    "free_face_cells(block, face)": "those that hold neither a block nor an agent",
    "is_aligned(agent, block, face)": "whether the agent stands where its force counts",
    "aligned_agents(block, face)": "all agents for whom that holds",
    "aligned_positions(block, face)": "cells where force counts, those near the block first",
    "quorum_status(block, face)": "whether enough agents are aligned to move it",
    "quorum_deficit(block, face)": "how many are missing",
    "blocked(block, face)": "which of wall, block, agent stop a push from that face now",
    "face_blocked(block, face)": "whether a contact cell lies outside the board or under a block",
    "push_direction(agent, block)": "where the block goes if the agent pushes from where it stands",
    "path_clear(block)": "whether no other block stands between it and the goal in its rows",
    "ahead(block)": "the blocks that do",
    "closest_free_cell(agent, cells)": "the free one with the shortest path",
    "path_length(agent, cells)": "steps to the nearest of the cells round blocks, agents ignored",
}


class BlockFacts(NamedTuple):
    """What `get_block` tells; no cells and no corner once delivered."""

    weight: int
    cells: tuple[Cell, ...]
    top_left: Cell | None
    delivered: bool


def get_block(board: Board, block: int) -> BlockFacts:
    """Weight, cells, top-left cell, delivered or not."""
    corner, weight = board.terrain.cells[block], board.terrain.weights[block]
    if corner is None:
        return BlockFacts(weight, (), None, True)
    (row, column), span = corner, range(weight)
    cells = tuple((row + down, column + right) for down in span for right in span)
    return BlockFacts(weight, cells, corner, False)


def distance(board: Board, x: str | Cell, y: str | Cell) -> int:
    """Least Manhattan distance between any cell of x and any of y.

    Raises ConfigError for a place that is not on the board.
    """
    top, left, bottom, right = _extent(board, x)
    top2, left2, bottom2, right2 = _extent(board, y)
    return max(top2 - bottom, top - bottom2, 0) + max(left2 - right, left - right2, 0)


def _extent(board: Board, place: str | Cell) -> tuple[int, int, int, int]:
    """First and last row and column of a place, as (top, left, bottom, right)."""
    terrain = board.terrain
    if not isinstance(place, str):
        return (*place, *place)
    if place == "goal":
        return 0, terrain.columns - 1, terrain.rows - 1, terrain.columns - 1
    kind, _, digits = place.rpartition("_")
    number = int(digits) if digits.isdecimal() else -1
    if kind == "agent" and 0 <= number < len(board.agents):
        return (*board.agents[number], *board.agents[number])
    corner = terrain.cells[number] if kind == "block" and number in terrain.open else None
    if corner is None:
        raise ConfigError(
            f'place "{place}"; allowed: a cell, goal, agent_0..agent_{len(board.agents) - 1}, '
            "block_<id> of a block that is not delivered"
        )
    last = terrain.weights[number] - 1
    return (*corner, corner[0] + last, corner[1] + last)


def block_progress(board: Board, block: int) -> int:
    """Pushes to the right until the block is delivered; 0 once it is."""
    return board.terrain.distance_to_goal(block)


def delivered(board: Board, block: int) -> bool:
    """Whether the block has been delivered."""
    return board.terrain.cells[block] is None


def face_cells(board: Board, block: int, face: str) -> tuple[Cell, ...]:
    """Contact cells inside the board, row-major."""
    return board.terrain.contacts(block, FACES.index(face))


def free_face_cells(board: Board, block: int, face: str) -> tuple[Cell, ...]:
    """Contact cells with neither block nor agent."""
    return tuple(cell for cell in face_cells(board, block, face) if board.occupant[cell] == 0)


def is_aligned(board: Board, agent: int, block: int, face: str) -> bool:
    """On a contact cell, or (`chain`) behind one with an agent on every cell between."""
    return agent in board.aligned(block, FACES.index(face))


def aligned_agents(board: Board, block: int, face: str) -> tuple[int, ...]:
    """All aligned agents, ascending."""
    return board.aligned(block, FACES.index(face))


def aligned_positions(board: Board, block: int, face: str) -> tuple[Cell, ...]:
    """Contact cells and (`chain`) up to ten cells behind each, to the next block or the edge.

    Sorted by distance to the centre of the block, then row, column.
    """
    terrain, number = board.terrain, FACES.index(face)
    corner, weight = terrain.cells[block], terrain.weights[block]
    if corner is None:
        return ()
    down, right = STEPS[push_direction(number)]
    depth = 1 if terrain.rules == "quorum" else 1 + LINE_DEPTH
    found = []
    for row, column in terrain.contacts(block, number):
        for k in range(depth):
            cell = (row - k * down, column - k * right)
            if not terrain.is_inside(cell) or terrain.ground[cell] < 0:
                break
            found.append(cell)
    middle = (2 * corner[0] + weight - 1, 2 * corner[1] + weight - 1)
    return tuple(
        sorted(found, key=lambda c: (abs(2 * c[0] - middle[0]) + abs(2 * c[1] - middle[1]), c))
    )


def need(board: Board, block: int, face: str) -> int:
    """Force that moves the block: the closure's weight if one can be formed, else its own."""
    closure = board.closure(block, FACES.index(face))
    return board.terrain.weights[block] if "wall" in closure.stops else closure.weight


def quorum_status(board: Board, block: int, face: str) -> bool:
    """Whether at least `need` agents are aligned."""
    return quorum_deficit(board, block, face) == 0


def quorum_deficit(board: Board, block: int, face: str) -> int:
    """Aligned agents missing to `need`."""
    return max(0, need(board, block, face) - len(aligned_agents(board, block, face)))


def blocked(board: Board, block: int, face: str) -> tuple[str, ...]:
    """Which of `wall`, `block`, `agent` stop a push from that face now; () for none."""
    return board.closure(block, FACES.index(face)).stops


def face_blocked(board: Board, block: int, face: str) -> bool:
    """Whether a contact cell is outside the board or under a block; False once delivered."""
    terrain = board.terrain
    if terrain.cells[block] is None:
        return False
    cells = face_cells(board, block, face)
    return len(cells) < terrain.weights[block] or any(terrain.ground[cell] < 0 for cell in cells)


def face_of(board: Board, agent: int, block: int) -> str | None:
    """The face of the block the agent stands on (under `chain` also in a line behind)."""
    for face in FACES:
        if board.agents[agent] in face_cells(board, block, face):
            return face
    return next((face for face in FACES if is_aligned(board, agent, block, face)), None)


def push_direction_of(board: Board, agent: int, block: int) -> str:
    """Direction of a push from the face the agent stands on, else `right`."""
    face = face_of(board, agent, block)
    index = GOAL_FACE if face is None else FACES.index(face)
    return ACTIONS[1 + push_direction(index)]


def path_clear(board: Board, block: int) -> bool:
    """Whether no other block lies between the block and the goal in its rows."""
    return not ahead(board, block)


def ahead(board: Board, block: int) -> tuple[int, ...]:
    """Blocks between the block and the goal in its rows, ascending."""
    return board.terrain.ahead(block)


def closest_free_cell(board: Board, agent: int, cells: tuple[Cell, ...]) -> Cell | None:
    """The cell with neither block nor agent of least path length, then row, column."""
    free = [cell for cell in cells if board.terrain.is_inside(cell) and board.occupant[cell] == 0]
    ranked = sorted((path_length(board, agent, (cell,)), cell) for cell in free)
    return ranked[0][1] if ranked and ranked[0][0] < UNREACHABLE else None


def path_length(board: Board, agent: int, cells: tuple[Cell, ...]) -> int:
    """Steps to the nearest of the cells round blocks, agents ignored, or UNREACHABLE."""
    return int(board.terrain.field(cells)[board.agents[agent]])
