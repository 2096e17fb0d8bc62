"""A map of materials as far as somebody knows it, and the ways through it.

A ground is a pure function of its materials. Grounds are kept by these bytes, so agents that know
the same, and all questions of a step, share one ground and its distance fields.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE, distance_field
from worlds.api import Cell
from worlds.macrafter.state import MATERIALS, WALKABLE

__all__ = [
    "GRASS",
    "STEPS",
    "UNKNOWN",
    "Field",
    "Ground",
    "count_sides",
    "ground_of",
    "neighbours",
]

STEPS: tuple[Cell, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""One step in each direction, in the order in which directions are walked."""
UNKNOWN = 0
"""Material of a cell that was never seen."""
GRASS, STONE = MATERIALS.index("grass"), MATERIALS.index("stone")
FIELD_CELLS = 1 << 20
"""Cells of all distance fields one ground keeps; the oldest are dropped first."""
KEPT_GROUNDS = 32

Field = NDArray[np.int32]

WALLS = ("stone", "tree", "water", "coal", "iron", "diamond", "table", "furnace")
"""Materials on which nothing can come to stand."""

_IS_WALKABLE = np.array([name in WALKABLE for name in MATERIALS])
_IS_WALL = np.array([name in WALLS for name in MATERIALS])


def count_sides(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[H, W] int64, how many of the four cells beside each are marked. marked: [H, W] bool."""
    wide = np.pad(marked, 1).astype(np.int64)
    sides: NDArray[np.int64] = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return sides


def neighbours(cell: Cell) -> tuple[Cell, ...]:
    """The cells one step up, down, left and right, those outside the map included."""
    return tuple((cell[0] + down, cell[1] + right) for down, right in STEPS)


class Ground:
    """Materials, where one can walk, and distance fields.

    material: [H, W] uint8, UNKNOWN where nothing was seen. is_walkable: [H, W] bool.
    """

    def __init__(self, material: bytes, shape: Cell) -> None:
        self.rows, self.columns = shape
        self.material = np.frombuffer(material, np.uint8).reshape(shape)
        self.is_walkable = _IS_WALKABLE[self.material]
        self._fields: dict[tuple[tuple[Cell, ...], tuple[Cell, ...]], Field] = {}

    @cached_property
    def frontier(self) -> NDArray[np.bool_]:
        """[H, W] bool, walkable cells that border on a cell that was never seen."""
        unseen = np.pad(self.material == UNKNOWN, 1)
        beside = unseen[:-2, 1:-1] | unseen[2:, 1:-1] | unseen[1:-1, :-2] | unseen[1:-1, 2:]
        frontier: NDArray[np.bool_] = self.is_walkable & beside
        return frontier

    @cached_property
    def is_wall(self) -> NDArray[np.bool_]:
        """[H, W] bool, cells known to be closed to everything."""
        walls: NDArray[np.bool_] = _IS_WALL[self.material]
        return walls

    @cached_property
    def is_thin(self) -> NDArray[np.bool_]:
        """[H, W] bool, stones with free ground on two opposite sides, as somebody puts them."""
        free = np.pad(self.is_walkable, 1)
        between = (free[:-2, 1:-1] & free[2:, 1:-1]) | (free[1:-1, :-2] & free[1:-1, 2:])
        thin: NDArray[np.bool_] = (self.material == STONE) & between
        return thin

    @cached_property
    def open_sides(self) -> NDArray[np.int64]:
        """[H, W] int64, sides of each cell that are no wall; the border of the map is one."""
        return count_sides(~self.is_wall)

    @cached_property
    def is_plot(self) -> NDArray[np.bool_]:
        """[H, W] bool, grass that is closed in all round, for plants."""
        plots: NDArray[np.bool_] = (self.material == GRASS) & (self.open_sides == 0)
        return plots

    def is_inside(self, cell: Cell) -> bool:
        """Whether the cell is on the map."""
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns

    def walks(self, cell: Cell) -> bool:
        """Whether the cell is on the map and known to be walkable."""
        return self.is_inside(cell) and bool(self.is_walkable[cell])

    def name(self, cell: Cell) -> str:
        """Material of a cell; `outside` where nothing is known or no map is."""
        return MATERIALS[self.material[cell]] if self.is_inside(cell) else MATERIALS[0]

    def stand_cells(self, cell: Cell, reach: int) -> tuple[Cell, ...]:
        """In each direction the consecutive walkable cells beside `cell`, at most `reach`."""
        found = []
        for down, right in STEPS:
            for distance in range(1, reach + 1):
                stand = (cell[0] + down * distance, cell[1] + right * distance)
                if not self.walks(stand):
                    break
                found.append(stand)
        return tuple(found)

    def cells_of(self, *materials: str) -> tuple[Cell, ...]:
        """All cells of these materials, row-major."""
        wanted = np.isin(self.material, [MATERIALS.index(name) for name in materials])
        return tuple((row, column) for row, column in np.argwhere(wanted).tolist())

    def field(self, goals: tuple[Cell, ...], obstacles: tuple[Cell, ...] = ()) -> Field:
        """[H, W] int32, steps to the nearest goal over walkable cells that are no obstacles.

        UNREACHABLE where no path leads to one.
        """
        key = (goals, obstacles)
        field = self._fields.get(key)
        if field is None:
            field = self._make_field(goals, obstacles)
            while self._fields and (len(self._fields) + 1) * field.size > FIELD_CELLS:
                del self._fields[next(iter(self._fields))]
            self._fields[key] = field
        return field

    def _make_field(self, goals: tuple[Cell, ...], obstacles: tuple[Cell, ...]) -> Field:
        walkable = self.is_walkable
        if obstacles:
            walkable = walkable.copy()
            rows, columns = zip(*obstacles, strict=True)
            walkable[rows, columns] = False
        field = np.empty(walkable.shape, np.int32)
        targets = np.array(goals, np.int16).reshape(-1, 2)
        distance_field(walkable, targets, field)
        field.flags.writeable = False
        return field

    def steps_to(self, field: Field, cells: tuple[Cell, ...]) -> int:
        """The least value of `field` over `cells`, UNREACHABLE without any."""
        return min((int(field[cell]) for cell in cells), default=UNREACHABLE)


@lru_cache(maxsize=KEPT_GROUNDS)
def _ground(material: bytes, shape: Cell) -> Ground:
    return Ground(material, shape)


def ground_of(material: NDArray[np.uint8]) -> Ground:
    """The ground of `material` [H, W] uint8, shared by all who ask for equal materials."""
    return _ground(material.tobytes(), material.shape)
