"""Random crowded boards of CUBE, as boards of the oracle and as batches of the kernels."""

from __future__ import annotations

from random import Random

import numpy as np
from cube_oracle import FACES, PUSHES, STEPS, Board, Cell, contacts, shift, square

from worlds.cube.state import CubeState, allocate

ACTIONS = ("stay", *STEPS)


def random_board(
    random: Random, is_chain: bool, shape: tuple[int, int], agents: int, weights: tuple[int, ...]
) -> tuple[Board, str]:
    """Blocks that often touch, agents mostly as a crew at one face; and the way it pushes."""
    height, width = shape
    taken: set[Cell] = set()
    blocks: list[Cell | None] = []
    for weight in weights:
        cell = None
        for _ in range(0 if random.random() < 0.06 else 8):
            at = _block_cell(random, shape, blocks, weights, weight)
            is_inside = 0 <= at[0] <= height - weight and 0 <= at[1] < width - weight
            if is_inside and not square(at, weight) & taken:
                cell = at
                taken |= square(at, weight)
                break
        blocks.append(cell)
    board = Board(is_chain, height, width, (), tuple(blocks), weights)
    face = random.choice(FACES)
    wanted = _crew(random, board, face)
    cells: list[Cell] = []
    while len(cells) < agents:
        cell = wanted.pop() if wanted else (random.randrange(height), random.randrange(width))
        if cell not in taken and 0 <= cell[0] < height and 0 <= cell[1] < width:
            taken.add(cell)
            cells.append(cell)
    random.shuffle(cells)
    return Board(is_chain, height, width, tuple(cells), board.blocks, weights), PUSHES[face]


def _block_cell(
    random: Random,
    shape: tuple[int, int],
    blocks: list[Cell | None],
    weights: tuple[int, ...],
    weight: int,
) -> Cell:
    """Mostly beside the block placed last, else anywhere; it may be taken or outside."""
    if blocks and blocks[-1] is not None and random.random() < 0.7:
        (row, column), size = blocks[-1], weights[len(blocks) - 1]
        slide = random.randrange(1 - weight, size)
        return random.choice(
            (
                (row + slide, column - weight),
                (row + slide, column + size),
                (row - weight, column + slide),
                (row + size, column + slide),
            )
        )
    return random.randrange(shape[0] - weight + 1), random.randrange(shape[1] - weight)


def _crew(random: Random, board: Board, face: str) -> list[Cell]:
    """Cells to be taken from the end: most contact cells of some blocks, then those behind."""
    open_blocks = [block for block, cell in enumerate(board.blocks) if cell is not None]
    if not open_blocks or random.random() < 0.1:
        return []
    cells: list[Cell] = []
    for block in random.sample(open_blocks, random.randint(1, min(2, len(open_blocks)))):
        cells += contacts(board, block, face)
    cells += [shift(cell, face, k) for k in (1, 2) for cell in cells]
    return [cell for cell in reversed(cells) if random.random() < 0.9]


def random_actions(random: Random, board: Board, way: str) -> list[str]:
    """Mostly `way` for all, so that pushes happen."""
    second = random.choice(FACES)
    return [
        random.choices((way, second, random.choice(ACTIONS)), (10, 1, 1))[0] for _ in board.agents
    ]


def random_declared(random: Random, board: Board) -> list[tuple[int, str] | None]:
    """Every second agent declares any task, of a delivered block too."""
    tasks = [(block, face) for block in range(len(board.blocks)) for face in FACES]
    return [random.choice(tasks) if random.random() < 0.5 else None for _ in board.agents]


def batch(boards: list[Board]) -> CubeState:
    """The boards, all of one size and the same counts, as one batch."""
    first = boards[0]
    state = allocate(len(boards), len(first.agents), len(first.blocks), first.height, first.width)
    for w, board in enumerate(boards):
        for agent, cell in enumerate(board.agents):
            state.agent_cell[w, agent] = cell
            state.occupant[w][cell] = agent + 1
        for block, cell in enumerate(board.blocks):
            state.block_weight[w, block] = board.weights[block]
            if cell is not None:
                size = board.weights[block]
                state.block_cell[w, block] = cell
                area = state.occupant[w, cell[0] : cell[0] + size, cell[1] : cell[1] + size]
                area[:] = -(block + 1)
    return state


def action_array(actions: list[list[str]]) -> np.ndarray:
    return np.array([[ACTIONS.index(a) for a in row] for row in actions], np.int32)


def declared_array(declared: list[list[tuple[int, str] | None]]) -> np.ndarray:
    return np.array(
        [[-1 if d is None else 4 * d[0] + FACES.index(d[1]) for d in row] for row in declared],
        np.int32,
    )
