"""Rules one by one, on small drawn worlds: every achievement, reward and harm, and hard cases."""

import numpy as np
import pytest
from macrafter_play import make_rules

from worlds.macrafter.config import configure
from worlds.macrafter.generate import from_drawing, to_drawing
from worlds.macrafter.numbers import daylight
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ACTIONS,
    CREATURES,
    FACINGS,
    HARMS,
    ITEMS,
    REASONS,
    allocate,
)

pytestmark = pytest.mark.kernel


class Scene:
    """A drawn world, its rules, and what is sent by name."""

    def __init__(self, text, preset="survival", **changes):
        agents = sum(letter.isdigit() for letter in text)
        changes = {"balance": False, "excess_requirements": "lower", **changes}
        self.rules = make_rules(configure(preset, agents=agents, **changes))
        self.state = from_drawing(text, self.rules.config)

    def hold(self, agent, facing=None, **items):
        if facing:
            self.state.agent_facing[0, agent] = FACINGS.index(facing)
        for item, count in items.items():
            self.state.inventory[0, agent, ITEMS.index(item)] = count
        return self

    def act(self, *names, steps=1):
        actions = np.array([[ACTIONS.index(name) for name in names]], np.int32)
        for _ in range(steps):
            self.rewards = self.rules.step(self.state, actions).rewards[0]
        return self

    def won(self, agent=0):
        return {ACHIEVEMENTS[i] for i in np.flatnonzero(self.state.achievements[0, agent])}

    def item(self, name, agent=0):
        return int(self.state.inventory[0, agent, ITEMS.index(name)])

    def reason(self, agent=0):
        return REASONS[self.state.agent_reason[0, agent]]

    @property
    def picture(self):
        return to_drawing(self.state)


PICKAXES = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}
STOCK = {"wood": 3, "stone": 5, "coal": 2, "iron": 2, "sapling": 1}
SCENES = {
    "collect_coal": ("0C", "right", PICKAXES, "do"),
    "collect_diamond": ("0D", "right", PICKAXES, "do"),
    "collect_drink": ("0~", "right", {}, "do"),
    "collect_iron": ("0I", "right", PICKAXES, "do"),
    "collect_stone": ("0S", "right", PICKAXES, "do"),
    "collect_wood": ("0T", "right", {}, "do"),
    "defeat_skeleton": ("0k", "right", {"iron_sword": 1}, "do"),
    "defeat_zombie": ("0z", "right", {"iron_sword": 1}, "do"),
    "eat_cow": ("0c", "right", {"iron_sword": 1}, "do"),
    "eat_plant": ("0P", "right", {}, "do"),
    **{f"make_{item}": ("0B\nF.", "down", STOCK, f"make_{item}") for item in ITEMS[10:]},
    "place_furnace": ("0.", "right", STOCK, "place_furnace"),
    "place_plant": ("0.", "right", STOCK, "place_plant"),
    "place_stone": ("0.", "right", STOCK, "place_stone"),
    "place_table": ("0.", "right", STOCK, "place_table"),
}


@pytest.mark.parametrize("achievement", sorted(SCENES))
def test_an_achievement_is_won_and_rewarded_once(achievement):
    text, facing, items, action = SCENES[achievement]
    scene = Scene(text, credit="participants").hold(0, facing, **items).act(action)
    assert scene.won() == {achievement}, scene.reason()
    assert scene.rewards[0] == 1.0
    again = Scene(text).hold(0, facing, **items)
    again.state.achievements[0, 0, ACHIEVEMENTS.index(achievement)] = 1
    assert again.act(action).rewards[0] == 0.0 and again.won() == {achievement}


def test_a_sapling_is_found_in_a_tenth_of_the_tries():
    scene = Scene("0.", vitals=False).hold(0, "right").act("do", steps=600)
    assert 30 <= scene.state.achievements[0, 0, ACHIEVEMENTS.index("collect_sapling")] <= 95
    assert scene.item("sapling") == 9


def test_wake_up_is_won_by_a_full_sleep_only():
    scene = Scene("0.").hold(0, energy=8).act("sleep", steps=11)
    assert scene.item("energy") == 9 and scene.won() == set() and scene.state.is_asleep[0, 0]
    scene.act("noop")
    assert scene.won() == {"wake_up"} and not scene.state.is_asleep[0, 0]
    assert scene.act("sleep").reason() == "not_tired"


def test_every_achievement_is_covered_here():
    assert {*SCENES, "collect_sapling", "wake_up"} == set(ACHIEVEMENTS)


def test_pain_wakes_without_achievement_and_costs_reward():
    scene = Scene("0z").hold(0, energy=3)
    scene.act("sleep")
    assert scene.item("health") == 2 and scene.rewards[0] == pytest.approx(-0.7)
    assert scene.state.agent_harm[0, 0] == 1 << HARMS.index("zombie")
    assert scene.act("noop").won() == set() and not scene.state.is_asleep[0, 0]


def test_lava_and_arrows_and_hunger_harm():
    lava = Scene("0L").act("move_right")
    assert lava.rewards[0] == pytest.approx(-0.9) and not lava.state.is_alive[0, 0]
    arrow = Scene(">0").act("noop")
    assert arrow.item("health") == 7 and arrow.state.agent_harm[0, 0] == 1 << HARMS.index("arrow")
    hungry = Scene("0.").hold(0, food=0).act("noop", steps=16)
    assert hungry.item("health") == 8 and hungry.state.agent_harm[0, 0] == 1
    assert hungry.rewards[0] == pytest.approx(-0.1)


