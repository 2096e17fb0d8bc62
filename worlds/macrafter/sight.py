"""What one agent knows: its map, what is in its view, and the things that ids name in it."""

from __future__ import annotations

import re
from typing import NamedTuple

from worlds.api import NO_TASK, AgentId, Cell
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import STEPS, Ground, ground_of
from worlds.macrafter.state import (
    CREATURES,
    FACINGS,
    ITEMS,
    MATERIALS,
    MacrafterState,
    cell_id,
    creature_id,
)
from worlds.macrafter.table import STATIONS, TARGETS, Table

__all__ = [
    "Sight",
    "Thing",
    "agent_id",
    "creature_at",
    "facing_name",
    "find_thing",
    "holds",
    "is_near",
    "line",
    "look",
    "read_id",
    "source_names",
    "thing_at",
]

_CELL_ID = re.compile(r"([a-z_]+)@(\d{1,4}),(\d{1,4})")
_NUMBERED_ID = re.compile(r"([a-z]+)_(\d{1,9})")


class Thing(NamedTuple):
    """Something an id names. kind: source, station, creature, agent or cell; number: its task."""

    id: str
    kind: str
    name: str
    cell: Cell
    number: int


class Sight(NamedTuple):
    """One agent's knowledge at one moment.

    known: the materials it has ever seen. ways: what its verbs may plan over. window: first row,
    first column, last row, last column of what it sees now. things: objects in view but itself,
    by cell, row-major; `occupant` of the state: a + 1 or -(slot + 1).
    """

    state: MacrafterState
    agent: AgentId
    cell: Cell
    facing: int
    is_asleep: bool
    known: Ground
    ways: Ground
    window: tuple[int, int, int, int]
    things: dict[Cell, int]

    @property
    def inventory(self) -> dict[str, int]:
        """Units of every item."""
        return dict(zip(ITEMS, self.state.inventory[0, self.agent].tolist(), strict=True))

    def sees(self, cell: Cell) -> bool:
        """Whether the cell is in view now."""
        top, left, bottom, right = self.window
        return top <= cell[0] <= bottom and left <= cell[1] <= right

    def is_free(self, cell: Cell) -> bool:
        """Whether the cell is known to be walkable and no object is seen on it."""
        return self.known.walks(cell) and cell not in self.things

    def others(self) -> tuple[tuple[AgentId, Cell], ...]:
        """Other agents in view, ascending."""
        return tuple(sorted((code - 1, cell) for cell, code in self.things.items() if code > 0))

    def creatures(self, *kinds: str) -> tuple[Thing, ...]:
        """Creatures of these kinds in view, row-major."""
        found = (creature_at(self, cell) for cell, code in self.things.items() if code < 0)
        return tuple(thing for thing in found if thing.name in kinds)

    def faced(self, direction: int | None = None) -> Cell:
        """The next cell in `direction`, or in the one faced."""
        down, right = STEPS[self.facing if direction is None else direction]
        return self.cell[0] + down, self.cell[1] + right


