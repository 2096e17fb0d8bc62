"""Verbs of place: wait, move, navigate, explore, rendezvous; and the path rule they share.

Each verb has a row in the tables at the end: how its memory begins, when it is over, what it does
next, and what it takes in after a step. Keys of a memory: issued (primitives given), stuck (in a
row without progress), cell and before (where the agent was one and two steps ago), and the verb's
own. Coming back to the cell of two steps ago is no progress: whoever swings between a way that is
blocked in view and one that only seems free out of view is stuck.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.navigation import NO_DIRECTION, downhill
from worlds.api import NO_TASK, Cell, Done, Failed, Json, Reason
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.ground import STEPS, Ground
from worlds.macrafter.last_step import reason_of
from worlds.macrafter.nearest import gap, goal_cells
from worlds.macrafter.sight import Sight, Thing, find_thing
from worlds.macrafter.state import ACTIONS, FACINGS, MATERIALS
from worlds.macrafter.table import STATIONS, Table
from worlds.macrafter.verbs import Call

__all__ = [
    "MOVES",
    "NOOP",
    "WALKING",
    "Act",
    "Turn",
    "Verb",
    "failed",
    "held_up",
    "need_of",
    "note_place",
    "resolve",
    "route",
    "took_step",
]

PATIENCE = 5
"""Steps in a row without progress before a way that others hold is given up."""
NOOP = ACTIONS.index("noop")
MOVES = tuple(ACTIONS.index(f"move_{name}") for name in FACINGS)
"""Action that moves in each direction."""


class Turn(NamedTuple):
    """One agent at one moment, and the verb it is about."""

    config: MacrafterConfig
    table: Table
    sight: Sight
    call: Call


class Act(NamedTuple):
    """A primitive action with what goes along with it."""

    action: int
    declared: int = NO_TASK
    arguments: tuple[int, ...] = ()


class Verb(NamedTuple):
    """How a verb begins, ends, acts and remembers; `end` is asked before and after each step."""

    begin: Callable[[Turn], dict[str, Json]]
    end: Callable[[Turn, dict[str, Json]], Done | Failed | None]
    act: Callable[[Turn, dict[str, Json]], Act]
    remember: Callable[[Turn, dict[str, Json]], Done | Failed | None]
    """Takes in the step that was played; what it returns ends the verb."""


class Route(NamedTuple):
    """`open`, `held` by others, or `none`; and the direction, NO_DIRECTION to stay."""

    kind: str
    direction: int


def failed(code: str, **facts: Json) -> Failed:
    """The failure of that code."""
    return Failed(Reason(code, facts))


# --- the path rule -------------------------------------------------------------------------------


def route(sight: Sight, goals: tuple[Cell, ...]) -> Route:
    """The next step towards the goals: round what is seen, else as if it were not there."""
    obstacles = tuple(sight.things)
    row, column = sight.cell
    free = tuple(goal for goal in goals if goal not in sight.things)
    if free:
        direction = int(downhill(sight.ways.field(free, obstacles), row, column))
        if direction != NO_DIRECTION:
            return Route("open", direction)
    if not obstacles or not goals:
        return Route("none", NO_DIRECTION)
    direction = int(downhill(sight.ways.field(goals), row, column))
    if direction == NO_DIRECTION:
        return Route("none", NO_DIRECTION)
    is_free = sight.faced(direction) not in sight.things
    return Route("held", direction if is_free else NO_DIRECTION)


def held_up(turn: Turn, memory: dict[str, Json], goals: tuple[Cell, ...]) -> Failed | None:
    """The failure of a way: `no_path` where none leads, `blocked` after too long a wait."""
    way = route(turn.sight, goals)
    if way.kind == "none":
        return failed("no_path")
    if memory["stuck"] >= PATIENCE:
        return failed("blocked", steps=memory["stuck"])
    return None


def took_step(turn: Turn, goals: tuple[Cell, ...]) -> Act:
    """The primitive of the path rule."""
    direction = route(turn.sight, goals).direction
    return Act(NOOP if direction == NO_DIRECTION else MOVES[direction])


def resolve(turn: Turn, memory: dict[str, Json]) -> Thing | Failed:
    """What the target names now; a moving one that is out of view is where it was last seen."""
    sight, target = turn.sight, turn.call.target
    thing = find_thing(sight, turn.table, turn.config, target)
    if thing is not None:
        memory["seen"] = list(thing.cell)
        return thing
    seen = memory.get("seen")
    if seen is None:
        return failed("unknown_reference", reference=target)
    cell = (seen[0], seen[1])
    if "@" in target or sight.sees(cell):
        return failed("target_lost", target=target)
    return Thing(target, "agent" if target.startswith("agent_") else "creature", "", cell, NO_TASK)


def need_of(table: Table, thing: Thing) -> int:
    """How many agents a thing asks for; 1 where it asks for none."""
    if thing.name in table.collect:
        return table.collect[thing.name].agents
    return table.creature[thing.name].agents if thing.name in table.creature else 1


# --- memory --------------------------------------------------------------------------------------


def _begin(turn: Turn) -> dict[str, Json]:
    return {"issued": 0, "stuck": 0, "cell": list(turn.sight.cell), "before": None}


def _begin_move(turn: Turn) -> dict[str, Json]:
    return {**_begin(turn), "moved": 0, "reason": None}


def _begin_explore(turn: Turn) -> dict[str, Json]:
    cells, ids = _extent(turn.sight.known)
    start = list(turn.sight.cell)
    return {**_begin(turn), "start": start, "frontier": None, "cells": cells, "ids": ids}


def _remember(turn: Turn, memory: dict[str, Json]) -> None:
    note_place(turn, memory)


def note_place(turn: Turn, memory: dict[str, Json]) -> None:
    """Take in where the last step led, and whether that is progress."""
    cell = list(turn.sight.cell)
    is_stuck = cell in (memory["cell"], memory["before"])
    memory["stuck"] = memory["stuck"] + 1 if is_stuck else 0
    memory["before"], memory["cell"] = memory["cell"], cell


def _remember_move(turn: Turn, memory: dict[str, Json]) -> None:
    if list(turn.sight.cell) != memory["cell"]:
        memory["moved"] += 1
    else:
        memory["reason"] = reason_of(turn.sight.state, turn.sight.agent)
    _remember(turn, memory)


# --- wait, move ----------------------------------------------------------------------------------


def _end_wait(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    return Done({}) if memory["issued"] >= turn.call.steps else None


def _act_wait(turn: Turn, memory: dict[str, Json]) -> Act:
    return Act(NOOP)


def _end_move(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if memory["issued"] >= turn.call.steps:
        if memory["moved"]:
            return Done({"moved": memory["moved"]})
        reason = memory["reason"]
        return failed(reason) if reason else failed("blocked", steps=memory["issued"])
    ahead = turn.sight.faced(turn.call.direction)
    return failed("lava_ahead") if turn.sight.known.name(ahead) == "lava" else None


def _act_move(turn: Turn, memory: dict[str, Json]) -> Act:
    assert turn.call.direction is not None
    return Act(MOVES[turn.call.direction])


# --- navigate ------------------------------------------------------------------------------------


def _goals(turn: Turn, thing: Thing) -> tuple[Cell, ...]:
    if turn.call.cell is not None:
        return (turn.call.cell,) if turn.sight.ways.walks(turn.call.cell) else ()
    return goal_cells(turn.sight.ways, thing, turn.config.reach)


def _end_navigate(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    thing = resolve(turn, memory)
    if isinstance(thing, Failed):
        return thing
    goals = _goals(turn, thing)
    if turn.sight.cell in goals:
        return Done({"steps": memory["issued"]})
    if memory["issued"] >= turn.call.timeout:
        return failed("timeout", steps=memory["issued"])
    return held_up(turn, memory, goals)


def _act_navigate(turn: Turn, memory: dict[str, Json]) -> Act:
    thing = resolve(turn, memory)
    assert isinstance(thing, Thing)
    return took_step(turn, _goals(turn, thing))


# --- explore -------------------------------------------------------------------------------------


def _extent(known: Ground) -> tuple[int, int]:
    """How many cells are known, and how many of them have an id of their own."""
    named = np.isin(known.material, [MATERIALS.index(name) for name in _NAMED])
    return int(np.count_nonzero(known.material)), int(named.sum())


_NAMED = ("water", "stone", "tree", "coal", "iron", "diamond", *STATIONS)


def _end_explore(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    known, chosen = turn.sight.known, memory["frontier"]
    if chosen is not None:
        frontier = (chosen[0], chosen[1])
        if turn.sight.cell == frontier or not known.frontier[frontier]:
            return _explored(turn, memory)
    if memory["issued"] >= turn.call.timeout:
        return _explored(turn, memory)
    if chosen is None:
        picked = _pick_frontier(turn, memory)
        if picked is None:
            return failed("nothing_unknown")
        memory["frontier"] = list(picked)
    return held_up(turn, memory, ((memory["frontier"][0], memory["frontier"][1]),))


def _explored(turn: Turn, memory: dict[str, Json]) -> Done:
    cells, ids = _extent(turn.sight.known)
    return Done({"cells": cells - memory["cells"], "ids": max(0, ids - memory["ids"])})


def _pick_frontier(turn: Turn, memory: dict[str, Json]) -> Cell | None:
    """The frontier with fewest steps, then row, column, on the side asked for."""
    frontier = turn.sight.known.frontier
    if turn.call.direction is not None:
        frontier = frontier & _side(frontier.shape, memory["start"], turn.call.direction)
    cells = np.argwhere(frontier)
    if not len(cells):
        return None
    steps = turn.sight.ways.field((turn.sight.cell,))[cells[:, 0], cells[:, 1]]
    row, column = cells[int(steps.argmin())].tolist()
    return row, column


def _side(shape: tuple[int, ...], start: list[int], direction: int) -> NDArray[np.bool_]:
    """[H, W] bool, cells that lie strictly on that side of `start`."""
    down, right = STEPS[direction]
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    side: NDArray[np.bool_] = (rows - start[0]) * down + (columns - start[1]) * right > 0
    return side


def _act_explore(turn: Turn, memory: dict[str, Json]) -> Act:
    return took_step(turn, ((memory["frontier"][0], memory["frontier"][1]),))


# --- rendezvous ----------------------------------------------------------------------------------


def _end_rendezvous(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    thing, reach = resolve(turn, memory), turn.config.reach
    if isinstance(thing, Failed):
        return thing
    if gap(turn.sight.cell, thing.cell) > reach:
        return failed("not_in_reach")
    others = (cell for _, cell in turn.sight.others())
    present = 1 + sum(gap(cell, thing.cell) <= reach for cell in others)
    crew = turn.call.crew
    if present >= (need_of(turn.table, thing) if crew is None else crew):
        return Done({"count": present})
    if memory["issued"] >= turn.call.timeout:
        return failed("timeout", steps=memory["issued"])
    return None


def _act_rendezvous(turn: Turn, memory: dict[str, Json]) -> Act:
    thing = resolve(turn, memory)
    assert isinstance(thing, Thing)
    return Act(NOOP, thing.number)


_WAIT = Verb(_begin, _end_wait, _act_wait, _remember)
WALKING: Mapping[str, Verb] = {
    "wait": _WAIT,
    "noop": _WAIT,
    "move": Verb(_begin_move, _end_move, _act_move, _remember_move),
    "navigate": Verb(_begin, _end_navigate, _act_navigate, _remember),
    "explore": Verb(_begin_explore, _end_explore, _act_explore, _remember),
    "rendezvous": Verb(_begin, _end_rendezvous, _act_rendezvous, _remember),
}
"""Verbs of this file by name."""
