"""The arrays of a batch of MA-Crafter worlds, as a tuple and by address."""

from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from primitives.actions import COMMON_COLUMNS
from primitives.address import addresses, array_at
from primitives.attempt_kernels import (
    ITEMS,
    RECIPE_COLUMNS,
    RECIPES,
    SETTINGS,
    TARGET_COLUMNS,
    WORK_COLUMNS,
    YIELD_COLUMNS,
    MacrafterTable,
    MacrafterWork,
)
from primitives.balance_kernels import SPECIES
from primitives.compile import expanded, merged
from primitives.creature_kernels import CHUNK, KINDS, Chunks
from primitives.terrain_kernels import MATERIALS

COUNTERS = 4
ACHIEVEMENTS = 22
COLUMNS = COMMON_COLUMNS + 4
DAY = 300
SIZES = 5
"""The first entries of a handle: B, A, H, W, K."""


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


FIELDS = len(MacrafterState._fields)
TOOLS = SIZES + FIELDS
"""First entry of the addresses of buffers and table."""


def handle_of(state: MacrafterState, work: MacrafterWork, table: MacrafterTable) -> Any:
    """All arrays of a step by address; right while they live.

    The arrays are C-contiguous, of the dtypes and shapes of their classes.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return state, work, table
    sizes = (*state.is_alive.shape, *state.material.shape[1:], state.creature_kind.shape[1])
    tools = (work.agent, work.key, *work.chunks, *table)
    return np.array([*sizes, *addresses(state), *addresses(tools)], np.int64)


@merged
def state_at(at: NDArray[np.int64]) -> MacrafterState:
    """The state behind a handle."""
    b, a, h, w, k = at[0], at[1], at[2], at[3], at[4]
    return MacrafterState(
        array_at(at[SIZES + 0], (b, 2), np.uint64),
        array_at(at[SIZES + 1], (b,), np.int32),
        array_at(at[SIZES + 2], (b,), np.float64),
        array_at(at[SIZES + 3], (b, h, w), np.uint8),
        array_at(at[SIZES + 4], (b, h, w), np.int32),
        array_at(at[SIZES + 5], (b, a, 2), np.int16),
        array_at(at[SIZES + 6], (b, a), np.uint8),
        array_at(at[SIZES + 7], (b, a), np.bool_),
        array_at(at[SIZES + 8], (b, a), np.bool_),
        array_at(at[SIZES + 9], (b, a, ITEMS), np.int16),
        array_at(at[SIZES + 10], (b, a), np.int16),
        array_at(at[SIZES + 11], (b, a, COUNTERS), np.int16),
        array_at(at[SIZES + 12], (b, a, ACHIEVEMENTS), np.int32),
        array_at(at[SIZES + 13], (b, k), np.uint8),
        array_at(at[SIZES + 14], (b, k, 2), np.int16),
        array_at(at[SIZES + 15], (b, k), np.int16),
        array_at(at[SIZES + 16], (b, k), np.int16),
        array_at(at[SIZES + 17], (b, k), np.uint8),
        array_at(at[SIZES + 18], (b, k), np.int32),
        array_at(at[SIZES + 19], (b, k), np.int32),
        array_at(at[SIZES + 20], (b,), np.int32),
        array_at(at[SIZES + 21], (b, a, h, w), np.uint8),
        array_at(at[SIZES + 22], (b,), np.float64),
        array_at(at[SIZES + 23], (b, a), np.bool_),
        array_at(at[SIZES + 24], (b,), np.bool_),
        array_at(at[SIZES + 25], (b, a), np.uint8),
        array_at(at[SIZES + 26], (b, a), np.uint8),
        array_at(at[SIZES + 27], (b, a), np.uint8),
        array_at(at[SIZES + 28], (b, a), np.int16),
        array_at(at[SIZES + 29], (b,), np.int16),
        array_at(at[SIZES + 30], (b, a, COLUMNS), np.int32),
        array_at(at[SIZES + 31], (b, a), np.float64),
        array_at(at[SIZES + 32], (b, a), np.int16),
        array_at(at[SIZES + 33], (b, a), np.uint8),
    )


@merged
def work_at(at: NDArray[np.int64]) -> MacrafterWork:
    """The buffers behind a handle."""
    a, k = at[1], at[4]
    rows, columns = (at[2] + CHUNK - 1) // CHUNK, (at[3] + CHUNK - 1) // CHUNK
    return MacrafterWork(
        array_at(at[TOOLS], (a, WORK_COLUMNS), np.int64),
        array_at(at[TOOLS + 1], (a,), np.int64),
        Chunks(
            array_at(at[TOOLS + 2], (rows, columns), np.int32),
            array_at(at[TOOLS + 3], (a,), np.int32),
            array_at(at[TOOLS + 4], (rows, columns, SPECIES, 2), np.int32),
            array_at(at[TOOLS + 5], (k,), np.int32),
        ),
    )


@merged
def table_at(at: NDArray[np.int64]) -> MacrafterTable:
    """The table behind a handle."""
    return MacrafterTable(
        array_at(at[TOOLS + 6], (MATERIALS + KINDS, TARGET_COLUMNS), np.int32),
        array_at(at[TOOLS + 7], (MATERIALS, YIELD_COLUMNS), np.float64),
        array_at(at[TOOLS + 8], (RECIPES, RECIPE_COLUMNS), np.int32),
        array_at(at[TOOLS + 9], (DAY,), np.float64),
        array_at(at[TOOLS + 10], (ITEMS,), np.int16),
        array_at(at[TOOLS + 11], (SETTINGS,), np.int64),
    )


@expanded
def flat(array: NDArray[np.int16]) -> NDArray[np.int16]:
    """All entries of a C-contiguous array in one row, which is faster to walk."""
    entries: NDArray[np.int16] = array_at(array.ctypes.data, (array.size,), np.int16)
    return entries


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    flat = np.ravel  # type: ignore[assignment]
    state_at = itemgetter(0)  # type: ignore[assignment]
    work_at = itemgetter(1)  # type: ignore[assignment]
    table_at = itemgetter(2)  # type: ignore[assignment]
