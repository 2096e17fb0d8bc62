"""The world `cube-v1` put together from its parts."""

from __future__ import annotations

from typing import Any

from worlds.api import World
from worlds.cube.config import configure
from worlds.cube.policy import CubePolicy
from worlds.cube.rules import CubeRules
from worlds.cube.skills import CubeSkills
from worlds.cube.tasks import CubeTasks
from worlds.cube.text import CubeText

__all__ = ["ID", "build"]

ID = "cube-v1"


def build(preset: str | None = None, **overrides: Any) -> World:
    """CUBE with the settings of `preset` (None: `quorum`) changed by `overrides`.

    Raises ConfigError for an unknown preset, an unknown field or a bad value.
    """
    config = configure(preset, **overrides)
    return World(
        id=ID,
        config=config,
        rules=CubeRules(config),
        text=CubeText(config),
        skills=CubeSkills(config),
        tasks=CubeTasks(config),
        policy=CubePolicy(config),
    )
