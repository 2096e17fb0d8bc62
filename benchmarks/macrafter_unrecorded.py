"""MA-Crafter without attempt rows and constraint facts, to see what they cost.

`python -m benchmarks.macrafter_unrecorded` answers a line `AGENTS SEED STEPS` with the CPU seconds
of that many steps and a digest of the world after them. It puts leaner kernels in place of those
that write rows, before any is compiled, so it must run with a cache of its own. What the rules
themselves need stays: who acts, who is capable, the outcome of each action.
"""

from __future__ import annotations

import sys
import time
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from primitives import collect_kernels, macrafter_kernels, recipe_kernels
from primitives.actions import ACTING, CAPABLE, NEED, PARTICIPATION, REASON
from primitives.attempt_kernels import (
    ACT,
    AGENTS,
    COLUMN,
    HAS_FIRST,
    HEALTH,
    IDLE,
    NO_ITEM,
    NONE,
    NOOP,
    ROW,
    START_HEALTH,
    SUCCESS,
    TOO_FEW_PARTICIPANTS,
    TOOL,
    settle,
)
from primitives.collect_kernels import AGENT_MASK, BOTH, _settle_acting
from primitives.compile import merged
from primitives.terrain_kernels import wide
from worlds.macrafter.port import build

RECORDS = ("agent_part", "agent_attempt", "attempts", "attempt_count", "attempt_score")
"""What may differ from a world that is recorded."""

# The kernels below have the types of those they stand in for.


@merged
def begin(team, record, doing, actions):  # type: ignore[no-untyped-def]
    """As in `macrafter_kernels`; no row is cleared."""
    for agent in range(len(actions)):
        record.outcome[agent] = IDLE
        record.reason[agent] = NONE
        record.part[agent] = 0
        team.harm[agent] = 0
        doing[agent, ACT] = actions[agent] if team.is_alive[agent] else NOOP
        doing[agent, START_HEALTH] = team.inventory[agent, HEALTH]
        doing[agent, HAS_FIRST] = 0


@merged
def new_row(record):  # type: ignore[no-untyped-def]
    """The first row, again and again."""
    return wide(0)


@merged
def open_row(line, target, task, kind, row, column):  # type: ignore[no-untyped-def]
    """What the rules read again."""
    line[NEED] = target[AGENTS]
    line[ROW] = row
    line[COLUMN] = column
    line[PARTICIPATION] = 0


@merged
def count_in_place(land, reach, row, column):  # type: ignore[no-untyped-def]
    """Nobody looks."""
    return wide(0)


@merged
def count_members(team, record, key, table, index, kind, first, end):  # type: ignore[no-untyped-def]
    """Who acts, and who of them is capable."""
    line, tool, acting = record.attempts[index], table.target[kind, TOOL], wide(0)
    for i in range(first, end):
        agent = key[i] & AGENT_MASK
        if tool == NO_ITEM or team.inventory[agent, tool] > 0:
            record.part[agent] |= CAPABLE
        line[PARTICIPATION] += record.part[agent] & BOTH == BOTH
        acting += record.part[agent] & ACTING != 0
    return acting


@merged
def fall_short(record, key, line, acting, first, end):  # type: ignore[no-untyped-def]
    """Outcomes alone."""
    _settle_acting(record, key, wide(TOO_FEW_PARTICIPANTS), first, end)


@merged
def write_row(line, recipe, action, cell, width, count, is_covered, failure):  # type: ignore[no-untyped-def]
    """Why it failed alone."""
    line[REASON] = SUCCESS if failure == NONE else failure


@merged
def settle_group(record, key, index, count):  # type: ignore[no-untyped-def]
    """Outcomes alone."""
    for i in range(count):
        settle(record, key[i], wide(record.attempts[index, REASON]))


def unrecord() -> None:
    """Put these kernels in place; nothing may have been compiled."""
    replaced = {
        macrafter_kernels: {"begin": begin},
        collect_kernels: {
            "new_row": new_row,
            "_open_row": open_row,
            "_count_in_place": count_in_place,
            "_count_members": count_members,
            "_fall_short": fall_short,
        },
        recipe_kernels: {
            "new_row": new_row,
            "_write_row": write_row,
            "_settle_group": settle_group,
        },
    }
    for module, kernels in replaced.items():
        for name, kernel in kernels.items():
            if not hasattr(module, name):
                raise AttributeError(f"{module.__name__} has no {name} any more")
            setattr(module, name, kernel)


def measure(agents: int, seed: int, steps: int) -> tuple[float, str]:
    """CPU seconds of a random game, and a digest of the world without its records."""
    port = build("paper", agents=agents, area="auto")
    actions = np.random.default_rng(0).integers(0, 17, (steps, 1, agents, 1)).astype(np.int32)
    state = port.rules.reset(seed)
    port.views(state)
    began = time.process_time()
    for sent in actions:
        port.play(state, sent)
    spent = time.process_time() - began
    digest = blake2b(digest_size=16)
    for name, array in zip(state._fields, state, strict=True):
        if name not in RECORDS:
            world: NDArray[np.generic] = array
            digest.update(world.tobytes())
    return spent, digest.hexdigest()


if __name__ == "__main__":
    unrecord()
    for line in sys.stdin:
        agents, seed, steps = map(int, line.split())
        print(*measure(agents, seed, steps), flush=True)
