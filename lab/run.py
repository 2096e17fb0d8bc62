"""Playing, recording and resuming one run."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from cognitive.clients.recorded import stop_mark
from cognitive.clock import Recall, recall_of
from cognitive.desk import Stop as LoopStop
from cognitive.errors import CooplabError, RecordError
from cognitive.events import read_events, stream_events
from cognitive.loop import Ending, play
from cognitive.protocols import Sink
from lab import config as configs
from lab import metrics, records, sinks
from lab.columns import measure
from lab.endpoints import Guard
from lab.serving import local_model
from lab.stopping import Stop
from lab.trace import Trace
from lab.wiring import Parts, Replies, Stopwatch, wire
from worlds.api import Json

MODELS = ("llm", "human")
LIBRARIES = ("cooplab", "numpy", "numba", "pydantic", "scipy", "openai")
KEPT = frozenset({records.CONFIG, records.CASSETTE, records.LOCK})
"""What may lie in the folder of a new run."""
Report = Callable[[int, int, int], None]


class Orders(NamedTuple):
    """What is asked of a run besides its config.

    manner: `new`; `resume` (what is recorded must come out again, then it goes on); `again` (from
    the start, recorded replies are used). replies: where answers of models come from. Limits: of
    this session, 0 means none; a run that meets one ends `stopped`. concurrency: most calls in
    flight, 0: as set. patience: seconds to wait for whoever writes the folder now.
    """

    manner: str = "new"
    replies: str = "record"
    max_calls: int = 0
    max_tokens: int = 0
    max_money: int = 0
    concurrency: int = 0
    patience: float = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether this session has a limit of its own."""
        return bool(self.max_calls or self.max_tokens or self.max_money)


class Outcome(NamedTuple):
    """How a run ended: finished, stopped or failed; `spent` is calls, tokens and money in all."""

    status: str
    ended_by: str | None
    error: str | None = None
    spent: tuple[int, int, int] | None = None


@dataclass
class Company:
    """Who else takes part: a stop, a listener to what is spent, more sinks, who shows prompts to a
    person and reads its lines (None: standard input)."""

    stop: Stop = field(default_factory=Stop)
    report: Report | None = None
    sinks: Callable[[Parts], Sequence[Sink]] = lambda parts: ()
    show: Callable[[str], None] = lambda text: None
    read: Callable[[], Awaitable[str]] | None = None


