"""Settings, seeds, drawings and actions of CUBE: what is allowed, and what is said otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from worlds.cube.config import PRESETS, CubeConfig, configure, curriculum_blocks
from worlds.cube.generate import from_drawing, to_drawing
from worlds.cube.rules import CubeRules
from worlds.errors import ConfigError, IllegalAction, LayoutError, UnsolvableMap
from worlds.registry import presets

CURRICULUM = {
    1: (20, "1x1"),
    2: (20, "2x1 1x2"),
    3: (20, "2x1 1x2"),
    4: (20, "3x1 1x2"),
    8: (20, "5x1 2x2 1x3"),
    16: (20, "9x1 4x2 2x3 1x4"),
    20: (20, "11x1 5x2 2x3 1x4"),
    64: (64, "33x1 16x2 8x3 4x4 2x5 1x6"),
    256: (256, "129x1 64x2 32x3 16x4 8x5 4x6 2x7 1x8"),
}


@pytest.mark.parametrize("n", CURRICULUM)
def test_curriculum(n: int) -> None:
    side, blocks = CURRICULUM[n]
    config = CubeConfig(n=n)
    assert " ".join(f"{w}x{c}" for w, c in curriculum_blocks(n)) == blocks
    assert (config.board_side, config.agent_count) == (side, n)


def test_points_of_the_presets() -> None:
    assert sum(CubeConfig().weights) == 18
    assert (len(CubeConfig(n=256).weights), sum(CubeConfig(n=256).weights)) == (36, 503)
    assert tuple(PRESETS) == presets("cube-v1")
    assert configure("quorum-6").agent_count == 6
    chain = configure("chain", n=8)
    assert (chain.rules, chain.n, chain.max_steps) == ("chain", 8, 500)


BAD_SETTINGS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"rules": "pull"}, ("rules", "'pull'", "quorum", "chain")),
    ({"n": 0}, ("n is 0", "1..1024")),
    ({"n": True}, ("n is True", "an integer")),
    ({"n": 4, "side": 20}, ("side is 20", "n sets it")),
    ({"n": 4, "agents": 4}, ("agents is 4", "n sets it")),
    ({"n": 4, "blocks": ((1, 1),)}, ("blocks", "n sets it")),
    ({"side": 4}, ("side is 4", "5..1024")),
    ({"side": 15.0}, ("side is 15.0", "an integer")),
    ({"agents": 16}, ("agents is 16", "side is 15")),
    ({"blocks": ((13, 1),), "agents": 15}, ("weight 13", "1..12")),
    ({"blocks": ((4, 1),)}, ("weight 4", "1..3", "require_movable")),
    ({"blocks": ((1, 1), (1, 2))}, ("blocks", "distinct")),
    ({"blocks": ((1, 4097),)}, ("blocks", "4096")),
    ({"blocks": ()}, ("blocks is ()", "1..64 pairs")),
    ({"blocks": 3}, ("blocks is 3", "pairs")),
    ({"placement": "grid"}, ("placement", "moat or scatter")),
    ({"placement_tries": 0}, ("placement_tries is 0", "1..10000")),
    ({"max_steps": 1_000_001}, ("max_steps", "1..1000000")),
    ({"step_cost": -0.1}, ("step_cost is -0.1", ">= 0")),
    ({"step_cost": float("nan")}, ("step_cost is nan", "finite")),
    ({"deliver_reward": float("inf")}, ("deliver_reward is inf", "finite")),
    ({"require_movable": 1}, ("require_movable is 1", "true or false")),
    ({"seed": 2**63}, ("seed", str(2**63 - 1))),
    ({"colour": 1}, ("colour", "allowed", "placement_tries")),
]


@pytest.mark.parametrize(("settings", "words"), BAD_SETTINGS, ids=str)
def test_bad_settings_are_refused(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        configure(**settings)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{caught.value} does not say {missing}"


def test_all_findings_come_together_and_presets_are_named() -> None:
    with pytest.raises(ConfigError, match=r"rules.*max_steps"):
        configure(rules="x", max_steps=0)
    with pytest.raises(ConfigError, match=r"quorum, quorum-6, chain"):
        configure("quorums")


def test_settings_take_lists_and_whole_numbers_for_costs() -> None:
    config = configure(blocks=[[1, 2], [2, 1]], step_cost=0)
    assert config.blocks == ((1, 2), (2, 1)) and config.weights == (1, 1, 2)
    assert type(config.step_cost) is float
    assert CubeConfig(require_movable=False, blocks=((4, 1),)).weights == (4,)


def test_no_layout_is_an_unsolvable_map() -> None:
    rules = CubeRules(CubeConfig(side=8, blocks=((3, 4),), placement_tries=5))
    with pytest.raises(UnsolvableMap, match=r"5 tries: side 8, blocks.*3x4, placement moat"):
        rules.reset(0)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "1", True, None])
def test_bad_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ConfigError, match="seed is"):
        CubeRules(CubeConfig()).reset(seed)


def test_the_largest_seed_wraps_to_0_in_a_batch() -> None:
    rules = CubeRules(CubeConfig())
    batch = rules.reset(2**63 - 1, 2)
    np.testing.assert_array_equal(batch.occupant[1], rules.reset(0).occupant[0])


BAD_DRAWINGS = [
    ("..|\n.0.|", "row 1, column 4"),
    (".0x?|", "row 0, column 3"),
    ("0|.|", "row 0, column 1"),
    ("0...", "row 0, column 3"),
    (".0AA|", "row 0, column 2: block 'A' is not one filled square"),
    ("0A.A|\n....|", "block 'A' is not one filled square"),
    ("0B..|", "row 0, column 1: block 'B', but there is no 'A'"),
    ("1...|", "row 0, column 0: agent '1', but there is no '0'"),
    ("00..|", "row 0, column 1: agent '0' is drawn twice"),
    (".0.A", "row 0, column 3: block 'A' has a cell in the last column"),
    ("....|", "no agent"),
    ("", "1..1024 rows"),
]


@pytest.mark.parametrize(("drawing", "words"), BAD_DRAWINGS, ids=str)
def test_bad_drawings_are_refused(drawing: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_drawing(drawing, CubeConfig())
    assert words in str(caught.value)


def test_a_drawing_is_read_and_printed_again() -> None:
    drawing = "0.AA.|\n..AA.|\nB...1|\n.....2"
    state = from_drawing(drawing, CubeConfig())
    assert to_drawing(state) == drawing
    assert state.agent_cell[0].tolist() == [[0, 0], [2, 4], [3, 5]]
    assert state.block_weight[0].tolist() == [2, 1]
    assert state.stream[0].tolist() == CubeRules(CubeConfig()).reset(0).stream[0].tolist()


def test_agents_beyond_9_are_drawn_as_letters_and_printed_modulo_10() -> None:
    state = from_drawing("0123456789ab|", CubeConfig())
    assert state.agent_cell.shape[1] == 12
    assert to_drawing(state) == "012345678901|"


def test_a_world_without_blocks_ends_at_its_first_step() -> None:
    rules = CubeRules(CubeConfig())
    state = from_drawing("0..|", CubeConfig())
    assert not state.is_terminated[0]
    assert rules.step(state, np.zeros((1, 1), np.int32)).terminated.all()
    assert rules.report(state).ended == "goal"
    assert rules.living(state) == ()


BAD_STEPS: list[tuple[list[list[int]], list[list[int]] | None, tuple[str, ...]]] = [
    ([[0, 5, 0]], None, ("action 5 of agent_1", "0 stay", "4 right")),
    ([[0, 0, -1]], None, ("action -1 of agent_2", "0 stay")),
    ([[0, 0, 0]], [[-1, -1, 36]], ("declared task 36 of agent_2", "-1..35")),
    ([[0, 0, 0]], [[-2, -1, 0]], ("declared task -2 of agent_0", "-1..35")),
]


@pytest.mark.parametrize(("actions", "declared", "words"), BAD_STEPS, ids=str)
def test_illegal_actions_raise_and_change_nothing(
    actions: list[list[int]], declared: list[list[int]] | None, words: tuple[str, ...]
) -> None:
    rules = CubeRules(CubeConfig())
    state = rules.reset(0)
    before = rules.clone(state)
    with pytest.raises(IllegalAction) as caught:
        tasks = None if declared is None else np.array(declared, np.int32)
        rules.step(state, np.array(actions, np.int32), tasks)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    for name, array in state._asdict().items():
        np.testing.assert_array_equal(array, before._asdict()[name], err_msg=name)


def test_the_world_of_a_batch_is_named() -> None:
    rules = CubeRules(CubeConfig())
    actions = np.zeros((4, 3), np.int32)
    actions[2, 1] = 9
    with pytest.raises(IllegalAction, match="action 9 of agent_1 in world 2"):
        rules.step(rules.reset(0, 4), actions)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("actions", np.zeros((1, 3), np.int64)),
        ("actions", np.zeros(3, np.int32)),
        ("actions", [[0, 0, 0]]),
        ("declared", np.zeros((1, 2), np.int32)),
        ("arguments", np.zeros((1, 3, 1), np.int32)),
    ],
)
def test_other_layouts_are_refused(argument: str, value: Any) -> None:
    rules = CubeRules(CubeConfig())
    given = {"actions": np.zeros((1, 3), np.int32), argument: value}
    with pytest.raises(LayoutError, match=rf"{argument} is .*needed: .*\[1, 3"):
        rules.step(rules.reset(0), **given)


def test_steps_after_the_end_raise_and_finished_worlds_of_a_batch_rest() -> None:
    rules = CubeRules(CubeConfig(max_steps=3))
    state = rules.reset(0, 2)
    state.step[1] = 2
    actions = np.full((2, 3), 4, np.int32)
    first = rules.step(state, actions)
    assert first.truncated.tolist() == [False, True]
    rested = rules.clone(state._make(array[1:] for array in state))
    second = rules.step(state, actions)
    assert second.rewards[1].tolist() == [0, 0, 0]
    for name, array in rested._asdict().items():
        np.testing.assert_array_equal(array[0], state._asdict()[name][1], err_msg=name)
    rules.step(state, actions)
    with pytest.raises(IllegalAction, match="ended"):
        rules.step(state, actions)


def test_a_declared_task_of_a_delivered_block_is_ignored() -> None:
    rules = CubeRules(CubeConfig())
    state = from_drawing("0A|\nB.|", CubeConfig())
    right = np.array([[4]], np.int32)
    rules.step(state, right)
    assert rules.report(state).points[0].task == "block_0_left"
    rules.step(state, right, np.array([[2]], np.int32))
    assert rules.report(state).attempts == ()


def test_reseed_replaces_the_stream() -> None:
    rules = CubeRules(CubeConfig())
    state = rules.reset(0, 2)
    rules.reseed(state, np.array([5, 6], np.uint64))
    assert state.stream.tolist() == [[5, 0], [6, 0]]
    with pytest.raises(LayoutError, match="keys"):
        rules.reseed(state, np.array([5], np.uint64))


def test_what_everybody_sees() -> None:
    config = CubeConfig()
    seen = CubeRules(config).observe(from_drawing("0.AA.|\n..AA1|", config), 1)
    expected = np.zeros((2, 6, 5), np.float32)
    expected[:, 5, 2] = 1
    expected[0, 0, [0, 3]] = 1, 1
    expected[1, 4, [0, 3]] = 1, 2
    expected[:, 2:4, 1], expected[:, 2:4, 4] = 2, 1
    np.testing.assert_array_equal(seen, expected)
    assert not seen.flags.writeable


def test_the_frame_is_enough_to_draw() -> None:
    config = CubeConfig()
    rules = CubeRules(config)
    frame = rules.frame(from_drawing("0.AA.|\n..AA1|", config))
    assert {name: layer.tolist() for name, layer in frame.items()} == {
        "agent_cell": [[0, 0], [1, 4]],
        "block_cell": [[0, 2]],
        "block_weight": [2],
        "board": [2, 6, 5],
    }
    assert set(rules.legend) == set(frame)
