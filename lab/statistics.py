"""Means, intervals and matched pairs. Sources of the rules: Student, Wilcoxon, Efron, Holm.

scipy takes half a second to import, so that waits until a test is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.rng import below

CONFIDENCE = 0.975
NORMAL_QUANTILE = 1.96
RESAMPLES = 10_000
FEWEST_PAIRS = 5
"""Non-zero pairs below which no p value is given."""


class Description(NamedTuple):
    """A cell of runs: `n` runs, of which `valued` have a value; None where there is none."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n: int
    valued: int
    ci: float | None
    """Half width of the 95 % interval of the mean."""


def describe(values: Sequence[float | None], interval: str = "t") -> Description:
    """Mean, sd (n − 1), range and interval half width; `interval` is `t` or `normal`.

    t(0.975, n − 1) · sd ÷ √n, or 1.96 · sd ÷ √n; sd and interval need 2 values.
    """
    known = [value for value in values if value is not None]
    count = len(known)
    if not count:
        return Description(None, None, None, None, len(values), 0, None)
    mean = sum(known) / count
    sd = ci = None
    if count > 1:
        sd = sqrt(sum((value - mean) ** 2 for value in known) / (count - 1))
        ci = quantile(count, interval) * sd / sqrt(count)
    return Description(mean, sd, min(known), max(known), len(values), count, ci)


@lru_cache
def quantile(count: int, interval: str) -> float:
    """The factor of a 95 % interval of the mean of `count` values."""
    if interval == "normal":
        return NORMAL_QUANTILE
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, CONFIDENCE))


class Comparison(NamedTuple):
    """Second minus first over matched pairs, `dropped` of which had no value on a side."""

    n: int
    dropped: int
    first: float | None
    second: float | None
    mean: float | None
    median: float | None
    sd: float | None
    low: float | None
    high: float | None
    p: float | None
    why_no_p: str | None
    effect: float | None
    wins: int
    ties: int
    losses: int


def compare(pairs: Sequence[tuple[float | None, float | None]]) -> Comparison:
    """Matched pairs (first, second): difference, bootstrap interval, Wilcoxon, effect."""
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    dropped = len(pairs) - len(known)
    if not known:
        reason = "no pair has both values"
        nothing = (None,) * 8
        return Comparison(0, dropped, *nothing, reason, None, 0, 0, 0)
    d = [b - a for a, b in known]
    spread = describe(d)
    p, why = wilcoxon(d)
    return Comparison(
        len(d),
        dropped,
        sum(a for a, _ in known) / len(d),
        sum(b for _, b in known) / len(d),
        spread.mean,
        float(median(d)),
        spread.sd,
        *bootstrap(d),
        p,
        why,
        effect(d),
        sum(x > 0 for x in d),
        sum(x == 0 for x in d),
        sum(x < 0 for x in d),
    )


def wilcoxon(differences: Sequence[float]) -> tuple[float | None, str | None]:
    """Two-sided p of the signed-rank test on the non-zero differences, or None and why not."""
    used = [d for d in differences if d != 0]
    if len(used) < FEWEST_PAIRS:
        return None, f"{len(used)} non-zero pairs; {FEWEST_PAIRS} needed"
    from scipy.stats import wilcoxon as signed_rank_test

    return float(signed_rank_test(used, method="auto").pvalue), None


def rank_sums(differences: Sequence[float]) -> tuple[float, float]:
    """W⁺ and W⁻: sums of the ranks of |d| (ties share) over positive and negative non-zero d."""
    used = [d for d in differences if d != 0]
    if not used:
        return 0.0, 0.0
    from scipy.stats import rankdata

    ranks = rankdata([abs(d) for d in used])
    plus = float(sum(rank for rank, d in zip(ranks, used, strict=True) if d > 0))
    return plus, float(sum(ranks)) - plus


def effect(differences: Sequence[float]) -> float | None:
    """Rank-biserial correlation (W⁺ − W⁻) ÷ (W⁺ + W⁻); None if all differences are zero."""
    plus, minus = rank_sums(differences)
    return (plus - minus) / (plus + minus) if plus + minus else None


@lru_cache
def resamples(count: int) -> NDArray[np.int32]:
    """[RESAMPLES, count] int32, indices 0..count−1 of each resample; depends on `count` alone."""
    indices = np.empty((RESAMPLES, count), np.int32)
    for i in range(RESAMPLES):
        for j in range(count):
            indices[i, j] = below(count, 0, "bootstrap", i, j)
    return indices


def bootstrap(differences: Sequence[float]) -> tuple[float | None, float | None]:
    """95 % percentile interval of the mean over 10,000 resamples; needs 2 differences."""
    if len(differences) < 2:
        return None, None
    means = np.asarray(differences, np.float64)[resamples(len(differences))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values of one family (Holm 1979), in the order given; None stays None."""
    known = [(p, place) for place, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(sorted(known)):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted
