"""The technology table: its two variants, tables of users, changed cells, and unit scores."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    COUNTERS,
    CREATURES,
    ITEMS,
    MAKES,
    MATERIALS,
    PLACES,
    VITALS,
)

__all__ = [
    "VARIANTS",
    "CollectRow",
    "CreatureRow",
    "MakeRow",
    "PlaceRow",
    "Table",
    "load_table",
]

VARIANTS = ("paper", "crafter")
TOOLS = MAKES
TIERS = MappingProxyType({"wood_pickaxe": 1, "stone_pickaxe": 2, "iron_pickaxe": 3})
"""Tiers of tools; anything else has tier 0."""
TIER_BONUS = 0.5
STATIONS = ("table", "furnace")
TARGETS = tuple(name for name in CREATURES if name not in ("none", "arrow"))
"""Creatures that can be acted on."""
SWITCHED = MappingProxyType(
    {
        "collect.grass": "plants",
        "creature.cow": "cows",
        "creature.zombie": "zombies",
        "creature.skeleton": "skeletons",
        "creature.plant": "plants",
        "place.plant": "plants",
    }
)
"""Rows that count only with the setting named beside them."""


class CollectRow(NamedTuple):
    """A source cell: `agents` together, each holding `tool`, get `amount` of `gives`."""

    source: str
    agents: int
    tool: str | None
    gives: str
    amount: int
    resets: str | None
    leaves: str
    chance: float
    base_score: int
    unit_score: float
    achievement: str | None


class CreatureRow(NamedTuple):
    """A creature that can be acted on; `gives` None: only the achievement."""

    kind: str
    agents: int
    health: int
    gives: str | None
    amount: int
    resets: str | None
    achievement: str


class MakeRow(NamedTuple):
    """An item made near all of `stations`; the last-named one groups a craft of several."""

    item: str
    uses: Mapping[str, int]
    stations: tuple[str, ...]
    agents: int
    achievement: str


class PlaceRow(NamedTuple):
    """An object placed on one of the materials `on`."""

    object: str
    uses: Mapping[str, int]
    on: tuple[str, ...]
    agents: int
    achievement: str


class Table(NamedTuple):
    """All rows by name.

    sources: the source that gives an item. lowered: keys of the requirements cut to the team,
    with the old value.
    """

    collect: Mapping[str, CollectRow]
    creature: Mapping[str, CreatureRow]
    make: Mapping[str, MakeRow]
    place: Mapping[str, PlaceRow]
    sources: Mapping[str, str]
    lowered: Mapping[str, int]

    def source_of(self, item: str) -> CollectRow | None:
        """The row of the source that gives `item`."""
        return self.collect.get(self.sources.get(item, ""))


def load_table(config: MacrafterConfig) -> Table:
    """The table of `config`: variant or file, then `overrides`, then requirements against A.

    Raises ConfigError with every finding: key, value and what is allowed.
    """
    cells = _read(config.table)
    _apply_overrides(cells, config.overrides)
    _refuse(_cell_findings(cells))
    _refuse(_joint_findings(cells))
    lowered = _fit_team(cells, config)
    return _build(cells, config, lowered)


def _refuse(findings: Iterator[str]) -> None:
    found = list(findings)
    if found:
        raise ConfigError("; ".join(found))


# --- reading -------------------------------------------------------------------------------------


def _read(name: str) -> dict[str, Any]:
    """Rows by section; a fresh copy."""
    variant = name if name in VARIANTS else None
    path = Path(__file__).with_name("table.toml") if variant else Path(name)
    return {section: _resolve(rows, variant) for section, rows in _parse(path).items()}


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        allowed = f"{', '.join(VARIANTS)}, or the path of a TOML file"
        raise ConfigError(f"table is {str(path)!r}: {error}; allowed: {allowed}") from error


def _resolve(value: Any, variant: str | None) -> Any:
    """Cells that hold one value per variant are replaced by that of `variant`."""
    if not isinstance(value, dict):
        return value
    if variant is not None and set(value) == set(VARIANTS):
        return value[variant]
    return {key: _resolve(inner, variant) for key, inner in value.items()}


def _apply_overrides(cells: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    for key, value in overrides.items():
        *path, last = key.split(".")
        place: Any = cells
        for part in path:
            place = place.get(part) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place or isinstance(place[last], dict):
            raise ConfigError(f"overrides has {key!r}; allowed: {', '.join(sorted(_keys(cells)))}")
        place[last] = value


def _keys(cells: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Dotted keys of all cells."""
    for name, value in cells.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


