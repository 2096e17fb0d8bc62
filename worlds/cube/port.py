"""CUBE for learners: what the parallel forms of `worlds.parallel` need beside its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.cube_view_kernels import (
    BOARD_CHANNELS,
    WINDOW_CHANNELS,
    board_views,
    change_boards,
    windows,
)
from worlds.api import AgentId, AttemptColumn, AttemptResult, Json, Stepped
from worlds.cube.config import CubeConfig, configure
from worlds.cube.generate import from_drawing, to_drawing
from worlds.cube.rules import CubeRules, delivered_blocks, unmet
from worlds.cube.state import ACTIONS, OUTCOMES, REASONS, CubeState, task_id
from worlds.errors import ConfigError
from worlds.parallel import Box

__all__ = ["CubePort", "build"]

NAME = "cube_v1"
WINDOWS = (3, 255)
KEPT = 3
"""Boards kept for use again: the newest, the one a caller still holds, and one to spare."""
HELD_HERE = 3
"""References to an array that nobody else holds, as `show` counts them: its place in the list, the
name in the loop, the argument of the count."""
COUNTS = ("need", "participation", "spatial", "temporal", "dependency", "dependency_need")
"""Counts of an attempt row in an agent's info, after the task, in the order of the columns."""


def build(preset: str | None = None, view: int | None = None, **overrides: Any) -> CubePort:
    """CUBE with the settings of `preset` changed by `overrides`.

    view: None, everybody observes the whole board; an odd number 3..255, each agent observes
    the square of that many rows and columns round itself.
    Raises ConfigError.
    """
    is_odd = type(view) is int and WINDOWS[0] <= view <= WINDOWS[1] and view % 2 == 1
    if view is not None and not is_odd:
        raise ConfigError(f"view is {view!r}; allowed: an odd integer 3..255, or None")
    return CubePort(configure(preset, **overrides), view)


class Boards:
    """Observations of whole boards, each an array of its own for whoever holds it.

    An array that nobody holds any more is used again, and written where it changed alone: on a
    large board that is far less than all of it.
    """

    def __init__(self) -> None:
        self._shown: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def __getstate__(self) -> dict[str, Any]:
        """A copy starts with arrays of its own."""
        return {"_shown": []}

    def show(self, state: CubeState) -> NDArray[np.float32]:
        """[B, H, W, 5] float32, read-only."""
        shape = (*state.occupant.shape, BOARD_CHANNELS)
        for seen, agent_cell, block_cell in self._shown:
            if getrefcount(seen) == HELD_HERE and seen.shape == shape:
                cells = state.agent_cell, state.block_cell, state.block_weight
                change_boards(*cells, agent_cell, block_cell, seen)
                break
        else:
            seen = np.zeros(shape, np.float32)
            board_views(state.agent_cell, state.block_cell, state.block_weight, seen)
            entry = (seen, state.agent_cell.copy(), state.block_cell.copy())
            self._shown = [entry, *self._shown[: KEPT - 1]]
        view: NDArray[np.float32] = seen.view()
        view.flags.writeable = False
        return view


class CubePort:
    """CUBE of one configuration; observations are whole boards or windows."""

    name = NAME
    choices = (len(ACTIONS),)

    def __init__(self, config: CubeConfig, view: int | None) -> None:
        self.config, self.view = config, view
        self.rules = CubeRules(config)
        self.seed = config.seed
        self._boards = Boards()
        side, weights = config.board_side, config.weights
        if view is None:
            most = max(config.agent_count, len(weights), *weights)
            self.observation = Box(0, most, (side, side, BOARD_CHANNELS), np.float32)
        else:
            low, high = -len(weights), max(config.agent_count, *weights, 2)
            self.observation = Box(low, high, (view, view, WINDOW_CHANNELS), np.int16)

    def play(self, state: CubeState, commands: NDArray[np.int32]) -> tuple[Stepped, Any]:
        """Step a batch with `commands` [B, A, 1] int32, and look at it afterwards."""
        return self.rules.advance(state, commands[..., 0]), self.views(state)

    def views(self, state: CubeState) -> NDArray[Any]:
        """[B, H, W, 5] float32, or [B, A, S, S, 3] int16 if windows were asked for; read-only."""
        if self.view is None:
            return self._boards.show(state)
        size = (self.view, self.view, WINDOW_CHANNELS)
        seen = np.empty((*state.agent_part.shape, *size), np.int16)
        windows(state.occupant, state.agent_cell, state.block_weight, seen)
        seen.flags.writeable = False
        return seen

    def observations(self, views: NDArray[Any], agents: Sequence[AgentId]) -> list[NDArray[Any]]:
        """The same board for everybody, or each agent's window."""
        return [views[0]] * len(agents) if self.view is None else list(views[0])

    def infos(self, state: CubeState, agents: Sequence[AgentId]) -> list[dict[str, Json]]:
        """Outcome, reason, attempt row, delivered blocks and score, for each agent."""
        delivered, score = tuple(delivered_blocks(state)), int(state.score[0])
        patterns: dict[tuple[int, int], dict[str, Json]] = {}
        infos = []
        for pair in zip(
            state.agent_outcome[0].tolist(), state.agent_reason[0].tolist(), strict=True
        ):
            pattern = patterns.get(pair)
            if pattern is None:
                outcome, reason = pair
                pattern = patterns[pair] = {
                    "outcome": OUTCOMES[outcome],
                    "reason": REASONS[reason] if reason else None,
                    "attempt": None,
                    "delivered": delivered,
                    "score": score,
                }
            infos.append(pattern.copy())
        self._add_attempts(state, infos)
        return infos

    def _add_attempts(self, state: CubeState, infos: list[dict[str, Json]]) -> None:
        count = int(state.attempt_count[0])
        if count > 0:
            attempts = [_attempt(line) for line in state.attempts[0, :count].tolist()]
            for agent, line in enumerate(state.agent_attempt[0].tolist()):
                if line >= 0:
                    infos[agent]["attempt"] = attempts[line].copy()

    def draw(self, drawing: str, seed: int) -> CubeState:
        """A drawn start state with the board, agents and weights of the config."""
        config = replace(self.config, seed=seed)
        state = from_drawing(drawing, config)
        drawn = (*state.occupant.shape[1:], state.agent_cell.shape[1])
        needed = (config.board_side, config.board_side, config.agent_count)
        if drawn != needed:
            raise ConfigError(
                f"drawn has {drawn[0]} rows, {drawn[1]} columns and {drawn[2]} agents; allowed: "
                f"{needed[0]}, {needed[1]} and {needed[2]}"
            )
        weights = tuple(state.block_weight[0].tolist())
        if weights != config.weights:
            raise ConfigError(f"drawn has blocks of weights {weights}; allowed: {config.weights}")
        return state

    def picture(self, state: CubeState) -> str:
        """The drawing of a batch of one."""
        return to_drawing(state)

    def board(self, state: CubeState) -> NDArray[np.int16]:
        """[H, W] int16, a copy of `occupant`."""
        occupant: NDArray[np.int16] = state.occupant[0].copy()
        return occupant


def _attempt(line: list[int]) -> dict[str, Json]:
    """An attempt row as a learner reads it."""
    return {
        "task": task_id(line[AttemptColumn.TASK]),
        **dict(zip(COUNTS, line[AttemptColumn.NEED :], strict=False)),
        "members": line[AttemptColumn.MEMBERS],
        "result": AttemptResult.NAMES[line[AttemptColumn.RESULT]],
        "reason": REASONS[line[AttemptColumn.REASON]],
        "unmet": unmet(line),
    }
