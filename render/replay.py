"""Recorded frames: how they are written, read back and redrawn; and a run folder to look at.

A file of frames holds a header line with every layer of step 0, then a line a step with what
changed; every `KEY_INTERVAL` steps also all layers again, so that any step is near a full frame.
"""

from __future__ import annotations

import base64
import binascii
import json
import warnings
import zlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy import ndarray

from cognitive.errors import ConfigError, RecordError
from cognitive.events import read_events
from render.frames import MapPainter, marks_of
from render.panels import Dashboard, View, shape_around
from render.story import Story
from worlds.api import AgentId, Json
from worlds.errors import LayoutError

__all__ = [
    "FRAMES_FILE",
    "FRAME_SCHEMA",
    "KEY_INTERVAL",
    "PANELS",
    "FrameEncoder",
    "Frames",
    "RecordedRun",
    "open_run",
    "read_lines",
]

FRAME_SCHEMA = 1
KEY_INTERVAL = 100
FRAMES_FILE, EVENTS_FILE = "frames.jsonl", "events.jsonl"
COMPRESSION = 6
PANELS = ("map", "full")
LARGEST_SCALE = 256

Layers = dict[str, ndarray]
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class FrameEncoder:
    """Turns the frames of one run, in order from step 0, into lines of its frames file."""

    def __init__(self, world: str, legend: Json) -> None:
        """world: id of the world; legend: its `rules.legend`."""
        self._world = world
        self._legend = legend
        self._forms: list[tuple[str, tuple[int, ...], np.dtype]] = []
        self._last: dict[str, bytes] = {}
        self._next = 0

    def encode(self, step: int, layers: Mapping[str, ndarray]) -> bytes:
        """The whole line of this frame, line end included.

        layers: integer or bool arrays of any shape, the same names, shapes and dtypes each time.
        Raises RecordError for a step out of order, LayoutError for a layer that changed its form.
        """
        if step != self._next:
            raise RecordError(f"frame of step {step} came where step {self._next} is due")
        self._check(layers)
        line = self._header(layers) if step == 0 else self._change(step, layers)
        self._next += 1
        return _COMPACT.encode(line).encode() + b"\n"

    def _check(self, layers: Mapping[str, ndarray]) -> None:
        forms = [(name, array.shape, array.dtype) for name, array in layers.items()]
        if self._next == 0:
            for name, array in layers.items():
                if array.dtype.kind not in "iub":
                    raise LayoutError(
                        f"layer {name} has dtype {array.dtype}; allowed integers, bool"
                    )
            self._forms = forms
            self._last = {name: array.tobytes() for name, array in layers.items()}
        elif forms != self._forms:
            due = {name: f"{dtype.name}{list(shape)}" for name, shape, dtype in self._forms}
            raise LayoutError(f"layers {_forms(layers)} came; layers of this run are {due}")

    def _header(self, layers: Mapping[str, ndarray]) -> Json:
        return {
            "v": FRAME_SCHEMA,
            "world": self._world,
            "legend": self._legend,
            "layers": _pack(layers),
        }

    def _change(self, step: int, layers: Mapping[str, ndarray]) -> Json:
        changes: dict[str, Json] = {}
        for name, array in layers.items():
            data, before = array.tobytes(), self._last[name]
            if data == before:
                continue
            flat = array.reshape(-1)
            changed = np.flatnonzero(flat != np.frombuffer(before, array.dtype))
            changes[name] = [changed.tolist(), flat[changed].astype(np.int64).tolist()]
            self._last[name] = data
        line: dict[str, Json] = {"step": step, "d": changes}
        if step % KEY_INTERVAL == 0:
            line["key"] = _pack(layers)
        return line


