"""The step of MA-Crafter: its stages in order, and what an agent sees.

Agents are walked by id. Collect, craft, place and share read cells and facings as they were at
the start of the step, because nobody moves before them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.actions import NO_ATTEMPT, NO_TASK, TASK
from primitives.attempt_kernels import (
    ACT,
    ACTION,
    ACTIONS,
    ACTIVE_RADIUS,
    AGENT,
    ANYWHERE,
    BALANCED,
    BALANCED_HEALTH,
    COLUMN,
    CREATURE,
    DRINK,
    ENERGY,
    FOOD,
    FROM_CREATURE,
    FULL_HEALTH,
    GROUND,
    HAS_BALANCE,
    HAS_FIRST,
    HAS_VITALS,
    HEALTH,
    IDLE,
    IS_CRAFTER_REWARD,
    ITEM,
    ITEMS,
    MAX_STEPS,
    MOVE,
    NO_ARGUMENTS,
    NO_SUCH_RECIPIENT,
    NONE,
    NOOP,
    NOT_SHAREABLE,
    NOT_TIRED,
    NOTHING_TO_GIVE,
    RECIPIENT_FULL,
    ROW,
    SHARE,
    SHARE_RADIUS,
    SLEEP,
    START_HEALTH,
    TOO_FAR,
    VIEW_COLUMNS,
    VIEW_ROWS,
    VITALS,
    WALL,
    WORK_COLUMNS,
    MacrafterTable,
    MacrafterWork,
    Record,
    conclude,
    win,
)
from primitives.balance_kernels import SPECIES, balance, make_chunks
from primitives.collect_kernels import collect
from primitives.compile import expanded, in_place, inner, merged
from primitives.creature_kernels import (
    FREE,
    HARM_LAVA,
    HARM_NEEDS,
    PLANT,
    Herd,
    Team,
    link_agents,
    move_creatures,
    unlink_agents,
)
from primitives.grid import DIRECTIONS, DOWN, LEFT, RIGHT, UP
from primitives.macrafter_batch import DAY, MacrafterState, flat, state_at, table_at, work_at
from primitives.recipe_kernels import craft, place
from primitives.terrain_kernels import IS_WALKABLE, LAVA, MATERIALS, Land, is_on_map, wide

WAKE_UP = 21
"""The achievement of a full sleep."""
MOVE_DIRECTION = np.array([LEFT, RIGHT, UP, DOWN])
"""Directions of the actions from MOVE on."""
ARGUMENTS = 3
RECIPIENT, GIFT, QUANTITY = range(ARGUMENTS)
"""Columns of `arguments`."""
NOT_GIVEN = -1
NOWHERE = -1
FULL_SLEEP = 9
"""Energy with which a sleeper wakes and nobody falls asleep."""
BALANCE_PERIOD = 10

HUNGER, THIRST, FATIGUE, RECOVERY = range(4)
"""Columns of `counters`."""
HUNGER_LIMIT, THIRST_LIMIT = 50, 40
REST_LIMIT, FATIGUE_LIMIT = -10, 30
HEAL_LIMIT, STARVE_LIMIT = 50, -30
AWAKE_RATE, ASLEEP_RATE = 2, 1
HEAL_RATE, HEAL_RATE_ASLEEP = 2, 4
STARVE_RATE, STARVE_RATE_ASLEEP = -2, -1
HEALTH_REWARD = 10.0
"""Health points worth one point of reward."""

OBJECT_AGENT = 13
"""Object code of an agent; that of a creature is this and its kind."""
PERCENT = 100.0
LAYERS = 3
"""Of a view: material, object code, agent id + 1."""

FACTS, COUNTED, TASK_ROW, TASK_COLUMN = range(4)
"""Rows of `told`, of `sum_up`."""
COUNT_BITS = 5
NOT_COUNTED = -2
OF_CREATURE = -2

LEGAL = -1
ALL_OVER = -2


def macrafter_work(agents: int, height: int, width: int, slots: int) -> MacrafterWork:
    """Buffers for worlds of `agents` agents and `slots` creatures on maps of that size."""
    return MacrafterWork(
        np.zeros((agents, WORK_COLUMNS), np.int64),
        np.zeros(agents, np.int64),
        make_chunks(height, width, agents, slots),
    )


# --- the step ------------------------------------------------------------------------------------


@in_place
def step_at(
    at: Any,
    first: int,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    arguments: NDArray[np.int32],
    rewards: NDArray[np.float32],
    view: NDArray[np.int16],
    inventory: NDArray[np.int16],
    body: NDArray[np.int32],
) -> int:
    """`step_many` of what is behind a handle, unless there are no actions; then `look_many` from
    agent `first` on, for as many as there is room for in `view`."""
    state, fault = state_at(at), wide(LEGAL)
    if len(actions) > 0:
        fault = step_many(state, work_at(at), table_at(at), actions, declared, arguments, rewards)
    if fault == LEGAL and view.shape[1] > 0:
        look_many(state, first, view, inventory, body)
    return fault


@expanded
def step_many(
    state: MacrafterState,
    work: MacrafterWork,
    table: MacrafterTable,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    arguments: NDArray[np.int32],
    rewards: NDArray[np.float32],
) -> int:
    """Step every world of a batch that goes on; LEGAL, ALL_OVER, or the first bad entry.

    actions, declared: [B, A] int32. arguments: [B, A, ARGUMENTS] int32. rewards: [B, A] float32,
    overwritten; 0 in worlds that are over. The entry is the flat index of an action, that plus
    B * A of a declared task, or that plus 2 * B * A of an agent's arguments; then nothing has
    changed.
    """
    fault = first_fault(state.is_alive, state.is_truncated, table.cap, actions, declared, arguments)
    if fault != LEGAL:
        return fault
    rewards[:] = 0.0
    for w in range(actions.shape[0]):
        if not (state.is_truncated[w] or all_dead(state.is_alive[w])):
            step_one(state, w, work, table, actions[w], declared[w], arguments[w], rewards[w])
    return LEGAL


@inner
def all_dead(is_alive: NDArray[np.bool_]) -> bool:
    """Whether nobody is alive; is_alive: [A] bool."""
    living = 0
    for agent in range(len(is_alive)):
        living += is_alive[agent]
    return living == 0


@inner
def first_fault(
    is_alive: NDArray[np.bool_],
    is_truncated: NDArray[np.bool_],
    cap: NDArray[np.int16],
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    arguments: NDArray[np.int32],
) -> int:
    """The first bad entry of a live agent in a world that goes on, as `step_many` numbers it;
    LEGAL if there is none, ALL_OVER if no world goes on."""
    worlds, agents = actions.shape
    verdict = ALL_OVER
    for w in range(worlds):
        for agent in range(agents):
            if is_alive[w, agent] and not is_truncated[w]:
                verdict = LEGAL
                if not NOOP <= actions[w, agent] < ACTIONS:
                    return wide(w * agents + agent)
                if declared[w, agent] < NO_TASK:
                    return wide((worlds + w) * agents + agent)
                if actions[w, agent] == SHARE:
                    if not is_gift(arguments[w, agent], agents, wide(cap[ITEMS - 1])):
                        return wide((2 * worlds + w) * agents + agent)
    return verdict


@inner
def is_gift(gift: NDArray[np.int32], agents: int, cap: int) -> bool:
    """Whether the arguments [ARGUMENTS] of a share are in range, or none are given at all."""
    recipient, item, quantity = wide(gift[RECIPIENT]), wide(gift[GIFT]), wide(gift[QUANTITY])
    if recipient == NOT_GIVEN and item == NOT_GIVEN and quantity == NOT_GIVEN:
        return True
    return 0 <= recipient < agents and 0 <= item < ITEMS and 0 <= quantity <= cap


@expanded
def step_one(
    state: MacrafterState,
    w: int,
    work: MacrafterWork,
    table: MacrafterTable,
    actions: NDArray[np.int32],
    declared: NDArray[np.int32],
    arguments: NDArray[np.int32],
    rewards: NDArray[np.float32],
) -> None:
    """Play one step of world `w`; legal inputs of its A agents, rewards [A] all 0."""
    land = Land(state.material[w], state.occupant[w])
    herd = Herd(
        state.creature_kind[w],
        state.creature_cell[w],
        state.creature_health[w],
        state.creature_timer[w],
        state.creature_facing[w],
        state.creature_serial[w],
        state.creature_born[w],
        state.next_serial[w : w + 1],
    )
    team = Team(
        state.agent_cell[w],
        state.agent_facing[w],
        state.agent_harm[w],
        state.is_alive[w],
        state.is_asleep[w],
        state.inventory[w],
        state.counters[w],
        state.achievements[w],
    )
    record = Record(
        state.agent_outcome[w],
        state.agent_reason[w],
        state.agent_part[w],
        state.agent_attempt[w],
        state.attempt_count[w : w + 1],
        state.attempts[w],
        state.attempt_score[w],
        state.score[w : w + 1],
        rewards,
    )
    doing, radius = work.agent, table.settings[SHARE_RADIUS]
    state.step[w] += 1
    step = wide(state.step[w])
    state.light[w] = table.light[step % DAY]
    begin(team, record, doing, actions)
    wake(team, doing)
    collect(land, herd, team, record, doing, work.key, table, state.stream[w], declared)
    craft(land, team, record, doing, work.key, table.recipe, table.cap)
    plant_health = wide(table.target[MATERIALS + PLANT, FULL_HEALTH])
    place(land, herd, team, record, doing, work.key, table.recipe, plant_health, step)
    share(team, record, doing, table.cap, radius, arguments, state.share_amount[w])
    move(land, team, record, doing)
    sleep(team, record, doing)
    needs(team, table.cap, table.settings[HAS_VITALS], state.last_health[w])
    link_agents(team, work.chunks)
    reach = table.settings[ACTIVE_RADIUS]
    move_creatures(land, herd, team, work.chunks, state.stream[w], step, reach)
    if table.settings[HAS_BALANCE] and step % BALANCE_PERIOD == 0:
        is_on = table.settings[BALANCED : BALANCED + SPECIES]
        health = table.settings[BALANCED_HEALTH : BALANCED_HEALTH + SPECIES]
        light = state.light[w]
        balance(land, herd, team, work.chunks, state.stream[w], step, light, is_on, health)
    unlink_agents(team, work.chunks)
    has_living = end(land, team, record, doing, table.settings, state.is_terminated[w])
    state.is_truncated[w] = has_living and step >= table.settings[MAX_STEPS]
    see(land.material, team, table.settings, state.known[w])


# --- begin, wake ---------------------------------------------------------------------------------


@merged
def begin(team: Team, record: Record, doing: NDArray[np.int64], actions: NDArray[np.int32]) -> None:
    """Clear the records of the last step; doing: work.agent."""
    for row in range(record.used[0]):
        line = record.attempts[row]
        for column in range(len(line)):
            line[column] = 0
        record.points[row] = 0.0
    record.used[0] = 0
    for agent in range(len(actions)):
        record.outcome[agent] = IDLE
        record.reason[agent] = NONE
        record.part[agent] = 0
        record.row[agent] = NO_ATTEMPT
        team.harm[agent] = 0
        doing[agent, ACT] = actions[agent] if team.is_alive[agent] else NOOP
        doing[agent, START_HEALTH] = team.inventory[agent, HEALTH]
        doing[agent, HAS_FIRST] = 0


@merged
def wake(team: Team, doing: NDArray[np.int64]) -> None:
    """Let tired sleepers sleep on whatever was sent, and wake the others."""
    for agent in range(len(team.is_asleep)):
        if team.is_asleep[agent]:
            if team.inventory[agent, ENERGY] < FULL_SLEEP:
                doing[agent, ACT] = SLEEP
            else:
                team.is_asleep[agent] = False
                win(team.achievements, doing, agent, wide(WAKE_UP))


# --- share, move, sleep --------------------------------------------------------------------------


@merged
def share(
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    cap: NDArray[np.int16],
    radius: int,
    arguments: NDArray[np.int32],
    given: NDArray[np.int16],
) -> None:
    """Hand items over, by giver; nobody gives what it got in this stage.

    given: [A] int16, overwritten; units of each giver.
    """
    for agent in range(len(given)):
        given[agent] = 0
        if doing[agent, ACT] == SHARE and arguments[agent, GIFT] != NOT_GIVEN:
            given[agent] = team.inventory[agent, arguments[agent, GIFT]]
    for agent in range(len(given)):
        if doing[agent, ACT] == SHARE:
            stock = wide(given[agent])
            failure, amount = _hand_over(team, cap, radius, agent, arguments[agent], stock)
            given[agent] = amount
            conclude(record, agent, failure)


@expanded
def _hand_over(
    team: Team,
    cap: NDArray[np.int16],
    radius: int,
    agent: int,
    gift: NDArray[np.int32],
    stock: int,
) -> tuple[int, int]:
    """Give part of `stock`; returns why not, or NONE, and the units given."""
    recipient, item = wide(gift[RECIPIENT]), wide(gift[GIFT])
    if recipient == NOT_GIVEN:
        return NO_ARGUMENTS, 0
    if recipient == agent or not team.is_alive[recipient]:
        return NO_SUCH_RECIPIENT, 0
    if item < VITALS:
        return NOT_SHAREABLE, 0
    here, there = team.cell[agent], team.cell[recipient]
    if radius != ANYWHERE and abs(here[0] - there[0]) + abs(here[1] - there[1]) > radius:
        return TOO_FAR, 0
    offer = min(wide(gift[QUANTITY]), stock)
    if offer <= 0:
        return NOTHING_TO_GIVE, 0
    room = wide(cap[item]) - wide(team.inventory[recipient, item])
    if room <= 0:
        return RECIPIENT_FULL, 0
    amount = min(offer, room)
    team.inventory[agent, item] -= amount
    team.inventory[recipient, item] += amount
    return NONE, amount


@merged
def move(land: Land, team: Team, record: Record, doing: NDArray[np.int64]) -> None:
    """Turn and step, one agent after another; lava kills."""
    for agent in range(len(team.is_alive)):
        number = doing[agent, ACT] - MOVE
        if 0 <= number < len(MOVE_DIRECTION):
            direction = MOVE_DIRECTION[number]
            team.facing[agent] = direction
            row = team.cell[agent, 0] + DIRECTIONS[direction, 0]
            column = team.cell[agent, 1] + DIRECTIONS[direction, 1]
            failure = _hindrance(land, row, column)
            conclude(record, agent, failure)
            if failure == NONE:
                _step_onto(land, team, agent, row, column)


@expanded
def _hindrance(land: Land, row: int, column: int) -> int:
    """Why an agent cannot step onto a cell, or NONE."""
    if not is_on_map(land, row, column):
        return WALL
    if land.occupant[row, column] != FREE:
        return AGENT if land.occupant[row, column] > FREE else CREATURE
    ground = land.material[row, column]
    return NONE if IS_WALKABLE[ground] or ground == LAVA else GROUND


@expanded
def _step_onto(land: Land, team: Team, agent: int, row: int, column: int) -> None:
    land.occupant[team.cell[agent, 0], team.cell[agent, 1]] = FREE
    team.cell[agent, 0] = row
    team.cell[agent, 1] = column
    land.occupant[row, column] = agent + 1
    if land.material[row, column] == LAVA:
        team.inventory[agent, HEALTH] = 0
        team.harm[agent] |= HARM_LAVA


@merged
def sleep(team: Team, record: Record, doing: NDArray[np.int64]) -> None:
    """Let whoever is tired fall asleep, or sleep on."""
    for agent in range(len(team.is_asleep)):
        if doing[agent, ACT] == SLEEP:
            is_tired = team.inventory[agent, ENERGY] < FULL_SLEEP
            team.is_asleep[agent] = is_tired
            conclude(record, agent, NONE if is_tired else NOT_TIRED)


# --- needs ---------------------------------------------------------------------------------------


@merged
def needs(
    team: Team, cap: NDArray[np.int16], has_vitals: int, last_health: NDArray[np.int16]
) -> None:
    """Run hunger, thirst, fatigue and recovery of everybody with health; pain wakes.

    last_health: [A] int16, health after this stage, overwritten.
    """
    for agent in range(len(last_health)):
        items = team.inventory[agent]
        if team.is_alive[agent] and items[HEALTH] > 0:
            if has_vitals:
                before = items[HEALTH]
                _age(items, team.counters[agent], team.is_asleep[agent])
                if items[HEALTH] < before:
                    team.harm[agent] |= HARM_NEEDS
            for item in range(ITEMS):
                items[item] = min(max(items[item], 0), cap[item])
            if items[HEALTH] < last_health[agent]:
                team.is_asleep[agent] = False
            last_health[agent] = items[HEALTH]


@inner
def _age(items: NDArray[np.int16], counters: NDArray[np.int16], is_asleep: bool) -> None:
    """One step of an agent's vitals; items [I] and counters [4] int16, in place."""
    rate = ASLEEP_RATE if is_asleep else AWAKE_RATE
    counters[HUNGER] += rate
    if counters[HUNGER] > HUNGER_LIMIT:
        counters[HUNGER] = 0
        items[FOOD] -= 1
    counters[THIRST] += rate
    if counters[THIRST] > THIRST_LIMIT:
        counters[THIRST] = 0
        items[DRINK] -= 1
    counters[FATIGUE] = min(counters[FATIGUE] - 1, 0) if is_asleep else counters[FATIGUE] + 1
    if counters[FATIGUE] < REST_LIMIT:
        counters[FATIGUE] = 0
        items[ENERGY] += 1
    elif counters[FATIGUE] > FATIGUE_LIMIT:
        counters[FATIGUE] = 0
        items[ENERGY] -= 1
    if items[FOOD] > 0 and items[DRINK] > 0 and (items[ENERGY] > 0 or is_asleep):
        counters[RECOVERY] += HEAL_RATE_ASLEEP if is_asleep else HEAL_RATE
    else:
        counters[RECOVERY] += STARVE_RATE_ASLEEP if is_asleep else STARVE_RATE
    if counters[RECOVERY] > HEAL_LIMIT:
        counters[RECOVERY] = 0
        items[HEALTH] += 1
    elif counters[RECOVERY] < STARVE_LIMIT:
        counters[RECOVERY] = 0
        items[HEALTH] -= 1


