"""The verbs of MA-Crafter: what each does step by step, and how it ends."""

import numpy as np
import pytest
from drawn_maps import Drawn, code

from worlds.api import NO_TASK, Action, Done, Failed, Primitive, Reason, Running, Standing
from worlds.macrafter.state import ITEMS


def names(given):
    return [action for action, _ in given]


# --- wait, move ----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["wait", "noop"])
def test_wait_issues_its_steps(verb):
    end, given = Drawn("0..").play({0: (verb, {"steps": 3})})[0]
    assert isinstance(end, Done) and names(given) == ["noop"] * 3


def test_move_is_done_if_it_moved_at_least_once():
    world = Drawn("0..T")
    end, given = world.play({0: ("move", {"direction": "right", "steps": 4})})[0]
    assert end == Done({"moved": 2}) and len(given) == 4 and world.cell(0) == (0, 2)
    end, given = world.play({0: ("move", {"direction": "up"})})[0]
    assert code(end) == "wall" and names(given) == ["move_up"]
    end, _ = world.play({0: ("move", {"direction": "right", "steps": 2})})[0]
    assert code(end) == "ground"


def test_move_stops_before_known_lava():
    world = Drawn("0.L.")
    end, given = world.play({0: ("move", {"direction": "right", "steps": 3})})[0]
    assert code(end) == "lava_ahead" and len(given) == 1 and world.state.is_alive[0, 0]


# --- navigate ------------------------------------------------------------------------------------

ROOM = """
.....
.SSS.
0SC..
.SSS.
.....
"""


def test_navigate_goes_to_a_stand_cell_round_what_is_in_the_way():
    world = Drawn(ROOM)
    end, given = world.play({0: ("navigate", {"target": "coal@2,2"})})[0]
    assert isinstance(end, Done) and world.cell(0) == (2, 3)
    assert names(given) == ["move_up"] * 2 + ["move_right"] * 4 + ["move_down"] * 2 + ["move_left"]


def test_navigate_to_a_cell_to_a_station_and_beside_an_agent():
    world = Drawn("0..B.1")
    assert code(world.play({0: ("navigate", {"target": "cell@0,1"})})[0][0]) == "done"
    assert world.cell(0) == (0, 1)
    assert code(world.play({0: ("navigate", {"target": "table@0,3"})})[0][0]) == "done"
    assert world.cell(0) == (0, 2)
    other = Drawn("0...1")
    assert code(other.play({0: ("navigate", {"target": "agent_1"})})[0][0]) == "done"
    assert other.cell(0) == (0, 3)


def test_navigate_to_one_given_cell_of_a_target():
    world = Drawn("""
        ...
        0T.
        ...
        """)
    end, _ = world.play({0: ("navigate", {"target": "tree@1,1", "cell": [1, 2]})})[0]
    assert code(end) == "done" and world.cell(0) == (1, 2)


def test_navigate_is_done_at_once_where_it_leads():
    end, given = Drawn("0T.").play({0: ("navigate", {"target": "tree@0,1"})})[0]
    assert isinstance(end, Done) and given == []


def test_navigate_times_out():
    end, given = Drawn("0....").play({0: ("navigate", {"target": "cell@0,4", "timeout": 2})})[0]
    assert end == Failed(Reason("timeout", {"steps": 2})) and len(given) == 2


def test_navigate_without_a_way():
    end, given = Drawn("0S.").play({0: ("navigate", {"target": "cell@0,2"})})[0]
    assert code(end) == "no_path" and given == []


def test_navigate_waits_before_a_held_way_and_gives_up_after_five_steps():
    world = Drawn("""
        SSSSS
        0.1.T
        SSSSS
        """)
    end, given = world.play({0: ("navigate", {"target": "tree@1,4"})})[0]
    assert end == Failed(Reason("blocked", {"steps": 5}))
    assert names(given) == ["move_right"] + ["noop"] * 5


def test_swinging_between_two_ways_counts_as_blocked():
    """The body in the corridor leaves the view, the short way seems free again, and so on."""
    rows = ["." * 14, "." + "S" * 12 + ".", "0.........1..T", "." + "S" * 12 + ".", "." * 14]
    rows[2] = "0" + "." * 9 + "1" + "..T"
    world = Drawn("\n".join(row[:13] for row in rows))
    end, given = world.play({0: ("navigate", {"target": "cell@2,11", "timeout": 60})}, most=70)[0]
    assert code(end) in ("done", "blocked"), end
    assert len(given) < 60, len(given)


