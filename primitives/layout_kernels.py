"""Start layouts of CUBE: blocks on random candidate cells, agents in the first column."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives import rng
from primitives.compile import expanded, kernel
from primitives.grid import fill_rectangle

STATE_LABEL = 1
FIRST_TRY_LABEL = 100
"""Fork labels of the stream a state keeps, and of the first try at a layout."""

EDGE_REACH = 2
MIDDLE_WEIGHT = 3
MIDDLE_DIVISOR = 6
"""A moat layout favours blocks within EDGE_REACH of the legal bounds, and keeps those of at least
MIDDLE_WEIGHT out of the middle of the board (a sixth of it to each side)."""

SCORES = 3
NO_CANDIDATE = -1


class Candidates(NamedTuple):
    """Top-left cells that are left for the blocks of one size.

    score: [H, W] int8, 0..SCORES-1 or NO_CANDIDATE.
    row_total: [SCORES, H] int32, candidates of each score in each row.
    total: [SCORES] int32, candidates of each score.
    """

    score: NDArray[np.int8]
    row_total: NDArray[np.int32]
    total: NDArray[np.int32]


@kernel
def generate_many(
    state: Any, seeds: NDArray[np.uint64], order: NDArray[np.int32], is_moat: bool, tries: int
) -> int:
    """Fill an empty batch with start layouts; returns the first world without one, or -1.

    seeds: [B] uint64.
    order: [K] int32, blocks by descending weight, then ascending id.
    """
    side = state.occupant.shape[1]
    candidates = Candidates(
        np.empty((side, side), np.int8),
        np.empty((SCORES, side), np.int32),
        np.empty(SCORES, np.int32),
    )
    rows = np.empty(side, np.int64)
    for b in range(len(seeds)):
        if not _generate_one(state, b, seeds[b], order, is_moat, tries, candidates, rows):
            return b
    return -1


@expanded
def _generate_one(
    state: Any,
    b: int,
    seed: np.uint64,
    order: NDArray[np.int32],
    is_moat: bool,
    tries: int,
    candidates: Candidates,
    rows: NDArray[np.int64],
) -> bool:
    """Try layouts of world `b`, each with its own stream, until one holds all blocks."""
    root = np.zeros(2, np.uint64)
    stream = np.zeros(2, np.uint64)
    rng.start(root, seed)
    for attempt in range(tries):
        rng.fork(root, FIRST_TRY_LABEL + attempt, stream)
        if _place_blocks(state, b, order, is_moat, candidates, stream):
            _place_agents(state, b, rows, stream)
            rng.fork(root, STATE_LABEL, state.stream[b])
            return True
    return False


@expanded
def _place_blocks(
    state: Any,
    b: int,
    order: NDArray[np.int32],
    is_moat: bool,
    candidates: Candidates,
    stream: NDArray[np.uint64],
) -> bool:
    """Place the blocks in `order` on an empty board; False when one has no candidate."""
    gap = 1 if is_moat else 0
    occupant, cells, weights = state.occupant[b], state.block_cell[b], state.block_weight[b]
    occupant[:, :] = 0
    size = 0
    for i in range(len(order)):
        block = order[i]
        if weights[block] != size:
            size = int(weights[block])
            _all_candidates(candidates, size, is_moat)
            for j in range(i):
                placed = order[j]
                _withdraw(candidates, size, cells[placed], int(weights[placed]), gap)
        if not _choose(candidates, stream, cells[block]):
            return False
        row, column = int(cells[block, 0]), int(cells[block, 1])
        fill_rectangle(occupant, row, column, size, size, -(block + 1))
        _withdraw(candidates, size, cells[block], size, gap)
    return True


@expanded
def _all_candidates(candidates: Candidates, size: int, is_moat: bool) -> None:
    """Make every legal top-left cell of a block of `size` a candidate, with its score."""
    side = candidates.score.shape[0]
    last = side - size - 2
    candidates.score[:, :] = NO_CANDIDATE
    candidates.row_total[:, :] = 0
    candidates.total[:] = 0
    for row in range(1, last + 1):
        for column in range(1, last + 1):
            score = _moat_score(row, column, size, side) if is_moat else 0
            candidates.score[row, column] = score
            candidates.row_total[score, row] += 1
            candidates.total[score] += 1


@expanded
def _moat_score(row: int, column: int, size: int, side: int) -> int:
    """0..2: one, one more near the bounds, one less for a heavy block in the middle."""
    last = side - size - 2
    score = 1
    if min(row - 1, last - row, column - 1, last - column) <= EDGE_REACH:
        score += 1
    reach = 2 * max(1, side // MIDDLE_DIVISOR)
    is_middle = abs(2 * row + size - side) <= reach and abs(2 * column + size - side) <= reach
    if size >= MIDDLE_WEIGHT and is_middle:
        score -= 1
    return score


@expanded
def _withdraw(
    candidates: Candidates, size: int, cell: NDArray[np.int16], other: int, gap: int
) -> None:
    """Drop the candidates of blocks of `size` that come too near a block of size `other`.

    cell: [2] int16, top-left cell of the placed block. gap: free cells needed between the two.
    """
    side = candidates.score.shape[0]
    row, column = int(cell[0]), int(cell[1])
    for r in range(max(0, row - size - gap + 1), min(side, row + other + gap)):
        for c in range(max(0, column - size - gap + 1), min(side, column + other + gap)):
            score = candidates.score[r, c]
            if score != NO_CANDIDATE:
                candidates.score[r, c] = NO_CANDIDATE
                candidates.row_total[score, r] -= 1
                candidates.total[score] -= 1


@expanded
def _choose(candidates: Candidates, stream: NDArray[np.uint64], cell: NDArray[np.int16]) -> bool:
    """Draw one of the candidates of the best score into `cell` [2]; False when there is none."""
    best = SCORES - 1
    while best >= 0 and candidates.total[best] == 0:
        best -= 1
    if best < 0:
        return False
    left = rng.next_below(stream, int(candidates.total[best]))
    row = 0
    while left >= candidates.row_total[best, row]:
        left -= candidates.row_total[best, row]
        row += 1
    column = 0
    while candidates.score[row, column] != best or left > 0:
        if candidates.score[row, column] == best:
            left -= 1
        column += 1
    cell[0], cell[1] = row, column
    return True


@expanded
def _place_agents(state: Any, b: int, rows: NDArray[np.int64], stream: NDArray[np.uint64]) -> None:
    """Put each agent in a row of its own in the first column, by a shuffle of `rows` [H]."""
    for row in range(len(rows)):
        rows[row] = row
    rng.shuffle(stream, rows)
    for agent in range(state.agent_cell.shape[1]):
        state.agent_cell[b, agent, 0] = rows[agent]
        state.agent_cell[b, agent, 1] = 0
        state.occupant[b, rows[agent], 0] = agent + 1
