"""Asking: charges, budgets, faults, stops, the wall clock, and dialogue worlds without a loop."""

import asyncio
import json
import time
from dataclasses import dataclass

import pytest
from pydantic import BaseModel
from stub_play import Memory, Script, directive, play_stub, say
from stub_world import stub_world

from cognitive.budget import Ledger, Limits, Quote
from cognitive.clock import charge_of, recall_of
from cognitive.desk import NOTHING_RECALLED, Stop
from cognitive.dialogue import run_dialogue
from cognitive.errors import ConfigError, CooplabError, DialogueError, RecordError, RunStopped
from cognitive.events import CLOSING_EVENTS, EventLog, encode
from cognitive.loop import NoGate, play, run
from cognitive.protocols import Answer, Latency, Usage
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.api import RESOURCE, Advance, Ask, Commit, Setting

TOKENS = Latency("tokens")
TALK = {
    "plan": "w1",
    "interrupt": {"choice": "resume"},
    "statement": say(),
    "acknowledge": {"answer": "accept"},
    "directive": directive("replan", [1, 2]),
}


def answer(problem=None, tokens=0, measured=0):
    return Answer({}, problem, Usage(0, tokens, tokens), measured)


@pytest.mark.parametrize(
    ("latency", "given", "elapsed", "charge"),
    [
        (TOKENS, answer(tokens=100), 7, 2500),
        (TOKENS, answer(tokens=3000), 7, 30000),
        (TOKENS, answer(tokens=10), 7, 700),
        (Latency("tokens", rate=3), answer(tokens=1), 7, 833),
        (Latency("tokens", rate=16, base=0), answer(tokens=1), 7, 63),
        (TOKENS, answer("timeout"), 7, 30000),
        (TOKENS, answer("unavailable"), 7, 30000),
        (TOKENS, answer("refused", tokens=100), 7, 500),
        (Latency("tokens", base=0), answer(), 7, 1),
        (Latency(), answer("timeout"), 7, 1500),
        (Latency("wall"), answer(measured=20), 7, 20),
        (Latency("wall"), answer(), 7, 7),
        (Latency("recorded"), answer(measured=20), 7, 20),
        (Latency("recorded"), answer(), 7, 1),
    ],
)
def test_what_a_try_is_charged(latency, given, elapsed, charge):
    assert charge_of(latency, given, elapsed) == charge


# --- budgets -------------------------------------------------------------------------------------


def test_a_ledger_reserves_settles_and_retries():
    ledger = Ledger(Limits(calls=4, tokens=100))
    quotes = [Quote("", 0, calls=1, tokens=40)] * 2
    assert ledger.short_of(quotes) is None
    ledger.reserve(quotes)
    assert ledger.short_of(quotes[:1]) == "tokens"
    assert ledger.retry()
    assert ledger.left_calls == 1
    ledger.settle(quotes, tokens=30, money=5)
    assert ledger.used == {"calls": 3, "tokens": 30, "money": 5}
    assert ledger.short_of(quotes) == "calls"
    assert ledger.retry()
    assert not ledger.retry()
    assert Ledger(Limits()).left_calls is None


def test_limits_are_marked_once_at_80_percent_and_once_when_reached():
    ledger = Ledger(Limits(steps=0, calls=10, agent_ms=100))
    marks = [
        list(ledger.marks(used))
        for used in ({"calls": 7}, {"calls": 8}, {"calls": 9}, {"calls": 10}, {"agent_ms/3": 200})
    ]
    assert marks == [[], [("calls", 8, 10)], [], [("calls", 10, 10)], [("agent_ms/3", 200, 100)]]
    assert not ledger.mark_reached("calls")
    assert ledger.mark_reached("tokens")


def test_tokens_end_a_run_before_a_wave_that_may_not_fit():
    class Costly(Script):
        def quote(self, question):
            return Quote("", 0, calls=1, tokens=60)

    script = Costly({0: ["w1"]}, tokens={0: 10})
    played = play_stub(1, "individual", script, limits={"tokens": 75})
    assert (played.ending.ended_by, played.ending.usage["calls"]) == ("tokens", 2)
    assert played.of("budget")[-1]["which"] == "tokens"


