"""A batch shared out to threads is the batch of one thread, and its errors change nothing."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from worlds.conformance_laws import equal_values
from worlds.errors import ConfigError, IllegalAction
from worlds.parallel import PORTS, vector_env

STEPS = 24


def play(env: Any, steps: int) -> list[Any]:
    """Observations and all, with the declared tasks of every third step; ends included."""
    random = np.random.default_rng(0)
    found = [env.reset(seed=3)]
    for number in range(steps):
        shape = (env.worlds, env.agents)
        actions = random.integers(0, 5, shape).astype(np.int32)
        declared = random.integers(-1, 4, shape).astype(np.int32)
        found.append(env.step(actions, declared if number % 3 == 2 else None))
        if number % 13 == 12:
            found.append(env.reset_done())
    return [*found, [array.copy() for array in env.state]]


@pytest.mark.parametrize("id", PORTS)
@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_change_nothing(id: str, threads: int) -> None:
    one = play(vector_env(id, 5, max_steps=10), STEPS)
    many = play(vector_env(id, 5, threads=threads, max_steps=10), STEPS)
    assert equal_values(one, many)


def test_errors_of_one_part_leave_all_alone() -> None:
    env = vector_env("cube-v1", 4, threads=2)
    env.reset(seed=0)
    before = [array.copy() for array in env.state]
    actions = np.zeros((4, 3), np.int32)
    actions[3, 2] = 7
    with pytest.raises(IllegalAction, match="action 7 of agent_2 in world 3"):
        env.step(actions)
    assert equal_values(before, list(env.state))


def test_copies_have_threads_of_their_own() -> None:
    env = vector_env("cube-v1", 4, threads=2)
    play(env, 5)
    twins = [deepcopy(env), pickle.loads(pickle.dumps(env))]
    before = [array.copy() for array in env.state]
    actions = np.full((4, 3), 4, np.int32)
    results = [twin.step(actions) for twin in twins]
    assert equal_values(before, list(env.state))
    assert equal_values(results, [env.step(actions)] * 2)


@pytest.mark.parametrize("threads", [0, 5, 1.0])
def test_other_numbers_of_threads_are_refused(threads: Any) -> None:
    with pytest.raises(ConfigError, match=r"threads is .*1\.\.4"):
        vector_env("cube-v1", 4, threads=threads)
