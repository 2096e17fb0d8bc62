"""What agents read: the view of one of them as text and as data, and the sheet of a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from primitives.navigation import UNREACHABLE
from primitives.travel_kernels import NO_CELL, nearest_things, steps_beside
from worlds.api import AgentId, Attempt, Cell, Json
from worlds.macrafter.concepts import missing
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.generate import RIPE_AGE
from worlds.macrafter.ground import Field
from worlds.macrafter.last_step import LastStep, last_step
from worlds.macrafter.manual import REASON_SENTENCES, manual_text
from worlds.macrafter.nearest import IS_STATION
from worlds.macrafter.sight import Sight, agent_id, creature_at, facing_name, is_near, look
from worlds.macrafter.state import (
    ARROW_LETTERS,
    CREATURE_LETTERS,
    CREATURES,
    ITEMS,
    MATERIAL_LETTERS,
    MATERIALS,
    RIPE_LETTER,
    VITALS,
    MacrafterState,
    cell_id,
)
from worlds.macrafter.table import STATIONS, TARGETS, Table
from worlds.text_grid import cell_text, list_text

__all__ = ["MacrafterText", "Target"]

SHOWN_A_KIND = 2
"""Things of one kind that are listed in view, and as many that are remembered."""
SHOWN_MATES = 24
"""Teammates out of view that are named one by one; of more only their number."""
SHEET_CHARACTERS = 300
SHEET_TASKS = 4
PICKAXES = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")
REMEMBERED = ("tree", "stone", "coal", "iron", "diamond", "water", *STATIONS)
"""Kinds of cells that are listed, in view and remembered."""

_LETTERS = np.frombuffer(MATERIAL_LETTERS.encode(), np.uint8)
_BLANK = MATERIAL_LETTERS[0]
_LEGEND = (
    ". grass , path : sand ~ water T tree S stone C coal I iron D diamond L lava B table F furnace "
    "c cow z zombie k skeleton p plant P ripe; digit: last digit of an agent; blank: outside"
)
_ARROWS = "; ^ v < > arrow"
_KIND_OF = np.array(
    [REMEMBERED.index(name) if name in REMEMBERED else -1 for name in MATERIALS], np.int8
)


class Target(NamedTuple):
    """Something listed: `steps` None without a known path; what it takes, from the table."""

    id: str
    name: str
    cell: Cell
    steps: int | None
    agents: int
    tool: str | None
    has_tool: bool
    unit_score: float
    in_view: bool

    @property
    def order(self) -> tuple[int, Cell]:
        """Fewest steps first, then row and column."""
        return UNREACHABLE if self.steps is None else self.steps, self.cell


class MacrafterText:
    """Texts of one configuration."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        self.reasons: Mapping[str, str] = REASON_SENTENCES
        self._manual = manual_text(config, table)
        self._legend = _LEGEND + (_ARROWS if config.skeletons else "")
        self._found = np.empty((2, len(REMEMBERED), SHOWN_A_KIND, 3), np.int32)

    def manual(self) -> str:
        """The rules, in at most 6000 characters."""
        return self._manual

    def describe(self, state: MacrafterState, agent: AgentId, limit: int) -> str:
        """What `agent` knows, in at most `limit` characters; what is left out is counted."""
        if not state.is_alive[0, agent]:
            return f"You were {agent_id(agent)}. You are dead."[:limit]
        sight = look(self.config, state, agent)
        targets = self.targets(sight)
        seen = [f"- {self._target_text(target)}" for target in targets if target.in_view]
        far = [_short_text(target) for target in targets if not target.in_view]
        head = [*self._head(sight), *self._map_lines(sight), self._team_text(sight)]
        return _compose(head, seen, far, self._craft_text(sight), limit)

    def view(self, state: MacrafterState, agent: AgentId) -> Json:
        """What `agent` knows, as data."""
        sight = look(self.config, state, agent)
        up, side = self.config.view[0] // 2, self.config.view[1] // 2
        return {
            "world": "macrafter-v1",
            "step": int(state.step[0]),
            "max_steps": self.config.max_steps,
            "score": _number(float(state.score[0])),
            "self": self._self_view(sight),
            "view": {
                "top_left": [sight.cell[0] - up, sight.cell[1] - side],
                "rows": self._rows(sight),
            },
            "team": self._team(sight),
            "targets": [_target_view(target) for target in self.targets(sight)],
            "craft": {"here": self.craftable(sight), "next": self._next(sight)},
        }

    def sheet(self, state: MacrafterState, agent: AgentId) -> Json:
        """What a report carries: id, cell, last outcome, vitals, holdings, known tasks.

        Of every kind worth points the nearest task is named, of the kinds worth most; fewest
        steps first. What does not fit into 300 characters is left out: the farthest tasks, then
        the last holdings.
        """
        sight, last = look(self.config, state, agent), last_step(state, self.table, agent)
        items = sight.inventory
        tasks = self._sheet_tasks(sight)
        holdings = {name: items[name] for name in ITEMS[len(VITALS) :] if items[name]}
        sheet = {
            "id": agent_id(agent),
            "cell": list(sight.cell),
            "last": "" if last is None else last.reason or last.outcome,
            "vitals": [items[name] for name in VITALS],
            "holdings": holdings,
            "tasks": tasks,
        }
        while len(json.dumps(sheet)) > SHEET_CHARACTERS:
            if tasks:
                tasks.pop()
            else:
                holdings.popitem()
        return sheet

    # --- lists -----------------------------------------------------------------------------------

    def targets(self, sight: Sight) -> list[Target]:
        """Of each kind the nearest in view and the nearest remembered, fewest steps first."""
        known, found = sight.known, self._found
        field = known.field((sight.cell,))
        where = (known.is_walkable, field, sight.window, self.config.reach)
        nearest_things(known.material, _KIND_OF, IS_STATION, *where, found)
        targets = [
            self._ground_target(sight, REMEMBERED[kind], (row, column), steps, not side)
            for side, kinds in enumerate(found.tolist())
            for kind, things in enumerate(kinds)
            for steps, row, column in things
            if row != NO_CELL
        ]
        targets += self._creature_targets(sight, field)
        return sorted(targets, key=lambda target: target.order)

    def _ground_target(
        self, sight: Sight, name: str, cell: Cell, steps: int, in_view: bool
    ) -> Target:
        way = None if steps == UNREACHABLE else steps
        row = self.table.collect.get(name)
        if row is None:
            return Target(cell_id(name, cell), name, cell, way, 0, None, True, 0, in_view)
        has_tool = row.tool is None or bool(
            sight.state.inventory[0, sight.agent, ITEMS.index(row.tool)]
        )
        score = _number(row.unit_score)
        id = cell_id(name, cell)
        return Target(id, name, cell, way, row.agents, row.tool, has_tool, score, in_view)

    def _creature_targets(self, sight: Sight, field: Field) -> list[Target]:
        kinds: dict[str, list[Target]] = {}
        for cell, code in sight.things.items():
            thing = creature_at(sight, cell) if code < 0 else None
            if thing is None or thing.name not in TARGETS:
                continue
            steps = steps_beside(field, sight.known.is_walkable, *cell, self.config.reach)
            way = None if steps == UNREACHABLE else int(steps)
            agents = self.table.creature[thing.name].agents
            target = Target(thing.id, thing.name, cell, way, agents, None, True, 0, True)
            kinds.setdefault(thing.name, []).append(target)
        return [
            target
            for found in kinds.values()
            for target in sorted(found, key=lambda target: target.order)[:SHOWN_A_KIND]
        ]

    def craftable(self, sight: Sight) -> list[str]:
        """Items the agent could make where it stands, with what it carries."""
        return [
            name
            for name in self.table.make
            if not missing(sight, self.table, name) and not self._missing_stations(sight, name)
        ]

    def _missing_stations(self, sight: Sight, item: str) -> list[str]:
        return [name for name in self.table.make[item].stations if not is_near(sight, name)]

    def _next(self, sight: Sight) -> Json:
        held = sight.inventory
        item = next((name for name in PICKAXES if name in self.table.make and not held[name]), None)
        if item is None:
            return None
        wanted, stations = missing(sight, self.table, item), self._missing_stations(sight, item)
        return {"item": item, "missing": wanted, "stations": stations}

    def _sheet_tasks(self, sight: Sight) -> list[str]:
        nearest: dict[str, Target] = {}
        for target in self.targets(sight):
            row = self.table.collect.get(target.name)
            if row and row.base_score:
                nearest.setdefault(target.name, target)
        best = sorted(nearest.values(), key=lambda target: (-target.unit_score, target.order))
        return [target.id for target in sorted(best[:SHEET_TASKS], key=lambda t: t.order)]

    # --- text ------------------------------------------------------------------------------------

    def _head(self, sight: Sight) -> list[str]:
        state, items = sight.state, sight.inventory
        score, waking = _number(float(state.score[0])), "asleep" if sight.is_asleep else "awake"
        vitals = ", ".join(f"{name} {items[name]}" for name in VITALS)
        carried = [f"{name} {items[name]}" for name in ITEMS[len(VITALS) :] if items[name]]
        lines = [
            f"macrafter-v1. Step {state.step[0]} of {self.config.max_steps}. Team score {score}. "
            f"You are {agent_id(sight.agent)} at {cell_text(sight.cell)}, "
            f"facing {facing_name(sight)}, {waking}.",
            f"{vitals.capitalize()}. You carry: {', '.join(carried) or 'nothing'}.",
        ]
        if self.config.day_night:
            lines.append(f"Daylight: {int(100 * state.light[0])} of 100.")
        last = last_step(state, self.table, sight.agent)
        return lines if last is None else [*lines, _last_text(last)]

    def _map_lines(self, sight: Sight) -> list[str]:
        (row, column), (rows, columns) = sight.cell, self.config.view
        top, left = row - rows // 2, column - columns // 2
        span = f"rows {_span(top, rows)}, columns {_span(left, columns)}"
        return [f"View, {span}:", *self._rows(sight), self._legend]

    def _rows(self, sight: Sight) -> list[str]:
        """The view as letters; blank outside the map and where nothing is seen."""
        (row, column), (rows, columns) = sight.cell, self.config.view
        up, side = row - rows // 2, column - columns // 2
        top, left, bottom, right = sight.window
        letters = np.full((rows, columns), ord(_BLANK), np.uint8)
        seen = _LETTERS[sight.known.material[top : bottom + 1, left : right + 1]]
        letters[top - up : bottom + 1 - up, left - side : right + 1 - side] = seen
        letters[row - up, column - side] = ord(str(sight.agent % 10))
        for (r, c), code in sight.things.items():
            letters[r - up, c - side] = ord(_object_letter(sight.state, code))
        text = letters.tobytes().decode("ascii")
        return [text[start : start + columns] for start in range(0, rows * columns, columns)]

    def _team(self, sight: Sight) -> list[Json]:
        seen = {agent: list(cell) for agent, cell in sight.others()}
        mates = (agent for agent in range(sight.state.agent_cell.shape[1]) if agent != sight.agent)
        return [{"id": agent_id(agent), "cell": seen.get(agent)} for agent in mates]

    def _team_text(self, sight: Sight) -> str:
        agents = sight.state.agent_cell.shape[1]
        if agents == 1:
            return "Team: nobody else."
        seen = dict(sight.others())
        near = [f"{agent_id(agent)} at {cell_text(cell)}" for agent, cell in seen.items()]
        hidden = agents - 1 - len(seen)
        text = f"Team: {', '.join(near) or 'nobody in view'}."
        if not hidden:
            return text
        if hidden > SHOWN_MATES:
            return f"{text} Not in view: {hidden} others."
        away = [agent_id(a) for a in range(agents) if a != sight.agent and a not in seen]
        return f"{text} Not in view: {', '.join(away)}."

    def _target_text(self, target: Target) -> str:
        parts = [f"{target.id}: {_way_text(target.steps)}"]
        if target.agents:
            people = "1 agent" if target.agents == 1 else f"{target.agents} agents"
            if target.tool:
                having = "you have it" if target.has_tool else "you do not have it"
                people += f" with {target.tool} ({having})"
            parts.append(people)
        if target.unit_score:
            parts.append(f"{target.unit_score} a unit")
        return "; ".join(parts)

    def _craft_text(self, sight: Sight) -> str:
        text = f"Craft here: {', '.join(self.craftable(sight)) or 'nothing'}."
        coming = self._next(sight)
        if coming is None or not (coming["missing"] or coming["stations"]):
            return text
        items = ", ".join(f"{name} {count}" for name, count in coming["missing"].items())
        wants = [f"{items} more"] if items else []
        wants += [f"a {name}" for name in coming["stations"]]
        return f"{text} Next: {coming['item']} needs {' and '.join(wants)}."

    # --- data ------------------------------------------------------------------------------------

    def _self_view(self, sight: Sight) -> Json:
        items = sight.inventory
        last = last_step(sight.state, self.table, sight.agent)
        view = {
            "id": agent_id(sight.agent),
            "cell": list(sight.cell),
            "facing": facing_name(sight),
            "asleep": sight.is_asleep,
            "vitals": {name: items[name] for name in VITALS},
            "inventory": {name: items[name] for name in ITEMS[len(VITALS) :] if items[name]},
            "last": None if last is None else _last_view(last),
        }
        if self.config.day_night:
            view["light"] = int(100 * sight.state.light[0])
        return view