def look(config: MacrafterConfig, state: MacrafterState, agent: AgentId) -> Sight:
    """The knowledge of `agent` in the one world of `state`."""
    known = state.known[0, agent]
    row, column = state.agent_cell[0, agent].tolist()
    is_asleep = bool(state.is_asleep[0, agent])
    up, side = (0, 0) if is_asleep else (config.view[0] // 2, config.view[1] // 2)
    rows, columns = known.shape
    first = (max(row - up, 0), max(column - side, 0))
    window = (*first, min(row + up, rows - 1), min(column + side, columns - 1))
    ground = ground_of(known)
    is_global = config.navigation == "global"
    return Sight(
        state,
        agent,
        (row, column),
        int(state.agent_facing[0, agent]),
        is_asleep,
        ground,
        ground_of(state.material[0]) if is_global else ground,
        window,
        _objects(state, window, (row, column)),
    )


def _objects(
    state: MacrafterState, window: tuple[int, int, int, int], own: Cell
) -> dict[Cell, int]:
    """Occupants of the cells of the window but the agent's own, row-major."""
    top, left, bottom, right = window
    crop = state.occupant[0, top : bottom + 1, left : right + 1]
    rows, columns = crop.nonzero()
    things = {}
    for r, c in zip(rows.tolist(), columns.tolist(), strict=True):
        if (top + r, left + c) != own:
            things[top + r, left + c] = int(crop[r, c])
    return things


def agent_id(agent: AgentId) -> str:
    """Text id of an agent, as `agent_3`."""
    return f"agent_{agent}"


def holds(sight: Sight, item: str | None) -> bool:
    """Whether the agent has at least one `item`; None asks for nothing."""
    return item is None or bool(sight.state.inventory[0, sight.agent, ITEMS.index(item)])


def source_names(config: MacrafterConfig, table: Table) -> tuple[str, ...]:
    """Materials that can be collected from under these settings, in the order of the table."""
    return tuple(name for name in table.collect if name != "grass" or config.plants)


def creature_at(sight: Sight, cell: Cell) -> Thing:
    """The creature seen on `cell`."""
    slot = -sight.things[cell] - 1
    kind = CREATURES[sight.state.creature_kind[0, slot]]
    serial = int(sight.state.creature_serial[0, slot])
    number = sight.known.material.size + serial
    return Thing(creature_id(kind, serial), "creature", kind, cell, number)


def line(sight: Sight, table: Table, config: MacrafterConfig, direction: int) -> Thing | None:
    """What a `do` in `direction` would act on, as far as the agent can see."""
    down, right = STEPS[direction]
    for distance in range(1, config.reach + 1):
        cell = (sight.cell[0] + down * distance, sight.cell[1] + right * distance)
        if cell in sight.things:
            thing = creature_at(sight, cell) if sight.things[cell] < 0 else None
            return thing if thing and thing.name in TARGETS else None
        name = sight.known.name(cell)
        if name in table.collect and name != "grass":
            return thing_at(sight.known, name, cell)
        if name not in ("grass", "sand", "path"):
            return None
    first = sight.faced(direction)
    if config.plants and sight.known.name(first) == "grass" and first not in sight.things:
        return thing_at(sight.known, "grass", first)
    return None


def thing_at(ground: Ground, name: str, cell: Cell) -> Thing:
    """The source, station or cell of that name at `cell`; its task number is that of the cell."""
    if name in STATIONS or name == "cell":
        kind = "station" if name in STATIONS else "cell"
        return Thing(cell_id(name, cell), kind, name, cell, NO_TASK)
    return Thing(cell_id(name, cell), "source", name, cell, cell[0] * ground.columns + cell[1])


def read_id(text: object) -> tuple[str, int, int] | None:
    """The parts of an id: (name, row, column), or (name, number, -1) of a creature or agent."""
    if not isinstance(text, str):
        return None
    found = _CELL_ID.fullmatch(text)
    if found:
        return found[1], int(found[2]), int(found[3])
    found = _NUMBERED_ID.fullmatch(text)
    return (found[1], int(found[2]), -1) if found else None


def find_thing(sight: Sight, table: Table, config: MacrafterConfig, id: object) -> Thing | None:
    """What `id` names in the agent's knowledge; None for an unseen and an absent thing alike.

    With navigation `global` the sources and stations of the whole map are named too.
    """
    parts = read_id(id)
    if parts is None:
        return None
    name, first, second = parts
    if second >= 0:
        return _find_on_ground(sight, table, config, name, (first, second))
    if name == "agent":
        return next((_agent(a, cell) for a, cell in sight.others() if a == first), None)
    seen = sight.creatures(*TARGETS) if name in TARGETS else ()
    return next((thing for thing in seen if thing.id == id), None)


def _agent(agent: AgentId, cell: Cell) -> Thing:
    return Thing(agent_id(agent), "agent", "agent", cell, NO_TASK)


def _find_on_ground(
    sight: Sight, table: Table, config: MacrafterConfig, name: str, cell: Cell
) -> Thing | None:
    if not sight.known.is_inside(cell):
        return None
    if name == "cell":
        return thing_at(sight.known, name, cell)
    if name not in (*source_names(config, table), *STATIONS):
        return None
    material = MATERIALS.index(name)
    if sight.known.material[cell] == material or sight.ways.material[cell] == material:
        return thing_at(sight.known, name, cell)
    return None


def is_near(sight: Sight, station: str) -> bool:
    """Whether the station stands in the 3 x 3 block round the agent."""
    row, column = sight.cell
    block = sight.known.material[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return MATERIALS.index(station) in block


def facing_name(sight: Sight) -> str:
    """Name of the direction the agent faces."""
    return FACINGS[sight.facing]
