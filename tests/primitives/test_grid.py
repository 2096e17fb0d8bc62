"""Directions and the sides of squares; the numbers that kernels and contracts share."""

from __future__ import annotations

import numpy as np
import pytest

from primitives import actions
from primitives.grid import (
    DIRECTION_NAMES,
    DIRECTIONS,
    fill_rectangle,
    is_inside,
    opposite,
    side_start,
    side_step,
)
from worlds import api

pytestmark = pytest.mark.kernel


def test_directions_lead_there_and_back() -> None:
    assert DIRECTION_NAMES == ("up", "down", "left", "right")
    for direction in range(4):
        assert (DIRECTIONS[direction] + DIRECTIONS[opposite(direction)] == 0).all()


@pytest.mark.parametrize("direction", range(4))
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_side_is_the_square_moved_on_less_the_square(direction: int, size: int) -> None:
    square = {(7 + i, 9 + j) for i in range(size) for j in range(size)}
    down, right = DIRECTIONS[direction].tolist()
    expected = {(r + down, c + right) for r, c in square} - square
    r, c = side_start(7, 9, size, direction)
    rows, columns = side_step(direction)
    assert {(r + k * rows, c + k * columns) for k in range(size)} == expected


def test_inside_and_fill() -> None:
    assert is_inside(0, 0, 2, 3) and is_inside(1, 2, 2, 3)
    assert not (is_inside(2, 0, 2, 3) or is_inside(0, 3, 2, 3) or is_inside(-1, 0, 2, 3))
    grid = np.zeros((4, 5), np.int16)
    fill_rectangle(grid, 1, 2, 2, 3, 7)
    assert grid.sum() == 6 * 7 and (grid[1:3, 2:5] == 7).all()


def test_kernels_and_contracts_use_the_same_numbers() -> None:
    assert (api.STAY, api.NO_TASK, api.NO_ATTEMPT) == (
        actions.STAY,
        actions.NO_TASK,
        actions.NO_ATTEMPT,
    )
    columns = {k: v for k, v in vars(api.AttemptColumn).items() if k.isupper()}
    assert columns == {name: vars(actions)[name] for name in columns}
    assert len(columns) == actions.COMMON_COLUMNS
    results = {k: v for k, v in vars(api.AttemptResult).items() if k.isupper() and k != "NAMES"}
    assert results == {name: vars(actions)[f"RESULT_{name}"] for name in results}
    parts = {k: v for k, v in vars(api.Part).items() if k.isupper()}
    assert parts == {name: vars(actions)[name] for name in parts}
