"""Codes and buffers of the step of CUBE."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.actions import COMMON_COLUMNS
from primitives.compile import expanded, inner

GONE = -1
FACES = 4
FREE = 0

HELPERS = COMMON_COLUMNS
IS_CLEAR = COMMON_COLUMNS + 1
COLUMNS = COMMON_COLUMNS + 2

STAYED, MOVED, PUSHED, BLOCKED = 0, 1, 2, 3
"""Codes of `agent_outcome`."""

NONE = 0
WALL = 1
GOAL_COLUMN = 2
AGENT = 3
BLOCK = 4
LOST_RACE = 5
ALREADY_MOVED = 6
BLOCKED_BY_WALL = 7
BLOCKED_BY_BLOCK = 8
BLOCKED_BY_AGENT = 9
INSUFFICIENT_FORCE = 10
NOT_IN_CONTACT = 11
WAITING = 12
HAS_MOVED = 13
DELIVERED = 14
"""Codes of `agent_reason` and of the column REASON. Those from ALREADY_MOVED to BLOCKED_BY_AGENT
say that a passage is not clear; a smaller one is reported before a larger one."""

NO_PASS = -1


class CubeWork(NamedTuple):
    """Buffers of a step for A agents and K blocks, all int64; they hold nothing between steps.

    clock: [1], closures so far. seen: [K], closure that last met the block.
    ahead: [A], what stands where an agent wants to go. agent_task: [A], task it is a member of.
    queue: [A], agents that walk into a block, then those that walk. member: [A], those with a task.
    row_task, row_force: [A], task of a row, and its own members that act.
    face_row: [A], rows by face, then task; face_end: [4], where the rows of a face end.
    task_row: [T], row of a task, NO_ATTEMPT between steps.
    moved_in: [K], pass in which a block moved, NO_PASS between steps.
    closure, moved: [K], blocks of the closure at hand; all that moved in this step.
    least_weight, least_force: [K], of the smallest feasible closure of a moved block.
    """

    clock: NDArray[np.int64]
    ahead: NDArray[np.int64]
    agent_task: NDArray[np.int64]
    queue: NDArray[np.int64]
    member: NDArray[np.int64]
    row_task: NDArray[np.int64]
    row_force: NDArray[np.int64]
    face_row: NDArray[np.int64]
    face_end: NDArray[np.int64]
    task_row: NDArray[np.int64]
    seen: NDArray[np.int64]
    moved_in: NDArray[np.int64]
    closure: NDArray[np.int64]
    moved: NDArray[np.int64]
    least_weight: NDArray[np.int64]
    least_force: NDArray[np.int64]


def cube_memory(agents: int, blocks: int) -> NDArray[np.int64]:
    """Memory for the buffers of a step, in one array since each argument of a call costs."""
    return np.full(1 + FACES + 7 * agents + (FACES + 6) * blocks, NO_PASS, np.int64)


@expanded
def cube_work(memory: NDArray[np.int64], agents: int, blocks: int) -> CubeWork:
    """The buffers in `memory`, which `cube_memory` made for these counts."""
    start = 1 + FACES
    tasks = start + 7 * agents
    rest = tasks + FACES * blocks
    a = memory[start:tasks].reshape(7, agents)
    k = memory[rest:].reshape(6, blocks)
    return CubeWork(
        clock=memory[:1],
        ahead=a[0],
        agent_task=a[1],
        queue=a[2],
        member=a[3],
        row_task=a[4],
        row_force=a[5],
        face_row=a[6],
        face_end=memory[1:start],
        task_row=memory[tasks:rest],
        seen=k[0],
        moved_in=k[1],
        closure=k[2],
        moved=k[3],
        least_weight=k[4],
        least_force=k[5],
    )


@inner
def face_of(task: int) -> int:
    """The face of a task, which is face t & 3 of block t >> 2."""
    return task & 3


@inner
def block_of(task: int) -> int:
    """The block of a task."""
    return task >> 2
