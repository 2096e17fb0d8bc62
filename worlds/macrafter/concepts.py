"""The symbolic concepts of MA-Crafter: named questions about one world.

Those that name an agent use its knowledge only; the others read the world itself. A target is an
id, a place an id or a cell. The manual lists the same names, so that plans and notes can use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import ground_of
from worlds.macrafter.nearest import goal_cells, nearest_known
from worlds.macrafter.sight import (
    Sight,
    find_thing,
    holds,
    is_near,
    line,
    look,
    read_id,
)
from worlds.macrafter.state import CREATURES, ITEMS, MATERIALS, MacrafterState
from worlds.macrafter.table import STATIONS, TARGETS, CollectRow, Table

__all__ = ["SUMMARIES", "Concepts"]

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "distance(x, y)": "row plus column difference of two places",
        "path_length(agent, target)": "steps to where the target is reached, over known ground",
        "visible(agent, cell)": "whether it is in the present view",
        "is_known(agent, cell)": "whether it was ever seen",
        "in_reach(agent, target)": "whether some facing hits the target from here",
        "faces(agent, target)": "whether the present facing does",
        "stand_cells(target)": "walkable cells from which it is reached",
        "is_capable(agent, source)": "whether the agent holds the tool",
        "capable_agents(source)": "all agents that do",
        "quorum_deficit(target)": "agents needed, less capable agents within reach",
        "required_agents, required_tool, unit_score(source)": "the row of the table",
        "can_craft(agent, item)": "whether it could be made here and now",
        "missing_items(agent, item)": "what is not held of its cost",
        "station_near(agent, item)": "whether all its stations stand beside the agent",
        "prerequisites(agent, item)": "items, stations and tools still to be had, in order",
        "can_place(cell, object)": "whether the cell can take it",
        "nearest(agent, kind)": "id of the known thing with fewest steps",
    }
)
"""Each concept with what it answers."""

Place = str | Cell


class Concepts:
    """The concepts over the one world of `state`.

    An id that names nothing raises ConfigError.
    """

    def __init__(self, config: MacrafterConfig, table: Table, state: MacrafterState) -> None:
        self.config, self.table, self.state = config, table, state
        self.ground = ground_of(state.material[0])

    def distance(self, x: Place, y: Place) -> int:
        """Manhattan distance between two places."""
        (row, column), (other_row, other_column) = self._cell(x), self._cell(y)
        return abs(row - other_row) + abs(column - other_column)

    def path_length(self, agent: AgentId, target: str) -> int:
        """Steps over known walkable cells to a cell from which it is reached, or UNREACHABLE."""
        sight = self._look(agent)
        thing = find_thing(sight, self.table, self.config, target)
        if thing is None:
            return UNREACHABLE
        field = sight.known.field((sight.cell,))
        return sight.known.steps_to(field, goal_cells(sight.known, thing, self.config.reach))

    def visible(self, agent: AgentId, cell: Cell) -> bool:
        """Whether the cell is in the agent's present view."""
        return self._look(agent).sees(cell)

    def is_known(self, agent: AgentId, cell: Cell) -> bool:
        """Whether the agent has ever seen the cell."""
        sight = self._look(agent)
        return sight.known.is_inside(cell) and bool(sight.known.material[cell])

    def in_reach(self, agent: AgentId, target: str) -> bool:
        """Whether a `do` in some direction would act on the target."""
        sight = self._look(agent)
        return any(self._hits(sight, direction, target) for direction in range(4))

    def faces(self, agent: AgentId, target: str) -> bool:
        """Whether a `do` in the present direction would."""
        sight = self._look(agent)
        return self._hits(sight, sight.facing, target)

    def stand_cells(self, target: str) -> tuple[Cell, ...]:
        """In each direction the consecutive walkable cells beside it, at most `reach`."""
        return self.ground.stand_cells(self._cell(target), self.config.reach)

    def is_capable(self, agent: AgentId, source: str) -> bool:
        """Whether the agent holds the tool the source asks for."""
        return holds(self._look(agent), self._row(source).tool)

    def capable_agents(self, source: str) -> tuple[AgentId, ...]:
        """Living agents that hold the tool, ascending."""
        tool = self._row(source).tool
        able = self.state.is_alive[0].copy()
        if tool is not None:
            able &= self.state.inventory[0, :, ITEMS.index(tool)] > 0
        return tuple(able.nonzero()[0].tolist())

    def quorum_deficit(self, target: str) -> int:
        """Capable agents still missing within reach of the target."""
        name = _name(target)
        able: tuple[AgentId, ...] = tuple(self.state.is_alive[0].nonzero()[0].tolist())
        if name in self.table.collect:
            need, able = self._row(target).agents, self.capable_agents(target)
        elif name in self.table.creature:
            need = self.table.creature[name].agents
        else:
            raise ConfigError(f"{target!r} asks for no agents; allowed: a source or a creature")
        cell = self._cell(target)
        cells = (tuple(self.state.agent_cell[0, agent].tolist()) for agent in able)
        near = [other for other in cells if self.distance(other, cell) <= self.config.reach]
        return max(0, need - len(near))

    def required_agents(self, source: str) -> int:
        """How many must take it together."""
        return self._row(source).agents

    def required_tool(self, source: str) -> str | None:
        """What each of them must hold."""
        return self._row(source).tool

    def unit_score(self, source: str) -> float:
        """Points of a unit for each credited agent."""
        return self._row(source).unit_score

    def can_craft(self, agent: AgentId, item: str) -> bool:
        """Whether a lone `make` would succeed now."""
        return not self.missing_items(agent, item) and self.station_near(agent, item)

    def missing_items(self, agent: AgentId, item: str) -> dict[str, int]:
        """How much of each item of its cost is not held."""
        return missing(self._look(agent), self.table, item)

    def station_near(self, agent: AgentId, item: str) -> bool:
        """Whether all its stations stand in the 3 x 3 block round the agent."""
        sight = self._look(agent)
        return all(is_near(sight, name) for name in self.table.make[item].stations)

    def prerequisites(self, agent: AgentId, item: str) -> tuple[str, ...]:
        """Items, stations and tools still to be had before `item`, depth first, each once."""
        return prerequisites(self._look(agent), self.table, item)

    def can_place(self, cell: Cell, object: str) -> bool:
        """Whether the cell is on the map, free of objects, and of the right ground."""
        if not self.ground.is_inside(cell) or self.state.occupant[0][cell]:
            return False
        return self.ground.name(cell) in self.table.place[object].on

    def nearest(self, agent: AgentId, kind: str) -> str | None:
        """Id of the thing of that kind with fewest steps, then row, column; None if unknown."""
        sight = self._look(agent)
        if kind in TARGETS:
            seen = ((self.path_length(agent, thing.id), thing) for thing in sight.creatures(kind))
            ranked = sorted(seen, key=lambda pair: (pair[0], pair[1].cell))
            return ranked[0][1].id if ranked else None
        found = nearest_known(sight.known, sight.cell, kind, self.config.reach, 1)
        return found[0].thing.id if found else None

    # --- places ----------------------------------------------------------------------------------

    def _look(self, agent: AgentId) -> Sight:
        return look(self.config, self.state, agent)

    def _hits(self, sight: Sight, direction: int, target: str) -> bool:
        thing = line(sight, self.table, self.config, direction)
        return thing is not None and thing.id == target

    def _row(self, source: str) -> CollectRow:
        name = _name(source)
        if name not in self.table.collect:
            allowed = f"{', '.join(self.table.collect)}, or an id"
            raise ConfigError(f"source {source!r}; allowed: {allowed}")
        return self.table.collect[name]

    def _cell(self, place: Place) -> Cell:
        if not isinstance(place, str):
            return place
        parts = read_id(place)
        cell = None if parts is None else self._find(*parts)
        if cell is None:
            raise ConfigError(f"place {place!r}; allowed: a cell, or the id of what exists")
        return cell

    def _find(self, name: str, first: int, second: int) -> Cell | None:
        if second >= 0:
            cell = (first, second)
            is_there = name == "cell" or self.ground.name(cell) == name
            return cell if is_there and self.ground.is_inside(cell) else None
        if name == "agent":
            is_known = first < len(self.state.is_alive[0]) and self.state.is_alive[0, first]
            return tuple(self.state.agent_cell[0, first].tolist()) if is_known else None
        is_kind = self.state.creature_kind[0] == CREATURES.index(name) if name in TARGETS else None
        if is_kind is None:
            return None
        slots = (is_kind & (self.state.creature_serial[0] == first)).nonzero()[0]
        return tuple(self.state.creature_cell[0, slots[0]].tolist()) if len(slots) else None