def test_an_agent_that_has_used_up_its_time_idles_for_good():
    played = play_stub(2, "individual", {0: ["w1"], 1: ["w3"]}, limits={"agent_ms": 4000})
    assert played.ending.ended_by == "agent_ms"
    failed = [line for line in played.of("decision_ended") if line["outcome"] == "failed"]
    assert [line["reasons"][0]["code"] for line in failed] == ["agent_budget"] * 2
    assert [line["charge_ms"] for line in failed] == [1000, 1000]
    assert played.log(0).endswith("R3000@2 W4000@2")
    marks = [line["which"] for line in played.of("budget") if "/" in line["which"]]
    assert marks == ["agent_ms/0", "agent_ms/1"]


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "code"), [("timeout", "unavailable"), ("unavailable", "unavailable"),
                          ("refused", "refused")],
)  # fmt: skip
def test_what_did_not_come_is_not_asked_again(problem, code):
    script = {0: [Answer(None, problem, Usage(), 0), "w1"]}
    played = play_stub(1, "individual", script, steps=6)
    first, second = played.of("decision_ended")
    assert (first["outcome"], len(first["tries"])) == ("failed", 1)
    assert [reason["code"] for reason in first["reasons"]] == [code]
    assert second["step"] == 5


@pytest.mark.parametrize("problem", ["denied", "outage"])
def test_a_lost_endpoint_ends_the_run(problem):
    script = {0: ["w1"], 1: [Answer(None, problem, Usage(), 0)]}
    played = play_stub(2, "individual", script)
    assert played.ending.ended_by == "endpoint"
    assert [line["outcome"] for line in played.of("decision_ended")] == ["cut", "failed"]
    assert played.log(0) == "R0@0"


def test_an_unknown_problem_is_an_error():
    with pytest.raises(DialogueError, match="'odd'; allowed: timeout"):
        play_stub(1, "individual", {0: [Answer(None, "odd", Usage(), 0)]})


def test_a_planner_that_fails_three_times_in_a_row_ends_the_run():
    told = []
    script = Script({0: [ValueError("no idea")], 1: ["w1"]})
    ending = run(
        stub_world(2), EpisodeSettings(), make_topology("individual", 2), lambda ask: script,
        NoGate(), sink := Memory(), trouble=told.append,
    )  # fmt: skip
    assert (ending.ended_by, ending.error) == ("error", None)
    assert "failed 3 times in a row" in ending.detail
    errors = [(line["code"], line["exception"]) for line in sink.of("error")]
    assert errors == [("planner_error", "ValueError")] * 3
    assert told[0]["text"] == "no idea" and "Traceback" in told[0]["traceback"]
    assert "no idea" not in json.dumps(sink.events)


def test_one_failing_planner_does_not_disturb_the_others():
    script = Script({0: [ValueError("once"), "w1"], 1: ["w1"]})
    played = play_stub(2, "individual", script, steps=7)
    assert played.ending.ended_by == "steps"
    assert len([line for line in played.of("plan_committed") if line["agent"] == 1]) == 7
    assert [line["agent"] for line in played.of("plan_committed")].count(0) == 2


def test_a_record_error_is_raised():
    with pytest.raises(RecordError, match="foreign"):
        play_stub(1, "individual", {0: [RecordError("foreign")]})


def test_a_replay_that_comes_to_its_stop_mark_stops():
    played = play_stub(1, "individual", {0: ["w1", RunStopped("stop mark", "stopped")]})
    assert (played.ending.ended_by, played.ending.steps) == ("stopped", 1)
    assert played.of("decision_ended")[-1]["outcome"] == "cut"


class BreakingRules:
    """The stub's rules, but step 2 raises."""

    def __init__(self, rules):
        self._rules = rules
        self.agents, self.actions = rules.agents, rules.actions
        self.argument_count, self.legend = 0, rules.legend
        self.reset, self.living, self.report = rules.reset, rules.living, rules.report
        self.frame = rules.frame

    def step(self, state, actions, declared=None, arguments=None):
        if state.step[0] == 1:
            raise RuntimeError("the world broke")
        return self._rules.step(state, actions, declared, arguments)