def test_dying_in_the_night_takes_everything():
    scene = Scene("0.").hold(0, health=1, food=0, drink=0, wood=4).act("noop", steps=16)
    assert not scene.state.is_alive[0, 0] and scene.picture == ".."
    assert scene.item("wood") == 0 and scene.item("health") == 0 and scene.item("energy") == 9
    report = scene.rules.report(scene.state)
    assert report.gone == ((0, "needs"),) and report.ended == "all_gone"


def test_no_room_for_a_plant():
    scene = Scene("0.").hold(0, "right", sapling=1)
    state = scene.state
    state.creature_kind[:] = CREATURES.index("cow")
    state.next_serial[0] = state.creature_kind.shape[1]
    state.creature_serial[0] = np.arange(state.creature_kind.shape[1])
    state.creature_cell[0] = (0, 0)
    state.creature_born[0] = 1
    scene.act("place_plant")
    assert scene.reason() == "no_room" and scene.item("sapling") == 1
    attempt = scene.rules.report(state).attempts[0]
    assert (attempt.result, attempt.unmet) == ("blocked", ("passage",))


def test_the_lowest_free_slot_is_reused_and_serials_are_not():
    scene = Scene("c0c.c").hold(0, "left", iron_sword=1)
    scene.state.creature_born[0, :3] = 1
    scene.act("do").hold(0, "left", sapling=1)
    assert scene.state.creature_kind[0, :3].tolist() == [0, 1, 1]
    scene.state.creature_born[0, :3] = 2
    scene.act("place_plant")
    assert scene.state.creature_kind[0, :3].tolist() == [5, 1, 1]
    assert scene.state.creature_serial[0, :3].tolist() == [3, 1, 2]


def test_a_plant_ripens_is_eaten_and_grows_anew():
    scene = Scene("0p", vitals=False).hold(0, "right", food=1)
    assert scene.act("do").reason() == "not_ripe"
    scene.act("noop", steps=298)
    assert scene.picture == "0p" and scene.act("noop", steps=2).picture == "0P"
    assert scene.state.creature_timer[0, 0] == 301
    scene.act("do")
    assert scene.item("food") == 5 and scene.picture == "0p"
    assert scene.state.creature_timer[0, 0] == 1


def test_a_cow_gnaws_at_a_plant():
    scene = Scene("Tp0\nTcT\nTTT")
    assert scene.act("noop").picture == "T.0\nTcT\nTTT"


def test_two_arrows_that_meet_vanish_and_arrows_fly_over_water():
    assert Scene("TTT0\nS><S").act("noop").picture == "TTT0\nS,,S"
    assert Scene("TTTT0\n>~L,S").act("noop").picture == "TTTT0\n,>L,S"


def test_a_skeleton_shoots_and_reloads():
    scene = Scene("k,,,,0", zombies=False)
    for _ in range(60):
        scene.act("noop")
        if ">" in scene.picture:
            break
    assert ">" in scene.picture and scene.state.creature_timer[0, 0] == 4, scene.picture


def test_creatures_far_from_everybody_rest():
    text = "0" + "." * 30 + "c"
    far = Scene(text, active_radius=18)
    near = Scene(text, active_radius=None)
    assert far.act("noop", steps=30).picture == text
    assert near.act("noop", steps=30).picture != text


def test_food_and_drink_start_their_counters_again():
    scene = Scene("~0c").hold(0, "left", food=2, drink=2, iron_sword=1)
    scene.state.counters[0, 0, :2] = 30
    scene.act("do")
    assert scene.state.counters[0, 0].tolist()[:2] == [32, 2] and scene.item("drink") == 3
    scene.hold(0, "right").state.creature_born[0, 0] = 2
    scene.act("do")
    assert scene.state.counters[0, 0].tolist()[:2] == [2, 4] and scene.item("food") == 8


def test_light_follows_the_day():
    assert daylight(0) == daylight(300) == 0.796925
    assert [daylight(step) for step in (60, 210)] == [1.0, 0.0]
    scene = Scene("0.", vitals=False).act("noop", steps=60)
    assert scene.state.light[0] == 1.0
    assert Scene("0.", preset="paper").act("noop", steps=3).state.light[0] == 1.0


def test_at_night_zombies_come_and_at_noon_they_go():
    field = "\n".join(["." * 36] * 36)
    scene = Scene("0" + field[1:], balance=True, cows=False, vitals=False)

    def count():
        return int((scene.state.creature_kind[0] == CREATURES.index("zombie")).sum())

    scene.act("noop", steps=60)
    noon = count()
    scene.hold(0, health=9).act("noop", steps=100)
    scene.hold(0, health=9)
    assert noon == 0 and count() > 5, (noon, count())


def test_credit_of_the_required_number_or_of_all():
    for credit, score in (("required", 37.5 * 2 * 2), ("participants", 37.5 * 2 * 3)):
        scene = Scene(".0.\n1C2", preset="paper", credit=credit)
        for agent, facing in enumerate(("down", "right", "left")):
            scene.hold(agent, facing, wood_pickaxe=1)
        scene.act("do", "do", "do")
        assert scene.state.score[0] == score
        assert scene.rewards.tolist() == [score / 3] * 3


def test_a_table_for_two_is_placed_together():
    scene = Scene("0.1", preset="paper", overrides={"place.table.agents": 2})
    scene.hold(0, "right", wood=1).hold(1, "left", wood=3).act("place_table", "place_table")
    assert scene.picture == "0B1" and [scene.item("wood", a) for a in (0, 1)] == [0, 2]
    lone = Scene("0.1", preset="paper", overrides={"place.table.agents": 2})
    lone.hold(0, "right", wood=9).act("place_table", "noop")
    assert lone.reason() == "too_few_participants" and lone.picture == "0.1"


def test_memory_of_a_fresh_batch_is_empty():
    state = allocate(2, 3, 5, 6)
    assert not state.material.any() and state.creature_kind.shape == (2, 67)
