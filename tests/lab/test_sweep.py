"""Sweeps: never twice, one failure harms nobody, the same bytes wherever they are played."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab import backends, commands_sweep, grid, records, sweep
from lab.cli import app
from lab.progress import Progress, Tally, progress_line
from lab.run import Orders
from lab.stopping import Stop

SWEEP = """
name = "small"
seeds = "0-1"
[base]
world = "cube-v1:quorum"
"budget.steps" = {steps}
[axes]
topology = ["individual", "chain"]
{more}
"""
NO_RETRY = """
[limits]
retries = 0
"""
CROWDED = """
[base]
"budget.steps" = 8
[axes]
world = [
    "cube-v1:quorum",
    { id = "cube-v1", preset = "quorum", side = 5, blocks = [[1, 9]], placement_tries = 1 },
]
[limits]
retries = 0
"""


def write(tmp_path, text=SWEEP, steps=8, more=""):
    path = tmp_path / "sweep.toml"
    path.write_text(text.replace("{steps}", str(steps)).replace("{more}", more))
    return str(path)


def start(path, out, *more, backend="serial"):
    return app(["sweep", path, "--out", str(out), "--backend", backend, "--quiet", *more])


def contents(out):
    """Every file of every run that may not depend on who played it."""
    return {
        f"{folder.name}/{name}": (folder / name).read_bytes()
        for folder in records.run_folders((out,))
        for name in (records.CONFIG, records.EVENTS, records.FRAMES, records.SUMMARY)
    }


def manifest(out):
    return [json.loads(line) for line in (out / sweep.MANIFEST).read_text().splitlines()]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    root = tmp_path_factory.mktemp("sweep")
    path = write(root)
    assert start(path, root / "out") == 0
    return path, root / "out"


def test_a_sweep_plays_every_run_once(played):
    path, out = played
    lines = [(line["run_key"], line["status"]) for line in manifest(out)]
    keys = [run.key for run in grid.read_sweep(path, None, {}).runs]
    played = [(key, status) for key in keys for status in ("running", "finished")]
    assert lines == [*((key, "pending") for key in keys), *played]


def test_a_second_start_plays_nothing(played, capsys):
    path, out = played
    before = (contents(out), manifest(out))
    assert start(path, out) == 0
    assert "4 finished (4 before), 0 failed, 0 stopped; played 0" in capsys.readouterr().out
    assert (contents(out), manifest(out)) == before


def test_a_run_alone_with_its_seed_gives_the_same_numbers(played, tmp_path):
    """One seed for each run, whoever plays it (field case 4)."""
    path, out = played
    run = grid.read_sweep(path, None, {}).runs[1]
    arguments = ["run", "--set", "topology=individual", "--set", "budget.steps=8", "--seed", "1"]
    assert app([*arguments, "--out", str(tmp_path / "one"), "--quiet"]) == 0
    alone, swept = (
        (folder / records.EVENTS).read_bytes() for folder in (tmp_path / "one", out / run.key)
    )
    assert alone == swept


def test_dry_run_lists_and_plays_nothing(tmp_path, capsys):
    assert start(write(tmp_path), tmp_path / "out", "--dry-run") == 0
    text = capsys.readouterr().out
    assert text.count("new ") == 4 and "4 to play, 0 finished; most model calls: 0" in text, text
    assert not (tmp_path / "out").exists()


def test_a_paper_table_is_played_and_printed_by_one_command(tmp_path, capsys):
    """Published value, ours, and what is known to differ (field case 58)."""
    assert start("paper-table-8", tmp_path / "out", "--planner", "scripted") == 0
    lines = capsys.readouterr().out.splitlines()
    titles = "Score Steps Score/Step Plans/Agent Msg. Intr. Total Dec. Spat. Temp. Dep."
    assert " ".join(lines[2].split()) == f"Structure {titles}"
    assert [line.split()[0] for line in lines[3:6]] == ["Individual", "Centralized", "Chain"]
    assert sum("†" in line for line in lines[6:10]) == 4, lines
    assert any(line.startswith("Known differences: ") for line in lines), lines


def test_only_plays_some(tmp_path):
    assert start(write(tmp_path), tmp_path / "out", "--only", "topology=chain") == 0
    assert len(records.run_folders((tmp_path / "out",))) == 2
    assert start(write(tmp_path), tmp_path / "out", "--only", "structure=chain") == 2


def test_a_raising_run_is_on_record_and_the_rest_finish(tmp_path, capsys):
    path, out = write(tmp_path, CROWDED), tmp_path / "out"
    assert start(path, out) == 1
    text = capsys.readouterr()
    assert "2 runs" in text.out and "1 finished (0 before), 1 failed" in text.out, text.out
    assert "UnsolvableMap" in text.err
    (line,) = [line for line in manifest(out) if line["status"] == "failed"]
    assert "UnsolvableMap" in line["error"] and line["tries"] == 1
    assert app(["table", str(out), "--columns", "score"]) == 0
    assert "]: 0 of 1 runs" in capsys.readouterr().out
    assert start(path, out) == 1, "a failed run is not tried again by itself"
    assert "played 0" in capsys.readouterr().out
    assert start(path, out, "--retry-failed") == 1
    assert manifest(out)[-1]["tries"] == 2


def test_a_failed_run_is_tried_again_up_to_retries(tmp_path):
    path = write(tmp_path, CROWDED.replace("retries = 0", "retries = 2"))
    assert start(path, tmp_path / "out") == 1
    assert [line["tries"] for line in manifest(tmp_path / "out") if line["error"]] == [1, 2, 3]


def test_a_summary_that_contradicts_its_events_is_left_alone(played, tmp_path, capsys):
    path, out = played
    shutil.copytree(out, tmp_path / "out")
    victim = records.run_folders((tmp_path / "out",))[0]
    events = victim / records.EVENTS
    events.write_bytes(events.read_bytes().replace(b'"seed":0', b'"seed":9', 1))
    assert start(path, tmp_path / "out") == 1
    assert "is damaged; see --rerun-damaged" in capsys.readouterr().err
    assert start(path, tmp_path / "out", "--rerun-damaged") == 0
    assert contents(tmp_path / "out") == contents(out)


def test_a_sweep_folder_has_one_driver(played, tmp_path, capsys):
    path, _ = played
    out = tmp_path / "out"
    out.mkdir()
    with records.RunLock(out):
        assert start(path, out) == 2
    assert "is being written by process" in capsys.readouterr().err


def writer_of(out):
    """The process that writes one of the runs now, if there is one."""
    for lock in sorted(out.glob(f"*/{records.LOCK}")):
        try:
            return json.loads(lock.read_text())["process"]
        except (OSError, ValueError):
            continue
    return None


def test_a_killed_worker_fails_its_run_and_no_other(tmp_path, monkeypatch, capsys):
    text = SWEEP.replace('["individual", "chain"]', '["individual"]')
    text = text.replace("{more}", "planner = ['random']\n{more}")
    path, out, killed = write(tmp_path, text, 60, NO_RETRY), tmp_path / "out", []

    def killer(options, console):
        def progress(tally):
            process = None if killed else writer_of(out)
            if process is not None:
                killed.append(process)
                os.kill(process, signal.SIGKILL)

        return progress

    monkeypatch.setattr(commands_sweep, "_progress", killer)
    monkeypatch.setattr(backends, "WAIT_SECONDS", 0.001)
    assert start(path, out, "--workers", "1", backend="processes") == 1
    shown = capsys.readouterr()
    assert killed and "1 finished (0 before), 1 failed" in shown.out, shown
    assert "the worker died (signal SIGKILL)" in shown.err, shown.err
    assert app(["table", str(out), "--columns", "score"]) == 0
    assert "Individual: 1 of 2 runs" in capsys.readouterr().out
    assert not multiprocessing.active_children()
    assert start(path, tmp_path / "serial") == 0
    assert start(path, out, "--retry-failed") == 0
    assert contents(out) == contents(tmp_path / "serial")


def test_two_processes_give_the_same_bytes(played, tmp_path):
    path, out = played
    assert start(path, tmp_path / "out", "--workers", "2", backend="processes") == 0
    assert contents(tmp_path / "out") == contents(out)


def test_a_local_ray_gives_the_same_bytes(played, tmp_path):
    pytest.importorskip("ray")
    path, out = played
    chosen = ("--only", "topology=chain")
    assert start(path, tmp_path / "out", "--workers", "2", *chosen, backend="ray") == 0
    found, expected = contents(tmp_path / "out"), contents(out)
    assert len(found) == 8 and found == {name: expected[name] for name in found}


def test_a_worker_without_our_files_sends_its_own_back(played, tmp_path):
    path, out = played
    run = grid.read_sweep(path, None, {}).runs[0]
    job = backends.Job(run.key, records.canonical(run.config), "elsewhere", Orders("new"))
    outcome, files, _ = backends._play_away(job, {}, str(tmp_path / "no such probe"))
    assert outcome.status == "finished"
    for name in (records.EVENTS, records.SUMMARY):
        assert files[name] == (out / run.key / name).read_bytes()


def test_ctrl_c_stops_a_sweep_and_the_same_command_goes_on(played, tmp_path, monkeypatch):
    path, out = played

    def breaker(options, console):
        return lambda tally: tally.finished == 2 and os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(commands_sweep, "_progress", breaker)
    assert start(path, tmp_path / "out") == 130
    assert len(records.run_folders((tmp_path / "out",))) == 2
    monkeypatch.undo()
    assert start(path, tmp_path / "out") == 0
    assert contents(tmp_path / "out") == contents(out)


# --- progress ------------------------------------------------------------------------------------


def test_progress_in_one_line():
    tally = Tally(120, 35, failed=2, running=4, played=10, calls=12340)
    line = progress_line(tally, 600.0)
    assert line == (
        "[===>      ] 37/120 done · 2 failed · 4 running · 1.0 runs/min · 12,340 calls · "
        "left 01:23:00"
    )


def test_without_a_terminal_there_is_a_line_every_tenth():
    said = []
    progress = Progress(False, said.append, said.append)
    for done in range(101):
        progress(Tally(100, done))
    assert len(said) == 11, said


def test_a_stop_reaches_listeners_that_come_late():
    stop, heard = Stop(), []
    stop.listen(lambda: heard.append("early"))
    stop.ask()
    stop.listen(lambda: heard.append("late"))
    stop.ask()
    assert heard == ["early", "late"] and stop.is_hard


def test_a_sweep_killed_at_random_moments_ends_with_the_same_bytes():
    """The same as the 60 runs of `python -m benchmarks.sweep_kills`, in small."""
    words = ["--runs", "6", "--kills", "2", "--seed", "4", "--backends", "processes"]
    command = [sys.executable, "-m", "benchmarks.sweep_kills", *words]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
