"""The world `macrafter-v1`, made of its parts."""

from __future__ import annotations

from typing import Any

from worlds.api import World
from worlds.macrafter.config import configure
from worlds.macrafter.policy import MacrafterPolicy
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.skills import MacrafterSkills
from worlds.macrafter.table import load_table
from worlds.macrafter.tasks import MacrafterTasks
from worlds.macrafter.text import MacrafterText

__all__ = ["WORLD_ID", "build"]

WORLD_ID = "macrafter-v1"


def build(preset: str | None = None, **overrides: Any) -> World:
    """The world of `preset` (None: the defaults) with its settings changed by `overrides`.

    Raises ConfigError for an unknown preset or field, a bad value, or a bad table.
    """
    config = configure(preset, **overrides)
    table = load_table(config)
    return World(
        id=WORLD_ID,
        config=config,
        rules=MacrafterRules(config, table),
        text=MacrafterText(config, table),
        skills=MacrafterSkills(config, table),
        tasks=MacrafterTasks(config, table),
        policy=MacrafterPolicy(config, table),
    )
