"""Verbs of CUBE, and how each becomes one primitive action a step."""

from typing import NamedTuple

from primitives.navigation import NO_DIRECTION, downhill
from worlds.api import (
    NO_TASK,
    STAY,
    Action,
    AgentId,
    AttemptColumn,
    Cell,
    Done,
    Failed,
    Json,
    Primitive,
    Reason,
    Running,
    Standing,
)
from worlds.cube import concepts
from worlds.cube.board import GOAL_FACE, STEPS, Board, Field, board_of
from worlds.cube.config import CubeConfig
from worlds.cube.state import (
    FACES,
    OUTCOMES,
    REASONS,
    CubeState,
    push_direction,
    task_number,
)
from worlds.cube.verbs import Call, read_call, verb_table

__all__ = ["CubeSkills"]

PATIENCE = 5
"""Steps in a row without progress before a way that others hold is given up."""
YIELD_PACE, YIELD_SPARE = 4, 5
"""`yield` gives up after this many actions a step asked for, and these besides."""


class CubeSkills:
    """Verbs by name; what a verb remembers between steps is its `progress`.

    Keys of a progress: issued (primitives given), moved and stuck (steps with progress; in a row
    without), missed, code and facts (the last miss), face and cell (of a push: the face it uses,
    the block's cell before the step).
    """

    def __init__(self, config: CubeConfig) -> None:
        self._rules = config.rules
        self.verbs = verb_table(config.agent_count)

    def check(self, state: CubeState, agent: AgentId, action: Action) -> tuple[Reason, ...]:
        """`unknown_reference`, `block_delivered`, or `bad_argument` for a cell off the face."""
        if "block" not in action.args:
            return ()
        board, call = self._read(state, action)
        if call is None:
            return (Reason("unknown_reference", {"reference": str(action.args["block"])[:40]}),)
        if call.block not in board.terrain.open:
            return (Reason("block_delivered", {"block": f"block_{call.block}"}),)
        if call.cell is None or call.cell in board.terrain.slots(call.block, _goal_side(call)):
            return ()
        limits = f"cells at the {_face_name(call)} face of block_{call.block}"
        return (
            Reason("bad_argument", {"field": "cell", "value": list(call.cell), "limits": limits}),
        )

    def ground(
        self, state: CubeState, agent: AgentId, action: Action, progress: Json
    ) -> Primitive | Done | Failed:
        board, call = self._read(state, action)
        if call is None:
            return _unknown(action)
        memory = _begin(board, agent, call) if progress is None else dict(progress)
        end = _END[call.verb](board, agent, call, memory)
        if end is not None:
            return end
        number, declared = _ACT[call.verb](board, agent, call, memory)
        memory["issued"] += 1
        if call.verb == "push":
            memory["cell"] = list(board.terrain.cells[call.block] or ())
        return Primitive(number, memory, declared)

    def settle(
        self, state: CubeState, agent: AgentId, action: Action, progress: Json
    ) -> Running | Done | Failed:
        board, call = self._read(state, action)
        if call is None:
            return _unknown(action)
        memory = dict(progress)
        _remember(state, board, agent, call, memory)
        return _END[call.verb](board, agent, call, memory) or Running(memory)

    def estimate(
        self, state: CubeState, agent: AgentId, action: Action, start: Standing
    ) -> Standing:
        """Steps and place after the action by arithmetic alone: no obstacles, no others."""
        board, call = self._read(state, action)
        if call is None:
            return start
        if call.verb == "navigate":
            goal = _nearest(start.cell, call.aim(board.terrain.slots(call.block, _goal_side(call))))
            return start._replace(steps=start.steps + max(1, _gap(start.cell, goal)), cell=goal)
        if call.verb == "rendezvous":
            return start._replace(steps=start.steps + 1)
        cell, task = start.cell, start.task
        if call.verb == "move":
            down, right = STEPS[call.direction]
            cell = (cell[0] + down * call.steps, cell[1] + right * call.steps)
        if call.verb == "push":
            task = task_number(call.block, _face_at(board, start.cell, call))
        return Standing(start.steps + call.steps, cell, start.holdings, task)

    def _read(self, state: CubeState, action: Action) -> tuple[Board, Call | None]:
        """The board, and the action with its defaults; None for an unknown block."""
        board = board_of(state, self._rules)
        return board, read_call(action, board.terrain.weights, len(board.agents))


# --- memory of a verb ----------------------------------------------------------------------------


