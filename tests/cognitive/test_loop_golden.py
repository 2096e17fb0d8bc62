"""Golden cases of the loop: exact stage logs and counters on the stub world, 1500 ms an answer."""

import json

import pytest
from stub_play import (
    ACCEPT,
    OBJECT,
    RESUME,
    Memory,
    Script,
    directive,
    plan,
    play_stub,
    replan,
    say,
)

from cognitive.protocols import Latency
from cognitive.topologies.talk import TalkState, gossip
from worlds.api import Advance, Ask, Commit, Draft

TOKENS = Latency("tokens")


def orders(own="replan", agents=(1, 2)):
    return directive(own, agents)


# --- individual ----------------------------------------------------------------------------------


def test_case_1_one_agent_two_plans():
    played = play_stub(1, "individual", {0: ["w2", "w1"]}, steps=3)
    assert played.log(0) == "R0@0 W1500@0 X1500@0 R1500@2 W3000@2 X3000@2 R3000@3"
    assert (played.end, played.ending.ended_by) == ("3000@3", "steps")
    assert played.counts[0] == 2
    assert [status for status, *_ in played.plans().values()] == ["success", "success"]


def test_case_2_charges_by_tokens():
    played = play_stub(
        3, "individual", {i: ["w2"] for i in range(3)}, steps=2,
        latency=TOKENS, tokens={0: 10, 1: 50, 2: 100}, limits={"calls": 3},
    )  # fmt: skip
    charges = [line["charge_ms"] for line in played.of("decision_ended")]
    assert charges == [700, 1500, 2500]
    assert played.log(0) == "R0@0 W700@0 X2500@0 R2500@2"
    assert played.log(1) == "R0@0 W1500@0 X2500@0 R2500@2"
    assert played.log(2) == "R0@0 W2500@0 X2500@0 R2500@2"
    assert [spent["W"] for spent in played.ending.stages] == [1800, 1000, 0]


def test_case_3_a_failing_action_and_its_reason_in_the_next_question():
    played = play_stub(1, "individual", {0: ["w1 b1 w1", "w1"]}, steps=3)
    assert played.log(0) == "R0@0 W1500@0 X1500@0 R1500@2 W3000@2 X3000@2 R3000@3"
    assert played.plans()["0.1"] == ("failed", "stub_broken", 2)
    ended = [(e["index"], e["status"]) for e in played.of("action_ended") if e["plan"] == "0.1"]
    assert ended == [(0, "done"), (1, "failed")]
    told = played.script.questions[1].memory["last"]["text"]
    assert told == (
        "Plan 0.1 (none) failed at action 2 of 3 (break), step 2: break broke after 1 steps."
    )


def test_case_4_one_decides_while_the_other_waits_frozen():
    played = play_stub(2, "individual", {0: ["w1", "w2"], 1: ["w3"]}, steps=3)
    assert played.log(0) == "R0@0 W1500@0 X1500@0 R1500@1 W3000@1 X3000@1 R3000@3"
    assert played.log(1) == "R0@0 W1500@0 X1500@0 R3000@3"
    assert played.ending.now_ms - played.ending.steps * 0 == 3000


# --- chain ---------------------------------------------------------------------------------------


def test_case_5_chain():
    played = play_stub(3, "chain", {i: ["w2"] for i in range(3)}, steps=2)
    for agent, waits in enumerate((1500, 3000, 4500)):
        assert played.log(agent) == f"R0@0 W{waits}@0 X4500@0 R4500@2"
    assert played.counts == (3, 2, 3, 0)
    assert [m["sender"] for m in played.script.questions[2].messages] == [0, 1]


CASE_6 = {0: ["w4"], 1: ["w2"], (2, "plan"): ["w4"], (2, "interrupt"): [RESUME]}


def test_case_6_a_proposal_interrupts_and_is_resumed():
    played = play_stub(3, "chain", CASE_6, steps=4)
    assert played.log(0) == "R0@0 W1500@0 X4500@0 R7500@4"
    assert played.log(1) == (
        "R0@0 W3000@0 X4500@0 R4500@2 W6000@2 X7500@2 R7500@4"
    )  # fmt: skip
    assert played.log(2) == "R0@0 W4500@0 X4500@0 I6000@2 W7500@2 X7500@2 R7500@4"
    assert played.counts == (5, 3, 4, 1)
    assert played.plans()["2.1"] == ("success", None, 4)


