"""What is random in CUBE has the right distribution: fixed seeds, many draws, stated bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from primitives import rng
from primitives.compile import in_place
from primitives.cube_kernels import LEGAL, step_many
from primitives.cube_work import cube_memory
from worlds.api import NO_TASK
from worlds.cube.config import CubeConfig
from worlds.cube.rules import CubeRules
from worlds.cube.state import CubeState
from worlds.errors import UnsolvableMap


def layouts(config: CubeConfig, seeds: int) -> CubeState:
    return CubeRules(config).reset(0, seeds)


def needs_second_try(config: CubeConfig, seed: int) -> bool:
    """Whether the first layout of the seed is dropped."""
    try:
        CubeRules(CubeConfig(**{**config.__dict__, "placement_tries": 1})).reset(seed)
    except UnsolvableMap:
        return True
    return False


def touching_pairs(state: CubeState) -> np.ndarray:
    """[B] number of pairs of blocks whose cells come within one cell of each other, corners too."""
    cells, size = state.block_cell.astype(int), state.block_weight.astype(int)
    first, last = cells, cells + size[..., None]
    gap = np.maximum(
        first[:, :, None] - last[:, None, :], first[:, None, :] - last[:, :, None]
    ).max(axis=-1)
    return np.triu(gap < 1, k=1).sum(axis=(1, 2))


def share_of_blocks(state: CubeState, area: str) -> float:
    """Share of blocks with another block's cell in `area`: their left face, or their way."""
    found = total = 0
    for board, cells, sizes in zip(
        state.occupant, state.block_cell, state.block_weight, strict=True
    ):
        for block, ((r, c), size) in enumerate(zip(cells.tolist(), sizes.tolist(), strict=True)):
            columns = slice(c - 1, c) if area == "face" else slice(c + size, None)
            there = board[r : r + size, columns]
            found += bool(((there < 0) & (there != -(block + 1))).any())
            total += 1
    return found / total


def test_moat_layouts() -> None:
    config = CubeConfig()
    state = layouts(config, 1000)
    second = np.mean([needs_second_try(config, seed) for seed in range(1000)])
    assert second <= 0.01, f"{second:.3f} of the layouts need a second try"
    assert touching_pairs(state).sum() == 0
    assert share_of_blocks(state, "face") == 0
    size, column = state.block_weight.astype(int), state.block_cell[..., 1].astype(int)
    distance = 15 - column - size
    assert 6.6 <= distance.mean() <= 7.4, f"mean distance to the goal {distance.mean():.2f}"
    assert (distance.min(), distance.max()) == (2, 13)
    row, last = state.block_cell[..., 0].astype(int), 15 - size - 2
    near = np.minimum.reduce([row - 1, last - row, column - 1, last - column]) <= 2
    assert near.mean() >= 0.99, f"{near.mean():.3f} of the blocks are near the bounds"


def test_scatter_layouts() -> None:
    state = layouts(CubeConfig(placement="scatter"), 1000)
    touching = (touching_pairs(state) > 0).mean()
    face, ahead = share_of_blocks(state, "face"), share_of_blocks(state, "way")
    assert touching >= 0.97, f"{touching:.3f} of the layouts have touching blocks"
    assert 0.15 <= face <= 0.21, f"{face:.3f} of the left faces are partly under a block"
    assert 0.49 <= ahead <= 0.58, f"{ahead:.3f} of the blocks have one ahead"


@pytest.mark.parametrize(
    ("n", "seeds", "low", "high"),
    [(22, 200, 0.03, 0.20), *((n, 50, 0.0, 0.06) for n in (4, 8, 16, 20, 24, 32, 64))],
)
def test_curriculum_layouts_are_found(n: int, seeds: int, low: float, high: float) -> None:
    config = CubeConfig(rules="chain", n=n)
    layouts(config, seeds)
    dropped = np.mean([needs_second_try(config, seed) for seed in range(seeds)])
    assert low <= dropped <= high, f"n = {n}: {dropped:.3f} of the first layouts are dropped"


def test_start_rows_are_uniform() -> None:
    rows = layouts(CubeConfig(), 5000).agent_cell[..., 0]
    counts = np.bincount(rows.ravel(), minlength=15)
    expected = rows.size / 15
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert chi_squared < 40, f"chi squared {chi_squared:.1f} of {counts}"


@in_place
def play_at_random(
    state: Any,
    memory: np.ndarray,
    stream: np.ndarray,
    actions: np.ndarray,
    declared: np.ndarray,
    is_chain: bool,
    steps: int,
    rewards: np.ndarray,
    terminated: np.ndarray,
) -> int:
    """Uniform actions for `steps` steps; returns LEGAL."""
    for _ in range(steps):
        for w in range(actions.shape[0]):
            rng.fill_below(stream, 5, actions[w])
        fault = step_many(
            state, memory, actions, declared, is_chain, steps, 0.01, 1.0, rewards, terminated
        )
        if fault != LEGAL:
            return fault
    return LEGAL


@pytest.mark.parametrize(
    ("config", "seeds", "attempts", "success", "score"),
    [
        (CubeConfig(), 300, (40, 53), (0.10, 0.145), 0.15),
        (CubeConfig(agents=6), 200, (82, 100), (0.095, 0.13), 0.25),
        (CubeConfig(rules="chain", n=4), 200, (6.5, 12.5), (0.28, 0.42), None),
    ],
    ids=["quorum", "quorum-6", "chain"],
)
def test_random_play(
    config: CubeConfig,
    seeds: int,
    attempts: tuple[float, float],
    success: tuple[float, float],
    score: float | None,
) -> None:
    rules = CubeRules(config)
    state = rules.reset(0, seeds)
    shape = state.agent_part.shape
    stream = np.zeros(2, np.uint64)
    rng.start(stream, np.uint64(0))
    memory = cube_memory(rules.agents, len(config.weights))
    idle = np.full(shape, NO_TASK, np.int32)
    out = np.empty(shape, np.float32), np.empty(shape, np.bool_)
    actions = np.zeros(shape, np.int32)
    played = play_at_random(state, memory, stream, actions, idle, config.is_chain, 200, *out)
    assert played == LEGAL
    tried, done = state.task_attempts.sum(axis=1), state.task_successes.sum()
    assert attempts[0] <= tried.mean() <= attempts[1], f"{tried.mean():.1f} attempts"
    share = done / tried.sum()
    assert success[0] <= share <= success[1], f"{share:.3f} of the attempts succeed"
    if score is not None:
        assert state.score.mean() <= score, f"mean score {state.score.mean():.2f}"
