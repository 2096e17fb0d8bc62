"""The run folder: what is in it, how it is written so that a kill costs one line, how it is read.

Every line of a `.jsonl` file is one unbuffered `write`; files that are whole or not there at all
(`config.json`, `timing.json`, `summary.json`) come into being by a rename.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from cognitive.errors import RecordError
from cognitive.events import encode
from render.replay import read_lines

CONFIG, EVENTS, FRAMES = "config.json", "events.jsonl", "frames.jsonl"
CASSETTE, CALLS = "cassette.jsonl", "calls.jsonl"
SUMMARY_SCHEMA = 1
TIMING, SUMMARY, LOCK = "timing.json", "summary.json", "run.lock"
SYNC_SECONDS = 0.5
HEARTBEAT_SECONDS = 60.0
WAIT_SECONDS = 0.05
BLOCK_BYTES = 1 << 20

FINISHED_BY = frozenset({"world", "steps", "team_ms", "agent_ms", "calls", "tokens", "money"})
RESUMABLE_BY = frozenset({"stopped", "endpoint"})

# --- values as bytes -----------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """JSON with sorted keys and without spaces: equal values give equal text."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`, as hex."""
    return sha256(canonical(value).encode()).hexdigest()


# --- writing -------------------------------------------------------------------------------------


def write_whole(path: Path, text: str) -> None:
    """Write `text` so that `path` is the old file or the new one, never half of it."""
    draft = path.with_name(f".{path.name}.tmp")
    with draft.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def cut_tail(path: Path) -> int:
    """Drop an unfinished last line of `path`; the number of bytes dropped."""
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        size = place = file.seek(0, os.SEEK_END)
        kept = 0
        while place and not kept:
            start = max(0, place - BLOCK_BYTES)
            file.seek(start)
            kept = file.read(place - start).rfind(b"\n") + 1
            kept += start if kept else 0
            place = start
        if kept < size:
            file.truncate(kept)
        return size - kept


class LineWriter:
    """Appends lines to a file, each in one write; `sync` makes them safe against a power cut."""

    def __init__(self, path: Path) -> None:
        """Open `path` for appending, after dropping an unfinished last line."""
        cut_tail(path)
        self.path = path
        self._file: IO[bytes] = path.open("ab", buffering=0)
        self._is_dirty = False

    def write(self, value: Any) -> None:
        """Append `value` as one line."""
        self.append(encode(value))

    def append(self, line: bytes) -> None:
        """Append a whole line. Raises OSError if not all of it could be written."""
        written = self._file.write(line)
        if written != len(line):
            raise OSError(f"{self.path}: {written} of {len(line)} bytes written; is the disk full?")
        self._is_dirty = True

    def sync(self) -> None:
        """Wait until everything written so far is on the disk."""
        if self._is_dirty:
            self._is_dirty = False
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close; a second call does nothing."""
        if not self._file.closed:
            self.sync()
            self._file.close()


class Syncer:
    """Syncs writers and the heartbeat of a lock twice a second, aside from the run.

    It changes nothing that is written: only when it reaches the disk.
    """

    def __init__(self, lock: RunLock) -> None:
        self._lock = lock
        self._writers: dict[Path, LineWriter] = {}
        self._stop = threading.Event()
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="cooplab-sync", daemon=True)
        self._thread.start()

    def writer(self, path: Path) -> LineWriter:
        """The writer of `path`, opened the first time it is asked for and synced from then on."""
        with self._guard:
            if path not in self._writers:
                self._writers[path] = LineWriter(path)
            return self._writers[path]

    def __enter__(self) -> Syncer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop, and close all writers."""
        self._stop.set()
        self._thread.join()
        for writer in self._writers.values():
            writer.close()

    def _run(self) -> None:
        while not self._stop.wait(SYNC_SECONDS):
            self._lock.beat()
            with self._guard:
                for writer in self._writers.values():
                    writer.sync()


