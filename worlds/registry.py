"""Worlds by id. A world's module is imported when the world is first made."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from worlds.api import DialogueWorld, World
from worlds.errors import UnknownWorld

__all__ = ["ids", "make", "presets", "register"]

Build = Callable[..., World | DialogueWorld]


@dataclass(frozen=True)
class _Entry:
    module: str | None
    build: Build | None
    presets: tuple[str, ...]

    def load(self) -> Build:
        if self.build is not None:
            return self.build
        assert self.module is not None
        build: Build = import_module(self.module).build
        return build


_ENTRIES: dict[str, _Entry] = {
    "cube-v1": _Entry("worlds.cube.world", None, ("quorum", "quorum-6", "chain")),
    "macrafter-v1": _Entry(
        "worlds.macrafter.world", None, ("paper", "paper-6", "survival", "solo")
    ),
}


def ids() -> tuple[str, ...]:
    """Ids of all registered worlds, sorted."""
    return tuple(sorted(_ENTRIES))


def presets(id: str) -> tuple[str, ...]:
    """Names of the presets of world `id`. Raises UnknownWorld."""
    return _entry(id).presets


def register(id: str, build: Build, presets: tuple[str, ...] = ()) -> None:
    """Add a world: `build(preset, **overrides)` returns it. An id once taken is refused."""
    if id in _ENTRIES:
        raise UnknownWorld(f'world "{id}" is registered already')
    _ENTRIES[id] = _Entry(None, build, presets)


def make(id: str, preset: str | None = None, **overrides: Any) -> World | DialogueWorld:
    """The world `id` (or `id:preset`) with the preset's settings changed by `overrides`.

    Raises UnknownWorld for an unknown id and ConfigError for a bad preset or override.
    """
    name, _, short = id.partition(":")
    return _entry(name).load()(preset or short or None, **overrides)


def _entry(id: str) -> _Entry:
    if id not in _ENTRIES:
        close = get_close_matches(id, _ENTRIES, 1, 0.0)[0]
        raise UnknownWorld(f'no world "{id}"; worlds: {", ".join(ids())} (closest: {close})')
    return _ENTRIES[id]
