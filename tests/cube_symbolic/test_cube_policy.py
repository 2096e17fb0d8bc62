"""Scripted play of CUBE: whole episodes through the loop, and single answers on drawn worlds."""

import copy
import statistics

import numpy as np
import pytest
from drawn import drawn

from cognitive.budget import Limits
from cognitive.loop import NoGate, run
from cognitive.planners.scripted import ScriptedPlanner, scripted_answer
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.cube.board import board_of
from worlds.cube.detour import detour
from worlds.cube.policy import CubePolicy
from worlds.cube.schedule import schedule
from worlds.cube.slots import is_narrow, matched
from worlds.errors import ConfigError
from worlds.registry import make


class Kept:
    """A sink that keeps events."""

    def __init__(self):
        self.lines = []

    def event(self, line):
        self.lines.append(line)

    def frame(self, step, layers):
        pass

    def flush(self):
        pass

    def close(self):
        pass


class Watching(ScriptedPlanner):
    """Scripted play that keeps the questions it was asked."""

    def __init__(self):
        super().__init__()
        self.questions = []

    async def answer(self, question):
        self.questions.append(question)
        return await super().answer(question)


def episode(seed, topology="centralized", preset="quorum", team_ms=0, planner=None, **overrides):
    world = make("cube-v1", preset, **overrides)
    steps = world.config.max_steps
    planner, sink = planner or ScriptedPlanner(), Kept()
    settings = EpisodeSettings(seed=seed, limits=Limits(steps=steps, team_ms=team_ms))
    structure = make_topology(topology, world.rules.agents)
    ending = run(world, settings, structure, lambda ask: planner, NoGate(), sink)
    assert ending.error is None, ending.error
    return ending, sink.lines


def steps_of(seeds, cap=200, **settings):
    """Steps of each episode; the cap for one that was not finished under it."""
    endings = [episode(seed, **settings)[0] for seed in seeds]
    return [end.steps if end.ended_by == "world" else cap for end in endings]


def share_done(steps, cap=200):
    return sum(count < cap for count in steps) / len(steps)


# --- how well it plays ---


def test_centralized_delivers_everything():
    steps = steps_of(range(40))
    assert share_done(steps) >= 0.95 and statistics.median(steps) <= 160, steps


def test_centralized_does_so_in_two_minutes_of_decisions():
    steps = steps_of(range(20), team_ms=120_000)
    assert share_done(steps) >= 0.8, steps


def test_six_agents():
    assert share_done(steps := steps_of(range(15), preset="quorum-6")) >= 0.9, steps


def test_chain():
    assert share_done(steps := steps_of(range(20), topology="chain")) >= 0.9, steps


@pytest.mark.parametrize("topology", ["ring", "all_to_all", "hierarchy", "gossip"])
def test_every_way_to_talk_beats_silence(topology):
    score = [episode(seed, topology)[0].score for seed in range(3)]
    silent = [episode(seed, "individual")[0].score for seed in range(3)]
    assert statistics.mean(score) > 1.5 * statistics.mean(silent), (score, silent)


def test_alone_takes_longer():
    seeds = range(5)
    alone = statistics.mean(steps_of(seeds, 400, topology="individual", max_steps=400))
    for topology in ("centralized", "chain"):
        other = statistics.mean(steps_of(seeds, 400, topology=topology, max_steps=400))
        assert alone >= 1.2 * other, (topology, alone, other)


@pytest.mark.parametrize(("n", "seeds"), [(8, 4), (32, 1)])
def test_curriculum(n, seeds):
    for seed in range(seeds):
        ending, _ = episode(seed, preset="chain", n=n)
        weight = sum(make("cube-v1", "chain", n=n).config.weights)
        assert ending.score >= 0.8 * weight, (n, seed, ending.score, weight)


def test_large_teams_play():
    ending, lines = episode(0, preset="chain", n=128, max_steps=40)
    assert ending.steps == 40
    assert any(line["e"] == "plan_committed" and line["task"] != "none" for line in lines)


