"""Verbs turned into primitive actions, one a step, and the arithmetic of what they take."""

from __future__ import annotations

from collections.abc import Mapping

from worlds.api import (
    Action,
    AgentId,
    Cell,
    Done,
    Failed,
    Json,
    Primitive,
    Reason,
    Running,
    Standing,
)
from worlds.macrafter.acting import ACTING, task_number
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import STEPS, neighbours
from worlds.macrafter.nearest import gap, goal_cells
from worlds.macrafter.sight import find_thing, look, read_id, source_names, thing_at
from worlds.macrafter.state import ITEMS, VITAL_CAP, MacrafterState
from worlds.macrafter.table import STATIONS, TARGETS, Table
from worlds.macrafter.verbs import Call, collect_names, read_call, verb_specs
from worlds.macrafter.walking import WALKING, Turn, Verb

__all__ = ["MacrafterSkills"]

VERBS: Mapping[str, Verb] = {**WALKING, **ACTING}
SLEEP_STEPS = 11
"""Steps asleep for a unit of energy."""
TARGETED = ("navigate", "rendezvous", "collect", "attack")
"""Verbs whose target must be known when they are named."""


class MacrafterSkills:
    """The verbs of one configuration; nothing here draws or changes a state."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        self.verbs = verb_specs(config, table)
        self._specs = {verb.name: verb for verb in self.verbs}
        self._names = collect_names(config, table)

    def check(self, state: MacrafterState, agent: AgentId, action: Action) -> tuple[Reason, ...]:
        """Why the action cannot be named now: a wrong argument, or `unknown_reference`."""
        call = read_call(action, self._specs, self.config.agents)
        if isinstance(call, Reason):
            return (call,)
        if call.verb not in TARGETED or (call.verb == "collect" and call.target in self._names):
            return ()
        wrong = self._wrong_kind(call)
        if wrong is not None:
            return (wrong,)
        sight = look(self.config, state, agent)
        thing = find_thing(sight, self.table, self.config, call.target)
        if thing is None:
            return (Reason("unknown_reference", {"reference": call.target[:40]}),)
        return ()

    def ground(
        self, state: MacrafterState, agent: AgentId, action: Action, progress: Json
    ) -> Primitive | Done | Failed:
        """The primitive of the next step, or the end of the verb."""
        turn = self._turn(state, agent, action)
        if isinstance(turn, Reason):
            return Failed(turn)
        verb = VERBS[turn.call.verb]
        memory = verb.begin(turn) if progress is None else dict(progress)
        end = verb.end(turn, memory)
        if end is not None:
            return end
        act = verb.act(turn, memory)
        memory["issued"] += 1
        return Primitive(act.action, memory, act.declared, act.arguments)

    def settle(
        self, state: MacrafterState, agent: AgentId, action: Action, progress: Json
    ) -> Running | Done | Failed:
        """What the step that was played made of the verb."""
        turn = self._turn(state, agent, action)
        if isinstance(turn, Reason):
            return Failed(turn)
        verb, memory = VERBS[turn.call.verb], dict(progress)
        return verb.remember(turn, memory) or verb.end(turn, memory) or Running(memory)

    def estimate(
        self, state: MacrafterState, agent: AgentId, action: Action, start: Standing
    ) -> Standing:
        """Steps, place, holdings and task after the action, by arithmetic alone."""
        turn = self._turn(state, agent, action)
        if isinstance(turn, Reason):
            return start
        return _ESTIMATES[turn.call.verb](turn, start)

    def _turn(self, state: MacrafterState, agent: AgentId, action: Action) -> Turn | Reason:
        call = read_call(action, self._specs, self.config.agents)
        if isinstance(call, Reason):
            return call
        return Turn(self.config, self.table, look(self.config, state, agent), call)

    def _wrong_kind(self, call: Call) -> Reason | None:
        """A target of a kind that the verb cannot be about."""
        name = (read_id(call.target) or (call.target, 0, 0))[0]
        allowed = {"attack": TARGETS, "collect": (*source_names(self.config, self.table), *TARGETS)}
        kinds = allowed.get(call.verb)
        if kinds is None or name in kinds or name not in ("cell", "agent", *STATIONS):
            return None
        facts = {
            "field": "target",
            "value": call.target[:40],
            "limits": f"ids of {', '.join(kinds)}",
        }
        return Reason("bad_argument", facts)


# --- estimates -----------------------------------------------------------------------------------


def _estimate_steps(turn: Turn, start: Standing) -> Standing:
    return Standing(start.steps + turn.call.steps, start.cell, start.holdings)


def _estimate_one(turn: Turn, start: Standing) -> Standing:
    return Standing(start.steps + 1, start.cell, start.holdings)


def _estimate_move(turn: Turn, start: Standing) -> Standing:
    assert turn.call.direction is not None
    down, right = STEPS[turn.call.direction]
    rows, columns = turn.sight.known.rows, turn.sight.known.columns
    row = min(max(start.cell[0] + down * turn.call.steps, 0), rows - 1)
    column = min(max(start.cell[1] + right * turn.call.steps, 0), columns - 1)
    return Standing(start.steps + turn.call.steps, (row, column), start.holdings)


def _estimate_navigate(turn: Turn, start: Standing) -> Standing:
    goals: tuple[Cell, ...] = () if turn.call.cell is None else (turn.call.cell,)
    thing = find_thing(turn.sight, turn.table, turn.config, turn.call.target)
    if not goals and thing is not None:
        goals = goal_cells(turn.sight.ways, thing, turn.config.reach) or (thing.cell,)
    if not goals:
        return _estimate_one(turn, start)
    goal = min(goals, key=lambda cell: (gap(start.cell, cell), cell))
    return Standing(start.steps + max(1, gap(start.cell, goal)), goal, start.holdings)


def _estimate_collect(turn: Turn, start: Standing) -> Standing:
    target = _collect_target(turn, start.cell)
    row = turn.table.collect.get((read_id(target) or ("", 0, 0))[0])
    gains = {} if row is None else {row.gives: row.amount}
    holdings = _changed(start.holdings, {}, gains)
    return Standing(start.steps + turn.call.steps, start.cell, holdings, task_number(turn, target))


def _collect_target(turn: Turn, cell: Cell) -> str:
    """The id given, or that of the first neighbour of `cell` with the name given."""
    name = collect_names(turn.config, turn.table).get(turn.call.target)
    if name is None:
        return turn.call.target
    known = turn.sight.known
    found = (other for other in neighbours(cell) if known.name(other) == name)
    first = next(found, None)
    return turn.call.target if first is None else thing_at(known, name, first).id


def _estimate_craft(turn: Turn, start: Standing) -> Standing:
    row = turn.table.make[turn.call.item]
    return Standing(start.steps + 1, start.cell, _changed(start.holdings, row.uses, {row.item: 1}))


def _estimate_place(turn: Turn, start: Standing) -> Standing:
    uses = turn.table.place[turn.call.item].uses
    return Standing(start.steps + 1, start.cell, _changed(start.holdings, uses, {}))


def _estimate_share(turn: Turn, start: Standing) -> Standing:
    held = start.holdings.get(turn.call.item, 0)
    given = {turn.call.item: min(held, turn.call.quantity)}
    return Standing(start.steps + 1, start.cell, _changed(start.holdings, given, {}))


def _estimate_sleep(turn: Turn, start: Standing) -> Standing:
    energy = start.holdings.get("energy", int(turn.sight.inventory["energy"]))
    steps = SLEEP_STEPS * (VITAL_CAP - energy)
    holdings = {**start.holdings, "energy": VITAL_CAP}
    return Standing(start.steps + max(1, steps), start.cell, holdings)


def _changed(
    held: Mapping[str, int], costs: Mapping[str, int], gains: Mapping[str, int]
) -> dict[str, int]:
    """Holdings after costs and gains, never below 0."""
    changed = dict(held)
    for item in ITEMS:
        delta = gains.get(item, 0) - costs.get(item, 0)
        if delta:
            changed[item] = max(0, changed.get(item, 0) + delta)
    return changed


_ESTIMATES = {
    "wait": _estimate_steps,
    "noop": _estimate_steps,
    "move": _estimate_move,
    "navigate": _estimate_navigate,
    "explore": _estimate_one,
    "collect": _estimate_collect,
    "attack": _estimate_one,
    "craft": _estimate_craft,
    "place": _estimate_place,
    "share": _estimate_share,
    "sleep": _estimate_sleep,
    "rendezvous": _estimate_one,
}