def test_known_navigation_keeps_to_seen_ground_and_global_does_not():
    drawing = "\n".join(["0" + "." * 11, *["." * 12] * 3])
    far = ("navigate", {"target": "cell@0,11"})
    known = Drawn(drawing, navigation="known").play({0: far})[0]
    assert code(known[0]) == "no_path"
    world = Drawn(drawing)
    assert code(world.play({0: far})[0][0]) == "done" and world.cell(0) == (0, 11)


def test_navigate_follows_a_cow_and_loses_one_that_is_gone():
    world = Drawn("0..c...", active_radius=2)
    end, _ = world.play({0: ("navigate", {"target": "cow_0"})})[0]
    assert code(end) == "done"
    assert abs(world.cell(0)[1] - int(world.state.creature_cell[0, 0, 1])) == 1
    gone = Drawn("0......c", view=(3, 17))
    action = Action("navigate", {"target": "cow_0"})
    memory = gone.skills.ground(gone.state, 0, action, None).progress
    gone.state.creature_kind[0, 0] = 0
    gone.state.occupant[0, 0, 7] = 0
    lost = gone.skills.ground(gone.state, 0, action, memory)
    assert lost == Failed(Reason("target_lost", {"target": "cow_0"}))
    assert code(gone.skills.ground(gone.state, 0, action, None)) == "unknown_reference"


# --- explore -------------------------------------------------------------------------------------


def test_explore_goes_to_the_nearest_frontier_and_counts_what_is_new():
    world = Drawn("\n".join(["0" + "." * 11] + ["." * 12] * 9), navigation="known")
    end, given = world.play({0: ("explore", {})})[0]
    assert isinstance(end, Done) and names(given) == ["move_down"]
    assert end.facts == {"cells": 5, "ids": 0}
    end, given = world.play({0: ("explore", {"direction": "right"})})[0]
    assert isinstance(end, Done) and set(names(given)) <= {"move_right", "move_down"}
    fresh = Drawn("\n".join(["0" + "." * 11] + ["." * 12] * 9), navigation="known")
    for direction in ("up", "left"):
        end, _ = fresh.play({0: ("explore", {"direction": direction})})[0]
        assert code(end) == "nothing_unknown", direction


def test_explore_fails_where_everything_is_known():
    end, given = Drawn("0..").play({0: ("explore", {})})[0]
    assert code(end) == "nothing_unknown" and given == []


# --- collect -------------------------------------------------------------------------------------


def test_collect_faced_by_id():
    world = Drawn(".0T")
    world.give(0, "right")
    end, given = world.play({0: ("collect", {"target": "tree@0,2"})})[0]
    assert end == Done({"amount": 1, "participants": 1, "score": 1})
    assert given == [("do", 2)] and world.held(0, "wood") == 1


def test_collect_turns_to_another_line_first():
    world = Drawn("""
        .T.
        .0.
        """)
    end, given = world.play({0: ("collect", {"target": "wood"})})[0]
    assert isinstance(end, Done) and given == [("move_up", 1), ("do", 1)]


def test_collect_by_name_takes_the_faced_one_then_up_down_left_right():
    drawing = """
        .T.
        T0T
        .T.
        """
    facing = Drawn(drawing)
    facing.give(0, "right")
    assert facing.play({0: ("collect", {"target": "wood"})})[0][1] == [("do", 5)]
    away = Drawn("""
        .S.
        T0T
        .T.
        """)
    away.give(0, "up")
    assert away.play({0: ("collect", {"target": "wood"})})[0][1] == [("move_down", 7), ("do", 7)]


def test_collect_of_nothing_in_reach():
    end, given = Drawn("0.T").play({0: ("collect", {"target": "wood"})})[0]
    assert code(end) == "nothing_in_reach" and given == []