def short(line):
    """An event as the golden order names it."""
    e = line["e"]
    rest = {
        "stage": lambda: f"a{line['agent']} {line['from']} {line['to']}",
        "phase_started": lambda: str(line["needing"]),
        "dialogue_opened": lambda: f"{line['kind']} {line['members']}",
        "decision_started": lambda: (
            f"{line['decision']} a{line['agent']} {line['kind']} {line['read']}"
        ),
        "decision_ended": lambda: line["decision"],
        "plan_committed": lambda: line["plan"],
        "plan_resumed": lambda: line["plan"],
        "plan_started": lambda: line["plan"],
        "message_sent": lambda: f"{line['message']} {line['recipients']} {line['kind']}",
        "message_delivered": lambda: f"{line['message']} {line['effects']}",
        "step": lambda: str(line["step"]),
    }
    return f"{e} {rest[e]()}" if e in rest else e


def test_case_6_order_of_events():
    played = play_stub(3, "chain", CASE_6, steps=4)
    lines = [short(line) for line in played.events if line["e"] != "dialogue_advanced"]
    first = lines.index("stage a1 X R")
    assert lines[first : first + 20] == [
        "stage a1 X R",
        "phase_started [1]",
        "dialogue_opened chain [0, 1, 2]",
        "decision_started d3 a1 plan []",
        "decision_ended d3",
        "plan_committed 1.2",
        "stage a1 R W",
        "message_sent 2 [2] proposal",
        "message_delivered 2 ['interrupted']",
        "stage a2 X I",
        "decision_started d4 a2 interrupt [2]",
        "decision_ended d4",
        "plan_resumed 2.1",
        "stage a2 I W",
        "dialogue_closed",
        "phase_ended",
        "stage a1 W X",
        "plan_started 1.2",
        "stage a2 W X",
        "step 3",
    ]
    assert played.events[-1]["counters"]["sends"] == 3


@pytest.mark.parametrize("policy", ["never", "waiting-only", "priority"])
def test_case_7_policies_that_leave_executing_agents_alone(policy):
    played = play_stub(3, "chain", CASE_6, steps=4, interrupts=policy)
    assert played.log(2) == "R0@0 W4500@0 X4500@0 R6000@4"
    assert "X6000@2" in played.log(1)
    assert played.end == "6000@4"
    assert played.counts == (4, 3, 4, 0)
    assert played.ending.counters["expired"] == {"undelivered": 0, "unread": 1}
    assert [line["cause"] for line in played.of("message_lost")] == ["expired"]


def test_case_8_a_proposal_interrupts_and_the_plan_is_replaced():
    script = {**CASE_6, (2, "interrupt"): [replan("w2")]}
    played = play_stub(3, "chain", script, steps=4)
    assert played.log(2) == "R0@0 W4500@0 X4500@0 I6000@2 W7500@2 X7500@2 R7500@4"
    assert played.plans()["2.1"] == ("interrupted", "replaced", 2)
    assert played.plans()["2.2"] == ("success", None, 4)
    assert played.ending.counters["plans"] == 5


# --- centralized ---------------------------------------------------------------------------------

WORKERS_ACCEPT = {(1, "acknowledge"): [ACCEPT], (2, "acknowledge"): [ACCEPT]}
CASE_9 = {
    (0, "directive"): [orders()],
    (0, "plan"): ["w2"],
    (1, "plan"): ["w2"],
    (2, "plan"): ["w2"],
    **WORKERS_ACCEPT,
}


def test_case_9_centralized():
    played = play_stub(3, "centralized", CASE_9, steps=2)
    assert played.log(0) == "R0@0 W4500@0 X6000@0 R6000@2"
    assert played.log(1) == played.log(2) == "R0@0 W6000@0 X6000@0 R6000@2"
    assert played.counts == (6, 6, 8, 0)
    assert played.ending.counters["sends_by_kind"] == {
        "ack": 2, "directive": 1, "plan_notice": 1, "report": 2,
    }  # fmt: skip


