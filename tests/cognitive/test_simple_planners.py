"""Planners without a model: what they say, and that it is always valid at the first try."""

import pytest
from stub_play import Memory
from stub_world import stub_world
from test_loop_golden import OneChannel

from cognitive.budget import Limits
from cognitive.errors import ConfigError, RecordError
from cognitive.events import encode
from cognitive.loop import NoGate, run
from cognitive.planners.greedy import GreedyPlanner
from cognitive.planners.random import RandomPlanner
from cognitive.planners.replay import ReplayPlanner
from cognitive.planners.scripted import ScriptedPlanner, scripted_for
from cognitive.settings import EpisodeSettings
from cognitive.topologies import TOPOLOGIES, make_topology
from worlds.api import DialogueWorld

PLANNERS = {"scripted": ScriptedPlanner, "greedy": GreedyPlanner, "random": RandomPlanner}


def play_with(planner, topology, agents=4, seed=0, gate=None, steps=12):
    sink = Memory()
    options = {"graph": [[0, 1], [1, 2], [2, 3]]} if topology == "graph" else {}
    ending = run(
        stub_world(agents),
        EpisodeSettings(seed=seed, limits=Limits(steps=steps)),
        make_topology(topology, agents, **options),
        lambda ask: planner,
        gate or NoGate(),
        sink,
    )
    assert ending.error is None, ending.error
    return sink


@pytest.mark.parametrize("topology", sorted(TOPOLOGIES))
@pytest.mark.parametrize("name", sorted(PLANNERS))
def test_every_answer_is_valid_at_the_first_try(name, topology):
    for seed in range(3):
        sink = play_with(PLANNERS[name](), topology, seed=seed, gate=OneChannel((0, 1)))
        ended = sink.of("decision_ended")
        assert ended
        bad = [line for line in ended if line["outcome"] != "answered" or len(line["tries"]) > 1]
        assert not bad, bad[0]


def test_random_play_depends_on_the_seed_alone():
    first, again, other = (
        play_with(RandomPlanner(), "all_to_all", 8, seed).of("plan_committed") for seed in (1, 1, 2)
    )
    assert first == again != other
    lengths = {len(line["actions"]) for line in first + other}
    assert lengths == {1, 2, 3}


def test_greedy_play_goes_for_the_best_task_and_then_waits():
    sink = play_with(GreedyPlanner(), "individual", agents=1, steps=8)
    plans = [(line["task"], line["actions"]) for line in sink.of("plan_committed")]
    assert plans[:3] == [
        ("pile", [{"verb": "work", "k": 2}]),
        ("pile", [{"verb": "work", "k": 2}]),
        ("none", [{"verb": "wait", "steps": 3}]),
    ]


def test_greedy_play_heeds_guidance_only_if_told_to():
    for heeds, text in ((False, "I go for pile."), (True, "I work.")):
        planner = GreedyPlanner(heeds_guidance=heeds)
        sink = play_with(planner, "individual", agents=2, gate=OneChannel((0, 1)))
        said = [m["text"] for m in sink.of("message_sent") if m["kind"] == "repair_statement"]
        values = [
            line["value"]["text"]
            for line in sink.of("decision_ended")
            if "keeps_plan" in (line["value"] or {})
        ]
        assert values == [text, text], (heeds, values, said)


def test_a_world_without_scripted_play_refuses_it():
    world = stub_world(1)._replace(policy=None)
    with pytest.raises(ConfigError, match="stub-v1 has no scripted play"):
        scripted_for(world)
    talk = DialogueWorld("talk-v1", None, None, lambda kind, view, notes: {"kind": kind})
    assert scripted_for(talk).name == "scripted"


# --- replay --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scripted", "random"])
@pytest.mark.parametrize("topology", sorted(TOPOLOGIES))
def test_a_recorded_run_gives_the_same_events_again(topology, name):
    first = play_with(PLANNERS[name](), topology, gate=OneChannel((0, 1))).events
    again = play_with(ReplayPlanner(first, name), topology, gate=OneChannel((0, 1))).events
    assert list(map(encode, first)) == list(map(encode, again))


def test_a_replay_of_another_run_is_refused():
    first = play_with(ScriptedPlanner(), "chain").events
    moved = [{**e, "prompt_hash": "0"} if e["e"] == "decision_started" else e for e in first]
    with pytest.raises(RecordError, match="d0: the question differs"):
        play_with(ReplayPlanner(moved, "scripted"), "chain")