def test_collect_out_of_reach_is_tried_once_so_that_the_miss_is_on_record():
    world = Drawn("0.T")
    world.give(0, "right")
    end, given = world.play({0: ("collect", {"target": "tree@0,2"})})[0]
    assert code(end) == "not_in_reach" and given == [("do", 2)]
    row = world.rules.report(world.state).attempts[0]
    assert (row.task, row.result, row.temporal, row.spatial) == ("tree@0,2", "short", 1, 0)
    busy = Drawn("0T.T")
    busy.give(0, "right")
    end, given = busy.play({0: ("collect", {"target": "tree@0,3"})})[0]
    assert code(end) == "not_in_reach" and given == [("noop", 3)]


def test_collect_alone_what_takes_two_tries_as_often_as_asked():
    world = Drawn("0C1")
    world.give(0, "right", wood_pickaxe=1)
    end, given = world.play({0: ("collect", {"target": "coal", "steps": 4})})[0]
    reason = Reason("too_few_participants", {"need": 2, "participation": 1})
    assert end == Failed(reason) and names(given) == ["do"] * 4


def test_collect_together_succeeds_for_both_in_the_same_step():
    world = Drawn("0C1")
    world.give(0, "right", wood_pickaxe=1)
    world.give(1, "left", wood_pickaxe=1)
    verb = ("collect", {"target": "coal@0,1"})
    ends = world.play({0: verb, 1: verb})
    facts = {"amount": 1, "participants": 2, "score": 150}
    assert [ends[a][0] for a in (0, 1)] == [Done(facts), Done(facts)]
    assert world.held(0, "coal") == world.held(1, "coal") == 1


def test_collect_without_the_tool():
    world = Drawn("0S.")
    world.give(0, "right")
    end, given = world.play({0: ("collect", {"target": "stone"})})[0]
    assert end == Failed(Reason("missing_tool", {"tool": "wood_pickaxe"})) and len(given) == 1


def test_collect_hits_a_cow_until_it_is_beaten():
    world = Drawn("0c.", cow_health=3, active_radius=2)
    world.give(0, "right", food=1)
    world.state.creature_health[0, 0] = 3
    verb = Action("collect", {"target": "cow_0", "steps": 1})
    memory, given = None, 0
    while True:
        answer = world.skills.ground(world.state, 0, verb, memory)
        if not isinstance(answer, Primitive):
            break
        given += 1
        world.step({0: answer.action}, {0: answer.declared})
        answer = world.skills.settle(world.state, 0, verb, answer.progress)
        if not isinstance(answer, Running):
            break
        memory = answer.progress
    assert isinstance(answer, Done | Failed) and given >= 1
    if isinstance(answer, Done):
        assert world.held(0, "food") == 7 and answer.facts["amount"] == 6


def test_collect_water_and_a_sapling_only_in_the_faced_cell():
    world = Drawn("~0.", plants=True)
    world.give(0, "right", drink=4)
    end, given = world.play({0: ("collect", {"target": "water"})})[0]
    assert isinstance(end, Done) and names(given) == ["move_left", "do"]
    end, given = world.play({0: ("collect", {"target": "sapling", "steps": 2})})[0]
    assert code(end) == "nothing_in_reach"
    world.give(0, "right")
    end, given = world.play({0: ("collect", {"target": "sapling", "steps": 2})})[0]
    assert code(end) in ("done", "no_yield") and set(names(given)) == {"do"}


def test_reach_two_walks_up_to_the_line_and_collects_from_afar():
    world = Drawn("0.T", reach=2)
    world.give(0, "right")
    end, given = world.play({0: ("collect", {"target": "wood"})})[0]
    assert isinstance(end, Done) and names(given) == ["do"]


# --- attack --------------------------------------------------------------------------------------


def test_attack_turns_and_hits_until_the_zombie_is_gone():
    world = Drawn("""
        TTT
        z0T
        TTT
        """, zombies=True)  # fmt: skip
    world.give(0, "right", stone_sword=1)
    end, given = world.play({0: ("attack", {"target": "zombie_0"})})[0]
    assert isinstance(end, Done), end
    assert names(given) == ["move_left", "do", "do"]
    assert world.rules.report(world.state).attempts == () or world.held(0, "health") > 0


def test_attack_follows_loses_sight_and_gives_up():
    lost = Drawn("0..z", zombies=True)
    end = lost.skills.ground(lost.state, 0, Action("attack", {"target": "zombie_7"}), None)
    assert code(end) == "unknown_reference"
    far = Drawn("""
        0.S
        SSz
        """, zombies=True, view=(3, 5))  # fmt: skip
    end, _ = far.play({0: ("attack", {"target": "zombie_0"})})[0]
    assert code(end) == "no_path"


