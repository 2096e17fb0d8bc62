"""What the episode loop costs beside its world and its planners: stub world, planners that say the
same thing at once, events written to disk.

CPU time, medians of interleaved rounds; the baseline is a fixed pure-Python loop of the same run.
`python -m benchmarks.loop` prints a row a line.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "cognitive"))

from stub_world import stub_world

from benchmarks.timing import Row, baseline_us, interleaved, require_whole, show
from cognitive.budget import Limits
from cognitive.clients.base import Request
from cognitive.clients.fake import FakeServer
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.stack import open_client
from cognitive.desk import Stop
from cognitive.events import encode
from cognitive.loop import NoGate, run
from cognitive.loop import play as play_episode
from cognitive.planners.llm import LlmPlanner
from cognitive.prompts.build import MAX_PROMPT, PromptBuilder
from cognitive.protocols import Answer, Latency, Question, Usage
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.api import World
from worlds.registry import make

GROUP = 256
STEPS = 10
EPISODES = {3: 60, 32: 31, 256: 4, 1000: 1}
"""Runs a figure is taken from: of the same length, and of about as many agent-steps, for all."""
PLAN_STEPS_MUST = {3: 250, 32: 150, 256: 150, 1000: 150}
MID_PLAN_MUST = {3: 120, 32: 25, 256: 20, 1000: 20}
ROUND_MUST = {
    ("centralized", 3): 5, ("centralized", 32): 30, ("centralized", 256): 400,
    ("centralized", 1000): 2000, ("hierarchy", 256): 300, ("hierarchy", 1000): 1500,
    ("all_to_all", 256): 1500,
}  # fmt: skip
CALL_S = 0.2
PLACES = (8, 16, 32, 64)
HTTP_PLACES = (8, 16)


class NullPlanner:
    """Says the same at once, or after `seconds` in one of `places`."""

    name = "null"
    latency = Latency()

    def __init__(self, work: int, seconds: float = 0.0, places: int = 1000) -> None:
        self._plan = {"task": "none", "actions": [{"verb": "work", "k": work}]}
        self._seconds = seconds
        self._places = asyncio.Semaphore(places)

    async def answer(self, question: Question) -> Answer:
        """The reply of its kind."""
        if self._seconds:
            async with self._places:
                await asyncio.sleep(self._seconds)
        return Answer(self._reply(question), None, Usage(), 0)

    async def close(self) -> None:
        """Nothing is open."""

    def _reply(self, question: Question) -> Mapping[str, Any]:
        workers = question.ask.context.get("workers", [])
        groups = [workers[i : i + GROUP] for i in range(0, len(workers), GROUP)]
        replies: dict[str, Mapping[str, Any]] = {
            "plan": self._plan,
            "interrupt": {"choice": "resume"},
            "acknowledge": {"answer": "accept"},
            "statement": {"text": "I work.", "task": "none", "partners": 0},
            "directive": {
                "own": "replan",
                "assignments": [{"agents": g, "task": "none", "role": "free"} for g in groups],
            },
        }
        return replies[question.ask.kind]


class DiskSink:
    """Writes each event at once; notes CPU time and events so far at every frame."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.marks: list[tuple[float, int]] = []
        self._events = 0

    def event(self, line: Any) -> None:
        """Write it."""
        os.write(self._file, encode(line))
        self._events += 1

    def frame(self, step: int, layers: Mapping[str, Any]) -> None:
        """Note the time."""
        self.marks.append((time.process_time(), self._events))

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def play(
    agents: int,
    topology: str,
    planner: NullPlanner,
    steps: int,
    folder: Path,
    stop: Stop | None = None,
    **options: Any,
) -> list[tuple[float, int]]:
    """(CPU seconds, events) before the first and after every step."""
    sink = DiskSink(folder / "events.jsonl")
    ending = run(
        stub_world(agents),
        EpisodeSettings(limits=Limits(steps=steps)),
        make_topology(topology, agents, **options),
        lambda ask: planner,
        NoGate(),
        sink,
        stop=stop,
    )
    sink.close()
    require_whole(ending, "stopped")
    return sink.marks


def per_agent_step(agents: int, folder: Path) -> float:
    """CPU microseconds per agent-step, plans of 5 steps."""
    spent = 0.0
    for _ in range(EPISODES[agents]):
        marks = play(agents, "individual", NullPlanner(5), STEPS, folder)
        spent += marks[-1][0] - marks[0][0]
    return spent / EPISODES[agents] / STEPS / agents * 1e6


def mid_plan(agents: int, folder: Path) -> float:
    """The same over the steps that write nothing but the step."""
    marks = play(agents, "individual", NullPlanner(99), 5 * STEPS, folder)
    times = [b[0] - a[0] for a, b in pairwise(marks) if b[1] - a[1] == 1]
    return statistics.median(times) / agents * 1e6


def full_round(topology: str, agents: int, folder: Path) -> float:
    """CPU milliseconds of the first round, with the step after it."""
    marks = play(agents, topology, NullPlanner(1), 1, folder)
    return (marks[1][0] - marks[0][0]) * 1e3


