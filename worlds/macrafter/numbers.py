"""The technology table and the settings of MA-Crafter as the arrays that kernels read."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from primitives import attempt_kernels as codes
from primitives.attempt_kernels import MacrafterTable
from primitives.creature_kernels import KINDS
from primitives.macrafter_batch import DAY
from primitives.terrain_kernels import MATERIALS as MATERIAL_COUNT
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    COUNTERS,
    CREATURES,
    ITEMS,
    MATERIALS,
    PLACES,
    THINGS,
    VITAL_CAP,
    VITALS,
)
from worlds.macrafter.table import CollectRow, CreatureRow, MakeRow, PlaceRow, Table

__all__ = ["daylight", "table_numbers"]

NONE = -1
DAY_OFFSET = 0.3
LIGHT_DIGITS = 6
NOON = 1.0
RESTS_NOWHERE = 0


def daylight(step: int) -> float:
    """Daylight in 0..1 after `step` steps of a world with day and night."""
    phase = step / DAY % 1 + DAY_OFFSET
    return round(1 - abs(math.cos(math.pi * phase)) ** 3, LIGHT_DIGITS)


def table_numbers(config: MacrafterConfig, table: Table) -> MacrafterTable:
    """All that the kernels need to know of a configuration."""
    light = [daylight(step) if config.day_night else NOON for step in range(DAY)]
    cap = [VITAL_CAP] * len(VITALS) + [config.item_cap] * (len(ITEMS) - len(VITALS))
    return MacrafterTable(
        target=_targets(table),
        yields=_yields(table),
        recipe=np.array(
            [*map(_place, table.place.values()), *map(_make, table.make.values())], np.int32
        ),
        light=np.array(light, np.float64),
        cap=np.array(cap, np.int16),
        settings=_settings(config, table),
    )


def _settings(config: MacrafterConfig, table: Table) -> NDArray[np.int64]:
    settings = np.zeros(codes.SETTINGS, np.int64)
    radius = config.share_radius
    settings[codes.REACH] = config.reach
    settings[codes.SHARE_RADIUS] = codes.ANYWHERE if radius is None else radius
    settings[codes.IS_CREDIT_REQUIRED] = config.credit == "required"
    settings[codes.MAX_STEPS] = config.max_steps
    settings[codes.VIEW_ROWS], settings[codes.VIEW_COLUMNS] = config.view
    settings[codes.HAS_VITALS] = config.vitals
    settings[codes.HAS_PLANTS] = config.plants
    settings[codes.HAS_BALANCE] = config.balance
    settings[codes.ACTIVE_RADIUS] = config.active_radius or RESTS_NOWHERE
    settings[codes.IS_CRAFTER_REWARD] = config.reward == "crafter"
    species = ("zombie", "skeleton", "cow")
    for i, kind in enumerate(species):
        settings[codes.BALANCED + i] = config.__dict__[f"{kind}s"]
        settings[codes.BALANCED_HEALTH + i] = table.creature[kind].health
    return settings


def _index(names: tuple[str, ...], name: str | None) -> int:
    return NONE if name is None else names.index(name)


def _targets(table: Table) -> NDArray[np.int32]:
    target = np.zeros((MATERIAL_COUNT + KINDS, codes.LEAVES + 1), np.int32)
    for source, row in table.collect.items():
        target[MATERIALS.index(source)] = _source(row)
    for kind, beast in table.creature.items():
        target[MATERIAL_COUNT + CREATURES.index(kind)] = _creature(beast)
    return target


def _source(row: CollectRow) -> list[int]:
    return [
        row.agents,
        _index(ITEMS, row.tool),
        _index(ITEMS, row.gives),
        row.amount,
        _index(ACHIEVEMENTS, row.achievement),
        _index(COUNTERS, row.resets),
        _index(MATERIALS, row.leaves),
    ]


def _creature(row: CreatureRow) -> list[int]:
    return [
        row.agents,
        NONE,
        _index(ITEMS, row.gives),
        row.amount,
        _index(ACHIEVEMENTS, row.achievement),
        _index(COUNTERS, row.resets),
        row.health,
    ]


def _yields(table: Table) -> NDArray[np.float64]:
    yields = np.zeros((MATERIAL_COUNT, 2), np.float64)
    for source, row in table.collect.items():
        yields[MATERIALS.index(source)] = row.chance, row.unit_score
    return yields


def _recipe(agents: int, thing: str, wins: str, uses: Mapping[str, int]) -> NDArray[np.int32]:
    recipe = np.zeros(codes.RECIPE_COLUMNS, np.int32)
    recipe[codes.AGENTS] = agents
    recipe[codes.THING] = THINGS.index(thing)
    recipe[codes.WINS] = ACHIEVEMENTS.index(wins)
    recipe[codes.PUTS] = NONE
    for item, count in uses.items():
        recipe[codes.USES + ITEMS.index(item)] = count
    return recipe


def _make(row: MakeRow) -> NDArray[np.int32]:
    recipe = _recipe(row.agents, row.item, row.achievement, row.uses)
    recipe[codes.STATION] = MATERIALS.index(row.stations[0])
    recipe[codes.LAST_STATION] = MATERIALS.index(row.stations[-1])
    return recipe


def _place(row: PlaceRow) -> NDArray[np.int32]:
    recipe = _recipe(row.agents, row.object, row.achievement, row.uses)
    is_plant = row.object == PLACES[-1]
    recipe[codes.PUTS] = codes.PUTS_PLANT if is_plant else MATERIALS.index(row.object)
    for ground in row.on:
        recipe[codes.ON + MATERIALS.index(ground)] = 1
    return recipe