# --- craft, place, share, sleep ------------------------------------------------------------------


def test_craft_and_its_failures():
    world = Drawn("""
        0B
        ..
        """)
    end, _ = world.play({0: ("craft", {"item": "wood_pickaxe"})})[0]
    assert code(end) == "missing_items"
    world.give(0, wood=1)
    end, given = world.play({0: ("craft", {"item": "wood_pickaxe"})})[0]
    assert end == Done({"item": "wood_pickaxe", "participants": 1})
    assert names(given) == ["make_wood_pickaxe"] and world.held(0, "wood_pickaxe") == 1
    far = Drawn("0..B")
    far.give(0, wood=1)
    assert code(far.play({0: ("craft", {"item": "wood_sword"})})[0][0]) == "no_station"


def test_craft_for_two_waits_for_the_partner():
    world = Drawn("0F1", overrides={"make.iron_pickaxe.agents": 2})
    world.give(0, wood=1, coal=1, iron=1)
    end, given = world.play({0: ("craft", {"item": "iron_pickaxe", "steps": 3})})[0]
    assert code(end) == "too_few_participants" and len(given) == 3
    both = ("craft", {"item": "iron_pickaxe", "steps": 3})
    ends = world.play({0: both, 1: both})
    assert [code(ends[a][0]) for a in (0, 1)] == ["done", "done"]


def test_place_on_the_faced_cell():
    world = Drawn("0..")
    world.give(0, "right", wood=2)
    end, given = world.play({0: ("place", {"object": "table"})})[0]
    assert isinstance(end, Done) and names(given) == ["place_table"]


def test_place_turns_to_water_or_steps_aside_to_free_ground():
    world = Drawn("""
        .~.
        T0T
        """)
    world.give(0, "left", stone=1)
    end, given = world.play({0: ("place", {"object": "stone"})})[0]
    assert isinstance(end, Done) and names(given) == ["move_up", "place_stone"]
    aside = Drawn("""
        T0..
        TTTT
        """)
    aside.give(0, "left", wood=2)
    end, given = aside.play({0: ("place", {"object": "table"})})[0]
    assert isinstance(end, Done) and names(given) == ["move_right", "place_table"]
    assert aside.cell(0) == (0, 2)


def test_place_without_a_cell_that_takes_it():
    world = Drawn("""
        TTT
        T0T
        TLT
        """)
    world.give(0, "left", wood=2)
    end, given = world.play({0: ("place", {"object": "table"})})[0]
    assert code(end) == "no_place" and given == []


def test_share_reports_the_amount_or_the_reason():
    world = Drawn("0.1", share_radius=1)
    world.give(0, wood=3)
    gift = {"recipient": "agent_1", "item": "wood", "quantity": 5}
    assert code(world.play({0: ("share", gift)})[0][0]) == "too_far"
    near = Drawn("01.")
    near.give(0, wood=3)
    end, given = near.play({0: ("share", gift)})[0]
    assert end == Done({"amount": 3}) and names(given) == ["share"]
    assert code(near.play({0: ("share", {**gift, "recipient": 1})})[0][0]) == "nothing_to_give"
    assert code(near.play({1: ("share", gift)})[1][0]) == "no_such_recipient"


def test_sleep_until_rested():
    world = Drawn("0..")
    assert code(world.play({0: ("sleep", {})})[0][0]) == "not_tired"
    world.give(0, energy=8)
    end, given = world.play({0: ("sleep", {})})[0]
    assert end == Done({"energy": 9, "hurt": False}) and set(names(given)) == {"sleep"}
    assert 11 <= len(given) <= 13, len(given)


def test_sleep_ends_when_hurt():
    world = Drawn("""
        TTT
        z0T
        TTT
        """, zombies=True)  # fmt: skip
    world.give(0, energy=3)
    end, _ = world.play({0: ("sleep", {})})[0]
    assert isinstance(end, Done) and end.facts["hurt"] and world.held(0, "health") <= 2


# --- rendezvous ----------------------------------------------------------------------------------


