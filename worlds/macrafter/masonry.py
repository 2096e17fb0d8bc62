"""The shortest way to close in some cells with stones.

A stone goes only where an agent faces, and it faces where it last went, since a step towards a
free cell leads into it. So which cell is closed when, and from where, has to be searched for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from worlds.api import Cell, Json
from worlds.macrafter.ground import STEPS
from worlds.macrafter.nearest import gap
from worlds.macrafter.state import FACINGS, cell_id

__all__ = ["Masonry", "build", "move", "neighbour"]

AROUND = 3
"""Distance from the work within which its ways lead."""
LONGEST_MOVE = 10
"""Moves of one action."""
MOST_STATES = 20_000
"""Moments looked at before a search is given up."""


class Masonry(NamedTuple):
    """What is to be built.

    is_free: whether a cell can be walked on. centre: a cell of the work. sides: open cells to be
    closed. dig: cells of stone to be taken away first. plant: a cell to put a sapling on. room:
    cells to end in; anywhere, if empty.
    """

    is_free: Callable[[Cell], bool]
    centre: Cell
    sides: frozenset[Cell]
    dig: frozenset[Cell] = frozenset()
    plant: Cell | None = None
    room: frozenset[Cell] = frozenset()


class _Moment(NamedTuple):
    cell: Cell
    facing: int
    closed: frozenset[Cell]
    dug: frozenset[Cell]
    is_planted: bool


_Word = tuple[str, int, Cell]
"""What is done: `move`, `stone`, `plant` or `dig`, the direction, the cell it is done to."""


def build(work: Masonry, cell: Cell, facing: int, stones: int) -> list[Json]:
    """Actions of an agent at `cell` with so many stones; empty if it cannot be done."""
    start = _Moment(cell, facing, frozenset(), frozenset(), work.plant is None)
    came: dict[_Moment, tuple[_Moment, _Word] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < MOST_STATES:
        now = queue.popleft()
        if _is_done(work, now):
            return _actions(came, now)
        for word, after in _choices(work, now, stones):
            if after not in came:
                came[after] = now, word
                queue.append(after)
    return []


def neighbour(cell: Cell, direction: int) -> Cell:
    """The next cell in a direction."""
    return cell[0] + STEPS[direction][0], cell[1] + STEPS[direction][1]


def move(direction: int, count: int) -> Json:
    """The action of so many moves."""
    return {"verb": "move", "direction": FACINGS[direction], "steps": min(count, LONGEST_MOVE)}


def _is_done(work: Masonry, now: _Moment) -> bool:
    is_home = not work.room or now.cell in work.room
    return is_home and now.is_planted and now.closed == work.sides and now.dug == work.dig


def _choices(work: Masonry, now: _Moment, stones: int) -> Iterator[tuple[_Word, _Moment]]:
    ahead = neighbour(now.cell, now.facing)
    held = stones + len(now.dug) - len(now.closed)
    if ahead in work.sides and ahead not in now.closed and held and work.is_free(ahead):
        yield ("stone", now.facing, ahead), now._replace(closed=now.closed | {ahead})
    if ahead == work.plant and not now.is_planted:
        yield ("plant", now.facing, ahead), now._replace(is_planted=True)
    for direction in range(len(STEPS)):
        cell = neighbour(now.cell, direction)
        if cell in work.dig and cell not in now.dug:
            dug = now._replace(facing=direction, dug=now.dug | {cell})
            yield ("dig", direction, cell), dug
        elif _is_open(work, now, cell):
            yield ("move", direction, cell), now._replace(cell=cell, facing=direction)


def _is_open(work: Masonry, now: _Moment, cell: Cell) -> bool:
    if cell in now.closed or (cell == work.plant and now.is_planted):
        return False
    if cell in now.dug:
        return True
    return gap(cell, work.centre) <= AROUND and work.is_free(cell)


def _actions(came: dict[_Moment, tuple[_Moment, _Word] | None], end: _Moment) -> list[Json]:
    words: list[_Word] = []
    while (step := came[end]) is not None:
        end, word = step
        words.append(word)
    actions: list[Json] = []
    for (verb, direction), run in groupby(reversed(words), key=lambda word: word[:2]):
        cells = [cell for _, _, cell in run]
        if verb == "move":
            actions.append(move(direction, len(cells)))
        elif verb == "dig":
            stone = cell_id("stone", cells[0])
            actions.append({"verb": "collect", "target": stone, "steps": 1})
        else:
            actions.append({"verb": "place", "object": verb, "steps": 1})
    return actions
