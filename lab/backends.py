"""Where runs of a sweep are played: here, in processes of this machine, or on a ray cluster.

All call the same `lab.run.execute`. A worker plays one run at a time; if it dies, that run has
failed and another worker takes its place.
"""

from __future__ import annotations

import os
import queue
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cognitive.errors import ConfigError, MissingPrerequisite
from lab import settings
from lab.run import Company, Orders, Outcome, execute
from lab.stopping import Stop

Spent = tuple[int, int, int]
"""Calls, tokens and money so far."""
WAIT_SECONDS = 0.2
STOP_SECONDS = 10.0


class Job(NamedTuple):
    """One run to play: its key, its canonical config, its folder, and what else is asked."""

    key: str
    config: str
    folder: str
    orders: Orders


class Completion(NamedTuple):
    """What became of a job; `worker` is a name, `seconds` the wall time."""

    key: str
    outcome: Outcome
    worker: str
    seconds: float


class Backend(Protocol):
    """Plays jobs; at most `capacity` are submitted and not completed."""

    capacity: int

    def submit(self, job: Job) -> None:
        """Take a job."""
        ...

    def completed(self) -> list[Completion]:
        """Jobs that ended since the last call; waits a moment for one."""
        ...

    def spent(self) -> Mapping[str, Spent]:
        """What running jobs have spent so far, by key, as far as it is known."""
        ...

    def cancel(self, is_hard: bool = False) -> None:
        """Ask running jobs to end as `stopped`; hard: end them at once."""
        ...

    def close(self) -> None:
        """Let go of all workers."""
        ...


def play(job: Job, stop: Stop, report: Callable[[int, int, int], None] | None = None) -> Outcome:
    """Play a job; an error of any kind is an outcome, so that other runs go on."""
    try:
        return execute(job.config, Path(job.folder), job.orders, Company(stop, report))
    except Exception as problem:  # noqa: BLE001
        return Outcome("failed", None, f"{type(problem).__name__}: {problem}")


class Serial:
    """One run after the other, in this process."""

    capacity = 1

    def __init__(self, stop: Stop) -> None:
        """stop: that of whoever waits for `completed`, which is busy meanwhile."""
        self._jobs: list[Job] = []
        self._stop = stop

    def submit(self, job: Job) -> None:
        self._jobs.append(job)

    def completed(self) -> list[Completion]:
        if not self._jobs:
            return []
        job = self._jobs.pop(0)
        began = time.perf_counter()
        outcome = play(job, self._stop)
        return [Completion(job.key, outcome, "here", time.perf_counter() - began)]

    def spent(self) -> Mapping[str, Spent]:
        return {}

    def cancel(self, is_hard: bool = False) -> None:
        self._jobs.clear()

    def close(self) -> None:
        self._jobs.clear()


# --- processes -----------------------------------------------------------------------------------


class _Worker:
    """A process, the pipe to it, and what it plays."""

    def __init__(self, number: int) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), name=f"worker-{number}")
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.began = 0.0
        self.spent: Spent = (0, 0, 0)

    @property
    def name(self) -> str:
        return f"{self.process.name}/{self.process.pid}"

    def start(self, job: Job) -> bool:
        """Hand over a job; False if the process is gone."""
        try:
            self.pipe.send(job)
        except OSError:
            return False
        self.job, self.began, self.spent = job, time.perf_counter(), (0, 0, 0)
        return True

    def take(self) -> Completion | None:
        """The next message, if it ends the job; a dead worker fails it."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            return self._died()
        if isinstance(message, Outcome):
            return self._done(message)
        self.spent = message
        return None

    def _done(self, outcome: Outcome) -> Completion:
        assert self.job is not None
        key, self.job = self.job.key, None
        return Completion(key, outcome, self.name, time.perf_counter() - self.began)

    def _died(self) -> Completion | None:
        self.process.join()
        if self.job is None:
            return None
        code = self.process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return self._done(Outcome("failed", None, f"the worker died ({how})"))


class Processes:
    """Runs in worker processes of this machine."""

    def __init__(self, workers: int) -> None:
        """workers: 0 means one a core."""
        settings.single_thread()
        self.capacity = workers or cores()
        self._workers: list[_Worker] = []
        self._started = 0

    def submit(self, job: Job) -> None:
        idle = next((worker for worker in self._workers if worker.job is None), None)
        if idle is None or not idle.start(job):
            self._started += 1
            fresh = _Worker(self._started)
            self._workers.append(fresh)
            fresh.start(job)

    def completed(self) -> list[Completion]:
        pipes = {worker.pipe: worker for worker in self._workers}
        found = []
        for pipe in connection.wait(list(pipes), WAIT_SECONDS):
            # `wait` is typed to return any object; it returns those it was given.
            worker = pipes[pipe]  # type: ignore[index]
            done = worker.take()
            if done is not None:
                found.append(done)
            if not worker.process.is_alive() and not worker.pipe.poll():
                self._workers.remove(worker)
                worker.pipe.close()
        return found

    def spent(self) -> Mapping[str, Spent]:
        return {worker.job.key: worker.spent for worker in self._workers if worker.job}

    def cancel(self, is_hard: bool = False) -> None:
        for worker in self._workers:
            if is_hard:
                worker.process.kill()
            elif worker.process.is_alive():
                worker.pipe.send("stop")

    def close(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join(STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


def _work(pipe: connection.Connection[Any, Any]) -> None:
    """A worker: plays what comes through the pipe until the driver closes it or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # sent to the whole group; the driver handles them
    jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    stop = Stop()
    listener = threading.Thread(target=_listen, args=(pipe, jobs, stop), daemon=True)
    listener.start()

    def tell(message: Outcome | Spent) -> None:
        with suppress(OSError):  # the driver is gone: the listener has asked for a stop
            pipe.send(message)

    while (job := jobs.get()) is not None:
        tell(play(job, stop, lambda *spent: tell(spent)))


