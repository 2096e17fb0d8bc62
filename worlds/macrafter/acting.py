"""Verbs of work: collect, attack, craft, place, share, sleep.

What they need of others or of the world is not checked beforehand: the verb tries, the attempt is
on record, and the verb fails with the world's reason. Further keys of a memory: tries, tried (the
last primitive was the try itself), asleep (before the last step).
"""

from __future__ import annotations

from collections.abc import Mapping

from worlds.api import NO_TASK, Attempt, Cell, Done, Failed, Json, Reason
from worlds.macrafter.last_step import is_success, last_attempt, last_score, reason_of
from worlds.macrafter.nearest import gap
from worlds.macrafter.sight import Thing, line, read_id
from worlds.macrafter.state import ACTIONS, ITEMS, OUTCOMES, VITAL_CAP
from worlds.macrafter.verbs import collect_names
from worlds.macrafter.walking import (
    MOVES,
    NOOP,
    PATIENCE,
    Act,
    Turn,
    Verb,
    failed,
    held_up,
    note_place,
    resolve,
    took_step,
)

__all__ = ["ACTING", "task_number"]

DO = ACTIONS.index("do")
SLEEP = ACTIONS.index("sleep")
SHARE = ACTIONS.index("share")
PLACE_MOVES = 3
"""Moves of `place` in search of a cell, before it gives up."""
AGAIN = ("too_few_participants", "no_yield")
"""Reasons after which a verb tries again as long as it has tries left."""
ENERGY = ITEMS.index("energy")


def _begin(turn: Turn) -> dict[str, Json]:
    return {
        "issued": 0,
        "stuck": 0,
        "cell": list(turn.sight.cell),
        "before": None,
        "tries": 0,
        "tried": False,
        "asleep": turn.sight.is_asleep,
    }