@pytest.mark.parametrize("seed", [0, 3, 16])
def test_scattered_blocks_are_pushed_aside(seed):
    ending, lines = episode(seed, placement="scatter", max_steps=400)
    aside = [
        line for line in lines if line["e"] == "plan_committed" and "_left" not in line["task"]
    ]
    assert ending.ended_by == "world", (seed, ending.score)
    assert any(line["task"] != "none" for line in aside), "nothing was in the way"


# --- laws ---

TOPOLOGIES = ("individual", "centralized", "chain", "ring", "all_to_all", "hierarchy", "gossip")


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("overrides", [{}, {"placement": "scatter"}, {"agents": 6}])
def test_every_answer_is_valid_at_the_first_try(topology, overrides):
    _, lines = episode(2, topology, **overrides)
    ended = [line for line in lines if line["e"] == "decision_ended" and line["outcome"] != "cut"]
    bad = [line for line in ended if line["outcome"] != "answered" or len(line["tries"]) != 1]
    assert ended and not bad, bad[:1]


def test_same_run_same_events():
    assert episode(5, "chain")[1] == episode(5, "chain")[1]


def test_individual_hears_nothing_and_its_answers_are_its_own():
    """What teammates plan, hold in their mailboxes or are told reaches no answer of another."""
    planner = Watching()
    episode(4, "individual", planner=planner, max_steps=60)
    world = make("cube-v1", "quorum")
    assert len(planner.questions) > 5
    for question in planner.questions:
        assert (question.messages, question.orders, question.memory["team"]) == ([], None, {})
    own = [question for question in planner.questions if question.ask.agent == 0]
    before = [scripted_answer(question) for question in own]
    state = world.rules.reset(4)
    for other in (1, 2):
        notes = notes_of(state, other)
        notes["team"] = {"0": word("block_6_left")}
        notes["messages"] = [message("statement", 0, {"task": "block_6_left", "arrival": 1})]
        for kind in ("plan", "statement", "directive"):
            world.policy.answer(state, other, kind, notes)
    assert [scripted_answer(question) for question in own] == before


def test_an_answer_changes_neither_state_nor_notes():
    world = make("cube-v1", "quorum")
    state = world.rules.reset(1)
    notes = notes_of(state, 0, team={"1": word("block_3_left")})
    arrays, kept = [array.copy() for array in state], copy.deepcopy(notes)
    for kind in ("plan", "directive", "statement", "acknowledge", "repair_intention"):
        assert world.policy.answer(state, 0, kind, notes) == world.policy.answer(
            state, 0, kind, notes
        )
    assert notes == kept
    assert all((old == new).all() for old, new in zip(arrays, state, strict=True))


def test_an_unknown_kind_is_refused():
    world = make("cube-v1", "quorum")
    state = world.rules.reset(0)
    with pytest.raises(ConfigError, match="vote"):
        world.policy.answer(state, 0, "vote", notes_of(state, 0))


# --- single answers ---


def notes_of(state, agent, **changes):
    notes = {
        "agent": agent,
        "agents": state.agent_cell.shape[1],
        "memory": {"events": []},
        "messages": [],
        "team": {},
        "orders": None,
        "context": {},
        "own_plan": None,
        "last": None,
        "step": int(state.step[0]),
    }
    return notes | changes


def word(task, actions=(), kind="proposal", step=0, sheet=None):
    entry = {"task": task, "actions": list(actions), "note": "", "sheet": sheet}
    return entry | {"step": step, "kind": kind}


def message(kind, sender, body, text=""):
    return {"id": 0, "sender": sender, "kind": kind, "text": text, "body": body, "step": 0}


def assignment(agents, task, cells=(), by_step=None, instruction=""):
    return {
        "agents": agents, "task": task, "role": "push", "cells": [list(c) for c in cells],
        "by_step": by_step, "instruction": instruction,
    }  # fmt: skip


def answer(text, agent, kind, rules="quorum", **changes):
    state, config = drawn(text, rules)
    return CubePolicy(config).answer(state, agent, kind, notes_of(state, agent, **changes))


