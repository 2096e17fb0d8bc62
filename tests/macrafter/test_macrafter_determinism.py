"""A seed and a list of actions fix an episode: in any process, in any batch, after any copy."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from macrafter_play import make_rules

from worlds.macrafter.config import configure
from worlds.macrafter.state import MacrafterState
from worlds.parallel import parallel_env, vector_env

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STEPS = 300

SCRIPT = """
import sys
sys.path[:0] = [{root!r}, {here!r}]
from test_macrafter_determinism import main
main(*sys.argv[1:])
"""


def rules_of(**changes):
    return make_rules(configure("survival", max_steps=STEPS + 50, **changes))


def actions_of(seed, steps, worlds=1, agents=3):
    return np.random.default_rng(seed).integers(0, 17, (steps, worlds, agents)).astype(np.int32)


def digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def trace(rules, state, actions, look_every=0):
    """A digest of the state, the rewards and what was seen, after each step."""
    found = []
    for step, sent in enumerate(actions):
        if state.is_truncated[0] or not state.is_alive.any():
            break
        stepped = rules.step(state, sent)
        if look_every and step % look_every == 0:
            rules.frame(state), rules.report(state), rules.observe(state, 0)
        found.append(digest(*state, stepped.rewards))
    return found


def main(what, place):
    """Run in another process: play an episode, or go on with a saved one."""
    rules, actions = rules_of(), actions_of(1, STEPS)
    if what == "play":
        found = trace(rules, rules.reset(7), actions)
    elif what == "npz":
        arrays = np.load(place)
        found = trace(rules, MacrafterState(**arrays), actions[100:])
    else:
        found = trace(rules, pickle.loads(Path(place).read_bytes()), actions[100:])
    sys.stdout.write("\n".join(found))


def elsewhere(what, place="-", hash_seed="random"):
    script = SCRIPT.format(root=str(ROOT), here=str(HERE))
    done = subprocess.run(
        [sys.executable, "-c", script, what, str(place)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split("\n")


def test_other_processes_play_the_same_episode():
    rules = rules_of()
    here = trace(rules, rules.reset(7), actions_of(1, STEPS))
    assert len(here) > 120
    for hash_seed in ("1", "random"):
        assert elsewhere("play", hash_seed=hash_seed) == here, hash_seed


def test_a_saved_world_goes_on_in_another_process(tmp_path):
    rules, actions = rules_of(), actions_of(1, STEPS)
    state = rules.reset(7)
    trace(rules, state, actions[:100])
    np.savez(tmp_path / "state.npz", **state._asdict())
    (tmp_path / "state.pickle").write_bytes(pickle.dumps(state))
    here = trace(rules, state, actions[100:])
    assert len(here) > 20
    assert elsewhere("npz", tmp_path / "state.npz") == here
    assert elsewhere("pickle", tmp_path / "state.pickle") == here


def test_looking_changes_nothing():
    rules, actions = rules_of(), actions_of(2, 150)
    never = trace(rules, rules.reset(3), actions)
    assert trace(rules, rules.reset(3), actions, look_every=1) == never
    assert trace(rules, rules.reset(3), actions, look_every=7) == never


def test_a_batch_is_its_worlds_one_by_one():
    rules, actions = rules_of(), actions_of(3, 120, worlds=5)
    batch = rules.reset(40, 5)
    singles = [rules_of().reset(40 + b) for b in range(5)]
    alone = [rules_of() for _ in singles]
    for sent in actions:
        rules.step(batch, sent)
        for b, single in enumerate(singles):
            if not (single.is_truncated[0] or not single.is_alive.any()):
                alone[b].step(single, sent[b : b + 1])
    for b, single in enumerate(singles):
        for name, many, one in zip(batch._fields, batch, single, strict=True):
            assert np.array_equal(many[b], one[0]), (b, name)


def test_clones_go_their_own_way_and_alike():
    rules, actions = rules_of(), actions_of(4, 60)
    state = rules.reset(9)
    trace(rules, state, actions[:20])
    before, twins = digest(*state), rules.clone(state, 2)
    rules.reseed(twins, np.array([5, 6], np.uint64))
    for sent in actions[20:]:
        rules.step(twins, np.repeat(sent, 2, axis=0))
    assert digest(*state) == before
    assert not np.array_equal(twins.creature_cell[0], twins.creature_cell[1])
    copied = rules.clone(state)
    assert trace(rules, copied, actions[20:]) == trace(rules, state, actions[20:])


def test_switching_between_states_is_noticed():
    """Compiled code is handed addresses: two states stepped in turns must not be confused."""
    rules, actions = rules_of(), actions_of(5, 40)
    one, other = rules.reset(1), rules.reset(2)
    expected = [trace(rules_of(), rules.reset(seed), actions) for seed in (1, 2)]
    found = ([], [])
    for sent in actions:
        for state, digests in ((one, found[0]), (other, found[1])):
            digests.extend(trace(rules, state, sent[None]))
    assert list(found) == expected


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_environment_goes_on_alike_and_apart(duplicate):
    env = parallel_env("macrafter-v1", "survival")
    env.reset(seed=11)

    def play(one, steps):
        random, found = np.random.default_rng(0), []
        for _ in range(steps):
            if one.agents:
                one.step({name: int(random.integers(17)) for name in one.agents})
                found.append(digest(*one.world))
        return found

    play(env, 50)
    twin = duplicate(env)
    before = digest(*env.world)
    first = play(twin, 40)
    assert digest(*env.world) == before, "the copy changed the original"
    assert play(env, 40) == first


def test_seed_0_is_a_seed():
    rules = rules_of()
    zero, one = digest(*rules.reset(0)), digest(*rules.reset(1))
    assert digest(*rules.reset(0)) == zero != one
    env = parallel_env("macrafter-v1", "paper", seed=5)
    env.reset(seed=0)
    start = digest(*env.world)
    env.reset()
    assert digest(*env.world) != start
    env.reset(seed=0)
    assert digest(*env.world) == start


def test_finished_worlds_of_a_vector_rest_until_they_are_reset():
    env = vector_env("macrafter-v1", 3, "paper", max_steps=4, area=(40, 40))
    env.reset(2)
    for _ in range(4):
        views, rewards, terminated, truncated = env.step(np.zeros((3, 3), np.int32))
    assert truncated.all() and not terminated.any() and env.is_over.all()
    before = digest(*env.state)
    _, rewards, _, _ = env.step(np.full((3, 3), 99, np.int32))
    assert digest(*env.state) == before and not rewards.any()
    views = env.reset_done()
    assert (env.state.step == 0).all() and views["self"].shape == (3, 3, 6)
    assert digest(*env.state) != before
