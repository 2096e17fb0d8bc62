"""Tasks that several must do together: which are worth it, who goes, and where each stands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import ceil
from typing import NamedTuple

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell
from worlds.macrafter.crew import PICKAXES, PRIZE, Crew, Jobs, Mate, Site, is_busy
from worlds.macrafter.jobs import NO_TASK_ID, Job, read_job
from worlds.macrafter.nearest import gap
from worlds.macrafter.notebook import TRUST_STEPS
from worlds.macrafter.sight import read_id
from worlds.macrafter.supplies import Supplies

__all__ = ["FAR", "NEAR", "Meeting", "Meetings"]

MEET_PRICE = 6
"""Steps added to the slowest arrival when tasks are compared."""
ANCHORED_BONUS = 8.0
"""Factor on the value of a task to which somebody went who cannot be told otherwise now."""
COMMITTED_BONUS = 2.0
"""Factor on the value of a task to which somebody is already on the way."""
WANTED_BONUS = 2.0
"""Factor on the value of a task that gives what tools still need."""
NEAR_CREW = 4
"""An agent that arrives at most so much later than the crew joins it where all are credited."""
NEAR, PASSING, FAR = 12, 5, 130
"""Steps to the slowest arrival up to which a task is taken on: while simple tools are missing;
before the first prize, for tasks that lead to no tool; at most."""
LEAST_RATE = 10
"""Points a step of the slowest arrival below which a task is left for exploring."""
AVOID_STEPS = 15
"""Steps for which a task is left alone after a try at it failed."""
RECENT_STEPS, SLOW_DETOUR = 12, 1.6
"""Somebody sent to a task is waited for so many steps beyond so many times its distance."""
FAILURES = ("timeout", "too_few_participants", "no_path")
"""Reasons for which a task is left alone for a while."""
SIDE_JOB = 10
"""Steps beyond twice its own that must be left before a meeting for another in between."""
MAKING_STEPS = 15
"""Steps the making of tools is taken to last on, when others are sent ahead."""
PARTNER_STEPS = 4
"""Steps that a partner who is still missing counts for, when tasks are begun alone."""
REST_STEPS = 40
"""Steps for which somebody tired, hungry or thirsty is taken to be held up."""
MOST_OTHERS = 4
"""Cells of partners that are told."""


class Meeting(NamedTuple):
    """A task for several, what it is worth, and who would go with the steps to arrive."""

    value: float
    site: Site
    crew: tuple[tuple[float, Mate], ...]

    @property
    def latest(self) -> float:
        """The slowest arrival."""
        return max(arrival for arrival, _ in self.crew)


class Meetings:
    """Joint tasks in the eyes of one agent."""

    def __init__(self, crew: Crew, supplies: Supplies) -> None:
        self.crew, self.supplies, self.book = crew, supplies, crew.book

    def assign(self, jobs: Jobs, most: int) -> None:
        """Give the best tasks to their crews, as long as these are free or have time before."""
        slack: dict[AgentId, float] = {}
        for meeting in self._ranked():
            limit = min(most, self._patience(meeting))
            needed = 2 * meeting.latest + SIDE_JOB
            is_held_up = any(
                is_busy(jobs, mate.agent) and slack.get(mate.agent, 0) < needed
                for _, mate in meeting.crew
            )
            if meeting.latest > limit or is_held_up:
                continue
            slots = self._slots(meeting)
            by_step = self.book.step + ceil(meeting.latest) + MEET_PRICE
            for arrival, mate in meeting.crew:
                slack[mate.agent] = 0 if mate.agent in slack else meeting.latest - arrival
                jobs[mate.agent] = self._job(meeting.site, mate.agent, slots, by_step, jobs)

    def send_ahead(self, jobs: Jobs) -> None:
        """Send the idle to where the tools that are being made will be used."""
        for tool in reversed([tool for tool, _ in self.supplies.wants]):
            meeting = self._best_with(tool)
            if meeting is None:
                continue
            slots = self._slots(meeting)
            by_step = self.book.step + ceil(meeting.latest) + MAKING_STEPS
            for _, mate in meeting.crew:
                if mate.agent != self.crew.me and not is_busy(jobs, mate.agent):
                    job = self._job(meeting.site, mate.agent, slots, by_step, jobs)
                    jobs[mate.agent] = job._replace(is_ahead=True)
            return

    def _best_with(self, tool: str) -> Meeting | None:
        """The best task that asks for a tool, as if all had it."""
        found = []
        for kind, row in self.crew.table.collect.items():
            if row.tool == tool and row.agents > 1:
                found += self._meetings(kind, self.crew.fit)
        return min(found, key=lambda meeting: (-meeting.value, meeting.site.id), default=None)

    # --- what is worth it ------------------------------------------------------------------------

    def _ranked(self) -> list[Meeting]:
        """What can be done together now, best first."""
        found = []
        for kind, row in self.crew.table.collect.items():
            if row.base_score and row.agents > 1:
                mates = self.crew.mates.values() if self._is_key(kind) else self.crew.fit
                able = [m for m in mates if not row.tool or m.holdings.get(row.tool)]
                found += self._meetings(kind, able)
        return sorted(found, key=lambda meeting: (-meeting.value, meeting.site.id))

    def _meetings(self, kind: str, able: list[Mate]) -> list[Meeting]:
        if len(able) < self.crew.table.collect[kind].agents:
            return []
        found = (self._meeting(site, able) for site in self.crew.sites(kind))
        return [meeting for meeting in found if meeting is not None]

    def _meeting(self, site: Site, able: list[Mate]) -> Meeting | None:
        row, room = self.crew.table.collect[site.kind], len(self.crew.room(site))
        if room < row.agents or self._is_avoided(site.id):
            return None
        sent, size = self._sent.get(site.id, (frozenset(), 0))
        ranked = sorted(
            (mate.agent not in sent, self._arrival(mate, site, sent), mate.agent, mate)
            for mate in able
        )
        count = max(row.agents, size)
        crew = [(arrival, mate) for _, arrival, _, mate in ranked[:count]]
        latest = max(arrival for arrival, _ in crew)
        if latest == float("inf"):
            return None
        if self.crew.config.credit == "participants" and not size:
            crew += [(a, m) for _, a, _, m in ranked[count:room] if a <= latest + NEAR_CREW]
        meeting = Meeting(0.0, site, tuple(crew))
        return meeting._replace(value=self._value(meeting, sent))

    def _is_key(self, kind: str) -> bool:
        """Whether what a source gives is needed so much that the unfit are waited for."""
        gives = self.crew.table.collect[kind].gives
        return gives in self.supplies.wanted_ores or gives == PRIZE

    def _arrival(self, mate: Mate, site: Site, sent: frozenset[AgentId]) -> float:
        """Steps until the mate is there; who was sent is on the way."""
        arrival = self.crew.arrival(mate, site.cell)
        if mate.agent in sent and mate.agent not in self.crew.asked:
            return max(arrival - (self.book.step - mate.step), MEET_PRICE)
        return arrival

    def _value(self, meeting: Meeting, sent: frozenset[AgentId]) -> float:
        row = self.crew.table.collect[meeting.site.kind]
        delay = REST_STEPS * any(mate.agent in self.crew.unfit for _, mate in meeting.crew)
        value = row.unit_score * len(meeting.crew) / (meeting.latest + delay + MEET_PRICE)
        if sent - self.crew.asked:
            value *= ANCHORED_BONUS
        elif sent:
            value *= COMMITTED_BONUS
        return value * WANTED_BONUS if row.gives in self.supplies.wanted_ores else value

    def _patience(self, meeting: Meeting) -> float:
        """Steps to the slowest arrival that a task is worth."""
        row = self.crew.table.collect[meeting.site.kind]
        if self._is_key(meeting.site.kind) or meeting.site.id in self._sent:
            return FAR
        if self.supplies.lacking(PICKAXES[-1]) or not self.crew.total(PRIZE):
            return PASSING
        return row.unit_score * len(meeting.crew) / LEAST_RATE

    # --- what was tried --------------------------------------------------------------------------

    def _is_avoided(self, id: str) -> bool:
        """Whether it failed a short while ago, for me or a mate, and nobody is on the way."""
        return self.book.step - self._failed_at.get(id, -AVOID_STEPS) < AVOID_STEPS

    @cached_property
    def _failed_at(self) -> dict[str, int]:
        """When a joint task last failed; one to which a mate is on the way has not."""
        found = {
            task: step
            for task, reason, step in self.book.failures(AVOID_STEPS)
            if task != NO_TASK_ID and reason in FAILURES
        }
        for agent, word in self.book.words.items():
            _, part = self.book.given(agent, word.step)
            has_failed = word.is_asking and word.last in FAILURES
            if has_failed and part is not None and part["role"] == "meet":
                found[part["task"]] = max(word.step, found.get(part["task"], 0))
        for agent in self.crew.mates:
            found.pop(self._goal_of(agent) or "", None)
        return found

    def _goal_of(self, agent: AgentId) -> str | None:
        """The joint task a mate was sent to, while it says or is taken to be on the way."""
        step, part = self.book.given(agent)
        word = self.book.words.get(agent)
        if agent == self.crew.me or part is None or part["role"] != "meet" or word is None:
            return None
        _, row, column = read_id(part["task"]) or ("", 0, -1)
        if column < 0 or word.cell is None:
            return None
        if word.step > step and (word.is_asking or word.task != part["task"]):
            return None
        lasts = SLOW_DETOUR * gap(word.cell, (row, column)) + RECENT_STEPS
        return part["task"] if self.book.step - max(step, word.step) <= lasts else None

    @cached_property
    def _sent(self) -> dict[str, tuple[frozenset[AgentId], int]]:
        """Tasks that newest orders are about: who was sent there, and the size of the crew."""
        found: dict[str, tuple[frozenset[AgentId], int]] = {}
        for agent in self.crew.mates:
            step, part = self.book.given(agent)
            if part is None or part["role"] != "meet" or step <= self.book.step - TRUST_STEPS:
                continue
            crew, _ = found.get(part["task"], (frozenset(), 0))
            found[part["task"]] = (crew | {agent}, read_job(part, agent).crew)
        return found or self._announced

    @cached_property
    def _announced(self) -> dict[str, tuple[frozenset[AgentId], int]]:
        """The same of tasks for several that mates without a leader say they are about."""
        found: dict[str, tuple[frozenset[AgentId], int]] = {}
        for agent, word in self.book.words.items():
            kind, _, column = read_id(word.task) or ("", 0, -1)
            need = self._need(kind) if column >= 0 else 0
            if need > 1 and word.step > self.book.step - TRUST_STEPS:
                crew, _ = found.get(word.task, (frozenset(), 0))
                found[word.task] = (crew | {agent}, need)
        return found

    def _need(self, kind: str) -> int:
        row = self.crew.table.collect.get(kind)
        return row.agents if row is not None else 0

    # --- alone -----------------------------------------------------------------------------------

    def begin(self) -> Job | None:
        """A task for several that is close by, for one who knows of no partners: some may come."""
        found = [(-value, site.id) for site in self._close() if (value := self._lone_value(site))]
        if not found:
            return None
        id = min(found)[1]
        return Job("meet", id, crew=self._need((read_id(id) or ("",))[0]))

    def _close(self) -> list[Site]:
        """Sources for several that the agent has the tool for."""
        table, held = self.crew.table, self.crew.sight.inventory
        kinds = [
            kind
            for kind, row in table.collect.items()
            if row.base_score and row.agents > 1 and (not row.tool or held[row.tool])
        ]
        return [site for kind in kinds for site in self.crew.sites(kind)]

    def _lone_value(self, site: Site) -> float:
        """Points a step, each partner still to come counted as some steps; 0 if not worth it."""
        row, arrival = self.crew.table.collect[site.kind], self._own_arrival(site)
        if arrival > NEAR or len(self.crew.room(site)) < row.agents or self._is_avoided(site.id):
            return 0.0
        return row.unit_score / (arrival + PARTNER_STEPS * row.agents)

    def _own_arrival(self, site: Site) -> float:
        return self.crew.arrival(self.crew.mates[self.crew.me], site.cell)

    # --- where each stands -----------------------------------------------------------------------

    def _job(
        self,
        site: Site,
        agent: AgentId,
        slots: Mapping[AgentId, Cell | None],
        by_step: int,
        jobs: Jobs,
    ) -> Job:
        others = tuple(cell for a, cell in slots.items() if a != agent and cell is not None)
        return Job(
            role="meet",
            task=site.id,
            cell=slots[agent],
            crew=len(slots),
            by_step=by_step,
            gifts=jobs[agent].gifts if agent in jobs else (),
            others=others[:MOST_OTHERS],
        )

    def _slots(self, meeting: Meeting) -> dict[AgentId, Cell | None]:
        """A cell beside the site for each: where it stands, was sent, or else the nearest left."""
        slots: dict[AgentId, Cell | None] = {}
        for _, mate in meeting.crew:
            kept = self._kept_slot(meeting.site, mate)
            if kept is not None and kept not in slots.values():
                slots[mate.agent] = kept
        for _, mate in meeting.crew:
            if mate.agent not in slots:
                room = [c for c in self.crew.room(meeting.site) if c not in slots.values()]
                slots[mate.agent] = self._nearest_slot(meeting.site, mate, room)
        return slots

    def _kept_slot(self, site: Site, mate: Mate) -> Cell | None:
        """Where the mate stands beside the site already, or goes by orders that still hold."""
        if mate.cell is not None and gap(mate.cell, site.cell) == 1:
            return mate.cell
        _, part = self.book.given(mate.agent)
        if mate.agent in self.crew.asked or part is None or part["task"] != site.id:
            return None
        return read_job(part, mate.agent).cell

    def _nearest_slot(self, site: Site, mate: Mate, room: list[Cell]) -> Cell | None:
        if not room or mate.cell is None:
            return None
        start = mate.cell
        if mate.agent != self.crew.me:
            return min(room, key=lambda cell: (gap(start, cell), cell))
        prices = {cell: price for price, cell in self.crew.chart.beside(site.cell)}
        return min(room, key=lambda cell: (prices.get(cell, UNREACHABLE), cell))
