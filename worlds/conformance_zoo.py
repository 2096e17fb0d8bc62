"""Laws of the PettingZoo form of a world; imported by `worlds.conformance.check_parallel`."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from copy import deepcopy
from functools import partial
from io import StringIO
from typing import Any

from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.test.render_test import render_test
from pettingzoo.utils import parallel_to_aec

from worlds.conformance_laws import equal_values
from worlds.errors import ConfigError, IllegalAction
from worlds.parallel import parallel_env

__all__ = ["check_environment"]

CYCLES = 1000
HALF = 20
Make = Callable[..., Any]


def check_environment(id: str, preset: str | None, settings: Mapping[str, Any]) -> None:
    """Check every law below, and PettingZoo's own tests with warnings as errors."""

    def make(render_mode: str | None = None) -> Any:
        return parallel_env(id, preset, render_mode, **settings)

    for law in LAWS:
        law(make)


def pettingzoo_agrees(make: Make) -> None:
    """PettingZoo's tests of API, seeds and rendering pass without a warning."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("error")
        parallel_api_test(make(), CYCLES)
        parallel_seed_test(make)
        render_test(lambda render_mode: parallel_to_aec(make(render_mode)))


def spaces_are_kept_and_hold(make: Make) -> None:
    """Each space is one object for ever, and holds every observation."""
    env = make()
    kept = {a: (env.action_space(a), env.observation_space(a)) for a in env.possible_agents}
    observations, _ = env.reset(seed=1)
    for _ in range(HALF):
        for agent, seen in observations.items():
            assert env.observation_space(agent).contains(seen), f"not in its space: {agent} {seen}"
        observations = env.step(_choose(env, 0))[0]
    for agent, (actions, views) in kept.items():
        is_kept = env.action_space(agent) is actions and env.observation_space(agent) is views
        assert is_kept, f"a space was made anew: {agent}"


def seeds_fix_episodes(make: Make) -> None:
    """Seed 0 is a seed like any other; without one, episodes follow from the last seed."""
    first = _episode(make(), 0, 0)
    assert equal_values(first, _episode(make(), 0, 0)), "seed 0 is not repeatable"
    assert not equal_values(first, _episode(make(), 1, 0)), "seeds 0 and 1 give one episode"
    one, other = make(), make()
    assert equal_values(_episode(one, None, 0), _episode(other, None, 0)), "no seed: unlike starts"
    one.reset(seed=7)
    other.reset(seed=7)
    follow = _episode(one, None, 0)
    assert equal_values(follow, _episode(other, None, 0)), "the episode after a seed differs"
    assert not equal_values(follow, _episode(one, None, 0)), "two episodes in a row are one"


def the_order_of_actions_means_nothing(make: Make) -> None:
    """A dict of actions in another order gives the same step, and is not changed."""
    one, other = make(), make()
    one.reset(seed=3)
    other.reset(seed=3)
    for number in range(HALF):
        actions = _choose(one, number)
        turned = dict(reversed(actions.items()))
        kept = deepcopy(turned)
        assert equal_values(one.step(actions), other.step(turned)), f"order matters: {actions}"
        assert equal_values(turned, kept) and list(turned) == list(kept), f"changed: {turned}"
        if not one.agents:
            return


def copies_go_on_alike_and_apart(make: Make) -> None:
    """`deepcopy` and `pickle` in mid-episode give a game that goes on by itself."""
    env = make()
    _play(env, 4, HALF)
    for copy in (deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin = deepcopy(env)
        for number in range(HALF, 2 * HALF):
            if copy.agents:
                before = _facts(env)
                assert equal_values(
                    copy.step(_choose(copy, number)), twin.step(_choose(twin, number))
                ), f"a copy goes another way at step {number}"
                assert equal_values(_facts(env), before), (
                    f"a copy moves the original, step {number}"
                )
        copy.reset(seed=0)
        twin.reset(seed=0)
        assert equal_values(_facts(copy), _facts(twin)), "a copy resets otherwise"


def dicts_hold_agents_only(make: Make) -> None:
    """All five dicts hold whoever acted, the last step included; then nobody is left."""
    env = make()
    observations, infos = env.reset(seed=2)
    assert list(observations) == list(infos) == env.possible_agents, f"reset gave {list(infos)}"
    for number in range(CYCLES):
        acting = list(env.agents)
        result = env.step(_choose(env, number))
        for part in result:
            assert list(part) == acting, f"{list(part)} for {acting} at step {number}"
        ended = {a for a in acting if result[2][a] or result[3][a]}
        assert env.agents == [a for a in acting if a not in ended], f"left: {env.agents}"
        if not env.agents:
            return
    raise AssertionError(f"no end in {CYCLES} steps: {env.agents}")


def wrong_calls_raise_and_change_nothing(make: Make) -> None:
    """A missing, unknown, ill-typed or out-of-range action raises, as does a step too many."""
    env = make()
    _raises(IllegalAction, lambda: env.step({}), "step before reset")
    env.reset(seed=0)
    good = _choose(env, 0)
    first = env.agents[0]
    wrong = {
        "missing agent": {a: v for a, v in good.items() if a != first},
        "unknown agent": {**good, "agent_x": good[first]},
        "__all__": {**good, "__all__": good[first]},
        "not a number": {**good, first: "up"},
        "a fraction": {**good, first: 0.5},
        "nothing": {**good, first: None},
        "too large": {**good, first: good[first] * 0 + 1000},
        "negative": {**good, first: good[first] * 0 - 1},
        "huge": {**good, first: 2**40},
    }
    for name, actions in wrong.items():
        before = _facts(env)
        _raises(IllegalAction, partial(env.step, actions), name)
        assert equal_values(_facts(env), before), f"changed by a wrong call: {name}"
    _raises(ConfigError, lambda: env.reset(options={"colour": 1}), "unknown option")
    for seed in (-1, 2**63, 0.5):
        _raises(ConfigError, partial(env.reset, seed=seed), f"seed {seed}")
    _play(env, 0, CYCLES)
    _raises(IllegalAction, lambda: env.step({}), "step after the end")


def looking_changes_nothing(make: Make) -> None:
    """Rendering at every step, at some and never gives one game; the picture is of the state."""
    games = []
    for every in (1, 7, CYCLES):
        env = make("ansi")
        env.reset(seed=6)
        game = []
        for number in range(HALF):
            if number % every == 0:
                assert env.render() == env.render(), f"two pictures of step {number}"
                env.state()
            if env.agents:
                game.append(env.step(_choose(env, number)))
        games.append((game, _facts(env)))
    assert all(equal_values(game, games[0]) for game in games), "rendering changes the game"
    env.reset(seed=9)
    fresh = make("ansi")
    fresh.reset(seed=9)
    assert env.render() == fresh.render(), "after a reset the old world is shown"


LAWS: tuple[Callable[[Make], None], ...] = (
    pettingzoo_agrees,
    spaces_are_kept_and_hold,
    seeds_fix_episodes,
    the_order_of_actions_means_nothing,
    copies_go_on_alike_and_apart,
    dicts_hold_agents_only,
    wrong_calls_raise_and_change_nothing,
    looking_changes_nothing,
)


def _choose(env: Any, number: int) -> dict[str, Any]:
    """Actions of all live agents, by the number of the step and the agent's name alone."""
    actions = {}
    for agent in env.agents:
        space = deepcopy(env.action_space(agent))
        space.seed(1000 * number + int(agent.removeprefix("agent_")))
        actions[agent] = space.sample()
    return actions


def _play(env: Any, seed: int | None, steps: int) -> None:
    env.reset(seed=seed)
    for number in range(steps):
        if env.agents:
            env.step(_choose(env, number))


def _episode(env: Any, seed: int | None, offset: int) -> list[Any]:
    """What a reset and some steps give."""
    found: list[Any] = [env.reset(seed=seed), env.state()]
    for number in range(HALF):
        if env.agents:
            found.append(env.step(_choose(env, number + offset)))
    return found


def _facts(env: Any) -> Any:
    """All arrays of the world, and who is left."""
    return [array.copy() for array in env.world], list(env.agents)


def _raises(error: type[Exception], call: Callable[[], Any], name: str) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{name}: no {error.__name__}")
