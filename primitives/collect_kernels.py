"""The stage `collect` of MA-Crafter: who acts on what, together, and what comes of it.

Agents are grouped by target; groups are resolved in task order. A row is written from the facts
before the world changes.
"""

import numpy as np
from numpy.typing import NDArray

from primitives.actions import (
    ACTING,
    CAPABLE,
    CREDITED,
    DEPENDENCY,
    DEPENDENCY_NEED,
    IN_PLACE,
    MEMBERS,
    NEAR,
    NEED,
    NO_TASK,
    PARTICIPATION,
    REASON,
    RESULT,
    RESULT_BLOCKED,
    RESULT_DELIVERED,
    RESULT_DONE,
    RESULT_NONE,
    RESULT_SHORT,
    SPATIAL,
    TASK,
    TEMPORAL,
    TRYING,
)
from primitives.attempt_kernels import (
    ACHIEVEMENT,
    ACT,
    ACTION,
    AGENTS,
    AMOUNT,
    CHANCE,
    COLUMN,
    CREATURE_THING,
    DAMAGE,
    DO,
    FROM_CELL,
    FROM_CREATURE,
    GIVES,
    HAS_PLANTS,
    HIT,
    IS_CRAFTER_REWARD,
    IS_CREDIT_REQUIRED,
    ITEM,
    LEAVES,
    MISSING_TOOL,
    NO_ITEM,
    NO_YIELD,
    NOT_IN_REACH,
    NOT_RIPE,
    NOTHING_IN_REACH,
    PLACE,
    REACH,
    RESETS,
    ROW,
    SHARE,
    SLOT,
    SUCCESS,
    SWORD_DAMAGE,
    TOO_FEW_PARTICIPANTS,
    TOOL,
    UNIT_SCORE,
    WAITING,
    MacrafterTable,
    Record,
    give,
    new_row,
    settle,
    sort,
    win,
)
from primitives.compile import expanded, inner, merged
from primitives.creature_kernels import (
    ARROW,
    FREE,
    NO_SLOT,
    PLANT,
    RIPE_AGE,
    Herd,
    Team,
    chance,
    remove_creature,
    slots_in_use,
)
from primitives.grid import DIRECTIONS
from primitives.terrain_kernels import GRASS, MATERIALS, PATH, SAND, Land, is_on_map, wide

AGENT_BITS = 12
AGENT_MASK = (1 << AGENT_BITS) - 1
"""A key to sort by is a task and, in its lowest bits, an agent."""
BOTH = ACTING | CAPABLE


@inner
def collect(
    land: Land,
    herd: Herd,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    table: MacrafterTable,
    stream: NDArray[np.uint64],
    declared: NDArray[np.int32],
) -> None:
    """Group the agents by target, in task order, and resolve each group.

    doing, key: of the buffers. declared: [A] int32.
    """
    count = wide(0)
    for agent in range(len(declared)):
        if team.is_alive[agent]:
            task = wide(declared[agent])
            task, slot = _join(land, herd, team, record, doing, table, agent, task)
            if task != NO_TASK:
                doing[agent, SLOT] = slot
                key[count] = task << AGENT_BITS | agent
                count += 1
    sort(key, count)
    first = wide(0)
    while first < count:
        end = first + 1
        while end < count and key[end] >> AGENT_BITS == key[first] >> AGENT_BITS:
            end += 1
        _resolve(land, herd, team, record, doing, key, table, stream, first, end)
        first = end


# --- who acts on what ----------------------------------------------------------------------------


@merged
def _join(
    land: Land,
    herd: Herd,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    table: MacrafterTable,
    agent: int,
    declared: int,
) -> tuple[int, int]:
    """The task an agent is a member of, or NO_TASK, and its slot; writes its part and a miss."""
    act = doing[agent, ACT]
    if PLACE <= act < SHARE:
        return NO_TASK, NO_SLOT
    if act == DO:
        task, slot = faced_target(land, herd, team, table, agent)
        if task != NO_TASK:
            record.part[agent] = ACTING
            return task, slot
    task, slot = declared_target(land, herd, table, declared)
    if act == DO:
        record.part[agent] = TRYING if task != NO_TASK else 0
        settle(record, agent, NOT_IN_REACH if task != NO_TASK else NOTHING_IN_REACH)
    return task, slot


@merged
def faced_target(
    land: Land, herd: Herd, team: Team, table: MacrafterTable, agent: int
) -> tuple[int, int]:
    """The task on the first thing along an agent's facing within reach, or NO_TASK; its slot."""
    height, width = land.material.shape
    facing = team.facing[agent]
    down, right = DIRECTIONS[facing, 0], DIRECTIONS[facing, 1]
    row, column = team.cell[agent, 0] + down, team.cell[agent, 1] + right
    for _ in range(table.settings[REACH]):
        if not is_on_map(land, row, column) or land.occupant[row, column] > FREE:
            break
        if land.occupant[row, column] < FREE:
            slot = -wide(land.occupant[row, column]) - 1
            if herd.kind[slot] == ARROW:
                break
            return height * width + wide(herd.serial[slot]), slot
        ground = land.material[row, column]
        if ground != GRASS and table.target[ground, AGENTS] > 0:
            return row * width + column, NO_SLOT
        if ground not in (GRASS, SAND, PATH):
            break
        row, column = row + down, column + right
    row, column = team.cell[agent, 0] + down, team.cell[agent, 1] + right
    if is_on_map(land, row, column) and land.occupant[row, column] == FREE:
        if land.material[row, column] == GRASS and is_source(table, wide(GRASS)):
            return row * width + column, NO_SLOT
    return NO_TASK, NO_SLOT


