"""What the last step of MA-Crafter brought, and the layers a picture needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.attempt_kernels import FROM_CELL, FROM_CREATURE, NO_CELL
from primitives.creature_kernels import RIPE_AGE
from worlds.api import (
    Attempt,
    AttemptColumn,
    AttemptResult,
    Json,
    Outcome,
    Part,
    Points,
    Report,
)
from worlds.macrafter.state import (
    ACTION,
    ATTEMPT_ACTIONS,
    COLUMN,
    CREATURES,
    FACINGS,
    HARMS,
    ITEM,
    ITEMS,
    MATERIALS,
    OBJECT_AGENT,
    OBJECTS,
    OUTCOMES,
    REASONS,
    ROW,
    THINGS,
    MacrafterState,
    cell_id,
    creature_id,
)
from worlds.macrafter.table import Table

__all__ = [
    "attempt",
    "frame",
    "harms",
    "legend",
    "object_codes",
    "report",
    "task_name",
    "task_stem",
    "unmet",
]

CONSTRAINTS = ("participation", "spatial", "temporal")
DEPENDENCY = "dependency"
PASSAGE = "passage"
PERCENT = 100


def report(state: MacrafterState, table: Table) -> Report:
    """Plain facts of the last step of a batch of one."""
    codes = zip(state.agent_outcome[0].tolist(), state.agent_reason[0].tolist(), strict=True)
    attempts = tuple(attempt(state, table, row) for row in range(int(state.attempt_count[0])))
    return Report(
        outcomes=tuple(Outcome(OUTCOMES[o], REASONS[r] if r else None) for o, r in codes),
        attempts=attempts,
        points=_points(state, attempts),
        score=float(state.score[0]),
        gone=_gone(state),
        ended="all_gone" if not state.is_alive[0].any() else None,
    )


def attempt(state: MacrafterState, table: Table, row: int) -> Attempt:
    """A row of `attempts` of a batch of one, for readers."""
    line = state.attempts[0, row].tolist()
    thing, result = THINGS[line[ITEM]], line[AttemptColumn.RESULT]
    counts = line[AttemptColumn.PARTICIPATION : AttemptColumn.DEPENDENCY + 1]
    cells = state.material.shape[1] * state.material.shape[2]
    cell = None if line[ROW] == NO_CELL else [line[ROW], line[COLUMN]]
    return Attempt(
        task=task_name(table, line, cells),
        kind=thing,
        action=ATTEMPT_ACTIONS[line[ACTION]],
        need=line[AttemptColumn.NEED],
        participation=counts[0],
        spatial=counts[1],
        temporal=counts[2],
        dependency=counts[3],
        dependency_need=line[AttemptColumn.DEPENDENCY_NEED],
        members=_members(state, row),
        in_place=line[AttemptColumn.IN_PLACE],
        result=AttemptResult.NAMES[result],
        reason=REASONS[line[AttemptColumn.REASON]],
        unmet=unmet(line),
        is_counted=_is_counted(table, line),
        extra={"item": thing, "cell": cell},
    )


def task_stem(table: Table, line: list[int]) -> str:
    """What the text id of a row's task begins with: source, creature, item made, object placed."""
    thing = THINGS[line[ITEM]]
    return table.sources[thing] if line[ACTION] == FROM_CELL else thing


def task_name(table: Table, line: list[int], cells: int) -> str:
    """Text id of a row's task: `coal@31,41`, `cow_12`, `wood_pickaxe@3,4`, `table`.

    line: columns of the row. cells: number of cells of the map.
    """
    stem = task_stem(table, line)
    if line[ACTION] == FROM_CREATURE:
        return creature_id(stem, line[AttemptColumn.TASK] - cells)
    return stem if line[ROW] == NO_CELL else cell_id(stem, (line[ROW], line[COLUMN]))


def _members(state: MacrafterState, row: int) -> tuple[tuple[int, int], ...]:
    ids = np.flatnonzero(state.agent_attempt[0] == row).tolist()
    return tuple((agent, int(state.agent_part[0, agent])) for agent in ids)


