"""Every number of a run, as a function of its events.

Each metric is a function of a `Trace`, the events of one run sorted once, with its formula in the
docstring, and a row of `lab.columns`. A value that does not exist (a mean of nothing, a ratio with
denominator 0) is None and never 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any

from lab.trace import Trace
from repair.constraints import CONSTRAINTS, evaluate
from worlds.api import Attempt

Value = float | int | None

CAUSES = ("passage", "participation", "spatial", "dependency", "temporal", "mixed")
SUCCESSES = frozenset({"done", "delivered"})
MESSAGE_KINDS = (
    "directive",
    "request",
    "proposal",
    "statement",
    "direct",
    "report",
    "ack",
    "objection",
    "plan_notice",
    "repair_statement",
    "system",
)
LABELS = (
    "hit",
    "false_alarm",
    "miss",
    "correct_rejection",
    "cut",
    "treated",
    "unrealised",
)
MATRIX = LABELS[:4]
MS = 1000


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _spread(counts: Sequence[int]) -> float | None:
    """Population standard deviation; None for fewer than 2 values."""
    if len(counts) < 2:
        return None
    middle = sum(counts) / len(counts)
    return sqrt(sum((count - middle) ** 2 for count in counts) / len(counts))


# --- the paper's columns -------------------------------------------------------------------------


def score(trace: Trace) -> float:
    """Last `score.total`, 0 without one."""
    events = trace.by_type["score"]
    return float(events[-1]["total"]) if events else 0.0


def steps(trace: Trace) -> int:
    """T: number of `step` events."""
    return trace.steps


def score_per_step(trace: Trace) -> Value:
    """score ÷ T."""
    return _ratio(score(trace), trace.steps)


def plans_per_agent(trace: Trace) -> Value:
    """`plan_committed` ÷ A; interrupted and cut plans count, a resumed plan is not a new one."""
    return _ratio(len(trace.plans), trace.agents)


def messages(trace: Trace) -> int:
    """`message_sent` of a kind other than `system`, one a send."""
    return sum(event["kind"] != "system" for event in trace.by_type["message_sent"])


def interruptions(trace: Trace) -> int:
    """`stage` entries into I, by a message or by repair."""
    return sum(event["to"] == "I" for event in trace.by_type["stage"])


def stage_s(trace: Trace, stages: str) -> float:
    """Σ agents Σ duration of entries into one of `stages` ÷ 1000.

    The last entry of an agent is closed by `run_ended.ms`.
    """
    return sum(entry.end - entry.start for entry in trace.stages if entry.stage in stages) / MS


def decision_s(trace: Trace) -> float:
    """`stage_s` of R and I: deciding, waiting inside a round included."""
    return stage_s(trace, "RI")


def deficit(attempt: Attempt, constraint: str) -> float:
    """1 − min(1, count ÷ requirement); 0 where nothing is required.

    The requirement is NEED, for dependency DEPENDENCY_NEED.
    """
    counts = (attempt.participation, attempt.spatial, attempt.temporal, attempt.dependency)
    need = attempt.dependency_need if constraint == "dependency" else attempt.need
    return 1 - min(1, counts[CONSTRAINTS.index(constraint)] / need) if need else 0.0


def violation(trace: Trace, constraint: str) -> Value:
    """Mean over counted attempts of 1 − min(1, count of the constraint ÷ its requirement)."""
    return _mean([deficit(attempt, constraint) for _, attempt in trace.counted])


# --- our columns ---------------------------------------------------------------------------------


def attempts(trace: Trace) -> int:
    """`attempt` events with `is_counted` and a result other than `none`."""
    return len(trace.counted)


def attempt_success(trace: Trace) -> Value:
    """Share of counted attempts with result `done` or `delivered`."""
    won = sum(attempt.result in SUCCESSES for _, attempt in trace.counted)
    return _ratio(won, len(trace.counted))


def violation_any(trace: Trace) -> Value:
    """Share of counted attempts with at least one unsatisfied constraint."""
    short = sum(any(deficit(attempt, c) > 0 for c in CONSTRAINTS) for _, attempt in trace.counted)
    return _ratio(short, len(trace.counted))


def cause(trace: Trace, name: str) -> Value:
    """Share of the unsuccessful counted attempts with that cause, the first that applies.

    passage: blocked; participation: |group ∪ members| < NEED, too few have taken it on; spatial,
    dependency, temporal: that constraint is unsatisfied; mixed: all hold, not for the same agents.
    The group are the agents whose committed plan names the task in that step.
    """
    causes = [
        evaluate(attempt, trace.groups.get((attempt.task, step), frozenset())).cause
        for step, attempt in trace.counted
    ]
    return _ratio(causes.count(name), len(causes) - causes.count(None))


def deliveries(trace: Trace) -> int:
    """Recipients over `message_delivered`."""
    return sum(len(event["recipients"]) for event in trace.by_type["message_delivered"])


def deliveries_per_agent(trace: Trace) -> Value:
    """deliveries ÷ A."""
    return _ratio(deliveries(trace), trace.agents)


def messages_lost(trace: Trace) -> int:
    """Recipients over `message_lost`."""
    return sum(len(event["recipients"]) for event in trace.by_type["message_lost"])


def messages_of(trace: Trace, kind: str) -> int:
    """`message_sent` of one kind."""
    return sum(event["kind"] == kind for event in trace.by_type["message_sent"])


def messages_sd(trace: Trace) -> Value:
    """Population standard deviation over agents of sends other than `system`."""
    return _spread(per_agent_messages(trace))


def charged_s(trace: Trace) -> float:
    """Σ `decision_ended.charge_ms` ÷ 1000: own charges, without waiting for others."""
    charges: int = sum(event["charge_ms"] for event in trace.by_type["decision_ended"])
    return charges / MS


def frozen_share(trace: Trace) -> Value:
    """max(0, run_ms − T·step_ms) ÷ run_ms."""
    return _ratio(max(0, trace.run_ms - trace.steps * trace.step_ms), trace.run_ms)


def decisions_per_step(trace: Trace) -> Value:
    """`decision_ended` answered or failed ÷ T."""
    return _ratio(len(trace.decisions), trace.steps)


def decisions_sd(trace: Trace) -> Value:
    """Population standard deviation over agents of decisions answered or failed."""
    return _spread(per_agent_decisions(trace))


def decisions_failed(trace: Trace) -> int:
    """`decision_ended` with outcome `failed`."""
    return sum(event["outcome"] == "failed" for event in trace.decisions)


def tries_per_decision(trace: Trace) -> Value:
    """Tries ÷ decisions, over decisions answered or failed."""
    return _ratio(sum(len(event["tries"]) for event in trace.decisions), len(trace.decisions))


def resume_share(trace: Trace) -> Value:
    """`plan_resumed` ÷ stage entries into I."""
    return _ratio(len(trace.by_type["plan_resumed"]), interruptions(trace))


def plan_success(trace: Trace) -> Value:
    """Plans ended `success` ÷ plans ended `success` or `failed`."""
    ends = Counter(life.status for life in trace.plans)
    return _ratio(ends["success"], ends["success"] + ends["failed"])


def plans_ended(trace: Trace, reasons: frozenset[str]) -> Value:
    """Share of all plans that ended interrupted for one of `reasons`."""
    ended = sum(life.status == "interrupted" and life.reason in reasons for life in trace.plans)
    return _ratio(ended, len(trace.plans))


def coherence(trace: Trace) -> Value:
    """Mean over steps with ≥ 2 agents executing a plan with a task of (largest − 1) ÷ (n − 1).

    n agents execute a plan with a task, the largest group with one task has `largest` of them:
    0 all differ, 1 all agree.
    """
    tasks: dict[int, Counter[str]] = defaultdict(Counter)
    for life in trace.plans:
        if life.started is not None and life.task != "none":
            for step in range(life.started + 1, life.ended + 1):
                tasks[step][life.task] += 1
    return _mean(
        [
            (max(counts.values()) - 1) / (counts.total() - 1)
            for _, counts in sorted(tasks.items())
            if counts.total() > 1
        ]
    )


def step_first_score(trace: Trace) -> Value:
    """Step of the first `score` event."""
    events = trace.by_type["score"]
    first: Value = events[0]["step"] if events else None
    return first


def step_done(trace: Trace) -> Value:
    """T if `run_ended` says `world` with detail `goal`."""
    is_done = trace.ended_by == "world" and trace.detail == "goal"
    return trace.steps if is_done else None


def spent(trace: Trace, name: str) -> Value:
    """What `run_ended.usage` books under `name`, failed tries included."""
    return booked(trace)[name]


def tokens(trace: Trace) -> int:
    """Prompt and completion tokens."""
    total = booked(trace)
    return total["tokens_in"] + total["tokens_out"]


def per_point(trace: Trace, quantity: Callable[[Trace], Value]) -> Value:
    """quantity ÷ score."""
    amount = quantity(trace)
    return None if amount is None else _ratio(amount, score(trace))


# --- repair and its predictions ------------------------------------------------------------------


def alarms(trace: Trace) -> Value:
    """`repair_predicted` with an alarm."""
    return sum(bool(event["alarm"]) for event in trace.by_type["repair_predicted"])


def channels(trace: Trace) -> Value:
    """`repair_opened`."""
    return len(trace.by_type["repair_opened"])


def closed(trace: Trace, outcome: str) -> Value:
    """`repair_closed` with that outcome."""
    return sum(bool(event["outcome"] == outcome) for event in trace.by_type["repair_closed"])


def repair_cost(trace: Trace, field: str) -> Value:
    """Σ of that field over `repair_closed`: the cost as booked."""
    total: int = sum(event[field] for event in trace.by_type["repair_closed"])
    return total


def repair_decision_s(trace: Trace) -> Value:
    """Σ durations of entries into I with reason `repair` ÷ 1000: opening to commit."""
    return (
        sum(
            entry.end - entry.start
            for entry in trace.stages
            if entry.stage == "I" and entry.reason == "repair"
        )
        / MS
    )


def labelled(trace: Trace, label: str) -> int:
    """`repair_scored` with that label."""
    return sum(event["label"] == label for event in trace.by_type["repair_scored"])


def precision(trace: Trace) -> Value:
    """hit ÷ (hit + false_alarm)."""
    hits = labelled(trace, "hit")
    return _ratio(hits, hits + labelled(trace, "false_alarm"))


def recall(trace: Trace) -> Value:
    """hit ÷ (hit + miss)."""
    hits = labelled(trace, "hit")
    return _ratio(hits, hits + labelled(trace, "miss"))


def brier(trace: Trace) -> Value:
    """Mean of (q − y)² over scored engagements in the matrix with a decided forecast.

    q = 1 − held[participation] ÷ support as predicted; y = 1 if participation did not hold.
    """
    forecasts = {event["forecast"]: event for event in trace.by_type["repair_predicted"]}
    errors = []
    for event in trace.by_type["repair_scored"]:
        forecast = forecasts[event["forecast"]]
        if event["label"] in MATRIX and forecast["status"] == "decided":
            expected = 1 - forecast["held"][0] / forecast["support"]
            errors.append((expected - (0 if event["held"][0] else 1)) ** 2)
    return _mean(errors)


def lead(trace: Trace) -> Value:
    """Mean over scored engagements in the matrix of first attempt's step − forecast's step."""
    scored = trace.by_type["repair_scored"]
    return _mean([event["lead"] for event in scored if event["label"] in MATRIX])


# --- splits --------------------------------------------------------------------------------------


def _counts(trace: Trace, agents: Iterable[int]) -> list[int]:
    counted = Counter(agents)
    return [counted[agent] for agent in range(trace.agents)]


def per_agent_plans(trace: Trace) -> list[int]:
    """Plans committed by each agent."""
    return _counts(trace, (life.agent for life in trace.plans))


def per_agent_messages(trace: Trace) -> list[int]:
    """Sends of each agent other than `system`."""
    sent = (event for event in trace.by_type["message_sent"] if event["kind"] != "system")
    return _counts(trace, (event["sender"] for event in sent))


def per_agent_deliveries(trace: Trace) -> list[int]:
    """Messages delivered to each agent."""
    delivered = trace.by_type["message_delivered"]
    return _counts(trace, (agent for event in delivered for agent in event["recipients"]))


def per_agent_interruptions(trace: Trace) -> list[int]:
    """Entries of each agent into I."""
    return _counts(trace, (e["agent"] for e in trace.by_type["stage"] if e["to"] == "I"))


def per_agent_decisions(trace: Trace) -> list[int]:
    """Decisions of each agent, answered or failed."""
    return _counts(trace, (trace.decider[event["decision"]] for event in trace.decisions))


def per_agent_stage_s(trace: Trace, stages: str) -> list[float]:
    """Seconds of each agent in one of `stages`."""
    total = dict.fromkeys(range(trace.agents), 0)
    for entry in trace.stages:
        if entry.stage in stages:
            total[entry.agent] += entry.end - entry.start
    return [ms / MS for ms in total.values()]


def per_agent_charged_s(trace: Trace) -> list[float]:
    """Seconds charged to each agent for its own answers."""
    total = dict.fromkeys(range(trace.agents), 0)
    for event in trace.by_type["decision_ended"]:
        total[trace.decider[event["decision"]]] += event["charge_ms"]
    return [ms / MS for ms in total.values()]


PER_AGENT: Mapping[str, Callable[[Trace], list[Any]]] = {
    "plans": per_agent_plans,
    "messages": per_agent_messages,
    "deliveries": per_agent_deliveries,
    "interruptions": per_agent_interruptions,
    "decisions": per_agent_decisions,
    "decision_s": partial(per_agent_stage_s, stages="RI"),
    "wait_s": partial(per_agent_stage_s, stages="W"),
    "execute_s": partial(per_agent_stage_s, stages="X"),
    "charged_s": per_agent_charged_s,
}


def per_kind(trace: Trace) -> dict[str, dict[str, Value]]:
    """Sends by message kind; counted attempts, their success and violations by kind of task."""
    kinds: dict[str, list[Attempt]] = defaultdict(list)
    for _, attempt in trace.counted:
        kinds[attempt.kind].append(attempt)
    split: dict[str, dict[str, Value]] = {
        "messages": dict(Counter(event["kind"] for event in trace.by_type["message_sent"])),
        "attempts": {kind: len(rows) for kind, rows in kinds.items()},
        "attempt_success": {
            kind: _mean([row.result in SUCCESSES for row in rows]) for kind, rows in kinds.items()
        },
    }
    for constraint in CONSTRAINTS:
        split[f"violation_{constraint}"] = {
            kind: _mean([deficit(row, constraint) for row in rows]) for kind, rows in kinds.items()
        }
    return split


def booked(trace: Trace) -> dict[str, int]:
    """Calls, tokens and money of `run_ended.usage`, failed tries included."""
    ended = trace.by_type["run_ended"]
    found = ended[-1]["usage"] if ended else dict.fromkeys(_BOOKED, 0)
    return {name: found[field] for field, name in _BOOKED.items()}


_BOOKED = {"calls": "calls", "prompt": "tokens_in", "completion": "tokens_out", "money": "money"}


def usage(trace: Trace) -> dict[str, Any]:
    """What is booked, and tokens by kind of ask and by agent."""
    by_kind: Counter[str] = Counter()
    by_agent: Counter[int] = Counter()
    for event in trace.by_type["decision_ended"]:
        tokens = event["usage"]["total"]
        by_kind[trace.asked[event["decision"]]["kind"]] += tokens
        by_agent[trace.decider[event["decision"]]] += tokens
    return {
        **booked(trace),
        "by_kind": {kind: by_kind[kind] for kind in sorted(by_kind)},
        "by_agent": [by_agent[agent] for agent in range(trace.agents)],
    }


def repair_summary(trace: Trace) -> dict[str, Any]:
    """Verdicts of alarms and outcomes of channels, by name; empty in mode off."""
    if not trace.watches:
        return {}
    predicted, closings = trace.by_type["repair_predicted"], trace.by_type["repair_closed"]
    verdicts = Counter(str(event["verdict"]) for event in predicted if event["alarm"])
    return {
        "forecasts": len(predicted),
        "verdicts": {name: verdicts[name] for name in sorted(verdicts)},
        "outcomes": dict(sorted(Counter(event["outcome"] for event in closings).items())),
        "charged_s": sum(event["charged_ms"] for event in closings) / MS,
        "tokens": sum(event["tokens"] for event in closings),
    }