# --- checking ------------------------------------------------------------------------------------


def _is_count(value: object, low: int) -> bool:
    return type(value) is int and low <= value <= 32_000


def _is_list_of(value: object, names: tuple[str, ...], low: int) -> bool:
    return isinstance(value, list) and len(value) >= low and all(name in names for name in value)


def _is_uses(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(item in ITEMS[len(VITALS) :] and _is_count(n, 1) for item, n in value.items())
    )


_GROUND = MATERIALS[1:]
_COUNT = (lambda value: _is_count(value, 1), "an integer >= 1")
_AMOUNT = (lambda value: _is_count(value, 0), "an integer >= 0")
_USES = (_is_uses, f"counts >= 1 of {', '.join(ITEMS[len(VITALS) :])}")

_RESETS = (lambda value: value in ("", *COUNTERS), f'"" or {", ".join(COUNTERS)}')
_OPTIONAL = ("resets",)

_CELLS: Mapping[str, Mapping[str, Any]] = {
    "collect": {
        "agents": _COUNT,
        "tool": (lambda value: value in ("", *TOOLS), f'"" or {", ".join(TOOLS)}'),
        "gives": (lambda value: value in ITEMS[1:], ", ".join(ITEMS[1:])),
        "amount": _COUNT,
        "resets": _RESETS,
        "leaves": (lambda value: value in _GROUND, ", ".join(_GROUND)),
        "chance": (
            lambda value: type(value) in (int, float) and 0 <= value <= 1,
            "a number 0..1",
        ),
        "base_score": (
            lambda value: type(value) in (int, float) and 0 <= value <= 1e9,
            "a number >= 0",
        ),
    },
    "creature": {
        "agents": _COUNT,
        "health": _AMOUNT,
        "gives": (lambda value: value in ("", *ITEMS[1:]), f'"" or {", ".join(ITEMS[1:])}'),
        "amount": _AMOUNT,
        "resets": _RESETS,
        "achievement": (lambda value: value in ACHIEVEMENTS, ", ".join(ACHIEVEMENTS)),
    },
    "make": {
        "agents": _COUNT,
        "uses": _USES,
        "stations": (
            lambda value: _is_list_of(value, STATIONS, 1),
            f"a list of {', '.join(STATIONS)}",
        ),
    },
    "place": {
        "agents": _COUNT,
        "uses": _USES,
        "on": (lambda value: _is_list_of(value, _GROUND, 1), f"a list of {', '.join(_GROUND)}"),
    },
}
_ROWS: Mapping[str, tuple[str, ...]] = {
    "collect": _GROUND,
    "creature": TARGETS,
    "make": MAKES,
    "place": PLACES,
}


