"""Verbs of CUBE on drawn worlds: when they end, what they do next, what they remember."""

import json

import pytest
from drawn import act, drawn, play, verb

from worlds.api import Action, Done, Failed, Primitive, Standing
from worlds.cube.config import configure
from worlds.cube.rules import CubeRules
from worlds.cube.skills import CubeSkills

UP, DOWN, LEFT, RIGHT = 1, 2, 3, 4


def reason(verdict):
    return verdict.reason.code if isinstance(verdict, Failed) else verdict


def ground(text, agent, action, rules="quorum", progress=None):
    state, config = drawn(text, rules)
    return CubeSkills(config).ground(state, agent, action, progress)


# --- the verb table ---


def test_verbs_are_those_of_the_world():
    verbs = {verb.name: verb for verb in CubeSkills(configure("quorum")).verbs}
    limits = {
        name: {arg.name: (arg.low, arg.high, arg.default) for arg in spec.args if arg.type == "int"}
        for name, spec in verbs.items()
    }
    assert limits == {
        "move": {"steps": (1, 10, 1)},
        "wait": {"steps": (1, 50, 1)},
        "navigate": {"timeout": (1, 100, 30)},
        "push": {"steps": (1, 20, 1)},
        "rendezvous": {"count": (1, 3, None), "timeout": (1, 100, 30)},
        "yield": {"steps": (1, 10, 2)},
    }


@pytest.mark.parametrize("name", ["block_0", "0", 0])
def test_a_block_has_three_names(name):
    action = verb("navigate", block=name)
    assert ground("0.A..|", 0, action).action == RIGHT


@pytest.mark.parametrize("name", ["block_1", "block_", "agent_0", 7, -1, "A", "block_0_left", 0.0])
def test_check_finds_unknown_blocks(name):
    state, config = drawn("0.A..|")
    found = CubeSkills(config).check(state, 0, verb("push", block=name))
    assert [r.code for r in found] == ["unknown_reference"], name


def test_check_finds_delivered_blocks_and_cells_off_the_face():
    state, config = drawn("..0A|\n....|")
    skills = CubeSkills(config)
    cell = skills.check(state, 0, verb("navigate", block=0, cell=[1, 2]))
    assert [r.code for r in cell] == ["bad_argument"] and cell[0].facts["field"] == "cell"
    assert skills.check(state, 0, verb("navigate", block=0, cell=[0, 2])) == ()
    act(state, config, {0: "right"})
    found = skills.check(state, 0, verb("push", block=0))
    assert [r.code for r in found] == ["block_delivered"]


def test_a_verb_about_a_delivered_block_fails():
    state, config = drawn("..0A|\n....|\n1...|")
    act(state, config, {0: "right"})
    skills = CubeSkills(config)
    for action in (verb("navigate", block=0), verb("push", block=0), verb("rendezvous", block=0)):
        assert reason(skills.ground(state, 1, action, None)) == "block_delivered", action
    assert isinstance(skills.ground(state, 1, verb("yield", block=0), None), Done)


# --- move and wait ---


def test_move_walks_and_into_a_block_it_pushes():
    state, config = drawn("0.A...|")
    verdict, steps = play(state, config, {0: verb("move", direction="right", steps=3)}, 9)[0]
    assert steps == 3 and verdict == Done({"moved": 3, "misses": 0})
    assert state.block_cell[0, 0].tolist() == [0, 4]


def test_move_fails_with_the_last_reason_if_nothing_moved():
    state, config = drawn("0.A.|\n....|")
    verdict, steps = play(state, config, {0: verb("move", direction="up", steps=2)}, 9)[0]
    assert (reason(verdict), steps) == ("wall", 2)


def test_wait_takes_its_steps():
    state, config = drawn("0.A.|")
    assert play(state, config, {0: verb("wait", steps=4)}, 9)[0] == (Done({}), 4)


# --- navigate ---


def test_navigate_goes_round_blocks_by_a_shortest_way():
    state, config = drawn(
        """
0.....|
.BB...|
.BBA..|
......|
"""
    )
    verdict, steps = play(state, config, {0: verb("navigate", block=0, face="down")}, 20)[0]
    assert isinstance(verdict, Done) and steps == 6
    assert state.agent_cell[0, 0].tolist() == [3, 3]


