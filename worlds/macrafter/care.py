"""What an agent does for its own life: drink, eat, sleep."""

from __future__ import annotations

from primitives.navigation import UNREACHABLE
from worlds.api import Json
from worlds.macrafter.chart import Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.jobs import NO_TASK_ID, Job
from worlds.macrafter.labour import MOST_ACTIONS, Draft, Labour
from worlds.macrafter.nearest import nearest_known
from worlds.macrafter.needs import MEETING_SPARE, margin, margins_of, pressing
from worlds.macrafter.notebook import Notebook
from worlds.macrafter.sight import Sight
from worlds.macrafter.state import VITAL_CAP
from worlds.macrafter.table import Table

__all__ = ["Care"]

CLOSE_STEPS, CLOSE_LEVEL = 10, 6
"""Water or a cow that near is used from this level on."""
FAR_STEPS, FAR_LEVEL = 20, 4
"""The same for water that is farther, from a lower level on."""
HUNT_PRICE = 50
"""Price of the way up to which a cow is sought where it was seen."""
MOST_WATERS = 4


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
        self._ways = {"drink": self._drink, "food": self._eat, "energy": self._sleep}

    def draft(self, job: Job | None) -> Draft | None:
        """A plan for the most pressing need; None if it can wait for the job."""
        if not self.config.vitals:
            return None
        if self.sight.is_asleep:
            return self._sleep()
        spare = MEETING_SPARE if job is not None and job.role == "meet" else 0
        for name in pressing(self.items, self.margins, self.left, 0, spare):
            draft = self._ways[name]()
            if draft is not None:
                return draft
        return self._in_passing()

    def _in_passing(self) -> Draft | None:
        """Use water or a cow that is close by before the need is pressing."""
        drink = self.items["drink"]
        if drink <= CLOSE_LEVEL and margin(self.items, "drink") < self.left:
            waters = self._waters()
            if waters and waters[0][0] <= (FAR_STEPS if drink <= FAR_LEVEL else CLOSE_STEPS):
                return self._drink()
        if self.items["food"] <= CLOSE_LEVEL and margin(self.items, "food") < self.left:
            cows = self._cows()
            if cows and cows[0][0] <= CLOSE_STEPS:
                return self._eat()
        return None

    def _waters(self) -> list[tuple[int, str]]:
        near = nearest_known(
            self.sight.known, self.sight.cell, "water", self.config.reach, MOST_WATERS
        )
        return [(entry.steps, entry.thing.id) for entry in near if entry.steps < UNREACHABLE]

    def _cows(self) -> list[tuple[int, str]]:
        known = self.sight.known
        field = known.field((self.sight.cell,))
        cows = [
            (known.steps_to(field, known.stand_cells(cow.cell, 1)), cow.id)
            for cow in self.sight.creatures("cow")
        ]
        return sorted(pair for pair in cows if pair[0] < UNREACHABLE)

    def _drink(self) -> Draft | None:
        waters = self._waters()
        if not waters:
            return self._search()
        steps, id = waters[0]
        actions: list[Json] = [{"verb": "navigate", "target": id}] if steps else []
        missing = VITAL_CAP - self.items["drink"]
        count = min(missing, MOST_ACTIONS - len(actions))
        actions += [{"verb": "collect", "target": id, "steps": 1} for _ in range(count)]
        return Draft(NO_TASK_ID, actions, "I drink.")

    def _eat(self) -> Draft | None:
        cows = self._cows()
        if not cows:
            return self._hunt() or self._roam()
        return Draft(NO_TASK_ID, [{"verb": "attack", "target": cows[0][1]}], "I eat.")

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
        actions, _ = self.chart.go(near[0][0][1], MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, "I go where a cow was.") if actions else None

    def _roam(self) -> Draft | None:
        draft = self.labour.explore(Job("explore", items=(("cow", 1),)), MOST_ACTIONS)
        if draft is None:
            return self.labour.pasture(MOST_ACTIONS)
        return draft._replace(note="I look for a cow.")

    def _sleep(self) -> Draft:
        return Draft(NO_TASK_ID, [{"verb": "sleep"}], "I sleep.")

    def _search(self) -> Draft | None:
        draft = self.labour.explore(Job("explore", items=(("water", 1),)), MOST_ACTIONS)
        return draft and draft._replace(note="I look for water.")
