"""What cooperation asks for in CUBE: one task for each face of each undelivered block."""

from functools import lru_cache

from primitives.navigation import UNREACHABLE
from worlds.api import Action, AgentId, Cell, Failed, Json, Reason, Recipe, Task, TaskResult
from worlds.cube.board import GOAL_FACE, STEPS, Board, Field, board_of
from worlds.cube.config import CubeConfig
from worlds.cube.state import FACES, CubeState, push_direction, task_face, task_id, task_number
from worlds.cube.verbs import block_of

__all__ = ["CubeTasks"]

RECIPE_PUSH = 10
"""Most steps of the push of a recipe."""


class CubeTasks:
    """Open tasks, their cells, how far they can go, and whether they went on."""

    def __init__(self, config: CubeConfig) -> None:
        self._rules = config.rules

    def open(self, state: CubeState) -> tuple[Task, ...]:
        """Four tasks for each undelivered block, ascending number."""
        return _open(self._board(state))

    def known(self, state: CubeState, agent: AgentId) -> tuple[Task, ...]:
        """All open tasks: nothing is hidden."""
        return self.open(state)

    def find(self, state: CubeState, id: str, agent: AgentId | None = None) -> Task | None:
        """The open task `block_<id>_<face>`, or None."""
        board = self._board(state)
        reference, _, name = id.rpartition("_")
        block = block_of(reference, len(board.terrain.cells))
        if block is None or block not in board.terrain.open or name not in FACES:
            return None
        task = _task(board, block, FACES.index(name))
        return task if task.id == id else None

    def slots(self, state: CubeState, task: Task) -> tuple[Cell, ...]:
        """Contact cells that can be walked, then (`chain`) the cells behind each."""
        return self._board(state).terrain.slots(*task_face(task.number))

    def way(self, state: CubeState, task: Task) -> tuple[int, int]:
        """Cells the block can be pushed past agents; cells to the goal (0 but for a left face)."""
        terrain, (block, face) = self._board(state).terrain, task_face(task.number)
        goal = terrain.distance_to_goal(block) if face == GOAL_FACE else 0
        return terrain.run(block, face), goal

    def distances(self, state: CubeState, cells: tuple[Cell, ...]) -> Field:
        """[H, W] int32, path lengths from the cells, agents ignored, or UNREACHABLE."""
        return self._board(state).terrain.field(tuple((row, column) for row, column in cells))

    def recipe(
        self, state: CubeState, agent: AgentId, task: Task, slot: Cell | None = None
    ) -> Recipe | Failed:
        """Go to the slot (None: the nearest) and push; Failed `no_path`."""
        terrain, (block, face) = self._board(state).terrain, task_face(task.number)
        goals = terrain.contacts(block, face) if slot is None else ((slot[0], slot[1]),)
        walk = int(terrain.field(goals)[tuple(state.agent_cell[0, agent].tolist())])
        if walk >= UNREACHABLE:
            return Failed(Reason("no_path"))
        push = max(1, min(RECIPE_PUSH, terrain.run(block, face)))
        there: dict[str, Json] = {"block": block, "face": FACES[face]}
        if slot is not None:
            there["cell"] = list(slot)
        approach = (Action("navigate", there),) if walk else ()
        act = (Action("push", {"block": block, "steps": push, "face": FACES[face]}),)
        return Recipe((), 0, approach, act, walk + push)

    def mark(self, state: CubeState, task: Task) -> Json:
        """Where the block is, to be compared later."""
        cell = self._board(state).terrain.cells[task_face(task.number)[0]]
        return {"task": task.number, "cell": None if cell is None else list(cell)}

    def result(self, state: CubeState, mark: Json) -> TaskResult:
        """`done` delivered, `advanced` moved in the push direction since, else `none`."""
        block, face = task_face(mark["task"])
        now = self._board(state).terrain.cells[block]
        if now is None:
            return "done"
        down, right = STEPS[push_direction(face)]
        row, column = mark["cell"]
        return "advanced" if (now[0] - row) * down + (now[1] - column) * right > 0 else "none"

    def _board(self, state: CubeState) -> Board:
        return board_of(state, self._rules)


@lru_cache(maxsize=4)
def _open(board: Board) -> tuple[Task, ...]:
    """The tasks of a board, made once for all agents."""
    return tuple(
        _task(board, block, face) for block in board.terrain.open for face in range(len(FACES))
    )


def _task(board: Board, block: int, face: int) -> Task:
    terrain = board.terrain
    cell, weight = terrain.cells[block], terrain.weights[block]
    assert cell is not None
    number = task_number(block, face)
    need = board.closure(block, face).weight
    worth = float(weight) if face == GOAL_FACE else 0.0
    return Task(number, task_id(number), f"weight_{weight}", cell, need, worth, None)