def test_ties_are_broken_up_down_left_right():
    text = """
.....|
..0..|
.....|
A...B|
.....|
"""
    assert ground(text, 0, verb("navigate", block=0, face="right")).action == DOWN
    assert ground(text, 0, verb("navigate", block=1, face="left")).action == DOWN
    open_field = "....|\n.0..|\n....|\n..A.|\n....|"
    assert ground(open_field, 0, verb("navigate", block=0, face="up")).action == DOWN


def test_navigate_is_over_on_any_contact_cell_or_on_the_cell_asked_for():
    text = "......|\n0AA...|\n.AA...|"
    assert isinstance(ground(text, 0, verb("navigate", block=0)), Done)
    assert ground(text, 0, verb("navigate", block=0, cell=[2, 0])).action == DOWN


def test_taken_contact_cells_are_no_targets():
    state, config = drawn("......|\n1AA...|\n.AA...|\n......|\n.0....|")
    verdict, steps = play(state, config, {0: verb("navigate", block=0)}, 9)[0]
    assert isinstance(verdict, Done) and steps == 3
    assert state.agent_cell[0, 0].tolist() == [2, 0]


def test_face_full_after_five_steps_without_progress():
    state, config = drawn("......|\n.1A...|\n......|\n......|\n0.....|")
    verdict, steps = play(state, config, {0: verb("navigate", block=0)}, 30)[0]
    assert reason(verdict) == "face_full" and steps == 3 + 5, (verdict, steps)


def test_blocked_after_five_steps_without_progress():
    state, config = drawn("0.1..A.|\nBBBBB..|\nBBBBB..|\nBBBBB..|\nBBBBB..|\nBBBBB..|")
    verdict, steps = play(state, config, {0: verb("navigate", block=0)}, 30)[0]
    assert reason(verdict) == "blocked" and steps == 1 + 5, (verdict, steps)


def test_no_path():
    state, config = drawn("0BB..A.|\n.BB....|")
    verdict, steps = play(state, config, {0: verb("navigate", block=0)}, 30)[0]
    assert (reason(verdict), steps) == ("no_path", 0)


def test_the_goal_column_is_no_way_under_quorum():
    text = ".A|\n0.|"
    assert reason(ground(text, 0, verb("navigate", block=0, face="right"))) == "no_path"
    assert isinstance(ground(text, 0, verb("navigate", block=0, face="right"), "chain"), Primitive)


def test_face_blocked():
    text = "0.AB..|\n......|"
    assert reason(ground(text, 0, verb("navigate", block=1))) == "face_blocked"
    assert reason(ground(text, 0, verb("navigate", block=0, face="up"))) == "face_blocked"
    partly = ".......|\n.BAA...|\n..AA...|\n0......|"
    assert ground(partly, 0, verb("navigate", block=0)).action == UP


def test_a_slot_that_the_block_has_left_is_face_blocked():
    assert reason(ground("0...A|", 0, verb("navigate", block=0, cell=[0, 1]))) == "face_blocked"


def test_navigate_times_out():
    state, config = drawn("0.....A|")
    action = verb("navigate", block=0, timeout=2)
    verdict, steps = play(state, config, {0: action}, 30)[0]
    assert (reason(verdict), steps) == ("timeout", 2)


def test_chain_lines_up_behind_a_full_face():
    state, config = drawn("0..1A..|\n.......|", "chain")
    verdict, steps = play(state, config, {0: verb("navigate", block=0)}, 9)[0]
    assert isinstance(verdict, Done) and steps == 2
    assert state.agent_cell[0, 0].tolist() == [0, 2]


def test_chain_takes_a_free_contact_cell_first():
    state, config = drawn("0.1AA...|\n...AA...|", "chain")
    verdict, _ = play(state, config, {0: verb("navigate", block=0)}, 9)[0]
    assert isinstance(verdict, Done) and state.agent_cell[0, 0].tolist() == [1, 2]


