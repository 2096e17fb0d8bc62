"""Golden cases of MA-Crafter: a world before and after, what is done, and what is recorded.

Left the world before, right after; at the side `set` (facing, items, asleep), `act` (x7: seven
steps; +0,2 declares the source on that cell), one `rec` a row, and `end`.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from worlds.macrafter.config import configure
from worlds.macrafter.generate import from_drawing, to_drawing
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.state import ACTIONS, FACINGS, ITEMS, OUTCOMES, REASONS
from worlds.macrafter.table import load_table

CASES = Path(__file__).with_name("golden_cases.txt")


class Case(NamedTuple):
    name: str
    title: str
    settings: dict
    before: str
    after: str
    notes: dict


def read_cases():
    cases = []
    for block in re.split(r"^case ", CASES.read_text(), flags=re.M)[1:]:
        head, *lines = block.rstrip("\n").split("\n")
        name, options, title = re.match(r"(M\d+)(?: \((.*?)\))? (.*)", head).groups()
        cases.append(Case(name, title, _settings(options), *_columns(lines)))
    return cases


def _settings(options):
    settings = {"excess_requirements": "lower"}
    for pair in (options or "").split(","):
        if pair:
            key, value = pair.strip().split("=")
            if "." in key:
                settings["overrides"] = {f"{key}.agents": int(value)}
            else:
                settings[key] = int(value) if value.isdigit() else value
    return settings


def _columns(lines):
    before, after, notes = [], [], {"rec": []}
    for line in lines:
        drawn = re.match(r"(\S+)  (\S+)(?:  (.*))?$", line)
        text = drawn.group(3) or "" if drawn else line
        if drawn:
            before.append(drawn.group(1))
            after.append(drawn.group(2))
        for part in _parts(text.strip()):
            word, _, rest = part.partition(" ")
            if word == "rec":
                notes["rec"].append(rest)
            else:
                notes[word] = rest
    return "\n".join(before), "\n".join(after), notes


def _parts(text):
    """`set` and `act` share a line; `rec` and `end` have their own."""
    return re.split(r"; (?=act )", text) if text.startswith("set") else [text] if text else []


class Played:
    """A case that has been played; what is compared is read from it as the case writes it."""

    def __init__(self, case):
        agents = sum(letter.isdigit() for letter in case.before)
        self.config = configure("paper", agents=agents, **case.settings)
        self.table = load_table(self.config)
        self.rules = MacrafterRules(self.config, self.table)
        self.state = from_drawing(case.before, self.config)
        self._prepare(case.notes.get("set", ""))
        self.before = self.rules.clone(self.state)
        words = case.notes["act"].split()
        steps = int(words.pop(0)[1:]) if words[0].startswith("x") else 1
        for _ in range(steps):
            self.stepped = self.rules.step(self.state, *self._inputs(words))

    def _prepare(self, text):
        for word in text.split():
            agent, _, things = word.partition(":")
            for thing in things.split(","):
                item, _, count = thing.partition("*")
                if thing in FACINGS:
                    self.state.agent_facing[0, int(agent)] = FACINGS.index(thing)
                elif thing == "asleep":
                    self.state.is_asleep[0, int(agent)] = True
                    self.state.inventory[0, int(agent), ITEMS.index("energy")] = 5
                else:
                    self.state.inventory[0, int(agent), ITEMS.index(item)] = int(count or 1)

    def _inputs(self, words):
        agents, width = self.config.agents, self.state.material.shape[2]
        actions = np.zeros((1, agents), np.int32)
        declared = np.full((1, agents), -1, np.int32)
        arguments = np.full((1, agents, 3), -1, np.int32)
        for word in words:
            agent, name, gift, row, column = re.match(
                r"(\d):(\w+?)(?:\((.*)\))?(?:\+(\d+),(\d+))?$", word
            ).groups()
            actions[0, int(agent)] = ACTIONS.index(name)
            if row:
                declared[0, int(agent)] = int(row) * width + int(column)
            if gift:
                recipient, item, quantity = gift.split(",")
                arguments[0, int(agent)] = int(recipient), ITEMS.index(item), int(quantity)
        return actions, declared, arguments

    @property
    def drawing(self):
        return to_drawing(self.state)

    @property
    def rows(self):
        """The attempt rows, written as the cases write them."""
        return [self._row(attempt) for attempt in self.rules.report(self.state).attempts]

    def _row(self, attempt):
        members = ",".join(str(agent) for agent, _ in attempt.members)
        return (
            f"{attempt.action} {self._what(attempt)} members {members} need {attempt.need} "
            f"part {attempt.participation} spat {attempt.spatial} temp {attempt.temporal} "
            f"dep {attempt.dependency}/{attempt.dependency_need} -> {attempt.reason}"
        )

    def _what(self, attempt):
        if attempt.action != "craft":
            return attempt.task
        cell = attempt.extra["cell"]
        if cell is None:
            return f"{attempt.kind} nowhere"
        ground = {11: "table", 12: "furnace"}[int(self.before.material[0][tuple(cell)])]
        return f"{attempt.kind} {ground}@{cell[0]},{cell[1]}"

    @property
    def end(self):
        """Outcomes, deaths, item changes and score, written as the cases write them."""
        parts = [" ".join(f"{a}:{self._outcome(a)}" for a in range(self.config.agents))]
        dead = np.flatnonzero(~self.state.is_alive[0]).tolist()
        parts += [f"dead {agent}" for agent in dead]
        changes = [self._changes(agent) for agent in range(self.config.agents)]
        parts += [change for change in changes if change] or ["unchanged"]
        return "; ".join([*parts, f"score {self.state.score[0]:g}"])

    def _outcome(self, agent):
        outcome = OUTCOMES[self.state.agent_outcome[0, agent]]
        if outcome == "failed":
            return REASONS[self.state.agent_reason[0, agent]]
        given = int(self.state.share_amount[0, agent])
        return f"{outcome}({given})" if given else outcome

    def _changes(self, agent):
        was, now = self.before.inventory[0, agent], self.state.inventory[0, agent]
        words = [f"{ITEMS[i]} {was[i]}>{now[i]}" for i in np.flatnonzero(was != now)]
        return f"{agent}: {', '.join(words)}" if words else ""
