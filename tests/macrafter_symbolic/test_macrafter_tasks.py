"""What cooperation asks for in MA-Crafter: tasks, their cells, recipes, and what became of them."""

import json

import pytest
from drawn_maps import Drawn, code

from primitives.navigation import UNREACHABLE
from worlds.api import NO_TASK, Action, Failed, Reason, Recipe, Task

FIELD = """
    T....S
    ..0...
    .C.c.~
    B....1
    """


def test_open_tasks_are_scored_sources_and_cows_by_ascending_number():
    world = Drawn(FIELD)
    assert world.tasks.open(world.state) == (
        Task(0, "tree@0,0", "wood", (0, 0), 1, 1.0, None),
        Task(5, "stone@0,5", "stone", (0, 5), 1, 15.0, "wood_pickaxe"),
        Task(13, "coal@2,1", "coal", (2, 1), 2, 150.0, "wood_pickaxe"),
        Task(24, "cow_0", "cow", (2, 3), 1, 0.0, None),
    )


def test_known_tasks_are_those_the_agent_has_seen():
    far = Drawn("\n".join(["0" + "." * 9 + "1", "T" + "." * 8 + "TC", "." * 7 + "c" + "..."]))
    names = [[task.id for task in far.tasks.known(far.state, agent)] for agent in (0, 1)]
    assert names == [["tree@1,0"], ["tree@1,9", "coal@1,10", "cow_0"]]


@pytest.mark.parametrize(
    ("id", "number", "kind", "need"),
    [
        ("coal@2,1", 13, "coal", 2),
        ("water@2,5", 17, "drink", 1),
        ("cow_0", 24, "cow", 1),
        ("wood_pickaxe@3,0", NO_TASK, "wood_pickaxe", 1),
        ("table@1,1", NO_TASK, "table", 1),
        ("stone@2,5", NO_TASK, "stone", 1),
    ],
)
def test_find_knows_also_water_making_and_placing(id, number, kind, need):
    world = Drawn(FIELD)
    for agent in (None, 0):
        task = world.tasks.find(world.state, id, agent)
        assert task is not None and (task.id, task.number, task.kind, task.need) == (
            id, number, kind, need,
        )  # fmt: skip


@pytest.mark.parametrize(
    "id", ["tree@0,1", "iron_pickaxe@3,0", "table@3,0", "cow_1", "zombie_0", "none", "tree@9,9", ""]
)
def test_find_gives_nothing_for_what_is_not_there(id):
    world = Drawn(FIELD)
    assert world.tasks.find(world.state, id) is None
    assert world.tasks.find(world.state, id, 0) is None


def test_find_for_an_agent_keeps_to_its_knowledge():
    drawing = "0" + "." * 9 + "T1"
    known = Drawn(drawing, navigation="known")
    assert known.tasks.find(known.state, "tree@0,10", 0) is None
    assert known.tasks.find(known.state, "tree@0,10", 1).number == 10
    everywhere = Drawn(drawing)
    assert everywhere.tasks.find(everywhere.state, "tree@0,10", 0).number == 10


def test_slots_way_and_distances():
    world = Drawn(FIELD)
    find = world.tasks.find
    assert world.tasks.slots(world.state, find(world.state, "coal@2,1")) == (
        (1, 1), (3, 1), (2, 0), (2, 2),
    )  # fmt: skip
    assert world.tasks.slots(world.state, find(world.state, "wood_pickaxe@3,0")) == (
        (2, 0), (3, 1),
    )  # fmt: skip
    assert world.tasks.way(world.state, find(world.state, "coal@2,1")) == (1, 1)
    field = world.tasks.distances(world.state, ((1, 1),))
    assert field[1, 2] == 1 and field[0, 0] == UNREACHABLE and field[3, 5] == 6


def test_slots_with_reach_two_end_at_the_first_cell_that_cannot_be_walked():
    world = Drawn("""
        ..S..
        ..C.0
        .....
        .T...
        """, reach=2)  # fmt: skip
    task = world.tasks.find(world.state, "coal@1,2")
    assert world.tasks.slots(world.state, task) == ((2, 2), (3, 2), (1, 1), (1, 0), (1, 3), (1, 4))


def test_recipe_of_an_able_agent_is_to_go_and_collect():
    world = Drawn(FIELD)
    world.give(0, wood_pickaxe=1)
    task = world.tasks.find(world.state, "coal@2,1")
    assert world.tasks.recipe(world.state, 0, task) == Recipe(
        (), 0, (Action("navigate", {"target": "coal@2,1"}),),
        (Action("collect", {"target": "coal@2,1", "steps": 3}),), 2,
    )  # fmt: skip
    slot = world.tasks.recipe(world.state, 0, task, (3, 1))
    assert slot.approach == (Action("navigate", {"target": "coal@2,1", "cell": [3, 1]}),)
    assert slot.steps == 4
    there = world.tasks.recipe(world.state, 0, world.tasks.find(world.state, "coal@2,1"), (1, 2))
    assert there.approach == ()


def test_recipe_prepares_depth_first_through_the_table():
    world = Drawn("""
        TTT....
        0......
        ....SS.
        """)
    task = world.tasks.find(world.state, "stone@2,4")
    recipe = world.tasks.recipe(world.state, 0, task)
    assert [action.verb for action in recipe.prepare] == [
        "collect", "navigate", "collect", "navigate", "collect", "place", "craft",
    ]  # fmt: skip
    assert recipe.prepare[-2:] == (
        Action("place", {"object": "table"}), Action("craft", {"item": "wood_pickaxe"}),
    )  # fmt: skip
    assert recipe.prepare_steps == 3 * 2 + 2 + 2 + 1
    assert recipe.approach and recipe.act[0].verb == "collect"
    assert recipe.steps == recipe.prepare_steps + 2 + 1


