"""The PettingZoo form: spaces, what an agent observes and is told, deaths, drawings."""

from copy import deepcopy

import numpy as np
import pytest

from worlds.conformance import check_parallel
from worlds.conformance_laws import equal_values
from worlds.errors import ConfigError, IllegalAction
from worlds.parallel import parallel_env, vector_env

FIELD = "\n".join(["." * 16] * 16)


def drawn(*rows, top=5, left=5):
    """A 16 x 16 meadow with some rows drawn into it."""
    lines = [list(line) for line in FIELD.split("\n")]
    for r, row in enumerate(rows):
        lines[top + r][left : left + len(row)] = row
    return "\n".join("".join(line) for line in lines)


def env_of(text, agents, **changes):
    settings = {"excess_requirements": "lower", "area": (16, 16), "cows": False, **changes}
    env = parallel_env("macrafter-v1", "paper", render_mode="ansi", agents=agents, **settings)
    env.reset(seed=1, options={"drawn": text})
    return env


@pytest.mark.parametrize("preset", ["paper", "survival", "solo"])
def test_the_kit_and_the_tests_of_pettingzoo_pass(preset):
    check_parallel("macrafter-v1", preset)


def test_metadata_and_spaces():
    env = parallel_env("macrafter-v1", "paper")
    assert env.metadata == {
        "name": "macrafter_v1", "render_modes": ["ansi"], "is_parallelizable": True,
    }  # fmt: skip
    assert env.action_space("agent_0").n == 18
    space = env.observation_space("agent_1")
    assert {name: box.shape for name, box in space.items()} == {
        "view": (7, 9, 3), "inventory": (16,), "self": (6,),
    }  # fmt: skip
    assert env.action_space("agent_0") is env.action_space("agent_0")
    full = parallel_env("macrafter-v1", "paper", full_actions=True).action_space("agent_2")
    assert full.nvec.tolist() == [18, 3, 16, 21]


def test_an_observation_shows_what_is_around():
    env = env_of(drawn("T0c", "~1k"), 2, cows=True)
    seen = env.step({"agent_0": 0, "agent_1": 0})[0]["agent_0"]
    view = seen["view"]
    assert view[3, 4].tolist() == [2, 13, 1] and view[4, 4].tolist() == [2, 13, 2]
    assert view[3, 3].tolist() == [6, 0, 0] and view[4, 3].tolist() == [1, 0, 0]
    assert seen["self"].tolist() == [5, 6, 1, 0, 100, 1]
    assert env.observation_space("agent_0").contains(seen)
    assert seen["inventory"].tolist() == [9, 9, 9, 9] + [0] * 12
    corner = env_of("0" + FIELD[1:], 1).step({"agent_0": 0})[0]["agent_0"]["view"]
    assert not corner[:3].any() and not corner[:, :4].any() and corner[3, 4, 1] == 13


def test_a_sleeper_sees_its_own_cell_alone():
    env = env_of(drawn("T0T"), 1)
    env.world.inventory[0, 0, 3] = 5
    view = env.step({"agent_0": 6})[0]["agent_0"]["view"]
    assert view[3, 4].tolist() == [2, 13, 1]
    view[3, 4] = 0
    assert not view.any()


HOLDS = {
    "all": lambda seen: seen,
    "one agent's": lambda seen: seen["agent_1"],
    "one array": lambda seen: seen["agent_1"]["view"],
    "part of an array": lambda seen: seen["agent_1"]["view"][2:, :, 1],
    "a small one": lambda seen: seen["agent_1"]["self"],
    "reshaped": lambda seen: seen["agent_0"]["inventory"].reshape(4, 4),
}


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_observations_are_kept_as_they_were(hold):
    env = env_of(drawn("0.", ".1"), 2)
    env.step({"agent_0": 1, "agent_1": 2})
    held = hold(env.step({"agent_0": 2, "agent_1": 3})[0])
    kept = deepcopy(held)
    for _ in range(8):
        env.step({"agent_0": 1, "agent_1": 4})
    assert equal_values(held, kept)


def test_observations_that_nobody_holds_are_written_again():
    env = env_of(drawn("0."), 1)
    places = set()
    for _ in range(12):
        seen = env.step({"agent_0": 1})[0]["agent_0"]
        places.add(seen["view"].ctypes.data)
        seen["view"], seen["mask"] = None, 1
    assert len(places) <= 3
    assert list(env.step({"agent_0": 1})[0]["agent_0"]) == ["view", "inventory", "self"]


def test_arrays_of_a_batch_are_kept_as_they_were():
    env = vector_env("macrafter-v1", 2, "paper")
    views = [env.reset(seed=3)]
    actions = np.random.default_rng(0).integers(0, 17, (6, 2, 3)).astype(np.int32)
    views += [env.step(sent)[0] for sent in actions]
    again = vector_env("macrafter-v1", 2, "paper")
    assert equal_values(views[0], again.reset(seed=3))
    for seen, sent in zip(views[1:], actions, strict=True):
        assert equal_values(seen, again.step(sent)[0])


