"""Plants for food: where to put them, how to fence them in, when to go and eat.

A plant is eaten by whatever stands beside it, so each is closed in by stones or what stands there
anyway. A stone goes only where one faces, so the way round a plant is searched for, move by move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import UNREACHABLE
from worlds.api import Cell, Json
from worlds.macrafter.chart import Chart
from worlds.macrafter.generate import RIPE_AGE
from worlds.macrafter.ground import GRASS, STEPS, neighbours
from worlds.macrafter.nearest import gap
from worlds.macrafter.sight import Sight, Thing
from worlds.macrafter.state import ACHIEVEMENTS, FACINGS

__all__ = ["Garden"]

SITE_STEPS = 20
"""Price of the way up to which a site is used."""
MOST_OPEN, STONE_PRICE = 3, 5
"""Sides of a site that may be open, and what each adds to the price."""
ROUND = 4
"""Distance from a plant within which the way round it leads."""
NEAR_PLOTS = 18
"""Distance within which a plot counts as one of the agent's own; plants rest beyond it."""
PLANTED = ACHIEVEMENTS.index("place_plant")
PLANTS, MOST_PLANTS = 3, 8
"""Plants an agent puts; at most, where fewer are left."""
SAPLING_TRIES = 10
LONGEST_MOVE = 10
"""Moves of one action."""
VIEW = 3
"""Distance from which a plot is surely seen."""
SITES = 3
"""Sites that are tried out."""


class _Round(NamedTuple):
    """A moment of the way round a plant: where, facing where, what is closed, is it planted."""

    cell: Cell
    facing: int
    closed: frozenset[Cell]
    is_planted: bool


