"""Plans of scripted play in CUBE: deliver blocks one after the other, or stand clear."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from primitives.navigation import UNREACHABLE
from worlds.api import Cell, Json
from worlds.cube.board import GOAL_FACE, STEPS, Board
from worlds.cube.detour import detour
from worlds.cube.seat import Leg, Seat
from worlds.cube.slots import corridors
from worlds.cube.state import ACTIONS, FACES

__all__ = [
    "IDLE_STEPS",
    "MOST_ACTIONS",
    "NO_TASK_ID",
    "PAUSE_STEPS",
    "actions_for",
    "deliver",
    "plan",
    "stand_clear",
]

NO_TASK_ID = "none"
MOST_ACTIONS = 8
LONGEST_PUSH = 20
SPARE_PUSHES = 4
"""Pushes beyond the distance, for steps in which somebody walked through the lane."""
SPARE_WALK, LONGEST_WALK = 12, 100
"""Steps beyond the shortest way after which a walk is given up, and the most that can be asked."""
HELD = ("timeout", "blocked", "face_full")
RESTS = 4
LONGEST_WAIT = 100
LONGEST_MOVE = 10
IDLE_STEPS, PAUSE_STEPS, REST_STEPS = 30, 10, 3
SIDEWAYS_PUSH = 10


def plan(task: str, actions: list[Json], thought: str, note: str = "") -> Json:
    """A plan reply."""
    return {"thought": thought, "task": task, "actions": actions, "note": note}


def deliver(
    seat: Seat,
    legs: Sequence[Leg],
    waits: Sequence[int],
    cell: Cell | None = None,
) -> list[Json]:
    """Go to the face, wait for the others, push; leg by leg as far as a plan reaches.

    waits: steps to wait for partners at each leg, the last for all further ones. cell: the slot
    of the first leg, or None for the nearest. A block with another in its way is not pushed: a
    plan goes on after a push that fell short, and blocks that touch cannot be got apart.
    """
    actions: list[Json] = []
    start = seat.cell
    for index, leg in enumerate(legs):
        if not seat.board.terrain.contacts(*leg):
            break
        slot = cell if index == 0 else None
        is_there = index == 0 and _is_there(seat, leg, slot)
        part = [] if is_there else [_walk(seat, leg, start, slot)]
        part = _rest(seat) + part if part and index == 0 else part
        part += _act(seat.board, leg, waits[min(index, len(waits) - 1)])
        if index > 0 and len(actions) + len(part) > MOST_ACTIONS:
            break
        actions += part
        if not _pushes(seat.board, leg):
            break
        start = _end(seat.board, leg)
    return actions[:MOST_ACTIONS]


def _rest(seat: Seat) -> list[Json]:
    """A short rest, other for each agent, after a walk in which others were in the way.

    Two agents that make way for each other in the same rhythm never pass.
    """
    last = seat.notes["last"]
    is_held = last is not None and last["step"] == seat.step and last["verb"] == "navigate"
    if is_held and last["reason"] in HELD:
        return [{"verb": "wait", "steps": 1 + seat.agent % RESTS}]
    return []


def _walk(seat: Seat, leg: Leg, start: Cell, cell: Cell | None) -> Json:
    terrain, (block, face) = seat.board.terrain, leg
    corner = terrain.cells[block]
    assert corner is not None
    steps = int(terrain.field(terrain.contacts(block, face))[start])
    if steps == UNREACHABLE:
        steps = abs(start[0] - corner[0]) + abs(start[1] - corner[1])
    limit = min(LONGEST_WALK, steps + SPARE_WALK)
    walk = {"verb": "navigate", "block": block, "face": FACES[face], "timeout": limit}
    return walk if cell is None else {**walk, "cell": list(cell)}


def _act(board: Board, leg: Leg, wait: int) -> list[Json]:
    there, need = {"block": leg[0], "face": FACES[leg[1]]}, _need(board, leg)
    actions: list[Json] = []
    if need > 1:
        limit = max(1, min(LONGEST_WAIT, wait))
        actions.append({"verb": "rendezvous", **there, "count": need, "timeout": limit})
    left = _pushes(board, leg)
    if not left and need == 1:
        actions.append({"verb": "wait", "steps": REST_STEPS})
    while left > 0:
        actions.append({"verb": "push", **there, "steps": min(LONGEST_PUSH, left)})
        left -= LONGEST_PUSH
    return actions


def _end(board: Board, leg: Leg) -> Cell:
    """Where a leg leaves its first agent."""
    terrain = board.terrain
    row, column = terrain.contacts(*leg)[0]
    at_goal = terrain.columns - terrain.weights[leg[0]] - 1
    return row, at_goal if leg[1] == GOAL_FACE else column


def _is_there(seat: Seat, leg: Leg, cell: Cell | None) -> bool:
    """In the slot, or in another one while the face is complete."""
    aligned = seat.board.aligned(*leg)
    is_complete = cell is None or len(aligned) >= _need(seat.board, leg)
    return seat.cell == cell or (seat.agent in aligned and is_complete)


def actions_for(board: Board, leg: Leg) -> int:
    """Actions of a plan that a leg takes."""
    pushes = -(-_pushes(board, leg) // LONGEST_PUSH)
    return 1 + (_need(board, leg) > 1) + pushes


def _need(board: Board, leg: Leg) -> int:
    """Hands to wait for: the closure's weight, at most the team."""
    return min(board.closure(*leg).weight, len(board.agents))


