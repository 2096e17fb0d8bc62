"""The random stream: check values, independence of forks, distribution of draws."""

from __future__ import annotations

import numpy as np
import pytest

from primitives import rng
from primitives.rng import below, draw, uniform

pytestmark = pytest.mark.kernel


def seeded(seed: int) -> np.ndarray:
    stream = np.zeros(2, np.uint64)
    rng.start(stream, np.uint64(seed))
    return stream


def forked(stream: np.ndarray, label: int) -> np.ndarray:
    child = np.zeros(2, np.uint64)
    rng.fork(stream, label, child)
    return child


def test_check_values_of_seed_42() -> None:
    stream = seeded(42)
    child = forked(stream, 1)
    assert stream.tolist() == [0xBDD732262FEB6E95, 0]
    assert rng.next_uniform(stream) == 0.34329192209867343
    assert rng.next_uniform(stream) == 0.9557467261317436
    assert child[0] == 0x61B3E514F002FD8B
    rng.next_uniform(child)
    assert rng.next_below(child, 15) == 2
    assert child[1] == 2


def test_a_fork_leaves_its_parent_alone_and_labels_differ() -> None:
    stream = seeded(0)
    before = stream.copy()
    keys = {int(forked(stream, label)[0]) for label in range(200)}
    assert len(keys) == 200
    np.testing.assert_array_equal(stream, before)


def test_seed_0_is_a_seed_like_any_other() -> None:
    assert seeded(0).tolist() != seeded(1).tolist()
    assert seeded(0).tolist() == seeded(0).tolist()


def test_the_largest_keys_wrap_silently() -> None:
    stream = np.full(2, 2**64 - 1, np.uint64)
    rng.next_u64(stream)
    assert stream[1] == 0
    assert 0.0 <= rng.next_uniform(stream) < 1.0


def test_below_stays_in_range_and_is_uniform() -> None:
    stream, items = seeded(3), np.zeros(7000, np.int32)
    rng.fill_below(stream, 7, items)
    counts = np.bincount(items, minlength=7)
    assert len(counts) == 7 and items.min() == 0
    chi_squared = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_squared < 22.5, f"chi squared {chi_squared:.1f} of {counts} (6 degrees)"


def test_a_shuffle_is_a_permutation_by_the_stated_draws() -> None:
    items, stream, other = np.arange(9), seeded(5), seeded(5)
    rng.shuffle(stream, items)
    expected = list(range(9))
    for i in range(8, 0, -1):
        j = rng.next_below(other, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert items.tolist() == expected
    assert stream[1] == 8


def test_draw_depends_on_its_arguments_alone() -> None:
    assert draw(1, "latency", 2, "x") == draw(1, "latency", 2, "x")
    assert len({draw(1, "latency", k) for k in range(100)}) == 100
    assert 0.0 <= uniform(1, "a") < 1.0
    assert {below(3, seed, "b") for seed in range(50)} == {0, 1, 2}