# --- end, see ------------------------------------------------------------------------------------


@merged
def end(
    land: Land,
    team: Team,
    record: Record,
    doing: NDArray[np.int64],
    settings: NDArray[np.int64],
    is_terminated: NDArray[np.bool_],
) -> bool:
    """Take the dead off the map and pay rewards by health; whether anybody is left.

    is_terminated: [A] bool, set for the dead.
    """
    has_living = False
    for agent in range(len(team.is_alive)):
        if team.is_alive[agent]:
            if team.inventory[agent, HEALTH] <= 0:
                _die(land, team, agent)
                is_terminated[agent] = True
            else:
                has_living = True
            if settings[IS_CRAFTER_REWARD]:
                gain = team.inventory[agent, HEALTH] - doing[agent, START_HEALTH]
                record.reward[agent] = gain / HEALTH_REWARD + doing[agent, HAS_FIRST]
    return has_living


@expanded
def _die(land: Land, team: Team, agent: int) -> None:
    land.occupant[team.cell[agent, 0], team.cell[agent, 1]] = FREE
    team.cell[agent, :] = NOWHERE
    team.inventory[agent, HEALTH] = 0
    team.inventory[agent, VITALS:] = 0
    team.is_alive[agent] = False
    team.is_asleep[agent] = False


@in_place
def see(
    material: NDArray[np.uint8],
    team: Team,
    settings: NDArray[np.int64],
    known: NDArray[np.uint8],
) -> None:
    """Write what every live agent sees into `known`; a sleeper sees its own cell.

    material: [H, W] uint8. known: [A, H, W] uint8.
    """
    for agent in range(len(team.is_alive)):
        if team.is_alive[agent]:
            up, left = settings[VIEW_ROWS] // 2, settings[VIEW_COLUMNS] // 2
            if team.is_asleep[agent]:
                up, left = 0, 0
            row, column = wide(team.cell[agent, 0]), wide(team.cell[agent, 1])
            first, last = max(0, column - left), min(material.shape[1], column + left + 1)
            for r in range(max(0, row - up), min(material.shape[0], row + up + 1)):
                ground, seen = material[r, first:last], known[agent, r, first:last]
                for c in range(len(ground)):
                    seen[c] = ground[c]


