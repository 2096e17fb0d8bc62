"""Terrain of MA-Crafter: noise, materials, regions, start cells, and what a team can reach.

Materials are numbered here. A region is a set of 4-connected passable cells.
Source of the noise: OpenSimplex in three dimensions (Kurt Spencer), written in closed form.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from primitives.compile import in_place, inner, modular
from primitives.grid import DIRECTIONS, is_inside
from primitives.rng import next_below, next_uniform

wide = cast(Callable[[Any], int], np.int64)
"""An array's element, or a constant, as the int64 that every kernel takes: one signature each."""

OUTSIDE = 0
WATER = 1
GRASS = 2
STONE = 3
PATH = 4
SAND = 5
TREE = 6
LAVA = 7
COAL = 8
IRON = 9
DIAMOND = 10
TABLE = 11
FURNACE = 12
MATERIALS = 13
IS_WALKABLE = np.isin(np.arange(MATERIALS), (GRASS, PATH, SAND))
"""[MATERIALS] bool, whether one can stand on it."""


class Land(NamedTuple):
    """The map of one world.

    material: [H, W] uint8. occupant: [H, W] int32, 0 free, a + 1 agent a, -(k + 1) creature k.
    """

    material: NDArray[np.uint8]
    occupant: NDArray[np.int32]


@inner
def is_on_map(land: Land, row: int, column: int) -> bool:
    """Whether the map has the cell."""
    return is_inside(row, column, land.material.shape[0], land.material.shape[1])


# --- noise ---------------------------------------------------------------------------------------

PERMUTATION = 256
BYTE = PERMUTATION - 1
_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_SIGN = np.uint64(1 << 63)
_LIMIT = np.uint64(2**64 - 1)
_ONE = np.uint64(1)
_WARM_UPS = 3
_SHIFT = np.uint64(31)

GRADIENTS = 24
_LONG, _SHORT = 11.0, 4.0
RADIUS_SQUARED = 2.0
EDGE = 1e-9
"""A lattice point this near to the radius adds nothing, so that rounding decides nothing."""
SCALE = 103.0


def _gradient_table() -> NDArray[np.float64]:
    """[24, 3] float64: row 3 q + m is long on axis m; bits 0..2 of q turn the signs."""
    table = np.empty((GRADIENTS, 3))
    for number in range(GRADIENTS):
        q, m = divmod(number, 3)
        signs = (1 if q & 1 else -1, -1 if q & 2 else 1, -1 if q & 4 else 1)
        table[number] = [sign * (_LONG if axis == m else _SHORT) for axis, sign in enumerate(signs)]
    return table


_GRADIENT = _gradient_table()


@modular
def fill_permutation(seed: int, source: NDArray[np.int64], perm: NDArray[np.int64]) -> None:
    """Overwrite `perm` [256] with the permutation of a noise seed >= 0; `source` [256] is used."""
    for i in range(PERMUTATION):
        source[i] = i
    state = np.uint64(seed)
    for _ in range(_WARM_UPS):
        state = state * _MULTIPLIER + _INCREMENT
    for last in range(PERMUTATION - 1, -1, -1):
        state = state * _MULTIPLIER + _INCREMENT
        pick = int(signed_modulo(state + _SHIFT, np.uint64(last + 1)))
        perm[last] = source[pick]
        source[pick] = source[last]


@modular
def signed_modulo(value: np.uint64, modulus: np.uint64) -> np.uint64:
    """`value` read as a signed 64-bit number, modulo `modulus`, in 0..modulus-1."""
    rest = value % modulus
    if value >= _SIGN:
        wrap = (_LIMIT % modulus + _ONE) % modulus
        rest = (rest + modulus - wrap) % modulus
    return rest


@in_place
def noise(perm: NDArray[np.int64], x: float, y: float, z: float) -> float:
    """OpenSimplex noise at a point.

    Every lattice point within the square root of 2 adds (2 - d.d)^4 g.d, d being the way from it
    and g its gradient. In skewed coordinates e the squared distance is e.e + (sum of e)^2.
    """
    skew = (x + y + z) / 6.0
    u, v, w = x - skew, y - skew, z - skew
    i0, j0, k0 = math.floor(u), math.floor(v), math.floor(w)
    u, v, w = u - i0, v - j0, w - k0
    total = 0.0
    for i in range(-1, 3):
        e0 = u - i
        hash_i = perm[(i0 + i) & BYTE] + j0
        for j in range(-1, 3):
            e1 = v - j
            left, line = RADIUS_SQUARED - e0 * e0 - e1 * e1, e0 + e1
            if 2.0 * left > line * line:
                hash_j = perm[(hash_i + j) & BYTE] + k0
                for k in range(-1, 3):
                    e2 = w - k
                    diagonal = line + e2
                    fall = left - e2 * e2 - diagonal * diagonal
                    if fall > EDGE:
                        g = perm[(hash_j + k) & BYTE] % GRADIENTS
                        total += fall**4 * _slope(g, e0, e1, e2, diagonal / 3.0)
    return total / SCALE