def short(plan):
    return [f"{action['verb']} {action.get('block', '')}".strip() for action in plan["actions"]]


ROOM = """
..........|
0.........|
...AA.....|
1..AA.....|
..........|
2......B..|
"""


def test_alone_the_best_task_for_each_hand():
    near = answer(".....|\n0A...|\n.....|\n.B...|", 0, "plan")
    assert near["task"] == "block_0_left" and short(near) == ["push 0"]


def test_alone_a_task_that_lacked_partners_is_left_for_a_while():
    ended = {
        "kind": "plan_ended", "step": 0, "status": "failed", "task": "block_1_left",
        "reason": {"code": "timeout", "facts": {}},
    }  # fmt: skip
    first = answer(ROOM, 0, "plan")["task"]
    ended["task"] = first
    again = answer(ROOM, 0, "plan", memory={"events": [ended]})["task"]
    assert again not in (first, "none"), (first, again)


def test_alone_partners_are_waited_for_eight_steps():
    plan = answer("....|\n0AA.|\n.AA.|\n1...|", 0, "plan")
    waits = [action for action in plan["actions"] if action["verb"] == "rendezvous"]
    assert [(wait["count"], wait["timeout"]) for wait in waits] == [(2, 8)]


def test_orders_are_followed_leg_by_leg():
    part = assignment([0, 2], "block_0_left", [(2, 2), (3, 2)], 30, "Then block_1_left.")
    orders = {"sender": 1, "step": 0, "assignments": [part]}
    plan = answer(ROOM, 0, "plan", orders=orders)
    assert plan["task"] == "block_0_left"
    assert short(plan) == ["navigate 0", "rendezvous 0", "push 0", "navigate 1", "push 1"]
    assert plan["actions"][0]["cell"] == [2, 2]
    assert plan["actions"][1]["timeout"] == 30 - 3


def test_orders_for_another_face_are_followed_too():
    orders = {"sender": 1, "step": 0, "assignments": [assignment([0], "block_1_up")]}
    plan = answer(ROOM, 0, "plan", orders=orders)
    assert plan["task"] == "block_1_up" and plan["actions"][0]["face"] == "up"


@pytest.mark.parametrize("task", ["block_1_down", "block_9_left", "sing", "block_0"])
def test_orders_that_cannot_be_carried_out_are_passed_over(task):
    part = assignment([0], task, instruction="Then block_7_left, block_1_left, block_1_down.")
    plan = answer(ROOM, 0, "plan", orders={"sender": 1, "step": 0, "assignments": [part]})
    assert plan["task"] == "block_1_left", plan


def test_impossible_orders_are_objected_to():
    text = "..AAA..|\n0.AAA..|\n..AAA..|"
    open_one = "AA......|\nAA......|\n..0.....|"
    orders = {"sender": 1, "step": 0, "assignments": [assignment([0], "block_0_right")]}
    reply = answer(text, 0, "acknowledge", orders=orders)
    assert (reply["answer"], reply["code"]) == ("object", "cannot_reach")
    orders["assignments"][0]["task"] = "block_0_down"
    assert answer(open_one, 0, "acknowledge", orders=orders)["answer"] == "accept"


def test_earlier_proposals_are_filled_up_first():
    actions = [{"verb": "navigate", "block": 0, "face": "left"}]
    plan = answer(
        ROOM, 1, "plan",
        team={"0": word("block_0_left", actions)}, context={"place": 2, "of": 3},
    )  # fmt: skip
    assert plan["task"] == "block_0_left"
    full = {"0": word("block_0_left", actions), "1": word("block_0_left", actions)}
    third = answer(ROOM, 2, "plan", team=full, context={"place": 3, "of": 3})
    assert third["task"] == "block_1_left"


