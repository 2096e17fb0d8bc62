"""What an agent does for its own life: drink, eat, sleep."""

from __future__ import annotations

from functools import cached_property

from primitives.navigation import UNREACHABLE
from worlds.api import Cell, Json
from worlds.macrafter.chart import Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.garden import Garden
from worlds.macrafter.generate import RIPE_AGE
from worlds.macrafter.ground import neighbours
from worlds.macrafter.guard import Guard
from worlds.macrafter.jobs import NO_TASK_ID, Job
from worlds.macrafter.labour import MOST_ACTIONS, Draft, Labour
from worlds.macrafter.nearest import nearest_known
from worlds.macrafter.needs import MEETING_SPARE, is_dangerous, margin, margins_of, pressing
from worlds.macrafter.notebook import Notebook
from worlds.macrafter.sight import Sight, Thing
from worlds.macrafter.state import VITAL_CAP, cell_id
from worlds.macrafter.table import Table

__all__ = ["Care"]

CLOSE_STEPS, CLOSE_LEVEL = 10, 6
"""Water or a cow that near is used from this level on."""
FAR_STEPS, FAR_LEVEL = 20, 4
"""The same for water that is farther, from a lower level on."""
HUNT_PRICE = 50
"""Price of the way up to which a cow is sought where it was seen."""
READY_LEVEL = 7
"""Who sits beside water, or is about to sit far from it, drinks up to that level."""
STOCK, STOCK_STEPS, FETCH_STEPS = 9, 8, 25
"""Stones that are carried where something attacks; how far they are fetched, and the first."""
DRY, HUNGRY = 3, 5
"""Drink and food at which an agent looks for more by day."""
AFTERNOON, EVENING = 70, 50
"""Steps of daylight left at which it looks for food earlier, and takes a cow on its way home."""
FOOD_STEPS, HEALTH_STEPS = 28, 17
"""Steps that a unit lasts, where one sleeps a fourth of the time."""
LEAST_HORIZON, JOB_HORIZON = 190, 280
"""Steps to death by hunger below which one leaves a house with plants, and above which for work."""
FARM_STEPS = 350
"""Steps that must be left for a plant to ripen."""
VISIT_EVERY, VISIT_FOR, VISIT_PRICE = 75, 30, 40
"""Plots are looked at in so many of so many steps, if the way is no dearer."""