def test_case_10_an_objection_is_heard_once():
    script = {**CASE_9, (2, "acknowledge"): [OBJECT]}
    played = play_stub(3, "centralized", script, steps=2)
    assert played.log(0) == "R0@0 W6000@0 X7500@0 R7500@2"
    assert played.log(1) == played.log(2) == "R0@0 W7500@0 X7500@0 R7500@2"
    assert played.counts == (7, 7, 9, 0)
    sent = [line["recipients"] for line in played.of("message_sent") if line["kind"] == "directive"]
    assert sent == [[1, 2], [2]]


CASE_11 = {
    (0, "directive"): [orders(), orders("keep", [2])],
    (0, "plan"): ["w3"],
    (1, "plan"): ["w3"],
    (2, "plan"): ["w1", "w2"],
    **WORKERS_ACCEPT,
}


def test_case_11_a_worker_asks_and_the_leader_keeps_its_plan():
    played = play_stub(3, "centralized", CASE_11, steps=3)
    assert played.log(0) == "R0@0 W4500@0 X6000@0 I6000@1 W9000@1 X10500@1 R10500@3"
    assert played.log(1) == "R0@0 W6000@0 X6000@0 R10500@3"
    assert played.log(2) == "R0@0 W6000@0 X6000@0 R6000@1 W10500@1 X10500@1 R10500@3"
    assert played.counts == (9, 9, 11, 1)


def test_case_12_a_worker_plans_under_standing_orders():
    played = play_stub(3, "centralized", CASE_11, steps=3, interrupts="never")
    assert played.log(2).startswith("R0@0 W6000@0 X6000@0 R6000@1 W7500@1 X7500@1")
    assert played.counts == (7, 7, 9, 0)
    last = played.script.questions[-1]
    assert (last.ask.agent, last.orders["assignments"][0]["agents"]) == (2, [1, 2])


def test_case_13_the_leader_interrupts_its_workers():
    script = {
        (0, "directive"): [orders()],
        (0, "plan"): ["w1", "w2"],
        (1, "plan"): ["w3"],
        (2, "plan"): ["w3"],
        (1, "interrupt"): [RESUME],
        (2, "interrupt"): [replan("w2")],
        **WORKERS_ACCEPT,
    }
    played = play_stub(3, "centralized", script, steps=3)
    assert played.log(0) == "R0@0 W4500@0 X6000@0 R6000@1 W10500@1 X12000@1 R12000@3"
    for agent in (1, 2):
        assert "I7500@1 W12000@1 X12000@1" in played.log(agent)
    assert played.counts == (12, 12, 16, 2)
    assert played.plans()["2.1"] == ("interrupted", "replaced", 1)


def test_case_14_the_leader_dies_and_the_next_one_leads():
    script = {
        (0, "directive"): [orders()],
        (0, "plan"): ["d2"],
        (1, "plan"): ["w2", "w2"],
        (2, "plan"): ["w3"],
        (1, "directive"): [directive("replan", [2])],
        (2, "interrupt"): [RESUME],
        **WORKERS_ACCEPT,
    }
    played = play_stub(3, "centralized", script, steps=3)
    assert played.log(0) == "R0@0 W4500@0 X6000@0 G6000@2"
    assert played.log(1) == "R0@0 W6000@0 X6000@0 R6000@2 W10500@2 X12000@2"
    assert played.log(2) == "R0@0 W6000@0 X6000@0 I7500@2 W12000@2 X12000@2 R12000@3"
    assert (played.counts[0], played.counts[3]) == (10, 1)
    system = [line for line in played.of("message_sent") if line["kind"] == "system"]
    assert [line["recipients"] for line in system] == [[1, 2]]
    assert system[0]["text"] == "agent_0 is gone (died). agent_1 leads now."
    assert [line["leader"] for line in played.of("dialogue_opened")] == [0, 1]


# --- failing decisions and budgets ---------------------------------------------------------------


