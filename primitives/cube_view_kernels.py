"""What is seen of a CUBE board: the whole board in channels, or a square window round an agent."""

import numpy as np
from numpy.typing import NDArray

from primitives.compile import in_place
from primitives.cube_work import FREE, GONE

BOARD_CHANNELS = 5
AGENT_HERE, WEIGHT_HERE, GOAL_HERE, AGENT_ID, BLOCK_ID = range(BOARD_CHANNELS)
"""Channels of a board: 1 where an agent stands, weight of the block, 1 in the goal column,
agent id + 1, block id + 1."""

WINDOW_CHANNELS = 3
GROUND, OCCUPANT, WEIGHT = range(WINDOW_CHANNELS)
"""Channels of a window: ground, signed id of who stands there, weight of the block."""

OUTSIDE, FLOOR, GOAL = 0, 1, 2
"""Values of the channel GROUND."""


@in_place
def board_views(
    agent_cell: NDArray[np.int16],
    block_cell: NDArray[np.int16],
    block_weight: NDArray[np.int16],
    seen: NDArray[np.float32],
) -> None:
    """Write the boards of a batch into `seen` [B, H, W, 5] float32, which comes as zeros.

    agent_cell: [B, A, 2], block_cell: [B, K, 2], block_weight: [B, K], all int16.
    """
    for w in range(seen.shape[0]):
        seen[w, :, seen.shape[2] - 1, GOAL_HERE] = 1.0
        for block in range(block_cell.shape[1]):
            _draw_block(seen[w], block_cell[w, block], int(block_weight[w, block]), block)
        _draw_agents(seen[w], agent_cell[w])


@in_place
def change_boards(
    agent_cell: NDArray[np.int16],
    block_cell: NDArray[np.int16],
    block_weight: NDArray[np.int16],
    old_agent_cell: NDArray[np.int16],
    old_block_cell: NDArray[np.int16],
    seen: NDArray[np.float32],
) -> None:
    """As `board_views`, for boards in `seen` that show the old cells; both are brought up to date.

    Costs O(agents + areas of blocks that moved).
    """
    for w in range(seen.shape[0]):
        board, cells, old_cells = seen[w], block_cell[w], old_block_cell[w]
        for a in range(agent_cell.shape[1]):
            r, c = old_agent_cell[w, a]
            board[r, c, AGENT_HERE] = 0.0
            board[r, c, AGENT_ID] = 0.0
            old_agent_cell[w, a, 0] = agent_cell[w, a, 0]
            old_agent_cell[w, a, 1] = agent_cell[w, a, 1]
        for block in range(len(cells)):
            if cells[block, 0] != old_cells[block, 0] or cells[block, 1] != old_cells[block, 1]:
                size = int(block_weight[w, block])
                _fill_block(board, old_cells[block], size, 0.0, 0.0)
        for block in range(len(cells)):
            if cells[block, 0] != old_cells[block, 0] or cells[block, 1] != old_cells[block, 1]:
                _draw_block(board, cells[block], int(block_weight[w, block]), block)
                old_cells[block, 0], old_cells[block, 1] = cells[block, 0], cells[block, 1]
        _draw_agents(board, agent_cell[w])


@in_place
def _draw_agents(board: NDArray[np.float32], cells: NDArray[np.int16]) -> None:
    """Write the agents at `cells` [A, 2] into a board [H, W, 5]."""
    for a in range(len(cells)):
        r, c = cells[a]
        board[r, c, AGENT_HERE] = 1.0
        board[r, c, AGENT_ID] = a + 1


@in_place
def _draw_block(board: NDArray[np.float32], cell: NDArray[np.int16], size: int, block: int) -> None:
    """Write a block at `cell` [2] into a board [H, W, 5]."""
    _fill_block(board, cell, size, float(size), block + 1.0)


@in_place
def _fill_block(
    board: NDArray[np.float32], cell: NDArray[np.int16], size: int, weight: float, id: float
) -> None:
    """Write weight and id into the cells of a block at `cell` [2], unless it is GONE."""
    row, column = int(cell[0]), int(cell[1])
    if row != GONE:
        for r in range(row, row + size):
            for c in range(column, column + size):
                board[r, c, WEIGHT_HERE] = weight
                board[r, c, BLOCK_ID] = id


@in_place
def windows(
    occupants: NDArray[np.int16],
    agent_cell: NDArray[np.int16],
    block_weight: NDArray[np.int16],
    seen: NDArray[np.int16],
) -> None:
    """Write what is round each agent into `seen` [B, A, S, S, 3] int16, S odd, overwritten.

    The agent stands in the middle. Cells outside the board are 0 in every channel.

    occupants: [B, H, W], agent_cell: [B, A, 2], block_weight: [B, K], all int16.
    """
    height, width = occupants.shape[1], occupants.shape[2]
    size = seen.shape[2]
    for w in range(seen.shape[0]):
        occupant, weights = occupants[w], block_weight[w]
        for a in range(seen.shape[1]):
            top = int(agent_cell[w, a, 0]) - size // 2
            left = int(agent_cell[w, a, 1]) - size // 2
            window = seen[w, a]
            first, last = max(0, -left), min(size, width - left)
            for y in range(size):
                r = top + y
                if r < 0 or r >= height:
                    window[y, :, :] = 0
                    continue
                window[y, :first, :] = 0
                for x in range(first, last):
                    thing = occupant[r, left + x]
                    window[y, x, GROUND] = FLOOR
                    window[y, x, OCCUPANT] = thing
                    window[y, x, WEIGHT] = weights[-thing - 1] if thing < FREE else 0
                window[y, last:, :] = 0
                if first < last and left + last == width:
                    window[y, last - 1, GROUND] = GOAL
