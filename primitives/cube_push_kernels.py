"""Teams of CUBE at work: who acts on which face, closures, pushes, and the attempt rows.

`state` is the NamedTuple of arrays of `worlds.cube.state`, index `w` a world of its batch. Face f
of a block is its side f, and is pushed in direction f ^ 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.actions import (
    ACTING,
    CAPABLE,
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
    TASK,
    TEMPORAL,
    TRYING,
)
from primitives.compile import expanded, inner
from primitives.cube_work import (
    ALREADY_MOVED,
    BLOCKED_BY_AGENT,
    BLOCKED_BY_BLOCK,
    BLOCKED_BY_WALL,
    DELIVERED,
    FACES,
    FREE,
    GONE,
    HAS_MOVED,
    HELPERS,
    INSUFFICIENT_FORCE,
    IS_CLEAR,
    NO_PASS,
    NONE,
    NOT_IN_CONTACT,
    PUSHED,
    WAITING,
    CubeWork,
    block_of,
    face_of,
)
from primitives.grid import (
    DIRECTIONS,
    fill_rectangle,
    is_inside,
    opposite,
    side_start,
    side_step,
)

# --- engage --------------------------------------------------------------------------------------


@expanded
def engage(
    state: Any,
    w: int,
    work: CubeWork,
    starters: int,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    is_chain: bool,
) -> tuple[int, int]:
    """Give each agent its task, each task with members a row; numbers of rows and of members.

    The first `starters` of `work.queue` walk into a block.
    """
    members = 0
    work.agent_task[:] = NO_TASK
    for i in range(starters):
        members = _start_line(state, w, work, members, work.queue[i], actions, is_chain)
    part = state.agent_part[w]
    for a in range(len(actions)):
        if declared[a] != NO_TASK and work.agent_task[a] == NO_TASK:
            if state.block_cell[w, block_of(declared[a]), 0] != GONE:
                is_trying = actions[a] - 1 == opposite(face_of(declared[a]))
                part[a] = CAPABLE | TRYING if is_trying else CAPABLE
                work.agent_task[a] = declared[a]
                work.member[members] = a
                members += 1
    rows = 0
    for i in range(members):
        task = work.agent_task[work.member[i]]
        if work.task_row[task] == NO_ATTEMPT:
            work.task_row[task] = rows
            work.row_task[rows] = task
            rows += 1
    if rows > 0:
        _open_rows(state, w, work, rows, members)
    return rows, members


@expanded
def _start_line(
    state: Any,
    w: int,
    work: CubeWork,
    members: int,
    agent: int,
    actions: NDArray[np.int32],
    is_chain: bool,
) -> int:
    """Let `agent`, which walks into a block, act on its face; under `chain` all lined up behind.

    Returns the number of members, the new ones included.
    """
    occupant, action = state.occupant[w], actions[agent]
    task = FACES * (-work.ahead[agent] - 1) + opposite(action - 1)
    down, right = DIRECTIONS[action - 1]
    row, column = int(state.agent_cell[w, agent, 0]), int(state.agent_cell[w, agent, 1])
    while True:
        work.agent_task[agent] = task
        work.member[members] = agent
        members += 1
        state.agent_part[w, agent] = NEAR | CAPABLE | ACTING
        row, column = row - down, column - right
        if not is_chain or not is_inside(row, column, occupant.shape[0], occupant.shape[1]):
            return members
        agent = int(occupant[row, column]) - 1
        if agent < 0 or actions[agent] != action:
            return members


@expanded
def _open_rows(state: Any, w: int, work: CubeWork, rows: int, members: int) -> None:
    """Order the rows by task, list them by face, and count the members' parts in them."""
    attempts, part = state.attempts[w], state.agent_part[w]
    _sort(work.row_task, rows)
    for row in range(rows):
        work.task_row[work.row_task[row]] = row
        work.row_force[row] = 0
        attempts[row, TASK] = work.row_task[row]
    _list_faces(work, rows)
    for i in range(members):
        a = work.member[i]
        row = work.task_row[work.agent_task[a]]
        state.agent_attempt[w, a] = row
        attempts[row, MEMBERS] += 1
        if part[a] & (ACTING | TRYING):
            attempts[row, TEMPORAL] += 1
        if part[a] & ACTING:
            work.row_force[row] += 1
    state.attempt_count[w] = rows


@expanded
def _list_faces(work: CubeWork, rows: int) -> None:
    """Fill `face_row` and `face_end` by counting."""
    end = work.face_end
    end[:] = 0
    for row in range(rows):
        end[face_of(work.row_task[row])] += 1
    for face in range(1, FACES):
        end[face] += end[face - 1]
    for row in range(rows - 1, -1, -1):
        face = face_of(work.row_task[row])
        end[face] -= 1
        work.face_row[end[face]] = row
    for face in range(FACES - 1):
        end[face] = end[face + 1]
    end[FACES - 1] = rows


@inner
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


@expanded
def measure(state: Any, w: int, work: CubeWork, rows: int, is_chain: bool) -> None:
    """Count who stands aligned with the face of each row, and which members wait there.

    Aligned is an agent on a contact cell; under `chain` also one behind it with an agent on
    every cell between.
    """
    occupant, attempts = state.occupant[w], state.attempts[w]
    part, height, width = state.agent_part[w], occupant.shape[0], occupant.shape[1]
    for row in range(rows):
        block, face = block_of(attempts[row, TASK]), face_of(attempts[row, TASK])
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


