"""Ways through a map that is only partly known: priced travel, unseen ground, nearest things.

Letters: H rows, W columns, G kinds of things. Cells are (row, column).
"""

import numpy as np
from numpy.typing import NDArray

from primitives.compile import kernel
from primitives.grid import DIRECTIONS, is_inside
from primitives.navigation import UNREACHABLE

NO_CELL = 2**30
"""Row and column of a thing that was not found."""

Field = NDArray[np.int32]


@kernel
def travel_field(cost: NDArray[np.int16], row: int, column: int, field: Field) -> None:
    """Fill `field` with the least price of a way from (row, column) to each cell.

    cost: [H, W] int16, price of entering a cell; 0: closed. The start itself costs nothing.
    field: [H, W] int32, overwritten; UNREACHABLE where no way leads.
    Buckets of equal price in a ring (Dial 1969).
    """
    height, width = cost.shape
    field[:, :] = UNREACHABLE
    ring = int(cost.max()) + 1
    heads = np.full(ring, -1, np.int32)
    following = np.empty(4 * height * width + 1, np.int32)
    cells = np.empty(4 * height * width + 1, np.int32)
    field[row, column] = 0
    cells[0], following[0], heads[0] = row * width + column, -1, 0
    used, waiting, price = 1, 1, 0
    while waiting:
        entry = heads[price % ring]
        if entry < 0:
            price += 1
            continue
        heads[price % ring] = following[entry]
        waiting -= 1
        r, c = cells[entry] // width, cells[entry] % width
        if field[r, c] != price:
            continue
        for d in range(4):
            nr, nc = r + DIRECTIONS[d, 0], c + DIRECTIONS[d, 1]
            if not is_inside(nr, nc, height, width) or cost[nr, nc] == 0:
                continue
            total = price + cost[nr, nc]
            if total < field[nr, nc]:
                field[nr, nc] = total
                cells[used] = nr * width + nc
                following[used] = heads[total % ring]
                heads[total % ring] = used
                used += 1
                waiting += 1


@kernel
def trace_way(
    cost: NDArray[np.int16], field: Field, row: int, column: int, way: NDArray[np.int16]
) -> int:
    """Write a cheapest way to (row, column) into `way` and return its number of steps.

    cost, field: as in `travel_field`. way: [N, 2] int16, its first rows are overwritten with the
    cells entered, in the order they are; ties take the earlier of up, down, left, right.
    """
    height, width = cost.shape
    steps = 0
    r, c = row, column
    while field[r, c] > 0:
        way[steps, 0], way[steps, 1] = r, c
        steps += 1
        before = field[r, c] - cost[r, c]
        for d in range(4):
            nr, nc = r + DIRECTIONS[d, 0], c + DIRECTIONS[d, 1]
            if is_inside(nr, nc, height, width) and field[nr, nc] == before:
                r, c = nr, nc
                break
    for i in range(steps // 2):
        j = steps - 1 - i
        way[i, 0], way[j, 0] = way[j, 0], way[i, 0]
        way[i, 1], way[j, 1] = way[j, 1], way[i, 1]
    return steps


@kernel
def count_around(marked: NDArray[np.bool_], rows: int, columns: int, count: Field) -> None:
    """Count marked cells in the window of half size (rows, columns) round each cell.

    marked: [H, W] bool. count: [H, W] int32, overwritten.
    """
    height, width = marked.shape
    total = np.zeros((height + 1, width + 1), np.int32)
    for r in range(height):
        along = 0
        for c in range(width):
            along += marked[r, c]
            total[r + 1, c + 1] = total[r, c + 1] + along
    for r in range(height):
        top, bottom = max(r - rows, 0), min(r + rows + 1, height)
        for c in range(width):
            left, right = max(c - columns, 0), min(c + columns + 1, width)
            count[r, c] = (
                total[bottom, right] - total[top, right] - total[bottom, left] + total[top, left]
            )


@kernel
def steps_beside(
    field: Field, is_walkable: NDArray[np.bool_], row: int, column: int, reach: int
) -> int:
    """The least value of `field` on cells that reach (row, column) in a straight line.

    field: [H, W] int32. is_walkable: [H, W] bool. The line is at most `reach` cells long and
    ends at the first cell that cannot be walked; UNREACHABLE if there is none.
    """
    best = UNREACHABLE
    for d in range(4):
        r, c = row, column
        for _ in range(reach):
            r, c = r + DIRECTIONS[d, 0], c + DIRECTIONS[d, 1]
            if not is_inside(r, c, field.shape[0], field.shape[1]) or not is_walkable[r, c]:
                break
            best = min(best, field[r, c])
    return best


@kernel
def steps_near(field: Field, row: int, column: int) -> int:
    """The least value of `field` on the 8 cells round (row, column)."""
    best = UNREACHABLE
    for r in range(max(row - 1, 0), min(row + 2, field.shape[0])):
        for c in range(max(column - 1, 0), min(column + 2, field.shape[1])):
            if r != row or c != column:
                best = min(best, field[r, c])
    return best


@kernel
def keep_nearest(found: Field, steps: int, row: int, column: int) -> None:
    """Insert a thing into `found` [N, 3] int32, rows (steps, row, column) in ascending order."""
    for i in range(len(found)):
        is_later = found[i, 1] > row or (found[i, 1] == row and found[i, 2] > column)
        if steps < found[i, 0] or (steps == found[i, 0] and is_later):
            for j in range(len(found) - 1, i, -1):
                found[j] = found[j - 1]
            found[i, 0], found[i, 1], found[i, 2] = steps, row, column
            return


@kernel
def nearest_things(
    known: NDArray[np.uint8],
    kind_of: NDArray[np.int8],
    is_station: NDArray[np.bool_],
    is_walkable: NDArray[np.bool_],
    field: Field,
    window: tuple[int, int, int, int],
    reach: int,
    found: NDArray[np.int32],
) -> None:
    """Find the things of each kind with the fewest steps, inside a window and outside it.

    known: [H, W] uint8, material ids. kind_of: [M] int8, kind of a material or -1.
    is_station: [M] bool, reached from any of 8 cells instead of a line. is_walkable: [H, W] bool.
    field: [H, W] int32, steps. window: first row, first column, last row, last column.
    found: [2, G, N, 3] int32, overwritten with (steps, row, column), ascending; steps UNREACHABLE
    without a way; row NO_CELL where there is no thing. The first axis is inside, outside.
    """
    height, width = known.shape
    found[:, :, :, 0] = UNREACHABLE
    found[:, :, :, 1:] = NO_CELL
    top, left, bottom, right = window
    for r in range(height):
        for c in range(width):
            kind = kind_of[known[r, c]]
            if kind < 0:
                continue
            side = 0 if top <= r <= bottom and left <= c <= right else 1
            if is_station[known[r, c]]:
                steps = steps_near(field, r, c)
            else:
                steps = steps_beside(field, is_walkable, r, c, reach)
            keep_nearest(found[side, kind], steps, r, c)
