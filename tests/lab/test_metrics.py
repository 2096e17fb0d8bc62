"""Every metric against values computed by hand from an events file."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive.events import encode, read_events, stream_events
from lab import columns, metrics
from lab.trace import Trace

GOLDEN = Path(__file__).parent / "golden"
VIOLATIONS = tuple(f"violation_{name}" for name in (*metrics.CONSTRAINTS, "any"))


def config(agents=3, mode="off", step_ms=0):
    return {"agents": agents, "clock": {"step_ms": step_ms}, "repair": {"mode": mode}}


def trace(*events, agents=3, mode="off", step_ms=0, **end):
    number = count()
    lines = [{"v": 1, "n": next(number), "step": 0, "ms": 0, **event} for event in events]
    usage = {"calls": 0, "prompt": 0, "completion": 0, "money": 0}
    lines.append(
        {
            "v": 1,
            "n": next(number),
            "e": "run_ended",
            "step": 0,
            "ms": 0,
            "ended_by": "steps",
            "detail": None,
            "usage": usage,
            **end,
        }
    )
    return Trace(lines, config(agents, mode, step_ms))


def measured(*events, **more):
    return columns.measure(trace(*events, **more))


def steps(number):
    return tuple({"e": "step", "step": step} for step in range(1, number + 1))


def attempt(need, part, spatial, temporal, result, depend=(0, 0), members=(), **more):
    return {
        "e": "attempt",
        "task": "b0",
        "kind": "weight_2",
        "action": "push",
        "need": need,
        "participation": part,
        "spatial": spatial,
        "temporal": temporal,
        "dependency": depend[0],
        "dependency_need": depend[1],
        "members": [[agent, 8] for agent in members],
        "in_place": 9,
        "result": result,
        "reason": "ok",
        "unmet": [],
        "is_counted": True,
        "extra": {},
        **more,
    }


def committed(plan, agent, task, step=0):
    return {"e": "plan_committed", "plan": plan, "agent": agent, "task": task, "step": step}


def started(plan, step=0):
    return {"e": "plan_started", "plan": plan, "step": step}


def ended(plan, step, status="success", reason=None):
    return {"e": "plan_ended", "plan": plan, "step": step, "status": status, "reason": reason}


def test_a_chain_round_with_an_interrupt():
    events = read_events(GOLDEN / "chain_round.jsonl")
    found = columns.measure(Trace(events, config()))
    expected = {
        "steps": 4,
        "plans_per_agent": 4 / 3,
        "messages": 3,
        "messages_proposal": 3,
        "deliveries": 4,
        "interruptions": 1,
        "decision_s": 12.0,
        "wait_s": 6.0,
        "charged_s": 7.5,
        "decisions_per_step": 1.25,
        "resume_share": 1.0,
        "frozen_share": 1.0,
        "plan_success": 1.0,
        "tries_per_decision": 1.0,
        "calls": 5,
        "score": 0.0,
        "score_per_step": 0.0,
    }
    assert {key: found[key] for key in expected} == expected
    assert found["decisions_sd"] == pytest.approx(0.4714, abs=5e-5)
    missing = (*VIOLATIONS, "attempt_success", "step_first_score", "step_done", "coherence")
    for key in (*missing, "decision_s_per_point", "messages_per_point", "tokens_per_point"):
        assert found[key] is None, key


def test_stays_of_each_agent_sum_to_the_run():
    found = Trace(read_events(GOLDEN / "chain_round.jsonl"), config())
    for agent in range(3):
        stays = [stay.end - stay.start for stay in found.stages if stay.agent == agent]
        assert sum(stays) == found.run_ms == 7500, (agent, stays)
    split = {key: function(found) for key, function in metrics.PER_AGENT.items()}
    assert split["decision_s"] == [1.5, 4.5, 6.0] and split["wait_s"] == [3.0, 3.0, 0.0], split
    assert split["messages"] == [1, 2, 0] and split["deliveries"] == [0, 1, 3], split
    assert split["decisions"] == [1, 2, 2] and split["plans"] == [1, 2, 1], split


def test_pushes_of_a_heavy_block():
    groups = ((0, 1), (0, 1), (), (), (2,))
    plans = [
        committed(f"{agent}.{step}", agent, f"b{step}", step=step - 1)
        for step, agents in enumerate(groups, 1)
        for agent in agents
    ]
    ends = [ended(plan["plan"], plan["step"] + 1) for plan in plans]
    rows = ((2, 1, 1, 1), (2, 1, 2, 1), (2, 2, 2, 2), (2, 2, 2, 2), (3, 1, 1, 1))
    results = ("short", "short", "done", "delivered", "short")
    tries = [
        attempt(*row, result, task=f"b{step}", step=step)
        for step, (row, result) in enumerate(zip(rows, results, strict=True), 1)
    ]
    score = {"e": "score", "step": 4, "task": "b4", "points": 2, "total": 2}
    found = measured(*plans, *ends, *tries, score, *steps(6))
    expected = {
        "attempts": 5,
        "attempt_success": 0.4,
        "violation_participation": 1 / 3,
        "violation_spatial": 0.7 / 3,
        "violation_temporal": 1 / 3,
        "violation_dependency": 0.0,
        "violation_any": 0.6,
        "cause_spatial": 1 / 3,
        "cause_temporal": 1 / 3,
        "cause_participation": 1 / 3,
        "cause_passage": 0.0,
        "score": 2.0,
        "score_per_step": 1 / 3,
        "step_first_score": 4,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("row", "group", "deficits", "cause"),
    [
        ((2, 1, 2, 2, "short", (1, 2)), (0, 1), (0.5, 0, 0, 0.5), "dependency"),
        ((1, 0, 1, 1, "short", (0, 1)), (0,), (1, 0, 0, 1), "dependency"),
        ((3, 2, 2, 2, "short", (2, 3)), (0, 1, 2), (1 / 3,) * 4, "spatial"),
        ((1, 0, 0, 1, "short", (0, 0)), (0,), (1, 1, 0, 0), "spatial"),
        ((2, 2, 2, 2, "blocked", (0, 0)), (0, 1), (0, 0, 0, 0), "passage"),
    ],
)
def test_one_attempt(row, group, deficits, cause):
    plans = [committed(f"{agent}.1", agent, "b0") for agent in group]
    found = measured(*plans, attempt(*row, step=1), *(ended(p["plan"], 1) for p in plans))
    seen = [found[f"violation_{name}"] for name in metrics.CONSTRAINTS]
    assert seen == pytest.approx(list(deficits))
    assert found[f"cause_{cause}"] == 1.0, {key: found[key] for key in found if "cause" in key}


def test_what_is_no_counted_attempt_enters_nothing():
    found = measured(
        attempt(1, 0, 0, 1, "none"), attempt(1, 0, 0, 0, "short", is_counted=False), *steps(2)
    )
    assert found["attempts"] == 0 and all(found[key] is None for key in VIOLATIONS)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (("b0", "b0", "b3"), 0.5),
        (("b0", "b0", "b0"), 1.0),
        (("b0", "b1", "b2"), 0.0),
        (("b0",), None),
        (("b0", "none"), None),
    ],
)
def test_coherence_of_six_steps(tasks, expected):
    plans = [committed(f"{agent}.1", agent, task) for agent, task in enumerate(tasks)]
    found = measured(
        *plans,
        *(started(plan["plan"]) for plan in plans),
        *(ended(plan["plan"], 6) for plan in plans),
        *steps(6),
    )
    assert found["coherence"] == expected


def test_a_plan_replaced_before_the_world_steps_was_in_no_step():
    found = trace(committed("0.1", 0, "b0"), ended("0.1", 0, "interrupted", "replaced"))
    assert ("b0", 1) not in found.groups


def test_ends_of_plans_are_shares_of_all_plans():
    plans = [committed(f"0.{k}", 0, "b0", k) for k in range(4)]
    ends = [
        ended("0.0", 1, "interrupted", {"code": "replaced", "facts": {}}),
        ended("0.1", 2, "failed", {"code": "timeout", "facts": {}}),
        ended("0.2", 3),
        ended("0.3", 4, "interrupted", {"code": "run_ended", "facts": {}}),
    ]
    found = measured(*plans, *ends)
    assert [found[k] for k in ("plan_success", "plans_interrupted", "plans_cut")] == [
        0.5,
        0.25,
        0.25,
    ]


def forecast(number, held, support, status="decided", alarm=False):
    return {
        "e": "repair_predicted",
        "forecast": number,
        "held": [held, held, held, held],
        "support": support,
        "status": status,
        "alarm": alarm,
    }


def scored(number, label, held, lead=2):
    return {
        "e": "repair_scored",
        "forecast": number,
        "label": label,
        "held": [held, held, held, held],
        "lead": lead,
    }


def test_quality_of_predictions():
    cases = (
        (0, 8, "hit", False),
        (0, 8, "hit", False),
        (0, 8, "false_alarm", True),
        (8, 8, "correct_rejection", True),
        (8, 8, "miss", False),
        (5, 8, "correct_rejection", True),
        (2, 8, "hit", False),
        (4, 8, "miss", False),
        (0, 8, "cut", False),
        (0, 8, "treated", False),
    )
    predicted = [forecast(k, held, of) for k, (held, of, _, _) in enumerate(cases)]
    labels = [scored(k, label, held) for k, (_, _, label, held) in enumerate(cases)]
    found = measured(*predicted, *labels, mode="watch")
    expected = {
        "hit": 3,
        "false_alarm": 1,
        "miss": 2,
        "correct_rejection": 2,
        "cut": 1,
        "treated": 1,
        "unrealised": 0,
        "precision": 0.75,
        "recall": 0.6,
        "brier": 0.306640625,
        "lead": 2.0,
    }
    assert {key: found[key] for key in expected} == expected


def test_repair_is_not_available_when_off_and_zero_when_it_saw_nothing():
    off, watch = measured(), measured(mode="watch")
    for metric in (*columns.REPAIR, *columns.PREDICTION):
        assert off[metric.key] is None, metric.key
    assert (watch["alarms"], watch["hit"], watch["precision"]) == (0, 0, None)


def test_cost_of_repair_is_summed_as_booked():
    closing = {"e": "repair_closed", "calls": 6, "sends": 3, "deliveries": 6, "outcome": "accepted"}
    found = measured(
        {"e": "repair_opened"},
        {"e": "repair_predicted", "forecast": 0, "alarm": True},
        {"e": "stage", "agent": 1, "from": "W", "to": "I", "reason": "repair", "ms": 1000},
        {"e": "stage", "agent": 1, "from": "I", "to": "W", "reason": "resumed", "ms": 4500},
        closing,
        mode="repair",
        ms=5000,
    )
    keys = ("alarms", "channels", "accepted", "kept", "repair_calls", "repair_messages")
    assert [found[key] for key in keys] == [1, 1, 1, 0, 6, 3]
    assert found["repair_decision_s"] == 3.5 and found["repair_deliveries"] == 6


def test_done_is_the_last_step_of_a_world_that_reached_its_goal():
    assert measured(*steps(5), ended_by="world", detail="goal")["step_done"] == 5
    assert measured(*steps(5), ended_by="world", detail="all_gone")["step_done"] is None


def test_messages_leave_out_the_system_and_lost_counts_recipients():
    found = measured(
        {"e": "message_sent", "sender": 0, "kind": "system", "recipients": [1, 2]},
        {"e": "message_sent", "sender": 0, "kind": "report", "recipients": [1, 2]},
        {"e": "message_lost", "recipients": [1, 2], "cause": "expired"},
    )
    assert (found["messages"], found["messages_system"], found["messages_report"]) == (1, 1, 1)
    assert found["messages_lost"] == 2
    assert found["messages_sd"] == pytest.approx((2 / 9) ** 0.5)


def test_time_in_which_the_world_stood_still():
    assert measured(*steps(4), step_ms=500, ms=8000)["frozen_share"] == 0.75
    assert measured(*steps(4), step_ms=500, ms=1000)["frozen_share"] == 0.0
    assert measured()["frozen_share"] is None


rows = st.builds(
    attempt,
    need=st.integers(1, 4),
    part=st.integers(0, 6),
    spatial=st.integers(0, 6),
    temporal=st.integers(0, 6),
    result=st.sampled_from(("short", "blocked", "done", "delivered", "none")),
    depend=st.tuples(st.integers(0, 6), st.integers(0, 4)),
    members=st.lists(st.integers(0, 5), unique=True),
    step=st.integers(1, 9),
)


@settings(deadline=None)
@given(st.lists(rows, max_size=12))
def test_violations_and_shares_lie_between_0_and_1(attempts):
    found = measured(*attempts, *steps(9))
    for key in (*VIOLATIONS, "attempt_success", *(f"cause_{name}" for name in metrics.CAUSES)):
        assert found[key] is None or 0 <= found[key] <= 1, (key, found[key])
    causes = [found[f"cause_{name}"] for name in metrics.CAUSES]
    assert causes[0] is None or sum(causes) == pytest.approx(1), causes


lives = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(("b0", "b1", "none")), st.integers(0, 8)),
    max_size=10,
)


@settings(deadline=None)
@given(lives)
def test_coherence_lies_between_0_and_1(plans):
    events = []
    for number, (agent, task, step) in enumerate(plans):
        events += [
            committed(f"{agent}.{number}", agent, task, step),
            started(f"{agent}.{number}", step),
            ended(f"{agent}.{number}", step + 1 + number % 3),
        ]
    found = measured(*events, *steps(9), agents=4)["coherence"]
    assert found is None or 0 <= found <= 1, found


sends = st.lists(st.tuples(st.sampled_from(metrics.MESSAGE_KINDS), st.integers(0, 2)), max_size=12)
stays = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("RWXI"), st.integers(0, 900)), max_size=12
)


@settings(deadline=None)
@given(sends, stays, st.lists(st.integers(1, 9), max_size=5))
def test_parts_sum_to_their_whole(sent, changes, points):
    messages = [
        {"e": "message_sent", "kind": kind, "sender": sender, "recipients": []}
        for kind, sender in sent
    ]
    ms, stages = 0, []
    for agent, stage, wait in changes:
        ms += wait
        stages.append({"e": "stage", "agent": agent, "to": stage, "reason": None, "ms": ms})
    scores = [
        {"e": "score", "points": one, "total": sum(points[: place + 1])}
        for place, one in enumerate(points)
    ]
    run = trace(*messages, *stages, *scores, ms=ms + 100)
    found = columns.measure(run)
    kinds = sum(found[f"messages_{kind}"] for kind in metrics.MESSAGE_KINDS)
    assert kinds == found["messages"] + found["messages_system"]
    for agent in range(3):
        assert sum(s.end - s.start for s in run.stages if s.agent == agent) == run.run_ms
    assert found["score"] == sum(points)


def test_metrics_are_the_same_after_writing_and_reading(tmp_path):
    events = read_events(GOLDEN / "chain_round.jsonl")
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join(map(encode, events)))
    one_by_one = Trace(stream_events(path), config())
    assert columns.measure(one_by_one) == columns.measure(Trace(events, config()))


def test_every_metric_has_its_formula_in_a_docstring():
    for metric in columns.METRICS:
        assert metric.compute.func.__doc__, metric.key
    assert len(columns.BY_KEY) == len(columns.METRICS)