def _cell_findings(cells: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with single cells, and rows that are unknown or missing."""
    for section in cells:
        if section not in _CELLS:
            yield f"table has [{section}]; allowed: {', '.join(_CELLS)}"
    for section, columns in _CELLS.items():
        rows = cells.get(section)
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            yield f"table has no rows [{section}.<name>]; needed: {', '.join(_ROWS[section])}"
            continue
        yield from _name_findings(section, rows)
        for name, row in rows.items():
            for column in sorted(set(row) | set(columns)):
                yield from _cell_finding(f"{section}.{name}", row, column)


def _name_findings(section: str, rows: Mapping[str, Any]) -> Iterator[str]:
    known = _ROWS[section]
    for name in rows:
        if name not in known:
            yield f"table has [{section}.{name}]; allowed: {', '.join(known)}"
    missing = [name for name in known if name not in rows]
    if missing and section != "collect":
        yield f"table has no [{section}.{missing[0]}]; needed: {', '.join(known)}"


def _cell_finding(row_key: str, row: Mapping[str, Any], column: str) -> Iterator[str]:
    columns = _CELLS[row_key.split(".")[0]]
    if column not in columns:
        yield f"{row_key} has {column}; allowed: {', '.join(columns)}"
    elif column not in row:
        if column in _OPTIONAL:
            return
        yield f"{row_key} has no {column}; allowed: {columns[column][1]}"
    elif not columns[column][0](row[column]):
        yield f"{row_key}.{column} is {row[column]!r}; allowed: {columns[column][1]}"


def _joint_findings(cells: Mapping[str, Any]) -> Iterator[str]:
    """Items asked for that nothing gives, and items with two sources."""
    given: dict[str, str] = {}
    for name, row in cells["collect"].items():
        if row["gives"] in given:
            other = given[row["gives"]]
            key = f"collect.{name}.gives"
            yield f"{key} is {row['gives']!r}, as that of {other}; allowed: one source an item"
        given[row["gives"]] = name
    had = {*given, *cells["make"], *(row["gives"] for row in cells["creature"].values())}
    for key, item in _wanted(cells):
        if item not in had:
            yield f"{key} asks for {item!r}, which no source or recipe gives"


def _wanted(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, row in cells["collect"].items():
        if row["tool"]:
            yield f"collect.{name}.tool", row["tool"]
    for section in ("make", "place"):
        for name, row in cells[section].items():
            for item in row["uses"]:
                yield f"{section}.{name}.uses.{item}", item


# --- the team ------------------------------------------------------------------------------------


def _fit_team(cells: dict[str, Any], config: MacrafterConfig) -> dict[str, int]:
    """Requirements above A are refused, or lowered in place and listed with their old value."""
    excess = {
        f"{section}.{name}.agents": row["agents"]
        for section in _CELLS
        for name, row in cells[section].items()
        if row["agents"] > config.agents
    }
    enabled = {key: need for key, need in excess.items() if _is_enabled(key, config)}
    if config.excess_requirements == "refuse" and enabled:
        raise ConfigError("; ".join(_too_small(key, need, config) for key, need in enabled.items()))
    for key in excess:
        section, name, column = key.split(".")
        cells[section][name][column] = min(cells[section][name][column], config.agents)
    return enabled


def _is_enabled(key: str, config: MacrafterConfig) -> bool:
    switch = SWITCHED.get(key.rsplit(".", 1)[0])
    return switch is None or config.__dict__[switch]


def _too_small(key: str, need: int, config: MacrafterConfig) -> str:
    name = key.split(".")[1]
    return (
        f"{key} is {need}: {name} needs {need} agents, the team has {config.agents}; allowed: "
        f'1..{config.agents}, or set excess_requirements = "lower" to allow it'
    )


# --- rows ----------------------------------------------------------------------------------------


def _build(cells: Mapping[str, Any], config: MacrafterConfig, lowered: dict[str, int]) -> Table:
    def rows(section: str) -> Iterator[tuple[str, Any]]:
        """In the order of ids, whatever the order of the file."""
        return ((name, cells[section][name]) for name in _ROWS[section] if name in cells[section])

    health = {"cow": config.cow_health}
    return Table(
        collect={name: _collect_row(name, row) for name, row in rows("collect")},
        creature={
            name: CreatureRow(
                name,
                row["agents"],
                row["health"] or health.get(name, 1),
                row["gives"] or None,
                row["amount"],
                row.get("resets") or None,
                row["achievement"],
            )
            for name, row in rows("creature")
        },
        make={
            name: MakeRow(name, row["uses"], tuple(row["stations"]), row["agents"], f"make_{name}")
            for name, row in rows("make")
        },
        place={
            name: PlaceRow(name, row["uses"], tuple(row["on"]), row["agents"], f"place_{name}")
            for name, row in rows("place")
        },
        sources={row["gives"]: name for name, row in rows("collect")},
        lowered=lowered,
    )


def _collect_row(source: str, row: Mapping[str, Any]) -> CollectRow:
    achievement = f"collect_{row['gives']}"
    bonus = 1 + TIER_BONUS * TIERS.get(row["tool"], 0)
    return CollectRow(
        source,
        row["agents"],
        row["tool"] or None,
        row["gives"],
        row["amount"],
        row.get("resets") or None,
        row["leaves"],
        float(row["chance"]),
        row["base_score"],
        float(row["base_score"] * row["agents"] * bonus),
        achievement if achievement in ACHIEVEMENTS else None,
    )
