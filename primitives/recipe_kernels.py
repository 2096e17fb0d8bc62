"""The stages `craft` and `place` of MA-Crafter, with their attempt rows.

An agent acts alone where its recipe asks for one; otherwise all who do the same at one station,
or on one cell, form a group. Groups are resolved by their smallest id.
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
    NO_ATTEMPT,
    PARTICIPATION,
    REASON,
    RESULT,
    RESULT_BLOCKED,
    RESULT_DONE,
    RESULT_SHORT,
    SPATIAL,
    TASK,
    TEMPORAL,
)
from primitives.attempt_kernels import (
    ACT,
    ACTION,
    AGENTS,
    COLUMN,
    CRAFT,
    ITEM,
    ITEMS,
    LAST_STATION,
    MAKE,
    MISSING_ITEMS,
    NO_CELL,
    NO_ROOM,
    NO_STATION,
    NONE,
    OCCUPIED,
    ON,
    OUT_OF_BOUNDS,
    PLACE,
    PUT,
    PUTS,
    PUTS_PLANT,
    ROW,
    SHARE,
    STATION,
    SUCCESS,
    THING,
    TOO_FEW_PARTICIPANTS,
    USES,
    VITALS,
    WINS,
    WRONG_GROUND,
    Record,
    give,
    new_row,
    settle,
    sort,
    win,
)
from primitives.compile import expanded, inner, merged
from primitives.creature_kernels import (
    FREE,
    NO_SLOT,
    PLANT,
    Herd,
    Team,
    free_slot,
    put_creature,
)
from primitives.grid import DIRECTIONS, opposite
from primitives.terrain_kernels import Land, is_on_map, wide

# --- craft ---------------------------------------------------------------------------------------


@inner
def craft(
    land: Land,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    recipes: NDArray[np.int32],
    cap: NDArray[np.int16],
) -> None:
    """Make items near stations; doing, key: of the buffers, recipes, cap: of the table."""
    width = land.material.shape[1]
    for agent in range(len(team.is_alive)):
        act = doing[agent, ACT]
        if MAKE <= act < SHARE and record.row[agent] == NO_ATTEMPT:
            recipe = recipes[act - PLACE]
            row, column = wide(team.cell[agent, 0]), wide(team.cell[agent, 1])
            station = find_station(land.material, recipe, row, column)
            key[0], count = agent, 1
            if recipe[AGENTS] > 1 and station != NO_CELL:
                count = _gather_at_station(land, record.row, doing, key, recipe, act, station)
            failure = NO_STATION if station == NO_CELL else NONE
            is_covered = covers(team.inventory, key, recipe, count)
            failure = _judge(failure, count, wide(recipe[AGENTS]), is_covered)
            index = new_row(record)
            line = record.attempts[index]
            _write_row(line, recipe, wide(CRAFT), station, width, count, is_covered, failure)
            _settle_group(record, key, index, count)
            if failure == NONE:
                _pay(team, doing, key, recipe, count)
                for i in range(count):
                    give(team, cap, key[i], wide(recipe[THING]), wide(1))


@inner
def find_station(
    material: NDArray[np.uint8], recipe: NDArray[np.int32], row: int, column: int
) -> int:
    """The first cell of the last-named station around a cell; NO_CELL if a station is missing."""
    height, width = material.shape
    found, has_other = NO_CELL, recipe[STATION] == recipe[LAST_STATION]
    for r in range(max(0, row - 1), min(height, row + 2)):
        for c in range(max(0, column - 1), min(width, column + 2)):
            if material[r, c] == recipe[LAST_STATION] and found == NO_CELL:
                found = r * width + c
            if material[r, c] == recipe[STATION]:
                has_other = True
            if has_other and found != NO_CELL:
                return found
    return NO_CELL


@expanded
def _gather_at_station(
    land: Land,
    row_of: NDArray[np.int16],
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    recipe: NDArray[np.int32],
    act: int,
    station: int,
) -> int:
    """List in `key`, by id, who does `act` at a station and is in no group; their number.

    row_of: [A] int16, the attempt row of each agent.
    """
    height, width = land.material.shape
    row, column = station // width, station % width
    count = wide(0)
    for r in range(max(0, row - 1), min(height, row + 2)):
        for c in range(max(0, column - 1), min(width, column + 2)):
            agent = wide(land.occupant[r, c]) - 1
            if agent >= 0 and doing[agent, ACT] == act and row_of[agent] == NO_ATTEMPT:
                if find_station(land.material, recipe, r, c) == station:
                    key[count] = agent
                    count += 1
    sort(key, count)
    return count


# --- place ---------------------------------------------------------------------------------------


@inner
def place(
    land: Land,
    herd: Herd,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    recipes: NDArray[np.int32],
    plant_health: int,
    step: int,
) -> None:
    """Put objects on faced cells, as they are after earlier groups; arrays as in `craft`."""
    width = land.material.shape[1]
    for agent in range(len(team.is_alive)):
        act = doing[agent, ACT]
        if PLACE <= act < MAKE and record.row[agent] == NO_ATTEMPT:
            recipe = recipes[act - PLACE]
            row = team.cell[agent, 0] + DIRECTIONS[team.facing[agent], 0]
            column = team.cell[agent, 1] + DIRECTIONS[team.facing[agent], 1]
            key[0], count, cell = agent, 1, NO_CELL
            failure = OUT_OF_BOUNDS
            if is_on_map(land, row, column):
                cell = row * width + column
                failure = _obstacle(land, recipe, row, column)
                if recipe[AGENTS] > 1:
                    count = _gather_at_cell(land, team.facing, doing, key, act, row, column)
            is_covered = covers(team.inventory, key, recipe, count)
            failure = _judge(failure, count, wide(recipe[AGENTS]), is_covered)
            if failure == NONE and recipe[PUTS] == PUTS_PLANT and free_slot(herd) == NO_SLOT:
                failure = NO_ROOM
            index = new_row(record)
            line = record.attempts[index]
            _write_row(line, recipe, wide(PUT), cell, width, count, is_covered, failure)
            _settle_group(record, key, index, count)
            if failure == NONE:
                _pay(team, doing, key, recipe, count)
                _put(land, herd, wide(recipe[PUTS]), row, column, plant_health, step)


@expanded
def _obstacle(land: Land, recipe: NDArray[np.int32], row: int, column: int) -> int:
    """Why nothing can be put on a cell as it is now, or NONE."""
    if land.occupant[row, column] != FREE:
        return OCCUPIED
    if not recipe[ON + land.material[row, column]]:
        return WRONG_GROUND
    return NONE


@expanded
def _gather_at_cell(
    land: Land,
    facing: NDArray[np.uint8],
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    act: int,
    row: int,
    column: int,
) -> int:
    """List in `key`, by id, who does `act` facing a cell; returns their number."""
    count = wide(0)
    for direction in range(4):
        r, c = row + DIRECTIONS[direction, 0], column + DIRECTIONS[direction, 1]
        if is_on_map(land, r, c):
            agent = wide(land.occupant[r, c]) - 1
            if agent >= 0 and doing[agent, ACT] == act:
                if facing[agent] == opposite(direction):
                    key[count] = agent
                    count += 1
    sort(key, count)
    return count


@expanded
def _put(land: Land, herd: Herd, puts: int, row: int, column: int, health: int, step: int) -> None:
    """Let the object of a recipe appear."""
    if puts == PUTS_PLANT:
        put_creature(land, herd, free_slot(herd), wide(PLANT), row, column, health, step)
    else:
        land.material[row, column] = puts


# --- both ----------------------------------------------------------------------------------------


@expanded
def _judge(failure: int, count: int, need: int, is_covered: bool) -> int:
    """Why `count` members fail, or NONE; `failure` is what already stands against it."""
    if failure == NONE and count < need:
        return TOO_FEW_PARTICIPANTS
    if failure == NONE and not is_covered:
        return MISSING_ITEMS
    return failure


@inner
def covers(
    inventory: NDArray[np.int16], key: NDArray[np.int64], recipe: NDArray[np.int32], count: int
) -> bool:
    """Whether the pooled items of the members `key[:count]` cover one cost."""
    for item in range(VITALS, ITEMS):
        missing, i = wide(recipe[USES + item]), 0
        while missing > 0 and i < count:
            missing -= inventory[key[i], item]
            i += 1
        if missing > 0:
            return False
    return True


@merged
def _write_row(
    line: NDArray[np.int32],
    recipe: NDArray[np.int32],
    action: int,
    cell: int,
    width: int,
    count: int,
    is_covered: bool,
    failure: int,
) -> None:
    """Write the row of a group of `count` members.

    cell: flat station or target of a map of `width` columns, NO_CELL without one.
    """
    is_near = failure != NO_STATION
    line[TASK] = cell
    line[NEED] = recipe[AGENTS]
    line[DEPENDENCY_NEED] = recipe[AGENTS]
    line[PARTICIPATION] = count if is_near and is_covered else 0
    line[SPATIAL] = count if is_near else 0
    line[TEMPORAL] = count
    line[DEPENDENCY] = count if is_covered else 0
    line[MEMBERS] = count
    line[IN_PLACE] = count
    line[REASON] = SUCCESS if failure == NONE else failure
    line[RESULT] = RESULT_DONE if failure == NONE else RESULT_BLOCKED
    if line[PARTICIPATION] < line[NEED]:
        line[RESULT] = RESULT_SHORT
    line[ACTION] = action
    line[ITEM] = recipe[THING]
    line[ROW] = cell // width if cell != NO_CELL else NO_CELL
    line[COLUMN] = cell % width if cell != NO_CELL else NO_CELL


@merged
def _settle_group(record: Record, key: NDArray[np.int64], index: int, count: int) -> None:
    """Write the part and the outcome of the members `key[:count]` of a row."""
    line = record.attempts[index]
    part = ACTING
    if line[SPATIAL] > 0:
        part |= NEAR
    if line[DEPENDENCY] > 0:
        part |= CAPABLE
    if line[REASON] == SUCCESS:
        part |= CREDITED
    for i in range(count):
        record.row[key[i]] = index
        record.part[key[i]] = part
        settle(record, key[i], wide(line[REASON]))


@inner
def _pay(
    team: Team,
    doing: NDArray[np.int64],
    key: NDArray[np.int64],
    recipe: NDArray[np.int32],
    count: int,
) -> None:
    """Take one cost from the members `key[:count]` in id order; all of them win."""
    for item in range(VITALS, ITEMS):
        due, i = wide(recipe[USES + item]), 0
        while due > 0 and i < count:
            paid = min(due, wide(team.inventory[key[i], item]))
            team.inventory[key[i], item] -= paid
            due -= paid
            i += 1
    for i in range(count):
        win(team.achievements, doing, key[i], wide(recipe[WINS]))
