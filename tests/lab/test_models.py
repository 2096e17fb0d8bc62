"""Runs with models behind an endpoint: recorded, limited, resumed, replayed; nothing paid twice."""

import asyncio
import json
import threading

import pytest

from cognitive.clients.fake import FakeServer
from lab import records
from lab.cli import app

KEY = "sk-a-key-nobody-may-see"
RUN = """
planner = "fake"
[world]
id = "cube-v1"
preset = "quorum"
[topology]
kind = "chain"
[budget]
steps = 6
[planners.fake]
kind = "llm"
model = "tiny"
base_url_env = "FAKE_URL"
api_key_env = "FAKE_KEY"
"""


class Endpoint:
    """A fake service in a thread of its own."""

    def __init__(self, script=(), otherwise="ok"):
        self.server = FakeServer(script, otherwise)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._do(self.server.start())
        return self

    def __exit__(self, *_):
        self._do(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work):
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    @property
    def calls(self):
        """Chat completions asked for so far."""
        return sum(r.path.endswith("/chat/completions") for r in self.server.received)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAKE_KEY", KEY)
    (tmp_path / "my.toml").write_text(RUN)
    return tmp_path


def point_to(endpoint, monkeypatch):
    monkeypatch.setenv("FAKE_URL", endpoint.server.base_url)


def run(*more):
    return app(["run", "my.toml", "--quiet", *more])


def contents(folder):
    names = (records.EVENTS, records.FRAMES, records.SUMMARY)
    return {name: (folder / name).read_bytes() for name in names}


def test_a_recorded_run_is_replayed_without_a_call(home, monkeypatch, capsys):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "first") == 0
        asked = endpoint.calls
        summary = records.read_json(home / "first" / records.SUMMARY)
        assert summary["usage"]["calls"] == summary["metrics"]["calls"] == asked > 3
        assert sum(summary["usage"]["by_agent"]) == summary["metrics"]["tokens"] > 0
    monkeypatch.delenv("FAKE_KEY")
    assert app(["replay", "first", "--check"]) == 0
    capsys.readouterr()
    assert app(["replay", "first", "--prompt", "0:d0"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("=== system ===") and "=== reply (run/0/d0/1, requests 1" in text


def test_the_key_is_in_no_file_and_the_address_in_no_event(home, monkeypatch):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "first") == 0
        address = endpoint.server.base_url
    for path in (home / "first").iterdir():
        text = path.read_text()
        assert KEY not in text and address not in text, path.name


def test_a_run_stopped_by_a_limit_goes_on_and_pays_no_call_twice(home, monkeypatch, capsys):
    """A restart pays for no answer again (field case 50)."""
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "whole") == 0
        whole = endpoint.calls
        assert run("--out", "cut", "--max-calls", "2") == 4
        assert endpoint.calls - whole == 2
        assert records.status(home / "cut", is_thorough=True) == "stopped"
        assert app(["replay", "cut", "--check"]) == 0
        assert app(["run", "--resume", "cut", "--quiet"]) == 0
        assert endpoint.calls == 2 * whole
    assert contents(home / "cut") == contents(home / "whole")


def test_a_killed_run_is_filled_up_from_its_cassette(home, monkeypatch):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "run") == 0
        whole, asked = contents(home / "run"), endpoint.calls
        for name in (records.EVENTS, records.FRAMES, records.CASSETTE):
            path = home / "run" / name
            path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
        (home / "run" / records.SUMMARY).unlink()
        kept = (home / "run" / records.CASSETTE).read_bytes().count(b"\n")
        assert app(["run", "--resume", "run", "--quiet"]) == 0
        assert endpoint.calls == asked + asked - kept
    assert contents(home / "run") == whole


def test_another_question_misses_the_cassette(home, monkeypatch, capsys):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "run") == 0
        code = app(["run", "--resume", "run", "--set", "planner.temperature=0.1"])
        assert code == 2 and "planner.temperature 0.7, not 0.1" in capsys.readouterr().err


def test_a_refused_key_ends_the_run_resumably(home, monkeypatch, capsys):
    with Endpoint(otherwise="status:401") as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "run") == 4
        assert endpoint.calls <= 3
    assert records.read_json(home / "run" / records.SUMMARY)["ended_by"] == "endpoint"
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert app(["run", "--resume", "run", "--quiet"]) == 0
        assert run("--out", "whole") == 0
    assert contents(home / "run") == contents(home / "whole")


def test_a_budget_of_the_config_is_a_normal_end(home, monkeypatch):
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "run", "--set", "budget.calls=3") == 0
        assert endpoint.calls == 3
    summary = records.read_json(home / "run" / records.SUMMARY)
    assert summary["ended_by"] == "calls" and summary["is_finished"]