def _never(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    """Over only by what a step brought."""
    return None


def _try(turn: Turn, memory: dict[str, Json], act: Act) -> Act:
    memory["tried"], memory["asleep"] = True, turn.sight.is_asleep
    return act


def _turn(turn: Turn, memory: dict[str, Json], direction: int) -> Act:
    memory["tried"], memory["asleep"] = False, turn.sight.is_asleep
    return Act(MOVES[direction])


def _was_tried(memory: dict[str, Json]) -> bool:
    """Whether the last step was a try; a sleeper only sleeps."""
    return bool(memory["tried"] and not memory["asleep"])


def _is_done(turn: Turn) -> bool:
    return OUTCOMES[turn.sight.state.agent_outcome[0, turn.sight.agent]] == "done"


def _why(turn: Turn) -> Failed:
    """The world's reason with the facts of its sentence."""
    state, agent = turn.sight.state, turn.sight.agent
    code = reason_of(state, agent) or "none"
    attempt = last_attempt(state, turn.table, agent)
    facts: dict[str, Json] = {"need": 1, "participation": 0, "tool": "a tool"}
    if attempt is not None:
        row = turn.table.collect.get(attempt.task.partition("@")[0])
        facts = {
            "need": attempt.need,
            "participation": attempt.participation,
            "tool": (row and row.tool) or "a tool",
        }
    return Failed(Reason(code, {name: facts[name] for name in _FACTS.get(code, ())}))


_FACTS: Mapping[str, tuple[str, ...]] = {
    "too_few_participants": ("need", "participation"),
    "missing_tool": ("tool",),
}


def _again_or_why(turn: Turn, memory: dict[str, Json]) -> Failed | None:
    """None while another try is in order, else the reason of the last one."""
    reason = reason_of(turn.sight.state, turn.sight.agent)
    if reason in AGAIN and memory["tries"] < turn.call.steps:
        return None
    return _why(turn)


# --- collect -------------------------------------------------------------------------------------


def task_number(turn: Turn, id: str) -> int:
    """Number of the collect task that a source or creature id names; NO_TASK for other ids."""
    parts = read_id(id)
    if parts is None:
        return NO_TASK
    name, first, second = parts
    known = turn.sight.known
    if second >= 0 and name in turn.table.collect and known.is_inside((first, second)):
        return first * known.columns + second
    return known.material.size + first if second < 0 and name in turn.table.creature else NO_TASK


def _begin_collect(turn: Turn) -> dict[str, Json]:
    return {**_begin(turn), "id": None, "missed": False}


def _end_collect(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if memory["id"] is None:
        memory["id"] = _choose(turn)
    if memory["id"] is None:
        return failed("nothing_in_reach")
    return failed("not_in_reach") if memory["stuck"] >= PATIENCE else None


def _choose(turn: Turn) -> str | None:
    """The id given, or for a name the first that matches: faced, then up, down, left, right."""
    name = collect_names(turn.config, turn.table).get(turn.call.target)
    if name is None:
        return turn.call.target
    facing = turn.sight.facing
    for direction in (facing,) if name == "grass" else (facing, 0, 1, 2, 3):
        thing = line(turn.sight, turn.table, turn.config, direction)
        if thing is not None and thing.name == name:
            return thing.id
    return None


def _act_collect(turn: Turn, memory: dict[str, Json]) -> Act:
    sight, id = turn.sight, memory["id"]
    number = task_number(turn, id)
    for direction in (sight.facing, 0, 1, 2, 3):
        thing = line(sight, turn.table, turn.config, direction)
        if thing is not None and thing.id == id:
            if direction == sight.facing:
                return _try(turn, memory, Act(DO, number))
            return _turn(turn, memory, direction)._replace(declared=number)
    memory["missed"] = True
    faced = line(sight, turn.table, turn.config, sight.facing)
    return _try(turn, memory, Act(DO if faced is None else NOOP, number))


def _remember_collect(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if not _was_tried(memory):
        memory["stuck"] += not memory["asleep"]
        return None
    if memory["missed"]:
        return failed("not_in_reach")
    memory["stuck"] = 0
    attempt = last_attempt(turn.sight.state, turn.table, turn.sight.agent)
    if _is_done(turn):
        is_hit = reason_of(turn.sight.state, turn.sight.agent) == "hit"
        return None if is_hit else _collected(turn, attempt)
    memory["tries"] += 1
    return _again_or_why(turn, memory)


def _collected(turn: Turn, attempt: Attempt | None) -> Done:
    if attempt is None:
        return Done({})
    name = attempt.task.partition("@")[0]
    row = turn.table.collect.get(name) or turn.table.creature.get(name.rpartition("_")[0])
    amount = row.amount if row else 0
    score = int(last_score(turn.sight.state, turn.sight.agent))
    return Done({"amount": amount, "participants": attempt.participation, "score": score})


# --- attack --------------------------------------------------------------------------------------


def _end_attack(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    thing = resolve(turn, memory)
    if isinstance(thing, Failed):
        return thing
    if thing.cell not in turn.sight.things:
        return failed("target_lost", target=turn.call.target)
    if memory["issued"] >= turn.call.timeout:
        return failed("timeout", steps=memory["issued"])
    if gap(thing.cell, turn.sight.cell) == 1 or _is_faced(turn, thing):
        return None
    return held_up(turn, memory, turn.sight.ways.stand_cells(thing.cell, turn.config.reach))


def _is_faced(turn: Turn, thing: Thing) -> bool:
    faced = line(turn.sight, turn.table, turn.config, turn.sight.facing)
    return faced is not None and faced.id == thing.id


def _act_attack(turn: Turn, memory: dict[str, Json]) -> Act:
    thing = resolve(turn, memory)
    assert isinstance(thing, Thing)
    if _is_faced(turn, thing):
        return _try(turn, memory, Act(DO, thing.number))
    for direction in range(4):
        if turn.sight.faced(direction) == thing.cell:
            return _turn(turn, memory, direction)._replace(declared=thing.number)
    memory["tried"], memory["asleep"] = False, turn.sight.is_asleep
    return took_step(turn, turn.sight.ways.stand_cells(thing.cell, turn.config.reach))


def _remember_attack(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if not _was_tried(memory):
        note_place(turn, memory)
        return None
    memory["stuck"] = 0
    attempt = last_attempt(turn.sight.state, turn.table, turn.sight.agent)
    if attempt is None or attempt.task != turn.call.target or not is_success(attempt):
        return None
    return None if attempt.reason == "hit" else _collected(turn, attempt)


# --- craft, place --------------------------------------------------------------------------------


def _act_craft(turn: Turn, memory: dict[str, Json]) -> Act:
    return _try(turn, memory, Act(ACTIONS.index(f"make_{turn.call.item}")))


def _remember_craft(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if not _was_tried(memory):
        return None
    memory["tries"] += 1
    if not _is_done(turn):
        return _again_or_why(turn, memory)
    attempt = last_attempt(turn.sight.state, turn.table, turn.sight.agent)
    return Done({"item": turn.call.item, "participants": attempt.participation if attempt else 1})


def _begin_place(turn: Turn) -> dict[str, Json]:
    return {**_begin(turn), "moves": 0}


def _end_place(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if _takes(turn, turn.sight.faced()):
        return None
    if memory["moves"] >= PLACE_MOVES or _place_direction(turn) is None:
        return failed("no_place")
    return None


def _takes(turn: Turn, cell: Cell) -> bool:
    """Whether the cell can take the object, as far as the agent sees."""
    ground = turn.table.place[turn.call.item].on
    return turn.sight.known.name(cell) in ground and cell not in turn.sight.things


def _place_direction(turn: Turn) -> int | None:
    """Where to turn without leaving the cell, else where to step so that the next cell takes it."""
    sight = turn.sight
    for direction in range(4):
        cell = sight.faced(direction)
        is_closed = not sight.known.walks(cell) and sight.known.name(cell) != "lava"
        if is_closed and _takes(turn, cell):
            return direction
    for direction in range(4):
        (row, column), cell = sight.cell, sight.faced(direction)
        beyond = (2 * cell[0] - row, 2 * cell[1] - column)
        if sight.is_free(cell) and _takes(turn, beyond):
            return direction
    return None


def _act_place(turn: Turn, memory: dict[str, Json]) -> Act:
    if _takes(turn, turn.sight.faced()):
        return _try(turn, memory, Act(ACTIONS.index(f"place_{turn.call.item}")))
    direction = _place_direction(turn)
    assert direction is not None
    memory["moves"] += 1
    return _turn(turn, memory, direction)


# --- share, sleep --------------------------------------------------------------------------------


def _act_share(turn: Turn, memory: dict[str, Json]) -> Act:
    call = turn.call
    gift = (call.recipient, ITEMS.index(call.item), call.quantity)
    return _try(turn, memory, Act(SHARE, NO_TASK, gift))


def _remember_share(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    if not _was_tried(memory):
        return None
    if not _is_done(turn):
        return _why(turn)
    return Done({"amount": int(turn.sight.state.share_amount[0, turn.sight.agent])})


def _end_sleep(turn: Turn, memory: dict[str, Json]) -> Done | Failed | None:
    energy = int(turn.sight.state.inventory[0, turn.sight.agent, ENERGY])
    if not memory["issued"]:
        return failed("not_tired") if energy >= VITAL_CAP else None
    return None if turn.sight.is_asleep else Done({"energy": energy, "hurt": energy < VITAL_CAP})


def _act_sleep(turn: Turn, memory: dict[str, Json]) -> Act:
    return _try(turn, memory, Act(SLEEP))


ACTING: Mapping[str, Verb] = {
    "collect": Verb(_begin_collect, _end_collect, _act_collect, _remember_collect),
    "attack": Verb(_begin, _end_attack, _act_attack, _remember_attack),
    "craft": Verb(_begin, _never, _act_craft, _remember_craft),
    "place": Verb(_begin_place, _end_place, _act_place, _remember_craft),
    "share": Verb(_begin, _never, _act_share, _remember_share),
    "sleep": Verb(_begin, _end_sleep, _act_sleep, _never),
}
"""Verbs of this file by name."""