def test_case_15_findings_are_shown_back():
    jump = {"task": "none", "actions": [{"verb": "jump"}]}
    replies = {0: ["!", jump, "w1"]}
    played = play_stub(1, "individual", replies, steps=1)
    assert played.log(0) == "R0@0 W4500@0 X4500@0 R4500@1"
    (ended,) = played.of("decision_ended")
    codes = [[finding["code"] for finding in entry["findings"]] for entry in ended["tries"]]
    assert (codes, ended["charge_ms"]) == ([["empty_plan"], ["unknown_verb"], []], 4500)
    shown = played.script.questions[2].tries
    assert shown[1]["findings"][0]["text"].startswith('actions[0]: no verb "jump"')


def test_case_16_four_invalid_replies_make_an_idle_agent():
    played = play_stub(1, "individual", {0: ["!", "!", "!", "!", "w1"]}, steps=6)
    assert played.log(0) == "R0@0 W6000@0 R6000@5 W7500@5 X7500@5 R7500@6"
    outcomes = [line["outcome"] for line in played.of("decision_ended")]
    assert outcomes == ["failed", "answered"]
    assert [line["primitives"] for line in played.of("step")] == [[0]] * 5 + [[1]]


def test_case_17_the_clock_stops_at_its_limit():
    played = play_stub(
        2, "individual", {0: ["w1"], 1: ["w3"]}, limits={"team_ms": 4000}
    )  # fmt: skip
    assert played.log(0).endswith("X3000@1 R3000@2")
    last = played.of("decision_ended")[-1]
    assert (last["outcome"], last["charge_ms"]) == ("cut", 1000)
    assert (played.end, played.ending.ended_by) == ("4000@2", "team_ms")
    assert played.counts[0] == 4
    assert played.plans()["1.1"] == ("interrupted", "run_ended", 2)


def test_case_18_a_wave_that_cannot_be_paid_is_not_sent():
    played = play_stub(2, "individual", {0: ["w1"], 1: ["w1"]}, limits={"calls": 3})
    assert played.counts[0] == 2
    assert (played.end, played.ending.ended_by) == ("1500@1", "calls")
    assert played.log(0) == played.log(1) == "R0@0 W1500@0 X1500@0 R1500@1"
    assert len(played.of("decision_started")) == 2


# --- ring, talk, hierarchy, delays ---------------------------------------------------------------

CASE_19 = {(i, "plan"): ["w2"] for i in range(3)} | {(0, "interrupt"): [RESUME]}


def test_case_19_ring():
    played = play_stub(3, "ring", CASE_19, steps=2)
    assert played.log(0) == "R0@0 W1500@0 I4500@0 W6000@0 X6000@0 R6000@2"
    assert played.log(1) == "R0@0 W3000@0 X6000@0 R6000@2"
    assert played.log(2) == "R0@0 W4500@0 X6000@0 R6000@2"
    assert played.counts == (4, 3, 3, 1)


def test_case_19_ring_when_nobody_is_interrupted():
    played = play_stub(3, "ring", CASE_19, steps=2, interrupts="never")
    assert "X4500@0" in played.log(0)
    assert played.counts == (3, 3, 3, 0)


def test_case_20_all_to_all():
    script = {
        **{(i, "statement"): [say()] for i in range(3)},
        (0, "plan"): ["w1", "w2"],
        (1, "plan"): ["w3"],
        (2, "plan"): ["w3"],
        (1, "interrupt"): [RESUME],
        (2, "interrupt"): [replan("w2")],
    }
    played = play_stub(3, "all_to_all", script, steps=3)
    assert played.log(0) == "R0@0 W3000@0 X3000@0 R3000@1 W6000@1 X6000@1 R6000@3"
    for agent in (1, 2):
        assert "W3000@0 X3000@0 I4500@1 W6000@1" in played.log(agent)
    assert played.counts == (10, 4, 8, 2)


