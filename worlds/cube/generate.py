"""Start states of CUBE: drawn by chance from a seed, or by hand from a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from primitives import layout_kernels, rng
from primitives.rng import SEED_LIMIT
from worlds.cube.config import SIDES, CubeConfig
from worlds.cube.state import CubeState, allocate
from worlds.errors import ConfigError, UnsolvableMap

__all__ = ["check_seed", "from_drawing", "start", "to_drawing"]

FREE, GOAL = ".", "|"
AGENT_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"
BLOCK_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PRINTED_AGENTS = 10


def check_seed(seed: object) -> int:
    """`seed` itself. Raises ConfigError unless it is an integer 0..2**63-1."""
    if type(seed) is not int and not isinstance(seed, np.integer):
        raise ConfigError(f"seed is {seed!r}; allowed: an integer 0..{SEED_LIMIT - 1}")
    if not 0 <= int(seed) < SEED_LIMIT:
        raise ConfigError(f"seed is {seed!r}; allowed: 0..{SEED_LIMIT - 1}")
    return int(seed)


def start(config: CubeConfig, seed: int, worlds: int = 1) -> CubeState:
    """A fresh batch of `worlds` worlds; world b is that of seed + b, modulo 2**63.

    Raises ConfigError for a bad seed, UnsolvableMap when no layout was found.
    """
    first = check_seed(seed)
    side = config.board_side
    weights = config.weights
    state = allocate(worlds, config.agent_count, len(weights), side, side)
    state.block_weight[:] = weights
    order = np.array(sorted(range(len(weights)), key=lambda b: (-weights[b], b)), np.int32)
    seeds = np.array([(first + b) % SEED_LIMIT for b in range(worlds)], np.uint64)
    failed = layout_kernels.generate_many(
        state, seeds, order, config.placement == "moat", config.placement_tries
    )
    if failed >= 0:
        blocks = " ".join(f"{weight}x{count}" for weight, count in config.block_pairs)
        raise UnsolvableMap(
            f"no start layout in {config.placement_tries} tries: side {side}, blocks "
            f"(weight x count) {blocks}, placement {config.placement}, seed {seeds[failed]}"
        )
    return state


def from_drawing(text: str, config: CubeConfig) -> CubeState:
    """A batch of one from a drawing, a character a cell.

    `.` free, `|` free cell of the goal column, a digit (then a..z) an agent, a capital a block.
    The board has the drawing's size; agents and blocks are those of the drawing, whatever the
    config counts. The stream is that of the config's seed.
    Raises ConfigError with the row and column of what cannot be read.
    """
    rows = text.strip("\n").split("\n")
    _check_board(rows)
    agents = _agents(rows)
    blocks = _blocks(rows)
    state = allocate(1, len(agents), len(blocks), len(rows), len(rows[0]))
    for agent, cell in enumerate(agents):
        state.agent_cell[0, agent] = cell
        state.occupant[0][cell] = agent + 1
    for block, (row, column, size) in enumerate(blocks):
        state.block_cell[0, block] = row, column
        state.block_weight[0, block] = size
        state.occupant[0, row : row + size, column : column + size] = -(block + 1)
    root = np.zeros(2, np.uint64)
    rng.start(root, np.uint64(config.seed))
    rng.fork(root, layout_kernels.STATE_LABEL, state.stream[0])
    return state


def to_drawing(state: CubeState) -> str:
    """The one world of `state` as a drawing; agents print modulo 10, blocks modulo 26."""
    board = state.occupant[0]
    lines = []
    for cells in board.tolist():
        signs = [_sign(value) for value in cells]
        if signs[-1] == FREE:
            signs[-1] = GOAL
        lines.append("".join(signs))
    return "\n".join(lines)


def _sign(value: int) -> str:
    if value > 0:
        return AGENT_SIGNS[(value - 1) % PRINTED_AGENTS]
    if value < 0:
        return BLOCK_SIGNS[(-value - 1) % len(BLOCK_SIGNS)]
    return FREE


def _fail(row: int, column: int, finding: str) -> ConfigError:
    return ConfigError(f"drawing, row {row}, column {column}: {finding}")


def _check_board(rows: list[str]) -> None:
    """Equal rows, known characters, the goal sign in the last column and there alone."""
    height, width = len(rows), len(rows[0])
    if not (1 <= height <= SIDES[1] and 2 <= width <= SIDES[1]):
        raise ConfigError(
            f"drawing has {height} rows and {width} columns; allowed: 1..{SIDES[1]} rows, "
            f"2..{SIDES[1]} columns"
        )
    for r, line in enumerate(rows):
        if len(line) != width:
            raise _fail(r, len(line), f"the row has {len(line)} characters, row 0 has {width}")
        for c, sign in enumerate(line):
            if not re.match(r"[.|0-9a-zA-Z]", sign, re.ASCII):
                raise _fail(r, c, f"{sign!r}; allowed: . | 0-9 a-z A-Z")
            if sign == GOAL and c != width - 1:
                raise _fail(r, c, f"'{GOAL}' outside the last column")
            if sign == FREE and c == width - 1:
                raise _fail(r, c, f"'{FREE}' in the last column; allowed: '{GOAL}'")


def _signs(rows: list[str], alphabet: str, what: str) -> Iterator[list[tuple[int, int]]]:
    """The cells of each sign of `alphabet` in use, row-major; a gap in the ids is refused."""
    cells: dict[str, list[tuple[int, int]]] = {}
    for r, line in enumerate(rows):
        for c, sign in enumerate(line):
            if sign in alphabet:
                cells.setdefault(sign, []).append((r, c))
    for sign in sorted(cells, key=alphabet.index):
        missing = alphabet[: alphabet.index(sign)]
        gap = next((m for m in missing if m not in cells), None)
        if gap is not None:
            raise _fail(*cells[sign][0], f"{what} '{sign}', but there is no '{gap}'")
        yield cells[sign]


def _agents(rows: list[str]) -> list[tuple[int, int]]:
    agents = []
    for cells in _signs(rows, AGENT_SIGNS, "agent"):
        if len(cells) > 1:
            raise _fail(*cells[1], f"agent '{rows[cells[1][0]][cells[1][1]]}' is drawn twice")
        agents.append(cells[0])
    if not agents:
        raise ConfigError("drawing has no agent; allowed: 1..36, drawn 0-9 and a-z")
    return agents


def _blocks(rows: list[str]) -> list[tuple[int, int, int]]:
    blocks = []
    for cells in _signs(rows, BLOCK_SIGNS, "block"):
        (top, left), (bottom, right) = cells[0], cells[-1]
        sign, size = rows[top][left], bottom - top + 1
        square = [(top + i, left + j) for i in range(size) for j in range(size)]
        if cells != square:
            raise _fail(top, left, f"block '{sign}' is not one filled square")
        if right == len(rows[0]) - 1:
            raise _fail(bottom, right, f"block '{sign}' has a cell in the last column")
        blocks.append((top, left, size))
    return blocks