def unmet(line: list[int]) -> tuple[str, ...]:
    """The unsatisfied constraints of a row, in the order of its columns, then the passage."""
    need, least = line[AttemptColumn.NEED], line[AttemptColumn.DEPENDENCY_NEED]
    missing = [
        name
        for name, count in zip(CONSTRAINTS, line[AttemptColumn.PARTICIPATION :], strict=False)
        if count < need
    ]
    if line[AttemptColumn.DEPENDENCY] < least:
        missing.append(DEPENDENCY)
    if line[AttemptColumn.RESULT] == AttemptResult.BLOCKED:
        missing.append(PASSAGE)
    return tuple(missing)


def _is_counted(table: Table, line: list[int]) -> bool:
    if line[ACTION] != FROM_CELL:
        return False
    return table.collect[table.sources[THINGS[line[ITEM]]]].base_score > 0


def _points(state: MacrafterState, attempts: tuple[Attempt, ...]) -> tuple[Points, ...]:
    scores = state.attempt_score[0, : len(attempts)].tolist()
    return tuple(
        Points(entry.task, score, tuple(a for a, part in entry.members if part & Part.CREDITED))
        for entry, score in zip(attempts, scores, strict=True)
        if score > 0
    )


def harms(bits: int) -> tuple[str, ...]:
    """Names of what hurt an agent, from its bits of `agent_harm`."""
    return tuple(name for bit, name in enumerate(HARMS) if bits >> bit & 1)


def _gone(state: MacrafterState) -> tuple[tuple[int, str], ...]:
    """Who died in the last step, and of what."""
    died = np.flatnonzero(~state.is_alive[0] & (state.agent_harm[0] != 0)).tolist()
    return tuple((agent, "+".join(harms(int(state.agent_harm[0, agent])))) for agent in died)


# --- pictures ------------------------------------------------------------------------------------


def object_codes(state: MacrafterState) -> NDArray[np.uint8]:
    """[H, W] uint8, key of OBJECTS of what stands on each cell of a batch of one."""
    occupant = state.occupant[0]
    codes = np.zeros(occupant.shape, np.uint8)
    codes[occupant > 0] = OBJECT_AGENT
    slots = -occupant[occupant < 0] - 1
    codes[occupant < 0] = OBJECT_AGENT + state.creature_kind[0, slots]
    return codes


def frame(state: MacrafterState) -> dict[str, NDArray[Any]]:
    """Layers of a batch of one.

    material, object, object_facing: [H, W] uint8; the last is where an arrow flies, 1 for a ripe
        plant.
    agent_cell: [A, 2] int16. agent_facing, is_alive, is_asleep, outcome, reason, harm: [A] uint8.
    inventory: [A, I] int16, vitals first. light: [1] uint8, percent. step: [1] int32.
    """
    used = np.flatnonzero(state.creature_kind[0])
    rows, columns = state.creature_cell[0, used].T
    kinds, detail = state.creature_kind[0, used], np.zeros(state.material.shape[1:], np.uint8)
    is_ripe = state.creature_timer[0, used] > RIPE_AGE
    is_plant = kinds == CREATURES.index("plant")
    detail[rows, columns] = np.where(is_plant, is_ripe, state.creature_facing[0, used])
    return {
        "material": state.material[0].copy(),
        "object": object_codes(state),
        "object_facing": detail,
        "agent_cell": state.agent_cell[0].copy(),
        "agent_facing": state.agent_facing[0].copy(),
        "is_alive": state.is_alive[0].astype(np.uint8),
        "is_asleep": state.is_asleep[0].astype(np.uint8),
        "inventory": state.inventory[0].copy(),
        "outcome": state.agent_outcome[0].copy(),
        "reason": state.agent_reason[0].copy(),
        "harm": state.agent_harm[0].copy(),
        "light": np.floor(PERCENT * state.light).astype(np.uint8),
        "step": state.step.copy(),
    }


def legend() -> Json:
    """Names of the values of the layers of `frame`; of `inventory` and `harm`, of the columns
    and bits."""
    return {
        "material": _named(MATERIALS),
        "object": {str(code): name for code, name in OBJECTS.items()},
        "object_facing": _named(FACINGS),
        "agent_facing": _named(FACINGS),
        "inventory": _named(ITEMS),
        "outcome": _named(OUTCOMES),
        "reason": _named(REASONS),
        "harm": {str(1 << bit): name for bit, name in enumerate(HARMS)},
    }


def _named(names: tuple[str, ...]) -> dict[str, str]:
    return {str(code): name for code, name in enumerate(names)}
