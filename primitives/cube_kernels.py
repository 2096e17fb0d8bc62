"""The step of CUBE: engage, push in four passes, walk, end; attempt rows as they are resolved.

A board is one grid of signed ids: 0 free, a + 1 agent a, -(b + 1) block b. A push moves edges of
blocks, never areas. `state` is the NamedTuple of arrays of `worlds.cube.state`, index `w` a world
of its batch; face f of a block is its side f, and is pushed in direction f ^ 1.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.actions import (
    ACTING,
    CAPABLE,
    COMMON_COLUMNS,
    CREDITED,
    IN_PLACE,
    MEMBERS,
    NEAR,
    NEED,
    NO_ATTEMPT,
    NO_TASK,
    PARTICIPATION,
    REASON,
    RESULT,
    RESULT_BLOCKED,
    RESULT_DELIVERED,
    RESULT_DONE,
    RESULT_NONE,
    RESULT_SHORT,
    SPATIAL,
    STAY,
    TASK,
    TEMPORAL,
    TRYING,
)
from primitives.compile import in_place
from primitives.grid import (
    DIRECTIONS,
    fill_rectangle,
    is_inside,
    opposite,
    side_start,
    side_step,
)

GONE = -1
FACES = 4
ACTIONS = 5
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
LEGAL = -1
ALL_ENDED = -2


class CubeWork(NamedTuple):
    """Buffers of a step for A agents and K blocks, all int64; they hold nothing between steps.

    clock: [1], closures so far. seen: [K], closure that last met the block.
    agent_task: [A], task an agent is a member of. target: [A], flat cell it enters.
    row_task, row_force: [A], task of a row, and its own members that act.
    task_row: [T], row of a task, NO_ATTEMPT between steps.
    moved_in: [K], pass in which a block moved, NO_PASS between steps.
    closure, moved: [K], blocks of the closure at hand; all that moved in this step.
    least_weight, least_force: [K], of the smallest feasible closure of a moved block.
    """

    clock: NDArray[np.int64]
    agent_task: NDArray[np.int64]
    target: NDArray[np.int64]
    row_task: NDArray[np.int64]
    row_force: NDArray[np.int64]
    task_row: NDArray[np.int64]
    seen: NDArray[np.int64]
    moved_in: NDArray[np.int64]
    closure: NDArray[np.int64]
    moved: NDArray[np.int64]
    least_weight: NDArray[np.int64]
    least_force: NDArray[np.int64]


def cube_memory(agents: int, blocks: int) -> NDArray[np.int64]:
    """Memory for the buffers of a step, in one array since each argument of a call costs."""
    return np.full(1 + 4 * agents + (FACES + 6) * blocks, NO_PASS, np.int64)


@in_place
def cube_work(memory: NDArray[np.int64], agents: int, blocks: int) -> CubeWork:
    """The buffers in `memory`, which `cube_memory` made for these counts."""
    a = memory[1 : 1 + 4 * agents].reshape(4, agents)
    tasks = 1 + 4 * agents + FACES * blocks
    k = memory[tasks:].reshape(6, blocks)
    task_row = memory[1 + 4 * agents : tasks]
    return CubeWork(
        memory[:1], a[0], a[1], a[2], a[3], task_row, k[0], k[1], k[2], k[3], k[4], k[5]
    )


@in_place
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


@in_place
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


@in_place
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
    rows = engage(state, w, work, actions, declared, is_chain)
    moved = 0
    if rows > 0:
        measure(state, w, work, rows, is_chain)
        for direction in range(FACES):
            moved = push(state, w, work, rows, moved, direction, is_chain)
    walk(state, w, work, actions, is_chain)
    for row in range(rows):
        work.task_row[work.row_task[row]] = NO_ATTEMPT
    for i in range(moved):
        work.moved_in[work.moved[i]] = NO_PASS


# --- begin ---------------------------------------------------------------------------------------


@in_place
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


# --- engage --------------------------------------------------------------------------------------


@in_place
def engage(
    state: Any,
    w: int,
    work: CubeWork,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    is_chain: bool,
) -> int:
    """Give each agent its task, each task with members a row; returns the number of rows."""
    occupant, cells = state.occupant[w], state.agent_cell[w]
    agent_task, part = work.agent_task, state.agent_part[w]
    agent_task[:] = NO_TASK
    for a in range(len(actions)):
        if actions[a] != STAY:
            _start_line(occupant, cells, actions, a, is_chain, agent_task, part)
    rows = 0
    for a in range(len(actions)):
        task = agent_task[a]
        if task == NO_TASK and declared[a] != NO_TASK:
            if state.block_cell[w, declared[a] // FACES, 0] != GONE:
                task = agent_task[a] = declared[a]
                is_trying = actions[a] - 1 == opposite(task % FACES)
                part[a] = CAPABLE | TRYING if is_trying else CAPABLE
        if task != NO_TASK and work.task_row[task] == NO_ATTEMPT:
            work.task_row[task] = rows
            work.row_task[rows] = task
            rows += 1
    if rows > 0:
        _open_rows(state, w, work, rows)
    return rows


@in_place
def _start_line(
    occupant: NDArray[np.int16],
    cells: NDArray[np.int16],
    actions: NDArray[np.int32],
    agent: int,
    is_chain: bool,
    agent_task: NDArray[np.int64],
    part: NDArray[np.uint8],
) -> None:
    """If `agent` walks into a block, let it act on that face, and under `chain` all behind it."""
    height, width = occupant.shape
    direction = int(actions[agent]) - 1
    down, right = DIRECTIONS[direction]
    row, column = int(cells[agent, 0]), int(cells[agent, 1])
    if not is_inside(row + down, column + right, height, width):
        return
    ahead = int(occupant[row + down, column + right])
    if ahead >= FREE:
        return
    task = FACES * (-ahead - 1) + opposite(direction)
    while True:
        agent_task[agent] = task
        part[agent] = NEAR | CAPABLE | ACTING
        row, column = row - down, column - right
        if not is_chain or not is_inside(row, column, height, width):
            return
        agent = int(occupant[row, column]) - 1
        if agent < 0 or actions[agent] != direction + 1:
            return


@in_place
def _open_rows(state: Any, w: int, work: CubeWork, rows: int) -> None:
    """Order the rows by task and count the members' parts in them."""
    attempts, part = state.attempts[w], state.agent_part[w]
    _sort(work.row_task, rows)
    for row in range(rows):
        work.task_row[work.row_task[row]] = row
        work.row_force[row] = 0
        attempts[row, TASK] = work.row_task[row]
    for a in range(len(part)):
        if work.agent_task[a] != NO_TASK:
            row = work.task_row[work.agent_task[a]]
            state.agent_attempt[w, a] = row
            attempts[row, MEMBERS] += 1
            if part[a] & (ACTING | TRYING):
                attempts[row, TEMPORAL] += 1
            if part[a] & ACTING:
                work.row_force[row] += 1
    state.attempt_count[w] = rows


