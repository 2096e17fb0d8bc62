"""What agents of CUBE read: golden text and data, limits, reasons, manual."""

import json
import string
import time

import numpy as np
import pytest
from drawn import act, drawn

from worlds.cube.concepts import SUMMARIES
from worlds.cube.config import configure
from worlds.cube.rules import CubeRules
from worlds.cube.skills import CubeSkills
from worlds.cube.state import REASONS
from worlds.cube.text import CubeText

BOARD = """
........|
.0AAA.B.|
.1AAA...|
.2AAA...|
"""

GOLDEN = """\
cube-v1, rules quorum. Step 5 of 200. Team score 0 of 4.
Board: 4 rows x 9 columns, cells are (row, column), (0,0) is top left. Goal: column 8.
A block of weight w moves one cell when w agents fill one whole face and push in the same step. \
To push right, stand on its left face.
You are agent_1 at (2,1). Last step: right, blocked (insufficient_force). block_0_left: short, \
need 3, participation 2, spatial 2, temporal 2.
Agents: agent_0 (1,1); agent_1 (2,1); agent_2 (3,1).
Blocks, nearest to the goal first:
- block_1: weight 1, rows 1-1, columns 6-6, 2 from the goal, path clear. left 0/1 at (1,5).
- block_0: weight 3, rows 1-3, columns 2-4, 4 from the goal, path blocked by block_1. \
left 3/3 at (1,1) (2,1) (3,1).
Delivered: none.
Map:
........|
.0AAA.B.|
.1AAA...|
.2AAA...|"""


def face(*cells, in_place=()):
    return {"cells": [list(cell) for cell in cells], "in_place": list(in_place)} | {
        "is_blocked": False
    }


GOLDEN_VIEW = {
    "world": "cube-v1",
    "rules": "quorum",
    "step": 5,
    "max_steps": 200,
    "score": 0,
    "max_score": 4,
    "board": {"rows": 4, "columns": 9, "goal_column": 8},
    "self": {
        "id": "agent_1",
        "cell": [2, 1],
        "last": {
            "action": "right",
            "outcome": "blocked",
            "reason": "insufficient_force",
            "attempt": {
                "task": "block_0_left",
                "result": "short",
                "need": 3,
                "participation": 2,
                "spatial": 2,
                "temporal": 2,
                "dependency": 0,
                "members": 2,
                "unmet": ["participation", "spatial", "temporal"],
            },
        },
    },
    "agents": [
        {"id": "agent_0", "cell": [1, 1]},
        {"id": "agent_1", "cell": [2, 1]},
        {"id": "agent_2", "cell": [3, 1]},
    ],
    "blocks": [
        {
            "id": "block_1",
            "weight": 1,
            "top_left": [1, 6],
            "distance_to_goal": 2,
            "path_clear": True,
            "ahead": [],
            "faces": {
                "up": face((0, 6)),
                "down": face((2, 6)),
                "left": face((1, 5)),
                "right": face((1, 7)),
            },
        },
        {
            "id": "block_0",
            "weight": 3,
            "top_left": [1, 2],
            "distance_to_goal": 4,
            "path_clear": False,
            "ahead": ["block_1"],
            "faces": {
                "up": face((0, 2), (0, 3), (0, 4)),
                "down": {"cells": [], "in_place": [], "is_blocked": True},
                "left": face((1, 1), (2, 1), (3, 1), in_place=("agent_0", "agent_1", "agent_2")),
                "right": face((1, 5), (2, 5), (3, 5)),
            },
        },
    ],
    "blocks_left_out": 0,
    "delivered": [],
}


def after_five_steps():
    state, config = drawn(BOARD)
    for _ in range(4):
        act(state, config, {})
    act(state, config, {0: "right", 1: "right"})
    return state, CubeText(config)


def test_golden_text():
    state, text = after_five_steps()
    assert text.describe(state, 1, 6000) == GOLDEN


def test_golden_view():
    state, text = after_five_steps()
    assert json.loads(json.dumps(text.view(state, 1))) == GOLDEN_VIEW


def test_chain_has_its_own_rule_line():
    state, config = drawn(BOARD, "chain")
    assert CubeText(config).describe(state, 0, 6000).split("\n")[2] == (
        "A block moves when the agents lined up behind one face exert at least the weight of the "
        "block and of every block it must push along."
    )


def test_last_step_is_left_out_at_step_0():
    state, config = drawn(BOARD)
    text = CubeText(config)
    assert "Last step" not in text.describe(state, 0, 6000)
    assert text.view(state, 0)["self"]["last"] is None


@pytest.mark.parametrize(
    ("action", "words"),
    [("left", "left, moved."), ("stay", "stay, stayed."), ("up", "up, blocked (agent).")],
)
def test_last_step_names_action_outcome_and_reason(action, words):
    state, config = drawn(BOARD)
    act(state, config, {1: action})
    assert f"Last step: {words}" in CubeText(config).describe(state, 1, 6000)