def test_interrupted_it_goes_on_if_nothing_changes_for_it():
    own = {
        "plan": "1.1", "task": "block_1_left", "index": 0, "progress": None,
        "actions": [{"verb": "navigate", "block": 1, "face": "left"}],
    }  # fmt: skip
    orders = {"sender": 0, "step": 0, "assignments": [assignment([1], "block_1_left")]}
    same = answer(ROOM, 1, "interrupt", own_plan=own, orders=orders)
    assert (same["choice"], same["plan"]) == ("resume", None)
    orders["assignments"][0]["task"] = "block_0_left"
    other = answer(ROOM, 1, "interrupt", own_plan=own, orders=orders)
    assert other["choice"] == "replan" and other["plan"]["task"] == "block_0_left"


def test_after_statements_the_nearest_take_the_task():
    stated = [
        message("statement", 1, {"task": "block_0_left", "arrival": 2, "partners": 1}),
        message("statement", 2, {"task": "block_0_left", "arrival": 4, "partners": 1}),
    ]
    team = {str(m["sender"]): word(m["body"]["task"], kind="statement") for m in stated}
    plan = answer(ROOM, 0, "plan", messages=stated, team=team)
    assert plan["task"] == "block_1_left", plan


def test_a_statement_names_task_arrival_and_partners():
    said = answer(ROOM, 1, "statement")
    assert said["task"] in said["text"] and said["partners"] in (0, 1)
    idle = answer("0..|\n...|", 0, "statement")
    assert idle["task"] == "none"


def test_a_directive_gives_every_idle_worker_a_part():
    sheet = {"stage": "R", "task": "none", "progress": "0/0", "last": None}
    team = {str(a): word("none", kind="report", sheet=sheet) for a in (1, 2)}
    reply = answer(ROOM, 0, "directive", team=team, context={"workers": [1, 2], "is_full": True})
    named = sorted(agent for part in reply["assignments"] for agent in part["agents"])
    assert (reply["own"], named) == ("replan", [0, 1, 2])
    tasks = {part["task"]: part for part in reply["assignments"]}
    pushing = [part for part in reply["assignments"] if part["task"] == "block_0_left"]
    cells = sorted(tuple(cell) for part in pushing for cell in part["cells"])
    assert cells == [(2, 2), (3, 2)] and "block_1_left" in tasks, reply


def test_a_busy_worker_is_left_to_its_plan():
    idle = {"stage": "R", "task": "none", "progress": "0/0", "last": None}
    busy = idle | {"stage": "I", "task": "block_0_left", "progress": "1/3"}
    team = {"1": word("block_0_left", kind="report", sheet=busy)}
    team["2"] = word("none", kind="report", sheet=idle)
    reply = answer(ROOM, 0, "directive", team=team, context={"workers": [1, 2], "is_full": True})
    assert 1 not in [agent for part in reply["assignments"] for agent in part["agents"]]
    assert any(part["task"] == "block_0_left" for part in reply["assignments"]), reply


ADVICE = {"task": "block_0_left", "actions": [{"verb": "navigate", "block": 0, "face": "left"}]}


def test_repair_advice_is_followed_if_it_is_valid():
    context = {"recommended": ADVICE, "slot": [2, 2], "arrival": 3}
    said = answer(ROOM, 0, "repair_intention", context=context)
    assert said["task"] == "block_0_left" and "(2,2)" in said["text"] and not said["keeps_plan"]
    done = answer(ROOM, 0, "repair_revision", context=context)
    assert (done["choice"], done["plan"]["task"]) == ("revise", "block_0_left")
    assert done["follows_guidance"] and done["plan"]["actions"] == ADVICE["actions"]


@pytest.mark.parametrize(
    "advice",
    [
        None,
        {"task": "block_9_left", "actions": ADVICE["actions"]},
        {"task": "block_0_left", "actions": [{"verb": "push", "block": 9}]},
        {"task": "block_0_left", "actions": [{"verb": "wait", "steps": 51}]},
        {"task": "block_0_left", "actions": [{"verb": "push"}]},
        {"task": "block_0_left", "actions": [{"verb": "push", "block": 0, "face": "top"}]},
        {"task": "block_0_left", "actions": [{"verb": "jump"}]},
        {"task": "block_0_left", "actions": [{"verb": "navigate", "block": 0, "cell": [9, 9]}]},
        {"task": "block_0_left", "actions": []},
        {"task": "block_0_left", "actions": [{"verb": "wait"}] * 9},
    ],
)
def test_bad_advice_is_not(advice):
    reply = answer(ROOM, 0, "repair_revision", context={"recommended": advice})
    assert reply == {"choice": "keep", "follows_guidance": False, "plan": None}