def test_an_error_of_the_world_closes_the_run_and_is_handed_out():
    world = stub_world(1)
    world = world._replace(rules=BreakingRules(world.rules))
    told, sink = [], Memory()
    ending = run(
        world, EpisodeSettings(), make_topology("individual", 1),
        lambda ask: Script({0: ["w5"]}), NoGate(), sink, trouble=told.append,
    )  # fmt: skip
    assert (ending.ended_by, ending.detail) == ("error", "RuntimeError")
    assert str(ending.error) == "the world broke" == told[0]["text"]
    kinds = [line["e"] for line in sink.events[-4:]]
    assert kinds == ["error", "action_ended", "plan_ended", "run_ended"]


class FullDisk(Memory):
    """A sink that takes 10 events."""

    def event(self, line):
        if len(self.events) == 10:
            raise OSError("no space left")
        super().event(line)


def test_an_error_of_the_sink_is_raised():
    sink = FullDisk()
    with pytest.raises(OSError, match="no space left"):
        play_stub(1, "individual", {0: ["w1"]}, sink=sink)
    assert [line["n"] for line in sink.events] == list(range(10))


# --- stopping, running ---------------------------------------------------------------------------


class Slow(Script):
    """Takes real time, and stops the run from within if told to."""

    latency = Latency("wall")

    def __init__(self, replies, seconds, stop=None):
        super().__init__(replies, Latency("wall"))
        self._seconds = seconds
        self._stop = stop
        self.cancelled = 0

    async def answer(self, question):
        if self._stop is not None:
            self._stop()
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return await super().answer(question)


def test_a_stop_cancels_the_calls_under_way():
    stop = Stop()
    script = Slow({0: ["w1"], 1: ["w1"]}, 30, stop)
    began = time.monotonic()
    played = play_stub(2, "individual", script, stop=stop)
    assert time.monotonic() - began < 3
    assert (played.ending.ended_by, script.cancelled) == ("stopped", 2)
    assert [(e["outcome"], e["charge_ms"]) for e in played.of("decision_ended")] == [("cut", 0)] * 2
    assert played.events[-1]["e"] == "run_ended"


def test_a_stop_before_the_start_plays_nothing():
    stop = Stop()
    stop()
    played = play_stub(1, "individual", {0: ["w1"]}, stop=stop)
    assert (played.ending.ended_by, played.ending.steps, played.counts[0]) == ("stopped", 0, 0)


def test_calls_of_a_wave_run_side_by_side():
    script = Slow({i: ["w1"] for i in range(8)}, 0.05)
    began = time.monotonic()
    play_stub(8, "individual", script, steps=1)
    assert time.monotonic() - began < 8 * 0.05


def test_inside_an_event_loop_run_says_what_to_do_and_play_can_be_awaited():
    def parts(sink):
        return (
            stub_world(1), EpisodeSettings(limits=Limits(steps=1)), make_topology("individual", 1),
            lambda ask: Script({0: ["w1"]}), NoGate(), sink,
        )  # fmt: skip

    async def inside():
        with pytest.raises(CooplabError, match="await cognitive"):
            run(*parts(Memory()))
        return await play(*parts(Memory()))

    assert asyncio.run(inside()).ended_by == "steps"


def test_the_world_ends_a_run():
    played = play_stub(2, "individual", {0: ["w1"], 1: ["w9"]}, end_step=3)
    assert (played.ending.ended_by, played.ending.detail) == ("world", "goal")
    assert not played.of("gone")
    played = play_stub(2, "individual", {0: ["d1"], 1: ["d2"]})
    assert (played.ending.ended_by, played.ending.detail) == ("world", "all_gone")
    assert [line["agent"] for line in played.of("gone")] == [0, 1]


# --- the wall clock ------------------------------------------------------------------------------


def test_lockstep_under_the_wall_clock_charges_what_it_took():
    played = play_stub(1, "individual", Slow({0: ["w1"]}, 0.02), steps=2, clock="wall")
    charges = [line["charge_ms"] for line in played.of("decision_ended")]
    assert all(20 <= charge < 500 for charge in charges), charges


