"""The channel as a pure machine: who is asked, what is sent, which plans stand."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive.schemas import reply_models
from repair.channel import Channel, Verdict
from worlds.api import ArgSpec, Reply, Setting, VerbSpec

WAIT = VerbSpec("wait", (ArgSpec("steps", "int", 1, 50, default=1),), "stay")
SCHEMAS = reply_models((WAIT,))
GOOD = Verdict(True, True, True, (), 3000)
BAD = Verdict(False, True, False, ("b",), 0)
BETTER = Verdict(False, True, True, ("b",), 2000)


def setting(members, live=None):
    live = frozenset(members if live is None else live)
    return Setting(7, 0, 0, tuple(members), tuple(members), live, {}, {})


def channel(members=(0, 1, 2), verdicts=(GOOD,), **options):
    queue = iter(verdicts)
    made = Channel(
        tuple(members), {m: {} for m in members}, SCHEMAS, lambda _: next(queue), 1000, **options
    )
    made.kind = "repair"
    return made


def reply(ask, steps=None, outcome="answered"):
    if outcome != "answered":
        return Reply(ask, outcome, None, (), 1500)
    if ask.kind == "repair_intention":
        value = {"text": f"I am {ask.agent}", "task": "b", "keeps_plan": True}
    elif steps is None:
        value = {"choice": "keep", "follows_guidance": False, "plan": None}
    else:
        plan = {"thought": "", "task": "b", "actions": [{"verb": "wait", "steps": steps}]}
        value = {"choice": "revise", "follows_guidance": True, "plan": {**plan, "note": ""}}
    return Reply(ask, "answered", SCHEMAS[ask.kind].model_validate(value), (), 1500)


def play(made, live=None, revise=lambda wave, agent: None, outcome=lambda ask: "answered"):
    """Every wave's asks, all sends, the last advance."""
    step = made.begin(setting(made._members, live))
    waves, sends = [], list(step.sends)
    for wave in range(50):
        asks = made.requests(step.state)
        if not asks:
            return waves, sends, step
        waves.append(asks)
        answers = tuple(reply(a, revise(wave, a.agent), outcome(a)) for a in asks)
        step = made.apply(step.state, answers)
        sends += step.sends
    raise AssertionError("never closed")


def test_members_speak_in_turn_and_see_what_was_said_before():
    waves, sends, _ = play(channel((1, 2, 10)))
    assert [ask.agent for ask, *_ in waves[:3]] == [1, 2, 10]
    assert [len(wave[0].context["statements"]) for wave in waves[:3]] == [0, 1, 2]
    assert [ask.agent for ask in waves[3]] == [1, 2, 10]
    assert [(send.sender, send.recipients) for send in sends] == [
        (1, (2, 10)),
        (2, (1, 10)),
        (10, (1, 2)),
    ]


def test_cost_of_three_members_one_round_two_waves():
    waves, sends, last = play(
        channel(verdicts=(BAD, GOOD)), revise=lambda wave, agent: wave + agent + 1
    )
    assert sum(map(len, waves)) == 9 and len(sends) == 3
    assert sum(len(send.recipients) for send in sends) == 6
    assert len(waves) == 5, "answers in a row: 7500 ms on the clock, 22500 ms of decisions"
    assert [c.choice for c in last.commits] == ["plan"] * 3


def test_accepted_at_once_commits_plans_and_resumes():
    made = channel(verdicts=(GOOD,))
    waves, _, last = play(made, revise=lambda wave, agent: 4 if agent == 1 else None)
    assert len(waves) == 4
    assert [(c.agent, c.choice) for c in last.commits] == [
        (0, "resume"),
        (1, "plan"),
        (2, "resume"),
    ]
    assert made.result(last.state)["outcome"] == "accepted"
    assert made.result(last.state)["v_after"] == 3000


def test_same_proposal_again_ends_it_kept():
    made = channel((0, 1), verdicts=(BAD, BAD), revisions=5)
    waves, _, last = play(made, revise=lambda wave, agent: 2)
    assert len(waves) == 4, "two speeches, two waves: the second repeats the first"
    assert made.result(last.state)["outcome"] == "kept"
    assert {c.choice for c in last.commits} == {"resume"}


def test_keeping_everything_ends_after_one_wave():
    waves, _, last = play(channel((0, 1), verdicts=(BAD,), revisions=5))
    assert len(waves) == 3 and {c.choice for c in last.commits} == {"resume"}


@pytest.mark.parametrize(
    ("on_reject", "outcome", "wait", "value"),
    [("best", "improved", 1, 2000), ("original", "kept", None, 1000), ("last", "improved", 2, 0)],
)
def test_which_proposal_stands_when_none_is_accepted(on_reject, outcome, wait, value):
    made = channel((0, 1), verdicts=(BETTER, BAD), on_reject=on_reject)
    _, _, last = play(made, revise=lambda wave, agent: wave - 1)
    result = made.result(last.state)
    assert (result["outcome"], result["v_after"]) == (outcome, value)
    plans = {c.plan.actions[0].args["steps"] if c.plan else None for c in last.commits}
    assert plans == {wait}


def test_silent_channel_goes_straight_to_revisions():
    waves, sends, _ = play(channel((0, 1), rounds=0))
    assert len(waves) == 1 and not sends


def test_member_without_a_plan_that_keeps_commits_none():
    _, _, last = play(channel((0, 1)), live=(1,))
    assert [c.choice for c in last.commits] == ["none", "resume"]


def test_failed_answers_are_an_empty_statement_and_keep():
    _, sends, last = play(channel((0, 1), verdicts=(BAD,)), outcome=lambda ask: "failed")
    assert [send.text for send in sends] == ["", ""]
    assert {c.choice for c in last.commits} == {"resume"}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_channel_closes_whatever_is_answered(data):
    members = tuple(range(data.draw(st.integers(1, 4))))
    verdicts = itertools.cycle(
        data.draw(st.lists(st.sampled_from([BAD, BETTER, GOOD]), min_size=1))
    )
    options = {
        "rounds": data.draw(st.integers(0, 3)),
        "revisions": data.draw(st.integers(1, 5)),
        "on_reject": data.draw(st.sampled_from(["best", "original", "last"])),
    }
    made = channel(members, verdicts, **options)
    outcomes = st.sampled_from(["answered", "failed", "skipped"])
    waves, _, last = play(
        made,
        revise=lambda wave, agent: data.draw(st.sampled_from([None, 1, 2, 3])),
        outcome=lambda ask: data.draw(outcomes),
    )
    assert len(waves) <= len(members) * options["rounds"] + options["revisions"]
    assert made.requests(last.state) == () and made.members(last.state) == frozenset()
