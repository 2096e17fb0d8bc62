"""The rules of CUBE: start, step, copies, and what the last step brought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.cube_batch import handle_of
from primitives.cube_kernels import ALL_ENDED, LEGAL, step_at
from primitives.cube_view_kernels import BOARD_CHANNELS, board_views
from primitives.cube_work import cube_memory
from primitives.grid import LEFT
from worlds.api import (
    NO_TASK,
    AgentId,
    Attempt,
    AttemptColumn,
    AttemptResult,
    Json,
    Outcome,
    Points,
    Report,
    Stepped,
)
from worlds.cube import generate
from worlds.cube.config import CubeConfig
from worlds.cube.state import (
    ACTIONS,
    GONE,
    HELPERS,
    IS_CLEAR,
    OUTCOMES,
    REASONS,
    CubeState,
    check_layout,
    task_face,
    task_id,
)
from worlds.errors import IllegalAction, LayoutError

__all__ = ["CubeRules", "attempts_of", "delivered_blocks", "observation", "unmet"]

GOAL_FACE = LEFT
"""The face from which a block is pushed to the goal."""

LEGEND: Json = {
    "agent_cell": {},
    "block_cell": {str(GONE): "delivered"},
    "block_weight": {},
    "board": {},
}


class CubeRules:
    """Rules of one configuration; batches of any size, drawn worlds of any counts."""

    actions = ACTIONS
    argument_count = 0
    legend = LEGEND

    def __init__(self, config: CubeConfig) -> None:
        self.config = config
        self.agents = config.agent_count
        self._settings = (
            config.is_chain,
            config.max_steps,
            config.step_cost,
            config.deliver_reward,
        )
        self._bound: CubeState | None = None
        self._handle: Any = None
        self._blocks = 0
        self._memory: NDArray[np.int64]
        self._undeclared: NDArray[np.int32]

    def __getstate__(self) -> dict[str, Any]:
        """Without addresses: a copy must find its own arrays."""
        return {**self.__dict__, "_bound": None, "_handle": None}

    def reset(self, seed: int, worlds: int = 1) -> CubeState:
        """A fresh batch; world b gets seed + b. Raises ConfigError, UnsolvableMap."""
        return generate.start(self.config, seed, worlds)

    def step(
        self,
        state: CubeState,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32] | None = None,
        arguments: NDArray[np.int32] | None = None,
    ) -> Stepped:
        """Play one step in place; worlds that have ended keep their state and get reward 0.

        actions: [B, A] int32, indices of `actions`.
        declared: [B, A] int32, the task an agent's verb is about, or NO_TASK; records only.
        Raises LayoutError for other shapes and dtypes, IllegalAction for other values and when
        every world has ended; the state is then unchanged.
        """
        shape = state.agent_part.shape
        _check_array("actions", actions, shape, np.dtype(np.int32))
        if declared is not None:
            _check_array("declared", declared, shape, np.dtype(np.int32))
        if arguments is not None:
            _check_array("arguments", arguments, (*shape, 0), np.dtype(np.int32))
        return self.advance(state, actions, declared)

    def advance(
        self,
        state: CubeState,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32] | None = None,
    ) -> Stepped:
        """`step` for arrays whose layout is known to be right. Raises IllegalAction."""
        self._bind(state)
        told = self._undeclared if declared is None else declared
        rewards = np.empty(actions.shape, np.float32)
        terminated = np.empty(actions.shape, np.bool_)
        fault = step_at(self._handle, actions, told, *self._settings, rewards, terminated)
        if fault == ALL_ENDED:
            raise IllegalAction("the world has ended; allowed: reset, then step")
        if fault != LEGAL:
            raise _illegal(fault, actions, told, 4 * state.block_cell.shape[1])
        return Stepped(rewards, terminated, state.is_truncated.copy())

    def living(self, state: CubeState) -> tuple[AgentId, ...]:
        """Everybody until the last block is delivered, then nobody."""
        return () if state.is_terminated[0] else tuple(range(state.agent_cell.shape[1]))

    def observe(self, state: CubeState, agent: AgentId) -> NDArray[np.float32]:
        """[H, W, 5] float32, read-only, the same for every agent."""
        return observation(state)

    def report(self, state: CubeState) -> Report:
        """Outcomes, attempts and points of the last step."""
        outcomes = zip(state.agent_outcome[0].tolist(), state.agent_reason[0].tolist(), strict=True)
        return Report(
            outcomes=tuple(
                Outcome(OUTCOMES[outcome], REASONS[reason] if reason else None)
                for outcome, reason in outcomes
            ),
            attempts=attempts_of(state),
            points=_points_of(state),
            score=float(state.score[0]),
            gone=(),
            ended="goal" if state.is_terminated[0] else None,
        )

    def frame(self, state: CubeState) -> dict[str, NDArray[np.int16]]:
        """Copies of agent_cell [A, 2], block_cell [K, 2], block_weight [K], and board [3]: rows,
        columns, goal column; all int16."""
        height, width = state.occupant.shape[1:]
        return {
            "agent_cell": state.agent_cell[0].copy(),
            "block_cell": state.block_cell[0].copy(),
            "block_weight": state.block_weight[0].copy(),
            "board": np.array([height, width, width - 1], np.int16),
        }

    def clone(self, state: CubeState, copies: int = 1) -> CubeState:
        """The one world of `state` copied into a batch of `copies`."""
        if copies == 1:
            return CubeState._make(array.copy() for array in state)
        return CubeState._make(np.repeat(array, copies, axis=0) for array in state)

    def reseed(self, state: CubeState, keys: NDArray[np.uint64]) -> None:
        """keys: [B] uint64; (key, 0) becomes each world's stream. Raises LayoutError."""
        _check_array("keys", keys, state.step.shape, np.dtype(np.uint64))
        state.stream[:, 0] = keys
        state.stream[:, 1] = 0

    def _bind(self, state: CubeState) -> None:
        """Take note of a state that was not the last one: its counts, and where its arrays are.

        Raises LayoutError if an array has another shape or dtype than it must.
        """
        if state is self._bound:
            return
        check_layout(state)
        shape, blocks = state.agent_part.shape, state.block_cell.shape[1]
        if self._bound is None or shape != self._bound.agent_part.shape or blocks != self._blocks:
            self._blocks, self._memory = blocks, cube_memory(shape[1], blocks)
            self._undeclared = np.full(shape, NO_TASK, np.int32)
        self._bound = state
        self._handle = handle_of(state, self._memory)