@in_place
def _sort(items: NDArray[np.int64], count: int) -> None:
    """Sort the first `count` of `items` ascending, in place (Shell's method, gaps 3 k + 1)."""
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            item = items[i]
            j = i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


@in_place
def measure(state: Any, w: int, work: CubeWork, rows: int, is_chain: bool) -> None:
    """Count who stands aligned with the face of each row, and which members wait there.

    Aligned is an agent on a contact cell; under `chain` also one behind it with an agent on
    every cell between.
    """
    occupant, attempts = state.occupant[w], state.attempts[w]
    part, height, width = state.agent_part[w], occupant.shape[0], occupant.shape[1]
    for row in range(rows):
        block, face = divmod(attempts[row, TASK], FACES)
        cell, size = state.block_cell[w, block], int(state.block_weight[w, block])
        row_step, column_step = side_step(face)
        r, c = side_start(int(cell[0]), int(cell[1]), size, face)
        in_place = near = 0
        for _ in range(size):
            y, x = r, c
            while is_inside(y, x, height, width) and occupant[y, x] > FREE:
                agent = int(occupant[y, x]) - 1
                in_place += 1
                if state.agent_attempt[w, agent] == row and part[agent] == CAPABLE:
                    part[agent] |= NEAR
                    near += 1
                if not is_chain:
                    break
                y, x = y + DIRECTIONS[face, 0], x + DIRECTIONS[face, 1]
            r, c = r + row_step, c + column_step
        attempts[row, IN_PLACE] = in_place
        attempts[row, SPATIAL] = near


