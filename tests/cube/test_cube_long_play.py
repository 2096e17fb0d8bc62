"""A million random steps at 3, 12 and 64 agents never let two things share a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from primitives import rng
from primitives.compile import in_place
from primitives.cube_kernels import step_one
from primitives.cube_work import GONE, cube_memory, cube_work
from worlds.api import NO_TASK
from worlds.cube.config import CubeConfig
from worlds.cube.rules import CubeRules

STEPS = 1_000_000
EPISODE = 1_000
FULL_CHECK = 50
SOUND = -1


@in_place
def broken_cells(state: Any, w: int) -> int:
    """Number of cells of agents and blocks that the grid does not give to them."""
    broken = 0
    for a in range(state.agent_cell.shape[1]):
        broken += state.occupant[w, state.agent_cell[w, a, 0], state.agent_cell[w, a, 1]] != a + 1
    for block in range(state.block_cell.shape[1]):
        row, column = state.block_cell[w, block]
        size = state.block_weight[w, block]
        if row != GONE:
            for r in range(row, row + size):
                for c in range(column, column + size):
                    broken += state.occupant[w, r, c] != -(block + 1)
    return broken


@in_place
def stray_cells(state: Any, w: int) -> int:
    """Cells in use, beyond those of all agents and blocks."""
    stray = -state.agent_cell.shape[1]
    for block in range(state.block_cell.shape[1]):
        if state.block_cell[w, block, 0] != GONE:
            stray -= int(state.block_weight[w, block]) ** 2
    for r in range(state.occupant.shape[1]):
        for c in range(state.occupant.shape[2]):
            stray += state.occupant[w, r, c] != 0
    return stray


@in_place
def first_broken_step(
    state: Any,
    w: int,
    memory: np.ndarray,
    stream: np.ndarray,
    actions: np.ndarray,
    declared: np.ndarray,
    is_chain: bool,
    steps: int,
) -> int:
    """Play `steps` random steps, checking each; the first that breaks the board, or SOUND."""
    work = cube_work(memory, len(actions), state.block_cell.shape[1])
    for step in range(steps):
        rng.fill_below(stream, 5, actions)
        rng.fill_below(stream, 2 * state.task_attempts.shape[1], declared)
        for a in range(len(declared)):
            if declared[a] >= state.task_attempts.shape[1]:
                declared[a] = NO_TASK
        step_one(state, w, work, actions, declared, is_chain)
        if broken_cells(state, w) != 0:
            return step
        if step % FULL_CHECK == 0 and stray_cells(state, w) != 0:
            return step
    return SOUND


@pytest.mark.parametrize("rules", ["quorum", "chain"])
@pytest.mark.parametrize("agents", [3, 12, 64])
def test_nothing_ever_overlaps(agents: int, rules: str) -> None:
    settings = {"side": 15} if agents == 3 else {"side": max(20, agents)}
    blocks = ((1, 4), (2, 4), (3, 3)) if agents < 64 else ((1, 30), (2, 20), (4, 12), (8, 4))
    config = CubeConfig(rules=rules, agents=agents, blocks=blocks, placement="scatter", **settings)
    worlds = STEPS // 2 // EPISODE
    state = CubeRules(config).reset(0, worlds)
    memory = cube_memory(agents, len(config.weights))
    stream = np.zeros(2, np.uint64)
    rng.start(stream, np.uint64(agents))
    actions, declared = np.zeros((2, agents), np.int32)
    for w in range(worlds):
        step = first_broken_step(
            state, w, memory, stream, actions, declared, config.is_chain, EPISODE
        )
        assert step == SOUND, f"seed {w}: the board is broken at step {step}"
    assert (state.step == EPISODE).all()
    assert state.task_successes.sum() > 0
