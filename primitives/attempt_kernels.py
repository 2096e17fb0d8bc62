"""Codes, tables and buffers of MA-Crafter's step, and what all acts of a team have in common."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.actions import COMMON_COLUMNS
from primitives.compile import inner
from primitives.creature_kernels import Chunks, Team
from primitives.terrain_kernels import MATERIALS, wide

# --- codes ---------------------------------------------------------------------------------------

HEALTH, FOOD, DRINK, ENERGY = 0, 1, 2, 3
"""Vitals, the first items."""
VITALS = 4
ITEMS = 16
NO_ITEM = -1
WOOD_SWORD, STONE_SWORD, IRON_SWORD = 13, 14, 15
DAMAGE = 1
SWORD_DAMAGE = np.array([[IRON_SWORD, 5], [STONE_SWORD, 3], [WOOD_SWORD, 2]])
"""[3, 2]: sword and its damage, best first; without one the damage is DAMAGE."""

NOOP = 0
MOVE = 1
DO = 5
SLEEP = 6
PLACE = 7
MAKE = 11
SHARE = 17
ACTIONS = 18
RECIPES = SHARE - PLACE
"""Actions PLACE .. SHARE - 1 carry out recipe 0 .. RECIPES - 1."""

IDLE, DONE, FAILED = 0, 1, 2
"""Codes of `agent_outcome`."""

NONE = 0
WALL = 1
AGENT = 2
CREATURE = 3
GROUND = 4
NOTHING_IN_REACH = 5
NOT_IN_REACH = 6
TOO_FEW_PARTICIPANTS = 7
MISSING_TOOL = 8
MISSING_ITEMS = 9
NO_STATION = 10
OCCUPIED = 11
WRONG_GROUND = 12
OUT_OF_BOUNDS = 13
NOT_RIPE = 14
NO_YIELD = 15
HIT = 16
NO_ARGUMENTS = 17
NO_SUCH_RECIPIENT = 18
NOT_SHAREABLE = 19
TOO_FAR = 20
NOTHING_TO_GIVE = 21
RECIPIENT_FULL = 22
NOT_TIRED = 23
NO_ROOM = 24
WAITING = 25
SUCCESS = 26
"""Codes of `agent_reason` and of the column REASON."""

ACTION = COMMON_COLUMNS
ITEM = COMMON_COLUMNS + 1
ROW = COMMON_COLUMNS + 2
COLUMN = COMMON_COLUMNS + 3
FROM_CELL, FROM_CREATURE, CRAFT, PUT = 0, 1, 2, 3
"""Values of the column ACTION."""
CREATURE_THING = 17
"""The column ITEM of a row about a creature is this and its kind."""
NO_CELL = -1
NO_ACHIEVEMENT = -1

# --- tables and buffers --------------------------------------------------------------------------

# Columns of `MacrafterTable.target`.
AGENTS, TOOL, GIVES, AMOUNT, ACHIEVEMENT, RESETS, LEAVES = range(7)
FULL_HEALTH = LEAVES
TARGET_COLUMNS = LEAVES + 1
# Columns of `MacrafterTable.yields`.
CHANCE, UNIT_SCORE = 0, 1
YIELD_COLUMNS = 2
# Columns of `MacrafterTable.recipe`; the first is AGENTS too.
THING, WINS, STATION, LAST_STATION, PUTS = 1, 2, 3, 4, 5
USES = 6
ON = USES + ITEMS
RECIPE_COLUMNS = ON + MATERIALS
PUTS_PLANT = 0

# Entries of `MacrafterTable.settings`.
REACH = 0
SHARE_RADIUS = 1
IS_CREDIT_REQUIRED = 2
MAX_STEPS = 3
VIEW_ROWS = 4
VIEW_COLUMNS = 5
HAS_VITALS = 6
HAS_PLANTS = 7
HAS_BALANCE = 8
ACTIVE_RADIUS = 9
IS_CRAFTER_REWARD = 10
BALANCED = 11
BALANCED_HEALTH = 14
"""First of three entries each: zombies, skeletons, cows."""
SETTINGS = 17
ANYWHERE = -1


class MacrafterTable(NamedTuple):
    """The technology table and the settings as numbers.

    target: [MATERIALS + KINDS, 7] int32, a row a source material, then one a creature kind:
        AGENTS (0: cannot be acted on), TOOL, GIVES (NO_ITEM), AMOUNT, ACHIEVEMENT, RESETS (index
        of `counters` or -1), and LEAVES of a material, FULL_HEALTH of a creature.
    yields: [MATERIALS, 2] float64, CHANCE and UNIT_SCORE.
    recipe: [RECIPES, RECIPE_COLUMNS] int32: AGENTS, THING (value of the column ITEM), WINS (the
        achievement), STATION, LAST_STATION, PUTS (material or PUTS_PLANT), USES of each item, ON
        (1: can be put there) of each material.
    light: [300] float64, by step of the day.
    cap: [ITEMS] int16. settings: [SETTINGS] int64.
    """

    target: NDArray[np.int32]
    yields: NDArray[np.float64]
    recipe: NDArray[np.int32]
    light: NDArray[np.float64]
    cap: NDArray[np.int16]
    settings: NDArray[np.int64]


# Columns of `MacrafterWork.agent`.
ACT, SLOT, START_HEALTH, HAS_FIRST = 0, 1, 2, 3
WORK_COLUMNS = 4


class MacrafterWork(NamedTuple):
    """Buffers of a step; they hold nothing between steps.

    agent: [A, WORK_COLUMNS] int64: ACT (what it does in this step), SLOT (of the creature it is
        about), START_HEALTH, HAS_FIRST (1: an achievement rose from 0).
    key: [A] int64, sorted keys or members of the group at hand.
    chunks: buffers of the creature stages.
    """

    agent: NDArray[np.int64]
    key: NDArray[np.int64]
    chunks: Chunks


class Record(NamedTuple):
    """What one world notes of a step; arrays as in the state.

    outcome, reason, part: [A] uint8. row: [A] int16. used: [1] int16, rows. attempts: [A, N] int32.
    points: [A] float64, of each row. score: [1] float64. reward: [A] float32.
    """

    outcome: NDArray[np.uint8]
    reason: NDArray[np.uint8]
    part: NDArray[np.uint8]
    row: NDArray[np.int16]
    used: NDArray[np.int16]
    attempts: NDArray[np.int32]
    points: NDArray[np.float64]
    score: NDArray[np.float64]
    reward: NDArray[np.float32]


@inner
def sort(items: NDArray[np.int64], count: int) -> None:
    """Sort the first `count` of `items` ascending, in place (Shell's method, gaps 3 k + 1)."""
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            item = items[i]
            j = i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


@inner
def new_row(record: Record) -> int:
    """Take the next attempt row; its columns are 0."""
    index = wide(record.used[0])
    record.used[0] += 1
    return index


@inner
def settle(record: Record, agent: int, reason: int) -> None:
    """Write the outcome of an agent's action from a code of the column REASON."""
    record.outcome[agent] = DONE if reason in (SUCCESS, HIT) else FAILED
    record.reason[agent] = NONE if reason == SUCCESS else reason


@inner
def conclude(record: Record, agent: int, failure: int) -> None:
    """Write the outcome of an agent's action: done if `failure` is NONE."""
    record.outcome[agent] = DONE if failure == NONE else FAILED
    record.reason[agent] = failure


@inner
def win(
    achievements: NDArray[np.int32], doing: NDArray[np.int64], agent: int, achievement: int
) -> None:
    """Count an achievement of an agent, and note the first time in `doing` (work.agent)."""
    if achievement != NO_ACHIEVEMENT:
        achievements[agent, achievement] += 1
        if achievements[agent, achievement] == 1:
            doing[agent, HAS_FIRST] = 1


@inner
def give(team: Team, cap: NDArray[np.int16], agent: int, item: int, amount: int) -> None:
    """Add to an agent's stock; what is above the cap is lost."""
    held = wide(team.inventory[agent, item])
    team.inventory[agent, item] = min(held + amount, wide(cap[item]))