class Frames:
    """The frames of a run, from lines of its file or as they come."""

    def __init__(self) -> None:
        self.world = ""
        self.legend: Json = {}
        self._keys: dict[int, Layers] = {}
        self._changes: list[dict[str, tuple[ndarray, ndarray]]] = []
        self._shown = -1
        self._layers: Layers = {}

    @property
    def steps(self) -> int:
        """The last step there is a frame of; -1 without any."""
        return len(self._changes) - 1

    def take(self, line: bytes) -> None:
        """Add the next line. Raises RecordError if it is damaged or does not follow."""
        try:
            record = json.loads(line)
            self._take_change(record) if self._keys else self._take_header(record)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as bad:
            raise RecordError(f"no frame: {bad}") from bad

    def _take_header(self, record: Json) -> None:
        if record["v"] != FRAME_SCHEMA:
            raise RecordError(f"frames schema {record['v']}; this version reads {FRAME_SCHEMA}")
        self.world, self.legend = str(record["world"]), record["legend"]
        self._keys[0] = _unpack(record["layers"])
        self._changes.append({})

    def _take_change(self, record: Json) -> None:
        step = len(self._changes)
        if record["step"] != step:
            raise RecordError(f"frame of step {record['step']} where step {step} is due")
        changes = {}
        for name, (indices, values) in record["d"].items():
            layer = self._keys[0][name]
            changes[name] = _checked_change(name, layer, indices, values)
        if "key" in record:
            key = _unpack(record["key"])
            if _forms(key) != _forms(self._keys[0]):
                raise RecordError(f"layers {_forms(key)}; the header has {_forms(self._keys[0])}")
            self._keys[step] = key
        self._changes.append(changes)

    def redraw(self, step: int) -> Layers:
        """The layers as they were at `step`, as fresh arrays; RecordError outside the run."""
        if not 0 <= step <= self.steps:
            raise RecordError(f"step {step}: there are frames of steps 0 to {self.steps}")
        start = self._shown
        if not 0 <= start <= step:
            start = max(key for key in self._keys if key <= step)
            self._layers = {name: array.copy() for name, array in self._keys[start].items()}
        for index in range(start + 1, step + 1):
            for name, (indices, values) in self._changes[index].items():
                self._layers[name].reshape(-1)[indices] = values
        self._shown = step
        return {name: array.copy() for name, array in self._layers.items()}

    def changes(self, step: int) -> dict[str, tuple[ndarray, ndarray]]:
        """By layer, the flat indices and new values with which `step` differs from the one before.

        Each index [N] int64, each value [N] of the layer's dtype; empty at step 0.
        """
        return self._changes[step]

    @classmethod
    def read(cls, path: Path) -> Frames:
        """All frames of a file; an unfinished last line is left out with a warning.

        Raises RecordError, with file and line, if there is no such file or anything is damaged.
        """
        frames = cls()
        for number, line in enumerate(read_lines(path), 1):
            try:
                frames.take(line)
            except RecordError as error:
                raise RecordError(f"{path}, line {number}: {error}") from error
        if frames.steps < 0:
            raise RecordError(f"{path} holds no frame")
        return frames