def _pushes(board: Board, leg: Leg) -> int:
    """Pushes of a leg; none towards the goal while a block is in the way."""
    terrain, (block, face) = board.terrain, leg
    if face != GOAL_FACE:
        aside = detour(board)
        is_aside = aside is not None and (aside.block, aside.face) == leg
        steps = aside.steps if aside is not None and is_aside else SIDEWAYS_PUSH
        return max(1, min(steps, terrain.run(block, face)))
    return 0 if terrain.ahead(block) else terrain.distance_to_goal(block) + SPARE_PUSHES


def stand_clear(seat: Seat, steps: int = IDLE_STEPS) -> Json:
    """Leave the lanes in front of blocks by the shortest free way, or stay out of them."""
    lanes = _lanes(seat.board)
    if seat.cell not in lanes:
        wait = {"verb": "wait", "steps": steps}
        return plan(NO_TASK_ID, [wait], "Nothing for me to push; I stay out of the way.")
    actions = _moves(_way_out(seat.board, seat.cell, lanes)) or [{"verb": "wait", "steps": 1}]
    return plan(NO_TASK_ID, actions[:MOST_ACTIONS], "Nothing for me to push; I leave the lane.")


def _way_out(board: Board, start: Cell, lanes: set[Cell]) -> list[int]:
    """Directions of the shortest way over free cells to one outside the lanes; [] for none."""
    came: dict[Cell, tuple[Cell, int]] = {start: (start, -1)}
    waiting = deque([start])
    while waiting:
        cell = waiting.popleft()
        if cell not in lanes:
            return _directions(came, cell)
        for direction, (down, right) in enumerate(STEPS):
            beside = (cell[0] + down, cell[1] + right)
            if beside not in came and _is_free(board, beside):
                came[beside] = (cell, direction)
                waiting.append(beside)
    return []


def _directions(came: dict[Cell, tuple[Cell, int]], cell: Cell) -> list[int]:
    way: list[int] = []
    while came[cell][1] >= 0:
        cell, direction = came[cell]
        way.append(direction)
    return way[::-1]


def _moves(way: Sequence[int]) -> list[Json]:
    """Directions as `move` actions, one a straight stretch of at most ten steps."""
    moves: list[Json] = []
    for direction in way:
        name = ACTIONS[1 + direction]
        if moves and moves[-1]["direction"] == name and moves[-1]["steps"] < LONGEST_MOVE:
            moves[-1]["steps"] += 1
        else:
            moves.append({"verb": "move", "direction": name, "steps": 1})
    return moves


def _is_free(board: Board, cell: Cell) -> bool:
    terrain = board.terrain
    return terrain.is_inside(cell) and bool(terrain.walkable[cell]) and board.occupant[cell] == 0


def _lanes(board: Board) -> set[Cell]:
    """Cells not to stand on: in front of blocks and of their left faces, and in corridors."""
    terrain, found = board.terrain, set[Cell]()
    for block in terrain.open:
        corner = terrain.cells[block]
        assert corner is not None
        for row in range(corner[0], corner[0] + terrain.weights[block]):
            found |= {(row, column) for column in range(corner[1] - 1, terrain.columns)}
    aside = detour(board)
    if aside is not None:
        found |= set(terrain.lane(aside.block, aside.face, aside.steps))
    return found | corridors(terrain)
