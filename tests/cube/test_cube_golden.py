"""Golden steps of CUBE: one step each, drawn before and after, with records, outcomes, reward.

`golden_steps.txt`: a case has its drawings at the left (before, after) and notes at the right.
`act` lists actions (others stay), `+A.left` declares that face of block A; `rec` is an attempt row
with its own members and helpers; `out` is the outcome, or the reason of a blocked action.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from worlds.api import NO_TASK, Attempt
from worlds.cube.config import CubeConfig
from worlds.cube.generate import from_drawing, to_drawing
from worlds.cube.rules import CubeRules
from worlds.cube.state import ACTIONS, FACES, task_number

TEXT = Path(__file__).with_name("golden_steps.txt")
BLOCKS = "ABCDEFGHIJ"


@dataclass
class Case:
    """One golden step as written."""

    name: str
    rules: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, word: str) -> list[str]:
        return [n.removeprefix(word).strip() for n in self.notes if n.startswith(word)]


def read_cases() -> list[Case]:
    cases: list[Case] = []
    for line in TEXT.read_text().splitlines():
        header = re.match(r"case (\w+) \((\w+)\)", line)
        if header:
            cases.append(Case(*header.groups()))
            continue
        if not line.startswith(" "):
            before, after, line = re.split(r"\s{2,}", line, maxsplit=2)
            cases[-1].before.append(before)
            cases[-1].after.append(after)
        cases[-1].notes.append(line.strip())
    return cases


CASES = read_cases()


def read_task(text: str) -> int:
    block, face = text.split(".")
    return task_number(BLOCKS.index(block), FACES.index(face))


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(","))


def read_record(text: str) -> tuple[object, ...]:
    pattern = (
        r"(\w)\.(\w+) members ([\d,]+)(?: helpers ([\d,]+))? need (\d+) part (\d+) spat (\d+)"
        r" temp (\d+) -> (\w+)"
    )
    match = re.fullmatch(pattern, text)
    assert match, text
    block, face, members, helpers, *counts, reason = match.groups()
    return (
        f"block_{BLOCKS.index(block)}_{face}",
        numbers(members),
        len(numbers(helpers)) if helpers else 0,
        *(int(count) for count in counts),
        reason,
    )


def record_of(attempt: Attempt) -> tuple[object, ...]:
    assert (attempt.dependency, attempt.dependency_need) == (0, 0)
    return (
        attempt.task,
        tuple(agent for agent, _ in attempt.members),
        attempt.extra["helpers"],
        attempt.need,
        attempt.participation,
        attempt.spatial,
        attempt.temporal,
        attempt.reason,
    )


@pytest.mark.kernel
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_golden_step(case: Case) -> None:
    config = CubeConfig(rules=case.rules)
    rules = CubeRules(config)
    state = from_drawing("\n".join(case.before), config)
    agents = state.agent_cell.shape[1]
    actions = np.zeros((1, agents), np.int32)
    declared = np.full((1, agents), NO_TASK, np.int32)
    for entry in case.note("act")[0].split():
        agent, action, task = re.fullmatch(r"(\d):(\w+)(?:\+(\w\.\w+))?", entry).groups()
        actions[0, int(agent)] = ACTIONS.index(action)
        if task:
            declared[0, int(agent)] = read_task(task)
    stepped = rules.step(state, actions, declared)
    report = rules.report(state)

    assert to_drawing(state).splitlines() == case.after
    assert [record_of(a) for a in report.attempts] == [read_record(r) for r in case.note("rec")]
    out, score, reward = case.note("out")[0].split("; ")
    outcomes = [o.reason if o.name == "blocked" else o.name for o in report.outcomes]
    assert [f"{agent}:{outcome}" for agent, outcome in enumerate(outcomes)] == out.split()
    assert f"score {report.score:.0f}" == score
    assert np.round(stepped.rewards, 4).tolist() == [
        [pytest.approx(float(reward.removeprefix("reward ")), abs=1e-6)] * agents
    ]


def test_all_cases_are_there() -> None:
    assert [case.name for case in CASES] == [f"G{number:02}" for number in range(1, 23)]