def _compose(head: list[str], seen: list[str], far: list[str], craft: str, limit: int) -> str:
    """Join the lines; past `limit` remembered things go first, then the farthest in view.

    A text that is too long even so loses its last lines.
    """
    shown_far, shown_seen = len(far), len(seen)
    while True:
        lines = _lines(head, seen[:shown_seen], far[:shown_far], craft, len(far), len(seen))
        text = "\n".join(lines)
        if len(text) <= limit:
            return text
        if shown_far:
            shown_far -= 1
        elif shown_seen:
            shown_seen -= 1
        else:
            return _cut(lines, limit)


def _lines(
    head: list[str], seen: list[str], far: list[str], craft: str, all_far: int, all_seen: int
) -> list[str]:
    lines = [*head, "In view:" if all_seen else "In view: nothing to act on.", *seen]
    if all_seen > len(seen):
        lines.append(f"({all_seen - len(seen)} more in view left out)")
    remembered = "; ".join(far) or ("" if all_far else "nothing")
    if all_far > len(far):
        missing = f"({all_far - len(far)} more left out)"
        remembered = f"{remembered} {missing}".strip()
    return [*lines, f"Remembered: {remembered}.", craft]


def _cut(lines: list[str], limit: int) -> str:
    """As many first lines as fit, then how many are missing."""
    for kept in range(len(lines) - 1, 0, -1):
        closing = f"({len(lines) - kept} lines left out)"
        text = "\n".join([*lines[:kept], closing])
        if len(text) <= limit:
            return text
    return "\n".join(lines)[:limit]


