"""A cohort has exactly R members at brute-force least cost, ties by id and slot."""

from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from repair.cohort import FORBIDDEN, assign


def brute_force(cost, need):
    agents, slots = cost.shape
    best = None
    for chosen in combinations(range(agents), need):
        for seats in permutations(range(slots), need):
            picked = [cost[i, s] for i, s in zip(chosen, seats, strict=True)]
            if FORBIDDEN in picked:
                continue
            key = (sum(picked), chosen, seats)
            best = min(best, key) if best else key
    return None if best is None else tuple(zip(best[1], best[2], strict=True))


def test_golden_six_agents_four_slots():
    cost = np.array(
        [[9, 9, 9, 9], [7, 8, 9, 9], [1, 5, 9, 9], [6, 6, 9, 9], [4, 2, 9, 9], [8, 8, 8, 8]],
        np.int64,
    )
    assert assign(cost, 2) == ((2, 0), (4, 1))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_least_cost_and_ties_as_brute_force(data):
    agents = data.draw(st.integers(1, 6))
    slots = data.draw(st.integers(1, 6))
    need = data.draw(st.integers(1, 4))
    values = data.draw(
        st.lists(
            st.sampled_from([FORBIDDEN, 0, 1, 2, 3, 9]),
            min_size=agents * slots,
            max_size=agents * slots,
        )
    )
    cost = np.array(values, np.int64).reshape(agents, slots)
    found, wanted = assign(cost, need), brute_force(cost, need)
    if wanted is None:
        assert found is None
        return
    assert found == wanted, (cost, found, wanted)