@merged
def look_many(
    state: MacrafterState,
    first: int,
    view: NDArray[np.int16],
    inventory: NDArray[np.int16],
    body: NDArray[np.int32],
) -> None:
    """Write what A agents of each world of a batch observe, from `first` on; the dead see nothing.

    view: [B, A, R, C, 3] int16, material, object code, agent id + 1; centred on the agent.
    inventory: [B, A, I] int16. body: [B, A, 6] int32, row, column, facing, is asleep, light in
    percent, step. All overwritten.
    """
    _, agents, rows, columns, layers = view.shape
    cells, size = flat(view), rows * columns * layers
    for w in range(view.shape[0]):
        land = Land(state.material[w], state.occupant[w])
        light, step = math.floor(PERCENT * state.light[w]), wide(state.step[w])
        for i in range(agents):
            agent = first + i
            for item in range(ITEMS):
                inventory[w, i, item] = state.inventory[w, agent, item]
            body[w, i, 0] = state.agent_cell[w, agent, 0]
            body[w, i, 1] = state.agent_cell[w, agent, 1]
            body[w, i, 2] = state.agent_facing[w, agent]
            body[w, i, 3] = state.is_asleep[w, agent]
            body[w, i, 4] = light
            body[w, i, 5] = step
            is_awake = state.is_alive[w, agent] and not state.is_asleep[w, agent]
            kind, cell = state.creature_kind[w], state.agent_cell[w, agent]
            start = (w * agents + i) * size
            look(land, kind, cell, is_awake, rows, columns, cells[start : start + size])