def test_a_sweep_stops_at_its_own_limit_and_goes_on(home, monkeypatch, capsys):
    seeds = RUN.replace('planner = "fake"', "").partition("[planners.fake]")
    base = '[base]\nworld = "cube-v1:quorum"\ntopology = "chain"\n"budget.steps" = 6\n'
    grid = f'seeds = "0-1"\n{base}[axes]\nplanner = ["fake"]\n[planners.fake]{seeds[2]}'
    (home / "grid.toml").write_text(grid)
    words = ["sweep", "grid.toml", "--out", "out", "--backend", "serial", "--quiet"]
    with Endpoint() as endpoint:
        point_to(endpoint, monkeypatch)
        assert app([*words, "--max-calls", "3"]) == 4
        assert endpoint.calls == 3 and "ended by calls 3 of 3" in capsys.readouterr().out
        assert app(words) == 0
        paid = endpoint.calls
        assert app(words) == 0 and endpoint.calls == paid
    used = [
        records.read_json(folder / records.SUMMARY)["usage"]["calls"]
        for folder in records.run_folders((home / "out",))
    ]
    assert len(used) == 2 and sum(used) == paid


@pytest.mark.parametrize(
    ("preset", "only"), [("paper-table-2", "topology=chain"), ("paper-table-8", "topology=chain")]
)
def test_paper_tables_take_a_model_and_an_endpoint_with_one_flag_each(
    home, monkeypatch, capsys, preset, only
):
    words = ["sweep", preset, "--only", only, "--only", "seed=0", "--out", "out"]
    with Endpoint() as endpoint:
        address = endpoint.server.base_url
        words += ["--model", "tiny/1", "--endpoint", address, "--backend", "serial", "--quiet"]
        assert app([*words, "--dry-run"]) == 0
        assert "1 to play, 0 finished; most model calls: 3,615" in capsys.readouterr().out
        assert endpoint.calls == 0
        assert app([*words, "--key-env", "FAKE_KEY"]) == 0
        assert {got.body["model"] for got in endpoint.server.received} == {"tiny/1"}
        sent = {got.headers.get("authorization") for got in endpoint.server.received}
    text = capsys.readouterr().out
    assert "3 agents, tiny-1, repair off" in text and "Chain † GPT-5.4-mini" in text, text
    assert sent == {f"Bearer {KEY}"} and f"{endpoint.calls:,}" != "0"
    (folder,) = records.run_folders((home / "out",))
    for path in folder.iterdir():
        assert address not in path.read_text() and KEY not in path.read_text(), path.name


def test_a_run_takes_a_model_and_an_endpoint_and_is_resumed_at_another(home, capsys):
    words = ["run", "cube-quorum", "--quiet", "--set", "budget.steps=3", "--out", "run"]
    with Endpoint() as endpoint:
        words += ["--model", "tiny", "--endpoint", endpoint.server.base_url]
        assert app([*words, "--max-calls", "2"]) == 4
    resume = ["run", "--resume", "run", "--quiet"]
    with Endpoint() as endpoint:
        assert app([*resume, "--endpoint", endpoint.server.base_url]) == 0
        assert endpoint.calls > 0
    assert app([*resume, "--model", "other"]) == 2
    assert app(["run", "--endpoint", "localhost:80"]) == 2
    assert app(["run", "--key-env", "FAKE_KEY"]) == 2
    assert app(["sweep", "scaling", "--dry-run", "--planner", "greedy", "--model", "m"]) == 2
    errors = capsys.readouterr().err
    for says in ("keeps its planners", "allowed an address with", "only with --endpoint", "one of"):
        assert says in errors, errors


def test_wall_facts_of_calls_are_kept_apart(home, monkeypatch):
    with Endpoint(["status:500", "ok"]) as endpoint:
        point_to(endpoint, monkeypatch)
        assert run("--out", "run", "--set", "budget.steps=1") == 0
    lines = (home / "run" / records.CALLS).read_text().splitlines()
    outcomes = [json.loads(line)["outcome"] for line in lines]
    assert outcomes.count("ok") >= 1 and len(outcomes) > outcomes.count("ok"), outcomes
    timing = json.loads((home / "run" / records.TIMING).read_text())
    assert timing["seconds"]["replies"] > 0.2, timing


def test_replies_from_the_record_alone_need_one(home, capsys):
    code = run("--out", "run", "--replies", "replay")
    assert code == 2 and "no recorded reply for run/0/d0/1" in capsys.readouterr().err
