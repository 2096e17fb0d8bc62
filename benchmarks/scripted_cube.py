"""How well scripted play of CUBE does: the acceptance table, by whole episodes through the loop.

`python -m benchmarks.scripted_cube [seeds]` plays every row with that many seeds (200) and prints
the figures beside what they must reach.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from benchmarks.timing import require_whole
from cognitive.budget import Limits
from cognitive.loop import NoGate, run
from cognitive.planners.greedy import GreedyPlanner
from cognitive.planners.scripted import ScriptedPlanner
from cognitive.protocols import Planner
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.api import Json
from worlds.registry import make

SEEDS = 200
LIGHT = ("block_0_left", "block_1_left", "block_2_left")
"""Tasks of the three blocks of weight 1 of the preset `quorum`."""


class Row(NamedTuple):
    """Episodes of one kind; seeds: a share of those asked for."""

    label: str
    topology: str
    planner: str
    overrides: Mapping[str, Json]
    team_ms: int
    share: float


class Played(NamedTuple):
    """One episode. done: nothing was left. light: all blocks of weight 1 delivered.

    steps: the cap when not done. tries: the most that a decision took; failed: decisions that did.
    """

    done: bool
    light: bool
    steps: int
    delivered: float
    tries: int
    failed: int


class Notebook:
    """A sink that keeps what the table needs of the events."""

    def __init__(self) -> None:
        self.tasks: set[str] = set()
        self.tries = 0
        self.failed = 0

    def event(self, line: Json) -> None:
        if line["e"] == "score":
            self.tasks.add(line["task"])
        elif line["e"] == "decision_ended" and line["outcome"] != "cut":
            self.tries = max(self.tries, len(line["tries"]))
            self.failed += line["outcome"] == "failed"

    def frame(self, step: int, layers: object) -> None:
        """Frames are not needed."""

    def flush(self) -> None:
        """Nothing is written."""

    def close(self) -> None:
        """Nothing is open."""


PLANNERS: Mapping[str, Callable[[], Planner]] = {
    "scripted": ScriptedPlanner,
    "greedy": GreedyPlanner,
}

ROWS = (
    Row("quorum, centralized", "centralized", "scripted", {}, 0, 1.0),
    Row("the same, team_ms 120000", "centralized", "scripted", {}, 120_000, 1.0),
    Row("quorum-6, centralized", "centralized", "scripted", {"agents": 6}, 0, 1.0),
    Row("quorum, chain", "chain", "scripted", {}, 0, 1.0),
    Row("quorum, all_to_all", "all_to_all", "scripted", {}, 0, 0.25),
    Row("quorum, ring", "ring", "scripted", {}, 0, 0.25),
    Row("quorum, hierarchy", "hierarchy", "scripted", {}, 0, 0.25),
    Row("quorum, gossip", "gossip", "scripted", {}, 0, 0.25),
    Row("quorum, greedy", "individual", "greedy", {}, 0, 0.5),
    Row("individual, cap 400", "individual", "scripted", {"max_steps": 400}, 0, 0.5),
    Row("centralized, cap 400", "centralized", "scripted", {"max_steps": 400}, 0, 0.5),
    Row("chain, cap 400", "chain", "scripted", {"max_steps": 400}, 0, 0.5),
    Row("scatter, cap 400", "centralized", "scripted",
        {"max_steps": 400, "placement": "scatter"}, 0, 0.25),
    Row("rules chain, n 8", "centralized", "scripted",
        {"rules": "chain", "n": 8, "max_steps": 500}, 0, 0.25),
    Row("rules chain, n 32", "centralized", "scripted",
        {"rules": "chain", "n": 32, "max_steps": 500}, 0, 0.1),
    Row("rules chain, n 128", "centralized", "scripted",
        {"rules": "chain", "n": 128, "max_steps": 500}, 0, 0.005),
    Row("rules chain, n 256", "centralized", "scripted",
        {"rules": "chain", "n": 256, "max_steps": 500}, 0, 0.005),
)  # fmt: skip
MUST = {
    "quorum, centralized": "done 95 %, median 160",
    "the same, team_ms 120000": "done 80 %",
    "quorum-6, centralized": "done 90 %",
    "quorum, chain": "done 90 %",
    "quorum, greedy": "light 95 %",
    "individual, cap 400": "mean 1.2 x that of each of the next two",
    "rules chain, n 8": "delivered 80 %",
    "rules chain, n 32": "delivered 80 %",
}


def play(row: Row, seed: int) -> Played:
    """One episode of a row."""
    world = make("cube-v1", "quorum", **row.overrides)
    planner, notes, cap = PLANNERS[row.planner](), Notebook(), world.config.max_steps
    settings = EpisodeSettings(seed=seed, limits=Limits(steps=cap, team_ms=row.team_ms))
    topology = make_topology(row.topology, world.rules.agents)
    ending = run(world, settings, topology, lambda ask: planner, NoGate(), notes)
    require_whole(ending, "team_ms")
    # A world that ends in its last step was still cut by the step budget.
    done = ending.ended_by == "world" and ending.steps < cap
    delivered = ending.score / sum(world.config.weights)
    light = notes.tasks >= set(LIGHT)
    steps = ending.steps if done else cap
    return Played(done, light, steps, delivered, notes.tries, notes.failed)


def main(seeds: int) -> None:
    """Play all rows and print them."""
    print(f"{'row':26} seeds  done light mean median p95 delivered tries failed s/run  must")
    for row in ROWS:
        count = max(1, round(seeds * row.share))
        begin = time.process_time()
        played = [play(row, seed) for seed in range(count)]
        seconds = (time.process_time() - begin) / count
        steps = sorted(entry.steps for entry in played)
        print(
            f"{row.label:26} {count:5} {_percent(p.done for p in played):5} "
            f"{_percent(p.light for p in played):5} {statistics.mean(steps):4.0f} "
            f"{statistics.median(steps):6.0f} {steps[int(0.95 * (count - 1))]:3} "
            f"{_percent(p.delivered for p in played):9} {max(p.tries for p in played):5} "
            f"{sum(p.failed for p in played):6} {seconds:5.2f}  {MUST.get(row.label, '')}",
            flush=True,
        )


def _percent(values: Iterable[float]) -> str:
    return f"{100 * statistics.mean(values):.1f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
