"""Start states: against plain Python, and what is promised of them."""

import numpy as np
import pytest
from macrafter_maps import as_array, chosen_region, make_world, shortages
from macrafter_oracle import Stream
from macrafter_play import make_rules

from worlds.errors import UnsolvableMap
from worlds.macrafter.config import auto_side, configure
from worlds.macrafter.state import CREATURES, MATERIALS

SMALL = {"area": (26, 31), "view": (5, 5)}


def material_of(state):
    names = np.array(MATERIALS)[state.material[0]]
    return {(r, c): str(names[r, c]) for r in range(names.shape[0]) for c in range(names.shape[1])}


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        pytest.param(
            "solo", {"ensure_solvable": False, **SMALL}, marks=pytest.mark.kernel, id="solo"
        ),
        ("survival", {"ensure_solvable": False, "spawn": "scattered", "agents": 7, **SMALL}),
        ("paper", {"ensure_solvable": False, "zombies": True, **SMALL}),
        ("paper", {"area": (40, 40), "reach": 2}),
        ("survival", {"area": (44, 40)}),
    ],
)
def test_a_start_state_is_that_of_plain_python(preset, changes):
    config = configure(preset, **changes)
    rules = make_rules(config)
    for seed in (0, 3):
        state = rules.reset(seed)
        material, agents, herd, attempt = make_world(config, rules.table, seed)
        assert np.array_equal(np.array(MATERIALS)[state.material[0]], as_array(material)), seed
        assert state.agent_cell[0].tolist() == [list(cell) for cell in agents], (seed, attempt)
        used = len(herd)
        kinds = [CREATURES[kind] for kind in state.creature_kind[0]]
        assert kinds[:used] == [kind for kind, _ in herd] and not any(
            kind != "none" for kind in kinds[used:]
        ), seed
        assert state.creature_cell[0, :used].tolist() == [list(cell) for _, cell in herd], seed
        assert state.creature_serial[0, :used].tolist() == list(range(used)), seed
        assert (state.creature_born[0, :used] == -1).all() and state.next_serial[0] == used, seed
        stream = Stream.seeded(seed).fork(1)
        assert state.stream[0].tolist() == [stream.key, 0], seed


@pytest.mark.parametrize("preset", ["paper", "paper-6", "survival", "solo"])
def test_the_team_can_reach_what_its_tools_are_made_of(preset):
    config = configure(preset)
    rules = make_rules(config)
    for seed in range(4):
        state = rules.reset(seed)
        material = material_of(state)
        region = chosen_region(material, config, rules.table)
        agents = {tuple(cell) for cell in state.agent_cell[0].tolist()}
        assert agents <= region, (preset, seed)
        assert not shortages(material, region, config, rules.table), (preset, seed)


def test_the_start_is_calm_and_everybody_sees():
    state = make_rules(configure("paper")).reset(5)
    assert state.step[0] == 0 and not state.counters.any() and not state.achievements.any()
    assert (state.inventory[0, :, :4] == 9).all() and not state.inventory[0, :, 4:].any()
    for agent, (row, column) in enumerate(state.agent_cell[0].tolist()):
        seen = np.argwhere(state.known[0, agent])
        near = np.argwhere(state.material[0] >= 0)
        inside = (abs(near - (row, column)) <= (3, 4)).all(axis=1)
        assert np.array_equal(seen, near[inside]), agent


def test_agents_start_together_in_the_middle_or_scattered():
    together = make_rules(configure("survival")).reset(1).agent_cell[0]
    assert abs(together - 32).sum(axis=1).max() <= 4, together.tolist()
    scattered = make_rules(configure("paper")).reset(1).agent_cell[0]
    assert abs(scattered - 32).sum(axis=1).max() > 8, scattered.tolist()


def test_a_team_too_large_for_the_map_is_refused():
    rules = make_rules(configure("paper", agents=400, area=(16, 16), solvable_tries=3, view=(3, 3)))
    with pytest.raises(
        UnsolvableMap, match=r"400 agents on 16 x 16 cells in 3 tries.*short of grass cells"
    ):
        rules.reset(0)


def test_the_shortage_of_the_last_try_is_named():
    rules = make_rules(configure("paper", area=(16, 16), solvable_tries=2))
    with pytest.raises(UnsolvableMap, match=r"agents on 16 x 16 cells in 2 tries.*short of .*of 1"):
        rules.reset(0)


def test_auto_area_grows_with_the_team():
    assert [auto_side(agents) for agents in (1, 12, 13, 100, 1000)] == [64, 64, 72, 192, 588]
    assert configure("paper", agents=100, area="auto").shape == (192, 192)
