"""Houses of scripted play: built in the open beside water, closed, planted, never dug up."""

import pytest
from drawn_maps import Drawn

from worlds.macrafter.chart import Chart
from worlds.macrafter.shelter import Shelter
from worlds.macrafter.sight import look
from worlds.macrafter.state import MATERIALS

SHORE = """
~~~~~~~~~~~~~
.............
.............
......0......
.............
.............
.............
"""


def shelter_of(world, agent=0):
    sight = look(world.config, world.state, agent)
    return Shelter(world.table, sight, Chart(world.config, world.table, sight))


def build(world, most=40):
    """Follow the first action of `enter` again and again; the number of actions it took."""
    for count in range(most):
        shelter = shelter_of(world)
        if shelter.is_closed:
            return count
        action = dict(shelter.enter(5)[0])
        world.play({0: (action.pop("verb"), action)})
    pytest.fail(f"not closed after {most} actions")


@pytest.fixture
def shore():
    settings = {"plants": True, "item_cap": 9, "navigation": "known"}
    return Drawn(SHORE, {0: {"stone": 9, "wood_pickaxe": 1}}, **settings)


def test_house_is_built_beside_water_with_room_for_plants(shore):
    assert not shelter_of(shore).is_closed
    build(shore)
    home = shelter_of(shore).home
    assert home is not None and home.is_wet and len(home.beds) == 2
    assert not home.open and shore.held(0, "stone") < 9


def test_nothing_outside_reaches_the_room(shore):
    build(shore)
    shelter = shelter_of(shore)
    sides = {cell for cell in shelter.home.sides if shelter.known.is_inside(cell)}
    assert all(shelter.known.is_wall[cell] for cell in sides)
    assert shelter.room == shelter.home.core | shelter.home.beds


def test_saplings_go_into_the_beds_without_opening_the_house(shore):
    build(shore)
    for _ in range(30):
        shelter = shelter_of(shore)
        if not (actions := shelter.sow(8)):
            break
        shore.give(0, sapling=1)
        action = dict(actions[0])
        shore.play({0: (action.pop("verb"), action)})
        assert shelter_of(shore).is_closed
    assert shelter_of(shore).home.beds == shelter_of(shore).plants


def test_no_house_without_stones(shore):
    shore.give(0, stone=0)
    assert shelter_of(shore).best is None
    assert shelter_of(shore).enter(5) == []


def test_stones_that_somebody_put_are_told_from_rock():
    world = Drawn(".....\n..S..\n0....\nSSS..\nSSS..", plants=True)
    known = shelter_of(world).known
    assert known.is_thin[1, 2] and not known.is_thin[3, 1] and not known.is_thin[4, 0]


@pytest.mark.parametrize("has_house", [True, False])
def test_zombies_hurt_who_sits_in_the_open_only(has_house):
    settings = {"plants": True, "zombies": True, "vitals": False, "navigation": "known"}
    rows = SHORE.strip().splitlines()
    pen = "\n".join([*rows[:-2], "T............", "zT..........."])
    world = Drawn(pen, {0: {"stone": 9, "wood_pickaxe": 1}}, item_cap=9, **settings)
    if has_house:
        build(world)
    world.state.material[0, 6, 1] = MATERIALS.index("grass")
    for _ in range(150):
        if world.state.is_alive[0, 0]:
            world.step({})
    assert (world.held(0, "health") == 9) is has_house
