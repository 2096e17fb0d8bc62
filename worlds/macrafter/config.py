"""Settings of the world `macrafter-v1` and its presets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from primitives.rng import SEED_LIMIT
from worlds.errors import ConfigError

__all__ = ["AUTO", "PRESETS", "MacrafterConfig", "auto_side", "configure"]

AUTO = "auto"
"""The `area` that grows with the team."""
BASE_SIDE = 64
BASE_TEAM = 12
"""Up to this team `auto` has the base side; beyond it every agent keeps its share of cells."""
SIDE_STEP = 12

AREA_SIDES = (16, 2048)
VIEW_SIDES = (3, 63)
TEAM = (1, 4096)


@dataclass(frozen=True)
class MacrafterConfig:
    """Settings as they were written.

    Raises ConfigError listing every bad field with its value and what is allowed.
    """

    agents: int = 3
    """Number of agents, 1..4096."""
    area: tuple[int, int] | str = (64, 64)
    """(rows, columns) of the map, 16..2048 each, or `auto`: a square that grows with the team."""
    view: tuple[int, int] = (7, 9)
    """(rows, columns) an agent sees, centred on it; odd, 3..63, at most the area."""
    max_steps: int = 10_000
    """Step budget, 1..1000000; the world is truncated at it."""
    table: str = "paper"
    """Technology table: `paper`, `crafter`, or the path of a TOML file."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Changes of table cells by dotted key, as {"collect.coal.agents": 1}."""
    excess_requirements: str = "refuse"
    """Rows that ask for more agents than there are: `refuse` them or `lower` them to the team."""
    reach: int = 1
    """How far `do` acts along the facing, 1..8 cells."""
    share_radius: int | None = 1
    """Greatest distance of a gift, 1..4096; None: anywhere."""
    credit: str = "required"
    """Agents an event's score counts: `required` by the row, or all capable `participants`."""
    item_cap: int = 9
    """Greatest stock of an item other than the vitals, 1..999."""
    spawn: str = "together"
    """Start: `together` at the middle of the map, or `scattered` over a region."""
    navigation: str = "known"
    """Cells verbs may plan over: those the agent has `known`, or all (`global`)."""
    reward: str = "score"
    """Reward: an equal share of `score`, or the change of health and firsts of `crafter`."""
    cows: bool = True
    """Whether cows are placed and balanced."""
    vitals: bool = True
    """Whether hunger, thirst, fatigue and recovery run."""
    balance: bool = True
    """Whether creatures appear and vanish by chunk."""
    zombies: bool = True
    """Whether zombies are placed and balanced."""
    skeletons: bool = True
    """Whether skeletons are placed and balanced."""
    plants: bool = True
    """Whether grass gives saplings."""
    day_night: bool = True
    """Whether daylight changes; otherwise it is always day."""
    cow_health: int = 3
    """Health of a cow, 1..99; with 1 a single `do` eats it."""
    active_radius: int | None = None
    """Creatures this far, 2..4096, from every live agent rest; None: none rests."""
    ensure_solvable: bool = True
    """Whether maps are drawn until the team can reach what its tools are made of."""
    solvable_tries: int = 100
    """Maps drawn before UnsolvableMap, 1..10000."""
    seed: int = 0
    """Used when `reset` gets none."""
    full_actions: bool = False
    """Whether the action space of the adapter carries the arguments of `share`."""

    def __post_init__(self) -> None:
        for name in ("area", "view"):
            value = self.__dict__[name]
            if isinstance(value, Sequence) and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))
        findings = list(_field_findings(self)) or list(_joint_findings(self))
        if findings:
            raise ConfigError("; ".join(findings))
        object.__setattr__(self, "overrides", dict(self.overrides))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the map."""
        if isinstance(self.area, str):
            return (auto_side(self.agents),) * 2
        return self.area


def auto_side(agents: int) -> int:
    """The side of the square map `auto` gives to a team."""
    if agents <= BASE_TEAM:
        return BASE_SIDE
    side = BASE_SIDE * math.sqrt(agents / BASE_TEAM)
    return SIDE_STEP * math.ceil(side / SIDE_STEP)


_PAPER = {
    "max_steps": 200,
    "table": "paper",
    "share_radius": None,
    "credit": "participants",
    "item_cap": 20,
    "spawn": "scattered",
    "navigation": "global",
    "zombies": False,
    "skeletons": False,
    "plants": False,
    "day_night": False,
    "cow_health": 1,
}
_CRAFTER = {
    "table": "crafter",
    "reward": "crafter",
    "active_radius": 18,
}
_QUORUMS = {"collect.coal.agents": 2, "collect.iron.agents": 3, "collect.diamond.agents": 3}

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "paper": _PAPER,
        "paper-6": {**_PAPER, "agents": 6},
        "survival": {**_CRAFTER, "overrides": _QUORUMS},
        "solo": {**_CRAFTER, "agents": 1},
    }
)


def configure(preset: str | None = None, **overrides: Any) -> MacrafterConfig:
    """The settings of `preset` (None: the defaults) changed by `overrides`.

    Raises ConfigError for an unknown preset, an unknown field or a bad value.
    """
    if preset is not None and preset not in PRESETS:
        raise ConfigError(f'preset "{preset}"; allowed: {", ".join(PRESETS)}')
    known = {entry.name for entry in fields(MacrafterConfig)}
    unknown = sorted(key for key in overrides if key not in known)
    if unknown:
        raise ConfigError(f"unknown {', '.join(unknown)}; allowed: {', '.join(sorted(known))}")
    base = {} if preset is None else PRESETS[preset]
    return MacrafterConfig(**{**base, **overrides})


_Rule = tuple[Callable[[object], bool], str]


def _int_in(low: int, high: int) -> _Rule:
    return lambda value: type(value) is int and low <= value <= high, f"an integer {low}..{high}"


def _or_none(rule: _Rule) -> _Rule:
    test, words = rule
    return lambda value: value is None or test(value), f"{words}, or None"


def _one_of(*names: str) -> _Rule:
    return lambda value: value in names, " or ".join(names)


def _is_pair(value: object, low: int, high: int) -> bool:
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return all(type(side) is int and low <= side <= high for side in value)


def _is_view(value: object) -> bool:
    return isinstance(value, tuple) and _is_pair(value, *VIEW_SIDES) and all(s % 2 for s in value)


def _is_overrides(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


_SWITCH: _Rule = (lambda value: type(value) is bool, "true or false")

_ALLOWED: Mapping[str, _Rule] = {
    "agents": _int_in(*TEAM),
    "area": (
        lambda value: value == AUTO or _is_pair(value, *AREA_SIDES),
        f"two integers {AREA_SIDES[0]}..{AREA_SIDES[1]} (rows, columns), or {AUTO}",
    ),
    "view": (_is_view, f"two odd integers {VIEW_SIDES[0]}..{VIEW_SIDES[1]} (rows, columns)"),
    "max_steps": _int_in(1, 1_000_000),
    "table": (
        lambda value: isinstance(value, str) and value != "",
        "paper, crafter, or the path of a TOML file",
    ),
    "overrides": (_is_overrides, "a table of dotted keys and values"),
    "excess_requirements": _one_of("refuse", "lower"),
    "reach": _int_in(1, 8),
    "share_radius": _or_none(_int_in(1, 4096)),
    "credit": _one_of("required", "participants"),
    "item_cap": _int_in(1, 999),
    "spawn": _one_of("together", "scattered"),
    "navigation": _one_of("known", "global"),
    "reward": _one_of("score", "crafter"),
    "cows": _SWITCH,
    "vitals": _SWITCH,
    "balance": _SWITCH,
    "zombies": _SWITCH,
    "skeletons": _SWITCH,
    "plants": _SWITCH,
    "day_night": _SWITCH,
    "cow_health": _int_in(1, 99),
    "active_radius": _or_none(_int_in(2, 4096)),
    "ensure_solvable": _SWITCH,
    "solvable_tries": _int_in(1, 10_000),
    "seed": _int_in(0, SEED_LIMIT - 1),
    "full_actions": _SWITCH,
}


def _field_findings(config: MacrafterConfig) -> Iterator[str]:
    """What is wrong with single fields."""
    for entry in fields(config):
        value = config.__dict__[entry.name]
        test, words = _ALLOWED[entry.name]
        if not test(value):
            yield f"{entry.name} is {value!r}; allowed: {words}"


def _joint_findings(config: MacrafterConfig) -> Iterator[str]:
    """What is wrong between fields that are right by themselves."""
    if any(seen > side for seen, side in zip(config.view, config.shape, strict=True)):
        yield f"view is {config.view}; allowed: at most the area, which is {config.shape}"
