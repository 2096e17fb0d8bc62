"""Runs played by the real loop: recorded and live pictures agree, and looking changes no byte."""

import os

import numpy as np
import pytest

from lab import config, records
from lab.run import Company, execute
from render.frames import MapPainter, marks_of
from render.page import write_page
from render.replay import open_run
from render.story import Story
from render.video import png_bytes
from render.window import LiveWindow

RUNS = {
    "cube": ("cube-quorum", {"repair": "on", "planner": "greedy", "topology.kind": "chain"}),
    "macrafter": ("macrafter-paper", {"topology.kind": "centralized"}),
}
SIZE = 10


def settings(kind: str) -> str:
    preset, changes = RUNS[kind]
    raw = config.read_source(preset, "run")
    for key, value in (*changes.items(), ("budget.steps", 25)):
        config.assign(raw, key, value)
    return records.canonical(config.resolve(raw))


class Watcher:
    """A sink that draws every frame as it comes, by what has been told so far."""

    def __init__(self, world: str, legend) -> None:
        self.world, self.legend = world, legend
        self.story = Story()
        self.layers: list[dict[str, np.ndarray]] = []
        self.bare: list[np.ndarray] = []
        self.painter: MapPainter | None = None

    def event(self, line) -> None:
        self.story.take(line)

    def frame(self, step: int, layers) -> None:
        assert step == len(self.layers)
        self.layers.append({name: array.copy() for name, array in layers.items()})
        if self.painter is None:
            self.painter = MapPainter(self.world, self.legend, layers, SIZE)
        self.bare.append(self.painter.draw(layers).copy())

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="module", params=list(RUNS))
def watched(request, tmp_path_factory):
    """A run that was watched while it played: its folder, and who watched."""
    folder = tmp_path_factory.mktemp("watched") / request.param
    watchers: list[Watcher] = []

    def sinks(parts):
        watchers.append(Watcher(parts.world.id, parts.world.rules.legend))
        return watchers

    execute(settings(request.param), folder, None, Company(sinks=sinks))
    return folder, watchers[0], request.param


def test_every_step_is_redrawn_as_it_was_live(watched):
    folder, watcher, _ = watched
    run = open_run(folder)
    assert run.steps == len(watcher.layers) - 1 == 25
    for step in (25, 0, 13, 12, 24, 1):
        layers = run.redraw(step)
        assert layers.keys() == watcher.layers[step].keys()
        for name, array in layers.items():
            assert array.dtype == watcher.layers[step][name].dtype
            assert np.array_equal(array, watcher.layers[step][name]), f"{name} of step {step}"
        painter = MapPainter(run.frames.world, run.frames.legend, layers, SIZE)
        assert np.array_equal(painter.draw(layers), watcher.bare[step]), f"step {step}"


def test_what_the_recording_tells_is_what_was_told_live(watched):
    folder, watcher, _ = watched
    run = open_run(folder)
    for step in range(26):
        assert marks_of(run.story, step) == marks_of(watcher.story, step), f"step {step}"


def test_looking_changes_no_byte_of_a_run(watched, tmp_path, monkeypatch):
    """With a window, a drawing watcher, or nobody: the same bytes (field case 2)."""
    pytest.importorskip("pygame", reason="needs cooplab[gui]")
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")
    folder, _, kind = watched

    def window(parts):
        return (LiveWindow(parts.world.id, parts.world.rules.legend, "seen"),)

    execute(settings(kind), tmp_path / "seen", None, Company(sinks=window))
    execute(settings(kind), tmp_path / "unseen")
    for name in ("events.jsonl", "frames.jsonl", "summary.json"):
        due = (tmp_path / "unseen" / name).read_bytes()
        assert (tmp_path / "seen" / name).read_bytes() == due, name
        assert (folder / name).read_bytes() == due, name


def test_exports_change_no_byte_of_the_folder(watched, tmp_path):
    folder, _, _ = watched
    before = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    run = open_run(folder)
    write_page(run, tmp_path / "page.html")
    png_bytes(run.canvas(13, 8, "full", 1))
    assert {path.name: path.read_bytes() for path in sorted(folder.iterdir())} == before


def test_tasks_of_plans_are_found_on_the_map(watched):
    """What agents plan can be pointed at, as long as it is there."""
    folder, _, _ = watched
    run = open_run(folder)
    found = total = 0
    for step in range(0, 26, 5):
        layers = run.redraw(step)
        painter = MapPainter(run.frames.world, run.frames.legend, layers, SIZE)
        for mark in marks_of(run.story, step).plans:
            total += 1
            found += painter.look.target(layers, mark.task) is not None
    assert total >= 10
    assert found >= 0.7 * total, f"{found} of {total}"
