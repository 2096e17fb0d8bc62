"""The step of CUBE: begin, engage, push in four passes, walk, end.

A board is one grid of signed ids: 0 free, a + 1 agent a, -(b + 1) block b. A push moves edges of
blocks, never areas. `state` is the NamedTuple of arrays of `worlds.cube.state`, index `w` a world
of its batch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.actions import ACTING, CREDITED, NO_ATTEMPT, NO_TASK, REASON, STAY
from primitives.compile import expanded, in_place, inner
from primitives.cube_batch import memory_at, state_at
from primitives.cube_push_kernels import engage, measure, push
from primitives.cube_work import (
    AGENT,
    BLOCK,
    BLOCKED,
    FACES,
    FREE,
    GOAL_COLUMN,
    GONE,
    LOST_RACE,
    MOVED,
    NO_PASS,
    NONE,
    PUSHED,
    STAYED,
    WALL,
    CubeWork,
    cube_work,
)
from primitives.grid import DIRECTIONS, is_inside

ACTIONS = 5
STEPS = np.concatenate((np.zeros((1, 2), np.int64), DIRECTIONS))
"""[5, 2] int64, (row, column) of where each action leads."""
STEPS.flags.writeable = False

LEGAL = -1
ALL_ENDED = -2

OUTSIDE = 2**15
GOAL_AHEAD = OUTSIDE + 1
"""What is ahead of an agent at the edge, and before a goal column that it may not enter."""


@in_place
def step_at(
    at: Any,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    is_chain: bool,
    max_steps: int,
    step_cost: float,
    deliver_reward: float,
    rewards: NDArray[np.float32],
    terminated: NDArray[np.bool_],
) -> int:
    """`step_many` of what is behind a handle."""
    return step_many(
        state_at(at),
        memory_at(at),
        actions,
        declared,
        is_chain,
        max_steps,
        step_cost,
        deliver_reward,
        rewards,
        terminated,
    )


@expanded
def step_many(
    state: Any,
    memory: NDArray[np.int64],
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    is_chain: bool,
    max_steps: int,
    step_cost: float,
    deliver_reward: float,
    rewards: NDArray[np.float32],
    terminated: NDArray[np.bool_],
) -> int:
    """Step every world of a batch that has not ended; ALL_ENDED if there is none.

    memory: as `cube_memory` made it. actions, declared: [B, A] int32.
    rewards: [B, A] float32 and terminated: [B, A] bool, overwritten.
    Returns LEGAL or the first bad entry: the flat index of an action, or B * A + that of a
    declared task; then nothing has changed.
    """
    fault = first_fault(state, actions, declared)
    if fault != LEGAL:
        return int(fault)
    work = cube_work(memory, actions.shape[1], state.block_cell.shape[1])
    for w in range(actions.shape[0]):
        if state.is_terminated[w] or state.is_truncated[w]:
            rewards[w, :] = 0.0
        else:
            step_one(state, w, work, actions[w], declared[w], is_chain)
            end(state, w, max_steps)
            share = deliver_reward * state.delivered_now[w] / actions.shape[1]
            rewards[w, :] = share - step_cost
        terminated[w, :] = state.is_terminated[w]
    return LEGAL


@expanded
def first_fault(state: Any, actions: NDArray[np.int32], declared: NDArray[np.int32]) -> int:
    """The first action or declared task out of range in a world that goes on.

    LEGAL if there is none, ALL_ENDED if no world goes on.
    """
    worlds, agents = actions.shape
    tasks = FACES * state.block_cell.shape[1]
    found = ALL_ENDED
    for w in range(worlds):
        if not (state.is_terminated[w] or state.is_truncated[w]):
            found = LEGAL
            for a in range(agents):
                if not 0 <= actions[w, a] < ACTIONS:
                    return int(w * agents + a)
                if not NO_TASK <= declared[w, a] < tasks:
                    return int((worlds + w) * agents + a)
    return found


@inner
def step_one(
    state: Any,
    w: int,
    work: CubeWork,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    is_chain: bool,
) -> None:
    """Move everything of world `w` by one step; legal `actions` and `declared` [A] int32."""
    begin(state, w, actions)
    starters = look(state, w, work, actions, is_chain)
    rows, members = engage(state, w, work, starters, actions, declared, is_chain)
    moved = 0
    if rows > 0:
        measure(state, w, work, rows, is_chain)
        for direction in range(FACES):
            moved = push(state, w, work, members, moved, direction, is_chain)
        if moved > 0:
            look(state, w, work, actions, is_chain)
    walk(state, w, work, actions)
    for row in range(rows):
        work.task_row[work.row_task[row]] = NO_ATTEMPT
    for i in range(moved):
        work.moved_in[work.moved[i]] = NO_PASS


# --- begin ---------------------------------------------------------------------------------------


@expanded
def begin(state: Any, w: int, actions: NDArray[np.int32]) -> None:
    """Count the step, note the actions and clear the records of the last one."""
    state.step[w] += 1
    state.delivered_now[w] = 0
    for row in range(state.attempt_count[w]):
        state.attempts[w, row, :] = 0
    state.attempt_count[w] = 0
    for a in range(state.agent_cell.shape[1]):
        state.agent_action[w, a] = actions[a]
        state.agent_outcome[w, a] = STAYED
        state.agent_reason[w, a] = NONE
        state.agent_attempt[w, a] = NO_ATTEMPT
        state.agent_part[w, a] = 0


# --- walk ----------------------------------------------------------------------------------------


@inner
def look(state: Any, w: int, work: CubeWork, actions: NDArray[np.int32], is_chain: bool) -> int:
    """Write what stands where each agent wants to go into `work.ahead`.

    A signed id or FREE, OUTSIDE the board, or GOAL_AHEAD: the goal column under `quorum`. Whoever
    stays sees itself. Queues those that walk into a block, and returns their number.
    """
    occupant, cells = state.occupant[w], state.agent_cell[w]
    height, width = occupant.shape
    queued = 0
    for a in range(len(actions)):
        row = int(cells[a, 0]) + STEPS[actions[a], 0]
        column = int(cells[a, 1]) + STEPS[actions[a], 1]
        thing = OUTSIDE
        if is_inside(row, column, height, width):
            thing = int(occupant[row, column])
            if column == width - 1 and thing == FREE and not is_chain:
                thing = GOAL_AHEAD
        work.ahead[a] = thing
        work.queue[queued] = a
        queued += thing < FREE
    return queued


@inner
def walk(state: Any, w: int, work: CubeWork, actions: NDArray[np.int32]) -> None:
    """Move everybody who did not advance with a block; all were judged before anyone walks.

    Written without branches where what agents meet is as good as random.
    """
    occupant, cells, part = state.occupant[w], state.agent_cell[w], state.agent_part[w]
    outcome, reasons = state.agent_outcome[w], state.agent_reason[w]
    walkers = 0
    for a in range(len(actions)):
        is_idle = (actions[a] == STAY) | (outcome[a] == PUSHED)
        is_free = work.ahead[a] == FREE
        work.queue[walkers] = a
        walkers += is_free > is_idle
        outcome[a] = outcome[a] if is_idle else (MOVED if is_free else BLOCKED)
        reasons[a] = NONE if is_idle | is_free else _obstacle(work.ahead[a])
        if part[a] & ACTING and outcome[a] == BLOCKED:
            reasons[a] = state.attempts[w, state.agent_attempt[w, a], REASON]
    for i in range(walkers):
        a = work.queue[i]
        row = int(cells[a, 0]) + STEPS[actions[a], 0]
        column = int(cells[a, 1]) + STEPS[actions[a], 1]
        if occupant[row, column] != FREE:
            outcome[a], reasons[a] = BLOCKED, LOST_RACE
        else:
            occupant[row, column] = a + 1
            occupant[cells[a, 0], cells[a, 1]] = FREE
            cells[a, 0], cells[a, 1] = row, column


@inner
def _obstacle(thing: int) -> int:
    """Why a walker cannot enter a cell with this ahead of it."""
    if thing == OUTSIDE:
        return WALL
    if thing == GOAL_AHEAD:
        return GOAL_COLUMN
    return AGENT if thing > FREE else BLOCK


# --- end -----------------------------------------------------------------------------------------


@expanded
def end(state: Any, w: int, max_steps: int) -> None:
    """Credit a delivery and set the flags: no block remains, or the step budget is used up."""
    if state.delivered_now[w] > 0:
        for a in range(state.agent_part.shape[1]):
            if state.agent_attempt[w, a] != NO_ATTEMPT:
                state.agent_part[w, a] |= CREDITED
    cells = state.block_cell[w]
    block = 0
    while block < len(cells) and cells[block, 0] == GONE:
        block += 1
    state.is_terminated[w] = block == len(cells)
    state.is_truncated[w] = state.step[w] >= max_steps
