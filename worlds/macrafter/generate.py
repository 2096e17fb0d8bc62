"""Start states of MA-Crafter: drawn by hand."""

from __future__ import annotations

import numpy as np

from primitives import rng
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.state import (
    ARROW_LETTERS,
    CREATURE_LETTERS,
    CREATURES,
    MATERIAL_LETTERS,
    MATERIALS,
    RIPE_LETTER,
    MacrafterState,
    allocate,
)
from worlds.macrafter.table import Table, load_table

__all__ = ["RIPE_AGE", "from_drawing"]

RIPE_AGE = 301
"""Age at which a plant is ripe and stops ageing."""
GRASS_LETTERS = "0123456789czpP"
"""Letters of things that are drawn standing on grass."""
PATH_LETTERS = "k" + ARROW_LETTERS
"""Letters of things that are drawn standing on path."""
PLAY_LABEL = 1
"""Label of the stream that is kept in the state."""


def from_drawing(text: str, config: MacrafterConfig) -> MacrafterState:
    """A batch of one as drawn, a letter a cell, of the drawing's own size and team.

    Slots and serials of creatures follow row-major order. Raises ConfigError with the row and
    column of what is wrong.
    """
    rows = [line.strip() for line in text.strip().splitlines()]
    _check_shape(rows)
    agents = _agents(rows)
    state = allocate(1, len(agents), len(rows), len(rows[0]))
    table = load_table(config)
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            _put(state, (r, c), letter, table)
    _start_stream(state.stream[0], config.seed)
    _see(state, config.view)
    return state


def _check_shape(rows: list[str]) -> None:
    if not rows:
        raise ConfigError("drawing is empty; allowed: one letter a cell")
    for r, line in enumerate(rows):
        if len(line) != len(rows[0]):
            raise ConfigError(
                f"drawing row {r} has {len(line)} columns; allowed: {len(rows[0])}, as row 0"
            )
        for c, letter in enumerate(line):
            if letter not in MATERIAL_LETTERS[1:] + GRASS_LETTERS + PATH_LETTERS:
                allowed = MATERIAL_LETTERS[1:] + GRASS_LETTERS + PATH_LETTERS
                raise ConfigError(
                    f"drawing has {letter!r} at row {r}, column {c}; allowed: {allowed}"
                )


def _agents(rows: list[str]) -> list[int]:
    """Ids of the agents, ascending from 0 without gaps."""
    cells: dict[int, tuple[int, int]] = {}
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter.isdigit():
                if int(letter) in cells:
                    raise ConfigError(
                        f"drawing has agent {letter} again at row {r}, column {c}; allowed: once"
                    )
                cells[int(letter)] = (r, c)
    for agent in sorted(cells):
        if agent >= len(cells):
            r, c = cells[agent]
            raise ConfigError(
                f"drawing has agent {agent} at row {r}, column {c}; allowed: ids 0.."
                f"{len(cells) - 1} without gaps"
            )
    if not cells:
        raise ConfigError("drawing has no agent; allowed: digits 0..9, from 0 without gaps")
    return sorted(cells)


def _put(state: MacrafterState, cell: tuple[int, int], letter: str, table: Table) -> None:
    if letter in MATERIAL_LETTERS:
        state.material[0][cell] = MATERIAL_LETTERS.index(letter)
        return
    ground = "grass" if letter in GRASS_LETTERS else "path"
    state.material[0][cell] = MATERIALS.index(ground)
    if letter.isdigit():
        state.agent_cell[0, int(letter)] = cell
        state.occupant[0][cell] = int(letter) + 1
    else:
        _put_creature(state, cell, letter, table)


def _put_creature(state: MacrafterState, cell: tuple[int, int], letter: str, table: Table) -> None:
    slot = int(state.next_serial[0])
    if slot == state.creature_kind.shape[1]:
        raise ConfigError(f"drawing has more than {slot} creatures; allowed: {slot}")
    kind = _kind_of(letter)
    state.creature_kind[0, slot] = kind
    state.creature_cell[0, slot] = cell
    state.creature_serial[0, slot] = slot
    state.creature_born[0, slot] = -1
    row = table.creature.get(CREATURES[kind])
    state.creature_health[0, slot] = row.health if row else 0
    state.creature_timer[0, slot] = RIPE_AGE if letter == RIPE_LETTER else 0
    facing = ARROW_LETTERS.index(letter) if letter in ARROW_LETTERS else 1
    state.creature_facing[0, slot] = facing
    state.occupant[0][cell] = -(slot + 1)
    state.next_serial[0] += 1


def _kind_of(letter: str) -> int:
    if letter in ARROW_LETTERS:
        return CREATURES.index("arrow")
    return CREATURE_LETTERS.index(letter.lower())


def _start_stream(stream: np.ndarray, seed: int) -> None:
    """Overwrite `stream` [2] with the one a world of `seed` plays with."""
    root = np.zeros(2, np.uint64)
    rng.start(root, np.uint64(seed))
    rng.fork(root, PLAY_LABEL, stream)


def _see(state: MacrafterState, view: tuple[int, int]) -> None:
    """Every agent of the one world sees what is around it."""
    up, left = view[0] // 2, view[1] // 2
    for agent, (row, column) in enumerate(state.agent_cell[0].tolist()):
        rows = slice(max(0, row - up), row + up + 1)
        columns = slice(max(0, column - left), column + left + 1)
        state.known[0, agent, rows, columns] = state.material[0, rows, columns]
