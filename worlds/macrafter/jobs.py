"""One agent's part in the team's work, and how orders say it in words and cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from worlds.api import AgentId, Cell, Json

__all__ = ["NO_TASK_ID", "Gift", "Job", "as_assignment", "is_change", "read_job"]

ROLES = ("meet", "make", "gather", "explore", "equip", "free")
NO_TASK_ID = "none"
INSTRUCTION_CHARACTERS = 200
AHEAD = "the tool will be given to you"

_GIFTS = re.compile(r"give ([a-z_]+) (\d+) to ((?:agent_\d+ ?)+)")
_AGENT = re.compile(r"agent_(\d+)")
_ITEM = re.compile(r"(?:gather|make) ([a-z_]+) (\d+)")
_FOR = re.compile(r"for agent_(\d+)")
_PLACE = re.compile(r"towards \((\d+),(\d+)\)")
_CREW = re.compile(r"with (\d+) agents")
_OTHERS = re.compile(r"others at ((?:\(\d+,\d+\) ?)+)")
_CELL = re.compile(r"\((\d+),(\d+)\)")
_SOUGHT = re.compile(r"seeking ([a-z ]+)")


class Gift(NamedTuple):
    """So much of an item for a teammate."""

    item: str
    quantity: int
    recipient: AgentId


class Job(NamedTuple):
    """What to do: gifts first, then the role.

    meet: be one of `crew` at `task`, from `cell` if one is given, not from those of `others`.
    make: items for the team, by `items`. gather: hold `items`, then give them to `client`.
    is_ahead: the tool will be given on the way. explore: seek what `items` name, towards `cell`.
    equip: make the next tool for oneself, else explore. free: anything.
    """

    role: str
    task: str = NO_TASK_ID
    cell: Cell | None = None
    items: tuple[tuple[str, int], ...] = ()
    crew: int = 1
    by_step: int | None = None
    gifts: tuple[Gift, ...] = ()
    client: AgentId | None = None
    others: tuple[Cell, ...] = ()
    is_ahead: bool = False


def is_change(old: Job, new: Job) -> bool:
    """Whether a live plan for `old` is to be dropped for `new`.

    Gifts that were not asked for before, and another task or tools to be made, are worth it;
    another place to explore or another thing to gather can wait until the plan ends.
    """
    if old.role == "make":
        return False
    if new.role == "meet":
        return (old.role, old.task) != (new.role, new.task)
    return new.role == "make" or bool(set(new.gifts) - set(old.gifts))


def as_assignment(job: Job, agent: AgentId) -> Json:
    """The job as an assignment of a directive, readable for people too."""
    return {
        "agents": [agent],
        "task": job.task,
        "role": job.role,
        "cells": [list(job.cell)] if job.role == "meet" and job.cell is not None else [],
        "by_step": job.by_step,
        "instruction": _instruction(job),
    }


def _instruction(job: Job) -> str:
    parts = [*_ROLE_WORDS[job.role](job), *_gift_words(job.gifts)]
    while len("; ".join(parts)) > INSTRUCTION_CHARACTERS:
        parts.pop()
    return "; ".join(parts)


def _gift_words(gifts: Iterable[Gift]) -> list[str]:
    """Equal gifts in one phrase each."""
    found: dict[tuple[str, int], list[str]] = {}
    for gift in gifts:
        found.setdefault((gift.item, gift.quantity), []).append(f"agent_{gift.recipient}")
    return [f"give {item} {n} to {' '.join(names)}" for (item, n), names in found.items()]


def _read_gifts(text: str) -> tuple[Gift, ...]:
    return tuple(
        Gift(item, int(count), int(agent))
        for item, count, names in _GIFTS.findall(text)
        for agent in _AGENT.findall(names)
    )


def _work_words(job: Job) -> list[str]:
    whom = "" if job.client is None else f" for agent_{job.client}"
    return [f"{job.role} {item} {count}{whom}" for item, count in job.items]


def _explore_words(job: Job) -> list[str]:
    where = "" if job.cell is None else f" towards ({job.cell[0]},{job.cell[1]})"
    sought = " or ".join(item for item, _ in job.items)
    return [f"explore{where}{f' seeking {sought}' if sought else ''}"]


def _meet_words(job: Job) -> list[str]:
    words = [f"meet at {job.task} with {job.crew} agents and collect together"]
    if job.is_ahead:
        words.append(AHEAD)
    if job.others:
        words.append("others at " + " ".join(f"({r},{c})" for r, c in job.others))
    return words


_ROLE_WORDS: Mapping[str, Callable[[Job], list[str]]] = {
    "meet": _meet_words,
    "make": _work_words,
    "gather": _work_words,
    "explore": _explore_words,
    "equip": lambda job: ["make your own next tool, else explore"],
    "free": lambda job: ["do as you see fit"],
}


def read_job(part: Mapping[str, Json], agent: AgentId) -> Job:
    """The job that an assignment gives to `agent`; words of another making leave it free."""
    text = part["instruction"]
    role = part["role"] if part["role"] in ROLES else ("meet" if "@" in part["task"] else "free")
    place, crew, whom = _PLACE.search(text), _CREW.search(text), _FOR.search(text)
    sought, others = _SOUGHT.search(text), _OTHERS.search(text)
    cell = (int(place[1]), int(place[2])) if place else None
    if part["cells"]:
        row, column = part["cells"][part["agents"].index(agent)]
        cell = (row, column)
    items = [(item, int(count)) for item, count in _ITEM.findall(text)]
    items += [(item, 1) for item in sought[1].split(" or ")] if sought else []
    return Job(
        role,
        part["task"],
        cell,
        tuple(items),
        int(crew[1]) if crew else 1,
        part["by_step"],
        _read_gifts(text),
        int(whom[1]) if whom else None,
        tuple((int(r), int(c)) for r, c in _CELL.findall(others[1])) if others else (),
        AHEAD in text,
    )
