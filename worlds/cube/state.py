"""The state of CUBE: a batch of worlds as arrays, its codes, and the ids of tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.cube_work import COLUMNS as ATTEMPT_COLUMNS
from primitives.cube_work import GONE, HELPERS, IS_CLEAR
from primitives.grid import DIRECTION_NAMES

__all__ = [
    "ACTIONS",
    "ATTEMPT_COLUMNS",
    "FACES",
    "GONE",
    "HELPERS",
    "IS_CLEAR",
    "OUTCOMES",
    "REASONS",
    "CubeState",
    "allocate",
    "block_id",
    "is_over",
    "push_direction",
    "remaining_weight",
    "task_face",
    "task_id",
    "task_number",
]

ACTIONS = ("stay", *DIRECTION_NAMES)
FACES = DIRECTION_NAMES
"""Faces by index: the side of a block on which agents stand."""

OUTCOMES = ("stayed", "moved", "pushed", "blocked")
REASONS = (
    "none",
    "wall",
    "goal_column",
    "agent",
    "block",
    "lost_race",
    "already_moved",
    "blocked_by_wall",
    "blocked_by_block",
    "blocked_by_agent",
    "insufficient_force",
    "not_in_contact",
    "waiting",
    "moved",
    "delivered",
)
"""Names of `agent_reason` and of the attempt column REASON, by code."""


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


def allocate(worlds: int, agents: int, blocks: int, height: int, width: int) -> CubeState:
    """An empty batch: nobody and nothing on the boards yet, no step taken."""
    return CubeState(
        stream=np.zeros((worlds, 2), np.uint64),
        step=np.zeros(worlds, np.int32),
        score=np.zeros(worlds, np.int32),
        agent_cell=np.full((worlds, agents, 2), GONE, np.int16),
        block_cell=np.full((worlds, blocks, 2), GONE, np.int16),
        block_weight=np.zeros((worlds, blocks), np.int16),
        occupant=np.zeros((worlds, height, width), np.int16),
        is_terminated=np.zeros(worlds, np.bool_),
        is_truncated=np.zeros(worlds, np.bool_),
        delivered_now=np.zeros(worlds, np.int32),
        delivered_step=np.full((worlds, blocks), -1, np.int32),
        agent_action=np.zeros((worlds, agents), np.uint8),
        agent_outcome=np.zeros((worlds, agents), np.uint8),
        agent_reason=np.zeros((worlds, agents), np.uint8),
        attempt_count=np.zeros(worlds, np.int16),
        attempts=np.zeros((worlds, agents, ATTEMPT_COLUMNS), np.int32),
        agent_attempt=np.full((worlds, agents), -1, np.int16),
        agent_part=np.zeros((worlds, agents), np.uint8),
        task_attempts=np.zeros((worlds, 4 * blocks), np.int32),
        task_successes=np.zeros((worlds, 4 * blocks), np.int32),
    )


def task_number(block: int, face: int) -> int:
    """The number of the task of a block's face (index of FACES)."""
    return 4 * block + face


def task_face(task: int) -> tuple[int, int]:
    """The block and the face of a task number."""
    return divmod(task, 4)


def push_direction(face: int) -> int:
    """The direction in which a block moves when pushed from `face`: the opposite one."""
    return face ^ 1


def block_id(block: int) -> str:
    """Text id of a block."""
    return f"block_{block}"


def task_id(task: int) -> str:
    """Text id of a task number, as `block_3_left`."""
    block, face = task_face(task)
    return f"block_{block}_{FACES[face]}"


def is_over(state: CubeState) -> bool:
    """Whether the one world of `state` has ended."""
    return bool(state.is_terminated[0] or state.is_truncated[0])


def remaining_weight(state: CubeState) -> int:
    """Weight of the blocks of the one world of `state` that are not delivered yet."""
    return int(state.block_weight[0][state.block_cell[0, :, 0] != GONE].sum())
