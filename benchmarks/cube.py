"""Speed, memory and scale of CUBE and of the ways on its boards.

`python -m benchmarks.cube [--quick]` prints a row a line. Levels: D the PettingZoo call, A arrays,
R the loop compiled. The ratio of a rate is what is done in the time of one loop of the baseline,
that of a time is how many loops it lasts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import Row, baseline_us, interleaved, show
from primitives import rng
from primitives.compile import in_place
from primitives.cube_kernels import step_one
from primitives.cube_work import cube_memory, cube_work
from primitives.navigation import distance_field, downhill, path_work, shortest_path
from worlds.api import NO_TASK, World
from worlds.cube.config import CubeConfig
from worlds.cube.rules import CubeRules
from worlds.parallel import parallel_env, vector_env
from worlds.registry import make

LONG = 1_000_000
ACTIONS = 5
RIGHT = 4
VIEW = 11
HALF = {"side": 256, "agents": 256, "blocks": ((8, 256), (4, 512), (2, 2048))}
"""Blocks that cover half of a board of 256 x 256 cells."""
DENSITY = 0.8
MILLION = 1e6
GROWTH = (32, 100, 256, 1000)
FLAT = 1.5
SECONDS = 0.1
"""CPU time of a case in a round."""
QUICK_SECONDS = 0.02


def rows(is_quick: bool = False) -> list[Row]:
    """All rows; the quick half leaves out the largest worlds and what needs other processes."""
    cases = [*stepping(), *resets(), *ways()]
    if not is_quick:
        cases += [*large(), *texts()]
    found = measured(cases, is_quick)
    found += [*growth(is_quick), *memory()]
    return found if is_quick else found + start_up()


class Case(NamedTuple):
    """Something to time: `call` does `amount` units of work. A unit `.../s` is a rate.

    scale: what a second is worth in the unit of a time.
    """

    name: str
    level: str
    unit: str
    amount: float
    call: Callable[[], object]
    must: float | None = None
    aim: float | None = None
    scale: float = 1e6

    @property
    def title(self) -> str:
        return f"CUBE {self.name} ({self.level})" if self.level else self.name

    @property
    def is_rate(self) -> bool:
        return self.unit.endswith("/s")


def measured(cases: Sequence[Case], is_quick: bool) -> list[Row]:
    """A row for each case, warmed, then timed in turn."""
    least = QUICK_SECONDS if is_quick else SECONDS
    for case in cases:
        case.call()
    timed = interleaved({case.title: partial(seconds_of, case.call, least) for case in cases})
    return [_row(case, *timed[case.title]) for case in cases]


def seconds_of(call: Callable[[], object], least: float) -> float:
    """CPU seconds of one call, over as many as fill `least` seconds."""
    calls, began = 0, time.process_time()
    while True:
        call()
        calls += 1
        spent = time.process_time() - began
        if spent >= least:
            return spent / calls


def _row(case: Case, seconds: float, base: float) -> Row:
    if case.is_rate:
        figure, ratio = case.amount / seconds, case.amount / seconds * base / 1e6
    else:
        figure, ratio = case.scale * seconds / case.amount, 1e6 * seconds / case.amount / base
    return Row(case.title, figure, case.unit, base, ratio, case.must, case.aim)


def counted(name: str, figure: float, unit: str, must: float, aim: float | None = None) -> Row:
    """A row of something that is counted, not timed."""
    return Row(name, figure, unit, baseline_us(), figure, must, aim)


# --- steps ---------------------------------------------------------------------------------------


def dicts_of(actions: Any, names: list[str]) -> list[dict[str, int]]:
    """Action dicts, one a step."""
    return [dict(zip(names, line, strict=True)) for line in actions.tolist()]


def random_actions(*shape: int) -> Any:
    """Uniform actions, int32."""
    return np.random.default_rng(0).integers(0, ACTIONS, shape).astype(np.int32)


def zoo(steps: int, **settings: Any) -> Callable[[], None]:
    """An episode at level D, under a random policy."""
    env = parallel_env("cube-v1", max_steps=LONG, **settings)
    env.reset(seed=0)
    actions = dicts_of(random_actions(steps, len(env.agents)), env.agents)

    def play() -> None:
        for step in actions:
            env.step(step)

    return play


def arrays(steps: int, worlds: int, **settings: Any) -> Callable[[], None]:
    """The same at level A."""
    env = vector_env("cube-v1", worlds, max_steps=LONG, **settings)
    env.reset(seed=0)
    actions = random_actions(steps, worlds, env.agents)

    def play() -> None:
        for step in actions:
            env.step(step)

    return play


@in_place
def roll(
    state: Any,
    memory: Any,
    stream: Any,
    actions: Any,
    declared: Any,
    is_chain: bool,
    fixed: int,
    steps: int,
) -> None:
    """Steps of the first world of a batch: all take action `fixed`, or random ones if it is -1."""
    work = cube_work(memory, len(actions), state.block_cell.shape[1])
    for _ in range(steps):
        if fixed < 0:
            rng.fill_below(stream, ACTIONS, actions)
        else:
            actions[:] = fixed
        step_one(state, 0, work, actions, declared, is_chain)


def rollout(rules: str, fixed: int, steps: int) -> Callable[[], None]:
    """Steps on a half-covered board at level R, fresh at the start of each call."""
    config = CubeConfig(rules=rules, placement="scatter", max_steps=LONG, **HALF)
    play_rules = CubeRules(config)
    fresh = play_rules.reset(0)
    memory = cube_memory(config.agent_count, len(config.weights))
    stream, actions = np.ones(2, np.uint64), np.zeros(config.agent_count, np.int32)
    declared = np.full(config.agent_count, NO_TASK, np.int32)

    def play() -> None:
        state = play_rules.clone(fresh)
        roll(state, memory, stream, actions, declared, config.is_chain, fixed, steps)

    return play


def stepping() -> list[Case]:
    """The rows of a step."""
    agent, env = "M agent-steps/s", "k env-steps/s"
    found = [
        Case("n=3 paper preset", "D", env, 0.2, zoo(200), 100, 220),
        Case("n=256, 11x11 views", "D", agent, 2.56e-3, zoo(10, n=256, view=VIEW), 1.2, 2.5),
        Case("n=256, whole boards", "D", agent, 2.56e-3, zoo(10, n=256), 1.2, 2.5),
        Case("n=3 paper preset", "A", env, 0.2, arrays(200, 1)),
        Case("n=256, 11x11 views", "A", agent, 5.12e-3, arrays(20, 1, n=256, view=VIEW), 3, 6),
        Case("256 worlds x 3 agents, 11x11 views", "A", agent, 7.68e-3,
             arrays(10, 256, view=VIEW), 1, 1.8),
        Case("256 worlds x 3 agents, whole boards", "A", agent, 7.68e-3, arrays(10, 256)),
    ]  # fmt: skip
    for rules in ("quorum", "chain"):
        name = f"n=256 half-covered, {rules}"
        amount = 100 * 256 / MILLION
        found.append(Case(f"{name}, random", "R", agent, amount, rollout(rules, -1, 100), 25, 60))
        amount = 30 * 256 / MILLION
        found.append(
            Case(f"{name}, all right", "R", agent, amount, rollout(rules, RIGHT, 30), 5, 20)
        )
    return found


def large() -> list[Case]:
    """The rows of a thousand agents."""
    agent = "M agent-steps/s"
    return [
        Case("n=1000, 11x11 views", "D", agent, 5e-3, zoo(5, n=1000, view=VIEW), 1, 2.4),
        Case("n=1000, whole boards", "D", agent, 5e-3, zoo(5, n=1000), 1, 2.4),
    ]


def growth(is_quick: bool) -> list[Row]:
    """Time of an agent's step from 32 to 1,000 agents, against the smallest."""
    sizes = GROWTH[:-1] if is_quick else GROWTH
    cases = [
        Case(f"n={n}, 11x11 views", "A", "ns/agent-step", 10 * n, arrays(10, 1, n=n, view=VIEW),
             scale=1e9)
        for n in sizes
    ]  # fmt: skip
    found = measured(cases, is_quick)
    figures = [row.figure for row in found]
    worst = max(later / min(figures[: i + 1]) for i, later in enumerate(figures))
    return [*found, counted("CUBE, more agents against 32", worst, "x", FLAT)]


# --- starting, copying, ways, texts --------------------------------------------------------------


def resets() -> list[Case]:
    """The rows of start states and clones."""
    small = CubeRules(CubeConfig(n=32))
    half = CubeRules(CubeConfig(placement="scatter", max_steps=LONG, **HALF))
    board = CubeRules(CubeConfig(side=64))
    state = board.reset(0)
    return [
        Case("reset CUBE n=32", "", "ms", 1, lambda: small.reset(0), 2, 0.3, 1e3),
        Case("reset CUBE n=256 half-covered", "", "ms", 1, lambda: half.reset(0), 100, 15, 1e3),
        Case("clone CUBE 64x64, 3 agents", "", "us", 1, lambda: board.clone(state), 60, 15),
    ]


def ways() -> list[Case]:
    """The rows of path queries and of everybody replanning."""
    found = []
    for side, must, aim in ((64, 12, 6), (256, 300, 150)):
        queries = path_queries(side, side)
        found.append(Case(f"path {side}x{side}, random pair", "", "us", 500, queries, must, aim))
    found.append(Case("path 64x64, goal within 8", "", "us", 500, path_queries(64, 4), 4, 1.5))
    for side, must, aim in ((64, 4, 1.5), (256, 60, 10)):
        name = f"256 agents replan, {side}x{side}"
        found.append(Case(f"{name}, own goals", "", "ms", 1, replan(side), must, aim, 1e3))
        found.append(Case(f"{name}, one goal", "", "ms", 1, replan_together(side), must, aim, 1e3))
    return found


