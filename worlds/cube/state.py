"""The state of CUBE: a batch of worlds as arrays, its codes, and the ids of tasks."""

from __future__ import annotations

import numpy as np

from primitives.cube_batch import CubeState, state_layout
from primitives.cube_work import COLUMNS as ATTEMPT_COLUMNS
from primitives.cube_work import GONE, HELPERS, IS_CLEAR
from primitives.grid import DIRECTION_NAMES
from worlds.api import NO_ATTEMPT
from worlds.errors import LayoutError

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
    "check_layout",
    "is_over",
    "push_direction",
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


EMPTY = {"agent_cell": GONE, "block_cell": GONE, "delivered_step": -1, "agent_attempt": NO_ATTEMPT}
"""What arrays hold at first, if it is not 0."""


def allocate(worlds: int, agents: int, blocks: int, height: int, width: int) -> CubeState:
    """An empty batch: nobody and nothing on the boards yet, no step taken."""
    layout = state_layout(worlds, agents, blocks, height, width)
    return CubeState._make(
        np.full(shape, EMPTY.get(name, 0), dtype) for name, (shape, dtype) in layout.items()
    )


def check_layout(state: CubeState) -> None:
    """Raise LayoutError, naming both, if an array has another shape or dtype than it must."""
    worlds, agents = state.agent_part.shape
    height, width = state.occupant.shape[1:]
    layout = state_layout(worlds, agents, state.block_cell.shape[1], height, width)
    arrays: tuple[np.ndarray, ...] = tuple(state)
    for array, (name, (shape, dtype)) in zip(arrays, layout.items(), strict=True):
        if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
            raise LayoutError(
                f"{name} is {list(array.shape)} {array.dtype}; needed: {list(shape)} "
                f"{np.dtype(dtype)}, contiguous"
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


def task_id(task: int) -> str:
    """Text id of a task number, as `block_3_left`."""
    block, face = task_face(task)
    return f"block_{block}_{FACES[face]}"


def is_over(state: CubeState) -> bool:
    """Whether the one world of `state` has ended."""
    return bool(state.is_terminated[0] or state.is_truncated[0])