@expanded
def look(
    land: Land,
    kind: NDArray[np.uint8],
    cell: NDArray[np.int16],
    is_awake: bool,
    rows: int,
    columns: int,
    seen: NDArray[np.int16],
) -> None:
    """Write what is around a cell into `seen` [rows * columns * 3] int16, as in `look_many`.

    kind: [K] uint8, of the creature in each slot. Who is not awake sees its own cell, if it has
    one.
    """
    height, width = land.material.shape
    top, west = cell[0] - rows // 2, cell[1] - columns // 2
    up, bottom = max(0, -top), min(rows, height - top)
    left, right = max(0, -west), min(columns, width - west)
    if not is_awake:
        up, bottom = rows // 2, rows // 2 + (cell[0] >= 0)
        left, right = columns // 2, columns // 2 + 1
    for i in range(len(seen)):
        seen[i] = 0
    for r in range(up, bottom):
        ground = land.material[top + r, west + left : west + right]
        holders = land.occupant[top + r, west + left : west + right]
        at = (r * columns + left) * LAYERS
        for c in range(len(ground)):
            seen[at] = ground[c]
            if holders[c] > FREE:
                seen[at + 1] = OBJECT_AGENT
                seen[at + 2] = holders[c]
            elif holders[c] < FREE:
                seen[at + 1] = OBJECT_AGENT + kind[-holders[c] - 1]
            at += LAYERS