@expanded
def push(
    state: Any,
    w: int,
    work: CubeWork,
    members: int,
    moved: int,
    direction: int,
    is_chain: bool,
) -> int:
    """One pass: judge the closures in `direction`, advance the feasible ones, write the rows.

    `moved` blocks have moved in earlier passes; returns the number including this one.
    """
    face, before = opposite(direction), moved
    first = work.face_end[face - 1] if face > 0 else 0
    last = work.face_end[face]
    for i in range(first, last):
        moved = _judge(state, w, work, work.face_row[i], moved, direction, is_chain)
    if moved > before:
        _advance(state, w, work, members, before, moved, direction)
    for i in range(first, last):
        _resolve(state, w, work, work.face_row[i], direction)
    return moved


@expanded
def _judge(
    state: Any, w: int, work: CubeWork, row: int, moved: int, direction: int, is_chain: bool
) -> int:
    """Write need, force and failure of a row's closure; list its blocks if they will move.

    The row holds the force in PARTICIPATION and the failure (NONE: feasible) in REASON until it
    is resolved.
    """
    attempts, weights = state.attempts[w], state.block_weight[w]
    members, failure = _close(state, w, work, block_of(attempts[row, TASK]), direction, is_chain)
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


@expanded
def _close(
    state: Any, w: int, work: CubeWork, block: int, direction: int, is_chain: bool
) -> tuple[int, int]:
    """Collect the closure of `block` in `work.closure`; returns its size and its failure.

    The failure is the first that applies of ALREADY_MOVED, BLOCKED_BY_WALL, BLOCKED_BY_BLOCK and
    BLOCKED_BY_AGENT, and INSUFFICIENT_FORCE when the passage is clear.
    """
    work.closure[0] = block
    if is_chain:
        work.clock[0] += 1
        work.seen[block] = work.clock[0]
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


@inner
def _is_frozen(work: CubeWork, block: int, direction: int) -> bool:
    """Whether the block moved in an earlier pass of this step."""
    return bool(work.moved_in[block] != NO_PASS and work.moved_in[block] != direction)


@expanded
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


@expanded
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


@expanded
def _advance(
    state: Any, w: int, work: CubeWork, members: int, first: int, moved: int, direction: int
) -> None:
    """Move the blocks `work.moved[first:moved]` and their lines by one cell, all at once."""
    occupant, cells, weights = state.occupant[w], state.block_cell[w], state.block_weight[w]
    down, right = DIRECTIONS[direction]
    _lift_lines(state, w, work, members, direction)
    for i in range(first, moved):
        block = work.moved[i]
        row, column = int(cells[block, 0]) + down, int(cells[block, 1]) + right
        cells[block, 0], cells[block, 1] = row, column
        _paint_side(occupant, row, column, int(weights[block]), opposite(direction), FREE)
    for i in range(first, moved):
        block = work.moved[i]
        row, column = int(cells[block, 0]) - down, int(cells[block, 1]) - right
        _paint_side(occupant, row, column, int(weights[block]), direction, -(block + 1))
    _set_lines(state, w, work, members, direction)
    _deliver(state, w, work, first, moved)


@inner
def _paint_side(
    occupant: NDArray[np.int16], row: int, column: int, size: int, side: int, value: int
) -> None:
    """Write `value` into the cells that touch a square on one side; all inside the board."""
    r, c = side_start(row, column, size, side)
    down, right = side_step(side)
    for _ in range(size):
        occupant[r, c] = value
        r, c = r + down, c + right


@expanded
def _lift_lines(state: Any, w: int, work: CubeWork, members: int, direction: int) -> None:
    """Take the agents of all lines on blocks that move in this pass off the board."""
    cells, part, occupant = state.agent_cell[w], state.agent_part[w], state.occupant[w]
    for i in range(members):
        a = work.member[i]
        if part[a] & ACTING and _is_carried(work, a, direction):
            state.agent_outcome[w, a] = PUSHED
            occupant[cells[a, 0], cells[a, 1]] = FREE


@expanded
def _set_lines(state: Any, w: int, work: CubeWork, members: int, direction: int) -> None:
    """Put the agents that `_lift_lines` took up down one cell further."""
    cells, part, occupant = state.agent_cell[w], state.agent_part[w], state.occupant[w]
    for i in range(members):
        a = work.member[i]
        if part[a] & ACTING and _is_carried(work, a, direction):
            cells[a, 0] += DIRECTIONS[direction, 0]
            cells[a, 1] += DIRECTIONS[direction, 1]
            occupant[cells[a, 0], cells[a, 1]] = a + 1


@inner
def _is_carried(work: CubeWork, agent: int, direction: int) -> bool:
    """Whether the block on which an acting agent acts moves in this pass, its way."""
    task = work.agent_task[agent]
    return bool(face_of(task) == opposite(direction) and work.moved_in[block_of(task)] == direction)


@expanded
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


@expanded
def _resolve(state: Any, w: int, work: CubeWork, row: int, direction: int) -> None:
    """Write the rest of a row after its pass."""
    attempts = state.attempts[w, row]
    block, own = block_of(attempts[TASK]), int(work.row_force[row])
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
