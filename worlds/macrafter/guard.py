"""What an agent does against zombies, skeletons and the night: fight, wall itself in, rest."""

from __future__ import annotations

from functools import cached_property

from primitives.navigation import UNREACHABLE
from worlds.api import Json
from worlds.macrafter.chart import FOE_REACH, Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.jobs import NO_TASK_ID
from worlds.macrafter.labour import MOST_ACTIONS, Draft
from worlds.macrafter.nearest import gap, goal_cells
from worlds.macrafter.needs import is_dangerous
from worlds.macrafter.numbers import daylight
from worlds.macrafter.shelter import Shelter
from worlds.macrafter.sight import Sight, Thing, find_thing
from worlds.macrafter.state import VITAL_CAP, cell_id
from worlds.macrafter.table import Table

__all__ = ["Guard"]

FIGHT_TIMEOUT = 3
SIEGE_STEPS = 5
"""Distance of a zombie for which one stays behind walls."""
DARK = 0.5
"""Daylight below which an agent is behind walls."""
DIM, STRONG = 0.3, 6
"""Daylight and health with which hunger drives out."""
DUSK_STEPS = 12
"""Steps before dark from which on it goes there."""
BRIGHT = 0.75
"""Daylight from which on plans may be long."""
EVENING_STEPS = 50
"""Steps before dark from which on an agent gets ready."""
WEAK, HEALED = 4, 7
"""Health at which an agent goes to rest, and with which it leaves."""
STARVED, DYING = 2, 3
"""Food or drink at which nobody rests by day; health at which hunger drives out by night."""
WALLING_IN = "I wall myself in."
PECKISH = 6
"""Food from which on cows are looked out for on all ways."""
REST_STEPS = 8
"""Steps of a wait while resting awake."""
WATCHFUL_ACTIONS, WATCHFUL_STEPS, ALARMED_STEPS = 2, 5, 3
"""Actions of a plan where something attacks; steps of its walks, and with a foe in view."""


class Guard:
    """Dangers around one agent at one moment."""

    def __init__(self, config: MacrafterConfig, table: Table, sight: Sight, chart: Chart) -> None:
        self.config, self.table, self.sight = config, table, sight
        self.items, self.step = sight.inventory, int(sight.state.step[0])
        self.chart = chart
        self.shelter = Shelter(table, sight, chart)

    @property
    def is_dark(self) -> bool:
        """Whether it is night, or nearly."""
        return self._is_dark_at(self.step) or self._is_dark_at(self.step + DUSK_STEPS)

    @property
    def is_evening(self) -> bool:
        """Whether night comes soon."""
        return not self.is_dark and self._is_dark_at(self.step + EVENING_STEPS)

    def _is_dark_at(self, step: int) -> bool:
        return self.config.day_night and daylight(step) < DARK

    @property
    def is_safe(self) -> bool:
        """Whether nothing attacks here."""
        return not is_dangerous(self.config) or self.shelter.is_closed

    @cached_property
    def foe(self) -> Thing | None:
        """The nearest foe in view."""
        foes = self.sight.creatures(*FOE_REACH)
        return min(foes, key=lambda foe: (gap(foe.cell, self.sight.cell), foe.cell), default=None)

    # --- plans -----------------------------------------------------------------------------------

    def fight(self) -> Draft | None:
        """Hit a foe that is near, unless walls keep it away."""
        foe = self.foe
        if foe is None or gap(foe.cell, self.sight.cell) > 1 or self.shelter.is_closed:
            return None
        action = {"verb": "attack", "target": foe.id, "timeout": FIGHT_TIMEOUT}
        return Draft(NO_TASK_ID, [action], f"I fight the {foe.name}.")

    def rest(self) -> Draft | None:
        """Behind walls when it is dark or health is low; None if it is no time to rest."""
        if self.shelter.is_closed:
            is_time = self._is_besieged() or self._is_time_to_rest(HEALED)
            return self._stay() if is_time else None
        return self.wall_in() if self._is_time_to_rest(WEAK) else None

    def _is_besieged(self) -> bool:
        if self.foe is None or self.is_dying:
            return False
        return gap(self.foe.cell, self.sight.cell) <= SIEGE_STEPS

    def wall_in(self) -> Draft | None:
        """Into the nearest shelter; None if none is known."""
        actions = self.shelter.enter(MOST_ACTIONS)
        return Draft(NO_TASK_ID, actions, WALLING_IN) if actions else None

    def _is_time_to_rest(self, health: int) -> bool:
        if self.is_starved and self.items["health"] >= STRONG and self._is_dim:
            return False
        if self.is_dark:
            return not self.is_dying
        return self.items["health"] <= health and not self.is_starved

    @property
    def _is_dim(self) -> bool:
        return float(self.sight.state.light[0]) >= DIM

    @property
    def is_peckish(self) -> bool:
        """Whether cows are looked out for on the way."""
        return self.config.vitals and self.items["food"] <= PECKISH

    @property
    def is_starved(self) -> bool:
        """Whether it is high time to eat or drink."""
        return min(self.items["food"], self.items["drink"]) <= STARVED

    @property
    def is_dying(self) -> bool:
        """Whether hunger or thirst will soon kill."""
        return not min(self.items["food"], self.items["drink"]) and self.items["health"] <= DYING

    def _stay(self) -> Draft:
        action: Json = {"verb": "wait", "steps": REST_STEPS}
        if self.items["energy"] < VITAL_CAP:
            action = {"verb": "sleep"}
        return Draft(NO_TASK_ID, [action], "I rest behind walls.")

    # --- watchfulness ----------------------------------------------------------------------------

    def shorten(self, draft: Draft) -> Draft:
        """The beginning of a plan, so that the next look round is not far off."""
        first = draft.actions[0] if draft.actions else None
        if first is None or self._is_walling_in(draft):
            return draft
        if not is_dangerous(self.config) or (
            self.foe is None and float(self.sight.state.light[0]) >= BRIGHT
        ):
            if self.is_peckish and first["verb"] == "navigate":
                return draft._replace(actions=[self._leg(first)])
            return draft
        if first["verb"] == "navigate":
            return draft._replace(actions=[self._leg(first)])
        rest = [
            action for action in draft.actions[1:WATCHFUL_ACTIONS] if action["verb"] != "navigate"
        ]
        return draft._replace(actions=[first, *rest])

    def _is_walling_in(self, draft: Draft) -> bool:
        return draft.note == WALLING_IN and draft.actions[0]["verb"] != "navigate"

    def _leg(self, action: Json) -> Json:
        """A walk of a few steps on the cheapest way, given up when it takes longer."""
        thing = find_thing(self.sight, self.table, self.config, action["target"])
        if thing is None:
            return action
        most = ALARMED_STEPS if self.foe is not None else WATCHFUL_STEPS
        known, chart = self.sight.known, self.chart
        goals = goal_cells(self.sight.ways, thing, self.config.reach)
        goal = min(((chart.price(cell), cell) for cell in goals), default=None)
        if goal is None or goal[0] >= UNREACHABLE:
            return {**action, "timeout": most}
        way = chart.way(goal[1])[:most]
        while way and not known.walks(way[-1]):
            way.pop()
        if not way or way[-1] == goal[1]:
            return {**action, "timeout": most + 1}
        return {"verb": "navigate", "target": cell_id("cell", way[-1]), "timeout": most + 1}
