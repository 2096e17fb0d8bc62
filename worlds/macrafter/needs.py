"""How long an agent lasts without food, water or sleep, and from when on it looks after them."""

from __future__ import annotations

from collections.abc import Mapping

from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.sight import Sight

__all__ = ["MEETING_SPARE", "SLEEPY", "Margins", "is_dangerous", "margin", "margins_of", "pressing"]

Margins = Mapping[str, int]
"""Steps to death from the lack of something at which an agent looks after it."""

CAREFUL: Margins = {"energy": 160, "drink": 230, "food": 270}
"""Of those to whom staying alive comes first."""
BOLD: Margins = {"energy": 140, "drink": 170, "food": 240}
"""Of those who have something to reach before they rest."""
STEPS_A_UNIT = {"food": 26, "drink": 20, "energy": 31}
"""Steps awake for a unit."""
STEPS_A_HEALTH = 16
"""Steps for a unit of health while something is used up."""
MEETING_SPARE = 40
"""Steps by which needs are put off on the way to a meeting."""
SLEEPY = 1
"""Energy at which teammates are taken to be asleep."""
PRIZE = "diamond"
"""What is to be reached before an agent is careful."""
SOUND_SLEEP = {"food": 2, "drink": 2}
"""What must be left for a sleep that hunger and thirst do not end early."""


def is_dangerous(config: MacrafterConfig) -> bool:
    """Whether something in the world attacks agents."""
    return config.zombies or config.skeletons


def margins_of(config: MacrafterConfig, sight: Sight) -> Margins:
    """BOLD while there is something to reach and nothing but hunger threatens, else CAREFUL."""
    return BOLD if not is_dangerous(config) and not sight.inventory[PRIZE] else CAREFUL


def margin(vitals: Mapping[str, int], name: str) -> int:
    """Steps to death by the lack of `name`."""
    return vitals[name] * STEPS_A_UNIT[name] + STEPS_A_HEALTH * (vitals["health"] - 1)


def pressing(
    vitals: Mapping[str, int], margins: Margins, left: int, elapsed: int = 0, spare: int = 0
) -> list[str]:
    """What it is time to look after, `elapsed` steps after the vitals were as given, in order.

    Sleep comes first where it will be sound, else last. left: steps to the end of the episode;
    what lasts that long is no need. spare: steps by which all is put off.
    """
    found = []
    for name, least in margins.items():
        lasting = margin(vitals, name)
        if lasting < left + elapsed and lasting - elapsed <= least - spare:
            found.append(name)
    is_sound = all(vitals[name] >= least for name, least in SOUND_SLEEP.items())
    return sorted(found, key=lambda name: name == "energy" and not is_sound)
