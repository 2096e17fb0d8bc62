"""The team as one of it knows it: where the others are, what they hold, who is fit for work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from worlds.api import AgentId, Cell
from worlds.macrafter.chart import Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import UNKNOWN, neighbours
from worlds.macrafter.jobs import Job
from worlds.macrafter.nearest import gap, nearest_known
from worlds.macrafter.needs import MEETING_SPARE, SLEEPY, margins_of, pressing
from worlds.macrafter.notebook import Notebook
from worlds.macrafter.sight import Sight, read_id
from worlds.macrafter.state import VITAL_CAP
from worlds.macrafter.table import Table

__all__ = ["PICKAXES", "PRIZE", "Crew", "Jobs", "Mate", "Site", "is_busy"]

PICKAXES = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")
PRIZE = "diamond"
"""What all the tools lead to; before the first one, other tasks are done in passing only."""
DETOUR = 1.3
"""Steps of a way in terms of its Manhattan distance, where the ground is not known."""
SURE_STEPS = 5
"""Steps added to such an estimate where a way is at least priced."""
SILENT_STEPS = 150
"""Steps without a word after which a mate is taken to be gone."""
TOLD_STEPS = 320
"""Steps for which a told source is believed to be there."""
HUNGRY, HUNT_STEPS = 5, 35
"""Food at which an agent is told of cows, and how far away they may be."""
SLEEP_STEPS = 11
"""Steps asleep for a unit of energy."""
MOST_SITES = 12
STANDABLE = ("grass", "sand", "path", "stone", "tree")
"""Ground beside a source that can be stood on, perhaps after digging."""

Jobs = dict[AgentId, Job]


class Mate(NamedTuple):
    """One of the team: where it was last known to be and what it held then."""

    agent: AgentId
    cell: Cell | None
    holdings: Mapping[str, int]
    step: int


class Site(NamedTuple):
    """A source, known or told."""

    id: str
    kind: str
    cell: Cell


def is_busy(jobs: Jobs, agent: AgentId) -> bool:
    """Whether the agent has more to do than to give something away."""
    return agent in jobs and jobs[agent].role != "free"


class Crew:
    """The team in the eyes of one agent."""

    def __init__(
        self, config: MacrafterConfig, table: Table, sight: Sight, chart: Chart, book: Notebook
    ) -> None:
        self.config, self.table = config, table
        self.sight, self.chart, self.book = sight, chart, book
        self.me = sight.agent

    # --- who -------------------------------------------------------------------------------------

    @cached_property
    def mates(self) -> dict[AgentId, Mate]:
        """All of the team that are not known to be gone, this agent included."""
        seen = dict(self.sight.others())
        found = {}
        for agent in range(self.book.agents):
            if agent == self.me:
                found[agent] = Mate(agent, self.sight.cell, self.sight.inventory, self.book.step)
            elif agent not in self.book.gone and not self._is_silent(agent):
                found[agent] = self._mate(agent, seen.get(agent))
        return found

    def _is_silent(self, agent: AgentId) -> bool:
        """Whether a mate that used to speak has not done so for longer than a sleep."""
        word = self.book.words.get(agent)
        return word is not None and self.book.step - word.step > SILENT_STEPS

    def _mate(self, agent: AgentId, seen: Cell | None) -> Mate:
        word = self.book.words.get(agent)
        if word is None:
            return Mate(agent, seen, {}, -1)
        return Mate(agent, seen or word.cell, word.holdings or {}, word.step)

    @cached_property
    def asked(self) -> frozenset[AgentId]:
        """Those who can be given another job now."""
        return frozenset([*(self.book.context.get("workers") or ()), self.me])

    @cached_property
    def fit(self) -> list[Mate]:
        """Those who are not asleep, hungry, thirsty or tired by now, as far as known."""
        return [mate for mate in self.mates.values() if mate.agent not in self.unfit]

    @cached_property
    def unfit(self) -> frozenset[AgentId]:
        """The others of the team."""
        return frozenset(agent for agent in self.mates if self._is_unfit(agent))

    def _is_unfit(self, agent: AgentId) -> bool:
        if not self.config.vitals:
            return False
        vitals, elapsed = dict(self.sight.inventory), 0
        if agent != self.me:
            word = self.book.words.get(agent)
            if word is None or word.vitals is None:
                return False
            vitals, elapsed = dict(word.vitals), self.book.step - word.step
            if vitals["energy"] <= SLEEPY and elapsed >= _nap(vitals["energy"]):
                return False
        elif self.sight.is_asleep:
            return True
        left = self.config.max_steps - self.book.step
        margins = margins_of(self.config, self.sight)
        return bool(pressing(vitals, margins, left, elapsed, MEETING_SPARE))

    def prey(self, agent: AgentId) -> Cell | None:
        """For a hungry mate the nearest place where a cow was seen."""
        mate, word = self.mates[agent], self.book.words.get(agent)
        if agent == self.me or mate.cell is None or word is None or word.vitals is None:
            return None
        if word.vitals["food"] > HUNGRY:
            return None
        start = mate.cell
        near = [cell for cell in self.book.cows if gap(cell, start) <= HUNT_STEPS]
        return min(near, key=lambda cell: (gap(cell, start), cell), default=None)

    def total(self, item: str) -> int:
        """Units of an item in the whole team, as far as known."""
        return sum(mate.holdings.get(item, 0) for mate in self.mates.values())

    # --- where -----------------------------------------------------------------------------------

    def arrival(self, mate: Mate, target: Cell) -> float:
        """Steps until the mate stands beside `target`; infinite if that is not known."""
        if mate.cell is None:
            return float("inf")
        straight = max(0, gap(mate.cell, target) - 1) * DETOUR
        if mate.agent != self.me:
            return straight
        beside = self.chart.beside(target)
        return min(float(beside[0][0]), straight + SURE_STEPS) if beside else float("inf")

    def nearest(self, mate: Mate, source: str) -> float:
        """Steps of the mate to the nearest source of that kind, infinite if none is known."""
        arrivals = (self.arrival(mate, site.cell) for site in self.sites(source))
        return min(arrivals, default=float("inf"))

    def sites(self, kind: str) -> list[Site]:
        """Known and told cells of a source."""
        known = self.sight.known
        near = nearest_known(known, self.sight.cell, kind, self.config.reach, MOST_SITES)
        found = {entry.thing.id: Site(entry.thing.id, kind, entry.thing.cell) for entry in near}
        for id, step in self.book.told.items():
            name, row, column = read_id(id) or ("", 0, -1)
            if name != kind or column < 0 or not known.is_inside((row, column)):
                continue
            if known.material[row, column] == UNKNOWN and step > self.book.step - TOLD_STEPS:
                found[id] = Site(id, kind, (row, column))
        return list(found.values())

    def room(self, site: Site) -> list[Cell]:
        """Cells beside a site that can be stood on, perhaps after digging; unseen ones count."""
        known = self.sight.known
        inside = (cell for cell in neighbours(site.cell) if known.is_inside(cell))
        return [
            cell
            for cell in inside
            if known.material[cell] == UNKNOWN or known.name(cell) in STANDABLE
        ]


def _nap(energy: int) -> int:
    return SLEEP_STEPS * (VITAL_CAP - energy)
