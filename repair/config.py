"""Settings of the repair layer and its named ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from repair.constraints import CONSTRAINTS
from worlds.errors import ConfigError

__all__ = ["ABLATIONS", "RepairConfig", "repair_config"]

_CHOICES = {
    "mode": ("off", "watch", "repair"),
    "predictor": ("simulated", "analytic"),
    "trigger": ("predicted", "random"),
    "channel": ("cohort", "failing", "everyone", "random"),
    "on_reject": ("best", "original", "last"),
    "cooldown_key": ("task", "kind"),
}
_RANGES: dict[str, tuple[float, float]] = {
    "random_rate": (0, 1),
    "horizon": (1, 100_000),
    "rollouts": (1, 10_000),
    "early": (1, 10_000),
    "min_support": (0, 1),
    "max_agent_steps": (1, 1_000_000_000),
    "switch_cost": (0, 1_000_000),
    "max_targets": (0, 1_000_000),
    "equip_wait": (0, 1_000_000),
    "tolerance": (1, 1_000_000),
    "rounds": (0, 5),
    "revisions": (1, 5),
    "cooldown": (0, 1_000_000),
    "max_channels": (0, 1_000_000),
    "max_calls": (0, 1_000_000_000),
    "max_ms": (0, 1_000_000_000_000),
}


@dataclass(frozen=True)
class RepairConfig:
    """What is predicted, when a channel opens, who speaks in it and what is accepted."""

    mode: str = "off"
    """off; watch: predict and score only; repair."""
    predictor: str = "simulated"
    """simulated: play the plans on clones; analytic: arrival times."""
    trigger: str = "predicted"
    """predicted; random: each decided forecast alarms with chance `random_rate`."""
    random_rate: float = 0.2
    tau: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 0.5)
    """Least probability that each constraint holds; 0 switches one off."""
    on_blocked: bool = False
    """Alarm, too, when enough agents act but the way is not clear."""
    horizon: int = 40
    """Steps played ahead at most."""
    rollouts: int = 8
    early: int = 3
    """Rollouts after which unanimous answers end the forecast."""
    min_support: float = 0.5
    """Share of the rollouts that must hold an attempt for a forecast to be decided."""
    max_agent_steps: int = 50_000
    """Agents times steps that one review may play."""
    channel: str = "cohort"
    """Who is invited: cohort, failing, everyone, random."""
    switch_cost: int = 5
    """Steps that taking an agent off another task counts."""
    max_targets: int = 8
    """Other open tasks looked at when the alarmed one cannot be done."""
    equip_wait: int = 10
    """Longest preparation, in steps, that able partners wait for."""
    tolerance: int = 1
    """Slack of the analytic predictor, in steps and cells."""
    guidance: bool = True
    """Tell members the recommended plans."""
    rounds: int = 1
    """Statements of each member before the revisions."""
    revisions: int = 2
    """Revising waves at most."""
    on_reject: str = "best"
    """Which proposal stands when none is accepted: best, original, last."""
    cooldown: int = 5
    """Steps for which a task or kind stays closed after a channel."""
    cooldown_key: str = "task"
    max_channels: int = 20
    """Channels in an episode."""
    max_calls: int = 0
    """Answers spent on repair in an episode; 0: no limit."""
    max_ms: int = 0
    """Charged milliseconds spent on repair in an episode; 0: no limit."""


ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "off": {"mode": "off"},
    "watch": {"mode": "watch"},
    "on": {"mode": "repair"},
    "no-guidance": {"mode": "repair", "guidance": False},
    "everyone": {"mode": "repair", "channel": "everyone"},
    "failing": {"mode": "repair", "channel": "failing"},
    "random-members": {"mode": "repair", "channel": "random"},
    "analytic": {"mode": "repair", "predictor": "analytic"},
    "random": {"mode": "repair", "trigger": "random"},
    "unjudged": {"mode": "repair", "revisions": 1, "on_reject": "last"},
    "silent": {"mode": "repair", "rounds": 0},
}


def repair_config(
    setting: str | Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> RepairConfig:
    """The config that a named ablation or a table of keys means, over a world's `defaults`.

    Raises ConfigError naming every key that is unknown or outside its values.
    """
    if isinstance(setting, str):
        if setting not in ABLATIONS:
            raise ConfigError(f'repair = "{setting}": allowed {", ".join(ABLATIONS)}, or a table')
        setting = ABLATIONS[setting]
    table = {**(defaults or {}), **setting}
    if isinstance(table.get("mode"), str) and table["mode"] == "on":
        table["mode"] = "repair"
    findings: list[str] = []
    values = {key: _value(key, value, findings) for key, value in table.items()}
    if not findings:
        findings += _contradictions(replace(RepairConfig(), **values))
    if findings:
        raise ConfigError("; ".join(findings))
    return replace(RepairConfig(), **values)


def _value(key: str, value: Any, findings: list[str]) -> Any:
    names = [field.name for field in fields(RepairConfig)]
    if key not in names:
        close = get_close_matches(key, names, 1, 0.0)[0]
        known = ", ".join(names)
        findings.append(f'unknown setting "repair.{key}"; [repair] has: {known} (closest: {close})')
    elif key == "tau":
        return _tau(value, findings)
    elif key in _CHOICES and value not in _CHOICES[key]:
        findings.append(f"repair.{key} = {_shown(value)}: allowed {', '.join(_CHOICES[key])}")
    elif key in ("on_blocked", "guidance") and not isinstance(value, bool):
        findings.append(f"repair.{key} = {_shown(value)}: allowed true, false")
    elif key in _RANGES:
        _in_range(f"repair.{key}", value, key, findings)
    return value


def _in_range(name: str, value: Any, key: str, findings: list[str]) -> None:
    low, high = _RANGES[key]
    is_real = key in ("random_rate", "min_support")
    kinds = (int, float) if is_real else (int,)
    excluded = key == "min_support" and value == 0
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        findings.append(f"{name} = {_shown(value)}: allowed {low:g} to {high:g}")
    elif excluded:
        findings.append(f"{name} = 0: allowed above 0, to 1")


def _tau(value: Any, findings: list[str]) -> tuple[float, ...]:
    if isinstance(value, list | tuple) and len(value) == len(CONSTRAINTS):
        value = dict(zip(CONSTRAINTS, value, strict=True))
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = dict.fromkeys(CONSTRAINTS, value)
    if not isinstance(value, Mapping):
        findings.append(f"repair.tau = {_shown(value)}: allowed a table of {_listed()}")
        return ()
    for name, number in value.items():
        if name not in CONSTRAINTS:
            findings.append(f'repair.tau has no constraint "{name}": allowed {_listed()}')
        elif isinstance(number, bool) or not isinstance(number, int | float):
            findings.append(f"repair.tau.{name} = {_shown(number)}: allowed 0 to 1")
        elif not 0 <= number <= 1:
            findings.append(f"repair.tau.{name} = {number}: allowed 0 to 1")
    default = RepairConfig().tau
    return tuple(value.get(name, default[i]) for i, name in enumerate(CONSTRAINTS))


def _contradictions(config: RepairConfig) -> list[str]:
    found = []
    if config.early > config.rollouts:
        found.append(f"repair.early = {config.early}: allowed 1 to rollouts = {config.rollouts}")
    if config.mode == "repair" and config.rounds == 0 and not config.guidance:
        found.append(
            "repair.rounds = 0 with guidance = false: the channel would carry nothing; "
            "allowed rounds 1 to 5, or guidance = true"
        )
    return found


def _listed() -> str:
    return ", ".join(CONSTRAINTS)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