def test_realtime_under_the_wall_clock_goes_on_while_somebody_thinks():
    script = Slow({0: ["w2", "w9"]}, 0.07)
    began = time.monotonic()
    played = play_stub(
        1, "individual", script, steps=8, pace="realtime", step_ms=20, clock="wall"
    )  # fmt: skip
    took = time.monotonic() - began
    assert 0.12 < took < 2, took
    acted = [line["primitives"][0] for line in played.of("step")]
    assert acted[:3] == [0, 0, 0], acted
    waits = [line for line in played.of("stage") if line["to"] == "W"]
    ended = played.of("decision_ended")[0]
    assert waits[0]["ms"] >= ended["ms"] > waits[0]["ms"] - 20
    assert played.end == "160@8"


class Replaying(Script):
    """Answers again as recorded, charged as recorded."""

    def __init__(self, events):
        super().__init__({}, Latency("recorded"))
        self._recorded = {e["decision"]: e for e in events if e["e"] == "decision_ended"}

    async def answer(self, question):
        line = self._recorded[question.scope.split("/")[2]]
        return Answer(
            line["value"] or {"task": "none"}, None, Usage(), line["charge_ms"] or 10**6, "text"
        )


def test_what_was_measured_comes_out_again_under_the_virtual_clock():
    options = {"steps": 12, "pace": "realtime", "step_ms": 15}
    script = Slow({i: ["w2", "w1", "w3"] for i in range(3)}, 0.02)
    first = play_stub(3, "chain", script, clock="wall", **options)
    second = play_stub(3, "chain", Replaying(first.events), **options)
    assert outline(first) == outline(second)


