"""The state of MA-Crafter: a batch of worlds as arrays, its codes, and the ids of things."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.grid import DIRECTION_NAMES
from worlds.api import NO_ATTEMPT, AttemptColumn, Cell

__all__ = [
    "ACHIEVEMENTS",
    "ACTION",
    "ACTIONS",
    "ATTEMPT_ACTIONS",
    "ATTEMPT_COLUMNS",
    "COLUMN",
    "COUNTERS",
    "CREATURES",
    "CREATURE_LETTERS",
    "FACINGS",
    "HARMS",
    "ITEM",
    "ITEMS",
    "MAKES",
    "MATERIALS",
    "MATERIAL_LETTERS",
    "NOWHERE",
    "OBJECTS",
    "OBJECT_AGENT",
    "OUTCOMES",
    "PLACES",
    "REASONS",
    "ROW",
    "THINGS",
    "VITALS",
    "WALKABLE",
    "MacrafterState",
    "allocate",
    "cell_id",
    "creature_id",
    "creature_slots",
    "is_over",
]

MATERIALS = (
    "outside",
    "water",
    "grass",
    "stone",
    "path",
    "sand",
    "tree",
    "lava",
    "coal",
    "iron",
    "diamond",
    "table",
    "furnace",
)
"""Names of `material`, by id."""
MATERIAL_LETTERS = " ~.S,:TLCIDBF"
"""The letter of each material in a drawing, by id."""
WALKABLE = ("grass", "path", "sand")
"""Materials an agent or creature can stand on."""

CREATURES = ("none", "cow", "zombie", "skeleton", "arrow", "plant")
"""Names of `creature_kind`, by code."""
CREATURE_LETTERS = " czk p"
"""The letter of each creature in a drawing; an arrow has the sign of its facing, a ripe plant P."""
FACINGS = DIRECTION_NAMES
"""Names of facings, by index."""
ARROW_LETTERS = "^v<>"
"""The letter of an arrow, by facing."""
RIPE_LETTER = "P"
OBJECT_AGENT = len(MATERIALS)
OBJECTS = {
    0: "none",
    OBJECT_AGENT: "agent",
    **{OBJECT_AGENT + kind: name for kind, name in enumerate(CREATURES) if kind > 0},
}
"""Names of object codes in views, frames and `state()`."""

ITEMS = (
    "health",
    "food",
    "drink",
    "energy",
    "sapling",
    "wood",
    "stone",
    "coal",
    "iron",
    "diamond",
    "wood_pickaxe",
    "stone_pickaxe",
    "iron_pickaxe",
    "wood_sword",
    "stone_sword",
    "iron_sword",
)
VITALS = ITEMS[:4]
"""Items that are neither shared nor carried."""
VITAL_CAP = 9

COUNTERS = ("hunger", "thirst", "fatigue", "recovery")
"""Names of the columns of `counters`."""

MAKES = ITEMS[10:]
"""Items made at stations, in the order of the `make` actions."""
PLACES = ("stone", "table", "furnace", "plant")
"""Objects placed, in the order of the `place` actions."""
ACTIONS = (
    "noop",
    "move_left",
    "move_right",
    "move_up",
    "move_down",
    "do",
    "sleep",
    *(f"place_{name}" for name in PLACES),
    "make_wood_pickaxe",
    "make_stone_pickaxe",
    "make_iron_pickaxe",
    "make_wood_sword",
    "make_stone_sword",
    "make_iron_sword",
    "share",
)

ACHIEVEMENTS = (
    "collect_coal",
    "collect_diamond",
    "collect_drink",
    "collect_iron",
    "collect_sapling",
    "collect_stone",
    "collect_wood",
    "defeat_skeleton",
    "defeat_zombie",
    "eat_cow",
    "eat_plant",
    "make_iron_pickaxe",
    "make_iron_sword",
    "make_stone_pickaxe",
    "make_stone_sword",
    "make_wood_pickaxe",
    "make_wood_sword",
    "place_furnace",
    "place_plant",
    "place_stone",
    "place_table",
    "wake_up",
)

OUTCOMES = ("idle", "done", "failed")
REASONS = (
    "none",
    "wall",
    "agent",
    "creature",
    "ground",
    "nothing_in_reach",
    "not_in_reach",
    "too_few_participants",
    "missing_tool",
    "missing_items",
    "no_station",
    "occupied",
    "wrong_ground",
    "out_of_bounds",
    "not_ripe",
    "no_yield",
    "hit",
    "no_arguments",
    "no_such_recipient",
    "not_shareable",
    "too_far",
    "nothing_to_give",
    "recipient_full",
    "not_tired",
    "no_room",
    "waiting",
    "success",
)
"""Names of `agent_reason` and of the attempt column REASON, by code."""
HARMS = ("needs", "lava", "zombie", "arrow")
"""Names of the bits of `agent_harm`, lowest first."""

ACTION = AttemptColumn.REASON + 1
ITEM = AttemptColumn.REASON + 2
ROW = AttemptColumn.REASON + 3
COLUMN = AttemptColumn.REASON + 4
ATTEMPT_COLUMNS = AttemptColumn.REASON + 5
ATTEMPT_ACTIONS = ("collect", "collect", "craft", "place")
"""Names of the attempt column ACTION: from a cell, from a creature, at a station, on a cell."""
THINGS = (*ITEMS, "table", "furnace", *CREATURES[1:])
"""Names of the attempt column ITEM: what is collected, made or placed, or whom it is tried on."""

NOWHERE = -1
"""Row and column of the dead, and of an attempt without a cell."""
LEAST_SLOTS = 64
CELLS_PER_SLOT = 8


class MacrafterState(NamedTuple):
    """A batch of B worlds of H x W cells with A agents, K creature slots and I items.

    stream: [B, 2] uint64, key and counter.
    step: [B] int32, steps taken.
    light: [B] float64, daylight in 0..1.
    material: [B, H, W] uint8, index of MATERIALS.
    occupant: [B, H, W] int32, 0 free, a + 1 agent a, -(k + 1) the creature in slot k.
    agent_cell: [B, A, 2] int16, (row, column); (NOWHERE, NOWHERE) once dead.
    agent_facing: [B, A] uint8, index of FACINGS.
    is_alive, is_asleep: [B, A] bool.
    inventory: [B, A, I] int16, units by index of ITEMS.
    last_health: [B, A] int16, health after the last stage `needs`.
    counters: [B, A, 4] int16, hunger, thirst (half steps), fatigue (steps), recovery (half steps).
    achievements: [B, A, 22] int32, times by index of ACHIEVEMENTS.
    creature_kind: [B, K] uint8, index of CREATURES; 0 is a free slot.
    creature_cell: [B, K, 2] int16, (row, column).
    creature_health: [B, K] int16.
    creature_timer: [B, K] int16, zombie cooldown, skeleton reload, plant age (stops at 301).
    creature_facing: [B, K] uint8, index of FACINGS; where an arrow flies, else the last step.
    creature_serial: [B, K] int32, number of the creature for the whole episode.
    creature_born: [B, K] int32, step of birth; -1 at generation.
    next_serial: [B] int32. New creatures take the lowest free slot, so every slot in use is
        below it.
    known: [B, A, H, W] uint8, material last seen there by the agent, 0 never seen.
    score: [B] float64, team score.
    is_terminated: [B, A] bool, dead.
    is_truncated: [B] bool, out of steps with somebody alive.
    agent_outcome, agent_reason: [B, A] uint8, indices of OUTCOMES and REASONS.
    agent_harm: [B, A] uint8, bits in the order of HARMS.
    share_amount: [B, A] int16, units given in the last step.
    attempt_count: [B] int16, rows of `attempts` in use.
    attempts: [B, A, 15] int32, one row a task; the columns every world shares, then ACTION,
        ITEM (index of THINGS), ROW, COLUMN.
    attempt_score: [B, A] float64, score of the row's event.
    agent_attempt: [B, A] int16, row of the agent or NO_ATTEMPT.
    agent_part: [B, A] uint8, bits of Part; 0 without a row.
    """

    stream: NDArray[np.uint64]
    step: NDArray[np.int32]
    light: NDArray[np.float64]
    material: NDArray[np.uint8]
    occupant: NDArray[np.int32]
    agent_cell: NDArray[np.int16]
    agent_facing: NDArray[np.uint8]
    is_alive: NDArray[np.bool_]
    is_asleep: NDArray[np.bool_]
    inventory: NDArray[np.int16]
    last_health: NDArray[np.int16]
    counters: NDArray[np.int16]
    achievements: NDArray[np.int32]
    creature_kind: NDArray[np.uint8]
    creature_cell: NDArray[np.int16]
    creature_health: NDArray[np.int16]
    creature_timer: NDArray[np.int16]
    creature_facing: NDArray[np.uint8]
    creature_serial: NDArray[np.int32]
    creature_born: NDArray[np.int32]
    next_serial: NDArray[np.int32]
    known: NDArray[np.uint8]
    score: NDArray[np.float64]
    is_terminated: NDArray[np.bool_]
    is_truncated: NDArray[np.bool_]
    agent_outcome: NDArray[np.uint8]
    agent_reason: NDArray[np.uint8]
    agent_harm: NDArray[np.uint8]
    share_amount: NDArray[np.int16]
    attempt_count: NDArray[np.int16]
    attempts: NDArray[np.int32]
    attempt_score: NDArray[np.float64]
    agent_attempt: NDArray[np.int16]
    agent_part: NDArray[np.uint8]


def creature_slots(height: int, width: int, agents: int) -> int:
    """How many creatures a map can hold."""
    return max(LEAST_SLOTS, -(-height * width // CELLS_PER_SLOT)) + agents


def allocate(worlds: int, agents: int, height: int, width: int) -> MacrafterState:
    """An empty batch: no material, nobody on the map, full vitals, no step taken."""
    slots = creature_slots(height, width, agents)
    teams, crowds, maps = (worlds, agents), (worlds, slots), (worlds, height, width)
    inventory = np.zeros((*teams, len(ITEMS)), np.int16)
    inventory[:, :, : len(VITALS)] = VITAL_CAP
    return MacrafterState(
        stream=np.zeros((worlds, 2), np.uint64),
        step=np.zeros(worlds, np.int32),
        light=np.ones(worlds, np.float64),
        material=np.zeros(maps, np.uint8),
        occupant=np.zeros(maps, np.int32),
        agent_cell=np.full((*teams, 2), NOWHERE, np.int16),
        agent_facing=np.full(teams, FACINGS.index("down"), np.uint8),
        is_alive=np.ones(teams, np.bool_),
        is_asleep=np.zeros(teams, np.bool_),
        inventory=inventory,
        last_health=np.full(teams, VITAL_CAP, np.int16),
        counters=np.zeros((*teams, 4), np.int16),
        achievements=np.zeros((*teams, len(ACHIEVEMENTS)), np.int32),
        creature_kind=np.zeros(crowds, np.uint8),
        creature_cell=np.zeros((*crowds, 2), np.int16),
        creature_health=np.zeros(crowds, np.int16),
        creature_timer=np.zeros(crowds, np.int16),
        creature_facing=np.zeros(crowds, np.uint8),
        creature_serial=np.zeros(crowds, np.int32),
        creature_born=np.zeros(crowds, np.int32),
        next_serial=np.zeros(worlds, np.int32),
        known=np.zeros((*teams, height, width), np.uint8),
        score=np.zeros(worlds, np.float64),
        is_terminated=np.zeros(teams, np.bool_),
        is_truncated=np.zeros(worlds, np.bool_),
        agent_outcome=np.zeros(teams, np.uint8),
        agent_reason=np.zeros(teams, np.uint8),
        agent_harm=np.zeros(teams, np.uint8),
        share_amount=np.zeros(teams, np.int16),
        attempt_count=np.zeros(worlds, np.int16),
        attempts=np.zeros((*teams, ATTEMPT_COLUMNS), np.int32),
        attempt_score=np.zeros(teams, np.float64),
        agent_attempt=np.full(teams, NO_ATTEMPT, np.int16),
        agent_part=np.zeros(teams, np.uint8),
    )


def cell_id(name: str, cell: Cell) -> str:
    """Text id of something that has a cell, as `coal@31,41`."""
    return f"{name}@{cell[0]},{cell[1]}"


def creature_id(kind: str, serial: int) -> str:
    """Text id of a creature, as `cow_12`."""
    return f"{kind}_{serial}"


def is_over(state: MacrafterState) -> bool:
    """Whether the one world of `state` has ended."""
    return bool(state.is_truncated[0] or state.is_terminated[0].all())