@inner
def is_source(table: MacrafterTable, ground: int) -> bool:
    """Whether something can be collected from a material."""
    if ground == GRASS and not table.settings[HAS_PLANTS]:
        return False
    return wide(table.target[ground, AGENTS]) > 0


@merged
def declared_target(land: Land, herd: Herd, table: MacrafterTable, task: int) -> tuple[int, int]:
    """A declared task, or NO_TASK if it is not open; and the slot of a creature."""
    height, width = land.material.shape
    if task == NO_TASK:
        return NO_TASK, NO_SLOT
    if task < height * width:
        ground = wide(land.material[task // width, task % width])
        return task if is_source(table, ground) else NO_TASK, NO_SLOT
    for slot in range(slots_in_use(herd)):
        if herd.serial[slot] == task - height * width:
            if table.target[MATERIALS + herd.kind[slot], AGENTS] > 0:
                return task, slot
    return NO_TASK, NO_SLOT


# --- what comes of it ----------------------------------------------------------------------------


@inner
def _resolve(
    land: Land,
    herd: Herd,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    table: MacrafterTable,
    stream: NDArray[np.uint64],
    first: int,
    end: int,
) -> None:
    """Write the row of the members `key[first:end]`, then carry it out or fail."""
    task, slot = key[first] >> AGENT_BITS, NO_SLOT
    if task < land.material.size:
        row, column = task // land.material.shape[1], task % land.material.shape[1]
        kind = wide(land.material[row, column])
    else:
        slot = doing[key[first] & AGENT_MASK, SLOT]
        row, column = wide(herd.cell[slot, 0]), wide(herd.cell[slot, 1])
        kind = MATERIALS + wide(herd.kind[slot])
    index = new_row(record)
    line = record.attempts[index]
    _open_row(line, table.target[kind], task, kind, row, column)
    line[IN_PLACE] = _count_in_place(land, table.settings[REACH], row, column)
    acting = _count_members(team, record, key, table, index, kind, first, end)
    if acting == 0 or line[PARTICIPATION] < line[NEED]:
        _fall_short(record, key, line, acting, first, end)
        return
    if slot == NO_SLOT:
        _take_source(land, record, table, stream, line, kind)
    elif kind == MATERIALS + PLANT:
        _eat_plant(herd, line, slot)
    else:
        _hit_creature(land, herd, team, record, key, line, slot, first, end)
    _settle_acting(record, key, wide(line[REASON]), first, end)
    if line[REASON] == SUCCESS:
        _reward(team, record, doing, key, table, kind, first, end)
        if slot == NO_SLOT:
            _score(record, key, table, index, kind, first, end)


@merged
def _open_row(
    line: NDArray[np.int32],
    target: NDArray[np.int32],
    task: int,
    kind: int,
    row: int,
    column: int,
) -> None:
    """Write what a row says of its task."""
    line[TASK] = task
    line[NEED] = target[AGENTS]
    line[DEPENDENCY_NEED] = 0 if target[TOOL] == NO_ITEM else target[AGENTS]
    is_cell = kind < MATERIALS
    line[ACTION] = FROM_CELL if is_cell else FROM_CREATURE
    line[ITEM] = target[GIVES] if is_cell else CREATURE_THING + kind - MATERIALS
    line[ROW] = row
    line[COLUMN] = column


@merged
def _count_in_place(land: Land, reach: int, row: int, column: int) -> int:
    """Live agents within `reach` of a cell."""
    count = 0
    for r in range(max(0, row - reach), min(land.occupant.shape[0], row + reach + 1)):
        rest = reach - abs(r - row)
        for c in range(max(0, column - rest), min(land.occupant.shape[1], column + rest + 1)):
            count += land.occupant[r, c] > FREE
    return count


@merged
def _count_members(
    team: Team,
    record: Record,
    key: NDArray[np.int64],
    table: MacrafterTable,
    index: int,
    kind: int,
    first: int,
    end: int,
) -> int:
    """Count the parts of a row's members; returns how many act."""
    line, tool = record.attempts[index], table.target[kind, TOOL]
    acting = 0
    for i in range(first, end):
        agent = key[i] & AGENT_MASK
        part = wide(record.part[agent])
        away = abs(team.cell[agent, 0] - line[ROW]) + abs(team.cell[agent, 1] - line[COLUMN])
        if away <= table.settings[REACH]:
            part |= NEAR
            line[SPATIAL] += 1
        if tool == NO_ITEM or team.inventory[agent, tool] > 0:
            part |= CAPABLE
            line[DEPENDENCY] += 1
        line[TEMPORAL] += part & (ACTING | TRYING) != 0
        line[PARTICIPATION] += part & BOTH == BOTH
        acting += part & ACTING != 0
        record.part[agent] = part
        record.row[agent] = index
    line[MEMBERS] = end - first
    return acting


@merged
def _fall_short(
    record: Record,
    key: NDArray[np.int64],
    line: NDArray[np.int32],
    acting: int,
    first: int,
    end: int,
) -> None:
    """Close a row that nobody carries out, or too few."""
    line[RESULT] = RESULT_SHORT if line[TEMPORAL] > 0 else RESULT_NONE
    if acting == 0:
        line[REASON] = NOT_IN_REACH if line[TEMPORAL] > 0 else WAITING
    else:
        line[REASON] = TOO_FEW_PARTICIPANTS if acting < line[NEED] else MISSING_TOOL
    _settle_acting(record, key, wide(TOO_FEW_PARTICIPANTS), first, end)


@inner
def _settle_acting(
    record: Record, key: NDArray[np.int64], reason: int, first: int, end: int
) -> None:
    """Give the capable acting members `reason`, and the other acting ones what they lack."""
    for i in range(first, end):
        agent = key[i] & AGENT_MASK
        if record.part[agent] & ACTING:
            settle(record, agent, reason if record.part[agent] & CAPABLE else MISSING_TOOL)


@merged
def _take_source(
    land: Land,
    record: Record,
    table: MacrafterTable,
    stream: NDArray[np.uint64],
    line: NDArray[np.int32],
    kind: int,
) -> None:
    """Collect from a cell, unless chance is against it."""
    leaves = table.target[kind, LEAVES]
    line[RESULT] = RESULT_DONE
    line[REASON] = NO_YIELD
    if chance(stream, table.yields[kind, CHANCE]):
        line[REASON] = SUCCESS
        if leaves != kind:
            line[RESULT] = RESULT_DELIVERED
            land.material[line[ROW], line[COLUMN]] = leaves


@merged
def _eat_plant(herd: Herd, line: NDArray[np.int32], slot: int) -> None:
    """Eat a plant if it is ripe; then it grows anew."""
    is_ripe = herd.timer[slot] > RIPE_AGE
    line[RESULT] = RESULT_DONE if is_ripe else RESULT_BLOCKED
    line[REASON] = SUCCESS if is_ripe else NOT_RIPE
    if is_ripe:
        herd.timer[slot] = 0


@merged
def _hit_creature(
    land: Land,
    herd: Herd,
    team: Team,
    record: Record,
    key: NDArray[np.int64],
    line: NDArray[np.int32],
    slot: int,
    first: int,
    end: int,
) -> None:
    """Take the damage of all acting members from a creature; a beaten one is removed at once."""
    for i in range(first, end):
        agent = key[i] & AGENT_MASK
        if record.part[agent] & ACTING:
            herd.health[slot] -= damage_of(team, agent)
    is_beaten = herd.health[slot] <= 0
    line[RESULT] = RESULT_DELIVERED if is_beaten else RESULT_DONE
    line[REASON] = SUCCESS if is_beaten else HIT
    if is_beaten:
        remove_creature(land, herd, slot)


@expanded
def damage_of(team: Team, agent: int) -> int:
    """Damage an agent does to a creature, by its best sword."""
    for i in range(len(SWORD_DAMAGE)):
        if team.inventory[agent, SWORD_DAMAGE[i, 0]] > 0:
            return wide(SWORD_DAMAGE[i, 1])
    return DAMAGE


@merged
def _reward(
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    table: MacrafterTable,
    kind: int,
    first: int,
    end: int,
) -> None:
    """Give every capable acting member the full amount and the achievement."""
    target = table.target[kind]
    for i in range(first, end):
        agent = key[i] & AGENT_MASK
        if record.part[agent] & BOTH == BOTH:
            record.part[agent] |= CREDITED
            if target[GIVES] != NO_ITEM:
                give(team, table.cap, agent, wide(target[GIVES]), wide(target[AMOUNT]))
            if target[RESETS] >= 0:
                team.counters[agent, target[RESETS]] = 0
            win(team.achievements, doing, agent, wide(target[ACHIEVEMENT]))


@merged
def _score(
    record: Record,
    key: NDArray[np.int64],
    table: MacrafterTable,
    index: int,
    kind: int,
    first: int,
    end: int,
) -> None:
    """Add the event's score to the team's, and its shares to the rewards."""
    line = record.attempts[index]
    credited = line[NEED] if table.settings[IS_CREDIT_REQUIRED] else line[PARTICIPATION]
    score = table.yields[kind, UNIT_SCORE] * table.target[kind, AMOUNT] * credited
    record.points[index] = score
    record.score[0] += score
    if not table.settings[IS_CRAFTER_REWARD]:
        for i in range(first, end):
            agent = key[i] & AGENT_MASK
            if record.part[agent] & CREDITED:
                record.reward[agent] += score / line[PARTICIPATION]
