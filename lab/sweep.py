"""Playing a sweep: what is still to play, the manifest, and the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cognitive.errors import RecordError
from lab import records
from lab.backends import Backend, Completion, Job
from lab.grid import Planned, Sweep
from lab.progress import Tally
from lab.run import Orders
from lab.stopping import Stop

MANIFEST = "manifest.jsonl"
SPENDABLE = ("calls", "tokens", "money")
PATIENCE = 5.0
"""Seconds in which the workers of a driver that was killed let go of their runs."""


# --- what is still to play -----------------------------------------------------------------------


class Todo(NamedTuple):
    """A run that is to be played, in which manner (new, resume, again), at which try."""

    run: Planned
    manner: str
    tries: int


@dataclass
class Survey:
    """What became of the runs of a sweep before it starts."""

    todo: list[Todo] = field(default_factory=list)
    finished: list[Planned] = field(default_factory=list)
    failed: list[Planned] = field(default_factory=list)
    damaged: list[Planned] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Status and key of every run."""
        names = (("finished", self.finished), ("failed", self.failed), ("damaged", self.damaged))
        for name, runs in names:
            for run in runs:
                yield f"{name:<9} {run.key}"
        for todo in self.todo:
            yield f"{todo.manner:<9} {todo.run.key}"


class Manifest:
    """What the driver knows of each run: append-only, the last line of a key counts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / MANIFEST
        self._tries: dict[str, int] = {}
        self._status: dict[str, str] = {}
        if self.path.exists():
            records.cut_tail(self.path)
            for line in records.read_objects(self.path):
                self._note(line["run_key"], line["status"], line["tries"])

    def open(self, found: Survey) -> None:
        """Begin to append; new runs are `pending`, and what a killed driver left out is added."""
        self._writer = records.LineWriter(self.path)
        for run in found.finished:
            if self._status.get(run.key) != "finished":
                self.write(run, "finished", self.tries(run.key) + 1)
        for run, _, tries in found.todo:
            if run.key not in self._status:
                self.write(run, "pending", tries - 1)

    def write(self, run: Planned, status: str, tries: int, **facts: Any) -> None:
        """Append what became of a run."""
        line = {
            "run_key": run.key,
            "axes": records.axes(run.config),
            "seed": run.config["seed"],
            "status": status,
            "tries": tries,
            "worker": facts.get("worker"),
            "error": facts.get("error"),
            "wall": facts.get("wall"),
        }
        self._note(run.key, status, tries)
        self._writer.write(line)

    def close(self) -> None:
        """Sync and close."""
        self._writer.close()

    def tries(self, key: str) -> int:
        """How often a run has failed since it last finished."""
        return self._tries.get(key, 0)

    def _note(self, key: str, status: str, tries: int) -> None:
        self._status[key] = status
        if status in ("failed", "finished"):
            self._tries[key] = tries if status == "failed" else 0


def survey(
    sweep: Sweep, manifest: Manifest, retry_failed: bool = False, rerun_damaged: bool = False
) -> Survey:
    """What is to play: finished runs never again, failed ones up to `retries` or when asked."""
    found = Survey()
    for run in sweep.runs:
        folder = sweep.out / run.key
        state = records.status(folder, is_thorough=True)
        tries = manifest.tries(run.key)
        has_failed = state == "failed" or (tries > 0 and state in ("absent", "partial"))
        if state == "finished":
            found.finished.append(run)
        elif state == "damaged" and not rerun_damaged:
            found.damaged.append(run)
        elif has_failed and not retry_failed and tries > sweep.limits["retries"]:
            found.failed.append(run)
        else:
            manners = {"absent": "new", "partial": "resume", "stopped": "resume"}
            found.todo.append(Todo(run, manners.get(state, "again"), tries + 1))
    return found


# --- the driver ----------------------------------------------------------------------------------


class Driver:
    """Hands runs to a back end until none is left, a limit is reached or a stop is asked for."""

    def __init__(
        self, sweep: Sweep, backend: Backend, manifest: Manifest, stop: Stop, found: Survey
    ) -> None:
        self.tally = Tally(len(sweep.runs), len(found.finished), len(found.failed))
        self.errors: dict[str, str] = {}
        self.hit: str | None = None
        """The limit that ended the sweep."""
        self._sweep = sweep
        self._backend = backend
        self._manifest = manifest
        self._stop = stop
        self._waiting = list(found.todo)
        self._running: dict[str, Todo] = {}
        self._spent = {run.key: _spent_before(sweep.out / run.key) for run in sweep.runs}
        self._new_failures = 0
        self._is_cancelled = False

    def play(self, progress: Callable[[Tally], None]) -> None:
        """Play; `progress` is called after every change and a few times a second."""
        while self._running or (self._waiting and not self._is_over()):
            self._submit()
            for completion in self._backend.completed():
                self._take(completion)
            self._watch()
            progress(self.tally)

    def _submit(self) -> None:
        while self._waiting and len(self._running) < self._backend.capacity and not self._is_over():
            todo = self._waiting.pop(0)
            folder = self._sweep.out / todo.run.key
            folder.mkdir(parents=True, exist_ok=True)
            text = records.canonical(todo.run.config)
            if not (folder / records.CONFIG).exists():
                records.write_whole(folder / records.CONFIG, text)
            self._running[todo.run.key] = todo
            self._manifest.write(todo.run, "running", todo.tries)
            self.tally.running = len(self._running)
            self._backend.submit(Job(todo.run.key, text, str(folder), self._orders(todo)))

    def _orders(self, todo: Todo) -> Orders:
        """What is left of the sweep's limits is a limit of the run."""
        limits, own = self._sweep.limits, self._spent[todo.run.key]
        left = {
            name: own[place] + max(1, limits[f"max_{name}"] - self._total(place))
            for place, name in enumerate(SPENDABLE)
            if limits[f"max_{name}"]
        }
        share = max(1, limits["calls_in_flight"] // self._backend.capacity)
        return Orders(
            todo.manner,
            max_calls=left.get("calls", 0),
            max_tokens=left.get("tokens", 0),
            max_money=left.get("money", 0),
            concurrency=share,
            patience=PATIENCE,
        )

    def _take(self, completion: Completion) -> None:
        todo = self._running.pop(completion.key)
        outcome = completion.outcome
        if outcome.spent is not None:
            self._spent[todo.run.key] = outcome.spent
        self._manifest.write(
            todo.run,
            outcome.status,
            todo.tries,
            worker=completion.worker,
            error=outcome.error,
            wall=round(completion.seconds, 3),
        )
        self.tally.running = len(self._running)
        self.tally.played += 1
        if outcome.status == "finished":
            self.tally.finished += 1
            self.errors.pop(todo.run.key, None)
        elif outcome.status == "stopped":
            self.tally.stopped += 1
        else:
            self._failed(todo, outcome.error or "no error was recorded")

    def _failed(self, todo: Todo, error: str) -> None:
        self.errors[todo.run.key] = error
        self._new_failures += 1
        if todo.tries <= self._sweep.limits["retries"] and not self._is_over():
            state = records.status(self._sweep.out / todo.run.key)
            manner = "resume" if state == "partial" else "again"
            self._waiting.append(Todo(todo.run, manner, todo.tries + 1))
        else:
            self.tally.failed += 1

    def _total(self, place: int) -> int:
        return sum(spent[place] for spent in self._spent.values())

    def _watch(self) -> None:
        """Notice limits and stops; running runs are then asked to end."""
        for key, spent in self._backend.spent().items():
            self._spent[key] = spent
        self.tally.calls = self._total(0)
        for place, name in enumerate(SPENDABLE):
            limit = self._sweep.limits[f"max_{name}"]
            if limit and self._total(place) >= limit and self.hit is None:
                self.hit = f"{name} {self._total(place)} of {limit}"
        most = self._sweep.limits["stop_after_failures"]
        if most and self._new_failures >= most and self.hit is None:
            self.hit = f"failures {self._new_failures} of {most}"
        if self._is_over() and not self._is_cancelled:
            self._is_cancelled = True
            self._backend.cancel()

    def _is_over(self) -> bool:
        return self.hit is not None or self._stop.is_asked


def _spent_before(folder: Path) -> tuple[int, int, int]:
    """Calls, tokens and money that a run has used by its summary."""
    try:
        usage = records.read_json(folder / records.SUMMARY)["usage"]
    except (RecordError, KeyError):
        return (0, 0, 0)
    return (usage["calls"], usage["tokens_in"] + usage["tokens_out"], usage["money"])