def _check_array(name: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(array, np.ndarray):
        raise LayoutError(f"{name} is {array!r}; needed: an array {list(shape)} {dtype}")
    if array.shape != shape or array.dtype != dtype:
        raise LayoutError(
            f"{name} is {list(array.shape)} {array.dtype}; needed: {list(shape)} {dtype}"
        )


def _illegal(
    fault: int, actions: NDArray[np.int32], declared: NDArray[np.int32], tasks: int
) -> IllegalAction:
    """The error of a flat index as `step_many` returns it."""
    agents = actions.shape[1]
    if fault < actions.size:
        name, value = "action", actions.flat[fault]
        legal = ", ".join(f"{number} {action}" for number, action in enumerate(ACTIONS))
    else:
        fault -= actions.size
        name, value, legal = "declared task", declared.flat[fault], f"{NO_TASK}..{tasks - 1}"
    world = f" in world {fault // agents}" if actions.shape[0] > 1 else ""
    return IllegalAction(f"{name} {value} of agent_{fault % agents}{world}; allowed: {legal}")


def observation(state: CubeState) -> NDArray[np.float32]:
    """What everybody sees of the one world of `state`: [H, W, 5] float32, read-only."""
    seen = np.zeros((1, *state.occupant.shape[1:], BOARD_CHANNELS), np.float32)
    board_views(state.agent_cell, state.block_cell, state.block_weight, seen)
    board: NDArray[np.float32] = seen[0]
    board.flags.writeable = False
    return board


def attempts_of(state: CubeState) -> tuple[Attempt, ...]:
    """The attempt rows of the last step for readers, ascending task number."""
    count = int(state.attempt_count[0])
    if count == 0:
        return ()
    members: list[list[tuple[AgentId, int]]] = [[] for _ in range(count)]
    parts = state.agent_part[0].tolist()
    for agent, row in enumerate(state.agent_attempt[0].tolist()):
        if row >= 0:
            members[row].append((agent, parts[agent]))
    rows = state.attempts[0, :count].tolist()
    return tuple(_attempt(state, row, tuple(own)) for row, own in zip(rows, members, strict=True))


def _attempt(state: CubeState, row: list[int], members: tuple[tuple[AgentId, int], ...]) -> Attempt:
    task = row[AttemptColumn.TASK]
    block, _ = task_face(task)
    return Attempt(
        task=task_id(task),
        kind=f"weight_{state.block_weight[0, block]}",
        action="push",
        need=row[AttemptColumn.NEED],
        participation=row[AttemptColumn.PARTICIPATION],
        spatial=row[AttemptColumn.SPATIAL],
        temporal=row[AttemptColumn.TEMPORAL],
        dependency=row[AttemptColumn.DEPENDENCY],
        dependency_need=row[AttemptColumn.DEPENDENCY_NEED],
        members=members,
        in_place=row[AttemptColumn.IN_PLACE],
        result=AttemptResult.NAMES[row[AttemptColumn.RESULT]],
        reason=REASONS[row[AttemptColumn.REASON]],
        unmet=unmet(row),
        is_counted=True,
        extra={"helpers": row[HELPERS], "is_clear": bool(row[IS_CLEAR])},
    )


def unmet(row: list[int]) -> tuple[str, ...]:
    """The unsatisfied constraints of an attempt row, in the order of its columns."""
    need = row[AttemptColumn.NEED]
    counts: Mapping[str, int] = {
        "participation": row[AttemptColumn.PARTICIPATION],
        "spatial": row[AttemptColumn.SPATIAL],
        "temporal": row[AttemptColumn.TEMPORAL],
    }
    missing = [name for name, count in counts.items() if count < need]
    if row[AttemptColumn.DEPENDENCY] < row[AttemptColumn.DEPENDENCY_NEED]:
        missing.append("dependency")
    return tuple(missing) if row[IS_CLEAR] else (*missing, "passage")


def delivered_blocks(state: CubeState) -> list[int]:
    """Ids of the blocks delivered in the last step."""
    if state.delivered_now[0] == 0:
        return []
    return np.flatnonzero(state.delivered_step[0] == state.step[0]).tolist()


def _points_of(state: CubeState) -> tuple[Points, ...]:
    everybody = tuple(range(state.agent_cell.shape[1]))
    return tuple(
        Points(task_id(4 * block + GOAL_FACE), float(state.block_weight[0, block]), everybody)
        for block in delivered_blocks(state)
    )
