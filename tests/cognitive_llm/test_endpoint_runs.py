"""Whole episodes over the wire: what a misbehaving service does to a run and its replay."""

import asyncio
import json
import time

import pytest
from kept_events import Kept

from cognitive.budget import Ledger, Limits
from cognitive.clients.fake import BEHAVIOURS, FakeServer
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.retry import Capped, Retrying, RetryPolicy
from cognitive.clients.scripted import Scripted, Slow
from cognitive.clients.secrets import Secret
from cognitive.clients.stack import open_client
from cognitive.desk import Stop
from cognitive.errors import RecordError
from cognitive.events import encode
from cognitive.loop import NoGate, play
from cognitive.planners.llm import LlmPlanner
from cognitive.prompts.build import PromptBuilder
from cognitive.protocols import Latency
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.registry import make

KEY = "sk-0123456789-very-secret"
CUBE = make("cube-v1")
TWO_STEPS = Limits(steps=2)
TOKENS = Latency("tokens")


class Episode:
    """A run of CUBE with a model for every agent, and all that was written of it."""

    def __init__(self, ending, sink, replies, calls, server):
        self.ending = ending
        self.events = sink.events
        self.bytes = b"".join(encode(line) for line in sink.events)
        self.replies = replies
        self.calls = calls
        self.server = server

    def of(self, e):
        return [line for line in self.events if line["e"] == e]

    def everything(self):
        return self.bytes.decode() + json.dumps(self.replies) + json.dumps(self.calls)


async def playing(
    server, *, mode="record", cassette=None, topology="individual", world=CUBE, limits=TWO_STEPS,
    stop=None, latency=TOKENS, **more,
):  # fmt: skip
    """Play against a server; None for a replay."""
    replies, calls, sink = [], [], Kept()
    address = server.base_url if server is not None else "http://127.0.0.1:9/v1"
    profile = EndpointProfile(
        "m", label="lab", base_url=address,
        **{"attempt_s": 0.3, "try_s": 1.0, "attempts": 2, **more},
    )  # fmt: skip
    ledger = Ledger(limits)
    client = open_client(
        profile, Secret(KEY), mode, cassette, write_reply=replies.append, write_call=calls.append,
        latency=latency, may_retry=lambda scope: ledger.retry(),
    )  # fmt: skip
    planner = LlmPlanner(client, profile, PromptBuilder(world.text.manual()), latency)
    agents = world.rules.agents
    ending = await play(
        world, EpisodeSettings(limits=limits), make_topology(topology, agents), lambda ask: planner,
        NoGate(), sink, ledger=ledger, stop=stop,
    )  # fmt: skip
    await client.close()
    return Episode(ending, sink, replies, calls, server)


def episode(script, otherwise="ok", **more):
    async def run():
        async with FakeServer(script, otherwise) as server:
            return await playing(server, **more)

    return asyncio.run(run())


def replayed(first, tmp_path, **more):
    path = tmp_path / "cassette.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in first.replies))
    return asyncio.run(playing(None, mode="replay", cassette=path, **more))


# --- every fault ---------------------------------------------------------------------------------

