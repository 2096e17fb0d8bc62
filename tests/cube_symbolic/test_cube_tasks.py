"""Tasks of CUBE: what is open, how far it can go, what an agent's share of it is."""

import json

import pytest
from drawn import act, drawn

from primitives.navigation import UNREACHABLE
from worlds.api import Failed
from worlds.cube.config import configure
from worlds.cube.rules import CubeRules
from worlds.cube.tasks import CubeTasks

TEXT = """
........|
0AAB....|
.AA..CC.|
1....CC.|
"""


def world(text=TEXT, rules="quorum"):
    state, config = drawn(text, rules)
    return state, CubeTasks(config), config


def test_four_tasks_for_each_undelivered_block():
    state, tasks, config = world("..0A|\n.B..|\n1...|")
    assert [task.number for task in tasks.open(state)] == list(range(8))
    assert [task.id for task in tasks.open(state)][:4] == [
        "block_0_up",
        "block_0_down",
        "block_0_left",
        "block_0_right",
    ]
    act(state, config, {0: "right"})
    assert [task.number for task in tasks.open(state)] == [4, 5, 6, 7]
    assert tasks.known(state, 1) == tasks.open(state)
    assert tasks.find(state, "block_0_left") is None


def test_a_task():
    state, tasks, _ = world()
    task = tasks.find(state, "block_0_left", 1)
    assert task == (2, "block_0_left", "weight_2", (1, 1), 2, 2.0, None)
    assert tasks.find(state, "block_0_up").worth == 0


@pytest.mark.parametrize("name", ["block_0", "block_9_left", "0_left", "block_00_left", "none", ""])
def test_find_knows_nothing_else(name):
    state, tasks, _ = world()
    assert tasks.find(state, name) is None


def test_need_under_chain_is_that_of_the_train():
    state, tasks, _ = world(TEXT, "chain")
    assert tasks.find(state, "block_0_left").need == 3
    assert tasks.find(state, "block_1_left").need == 1


def test_slots():
    state, tasks, _ = world()
    assert tasks.slots(state, tasks.find(state, "block_0_left")) == ((1, 0), (2, 0))
    assert tasks.slots(state, tasks.find(state, "block_0_right")) == ((2, 3),)
    assert tasks.slots(state, tasks.find(state, "block_2_right")) == ((2, 7), (3, 7))
    chain, chain_tasks, _ = world(TEXT, "chain")
    assert chain_tasks.slots(chain, chain_tasks.find(chain, "block_2_left")) == (
        (2, 4),
        (3, 4),
        (2, 3),
        (3, 3),
        (3, 2),
        (3, 1),
        (3, 0),
    )


@pytest.mark.parametrize(
    ("name", "quorum", "chain"),
    [
        ("block_0_left", (0, 6), (6, 6)),
        ("block_1_left", (5, 5), (5, 5)),
        ("block_2_left", (2, 2), (2, 2)),
        ("block_0_down", (1, 0), (1, 0)),
        ("block_0_right", (1, 0), (1, 0)),
        ("block_2_right", (2, 0), (5, 0)),
        ("block_2_up", (0, 0), (0, 0)),
    ],
)
def test_way(name, quorum, chain):
    for rules, expected in (("quorum", quorum), ("chain", chain)):
        state, tasks, _ = world(TEXT, rules)
        assert tasks.way(state, tasks.find(state, name)) == expected, rules


def test_agents_are_not_in_the_way():
    state, tasks, _ = world("0A1..|\n.....|")
    assert tasks.way(state, tasks.find(state, "block_0_left")) == (4, 4)


def test_distances():
    state, tasks, _ = world()
    field = tasks.distances(state, ((0, 0), (3, 7)))
    assert (field.dtype, field.shape) == ("int32", (4, 9))
    assert field[1, 0] == 1 and field[2, 7] == 1 and field[0, 3] == 3
    assert field[1, 1] == UNREACHABLE and field[0, 8] == UNREACHABLE
    assert tasks.distances(state, ()).min() == UNREACHABLE


def test_recipe_from_afar_and_on_the_slot():
    state, tasks, _ = world()
    task = tasks.find(state, "block_2_left")
    recipe = tasks.recipe(state, 1, task)
    assert (recipe.prepare, recipe.prepare_steps, recipe.steps) == ((), 0, 4 + 2)
    assert [action.verb for action in (*recipe.approach, *recipe.act)] == ["navigate", "push"]
    assert recipe.act[0].args == {"block": 2, "steps": 2, "face": "left"}
    slotted = tasks.recipe(state, 1, task, (2, 4))
    assert slotted.approach[0].args["cell"] == [2, 4] and slotted.steps == 5 + 2
    at_home = tasks.recipe(state, 0, tasks.find(state, "block_0_left"))
    assert at_home.approach == () and at_home.steps == 1
    json.dumps([dict(action.args) for action in (*slotted.approach, *slotted.act)])


def test_recipe_pushes_ten_steps_at_most():
    state, tasks, _ = world("0A" + "." * 16 + "|")
    assert tasks.recipe(state, 0, tasks.find(state, "block_0_left")).steps == 10


def test_recipe_without_a_path():
    state, tasks, _ = world("0AAB...|\n.AA....|")
    failed = tasks.recipe(state, 0, tasks.find(state, "block_1_up"))
    assert isinstance(failed, Failed) and failed.reason.code == "no_path"


def test_result():
    state, tasks, config = world("0A.|\n...|\n1..|\n.B.|")
    left, up = tasks.find(state, "block_0_left"), tasks.find(state, "block_0_up")
    marks = json.loads(json.dumps([tasks.mark(state, left), tasks.mark(state, up)]))
    assert [tasks.result(state, mark) for mark in marks] == ["none", "none"]
    act(state, config, {0: "right"})
    assert [tasks.result(state, mark) for mark in marks] == ["advanced", "none"]
    act(state, config, {0: "right"})
    assert [tasks.result(state, mark) for mark in marks] == ["done", "done"]


def test_boards_are_shared_and_never_stale():
    config = configure("quorum")
    rules, tasks = CubeRules(config), CubeTasks(config)
    state = rules.reset(4)
    first = tasks.distances(state, ((0, 0),))
    assert tasks.distances(state, ((0, 0),)) is first
    other = rules.reset(5)
    assert (tasks.distances(other, ((0, 0),)) != first).any()
    assert (tasks.distances(rules.reset(4), ((0, 0),)) == first).all()
    assert not first.flags.writeable
