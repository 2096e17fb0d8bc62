"""Laws of every attempt row, and the arithmetic of alarms."""

import numpy as np
import pytest

from repair.config import repair_config
from repair.constraints import evaluate, is_attempt
from repair.forecast import Forecast, fails
from worlds.api import below
from worlds.registry import make


@pytest.mark.parametrize("name", ["cube-v1:quorum-6", "cube-v1:chain", "macrafter-v1:survival"])
def test_participation_implies_the_others_and_success_implies_participation(name):
    world = make(name)
    state = world.rules.reset(3)
    seen = 0
    for step in range(190):
        actions = np.zeros((1, world.rules.agents), np.int32)
        for agent in world.rules.living(state):
            actions[0, agent] = below(len(world.rules.actions), 5, "laws", step, agent)
        if not world.rules.living(state):
            break
        world.rules.step(state, actions)
        for row in filter(is_attempt, world.rules.report(state).attempts):
            seen += 1
            verdict = evaluate(row, [agent for agent, _ in row.members])
            if verdict.held[0]:
                assert all(verdict.held), row
                assert verdict.is_success or row.result == "blocked", row
            if verdict.is_success:
                assert verdict.held[0] and verdict.cause is None, row
            else:
                assert verdict.cause is not None, row
    assert seen > 5, seen


@pytest.mark.parametrize(("tau", "is_alarm"), [(0.5, False), (0.7, True)])
def test_five_of_eight_rollouts(tau, is_alarm):
    one = Forecast("t", 2, ((0, "0.1"),), 0, 8, 8, (5, 8, 8, 8), 5, 1, 4, "decided")
    assert fails(one, repair_config({"mode": "watch", "tau": tau})) is is_alarm


@pytest.mark.parametrize("status", ["open", "no_attempt"])
def test_too_little_support_never_alarms(status):
    one = Forecast("t", 2, ((0, "0.1"),), 0, 8, 3, (0, 0, 0, 0), 0, 1, 4, status)
    assert not fails(one, repair_config("on"))