FAILED = {
    "hang": "unavailable",
    "reset": "unavailable",
    "html": "unavailable",
    "empty_body": "unavailable",
    "choices_null": "unavailable",
    "flood": "unavailable",
    "error_in_200": "unavailable",
    "status:408": "unavailable",
    "status:409": "unavailable",
    "status:429:0": "unavailable",
    "status:500": "unavailable",
    "status:400": "refused",
    "status:404": "refused",
    "context": "refused",
    "refusal": "refused",
    "filtered": "refused",
    "content_null": "no_json",
    "reasoning_only": "no_json",
    "prose": "no_json",
    "empty": "no_json",
    "blank": "no_json",
    "echo": "no_json",
    "noise": "no_json",
    "long": "no_json",
    "open_thinking": "no_json",
    "cut": "truncated",
    "wrong_schema": "schema",
}
READ = ("ok", "fenced", "thinking", "slow:100", "no_schema", "no_format", "old_limit", "no_usage",
        "no_temperature", "no_limit")  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_a_fault_fails_decisions_and_nothing_else(name):
    """The run goes on to its end; the cause, all replies and their usage are on record; the
    agents stay put, and no plan is made up."""
    run = episode((), name)
    assert run.ending.ended_by == "steps", run.ending
    decisions = run.of("decision_ended")
    assert len(decisions) == 3
    for decision in decisions:
        assert decision["outcome"] == "failed"
        assert {reason["code"] for reason in decision["reasons"]} == {FAILED[name]}
        is_reply = FAILED[name] in ("no_json", "truncated", "schema")
        assert len(decision["tries"]) == (4 if is_reply else 1)
        assert not is_reply or decision["usage"]["total"] > 0
    assert run.of("plan_committed") == [] and run.of("error") == []
    assert {p for line in run.of("step") for p in line["primitives"]} == {0}
    assert KEY not in run.everything()
    texts = [line["text"] for line in run.of("message_sent")]
    assert texts == []


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_played(name):
    run = episode((), name)
    assert run.ending.ended_by == "steps"
    assert [line["outcome"] for line in run.of("decision_ended")][:3] == ["answered"] * 3
    assert run.of("plan_committed")[0]["actions"][0]["verb"] in {"wait", "move"}


@pytest.mark.parametrize("name", ["status:401", "status:403"])
def test_a_refused_key_ends_the_run(name):
    run = episode((), name)
    assert run.ending.ended_by == "endpoint" and run.ending.error is None
    assert run.of("plan_committed") == [] and run.of("step") == []
    assert KEY not in run.everything()
    assert run.replies == [], "a resumed run asks again"


def test_an_outage_ends_the_run():
    run = episode((), "status:500", limits=Limits(steps=60), attempts=1)
    assert run.ending.ended_by == "endpoint"
    assert len(run.of("decision_ended")) >= 20


def test_after_a_failure_the_agent_is_asked_again_and_goes_on():
    run = episode(["prose"] * 12, "ok", limits=Limits(steps=6))
    outcomes = [line["outcome"] for line in run.of("decision_ended")]
    assert outcomes == ["failed"] * 3 + ["answered"] * 3
    assert [line["step"] for line in run.of("plan_committed")] == [5, 5, 5]


def test_findings_are_shown_back_and_a_second_try_counts():
    run = episode(["wrong_schema"] * 3, "ok")
    first = run.of("decision_ended")[0]
    assert [len(entry["findings"]) > 0 for entry in first["tries"]] == [True, False]
    again = run.server.received[3].body["messages"]
    assert again[2] == {"role": "assistant", "content": BEHAVIOURS["wrong_schema"].content}
    assert again[3]["content"].startswith("Your answer was not used. task: this field is missing.")


def test_a_change_of_level_is_written_once():
    run = episode((), "no_schema")
    assert [(e["endpoint"], e["model"], e["from"], e["to"]) for e in run.of("structure_level")] == [
        ("lab", "m", "json_schema", "json_object")
    ]


# --- the same bytes ------------------------------------------------------------------------------

MIXED = ["wrong_schema", "ok", "cut", "status:500", "reset", "prose", "thinking", "status:400"]


@pytest.mark.parametrize("topology", ["individual", "centralized", "chain", "all_to_all"])
def test_a_recorded_run_is_replayed_to_the_byte_without_network(topology, tmp_path):
    first = episode(MIXED, "ok", topology=topology, limits=Limits(steps=4, calls=200))
    again = replayed(first, tmp_path, topology=topology, limits=Limits(steps=4, calls=200))
    assert again.ending.ended_by == first.ending.ended_by == "steps"
    assert again.bytes == first.bytes
    assert again.calls == [] and again.replies == []


def test_recorded_charges_give_the_run_again_under_a_wall_latency(tmp_path):
    first = episode((), "slow:30", latency=Latency("wall"))
    again = replayed(first, tmp_path, latency=Latency("recorded"))
    assert again.bytes == first.bytes


def test_the_number_of_requests_in_flight_changes_nothing():
    runs = [episode((), "ok", concurrency=n, topology="centralized") for n in (1, 64)]
    assert runs[0].bytes == runs[1].bytes


