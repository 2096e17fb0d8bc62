"""Random play shared by the statistical tests; two processes play crafter."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from macrafter_peer import joined, play_crafter, play_ours

EPISODES = int(os.environ.get("COOPLAB_CRAFTER_EPISODES", "200"))
PARTS = 4


@pytest.fixture(scope="session")
def crafter_play():
    """Episodes of crafter 1.8.3 by policy."""
    pytest.importorskip("crafter")
    jobs = [(policy, seed) for policy in "UV" for seed in range(1, PARTS + 1)]
    shares = [EPISODES // PARTS] * len(jobs)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        played = list(pool.map(play_crafter, *zip(*jobs, strict=True), shares))
    return {"U": joined(played[:PARTS]), "V": joined(played[PARTS:])}


@pytest.fixture(scope="session")
def our_play():
    """Episodes of preset `solo` by policy, twice as many."""
    return {policy: play_ours(policy, 0, 2 * EPISODES) for policy in "UV"}
