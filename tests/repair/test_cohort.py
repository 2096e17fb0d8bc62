"""A cohort has exactly R members at brute-force least cost, ties by id and slot."""

from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from repair.cohort import FORBIDDEN, _cheapest_rows, assign


def brute_force(cost, need):
    """Least (total cost, sum of agent ranks, slots weighted by agent) over all seatings."""
    agents, slots = cost.shape
    best = None
    for chosen in combinations(range(agents), need):
        for seats in permutations(range(slots), need):
            picked = [cost[i, s] for i, s in zip(chosen, seats, strict=True)]
            if FORBIDDEN in picked:
                continue
            key = rank_of(cost, tuple(zip(chosen, seats, strict=True)))
            best = min(best, key) if best else key
    return best


def rank_of(cost, pairs):
    agents = len(cost)
    return (
        sum(int(cost[i, s]) for i, s in pairs),
        sum(i for i, _ in pairs),
        sum((agents - i) * s for i, s in pairs),
    )


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
    kept = _cheapest_rows(cost, need)
    found, wanted = assign(cost[kept], need), brute_force(cost[kept], need)
    if wanted is None:
        assert found is None and brute_force(cost, need) is None
        return
    assert len(found) == need
    assert rank_of(cost[kept], found) == wanted, (cost, found)
    assert wanted[0] == brute_force(cost, need)[0], "dropping costly agents lost the optimum"
