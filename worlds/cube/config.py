"""Settings of the world `cube-v1`, its presets, and the curriculum of one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from primitives.rng import SEED_LIMIT
from worlds.errors import ConfigError

__all__ = ["PRESETS", "CubeConfig", "configure", "curriculum_blocks"]

RULE_SETS = ("quorum", "chain")
PLACEMENTS = ("moat", "scatter")

DEFAULT_SIDE = 15
DEFAULT_AGENTS = 3
DEFAULT_BLOCKS = ((1, 3), (2, 3), (3, 3))
CURRICULUM_LEAST_SIDE = 20

SIDES = (5, 1024)
CURRICULUM = (1, 1024)
WEIGHT_MARGIN = 3
MOST_PAIRS = 64
MOST_BLOCKS = 4096
TRIES = (1, 10_000)
STEPS = (1, 1_000_000)

Blocks = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CubeConfig:
    """Settings as they were written; what follows from them is read from the properties.

    Raises ConfigError listing every bad field with its value and what is allowed.
    """

    rules: str = "quorum"
    """Rule set: `quorum` (a full face moves a block) or `chain` (lines add force)."""
    n: int | None = None
    """Curriculum 1..1024: sets side, agents and blocks, which must then stay None."""
    side: int | None = None
    """Rows and columns of the board, 5..1024; None: 15."""
    agents: int | None = None
    """Number of agents, 1..side; None: 3."""
    blocks: Blocks | None = None
    """Pairs (weight, count) in the order of ids; None: ((1, 3), (2, 3), (3, 3))."""
    placement: str = "moat"
    """Start layout: `moat` keeps a ring of free cells round each block, `scatter` does not."""
    placement_tries: int = 64
    """Fresh layouts tried before UnsolvableMap."""
    max_steps: int = 200
    """Step budget; the world is truncated at it."""
    step_cost: float = 0.01
    """Paid by every agent every step."""
    deliver_reward: float = 1.0
    """Reward per unit of delivered weight, shared equally by the team."""
    require_movable: bool = True
    """Refuse weights above the number of agents."""
    seed: int = 0
    """Used when `reset` gets none."""

    def __post_init__(self) -> None:
        if isinstance(self.blocks, Sequence) and not isinstance(self.blocks, str):
            pairs = (tuple(p) if isinstance(p, Sequence) else p for p in self.blocks)
            object.__setattr__(self, "blocks", tuple(pairs))
        findings = list(_field_findings(self)) or list(_joint_findings(self))
        if findings:
            raise ConfigError("; ".join(findings))
        object.__setattr__(self, "step_cost", float(self.step_cost))
        object.__setattr__(self, "deliver_reward", float(self.deliver_reward))

    @property
    def is_chain(self) -> bool:
        """Whether the rule set is `chain`."""
        return self.rules == "chain"

    @property
    def board_side(self) -> int:
        """Rows and columns of the board."""
        if self.n is not None:
            return max(CURRICULUM_LEAST_SIDE, self.n)
        return DEFAULT_SIDE if self.side is None else self.side

    @property
    def agent_count(self) -> int:
        """Number of agents."""
        if self.n is not None:
            return self.n
        return DEFAULT_AGENTS if self.agents is None else self.agents

    @property
    def block_pairs(self) -> Blocks:
        """Pairs (weight, count) in the order of ids."""
        if self.n is not None:
            return curriculum_blocks(self.n)
        return DEFAULT_BLOCKS if self.blocks is None else self.blocks

    @property
    def weights(self) -> tuple[int, ...]:
        """The weight of each block, by id."""
        return tuple(weight for weight, count in self.block_pairs for _ in range(count))


def curriculum_blocks(n: int) -> Blocks:
    """Pairs (weight, count) for the curriculum number `n`: half and one more, then halves."""
    pairs: list[tuple[int, int]] = []
    weight = n // 2 + 1
    while weight >= 1:
        pairs.append((weight, len(pairs) + 1))
        weight //= 2
    return tuple(pairs)


PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "quorum": {},
        "quorum-6": {"agents": 6},
        "chain": {"rules": "chain", "n": 4, "max_steps": 500},
    }
)


def configure(preset: str | None = None, **overrides: Any) -> CubeConfig:
    """The settings of `preset` (None: `quorum`) changed by `overrides`.

    Raises ConfigError for an unknown preset, an unknown field or a bad value.
    """
    name = "quorum" if preset is None else preset
    if name not in PRESETS:
        raise ConfigError(f'preset "{name}"; allowed: {", ".join(PRESETS)}')
    known = {field.name for field in fields(CubeConfig)}
    unknown = sorted(key for key in overrides if key not in known)
    if unknown:
        raise ConfigError(f"unknown {', '.join(unknown)}; allowed: {', '.join(sorted(known))}")
    return CubeConfig(**{**PRESETS[name], **overrides})


def _is_int(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_cost(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0  # type: ignore[arg-type,operator]


def _is_pairs(value: object) -> bool:
    if not isinstance(value, tuple) or not 1 <= len(value) <= MOST_PAIRS:
        return False
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return False
    if not all(_is_int(w, 1, SIDES[1]) and _is_int(c, 1, MOST_BLOCKS) for w, c in value):
        return False
    weights = [weight for weight, _ in value]
    return len(set(weights)) == len(weights) and sum(count for _, count in value) <= MOST_BLOCKS


def _int_in(low: int, high: int) -> tuple[Callable[[object], bool], str]:
    return lambda value: _is_int(value, low, high), f"an integer {low}..{high}"


def _or_none(row: tuple[Callable[[object], bool], str]) -> tuple[Callable[[object], bool], str]:
    test, words = row
    return lambda value: value is None or test(value), f"{words}, or None"


def _one_of(names: tuple[str, ...]) -> tuple[Callable[[object], bool], str]:
    return lambda value: value in names, " or ".join(names)


_COST = (_is_cost, "a finite number >= 0")

_ALLOWED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "rules": _one_of(RULE_SETS),
    "n": _or_none(_int_in(*CURRICULUM)),
    "side": _or_none(_int_in(*SIDES)),
    "agents": _or_none(_int_in(1, SIDES[1])),
    "blocks": _or_none(
        (
            _is_pairs,
            f"1..{MOST_PAIRS} pairs (weight, count) with distinct weights in 1..side-"
            f"{WEIGHT_MARGIN} and counts of sum 1..{MOST_BLOCKS}",
        )
    ),
    "placement": _one_of(PLACEMENTS),
    "placement_tries": _int_in(*TRIES),
    "max_steps": _int_in(*STEPS),
    "step_cost": _COST,
    "deliver_reward": _COST,
    "require_movable": (lambda value: type(value) is bool, "true or false"),
    "seed": _int_in(0, SEED_LIMIT - 1),
}


def _field_findings(config: CubeConfig) -> Iterator[str]:
    """What is wrong with single fields."""
    for field in fields(config):
        value = config.__dict__[field.name]
        test, words = _ALLOWED[field.name]
        if not test(value):
            yield f"{field.name} is {value!r}; allowed: {words}"


def _joint_findings(config: CubeConfig) -> Iterator[str]:
    """What is wrong between fields that are right by themselves."""
    if config.n is not None:
        for name in ("side", "agents", "blocks"):
            if config.__dict__[name] is not None:
                yield f"{name} is {config.__dict__[name]!r}; allowed: None, since n sets it"
        return
    side, agents = config.board_side, config.agent_count
    if agents > side:
        yield f"agents is {agents}; allowed: 1..side, and side is {side}"
    for weight, _ in config.block_pairs:
        if weight > side - WEIGHT_MARGIN:
            yield f"blocks has weight {weight}; allowed: 1..{side - WEIGHT_MARGIN} (side {side})"
        elif config.require_movable and weight > agents:
            yield (
                f"blocks has weight {weight}; allowed: 1..{agents}, the number of agents "
                "(or require_movable = false)"
            )