def test_rendezvous_ends_for_all_in_the_same_step():
    world = Drawn("""
        .1..
        0C.2
        ....
        """)
    for agent in range(3):
        world.give(agent, wood_pickaxe=1)
    meet = ("rendezvous", {"target": "coal@1,1", "count": 3})
    ends = world.play({0: meet, 1: meet, 2: ("move", {"direction": "left"})})
    assert [code(ends[a][0]) for a in (0, 1)] == ["done", "done"]
    assert ends[0][1] == ends[1][1] == [("noop", 5)]
    assert ends[0][0] == Done({"count": 3})


def test_rendezvous_by_default_waits_for_as_many_as_it_takes():
    world = Drawn("0C1")
    assert code(world.play({0: ("rendezvous", {"target": "coal@0,1"})})[0][0]) == "done"
    alone = Drawn("0C...1")
    end, given = alone.play({0: ("rendezvous", {"target": "coal@0,1", "timeout": 4})})[0]
    assert end == Failed(Reason("timeout", {"steps": 4})) and given == [("noop", 1)] * 4
    row = alone.rules.report(alone.state).attempts[0]
    assert (row.result, row.reason) == ("none", "waiting")
    assert code(alone.play({1: ("rendezvous", {"target": "coal@0,1"})})[1][0]) == "not_in_reach"


# --- naming --------------------------------------------------------------------------------------


def test_unseen_and_absent_things_get_the_same_answer():
    drawing = "\n".join(["0" + "." * 11, "." * 11 + "T"])
    world = Drawn(drawing, navigation="known")
    for verb in ("navigate", "collect", "rendezvous"):
        unseen = world.skills.check(world.state, 0, Action(verb, {"target": "tree@1,11"}))
        absent = world.skills.check(world.state, 0, Action(verb, {"target": "tree@1,10"}))
        assert [reason.code for reason in (*unseen, *absent)] == ["unknown_reference"] * 2
        assert unseen[0].facts == {"reference": "tree@1,11"}
    for target in ("cow_3", "agent_0", "lava@0,0", "nonsense", "tree@99,99"):
        found = world.skills.check(world.state, 0, Action("navigate", {"target": target}))
        assert [reason.code for reason in found] == ["unknown_reference"], target
    assert not world.skills.check(world.state, 0, Action("navigate", {"target": "cell@1,11"}))
    everywhere = Drawn(drawing)
    assert not everywhere.skills.check(
        everywhere.state, 0, Action("collect", {"target": "tree@1,11"})
    )


@pytest.mark.parametrize(
    ("verb", "args", "found"),
    [
        ("jump", {}, "unknown_verb"),
        ("move", {}, "missing_argument"),
        ("move", {"direction": "north"}, "bad_argument"),
        ("move", {"direction": "up", "steps": 11}, "bad_argument"),
        ("move", {"direction": "up", "steps": 1.5}, "bad_argument"),
        ("move", {"direction": "up", "steps": True}, "bad_argument"),
        ("wait", {"steps": 0}, "bad_argument"),
        ("wait", {"until": 3}, "extra_argument"),
        ("navigate", {"target": "cell@0,0", "cell": [0]}, "bad_argument"),
        ("share", {"recipient": "agent_9", "item": "wood"}, "bad_argument"),
        ("share", {"recipient": "agent_0", "item": "health"}, "bad_argument"),
        ("share", {"recipient": "agent_0", "item": "wood", "quantity": 21}, "bad_argument"),
        ("craft", {"item": "boat"}, "bad_argument"),
        ("collect", {"target": "agent_1"}, "bad_argument"),
        ("attack", {"target": "table@0,1"}, "bad_argument"),
        ("rendezvous", {"target": "cell@0,0", "count": 3}, "bad_argument"),
    ],
)
def test_bad_arguments_are_named_and_run_nothing(verb, args, found):
    world = Drawn("0B1")
    reasons = world.skills.check(world.state, 0, Action(verb, args))
    assert [reason.code for reason in reasons] == [found], reasons
    if found != "bad_argument" or verb not in ("collect", "attack"):
        answer = world.skills.ground(world.state, 0, Action(verb, args), None)
        assert code(answer) == found
    sentence = world.text.reasons[found].format(**reasons[0].facts)
    assert "{" not in sentence