def _listen(
    pipe: connection.Connection[Any, Any], jobs: queue.SimpleQueue[Job | None], stop: Stop
) -> None:
    """Hand jobs on; a stop, or the end of the driver, ends the run that is playing."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            jobs.put(None)
            stop.ask()
            return
        if message == "stop":
            stop.ask()
        else:
            jobs.put(message)


# --- ray -----------------------------------------------------------------------------------------


class Ray:
    """A task a run on a ray cluster; files travel back where the file system is not shared."""

    def __init__(self, workers: int, address: str | None, probe: Path) -> None:
        """probe: a file here that a worker sees iff it shares our file system."""
        try:
            import ray
        except ImportError:
            raise MissingPrerequisite(
                "back end ray needs ray; install it with: pip install 'cooplab[cluster]'"
            ) from None
        settings.single_thread()
        self._ray = ray
        self._probe = str(probe.resolve())
        try:
            ray.init(
                address=address,
                num_cpus=None if address else workers or cores(),
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
            )
        except (ConnectionError, ValueError) as problem:
            raise ConfigError(f"ray at {address}: {problem}") from None
        # Ray has no types.
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        self.capacity = workers or max(1, int(resources.get("CPU", 1)))
        self._task = ray.remote(num_cpus=1, max_retries=0)(_play_away)
        self._running: dict[Any, tuple[Job, float]] = {}
        self._book: Any = None

    def submit(self, job: Job) -> None:
        folder = Path(job.folder)
        job = job._replace(folder=str(folder.resolve()))
        if self._book is None and job.orders.is_limited:
            self._book = self._ray.remote(num_cpus=0)(_Book).remote()
        reference = self._task.remote(job, _files_in(folder), self._probe, self._book)
        self._running[reference] = (job, time.perf_counter())

    def completed(self) -> list[Completion]:
        if not self._running:
            return []
        ready, _ = self._ray.wait(list(self._running), timeout=WAIT_SECONDS)
        return [self._finish(reference) for reference in ready]

    def _finish(self, reference: Any) -> Completion:
        job, began = self._running.pop(reference)
        try:
            outcome, files, node = self._ray.get(reference)
        except self._ray.exceptions.TaskCancelledError:
            outcome, files, node = Outcome("stopped", "stopped"), {}, "ray"
        except self._ray.exceptions.RayError as problem:
            outcome = Outcome("failed", None, f"the worker died ({type(problem).__name__})")
            files, node = {}, "ray"
        folder = Path(job.folder)
        for name, data in files.items():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return Completion(job.key, outcome, node, time.perf_counter() - began)

    def spent(self) -> Mapping[str, Spent]:
        if self._book is None:
            return {}
        known = self._ray.get(self._book.spent.remote())
        return {job.key: known[job.key] for job, _ in self._running.values() if job.key in known}

    def cancel(self, is_hard: bool = False) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=is_hard)

    def close(self) -> None:
        self._ray.shutdown()


def _files_in(folder: Path) -> dict[str, bytes]:
    """What an unfinished run has written so far."""
    if not folder.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


class _Book:
    """An actor that knows what running jobs have spent."""

    def __init__(self) -> None:
        self._spent: dict[str, Spent] = {}

    def note(self, key: str, spent: Spent) -> None:
        self._spent[key] = spent

    def spent(self) -> dict[str, Spent]:
        return self._spent


def _play_away(
    job: Job, files: Mapping[str, bytes], probe: str, book: Any = None
) -> tuple[Outcome, Mapping[str, bytes], str]:
    """Play a job on a worker; what it wrote comes back if the driver cannot see its files.

    book: the actor to tell what is spent, None for nobody.
    """
    node = f"ray/{os.getpid()}"
    stop, report = Stop(), None if book is None else _reporter(book, job.key)
    if Path(probe).exists():
        with stop.on_signals():
            return play(job, stop, report), {}, node
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / job.key
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        with stop.on_signals():
            outcome = play(job._replace(folder=str(folder)), stop, report)
        return outcome, _files_in(folder), node


def _reporter(book: Any, key: str) -> Callable[[int, int, int], None]:
    """Tells the book whenever something more was spent."""
    last = (0, 0, 0)

    def report(*spent: int) -> None:
        nonlocal last
        if spent != last:
            last = (spent[0], spent[1], spent[2])
            book.note.remote(key, last)

    return report


def make_backend(
    name: str, workers: int, stop: Stop, address: str | None = None, probe: Path | None = None
) -> Backend:
    """A back end by name: serial, processes, ray."""
    if name == "serial":
        return Serial(stop)
    if name == "processes":
        return Processes(workers)
    return Ray(workers, address, probe or Path.cwd())
