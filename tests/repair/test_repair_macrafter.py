"""Golden moments in MA-Crafter: reach 1, 9 by 9 grass, no creatures but none drawn."""

import numpy as np
import pytest
from boards import gate_of, lines_of, moment, plan_views

from repair.config import repair_config
from repair.predict import make_predictor
from worlds.api import Failed, Reason
from worlds.macrafter.world import build

DIRECTIONS = ("up", "down", "left", "right")
ITEMS = {"wood": 5, "wood_pickaxe": 10, "stone_pickaxe": 11}
IDLE = ("none", [("wait", {"steps": 40})])
SOURCES = {"coal": "C", "iron": "I", "stone": "S", "tree": "T"}


def collect(task, steps):
    return (task, [("collect", {"target": task, "steps": steps})])


def field(source, agents, extra=()):
    """agents: (cell, facing, items). extra: (letter, cell)."""
    rows = [["."] * 9 for _ in range(9)]
    rows[4][5] = SOURCES[source]
    for letter, (r, c) in extra:
        rows[r][c] = letter
    for agent, ((r, c), _, _) in enumerate(agents):
        rows[r][c] = str(agent)
    world = build("paper", agents=len(agents), excess_requirements="lower")
    from worlds.macrafter.generate import from_drawing

    state = from_drawing("\n".join("".join(row) for row in rows), world.config)
    for agent, (_, facing, items) in enumerate(agents):
        state.agent_facing[0, agent] = DIRECTIONS.index(facing)
        for item in items:
            state.inventory[0, agent, ITEMS[item]] = 1
    state.known[:] = state.material[:, None]
    return world, state


class ToldRecipes:
    """The world's tasks, but for the recipes of the agents named: preparation steps, or none."""

    def __init__(self, tasks, prepare):
        self._tasks = tasks
        self._prepare = prepare

    def __getattr__(self, name):
        return getattr(self._tasks, name)

    def recipe(self, state, agent, task, slot=None):
        if agent not in self._prepare:
            return self._tasks.recipe(state, agent, task, slot)
        steps = self._prepare[agent]
        if steps is None:
            return Failed(Reason("missing_tool"))
        found = self._tasks.recipe(state, 0, task, slot)
        from worlds.api import Action

        return found._replace(
            prepare=(Action("wait", {"steps": steps}),), prepare_steps=steps, steps=steps
        )


PICK = ("wood_pickaxe",)
COAL, IRON, STONE, TREE = "coal@4,5", "iron@4,5", "stone@4,5", "tree@4,5"
A0 = ((4, 4), "right", PICK)
BELOW = ((5, 5), "up", ())
CASES = {
    13: ("coal", [A0, ((0, 0), "down", ())], [collect(COAL, 3), IDLE], {1: None}, ()),
    14: ("coal", [A0, ((0, 0), "down", PICK)], [collect(COAL, 3), IDLE], {}, ()),
    15: (
        "coal",
        [A0, BELOW, ((0, 0), "down", PICK)],
        [collect(COAL, 3), collect(COAL, 3), IDLE],
        {1: None},
        (),
    ),
    16: (
        "coal",
        [A0, BELOW, ((0, 0), "down", ())],
        [collect(COAL, 3), collect(COAL, 3), IDLE],
        {1: 6, 2: 9},
        (),
    ),
    17: (
        "iron",
        [
            ((4, 4), "right", ("stone_pickaxe",)),
            ((5, 5), "up", ("stone_pickaxe",)),
            ((0, 5), "down", ("stone_pickaxe",)),
        ],
        [
            collect(IRON, 3),
            collect(IRON, 3),
            (
                IRON,
                [
                    ("move", {"direction": "down", "steps": 3}),
                    ("wait", {"steps": 1}),
                    ("collect", {"target": IRON, "steps": 3}),
                ],
            ),
        ],
        {},
        (),
    ),
    19: (
        "stone",
        [((4, 4), "right", ("wood",))],
        [collect(STONE, 3)],
        {},
        (("B", (5, 3)),),
    ),
    20: ("tree", [((4, 3), "right", ())], [collect(TREE, 3)], {}, ()),
}
# first, last, held, cause; members, costs by agent, strategy
EXPECTED = {
    13: (1, 3, (0, 0, 0, 0), "participation", [0], {}, "release"),
    14: (1, 3, (0, 0, 0, 0), "participation", [0, 1], {0: 0, 1: 8}, "recruit"),
    15: (1, 1, (0, 1, 1, 0), "dependency", [0, 2], {0: 0, 2: 8}, "synchronise"),
    16: (1, 1, (0, 1, 1, 0), "dependency", [0, 1], {0: 0, 1: 6}, "equip"),
    17: (1, 3, (0, 0, 0, 0), "spatial", [0, 1, 2], {0: 0, 1: 0, 2: 3}, "synchronise"),
    19: (1, 1, (0, 1, 1, 0), "dependency", [0], None, "equip"),
    20: (1, 1, (0, 0, 1, 1), "spatial", [0], {0: 1}, "synchronise"),
}