def read_lines(path: Path) -> Iterable[bytes]:
    """The whole lines of an append-only file; an unfinished last one gives a warning."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    *lines, rest = data.split(b"\n")
    if rest:
        warnings.warn(f"{path}: the last line is unfinished and left out", stacklevel=2)
    return lines


def _forms(layers: Mapping[str, ndarray]) -> dict[str, str]:
    return {name: f"{array.dtype.name}{list(array.shape)}" for name, array in layers.items()}


def _little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def _pack(layers: Mapping[str, ndarray]) -> Json:
    packed = {}
    for name, array in layers.items():
        raw = np.ascontiguousarray(array, dtype=_little(array.dtype)).tobytes()
        data = base64.b64encode(zlib.compress(raw, COMPRESSION)).decode()
        packed[name] = {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}
    return packed


def _unpack(packed: Json) -> Layers:
    layers = {}
    for name, form in packed.items():
        dtype = np.dtype(str(form["dtype"]))
        if dtype.kind not in "iub":
            raise RecordError(f"layer {name} has dtype {dtype}; allowed integers, bool")
        try:
            raw = zlib.decompress(base64.b64decode(form["data"], validate=True))
        except (zlib.error, binascii.Error) as error:
            raise RecordError(f"layer {name}: {error}") from error
        flat = np.frombuffer(raw, dtype=_little(dtype)).astype(dtype)
        layers[name] = flat.reshape([int(length) for length in form["shape"]])
    return layers


def _checked_change(
    name: str, layer: ndarray, indices: Json, values: Json
) -> tuple[ndarray, ndarray]:
    where = np.array(indices, np.int64)
    what = np.array(values, np.int64)
    if where.shape != what.shape or where.ndim != 1:
        raise RecordError(f"layer {name}: {where.size} indices with {what.size} values")
    if where.size and not 0 <= where.min() <= where.max() < layer.size:
        raise RecordError(f"layer {name}: index outside 0 to {layer.size - 1}")
    kept = what.astype(layer.dtype)
    if not np.array_equal(kept, what):
        raise RecordError(f"layer {name}: value outside {layer.dtype.name}")
    return where, kept


# --- a run folder --------------------------------------------------------------------------------


class RecordedRun:
    """What there is to see of a run folder.

    config: as recorded. story: what its events tell. summary, timing: None while there is none.
    steps: the last one that can be redrawn.
    """

    def __init__(self, folder: Path) -> None:
        """Read the folder. Raises RecordError on damage, and if there is nothing to redraw."""
        self.folder = folder
        if not folder.is_dir():
            raise RecordError(f"{folder} is no run folder")
        if not (folder / FRAMES_FILE).is_file():
            raise RecordError(f"{folder} holds no {FRAMES_FILE}; only embodied worlds are redrawn")
        self.config = _read_json(folder / "config.json") or {}
        self.summary = _read_json(folder / "summary.json")
        self.timing = _read_json(folder / "timing.json")
        self.frames = Frames.read(folder / FRAMES_FILE)
        self.story = Story.of(read_events(folder / EVENTS_FILE))
        if not self.story.start:
            raise RecordError(f"{folder / EVENTS_FILE} does not begin with run_started")
        self.steps = min(self.frames.steps, self.story.steps)
        self.name = folder.resolve().name
        self._painters: dict[Json, MapPainter | Dashboard] = {}

    @cached_property
    def events(self) -> list[dict[str, Json]]:
        """All events, read when first asked for: of a long run they are many."""
        return read_events(self.folder / EVENTS_FILE)

    @property
    def agents(self) -> int:
        """How many agents play."""
        return self.story.agents

    def redraw(self, step: int) -> Layers:
        """The layers of `step`, as they were live."""
        return self.frames.redraw(step)

    def picture(
        self,
        step: int,
        scale: int | None = None,
        panel: str = "map",
        chosen: AgentId | None = None,
    ) -> ndarray:
        """The picture of a step: [Y, X, 4] uint8, red, green, blue, alpha; the caller's own.

        scale: pixels a cell, None: as fits. panel: `map`, or `full` with everything around it.
        chosen: the agent that is marked, and told about (`full`: agent 0 if not given).
        Raises ConfigError on another panel, scale or agent, RecordError on a step outside the run.
        """
        canvas = self.canvas(step, scale, panel, chosen)
        return canvas.view(np.uint8).reshape(*canvas.shape, 4).copy()

    def canvas(self, step: int, scale: int | None, panel: str, chosen: AgentId | None) -> ndarray:
        """As `picture`, but [Y, X] uint32 and overwritten by the next call."""
        self._check(scale, panel, chosen)
        layers = self.redraw(step)
        painter = self._painters.get((scale, panel))
        if painter is None:
            painter = self._painters[scale, panel] = self._painter(layers, scale, panel)
        if isinstance(painter, MapPainter):
            return painter.draw(layers, marks_of(self.story, step, chosen))
        return painter.draw(layers, View(step=step, chosen=chosen or 0))

    def _painter(self, layers: Layers, scale: int | None, panel: str) -> MapPainter | Dashboard:
        frames = self.frames
        painter = MapPainter(frames.world, frames.legend, layers, scale)
        if panel == "map":
            return painter
        shape = shape_around(*painter.canvas.shape)
        size = painter.camera.size
        return Dashboard(self.story, frames.world, frames.legend, layers, shape, self.name, size)

    def _check(self, scale: int | None, panel: str, chosen: AgentId | None) -> None:
        if panel not in PANELS:
            raise ConfigError(f'panel = "{panel}": allowed {", ".join(PANELS)}')
        if scale is not None and not 1 <= scale <= LARGEST_SCALE:
            raise ConfigError(f"scale = {scale}: allowed 1 to {LARGEST_SCALE}")
        if chosen is not None and not 0 <= chosen < self.agents:
            raise ConfigError(f"agent = {chosen}: allowed 0 to {self.agents - 1}")


def open_run(folder: Path | str) -> RecordedRun:
    """The run recorded in `folder`. Raises RecordError."""
    return RecordedRun(Path(folder))


def _read_json(path: Path) -> dict[str, Json] | None:
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise RecordError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise RecordError(f"{path} holds no object")
    return value
