"""Tools for a team, made by one for all: what is missing, who gathers, what is given to whom."""

from __future__ import annotations

from functools import cached_property
from math import ceil

from worlds.api import AgentId
from worlds.macrafter.crew import PICKAXES, Crew, Jobs, Mate, is_busy
from worlds.macrafter.jobs import Gift, Job, read_job
from worlds.macrafter.nearest import nearest_known
from worlds.macrafter.notebook import part_of
from worlds.macrafter.sight import holds
from worlds.macrafter.state import ITEMS, VITALS

__all__ = ["Supplies"]

BASICS = ("wood", "stone")
"""Items that one agent gathers alone."""
CLOSE_STEPS = 10
"""Steps to a source up to which the maker gathers on before it makes anything."""
UNITS_A_HAND = 3
"""Units of wood for which one more goes gathering."""
KIT_STEPS = 12
"""Distance to known stone from which on a mate is given one, to cross water with."""
STATION_STEPS = 6
"""A known station that far is walked to; farther ones are built anew."""


class Supplies:
    """Making tools, in the eyes of the one who makes them for all."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.table = crew, crew.table
        self.held, self.me = crew.sight.inventory, crew.me

    # --- what is missing -------------------------------------------------------------------------

    def lacking(self, tool: str) -> list[AgentId]:
        """Those of the team that are not known to hold the tool, gifts on the way counted."""
        without = [mate for mate in self.crew.mates.values() if not mate.holdings.get(tool)]
        if self._spare(tool):
            return [mate.agent for mate in without]
        return [mate.agent for mate in without if tool not in self._sent_to(mate)]

    def _sent_to(self, mate: Mate) -> set[str]:
        """Items that this agent was to give to a mate since the mate's last word."""
        found = set()
        for step, assignments in self.crew.book.directives:
            part = part_of(assignments, self.me) if step >= mate.step else None
            if part is not None and step < self.crew.book.step:
                gifts = read_job(part, self.me).gifts
                found |= {gift.item for gift in gifts if gift.recipient == mate.agent}
        return found

    def _spare(self, tool: str) -> int:
        return max(0, self.held[tool] - 1)

    @cached_property
    def wants(self) -> list[tuple[str, int]]:
        """Tools to be made for the team now, with their number, in the order of making."""
        found = []
        for tool in PICKAXES:
            count = len(self.lacking(tool)) - self._spare(tool)
            uses = self.table.make[tool].uses
            rare = [item for item in uses if item not in BASICS]
            count = min([count, *(self.crew.total(item) // uses[item] for item in rare)])
            if count > 0:
                found.append((tool, count))
        return found

    @cached_property
    def is_equipping(self) -> bool:
        """Whether somebody still lacks a tool that takes nothing rare."""
        return any(tool != PICKAXES[-1] for tool, _ in self.wants)

    @cached_property
    def wanted_ores(self) -> set[str]:
        """Items of joint tasks that the missing tools still need."""
        found = set()
        for tool in PICKAXES:
            missing, uses = len(self.lacking(tool)), self.table.make[tool].uses
            for item, count in uses.items():
                if item not in BASICS and self.crew.total(item) < missing * count:
                    found.add(item)
        return found

    @cached_property
    def needs(self) -> dict[str, int]:
        """Items that making all wanted tools takes, stations included, beyond what I hold."""
        wanted: dict[str, int] = {}
        for tool, count in self.wants:
            for item, units in self._cost(tool, count).items():
                wanted[item] = wanted.get(item, 0) + units
        if wanted.get("stone"):
            wanted["stone"] += len(self.stoneless)
        held = self.held
        return {item: count - held[item] for item, count in wanted.items() if count > held[item]}

    def _cost(self, tool: str, count: int) -> dict[str, int]:
        """Items for so many tools, and for the stations that do not stand near."""
        row = self.table.make[tool]
        wanted = {item: units * count for item, units in row.uses.items()}
        for station in row.stations:
            if not self._has_station(station):
                for item, units in self.table.place[station].uses.items():
                    wanted[item] = wanted.get(item, 0) + units
        return wanted

    def _has_station(self, station: str) -> bool:
        sight = self.crew.sight
        near = nearest_known(sight.known, sight.cell, station, self.crew.config.reach, 1)
        return bool(near) and near[0].steps <= STATION_STEPS

    @cached_property
    def stoneless(self) -> list[AgentId]:
        """Mates that hold no stone and know of none nearby; one lets them cross water."""
        return [
            agent
            for agent, mate in self.crew.mates.items()
            if agent != self.me
            and not mate.holdings.get("stone")
            and "stone" not in self._sent_to(mate)
            and self.crew.nearest(mate, "stone") > KIT_STEPS
        ]

    # --- who does what ---------------------------------------------------------------------------

    def assign(self, jobs: Jobs) -> None:
        """Gifts of what the maker needs, what is still to be gathered, and the making itself."""
        if not self.wants:
            spares = self._spares()
            if spares:
                jobs[self.me] = Job("free", gifts=spares)
            return
        needs = dict(self.needs)
        for agent, mate in self.crew.mates.items():
            gifts = self._gifts(mate, needs) if agent != self.me else ()
            if gifts:
                jobs[agent] = jobs.get(agent, Job("free"))._replace(gifts=gifts)
        if self.me not in jobs and self._can_make():
            jobs[self.me] = Job("make", items=tuple(self.wants), gifts=self._deliveries())
        self._assign_gathering(jobs, needs)

    def _spares(self) -> tuple[Gift, ...]:
        """Tools I hold twice, for those that are not known to have one."""
        return tuple(
            Gift(tool, 1, agent)
            for tool in PICKAXES
            for agent in self.lacking(tool)[: self._spare(tool)]
        )

    def _deliveries(self) -> tuple[Gift, ...]:
        """What goes to whom once it is made."""
        tools = [
            Gift(tool, 1, agent)
            for tool, _ in self.wants
            for agent in self.lacking(tool)
            if agent != self.me
        ]
        return (*tools, *(Gift("stone", 1, agent) for agent in self.stoneless))

    def _gifts(self, mate: Mate, needs: dict[str, int]) -> tuple[Gift, ...]:
        """What the mate holds of what is needed; `needs` shrinks by it."""
        gifts = []
        for item in sorted(needs, key=ITEMS.index):
            count = min(needs[item], mate.holdings.get(item, 0))
            if count > 0 and item not in VITALS:
                gifts.append(Gift(item, count, self.me))
                needs[item] -= count
        return tuple(gifts)

    def _can_make(self) -> bool:
        """Whether I can make all of the first wanted tool, or one when no more is near."""
        tool, count = self.wants[0]
        lacked = self._lacks(tool, count)
        return not lacked or not (self._lacks(tool, 1) or any(map(self._is_close, lacked)))

    def _lacks(self, tool: str, count: int) -> list[str]:
        return [item for item, units in self._cost(tool, count).items() if self.held[item] < units]

    def _is_close(self, item: str) -> bool:
        """Whether a source of the item that I can take alone is near me."""
        row = self.table.source_of(item)
        if row is None or row.agents > 1 or not holds(self.crew.sight, row.tool):
            return False
        return self.crew.nearest(self.crew.mates[self.me], row.source) <= CLOSE_STEPS

    def _assign_gathering(self, jobs: Jobs, needs: dict[str, int]) -> None:
        for item, count in sorted(needs.items(), key=lambda pair: ITEMS.index(pair[0])):
            row = self.table.source_of(item)
            if count <= 0 or row is None or row.agents > 1:
                continue
            idle = (mate for mate in self.crew.mates.values() if not is_busy(jobs, mate.agent))
            able = [mate for mate in idle if row.tool is None or mate.holdings.get(row.tool)]
            if able:
                self._share_out(jobs, row.source, item, count, able)

    def _share_out(self, jobs: Jobs, source: str, item: str, count: int, able: list[Mate]) -> None:
        """Spread `count` units: wood over several, anything else on the one nearest to it."""
        hands = ceil(count / UNITS_A_HAND) if source == "tree" else 1
        able = sorted(able, key=lambda mate: (self.crew.nearest(mate, source), mate.agent))[:hands]
        quota = ceil(count / len(able))
        for mate in able:
            mine = mate.agent == self.me
            units = quota + (self.held[item] if mine else 0)
            gifts = jobs[mate.agent].gifts if mate.agent in jobs else ()
            client = None if mine else self.me
            jobs[mate.agent] = Job("gather", items=((item, units),), gifts=gifts, client=client)
