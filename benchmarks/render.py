"""What pictures cost: frames of both worlds drawn one after another, films, the page.

Worlds are real, played at random; every frame differs from the one before. The time of the film
encoder, which is another process, counts.
`python -m benchmarks.render` prints a row a line.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy import ndarray

from benchmarks.timing import Row, interleaved, show
from cognitive.events import EventLog
from render.frames import MapPainter
from render.page import write_page
from render.replay import FrameEncoder, RecordedRun, open_run
from render.video import export_gif, export_mp4
from worlds.api import Json, World
from worlds.registry import make

FRAMES = 40
FILM_STEPS = 120
FILM_PIXELS = 512
BARS = {
    "frame of macrafter 64x64 at 16 px": (2500.0, 6000.0),
    "frame of cube 256x256 at 4 px": (700.0, 1500.0),
    "gif at 512 px": (4.0, 2.0),
    "mp4 at 512 px": (8.0, 6.0),
}
"""Must and aim."""


def played(world: World, steps: int) -> list[dict[str, ndarray]]:
    """Layers of the first steps of a random episode."""
    random = np.random.default_rng(0)
    state = world.rules.reset(0)
    layers = [world.rules.frame(state)]
    for _ in range(steps):
        actions = random.integers(0, 5, (1, world.rules.agents)).astype(np.int32)
        world.rules.step(state, actions)
        layers.append(world.rules.frame(state))
    return layers


def frames_per_second(painter: MapPainter, layers: list[dict[str, ndarray]]) -> float:
    """Frames per CPU second, over one pass of an episode."""
    began = time.process_time()
    for one in layers:
        painter.draw(one)
    return len(layers) / (time.process_time() - began)


class _Lines:
    """A sink that keeps the events."""

    def __init__(self) -> None:
        self.lines: list[Json] = []

    def event(self, line: Json) -> None:
        self.lines.append(line)

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Frames are written apart."""

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def recorded(world: World, folder: Path) -> RecordedRun:
    """A run folder of a random episode without any planner."""
    sink = _Lines()
    log = EventLog(sink)
    agents = world.rules.agents
    log.write(
        "run_started", 0, 0, "cooplab", 1, world.id, "", agents, 0, "", {}, "always", {},
        ["random"] * agents, {},
    )  # fmt: skip
    encoder = FrameEncoder(world.id, world.rules.legend)
    data = b""
    for step, layers in enumerate(played(world, FILM_STEPS)):
        data += encoder.encode(step, layers)
        if step:
            log.write("step", step, 0, [0] * agents, [0.0] * agents, list(range(agents)))
    (folder / "frames.jsonl").write_bytes(data)
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in sink.lines))
    return open_run(folder)


def cpu_seconds() -> float:
    """CPU time of this process and of the encoders it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def film_ms(run: RecordedRun, kind: str, folder: Path) -> float:
    """CPU milliseconds a frame at 512 px, the encoder's included."""
    export = {"gif": export_gif, "mp4": export_mp4}[kind]
    scale = FILM_PIXELS // max(run.redraw(0)["material"].shape)
    began = cpu_seconds()
    export(run, folder / f"film.{kind}", scale=scale)
    return (cpu_seconds() - began) * 1000 / (FILM_STEPS + 1)


def page_ms(run: RecordedRun, folder: Path) -> float:
    """CPU milliseconds to write the page of a run."""
    began = time.process_time()
    write_page(run, folder / "page.html")
    return (time.process_time() - began) * 1000


def rows(is_quick: bool = False) -> list[Row]:
    """All rows; quick leaves out the films."""
    survival = make("macrafter-v1:paper", max_steps=FILM_STEPS + 1)
    board = make("cube-v1:chain", n=256)
    assert isinstance(survival, World) and isinstance(board, World)
    measures: dict[str, Callable[[], float]] = {}
    for name, world, size in (
        ("frame of macrafter 64x64 at 16 px", survival, 16),
        ("frame of cube 256x256 at 4 px", board, 4),
    ):
        layers = played(world, FRAMES)
        painter = MapPainter(world.id, world.rules.legend, layers[0], size)
        frames_per_second(painter, layers)
        measures[name] = lambda p=painter, all_=layers: frames_per_second(p, all_)
    found = {name: (pair, "frames/s") for name, pair in interleaved(measures).items()}
    if not is_quick:
        with TemporaryDirectory() as name:
            folder = Path(name)
            run = recorded(survival, folder)
            films: dict[str, Callable[[], float]] = {
                "gif at 512 px": lambda: film_ms(run, "gif", folder),
                "mp4 at 512 px": lambda: film_ms(run, "mp4", folder),
                "page of 3 agents x 120 steps": lambda: page_ms(run, folder),
            }
            for measure in films.values():
                measure()
            for film, pair in interleaved(films).items():
                found[film] = (pair, "ms" if film.startswith("page") else "ms/frame")
    return [
        Row(name, figure, unit, base, figure / base, *BARS.get(name, (None, None)))
        for name, ((figure, base), unit) in found.items()
    ]


if __name__ == "__main__":
    show(rows())