@in_place
def sum_up(
    outcome: NDArray[np.uint8],
    reason: NDArray[np.uint8],
    harm: NDArray[np.uint8],
    achievements: NDArray[np.int32],
    attempts: NDArray[np.int32],
    row: NDArray[np.int16],
    cells: int,
    told: NDArray[np.int64],
) -> None:
    """Pack what each agent of the first world is told after a step into four numbers.

    Arrays as in the state. cells: H * W.
    told: [4, A] int64, overwritten. FACTS: a byte each of outcome, reason and harm, lowest first,
    then a bit for each achievement won. COUNTED: the columns NEED .. ITEM of the agent's row,
    COUNT_BITS each, lowest first; NO_ATTEMPT without a row, NOT_COUNTED where one does not fit.
    TASK_ROW, TASK_COLUMN: of a row, its cell; of a creature, OF_CREATURE and its serial.
    """
    for agent in range(told.shape[1]):
        won, index = wide(0), row[0, agent]
        for number in range(achievements.shape[2]):
            won |= (achievements[0, agent, number] > 0) << number
        harmed = won << 8 | harm[0, agent]
        told[FACTS, agent] = (harmed << 8 | reason[0, agent]) << 8 | outcome[0, agent]
        told[COUNTED, agent] = NO_ATTEMPT
        if index != NO_ATTEMPT:
            line, counted, most = attempts[0, index], wide(0), wide(0)
            for column in range(ITEM, TASK, -1):
                counted = counted << COUNT_BITS | line[column]
                most |= line[column]
            told[COUNTED, agent] = counted if 0 <= most < 1 << COUNT_BITS else NOT_COUNTED
            is_cell = line[ACTION] != FROM_CREATURE
            told[TASK_ROW, agent] = line[ROW] if is_cell else OF_CREATURE
            told[TASK_COLUMN, agent] = line[COLUMN] if is_cell else line[TASK] - cells
