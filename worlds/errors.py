"""Errors of the worlds, and those of `primitives` passed on."""

from primitives.errors import ConfigError, CooplabError, LayoutError, MissingPrerequisite

__all__ = [
    "ConfigError",
    "CooplabError",
    "IllegalAction",
    "LayoutError",
    "MissingPrerequisite",
    "UnknownWorld",
    "UnsolvableMap",
    "WorldError",
]


class WorldError(CooplabError):
    """Something a world cannot do."""


class UnknownWorld(WorldError):
    """No world of that id is registered; the message lists those that are."""


class IllegalAction(WorldError):
    """An action outside the legal ones; the world's state is unchanged."""


class UnsolvableMap(WorldError):
    """No start state with the promised properties was found in the allowed number of tries."""
