"""What an agent does against zombies, skeletons and the night: fight, wall itself in, rest."""

from __future__ import annotations

from functools import cached_property

from primitives.navigation import UNREACHABLE
from worlds.api import Json
from worlds.macrafter.chart import FOE_REACH, Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.jobs import NO_TASK_ID
from worlds.macrafter.labour import Draft
from worlds.macrafter.nearest import gap, goal_cells
from worlds.macrafter.needs import is_dangerous
from worlds.macrafter.numbers import daylight
from worlds.macrafter.shelter import Shelter
from worlds.macrafter.sight import Sight, Thing, find_thing
from worlds.macrafter.state import VITAL_CAP, cell_id
from worlds.macrafter.table import Table

__all__ = ["Guard"]

FIGHT_TIMEOUT = 3
"""Steps of a fight before the next look round."""
DARK = 0.65
"""Daylight below which an agent is behind walls."""
SIEGE_STEPS = 4
"""Distance of a foe for which one stays behind walls."""
BRIGHT = 0.83
"""Daylight from which on plans may be long, and foes about the house are borne with."""
HOME_STEPS = 2
"""Steps to spare on the way home."""
WEAK, HEALED = 3, 5
"""Health at which an agent goes to rest, and with which it leaves."""
STARVED, DYING = 1, 2
"""Food at which nobody rests by day; health at which hunger drives out by night."""
DAY_STEPS = 150
"""More than a day lasts."""
WALLING_IN = "I wall myself in."
PECKISH = 6
"""Food from which on cows are looked out for on all ways."""
WALLING_ACTIONS, REST_STEPS = 5, 5
"""Actions at a house before the next look round; steps of a wait while resting awake."""
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
        """Whether it is night."""
        return self.lasting == 0

    @property
    def is_dawn(self) -> bool:
        """Whether foes of the night are still about."""
        return self.lasting > DAY_STEPS // 2 and not self.is_bright

    @cached_property
    def lasting(self) -> int:
        """Steps of daylight left."""
        if not self.config.day_night:
            return DAY_STEPS
        return next((k for k in range(DAY_STEPS) if daylight(self.step + k) < DARK), DAY_STEPS)

    @property
    def is_bright(self) -> bool:
        """Whether foes vanish."""
        return float(self.sight.state.light[0]) >= BRIGHT

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

    @property
    def stays_in(self) -> bool:
        """Whether one who sits behind walls stays there."""
        if self.is_dying:
            return False
        if self.is_dark or (self.is_dawn and not self.is_starved):
            return True
        is_near = self.foe is not None and gap(self.foe.cell, self.sight.cell) <= SIEGE_STEPS
        if is_near and not self.is_bright:
            return True
        return self.items["health"] <= HEALED and not self.is_starved

    @property
    def is_homeward(self) -> bool:
        """Whether it is time to go behind walls."""
        if self.items["health"] <= WEAK and self.foe is not None and not self.is_starved:
            return True
        if self.lasting > DAY_STEPS // 2:
            return False
        best = self.shelter.best
        return self.lasting <= (best.steps if best else 0) + HOME_STEPS

    def wall_in(self) -> Draft | None:
        """Into the nearest shelter; None if none is known."""
        actions = self.shelter.enter(WALLING_ACTIONS)
        return Draft(NO_TASK_ID, actions, WALLING_IN) if actions else None

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

    def stay(self) -> Draft:
        """Rest behind walls."""
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
        if not is_dangerous(self.config) or (self.foe is None and self.is_bright):
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
