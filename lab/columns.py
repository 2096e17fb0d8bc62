"""The columns that tables know: every metric with its heading, unit and better direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from lab import metrics as m
from lab.trace import Trace

Unit = Literal["count", "seconds", "points", "step", "ratio"]
UP, DOWN = 1, -1


class Metric(NamedTuple):
    """A column: its key, its heading, its unit, its function, which way is better (0: neither)."""

    key: str
    title: str
    unit: Unit
    compute: Callable[[Trace], m.Value]
    better: int
    is_integer: bool
    needs_repair: bool


def _real(
    key: str,
    title: str,
    unit: Unit,
    function: Callable[..., m.Value],
    better: int = 0,
    **fixed: Any,
) -> Metric:
    return Metric(key, title, unit, partial(function, **fixed), better, False, False)


def _whole(
    key: str, title: str, function: Callable[..., m.Value], better: int = 0, **fixed: Any
) -> Metric:
    return Metric(key, title, "count", partial(function, **fixed), better, True, False)


def _of_repair(*rows: Metric) -> tuple[Metric, ...]:
    return tuple(row._replace(needs_repair=True) for row in rows)


_BY_CHOICE, _BY_END = frozenset({"replaced", "repaired"}), frozenset({"run_ended"})

PAPER = (
    _real("score", "Score", "points", m.score, UP),
    _whole("steps", "Steps", m.steps),
    _real("score_per_step", "Score/Step", "ratio", m.score_per_step, UP),
    _real("plans_per_agent", "Plans/Agent", "count", m.plans_per_agent),
    _whole("messages", "Msg.", m.messages),
    _whole("interruptions", "Intr.", m.interruptions),
    _real("decision_s", "Total Dec.", "seconds", m.decision_s),
    _real("violation_spatial", "Spat.", "ratio", m.violation, DOWN, constraint="spatial"),
    _real("violation_temporal", "Temp.", "ratio", m.violation, DOWN, constraint="temporal"),
    _real("violation_dependency", "Dep.", "ratio", m.violation, DOWN, constraint="dependency"),
)
CONSTRAINT = (
    _real(
        "violation_participation", "Part.", "ratio", m.violation, DOWN, constraint="participation"
    ),
    _whole("attempts", "Att.", m.attempts),
    _real("attempt_success", "Succ.", "ratio", m.attempt_success, UP),
    _real("violation_any", "Any", "ratio", m.violation_any, DOWN),
    *(_real(f"cause_{c}", f"Cause {c}", "ratio", m.cause, name=c) for c in m.CAUSES),
)
COST = (
    _whole("deliveries", "Deliv.", m.deliveries),
    _real("deliveries_per_agent", "Deliv./Agent", "count", m.deliveries_per_agent),
    _whole("messages_lost", "Lost", m.messages_lost),
    *(_whole(f"messages_{k}", f"Msg. {k}", m.messages_of, kind=k) for k in m.MESSAGE_KINDS),
    _real("messages_sd", "Msg. sd", "count", m.messages_sd),
    _real("wait_s", "Wait", "seconds", m.stage_s, stages="W"),
    _real("charged_s", "Charged", "seconds", m.charged_s),
    _real("frozen_share", "Frozen", "ratio", m.frozen_share),
    _real("decisions_per_step", "Dec./Step", "ratio", m.decisions_per_step),
    _real("decisions_sd", "Dec. sd", "count", m.decisions_sd),
    _whole("decisions_failed", "Failed", m.decisions_failed, DOWN),
    _real("tries_per_decision", "Tries/Dec.", "ratio", m.tries_per_decision),
    _real("resume_share", "Resume", "ratio", m.resume_share),
    _real("plan_success", "Plan succ.", "ratio", m.plan_success, UP),
    _real("plans_interrupted", "Plan intr.", "ratio", m.plans_ended, reasons=_BY_CHOICE),
    _real("plans_cut", "Plan cut", "ratio", m.plans_ended, reasons=_BY_END),
    _real("coherence", "Coherence", "ratio", m.coherence),
    _whole("step_first_score", "First", m.step_first_score, DOWN),
    _whole("step_done", "Done", m.step_done, DOWN),
    _whole("calls", "Calls", m.spent, name="calls"),
    _whole("tokens", "Tokens", m.tokens),
    _whole("money", "Money", m.spent, name="money"),
    _real(
        "decision_s_per_point", "Dec./Point", "seconds", m.per_point, DOWN, quantity=m.decision_s
    ),
    _real("messages_per_point", "Msg./Point", "count", m.per_point, DOWN, quantity=m.messages),
    _real("tokens_per_point", "Tokens/Point", "count", m.per_point, DOWN, quantity=m.tokens),
)
REPAIR = _of_repair(
    _whole("alarms", "Alarms", m.alarms),
    _whole("channels", "Channels", m.channels),
    *(_whole(o, o.capitalize(), m.closed, outcome=o) for o in ("accepted", "improved", "kept")),
    _whole("repair_calls", "Rep. calls", m.repair_cost, field="calls"),
    _whole("repair_messages", "Rep. msg.", m.repair_cost, field="sends"),
    _whole("repair_deliveries", "Rep. deliv.", m.repair_cost, field="deliveries"),
    _real("repair_decision_s", "Rep. dec.", "seconds", m.repair_decision_s),
)
PREDICTION = _of_repair(
    _real("precision", "Precision", "ratio", m.precision, UP),
    _real("recall", "Recall", "ratio", m.recall, UP),
    _real("brier", "Brier", "ratio", m.brier, DOWN),
    *(_whole(k, k.replace("_", " ").capitalize(), m.labelled, label=k) for k in m.LABELS),
    _real("lead", "Lead", "step", m.lead),
)
COLUMN_SETS: Mapping[str, tuple[Metric, ...]] = {
    "paper": PAPER,
    "constraints": CONSTRAINT,
    "cost": COST,
    "repair": REPAIR,
    "prediction": PREDICTION,
}
METRICS = tuple(metric for group in COLUMN_SETS.values() for metric in group)
BY_KEY: Mapping[str, Metric] = {metric.key: metric for metric in METRICS}


def measure(trace: Trace) -> dict[str, m.Value]:
    """Every metric of a run by key; None where it does not exist, repair's too in mode off."""
    return {
        metric.key: None if metric.needs_repair and not trace.watches else metric.compute(trace)
        for metric in METRICS
    }