# --- push ----------------------------------------------------------------------------------------


@in_place
def push(
    state: Any, w: int, work: CubeWork, rows: int, moved: int, direction: int, is_chain: bool
) -> int:
    """One pass: judge the closures in `direction`, advance the feasible ones, write the rows.

    `moved` blocks have moved in earlier passes; returns the number including this one.
    """
    attempts, face = state.attempts[w], opposite(direction)
    first = moved
    has_rows = False
    for row in range(rows):
        if attempts[row, TASK] % FACES == face:
            has_rows = True
            moved = _judge(state, w, work, row, moved, direction, is_chain)
    if has_rows:
        if moved > first:
            _advance(state, w, work, first, moved, direction)
        for row in range(rows):
            if attempts[row, TASK] % FACES == face:
                _resolve(state, w, work, row, direction)
    return moved


@in_place
def _judge(
    state: Any, w: int, work: CubeWork, row: int, moved: int, direction: int, is_chain: bool
) -> int:
    """Write need, force and failure of a row's closure; list its blocks if they will move.

    The row holds the force in PARTICIPATION and the failure (NONE: feasible) in REASON until it
    is resolved.
    """
    attempts, weights = state.attempts[w], state.block_weight[w]
    members, failure = _close(state, w, work, attempts[row, TASK] // FACES, direction, is_chain)
    weight = force = 0
    for i in range(members):
        member = work.closure[i]
        weight += int(weights[member])
        line = work.task_row[FACES * member + opposite(direction)]
        if line != NO_ATTEMPT:
            force += int(work.row_force[line])
    if failure == INSUFFICIENT_FORCE and force >= weight:
        failure = NONE
    attempts[row, NEED] = weight
    attempts[row, PARTICIPATION] = force
    attempts[row, REASON] = failure
    if failure == NONE and work.row_force[row] > 0:
        moved = _list_closure(work, members, weight, force, moved, direction)
    return moved


@in_place
def _close(
    state: Any, w: int, work: CubeWork, block: int, direction: int, is_chain: bool
) -> tuple[int, int]:
    """Collect the closure of `block` in `work.closure`; returns its size and its failure.

    The failure is the first that applies of ALREADY_MOVED, BLOCKED_BY_WALL, BLOCKED_BY_BLOCK and
    BLOCKED_BY_AGENT, and INSUFFICIENT_FORCE when the passage is clear.
    """
    work.clock[0] += 1
    work.seen[block] = work.clock[0]
    work.closure[0] = block
    members, failure, i = 1, INSUFFICIENT_FORCE, 0
    if state.block_cell[w, block, 0] == GONE or _is_frozen(work, block, direction):
        return 1, ALREADY_MOVED
    while i < members:
        member = work.closure[i]
        i += 1
        if _is_frozen(work, member, direction):
            failure = ALREADY_MOVED
        members, found = _look_ahead(state, w, work, member, members, direction, is_chain)
        failure = min(failure, found)
    return members, failure


@in_place
def _is_frozen(work: CubeWork, block: int, direction: int) -> bool:
    """Whether the block moved in an earlier pass of this step."""
    return bool(work.moved_in[block] != NO_PASS and work.moved_in[block] != direction)


@in_place
def _look_ahead(
    state: Any,
    w: int,
    work: CubeWork,
    block: int,
    members: int,
    direction: int,
    is_chain: bool,
) -> tuple[int, int]:
    """Look at the cells a block would enter; returns the grown closure's size and the failure."""
    occupant, cells, weights = state.occupant[w], state.block_cell[w], state.block_weight[w]
    size, failure = int(weights[block]), INSUFFICIENT_FORCE
    r, c = side_start(int(cells[block, 0]), int(cells[block, 1]), size, direction)
    if not is_inside(r, c, occupant.shape[0], occupant.shape[1]):
        return members, BLOCKED_BY_WALL
    down, right = side_step(direction)
    axis = 0 if down > 0 else 1
    start = c if axis == 1 else r
    k = 0
    while k < size:
        thing = int(occupant[r + k * down, c + k * right])
        k += 1
        if thing > FREE:
            failure = min(failure, BLOCKED_BY_AGENT)
        elif thing < FREE:
            other = -thing - 1
            k = int(cells[other, axis]) + int(weights[other]) - start
            if not is_chain:
                failure = BLOCKED_BY_BLOCK
            elif work.seen[other] != work.clock[0]:
                work.seen[other] = work.clock[0]
                work.closure[members] = other
                members += 1
    return members, failure


@in_place
def _list_closure(
    work: CubeWork, members: int, weight: int, force: int, moved: int, direction: int
) -> int:
    """Add the closure at hand to the blocks that move; each keeps the lightest it is part of."""
    for i in range(members):
        member = work.closure[i]
        is_new = work.moved_in[member] != direction
        if is_new:
            work.moved_in[member] = direction
            work.moved[moved] = member
            moved += 1
        if is_new or weight < work.least_weight[member]:
            work.least_weight[member] = weight
            work.least_force[member] = force
    return moved


@in_place
def _advance(state: Any, w: int, work: CubeWork, first: int, moved: int, direction: int) -> None:
    """Move the blocks `work.moved[first:moved]` and their lines by one cell, all at once."""
    occupant, cells, weights = state.occupant[w], state.block_cell[w], state.block_weight[w]
    down, right = DIRECTIONS[direction]
    _lift_lines(state, w, work, direction)
    for i in range(first, moved):
        block = work.moved[i]
        row, column = int(cells[block, 0]) + down, int(cells[block, 1]) + right
        cells[block, 0], cells[block, 1] = row, column
        _paint_side(occupant, row, column, int(weights[block]), opposite(direction), FREE)
    for i in range(first, moved):
        block = work.moved[i]
        row, column = int(cells[block, 0]) - down, int(cells[block, 1]) - right
        _paint_side(occupant, row, column, int(weights[block]), direction, -(block + 1))
    _set_lines(state, w, work, direction)
    _deliver(state, w, work, first, moved)


@in_place
def _paint_side(
    occupant: NDArray[np.int16], row: int, column: int, size: int, side: int, value: int
) -> None:
    """Write `value` into the cells that touch a square on one side; all inside the board."""
    r, c = side_start(row, column, size, side)
    down, right = side_step(side)
    for _ in range(size):
        occupant[r, c] = value
        r, c = r + down, c + right


@in_place
def _lift_lines(state: Any, w: int, work: CubeWork, direction: int) -> None:
    """Take the agents of all lines on blocks that move in this pass off the board."""
    cells, part, occupant = state.agent_cell[w], state.agent_part[w], state.occupant[w]
    for a in range(len(part)):
        if part[a] & ACTING and _is_carried(work, a, direction):
            state.agent_outcome[w, a] = PUSHED
            occupant[cells[a, 0], cells[a, 1]] = FREE


@in_place
def _set_lines(state: Any, w: int, work: CubeWork, direction: int) -> None:
    """Put the agents that `_lift_lines` took up down one cell further."""
    cells, part, occupant = state.agent_cell[w], state.agent_part[w], state.occupant[w]
    for a in range(len(part)):
        if part[a] & ACTING and _is_carried(work, a, direction):
            cells[a, 0] += DIRECTIONS[direction, 0]
            cells[a, 1] += DIRECTIONS[direction, 1]
            occupant[cells[a, 0], cells[a, 1]] = a + 1


@in_place
def _is_carried(work: CubeWork, agent: int, direction: int) -> bool:
    """Whether the block on which an acting agent acts moves in this pass, its way."""
    block, face = divmod(work.agent_task[agent], FACES)
    return bool(face == opposite(direction) and work.moved_in[block] == direction)


@in_place
def _deliver(state: Any, w: int, work: CubeWork, first: int, moved: int) -> None:
    """Remove moved blocks that reach into the goal column, and score them."""
    occupant, cells, weights = state.occupant[w], state.block_cell[w], state.block_weight[w]
    for i in range(first, moved):
        block = work.moved[i]
        row, column, size = int(cells[block, 0]), int(cells[block, 1]), int(weights[block])
        if column + size == occupant.shape[1]:
            fill_rectangle(occupant, row, column, size, size, FREE)
            cells[block, :] = GONE
            state.delivered_step[w, block] = state.step[w]
            state.delivered_now[w] += size
            state.score[w] += size


@in_place
def _resolve(state: Any, w: int, work: CubeWork, row: int, direction: int) -> None:
    """Write the rest of a row after its pass."""
    attempts = state.attempts[w, row]
    block, own = attempts[TASK] // FACES, int(work.row_force[row])
    has_moved = work.moved_in[block] == direction
    reason = int(attempts[REASON])
    force = int(attempts[PARTICIPATION])
    if has_moved:
        attempts[NEED], force = work.least_weight[block], int(work.least_force[block])
    attempts[IS_CLEAR] = has_moved or reason in (NONE, INSUFFICIENT_FORCE)
    if own == 0:
        force = 0
        is_trying = attempts[TEMPORAL] > 0
        result = RESULT_SHORT if is_trying else RESULT_NONE
        reason = NOT_IN_CONTACT if is_trying else WAITING
    elif not has_moved:
        result = RESULT_SHORT if force < attempts[NEED] else RESULT_BLOCKED
    elif state.block_cell[w, block, 0] == GONE:
        result, reason = RESULT_DELIVERED, DELIVERED
    else:
        result, reason = RESULT_DONE, HAS_MOVED
    helpers = max(0, force - own)
    attempts[PARTICIPATION] = force
    attempts[SPATIAL] += force
    attempts[TEMPORAL] += helpers
    attempts[MEMBERS] += helpers
    attempts[HELPERS] = helpers
    attempts[RESULT], attempts[REASON] = result, reason
    task = attempts[TASK]
    if result > RESULT_NONE:
        state.task_attempts[w, task] += 1
    if result >= RESULT_DONE:
        state.task_successes[w, task] += 1


# --- walk ----------------------------------------------------------------------------------------


@in_place
def walk(state: Any, w: int, work: CubeWork, actions: NDArray[np.int32], is_chain: bool) -> None:
    """Move everybody who did not advance with a block; all judged before anyone walks."""
    occupant, cells = state.occupant[w], state.agent_cell[w]
    outcome, reasons = state.agent_outcome[w], state.agent_reason[w]
    width = occupant.shape[1]
    for a in range(len(actions)):
        if actions[a] != STAY and outcome[a] != PUSHED:
            row = int(cells[a, 0]) + DIRECTIONS[actions[a] - 1, 0]
            column = int(cells[a, 1]) + DIRECTIONS[actions[a] - 1, 1]
            reason = _obstacle(occupant, row, column, is_chain)
            outcome[a] = MOVED if reason == NONE else BLOCKED
            work.target[a] = row * width + column
            if reason != NONE and state.agent_part[w, a] & ACTING:
                reason = state.attempts[w, state.agent_attempt[w, a], REASON]
            reasons[a] = reason
    for a in range(len(actions)):
        if outcome[a] == MOVED:
            row, column = divmod(work.target[a], width)
            if occupant[row, column] != FREE:
                outcome[a], reasons[a] = BLOCKED, LOST_RACE
            else:
                occupant[row, column] = a + 1
                occupant[cells[a, 0], cells[a, 1]] = FREE
                cells[a, 0], cells[a, 1] = row, column


@in_place
def _obstacle(occupant: NDArray[np.int16], row: int, column: int, is_chain: bool) -> int:
    """Why a walker cannot enter a cell, or NONE."""
    height, width = occupant.shape
    if not is_inside(row, column, height, width):
        return WALL
    if occupant[row, column] > FREE:
        return AGENT
    if occupant[row, column] < FREE:
        return BLOCK
    if not is_chain and column == width - 1:
        return GOAL_COLUMN
    return NONE


# --- end -----------------------------------------------------------------------------------------


@in_place
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
