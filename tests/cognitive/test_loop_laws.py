"""Laws of every run, over drawn scripts of plans, failures, faults, talk and deaths."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import check_all, check_rounds
from stub_play import Memory, Played, directive, plan, say
from stub_world import stub_world
from test_loop_golden import OneChannel

from cognitive.budget import Ledger, Limits, Metered, Quote
from cognitive.events import encode
from cognitive.loop import NoGate, run
from cognitive.memory import rebuild
from cognitive.protocols import Answer, Latency, Usage
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.api import below

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
TOPOLOGIES = {
    "individual": {},
    "centralized": {},
    "chain": {"window": 2},
    "ring": {},
    "all_to_all": {"rounds": 2},
    "hierarchy": {"branching": 2},
    "gossip": {},
    "graph": {"graph": {"edges": [[0, 1]]}, "order": "ascending"},
}


class Wild(Metered):
    """Draws every reply from its scope: plans, invalid ones, faults, words, deaths.

    shuffled: replies take a drawn number of turns of the event loop to come back.
    """

    name = "wild"
    latency = Latency("tokens")

    def __init__(self, seed, shuffled=0):
        self._seed = seed
        self._shuffled = shuffled

    def quote(self, question):
        return Quote("", 0, calls=1, tokens=200)

    def bill(self, usage):
        return usage.total

    async def answer(self, question):
        def pick(name, *options):
            return options[below(len(options), self._seed, "wild", question.scope, name)]

        for _ in range(below(5, self._shuffled, "turns", question.scope) if self._shuffled else 0):
            await asyncio.sleep(0)
        usage = Usage(0, pick("tokens", 0, 10, 50, 100), 0)
        fault = pick("fault", *[None] * 12, "timeout", "refused", "raise", "noise")
        if fault == "raise":
            raise ValueError("a planner fails")
        if fault == "noise":
            return Answer('{"a": [1, {"b"', None, usage, 0)
        if fault is not None:
            return Answer(None, fault, usage, 0)
        return Answer(self._reply(question, pick), None, usage, 0)

    async def close(self):
        return None

    def _reply(self, question, pick):
        text = pick("plan", "w1", "w2", "w3", "w1 b1 w1", "b2", "s0", "s0 w1", "!", "d3")
        messages = [{"recipients": [pick("to", 0, 1)], "text": "Hear."}]
        own = plan(text, pick("task", "none", "pile", "pit"))
        if pick("talks", False, False, True):
            own["messages"] = messages
        ask = question.ask
        workers = list(ask.context.get("workers", []))
        keep = "keep" if question.memory["own_plan"] else "replan"
        return {
            "plan": own,
            "interrupt": pick(
                "choice", {"choice": "resume"}, {"choice": "replan", "plan": plan("w2")}
            ),
            "directive": directive(pick("own", keep, "replan"), workers),
            "acknowledge": pick("ack", {"answer": "accept"}, {"answer": "object", "code": "other"}),
            "statement": say(),
            "repair_intention": {"text": "So.", "task": "none", "keeps_plan": True},
            "repair_revision": {"choice": "keep", "follows_guidance": False},
        }[ask.kind]


def wild_run(agents, topology, seed, shuffled=0, gate=None, limits=None, **options):
    sink = Memory()
    kept = TOPOLOGIES[topology]
    if topology == "graph":
        kept = {**kept, "graph": [[i, i + 1] for i in range(agents - 1)]}
    limits = Limits(**{"steps": 12, **(limits or {})})
    wild = Wild(seed, shuffled)
    ending = run(
        stub_world(agents),
        EpisodeSettings(seed=seed, limits=limits, free_talk=True, **options),
        make_topology(topology, agents, **kept),
        lambda ask: wild,
        gate or NoGate(),
        sink,
        ledger=Ledger(limits),
    )
    if ending.error is not None:
        raise ending.error
    return Played(sink, wild, ending)


RUNS = {
    "agents": st.integers(1, 6),
    "topology": st.sampled_from(sorted(TOPOLOGIES)),
    "seed": st.integers(0, 10_000),
    "interrupts": st.sampled_from(["always", "waiting-only", "priority", "never"]),
    "drop": st.sampled_from([0.0, 0.3]),
    "delay_ms": st.sampled_from([0, 700, (0, 3000)]),
    "delay_steps": st.sampled_from([0, 2]),
    "mailbox": st.sampled_from([1, 3, 64]),
}


@QUICK
@given(**RUNS, has_channel=st.booleans())
def test_laws_in_lockstep(has_channel, agents, **drawn):
    gate = OneChannel((0, 1)) if has_channel and agents > 1 else None
    played = wild_run(agents=agents, gate=gate, **drawn)
    check_all(played.events)
    check_rounds(played.events)


@QUICK
@given(**RUNS, while_thinking=st.sampled_from(["continue", "stay"]))
def test_laws_in_realtime(**drawn):
    """Replies take effect at boundaries; a message, and whom it interrupts, when it is due."""
    played = wild_run(pace="realtime", step_ms=300, **drawn)
    check_all(played.events, "realtime")
    for line in played.of("stage", "plan_committed"):
        assert line["ms"] % 300 == 0 or line.get("reason") == "message", line


@QUICK
@given(
    **RUNS,
    limit=st.sampled_from(
        [{"team_ms": 5000}, {"calls": 9}, {"tokens": 2500}, {"agent_ms": 4000}, {"money": 900}]
    ),
)
def test_limits_are_never_passed(limit, **drawn):
    played = wild_run(limits=limit, **drawn)
    check_all(played.events)
    ((which, most),) = limit.items()
    used = {
        "team_ms": played.ending.now_ms,
        "calls": played.ending.usage["calls"],
        "tokens": played.ending.usage["total"],
        "money": played.ending.usage["money"],
        "agent_ms": max(charged(played.events, agent) for agent in range(drawn["agents"])),
    }[which]
    assert used <= most, (which, used, most)


def charged(events, agent):
    asked = {e["decision"]: e["agent"] for e in events if e["e"] == "decision_started"}
    ended = (e for e in events if e["e"] == "decision_ended" and asked[e["decision"]] == agent)
    return sum(line["charge_ms"] for line in ended)


@QUICK
@given(**RUNS)
def test_the_same_run_gives_the_same_bytes_whatever_the_order_of_replies(**drawn):
    first, second = (b"".join(map(encode, wild_run(shuffled=s, **drawn).events)) for s in (0, 7))
    assert first == second


@QUICK
@given(**RUNS)
def test_memory_is_a_function_of_the_events(**drawn):
    seen = []

    class Watching(Wild):
        async def answer(self, question):
            seen.append((question.scope, question.memory, question.orders))
            return await super().answer(question)

    sink, agents = Memory(), drawn["agents"]
    topology = drawn.pop("topology")
    if topology == "graph":
        return
    wild = Watching(drawn["seed"])
    run(
        stub_world(agents),
        EpisodeSettings(limits=Limits(steps=8), **{k: drawn[k] for k in drawn if k != "agents"}),
        make_topology(topology, agents, **TOPOLOGIES[topology]),
        lambda ask: wild,
        NoGate(),
        sink,
    )
    lines = json.loads(json.dumps(sink.events))
    rebuilt = rebuild(lines, agents)
    if not seen:
        return
    decision = seen[-1][0].split("/")[2]
    upto = next(i for i, e in enumerate(lines) if e.get("decision") == decision)
    asked = lines[upto]
    before = rebuild(lines[: upto + 1], agents).of[asked["agent"]]
    assert json.loads(json.dumps(seen[-1][1]["events"])) == list(before.events)
    assert json.loads(json.dumps(seen[-1][1]["team"])) == before.team
    assert len(rebuilt.of) == agents


@QUICK
@given(
    topology=st.sampled_from(sorted(TOPOLOGIES)),
    agents=st.integers(2, 6),
    seed=st.integers(0, 99),
    policy=st.sampled_from(["waiting-only", "never"]),
)
def test_policies_leave_those_alone_whom_they_protect(topology, agents, seed, policy):
    played = wild_run(agents, topology, seed, interrupts=policy)
    hit = [line["from"] for line in played.of("stage") if line["to"] == "I"]
    assert "X" not in hit
    assert policy != "never" or not hit


@QUICK
@given(seed=st.integers(0, 999), topology=st.sampled_from(["chain", "all_to_all", "centralized"]))
def test_resuming_changes_neither_action_nor_progress(seed, topology):
    """A plan that is resumed gives as many primitives as it would have given undisturbed."""
    played = wild_run(3, topology, seed)
    actions = {p["plan"]: p["actions"] for p in played.of("plan_committed")}
    for line in played.of("action_ended"):
        action = actions[line["plan"]][line["index"]]
        if line["status"] == "done":
            assert line["steps"] == action["k"], (line, action)


def test_events_do_not_depend_on_the_hash_seed():
    """Four processes with different hash seeds give the same bytes."""
    code = (
        "from test_loop_laws import wild_run\n"
        "from cognitive.events import encode\n"
        "from hashlib import sha256\n"
        "lines = [encode(e) for t in ('gossip', 'centralized') for e in wild_run(5, t, 3).events]\n"
        "import sys; sys.stdout.write(sha256(b''.join(lines)).hexdigest())"
    )
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parents[1])])
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed,
            "PYTHONPATH": path}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(digests) == 1, digests


@pytest.mark.parametrize("topology", sorted(TOPOLOGIES))
def test_a_run_can_be_played_twice_in_one_process(topology):
    first, second = (wild_run(3, topology, 5).events for _ in range(2))
    assert first == second
