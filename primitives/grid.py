"""Directions of a grid, and the cells beside a square.

Cells are (row, column), (0, 0) top left. Directions are walked in one order everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from primitives.compile import in_place

UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3
DIRECTION_NAMES = ("up", "down", "left", "right")
DIRECTIONS = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]], np.int64)
"""[4, 2] int64, (row, column) of one step in each direction."""
DIRECTIONS.flags.writeable = False


@in_place
def opposite(direction: int) -> int:
    """The direction that leads back: up and down, left and right."""
    return direction ^ 1


@in_place
def is_inside(row: int, column: int, height: int, width: int) -> bool:
    """Whether the cell lies on a board of `height` rows and `width` columns."""
    return 0 <= row < height and 0 <= column < width


@in_place
def side_start(row: int, column: int, size: int, direction: int) -> tuple[int, int]:
    """The first of the `size` cells that touch a square on its side `direction`.

    The square has its top-left cell at (row, column). The next cells follow by `side_step`.
    The cell may lie outside the board.
    """
    if direction == UP:
        return row - 1, column
    if direction == DOWN:
        return row + size, column
    if direction == LEFT:
        return row, column - 1
    return row, column + size


@in_place
def side_step(direction: int) -> tuple[int, int]:
    """From one cell of a side `direction` to the next: along the row or down the column."""
    if direction <= DOWN:
        return 0, 1
    return 1, 0


@in_place
def fill_rectangle(
    grid: NDArray[np.int16], row: int, column: int, rows: int, columns: int, value: int
) -> None:
    """Write `value` into a rectangle of `grid` [H, W] that lies inside it."""
    for r in range(row, row + rows):
        for c in range(column, column + columns):
            grid[r, c] = value
