"""The arrays of a batch of CUBE worlds, as a tuple and by address."""

from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from primitives.address import addresses, array_at
from primitives.compile import expanded
from primitives.cube_work import COLUMNS, FACES

SIZES = 6
"""The first entries of a handle: B, A, K, H, W, entries of the memory of a step."""


class CubeState(NamedTuple):
    """A batch of B worlds with A agents, K blocks, T = 4 K tasks on boards of H x W cells.

    stream: [B, 2] uint64, key and counter.
    step: [B] int32, steps taken.
    score: [B] int32, delivered weight.
    agent_cell: [B, A, 2] int16, (row, column).
    block_cell: [B, K, 2] int16, top-left cell; (GONE, GONE) once delivered.
    block_weight: [B, K] int16.
    occupant: [B, H, W] int16, 0 free, a + 1 agent a, -(b + 1) block b.
    is_terminated, is_truncated: [B] bool.
    delivered_now: [B] int32, weight delivered in the last step.
    delivered_step: [B, K] int32, step of a block's delivery, -1 before.
    agent_action: [B, A] uint8, actions of the last step.
    agent_outcome, agent_reason: [B, A] uint8, indices of OUTCOMES and REASONS.
    attempt_count: [B] int16, rows of `attempts` in use.
    attempts: [B, A, 13] int32, one row a task, ascending; the columns every world shares, then
        HELPERS and IS_CLEAR.
    agent_attempt: [B, A] int16, row of the agent or NO_ATTEMPT.
    agent_part: [B, A] uint8, bits of Part; 0 without a row.
    task_attempts, task_successes: [B, T] int32, totals since reset.
    """

    stream: NDArray[np.uint64]
    step: NDArray[np.int32]
    score: NDArray[np.int32]
    agent_cell: NDArray[np.int16]
    block_cell: NDArray[np.int16]
    block_weight: NDArray[np.int16]
    occupant: NDArray[np.int16]
    is_terminated: NDArray[np.bool_]
    is_truncated: NDArray[np.bool_]
    delivered_now: NDArray[np.int32]
    delivered_step: NDArray[np.int32]
    agent_action: NDArray[np.uint8]
    agent_outcome: NDArray[np.uint8]
    agent_reason: NDArray[np.uint8]
    attempt_count: NDArray[np.int16]
    attempts: NDArray[np.int32]
    agent_attempt: NDArray[np.int16]
    agent_part: NDArray[np.uint8]
    task_attempts: NDArray[np.int32]
    task_successes: NDArray[np.int32]


FIELDS = len(CubeState._fields)


Place = tuple[tuple[int, ...], type[np.generic]]
"""Shape and dtype of an array."""


def state_layout(
    worlds: int, agents: int, blocks: int, height: int, width: int
) -> dict[str, Place]:
    """Shape and dtype of each array of a batch, by its name, in order."""
    b, a, k, h, w = worlds, agents, blocks, height, width
    places: tuple[Place, ...] = (
        ((b, 2), np.uint64),
        ((b,), np.int32),
        ((b,), np.int32),
        ((b, a, 2), np.int16),
        ((b, k, 2), np.int16),
        ((b, k), np.int16),
        ((b, h, w), np.int16),
        ((b,), np.bool_),
        ((b,), np.bool_),
        ((b,), np.int32),
        ((b, k), np.int32),
        ((b, a), np.uint8),
        ((b, a), np.uint8),
        ((b, a), np.uint8),
        ((b,), np.int16),
        ((b, a, COLUMNS), np.int32),
        ((b, a), np.int16),
        ((b, a), np.uint8),
        ((b, FACES * k), np.int32),
        ((b, FACES * k), np.int32),
    )
    return dict(zip(CubeState._fields, places, strict=True))


def handle_of(state: CubeState, memory: NDArray[np.int64]) -> Any:
    """All arrays of a step by address; right while they live.

    memory: as `cube_memory` made it. The arrays are C-contiguous, laid out as `state_layout` says.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return state, memory
    sizes = (*state.agent_part.shape, state.block_cell.shape[1], *state.occupant.shape[1:])
    return np.array([*sizes, len(memory), *addresses((*state, memory))], np.int64)


@expanded
def state_at(at: NDArray[np.int64]) -> CubeState:
    """The state behind a handle."""
    b, a, k, h, w = at[0], at[1], at[2], at[3], at[4]
    return CubeState(
        array_at(at[SIZES + 0], (b, 2), np.uint64),
        array_at(at[SIZES + 1], (b,), np.int32),
        array_at(at[SIZES + 2], (b,), np.int32),
        array_at(at[SIZES + 3], (b, a, 2), np.int16),
        array_at(at[SIZES + 4], (b, k, 2), np.int16),
        array_at(at[SIZES + 5], (b, k), np.int16),
        array_at(at[SIZES + 6], (b, h, w), np.int16),
        array_at(at[SIZES + 7], (b,), np.bool_),
        array_at(at[SIZES + 8], (b,), np.bool_),
        array_at(at[SIZES + 9], (b,), np.int32),
        array_at(at[SIZES + 10], (b, k), np.int32),
        array_at(at[SIZES + 11], (b, a), np.uint8),
        array_at(at[SIZES + 12], (b, a), np.uint8),
        array_at(at[SIZES + 13], (b, a), np.uint8),
        array_at(at[SIZES + 14], (b,), np.int16),
        array_at(at[SIZES + 15], (b, a, COLUMNS), np.int32),
        array_at(at[SIZES + 16], (b, a), np.int16),
        array_at(at[SIZES + 17], (b, a), np.uint8),
        array_at(at[SIZES + 18], (b, FACES * k), np.int32),
        array_at(at[SIZES + 19], (b, FACES * k), np.int32),
    )


@expanded
def memory_at(at: NDArray[np.int64]) -> NDArray[np.int64]:
    """The memory of a step behind a handle."""
    memory: NDArray[np.int64] = array_at(at[SIZES + FIELDS], (at[5],), np.int64)
    return memory


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    state_at = itemgetter(0)  # type: ignore[assignment]
    memory_at = itemgetter(1)  # type: ignore[assignment]
