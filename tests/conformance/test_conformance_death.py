"""An agent that dies: it is told of its last step, and is then neither asked nor answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from worlds.errors import IllegalAction
from worlds.parallel import parallel_env, vector_env

MAP = "\n".join(["0L" + "." * 14, *["." * 16] * 14, "." * 15 + "1"])
RIGHT, STAY = 2, 0
SETTINGS = {
    "area": (16, 16),
    "agents": 2,
    "cows": False,
    "balance": False,
    "ensure_solvable": False,
    "excess_requirements": "lower",
    "max_steps": 9,
}


def dead() -> Any:
    """An environment whose agent_0 has just walked into lava, and what that step gave."""
    env = parallel_env("macrafter-v1", **SETTINGS)
    env.reset(seed=0, options={"drawn": MAP})
    return env, env.step({"agent_0": RIGHT, "agent_1": STAY})


def test_the_last_step_reports_the_dead_one() -> None:
    env, (observations, rewards, terminated, truncated, infos) = dead()
    assert terminated == {"agent_0": True, "agent_1": False}
    assert truncated == {"agent_0": False, "agent_1": False}
    assert list(observations) == list(rewards) == list(infos) == ["agent_0", "agent_1"]
    assert infos["agent_0"]["harm"] == ("lava",)
    assert env.agents == ["agent_1"]


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ({"agent_0": STAY, "agent_1": STAY}, "'agent_0', which is not a live agent"),
        ({"agent_1": STAY, "agent_7": STAY}, "'agent_7', which is not a live agent"),
        ({}, "no action for agent_1"),
    ],
)
def test_actions_of_the_dead_and_of_strangers_are_refused(
    actions: dict[str, int], words: str
) -> None:
    env, _ = dead()
    before = [array.copy() for array in env.world]
    with pytest.raises(IllegalAction, match=words):
        env.step(actions)
    assert all(np.array_equal(old, new) for old, new in zip(before, env.world, strict=True))


def test_the_living_play_on_to_the_end() -> None:
    env, _ = dead()
    for _ in range(8):
        assert env.agents == ["agent_1"]
        result = env.step({"agent_1": STAY})
        assert [list(part) for part in result] == [["agent_1"]] * 5
    assert result[3] == {"agent_1": True} and env.agents == []


def test_entries_of_the_dead_are_ignored_in_a_batch() -> None:
    env = vector_env("macrafter-v1", 1, **SETTINGS)
    env.reset(seed=0)
    drawn = env.port.draw(MAP, 0)
    for old, new in zip(env.state, drawn, strict=True):
        old[:] = new
    env.step(np.array([[RIGHT, STAY]], np.int32))
    _, rewards, terminated, truncated = env.step(np.array([[99, STAY]], np.int32))
    assert terminated.tolist() == [[True, False]]
    assert rewards[0, 0] == 0 and not truncated[0]