def talk_memory_mb(folder: Path) -> float:
    """Growth of the process at its peak: 256 agents, 200 steps, all-to-all talk."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    play(256, "all_to_all", NullPlanner(20), 200, folder)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def slow_phase(places: int, folder: Path) -> float:
    """Wall seconds of a phase of 256 calls of 200 ms over what the places allow at best."""
    began = time.perf_counter()
    play(256, "individual", NullPlanner(1, CALL_S, places), 1, folder)
    return (time.perf_counter() - began) / (-(-256 // places) * CALL_S)


class AtTheBound(LlmPlanner):
    """Asks a model, every prompt as long as a prompt may be."""

    def request(self, question: Question) -> Request:
        """The request, filled up."""
        request = super().request(question)
        room = MAX_PROMPT - sum(len(message["content"]) for message in request.messages)
        return request._replace(
            messages=(*request.messages, {"role": "user", "content": "x" * room})
        )


class PhaseClock(DiskSink):
    """A sink that notes how long phases took, in wall seconds."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.phase_s = 0.0

    def event(self, line: Any) -> None:
        """Write it."""
        super().event(line)
        if line["e"] == "phase_started":
            self.phase_s -= time.perf_counter()
        elif line["e"] == "phase_ended":
            self.phase_s += time.perf_counter()


async def _http_phase_s(places: int, manner: str, folder: Path) -> float:
    """Wall seconds of a phase in which 256 agents of CUBE ask the loopback endpoint, recorded."""
    world = make("cube-v1", n=256)
    assert isinstance(world, World)
    sink = PhaseClock(folder / "events.jsonl")
    async with FakeServer(otherwise=manner) as server:
        profile = EndpointProfile("m", base_url=server.base_url, concurrency=places)
        with (folder / "cassette.jsonl").open("wb") as cassette:
            client = open_client(
                profile, None, "record", write_reply=lambda line: cassette.write(encode(line))
            )
            planner = AtTheBound(client, profile, PromptBuilder(world.text.manual()))
            ending = await play_episode(
                world, EpisodeSettings(limits=Limits(steps=1)), make_topology("individual", 256),
                lambda ask: planner, NoGate(), sink,
            )  # fmt: skip
            await client.close()
    sink.close()
    require_whole(ending)
    return sink.phase_s


def http_phase(places: int, folder: Path) -> float:
    """Wall seconds of a phase of 256 calls of 200 ms over HTTP over what the places allow at best.

    Service, client and loop share one core. Once warm.
    """
    asyncio.run(_http_phase_s(64, "ok", folder))
    took = asyncio.run(_http_phase_s(places, f"slow:{CALL_S * 1000:.0f}", folder))
    return took / (-(-256 // places) * CALL_S)


class Stopping(NullPlanner):
    """Asks for the end once all are asked."""

    def __init__(self, stop: Stop, count: int) -> None:
        super().__init__(1, 60.0)
        self._stop = stop
        self._left = count
        self.stopped_at = 0.0

    async def answer(self, question: Question) -> Answer:
        """Never comes back."""
        self._left -= 1
        if not self._left:
            self.stopped_at = time.perf_counter()
            self._stop()
        return await super().answer(question)


def cancel_s(folder: Path) -> float:
    """Wall seconds from a stop with 64 calls in flight to `run_ended` on disk."""
    stop = Stop()
    planner = Stopping(stop, 64)
    play(64, "individual", planner, 1, folder, stop)
    return time.perf_counter() - planner.stopped_at


def rows(is_quick: bool = False) -> list[Row]:
    """All rows; the quick half leaves out what takes long."""
    with TemporaryDirectory() as name:
        return _rows(Path(name), is_quick)


def _rows(folder: Path, is_quick: bool) -> list[Row]:
    sizes = (3, 32) if is_quick else tuple(EPISODES)
    measures: dict[str, Callable[[], float]] = {}
    bars: dict[str, tuple[str, float]] = {}
    for n in sizes:
        name = f"loop, plans of 5 steps, {n} agents"
        measures[name] = partial(per_agent_step, n, folder)
        bars[name] = ("us/agent-step", PLAN_STEPS_MUST[n])
        name = f"loop, mid-plan, {n} agents"
        measures[name] = partial(mid_plan, n, folder)
        bars[name] = ("us/agent-step", MID_PLAN_MUST[n])
    for (topology, n), must in ROUND_MUST.items():
        if is_quick and n > 256:
            continue
        name = f"full round, {topology}, {n} agents"
        measures[name] = partial(full_round, topology, n, folder)
        bars[name] = ("ms", must)
    per_agent_step(3, folder)
    memory = 0.0 if is_quick else talk_memory_mb(folder)
    found = interleaved(measures)
    table = [
        Row(name, figure, bars[name][0], base, figure / base, bars[name][1])
        for name, (figure, base) in found.items()
    ]
    if not is_quick:
        table += _growth(found) + _single(folder, memory)
    return table


def _growth(found: Mapping[str, tuple[float, float]]) -> list[Row]:
    small, large = (found[f"loop, plans of 5 steps, {n} agents"][0] for n in (32, 1000))
    return [Row("loop, 1000 against 32 agents", large / small, "x", small, large / small, 1.5)]


def _single(folder: Path, memory: float) -> list[Row]:
    """Figures that are taken once; memory was, while the process was still small."""
    found = [("256 agents, 200 steps of talk, memory", memory, "MB", 300.0)]
    found += [
        (f"256 calls of 0.2 s, {places} at a time", slow_phase(places, folder), "x", 1.5)
        for places in PLACES
    ]
    found += [
        (f"256 calls of 0.2 s over HTTP, {places} at a time", http_phase(places, folder), "x", 1.5)
        for places in HTTP_PLACES
    ]
    found.append(("stop with 64 calls in flight", cancel_s(folder), "s", 3.0))
    base = baseline_us()
    return [
        Row(name, figure, unit, base, figure / base, must) for name, figure, unit, must in found
    ]


if __name__ == "__main__":
    show(rows("--quick" in sys.argv))
