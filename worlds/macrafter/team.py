"""Who does what: parts for a team, as far as one of it knows where all are and what they hold.

The order of work: tasks that can be done now, by worth over the slowest arrival; then tools, made
by one for all where gifts reach everybody; the rest explore, each in a direction of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.macrafter.chart import Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import UNKNOWN, neighbours
from worlds.macrafter.jobs import NO_TASK_ID, Gift, Job, read_job
from worlds.macrafter.nearest import gap, nearest_known
from worlds.macrafter.needs import BOLD, MEETING_SPARE, SLEEPY, Margins, pressing
from worlds.macrafter.notebook import TRUST_STEPS, Notebook, part_of
from worlds.macrafter.sectors import centres, seen_share
from worlds.macrafter.sight import Sight, holds, read_id
from worlds.macrafter.state import ITEMS, MATERIALS, VITAL_CAP, VITALS
from worlds.macrafter.table import Table

__all__ = ["Mate", "Site", "Team"]

POOLING_TEAM = 8
"""Up to this team one agent makes the tools of all; in a larger one each makes its own."""
PICKAXES = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")
PRIZE = "diamond"
"""What all the tools lead to; before the first one, other tasks are done in passing only."""
MEET_PRICE = 6
"""Steps added to the slowest arrival when tasks are compared."""
DETOUR = 1.3
"""Steps of a way in terms of its Manhattan distance, where the ground is not known."""
SURE_STEPS = 5
"""Steps added to such an estimate where a way is at least priced."""
ANCHORED_BONUS = 8.0
"""Factor on the value of a task to which somebody went who cannot be told otherwise now."""
COMMITTED_BONUS = 2.0
"""Factor on the value of a task to which somebody is already on the way."""
WANTED_BONUS = 2.0
"""Factor on the value of a task that gives what tools still need."""
NEAR_CREW = 4
"""An agent that arrives at most so much later than the crew joins it where all are credited."""
NEAR_MEETING, PASSING_MEETING, FAR_MEETING = 12, 5, 90
"""Steps to the slowest arrival up to which a task is taken on: while tools up to stone are
missing; while iron ones are, and the task gives nothing for them; at most."""
LEAST_RATE = 10
"""Points a step of the slowest arrival below which a task is left for exploring."""
SILENT_STEPS = 150
"""Steps without a word after which a mate is taken to be gone."""
HUNGRY, HUNT_STEPS = 5, 35
"""Food at which an agent is told of cows, and how far away they may be."""
SLEEP_STEPS = 11
"""Steps asleep for a unit of energy."""
CLOSE_STEPS = 10
"""Steps to a source up to which the maker gathers on before it makes anything."""
UNITS_A_HAND = 3
"""Units of wood for which one more goes gathering."""
AVOID_STEPS = 20
"""Steps for which a task is left alone after a try at it failed."""
RECENT_STEPS, SLOW_DETOUR = 12, 1.6
"""Somebody sent to a task is waited for so many steps beyond so many times its distance."""
MEET_FAILURES = ("timeout", "too_few_participants", "no_path")
SIDE_JOB = 10
"""Steps beyond twice its own that must be left before a meeting for another in between."""
KIT_STEPS = 12
"""Distance to known stone from which on a mate is given one, to cross water with."""
MAKING_STEPS = 15
"""Steps the making of tools is taken to last on, when others are sent ahead."""
MOST_SITES = 12
TABLE_STEPS = 6
"""A known station that far is walked to; farther ones are built anew."""
SECTOR_START = 10
"""Steps added to the way to a sector when sectors are compared."""
ELBOW_ROOM = 15
"""Least distance between the sectors of two explorers."""
ROCK_REACH = 12
"""Distance from told rock at which a sector is taken to be rocky."""


ROCK = [MATERIALS.index(name) for name in ("stone", "coal", "iron", "diamond", "lava")]


class Mate(NamedTuple):
    """One of the team: where it was last known to be and what it held then."""

    agent: AgentId
    cell: Cell | None
    holdings: Mapping[str, int]
    step: int


class Site(NamedTuple):
    """A source that takes several agents."""

    id: str
    kind: str
    cell: Cell


class Team:
    """The team in the eyes of one agent."""

    def __init__(
        self, config: MacrafterConfig, table: Table, sight: Sight, chart: Chart, book: Notebook
    ) -> None:
        self.config, self.table = config, table
        self.sight, self.chart, self.book = sight, chart, book
        self.me = sight.agent
        self.margins: Margins = BOLD

    # --- who and where ---------------------------------------------------------------------------

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
    def is_pooling(self) -> bool:
        """Whether one makes the tools of all: gifts reach everybody and the team is small."""
        return self.config.share_radius is None and 1 < self.book.agents <= POOLING_TEAM

    def arrival(self, mate: Mate, target: Cell) -> float:
        """Steps until the mate stands beside `target`; infinite if that is not known."""
        if mate.agent == self.me:
            beside = self.chart.beside(target)
            straight = max(0, gap(self.sight.cell, target) - 1) * DETOUR + SURE_STEPS
            return min(float(beside[0][0]), straight) if beside else float("inf")
        if mate.cell is None:
            return float("inf")
        return max(0, gap(mate.cell, target) - 1) * DETOUR

    @cached_property
    def asked(self) -> frozenset[AgentId]:
        """Those who can be given another job now."""
        return frozenset([*(self.book.context.get("workers") or ()), self.me])

    @cached_property
    def unfit(self) -> frozenset[AgentId]:
        """Those who are asleep, hungry, thirsty or tired by now, as far as known."""
        left = self.config.max_steps - self.book.step
        found = set()
        for agent in self.mates:
            word = self.book.words.get(agent)
            if agent == self.me:
                vitals, elapsed = dict(self.sight.inventory), 0
            elif word is None or word.vitals is None:
                continue
            else:
                vitals, elapsed = dict(word.vitals), self.book.step - word.step
                if vitals["energy"] <= SLEEPY and elapsed >= self._nap(vitals["energy"]):
                    continue
            if pressing(vitals, self.margins, left, elapsed, MEETING_SPARE):
                found.add(agent)
        if self.sight.is_asleep:
            found.add(self.me)
        return frozenset(found) if self.config.vitals else frozenset()

    def prey(self, agent: AgentId) -> Cell | None:
        """For a hungry mate the nearest place where a cow was seen."""
        mate, word = self.mates[agent], self.book.words.get(agent)
        if agent == self.me or mate.cell is None or word is None or word.vitals is None:
            return None
        if word.vitals["food"] > HUNGRY:
            return None
        near = [cell for cell in self.book.cows if gap(cell, mate.cell) <= HUNT_STEPS]
        return min(near, key=lambda cell: (gap(cell, mate.cell or cell), cell), default=None)

    def _nap(self, energy: int) -> int:
        return SLEEP_STEPS * (VITAL_CAP - energy)

    # --- where things are ------------------------------------------------------------------------

    def sites(self, kind: str) -> list[Site]:
        """Known and told cells of a source, those that are known to be used up left out."""
        known = self.sight.known
        near = nearest_known(known, self.sight.cell, kind, self.config.reach, MOST_SITES)
        found = {entry.thing.id: Site(entry.thing.id, kind, entry.thing.cell) for entry in near}
        for id, step in self.book.told.items():
            name, row, column = read_id(id) or ("", 0, -1)
            if name != kind or column < 0 or not known.is_inside((row, column)):
                continue
            if known.material[row, column] == UNKNOWN and step > self.book.step - TRUST_STEPS * 4:
                found[id] = Site(id, kind, (row, column))
        return list(found.values())

    def room(self, site: Site) -> list[Cell]:
        """Cells beside a site that can be stood on, perhaps after digging; unseen ones count."""
        open_names = ("grass", "sand", "path", "stone", "tree")
        known = self.sight.known
        inside = (cell for cell in neighbours(site.cell) if known.is_inside(cell))
        return [
            cell
            for cell in inside
            if known.material[cell] == UNKNOWN or known.name(cell) in open_names
        ]

    # --- tasks for several -----------------------------------------------------------------------

    def capable(self, kind: str) -> list[Mate]:
        """Those of the team that are known to hold the tool."""
        tool = self.table.collect[kind].tool
        return [mate for mate in self._fit if tool is None or mate.holdings.get(tool)]

    @property
    def _fit(self) -> list[Mate]:
        return [mate for mate in self.mates.values() if mate.agent not in self.unfit]

    def meetings(self) -> list[tuple[float, Site, list[tuple[float, Mate]]]]:
        """(value, site, crew with arrivals) of what can be done together now, best first."""
        found = []
        for kind, row in self.table.collect.items():
            able = self.capable(kind) if row.base_score and row.agents > 1 else []
            if len(able) < row.agents:
                continue
            for site in self.sites(kind):
                meeting = self._meeting(site, able, row.agents)
                if meeting is not None:
                    found.append(meeting)
        return sorted(found, key=lambda entry: (-entry[0], entry[1].id))

    def _meeting(
        self, site: Site, able: list[Mate], need: int
    ) -> tuple[float, Site, list[tuple[float, Mate]]] | None:
        room = len(self.room(site))
        if room < need or self._is_avoided(site.id):
            return None
        sent, size = self._sent.get(site.id, (frozenset(), 0))
        ranked = sorted(
            (mate.agent not in sent, self.arrival(mate, site.cell), mate.agent, mate)
            for mate in able
        )
        crew = [(arrival, mate) for _, arrival, _, mate in ranked[: max(need, size)]]
        latest = max((arrival for arrival, _ in crew), default=float("inf"))
        if len(crew) < need or latest == float("inf"):
            return None
        if self.config.credit == "participants" and not size:
            crew += [(a, m) for _, a, _, m in ranked[need:room] if a <= latest + NEAR_CREW]
            latest = max(arrival for arrival, _ in crew)
        value = self.table.collect[site.kind].unit_score * len(crew) / (latest + MEET_PRICE)
        if sent - self.asked:
            value *= ANCHORED_BONUS
        elif sent:
            value *= COMMITTED_BONUS
        if self.table.collect[site.kind].gives in self._wanted_ores:
            value *= WANTED_BONUS
        return value, site, crew

    def _is_avoided(self, id: str) -> bool:
        """Whether it failed a short while ago, for me or a mate, and nobody was sent since."""
        return self.book.step - self._failed_at.get(id, -AVOID_STEPS) < AVOID_STEPS

    @cached_property
    def _failed_at(self) -> dict[str, int]:
        """When a joint task last failed; later orders to another make up for it."""
        found = {
            task: step
            for task, reason, step in self.book.failures(AVOID_STEPS)
            if task != NO_TASK_ID and reason in MEET_FAILURES
        }
        for agent, word in self.book.words.items():
            _, part = self.book.given(agent, word.step)
            if part is not None and part["role"] == "meet" and word.last in MEET_FAILURES:
                found[part["task"]] = max(word.step, found.get(part["task"], 0))
        for agent in self.mates:
            task = self._on_the_way(agent)
            if task is not None:
                found.pop(task, None)
        return found

    def _on_the_way(self, agent: AgentId) -> str | None:
        """The joint task a mate was sent to and should still be walking to."""
        step, part = self.book.given(agent)
        word = self.book.words.get(agent)
        if agent == self.me or part is None or part["role"] != "meet" or word is None:
            return None
        _, row, column = read_id(part["task"]) or ("", 0, -1)
        if column < 0 or word.cell is None or word.step > step:
            return None
        lasts = SLOW_DETOUR * gap(word.cell, (row, column)) + RECENT_STEPS
        return part["task"] if self.book.step - step <= lasts else None

    @cached_property
    def _sent(self) -> dict[str, tuple[frozenset[AgentId], int]]:
        """Tasks that newest orders are about: who was sent there, and the size of the crew."""
        found: dict[str, tuple[frozenset[AgentId], int]] = {}
        for agent in self.mates:
            step, part = self.book.given(agent)
            if part is None or part["role"] != "meet" or step <= self.book.step - TRUST_STEPS:
                continue
            crew, _ = found.get(part["task"], (frozenset(), 0))
            found[part["task"]] = (crew | {agent}, read_job(part, agent).crew)
        return found

    # --- tools -----------------------------------------------------------------------------------

    def total(self, item: str) -> int:
        """Units of an item in the whole team, as far as known."""
        return sum(mate.holdings.get(item, 0) for mate in self.mates.values())

    def lacking(self, tool: str) -> list[AgentId]:
        """Those of the team that are not known to hold the tool, gifts on the way counted."""
        without = [mate for mate in self.mates.values() if not mate.holdings.get(tool)]
        if self._spare(tool):
            return [mate.agent for mate in without]
        return [mate.agent for mate in without if tool not in self._sent_to(mate)]

    def _sent_to(self, mate: Mate) -> set[str]:
        """Tools that this agent was to give to a mate since the mate's last word."""
        found = set()
        for step, assignments in self.book.directives:
            part = part_of(assignments, self.me) if step >= mate.step else None
            if part is not None and step < self.book.step:
                gifts = read_job(part, self.me).gifts
                found |= {gift.item for gift in gifts if gift.recipient == mate.agent}
        return found

    @cached_property
    def wants(self) -> list[tuple[str, int]]:
        """Tools to be made for the team now, with their number, in the order of making."""
        found = []
        for tool in PICKAXES:
            count = len(self.lacking(tool)) - self._spare(tool)
            if tool == PICKAXES[-1]:
                uses = self.table.make[tool].uses
                ores = [item for item in uses if item not in ("wood", "stone")]
                count = min([count, *(self.total(item) // uses[item] for item in ores)])
            if count > 0:
                found.append((tool, count))
        return found

    def _spares(self) -> tuple[Gift, ...]:
        """Tools I hold twice, for those that are not known to have one."""
        return tuple(
            Gift(tool, 1, agent)
            for tool in PICKAXES
            for agent in self.lacking(tool)[: self._spare(tool)]
        )

    def _spare(self, tool: str) -> int:
        return max(0, self.sight.inventory[tool] - 1)

    @cached_property
    def _wanted_ores(self) -> set[str]:
        """Items of joint tasks that the missing iron pickaxes still need."""
        tool = PICKAXES[-1]
        missing = len(self.lacking(tool))
        uses = self.table.make[tool].uses
        return {
            item
            for item, count in uses.items()
            if item not in ("wood", "stone") and self.total(item) < missing * count
        }

    @cached_property
    def needs(self) -> dict[str, int]:
        """Items that making all wanted tools takes, stations included, beyond what I hold."""
        wanted: dict[str, int] = {}
        for tool, count in self.wants:
            for item, units in self.table.make[tool].uses.items():
                wanted[item] = wanted.get(item, 0) + units * count
            for station in self.table.make[tool].stations:
                if not self.has_station(station):
                    for item, units in self.table.place[station].uses.items():
                        wanted[item] = wanted.get(item, 0) + units
        if wanted.get("stone"):
            wanted["stone"] += len(self.stoneless)
        held = self.sight.inventory
        return {item: count - held[item] for item, count in wanted.items() if count > held[item]}

    @cached_property
    def stoneless(self) -> list[AgentId]:
        """Mates that hold no stone and know of none nearby; one lets them cross water."""
        return [
            agent
            for agent, mate in self.mates.items()
            if agent != self.me
            and not mate.holdings.get("stone")
            and "stone" not in self._sent_to(mate)
            and self._nearest(mate, "stone") > KIT_STEPS
        ]

    def has_station(self, station: str) -> bool:
        """Whether a station is known a few steps from here."""
        near = nearest_known(self.sight.known, self.sight.cell, station, self.config.reach, 1)
        return bool(near) and near[0].steps <= TABLE_STEPS

    # --- parts -----------------------------------------------------------------------------------

    def lead(self) -> dict[AgentId, Job]:
        """A job for everybody: what can be done now, tools, and exploring with the rest.

        While tools up to stone are still made, only tasks close by are taken on.
        """
        jobs: dict[AgentId, Job] = {}
        if not self.is_pooling:
            self._assign_meetings(jobs, FAR_MEETING)
            for agent in self.mates:
                jobs.setdefault(agent, Job("equip"))
            return jobs
        if self.wants:
            self._assign_making(jobs)
        elif spares := self._spares():
            jobs[self.me] = Job("free", gifts=spares)
        self._assign_meetings(jobs, NEAR_MEETING if self.is_equipping else FAR_MEETING)
        self._send_ahead(jobs)
        self._assign_exploring(jobs)
        return jobs

    def own_job(self) -> Job:
        """What this agent does when nobody tells it: join what can be done now, else equip."""
        jobs: dict[AgentId, Job] = {}
        self._assign_meetings(jobs, FAR_MEETING)
        return jobs.get(self.me, Job("equip"))

    @cached_property
    def is_equipping(self) -> bool:
        """Whether somebody still lacks a wood or stone pickaxe."""
        return any(tool in PICKAXES[:2] for tool, _ in self.wants)

    def _assign_meetings(self, jobs: dict[AgentId, Job], most: int) -> None:
        slack: dict[AgentId, float] = {}
        for _, site, crew in self.meetings():
            latest = max(arrival for arrival, _ in crew)
            limit = min(most, self._patience(site, len(crew)))
            if latest > limit or any(
                self._is_busy(jobs, mate.agent) and slack.get(mate.agent, 0) < 2 * latest + SIDE_JOB
                for _, mate in crew
            ):
                continue
            slots = self._slots(site, crew)
            by_step = self.book.step + ceil(latest) + MEET_PRICE
            for arrival, mate in crew:
                slack[mate.agent] = 0 if mate.agent in slack else latest - arrival
                gifts = jobs[mate.agent].gifts if mate.agent in jobs else ()
                slot = slots[mate.agent]
                jobs[mate.agent] = Job("meet", site.id, slot, (), len(crew), by_step, gifts)

    def _send_ahead(self, jobs: dict[AgentId, Job]) -> None:
        """Send the idle to where the tools that are being made will be used."""
        for tool in reversed([tool for tool, _ in self.wants]):
            kinds = [kind for kind, row in self.table.collect.items() if row.tool == tool]
            found = [
                meeting
                for kind in kinds
                if self.table.collect[kind].agents > 1
                for site in self.sites(kind)
                if (meeting := self._meeting(site, self._fit, self.table.collect[kind].agents))
            ]
            for _, site, crew in sorted(found, key=lambda entry: (-entry[0], entry[1].id))[:1]:
                self._rally(jobs, site, crew)
                return

    def _rally(self, jobs: dict[AgentId, Job], site: Site, crew: list[tuple[float, Mate]]) -> None:
        latest = max(arrival for arrival, _ in crew)
        by_step = self.book.step + ceil(latest) + MAKING_STEPS
        slots = self._slots(site, crew)
        for _, mate in crew:
            if mate.agent != self.me and not self._is_busy(jobs, mate.agent):
                gifts = jobs[mate.agent].gifts if mate.agent in jobs else ()
                slot = slots[mate.agent]
                jobs[mate.agent] = Job("meet", site.id, slot, (), len(crew), by_step, gifts)

    def _patience(self, site: Site, crew: int) -> float:
        """Steps to the slowest arrival that a task is worth."""
        row = self.table.collect[site.kind]
        if row.gives in self._wanted_ores or site.id in self._sent:
            return FAR_MEETING
        if row.gives == PRIZE:
            return FAR_MEETING
        if self.lacking(PICKAXES[-1]) or not self.total(PRIZE):
            return PASSING_MEETING
        return row.unit_score * crew / LEAST_RATE

    def _is_busy(self, jobs: dict[AgentId, Job], agent: AgentId) -> bool:
        return agent in jobs and jobs[agent].role != "free"

    def _slots(self, site: Site, crew: list[tuple[float, Mate]]) -> dict[AgentId, Cell | None]:
        """A cell beside the site for each of the crew: where it stands, was sent, or is nearest."""
        slots: dict[AgentId, Cell | None] = {}
        for _, mate in crew:
            kept = self._kept_slot(site, mate)
            if kept is not None and kept not in slots.values():
                slots[mate.agent] = kept
        for _, mate in crew:
            if mate.agent not in slots:
                room = [cell for cell in self.room(site) if cell not in slots.values()]
                slots[mate.agent] = self._nearest_slot(site, mate, room)
        return slots

    def _kept_slot(self, site: Site, mate: Mate) -> Cell | None:
        """Where the mate stands beside the site already, or goes by orders that still hold."""
        if mate.cell is not None and gap(mate.cell, site.cell) == 1:
            return mate.cell
        _, part = self.book.given(mate.agent)
        if mate.agent in self.asked or part is None or part["task"] != site.id:
            return None
        return read_job(part, mate.agent).cell

    def _nearest_slot(self, site: Site, mate: Mate, room: list[Cell]) -> Cell | None:
        if not room or mate.cell is None:
            return None
        start = mate.cell
        if mate.agent != self.me:
            return min(room, key=lambda cell: (gap(start, cell), cell))
        prices = {cell: price for price, cell in self.chart.beside(site.cell)}
        return min(room, key=lambda cell: (prices.get(cell, UNREACHABLE), cell))

    def _assign_making(self, jobs: dict[AgentId, Job]) -> None:
        """Gifts of what the maker needs, what is still to be gathered, and the making itself."""
        needs = dict(self.needs)
        for agent, mate in self.mates.items():
            if agent != self.me:
                gifts = self._gifts(mate, needs)
                if gifts and agent in jobs:
                    jobs[agent] = jobs[agent]._replace(gifts=gifts)
                elif gifts:
                    jobs[agent] = Job("free", gifts=gifts)
        if self.me not in jobs and self.wants and self._can_make():
            gifts = [
                Gift(tool, 1, agent)
                for tool, _ in self.wants
                for agent in self.lacking(tool)
                if agent != self.me
            ]
            gifts += [Gift("stone", 1, agent) for agent in self.stoneless]
            jobs[self.me] = Job("make", items=tuple(self.wants), gifts=tuple(gifts))
        self._assign_gathering(jobs, needs)

    def _can_make(self) -> bool:
        """Whether I can make all of the first wanted tool, or one when no more is near."""
        if not self.wants:
            return False
        tool, count = self.wants[0]
        if not self._lacks(tool, count):
            return True
        return not self._lacks(tool, 1) and not any(
            self._is_close(item) for item in self._lacks(tool, count)
        )

    def _lacks(self, tool: str, count: int) -> list[str]:
        """Items I hold too little of for so many tools and the stations they need."""
        wanted = {item: units * count for item, units in self.table.make[tool].uses.items()}
        for station in self.table.make[tool].stations:
            if not self.has_station(station):
                for item, units in self.table.place[station].uses.items():
                    wanted[item] = wanted.get(item, 0) + units
        held = self.sight.inventory
        return [item for item, units in wanted.items() if held[item] < units]

    def _is_close(self, item: str) -> bool:
        """Whether a source of the item that I can take alone is near me."""
        row = self.table.source_of(item)
        if row is None or row.agents > 1 or not holds(self.sight, row.tool):
            return False
        return self._nearest(self.mates[self.me], row.source) <= CLOSE_STEPS

    def _gifts(self, mate: Mate, needs: dict[str, int]) -> tuple[Gift, ...]:
        """What the mate holds of what is needed; `needs` shrinks by it."""
        gifts = []
        for item in sorted(needs, key=ITEMS.index):
            count = min(needs[item], mate.holdings.get(item, 0))
            if count > 0 and item not in VITALS:
                gifts.append(Gift(item, count, self.me))
                needs[item] -= count
        return tuple(gifts)

    def _assign_gathering(self, jobs: dict[AgentId, Job], needs: dict[str, int]) -> None:
        for item, count in sorted(needs.items(), key=lambda pair: ITEMS.index(pair[0])):
            row = self.table.source_of(item)
            if count <= 0 or row is None or row.agents > 1:
                continue
            able = [
                mate
                for mate in self.mates.values()
                if (mate.agent not in jobs or jobs[mate.agent].role == "free")
                and (row.tool is None or mate.holdings.get(row.tool))
            ]
            self._share_out(jobs, row.source, item, count, able)

    def _share_out(
        self, jobs: dict[AgentId, Job], source: str, item: str, count: int, able: list[Mate]
    ) -> None:
        """Spread `count` units: wood over several, anything else on the one nearest to it."""
        if not able:
            return
        hands = ceil(count / UNITS_A_HAND) if source == "tree" else 1
        able = sorted(able, key=lambda mate: (self._nearest(mate, source), mate.agent))[:hands]
        quota = ceil(count / len(able))
        for mate in able:
            mine = mate.agent == self.me
            units = quota + (self.sight.inventory[item] if mine else 0)
            old = jobs.get(mate.agent, Job("free"))
            jobs[mate.agent] = Job(
                "gather",
                items=((item, units),),
                gifts=old.gifts,
                client=None if mine else self.me,
            )

    def _nearest(self, mate: Mate, source: str) -> float:
        arrivals = (self.arrival(mate, site.cell) for site in self.sites(source))
        return min(arrivals, default=float("inf"))

    # --- exploring -------------------------------------------------------------------------------

    def _assign_exploring(self, jobs: dict[AgentId, Job]) -> None:
        """Everybody left goes to a sector of its own, the emptiest and nearest first."""
        idle = [a for a in self.mates if a not in jobs or jobs[a].role == "free"]
        taken: set[Cell] = set()
        for agent in idle:
            cell = self._sector_for(self.mates[agent], taken)
            gifts = jobs[agent].gifts if agent in jobs else ()
            jobs[agent] = Job("explore", cell=cell, items=self.sought(), gifts=gifts)
            if cell is not None:
                taken.add(cell)

    def sought(self) -> tuple[tuple[str, int], ...]:
        """What explorers should look for."""
        if self.needs.get("wood") and not self.sites("tree"):
            return (("tree", 1),)
        if not self.lacking(PICKAXES[-1]):
            return ((PRIZE, 1),)
        return (("iron", 1), ("coal", 1))

    def _sector_for(self, mate: Mate, taken: Iterable[Cell]) -> Cell | None:
        if mate.cell is None:
            return None
        ranked = [
            (-promise / (gap(mate.cell, cell) + SECTOR_START), cell)
            for cell, promise in self._promises.items()
            if all(gap(cell, other) > ELBOW_ROOM for other in taken)
        ]
        return min(ranked)[1] if ranked else None

    @cached_property
    def _promises(self) -> dict[Cell, float]:
        """For the middle of each sector the share that nobody is known to have seen.

        More where rock was seen or reported.
        """
        known = self.sight.known
        unseen = 1 - seen_share(known.material != UNKNOWN)
        for sectors in self.book.seen.values():
            unseen[list(sectors)] *= 0.1
        cells = centres(known)
        rock = [sum(gap(cell, other) <= ROCK_REACH for other in self._rock) for cell in cells]
        rocky = seen_share(np.isin(known.material, ROCK))
        return {
            cell: float(unseen[k]) * (1.0 + (rock[k] > 0) + float(rocky[k]))
            for k, cell in enumerate(cells)
        }

    @cached_property
    def _rock(self) -> list[Cell]:
        """Told cells of stone and ores."""
        parts = (read_id(id) for id in self.book.told)
        rocks = ("stone", "coal", "iron", "diamond")
        return [(p[1], p[2]) for p in parts if p is not None and p[0] in rocks and p[2] >= 0]


AVOID_STEPS = 15
"""Steps for which a task is left alone after an own plan for it failed."""