@inner
def _slope(g: int, e0: float, e1: float, e2: float, shift: float) -> float:
    """Gradient `g` times the way from its lattice point, whose skewed coordinates are e."""
    x: float = _GRADIENT[g, 0] * (e0 + shift)
    y: float = _GRADIENT[g, 1] * (e1 + shift)
    z: float = _GRADIENT[g, 2] * (e2 + shift)
    return x + y + z


@inner
def layer(perm: NDArray[np.int64], row: int, column: int, depth: float, size: float) -> float:
    """Noise of the layer at `depth`, with features about `size` cells wide."""
    return noise(perm, column / size, row / size, depth)


# --- materials -----------------------------------------------------------------------------------
# Layers are named by (depth, size); thresholds stand in the order in which they are tried.

START_LAYER = (8.0, 3.0)
START_RADIUS = 4.0
START_ROUGHNESS = 2.0
START_LIMIT = 0.5
WATER_LAYER, WATER_DETAIL = (3.0, 15.0), (3.0, 5.0)
WATER_DETAIL_WEIGHT, WATER_BASE, WATER_START_WEIGHT = 0.15, 0.1, 2.0
MOUNTAIN_LAYER, MOUNTAIN_DETAIL = (0.0, 15.0), (0.0, 5.0)
MOUNTAIN_DETAIL_WEIGHT, MOUNTAIN_START_WEIGHT, MOUNTAIN_WATER_WEIGHT = 0.3, 4.0, 0.3

MOUNTAIN = 0.15
CORE = 0.3
CAVE_LAYER, CAVE_LIMIT = (6.0, 7.0), 0.15
TUNNEL_DEPTH, TUNNEL_LENGTH, TUNNEL_WIDTH, TUNNEL_LIMIT = 7.0, 15.0, 1.5, 0.4
COAL_LAYER, COAL_LIMIT, COAL_CHANCE = (1.0, 8.0), 0.0, 0.85
IRON_LAYER, IRON_LIMIT, IRON_CHANCE = (2.0, 6.0), 0.4, 0.75
DIAMOND_MOUNTAIN, DIAMOND_CHANCE = 0.18, 0.994
LAVA_LAYER, LAVA_LIMIT = (6.0, 5.0), 0.35

SHORE_LOW, SHORE_HIGH = 0.25, 0.35
SAND_LAYER, SAND_LIMIT = (4.0, 9.0), -0.2
WATER_LIMIT = 0.3
TREE_LAYER, TREE_LIMIT, TREE_CHANCE = (5.0, 7.0), 0.0, 0.8