def _begin(board: Board, agent: AgentId, call: Call) -> Json:
    """What a verb remembers before its first primitive."""
    memory: dict[str, Json] = {"issued": 0, "moved": 0, "stuck": 0, "missed": 0}
    if call.verb == "push":
        face = concepts.face_of(board, agent, call.block) if call.face is None else None
        memory["face"] = _goal_side(call) if face is None else FACES.index(face)
    return memory


def _remember(
    state: CubeState, board: Board, agent: AgentId, call: Call, memory: dict[str, Json]
) -> None:
    """Take in what the last step brought the agent."""
    outcome = OUTCOMES[state.agent_outcome[0, agent]]
    went = outcome in ("moved", "pushed")
    if call.verb == "push":
        now = board.terrain.cells[call.block]
        went = outcome == "pushed" and memory["cell"] != list(now or ())
    memory["moved"] += went
    memory["missed"] += not went
    memory["stuck"] = 0 if went else memory["stuck"] + 1
    if not went:
        memory["code"], memory["facts"] = _miss(state, agent)


def _miss(state: CubeState, agent: AgentId) -> tuple[str, Json]:
    """Why the agent's last action did nothing for its verb, with counts of its task row."""
    row = int(state.agent_attempt[0, agent])
    code = REASONS[state.agent_reason[0, agent]]
    if code == REASONS[0]:
        code = "not_in_contact"
    if row < 0:
        return code, {}
    need, took_part = AttemptColumn.NEED, AttemptColumn.PARTICIPATION
    counts = state.attempts[0, row].tolist()
    return code, {"need": counts[need], "participation": counts[took_part]}


# --- when a verb is over -------------------------------------------------------------------------