def test_case_21_hierarchy():
    script = {(i, "plan"): ["w1"] for i in range(6)}
    script |= {(i, "directive"): [directive("replan", w)] for i, w in ((0, [1, 2]), (1, [3, 4]))}
    script |= {(2, "directive"): [directive("replan", [5])]}
    played = play_stub(6, "hierarchy", script, steps=1, options={"branching": 2})
    assert all("W4500@0" in played.log(agent) for agent in range(6))
    assert played.counts == (9, 8, 10, 0)
    waves = [(d["ms"], d["agent"]) for d in played.of("decision_started") if d["kind"] != "plan"]
    assert waves == [(0, 0), (1500, 1), (1500, 2)]


def test_case_22_delayed_proposals():
    script = {
        0: ["w4"],
        (1, "plan"): ["w2"],
        (2, "plan"): ["w4"],
        (1, "interrupt"): [RESUME],
        (2, "interrupt"): [RESUME],
    }
    played = play_stub(3, "chain", script, steps=2, delay_ms=2000)
    assert played.log(1) == "R0@0 W3000@0 I3500@0 W6000@0 X7500@0 R7500@2"
    assert played.log(2) == "R0@0 W4500@0 I4500@0 W7500@0 X7500@0"
    assert (played.counts[0], played.counts[2], played.counts[3]) == (5, 3, 2)
    starts = [d["ms"] for d in played.of("decision_started") if d["agent"] == 1]
    assert starts == [0 + 1500, 4500]


def test_case_23_a_message_with_a_plan():
    script = {
        (0, "plan"): [plan("w1", messages=[{"recipients": [1], "text": "Wait."}])],
        (1, "plan"): ["w1"],
        (1, "interrupt"): [RESUME],
    }
    played = play_stub(
        2, "graph", script, steps=1, free_talk=True,
        options={"graph": [[0, 1]], "rounds": 0}, latency=TOKENS, tokens={0: 50, 1: 100},
    )  # fmt: skip
    assert played.log(0) == "R0@0 W1500@0 X5000@0 R5000@1"
    assert played.log(1) == "R0@0 W2500@0 I2500@0 W5000@0 X5000@0 R5000@1"


class HalfTheTime(Script):
    """As case 23 has it: agent 1 takes 2500 ms for its plan and 1500 for its answer."""

    async def answer(self, question):
        answer = await super().answer(question)
        tokens = 100 if (question.ask.agent, question.ask.kind) == (1, "plan") else 50
        return answer._replace(usage=answer.usage._replace(completion=tokens))


def test_case_23_with_its_own_charges():
    script = {
        (0, "plan"): [plan("w1", messages=[{"recipients": [1], "text": "Wait."}])],
        (1, "plan"): ["w1"],
        (1, "interrupt"): [RESUME],
    }
    played = play_stub(
        2, "graph", HalfTheTime(script, TOKENS), steps=1, free_talk=True,
        options={"graph": [[0, 1]], "rounds": 0},
    )  # fmt: skip
    assert played.log(0) == "R0@0 W1500@0 X4000@0 R4000@1"
    assert played.log(1) == "R0@0 W2500@0 I2500@0 W4000@0 X4000@0 R4000@1"


# --- realtime ------------------------------------------------------------------------------------


def test_case_24_realtime():
    played = play_stub(1, "individual", {0: ["w2", "w1"]}, steps=9, pace="realtime")
    assert played.log(0) == "R0@0 W1500@3 X1500@3 R2500@5 W4000@8 X4000@8 R4500@9"
    assert played.end == "4500@9"
    acted = [line["primitives"][0] for line in played.of("step")]
    assert acted == [0, 0, 0, 1, 1, 0, 0, 0, 1]


def test_case_25_realtime_chain_overtakes_an_answer():
    script = {(0, "plan"): ["w2", "w6"], (1, "plan"): ["w6"], (1, "interrupt"): [RESUME]}
    played = play_stub(2, "chain", script, steps=13, pace="realtime")
    assert played.log(0) == "R0@0 W1500@3 X1500@3 R2500@5 W4500@9 X4500@9"
    assert played.log(1) == "R0@0 W3000@6 X3000@6 I4500@9 R6000@12"
    reasons = [line["reason"] for line in played.of("stage") if line["agent"] == 1]
    assert reasons[-1] == "overtaken"
    assert played.counts == (5, 2, 2, 1)
    assert played.of("decision_ended")[-1]["outcome"] == "cut"
    assert played.end == "6500@13"