# --- estimates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "args", "steps", "cell", "held"),
    [
        ("wait", {"steps": 4}, 4, (1, 0), {}),
        ("move", {"direction": "right", "steps": 9}, 9, (1, 4), {}),
        ("navigate", {"target": "tree@1,3"}, 2, (1, 2), {}),
        ("navigate", {"target": "cell@0,4"}, 5, (0, 4), {}),
        ("navigate", {"target": "tree@1,3", "cell": [0, 3]}, 4, (0, 3), {}),
        ("collect", {"target": "tree@1,3", "steps": 5}, 5, (1, 0), {"wood": 3}),
        ("craft", {"item": "wood_pickaxe"}, 1, (1, 0), {"wood": 1, "wood_pickaxe": 1}),
        ("place", {"object": "table"}, 1, (1, 0), {"wood": 0}),
        ("share", {"recipient": "agent_0", "item": "wood", "quantity": 9}, 1, (1, 0), {"wood": 0}),
        ("rendezvous", {"target": "tree@1,3"}, 1, (1, 0), {}),
        ("explore", {}, 1, (1, 0), {}),
        ("attack", {"target": "cow_0"}, 1, (1, 0), {}),
        ("sleep", {}, 33, (1, 0), {"energy": 9}),
    ],
)
def test_estimates_are_arithmetic(verb, args, steps, cell, held):
    world = Drawn("""
        .....
        0..T.
        """)
    start = Standing(10, (1, 0), {"wood": 2, "energy": 6}, 77)
    after = world.skills.estimate(world.state, 0, Action(verb, args), start)
    assert (after.steps, after.cell) == (10 + steps, cell)
    assert dict(after.holdings) == {**start.holdings, **held}
    assert after.task == (1 * 5 + 3 if verb == "collect" else NO_TASK)


# --- laws ----------------------------------------------------------------------------------------


def test_every_verb_ends_and_changes_nothing_by_itself():
    """Random verbs on a generated world: all end, and ground and settle leave the state alone."""
    from worlds.registry import make

    world = make("macrafter-v1:survival", agents=3)
    state, chance = world.rules.reset(4), np.random.default_rng(0)
    pool = [
        Action("wait", {"steps": 2}),
        Action("move", {"direction": "left", "steps": 3}),
        Action("explore", {"timeout": 6}),
        Action("explore", {"direction": "up", "timeout": 5}),
        Action("collect", {"target": "wood", "steps": 2}),
        Action("collect", {"target": "sapling", "steps": 2}),
        Action("craft", {"item": "wood_pickaxe", "steps": 2}),
        Action("place", {"object": "stone"}),
        Action("share", {"recipient": 1, "item": "wood"}),
        Action("sleep", {}),
        Action("rendezvous", {"target": "cell@30,30", "timeout": 3}),
        Action("navigate", {"target": "cell@30,30", "timeout": 9}),
    ]
    ended = dict.fromkeys((action.verb for action in pool), 0)
    current = {}
    for _ in range(120):
        codes = np.zeros((1, 3), np.int32)
        gifts = np.full((1, 3, 3), -1, np.int32)
        given = {}
        for agent in world.rules.living(state):
            if agent not in current:
                current[agent] = [pool[chance.integers(len(pool))], None, 0]
            before = [array.copy() for array in state]
            action, memory, issued = current[agent]
            answer = world.skills.ground(state, agent, action, memory)
            assert all(np.array_equal(a, b) for a, b in zip(before, state, strict=True)), action
            if isinstance(answer, Primitive):
                given[agent] = answer
                codes[0, agent] = answer.action
                if answer.arguments:
                    gifts[0, agent] = answer.arguments
            else:
                ended[action.verb] += 1
                del current[agent]
        world.rules.step(state, codes, None, gifts)
        living = world.rules.living(state)
        for agent, primitive in given.items():
            action, _, issued = current[agent]
            bound = 130 if action.verb == "sleep" else 60
            assert issued < bound, f"{action} still runs after {issued} steps"
            answer = None
            if agent in living:
                answer = world.skills.settle(state, agent, action, primitive.progress)
            if isinstance(answer, Running):
                current[agent] = [action, answer.progress, issued + 1]
            else:
                ended[action.verb] += 1
                del current[agent]
    assert sum(ended.values()) > 50, ended


def test_items_of_share_are_what_can_be_given():
    spec = next(verb for verb in Drawn("0..").skills.verbs if verb.name == "share")
    item = next(arg for arg in spec.args if arg.name == "item")
    assert item.choices == ITEMS[4:]
