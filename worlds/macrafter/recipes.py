"""What one agent does alone to become able: depth first through the table, with what it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from primitives.navigation import UNREACHABLE
from worlds.api import Action, Cell, Failed, Reason
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import Field
from worlds.macrafter.nearest import around, nearest_known
from worlds.macrafter.sight import Sight
from worlds.macrafter.state import cell_id
from worlds.macrafter.table import MakeRow, Table

__all__ = ["Errand", "prepare_item", "prepare_items", "prepare_uses"]

COLLECT_STEPS, CRAFT_STEPS, PLACE_STEPS = 2, 1, 2
"""Steps of a verb in the sum: a turn and an act, or the act alone."""
MOST_SOURCES = 12
"""Sources of one kind that are looked at for one errand."""
MOST_DEPTH = 8
"""Items in a chain of needs before an errand is given up."""


class Errand:
    """Actions gathered so far, and how the agent would stand after them.

    Distances are known paths of verbs; `failure` is given once no way is known.
    """

    def __init__(self, config: MacrafterConfig, table: Table, sight: Sight) -> None:
        self.config, self.table, self.sight = config, table, sight
        self.actions: list[Action] = []
        self.steps = 0
        self.cell: Cell = sight.cell
        self.stock: dict[str, int] = dict(sight.inventory)
        self.taken: set[Cell] = set()
        self.placed: dict[str, Cell] = {}

    def go(self, target: str, cells: tuple[Cell, ...]) -> bool:
        """Walk to the nearest of the cells; False if no known path leads there."""
        steps, cell = self._nearest(cells)
        if steps >= UNREACHABLE:
            return False
        if steps:
            self.actions.append(Action("navigate", {"target": target}))
        self.cell, self.steps = cell, self.steps + steps
        return True

    def walk(self, cells: tuple[Cell, ...]) -> int:
        """Steps from here to the nearest of the cells."""
        return self._nearest(cells)[0]

    def do(self, steps: int, verb: str, **args: object) -> None:
        """Add an action that takes so many steps."""
        self.actions.append(Action(verb, args))
        self.steps += steps

    def _nearest(self, cells: tuple[Cell, ...]) -> tuple[int, Cell]:
        field: Field = self.sight.ways.field((self.cell,))
        return min(((int(field[cell]), cell) for cell in cells), default=(UNREACHABLE, self.cell))


class Want(NamedTuple):
    """Something to be had, inside the things it is wanted for."""

    item: str
    path: tuple[str, ...]


def prepare_item(errand: Errand, item: str, count: int = 1) -> Failed | None:
    """Add what it takes to hold `count` of `item`; the failure if no way is known."""
    return _obtain(errand, Want(item, ()), count)


def prepare_items(errand: Errand, items: Sequence[str]) -> Failed | None:
    """Add what it takes to make all of `items`: what they use first, then one after another."""
    uses: Counter[str] = Counter()
    for item in items:
        uses.update(errand.table.make[item].uses)
    if len(items) > 1 and (failure := prepare_uses(errand, uses)) is not None:
        return failure
    failures = (prepare_item(errand, item) for item in items)
    return next((failure for failure in failures if failure is not None), None)


def prepare_uses(errand: Errand, uses: Mapping[str, int]) -> Failed | None:
    """Add what it takes to hold all of `uses` at the same time."""
    return _obtain_all(errand, uses, ())


def _obtain(errand: Errand, want: Want, count: int) -> Failed | None:
    if errand.stock.get(want.item, 0) >= count:
        return None
    if want.item in want.path or len(want.path) > MOST_DEPTH:
        return _unknown(errand, want)
    path = (*want.path, want.item)
    if want.item in errand.table.make:
        return _make(errand, errand.table.make[want.item], count, path)
    return _gather(errand, want, count, path)


def _unknown(errand: Errand, want: Want) -> Failed:
    is_tool = want.item in errand.table.make
    return Failed(
        Reason("missing_tool", {"tool": want.item}) if is_tool else Reason("missing_items")
    )


def _gather(errand: Errand, want: Want, count: int, path: tuple[str, ...]) -> Failed | None:
    row = errand.table.source_of(want.item)
    if row is None or row.agents > 1 or row.chance < 1:
        return _unknown(errand, want)
    if row.tool is not None:
        failure = _obtain(errand, Want(row.tool, path), 1)
        if failure is not None:
            return failure
    while errand.stock[want.item] < count:
        if not _take_nearest(errand, row.source):
            return Failed(Reason("missing_items"))
        errand.stock[want.item] += row.amount
    return None


def _take_nearest(errand: Errand, source: str) -> bool:
    reach, known = errand.config.reach, errand.sight.known
    near = nearest_known(known, errand.cell, source, reach, MOST_SOURCES)
    for thing in (entry.thing for entry in near if entry.thing.cell not in errand.taken):
        if errand.go(thing.id, errand.sight.ways.stand_cells(thing.cell, reach)):
            errand.taken.add(thing.cell)
            errand.do(COLLECT_STEPS, "collect", target=thing.id)
            return True
    return False


def _make(errand: Errand, row: MakeRow, count: int, path: tuple[str, ...]) -> Failed | None:
    if row.agents > 1:
        return Failed(Reason("missing_tool", {"tool": row.item}))
    while errand.stock[row.item] < count:
        wanted = Counter(row.uses)
        for station in row.stations:
            if not _is_known(errand, station):
                wanted.update(errand.table.place[station].uses)
        failure = _obtain_all(errand, wanted, path) or _stand_beside(errand, row.stations, path)
        if failure is not None:
            return failure
        _spend(errand, row.uses)
        errand.stock[row.item] += 1
        errand.do(CRAFT_STEPS, "craft", item=row.item)
    return None


def _obtain_all(errand: Errand, uses: Mapping[str, int], path: tuple[str, ...]) -> Failed | None:
    """Obtain one after another until all are held at once; making a tool may use some up."""
    for _ in range(1 + len(uses)):
        for item, count in uses.items():
            failure = _obtain(errand, Want(item, path), count)
            if failure is not None:
                return failure
        if all(errand.stock[item] >= count for item, count in uses.items()):
            return None
    return Failed(Reason("missing_items"))


def _spend(errand: Errand, uses: Mapping[str, int]) -> None:
    for item, count in uses.items():
        errand.stock[item] -= count


def _is_known(errand: Errand, station: str) -> bool:
    return station in errand.placed or bool(errand.sight.known.cells_of(station))


def _stand_beside(
    errand: Errand, stations: tuple[str, ...], path: tuple[str, ...]
) -> Failed | None:
    for station in stations:
        if not _is_known(errand, station) and (failure := _set_up(errand, station, path)):
            return failure
    choices: list[set[Cell]] = [_cells_beside(errand, station) for station in stations]
    common = set.intersection(*choices) if choices else {errand.cell}
    if not common:
        return Failed(Reason("no_path"))
    target = cell_id("cell", min(common, key=lambda cell: (errand.walk((cell,)), cell)))
    return None if errand.go(target, tuple(sorted(common))) else Failed(Reason("no_path"))


def _set_up(errand: Errand, station: str, path: tuple[str, ...]) -> Failed | None:
    """Place a station here; beside the others when it is one of several."""
    row = errand.table.place[station]
    failure = _obtain_all(errand, row.uses, path)
    if failure is not None:
        return failure
    _spend(errand, row.uses)
    errand.do(PLACE_STEPS, "place", object=station)
    errand.placed[station] = errand.cell
    return None


def _cells_beside(errand: Errand, station: str) -> set[Cell]:
    """Cells from which the station is near: that where it was placed, or round a known one."""
    if station in errand.placed:
        return {errand.placed[station]}
    known = errand.sight.known
    cells = known.cells_of(station)
    return {cell for where in cells for cell in around(errand.sight.ways, where)}