@pytest.mark.parametrize("need", [1, 40])
def test_infos_agree_with_the_report(need):
    """Needs of 40 are too large for the patterns that infos are made from."""
    needs = {"make.wood_sword.agents": need, "collect.tree.agents": need}
    env = parallel_env(
        "macrafter-v1", "survival", agents=40, overrides=needs, ensure_solvable=False
    )
    env.reset(seed=2)
    random, seen = np.random.default_rng(1), set()
    for _ in range(60):
        acts = random.integers(0, 17, 40).tolist()
        infos = env.step({name: acts[int(name[6:])] for name in env.agents})[4]
        report = env.port.rules.report(env.world)
        for name, info in infos.items():
            agent = int(name[6:])
            mine = [a for a in report.attempts if agent in dict(a.members)]
            assert (info["outcome"], info["reason"]) == report.outcomes[agent]
            assert info["score"] == report.score
            if not mine:
                assert info["attempt"] is None
                continue
            told = dict(info["attempt"])
            assert told.pop("members") == len(mine[0].members)
            assert told == {field: getattr(mine[0], field) for field in told}
            seen.add((told["task"].partition("@")[0], told["result"], told["need"]))
    assert len(seen) > 10 and any(fact[2] == need for fact in seen), seen


def test_infos_tell_what_happened():
    env = env_of(drawn("0C1"), 2)
    env.world.agent_facing[0] = 3, 2
    env.world.inventory[0, 0, 10] = 1
    infos = env.step({"agent_0": 5, "agent_1": 5})[4]
    assert infos["agent_0"] == {
        "outcome": "failed", "reason": "too_few_participants", "harm": (), "score": 0.0,
        "achievements": (), "lowered": ("collect.iron.agents", "collect.diamond.agents"),
        "attempt": {
            "task": "coal@5,6", "need": 2, "participation": 1, "spatial": 2, "temporal": 2,
            "dependency": 1, "dependency_need": 2, "members": 2, "result": "short",
            "reason": "missing_tool", "unmet": ("participation", "dependency"),
        },
    }  # fmt: skip
    assert infos["agent_1"]["reason"] == "missing_tool"
    env.world.inventory[0, 1, 10] = 1
    _, rewards, _, _, infos = env.step({"agent_0": 5, "agent_1": 5})
    assert rewards == {"agent_0": 75.0, "agent_1": 75.0}
    assert infos["agent_1"]["score"] == 150.0 and infos["agent_1"]["reason"] is None
    assert infos["agent_1"]["achievements"] == ("collect_coal",)
    assert infos["agent_1"]["attempt"]["result"] == "delivered"


def test_who_dies_leaves_and_the_others_go_on():
    env = env_of(drawn("0L.1"), 2)
    seen, rewards, terminated, truncated, infos = env.step({"agent_0": 2, "agent_1": 0})
    assert terminated == {"agent_0": True, "agent_1": False}
    assert truncated == {"agent_0": False, "agent_1": False}
    assert infos["agent_0"]["harm"] == ("lava",) and set(seen) == set(rewards) == {
        "agent_0",
        "agent_1",
    }
    assert env.observation_space("agent_0").contains(seen["agent_0"])
    assert not seen["agent_0"]["view"].any()
    assert env.agents == ["agent_1"]
    for actions in ({"agent_0": 0, "agent_1": 0}, {}, {"agent_7": 0, "agent_1": 0}):
        with pytest.raises(IllegalAction):
            env.step(actions)
    result = env.step({"agent_1": 1})
    assert [list(part) for part in result] == [["agent_1"]] * 5
    assert env.world.step[0] == 2


def test_the_world_is_over_when_all_are_dead():
    env = env_of(drawn("0L1"), 2)
    _, _, terminated, truncated, _ = env.step({"agent_0": 2, "agent_1": 0})
    assert terminated["agent_0"] and not env.world.is_alive[0, 0]
    _, _, terminated, truncated, _ = env.step({"agent_1": 1})
    assert terminated == {"agent_1": True} and truncated == {"agent_1": False}
    assert env.agents == []
    with pytest.raises(IllegalAction, match="ended"):
        env.step({})


def test_the_last_step_is_truncated():
    env = env_of(drawn("0"), 1, max_steps=2)
    assert not env.step({"agent_0": 0})[3]["agent_0"]
    _, _, terminated, truncated, _ = env.step({"agent_0": 0})
    assert truncated["agent_0"] and not terminated["agent_0"] and env.agents == []


def test_full_actions_share():
    env = env_of(drawn("01"), 2, full_actions=True)
    env.world.inventory[0, 0, 5] = 4
    infos = env.step({"agent_0": [17, 1, 5, 3], "agent_1": [0, 0, 0, 0]})[4]
    assert infos["agent_0"]["outcome"] == "done" and env.world.inventory[0, :, 5].tolist() == [1, 3]
    plain = env_of(drawn("01"), 2)
    infos = plain.step({"agent_0": 17, "agent_1": 0})[4]
    assert infos["agent_0"]["reason"] == "no_arguments"


def test_drawings_have_the_size_and_team_of_the_config():
    env = parallel_env("macrafter-v1", "paper", area=(16, 16))
    with pytest.raises(ConfigError, match=r"drawn has 1 rows, 3 columns and 3 agents; allowed: 16"):
        env.reset(options={"drawn": "012"})
    with pytest.raises(ConfigError, match=r"unknown option 'seed'"):
        env.reset(options={"seed": 1})


def test_state_and_picture():
    env = env_of(drawn("0T", ".c"), 1, cows=True)
    board = env.state()
    assert board.shape == (16, 16, 2) and board.dtype == np.int16
    assert board[5, 5].tolist() == [2, 13] and board[5, 6].tolist() == [6, 0]
    assert board[6, 6].tolist() == [2, 14]
    assert env.render() == drawn("0T", ".c")
