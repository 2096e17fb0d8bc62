"""One world of CUBE as plain facts: what text, skills, tasks and scripted play read.

A board is a pure function of the positions it was made from. Boards are kept by these bytes, so
all agents of a step, and all questions about it, share one board and its distance fields.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.grid import LEFT, UP
from primitives.navigation import UNREACHABLE, distance_field
from worlds.api import Cell
from worlds.cube.state import GONE, CubeState, push_direction

STEPS: tuple[Cell, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""One step in each direction, in the order in which directions are walked."""
GOAL_FACE = LEFT
"""The face from which a block is pushed towards the goal."""
FIELD_CELLS = 1 << 22
"""Cells of all distance fields one board keeps; the oldest are dropped first."""

Field = NDArray[np.int32]


class Closure(NamedTuple):
    """Blocks that a push moves together (ascending), their weight, and what stands in the way."""

    members: tuple[int, ...]
    weight: int
    stops: tuple[str, ...]


class Terrain:
    """Blocks and walls without the agents.

    ground: [H, W] int16, 0 or -(block + 1). walkable: [H, W] bool, cells an agent may enter.
    cells: top-left cell of each block, None once it is delivered. weights: of each block.
    """

    def __init__(
        self, rules: str, shape: Cell, cells: tuple[Cell | None, ...], weights: tuple[int, ...]
    ) -> None:
        self.rules, (self.rows, self.columns) = rules, shape
        self.cells, self.weights = cells, weights
        self.ground = np.zeros(shape, np.int16)
        for block, cell in enumerate(cells):
            if cell is not None:
                self.ground[square(cell, weights[block])] = -(block + 1)
        self.walkable = self.ground == 0
        if rules == "quorum":
            self.walkable[:, -1] = False
        self.open = tuple(block for block, cell in enumerate(cells) if cell is not None)
        self._contacts: dict[tuple[int, int], tuple[Cell, ...]] = {}
        self._slots: dict[tuple[int, int], tuple[Cell, ...]] = {}
        self._fields = Fields(self.walkable)

    def is_inside(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns

    def contacts(self, block: int, face: int) -> tuple[Cell, ...]:
        """Contact cells of a face inside the board, in row-major order; () once delivered."""
        key = (block, face)
        if key not in self._contacts:
            self._contacts[key] = self._contact_cells(block, face)
        return self._contacts[key]

    def _contact_cells(self, block: int, face: int) -> tuple[Cell, ...]:
        cell, weight = self.cells[block], self.weights[block]
        if cell is None:
            return ()
        (row, column), span = cell, range(weight)
        if face < LEFT:
            line = row - 1 if face == UP else row + weight
            found = [(line, column + k) for k in span]
        else:
            line = column - 1 if face == LEFT else column + weight
            found = [(row + k, line) for k in span]
        return tuple(cell for cell in found if self.is_inside(cell))

    def distance_to_goal(self, block: int) -> int:
        """Pushes to the right until the block is delivered; 0 once it is."""
        cell = self.cells[block]
        return 0 if cell is None else self.columns - cell[1] - self.weights[block]

    def ahead(self, block: int) -> tuple[int, ...]:
        """Blocks between the block and the goal in its rows, ascending."""
        cell, weight = self.cells[block], self.weights[block]
        if cell is None:
            return ()
        return blocks_in(self.ground[cell[0] : cell[0] + weight, cell[1] + weight :])

    def run(self, block: int, face: int) -> int:
        """Cells the block can be pushed before a wall, or (`quorum`) a block, is in the way."""
        lane = self._lane_ahead(block, face)
        return self.free_run(block, face) if self.rules == "quorum" else int(lane.shape[1])

    def free_run(self, block: int, face: int) -> int:
        """Cells it can be pushed over cells without a block."""
        lane = self._lane_ahead(block, face)
        hits = np.flatnonzero(lane.any(axis=0))
        return int(hits[0]) if len(hits) else int(lane.shape[1])

    def lane(self, block: int, face: int, steps: int) -> tuple[Cell, ...]:
        """Cells that a block enters when it is pushed `steps` from a face."""
        (down, right), cells = STEPS[push_direction(face)], self.contacts(block, face ^ 1)
        return tuple((r + k * down, c + k * right) for r, c in cells for k in range(steps))

    def _lane_ahead(self, block: int, face: int) -> NDArray[np.int16]:
        """[w, N], the cells ahead of a push on the face, nearest first."""
        cell, weight, push = self.cells[block], self.weights[block], push_direction(face)
        if cell is None:
            return self.ground[:0, :0]
        lane = self.ground[_lane(cell, weight, push)]
        if push in (UP, LEFT):
            lane = lane[::-1, ::-1]
        return lane if push >= LEFT else lane.T

    def slots(self, block: int, face: int) -> tuple[Cell, ...]:
        """Contact cells that can be walked, then (`chain`) the cells behind each, nearest first."""
        key = (block, face)
        if key not in self._slots:
            self._slots[key] = self._slot_cells(block, face)
        return self._slots[key]

    def _slot_cells(self, block: int, face: int) -> tuple[Cell, ...]:
        down, right = STEPS[push_direction(face)]
        line = [cell for cell in self.contacts(block, face) if self.walkable[cell]]
        found: list[Cell] = []
        while line:
            found += line
            behind = [] if self.rules == "quorum" else [(r - down, c - right) for r, c in line]
            line = [cell for cell in behind if self.is_inside(cell) and self.walkable[cell]]
        return tuple(found)

    def field(self, targets: tuple[Cell, ...]) -> Field:
        """[H, W] int32, path lengths to the nearest target, agents ignored."""
        return self._fields.to(targets)

    def away_field(self, block: int, steps: int) -> Field:
        """As `field`, to all cells at least `steps` from the block."""
        return self._fields.away(self.cells[block], self.weights[block], steps)

    def gap(self, cell: Cell, block: int) -> int:
        """Manhattan distance from a cell to the nearest cell of a block on the board."""
        corner, last = self.cells[block], self.weights[block] - 1
        assert corner is not None
        down = max(corner[0] - cell[0], cell[0] - corner[0] - last, 0)
        return down + max(corner[1] - cell[1], cell[1] - corner[1] - last, 0)


class Board:
    """A terrain with agents on it.

    agents: cell of each agent. occupant: [H, W] int16, as in the state.
    """

    def __init__(self, terrain: Terrain, agents: tuple[Cell, ...]) -> None:
        self.terrain, self.agents = terrain, agents
        self.occupant = terrain.ground.copy()
        for agent, cell in enumerate(agents):
            self.occupant[cell] = agent + 1
        self._fields = Fields(terrain.walkable & (self.occupant == 0))
        self._aligned: dict[tuple[int, int], tuple[int, ...]] = {}
        self._closures: dict[tuple[int, int], Closure] = {}
        self._places: dict[tuple[int, int], tuple[Cell, ...]] = {}

    def agent_at(self, cell: Cell) -> int | None:
        """The agent on a cell inside the board."""
        value = int(self.occupant[cell])
        return value - 1 if value > 0 else None

    def field(self, targets: tuple[Cell, ...]) -> Field:
        """[H, W] int32, path lengths to the nearest free target round all agents."""
        return self._fields.to(targets)

    def steps(self, field: Field, agent: int) -> int:
        """Steps of an agent down a `field` of this board, in which its own cell is an obstacle."""
        row, column = self.agents[agent]
        beside = [(row + down, column + right) for down, right in STEPS]
        least = min(int(field[cell]) for cell in beside if self.terrain.is_inside(cell))
        return least if least == UNREACHABLE else least + 1

    def away_field(self, block: int, steps: int) -> Field:
        """As `field`, to all free cells at least `steps` from the block."""
        terrain = self.terrain
        return self._fields.away(terrain.cells[block], terrain.weights[block], steps)

    def places(self, block: int, face: int) -> tuple[Cell, ...]:
        """Where one more agent can join the face: free contact cells.

        Under `chain`, when there is none, the first free cell behind each contact cell.
        """
        key = (block, face)
        if key not in self._places:
            self._places[key] = self.places_behind(self.terrain.contacts(block, face), face)
        return self._places[key]

    def places_behind(
        self, cells: tuple[Cell, ...], face: int, agent: int | None = None
    ) -> tuple[Cell, ...]:
        """The same for these contact cells; a cell that `agent` itself holds counts as free."""
        walkable, occupant = self.terrain.walkable, self.occupant
        free = tuple(cell for cell in cells if occupant[cell] == 0 and walkable[cell])
        if free or self.terrain.rules == "quorum":
            return free
        (down, right), own = STEPS[push_direction(face)], 0 if agent is None else agent + 1
        found = []
        for row, column in cells:
            while self.terrain.is_inside((row, column)) and occupant[row, column] > 0:
                if occupant[row, column] == own:
                    break
                row, column = row - down, column - right
            if self.terrain.is_inside((row, column)) and walkable[row, column]:
                found.append((row, column))
        return tuple(found)

    def aligned(self, block: int, face: int) -> tuple[int, ...]:
        """Agents on a contact cell or (`chain`) in an unbroken line behind one, ascending."""
        key = (block, face)
        if key not in self._aligned:
            found: list[int] = []
            for cell in self.terrain.contacts(block, face):
                found += self._line(cell, push_direction(face))
            self._aligned[key] = tuple(sorted(found))
        return self._aligned[key]

    def _line(self, cell: Cell, push: int) -> list[int]:
        """Agents on `cell` and, under `chain`, on the cells behind it."""
        (row, column), (down, right) = cell, STEPS[push]
        deepest = 1 if self.terrain.rules == "quorum" else max(self.occupant.shape)
        found = []
        for _ in range(deepest):
            if not self.terrain.is_inside((row, column)) or self.occupant[row, column] <= 0:
                break
            found.append(int(self.occupant[row, column]) - 1)
            row, column = row - down, column - right
        return found

    def closure(self, block: int, face: int) -> Closure:
        """What a push on that face would move now; `stops`: of wall, block, agent."""
        key = (block, face)
        if key not in self._closures:
            self._closures[key] = self._close(block, push_direction(face))
        return self._closures[key]

    def _close(self, block: int, push: int) -> Closure:
        terrain, members, waiting, stops = self.terrain, {block}, [block], set()
        while waiting:
            member = waiting.pop()
            cell, weight = terrain.cells[member], terrain.weights[member]
            if cell is None:
                continue
            edge = self.occupant[_edge(cell, weight, push)]
            stops |= {"wall"} if edge.size < weight else set()
            stops |= {"agent"} if (edge > 0).any() else set()
            for other in blocks_in(edge):
                if terrain.rules == "quorum":
                    stops.add("block")
                elif other not in members:
                    members.add(other)
                    waiting.append(other)
        weight = sum(terrain.weights[member] for member in members)
        ordered = tuple(stop for stop in ("wall", "block", "agent") if stop in stops)
        return Closure(tuple(sorted(members)), weight, ordered)


class Fields:
    """Distance fields over one set of walkable cells, kept by their targets."""

    def __init__(self, walkable: NDArray[np.bool_]) -> None:
        self._walkable = walkable
        self._limit = max(1, FIELD_CELLS // walkable.size)
        self._kept: dict[Hashable, Field] = {}

    def to(self, targets: tuple[Cell, ...]) -> Field:
        """To the nearest of the cells; those that cannot be walked are passed over."""
        return self._get(targets, lambda: np.array(targets, np.int16).reshape(-1, 2))

    def away(self, corner: Cell | None, weight: int, steps: int) -> Field:
        """To the nearest cell at least `steps` from a block."""
        return self._get((corner, weight, steps), lambda: self._far(corner, weight, steps))

    def _far(self, corner: Cell | None, weight: int, steps: int) -> NDArray[np.int16]:
        top, left = (0, 0) if corner is None else corner
        down, right = (np.arange(size) for size in self._walkable.shape)
        rows = np.maximum(np.maximum(top - down, down - (top + weight - 1)), 0)
        columns = np.maximum(np.maximum(left - right, right - (left + weight - 1)), 0)
        return np.argwhere(rows[:, None] + columns[None, :] >= steps).astype(np.int16)

    def _get(self, key: Hashable, targets: Callable[[], NDArray[np.int16]]) -> Field:
        if key not in self._kept:
            while len(self._kept) >= self._limit:
                del self._kept[next(iter(self._kept))]
            field = np.empty(self._walkable.shape, np.int32)
            distance_field(self._walkable, targets(), field)
            field.flags.writeable = False
            self._kept[key] = field
        return self._kept[key]


def board_of(state: CubeState, rules: str) -> Board:
    """The board of a batch of one."""
    return _board(
        rules,
        state.occupant.shape[1:],
        state.agent_cell.tobytes(),
        state.block_cell.tobytes(),
        state.block_weight.tobytes(),
    )


@lru_cache(maxsize=8)
def _board(rules: str, shape: Cell, agents: bytes, blocks: bytes, weights: bytes) -> Board:
    return Board(_terrain(rules, shape, blocks, weights), _cells(agents))


@lru_cache(maxsize=8)
def _terrain(rules: str, shape: Cell, blocks: bytes, weights: bytes) -> Terrain:
    cells = tuple(None if cell[0] == GONE else cell for cell in _cells(blocks))
    return Terrain(rules, shape, cells, tuple(np.frombuffer(weights, np.int16).tolist()))


def _cells(raw: bytes) -> tuple[Cell, ...]:
    flat = np.frombuffer(raw, np.int16).tolist()
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def square(cell: Cell, weight: int) -> tuple[slice, slice]:
    """The cells of a block as an index of a [H, W] array."""
    return slice(cell[0], cell[0] + weight), slice(cell[1], cell[1] + weight)


def blocks_in(values: NDArray[np.int16]) -> tuple[int, ...]:
    """Blocks among occupants, ascending."""
    return tuple(sorted({-value - 1 for value in values[values < 0].tolist()}))


def _edge(cell: Cell, weight: int, push: int) -> tuple[slice | int, slice | int]:
    """The cells a block enters when it moves one cell; empty beyond the board."""
    rows, columns = slice(cell[0], cell[0] + weight), slice(cell[1], cell[1] + weight)
    if push < LEFT:
        line = cell[0] - 1 if push == UP else cell[0] + weight
        return slice(max(line, 0), line + 1), columns
    line = cell[1] - 1 if push == LEFT else cell[1] + weight
    return rows, slice(max(line, 0), line + 1)


def _lane(cell: Cell, weight: int, push: int) -> tuple[slice, slice]:
    """All cells ahead of a block in a direction."""
    rows, columns = square(cell, weight)
    return (
        (slice(0, cell[0]), columns),
        (slice(cell[0] + weight, None), columns),
        (rows, slice(0, cell[1])),
        (rows, slice(cell[1] + weight, None)),
    )[push]
