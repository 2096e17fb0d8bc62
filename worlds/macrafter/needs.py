"""How long an agent lasts without food, water or sleep, and from when on it looks after them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["NEEDS", "is_pressing", "margin"]

NEEDS = ("drink", "food", "energy")
STEPS_A_UNIT = {"food": 26, "drink": 20, "energy": 31}
"""Steps awake for a unit."""
STEPS_A_HEALTH = 16
"""Steps for a unit of health while something is used up."""
SEARCH_MARGIN = {"drink": 170, "food": 200}
"""Steps to death from the lack of something at which an agent looks after it."""
SLEEPY = 1
"""Energy at which an agent sleeps; the same for all, so that a team sleeps at one time."""


def margin(vitals: Mapping[str, int], name: str) -> int:
    """Steps to death by the lack of `name`."""
    health = STEPS_A_HEALTH * (vitals["health"] - 1)
    return vitals[name] * STEPS_A_UNIT[name] + health


def is_pressing(
    vitals: Mapping[str, int], name: str, left: int, elapsed: int = 0, spare: int = 0
) -> bool:
    """Whether it is time to look after `name`, `elapsed` steps after the vitals were as given.

    left: steps to the end of the episode; what lasts that long is no need. spare: steps by which
    the time is put off.
    """
    lasting = margin(vitals, name)
    if lasting >= left + elapsed:
        return False
    if name == "energy":
        return vitals[name] - elapsed // STEPS_A_UNIT[name] <= SLEEPY
    return lasting - elapsed <= SEARCH_MARGIN[name] - spare
