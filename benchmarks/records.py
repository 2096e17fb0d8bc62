"""What recording, summaries, tables and starting up cost.

`python -m benchmarks.records` prints a row a line. Commands are timed as processes of their own, by
their CPU time, with the byte code of their modules in place.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.timing import Row, baseline_us, interleaved, show
from lab import config as configs
from lab.records import canonical
from lab.run import execute, write_summary
from lab.runs import load
from lab.sinks import Recorder

STEPS = 200
MANY_AGENTS_STEPS = 20
"""A tenth of an episode: playing it takes longer than summing it up. Its bar is a tenth, too."""
RUNS = 1000
SHARES = 9
"""Runs whose median is the share of recording; one alone is too short to tell."""
FIRST_STEP = """
import os, sys, time
from lab import cli, sinks

plain = sinks.Recorder.event

def event(recorder, line):
    plain(recorder, line)
    if line["e"] == "step":
        print(time.process_time(), flush=True)
        os._exit(0)

sinks.Recorder.event = event
cli.app(["run", "--set", "budget.steps=1", "--out", sys.argv[1], "--quiet"])
"""


def episode(folder: Path, agents: int = 3, **more: Any) -> float:
    """CPU seconds of a recorded run."""
    preset = "quorum" if agents == 3 else "chain"
    world = {"id": "cube-v1", "preset": preset, **({} if agents == 3 else {"n": agents})}
    raw = {
        "world": world,
        "topology": "individual",
        "budget": {"steps": STEPS if agents == 3 else MANY_AGENTS_STEPS},
        **more,
    }
    shutil.rmtree(folder, ignore_errors=True)
    began = time.process_time()
    execute(canonical(configs.resolve(raw)), folder)
    return time.process_time() - began


def summary_s(folder: Path) -> float:
    """CPU seconds to compute a summary from the events."""
    began = time.process_time()
    write_summary(folder)
    return time.process_time() - began


def copies(folder: Path, run: Path, count: int) -> None:
    """Run folders that differ in their seed, with nothing but what tables read."""
    config = json.loads((run / "config.json").read_text())
    summary = json.loads((run / "summary.json").read_text())
    for seed in range(count):
        target = folder / f"r{seed}"
        target.mkdir(parents=True)
        key = f"{summary['cell']}_s{seed}"
        (target / "config.json").write_text(canonical({**config, "seed": seed}))
        (target / "summary.json").write_text(canonical({**summary, "seed": seed, "run_key": key}))
        shutil.copy(run / "events.jsonl", target / "events.jsonl")


def table_s(folder: Path) -> float:
    """CPU seconds to load the runs below a folder into one frame."""
    began = time.process_time()
    load([folder])
    return time.process_time() - began


def command_s(cache: Path, *words: str) -> float:
    """CPU seconds of a command; cache: folder that keeps its byte code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(cache, *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def first_step_s(cache: Path) -> float:
    """CPU seconds of `cooplab run` from the start of its process to the end of the first step."""
    return float(_python(cache, "-c", FIRST_STEP, str(cache / f"run-{time.time_ns()}")))


def _python(cache: Path, *words: str) -> str:
    kept = {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}
    env = {**kept, "PYTHONPYCACHEPREFIX": str(cache)}
    done = subprocess.run(
        [sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True, env=env
    )
    return done.stdout


def rows(is_quick: bool = False) -> list[Row]:
    """All rows; quick leaves out 256 agents and the thousand runs."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small"
        episode(small)
        cache = folder / "byte-code"
        command_s(cache, "-m", "lab.cli", "--help")
        first_step_s(cache)
        measures = {
            "summary, 3 agents x 200 steps": (lambda: summary_s(small), "s", 0.2, None),
            "cooplab --help": (
                lambda: command_s(cache, "-m", "lab.cli", "--help"),
                "s CPU",
                0.4,
                0.2,
            ),
            "cooplab run to the first step, warm": (lambda: first_step_s(cache), "s CPU", 1.0, 0.7),
        }
        if not is_quick:
            large, many = folder / "large", folder / "many"
            episode(large, 256, planner="random")
            copies(many, small, RUNS)
            measures["summary, 256 agents x 20 steps"] = (lambda: summary_s(large), "s", 0.3, None)
            measures["table over 1,000 runs"] = (lambda: table_s(many), "s", 5.0, None)
        found = interleaved({name: entry[0] for name, entry in measures.items()})
        table = [
            Row(name, figure, measures[name][1], base, figure * 1e6 / base, *measures[name][2:])
            for name, (figure, base) in found.items()
        ]
        return [*table, recording_share(folder)]


def recording_share(folder: Path) -> Row:
    """Share of a run's CPU time that goes into writing events and frames."""
    team: dict[str, Any] = {"planner": "scripted", "topology": "centralized"}
    episode(folder / "share", **team)
    shares = [_share_of_one(folder / "share", team) for _ in range(SHARES)]
    share = statistics.median(shares)
    return Row("writing events and frames, of the run", share, "%", baseline_us(), share, 15.0)


def _share_of_one(folder: Path, team: dict[str, Any]) -> float:
    """Percent of one run."""
    spent = 0.0

    def timed(plain: Callable[..., None]) -> Callable[..., None]:
        def call(*args: Any) -> None:
            nonlocal spent
            began = time.process_time()
            plain(*args)
            spent += time.process_time() - began

        return call

    plain = {name: vars(Recorder)[name] for name in ("event", "frame")}
    for name, method in plain.items():
        setattr(Recorder, name, timed(method))
    try:
        whole = episode(folder, **team)
    finally:
        for name, method in plain.items():
            setattr(Recorder, name, method)
    return 100 * spent / whole


if __name__ == "__main__":
    show(rows())