def test_a_changed_temperature_misses_the_cassette(tmp_path):
    first = episode((), "ok")
    with pytest.raises(RecordError, match=r"temperature \(0.7 recorded, 0.1 now\)"):
        replayed(first, tmp_path, temperature=0.1)


# --- limits, time, stopping ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "more"),
    [(Limits(steps=50, calls=7), {}), (Limits(steps=50, tokens=20_000), {}),
     (Limits(steps=50, money=30_000), {"price_in": 1.0, "price_out": 1.0})],
)  # fmt: skip
def test_calls_tokens_and_money_end_the_run_before_they_are_passed(limits, more):
    run = episode((), "ok", limits=limits, **more)
    which = next(name for name in ("calls", "tokens", "money") if vars(limits)[name])
    assert run.ending.ended_by == which
    used = {**run.ending.usage, "tokens": run.ending.usage["total"]}[which]
    assert 0 < used <= vars(limits)[which]
    assert len(run.server.received) == run.ending.usage["calls"]


def test_agents_of_a_round_are_asked_side_by_side():
    """Four agents, replies of 0.4 s: the round takes about one reply, not four."""
    world = make("cube-v1", agents=4)
    started = time.perf_counter()
    run = episode((), "slow:400", world=world, limits=Limits(steps=1), attempt_s=5.0, try_s=9.0)
    took = time.perf_counter() - started
    assert run.server.peak == 3, "the first request goes alone"
    assert 0.8 <= took < 1.4, took


def test_a_stop_ends_64_calls_in_flight_within_3_seconds():
    world = make("cube-v1", n=64)

    async def run():
        async with FakeServer(["ok"], "hang") as server:
            stop = Stop()
            task = asyncio.create_task(
                playing(server, world=world, stop=stop, concurrency=64, attempt_s=60, try_s=120)
            )
            while len(server.received) < 64:
                await asyncio.sleep(0.02)
            started = time.perf_counter()
            stop()
            result = await task
            took = time.perf_counter() - started
            for _ in range(100):
                if server.disconnects >= 63:
                    break
                await asyncio.sleep(0.01)
            return result, took, server.disconnects

    result, took, disconnects = asyncio.run(run())
    assert result.ending.ended_by == "stopped" and result.events[-1]["e"] == "run_ended"
    assert took < 3, took
    assert disconnects == 63
    assert {line["outcome"] for line in result.of("decision_ended")} <= {"cut", "answered"}


def test_a_run_stopped_and_filled_is_the_run_that_was_not_stopped(tmp_path):
    """A stopped run goes on from its cassette: the same bytes, and no answer paid twice."""
    whole = episode((), "ok", limits=Limits(steps=6))
    path = tmp_path / "cassette.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in whole.replies[:4]))
    rest = episode((), "ok", limits=Limits(steps=6), mode="fill", cassette=path)
    assert rest.bytes == whole.bytes
    assert len(rest.server.received) == len(whole.server.received) - 4


@pytest.mark.parametrize("concurrency", [16, 64])
def test_a_round_of_256_agents_takes_as_long_as_its_cap_says(concurrency):
    """In process, 200 ms a call: within 1.5 of ceil(256 / cap) * 0.2 s, prompts included."""
    world = make("cube-v1", n=256)
    plan = '{"task": "none", "actions": [{"verb": "wait", "steps": 3}]}'
    client = Retrying(
        Capped(Scripted(lambda request, scope: Slow(200, plan)), asyncio.Semaphore(concurrency)),
        RetryPolicy(),
    )
    planner = LlmPlanner(client, EndpointProfile("m"), PromptBuilder(world.text.manual()))
    sinks = []

    async def run():
        sinks.append(Kept())
        began = time.perf_counter()
        await play(
            world, EpisodeSettings(limits=Limits(steps=1)), make_topology("individual", 256),
            lambda ask: planner, NoGate(), sinks[-1],
        )  # fmt: skip
        return time.perf_counter() - began

    least = -(-256 // concurrency) * 0.2
    times = [asyncio.run(run())]
    if times[0] > 1.5 * least:
        times.append(asyncio.run(run()))
    assert len([line for line in sinks[0].events if line["e"] == "plan_committed"]) == 256
    assert min(times) <= 1.5 * least, (times, least)