def _object_letter(state: MacrafterState, code: int) -> str:
    if code > 0:
        return str((code - 1) % 10)
    slot = -code - 1
    kind = CREATURES[state.creature_kind[0, slot]]
    if kind == "arrow":
        return ARROW_LETTERS[state.creature_facing[0, slot]]
    if kind == "plant" and state.creature_timer[0, slot] >= RIPE_AGE:
        return RIPE_LETTER
    return CREATURE_LETTERS[CREATURES.index(kind)]


def _span(first: int, count: int) -> str:
    last = first + count - 1
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def _number(value: float) -> float | int:
    """A score without a needless decimal point."""
    return int(value) if value == int(value) else value


def _way_text(steps: int | None) -> str:
    if steps is None:
        return "no known path"
    return "1 step" if steps == 1 else f"{steps} steps"


def _short_text(target: Target) -> str:
    return f"{target.id}, {_way_text(target.steps)}"


def _last_text(last: LastStep) -> str:
    reason = f" ({last.reason})" if last.reason else ""
    text = f"Last step: {last.action}, {last.outcome}{reason}."
    if last.harm:
        text += f" Hurt by {list_text(last.harm)}."
    return text if last.attempt is None else f"{text} {_attempt_text(last.attempt)}"


def _attempt_text(attempt: Attempt) -> str:
    text = (
        f"{attempt.task}: {attempt.result}, need {attempt.need}, participation "
        f"{attempt.participation}, spatial {attempt.spatial}, temporal {attempt.temporal}"
    )
    if attempt.dependency_need:
        text += f", dependency {attempt.dependency} of {attempt.dependency_need}"
    return f"{text}."


def _last_view(last: LastStep) -> Json:
    return {
        "action": last.action,
        "outcome": last.outcome,
        "reason": last.reason,
        "harm": list(last.harm),
        "attempt": None if last.attempt is None else _attempt_view(last.attempt),
    }


def _attempt_view(attempt: Attempt) -> Json:
    return {
        "task": attempt.task,
        "result": attempt.result,
        "need": attempt.need,
        "participation": attempt.participation,
        "spatial": attempt.spatial,
        "temporal": attempt.temporal,
        "dependency": attempt.dependency,
        "dependency_need": attempt.dependency_need,
        "members": len(attempt.members),
        "unmet": list(attempt.unmet),
    }


def _target_view(target: Target) -> Json:
    return {
        "id": target.id,
        "cell": list(target.cell),
        "steps": target.steps,
        "agents": target.agents,
        "tool": target.tool,
        "you_have_tool": target.has_tool,
        "unit_score": target.unit_score,
        "in_view": target.in_view,
    }
