"""A sweep that is killed at random moments and started again ends with the same bytes.

`python -m benchmarks.sweep_kills [--runs 60] [--kills 6] [--seed 0] [--backends NAMES]` plays a
sweep undisturbed, then on each back end kills the real `cooplab sweep` process with signal 9, time
after time, until it is let finish. It exits with 1, and says what differs, unless events and
summaries are equal byte for byte and no finished run was played again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

BACKENDS = ("serial", "processes", "ray")
TOPOLOGIES, PLANNERS = ("individual", "centralized", "chain"), ("scripted", "greedy")
STEPS = 60
AT_PLAY, AT_START = 2.0, 2.0
"""Seconds within which a kill comes: after a run began; for one in four, after the command did."""
STARTS = 200
MANIFEST = "manifest.jsonl"
COMPARED = ("events.jsonl", "summary.json")
SWEEP = """name = "kills"
seeds = "0-{last}"
[base]
world = "cube-v1:quorum"
"budget.steps" = {steps}
[axes]
topology = {topologies}
planner = {planners}
"""


def sweep_file(folder: Path, runs: int) -> Path:
    """A sweep of `runs` short CUBE runs, a multiple of six."""
    each = len(TOPOLOGIES) * len(PLANNERS)
    path = folder / "kills.toml"
    text = SWEEP.format(
        last=runs // each - 1,
        steps=STEPS,
        topologies=json.dumps(TOPOLOGIES),
        planners=json.dumps(PLANNERS),
    )
    path.write_text(text)
    return path


def start(path: Path, out: Path, backend: str) -> subprocess.Popen[bytes]:
    """The command, two workers, in a process group of its own."""
    words = ["sweep", str(path), "--out", str(out), "--backend", backend, "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "lab.cli", *words, "--quiet"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def contents(out: Path) -> dict[str, bytes]:
    """Events and summary of every run."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for name in COMPARED
        for path in sorted(out.glob(f"*/{name}"))
    }


def written(out: Path) -> dict[str, int]:
    """When the files of every finished run were written, in ns."""
    finished = [path.parent for path in out.glob("*/summary.json")]
    return {
        f"{folder.name}/{name}": (folder / name).stat().st_mtime_ns
        for folder in finished
        if json.loads((folder / "summary.json").read_bytes())["is_finished"]
        for name in COMPARED
    }


def is_alive_at_a_random_moment(
    process: subprocess.Popen[bytes], out: Path, chance: random.Random
) -> bool:
    """Wait for a random moment; whether the process is still there then."""
    manifest, is_early = out / MANIFEST, chance.random() < 0.25
    size = manifest.stat().st_size if manifest.exists() else 0
    while not is_early and process.poll() is None:
        if manifest.exists() and manifest.stat().st_size > size:
            break
        time.sleep(0.01)
    time.sleep(chance.uniform(0, AT_START if is_early else AT_PLAY))
    return process.poll() is None


def torment(
    path: Path, out: Path, backend: str, kills: int, chance: random.Random
) -> Iterator[str]:
    """Start, kill, start again until the sweep is through; whatever went wrong."""
    done: list[int] = []
    for _ in range(STARTS):
        before = written(out)
        process = start(path, out, backend)
        if len(done) < kills and is_alive_at_a_random_moment(process, out, chance):
            os.kill(process.pid, signal.SIGKILL)
            done.append(len(written(out)) // len(COMPARED))
        code = process.wait()
        after = written(out)
        yield from (f"{name} was written again" for name in before if after[name] != before[name])
        if code != -signal.SIGKILL:
            break
    if code:
        yield f"the last start ended with exit code {code}"
    lines = [json.loads(line) for line in (out / MANIFEST).read_bytes().splitlines()]
    finished = Counter(line["run_key"] for line in lines if line["status"] == "finished")
    yield from (f"{key} finished {count} times" for key, count in finished.items() if count != 1)
    yield from (f"{line['run_key']}: {line['error']}" for line in lines if line["error"])
    starts = sum(line["status"] == "running" for line in lines)
    print(
        f"{backend}: killed with {', '.join(map(str, done))} runs finished; in the end "
        f"{len(finished)}, {starts} starts of runs",
        flush=True,
    )


def compared(expected: dict[str, bytes], found: dict[str, bytes]) -> Iterator[str]:
    """What differs between two sweeps."""
    for name in sorted({*expected, *found}):
        if expected.get(name) != found.get(name):
            yield f"{name} differs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, kill, compare; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_kills")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", default=",".join(BACKENDS))
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    failures = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = sweep_file(folder, options.runs)
        start(path, folder / "whole", "serial").wait()
        whole = contents(folder / "whole")
        if len(whole) != len(COMPARED) * options.runs:
            failures.append(f"{len(whole)} files where {len(COMPARED) * options.runs} belong")
        for backend in options.backends.split(","):
            began, out = time.perf_counter(), folder / backend
            found = [*torment(path, out, backend, options.kills, chance)]
            found += compared(whole, contents(out))
            failures += [f"{backend}: {problem}" for problem in found]
            print(f"{backend}: {time.perf_counter() - began:.0f} s", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    print("the same bytes everywhere" if not failures else f"{len(failures)} differences")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
