"""How far scripted play of MA-Crafter gets: the acceptance table, by whole episodes of the loop.

`python -m benchmarks.scripted_macrafter [--quick] [--seeds N] [--first SEED] [ROW ...]` prints for
every row the share of runs in which somebody held each item (or everybody, marked *), the steps at
which that came about, who was alive at the end, and where the time of the agents went.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.timing import require_whole
from cognitive.budget import Limits
from cognitive.loop import Ending, NoGate, run
from cognitive.planners.scripted import ScriptedPlanner
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.api import Json
from worlds.macrafter.state import ITEMS
from worlds.registry import make

SEEDS, QUICK_SEEDS = 50, 4
NEEDS = [ITEMS.index(name) for name in ("food", "drink", "energy")]
MORNING = 300
"""Step of the first morning."""
MILESTONES = ("wood", "stone", "wood_pickaxe*", "stone_pickaxe*", "coal", "iron", "iron_pickaxe*",
              "diamond")  # fmt: skip
"""Items that somebody holds; with a star, that everybody holds."""


class Row(NamedTuple):
    """Episodes of one kind. share: part of the seeds asked for. floors: per cent of the runs that
    must reach a milestone, and of the agents that must be `alive` at the end."""

    label: str
    preset: str
    topology: str
    overrides: Mapping[str, Json]
    share: float = 1.0
    floors: Mapping[str, int] = {}


ROWS = (
    Row("paper, 200 steps", "paper", "centralized", {"max_steps": 200}, 1.0,
        {"wood": 95, "stone": 95, "coal": 80, "iron": 40}),
    Row("paper, 1000 steps", "paper", "centralized", {"max_steps": 1000}, 1.0,
        {"iron": 95, "diamond": 90}),
    Row("paper-6, 200 steps", "paper-6", "centralized", {"max_steps": 200}, 0.4),
    Row("paper, chain", "paper", "chain", {"max_steps": 400}, 0.4),
    Row("paper, ring", "paper", "ring", {"max_steps": 400}, 0.4),
    Row("paper, all_to_all", "paper", "all_to_all", {"max_steps": 400}, 0.4),
    Row("paper, hierarchy", "paper", "hierarchy", {"max_steps": 400}, 0.4),
    Row("paper, gossip", "paper", "gossip", {"max_steps": 400}, 0.4),
    Row("paper, individual", "paper", "individual", {"max_steps": 400}, 0.4),
    Row("survival, centralized", "survival", "centralized", {"agents": 6, "max_steps": 1000}, 0.4,
        {"alive": 80}),
    Row("survival, all_to_all", "survival", "all_to_all", {"agents": 6, "max_steps": 1000}, 0.4,
        {"alive": 80}),
    Row("survival, individual", "survival", "individual", {"agents": 6, "max_steps": 1000}, 0.4,
        {"alive": 80}),
    Row("solo", "solo", "individual", {"max_steps": 1000}, 0.4),
)  # fmt: skip


class Played(NamedTuple):
    """One episode. first: steps at which milestones were reached. failed: decisions that found no
    valid answer; tries: the most that one took. ends: failed plans by reason. deaths: step, and
    whether food, drink or energy had run out."""

    first: Mapping[str, int]
    alive: float
    score: float
    tries: int
    failed: int
    ends: Mapping[str, int]
    stages: Mapping[str, int]
    deaths: Sequence[tuple[int, bool]]


class Watch:
    """A sink that keeps what the table needs of events and frames."""

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        self.tries = self.failed = 0
        self.ends: Counter[str] = Counter()
        self.alive = 1.0
        self.deaths: list[tuple[int, bool]] = []
        self._lives = self._lacking = np.zeros(0, np.bool_)

    def event(self, line: Json) -> None:
        """Count tries of decisions, and failed plans by reason."""
        if line["e"] == "decision_ended" and line["outcome"] != "cut":
            self.tries = max(self.tries, len(line["tries"]))
            self.failed += line["outcome"] == "failed"
        elif line["e"] == "plan_ended" and line["status"] == "failed":
            self.ends[line["reason"]["code"]] += 1

    def frame(self, step: int, layers: Mapping[str, np.ndarray]) -> None:
        """Note what is held for the first time, and who lives."""
        held, alive = layers["inventory"] > 0, layers["is_alive"] > 0
        self.alive = float(alive.mean())
        if len(self._lacking):
            self.deaths += [(step, bool(lacks)) for lacks in self._lacking[self._lives & ~alive]]
        self._lives, self._lacking = alive, ~held[:, NEEDS].all(axis=1)
        for name in MILESTONES:
            holders = held[:, ITEMS.index(name.rstrip("*"))]
            if name not in self.first and (holders.all() if name[-1] == "*" else holders.any()):
                self.first[name] = step

    def flush(self) -> None:
        """Nothing is written."""

    def close(self) -> None:
        """Nothing is open."""


def play(row: Row, seed: int) -> Played:
    """One episode of a row. Raises what ended it, if anything went wrong."""
    world = make("macrafter-v1", row.preset, **row.overrides)
    planner, watch = ScriptedPlanner(), Watch()
    settings = EpisodeSettings(seed=seed, limits=Limits(steps=world.config.max_steps))
    topology = make_topology(row.topology, world.rules.agents)
    ending: Ending = run(world, settings, topology, lambda ask: planner, NoGate(), watch)
    require_whole(ending)
    stages: Counter[str] = Counter()
    for spent in ending.stages:
        stages.update(spent)
    return Played(
        watch.first,
        watch.alive,
        ending.score,
        watch.tries,
        watch.failed,
        watch.ends,
        stages,
        watch.deaths,
    )


def table(row: Row, played: Sequence[Played], seconds: float) -> str:
    """The lines of one row."""
    alive = 100 * statistics.mean(one.alive for one in played)
    lines = [
        f"{row.label}: {len(played)} runs, {seconds:.2f} s a run; mean score "
        f"{statistics.mean(one.score for one in played):.0f}; alive {alive:.0f} %"
        f"{_floor(row, 'alive')}; most tries {max(one.tries for one in played)}, "
        f"failed decisions {sum(one.failed for one in played)}"
    ]
    for name in MILESTONES:
        steps = sorted(one.first[name] for one in played if name in one.first)
        text = f"  {name:15} {100 * len(steps) / len(played):5.1f} %{_floor(row, name):14}"
        if steps:
            marks = [steps[int(share * (len(steps) - 1))] for share in (0.25, 0.5, 0.75, 1)]
            text += "  quartiles and last {:4} {:4} {:4} {:4}".format(*marks)
        lines.append(text)
    deaths = [death for one in played for death in one.deaths]
    if deaths:
        early = sum(step < MORNING for step, _ in deaths)
        lines.append(
            f"  deaths: {len(deaths)}, {early} before step {MORNING}, "
            f"{sum(lacks for _, lacks in deaths)} with food, drink or energy at 0"
        )
    return "\n".join([*lines, f"  time: {_shares(played)}", f"  failed plans: {_ends(played)}"])


def _floor(row: Row, name: str) -> str:
    return f" (floor {row.floors[name]} %)" if name in row.floors else ""


def _shares(played: Sequence[Played]) -> str:
    total: Counter[str] = Counter()
    for one in played:
        total.update(one.stages)
    whole = sum(total.values()) or 1
    return ", ".join(f"{name} {100 * ms / whole:.0f} %" for name, ms in total.most_common())


def _ends(played: Sequence[Played]) -> str:
    total: Counter[str] = Counter()
    for one in played:
        total.update(one.ends)
    return ", ".join(f"{name} {count}" for name, count in total.most_common(6)) or "none"


def main() -> None:
    """Play the rows asked for and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripted_macrafter")
    parser.add_argument("rows", nargs="*", help="beginnings of the labels of rows")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    for row in ROWS:
        if options.rows and not row.label.startswith(tuple(options.rows)):
            continue
        count = QUICK_SEEDS if options.quick else max(1, round(options.seeds * row.share))
        begin = time.process_time()
        played = [play(row, options.first + seed) for seed in range(count)]
        print(table(row, played, (time.process_time() - begin) / count), flush=True)


if __name__ == "__main__":
    main()