def test_a_prepared_recipe_makes_the_agent_able():
    """Played one verb after another, `prepare` really ends with the tool in hand."""
    world = Drawn("""
        TTT....
        0......
        ....SS.
        """)
    task = world.tasks.find(world.state, "stone@2,4")
    recipe = world.tasks.recipe(world.state, 0, task)
    for action in (*recipe.prepare, *recipe.approach, *recipe.act):
        end, _ = world.play({0: (action.verb, dict(action.args))})[0]
        assert code(end) == "done", f"{action}: {end}"
    assert world.held(0, "stone") == 1 and world.held(0, "wood_pickaxe") == 1


def test_recipe_walks_to_a_known_table():
    world = Drawn("0..B.S")
    world.give(0, wood=1)
    task = world.tasks.find(world.state, "stone@0,5")
    recipe = world.tasks.recipe(world.state, 0, task)
    assert isinstance(recipe, Failed) and code(recipe) == "no_path"
    open_world = Drawn("""
        0..B.S
        ......
        """)
    open_world.give(0, wood=1)
    task = open_world.tasks.find(open_world.state, "stone@0,5")
    recipe = open_world.tasks.recipe(open_world.state, 0, task)
    assert [action.verb for action in recipe.prepare] == ["navigate", "craft"]
    assert recipe.prepare_steps == 3


def test_recipe_without_a_known_way():
    world = Drawn("0..C1")
    coal = world.tasks.find(world.state, "coal@0,3")
    failed = world.tasks.recipe(world.state, 0, coal)
    assert failed == Failed(Reason("missing_items", {})), failed
    diamond = Drawn("0..D1")
    task = diamond.tasks.find(diamond.state, "diamond@0,3")
    assert code(diamond.tasks.recipe(diamond.state, 0, task)) in ("missing_tool", "missing_items")
    island = Drawn("0~T")
    task = island.tasks.find(island.state, "tree@0,2")
    assert code(island.tasks.recipe(island.state, 0, task)) == "no_path"


def test_recipe_for_a_told_task_uses_cells_and_names():
    drawing = "\n".join(["0" + "." * 11, "." * 11 + "C", "." * 12])
    world = Drawn(drawing, navigation="known")
    world.state.known[0, 0] = 2
    world.give(0, wood_pickaxe=1)
    task = world.tasks.find(world.state, "coal@1,11")
    recipe = world.tasks.recipe(world.state, 0, task, (0, 11))
    assert recipe.approach == (Action("navigate", {"target": "cell@0,11"}),)
    assert recipe.act == (Action("collect", {"target": "coal", "steps": 3}),)


def test_recipes_of_making_and_placing():
    world = Drawn("""
        T.B..
        0....
        """)
    make = world.tasks.recipe(world.state, 0, world.tasks.find(world.state, "wood_sword@0,2"))
    assert [action.verb for action in make.prepare] == ["collect"]
    assert make.act == (Action("craft", {"item": "wood_sword"}),)
    place = world.tasks.recipe(world.state, 0, world.tasks.find(world.state, "stone@1,3"))
    assert code(place) in ("missing_tool", "missing_items")
    world.give(0, stone=1)
    place = world.tasks.recipe(world.state, 0, world.tasks.find(world.state, "stone@1,3"))
    assert place.act == (Action("place", {"object": "stone"}),)
    assert place.approach == (Action("navigate", {"target": "cell@1,2"}),)


def result_after(world, id, play):
    mark = json.loads(json.dumps(world.tasks.mark(world.state, world.tasks.find(world.state, id))))
    assert world.tasks.result(world.state, mark) == "none"
    play()
    return world.tasks.result(world.state, mark)


def test_results_of_sources_and_of_water():
    world = Drawn("""
        .T.
        ~0.
        """)
    world.give(0, "up", drink=3)
    assert result_after(world, "tree@0,1", lambda: world.step({0: "do"})) == "done"
    world.give(0, "left", stone=1)
    assert result_after(world, "water@1,0", lambda: world.step({0: "do"})) == "done"
    assert result_after(world, "water@1,0", lambda: world.step({0: "place_stone"})) == "gone"


def test_results_of_creatures():
    hurt = Drawn("0c", cow_health=3)
    hurt.give(0, "right", food=1)
    assert result_after(hurt, "cow_0", lambda: hurt.step({0: "do"})) == "advanced"
    beaten = Drawn("0c")
    beaten.give(0, "right", food=1)
    assert result_after(beaten, "cow_0", lambda: beaten.step({0: "do"})) == "done"

    lost = Drawn("0c")

    def vanish():
        lost.state.creature_kind[0, 0] = 0

    assert result_after(lost, "cow_0", vanish) == "gone"


def test_results_of_making_and_placing():
    world = Drawn("""
        0B.
        ...
        """)
    world.give(0, "down", wood=3)
    make = lambda: world.step({0: "make_wood_pickaxe"})  # noqa: E731
    assert result_after(world, "wood_pickaxe@0,1", make) == "done"
    place = lambda: world.step({0: "place_table"})  # noqa: E731
    assert result_after(world, "table@1,0", place) == "done"
    assert result_after(world, "table@1,1", lambda: world.step({})) == "none"