@pytest.mark.parametrize(
    ("topology", "pace", "interrupts"),
    [
        ("centralized", "lockstep", "always"),
        ("centralized", "realtime", "always"),
        ("chain", "realtime", "always"),
        ("ring", "realtime", "never"),
        ("gossip", "realtime", "waiting-only"),
    ],
)
def test_a_run_under_the_wall_clock_is_played_again_to_the_byte(topology, pace, interrupts):
    """From what its events say was measured, also if it was killed half way."""
    options = {"steps": 10, "pace": pace, "interrupts": interrupts, "clock": "wall"}
    options["step_ms"] = 20 if pace == "realtime" else 0
    replies = {(i, kind): [reply] for i in range(3) for kind, reply in TALK.items()}

    def play_it(recall=NOTHING_RECALLED):
        script = Slow(replies, 0.013)
        played = play_stub(3, topology, script, recall=recall, **options)
        return [encode(line) for line in played.events], played.events

    lines, events = play_it()
    started = [line for line in events if line["e"] == "decision_started"]
    assert len(started) > 3, events
    end = next(n for n in range(len(events)) if events[n:] and is_closing(events, n))
    for kept in (len(events), end, end // 2):
        again, _ = play_it(recall_of(events[:kept]))
        assert again[:kept] == lines[:kept], first_difference(again, lines)


def is_closing(events, n):
    """Whether everything from n on was written when the run was closed."""
    return all(
        line["e"] in CLOSING_EVENTS and line.get("outcome") in (None, "cut") for line in events[n:]
    )


def first_difference(again, lines):
    return next(pair for pair in zip(again, lines, strict=False) if pair[0] != pair[1])


def outline(played):
    """Everything but settings, tries and what the cut decisions were charged."""
    dropped = ("n", "tries", "usage", "pace", "counters")
    return [
        {key: value for key, value in line.items() if key not in dropped}
        for line in played.events
        if not (line["e"] == "decision_ended" and line["outcome"] == "cut")
    ]


# --- dialogue worlds -----------------------------------------------------------------------------


class Vote(BaseModel):
    choice: str


@dataclass(frozen=True)
class Turn:
    wave: int
    choices: tuple[str, ...] = ()


class Voting:
    """Two agents vote side by side, twice; what a second wave costs is a resource's."""

    kind = "voting"

    def begin(self, setting):
        return Advance(Turn(0), note="begun")

    def members(self, state):
        return frozenset({0, 1})

    def requests(self, state):
        if state.wave == 2:
            return ()
        votes = tuple(
            Ask(a, "vote", Vote, {"view": state.wave},
                check=lambda vote: () if vote.choice in "ab" else ("only a or b",))
            for a in (0, 1)
        )  # fmt: skip
        return (
            votes if state.wave == 0 else (Ask(RESOURCE, "vote", Vote), Ask(RESOURCE, "vote", Vote))
        )

    def apply(self, state, replies):
        choices = tuple(r.value.choice if r.value else "-" for r in replies)
        return Advance(Turn(state.wave + 1, state.choices + choices))

    def result(self, state):
        return list(state.choices)


SETTING = Setting(0, 0, 7, (0, 1), (0, 1), frozenset(), {}, {})


def vote(dialogue, replies, **more):
    sink = Memory()
    script = Script(replies)
    limits = more.pop("limits", Limits())
    end = asyncio.run(
        run_dialogue(
            dialogue, SETTING, lambda ask: script, EventLog(sink, {"match": "m"}),
            ledger=Ledger(limits), **more,
        )
    )  # fmt: skip
    return end, sink, script


def ballots(*choices):
    return [{"choice": choice} for choice in choices]


def test_a_dialogue_world_is_played_without_a_loop():
    replies = {0: ballots("a"), 1: ballots("x", "b"), RESOURCE: ballots("a")}
    end, sink, script = vote(Voting(), replies)
    assert (end.result, end.clock_ms, end.waves, end.ended_by) == (
        ["a", "b", "a", "a"],
        4500,
        2,
        None,
    )
    assert sink.of("decision_ended")[1]["tries"][0]["findings"][0]["text"] == "only a or b"
    assert [line["e"] for line in sink.events] == [
        "dialogue_opened", "dialogue_advanced",
        *["decision_started"] * 2, *["decision_ended"] * 2, "dialogue_advanced",
        *["decision_started"] * 2, *["decision_ended"] * 2, "dialogue_advanced",
        "dialogue_closed",
    ]  # fmt: skip
    assert {line["match"] for line in sink.events} == {"m"}
    assert script.questions[0].scope == "run/0/d0/1"


def test_four_findings_fail_an_answer():
    end, sink, _ = vote(Voting(), {0: ballots("a"), 1: ballots("x"), RESOURCE: ballots("a")})
    assert end.result[:2] == ["a", "-"]
    failed = sink.of("decision_ended")[1]
    assert (failed["outcome"], len(failed["tries"]), failed["charge_ms"]) == ("failed", 4, 6000)


def test_a_dialogue_world_ends_where_its_budget_ends():
    replies = {0: ballots("a"), 1: ballots("b"), RESOURCE: ballots("a")}
    end, sink, _ = vote(Voting(), replies, limits=Limits(calls=3))
    assert (end.ended_by, end.result, end.waves) == ("calls", None, 1)
    assert len(sink.of("decision_started")) == 2


class Committing(Voting):
    def apply(self, state, replies):
        return Advance(Turn(state.wave + 1), (Commit(0, "none"),))


class Doubled(Voting):
    def requests(self, state):
        return (Ask(0, "vote", Vote), Ask(0, "vote", Vote))


@pytest.mark.parametrize(
    ("dialogue", "words"), [(Committing(), "a commit in a dialogue world"),
                            (Doubled(), "two asks to one")],
)  # fmt: skip
def test_what_a_dialogue_world_must_not_do(dialogue, words):
    with pytest.raises(DialogueError, match=words):
        vote(dialogue, {0: ballots("a"), 1: ballots("b")})


def test_too_many_waves_are_an_error():
    with pytest.raises(DialogueError, match="not finished after 1 waves"):
        vote(Voting(), {0: ballots("a"), 1: ballots("b")}, max_waves=1)


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pace": "fast"}, ("pace = 'fast'", "lockstep, realtime")),
        ({"interrupts": "often"}, ("always, waiting-only, priority, never",)),
        ({"mailbox": 0, "tries": 0}, ("mailbox = 0", "tries = 0")),
        ({"drop": 1.5}, ("drop = 1.5", "0 to 1")),
        ({"delay_ms": (5, 1)}, ("low <= high",)),
        ({"seed": -1}, ("seed = -1",)),
        ({"pace": "realtime", "step_ms": 0}, ("an integer from 1",)),
    ],
)
def test_settings_out_of_range_are_all_named(options, words):
    with pytest.raises(ConfigError) as caught:
        EpisodeSettings(**options)
    for word in words:
        assert word in str(caught.value)


def test_limits_out_of_range_are_refused():
    with pytest.raises(ConfigError, match=r"budget\.calls = -1: allowed: an integer from 0"):
        Limits(calls=-1)