def test_other_faces_appear_when_somebody_is_in_place():
    state, config = drawn(
        """
..0...|
..A1..|
......|
"""
    )
    line = next(
        line
        for line in CubeText(config).describe(state, 0, 6000).split("\n")
        if line.startswith("- ")
    )
    assert line.endswith("path clear. left 0/1 at (1,1); up 1/1 at (0,2); right 1/1 at (1,3)."), (
        line
    )


@pytest.mark.parametrize("limit", [0, 40, 200, 400, 600, 700, 800, 900, 1200, 3000])
@pytest.mark.parametrize("preset", ["quorum", "quorum-6", "chain"])
def test_text_keeps_the_limit_and_counts_what_it_leaves_out(preset, limit):
    config = configure(preset)
    state, text = CubeRules(config).reset(1), CubeText(config)
    whole = text.describe(state, 0, 100_000)
    told = text.describe(state, 0, limit)
    assert len(told) <= limit
    if limit >= len(whole):
        assert told == whole
    elif limit >= 600:
        assert "Map:" not in told and "(map left out)" in told, told
        shown = told.count("\n- block_")
        more = len(config.weights) - shown
        assert (f"({more} more blocks left out)" in told) == (more > 0), told


def test_nearest_blocks_stay_when_far_ones_go():
    config = configure()
    state, text = CubeRules(config).reset(1), CubeText(config)
    lines = [line for line in text.describe(state, 0, 10**6).split("\n") if line[:2] == "- "]
    told = [line for line in text.describe(state, 0, 900).split("\n") if line[:2] == "- "]
    assert 0 < len(told) < len(lines) and told == lines[: len(told)]


def test_at_most_40_blocks_are_listed():
    config = configure(blocks=((1, 45),), side=30)
    state, text = CubeRules(config).reset(0), CubeText(config)
    told = text.describe(state, 0, 100_000)
    assert told.count("\n- block_") == 40 and "(5 more blocks left out)" in told
    view = text.view(state, 0)
    assert (len(view["blocks"]), view["blocks_left_out"]) == (40, 5)


def test_map_only_on_small_boards():
    for overrides, has_map in (
        ({"side": 40}, True),
        ({"side": 41}, False),
        ({"agents": 11}, False),
    ):
        config = configure(**overrides)
        told = CubeText(config).describe(CubeRules(config).reset(0), 0, 100_000)
        assert ("\nMap:\n" in told) == has_map, overrides


@pytest.mark.parametrize("n", [4, 256])
def test_sheet_is_short(n):
    config = configure("chain", n=n)
    state, text = CubeRules(config).reset(0), CubeText(config)
    CubeRules(config).step(state, np.full((1, n), 4, np.int32))
    for agent in (0, n - 1):
        sheet = text.sheet(state, agent)
        assert len(json.dumps(sheet)) <= 300
        assert sheet["id"] == f"agent_{agent}" and sheet["last"]["outcome"]


@pytest.mark.parametrize("preset", ["quorum", "chain"])
def test_manual_lists_rules_verbs_and_concepts(preset):
    config = configure(preset)
    manual = CubeText(config).manual()
    assert len(manual) < 6000
    for name in (*SUMMARIES, *(f"- {verb.name} " for verb in CubeSkills(config).verbs)):
        assert name in manual, name


def test_every_reason_has_a_sentence():
    codes = {*REASONS[1:], "block_delivered", "face_blocked", "face_full", "not_at_face"}
    codes |= {"unknown_reference", "timeout", "blocked", "no_path", "bad_argument"}
    sentences = CubeText(configure()).reasons
    assert codes <= set(sentences), codes - set(sentences)
    for code, sentence in sentences.items():
        fields = {name: "x" for _, name, _, _ in string.Formatter().parse(sentence) if name}
        assert sentence.format(**fields).endswith((".", "...")), code


def test_looking_changes_nothing():
    config = configure()
    state, text = CubeRules(config).reset(3), CubeText(config)
    before = [array.copy() for array in state]
    text.describe(state, 0, 6000), text.view(state, 1), text.sheet(state, 2)
    assert all(np.array_equal(old, new) for old, new in zip(before, state, strict=True))


def test_views_do_not_share_what_a_reader_may_change():
    config = configure()
    state, text = CubeRules(config).reset(3), CubeText(config)
    text.view(state, 0)["blocks"][0]["faces"]["left"]["cells"].clear()
    assert text.view(state, 0)["blocks"][0]["faces"]["left"]["cells"]


def test_text_of_a_changed_world_is_new():
    config = configure()
    rules, text = CubeRules(config), CubeText(config)
    state = rules.reset(3)
    before = text.describe(state, 0, 6000)
    rules.step(state, np.full((1, 3), 4, np.int32))
    assert text.describe(state, 0, 6000) != before
    assert text.describe(rules.reset(3), 0, 6000) == before


def test_256_texts_are_quick():
    config = configure("chain", n=256)
    rules, text = CubeRules(config), CubeText(config)
    state = rules.reset(0)
    spent = []
    for _ in range(5):
        rules.step(state, np.full((1, 256), 4, np.int32))
        begin = time.process_time()
        for agent in range(256):
            text.describe(state, agent, 6000)
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.1, spent