def made(number):
    source, agents, plans, recipes, extra = CASES[number]
    world, state = field(source, agents, extra)
    return world._replace(tasks=ToldRecipes(world.tasks, recipes)), state, plans


@pytest.mark.parametrize("number", EXPECTED)
def test_forecast(number):
    world, state, plans = made(number)
    first, last, held, cause, *_ = EXPECTED[number]
    (one,) = [
        f
        for f in make_predictor(world, repair_config("on"), 0, 200).predict(
            state, plan_views(plans), 0
        )
        if f.task != "none"
    ]
    assert (one.first, one.last, one.held, one.cause) == (first, last, held, cause), one


@pytest.mark.parametrize("number", EXPECTED)
def test_channel(number):
    world, state, plans = made(number)
    *_, members, costs, strategy = EXPECTED[number]
    _, lines = gate_of(world).review(moment(state, plans))
    (line,) = lines_of(lines, "repair_opened")
    assert (line["members"], line["strategy"]) == (members, strategy), line
    if costs is not None:
        assert {agent: cost for agent, _, cost in line["cohort"]} == costs, line


def test_trying_longer_lets_the_third_agent_arrive():
    world, state, plans = made(17)
    plans = [collect(IRON, 6), collect(IRON, 6), plans[2]]
    (one,) = make_predictor(world, repair_config("on"), 0, 200).predict(state, plan_views(plans), 0)
    assert (one.first, one.last, one.succeeded, one.held) == (1, 5, 1, (1, 1, 1, 1)), one
    channels, _ = gate_of(world).review(moment(state, plans))
    assert channels == ()


def test_crafting_first_needs_no_channel():
    world, state, plans = made(19)
    task, actions = plans[0]
    plans = [(task, [("craft", {"item": "wood_pickaxe"}), *actions])]
    (one,) = make_predictor(world, repair_config("on"), 0, 200).predict(state, plan_views(plans), 0)
    assert (one.first, one.succeeded) == (2, 1), one


def test_cooldown_by_kind_closes_coal_and_leaves_stone_open():
    world, state, plans = made(14)
    guard = gate_of(world, cooldown=20, cooldown_key="kind")
    verdicts = {}
    for t in (31, 32, 50, 51):
        _, lines = guard.review(moment(state, plans, t))
        verdicts[t] = [line["verdict"] for line in lines_of(lines, "repair_predicted")]
    assert verdicts == {31: ["opened"], 32: ["cooldown"], 50: ["cooldown"], 51: ["opened"]}
    assert guard._closed_until.keys() == {"coal"}


def test_own_stream_is_never_read():
    world = build("survival", agents=3, ensure_solvable=False)
    state = world.rules.reset(5)
    before = [np.array(array, copy=True) for array in state]
    plans = [IDLE, IDLE, ("cow_0", [("wait", {"steps": 3})])]
    one = make_predictor(world, repair_config("on"), 0, 200)
    (found,) = one.predict(state, plan_views(plans), 0)
    assert found.status in ("no_attempt", "open") and found.rollouts > 1, found
    assert all(np.array_equal(a, b) for a, b in zip(before, state, strict=True))