def test_two_agents_after_one_cell_both_find_a_place():
    state, config = drawn(".......|\n0.AA...|\n..AA...|\n1......|")
    ended = play(state, config, {a: verb("navigate", block=0) for a in (0, 1)}, 20)
    assert all(isinstance(verdict, Done) for verdict, _ in ended.values()), ended
    assert sorted(state.agent_cell[0].tolist()) == [[1, 1], [2, 1]]


# --- push ---


def test_push_moves_until_its_steps_are_issued():
    state, config = drawn("0A.....|")
    verdict, steps = play(state, config, {0: verb("push", block=0, steps=3)}, 9)[0]
    assert steps == 3 and verdict == Done({"moved": 3, "misses": 0})


def test_push_is_done_when_the_block_is_delivered():
    state, config = drawn("..0A.|\n1....|")
    verdict, steps = play(state, config, {0: verb("push", block=0, steps=9)}, 9)[0]
    assert steps == 2 and verdict == Done({"moved": 2, "misses": 0})


def test_push_in_vain_fails_with_counts():
    state, config = drawn("0AA...|\n.AA...|")
    verdict, steps = play(state, config, {0: verb("push", block=0, steps=2)}, 9)[0]
    assert steps == 2 and reason(verdict) == "insufficient_force"
    assert verdict.reason.facts == {"need": 2, "participation": 1}


def test_push_out_of_contact_is_on_record_as_trying():
    state, config = drawn("0...A..|")
    verdict, _ = play(state, config, {0: verb("push", block=0, steps=2)}, 9)[0]
    assert reason(verdict) == "not_in_contact"
    assert state.attempt_count[0] == 1 and state.agent_cell[0, 0].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("text", "face", "action", "task"),
    [
        ("0A..|", None, RIGHT, 2),
        (".A0.|", None, LEFT, 3),
        (".A0.|", "left", RIGHT, 2),
        ("....|\n.A..|\n.0..|", None, UP, 1),
        (".0..|\n.A..|\n....|", None, DOWN, 0),
        ("0...|\n..A.|", None, RIGHT, 2),
    ],
)
def test_push_uses_the_face_one_stands_on_else_left(text, face, action, task):
    args = {} if face is None else {"face": face}
    given = ground(text, 0, verb("push", block=0, **args))
    assert (given.action, given.declared) == (action, task)


def test_push_keeps_its_face_when_the_agent_is_moved_off_it():
    state, config = drawn("....|\n.A..|\n.0..|")
    skills = CubeSkills(config)
    action = verb("push", block=0, steps=3)
    first = skills.ground(state, 0, action, None)
    act(state, config, {0: "left"})
    progress = skills.settle(state, 0, action, first.progress).progress
    assert skills.ground(state, 0, action, progress).action == UP


def test_a_push_behind_a_train_counts_under_chain():
    state, config = drawn("210ABB.|\n....BB.|", "chain")
    ended = play(state, config, {a: verb("push", block=0, steps=1) for a in range(3)}, 3)
    assert all(verdict == Done({"moved": 1, "misses": 0}) for verdict, _ in ended.values()), ended


# --- rendezvous and yield ---


def test_all_who_wait_end_in_the_same_step():
    state, config = drawn("......|\n0.AA..|\n..AA..|\n1.....|")
    plans = {0: verb("navigate", block=0, cell=[1, 1]), 1: verb("navigate", block=0)}
    play(state, config, {0: plans[0]}, 5)
    waiting = {0: verb("rendezvous", block=0), 1: plans[1]}
    ended = play(state, config, waiting, 20)
    assert isinstance(ended[0][0], Done) and ended[0][1] == ended[1][1], ended


def test_rendezvous_away_from_the_face_fails():
    assert reason(ground("0..A..|", 0, verb("rendezvous", block=0))) == "not_at_face"


def test_rendezvous_declares_its_task_and_times_out():
    state, config = drawn("0AA...|\n.AA...|\n1.....|")
    skills = CubeSkills(config)
    given = skills.ground(state, 0, verb("rendezvous", block=0), None)
    assert (given.action, given.declared) == (0, 2)
    verdict, steps = play(state, config, {0: verb("rendezvous", block=0, timeout=3)}, 9)[0]
    assert (reason(verdict), steps) == ("timeout", 3)


