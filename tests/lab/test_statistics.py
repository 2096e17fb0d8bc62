"""Means, intervals and matched pairs against values worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import statistics

OFF = (3, 5, 4, 8, 5, 2, 6, 4)
ON = (5, 5, 9, 7, 8, 6, 13, 10)
PAIRS = tuple(zip(OFF, ON, strict=True))


def test_five_scores():
    found = statistics.describe([3, 5, 4, 8, 5])
    assert (found.mean, found.low, found.high, found.n, found.valued) == (5.0, 3, 8, 5, 5)
    assert found.sd == pytest.approx(1.8708, abs=5e-5)
    assert found.ci == pytest.approx(2.3229, abs=5e-5)
    assert statistics.describe([3, 5, 4, 8, 5], "normal").ci == pytest.approx(1.6399, abs=5e-5)


@pytest.mark.parametrize(("interval", "width"), [("t", 175.8), ("normal", 124.1)])
def test_a_published_sd_is_no_interval(interval, width):
    assert 141.6 * statistics.quantile(5, interval) / 5**0.5 == pytest.approx(width, abs=0.05)


def test_missing_values_are_counted_and_never_imputed():
    found = statistics.describe([None, 2.0, None])
    assert found == (2.0, None, 2.0, 2.0, 3, 1, None)
    assert statistics.describe([None]) == (None, None, None, None, 1, 0, None)


def test_eight_matched_pairs():
    found = statistics.compare(PAIRS)
    assert (found.mean, found.median) == (3.25, 3.5)
    assert (found.wins, found.ties, found.losses) == (6, 1, 1)
    assert statistics.rank_sums([b - a for a, b in PAIRS]) == (27.0, 1.0)
    assert found.p == pytest.approx(0.03125)
    assert found.effect == pytest.approx(0.9286, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((1.375, 5.0), abs=0.05)
    assert (found.first, found.second, found.n, found.dropped) == (37 / 8, 63 / 8, 8, 0)


def test_dropped_pairs_are_counted():
    found = statistics.compare([*PAIRS, (None, 3), (2, None)])
    assert (found.n, found.dropped, found.mean) == (8, 2, 3.25)


def test_few_pairs_have_no_p_and_say_why():
    found = statistics.compare([(0, 1), (0, 2), (1, 1), (0, 3), (0, 4)])
    assert (found.p, found.why_no_p) == (None, "4 non-zero pairs; 5 needed")
    assert statistics.compare([(1, 1)]).effect is None
    assert statistics.compare([(None, 1)]).why_no_p == "no pair has both values"


def test_holm():
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([None, 0.5, 0.9]) == [None, 1.0, 1.0]


values = st.lists(st.integers(-50, 50), min_size=2, max_size=8)


@settings(deadline=None)
@given(values)
def test_swapping_the_sides_turns_everything_around(differences):
    there = statistics.compare([(0, d) for d in differences])
    back = statistics.compare([(d, 0) for d in differences])
    assert there.mean == -back.mean and there.p == back.p
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert (there.effect is None) == (back.effect is None)
    assert there.low - 1e-9 <= there.mean <= there.high + 1e-9, there
