"""One run: what it leaves behind, and that kills, stops and limits lose nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import pytest

from cognitive.errors import RecordError
from cognitive.events import read_events
from lab import config, records
from lab.columns import measure
from lab.run import Company, Orders, execute
from lab.stopping import Stop
from lab.trace import Trace
from render.replay import Frames

FILES = (records.EVENTS, records.FRAMES, records.SUMMARY)


def settings(*assignments, preset="cube-quorum"):
    raw = config.read_source(preset, "run")
    for text in ("budget.steps=12", *assignments):
        config.assign(raw, *config.parse_assignment(text))
    return records.canonical(config.resolve(raw))


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def play(folder, *assignments, **orders):
    return execute(settings(*assignments), folder, Orders(**orders))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "whole"
    assert play(folder, "repair=on").status == "finished"
    return folder


def copy_cut(whole, folder, events, frames):
    """A copy of a run as a kill leaves it: cut files, no summary."""
    folder.mkdir()
    for name, length in ((records.EVENTS, events), (records.FRAMES, frames)):
        (folder / name).write_bytes((whole / name).read_bytes()[:length])
    (folder / records.CONFIG).write_bytes((whole / records.CONFIG).read_bytes())


def test_a_run_leaves_every_file_and_no_draft(whole):
    expected = {records.CONFIG, records.EVENTS, records.FRAMES, records.TIMING, records.SUMMARY}
    assert {path.name for path in whole.iterdir()} == expected
    assert records.status(whole, is_thorough=True) == "finished"
    timing = json.loads((whole / records.TIMING).read_text())
    assert timing["wall_seconds"] > 0 and timing["versions"]["numpy"], timing


def test_the_config_is_canonical_and_holds_every_default(whole):
    text = (whole / records.CONFIG).read_text()
    found = json.loads(text)
    assert text == records.canonical(found)
    assert found["world"]["side"] is None and found["world"]["placement"] == "moat"
    assert config.resolve(config.reopened(found)) == found


def test_the_summary_follows_from_the_events(whole):
    summary = json.loads((whole / records.SUMMARY).read_text())
    found = records.read_json(whole / records.CONFIG)
    trace = Trace(read_events(whole / records.EVENTS), found)
    assert summary["metrics"] == measure(trace)
    sends = [summary["metrics"][key] for key in summary["metrics"] if key.startswith("messages_")]
    kinds = sum(summary["per_kind"]["messages"].values())
    system = summary["metrics"]["messages_system"]
    assert summary["metrics"]["messages"] + system == kinds and sends
    for agent in range(3):
        stays = [stay.end - stay.start for stay in trace.stages if stay.agent == agent]
        assert sum(stays) == trace.run_ms
    points = sum(event["points"] for event in trace.by_type["score"])
    assert summary["metrics"]["score"] == points


def test_there_is_a_frame_of_every_step(whole):
    frames = Frames.read(whole / records.FRAMES)
    steps = sum(event["e"] == "step" for event in read_events(whole / records.EVENTS))
    assert frames.steps == steps and frames.redraw(steps)["agent_cell"].shape == (3, 2)


def test_the_same_config_gives_the_same_bytes(whole, tmp_path):
    play(tmp_path / "again", "repair=on")
    assert contents(tmp_path / "again") == contents(whole)


class Looking:
    """A sink that redraws the world at every step, as a viewer does."""

    def __init__(self, parts):
        self._text = parts.world.text
        self.seen = 0

    def event(self, line):
        json.dumps(line)

    def frame(self, step, layers):
        self.seen += sum(int(layer.sum()) for layer in layers.values())

    def flush(self):
        pass

    def close(self):
        pass


def test_looking_on_changes_nothing(whole, tmp_path):
    company = Company(sinks=lambda parts: (Looking(parts),))
    execute(settings("repair=on"), tmp_path / "seen", None, company)
    assert contents(tmp_path / "seen") == contents(whole)


def test_hash_order_changes_nothing(whole, tmp_path):
    script = (
        "import pathlib, sys\nfrom lab.run import execute\n"
        "execute(sys.argv[1], pathlib.Path(sys.argv[2]))"
    )
    folder = tmp_path / "hashed"
    env = {**os.environ, "PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", script, settings("repair=on"), str(folder)]
    subprocess.run(command, check=True, env=env)
    assert contents(folder) == contents(whole)


def test_a_kill_after_any_byte_is_made_good_by_a_resume(whole, tmp_path):
    chance = random.Random(7)
    sizes = [(whole / name).stat().st_size for name in (records.EVENTS, records.FRAMES)]
    cuts = [(0, 0), (1, sizes[1]), (sizes[0], 0), (sizes[0] - 1, sizes[1] - 1)]
    cuts += [(chance.randrange(sizes[0]), chance.randrange(sizes[1])) for _ in range(10)]
    for number, (events, frames) in enumerate(cuts):
        folder = tmp_path / str(number)
        copy_cut(whole, folder, events, frames)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert play(folder, "repair=on", manner="resume").status == "finished", (events, frames)
        assert contents(folder) == contents(whole), (events, frames)


def test_resuming_a_finished_run_changes_nothing(whole, tmp_path):
    folder = tmp_path / "run"
    copy_cut(whole, folder, 10**9, 10**9)
    (folder / records.SUMMARY).write_bytes((whole / records.SUMMARY).read_bytes())
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert play(folder, "repair=on", manner="resume").status == "finished"
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_record_that_does_not_come_out_again_is_left_alone(whole, tmp_path):
    folder = tmp_path / "run"
    copy_cut(whole, folder, 20_000, 10**9)
    path = folder / records.EVENTS
    lines = path.read_bytes().split(b"\n")
    number = next(i for i, line in enumerate(lines) if b'"e":"step"' in line)
    lines[number] = lines[number].replace(b'"primitives":[', b'"primitives":[9,')
    path.write_bytes(b"\n".join(lines))
    before = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RecordError, match=rf"line {number + 1}: recorded .*, now "):
            play(folder, "repair=on", manner="resume")
    after = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    assert {name: after[name] for name in before} == before


def test_a_stopped_run_goes_on_to_the_same_end(whole, tmp_path):
    stop = Stop()

    class AfterSome(Looking):
        def frame(self, step, layers):
            if step == 5:
                stop.ask()

    company = Company(stop, sinks=lambda parts: (AfterSome(parts),))
    folder = tmp_path / "run"
    outcome = execute(settings("repair=on"), folder, Orders(), company)
    assert (outcome.status, outcome.ended_by) == ("stopped", "stopped")
    assert records.status(folder, is_thorough=True) == "stopped"
    assert play(folder, "repair=on", manner="resume").status == "finished"
    assert contents(folder) == contents(whole)


def test_a_run_goes_on_when_it_is_given_more_steps(tmp_path):
    short, long = tmp_path / "short", tmp_path / "long"
    play(short, "budget.steps=8")
    play(short, "budget.steps=14", manner="resume")
    play(long, "budget.steps=14")
    events = [read_events(folder / records.EVENTS) for folder in (short, long)]
    assert events[0] == events[1]


def test_a_folder_with_another_config_is_refused(whole):
    with pytest.raises(RecordError, match=r"holds another config \(seed 0, not 2\); choose --out"):
        play(whole, "repair=on", "seed=2")
    with pytest.raises(RecordError, match=r"holds a finished run; choose --out or --resume"):
        play(whole, "repair=on")
    with pytest.raises(RecordError, match=r"another config \(interrupts\.policy always, not nev"):
        play(whole, "repair=on", "interrupts=never", manner="resume")


def test_a_foreign_folder_is_never_written_into(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(RecordError, match="is no run folder and not empty"):
        play(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


class Full(Looking):
    def event(self, line):
        if line["step"] >= 4:
            raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_whole_lines(tmp_path):
    company = Company(sinks=lambda parts: (Full(parts),))
    with pytest.raises(OSError, match="No space"):
        execute(settings(), tmp_path / "run", Orders(), company)
    assert records.status(tmp_path / "run") == "partial"
    assert read_events(tmp_path / "run" / records.EVENTS)[-1]["step"] == 4


def test_an_error_of_the_world_is_on_record(tmp_path, monkeypatch):
    def broken(config, real=config.make_world):
        world = real(config)

        def report(state):
            raise ZeroDivisionError("a world went wrong")

        rules = Broken(world.rules, report)
        return world._replace(rules=rules)

    monkeypatch.setattr(config, "make_world", broken)
    outcome = execute(settings(), tmp_path / "run")
    assert outcome.status == "failed" and "a world went wrong" in outcome.error, outcome
    summary = records.read_json(tmp_path / "run" / records.SUMMARY)
    assert summary["error"] == {
        "class": "ZeroDivisionError",
        "message": "a world went wrong",
        "step": 1,
    }
    calls = (tmp_path / "run" / records.CALLS).read_text()
    assert "Traceback" in calls and "a world went wrong" in calls


class Broken:
    """Rules whose report raises."""

    def __init__(self, rules, report):
        self.agents = rules.agents
        self.actions = rules.actions
        self.argument_count = rules.argument_count
        self.legend = rules.legend
        self.reset = rules.reset
        self.step = rules.step
        self.living = rules.living
        self.observe = rules.observe
        self.frame = rules.frame
        self.clone = rules.clone
        self.reseed = rules.reseed
        self.report = report


def test_kill_minus_9_leaves_a_folder_that_can_be_read_and_resumed(tmp_path):
    """A crash loses nothing that was written (field case 49)."""
    long = ("planner=random", "topology=individual", "budget.steps=60")
    script = (
        "import pathlib, sys\nfrom lab.run import execute\n"
        "execute(sys.argv[1], pathlib.Path(sys.argv[2]))"
    )
    folder = tmp_path / "killed"
    command = [sys.executable, "-c", script, settings(*long), str(folder)]
    process = subprocess.Popen(command)
    events = folder / records.EVENTS
    deadline = time.monotonic() + 60
    while not (events.exists() and events.stat().st_size > 4000) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_events(events)
        if records.status(folder) == "partial":
            play(folder, *long, manner="resume")
    play(tmp_path / "whole", *long)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_run_has_one_writer(whole):
    with records.RunLock(whole), pytest.raises(RecordError, match="is being written by process"):
        play(whole, "repair=on", manner="resume")