def execute(
    config_json: str, folder: Path, orders: Orders | None = None, company: Company | None = None
) -> Outcome:
    """As `perform`, where no event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(perform(config_json, folder, orders, company))
    raise CooplabError("an event loop is running here: await lab.run.perform(...) instead")


async def perform(
    config_json: str, folder: Path, orders: Orders | None = None, company: Company | None = None
) -> Outcome:
    """Play the run of a canonical config into `folder`, record it and sum it up.

    Raises ConfigError and RecordError before anything is changed: the folder is in use, holds
    another config, or what it holds does not come out again.
    """
    orders, company = orders or Orders(), company or Company()
    config = json.loads(config_json)
    folder.mkdir(parents=True, exist_ok=True)
    asked = () if orders.replies == "replay" else config["planner"]
    with records.RunLock(folder, orders.patience) as lock:
        if orders.manner == "resume" and is_finished_as(folder, config):
            return outcome_of(folder)
        with local_model(asked):
            return await _Session(config, folder, orders, company, lock).play()


class _Session:
    """One sitting of a run: from opening its folder to its summary."""

    def __init__(
        self,
        config: Mapping[str, Any],
        folder: Path,
        orders: Orders,
        company: Company,
        lock: records.RunLock,
    ) -> None:
        self._config = config
        self._folder = folder
        self._orders = orders
        self._company = company
        self._lock = lock
        self._recall = Recall()
        self._recorded = self._prepare()
        self._comparison = sinks.Comparison(
            folder / records.EVENTS, self._recorded, self._is_budget_changed(), self._caught_up
        )
        self._guard = Guard(orders.max_calls, orders.max_tokens, orders.max_money)
        self._started = time.time()
        _forget_peak()

    def _prepare(self) -> list[dict[str, Any]]:
        """Check what the folder holds; the recorded events that must come out again."""
        stored = self._folder / records.CONFIG
        manner = self._orders.manner
        if stored.exists():
            refuse_other_config(self._folder, records.read_json(stored), self._config, manner)
        others = {path.name for path in self._folder.iterdir()} - KEPT
        if manner == "new" and others:
            state = records.status(self._folder)
            raise RecordError(
                f"{self._folder} holds a {state} run; choose --out or --resume"
                if state != "absent"
                else f"{self._folder} is no run folder and not empty; choose another with --out"
            )
        if manner != "resume" or not (self._folder / records.EVENTS).exists():
            return []
        events = read_events(self._folder / records.EVENTS)
        self._recall = recall_of(events)
        return events[: sinks.closing_from(events)]

    def _is_budget_changed(self) -> bool:
        if not self._recorded:
            return False
        stored = records.read_json(self._folder / records.CONFIG)
        return bool(stored["budget"] != self._config["budget"])

    async def play(self) -> Outcome:
        """Play, close, sum up."""
        is_beside = bool(self._recorded)
        with records.Syncer(self._lock) as syncer:
            parts = wire(self._config, self._replies(syncer), self._guard)
            if not is_beside:
                self._begin()
            chain = self._sinks(parts, syncer, is_beside)
            ending = await self._run(parts, chain, syncer)
            chain.close()
        if is_beside and not self._comparison.is_done:
            raise RecordError(
                f"{self._folder}: the run ended by {ending.ended_by} before all that is recorded "
                "came out again"
            )
        self._sum_up(parts, ending)
        return outcome_of(self._folder)

    def _fresh(self, syncer: records.Syncer, name: str, is_beside: bool) -> records.LineWriter:
        folder = self._folder
        path = sinks.written_beside(folder, name) if is_beside else folder / name
        path.unlink(missing_ok=True)
        return syncer.writer(path)

    def _begin(self) -> None:
        """From here on the folder is that of this run."""
        for name in (records.SUMMARY, records.TIMING):
            (self._folder / name).unlink(missing_ok=True)
        records.write_whole(self._folder / records.CONFIG, records.canonical(self._config))

    def _caught_up(self) -> None:
        sinks.replace_recorded(self._folder)
        self._begin()

    def _replies(self, syncer: records.Syncer) -> Replies:
        """Cassette and wall facts are opened with the first line written to them."""
        folder = self._folder
        return Replies(
            self._orders.replies,
            folder / records.CASSETTE,
            _Late(syncer, folder / records.CASSETTE),
            _Late(syncer, folder / records.CALLS),
            tuple(self._recorded),
            self._company.show,
            self._orders.concurrency,
            self._company.read,
        )

    def _sinks(self, parts: Parts, syncer: records.Syncer, is_beside: bool) -> sinks.Chain:
        events, frames = (
            self._fresh(syncer, name, is_beside) for name in (records.EVENTS, records.FRAMES)
        )
        recorder = sinks.Recorder(events, frames, parts.world.id, parts.world.rules.legend)
        found: list[Sink] = [recorder, *parts.listeners, *self._company.sinks(parts)]
        if is_beside:
            found.append(self._comparison)
        if self._company.report is not None:
            report, used = self._company.report, parts.ledger.used
            found.append(
                sinks.Progress(lambda: report(used["calls"], used["tokens"], used["money"]))
            )
        return sinks.Chain(found)

    async def _run(self, parts: Parts, chain: sinks.Chain, syncer: records.Syncer) -> Ending:
        """The episode; a stop from any thread reaches it."""
        loop, halt = asyncio.get_running_loop(), _Halt(self._company.stop)

        def tell() -> None:
            loop.call_soon_threadsafe(halt)

        self._company.stop.listen(tell)
        try:
            ending = await play(
                parts.world,
                parts.settings,
                parts.topology,
                parts.respond,
                parts.gate,
                chain,
                ledger=parts.ledger,
                stop=halt,
                trouble=_Late(syncer, self._folder / records.CALLS),
                recall=self._recall,
            )
        finally:
            self._company.stop.forget(tell)
            await parts.close()
        if ending.ended_by in records.RESUMABLE_BY and parts.clients:
            mark = _Late(syncer, self._folder / records.CASSETTE)
            mark(stop_mark(ending.ended_by, ending.steps))
        return ending

    def _sum_up(self, parts: Parts, ending: Ending) -> None:
        timing = timing_of(self._started, ending.steps, parts.watch)
        records.write_whole(self._folder / records.TIMING, json.dumps(timing, indent=2) + "\n")
        write_summary(self._folder, ending.error, ending.steps)


class _Halt(LoopStop):
    """The loop's stop, which also sees a stop that was asked for between two steps."""

    def __init__(self, source: Stop) -> None:
        super().__init__()
        self._source = source

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for the end."""
        return self._source.is_asked or super().is_asked


class _Late:
    """Appends lines to a file that comes into being with the first one."""

    def __init__(self, syncer: records.Syncer, path: Path) -> None:
        self._syncer = syncer
        self._path = path

    def __call__(self, line: Json) -> None:
        """Append a line."""
        self._syncer.writer(self._path).write(line)


def refuse_other_config(
    folder: Path, stored: Mapping[str, Any], config: Mapping[str, Any], manner: str
) -> None:
    """Raise RecordError if the folder holds a run that this one may not go on with."""
    for key, old, new in configs.differences(stored, config):
        if manner == "new" or not configs.is_resumable_as(key):
            raise RecordError(
                f"{folder} holds another config ({key} {old}, not {new}); choose --out or --resume"
            )


def is_finished_as(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether the folder holds the finished run of this very config."""
    is_finished = records.status(folder, is_thorough=True) == "finished"
    return is_finished and records.read_json(folder / records.CONFIG) == config


