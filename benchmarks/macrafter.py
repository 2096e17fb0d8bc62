"""Speed, memory and scale of MA-Crafter, beside crafter 1.8.3 in the same rounds.

`python -m benchmarks.macrafter [--quick]` prints a row a line. Levels: D the PettingZoo call, A
arrays, one compiled call a step. Random policy; fresh episodes of up to 190 steps. Rows
of rates have crafter's env-steps/s (no pictures drawn) as baseline, where it is installed.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.macrafter_unrecorded import measure
from benchmarks.timing import ROUNDS, Row, baseline_us, show
from worlds.errors import IllegalAction
from worlds.macrafter.config import configure
from worlds.macrafter.port import build
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.table import load_table
from worlds.parallel import parallel_env

ACTIONS = 17
"""Without `share`."""
MILLION = 1e6
EPISODE = 190
GROWTH = (32, 100, 256, 1000)
FLAT = 1.5
BATCH = 256
SURVIVAL_MUST, SURVIVAL_AIM = 2.0, 1.25
RECORDS_MUST, RECORDS_AIM = 1.3, 1.1
HOME = Path(__file__).resolve().parents[1]
CRAFTER_STEPS = 300
SECONDS, QUICK_SECONDS = 0.06, 0.02
"""CPU time of a case in a round."""
FIRST_STEP = """
import time
began = time.process_time()
from worlds.parallel import parallel_env
env = parallel_env("macrafter-v1", "paper")
env.reset(seed=0)
env.step(dict.fromkeys(env.agents, 0))
print(time.process_time() - began)
"""


class Case(NamedTuple):
    """Steps of an episode: `start` makes it, and gives what plays it and counts agent-steps."""

    name: str
    level: str
    start: Callable[[int], Callable[[], int]]
    must: float | None = None
    aim: float | None = None


def rows(is_quick: bool = False, agents: Iterable[int] = ()) -> list[Row]:
    """All rows; the quick half leaves out the largest worlds and cold starts."""
    found = rates(cases(tuple(agents), is_quick), QUICK_SECONDS if is_quick else SECONDS)
    found += [*resets(is_quick), clone(), weight(), memory_growth()]
    if not is_quick:
        found += [*records(), *start_up(), api_test()]
    return found


# --- rates ---------------------------------------------------------------------------------------


def cases(agents: tuple[int, ...], is_quick: bool) -> list[Case]:
    """Everything that plays."""
    bars = {
        3: ((0.25, 0.45), (0.4, 0.8)),
        100: ((1.2, 2.4), (3.0, 6.0)),
        1000: ((1.2, 2.4), (3.0, 6.0)),
    }
    sizes = agents or ((3, 100) if is_quick else tuple(bars))
    found = []
    for size in sizes:
        dicts, arrays = bars.get(size, ((None, None), (None, None)))
        steps = EPISODE if size < 1000 else EPISODE // 4
        found += [
            Case(f"{size} agents", "D", zoo("paper", size, steps), *dicts),
            Case(f"{size} agents", "A", batch("paper", size, 1, steps), *arrays),
        ]
    for size in (3, 100) if not agents else ():
        found.append(Case(f"{size} agents, survival", "A", batch("survival", size, 1, EPISODE)))
    if not agents:
        found.append(
            Case(f"{BATCH} worlds x 3 agents", "A", batch("paper", 3, BATCH, 20), 1.0, 1.8)
        )
    if not agents and not is_quick:
        found += [
            Case(f"{size} agents, growth", "A", batch("paper", size, 1, 60)) for size in GROWTH
        ]
    return found


def zoo(preset: str, agents: int, steps: int) -> Callable[[int], Callable[[], int]]:
    """Episodes at level D."""
    env = parallel_env("macrafter-v1", preset, agents=agents, area="auto")
    actions = np.random.default_rng(0).integers(0, ACTIONS, (steps, agents))
    lines = actions.tolist()

    def start(seed: int) -> Callable[[], int]:
        env.reset(seed=seed)

        def play() -> int:
            count = 0
            for line in lines:
                if not env.agents:
                    break
                count += len(env.agents)
                env.step(dict(zip(env.agents, line, strict=False)))
            return count

        return play

    return start


def batch(preset: str, agents: int, worlds: int, steps: int) -> Callable[[int], Callable[[], int]]:
    """Episodes at level A: step and observations of all agents in one call."""
    port = build(preset, agents=agents, area="auto")
    actions = np.random.default_rng(0).integers(0, ACTIONS, (steps, worlds, agents, 1))
    actions = actions.astype(np.int32)

    def start(seed: int) -> Callable[[], int]:
        state = port.rules.reset(seed * worlds, worlds)

        def play() -> int:
            for count, sent in enumerate(actions):
                try:
                    port.play(state, sent)
                except IllegalAction:  # all are dead
                    return count * worlds * agents
            return len(actions) * worlds * agents

        return play

    return start


def crafter() -> Callable[[int], Callable[[], int]] | None:
    """Episodes of crafter without pictures, or None where it is not installed."""
    if find_spec("crafter") is None:
        return None
    import crafter as peer

    # Crafter has no types.
    class Blind(peer.Env):  # type: ignore[misc]
        def render(self, size: Any = None) -> None:
            return None

    env = Blind(seed=0)
    actions = np.random.default_rng(0).integers(0, ACTIONS, CRAFTER_STEPS).tolist()

    def start(seed: int) -> Callable[[], int]:
        env.reset()

        def play() -> int:
            for count, action in enumerate(actions, start=1):
                if env.step(action)[2]:
                    return count
            return len(actions)

        return play

    return start


def rates(played: list[Case], least: float) -> list[Row]:
    """A row a case, in millions of agent-steps/s; crafter plays in every round."""
    peer = crafter()
    for case in played:
        case.start(0)()
    figures: dict[Case, list[float]] = {case: [] for case in played}
    peers: list[float] = []
    for turn in range(ROUNDS):
        if peer is not None:
            peers.append(_rate(peer, turn, least))
        for case in played:
            figures[case].append(_rate(case.start, turn, least))
    base = statistics.median(peers) if peers else baseline_us()
    found = {case: statistics.median(rate) for case, rate in figures.items()}
    rows = [
        Row(
            f"MA-Crafter {case.name} ({case.level})",
            rate / MILLION,
            "M agent-steps/s",
            base,
            rate / base,
            case.must,
            case.aim,
        )
        for case, rate in found.items()
    ]
    return [*rows, *_ratios(found, base)]


def _rate(start: Callable[[int], Callable[[], int]], turn: int, least: float) -> float:
    """Agent-steps per CPU second, over as many episodes as fill `least` seconds."""
    gc.collect()
    count, spent, seed = 0, 0.0, 1000 * turn
    while spent < least:
        play = start(seed)
        began = time.process_time()
        count += play()
        spent += time.process_time() - began
        seed += 1
    return count / spent


def _ratios(found: dict[Case, float], base: float) -> list[Row]:
    """What is a bar on two rates: survival against paper, and the growth with the team."""
    rate_of = {case.name: rate for case, rate in found.items() if case.level == "A"}
    rows = []
    for size in (3, 100):
        if f"{size} agents, survival" in rate_of:
            ratio = rate_of[f"{size} agents"] / rate_of[f"{size} agents, survival"]
            name = f"MA-Crafter time, survival / paper, {size} agents"
            rows.append(Row(name, ratio, "x", base, ratio, SURVIVAL_MUST, SURVIVAL_AIM))
    rates_by_size = [rate_of.get(f"{size} agents, growth", 0.0) for size in GROWTH]
    if all(rates_by_size):
        growth = max(small / large for small, large in combinations(rates_by_size, 2))
        name = f"MA-Crafter time per agent-step, most growth, {GROWTH[0]} .. {GROWTH[-1]} agents"
        rows.append(Row(name, growth, "x", base, growth, FLAT))
    return rows


# --- times and memory ----------------------------------------------------------------------------


def _rules(preset: str = "paper", **changes: Any) -> MacrafterRules:
    config = configure(preset, **changes)
    return MacrafterRules(config, load_table(config))


def _timed(name: str, unit: str, scale: float, call: Callable[[int], object], turns: int,
           must: float, aim: float) -> Row:  # fmt: skip
    """Median CPU time of a call, over rounds of `turns` calls with numbers that go on."""
    call(0)
    times, bases = [], []
    for turn in range(ROUNDS):
        bases.append(baseline_us())
        began = time.process_time()
        for number in range(turns):
            call(turn * turns + number)
        times.append((time.process_time() - began) / turns)
    seconds, base = statistics.median(times), statistics.median(bases)
    return Row(f"MA-Crafter {name}", seconds * scale, unit, base, seconds * 1e6 / base, must, aim)


def resets(is_quick: bool) -> list[Row]:
    """Start states, the check that they are solvable included."""
    small, large = _rules(), _rules(area=(256, 256))
    found = [_timed("reset 64x64", "ms", 1e3, small.reset, 5 if is_quick else 20, 5, 1.5)]
    if not is_quick:
        found.append(_timed("reset 256x256", "ms", 1e3, large.reset, 3, 80, 25))
    return found


def clone() -> Row:
    """A copy of a world, as prediction makes it."""
    rules = _rules()
    state = rules.reset(0)
    return _timed(
        "clone of a 64x64 world, 3 agents", "us", 1e6, lambda _: rules.clone(state), 500, 60, 15
    )


def weight() -> Row:
    """Bytes of a state."""
    size = sum(array.nbytes for array in _rules().reset(0)) / 1000
    return Row(
        "MA-Crafter memory per world 64x64, 3 agents", size, "kB", baseline_us(), size, 64, 32
    )


def memory_growth() -> Row:
    """Bytes a step leaves behind when nothing is recorded."""
    rules = _rules(max_steps=10_000, vitals=False)
    state, actions = rules.reset(0), np.full((1, 3), 5, np.int32)
    for _ in range(50):
        rules.step(state, actions)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(2000):
        rules.step(state, actions)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    grown = max(0, after - before) // 2000
    return Row("MA-Crafter memory growth per step", grown, "bytes", baseline_us(), grown, 0, 0)


def records() -> list[Row]:
    """Time of a step with attempt rows and constraint facts, over one without.

    The records are part of the contract and cannot be switched off. So a second process, with a
    cache of its own, runs the same games with kernels that write none, in turn with this one; its
    worlds must come out the same.
    """
    found = []
    with TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "benchmarks.macrafter_unrecorded"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        with subprocess.Popen(command, cwd=HOME, env=environment, **pipes) as lean:
            assert lean.stdin is not None and lean.stdout is not None
            for agents in (3, 100):
                ratios, bases = [], []
                for seed in range(2 * ROUNDS + 1):
                    print(agents, seed, EPISODE, file=lean.stdin, flush=True)
                    without, digest = lean.stdout.readline().split()
                    recorded, same = measure(agents, seed, EPISODE)
                    if digest != same:
                        raise RuntimeError("a world without records is another world")
                    if seed > 0:  # the first compiles
                        bases.append(baseline_us())
                        ratios.append(recorded / float(without))
                ratio = statistics.median(ratios)
                name = f"MA-Crafter time, attempt records on / off, {agents} agents (A)"
                base = statistics.median(bases)
                found.append(Row(name, ratio, "x", base, ratio, RECORDS_MUST, RECORDS_AIM))
            lean.stdin.close()
    return found


def start_up() -> list[Row]:
    """From a fresh process to the first step, in CPU seconds: warm, then with an empty cache."""
    base = baseline_us()
    warm = statistics.median(_process_seconds({}) for _ in range(3))
    with TemporaryDirectory() as empty:
        cold = _process_seconds({"NUMBA_CACHE_DIR": empty})
    return [
        Row(f"MA-Crafter start-up, {name} cache", seconds, "s", base, seconds * 1e6 / base, *bars)
        for name, seconds, bars in (("warm", warm, (1.0, 0.7)), ("cold", cold, (15.0, 8.0)))
    ]


def _process_seconds(environment: dict[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP],
        cwd=HOME,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def api_test() -> Row:
    """PettingZoo's own test of an environment of 256 agents."""
    from pettingzoo.test import parallel_api_test

    env = parallel_env("macrafter-v1", "paper", agents=256, area="auto")

    def call(turn: int) -> None:
        with redirect_stdout(StringIO()):
            parallel_api_test(env, num_cycles=100)

    return _timed("parallel_api_test, 256 agents, 100 cycles", "s", 1.0, call, 1, 0.3, 0.2)


if __name__ == "__main__":
    show(rows("--quick" in sys.argv))
