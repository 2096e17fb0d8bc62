"""Every registered world keeps the laws of the public kit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from worlds.api import Stepped, World
from worlds.conformance import check_parallel, check_world
from worlds.conformance_laws import WORLD_LAWS
from worlds.cube.rules import CubeRules
from worlds.parallel import PORTS
from worlds.registry import ids, make, presets

EMBODIED = [(id, preset) for id in PORTS for preset in presets(id)]
STEPS = 60


def test_every_embodied_world_has_a_parallel_form() -> None:
    embodied = {id for id in ids() if isinstance(make(id), World)}
    assert embodied == set(PORTS)


@pytest.mark.parametrize("law", WORLD_LAWS, ids=[law.__name__ for law in WORLD_LAWS])
@pytest.mark.parametrize(("id", "preset"), EMBODIED)
def test_worlds(id: str, preset: str, law: Callable[[World], None]) -> None:
    world = make(id, preset, max_steps=STEPS)
    assert isinstance(world, World)
    law(world)


@pytest.mark.parametrize(("id", "preset"), EMBODIED)
def test_parallel_forms(id: str, preset: str) -> None:
    check_parallel(id, preset)


@pytest.mark.parametrize(
    ("id", "settings"), [("cube-v1", {"view": 5}), ("macrafter-v1", {"full_actions": True})]
)
def test_options_of_parallel_forms(id: str, settings: dict[str, Any]) -> None:
    check_parallel(id, **settings)


class Leaky(CubeRules):
    """Rules with a fault of one kind."""

    def __init__(self, config: Any, fault: str) -> None:
        super().__init__(config)
        self.fault, self.calls = fault, 0

    def step(self, state: Any, actions: Any, declared: Any = None, arguments: Any = None) -> Any:
        self.calls += 1
        if self.fault == "clips actions" and isinstance(actions, np.ndarray):
            actions = np.clip(actions, 0, 4)
        if self.fault == "steps on" and state.is_truncated[0]:
            state.step[0] += 1
            return Stepped(*(np.zeros(1),) * 3)
        if self.fault == "draws from outside":
            state.score[0] += self.calls
        stepped = super().step(state, actions, declared, arguments)
        if self.fault == "forgets rows":
            state.agent_attempt[:] = -1
        return stepped

    def observe(self, state: Any, agent: int) -> Any:
        if self.fault == "observing draws":
            state.stream[0, 1] += 1
        return super().observe(state, agent)

    def clone(self, state: Any, copies: int = 1) -> Any:
        return state if self.fault == "shares clones" else super().clone(state, copies)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("clips actions", "illegal actions raise"),
        ("steps on", "a step after the end raises"),
        ("draws from outside", "equal seeds agree"),
        ("forgets rows", "a row has members"),
        ("observing draws", "looking changes nothing"),
        ("shares clones", "a copy is a copy|clones are independent"),
    ],
)
def test_the_kit_finds_faults(fault: str, words: str) -> None:
    world = make("cube-v1", max_steps=STEPS)
    assert isinstance(world, World)
    with pytest.raises(AssertionError, match=words):
        check_world(world._replace(rules=Leaky(world.config, fault)))
