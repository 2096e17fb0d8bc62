"""Kernels against the plain-Python oracle, over random worlds and random play.

The default run is a sample. `COOPLAB_PARITY_STEPS=50000` plays that many steps in each preset and
team size.
"""

import os

import numpy as np
import pytest
from macrafter_oracle import Oracle
from macrafter_play import differences, make_rules, random_config, random_inputs, random_state

STEPS = int(os.environ.get("COOPLAB_PARITY_STEPS", "1000"))
EPISODE = 40
DEEP = 8
PRESETS = ("paper", "paper-6", "survival", "solo")


def play_episode(generator, preset, agents, steps):
    """Play up to `steps` steps; returns how many were played."""
    config = random_config(generator, preset, agents)
    rules = make_rules(config)
    state = random_state(generator, config)
    oracle = Oracle(config, rules.table).load(state)
    for step in range(steps):
        inputs = random_inputs(generator, state, config)
        before = rules.clone(state)
        rewards = rules.step(state, *inputs).rewards
        oracle.step(*(array[0].tolist() for array in inputs))
        is_last = state.is_truncated[0] or not state.is_alive[0].any() or step == steps - 1
        found = differences(state, oracle, rewards, is_last or step % DEEP == 0)
        assert not found, f"{preset}, step {before.step[0]}, {config}\n" + "\n".join(found)
        if is_last:
            return step + 1
    return steps


@pytest.mark.parametrize("agents", [1, 3, 6, 12])
@pytest.mark.parametrize("preset", PRESETS)
def test_random_play_agrees(preset, agents):
    generator = np.random.default_rng([PRESETS.index(preset), agents])
    played = 0
    while played < STEPS:
        played += play_episode(generator, preset, agents, min(EPISODE, STEPS - played))


@pytest.mark.kernel
def test_a_short_play_agrees():
    generator = np.random.default_rng(7)
    for preset in PRESETS:
        play_episode(generator, preset, 4, 12)