def _end_move(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    if memory["issued"] < call.steps:
        return None
    return _done_or_miss(memory)


def _end_wait(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    return Done({}) if memory["issued"] >= call.steps else None


def _end_navigate(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    terrain, block, face = board.terrain, call.block, _goal_side(call)
    if terrain.cells[block] is None:
        return _delivered(call)
    contacts = call.aim(terrain.contacts(block, face))
    if board.agents[agent] in contacts or (call.cell is None and _is_behind(board, agent, call)):
        return Done({})
    if _is_covered(board, call, contacts):
        return _failed("face_blocked", call)
    if memory["issued"] >= call.timeout:
        return _timeout(memory)
    route = _route_to_face(board, agent, call)
    if route.kind == "held" and memory["stuck"] >= PATIENCE:
        full = all(board.occupant[cell] > 0 for cell in terrain.contacts(block, face))
        return _failed("face_full", call) if full else _held(memory)
    return _no_path() if route.kind == "none" else None


def _end_push(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    if board.terrain.cells[call.block] is None:
        return _done_or_miss(memory) if memory["moved"] else _delivered(call)
    return None if memory["issued"] < call.steps else _done_or_miss(memory)


def _end_rendezvous(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    if board.terrain.cells[call.block] is None:
        return _delivered(call)
    aligned = board.aligned(call.block, _goal_side(call))
    if agent not in aligned:
        return _failed("not_at_face", call)
    if len(aligned) >= call.crew:
        return Done({"count": len(aligned)})
    return _timeout(memory) if memory["issued"] >= call.timeout else None


def _end_yield(board: Board, agent: AgentId, call: Call, memory: Json) -> Done | Failed | None:
    terrain = board.terrain
    if terrain.cells[call.block] is None:
        return Done({})
    if terrain.gap(board.agents[agent], call.block) > call.steps:
        return Done({})
    if memory["issued"] >= YIELD_PACE * call.steps + YIELD_SPARE:
        return _timeout(memory)
    route = _route_away(board, agent, call)
    if route.kind == "held" and memory["stuck"] >= PATIENCE:
        return _held(memory)
    return _no_path() if route.kind == "none" else None


_END = {
    "move": _end_move,
    "wait": _end_wait,
    "navigate": _end_navigate,
    "push": _end_push,
    "rendezvous": _end_rendezvous,
    "yield": _end_yield,
}


def _done_or_miss(memory: Json) -> Done | Failed:
    if memory["moved"]:
        return Done({"moved": memory["moved"], "misses": memory["missed"]})
    return Failed(Reason(memory["code"], memory["facts"]))


def _delivered(call: Call) -> Failed:
    return Failed(Reason("block_delivered", {"block": f"block_{call.block}"}))


def _failed(code: str, call: Call) -> Failed:
    return Failed(Reason(code, {"block": f"block_{call.block}", "face": _face_name(call)}))


def _timeout(memory: Json) -> Failed:
    return Failed(Reason("timeout", {"steps": memory["issued"]}))


def _held(memory: Json) -> Failed:
    return Failed(Reason("blocked", {"steps": memory["stuck"]}))


def _no_path() -> Failed:
    return Failed(Reason("no_path"))


def _unknown(action: Action) -> Failed:
    return Failed(Reason("unknown_reference", {"reference": str(action.args["block"])[:40]}))


def _is_covered(board: Board, call: Call, contacts: tuple[Cell, ...]) -> bool:
    """Every cell that counts is under a block, or the one asked for is no longer at the face."""
    terrain, face = board.terrain, _goal_side(call)
    if call.cell is not None and call.cell not in terrain.contacts(call.block, face):
        return call.cell not in terrain.slots(call.block, face)
    return all(terrain.ground[cell] < 0 for cell in contacts)


def _is_behind(board: Board, agent: AgentId, call: Call) -> bool:
    """Aligned while no contact cell is free: as near to the face as one can get."""
    face = _goal_side(call)
    if agent not in board.aligned(call.block, face):
        return False
    return not any(board.occupant[cell] == 0 for cell in board.terrain.contacts(call.block, face))


# --- what a verb does next -----------------------------------------------------------------------


def _act_move(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    return 1 + call.direction, NO_TASK


def _act_wait(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    return STAY, NO_TASK


def _act_navigate(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    return _route_to_face(board, agent, call).action, NO_TASK


def _act_push(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    face = memory["face"]
    return 1 + push_direction(face), task_number(call.block, face)


def _act_rendezvous(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    return STAY, task_number(call.block, _goal_side(call))


def _act_yield(board: Board, agent: AgentId, call: Call, memory: Json) -> tuple[int, int]:
    return _route_away(board, agent, call).action, NO_TASK


_ACT = {
    "move": _act_move,
    "wait": _act_wait,
    "navigate": _act_navigate,
    "push": _act_push,
    "rendezvous": _act_rendezvous,
    "yield": _act_yield,
}


class _Route(NamedTuple):
    """`open`, `held` by other agents, or `none`; and the next primitive action."""

    kind: str
    action: int


def _route_to_face(board: Board, agent: AgentId, call: Call) -> _Route:
    terrain, face = board.terrain, _goal_side(call)
    contacts = call.aim(terrain.contacts(call.block, face))
    if call.cell is None:
        targets = board.places(call.block, face)
    else:
        targets = board.places_behind(contacts, face, agent)
    if board.agents[agent] in targets:
        return _Route("held", STAY)
    free = _downhill(board, agent, board.field(targets)) if targets else NO_DIRECTION
    if free != NO_DIRECTION:
        return _Route("open", 1 + free)
    return _through_others(board, agent, terrain.field(targets or contacts))


def _route_away(board: Board, agent: AgentId, call: Call) -> _Route:
    away = call.steps + 1
    free = _downhill(board, agent, board.away_field(call.block, away))
    if free != NO_DIRECTION:
        return _Route("open", 1 + free)
    return _through_others(board, agent, board.terrain.away_field(call.block, away))


def _downhill(board: Board, agent: AgentId, field: Field) -> int:
    row, column = board.agents[agent]
    return int(downhill(field, row, column))


def _through_others(board: Board, agent: AgentId, field: Field) -> _Route:
    """Down the field that ignores other agents, if the next cell is free."""
    direction = _downhill(board, agent, field)
    if direction == NO_DIRECTION:
        return _Route("none", STAY)
    (row, column), (down, right) = board.agents[agent], STEPS[direction]
    is_free = board.occupant[row + down, column + right] == 0
    return _Route("held", 1 + direction if is_free else STAY)


# --- faces and cells -----------------------------------------------------------------------------


def _goal_side(call: Call) -> int:
    return GOAL_FACE if call.face is None else call.face


def _face_name(call: Call) -> str:
    return FACES[_goal_side(call)]


def _face_at(board: Board, cell: Cell, call: Call) -> int:
    """The face a push from `cell` uses: the one asked for, else that of the cell, else left."""
    if call.face is not None:
        return call.face
    faces = range(len(FACES))
    on = (face for face in faces if cell in board.terrain.contacts(call.block, face))
    return next(on, GOAL_FACE)


def _nearest(cell: Cell, cells: tuple[Cell, ...]) -> Cell:
    """The cell of least Manhattan distance, then row, column; `cell` itself if there is none."""
    return min(cells, key=lambda other: (_gap(cell, other), other), default=cell)


def _gap(cell: Cell, other: Cell) -> int:
    return abs(cell[0] - other[0]) + abs(cell[1] - other[1])
