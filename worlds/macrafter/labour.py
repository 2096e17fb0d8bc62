"""Plans for jobs: at most eight actions towards what one agent is to do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from primitives.navigation import UNREACHABLE
from worlds.api import Action, Cell, Json, below
from worlds.macrafter.chart import Chart
from worlds.macrafter.concepts import prerequisites
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import GRASS, STEPS, UNKNOWN
from worlds.macrafter.jobs import NO_TASK_ID, Gift, Job
from worlds.macrafter.nearest import Near, gap, goal_cells, nearest_known
from worlds.macrafter.needs import is_dangerous, margin
from worlds.macrafter.notebook import Notebook
from worlds.macrafter.recipes import Errand, prepare_items
from worlds.macrafter.sight import Sight, Thing, is_near, read_id, thing_at
from worlds.macrafter.state import cell_id
from worlds.macrafter.table import Table
from worlds.macrafter.team import Team

__all__ = ["MOST_ACTIONS", "Draft", "Labour"]

MOST_ACTIONS = 8
MEET_TRIES = 5
"""Tries of a joint collect, so that a partner may still be turning."""
SPARE_WAIT = 35
"""Steps beyond the expected meeting for which partners are waited for."""
LEAST_WAIT, MOST_WAIT = 8, 80
RESERVE = 120
"""Steps to death by hunger or thirst at which nobody waits any longer."""
SLACK = 15
"""Steps to spare before a meeting that are used to explore on the way."""
TOOLS = (("wood_pickaxe",), ("stone_pickaxe",), ("iron_pickaxe",))
"""Tools an agent makes for itself, in this order, some together."""
ARMED = (("wood_pickaxe", "wood_sword"), ("stone_sword", "stone_pickaxe"), ("iron_pickaxe",))
"""The same where something attacks."""
SLOT_DETOUR = 12
"""Price beyond the cheapest cell at which an ordered one is still taken."""
STATION_STEPS = 6
"""A known station that far is walked to; farther ones are built anew."""
MOST_SOURCES = 12
EXPLORE_START = 6
"""Price added to every way when places to explore are compared."""
TOWARDS = 0.7
"""What a step of distance from the place to explore counts beside one of the way."""
PLAIN_SHARE = 0.35
"""What unseen ground without any sign of what is sought is worth."""
LEG = 30
"""Steps for which a search for cows keeps its direction."""
LEAST_LEG = 4
"""Least way to a place where cows are looked for."""
SEEN_SHARE = 0.4
"""What grass seen before is worth beside unseen grass."""
AHEAD = 1.3
"""Factor on ground to explore that lies where the agent faces."""
CROWDED = 7
"""Distance from a teammate within which exploring is worth half."""


class Draft(NamedTuple):
    """A plan to be: task, actions, and what it is for."""

    task: str
    actions: list[Json]
    note: str


class Labour:
    """Plans of one agent at one moment."""

    def __init__(
        self,
        config: MacrafterConfig,
        table: Table,
        sight: Sight,
        chart: Chart,
        book: Notebook,
        team: Team,
    ) -> None:
        self.config, self.table, self.sight = config, table, sight
        self.chart, self.book, self.team = chart, book, team
        self.held = dict(sight.inventory)

    def draft(self, job: Job) -> Draft | None:
        """Actions for the job, gifts first; None if there is nothing it asks for to do."""
        gifts = self._gifts(job.gifts) if job.role != "make" else []
        makers = {
            "meet": self.meet,
            "make": self.make,
            "gather": self.gather,
            "explore": self.explore,
            "equip": self.equip,
        }
        rest = makers[job.role](job, MOST_ACTIONS - len(gifts)) if job.role in makers else None
        if rest is None:
            return Draft(NO_TASK_ID, gifts, "I give what is needed.") if gifts else None
        return rest._replace(actions=[*gifts, *rest.actions])

    def _gifts(self, gifts: tuple[Gift, ...]) -> list[Json]:
        actions = []
        for gift in gifts:
            count = min(gift.quantity, self.held.get(gift.item, 0), self.config.item_cap)
            if count > 0 and gift.recipient != self.sight.agent:
                actions.append(_share(gift.item, count, gift.recipient))
                self.held[gift.item] -= count
        return actions[: MOST_ACTIONS - 2]

    # --- meet ------------------------------------------------------------------------------------

    def meet(self, job: Job, room: int) -> Draft | None:
        """Go beside the task, wait for the crew, collect together."""
        parts = read_id(job.task)
        if parts is None or parts[2] < 0:
            return None
        name, cell = parts[0], (parts[1], parts[2])
        known = self.sight.known
        if not known.is_inside(cell) or known.name(cell) not in (name, "outside"):
            return None
        stand = self._stand(cell, job)
        if stand is None:
            return None
        if self._slack(job, stand) >= SLACK:
            draft = self.explore(Job("explore", cell=cell), room, self._slack(job, stand) // 3)
            if draft is not None:
                return draft._replace(note=f"I explore before we meet at {job.task}.")
        task = job.task if known.name(cell) == name else NO_TASK_ID
        note = f"I join {job.crew} at {job.task}."
        if stand == self.sight.cell:
            return Draft(task, self._act_together(job, name, cell, 0), note)
        actions, is_whole = self.chart.go(stand, room)
        if not actions:
            return None
        act = self._act_together(job, name, cell, self.chart.price(stand))
        if is_whole and len(actions) + len(act) <= room:
            actions += act
        return Draft(task, actions, note)

    def _slack(self, job: Job, stand: Cell) -> int:
        """Steps to spare until the meeting."""
        if job.by_step is None:
            return 0
        return job.by_step - self.book.step - self.chart.price(stand)

    def _stand(self, target: Cell, job: Job) -> Cell | None:
        """Where to stand: the ordered slot unless another that nobody else has is much nearer."""
        beside, slot = self.chart.beside(target), job.cell
        beside = [pair for pair in beside if pair[1] not in job.others] or beside
        if self.sight.cell in [cell for _, cell in beside] or gap(self.sight.cell, target) == 1:
            return self.sight.cell
        if not beside:
            return None
        prices = {cell: price for price, cell in beside}
        if slot is not None and prices.get(slot, UNREACHABLE) <= beside[0][0] + SLOT_DETOUR:
            return slot
        return beside[0][1]

    def _act_together(self, job: Job, name: str, cell: Cell, arrival: int) -> list[Json]:
        is_known = self.sight.known.name(cell) == name
        target = job.task if is_known else cell_id("cell", cell)
        word = job.task if is_known else self.table.collect[name].gives
        meet = {"verb": "rendezvous", "target": target, "count": job.crew}
        meet["timeout"] = self._patience(job, arrival)
        tries = MEET_TRIES if job.crew > 1 else 1
        collect = {"verb": "collect", "target": word, "steps": tries}
        return [meet, collect] if job.crew > 1 else [collect]

    def _patience(self, job: Job, arrival: int) -> int:
        if job.by_step is None:
            return LEAST_WAIT
        spare = job.by_step - self.book.step - arrival + SPARE_WAIT
        return max(min(spare, MOST_WAIT, self._lasting() - arrival), LEAST_WAIT)

    def _lasting(self) -> int:
        """Steps for which nothing but the job needs to be thought of."""
        if not self.config.vitals:
            return MOST_WAIT
        return min(margin(self.sight.inventory, name) - RESERVE for name in ("food", "drink"))

    # --- gather ----------------------------------------------------------------------------------

    def gather(self, job: Job, room: int) -> Draft | None:
        """Collect what is asked for, then give it to the client."""
        for item, count in job.items:
            row = self.table.source_of(item)
            if row is None or (row.tool is not None and not self.held.get(row.tool)):
                continue
            missing = count - self.held.get(item, 0)
            if missing <= 0:
                continue
            draft = self._gather(row.source, item, missing, job, room)
            return draft or self.explore(Job("explore", items=((row.source, 1),)), room)
        return None

    def _gather(self, source: str, item: str, missing: int, job: Job, room: int) -> Draft | None:
        known, reach = self.sight.known, self.config.reach
        spare = room - (job.client is not None)
        actions: list[Json] = []
        at, taken, got = self.sight.cell, set(), 0
        while got < missing:
            near = nearest_known(known, at, source, reach, MOST_SOURCES)
            fresh = [entry for entry in near if entry.thing.cell not in taken]
            fresh = [entry for entry in fresh if entry.steps < UNREACHABLE]
            fresh = [entry for entry in fresh if not self.chart.fences[entry.thing.cell]]
            fresh = [entry for entry in fresh if not self._is_anothers(entry)] or fresh
            if not fresh:
                break
            thing, steps = fresh[0]
            step = [] if not steps else [{"verb": "navigate", "target": thing.id}]
            step.append({"verb": "collect", "target": thing.id})
            if len(actions) + len(step) > spare:
                break
            actions += step
            taken.add(thing.cell)
            at = self._end(at, thing)
            got += self.table.collect[source].amount
        if not actions:
            return self._dig_for(source, room)
        if got >= missing and job.client is not None:
            total = min(self.held.get(item, 0) + got, self.config.item_cap)
            actions.append(_share(item, total, job.client))
        task = next(a["target"] for a in actions if a["verb"] == "collect")
        return Draft(task, actions, f"I gather {item}.")

    def _is_anothers(self, near: Near) -> bool:
        """Whether a teammate in view is nearer to the thing."""
        mine = (gap(self.sight.cell, near.thing.cell), self.sight.agent)
        return any(
            (gap(cell, near.thing.cell), agent) < mine for agent, cell in self.sight.others()
        )

    def _end(self, at: Cell, thing: Thing) -> Cell:
        field = self.sight.known.field((at,))
        goals = goal_cells(self.sight.known, thing, self.config.reach)
        return min(goals, key=lambda cell: (int(field[cell]), cell))

    def _dig_for(self, source: str, room: int) -> Draft | None:
        """A source that no walk leads to, by digging."""
        known = self.sight.known
        best: tuple[int, Cell, Cell] | None = None
        for cell in known.cells_of(source):
            for price, stand in self.chart.beside(cell)[:1]:
                if best is None or (price, cell) < best[:2]:
                    best = (price, cell, stand)
        if best is None:
            return None
        actions, is_whole = self.chart.go(best[2], room - 1)
        target = thing_at(known, source, best[1]).id
        if is_whole:
            actions.append({"verb": "collect", "target": target})
        return Draft(target, actions, f"I go for {target}.") if actions else None

    # --- make ------------------------------------------------------------------------------------

    def make(self, job: Job, room: int) -> Draft | None:
        """Give spare tools, then make what is wanted and give it away."""
        actions: list[Json] = []
        recipients = {tool: self._recipients(job, tool) for tool, _ in job.items}
        for tool, count in job.items:
            stations = self.table.make[tool].stations
            uses = self.table.make[tool].uses
            made = 0
            while made < count and all(self.held[item] >= units for item, units in uses.items()):
                step = self._reach_stations(stations, actions)
                if step is None or len(actions) + len(step) + 1 > room:
                    break
                actions += [*step, {"verb": "craft", "item": tool}]
                for item, units in uses.items():
                    self.held[item] -= units
                self.held[tool] += 1
                made += 1
            for agent in recipients[tool]:
                if self.held[tool] > 1 and len(actions) < room:
                    actions.append(_share(tool, 1, agent))
                    self.held[tool] -= 1
        if not actions:
            return None
        for gift in job.gifts:
            if gift.item == "stone" and self.held["stone"] and len(actions) < room:
                actions.append(_share("stone", 1, gift.recipient))
                self.held["stone"] -= 1
        return Draft(NO_TASK_ID, actions, "I make tools for the team.")

    def _recipients(self, job: Job, tool: str) -> list[int]:
        named = [gift.recipient for gift in job.gifts if gift.item == tool]
        return named or [a for a in self.team.supplies.lacking(tool) if a != self.sight.agent]

    def _reach_stations(self, stations: tuple[str, ...], before: list[Json]) -> list[Json] | None:
        """Actions after which all stations stand near; None if that cannot be had."""
        steps: list[Json] = []
        for station in stations:
            placed = {"verb": "place", "object": station} in before
            if placed or is_near(self.sight, station):
                continue
            known = self.sight.known
            near = nearest_known(known, self.sight.cell, station, self.config.reach, 1)
            if near and near[0].steps <= STATION_STEPS:
                target = {"verb": "navigate", "target": near[0].thing.id}
                if target not in before:
                    steps.append(target)
                continue
            uses = self.table.place[station].uses
            if any(self.held[item] < units for item, units in uses.items()):
                return None
            for item, units in uses.items():
                self.held[item] -= units
            steps += [*self._make_room(station), {"verb": "place", "object": station}]
        return steps

    def _make_room(self, station: str) -> list[Json]:
        """What it takes before a station can be placed beside the agent: nothing, or digging."""
        sight, on = self.sight, self.table.place[station].on
        if sight.known.name(sight.faced()) in on and sight.faced() not in sight.things:
            return []
        for direction in range(4):
            cell = sight.faced(direction)
            beyond = (2 * cell[0] - sight.cell[0], 2 * cell[1] - sight.cell[1])
            if sight.is_free(cell) and sight.is_free(beyond):
                return []
        for direction in range(4):
            cell = sight.faced(direction)
            if sight.known.name(cell) in self.chart.diggable:
                target = cell_id(sight.known.name(cell), cell)
                return [{"verb": "collect", "target": target, "steps": 1}]
        return self._open_ground()

    def _open_ground(self) -> list[Json]:
        """Walk to the nearest place with two free cells in a row beside it."""
        known, field = self.sight.known, self.sight.known.field((self.sight.cell,))
        walk = known.is_walkable
        wide = np.zeros(walk.shape, np.bool_)
        wide[2:] |= walk[1:-1] & walk[:-2]
        wide[:, 2:] |= walk[:, 1:-1] & walk[:, :-2]
        steps = np.where(wide & walk & (field > 0), field, UNREACHABLE)
        row, column = np.unravel_index(int(steps.argmin()), steps.shape)
        if steps[row, column] == UNREACHABLE:
            return []
        return [{"verb": "navigate", "target": cell_id("cell", (int(row), int(column)))}]

    # --- equip -----------------------------------------------------------------------------------

    def equip(self, job: Job, room: int) -> Draft | None:
        """Make the next tools for oneself; what is not known of for them is looked for."""
        for tools in ARMED if is_dangerous(self.config) else TOOLS:
            missing = [tool for tool in tools if tool in self.table.make and not self.held[tool]]
            if not missing:
                continue
            errand = Errand(self.config, self.table, self.sight)
            if prepare_items(errand, missing) is None:
                actions = [_as_json(action) for action in errand.actions[:room]]
                return Draft(NO_TASK_ID, actions, f"I make a {missing[0]}.")
            wanted = [name for name in self._sources_for(missing[0]) if not self.chart.has(name)]
            if wanted:
                return self.explore(Job("explore", items=((wanted[0], 1),)), room)
        return self.explore(Job("explore"), room)

    def _sources_for(self, tool: str) -> list[str]:
        """Sources for one that the tool and what it needs are made of, the first needed first."""
        items = [*prerequisites(self.sight, self.table, tool), tool]
        rows = (self.table.source_of(item) for item in items)
        return [row.source for row in rows if row is not None and row.agents == 1]

    # --- explore ---------------------------------------------------------------------------------

    def explore(self, job: Job, room: int, most: int = UNREACHABLE) -> Draft | None:
        """Go where most unseen ground of the right kind comes into view for the way.

        most: price of the way that is not to be exceeded.
        """
        cell = self._frontier(job, most)
        if cell is None:
            return None
        is_needy = job.items and job.items[0][0] in ("cow", "water")
        actions = self.chart.stroll(cell) if is_needy else self.chart.go(cell, room)[0]
        return Draft(NO_TASK_ID, actions, "I explore.") if actions else None

    def _frontier(self, job: Job, most: int) -> Cell | None:
        chart, known = self.chart, self.sight.known
        price = chart.field
        is_open = (known.material != UNKNOWN) & (price > 0) & (price < UNREACHABLE)
        is_open &= (chart.unseen > 0) & (price <= most)
        if not is_open.any():
            return None
        kind = job.items[0][0] if job.items else "iron"
        way = price + TOWARDS * self._beyond(job.cell) + float(EXPLORE_START)
        score = chart.unseen * (PLAIN_SHARE + chart.likely(kind)) / way
        return self._best(is_open, score * self._elbow_room() * self._ahead())

    def _ahead(self) -> np.ndarray:
        """[H, W] factor, more for what lies ahead: who looks round often does not turn back."""
        (row, column), (down, right) = self.sight.cell, STEPS[self.sight.facing]
        rows, columns = np.ogrid[: self.sight.known.rows, : self.sight.known.columns]
        is_ahead = (rows - row) * down + (columns - column) * right > 0
        factor: np.ndarray = np.where(is_ahead, AHEAD, 1.0)
        return factor

    def pasture(self, room: int) -> Draft | None:
        """Look for cows: over grass that is out of view, unseen best, in legs of one direction."""
        chart, known, (top, left, bottom, right) = self.chart, self.sight.known, self.sight.window
        grass = known.material == GRASS
        grass[top : bottom + 1, left : right + 1] = False
        worth = chart.unseen * chart.likely("cow") + SEEN_SHARE * chart.around(grass)
        price = chart.field
        is_open = known.is_walkable & (price >= LEAST_LEG) & (price < UNREACHABLE)
        if not is_open.any():
            return None
        way = price + TOWARDS * self._beyond(self._leg(grass)) + float(EXPLORE_START)
        cell = self._best(is_open, worth / way * self._elbow_room())
        actions = chart.stroll(cell)
        return Draft(NO_TASK_ID, actions, "I look for a cow.") if actions else None

    def _leg(self, grass: np.ndarray) -> Cell | None:
        """Where a leg of the search leads to; it changes every so often, and with the agent."""
        field = self.chart.field
        cells = np.argwhere(grass & (field >= LEG // 2) & (field <= 2 * LEG))
        if not len(cells):
            return None
        turn = below(len(cells), 0, "planner", self.sight.agent, self.book.step // LEG)
        row, column = cells[turn].tolist()
        return row, column

    def _best(self, is_open: np.ndarray, score: np.ndarray) -> Cell:
        row, column = np.unravel_index(int(np.where(is_open, score, -1.0).argmax()), score.shape)
        return int(row), int(column)

    def _beyond(self, towards: Cell | None) -> np.ndarray:
        """[H, W] distance of each cell from `towards`, 0 without one."""
        shape = self.sight.known.material.shape
        if towards is None:
            return np.zeros(shape)
        rows, columns = np.ogrid[: shape[0], : shape[1]]
        distance: np.ndarray = abs(rows - towards[0]) + abs(columns - towards[1])
        return distance

    def _elbow_room(self) -> np.ndarray:
        """[H, W] factor, half near teammates."""
        shape = self.sight.known.material.shape
        rows, columns = np.ogrid[: shape[0], : shape[1]]
        factor = np.ones(shape)
        for _, cell in self.team.mates_seen():
            distance = abs(rows - cell[0]) + abs(columns - cell[1])
            factor = np.where(distance < CROWDED, factor * 0.5, factor)
        return factor


def _as_json(action: Action) -> Json:
    return {"verb": action.verb, **action.args}


def _share(item: str, count: int, recipient: int) -> Json:
    return {"verb": "share", "recipient": f"agent_{recipient}", "item": item, "quantity": count}
