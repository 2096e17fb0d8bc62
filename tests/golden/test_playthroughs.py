"""One playthrough a preset of every registered world, as text one can read.

A change here that is not wanted is a defect; one that is wanted is a new version of the world.
"""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from worlds.api import below
from worlds.registry import ids, make, presets

FOLDER = Path(__file__).parent / "playthroughs"
NAMES = [f"{id}:{preset}" for id in ids() for preset in presets(id)]
STEPS = 60
SHOWN = 12


def path_of(name):
    return FOLDER / f"{name.replace(':', '-')}.txt"


def playthrough(name):
    """Random actions from a fixed draw: outcomes, attempts, points, and what one agent reads."""
    world = make(name)
    rules, state = world.rules, world.rules.reset(7)
    lines = [name, "", world.text.describe(state, 0, 2500), ""]
    for step in range(1, STEPS + 1):
        living = rules.living(state)
        actions = np.zeros((1, rules.agents), np.int32)
        for agent in living:
            actions[0, agent] = below(len(rules.actions), 7, "golden", step, agent)
        rules.step(state, actions)
        report = rules.report(state)
        if step <= SHOWN:
            lines += told(rules, step, actions[0], report)
    digest = sha256()
    for array in state:
        digest.update(np.ascontiguousarray(array).tobytes())
    lines += ["", world.text.describe(state, 0, 2500), "", f"state {digest.hexdigest()}", ""]
    return "\n".join(lines)


def told(rules, step, actions, report):
    names = [rules.actions[int(number)] for number in actions]
    lines = [f"step {step}: score {report.score:g}"]
    for agent, (action, outcome) in enumerate(zip(names, report.outcomes, strict=True)):
        reason = f" ({outcome.reason})" if outcome.reason else ""
        lines.append(f"  agent_{agent}: {action}, {outcome.name}{reason}")
    for row in report.attempts:
        lines.append(
            f"  {row.task}: {row.action} {row.result}, {row.reason}; need {row.need}, "
            f"participation {row.participation}, spatial {row.spatial}, temporal {row.temporal}, "
            f"dependency {row.dependency} of {row.dependency_need}"
        )
    return lines


@pytest.mark.parametrize("name", NAMES)
def test_playthrough_is_as_recorded(name, request):
    found = playthrough(name)
    if request.config.getoption("--renew"):
        path_of(name).write_text(found)
    assert path_of(name).exists(), f"no golden playthrough of {name}: make golden"
    assert found == path_of(name).read_text(), f"{name} plays differently; make golden shows how"


def test_no_playthrough_is_left_over():
    assert sorted(FOLDER.glob("*.txt")) == sorted(map(path_of, NAMES))
