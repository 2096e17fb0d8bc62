"""Pictures and films of a recorded run: PNG and GIF written here, MP4 through ffmpeg."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy import ndarray

from cognitive.errors import ConfigError, MissingPrerequisite
from primitives.draw_kernels import (
    HASH_SIZE,
    count_colors,
    index_colors,
    lzw_encode,
    nearest_colors,
)
from render.replay import RecordedRun
from worlds.api import AgentId

__all__ = ["SIZE_LIMIT", "export_gif", "export_mp4", "export_png", "png_bytes"]

SIZE_LIMIT = 200_000_000
"""Bytes a film may have."""
FPS = 8
SCALE = 16
FASTEST = {"gif": 50, "mp4": 120}
MP4_QUALITY = 18
PALETTE = 256
COLOR_TABLE = 1 << 16
SAMPLED_FRAMES = 24
MEGABYTE = 1_000_000


# --- PNG -----------------------------------------------------------------------------------------


def png_bytes(canvas: ndarray, has_alpha: bool = False) -> bytes:
    """A canvas [Y, X] uint32 as a PNG file; equal canvases give equal bytes."""
    height, width = canvas.shape
    channels = 4 if has_alpha else 3
    lines = np.zeros((height, 1 + channels * width), np.uint8)
    parts = canvas.view(np.uint8).reshape(height, width, 4)[..., :channels]
    lines[:, 1:] = parts.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 6 if has_alpha else 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    check = zlib.crc32(data, zlib.crc32(name))
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def export_png(
    run: RecordedRun,
    out: Path | str,
    *,
    step: int | None = None,
    scale: int | None = SCALE,
    panel: str = "map",
    chosen: AgentId | None = None,
) -> Path:
    """One frame as a picture; step: None is the last. Arguments and errors as RecordedRun.picture.

    Raises ConfigError if the file cannot be written.
    """
    step = run.steps if step is None else step
    path = Path(out)
    with _writing(path) as file:
        file.write(png_bytes(run.canvas(step, scale, panel, chosen)))
    return path


# --- films ---------------------------------------------------------------------------------------


def export_gif(
    run: RecordedRun,
    out: Path | str,
    *,
    fps: int = FPS,
    scale: int | None = SCALE,
    start: int = 0,
    stop: int | None = None,
    panel: str = "map",
    chosen: AgentId | None = None,
) -> Path:
    """Steps `start` to `stop` (None: the last) as a GIF that repeats, one frame a step.

    Frames have exactly the size of `RecordedRun.picture`; up to 255 colours are kept as they are,
    of more those that are alike become one. A GIF counts time in 1/100 s: fps is met on average.
    Raises ConfigError on a bad argument, and on more than 200 MB, with the size expected.
    """
    steps = _steps(run, "gif", fps, start, stop)
    sample = np.unique(np.linspace(start, steps[-1], SAMPLED_FRAMES).round().astype(int))
    palette = _Palette(run.canvas(step, scale, panel, chosen) for step in sample.tolist())
    path = Path(out)
    with _writing(path) as file:
        film = _Gif(file, palette, fps)
        for number, step in enumerate(steps, 1):
            film.add(run.canvas(step, scale, panel, chosen))
            _check_size(path, file.tell(), number, len(steps))
        film.close()
    return path


def export_mp4(
    run: RecordedRun,
    out: Path | str,
    *,
    fps: int = FPS,
    scale: int | None = SCALE,
    start: int = 0,
    stop: int | None = None,
    panel: str = "map",
    chosen: AgentId | None = None,
) -> Path:
    """Steps `start` to `stop` (None: the last) as an MP4 film (H.264), one frame a step.

    MP4 wants even sizes: an odd height or width gets one dark row below or column at the right.
    Raises ConfigError as `export_gif`, MissingPrerequisite without the extra `video`.
    """
    ffmpeg = _ffmpeg()
    steps = _steps(run, "mp4", fps, start, stop)
    path = Path(out)
    height, width = (side + side % 2 for side in run.canvas(start, scale, panel, chosen).shape)
    _writing(path).close()
    film = ffmpeg.write_frames(
        str(path),
        (width, height),
        fps=fps,
        macro_block_size=1,
        pix_fmt_in="rgba",
        quality=None,
        output_params=["-crf", str(MP4_QUALITY), "-preset", "veryfast", "-bitexact"],
        ffmpeg_log_level="error",
    )
    film.send(None)
    try:
        for number, step in enumerate(steps, 1):
            film.send(_padded(run.canvas(step, scale, panel, chosen), height, width))
            _check_size(path, path.stat().st_size, number, len(steps))
    finally:
        film.close()
    _check_size(path, path.stat().st_size, len(steps), len(steps))
    return path


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingPrerequisite(
            "MP4 needs imageio-ffmpeg: pip install 'cooplab[video]'"
        ) from error
    return imageio_ffmpeg


def _steps(run: RecordedRun, kind: str, fps: int, start: int, stop: int | None) -> range:
    stop = run.steps if stop is None else stop
    if not 1 <= fps <= FASTEST[kind]:
        raise ConfigError(f"fps = {fps}: allowed 1 to {FASTEST[kind]} for {kind}")
    if not 0 <= start <= stop <= run.steps:
        raise ConfigError(f"steps {start} to {stop}: allowed are steps 0 to {run.steps} in order")
    return range(start, stop + 1)


def _writing(path: Path) -> IO[bytes]:
    try:
        return path.open("wb")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


def _check_size(path: Path, size: int, done: int, of: int) -> None:
    if size > SIZE_LIMIT:
        path.unlink(missing_ok=True)
        expected = size * of / done / MEGABYTE
        raise ConfigError(
            f"{path.name}: {of} frames would take about {expected:.0f} MB; allowed "
            f"{SIZE_LIMIT // MEGABYTE} MB: take fewer steps or a smaller scale"
        )


def _padded(canvas: ndarray, height: int, width: int) -> bytes:
    if canvas.shape == (height, width):
        return canvas.tobytes()
    larger = np.full((height, width), 0xFF000000, np.uint32)
    larger[: canvas.shape[0], : canvas.shape[1]] = canvas
    return larger.tobytes()


# --- GIF -----------------------------------------------------------------------------------------


class _Palette:
    """Up to 255 colours that stand for those of a sample, and where every colour belongs.

    The last place is kept for "as in the frame before".
    """

    CLEAR = PALETTE - 1

    def __init__(self, sample: Iterator[ndarray]) -> None:
        self.table, counts = np.full(COLOR_TABLE, -1, np.int64), np.zeros(COLOR_TABLE, np.int64)
        for canvas in sample:
            count_colors(canvas, self.table, counts)
        used = np.flatnonzero(self.table >= 0)
        used = used[np.argsort(self.table[used])]
        found = self.table[used]
        parts = np.stack([found & 255, found >> 8 & 255, found >> 16], 1)
        groups = _grouped(parts, counts[used], self.CLEAR)
        self.colors = np.array([_mean(parts[g], counts[used][g]) for g in groups], np.int64)
        self.places = np.zeros(COLOR_TABLE, np.uint8)
        for place, group in enumerate(groups):
            self.places[used[group]] = place
        self.coarse = np.empty(1 << 15, np.uint8)
        nearest_colors(self.colors, self.coarse)

    def bytes(self) -> bytes:
        """Red, green, blue of each of the 256 places."""
        parts = np.zeros((PALETTE, 3), np.uint8)
        parts[: len(self.colors)] = self.colors
        return parts.tobytes()


def _grouped(parts: ndarray, counts: ndarray, limit: int) -> list[ndarray]:
    """Colours in at most `limit` groups of like ones: the widest group is cut, again and again.

    parts: [N, 3] int64. counts: [N] int64, pixels of each. Returns indices by group.
    """
    if len(parts) <= limit:
        return [np.array([index]) for index in range(len(parts))]
    groups = [np.arange(len(parts))]
    spreads = [_spread(parts, counts)]
    while len(groups) < limit:
        widest = max(range(len(groups)), key=lambda place: max(spreads[place]))
        group, axis = groups[widest], spreads[widest].index(max(spreads[widest]))
        values = parts[group, axis]
        middle = np.average(values, weights=counts[group])
        halves = [group[values <= middle], group[values > middle]]
        if not halves[1].size:
            break
        groups[widest : widest + 1] = halves
        spreads[widest : widest + 1] = [_spread(parts[half], counts[half]) for half in halves]
    return groups


def _spread(parts: ndarray, counts: ndarray) -> list[float]:
    """Weighted sum of squares about the mean, by channel; grows with what a cut would mend."""
    mean = np.average(parts, axis=0, weights=counts)
    spread: list[float] = (counts @ (parts - mean) ** 2).tolist()
    return spread


def _mean(parts: ndarray, counts: ndarray) -> ndarray:
    return np.average(parts, axis=0, weights=counts).round()


class _Gif:
    """Writes an animated GIF; a frame holds the rectangle that changed, and there what changed."""

    def __init__(self, file: IO[bytes], palette: _Palette, fps: int) -> None:
        self._file = file
        self._palette = palette
        self._fps = fps
        self._count = 0
        self._last: ndarray = np.zeros((0, 0), np.uint8)
        self._scratch = (np.empty(HASH_SIZE, np.int64), np.empty(HASH_SIZE, np.int64))

    def add(self, canvas: ndarray) -> None:
        """The next frame."""
        palette = self._palette
        pixels = np.empty(canvas.shape, np.uint8)
        index_colors(canvas, palette.table, palette.places, palette.coarse, pixels)
        if self._count == 0:
            self._begin(*canvas.shape)
            self._write(pixels, 0, 0, has_clear=False)
        else:
            changed = pixels != self._last
            rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
            top, left = (int(rows[0]), int(columns[0])) if rows.size else (0, 0)
            bottom, right = (int(rows[-1]), int(columns[-1])) if rows.size else (0, 0)
            part = np.s_[top : bottom + 1, left : right + 1]
            shown = np.where(changed[part], pixels[part], np.uint8(palette.CLEAR))
            self._write(shown, top, left, has_clear=True)
        self._last = pixels

    def close(self) -> None:
        self._file.write(b"\x3b")

    def _begin(self, height: int, width: int) -> None:
        self._file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0))
        self._file.write(self._palette.bytes())
        self._file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")

    def _write(self, pixels: ndarray, top: int, left: int, has_clear: bool) -> None:
        self._count += 1
        delay = 100 * self._count // self._fps - 100 * (self._count - 1) // self._fps
        flags = 0x04 | has_clear
        control = struct.pack("<BHB", flags, delay, self._palette.CLEAR)
        self._file.write(b"\x21\xf9\x04" + control + b"\x00")
        height, width = pixels.shape
        self._file.write(b"\x2c" + struct.pack("<HHHHB", left, top, width, height, 0) + b"\x08")
        out = np.empty(2 * pixels.size + 64, np.uint8)
        size = lzw_encode(np.ascontiguousarray(pixels).reshape(-1), *self._scratch, out)
        data = out[:size].tobytes()
        for at in range(0, size, 255):
            block = data[at : at + 255]
            self._file.write(bytes([len(block)]) + block)
        self._file.write(b"\x00")