def outcome_of(folder: Path) -> Outcome:
    """How the run in `folder` ended, by its summary."""
    summary = records.read_json(folder / records.SUMMARY)
    error, usage = summary["error"], summary["usage"]
    text = f"{error['class']}: {error['message']} (step {error['step']})" if error else None
    tokens = usage["tokens_in"] + usage["tokens_out"]
    return Outcome(
        records.status(folder), summary["ended_by"], text, (usage["calls"], tokens, usage["money"])
    )


def write_summary(folder: Path, error: Exception | None = None, step: int = 0) -> None:
    """Sum up the run in `folder` from its config and events."""
    config = records.read_json(folder / records.CONFIG)
    trace = Trace(stream_events(folder / records.EVENTS), config)
    ended_by = trace.ended_by
    summary = {
        "schema": records.SUMMARY_SCHEMA,
        "is_finished": ended_by in records.FINISHED_BY,
        "run_key": records.run_key(config),
        "cell": records.cell(config),
        "config_digest": records.config_digest(config),
        "seed": config["seed"],
        "axes": records.axes(config),
        "ended_by": ended_by,
        "detail": trace.detail,
        "error": None
        if error is None
        else {"class": type(error).__name__, "message": str(error), "step": step},
        "metrics": measure(trace),
        "per_agent": {key: function(trace) for key, function in metrics.PER_AGENT.items()},
        "per_kind": metrics.per_kind(trace),
        "repair": metrics.repair_summary(trace),
        "usage": metrics.usage(trace),
        "events": records.fingerprint(folder / records.EVENTS),
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    records.write_whole(folder / records.SUMMARY, text + "\n")


def timing_of(started: float, steps: int, watch: Stopwatch) -> dict[str, Any]:
    """The wall facts of a run that ends now; `review_ms` is the mean of its reviews by repair."""
    seconds = watch.seconds
    ended = time.time()
    wall = max(ended - started, 1e-9)
    rest = wall - sum(seconds.values())
    return {
        "start": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(started)),
        "end": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(ended)),
        "wall_seconds": round(wall, 3),
        "seconds": {name: round(value, 3) for name, value in (*seconds.items(), ("rest", rest))},
        "steps_per_second": round(steps / wall, 3),
        "reviews": watch.reviews,
        "review_ms": round(1000 * watch.review_seconds / watch.reviews, 3)
        if watch.reviews
        else None,
        "peak_memory_mb": round(_peak_bytes() / 1e6, 1),
        "cores": os.cpu_count(),
        "versions": {"python": sys.version.split()[0], **_versions()},
    }


def _forget_peak() -> None:
    """Let the peak of memory be that of this run, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int:
    """The most memory this process has used since `_forget_peak`, or else since its start."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