def test_whoever_has_nothing_to_push_leaves_the_lane():
    text = ".......|\n1A..0..|\n.......|\n.......|"
    orders = {"sender": 1, "step": 0, "assignments": [assignment([0], "none")]}
    plan = answer(text, 0, "plan", orders=orders)
    assert plan["task"] == "none"
    assert plan["actions"] == [{"verb": "move", "direction": "up", "steps": 1}], plan
    aside = answer(".......|\n1A.....|\n.......|\n..0....|\n.......|", 0, "plan", orders=orders)
    assert [action["verb"] for action in aside["actions"]] == ["wait"]


# --- schedules ---


def test_crews_are_the_nearest_and_lighter_ones_go_beside():
    state, config = drawn(ROOM)
    crews = {crew.block: crew for crew in schedule(board_of(state, config.rules), {})}
    assert set(crews) == {0, 1}
    assert len(crews[0].agents) == 2 and len(crews[1].agents) == 1
    assert crews[0].cells == ((2, 2), (3, 2))


def test_a_block_behind_another_comes_later():
    state, config = drawn("........|\n0A..B...|\n1.......|")
    crews = schedule(board_of(state, config.rules), {})
    assert [crew.block for crew in crews] == [1, 0]
    assert crews[0].finish <= crews[1].start, crews


def test_known_work_is_kept():
    state, config = drawn(ROOM)
    crews = schedule(board_of(state, config.rules), {0: [1], 2: [0]})
    assert {crew.block: crew.agents for crew in crews} == {1: (0,), 0: (1, 2)}


def test_no_two_ways_to_a_wide_face_cross():
    state, config = drawn("0......|\n1......|\n2......|\n...AAA.|\n...AAA.|\n...AAA.|\n.......|")
    slots = matched(board_of(state, config.rules), 0, (0, 1, 2), (3, 3, 3), {})
    assert [slots[agent] for agent in range(3)] == [(3, 2), (4, 2), (5, 2)]


def test_a_narrow_face_is_filled_from_within():
    state, config = drawn("2.......|\n.AAA....|\n0AAA....|\n.AAA....|\n1.......|")
    board = board_of(state, config.rules)
    assert is_narrow(board.terrain, 0)
    slots = matched(board, 0, (0, 1, 2), (0, 1, 1), {})
    assert slots == {0: (2, 0), 1: (3, 0), 2: (1, 0)}


def test_agents_in_single_file_keep_their_order():
    rows = ["........", "0AAAAA..", "1AAAAA..", ".AAAAA..", "2AAAAA..", ".AAAAA..", "34......"]
    state, config = drawn("\n".join(row + "|" for row in rows), "chain")
    board = board_of(state, config.rules)
    slots = matched(board, 0, (0, 1, 2, 3, 4), (0, 0, 0, 1, 2), {})
    order = sorted(slots, key=slots.get)
    assert order.index(0) < order.index(1) < order.index(2) and len(set(slots.values())) == 5, slots


def test_detour():
    state, config = drawn("........|\n0.AB....|\n1.......|\n........|")
    way = detour(board_of(state, config.rules))
    assert (way.block, way.steps, len(way.agents)) == (0, 1, 1)
    clear, config = drawn("........|\n0.A.B...|\n........|")
    assert detour(board_of(clear, config.rules)) is None


def test_a_schedule_for_256_agents():
    world = make("cube-v1", "chain", n=256)
    crews = schedule(board_of(world.rules.reset(0), "chain"), {})
    assert len(crews) > 0.8 * len(world.config.weights)
    taken = np.array([cell for crew in crews for cell in crew.cells])
    assert (taken >= 0).all() and (taken < 256).all()