@in_place
def fill_terrain(
    perm: NDArray[np.int64],
    stream: NDArray[np.uint64],
    material: NDArray[np.uint8],
    is_tunnel: NDArray[np.bool_],
) -> None:
    """Draw the materials of a map, row-major.

    perm: [256] int64. stream: [2] uint64, drawn from. material: [H, W] uint8, overwritten.
    is_tunnel: [H, W] bool, overwritten; whether the cell is path of a tunnel.
    """
    height, width = material.shape
    for row in range(height):
        for column in range(width):
            start = start_value(perm, row, column, height // 2, width // 2)
            is_tunnel[row, column] = False
            if start > START_LIMIT:
                material[row, column] = GRASS
                continue
            water = water_value(perm, row, column, start)
            mountain = mountain_value(perm, row, column, start, water)
            if mountain > MOUNTAIN:
                found, is_tunnel[row, column] = rock(perm, stream, row, column, mountain)
            else:
                found = lowland(perm, stream, row, column, water)
            material[row, column] = found


@inner
def start_value(
    perm: NDArray[np.int64], row: int, column: int, middle_row: int, middle_column: int
) -> float:
    """How much the cell belongs to the meadow in the middle of the map, 0..1."""
    down, right = float(row - middle_row), float(column - middle_column)
    rough = START_ROUGHNESS * layer(perm, row, column, START_LAYER[0], START_LAYER[1])
    return 1.0 / (1.0 + math.exp(-(START_RADIUS - math.sqrt(down * down + right * right) + rough)))


@inner
def water_value(perm: NDArray[np.int64], row: int, column: int, start: float) -> float:
    """How wet the cell is."""
    broad = layer(perm, row, column, WATER_LAYER[0], WATER_LAYER[1])
    detail = layer(perm, row, column, WATER_DETAIL[0], WATER_DETAIL[1])
    return broad + WATER_DETAIL_WEIGHT * detail + WATER_BASE - WATER_START_WEIGHT * start


@inner
def mountain_value(
    perm: NDArray[np.int64], row: int, column: int, start: float, water: float
) -> float:
    """How high the cell is."""
    broad = layer(perm, row, column, MOUNTAIN_LAYER[0], MOUNTAIN_LAYER[1])
    detail = layer(perm, row, column, MOUNTAIN_DETAIL[0], MOUNTAIN_DETAIL[1])
    height = (broad + MOUNTAIN_DETAIL_WEIGHT * detail) / (1.0 + MOUNTAIN_DETAIL_WEIGHT)
    return height - MOUNTAIN_START_WEIGHT * start - MOUNTAIN_WATER_WEIGHT * water


@inner
def rock(
    perm: NDArray[np.int64], stream: NDArray[np.uint64], row: int, column: int, mountain: float
) -> tuple[int, bool]:
    """The material of a mountain cell, and whether it is part of a tunnel."""
    if mountain > CORE:
        if layer(perm, row, column, CAVE_LAYER[0], CAVE_LAYER[1]) > CAVE_LIMIT:
            return PATH, False
    if noise(perm, column / TUNNEL_WIDTH, row / TUNNEL_LENGTH, TUNNEL_DEPTH) > TUNNEL_LIMIT:
        return PATH, True
    if noise(perm, column / TUNNEL_LENGTH, row / TUNNEL_WIDTH, TUNNEL_DEPTH) > TUNNEL_LIMIT:
        return PATH, True
    return ore(perm, stream, row, column, mountain), False


@inner
def ore(
    perm: NDArray[np.int64], stream: NDArray[np.uint64], row: int, column: int, mountain: float
) -> int:
    """The material of a mountain cell that is neither cave nor tunnel."""
    if layer(perm, row, column, COAL_LAYER[0], COAL_LAYER[1]) > COAL_LIMIT:
        if next_uniform(stream) > COAL_CHANCE:
            return COAL
    if layer(perm, row, column, IRON_LAYER[0], IRON_LAYER[1]) > IRON_LIMIT:
        if next_uniform(stream) > IRON_CHANCE:
            return IRON
    if mountain > DIAMOND_MOUNTAIN and next_uniform(stream) > DIAMOND_CHANCE:
        return DIAMOND
    if mountain > CORE:
        if layer(perm, row, column, LAVA_LAYER[0], LAVA_LAYER[1]) > LAVA_LIMIT:
            return LAVA
    return STONE


@inner
def lowland(
    perm: NDArray[np.int64], stream: NDArray[np.uint64], row: int, column: int, water: float
) -> int:
    """The material of a cell that is no mountain."""
    if SHORE_LOW < water <= SHORE_HIGH:
        if layer(perm, row, column, SAND_LAYER[0], SAND_LAYER[1]) > SAND_LIMIT:
            return SAND
    if water > WATER_LIMIT:
        return WATER
    if layer(perm, row, column, TREE_LAYER[0], TREE_LAYER[1]) > TREE_LIMIT:
        if next_uniform(stream) > TREE_CHANCE:
            return TREE
    return GRASS


# --- regions -------------------------------------------------------------------------------------

UNLABELLED = 0


@in_place
def mark_region(
    material: NDArray[np.uint8],
    is_passable: NDArray[np.bool_],
    is_together: bool,
    region: NDArray[np.bool_],
    label: NDArray[np.int32],
    queue: NDArray[np.int64],
) -> None:
    """Mark the region the team starts in.

    material: [H, W] uint8. is_passable: [MATERIALS] bool. region: [H, W] bool, overwritten.
    `is_together`: the region that holds the middle cell; otherwise the one with the most grass,
    of equals the one whose first cell comes first in row-major order.
    label: [H, W] int32, queue: [H * W] int64, overwritten.
    """
    height, width = material.shape
    for row in range(height):
        for column in range(width):
            label[row, column] = UNLABELLED
    chosen, most, labels = -1, -1, UNLABELLED
    for flat in range(height * width):
        row, column = flat // width, flat % width
        if label[row, column] == UNLABELLED and is_passable[material[row, column]]:
            labels += 1
            grass = flood(material, is_passable, row, column, labels, label, queue)
            if not is_together and grass > most:
                chosen, most = labels, grass
    if is_together and labels > 0 and label[height // 2, width // 2] != UNLABELLED:
        chosen = label[height // 2, width // 2]
    for row in range(height):
        for column in range(width):
            region[row, column] = label[row, column] == chosen


@inner
def flood(
    material: NDArray[np.uint8],
    is_passable: NDArray[np.bool_],
    row: int,
    column: int,
    name: int,
    label: NDArray[np.int32],
    queue: NDArray[np.int64],
) -> int:
    """Write `name` into `label` [H, W] over the region of a cell; returns its cells of grass.

    queue: [H * W] int64, overwritten.
    """
    height, width = material.shape
    label[row, column] = name
    queue[0] = row * width + column
    head, tail, grass = 0, 1, 0
    while head < tail:
        row, column = queue[head] // width, queue[head] % width
        head += 1
        grass += material[row, column] == GRASS
        for direction in range(4):
            r, c = row + DIRECTIONS[direction, 0], column + DIRECTIONS[direction, 1]
            if is_inside(r, c, height, width) and label[r, c] == UNLABELLED:
                if is_passable[material[r, c]]:
                    label[r, c] = name
                    queue[tail] = r * width + c
                    tail += 1
    return grass


# --- start cells ---------------------------------------------------------------------------------


@in_place
def start_scattered(
    material: NDArray[np.uint8],
    region: NDArray[np.bool_],
    stream: NDArray[np.uint64],
    agent_cell: NDArray[np.int16],
    grass: NDArray[np.int64],
    taken: NDArray[np.int64],
) -> bool:
    """Put agent 0, 1, ... on random free grass of `region`; False if there is too little.

    Each takes cell number below(cells left), row-major.
    agent_cell: [A, 2] int16, grass: [H * W] int64, taken: [A] int64, overwritten.
    """
    height, width = material.shape
    count = 0
    for row in range(height):
        for column in range(width):
            if region[row, column] and material[row, column] == GRASS:
                grass[count] = row * width + column
                count += 1
    if count < len(agent_cell):
        return False
    for agent in range(len(agent_cell)):
        cell = grass[take(taken, agent, next_below(stream, count - agent))]
        agent_cell[agent, 0], agent_cell[agent, 1] = cell // width, cell % width
    return True


@inner
def take(taken: NDArray[np.int64], count: int, number: int) -> int:
    """The number-th index not among the first `count` of `taken` (ascending), and add it there."""
    place = 0
    while place < count and taken[place] <= number:
        number += 1
        place += 1
    for i in range(count, place, -1):
        taken[i] = taken[i - 1]
    taken[place] = number
    return number


# --- what a team can reach -----------------------------------------------------------------------


@in_place
def count_usable(
    material: NDArray[np.uint8],
    region: NDArray[np.bool_],
    need: NDArray[np.int32],
    reach: int,
    usable: NDArray[np.int32],
) -> None:
    """Count the sources of each material that have as many stand cells as they need agents.

    need: [MATERIALS] int32, agents a source asks for; 0: no source.
    usable: [MATERIALS] int32, overwritten.
    """
    height, width = material.shape
    usable[:] = 0
    for row in range(height):
        for column in range(width):
            found = material[row, column]
            if need[found] > 0:
                usable[found] += stand_cells(region, row, column, reach) >= need[found]


@inner
def stand_cells(region: NDArray[np.bool_], row: int, column: int, reach: int) -> int:
    """Cells of `region` from which a team could act on a cell: unbroken lines of them up to it."""
    height, width = region.shape
    count = 0
    for direction in range(4):
        r, c = row + DIRECTIONS[direction, 0], column + DIRECTIONS[direction, 1]
        steps = 0
        while steps < reach and is_inside(r, c, height, width) and region[r, c]:
            steps += 1
            r, c = r + DIRECTIONS[direction, 0], c + DIRECTIONS[direction, 1]
        count += steps
    return count
