"""Ways of one agent through what it knows: walking, digging, bridging water, and unseen ground."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from primitives.travel_kernels import count_around, trace_way, travel_field
from worlds.api import Cell, Json
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import STEPS, UNKNOWN, Field, count_sides, neighbours
from worlds.macrafter.needs import is_dangerous
from worlds.macrafter.sight import Sight, creature_at
from worlds.macrafter.state import FACINGS, MATERIALS, cell_id
from worlds.macrafter.table import Table

__all__ = ["FOE_REACH", "LONGEST_LEG", "SHORT_LEG", "Chart"]

WALK_PRICE, UNSEEN_PRICE, DIG_PRICE, BRIDGE_PRICE = 1, 2, 3, 6
"""Steps that entering a cell of each sort is taken to cost."""
LONGEST_LEG, SHORT_LEG, LOOK_LEG = 24, 5, 3
"""Cells of a walk that are one action; fewer where the way is to be kept to exactly."""
WORK = 5
"""Most actions that lead to one more cell."""
CROWD_PRICE, BEAST_PRICE = 20, 3
"""Further steps for a cell on which an agent or a creature is seen."""
FOE_REACH = {"zombie": 2, "skeleton": 5}
"""Distance up to which each foe is shunned."""
FENCE_FACTOR = 5
"""Factor on the price of a cell that closes in a plant."""
FOE_PRICE = 4
"""Further steps for each cell so near to one."""
MOST_STEPS = 200
"""Longest timeout of `navigate`."""
SIGNS = {
    "tree": ("tree", "grass"),
    "cow": ("grass",),
    "water": ("water", "sand"),
    "stone": ("stone", "path", "coal", "iron", "diamond", "lava"),
}
"""Ground near which each kind of thing is likely; any other kind is like stone."""

_IDS = {name: number for number, name in enumerate(MATERIALS)}


def _is_one_of(names: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([name in names for name in MATERIALS])


_LIKE = {kind: _is_one_of(names) for kind, names in SIGNS.items()}


class Chart:
    """Prices of all cells for one agent, and actions that follow a way.

    With a wood pickaxe stone is dug; trees are felled by hand; with a stone and a pickaxe water
    is bridged: a stone is put on it and taken again, which leaves a path. crowd: cells where
    teammates are known to stay. leg: cells of a walk in one action.
    """

    def __init__(
        self,
        config: MacrafterConfig,
        table: Table,
        sight: Sight,
        crowd: tuple[Cell, ...] = (),
        leg: int = LONGEST_LEG,
    ) -> None:
        self.config, self.table, self.sight = config, table, sight
        self.crowd, self.leg = crowd, leg
        self.known = sight.known
        held = sight.inventory
        self.diggable = self._diggable()
        self.can_bridge = "stone" in self.diggable and held["stone"] > 0

    def _diggable(self) -> tuple[str, ...]:
        """Sources one agent can take away alone, with the tools it holds."""
        held = self.sight.inventory
        return tuple(
            name
            for name in ("stone", "tree")
            if name in self.table.collect
            and self.table.collect[name].agents == 1
            and (self.table.collect[name].tool is None or held[str(self.table.collect[name].tool)])
        )

    @cached_property
    def cost(self) -> NDArray[np.int16]:
        """[H, W] int16, price of entering each cell; 0: closed."""
        prices = np.zeros(len(MATERIALS), np.int16)
        for name in ("grass", "path", "sand"):
            prices[_IDS[name]] = WALK_PRICE
        for name in self.diggable:
            prices[_IDS[name]] = DIG_PRICE
        prices[_IDS["water"]] = BRIDGE_PRICE if self.can_bridge else 0
        prices[UNKNOWN] = UNSEEN_PRICE
        cost: NDArray[np.int16] = prices[self.known.material]
        for cell, code in self.sight.things.items():
            if cost[cell]:
                is_plant = code < 0 and creature_at(self.sight, cell).name == "plant"
                cost[cell] = 0 if is_plant else cost[cell] + self._crowd(code)
        cost[self.fences] *= FENCE_FACTOR
        for foe in self.sight.creatures(*FOE_REACH):
            self._shun(cost, foe.cell, FOE_REACH[foe.name])
        for cell in self.crowd:
            if cost[cell] and not self.sight.sees(cell):
                cost[cell] += CROWD_PRICE
        return cost

    @cached_property
    def fences(self) -> NDArray[np.bool_]:
        """[H, W] bool, stones that close in a plant, a place for one, or a house."""
        if not self.config.plants:
            return np.zeros(self.known.material.shape, np.bool_)
        plots = self.known.is_plot.copy()
        for plant in self.sight.creatures("plant"):
            plots[plant.cell] = True
        fences: NDArray[np.bool_] = self.known.is_wall & (count_sides(plots) > 0)
        if is_dangerous(self.config):
            fences |= self.known.is_thin
        return fences

    def _shun(self, cost: NDArray[np.int16], cell: Cell, reach: int) -> None:
        """Make all open cells near a foe dearer."""
        rows, columns = np.ogrid[: cost.shape[0], : cost.shape[1]]
        near = abs(rows - cell[0]) + abs(columns - cell[1]) <= reach
        cost[near & (cost > 0)] += FOE_PRICE

    def _crowd(self, code: int) -> int:
        return CROWD_PRICE if code > 0 else BEAST_PRICE

    @cached_property
    def field(self) -> Field:
        """[H, W] int32, price of the cheapest way from the agent to each cell."""
        field = np.empty(self.cost.shape, np.int32)
        travel_field(self.cost, *self.sight.cell, field)
        return field

    def has(self, name: str) -> bool:
        """Whether some cell of that material is known beside which one can come to stand."""
        return self.nearest(name) is not None

    def nearest(self, name: str) -> tuple[int, Cell, Cell] | None:
        """(price, where to stand, cell) of the material that is cheapest to come beside."""
        price = self.field.copy()
        for cell in self.sight.things:
            price[cell] = UNREACHABLE
        wide = np.pad(price, 1, constant_values=UNREACHABLE)
        rows, columns = price.shape
        sides = [wide[1 + r : 1 + r + rows, 1 + c : 1 + c + columns] for r, c in STEPS]
        least = np.where(self.known.material == _IDS[name], np.minimum.reduce(sides), UNREACHABLE)
        row, column = divmod(int(least.argmin()), columns)
        if least[row, column] >= UNREACHABLE:
            return None
        cost, stand = self.beside((row, column))[0]
        return cost, stand, (row, column)

    def price(self, cell: Cell) -> int:
        """Price of the cheapest way to `cell`, UNREACHABLE without one."""
        return int(self.field[cell]) if self.known.is_inside(cell) else UNREACHABLE

    def beside(self, target: Cell) -> list[tuple[int, Cell]]:
        """(price, cell) of the cells beside `target` that can be stood on, cheapest first."""
        cells = (cell for cell in neighbours(target) if self.known.is_inside(cell))
        priced = [(self.price(cell), cell) for cell in cells if cell not in self.sight.things]
        return sorted(pair for pair in priced if pair[0] < UNREACHABLE)

    def way(self, cell: Cell) -> list[Cell]:
        """Cells entered on a cheapest way to `cell`, which has a price."""
        steps = np.empty((self.cost.size, 2), np.int16)
        count = trace_way(self.cost, self.field, *cell, steps)
        return [(row, column) for row, column in steps[:count].tolist()]

    # --- actions ---------------------------------------------------------------------------------

    def stroll(self, cell: Cell) -> list[Json]:
        """The first few steps of the way to `cell`, to look round after."""
        actions: list[Json] = self.go(cell, 2, LOOK_LEG)[0] or self.go(cell, WORK, LOOK_LEG)[0]
        return actions

    def go(self, cell: Cell, room: int, leg: int | None = None) -> tuple[list[Json], bool]:
        """At most `room` actions along the way to `cell`, and whether they lead all the way.

        They end before ground that was never seen. leg: cells of one walk, if not as usual.
        """
        leg = leg or self.leg
        way, at, done = self.way(cell), self.sight.cell, 0
        actions: list[Json] = []
        faced: Cell | None = self.sight.faced()
        while done < len(way):
            walk = self._walk(way, done, leg)
            step = walk or self._work(at, way[done], faced)
            if step is None or len(actions) + len(step) > room:
                return actions, False
            actions += step
            before, done = at, done + (self._walked(way, done, leg) or 1)
            at = way[done - 1]
            faced = None if walk else (2 * at[0] - before[0], 2 * at[1] - before[1])
        return actions, True

    def _walked(self, way: list[Cell], start: int, leg: int) -> int:
        """How many cells from `start` on can simply be walked."""
        count = 0
        while start + count < len(way) and count < leg and self.known.walks(way[start + count]):
            count += 1
        return count

    def _walk(self, way: list[Cell], start: int, leg: int) -> list[Json]:
        count = self._walked(way, start, leg)
        if not count:
            return []
        end = way[start + count - 1]
        return [
            {
                "verb": "navigate",
                "target": cell_id("cell", end),
                "timeout": min(3 * count + 10, MOST_STEPS),
            }
        ]

    def _work(self, at: Cell, cell: Cell, faced: Cell | None) -> list[Json] | None:
        """Dig or bridge one cell and enter it; None for unseen ground.

        A drink turns to water that is not `faced` yet.
        """
        name, enter = self.known.name(cell), self._enter(at, cell)
        if name in self.diggable:
            return [{"verb": "collect", "target": cell_id(name, cell), "steps": 1}, enter]
        if name == "water" and self.can_bridge:
            drink = {"verb": "collect", "target": cell_id(name, cell), "steps": 1}
            place = {"verb": "place", "object": "stone", "steps": 1}
            bridge = [place, {"verb": "collect", "target": "stone", "steps": 1}, enter]
            return bridge if cell == faced else [drink, *bridge]
        return None

    def _enter(self, at: Cell, cell: Cell) -> Json:
        direction = STEPS.index((cell[0] - at[0], cell[1] - at[1]))
        return {"verb": "move", "direction": FACINGS[direction], "steps": 1}

    # --- unseen ground ---------------------------------------------------------------------------

    @cached_property
    def unseen(self) -> Field:
        """[H, W] int32, unseen cells in the window an agent would see from each cell."""
        return self.around(self.known.material == UNKNOWN)

    def likely(self, kind: str) -> NDArray[np.float64]:
        """[H, W], share of ground like that of `kind` in what is known around each cell."""
        like = _LIKE.get(kind, _LIKE["stone"])
        found = self.around(like[self.known.material])
        total = self.around(self.known.material != UNKNOWN)
        share: NDArray[np.float64] = found / np.maximum(total, 1)
        return share

    def around(self, marked: NDArray[np.bool_]) -> Field:
        """[H, W] int32, marked cells in the window an agent would see from each cell."""
        count = np.empty(marked.shape, np.int32)
        count_around(marked, self.config.view[0] // 2, self.config.view[1] // 2, count)
        return count