class Garden:
    """Plants in the eyes of one agent."""

    def __init__(self, sight: Sight, chart: Chart) -> None:
        self.sight, self.chart, self.known = sight, chart, sight.known
        self.stones = sight.inventory["stone"]

    # --- what there is ---------------------------------------------------------------------------

    @cached_property
    def plants(self) -> tuple[Thing, ...]:
        """Plants in view."""
        return self.sight.creatures("plant")

    @cached_property
    def plots(self) -> list[Cell]:
        """Known cells of grass that are closed in all round, where plants were put or may be."""
        return _cells(self.known.is_plot)

    @property
    def missing(self) -> int:
        """Plants this agent has still to put: so many feed it, and some get lost."""
        put = int(self.sight.state.achievements[0, self.sight.agent, PLANTED])
        cells = {*self.plots, *(plant.cell for plant in self.plants)}
        near = sum(gap(cell, self.sight.cell) <= NEAR_PLOTS for cell in cells)
        return max(PLANTS - put, min(MOST_PLANTS - put, PLANTS - near), 0)

    def _open(self, cell: Cell) -> tuple[Cell, ...]:
        inside = (side for side in neighbours(cell) if self.known.is_inside(side))
        return tuple(side for side in inside if not self.known.is_wall[side])

    def ripe(self) -> list[tuple[int, Thing]]:
        """(price, plant) of the ripe plants in view that can be come to, cheapest first."""
        found = []
        for plant in self.plants:
            slot = -self.sight.things[plant.cell] - 1
            beside = self.chart.beside(plant.cell)
            if self.sight.state.creature_timer[0, slot] >= RIPE_AGE and beside:
                found.append((beside[0][0], plant))
        return sorted(found)

    # --- plans -----------------------------------------------------------------------------------

    def fence(self, room: int) -> list[Json]:
        """Close in a plant in view that is open somewhere; empty if none is or can be."""
        for plant in sorted(self.plants, key=lambda plant: gap(plant.cell, self.sight.cell)):
            if 0 < len(self._open(plant.cell)) <= self.stones:
                actions = self._tend(plant.cell, True, room)
                if actions:
                    return actions
        return []

    def plant(self, room: int) -> list[Json]:
        """Put a sapling where few stones close it in; empty if no such place is near."""
        for cell in self._sites():
            actions = self._tend(cell, False, room)
            if actions:
                return actions
        return []

    def seek_sapling(self) -> list[Json]:
        """Search the grass that is faced, after a step if need be; empty without any."""
        search = {"verb": "collect", "target": "sapling", "steps": SAPLING_TRIES}
        if self._is_free_grass(self.sight.faced()):
            return [search]
        for direction in range(len(STEPS)):
            cell = self.sight.faced(direction)
            if self.sight.is_free(cell) and self._is_free_grass(_next(cell, direction)):
                return [_move(direction, 1), search]
        return []

    def visit(self, most: int, room: int) -> list[Json]:
        """Go and look whether a plot that is out of view has a ripe plant."""
        field, best = self.chart.field, None
        for plot in self.plots:
            if self.sight.sees(plot):
                continue
            for cell in self._lookouts(plot):
                entry = (int(field[cell]), cell)
                if entry[0] <= most and (best is None or entry < best):
                    best = entry
        return [] if best is None else self.chart.go(best[1], room)[0]

    def _lookouts(self, plot: Cell) -> Iterator[Cell]:
        """Walkable cells from which a plot is in view."""
        for row in range(plot[0] - VIEW, plot[0] + VIEW + 1):
            for column in range(plot[1] - VIEW, plot[1] + VIEW + 1):
                if self.known.walks((row, column)):
                    yield row, column

    # --- sites -----------------------------------------------------------------------------------

    def _is_free_grass(self, cell: Cell) -> bool:
        return self.known.name(cell) == "grass" and cell not in self.sight.things

    def _sites(self) -> list[Cell]:
        """The best cells for a plant: near, few sides open and as many stones at hand."""
        grass = self.known.material == GRASS
        sides, price = self.known.open_sides, self.chart.field
        is_site = grass & (sides > 0) & (sides <= min(MOST_OPEN, self.stones))
        is_site &= price <= SITE_STEPS
        ranked = sorted(
            (int(price[cell] + STONE_PRICE * sides[cell]), cell)
            for cell in _cells(is_site)
            if cell not in self.sight.things
        )
        return [cell for _, cell in ranked[:SITES]]

    # --- the way round ---------------------------------------------------------------------------

    def _tend(self, plant: Cell, is_planted: bool, room: int) -> list[Json]:
        """Actions that plant and close in, or lead near; empty if there is no way."""
        if gap(plant, self.sight.cell) > ROUND:
            near = [(self.chart.price(side), side) for side in self._open(plant)]
            price, side = min(near, default=(UNREACHABLE, plant))
            return self.chart.go(side, room)[0] if price < UNREACHABLE else []
        return self._search(plant, is_planted)[:room]

    def _search(self, plant: Cell, is_planted: bool) -> list[Json]:
        """The shortest way round, breadth first."""
        sides = frozenset(self._open(plant))
        start = _Round(self.sight.cell, self.sight.facing, frozenset(), is_planted)
        came: dict[_Round, tuple[_Round, str]] = {}
        queue = deque([start])
        while queue:
            now = queue.popleft()
            if now.is_planted and now.closed == sides:
                return self._actions(came, start, now)
            for word, after in self._choices(now, plant, sides):
                if after not in came and after != start:
                    came[after] = now, word
                    queue.append(after)
        return []

    def _choices(
        self, now: _Round, plant: Cell, sides: frozenset[Cell]
    ) -> Iterator[tuple[str, _Round]]:
        ahead = _next(now.cell, now.facing)
        if ahead in sides and ahead not in now.closed and ahead not in self.sight.things:
            yield "stone", now._replace(closed=now.closed | {ahead})
        if ahead == plant and not now.is_planted:
            yield "plant", now._replace(is_planted=True)
        for direction in range(len(STEPS)):
            cell = _next(now.cell, direction)
            is_shut = cell in now.closed or (cell == plant and now.is_planted)
            if not is_shut and gap(cell, plant) <= ROUND and self.sight.is_free(cell):
                yield FACINGS[direction], now._replace(cell=cell, facing=direction)

    def _actions(
        self, came: dict[_Round, tuple[_Round, str]], start: _Round, end: _Round
    ) -> list[Json]:
        words = []
        while end != start:
            end, word = came[end]
            words.append(word)
        actions: list[Json] = []
        for word, run in groupby(reversed(words)):
            count = len(list(run))
            if word in FACINGS:
                actions.append(_move(FACINGS.index(word), count))
            else:
                actions.append({"verb": "place", "object": word, "steps": 1})
        return actions


def _cells(marked: NDArray[np.bool_]) -> list[Cell]:
    return [(row, column) for row, column in np.argwhere(marked).tolist()]


def _next(cell: Cell, direction: int) -> Cell:
    return cell[0] + STEPS[direction][0], cell[1] + STEPS[direction][1]


def _move(direction: int, count: int) -> Json:
    return {"verb": "move", "direction": FACINGS[direction], "steps": min(count, LONGEST_MOVE)}
