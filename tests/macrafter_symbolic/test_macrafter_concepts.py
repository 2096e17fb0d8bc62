"""Every symbolic concept of MA-Crafter on small drawn worlds."""

import re

import pytest
from drawn_maps import Drawn

from primitives.navigation import UNREACHABLE
from worlds.errors import ConfigError
from worlds.macrafter.concepts import SUMMARIES, Concepts

FIELD = """
    T....S.
    ..0....
    .C.c.~.
    B....1.
    """


def concepts(world):
    return Concepts(world.config, world.table, world.state)


def test_distance_takes_cells_and_ids():
    ask = concepts(Drawn(FIELD))
    assert ask.distance((0, 0), (3, 4)) == 7
    assert ask.distance("agent_0", "coal@2,1") == 2
    assert ask.distance("cow_0", "agent_1") == 3


@pytest.mark.parametrize("place", ["coal@0,0", "cow_9", "agent_7", "boat", "zombie_0"])
def test_places_that_are_not_there_are_refused(place):
    with pytest.raises(ConfigError, match=re.escape(place)):
        concepts(Drawn(FIELD)).distance(place, (0, 0))


def test_path_length_is_known_steps():
    world = Drawn(FIELD)
    assert concepts(world).path_length(0, "coal@2,1") == 1
    assert concepts(world).path_length(0, "table@3,0") == 3
    assert concepts(world).path_length(0, "tree@3,3") == UNREACHABLE


def test_visible_and_known():
    world = Drawn("0" + "." * 9, navigation="known")
    ask = concepts(world)
    assert [ask.visible(0, (0, c)) for c in (0, 4, 5)] == [True, True, False]
    assert ask.is_known(0, (0, 4)) and not ask.is_known(0, (0, 5))
    world.step({0: "move_right"})
    world.step({0: "move_left"})
    assert ask.is_known(0, (0, 5)) and not ask.visible(0, (0, 5))


def test_in_reach_and_faces():
    world = Drawn("T0S")
    world.give(0, "right")
    ask = concepts(world)
    assert ask.in_reach(0, "tree@0,0") and ask.in_reach(0, "stone@0,2")
    assert ask.faces(0, "stone@0,2") and not ask.faces(0, "tree@0,0")


def test_stand_cells():
    ask = concepts(Drawn(FIELD))
    assert ask.stand_cells("coal@2,1") == ((1, 1), (3, 1), (2, 0), (2, 2))
    assert ask.stand_cells("tree@0,0") == ((1, 0), (0, 1))


def test_capability_and_quorum():
    world = Drawn("""
        .0C1.
        ..2..
        """)
    world.give(0, wood_pickaxe=1)
    world.give(2, wood_pickaxe=1)
    ask = concepts(world)
    assert ask.is_capable(0, "coal@0,2") and not ask.is_capable(1, "coal")
    assert ask.capable_agents("coal") == (0, 2)
    assert ask.capable_agents("tree") == (0, 1, 2)
    assert ask.quorum_deficit("coal@0,2") == 0
    world.give(2, wood_pickaxe=0)
    assert concepts(world).quorum_deficit("coal@0,2") == 1
    with pytest.raises(ConfigError, match="asks for no agents"):
        ask.quorum_deficit("cell@0,0")


def test_rows_of_the_table():
    ask = concepts(Drawn(FIELD))
    assert ask.required_agents("coal@2,1") == 2
    assert ask.required_tool("coal") == "wood_pickaxe" and ask.required_tool("tree") is None
    assert ask.unit_score("coal") == 75 and ask.unit_score("stone@0,5") == 15
    with pytest.raises(ConfigError, match="boat"):
        ask.unit_score("boat")


def test_crafting():
    world = Drawn("""
        0B
        ..
        """)
    ask = concepts(world)
    assert ask.station_near(0, "wood_pickaxe") and not ask.station_near(0, "iron_pickaxe")
    assert ask.missing_items(0, "stone_pickaxe") == {"wood": 1, "stone": 1}
    assert not ask.can_craft(0, "wood_pickaxe")
    world.give(0, wood=1)
    assert ask.can_craft(0, "wood_pickaxe") and ask.missing_items(0, "wood_pickaxe") == {}


def test_prerequisites_go_depth_first_and_name_each_thing_once():
    world = Drawn(FIELD)
    ask = concepts(world)
    assert ask.prerequisites(0, "wood_pickaxe") == ("wood",)
    assert ask.prerequisites(0, "stone_pickaxe") == ("wood", "wood_pickaxe", "stone")
    assert ask.prerequisites(0, "iron_pickaxe") == (
        "wood", "wood_pickaxe", "coal", "stone", "stone_pickaxe", "iron", "furnace",
    )  # fmt: skip
    bare = Drawn("0..")
    assert concepts(bare).prerequisites(0, "wood_pickaxe") == ("wood", "table")
    bare.give(0, wood=1, wood_pickaxe=1)
    assert concepts(bare).prerequisites(0, "stone_pickaxe") == ("stone", "wood", "table")


def test_can_place():
    ask = concepts(Drawn(FIELD))
    assert ask.can_place((1, 1), "table") and ask.can_place((2, 5), "stone")
    assert not ask.can_place((2, 5), "table")
    assert not ask.can_place((1, 2), "table") and not ask.can_place((9, 9), "stone")


def test_nearest():
    world = Drawn("""
        T..0.T.
        .c....c
        """)
    ask = concepts(world)
    assert ask.nearest(0, "tree") == "tree@0,5"
    assert ask.nearest(0, "cow") == "cow_0"
    assert ask.nearest(0, "iron") is None and ask.nearest(0, "zombie") is None


def test_the_manual_lists_every_concept():
    world = Drawn("0..")
    listed = {name for key in SUMMARIES for name in re.findall(r"(\w+)(?=[(,])", key.split(")")[0])}
    asked = {name for name in dir(Concepts) if not name.startswith("_")}
    assert asked <= listed | {name for key in SUMMARIES for name in re.findall(r"\w+", key)}
    assert all(f"- {key}: {text}." in world.text.manual() for key, text in SUMMARIES.items())


def test_an_agents_concepts_ignore_what_it_has_not_seen():
    world = Drawn("0" + "." * 8 + "T", navigation="known")
    before = concepts(world).nearest(0, "tree"), concepts(world).path_length(0, "tree@0,9")
    world.state.material[0, 0, 8] = 6
    after = concepts(world).nearest(0, "tree"), concepts(world).path_length(0, "tree@0,9")
    assert before == after == (None, UNREACHABLE)
