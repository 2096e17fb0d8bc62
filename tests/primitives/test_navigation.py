"""Fields and paths against breadth-first searches in plain Python, and on drawn boards."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import pytest

from primitives.navigation import (
    NO_DIRECTION,
    UNREACHABLE,
    distance_field,
    downhill,
    path_work,
    shortest_path,
)

pytestmark = pytest.mark.kernel

MAZE = """
..#....
.##.##.
.....#.
.###.#.
...#...
"""


def board(text: str) -> np.ndarray:
    return np.array([[sign == "." for sign in line] for line in text.split()])


def field_of(walkable: np.ndarray, targets: list[tuple[int, int]]) -> np.ndarray:
    field = np.zeros(walkable.shape, np.int32)
    distance_field(walkable, np.array(targets, np.int16).reshape(-1, 2), field)
    return field


def search(walkable: np.ndarray, targets: list[tuple[int, int]]) -> np.ndarray:
    height, width = walkable.shape
    field = np.full(walkable.shape, UNREACHABLE)
    queue = deque(dict.fromkeys(cell for cell in targets if walkable[cell]))
    for cell in queue:
        field[cell] = 0
    while queue:
        r, c = queue.popleft()
        for y, x in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            inside = 0 <= y < height and 0 <= x < width
            if inside and walkable[y, x] and field[y, x] == UNREACHABLE:
                field[y, x] = field[r, c] + 1
                queue.append((y, x))
    return field


def random_boards(count: int):
    random = np.random.default_rng(4)
    for _ in range(count):
        height, width = random.integers(1, 14, 2)
        walkable = random.random((height, width)) < random.uniform(0.4, 1.0)
        cells = [
            (int(r), int(c))
            for r, c in zip(
                random.integers(0, height, 6), random.integers(0, width, 6), strict=True
            )
        ]
        yield walkable, cells


def test_fields_of_random_boards() -> None:
    for walkable, cells in random_boards(60):
        np.testing.assert_array_equal(field_of(walkable, cells[:3]), search(walkable, cells[:3]))


def test_targets_outside_or_not_walkable_are_passed_over() -> None:
    walkable = board(MAZE)
    assert (field_of(walkable, []) == UNREACHABLE).all()
    assert (field_of(walkable, [(0, 2), (-1, 0), (0, 7)]) == UNREACHABLE).all()
    field = field_of(walkable, [(0, 2), (0, 0), (0, 0)])
    assert (field[0, 0], field[2, 0], field[0, 2]) == (0, 2, UNREACHABLE)


def test_downhill_prefers_up_down_left_right() -> None:
    open_board = np.ones((3, 3), bool)
    corners = field_of(open_board, [(0, 0), (0, 2), (2, 0), (2, 2)])
    assert downhill(corners, 1, 1) == 0
    assert downhill(corners, 0, 1) == 2
    assert downhill(corners, 0, 0) == NO_DIRECTION
    assert downhill(field_of(open_board, []), 1, 1) == NO_DIRECTION


def test_paths_are_as_long_as_fields_say_and_walk_only_where_they_may() -> None:
    for walkable, cells in random_boards(60):
        work = path_work(*walkable.shape)
        path = np.zeros((walkable.size, 2), np.int16)
        for start, goal in pairwise(cells):
            reachable = walkable.copy()
            reachable[start] = True
            expected = search(reachable, [goal])[start] if walkable[goal] else UNREACHABLE
            if start == goal:
                expected = 0
            length = shortest_path(walkable, *start, *goal, work, path)
            assert length == expected, f"{start} to {goal}"
            if length != UNREACHABLE:
                way = [start, *map(tuple, path[:length].tolist())]
                assert way[-1] == goal
                assert all(walkable[cell] for cell in way[1:])
                steps = np.abs(np.diff(np.array(way), axis=0)).sum(axis=1)
                assert (steps == 1).all(), way


def test_a_short_buffer_gets_the_first_cells_of_the_path() -> None:
    walkable = board(MAZE)
    work, whole, part = path_work(5, 7), np.zeros((35, 2), np.int16), np.zeros((2, 2), np.int16)
    length = shortest_path(walkable, 0, 0, 4, 6, work, whole)
    assert length == shortest_path(walkable, 0, 0, 4, 6, work, part) == 10
    np.testing.assert_array_equal(part, whole[:2])
    assert shortest_path(walkable, 0, 0, 5, 0, work, part) == UNREACHABLE
