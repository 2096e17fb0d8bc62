"""Large teams play; every kernel has one signature; what a world weighs."""

import importlib

import numpy as np
import pytest
from macrafter_play import make_rules

from primitives.compile import in_place
from worlds.macrafter.config import configure

KERNELS = ("terrain", "creature", "balance", "attempt", "collect", "recipe", "macrafter")


@pytest.mark.parametrize(("agents", "preset"), [(100, "paper"), (1000, "paper"), (100, "survival")])
def test_large_teams_play_200_steps(agents, preset):
    config = configure(preset, agents=agents, area="auto", max_steps=200)
    rules = make_rules(config)
    state = rules.reset(1)
    random = np.random.default_rng(0)
    for _ in range(200):
        actions = random.integers(0, 17, (1, agents)).astype(np.int32)
        stepped = rules.step(state, actions)
    assert state.step[0] == 200 and stepped.truncated[0]
    living = rules.living(state)
    assert len(living) > agents // 3, len(living)
    cells = state.agent_cell[0, list(living)]
    assert np.array_equal(state.occupant[0][tuple(cells.T)], np.array(living) + 1)
    assert state.attempt_count[0] > 0 and state.score[0] > 0


def test_every_kernel_has_one_signature():
    """A second signature is a second compilation: dtypes and layouts are fixed."""
    for preset in ("paper", "survival"):
        rules = make_rules(configure(preset))
        state = rules.reset(0)
        for _ in range(20):
            rules.step(state, np.full((1, 3), 5, np.int32))
        rules.observe(state, 0)
    found = {}
    for name in KERNELS:
        module = importlib.import_module(f"primitives.{name}_kernels")
        for attribute, kernel in vars(module).items():
            is_kernel = isinstance(kernel, type(in_place(lambda: None)))
            if is_kernel and getattr(kernel, "py_func", kernel).__module__ == module.__name__:
                found[attribute] = len(getattr(kernel, "signatures", ()))
    many = {name: count for name, count in found.items() if count > 1}
    assert not many and len(found) > 50, many


def test_a_world_of_three_weighs_less_than_64_kb():
    state = make_rules(configure("paper")).reset(0)
    weight = sum(array.nbytes for array in state)
    assert weight <= 64_000, weight
