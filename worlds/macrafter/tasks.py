"""What cooperation asks for: sources and creatures, things to make and to place."""

from __future__ import annotations

import numpy as np

from primitives.navigation import UNREACHABLE
from worlds.api import (
    NO_TASK,
    Action,
    AgentId,
    Cell,
    Failed,
    Json,
    Reason,
    Recipe,
    Task,
    TaskResult,
)
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import Field, Ground, ground_of
from worlds.macrafter.nearest import around
from worlds.macrafter.recipes import Errand, prepare_item, prepare_uses
from worlds.macrafter.sight import Sight, find_thing, look, read_id, source_names
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    CREATURES,
    MATERIALS,
    MacrafterState,
    cell_id,
    creature_id,
)
from worlds.macrafter.table import TARGETS, CollectRow, Table

__all__ = ["MacrafterTasks"]

OPEN_CREATURE = "cow"
"""The creature that is a task of its own."""
ACT_STEPS = 1
"""Steps of the act itself in the sum of a recipe."""
COLLECT_TRIES = 3


class MacrafterTasks:
    """The tasks of one configuration."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        scored = [name for name in source_names(config, table) if table.collect[name].base_score]
        self._is_scored = np.array([name in scored for name in MATERIALS])

    def open(self, state: MacrafterState) -> tuple[Task, ...]:
        """All source cells with a base score, then all cows, ascending number."""
        ground = ground_of(state.material[0])
        return (*self._sources(ground), *self._cows(state))

    def known(self, state: MacrafterState, agent: AgentId) -> tuple[Task, ...]:
        """Those in the agent's knowledge."""
        sight = look(self.config, state, agent)
        cows = sorted(sight.creatures(OPEN_CREATURE), key=lambda thing: thing.number)
        found = (self._creature(thing.name, thing.number, thing.cell, sight) for thing in cows)
        return (*self._sources(sight.known), *found)

    def find(self, state: MacrafterState, id: str, agent: AgentId | None = None) -> Task | None:
        """The task of that id: a source, a creature, something to make or to place.

        With `agent` it must be in its knowledge. None: closed, unknown, or not known to it.
        """
        parts = read_id(id)
        if parts is None:
            return None
        name, first, second = parts
        if second < 0:
            return self._find_creature(state, name, first, agent)
        cell = (first, second)
        ground = ground_of(state.material[0]) if agent is None else None
        if ground is None:
            sight = look(self.config, state, agent or 0)
            ground = sight.known
            thing = find_thing(sight, self.table, self.config, id)
            if thing is not None and thing.kind == "source":
                return self._source(self.table.collect[name], cell, ground)
        return self._find_on(ground, name, cell)

    def slots(self, state: MacrafterState, task: Task) -> tuple[Cell, ...]:
        """Walkable cells from which it is done."""
        ground = ground_of(state.material[0])
        if task.kind in self.table.make:
            return around(ground, task.cell)
        reach = 1 if task.number == NO_TASK else self.config.reach
        return ground.stand_cells(task.cell, reach)

    def way(self, state: MacrafterState, task: Task) -> tuple[int, int]:
        """(1, 1): a single act, and nothing is in the way."""
        return 1, 1

    def distances(self, state: MacrafterState, cells: tuple[Cell, ...]) -> Field:
        """[H, W] int32, path lengths to the nearest cell, agents ignored, or UNREACHABLE."""
        return ground_of(state.material[0]).field(tuple((row, column) for row, column in cells))

    # --- recipe ----------------------------------------------------------------------------------

    def recipe(
        self, state: MacrafterState, agent: AgentId, task: Task, slot: Cell | None = None
    ) -> Recipe | Failed:
        """The agent's share by its own knowledge, and the task and slot it is told.

        Failed `missing_tool` or `missing_items` where it knows no way to become able, `no_path`.
        """
        sight = look(self.config, state, agent)
        errand = Errand(self.config, self.table, sight)
        failure = self._prepare(errand, task)
        if failure is not None:
            return failure
        prepare, prepare_steps = tuple(errand.actions), errand.steps
        goals = self._goals(sight, task) if slot is None else ((slot[0], slot[1]),)
        steps = errand.walk(goals)
        if steps >= UNREACHABLE:
            return Failed(Reason("no_path"))
        approach = () if steps == 0 else (self._approach(sight, task, slot),)
        total = prepare_steps + steps + ACT_STEPS
        return Recipe(prepare, prepare_steps, approach, self._act(sight, task), total)

    def _prepare(self, errand: Errand, task: Task) -> Failed | None:
        if task.number == NO_TASK:
            rows = self.table.make if task.kind in self.table.make else self.table.place
            return prepare_uses(errand, rows[task.kind].uses)
        return None if task.tool is None else prepare_item(errand, task.tool)

    def _goals(self, sight: Sight, task: Task) -> tuple[Cell, ...]:
        if task.kind in self.table.make:
            return around(sight.ways, task.cell)
        reach = 1 if task.number == NO_TASK else self.config.reach
        return sight.ways.stand_cells(task.cell, reach)

    def _approach(self, sight: Sight, task: Task, slot: Cell | None) -> Action:
        if task.number != NO_TASK and find_thing(sight, self.table, self.config, task.id):
            place = {} if slot is None else {"cell": [slot[0], slot[1]]}
            return Action("navigate", {"target": task.id, **place})
        goals = self._goals(sight, task) if slot is None else ((slot[0], slot[1]),)
        field = sight.ways.field((sight.cell,))
        goal = min(goals, key=lambda cell: (int(field[cell]), cell))
        return Action("navigate", {"target": cell_id("cell", goal)})

    def _act(self, sight: Sight, task: Task) -> tuple[Action, ...]:
        if task.number == NO_TASK:
            verb, key = ("craft", "item") if task.kind in self.table.make else ("place", "object")
            return (Action(verb, {key: task.kind}),)
        is_known = find_thing(sight, self.table, self.config, task.id) is not None
        target = task.id if is_known else task.kind
        return (Action("collect", {"target": target, "steps": COLLECT_TRIES}),)

    # --- mark and result -------------------------------------------------------------------------

    def mark(self, state: MacrafterState, task: Task) -> Json:
        """What tells later whether the task went on: the target, and what the team has achieved."""
        return {
            "id": task.id,
            "kind": task.kind,
            "number": task.number,
            "cell": [task.cell[0], task.cell[1]],
            "achieved": self._achieved(state, task),
            "health": self._health(state, task.number),
        }

    def result(self, state: MacrafterState, mark: Json) -> TaskResult:
        """`done` by this team, `gone` otherwise, `advanced` when a creature was hurt, `none`."""
        name, _, second = read_id(mark["id"]) or ("", 0, 0)
        task = Task(mark["number"], mark["id"], mark["kind"], (0, 0), 1, 0.0, None)
        rose = self._achieved(state, task) > mark["achieved"]
        if second < 0:
            health = self._health(state, mark["number"])
            if health is None:
                return "done" if rose else "gone"
            return "advanced" if health < (mark["health"] or 0) else "none"
        now = MATERIALS[state.material[0][tuple(mark["cell"])]]
        if mark["number"] == NO_TASK:
            is_done = rose if mark["kind"] in self.table.make else now == name
            return "done" if is_done else "none"
        if now == name:
            is_endless = self.table.collect[name].leaves == name
            return "done" if is_endless and rose else "none"
        return "done" if rose else "gone"

    def _achieved(self, state: MacrafterState, task: Task) -> int:
        """How often this team has achieved the like of the task."""
        name = (read_id(task.id) or ("", 0, 0))[0]
        achievement = self._achievement(name, task.number == NO_TASK)
        if achievement is None:
            return 0
        return int(state.achievements[0, :, ACHIEVEMENTS.index(achievement)].sum())

    def _achievement(self, name: str, is_placed: bool) -> str | None:
        if name in self.table.make:
            return self.table.make[name].achievement
        if name in self.table.creature and not is_placed:
            return self.table.creature[name].achievement
        if is_placed:
            return self.table.place[name].achievement
        return self.table.collect[name].achievement

    def _health(self, state: MacrafterState, number: int) -> int | None:
        slot = self._slot(state, number - state.material[0].size)
        return None if slot is None else int(state.creature_health[0, slot])

    # --- tasks -----------------------------------------------------------------------------------

    def _sources(self, ground: Ground) -> tuple[Task, ...]:
        cells = np.argwhere(self._is_scored[ground.material]).tolist()
        rows = self.table.collect
        return tuple(
            self._source(rows[MATERIALS[ground.material[row, column]]], (row, column), ground)
            for row, column in cells
        )

    def _source(self, row: CollectRow, cell: Cell, ground: Ground) -> Task:
        return Task(
            cell[0] * ground.columns + cell[1],
            cell_id(row.source, cell),
            row.gives,
            cell,
            row.agents,
            row.unit_score * row.agents,
            row.tool,
        )

    def _cows(self, state: MacrafterState) -> tuple[Task, ...]:
        slots = np.flatnonzero(state.creature_kind[0] == CREATURES.index(OPEN_CREATURE))
        found = (self._creature_in(state, slot) for slot in slots.tolist())
        return tuple(sorted(found, key=lambda task: task.number))

    def _creature_in(self, state: MacrafterState, slot: int) -> Task:
        row, column = state.creature_cell[0, slot].tolist()
        number = state.material[0].size + int(state.creature_serial[0, slot])
        kind = CREATURES[state.creature_kind[0, slot]]
        return self._creature_task(kind, number, (row, column), state.material[0].size)

    def _creature(self, kind: str, number: int, cell: Cell, sight: Sight) -> Task:
        return self._creature_task(kind, number, cell, sight.known.material.size)

    def _creature_task(self, kind: str, number: int, cell: Cell, cells: int) -> Task:
        need = self.table.creature[kind].agents
        return Task(number, creature_id(kind, number - cells), kind, cell, need, 0.0, None)

    def _find_creature(
        self, state: MacrafterState, name: str, serial: int, agent: AgentId | None
    ) -> Task | None:
        slot = self._slot(state, serial) if name in TARGETS else None
        if slot is None or CREATURES[state.creature_kind[0, slot]] != name:
            return None
        task = self._creature_in(state, slot)
        if agent is not None and not look(self.config, state, agent).sees(task.cell):
            return None
        return task

    def _slot(self, state: MacrafterState, serial: int) -> int | None:
        is_alive = state.creature_kind[0] != 0
        slots = np.flatnonzero(is_alive & (state.creature_serial[0] == serial))
        return int(slots[0]) if len(slots) else None

    def _find_on(self, ground: Ground, name: str, cell: Cell) -> Task | None:
        """A source, or something to make at a station, or to place on a cell."""
        here = ground.name(cell)
        if here == name and name in source_names(self.config, self.table):
            return self._source(self.table.collect[name], cell, ground)
        if name in self.table.make and here == self.table.make[name].stations[-1]:
            make = self.table.make[name]
            return Task(NO_TASK, cell_id(name, cell), name, cell, make.agents, 0.0, None)
        if name in self.table.place and here in self.table.place[name].on:
            place = self.table.place[name]
            return Task(NO_TASK, cell_id(name, cell), name, cell, place.agents, 0.0, None)
        return None
