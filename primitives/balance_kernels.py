"""Balance of MA-Crafter: by chunk, creatures that are too few appear and too many vanish."""

import math

import numpy as np
from numpy.typing import NDArray

from primitives.compile import expanded, inner
from primitives.creature_kernels import (
    ANY,
    CHUNK,
    COW,
    FREE,
    NO_AGENT,
    NO_SLOT,
    SKELETON,
    ZOMBIE,
    Chunks,
    Herd,
    Team,
    chance,
    free_slot,
    nearest_agent,
    put_creature,
    remove_creature,
    slots_in_use,
)
from primitives.rng import next_below
from primitives.terrain_kernels import GRASS, PATH, Land, wide

SPECIES = 3
SPECIES_KIND = np.array([ZOMBIE, SKELETON, COW])
SPECIES_GROUND = np.array([GRASS, PATH, GRASS])
LEAST_GROUND = np.array([50, 6, 30])
LOW = np.array([[3.5, -3.0], [1.0, 0.0], [1.0, 0.0]])
"""[SPECIES, 2] float64, floor(constant + slope * light): fewer than this may become more, on at
least LEAST_GROUND cells of the ground."""
HIGH = np.array([[3.5, -3.0], [2.0, 0.0], [1.5, 1.0]])
"""[SPECIES, 2] float64, the same: more than this may become fewer."""
APPEAR = np.array([0.3, 0.1, 0.01])
VANISH = np.array([0.4, 0.1, 0.1])
APPEAR_DISTANCE = np.array([6, 7, 5])
VANISH_DISTANCE = np.array([0, 7, 5])
"""Least distance to every live agent."""

FIRST, COUNT = 0, 1


def make_chunks(height: int, width: int, agents: int, slots: int) -> Chunks:
    """Buffers for maps of `height` x `width` cells."""
    shape = -(-height // CHUNK), -(-width // CHUNK)
    return Chunks(
        np.full(shape, NO_AGENT, np.int32),
        np.zeros(agents, np.int32),
        np.zeros((*shape, SPECIES, 2), np.int32),
        np.zeros(slots, np.int32),
    )


@inner
def balance(
    land: Land,
    herd: Herd,
    team: Team,
    chunks: Chunks,
    stream: NDArray[np.uint64],
    step: int,
    light: float,
    is_on: NDArray[np.int64],
    health: NDArray[np.int64],
) -> None:
    """Let at most one creature of each species appear or vanish in each chunk, row-major.

    is_on: [SPECIES] int64, 0 for a species that is switched off.
    health: [SPECIES] int64, of new creatures.
    """
    _link_creatures(herd, chunks.creature, chunks.next_slot)
    for row in range(chunks.agent.shape[0]):
        for column in range(chunks.agent.shape[1]):
            for species in range(SPECIES):
                count = wide(chunks.creature[row, column, species, COUNT])
                if is_on[species]:
                    if _may_appear(land, row, column, species, count, light):
                        if chance(stream, APPEAR[species]):
                            _appear(
                                land,
                                herd,
                                team,
                                chunks,
                                stream,
                                step,
                                row,
                                column,
                                species,
                                health[species],
                            )
                    elif count > _bound(HIGH[species, 0], HIGH[species, 1], light):
                        if chance(stream, VANISH[species]):
                            _vanish(land, herd, team, chunks, stream, row, column, species)


@expanded
def _bound(constant: float, slope: float, light: float) -> int:
    return math.floor(constant + slope * light)


@expanded
def _link_creatures(herd: Herd, creature: NDArray[np.int32], next_slot: NDArray[np.int32]) -> None:
    """List and count the creatures of each species by chunk, ascending by slot."""
    creature[:] = 0
    for slot in range(slots_in_use(herd) - 1, -1, -1):
        for species in range(SPECIES):
            if herd.kind[slot] == SPECIES_KIND[species]:
                row, column = herd.cell[slot, 0] // CHUNK, herd.cell[slot, 1] // CHUNK
                next_slot[slot] = creature[row, column, species, FIRST]
                creature[row, column, species, FIRST] = slot
                creature[row, column, species, COUNT] += 1


@expanded
def _may_appear(land: Land, row: int, column: int, species: int, count: int, light: float) -> bool:
    """Whether a chunk has too few of a species and enough ground."""
    if count >= _bound(LOW[species, 0], LOW[species, 1], light):
        return False
    ground = count_ground(land, row, column, SPECIES_GROUND[species])
    return ground >= wide(LEAST_GROUND[species])


@inner
def count_ground(land: Land, row: int, column: int, ground: int) -> int:
    """Cells of `ground` in a chunk."""
    count = 0
    for r in range(row * CHUNK, min(row * CHUNK + CHUNK, land.material.shape[0])):
        for c in range(column * CHUNK, min(column * CHUNK + CHUNK, land.material.shape[1])):
            count += land.material[r, c] == ground
    return count


@expanded
def _ground_cell(land: Land, row: int, column: int, ground: int, number: int) -> tuple[int, int]:
    """The number-th cell of `ground` in a chunk, row-major."""
    for r in range(row * CHUNK, min(row * CHUNK + CHUNK, land.material.shape[0])):
        for c in range(column * CHUNK, min(column * CHUNK + CHUNK, land.material.shape[1])):
            if land.material[r, c] == ground:
                if number == 0:
                    return r, c
                number -= 1
    return 0, 0


@inner
def _appear(
    land: Land,
    herd: Herd,
    team: Team,
    chunks: Chunks,
    stream: NDArray[np.uint64],
    step: int,
    row: int,
    column: int,
    species: int,
    health: int,
) -> None:
    """Put a creature on a random cell of the chunk's ground, if it is free and far from agents."""
    ground = SPECIES_GROUND[species]
    number = next_below(stream, count_ground(land, row, column, ground))
    r, c = _ground_cell(land, row, column, ground, number)
    if land.occupant[r, c] != FREE:
        return
    limit = wide(APPEAR_DISTANCE[species]) - 1
    near, _ = nearest_agent(team.cell, chunks, r, c, limit, ANY)
    slot = free_slot(herd)
    if near == NO_AGENT and slot != NO_SLOT:
        put_creature(land, herd, slot, SPECIES_KIND[species], r, c, health, step)


@inner
def _vanish(
    land: Land,
    herd: Herd,
    team: Team,
    chunks: Chunks,
    stream: NDArray[np.uint64],
    row: int,
    column: int,
    species: int,
) -> None:
    """Remove a random creature of the chunk, if it is far from agents."""
    slot = wide(chunks.creature[row, column, species, FIRST])
    for _ in range(next_below(stream, wide(chunks.creature[row, column, species, COUNT]))):
        slot = wide(chunks.next_slot[slot])
    r, c = wide(herd.cell[slot, 0]), wide(herd.cell[slot, 1])
    limit = wide(VANISH_DISTANCE[species]) - 1
    near, _ = nearest_agent(team.cell, chunks, r, c, limit, ANY)
    if near == NO_AGENT:
        remove_creature(land, herd, slot)