# --- a gate --------------------------------------------------------------------------------------


class OneChannel:
    """A gate with one channel, when all of these members wait or execute: they speak and keep."""

    def __init__(self, members):
        self._members = members
        self.moments = []
        self._is_open = False

    def review(self, moment):
        self.moments.append(moment)
        ready = {view.agent for view in moment.plans if view.stage in ("W", "X")}
        if self._is_open or not ready.issuperset(self._members):
            return (), ()
        self._is_open = True
        return (KeepingChannel(self._members),), ()

    def observe(self, t, attempts, plans):
        return ()

    def close(self, t):
        return ()


class KeepingChannel:
    """Members state their intention one by one; then all keep their plans."""

    kind = "repair"

    def __init__(self, members):
        self._members = members

    def begin(self, setting):
        return Advance((0, tuple(sorted(setting.live_plans))))

    def members(self, state):
        return frozenset(self._members if state[0] <= len(self._members) else ())

    def requests(self, state):
        turn, _ = state
        if turn < len(self._members):
            return (Ask(self._members[turn], "repair_intention", None),)
        if turn == len(self._members):
            return tuple(Ask(agent, "repair_revision", None) for agent in self._members)
        return ()

    def apply(self, state, replies):
        turn, live = state
        if turn < len(self._members):
            speaker = self._members[turn]
            others = tuple(agent for agent in self._members if agent != speaker)
            sends = (Draft(speaker, others, "repair_statement", "So."),)
            return Advance((turn + 1, live), sends=sends)
        commits = tuple(Commit(a, "resume" if a in live else "none") for a in self._members)
        return Advance((turn + 1, live), commits)

    def result(self, state):
        return {"outcome": "kept"}


class ChannelScript(Script):
    """Case 26: 10, 50, 100 tokens for the plans, 50 for everything in the channel."""

    async def answer(self, question):
        answer = await super().answer(question)
        plan_tokens = {0: 10, 1: 50, 2: 100}[question.ask.agent]
        tokens = plan_tokens if question.ask.kind == "plan" else 50
        return answer._replace(usage=answer.usage._replace(completion=tokens))


def test_case_26_a_gate_opens_a_channel():
    script = ChannelScript(
        {
            **{(i, "plan"): ["w2"] for i in range(3)},
            **{
                (i, "repair_intention"): [{"text": "So.", "task": "none", "keeps_plan": True}]
                for i in (0, 1)
            },
            **{
                (i, "repair_revision"): [{"choice": "keep", "follows_guidance": False}]
                for i in (0, 1)
            },
        },
        TOKENS,
    )
    gate = OneChannel((0, 1))
    played = play_stub(3, "individual", script, steps=2, gate=gate)
    assert played.log(0) == "R0@0 W700@0 I2500@0 W7000@0 X7000@0 R7000@2"
    assert played.log(1) == "R0@0 W1500@0 I2500@0 W7000@0 X7000@0 R7000@2"
    starts = [d["ms"] for d in played.of("decision_started") if d["kind"].startswith("repair")]
    assert starts == [2500, 4000, 5500, 5500]
    assert played.counts == (7, 2, 2, 2)
    assert played.ending.counters["interrupts"] == {"message": 0, "repair": 2}
    assert len(gate.moments) == 1, "a channel that keeps every plan is no new commitment"


# --- draws ---------------------------------------------------------------------------------------


def test_case_27_gossip_draws():
    audience = gossip(1)
    spoken = []
    for number in (0, 1):
        state = TalkState(0, 7, (0, 1, 2, 3), (0, 1, 2, 3), number, 0, "talk")
        spoken.append([audience(state, agent) for agent in range(4)])
    assert spoken == [[(3,), (0,), (3,), (0,)], [(1,), (2,), (1,), (0,)]]


def test_events_are_json_and_numbered():
    played = play_stub(3, "chain", CASE_6, steps=4, sink=Memory())
    assert [line["n"] for line in played.events] == list(range(len(played.events)))
    assert json.loads(json.dumps(played.events, allow_nan=False))
