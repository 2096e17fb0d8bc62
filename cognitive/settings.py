"""Every knob of an episode, with its default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from cognitive.budget import Limits
from cognitive.errors import ConfigError
from cognitive.messages import POLICIES

__all__ = ["EpisodeSettings"]

REALTIME_STEP_MS = 500

_CHOICES: dict[str, tuple[str, ...]] = {
    "pace": ("lockstep", "realtime"),
    "while_thinking": ("continue", "stay"),
    "clock": ("virtual", "wall"),
    "interrupts": tuple(POLICIES),
}
_LEAST: dict[str, int] = {
    "max_interrupts": 0,
    "max_reviews": 0,
    "retry_steps": 1,
    "max_actions": 1,
    "tries": 1,
    "delay_steps": 0,
    "mailbox": 1,
}


@dataclass(frozen=True)
class EpisodeSettings:
    """How an episode is played.

    seed: of the run; the world is reset with it and every draw starts from it. preset,
    config_digest: labels for `run_started`. run: first part of every scope. step_ms: added to the
    clock per world step; None: 0 in lockstep, 500 in realtime. while_thinking: what a body does in
    realtime while its agent thinks about going on. interrupts: the policy. max_interrupts: per
    agent and phase. max_reviews: of the gate per step. retry_steps: how long an agent idles after
    a failed decision. tries: answers to one question at most. drop: chance that a recipient never
    gets a message. delay_ms: a number or (low, high). mailbox: unread messages it holds. free_talk:
    whether plans may carry messages to neighbours.
    """

    seed: int = 0
    preset: str | None = None
    config_digest: str = ""
    run: str = "run"
    limits: Limits = field(default_factory=Limits)
    pace: Literal["lockstep", "realtime"] = "lockstep"
    step_ms: int | None = None
    while_thinking: Literal["continue", "stay"] = "continue"
    clock: Literal["virtual", "wall"] = "virtual"
    interrupts: str = "always"
    max_interrupts: int = 2
    max_reviews: int = 4
    retry_steps: int = 5
    max_actions: int = 8
    tries: int = 4
    drop: float = 0.0
    delay_ms: int | tuple[int, int] = 0
    delay_steps: int = 0
    mailbox: int = 64
    free_talk: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError with everything that is out of range."""
        findings = list(_findings(self))
        if findings:
            raise ConfigError("; ".join(findings))

    @property
    def ms_per_step(self) -> int:
        """What a world step adds to the clock."""
        if self.step_ms is not None:
            return self.step_ms
        return REALTIME_STEP_MS if self.pace == "realtime" else 0


def _findings(settings: EpisodeSettings) -> Iterator[str]:
    for name, choices in _CHOICES.items():
        value = getattr(settings, name)
        if value not in choices:
            yield f"{name} = {value!r}: allowed: {', '.join(choices)}"
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if not _is_int(value) or value < least:
            yield f"{name} = {value!r}: allowed: an integer from {least}"
    for name, (is_allowed, allowed) in _OTHERS.items():
        value = getattr(settings, name)
        if not is_allowed(value):
            yield f"{name} = {value!r}: allowed: {allowed}"
    if settings.pace == "realtime" and settings.step_ms == 0:
        yield "step_ms = 0: allowed in realtime: an integer from 1"


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_delay(value: Any) -> bool:
    if _is_int(value):
        return bool(value >= 0)
    is_range = isinstance(value, tuple) and len(value) == 2 and all(map(_is_int, value))
    return is_range and 0 <= value[0] <= value[1]


_OTHERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "seed": (lambda value: _is_int(value) and value >= 0, "an integer from 0"),
    "step_ms": (lambda value: value is None or (_is_int(value) and value >= 0), "from 0, or none"),
    "drop": (lambda value: isinstance(value, int | float) and 0 <= value <= 1, "0 to 1"),
    "delay_ms": (_is_delay, "an integer from 0, or (low, high) with 0 <= low <= high"),
    "free_talk": (lambda value: isinstance(value, bool), "true, false"),
}
