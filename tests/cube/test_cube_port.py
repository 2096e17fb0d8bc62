"""CUBE for learners: what is observed and told, episodes of a batch, seeds, drawn starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from primitives.rng import GOLDEN, mix
from worlds.errors import ConfigError, IllegalAction, LayoutError, UnknownWorld
from worlds.parallel import parallel_env, vector_env


def drawing(rows: list[str]) -> str:
    """A 15 x 15 board that begins with these rows."""
    filled = [row.ljust(15, ".") for row in rows] + ["." * 15] * (15 - len(rows))
    return "\n".join(row[:14] + "|" for row in filled)


def choose(env: Any, random: np.random.Generator) -> dict[str, int]:
    return {agent: int(random.integers(5)) for agent in env.agents}


def test_arrays_that_are_held_never_change_and_others_show_the_present() -> None:
    env, random = parallel_env("cube-v1", agents=6), np.random.default_rng(0)
    kept = [(env.reset(seed=0)[0]["agent_0"], env.port.rules.observe(env.world, 0))]
    seen = None
    for number in range(150):
        seen = env.step(choose(env, random))[0]["agent_3"]
        now = env.port.rules.observe(env.world, 0)
        np.testing.assert_array_equal(seen, now, err_msg=f"step {number}")
        if number % 10 < 3:
            kept.append((seen[2:5], now[2:5]))
    for number, (held, then) in enumerate(kept):
        np.testing.assert_array_equal(held, then, err_msg=f"held array {number}")
    with pytest.raises(ValueError, match="read-only"):
        seen[0, 0, 0] = 1


def test_a_new_episode_is_shown_whole() -> None:
    env, random = parallel_env("cube-v1"), np.random.default_rng(1)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(10):
            env.step(choose(env, random))
        seen = env.reset(seed=seed + 100)[0]["agent_0"]
        np.testing.assert_array_equal(seen, env.port.rules.observe(env.world, 0))


@pytest.mark.parametrize("rules", ["quorum", "chain"])
def test_windows_are_cut_from_the_board(rules: str) -> None:
    env, random = parallel_env("cube-v1", rules=rules, view=7), np.random.default_rng(2)
    seen = env.reset(seed=0)[0]
    for number in range(60):
        occupant = np.pad(env.state(), 3)
        ground = np.pad(np.ones((15, 15), int), 3)
        ground[3:-3, 17] = 2
        weight = np.zeros_like(occupant)
        for block, size in enumerate(env.world.block_weight[0].tolist()):
            weight[occupant == -(block + 1)] = size
        for agent, (r, c) in enumerate(env.world.agent_cell[0].tolist()):
            part = np.s_[r : r + 7, c : c + 7]
            expected = np.stack([ground[part], occupant[part], weight[part]], axis=2)
            got = seen[f"agent_{agent}"]
            np.testing.assert_array_equal(got, expected, err_msg=f"step {number}")
        seen = env.step(choose(env, random))[0]


@pytest.mark.parametrize("view", [0, 4, 257, 7.0, True])
def test_other_windows_are_refused(view: Any) -> None:
    with pytest.raises(ConfigError, match="view is"):
        parallel_env("cube-v1", view=view)


def test_infos_are_plain_and_of_the_agent() -> None:
    start = {"drawn": drawing(["0A", "1.B", ".2B"])}
    env = parallel_env("cube-v1", blocks=((1, 2),), side=15)
    with pytest.raises(ConfigError, match="row 1, column 2"):
        env.reset(options=start)
    env.reset(options={"drawn": drawing(["0A", "1.B", ".2"])})
    infos = env.step({"agent_0": 4, "agent_1": 1, "agent_2": 0})[4]
    assert infos["agent_0"] == {
        "outcome": "pushed",
        "reason": None,
        "attempt": {
            "task": "block_0_left",
            "need": 1,
            "participation": 1,
            "spatial": 1,
            "temporal": 1,
            "dependency": 0,
            "dependency_need": 0,
            "members": 1,
            "result": "done",
            "reason": "moved",
            "unmet": (),
        },
        "delivered": (),
        "score": 0,
    }
    assert infos["agent_1"]["outcome"] == "moved"
    assert infos["agent_2"] == {**infos["agent_1"], "outcome": "stayed"}


def test_a_delivery_is_told_to_all() -> None:
    env = parallel_env("cube-v1", blocks=((2, 1), (1, 1)), agents=2)
    env.reset(options={"drawn": drawing(["." * 11 + "0AA", "." * 11 + "1AA", "B"])})
    _, rewards, _, _, infos = env.step({"agent_0": 4, "agent_1": 4})
    assert [info["delivered"] for info in infos.values()] == [(0,), (0,)]
    assert [info["score"] for info in infos.values()] == [2, 2]
    assert list(rewards.values()) == pytest.approx([0.99, 0.99])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["0A", "1", "2B"], "weights"),
        (["0", "1"], "2 agents; allowed: 15, 15 and 3"),
    ],
)
def test_drawn_starts_have_the_size_of_the_config(rows: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parallel_env("cube-v1").reset(options={"drawn": drawing(rows)})
    with pytest.raises(ConfigError, match="drawn is 3"):
        parallel_env("cube-v1").reset(options={"drawn": 3})


def next_seed(seed: int, episode: int) -> int:
    return int(mix(np.uint64((seed + episode * int(GOLDEN)) % 2**64))) >> 1


def test_seeds_follow_from_the_last_one_given() -> None:
    env = parallel_env("cube-v1", seed=5)
    fresh = env.port.rules.reset
    for seed in (5, next_seed(5, 1), next_seed(5, 2)):
        env.reset()
        np.testing.assert_array_equal(env.state(), fresh(seed).occupant[0])
    env.reset(seed=0)
    env.reset()
    np.testing.assert_array_equal(env.state(), fresh(next_seed(0, 1)).occupant[0])


def test_a_batch_equals_its_worlds_and_finished_ones_rest() -> None:
    many = vector_env("cube-v1", 3, max_steps=6)
    singles = [vector_env("cube-v1", 1, max_steps=6) for _ in range(3)]
    random = np.random.default_rng(3)
    boards = many.reset(seed=4)
    for b, single in enumerate(singles):
        np.testing.assert_array_equal(single.reset(seed=4 + b)[0], boards[b])
    for number in range(20):
        actions = random.integers(0, 5, (3, 3)).astype(np.int32)
        parts = many.step(actions)
        for b, single in enumerate(singles):
            for mine, own in zip(parts, single.step(actions[b : b + 1]), strict=True):
                np.testing.assert_array_equal(mine[b : b + 1], own, err_msg=f"step {number}")
        assert parts[3].all() == (number % 7 >= 5)
        if number % 7 == 6:
            assert not parts[1].any()
            boards = many.reset_done()
            for b, single in enumerate(singles):
                np.testing.assert_array_equal(single.reset_done()[0], boards[b])
            episode = number // 7 + 1
            fresh = many.port.rules.reset(next_seed(4, episode)).occupant[0]
            np.testing.assert_array_equal(many.state.occupant[0], fresh)


def test_a_batch_starts_from_the_seed_of_the_config() -> None:
    batch = vector_env("cube-v1", 2, seed=8)
    np.testing.assert_array_equal(batch.reset()[1], vector_env("cube-v1", 1).reset(seed=9)[0])
    again = batch.reset()
    follow = vector_env("cube-v1", 1).reset(seed=next_seed(9, 1))
    np.testing.assert_array_equal(again[1], follow[0])


def test_wrong_calls_of_the_vector_form() -> None:
    batch = vector_env("cube-v1", 2)
    with pytest.raises(IllegalAction, match="before reset"):
        batch.step(np.zeros((2, 3), np.int32))
    batch.reset(seed=0)
    with pytest.raises(LayoutError, match="int64"):
        batch.step(np.zeros((2, 3), np.int64))
    with pytest.raises(IllegalAction, match="action 5 of agent_1 in world 1"):
        batch.step(np.array([[0, 0, 0], [0, 5, 0]], np.int32))
    with pytest.raises(ConfigError, match="worlds is 0"):
        vector_env("cube-v1", 0)
    with pytest.raises(UnknownWorld, match="allowed: cube-v1"):
        vector_env("cubes", 1)
