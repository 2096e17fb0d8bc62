"""A house: a room two cells wide, walled in all round, beside water, with plants at one end.

A stone can be put only where one faces, and one faces where one last went. In a room two cells
wide each side can be faced from within, so it can be closed from within in any order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worlds.api import Cell, Json
from worlds.macrafter.chart import FOE_REACH, Chart
from worlds.macrafter.ground import GRASS, STEPS, neighbours
from worlds.macrafter.sight import Sight, Thing
from worlds.macrafter.state import FACINGS, MATERIALS, cell_id
from worlds.macrafter.table import Table

__all__ = ["House", "Shelter"]

DIG_STEPS, STONE_STEPS, BEAST_STEPS = 2, 5, 2
"""Steps to take away a cell of stone, to close one side, to wait for a creature to go."""
DRY_PRICE, BARE_PRICE = 100, 50
"""What a house without water, or without room for plants, counts as further away."""
MOST_ROOM = 8
"""Cells that a closed room has at most."""
HOME_OPEN, HOME_STEPS = 2, 60
"""Open sides of what still is a home, and how far away it may be."""
STAY = 30
"""What moving on from a place for a house counts as further away."""
SEEK_TRIES = 5
"""Tries for a sapling in one plan."""
_PAD = 4
"""Cells beyond the map that a plan may look at."""
_FAR = 2000
"""Price of what cannot be."""


class Plan(NamedTuple):
    """Cells of a house from its first: where plants go, the rest, the sides, those of the rest."""

    beds: tuple[Cell, ...]
    core: tuple[Cell, ...]
    sides: tuple[Cell, ...]
    core_sides: tuple[Cell, ...]


class Survey(NamedTuple):
    """[H, W] of a plan: steps until one sits in it, the same with what it lacks, sides to close,
    whether water is beside."""

    steps: NDArray[np.int64]
    price: NDArray[np.int64]
    needed: NDArray[np.int64]
    is_wet: NDArray[np.bool_]


class House(NamedTuple):
    """A place for a house. steps: until one sits in it. open: sides that are no walls."""

    steps: int
    is_wet: bool
    open: frozenset[Cell]
    beds: frozenset[Cell]
    core: frozenset[Cell]
    sides: frozenset[Cell]


def _plan(rows: int, columns: int, is_bed: Callable[[Cell], bool]) -> Plan:
    room = [(row, column) for row in range(rows) for column in range(columns)]
    beds = tuple(cell for cell in room if is_bed(cell))
    core = tuple(cell for cell in room if not is_bed(cell))
    return Plan(beds, core, _around(room, room), _around(core, room))


def _around(cells: Iterable[Cell], room: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(sorted({side for cell in cells for side in neighbours(cell)} - {*room}))


PLANS = (
    _plan(2, 3, lambda cell: cell[1] == 0),
    _plan(2, 3, lambda cell: cell[1] == 2),
    _plan(3, 2, lambda cell: cell[0] == 0),
    _plan(3, 2, lambda cell: cell[0] == 2),
    _plan(2, 2, lambda cell: False),
)


class Shelter:
    """Where the agent can be safe, as far as it knows."""

    def __init__(self, table: Table, sight: Sight, chart: Chart) -> None:
        self.table, self.sight, self.chart = table, sight, chart
        self.known, self.stones = sight.known, sight.inventory["stone"]
        self._surveys: dict[Plan, Survey] = {}

    # --- where it is -----------------------------------------------------------------------------

    @cached_property
    def plants(self) -> frozenset[Cell]:
        """Cells of plants in view."""
        return frozenset(plant.cell for plant in self.sight.creatures("plant"))

    @cached_property
    def room(self) -> frozenset[Cell]:
        """Cells that something outside could come from to the agent's; empty if they are many."""
        return self._flood(frozenset())

    @cached_property
    def floor(self) -> frozenset[Cell]:
        """The part of the room in which the agent can go about."""
        mates = frozenset(cell for _, cell in self.sight.others())
        return self._flood(self.plants | mates)

    def _flood(self, closed: frozenset[Cell]) -> frozenset[Cell]:
        room, edge = {self.sight.cell}, [self.sight.cell]
        while edge:
            for cell in neighbours(edge.pop()):
                if cell in room or not self.known.is_inside(cell) or self.known.is_wall[cell]:
                    continue
                if cell in closed:
                    continue
                room.add(cell)
                edge.append(cell)
            if len(room) > MOST_ROOM:
                return frozenset()
        return frozenset(room)

    @cached_property
    def is_closed(self) -> bool:
        """Whether nothing can come to the agent from outside."""
        return bool(self.room) and not self.guests

    @cached_property
    def guests(self) -> tuple[Thing, ...]:
        """Animals in the agent's room."""
        return tuple(c for c in self.sight.creatures("cow", *FOE_REACH) if c.cell in self.room)

    @cached_property
    def best(self) -> House | None:
        """The place where the agent is safe soonest."""
        found = []
        for plan in PLANS:
            steps, price = self._survey(plan).steps, self._survey(plan).price.copy()
            row, column = self.sight.cell
            for down, right in plan.core:
                here = row - down, column - right
                if self.known.is_inside(here):
                    price[here] -= STAY * (price[here] < _FAR)
            first = divmod(int(price.argmin()), price.shape[1])
            if price[first] < _FAR:
                found.append((int(price[first]), int(steps[first]), first, plan))
        if not found:
            return None
        _, least, first, plan = min(found)
        return self._house(least, first, plan)

    def _house(self, steps: int, first: Cell, plan: Plan) -> House:
        def at(cells: tuple[Cell, ...]) -> frozenset[Cell]:
            moved = ((first[0] + r, first[1] + c) for r, c in cells)
            return frozenset(cell for cell in moved if self.known.is_inside(cell))

        sides = at(plan.sides)
        is_open = frozenset(cell for cell in sides if not self.known.is_wall[cell])
        core = at(plan.core)
        is_wet = any(self.known.name(cell) == "water" for cell in at(plan.core_sides))
        return House(steps, is_wet, is_open, at(plan.beds), core, sides)

    # --- plans -----------------------------------------------------------------------------------

    @cached_property
    def has_home(self) -> bool:
        """Whether a house with water and room for plants stands not far away."""
        for plan in PLANS:
            if plan.beds:
                steps, _, needed, wet = self._survey(plan)
                if (wet & (needed <= HOME_OPEN) & (steps <= HOME_STEPS)).any():
                    return True
        return False

    @property
    def is_good(self) -> bool:
        """Whether the best house has water and room for plants."""
        return self.best is not None and self.best.is_wet and bool(self.best.beds)

    def enter(self, room: int) -> list[Json]:
        """At most `room` actions into the best house, or to close it; empty if none is known."""
        house = self.best
        if house is None:
            return []
        if self.sight.cell not in house.core:
            cell = min(house.core, key=lambda cell: (self.chart.price(cell), cell))
            return self._step_in(house) or self.chart.go(cell, 2, 4)[0]
        if self.guests:
            return [{"verb": "attack", "target": self.guests[0].id, "timeout": 5}]
        if not self.stones:
            return self._dig(house)
        actions = self._face(house.core | house.beds, house.open, "stone")
        return actions[:room] or [{"verb": "wait", "steps": 1}]

    def _dig(self, house: House) -> list[Json]:
        """Take a stone out of what is to be room."""
        for cell in sorted(house.core):
            name = self.known.name(cell)
            if name in self.chart.diggable:
                for _, stand in self.chart.beside(cell)[:1]:
                    walk, is_whole = self.chart.go(stand, 2, 4)
                    dig = {"verb": "collect", "target": cell_id(name, cell), "steps": 1}
                    return [*walk, dig] if is_whole else walk
        return [{"verb": "wait", "steps": 1}]

    def shut(self, room: int) -> list[Json]:
        """From outside, close what is open of a house with plants; empty if there is none."""
        if not self.stones:
            return []
        for house in self._with_plants():
            if self.sight.cell in house.core | house.beds:
                continue
            if house.open and len(house.open) <= self.stones:
                targets = house.open - {self.sight.cell}
                return self._face(self._ground(house), targets, "stone", False)[:room]
        return []

    def sow(self, room: int) -> list[Json]:
        """In a closed house: plant a sapling, or look for one; empty if all is planted."""
        house = self.home
        if house is None or house.beds <= self.plants:
            return []
        if self.sight.cell not in house.core:
            return self._step_in(house)
        ground = house.core | house.beds
        if self.sight.inventory["sapling"]:
            free = frozenset(cell for cell in house.beds if self._is_grass(cell))
            return self._face(ground, free, "plant", False)[:room]
        grass = frozenset(cell for cell in ground if self._is_grass(cell))
        turn = self._face(ground, grass - {self.sight.cell}, None, False)
        if turn or self._is_grass(self.sight.faced()):
            seek = {"verb": "collect", "target": "sapling", "steps": SEEK_TRIES}
            return [*turn[: room - 1], seek]
        return []

    @cached_property
    def home(self) -> House | None:
        """The closed house with room for plants in which the agent is."""
        row, column = self.sight.cell
        for plan in PLANS:
            for down, right in (*plan.core, *plan.beds) if plan.beds else ():
                house = self._house(0, (row - down, column - right), plan)
                cells = house.core | house.beds
                is_whole = len(cells) == len(plan.core) + len(plan.beds)
                is_closed = is_whole and not house.open and cells <= self.room | self.plants
                if is_closed and all(self.known.material[bed] == GRASS for bed in house.beds):
                    return house
        return None

    def _step_in(self, house: House) -> list[Json]:
        """From a bed or from before the door into the room; empty from anywhere else."""
        for direction in range(len(STEPS)):
            cell = self.sight.faced(direction)
            if cell in house.core and self.sight.is_free(cell):
                return [self._step(cell, direction)]
        return []

    def _ground(self, house: House) -> frozenset[Cell]:
        """Cells outside, near the house."""
        rows = range(min(house.sides)[0] - 2, max(house.sides)[0] + 3)
        columns = [column for _, column in house.sides]
        cells = ((row, c) for row in rows for c in range(min(columns) - 2, max(columns) + 3))
        return frozenset(cell for cell in cells if cell not in house.core | house.beds)

    def _with_plants(self) -> list[House]:
        found = []
        for plan in PLANS:
            for row, column in sorted(self.plants) if plan.beds else ():
                down, right = plan.beds[0]
                first = row - down, column - right
                house = self._house(0, first, plan)
                is_whole = len(house.core) == len(plan.core) and house.beds <= self.plants
                if is_whole and not any(self.known.is_wall[cell] for cell in house.core):
                    found.append((len(house.open), first, house))
        return [house for _, _, house in sorted(found)[:1]]

    def _is_grass(self, cell: Cell) -> bool:
        return self.known.name(cell) == "grass" and cell not in self.sight.things

    # --- prices ----------------------------------------------------------------------------------

    def _survey(self, plan: Plan) -> Survey:
        """What a house would be whose first cell is there."""
        if plan in self._surveys:
            return self._surveys[plan]
        field = np.pad(np.minimum(self.chart.field, _FAR), _PAD, constant_values=_FAR)
        entry = np.minimum.reduce([self._at(field, cell) for cell in plan.core])
        dig = sum(self._at(self._core, cell) for cell in plan.core)
        bed = sum((self._at(self._bed, cell) for cell in plan.beds), np.zeros_like(dig))
        needed = sum((self._at(self._side, cell) for cell in plan.sides), np.zeros_like(dig))
        wet = np.logical_or.reduce([self._at(self._water, cell) for cell in plan.core_sides])
        busy = sum(self._at(self._busy, cell) for cell in (*plan.core, *plan.beds))
        can_be = (busy < _FAR) & (needed < _FAR) & (dig < _FAR) & (bed < _FAR)
        ok = can_be & (needed <= self.stones + dig)
        steps = entry + STONE_STEPS * needed + DIG_STEPS * dig + busy
        lack = np.where(wet, 0, DRY_PRICE) + (0 if plan.beds else BARE_PRICE)
        steps = np.where(can_be, steps, _FAR)
        found = Survey(steps, np.where(ok, steps + lack, _FAR), needed, wet)
        self._surveys[plan] = found
        return found

    @cached_property
    def _core(self) -> NDArray[np.int64]:
        """0 where one can stand, 1 where one can dig."""
        core = np.where(self.known.is_walkable, 0, _FAR)
        core[self._is_one_of(("stone",) if "stone" in self.chart.diggable else ())] = 1
        for cell in self.plants:
            core[cell] = _FAR
        return np.pad(core, _PAD, constant_values=_FAR)

    @cached_property
    def _bed(self) -> NDArray[np.int64]:
        """0 where a plant can be or is."""
        bed = np.where(self.known.material == GRASS, 0, _FAR)
        return np.pad(bed, _PAD, constant_values=_FAR)

    @cached_property
    def _side(self) -> NDArray[np.int64]:
        """0 for walls, 1 where a stone can be put."""
        side = np.where(self._is_one_of(self.table.place["stone"].on), 1, _FAR)
        side[self.known.is_wall] = 0
        for cell in self.plants:
            side[cell] = _FAR
        return np.pad(side, _PAD, constant_values=0)

    @cached_property
    def _busy(self) -> NDArray[np.int64]:
        """Steps until the cell is free of who is there."""
        busy = np.zeros(self.known.material.shape, np.int64)
        for cell, code in self.sight.things.items():
            if cell not in self.plants:
                if code < 0:
                    busy[cell] = BEAST_STEPS
                elif code - 1 < self.sight.agent and cell not in self.room:
                    busy[cell] = _FAR
        return np.pad(busy, _PAD)

    @cached_property
    def _water(self) -> NDArray[np.bool_]:
        return np.pad(self._is_one_of(("water",)), _PAD)

    def _is_one_of(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        return np.isin(self.known.material, [MATERIALS.index(name) for name in names])

    def _at(self, padded: NDArray[Any], step: Cell) -> NDArray[Any]:
        """[H, W], for each cell what is a step away."""
        rows, columns = self.known.material.shape
        down, right = _PAD + step[0], _PAD + step[1]
        return padded[down : down + rows, right : right + columns]

    # --- facing ----------------------------------------------------------------------------------

    def _face(
        self,
        ground: frozenset[Cell],
        targets: frozenset[Cell],
        object: str | None,
        is_dug: bool = True,
    ) -> list[Json]:
        """The shortest way over `ground` to face one of the targets, and to put something there.

        Breadth first over cells and directions; cells of stone are dug out. Empty without a way.
        """
        start = (self.sight.cell, self.sight.facing)
        came: dict[tuple[Cell, int], tuple[tuple[Cell, int], Json]] = {}
        queue = deque([start])
        while queue:
            now = queue.popleft()
            cell, facing = now
            ahead = _next(cell, facing)
            if ahead in targets and ahead not in self.sight.things:
                actions: list[Json] = []
                while now != start:
                    now, action = came[now]
                    actions.append(action)
                actions.reverse()
                dug = [k for k, action in enumerate(actions) if action["verb"] == "collect"]
                if dug:
                    return actions[: dug[0] + 1]
                last = {"verb": "place", "object": object, "steps": 1}
                return actions + ([last] if object else [])
            for direction in range(len(STEPS)):
                beside = _next(cell, direction)
                if beside not in ground:
                    continue
                can_dig = is_dug and self.known.name(beside) in self.chart.diggable
                after = (beside, direction)
                if not self.sight.is_free(beside) and not can_dig:
                    continue
                if after not in came and after != start:
                    came[after] = now, self._step(beside, direction)
                    queue.append(after)
        return []

    def _step(self, cell: Cell, direction: int) -> Json:
        name = self.known.name(cell)
        if name in self.chart.diggable:
            return {"verb": "collect", "target": cell_id(name, cell), "steps": 1}
        return {"verb": "move", "direction": FACINGS[direction], "steps": 1}


def _next(cell: Cell, direction: int) -> Cell:
    return cell[0] + STEPS[direction][0], cell[1] + STEPS[direction][1]