class Care:
    """The needs of one agent at one moment."""

    def __init__(
        self,
        config: MacrafterConfig,
        table: Table,
        sight: Sight,
        chart: Chart,
        labour: Labour,
        book: Notebook,
    ) -> None:
        self.config, self.table, self.sight = config, table, sight
        self.chart, self.labour, self.book = chart, labour, book
        self.items = sight.inventory
        self.margins = margins_of(config, sight)
        self.left = config.max_steps - int(sight.state.step[0])
        self.garden = Garden(sight, chart)
        self.guard = Guard(config, table, sight, chart)
        self._ways = {"drink": self._drink, "food": self._eat, "energy": self._sleep}

    def draft(self, job: Job | None) -> Draft | None:
        """A plan for the most pressing need; None if it can wait for the job."""
        if self.sight.is_asleep:
            return self._sleep()
        if is_dangerous(self.config):
            return self._outlast()
        if not self.config.vitals:
            return None
        spare = MEETING_SPARE if job is not None and job.role == "meet" else 0
        for name in pressing(self.items, self.margins, self.left, 0, spare):
            draft = self._ways[name]()
            if draft is not None:
                return draft
        return self._in_passing() or self._farm()

    def _outlast(self) -> Draft | None:
        """Where something attacks: behind walls beside water by night, out for food by day."""
        guard = self.guard
        food, drink = self.items["food"], self.items["drink"]
        if guard.shelter.is_closed:
            draft = self._sip() or self._harvest_ripe() or self._sow()
            if draft is not None or guard.stays_in or not self._goes_out():
                return draft or guard.stay()
            return self._by_day()
        draft = guard.fight()
        if draft is None and food <= CLOSE_LEVEL and EVENING > guard.lasting > 0:
            draft = self._eat() if self._is_cow_close else None
        if draft is None and guard.is_homeward:
            best = guard.shelter.best
            is_dry = best is not None and not best.is_wet and guard.lasting
            if is_dry and drink < READY_LEVEL and self._is_water_within(FETCH_STEPS):
                draft = self._drink()
            draft = draft or guard.wall_in() or self._stock()
        return draft or self._shut() or self._by_day()

    def _goes_out(self) -> bool:
        """Whether one who could stay in a house goes out by day."""
        if not self.guard.shelter.plants:
            return True
        food, health = self.items["food"], self.items["health"]
        horizon = food * FOOD_STEPS + (health - 1) * HEALTH_STEPS
        if self.items["drink"] <= DRY or horizon < LEAST_HORIZON:
            return True
        if food <= HUNGRY and self._is_cow_close:
            return True
        return horizon >= JOB_HORIZON and self.guard.lasting >= EVENING

    def _by_day(self) -> Draft | None:
        """Out of doors: drink, build a house with plants, eat; None if there is time for a job."""
        if not self.config.vitals:
            return None
        guard = self.guard
        food, drink = self.items["food"], self.items["drink"]
        if not self.items["energy"] and guard.foe is None:
            return self._sleep()
        if drink <= DRY and (draft := self._drink()):
            return draft
        is_settled = guard.shelter.has_home
        if food > DRY and guard.shelter.is_good and not is_settled and not guard.shelter.is_closed:
            return guard.wall_in()
        if food <= HUNGRY + (guard.lasting < AFTERNOON) and (draft := self._eat()):
            return draft
        near = FAR_STEPS if drink <= FAR_LEVEL else CLOSE_STEPS
        if drink <= READY_LEVEL and self._is_water_within(near):
            return self._drink()
        if food <= CLOSE_LEVEL and self._is_cow_close:
            return self._eat()
        return None if is_settled else self._stock() or self._scout()

    def _scout(self) -> Draft | None:
        """With stones at hand look for a place by the water."""
        if self.items["stone"] < STOCK - 1:
            return None
        water = self._water
        if water is None or water[0] <= 2:
            return self._search()
        actions = self.chart.stroll(water[1])
        return Draft(NO_TASK_ID, actions, "I look for a place by the water.") if actions else None

    def _shut(self) -> Draft | None:
        actions = self.guard.shelter.shut(MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, "I shut the door.") if actions else None

    def _harvest_ripe(self) -> Draft | None:
        room = self.guard.shelter.floor
        ripe = [plant for _, plant in self.garden.ripe() if {*neighbours(plant.cell)} & room]
        return self._harvest(ripe[0]) if ripe and self.items["food"] <= HUNGRY else None

    def _sow(self) -> Draft | None:
        actions = self.guard.shelter.sow(MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, "I grow food.") if actions else None

    def _sip(self) -> Draft | None:
        """Drink where one sits."""
        if self.items["drink"] >= READY_LEVEL:
            return None
        here, known = self.sight.cell, self.sight.known
        for inner in sorted(self.guard.shelter.floor, key=lambda cell: (cell != here, cell)):
            for cell in neighbours(inner):
                if known.name(cell) != "water":
                    continue
                walk: list[Json] = [{"verb": "navigate", "target": cell_id("cell", inner)}]
                sip: Json = {"verb": "collect", "target": cell_id("water", cell), "steps": 1}
                sips = [sip] * (VITAL_CAP - self.items["drink"])
                actions = sips if inner == here else walk + sips
                return Draft(NO_TASK_ID, actions[:MOST_ACTIONS], "I drink where I sit.")
        return None

    def _stock(self) -> Draft | None:
        """Stones to close a shelter with, while some are near."""
        most = STOCK_STEPS if self.items["stone"] else FETCH_STEPS
        if self.items["stone"] >= STOCK:
            return None
        near = nearest_known(self.sight.known, self.sight.cell, "stone", self.config.reach, 1)
        if not near or near[0].steps > most:
            return None
        return self.labour.gather(Job("gather", items=(("stone", STOCK),)), MOST_ACTIONS)

    def _farm(self) -> Draft | None:
        """Tend plants where food has to last."""
        if not self.config.plants or self.left < FARM_STEPS:
            return None
        garden, saplings = self.garden, self.items["sapling"]
        actions = garden.fence(MOST_ACTIONS)
        if not actions and garden.missing > saplings:
            actions = garden.seek_sapling()
        elif not actions and saplings and garden.missing:
            actions = garden.plant(MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, "I grow food.") if actions else None

    def _in_passing(self) -> Draft | None:
        """Use water or a cow that is close by before the need is pressing."""
        drink = self.items["drink"]
        is_dry = drink <= CLOSE_LEVEL and margin(self.items, "drink") < self.left
        if is_dry and self._is_water_within(FAR_STEPS if drink <= FAR_LEVEL else CLOSE_STEPS):
            return self._drink()
        is_hungry = self.items["food"] <= CLOSE_LEVEL and margin(self.items, "food") < self.left
        return self._eat() if is_hungry and self._is_cow_close else None

    @cached_property
    def _water(self) -> tuple[int, Cell, Cell] | None:
        """(price, where to stand, cell) of the nearest water."""
        return self.chart.nearest("water")

    def _is_water_within(self, price: int) -> bool:
        return self._water is not None and self._water[0] <= price

    @property
    def _is_cow_close(self) -> bool:
        cows = self._cows()
        return bool(cows) and cows[0][0] <= CLOSE_STEPS

    def _cows(self) -> list[tuple[int, str]]:
        known = self.sight.known
        field = known.field((self.sight.cell,))
        cows = [
            (known.steps_to(field, known.stand_cells(cow.cell, 1)), cow.id)
            for cow in self.sight.creatures("cow")
        ]
        return sorted(pair for pair in cows if pair[0] < UNREACHABLE)

    def _drink(self) -> Draft | None:
        water = self._water
        if water is None:
            return self._search()
        _, stand, cell = water
        actions, is_whole = self.chart.go(stand, MOST_ACTIONS)
        if is_whole:
            missing = VITAL_CAP - self.items["drink"]
            sip: Json = {"verb": "collect", "target": cell_id("water", cell), "steps": 1}
            actions += [sip] * min(missing, MOST_ACTIONS - len(actions))
        return Draft(NO_TASK_ID, actions, "I drink.") if actions else None

    def _eat(self) -> Draft | None:
        cows = self._cows()
        ripe = self.garden.ripe()
        if ripe and (not cows or ripe[0][0] <= cows[0][0]):
            return self._harvest(ripe[0][1])
        if not cows:
            visit = None if is_dangerous(self.config) else self._visit()
            return visit or self._hunt() or self._roam()
        return Draft(NO_TASK_ID, [{"verb": "attack", "target": cows[0][1]}], "I eat.")

    def _harvest(self, plant: Thing) -> Draft | None:
        (_, stand), *_ = self.chart.beside(plant.cell)
        actions, is_whole = self.chart.go(stand, MOST_ACTIONS - 1)
        if is_whole:
            actions.append({"verb": "collect", "target": plant.id, "steps": 1})
        return Draft(NO_TASK_ID, actions, "I eat of the plant.") if actions else None

    def _visit(self) -> Draft | None:
        """Look after plots from time to time."""
        step = self.book.step
        if not self.config.plants or step <= RIPE_AGE or step % VISIT_EVERY >= VISIT_FOR:
            return None
        actions = self.garden.visit(VISIT_PRICE, MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, "I look after the plants.") if actions else None

    def _hunt(self) -> Draft | None:
        """Go where a cow was seen of late."""
        told = [
            (beside[0], cow)
            for cow in self.book.cows
            if not self.sight.sees(cow) and (beside := self.chart.beside(cow))
        ]
        near = sorted(entry for entry in told if entry[0][0] <= HUNT_PRICE)
        if not near:
            return None
        actions = self.chart.stroll(near[0][0][1])
        return Draft(NO_TASK_ID, actions, "I go where a cow was.") if actions else None

    def _roam(self) -> Draft | None:
        draft = self.labour.explore(Job("explore", items=(("cow", 1),)), MOST_ACTIONS)
        if draft is None:
            return self.labour.pasture(MOST_ACTIONS)
        return draft._replace(note="I look for a cow.")

    def _sleep(self) -> Draft | None:
        """Sleep; where something attacks, behind walls if there is a way to have some."""
        if not self.sight.is_asleep and not self.guard.is_safe:
            walls = self.guard.wall_in()
            if walls is not None or self.items["energy"]:
                return walls
        return Draft(NO_TASK_ID, [{"verb": "sleep"}], "I sleep.")

    def _search(self) -> Draft | None:
        draft = self.labour.explore(Job("explore", items=(("water", 1),)), MOST_ACTIONS)
        return draft and draft._replace(note="I look for water.")
