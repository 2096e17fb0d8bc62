"""Who does what: parts for a team, as far as one of it knows where all are and what they hold.

The order of work: tools, made by one for all where gifts reach everybody; tasks that can be done
now, by worth over the slowest arrival; the rest explore, each in a direction of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from worlds.api import AgentId, Cell
from worlds.macrafter.crew import PICKAXES, PRIZE, Crew, Jobs, Mate, is_busy
from worlds.macrafter.ground import UNKNOWN
from worlds.macrafter.jobs import Job
from worlds.macrafter.meetings import FAR, NEAR, Meetings
from worlds.macrafter.nearest import gap
from worlds.macrafter.needs import is_dangerous
from worlds.macrafter.sectors import centres, seen_share
from worlds.macrafter.sight import read_id
from worlds.macrafter.state import MATERIALS
from worlds.macrafter.supplies import Supplies

__all__ = ["Team"]

WEAPON = "stone_sword"
POOLING_TEAM = 8
"""Up to this team one agent makes the tools of all; in a larger one each makes its own."""
SECTOR_START = 10
"""Steps added to the way to a sector when sectors are compared."""
ELBOW_ROOM = 15
"""Least distance between the sectors of two explorers."""
ROCK_REACH = 12
"""Distance from told rock at which a sector is taken to be rocky."""
SEEN_BY_OTHERS = 0.1
"""What is left of the promise of a sector that a teammate has mostly seen."""
ROCKS = ("stone", "coal", "iron", "diamond")
ROCK = [MATERIALS.index(name) for name in (*ROCKS, "lava")]


class Team:
    """Jobs for everybody in the eyes of one agent."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.book = crew, crew.book
        self.supplies = Supplies(crew)
        self.meetings = Meetings(crew, self.supplies)

    @property
    def is_pooling(self) -> bool:
        """Whether one makes the tools of all: gifts reach everybody and the team is small."""
        is_near = self.crew.config.share_radius is None
        return is_near and 1 < self.book.agents <= POOLING_TEAM

    def lead(self) -> Jobs:
        """A job for everybody; while simple tools are missing only tasks close by are taken on."""
        jobs: Jobs = {}
        if not self.is_pooling:
            jobs |= dict.fromkeys(self._unarmed, Job("equip"))
            self.meetings.assign(jobs, FAR)
            for agent in self.crew.mates:
                jobs.setdefault(agent, Job("equip"))
            return jobs
        self.supplies.assign(jobs)
        self.meetings.assign(jobs, NEAR if self.supplies.is_equipping else FAR)
        self.meetings.send_ahead(jobs)
        self._assign_exploring(jobs)
        return jobs

    def own_job(self) -> Job:
        """What this agent does when nobody tells it: join what can be done now, else equip."""
        jobs: Jobs = dict.fromkeys(self._unarmed, Job("equip"))
        self.meetings.assign(jobs, FAR)
        return jobs.get(self.crew.me) or self.meetings.begin() or Job("equip")

    @property
    def _unarmed(self) -> list[AgentId]:
        """Those who have no good weapon where something attacks; they get one first."""
        if not is_dangerous(self.crew.config):
            return []
        return [agent for agent, mate in self.crew.mates.items() if not mate.holdings.get(WEAPON)]

    # --- exploring -------------------------------------------------------------------------------

    def _assign_exploring(self, jobs: Jobs) -> None:
        """Everybody left goes to a sector of its own, the emptiest and nearest first."""
        taken: set[Cell] = set()
        for agent, mate in self.crew.mates.items():
            if is_busy(jobs, agent):
                continue
            cell = self._sector_for(mate, taken)
            gifts = jobs[agent].gifts if agent in jobs else ()
            jobs[agent] = Job("explore", cell=cell, items=self.sought(), gifts=gifts)
            if cell is not None:
                taken.add(cell)

    def sought(self) -> tuple[tuple[str, int], ...]:
        """What explorers should look for."""
        if self.supplies.needs.get("wood") and not self.crew.sites("tree"):
            return (("tree", 1),)
        if not self.supplies.lacking(PICKAXES[-1]):
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
        known = self.crew.sight.known
        unseen = 1 - seen_share(known.material != UNKNOWN)
        for sectors in self.book.seen.values():
            unseen[list(sectors)] *= SEEN_BY_OTHERS
        told = self._told_rock()
        rocky = seen_share(np.isin(known.material, ROCK))
        return {
            cell: float(unseen[k])
            * (1.0 + any(gap(cell, other) <= ROCK_REACH for other in told) + float(rocky[k]))
            for k, cell in enumerate(centres(known))
        }

    def _told_rock(self) -> list[Cell]:
        parts = (read_id(id) for id in self.book.told)
        return [(p[1], p[2]) for p in parts if p is not None and p[0] in ROCKS and p[2] >= 0]

    def mates_seen(self) -> list[tuple[AgentId, Cell]]:
        """The others with where they were last known to be."""
        mates = self.crew.mates.values()
        return [(m.agent, m.cell) for m in mates if m.cell is not None and m.agent != self.crew.me]
