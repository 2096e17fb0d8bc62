"""Two threads against one on a batch of worlds: `python -m benchmarks.threads [--quick]`.

Threads share out work that costs the same CPU time in total, and the clock of a shared machine
does not say what two idle cores would take. So a figure is CPU time of the one thread over CPU
time of the busier of two, whatever runs in parallel and whatever does not included. It leaves out
how long a sleeping thread takes to wake.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.timing import ROUNDS, Row, baseline_us, show
from worlds.parallel import vector_env

WORLDS, STEPS = 256, 20
MUST, AIM = 1.7, 1.9
CASES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("MA-Crafter", "macrafter-v1", "paper", {}),
    ("CUBE", "cube-v1", "quorum", {"view": 11}),
)


def rows(is_quick: bool = False) -> list[Row]:
    """A row a world."""
    return [_row(*case, rounds=3 if is_quick else 2 * ROUNDS) for case in CASES]


def _row(title: str, id: str, preset: str, changes: dict[str, Any], rounds: int) -> Row:
    one, two = (vector_env(id, WORLDS, preset, threads=threads, **changes) for threads in (1, 2))
    size = (STEPS, WORLDS, one.agents)
    actions = np.random.default_rng(0).integers(0, 5, size).astype(np.int32)
    ratios, bases = [], []
    for _ in range(rounds):
        bases.append(baseline_us())
        ratios.append(max(_spent(one, actions)) / max(_spent(two, actions)))
    ratio = statistics.median(ratios)
    name = f"{title} {WORLDS} worlds x {one.agents} agents, 2 threads against 1 (A)"
    return Row(name, ratio, "x faster", statistics.median(bases), ratio, MUST, AIM)


def _spent(env: Any, actions: np.ndarray) -> tuple[float, float]:
    """CPU seconds of an episode: of this thread, and of all others."""
    env.reset(seed=0)
    everywhere, here = time.process_time(), time.thread_time()
    for sent in actions:
        env.step(sent)
    here = time.thread_time() - here
    return here, time.process_time() - everywhere - here


if __name__ == "__main__":
    show(rows("--quick" in sys.argv))