def test_rendezvous_counts_the_weight_but_never_more_than_the_team():
    text = "0AAAA.|\n.AAAA.|\n.AAAA.|\n.AAAA.|"
    state, config = drawn(text)
    assert isinstance(CubeSkills(config).ground(state, 0, verb("rendezvous", block=0), None), Done)
    assert isinstance(ground("0AA..|\n.AA..|\n1....|", 0, verb("rendezvous", block=0)), Primitive)
    assert isinstance(ground("0AA..|\n.AA..|", 0, verb("rendezvous", block=0, count=1)), Done)


def test_yield_walks_until_the_distance_is_reached():
    state, config = drawn("......|\n..0A..|\n......|")
    verdict, steps = play(state, config, {0: verb("yield", block=0, steps=2)}, 30)[0]
    assert isinstance(verdict, Done) and steps == 2
    cell = state.agent_cell[0, 0]
    assert abs(cell[0] - 1) + abs(cell[1] - 3) == 3, cell


def test_yield_that_cannot_get_away():
    assert reason(ground("0A.|", 0, verb("yield", block=0, steps=2))) == "no_path"


# --- contracts ---


def test_every_verb_ends_and_progress_is_plain_data():
    config = configure("quorum")
    rules, skills = CubeRules(config), CubeSkills(config)
    actions = [
        verb("move", direction="up", steps=10),
        verb("wait", steps=50),
        verb("navigate", block=8, timeout=100),
        verb("push", block=8, steps=20),
        verb("rendezvous", block=8, timeout=100),
        verb("yield", block=8, steps=10),
    ]
    for action in actions:
        state = rules.reset(5)
        progress, steps = None, 0
        while steps <= 101:
            given = skills.ground(state, 0, action, progress)
            if not isinstance(given, Primitive):
                break
            act(state, config, {0: rules.actions[given.action]}, {0: given.declared})
            settled = skills.settle(state, 0, action, given.progress)
            steps += 1
            if isinstance(settled, Done | Failed):
                break
            progress = json.loads(json.dumps(settled.progress))
        assert steps <= 100, action


def test_grounding_changes_nothing_and_repeats():
    config = configure("quorum")
    state, skills = CubeRules(config).reset(2), CubeSkills(config)
    before = [array.copy() for array in state]
    action = verb("navigate", block=4)
    assert skills.ground(state, 1, action, None) == skills.ground(state, 1, action, None)
    assert all((old == new).all() for old, new in zip(before, state, strict=True))


def test_fields_follow_the_world():
    state, config = drawn("......|\n0..A..|\n......|")
    skills, action = CubeSkills(config), verb("navigate", block=0)
    assert skills.ground(state, 0, action, None).action == RIGHT
    act(state, config, {0: "down"})
    assert skills.ground(state, 0, action, None).action == UP


@pytest.mark.parametrize(
    ("action", "steps", "cell", "task"),
    [
        (Action("move", {"direction": "down", "steps": 4}), 4, (5, 0), -1),
        (Action("wait", {"steps": 7}), 7, (1, 0), -1),
        (Action("navigate", {"block": 0}), 4, (1, 4), -1),
        (Action("navigate", {"block": 0, "cell": [2, 4]}), 5, (2, 4), -1),
        (Action("navigate", {"block": 0, "face": "up"}), 6, (0, 5), -1),
        (Action("push", {"block": 0, "steps": 6}), 6, (1, 0), 2),
        (Action("push", {"block": "block_0", "face": "up"}), 1, (1, 0), 0),
        (Action("rendezvous", {"block": 0}), 1, (1, 0), -1),
        (Action("yield", {"block": 0}), 2, (1, 0), -1),
    ],
)
def test_estimates(action, steps, cell, task):
    state, config = drawn("........|\n0....AA.|\n.....AA.|")
    start = Standing(10, (1, 0), {})
    got = CubeSkills(config).estimate(state, 0, action, start)
    assert got == Standing(10 + steps, cell, {}, task)


def test_a_navigate_that_is_there_still_takes_a_step():
    state, config = drawn("0A..|")
    got = CubeSkills(config).estimate(state, 0, verb("navigate", block=0), Standing(0, (0, 0), {}))
    assert got.steps == 1
