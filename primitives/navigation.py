"""Shortest ways on a grid of unit steps in four directions: fields for many, paths for one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.compile import in_place, kernel
from primitives.grid import DIRECTIONS

UNREACHABLE = 2**31 - 1
"""Distance of a cell from which no path leads to a target."""
NO_DIRECTION = -1


@kernel
def distance_field(
    walkable: NDArray[np.bool_], targets: NDArray[np.int16], field: NDArray[np.int32]
) -> None:
    """Fill `field` with the number of steps from each cell to the nearest target.

    walkable: [H, W] bool.
    targets: [N, 2] int16, (row, column); may be empty. Those outside the board or not walkable
        are passed over.
    field: [H, W] int32, overwritten; UNREACHABLE where no path leads to a target.
    """
    height, width = walkable.shape
    queue = np.empty(height * width, np.int32)
    field[:, :] = UNREACHABLE
    tail = 0
    for i in range(targets.shape[0]):
        row, column = int(targets[i, 0]), int(targets[i, 1])
        is_inside = 0 <= row < height and 0 <= column < width
        if is_inside and walkable[row, column] and field[row, column] != 0:
            field[row, column] = 0
            queue[tail] = row * width + column
            tail += 1
    _spread(walkable, field, queue, tail)


@in_place
def _spread(
    walkable: NDArray[np.bool_], field: NDArray[np.int32], queue: NDArray[np.int32], tail: int
) -> None:
    """Breadth-first search from the `tail` flat cells in `queue`, which have distance 0."""
    height, width = walkable.shape
    head = 0
    while head < tail:
        cell = int(queue[head])
        head += 1
        row = cell // width
        column = cell - row * width
        steps = field[row, column] + 1
        if row > 0 and walkable[row - 1, column] and field[row - 1, column] == UNREACHABLE:
            field[row - 1, column] = steps
            queue[tail] = cell - width
            tail += 1
        if row + 1 < height and walkable[row + 1, column] and field[row + 1, column] == UNREACHABLE:
            field[row + 1, column] = steps
            queue[tail] = cell + width
            tail += 1
        if column > 0 and walkable[row, column - 1] and field[row, column - 1] == UNREACHABLE:
            field[row, column - 1] = steps
            queue[tail] = cell - 1
            tail += 1
        if (
            column + 1 < width
            and walkable[row, column + 1]
            and field[row, column + 1] == UNREACHABLE
        ):
            field[row, column + 1] = steps
            queue[tail] = cell + 1
            tail += 1


@in_place
def downhill(field: NDArray[np.int32], row: int, column: int) -> int:
    """The direction of the neighbour of least distance; ties up, down, left, right.

    field: [H, W] int32, of `distance_field`. NO_DIRECTION at a target and where no neighbour is
    nearer to one.
    """
    height, width = field.shape
    best, chosen = field[row, column], NO_DIRECTION
    for direction in range(4):
        r = row + DIRECTIONS[direction, 0]
        c = column + DIRECTIONS[direction, 1]
        if 0 <= r < height and 0 <= c < width and field[r, c] < best:
            best, chosen = field[r, c], direction
    return chosen


class PathWork(NamedTuple):
    """Buffers of `shortest_path` for boards of one size; reused, never cleared.

    clock: [1] int64, number of queries so far.
    stamp: [H, W] int64, query that last wrote the cell; negative once it is settled.
    steps: [H, W] int32, steps from the start.
    come: [H, W] int8, direction in which the cell was entered.
    now, later: [4 H W] int32, flat cells to visit at this and at the next estimate.
    """

    clock: NDArray[np.int64]
    stamp: NDArray[np.int64]
    steps: NDArray[np.int32]
    come: NDArray[np.int8]
    now: NDArray[np.int32]
    later: NDArray[np.int32]


def path_work(height: int, width: int) -> PathWork:
    """Buffers for boards of `height` x `width` cells."""
    shape, most = (height, width), 4 * height * width
    return PathWork(
        np.zeros(1, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int32),
        np.zeros(shape, np.int8),
        np.zeros(most, np.int32),
        np.zeros(most, np.int32),
    )


@in_place
def shortest_path(
    walkable: NDArray[np.bool_],
    row: int,
    column: int,
    goal_row: int,
    goal_column: int,
    work: PathWork,
    path: NDArray[np.int16],
) -> int:
    """Number of steps of a shortest path between two cells, written into `path`.

    A* with Manhattan distances: an estimate grows by 0 or 2 a step, so two stacks replace the
    priority queue. The start need not be walkable, every other cell of the path is.

    walkable: [H, W] bool.
    path: [N, 2] int16; its first rows become the cells after the start, the goal last. As many
        as fit: N = 0 asks for the length alone.
    Returns UNREACHABLE when there is no path.
    """
    height, width = walkable.shape
    if not (0 <= goal_row < height and 0 <= goal_column < width):
        return UNREACHABLE
    is_start = row == goal_row and column == goal_column
    if not (is_start or walkable[goal_row, goal_column]):
        return UNREACHABLE
    work.clock[0] += 1
    if not _search(walkable, row, column, goal_row, goal_column, work):
        return UNREACHABLE
    length = int(work.steps[goal_row, goal_column])
    r, c = goal_row, goal_column
    for i in range(length - 1, -1, -1):
        if i < path.shape[0]:
            path[i, 0], path[i, 1] = r, c
        direction = work.come[r, c]
        r -= DIRECTIONS[direction, 0]
        c -= DIRECTIONS[direction, 1]
    return length


@in_place
def _search(
    walkable: NDArray[np.bool_],
    row: int,
    column: int,
    goal_row: int,
    goal_column: int,
    work: PathWork,
) -> bool:
    """Settle cells in the order of their estimates until the goal is; False if it never is."""
    height, width = walkable.shape
    query = work.clock[0]
    stamp, steps, come = work.stamp, work.steps, work.come
    now, later = work.now, work.later
    now[0] = row * width + column
    stamp[row, column], steps[row, column] = query, 0
    now_count, later_count = 1, 0
    while now_count > 0:
        now_count -= 1
        cell = int(now[now_count])
        r = cell // width
        c = cell - r * width
        if stamp[r, c] == query:
            stamp[r, c] = -query
            if r == goal_row and c == goal_column:
                return True
            ahead = steps[r, c] + 1
            for direction in range(4):
                y = r + DIRECTIONS[direction, 0]
                x = c + DIRECTIONS[direction, 1]
                if not (0 <= y < height and 0 <= x < width) or not walkable[y, x]:
                    continue
                mark = stamp[y, x]
                if mark == -query or (mark == query and steps[y, x] <= ahead):
                    continue
                stamp[y, x], steps[y, x], come[y, x] = query, ahead, direction
                is_nearer = abs(y - goal_row) + abs(x - goal_column) < abs(r - goal_row) + abs(
                    c - goal_column
                )
                if is_nearer:
                    now[now_count] = y * width + x
                    now_count += 1
                else:
                    later[later_count] = y * width + x
                    later_count += 1
        if now_count == 0:
            now, later = later, now
            now_count, later_count = later_count, 0
    return False
