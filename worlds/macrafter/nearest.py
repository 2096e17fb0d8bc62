"""Where things are reached from, and which of a kind are near."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from primitives.navigation import UNREACHABLE
from primitives.travel_kernels import NO_CELL, nearest_things
from worlds.api import Cell
from worlds.macrafter.ground import Ground, neighbours
from worlds.macrafter.sight import Thing, thing_at
from worlds.macrafter.state import MATERIALS
from worlds.macrafter.table import STATIONS

__all__ = ["IS_STATION", "Near", "around", "gap", "goal_cells", "nearest_known"]

IS_STATION = np.array([name in STATIONS for name in MATERIALS])
"""[M] bool, materials that are reached from all 8 cells around them."""


class Near(NamedTuple):
    """A thing and the steps to where it is reached."""

    thing: Thing
    steps: int


def gap(cell: Cell, other: Cell) -> int:
    """Manhattan distance."""
    return abs(cell[0] - other[0]) + abs(cell[1] - other[1])


def around(ground: Ground, cell: Cell) -> tuple[Cell, ...]:
    """The walkable ones of the 8 cells around `cell`, row-major."""
    rows, columns = range(cell[0] - 1, cell[0] + 2), range(cell[1] - 1, cell[1] + 2)
    block = ((row, column) for row in rows for column in columns)
    return tuple(other for other in block if other != cell and ground.walks(other))


def goal_cells(ground: Ground, thing: Thing, reach: int) -> tuple[Cell, ...]:
    """Where to go for a thing: stand cells, cells around a station, beside an agent, the cell."""
    if thing.kind == "cell":
        return (thing.cell,) if ground.walks(thing.cell) else ()
    if thing.kind == "station":
        return around(ground, thing.cell)
    if thing.kind == "agent":
        return tuple(cell for cell in neighbours(thing.cell) if ground.walks(cell))
    return ground.stand_cells(thing.cell, reach)


def nearest_known(
    ground: Ground, start: Cell, material: str, reach: int, count: int
) -> tuple[Near, ...]:
    """At most `count` known cells of a material: fewest steps first, then row, column.

    Those without a known path come last, with UNREACHABLE steps.
    """
    if material not in MATERIALS:
        return ()
    kind_of = np.full(len(MATERIALS), -1, np.int8)
    kind_of[MATERIALS.index(material)] = 0
    found = np.empty((2, 1, count, 3), np.int32)
    window = (0, 0, ground.rows, ground.columns)
    field = ground.field((start,))
    nearest_things(
        ground.material, kind_of, IS_STATION, ground.is_walkable, field, window, reach, found
    )
    return tuple(
        Near(thing_at(ground, material, (row, column)), min(steps, UNREACHABLE))
        for steps, row, column in found[0, 0].tolist()
        if row != NO_CELL
    )