def missing(sight: Sight, table: Table, item: str) -> dict[str, int]:
    """How much of each item of the cost of `item` the agent lacks."""
    held = sight.inventory
    uses = table.make[item].uses if item in table.make else table.place[item].uses
    return {name: count - held[name] for name, count in uses.items() if count > held[name]}


def prerequisites(sight: Sight, table: Table, item: str) -> tuple[str, ...]:
    """Items, stations and tools the agent still has to get before `item`, depth first."""
    found: list[str] = []
    _visit(sight, table, item, found, [])
    return tuple(name for name in found if name != item)


def _visit(sight: Sight, table: Table, item: str, found: list[str], path: list[str]) -> None:
    if item in found or item in path:
        return
    path = [*path, item]
    if item in STATIONS or item in table.make:
        uses = table.place[item].uses if item in STATIONS else table.make[item].uses
        for name, count in uses.items():
            if sight.inventory[name] < count:
                _visit(sight, table, name, found, path)
        for station in () if item in STATIONS else table.make[item].stations:
            if MATERIALS.index(station) not in sight.known.material:
                _visit(sight, table, station, found, path)
    else:
        source = table.source_of(item)
        if source and not holds(sight, source.tool):
            _visit(sight, table, str(source.tool), found, path)
    found.append(item)


def _name(target: str) -> str:
    parts = read_id(target)
    return parts[0] if parts else target
