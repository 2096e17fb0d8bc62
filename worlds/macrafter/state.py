"""The state of MA-Crafter: a batch of worlds as arrays, its codes, and the ids of things."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from primitives.grid import DIRECTION_NAMES
from primitives.macrafter_batch import MacrafterState
from worlds.api import NO_ATTEMPT, AttemptColumn, Cell
from worlds.errors import LayoutError

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
    "check_layout",
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


def creature_slots(height: int, width: int, agents: int) -> int:
    """How many creatures a map can hold."""
    return max(LEAST_SLOTS, -(-height * width // CELLS_PER_SLOT)) + agents


_LAYOUT: Mapping[str, tuple[str, type[np.generic]]] = {
    "stream": ("B 2", np.uint64),
    "step": ("B", np.int32),
    "light": ("B", np.float64),
    "material": ("B H W", np.uint8),
    "occupant": ("B H W", np.int32),
    "agent_cell": ("B A 2", np.int16),
    "agent_facing": ("B A", np.uint8),
    "is_alive": ("B A", np.bool_),
    "is_asleep": ("B A", np.bool_),
    "inventory": ("B A I", np.int16),
    "last_health": ("B A", np.int16),
    "counters": ("B A 4", np.int16),
    "achievements": ("B A 22", np.int32),
    "creature_kind": ("B K", np.uint8),
    "creature_cell": ("B K 2", np.int16),
    "creature_health": ("B K", np.int16),
    "creature_timer": ("B K", np.int16),
    "creature_facing": ("B K", np.uint8),
    "creature_serial": ("B K", np.int32),
    "creature_born": ("B K", np.int32),
    "next_serial": ("B", np.int32),
    "known": ("B A H W", np.uint8),
    "score": ("B", np.float64),
    "is_terminated": ("B A", np.bool_),
    "is_truncated": ("B", np.bool_),
    "agent_outcome": ("B A", np.uint8),
    "agent_reason": ("B A", np.uint8),
    "agent_harm": ("B A", np.uint8),
    "share_amount": ("B A", np.int16),
    "attempt_count": ("B", np.int16),
    "attempts": ("B A 15", np.int32),
    "attempt_score": ("B A", np.float64),
    "agent_attempt": ("B A", np.int16),
    "agent_part": ("B A", np.uint8),
}
"""Shape and dtype of each array; letters as in MacrafterState."""


@lru_cache(maxsize=32)
def _layout(
    worlds: int, agents: int, height: int, width: int
) -> tuple[tuple[str, tuple[int, ...], np.dtype[Any]], ...]:
    sizes = {"B": worlds, "A": agents, "H": height, "W": width, "I": len(ITEMS)}
    sizes["K"] = creature_slots(height, width, agents)
    return tuple(
        (name, tuple(sizes.get(part) or int(part) for part in letters.split()), np.dtype(dtype))
        for name, (letters, dtype) in _LAYOUT.items()
    )


def allocate(worlds: int, agents: int, height: int, width: int) -> MacrafterState:
    """An empty batch: no material, nobody on the map, full vitals, no step taken."""
    state = MacrafterState._make(
        np.zeros(shape, dtype) for _, shape, dtype in _layout(worlds, agents, height, width)
    )
    state.light[:] = 1.0
    state.agent_cell[:] = NOWHERE
    state.agent_facing[:] = FACINGS.index("down")
    state.is_alive[:] = True
    state.inventory[:, :, : len(VITALS)] = VITAL_CAP
    state.last_health[:] = VITAL_CAP
    state.agent_attempt[:] = NO_ATTEMPT
    return state


def check_layout(state: MacrafterState) -> None:
    """Raise LayoutError, naming both, if an array has another shape or dtype than it must."""
    sizes = (*state.agent_part.shape, *state.material.shape[1:])
    arrays: tuple[np.ndarray, ...] = tuple(state)
    for array, (name, shape, dtype) in zip(arrays, _layout(*sizes), strict=True):
        if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
            raise LayoutError(
                f"{name} is {list(array.shape)} {array.dtype}; needed: {list(shape)} "
                f"{dtype}, contiguous"
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
