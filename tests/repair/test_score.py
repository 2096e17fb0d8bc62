"""Labels of forecasts, and causes of failed attempts."""

import pytest

from repair.constraints import evaluate
from repair.score import Scorer
from worlds.api import Attempt

GROUP = ((0, "0.1"), (1, "1.1"))


def attempt(need=2, part=0, spat=0, temp=0, dep=0, dep_need=0, result="short", members=(0,)):
    return Attempt(
        "t", "k", "push", need, part, spat, temp, dep, dep_need,
        tuple((agent, 0) for agent in members), 0, result, "", (), True, {},
    )  # fmt: skip


DONE = attempt(part=2, spat=2, temp=2, result="done")
SHORT = attempt(part=1, spat=1, temp=1)


def label_of(rows, is_alarm, ends):
    """ends: plan id -> (status, reason)."""
    seen = {}
    scorer = Scorer(seen.get)
    scorer.follow(0, "t", GROUP, 0, is_alarm)
    for step, row in enumerate(rows, 1):
        assert scorer.observe(step, (row,)) == []
    seen.update(ends)
    closed = scorer.changed({}) or scorer.finish()
    (scored,) = closed
    return scored


OVER = {"0.1": ("success", "")}
REPLACED = {"0.1": ("interrupted", "replaced")}
REPAIRED = {"0.1": ("interrupted", "repaired")}


@pytest.mark.parametrize(
    ("rows", "is_alarm", "ends", "label"),
    [
        ([SHORT], True, OVER, "hit"),
        ([SHORT, DONE], True, OVER, "false_alarm"),
        ([SHORT], False, OVER, "miss"),
        ([DONE], False, OVER, "correct_rejection"),
        ([SHORT], True, REPAIRED, "treated"),
        ([], True, REPAIRED, "treated"),
        ([], True, OVER, "unrealised"),
        ([SHORT], False, REPLACED, "cut"),
        ([DONE], False, REPLACED, "correct_rejection"),
        ([DONE], True, REPLACED, "false_alarm"),
        ([SHORT], True, {}, "cut"),
    ],
)
def test_label(rows, is_alarm, ends, label):
    assert label_of(rows, is_alarm, ends).label == label


def test_first_and_lead_count_from_the_forecast():
    scored = label_of([SHORT, DONE], True, OVER)
    assert (scored.attempts, scored.first, scored.lead, scored.held) == (2, 1, 1, (True,) * 4)


def test_an_engagement_ends_with_the_plan_of_a_member_not_later():
    ends = {}
    scorer = Scorer(ends.get)
    scorer.follow(3, "t", GROUP, 5, True)
    scorer.observe(6, (SHORT,))
    ends["1.1"] = ("failed", "timeout")
    (scored,) = scorer.observe(7, (SHORT,))
    assert (scored.forecast, scored.label, scored.attempts) == (3, "hit", 2)
    assert scorer.observe(8, (DONE,)) == [] and scorer.finish() == []


@pytest.mark.parametrize(
    ("row", "group", "cause"),
    [
        (attempt(part=2, spat=2, temp=2, result="blocked"), (0, 1), "passage"),
        (attempt(part=1, spat=1, temp=1), (0,), "participation"),
        (attempt(part=1, spat=1, temp=1), (0, 1), "spatial"),
        (attempt(part=1, spat=2, temp=1, dep=1, dep_need=2), (0, 1), "dependency"),
        (attempt(part=1, spat=2, temp=1), (0, 1), "temporal"),
        (attempt(need=2, part=1, spat=2, temp=2, dep=2, dep_need=2), (0, 1, 2), "mixed"),
        (DONE, (0, 1), None),
    ],
)
def test_cause(row, group, cause):
    assert evaluate(row, group).cause == cause