def path_queries(side: int, reach: int) -> Callable[[], None]:
    """500 queries with goals at most `reach` rows and columns away."""
    random = np.random.default_rng(1)
    walkable = random.random((side, side)) < DENSITY
    starts = random.integers(0, side, (500, 2))
    goals = np.clip(starts + random.integers(-reach, reach + 1, starts.shape), 0, side - 1)
    walkable[tuple(starts.T)] = walkable[tuple(goals.T)] = True
    pairs, work = np.hstack((starts, goals)).tolist(), path_work(side, side)
    path = np.zeros((side * side, 2), np.int16)

    def query() -> None:
        for row, column, goal_row, goal_column in pairs:
            shortest_path(walkable, row, column, goal_row, goal_column, work, path)

    return query


def replan(side: int) -> Callable[[], None]:
    """256 agents, each with a way to a goal of its own."""
    random = np.random.default_rng(2)
    walkable = random.random((side, side)) < DENSITY
    pairs = random.integers(0, side, (256, 4))
    walkable[tuple(pairs[:, 2:].T)] = True
    work, path = path_work(side, side), np.zeros((side * side, 2), np.int16)
    queries = pairs.tolist()

    def plan() -> None:
        for row, column, goal_row, goal_column in queries:
            shortest_path(walkable, row, column, goal_row, goal_column, work, path)

    return plan


def replan_together(side: int) -> Callable[[], None]:
    """256 agents with one goal: a field, and each one's next step on it."""
    random = np.random.default_rng(2)
    walkable = random.random((side, side)) < DENSITY
    cells = random.integers(0, side, (256, 2)).tolist()
    goal, field = np.array([[side // 2, side // 2]], np.int16), np.zeros((side, side), np.int32)
    walkable[side // 2, side // 2] = True

    def plan() -> None:
        distance_field(walkable, goal, field)
        for row, column in cells:
            downhill(field, row, column)

    return plan


def texts() -> list[Case]:
    """The rows of what agents read."""
    world = make("cube-v1", n=256)
    assert isinstance(world, World)
    states = [world.rules.reset(seed) for seed in range(200)]
    turn = iter(range(10**9))

    def read() -> None:
        state = states[next(turn) % len(states)]
        for agent in range(256):
            world.text.describe(state, agent, 6000)

    return [Case("all texts of CUBE n=256", "", "ms", 1, read, 20, 5, 1e3)]


# --- memory, other processes ---------------------------------------------------------------------


def memory() -> list[Row]:
    """Bytes of a world's arrays, and what a step leaves behind."""
    found = []
    for n, must, aim in ((8, 4, 2), (256, 256, 150)):
        state = CubeRules(CubeConfig(n=n)).reset(0)
        size = sum(array.nbytes for array in state) / 1000
        found.append(counted(f"memory of a CUBE world, n={n}", size, "kB", must, aim))
    env = vector_env("cube-v1", 1, max_steps=LONG, n=32)
    env.reset(seed=0)
    actions = random_actions(200, 1, 32)
    for step in actions:
        env.step(step)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for step in actions:
        env.step(step)
    left = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return [*found, counted("CUBE memory growth per step", left / len(actions), "bytes", 8.0)]


START = """
import time
begin = time.perf_counter()
from worlds.registry import make
import numpy as np
world = make("cube-v1")
state = world.rules.reset(0)
world.rules.step(state, np.zeros((1, 3), np.int32))
print(time.process_time())
"""
API_TEST = """
import time
from pettingzoo.test import parallel_api_test
from worlds.parallel import parallel_env
parallel_api_test(parallel_env("cube-v1", n=256), 10)
begin = time.process_time()
parallel_api_test(parallel_env("cube-v1", n=256), 100)
print(time.process_time() - begin)
"""


def start_up() -> list[Row]:
    """CPU time of a process to its first step, and of PettingZoo's test in a process of its own."""
    return [
        counted("start-up to the first step, warm", run(START), "s CPU", 1.0, 0.7),
        counted("start-up to the first step, cold cache", run_cold(START), "s CPU", 15.0, 8.0),
        counted("parallel_api_test, 256 agents, 100 cycles", run(API_TEST), "s CPU", 0.3, 0.2),
    ]


def run(script: str) -> float:
    """The number a script prints last, the median of three processes."""
    return sorted(float(_printed(script, os.environ)) for _ in range(3))[1]


def run_cold(script: str) -> float:
    """As `run`, once, with nothing compiled yet."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        return float(_printed(script, environment))


def _printed(script: str, environment: Mapping[str, str]) -> str:
    """The last word that a script prints."""
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def main(words: Sequence[str]) -> None:
    """Print the rows."""
    show(rows("--quick" in words))


if __name__ == "__main__":
    main(sys.argv[1:])