class RunLock:
    """One folder, one writer: `run.lock` names host, process and start of whoever writes.

    On one host the system holds the lock and lets go of it when the process dies; on another host
    the lock counts until its heartbeat is older than a minute.
    """

    def __init__(self, folder: Path, patience: float = 0.0) -> None:
        """Take the lock of `folder`; waits up to `patience` seconds for whoever has it.

        Raises RecordError if somebody else has it after that.
        """
        self.path = folder / LOCK
        self._file = self._wait_for(time.monotonic() + patience)
        self._file.truncate(0)
        self._file.write(
            encode(
                {"host": socket.gethostname(), "process": os.getpid(), "start": int(time.time())}
            )
        )

    def beat(self) -> None:
        """Show other hosts that the writer is alive."""
        os.utime(self._file.fileno())

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if not self._file.closed:
            self.path.unlink(missing_ok=True)
            self._file.close()

    def __enter__(self) -> RunLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.release()

    def _wait_for(self, deadline: float) -> IO[bytes]:
        while True:
            try:
                return self._take()
            except RecordError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(WAIT_SECONDS)

    def _take(self) -> IO[bytes]:
        while True:
            file = self.path.open("ab+", buffering=0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self._is_current(file):
                    file.close()
                    continue
                self._refuse_other_host(file)
            except BlockingIOError:
                owner = self._owner(file)
                file.close()
                raise self._in_use(owner) from None
            except RecordError:
                file.close()
                raise
            return file

    def _is_current(self, file: IO[bytes]) -> bool:
        """Whether `file` is still what the path names, its last holder having removed it."""
        try:
            return os.fstat(file.fileno()).st_ino == self.path.stat().st_ino
        except FileNotFoundError:
            return False

    def _refuse_other_host(self, file: IO[bytes]) -> None:
        owner = self._owner(file)
        age = time.time() - os.fstat(file.fileno()).st_mtime
        if owner and owner["host"] != socket.gethostname() and age < HEARTBEAT_SECONDS:
            raise self._in_use(owner)

    def _owner(self, file: IO[bytes]) -> dict[str, Any]:
        file.seek(0)
        try:
            owner = json.loads(file.read())
        except ValueError:
            return {}
        return (
            owner if isinstance(owner, dict) and {"host", "process", "start"} <= set(owner) else {}
        )

    def _in_use(self, owner: Mapping[str, Any]) -> RecordError:
        if not owner:
            return RecordError(f"{self.path.parent} is being written by another process")
        since = time.strftime("%H:%M", time.localtime(owner["start"]))
        where = "" if owner["host"] == socket.gethostname() else f" on {owner['host']}"
        who = f"process {owner['process']}{where}"
        return RecordError(f"{self.path.parent} is being written by {who} since {since}")


# --- reading -------------------------------------------------------------------------------------


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a `.jsonl` file in order; an unfinished last line is left out with a warning.

    Raises RecordError with file and line on anything else that is no JSON object.
    """
    for number, line in enumerate(read_lines(path), start=1):
        yield _object(line, f"{path}, line {number}")


def read_json(path: Path) -> dict[str, Any]:
    """The object in `path`. Raises RecordError if it is missing or no JSON object."""
    if not path.is_file():
        raise RecordError(f"{path}: no such file")
    return _object(path.read_bytes(), str(path))


def _object(data: bytes, place: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as problem:
        raise RecordError(f"{place}: no JSON: {problem}") from None
    if not isinstance(value, dict):
        raise RecordError(f"{place}: {type(value).__name__} where an object belongs")
    return value


def fingerprint(path: Path) -> dict[str, Any]:
    """Lines and SHA-256 of a file, as a summary keeps them of its events."""
    lines, sum_ = 0, sha256()
    if path.exists():
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                lines += block.count(b"\n")
                sum_.update(block)
    return {"lines": lines, "sha256": sum_.hexdigest()}


def status(folder: Path, is_thorough: bool = False) -> str:
    """What became of the run in `folder`: absent, partial, stopped, failed, finished or damaged.

    `is_thorough` reads the events too and finds a summary that does not match them.
    """
    if not (folder / CONFIG).is_file():
        return "absent"
    if not (folder / SUMMARY).is_file():
        return "partial"
    try:
        summary = read_json(folder / SUMMARY)
    except RecordError:
        return "damaged"
    if is_thorough and summary.get("events") != fingerprint(folder / EVENTS):
        return "damaged"
    if summary.get("is_finished"):
        return "finished"
    return "stopped" if summary.get("ended_by") in RESUMABLE_BY else "failed"


def run_folders(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Every run folder at or below `paths`, sorted, each once; nothing inside one is looked at.

    Raises RecordError for a path that is no folder.
    """
    found: set[Path] = set()
    for path in paths:
        if not path.is_dir():
            raise RecordError(f"no folder {path}")
        found.update(_runs_below(path))
    return tuple(sorted(found))


def _runs_below(folder: Path) -> Iterator[Path]:
    if (folder / CONFIG).is_file():
        yield folder
        return
    for child in folder.iterdir():
        if child.is_dir():
            yield from _runs_below(child)


# --- names of a run ------------------------------------------------------------------------------

AXES = (
    "world",
    "preset",
    "topology",
    "agents",
    "planner",
    "model",
    "repair",
    "interrupts",
    "pace",
    "clock",
)
_NOT_DIGESTED = ("label",)


def config_digest(config: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical config without labels and output settings."""
    return digest({key: config[key] for key in config if key not in _NOT_DIGESTED})


def axes(config: Mapping[str, Any]) -> dict[str, Any]:
    """The axes of a run: strings, but for `agents`; of several planners the names joined by `+`."""
    planners = config["planner"]
    return {
        "world": config["world"]["id"],
        "preset": config["world"]["preset"],
        "topology": config["topology"]["kind"],
        "agents": config["agents"],
        "planner": "+".join(dict.fromkeys(planner["name"] for planner in planners)),
        "model": "+".join(dict.fromkeys(p["model"] for p in planners if p.get("model"))),
        "repair": config["repair"]["name"],
        "interrupts": config["interrupts"]["policy"],
        "pace": config["clock"]["pace"],
        "clock": config["clock"]["kind"],
    }


def _stem(config: Mapping[str, Any]) -> str:
    axis = axes(config)
    world = axis["world"].rpartition("-v")[0]
    return (
        f"{world}-{axis['preset']}_{axis['topology']}_a{axis['agents']}"
        f"_{axis['planner']}_{axis['repair']}"
    )


def run_key(config: Mapping[str, Any]) -> str:
    """`<world>-<preset>_<topology>_a<agents>_<planner>_<repair>_s<seed>_<digest8>`."""
    return f"{_stem(config)}_s{config['seed']}_{config_digest(config)[:8]}"


def cell(config: Mapping[str, Any]) -> str:
    """The run key without the seed, in the digest too: runs of one cell differ in seed alone."""
    seedless = {key: config[key] for key in config if key != "seed"}
    return f"{_stem(config)}_{config_digest(seedless)[:8]}"
