"""Creatures of MA-Crafter: where they start, whom they are near, and how each kind moves.

Creatures are walked by slot. Conditions are tested from left to right, and a draw is made only
when those before it hold.
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from primitives.compile import expanded, in_place, inner, merged
from primitives.grid import DIRECTIONS, DOWN, LEFT, RIGHT, UP, is_inside, opposite
from primitives.rng import next_below, next_uniform
from primitives.terrain_kernels import (
    FURNACE,
    GRASS,
    IS_WALKABLE,
    LAVA,
    PATH,
    TABLE,
    WATER,
    Land,
    is_on_map,
    wide,
)

NO_CREATURE = 0
COW = 1
ZOMBIE = 2
SKELETON = 3
ARROW = 4
PLANT = 5
KINDS = 6

HARM_NEEDS = 1
HARM_LAVA = 2
HARM_ZOMBIE = 4
HARM_ARROW = 8
HEALTH = 0
"""Index of health in `inventory`."""
FREE = 0
BORN_BEFORE = -1
NO_AGENT = -1
NO_DIRECTION = -1
NO_SLOT = -1
FAR = 1 << 30
FOUR = wide(4)
"""Directions to draw from."""

NEAREST, ANY = cast(bool, np.bool_(False)), cast(bool, np.bool_(True))
"""What `nearest_agent` is asked for."""

CHUNK = 12

# --- rules by kind -------------------------------------------------------------------------------

COW_STEP = 0.5

ZOMBIE_SIGHT, ZOMBIE_CHASE, ZOMBIE_LONG = 8, 0.9, 0.8
ZOMBIE_REACH, ZOMBIE_COOLDOWN = 1, 5
ZOMBIE_DAMAGE, ZOMBIE_DAMAGE_ASLEEP = 2, 7

SKELETON_RETREAT, SKELETON_LONG = 3, 0.6
SKELETON_SHOT, SKELETON_SHOOT, SKELETON_RELOAD = 5, 0.5, 4
SKELETON_SIGHT, SKELETON_CHASE, SKELETON_STROLL = 8, 0.3, 0.2

ARROW_DAMAGE = 2
RIPE_AGE = 300
"""A plant older than this is ripe; it stops ageing one step later."""
SIGHT = 8
"""No kind looks for agents farther away."""

# --- rules of the start, tried in this order on each cell ----------------------------------------

START_KIND = np.array([COW, ZOMBIE, SKELETON])
START_DISTANCE = (3, 10, 0)
"""A creature starts farther than this, as the crow flies, from every agent."""
START_LIMIT = np.array([0.985, 0.993, 0.95])


class Herd(NamedTuple):
    """The creatures of one world, by slot; arrays as in the state.

    kind, facing: [K] uint8. cell: [K, 2] int16. health, timer: [K] int16.
    serial, born: [K] int32. next_serial: [1] int32.
    """

    kind: NDArray[np.uint8]
    cell: NDArray[np.int16]
    health: NDArray[np.int16]
    timer: NDArray[np.int16]
    facing: NDArray[np.uint8]
    serial: NDArray[np.int32]
    born: NDArray[np.int32]
    next_serial: NDArray[np.int32]


class Team(NamedTuple):
    """The agents of one world, by id; arrays as in the state.

    cell: [A, 2] int16. facing, harm: [A] uint8. is_alive, is_asleep: [A] bool.
    inventory: [A, I] int16. counters: [A, 4] int16. achievements: [A, 22] int32.
    """

    cell: NDArray[np.int16]
    facing: NDArray[np.uint8]
    harm: NDArray[np.uint8]
    is_alive: NDArray[np.bool_]
    is_asleep: NDArray[np.bool_]
    inventory: NDArray[np.int16]
    counters: NDArray[np.int16]
    achievements: NDArray[np.int32]


class Chunks(NamedTuple):
    """Buffers: who is in which chunk of CHUNK x CHUNK cells.

    agent: [CR, CC] int32, first agent; NO_AGENT between steps. next_agent: [A] int32, the next.
    creature: [CR, CC, SPECIES, 2] int32, first slot and number of a species.
    next_slot: [K] int32, the next.
    """

    agent: NDArray[np.int32]
    next_agent: NDArray[np.int32]
    creature: NDArray[np.int32]
    next_slot: NDArray[np.int32]


# --- coming and going ----------------------------------------------------------------------------


@inner
def slots_in_use(herd: Herd) -> int:
    """A bound of the slots in use: new creatures take the lowest free one."""
    return min(wide(herd.next_serial[0]), len(herd.kind))


@inner
def free_slot(herd: Herd) -> int:
    """The lowest free slot, or NO_SLOT."""
    used = slots_in_use(herd)
    for slot in range(used):
        if herd.kind[slot] == NO_CREATURE:
            return slot
    return used if used < len(herd.kind) else NO_SLOT


@inner
def put_creature(
    land: Land,
    herd: Herd,
    slot: int,
    kind: int,
    row: int,
    column: int,
    health: int,
    born: int,
) -> None:
    """Fill a free slot with a new creature, which looks down, on a cell without an object."""
    herd.kind[slot] = kind
    herd.cell[slot, 0] = row
    herd.cell[slot, 1] = column
    herd.health[slot] = health
    herd.timer[slot] = 0
    herd.facing[slot] = DOWN
    herd.serial[slot] = herd.next_serial[0]
    herd.born[slot] = born
    herd.next_serial[0] += 1
    land.occupant[row, column] = -(slot + 1)


@inner
def remove_creature(land: Land, herd: Herd, slot: int) -> None:
    """Take a creature off the map and free its slot."""
    land.occupant[herd.cell[slot, 0], herd.cell[slot, 1]] = FREE
    herd.kind[slot] = NO_CREATURE


@inner
def chance(stream: NDArray[np.uint64], p: float) -> bool:
    """Draw whether something of probability `p` happens; certain things draw nothing."""
    if p <= 0.0:
        return False
    if p >= 1.0:
        return True
    return next_uniform(stream) < p


# --- the start -----------------------------------------------------------------------------------


@in_place
def scatter_creatures(
    land: Land,
    herd: Herd,
    agent_cell: NDArray[np.int16],
    stream: NDArray[np.uint64],
    is_tunnel: NDArray[np.bool_],
    is_on: NDArray[np.bool_],
    health: NDArray[np.int64],
    near: NDArray[np.uint8],
) -> None:
    """Put the creatures of the start on the map, row-major, from slot 0.

    agent_cell: [A, 2] int16. is_tunnel: [H, W] bool. is_on: [3] bool, by row of START_KIND.
    health: [KINDS] int64. near: [H, W] uint8, overwritten.
    """
    height, width = land.material.shape
    born = wide(BORN_BEFORE)
    for row in range(height):
        for column in range(width):
            near[row, column] = 0
    for rule in range(2):
        for agent in range(len(agent_cell)):
            _mark_disc(near, agent_cell[agent], START_DISTANCE[rule], 1 << rule)
    for row in range(height):
        for column in range(width):
            ground = land.material[row, column]
            if IS_WALKABLE[ground] and land.occupant[row, column] == FREE:
                rule = _start_rule(
                    stream, is_on, ground == GRASS, is_tunnel[row, column], near[row, column]
                )
                slot = wide(herd.next_serial[0])
                if rule >= 0 and slot < len(herd.kind):
                    kind = START_KIND[rule]
                    put_creature(land, herd, slot, kind, row, column, health[kind], born)


@inner
def _mark_disc(near: NDArray[np.uint8], cell: NDArray[np.int16], radius: int, bit: int) -> None:
    """Set `bit` on the cells of `near` [H, W] within `radius` of a cell, as the crow flies."""
    height, width = near.shape
    for down in range(-radius, radius + 1):
        for right in range(-radius, radius + 1):
            row, column = cell[0] + down, cell[1] + right
            if down * down + right * right <= radius * radius:
                if is_inside(row, column, height, width):
                    near[row, column] |= bit


@inner
def _start_rule(
    stream: NDArray[np.uint64],
    is_on: NDArray[np.bool_],
    is_grass: bool,
    is_tunnel: bool,
    near: int,
) -> int:
    """The first row of START_KIND that applies to a walkable cell without an agent, or -1."""
    for rule in range(3):
        fits = is_on[rule] and not near >> rule & 1
        if rule == 0:
            fits = fits and is_grass
        elif rule == 2:
            fits = fits and is_tunnel
        if fits and next_uniform(stream) > START_LIMIT[rule]:
            return rule
    return -1


# --- the nearest agent ---------------------------------------------------------------------------


@merged
def link_agents(team: Team, chunks: Chunks) -> None:
    """List the live agents by chunk."""
    for agent in range(len(team.is_alive) - 1, -1, -1):
        if team.is_alive[agent]:
            row, column = team.cell[agent, 0] // CHUNK, team.cell[agent, 1] // CHUNK
            chunks.next_agent[agent] = chunks.agent[row, column]
            chunks.agent[row, column] = agent


@merged
def unlink_agents(team: Team, chunks: Chunks) -> None:
    """Empty the lists of `link_agents`; nobody has moved since."""
    for agent in range(len(team.is_alive)):
        if team.is_alive[agent]:
            row, column = team.cell[agent, 0] // CHUNK, team.cell[agent, 1] // CHUNK
            chunks.agent[row, column] = NO_AGENT


@inner
def nearest_agent(
    cell: NDArray[np.int16], chunks: Chunks, row: int, column: int, limit: int, is_any: bool
) -> tuple[int, int]:
    """The nearest live agent (ties: the smallest id) and its Manhattan distance.

    (NO_AGENT, FAR) if nobody is within `limit`. is_any: the first one found within it will do.
    cell: [A, 2] int16, of each agent; chunks: with the live agents linked.
    """
    best, distance = wide(NO_AGENT), limit + 1
    top, bottom = max(0, row - limit) // CHUNK, (row + limit) // CHUNK + 1
    left, right = max(0, column - limit) // CHUNK, (column + limit) // CHUNK + 1
    bottom, right = min(bottom, chunks.agent.shape[0]), min(right, chunks.agent.shape[1])
    if (bottom - top) * (right - left) < len(cell):
        for r in range(top, bottom):
            for c in range(left, right):
                agent = wide(chunks.agent[r, c])
                while agent != NO_AGENT:
                    away = abs(cell[agent, 0] - row) + abs(cell[agent, 1] - column)
                    if away < distance or (away == distance and agent < best):
                        best, distance = agent, away
                        if is_any:
                            return best, distance
                    agent = wide(chunks.next_agent[agent])
    else:
        for agent in range(len(cell)):
            away = abs(cell[agent, 0] - row) + abs(cell[agent, 1] - column)
            if away < distance and cell[agent, 0] >= 0:
                best, distance = agent, away
    if best == NO_AGENT:
        return NO_AGENT, FAR
    return best, distance


# --- moves ---------------------------------------------------------------------------------------


@inner
def move_creatures(
    land: Land,
    herd: Herd,
    team: Team,
    chunks: Chunks,
    stream: NDArray[np.uint64],
    step: int,
    active_radius: int,
) -> None:
    """Let every creature not born in this step, and near enough to an agent, make its move.

    active_radius: a creature this far from every live agent rests; 0: none does.
    """
    sight = wide(SIGHT)
    for slot in range(slots_in_use(herd)):
        kind = wide(herd.kind[slot])
        if kind == NO_CREATURE or herd.born[slot] == step:
            continue
        row, column = wide(herd.cell[slot, 0]), wide(herd.cell[slot, 1])
        agent, distance = NO_AGENT, FAR
        if kind in (ZOMBIE, SKELETON):
            agent, distance = nearest_agent(team.cell, chunks, row, column, sight, NEAREST)
        if 0 < active_radius <= distance:
            _, away = nearest_agent(team.cell, chunks, row, column, active_radius - 1, ANY)
            if away >= active_radius:
                continue
        if kind == COW:
            if chance(stream, COW_STEP):
                walk(land, herd, slot, next_below(stream, FOUR))
        elif kind == ZOMBIE:
            _move_zombie(land, herd, team, chunks, stream, slot, agent, distance)
        elif kind == SKELETON:
            _move_skeleton(land, herd, team, stream, step, slot, agent, distance)
        elif kind == ARROW:
            _move_arrow(land, herd, team, slot)
        else:
            _grow_plant(land, herd, slot)


@inner
def walk(land: Land, herd: Herd, slot: int, direction: int) -> bool:
    """Move a creature by one cell if that cell is free and walkable; whether it moved."""
    if direction == NO_DIRECTION:
        return False
    row = herd.cell[slot, 0] + DIRECTIONS[direction, 0]
    column = herd.cell[slot, 1] + DIRECTIONS[direction, 1]
    if not is_on_map(land, row, column) or land.occupant[row, column] != FREE:
        return False
    if not IS_WALKABLE[land.material[row, column]]:
        return False
    _shift(land, herd, slot, row, column)
    herd.facing[slot] = direction
    return True


@expanded
def _shift(land: Land, herd: Herd, slot: int, row: int, column: int) -> None:
    """Put a creature on another cell, which is free."""
    land.occupant[herd.cell[slot, 0], herd.cell[slot, 1]] = FREE
    herd.cell[slot, 0] = row
    herd.cell[slot, 1] = column
    land.occupant[row, column] = -(slot + 1)


@expanded
def heading(here: NDArray[np.int16], there: NDArray[np.int16], is_long: bool) -> int:
    """The direction from one cell [2] towards another: along the larger offset (ties: vertical)
    if `is_long`, otherwise along the other; NO_DIRECTION where that offset is 0."""
    down, right = wide(there[0]) - here[0], wide(there[1]) - here[1]
    if (abs(down) >= abs(right)) == is_long:
        if down == 0:
            return NO_DIRECTION
        return DOWN if down > 0 else UP
    if right == 0:
        return NO_DIRECTION
    return RIGHT if right > 0 else LEFT


@inner
def _move_zombie(
    land: Land,
    herd: Herd,
    team: Team,
    chunks: Chunks,
    stream: NDArray[np.uint64],
    slot: int,
    agent: int,
    distance: int,
) -> None:
    """Chase or stroll, then bite the nearest agent within reach once the cooldown is over."""
    if distance <= ZOMBIE_SIGHT and chance(stream, ZOMBIE_CHASE):
        is_long = chance(stream, ZOMBIE_LONG)
        walk(land, herd, slot, heading(herd.cell[slot], team.cell[agent], is_long))
    else:
        walk(land, herd, slot, next_below(stream, FOUR))
    if distance > ZOMBIE_REACH + 1:
        return
    row, column, reach = wide(herd.cell[slot, 0]), wide(herd.cell[slot, 1]), wide(ZOMBIE_REACH)
    victim, _ = nearest_agent(team.cell, chunks, row, column, reach, NEAREST)
    if victim == NO_AGENT:
        return
    if herd.timer[slot] > 0:
        herd.timer[slot] -= 1
        return
    damage = ZOMBIE_DAMAGE_ASLEEP if team.is_asleep[victim] else ZOMBIE_DAMAGE
    team.inventory[victim, HEALTH] -= damage
    team.harm[victim] |= HARM_ZOMBIE
    herd.timer[slot] = ZOMBIE_COOLDOWN


@inner
def _move_skeleton(
    land: Land,
    herd: Herd,
    team: Team,
    stream: NDArray[np.uint64],
    step: int,
    slot: int,
    agent: int,
    distance: int,
) -> None:
    """Retreat, shoot, chase or stroll."""
    here, there = herd.cell[slot], team.cell[max(agent, 0)]
    herd.timer[slot] = max(herd.timer[slot] - 1, 0)
    if distance <= SKELETON_RETREAT:
        toward = heading(here, there, chance(stream, SKELETON_LONG))
        if toward != NO_DIRECTION and walk(land, herd, slot, opposite(toward)):
            return
    if distance <= SKELETON_SHOT and chance(stream, SKELETON_SHOOT):
        _shoot(land, herd, step, slot, heading(here, there, True))
    elif distance <= SKELETON_SIGHT and chance(stream, SKELETON_CHASE):
        walk(land, herd, slot, heading(here, there, chance(stream, SKELETON_LONG)))
    elif chance(stream, SKELETON_STROLL):
        walk(land, herd, slot, next_below(stream, FOUR))


@expanded
def _shoot(land: Land, herd: Herd, step: int, slot: int, direction: int) -> None:
    """Loose an arrow on the next cell if the reload is over and the cell is free for arrows."""
    row = herd.cell[slot, 0] + DIRECTIONS[direction, 0]
    column = herd.cell[slot, 1] + DIRECTIONS[direction, 1]
    if herd.timer[slot] > 0 or not _is_open(land, row, column):
        return
    if land.occupant[row, column] != FREE:
        return
    herd.timer[slot] = SKELETON_RELOAD
    arrow = free_slot(herd)
    if arrow != NO_SLOT:
        kind, health = wide(ARROW), wide(0)
        put_creature(land, herd, arrow, kind, row, column, health, step)
        herd.facing[arrow] = direction


@inner
def _is_open(land: Land, row: int, column: int) -> bool:
    """Whether an arrow can fly over the ground of a cell."""
    if not is_on_map(land, row, column):
        return False
    ground = land.material[row, column]
    return IS_WALKABLE[ground] or ground in (WATER, LAVA)


@inner
def _move_arrow(land: Land, herd: Herd, team: Team, slot: int) -> None:
    """Fly on, or hit what is there and vanish; a table or furnace that is hit becomes path."""
    direction = herd.facing[slot]
    row = herd.cell[slot, 0] + DIRECTIONS[direction, 0]
    column = herd.cell[slot, 1] + DIRECTIONS[direction, 1]
    if not is_on_map(land, row, column):
        remove_creature(land, herd, slot)
        return
    hit = wide(land.occupant[row, column])
    if hit == FREE and _is_open(land, row, column):
        _shift(land, herd, slot, row, column)
        return
    if hit > FREE:
        team.inventory[hit - 1, HEALTH] -= ARROW_DAMAGE
        team.harm[hit - 1] |= HARM_ARROW
    elif hit < FREE:
        herd.health[-hit - 1] -= ARROW_DAMAGE
        if herd.health[-hit - 1] <= 0:
            remove_creature(land, herd, -hit - 1)
    elif land.material[row, column] in (TABLE, FURNACE):
        land.material[row, column] = PATH
    remove_creature(land, herd, slot)


@expanded
def _grow_plant(land: Land, herd: Herd, slot: int) -> None:
    """Age; a cow, zombie or skeleton beside it gnaws at it."""
    herd.timer[slot] = min(herd.timer[slot] + 1, RIPE_AGE + 1)
    for direction in range(4):
        row = herd.cell[slot, 0] + DIRECTIONS[direction, 0]
        column = herd.cell[slot, 1] + DIRECTIONS[direction, 1]
        if is_on_map(land, row, column) and land.occupant[row, column] < FREE:
            if herd.kind[-land.occupant[row, column] - 1] in (COW, ZOMBIE, SKELETON):
                herd.health[slot] -= 1
                break
    if herd.health[slot] <= 0:
        remove_creature(land, herd, slot)
