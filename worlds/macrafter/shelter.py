"""A place to rest in where nothing can come near: two cells in a row, walled in all round.

A stone can be put only where one faces, and one faces where one last went. So an agent enters two
cells whose other sides are closed, goes back to the first, and closes the way it came by.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from worlds.api import Cell, Json
from worlds.macrafter.chart import Chart
from worlds.macrafter.ground import STEPS, neighbours
from worlds.macrafter.sight import Sight
from worlds.macrafter.state import FACINGS, MATERIALS, cell_id
from worlds.macrafter.table import Table

__all__ = ["Shelter"]

DIG_STEPS = 2
"""Steps to take away one cell of stone."""
MOST_ROOM = 4
"""Cells that a closed room has at most."""
_OUTSIDE = 3
"""Cells beyond the border of the map that count as walls."""
_OPPOSITE = (1, 0, 3, 2)


class Shelter:
    """Where the agent can be safe, as far as it knows."""

    def __init__(self, table: Table, sight: Sight, chart: Chart) -> None:
        self.table, self.sight, self.chart = table, sight, chart
        self.known, self.stones = sight.known, sight.inventory["stone"]

    @cached_property
    def is_closed(self) -> bool:
        """Whether nothing can come to the agent from outside."""
        room, edge = {self.sight.cell}, [self.sight.cell]
        while edge:
            for cell in neighbours(edge.pop()):
                if cell in room or not self.known.is_inside(cell):
                    continue
                if self.known.is_wall[cell]:
                    continue
                room.add(cell)
                edge.append(cell)
            if len(room) > MOST_ROOM:
                return False
        return not (room - {self.sight.cell}) & self.sight.things.keys()

    def enter(self, room: int) -> list[Json]:
        """At most `room` actions into the cheapest shelter; empty if none is known."""
        found = min(
            (pair for d in range(len(STEPS)) if (pair := self._cheapest(d)) is not None),
            default=None,
        )
        if found is None:
            return []
        _, door, direction = found
        if door != self.sight.cell:
            return self.chart.go(door, room)[0]
        return self._wall_in(door, direction)

    def _cheapest(self, direction: int) -> tuple[int, Cell, int] | None:
        """(price, cell before it, direction) of the cheapest shelter that opens that way."""
        stones = self._at(self._is_stone, direction, 1).astype(int)
        stones += self._at(self._is_stone, direction, 2)
        needed = 1 + ~self._at(self._is_wall, direction, 3)
        ok = self._at(self._is_room, direction, 1) & self._at(self._is_room, direction, 2)
        ok &= self._at(self._is_wall, direction, 3) | self._at(self._can_close, direction, 3)
        for side in _sides(direction):
            ok &= self._at(self._is_wall, direction, 1, side)
            ok &= self._at(self._is_wall, direction, 2, side)
        ok &= self.known.is_walkable & self._inner(self._can_close)
        ok &= self.stones + stones >= needed
        price = np.where(ok, self.chart.field + DIG_STEPS * stones, UNREACHABLE)
        row, column = np.unravel_index(int(price.argmin()), price.shape)
        least = int(price[row, column])
        return (least, (int(row), int(column)), direction) if least < UNREACHABLE else None

    def _wall_in(self, door: Cell, direction: int) -> list[Json]:
        """From before the shelter: in, back to its first cell, and the door closed."""
        place = {"verb": "place", "object": "stone", "steps": 1}
        first = _beyond(door, direction, 1)
        second, end = _beyond(door, direction, 2), _beyond(door, direction, 3)
        actions: list[Json] = []
        for cell in (first, second):
            name = self.known.name(cell)
            if name in self.chart.diggable:
                actions.append({"verb": "collect", "target": cell_id(name, cell), "steps": 1})
            actions.append(_move(direction))
        if self.known.is_inside(end) and not self.known.is_wall[end]:
            actions.append(place)
        return [*actions, _move(_OPPOSITE[direction]), place]

    # --- cells -----------------------------------------------------------------------------------

    @cached_property
    def _is_wall(self) -> NDArray[np.bool_]:
        return self._padded(self.known.is_wall, True)

    @cached_property
    def _is_stone(self) -> NDArray[np.bool_]:
        is_dug = "stone" in self.chart.diggable
        return self._padded(self._is_one_of(("stone",) if is_dug else ()), False)

    @cached_property
    def _is_room(self) -> NDArray[np.bool_]:
        """What can be stood in: dug, or free."""
        return self._padded(self._is_one_of(self.chart.diggable) | self._free, False)

    @cached_property
    def _can_close(self) -> NDArray[np.bool_]:
        is_ground = self._is_one_of(self.table.place["stone"].on)
        return self._padded(is_ground & ~self._occupied, False)

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = self.known.is_walkable & ~self._occupied
        return free

    @cached_property
    def _occupied(self) -> NDArray[np.bool_]:
        occupied = np.zeros(self.known.material.shape, np.bool_)
        for cell in self.sight.things:
            occupied[cell] = True
        return occupied

    def _is_one_of(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        return np.isin(self.known.material, [MATERIALS.index(name) for name in names])

    def _padded(self, marked: NDArray[np.bool_], outside: bool) -> NDArray[np.bool_]:
        return np.pad(marked, _OUTSIDE, constant_values=outside)

    def _inner(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return marked[_OUTSIDE:-_OUTSIDE, _OUTSIDE:-_OUTSIDE]

    def _at(
        self, marked: NDArray[np.bool_], direction: int, ahead: int, side: Cell = (0, 0)
    ) -> NDArray[np.bool_]:
        """[H, W] bool, for each cell what is so many cells ahead of it, and to the side."""
        rows, columns = self.known.material.shape
        down = _OUTSIDE + STEPS[direction][0] * ahead + side[0]
        right = _OUTSIDE + STEPS[direction][1] * ahead + side[1]
        return marked[down : down + rows, right : right + columns]


def _sides(direction: int) -> tuple[Cell, Cell]:
    """Steps to the left and right of a direction."""
    down, right = STEPS[direction]
    return (right, down), (-right, -down)


def _beyond(cell: Cell, direction: int, count: int) -> Cell:
    down, right = STEPS[direction]
    return cell[0] + down * count, cell[1] + right * count


def _move(direction: int) -> Json:
    return {"verb": "move", "direction": FACINGS[direction], "steps": 1}
