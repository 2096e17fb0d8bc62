"""The run folder: whole lines, whole files, one writer, damage that is named."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import warnings

import pytest

from cognitive.errors import RecordError
from cognitive.events import encode, read_events
from lab import records


def event(n, **more):
    return {"v": 1, "n": n, "e": "step", "step": n, "ms": 0, **more}


def write_events(path, count=3):
    path.write_bytes(b"".join(encode(event(n)) for n in range(count)))


def config(**changes):
    base = {
        "label": "a",
        "seed": 0,
        "agents": 3,
        "world": {"id": "cube-v1", "preset": "quorum", "side": 15},
        "topology": {"kind": "individual"},
        "planner": [{"name": "scripted", "kind": "scripted"}] * 3,
        "interrupts": {"policy": "always"},
        "clock": {"pace": "lockstep", "kind": "virtual"},
        "repair": {"name": "off"},
    }
    return {**base, **changes}


def test_a_cut_at_any_byte_loses_only_the_line_it_hit(tmp_path):
    path = tmp_path / "events.jsonl"
    write_events(path)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            events = read_events(path)
        assert len(events) == whole[:length].count(b"\n"), length
        assert bool(seen) == (length > 0 and whole[length - 1 : length] != b"\n"), length


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{broken}\n", "line 2: no JSON"),
        (b"[1]\n", "line 2: no event"),
        (encode(event(5)), "line 2: event number 5 where 1 belongs"),
        (encode({**event(1), "v": 3}), "events schema 3; this version reads 1"),
        (b"\xff\xfe\n", "line 2: no JSON"),
    ],
)
def test_other_damage_is_refused_with_file_and_line(tmp_path, line, says):
    path = tmp_path / "events.jsonl"
    path.write_bytes(encode(event(0)) + line + encode(event(2)))
    with pytest.raises(RecordError, match=says) as raised:
        read_events(path)
    assert str(path) in str(raised.value)


def test_appending_drops_an_unfinished_line_first(tmp_path):
    path = tmp_path / "cassette.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":')
    writer = records.LineWriter(path)
    writer.write({"a": 2})
    writer.close()
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n'


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_tails_and_fingerprints_do_not_depend_on_the_block(tmp_path, monkeypatch, block):
    monkeypatch.setattr(records, "BLOCK_BYTES", block)
    path = tmp_path / "events.jsonl"
    for data, kept in ((b"", 0), (b"ab", 0), (b"a\nb\n", 4), (b"a\nbcdefgh", 2), (b"\n", 1)):
        path.write_bytes(data)
        found = records.fingerprint(path)
        expected = hashlib.sha256(data).hexdigest()
        assert found == {"lines": data.count(b"\n"), "sha256": expected}, data
        assert records.cut_tail(path) == len(data) - kept, data
        assert path.read_bytes() == data[:kept]


def test_a_lone_surrogate_is_written_as_valid_utf8_and_read_back(tmp_path):
    value = {"text": "a\ud800b", "ok": "ü"}
    line = encode(value)
    assert json.loads(line.decode()) == value, line


def test_a_number_that_is_none_is_refused():
    with pytest.raises(ValueError):
        encode({"score": float("nan")})


def test_a_file_written_whole_replaces_the_old_one_and_leaves_no_draft(tmp_path):
    path = tmp_path / "summary.json"
    records.write_whole(path, "old")
    records.write_whole(path, "new")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_a_folder_has_one_writer(tmp_path):
    with (
        records.RunLock(tmp_path),
        pytest.raises(RecordError, match=rf"is being written by process {os.getpid()} since \d"),
    ):
        records.RunLock(tmp_path)
    records.RunLock(tmp_path).release()
    assert not (tmp_path / records.LOCK).exists()


def test_whoever_is_patient_gets_the_lock_once_it_is_free(tmp_path):
    held = records.RunLock(tmp_path)
    threading.Timer(0.2, held.release).start()
    records.RunLock(tmp_path, patience=20.0).release()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path):
    script = (
        "import os, signal, sys, pathlib\nfrom lab.records import RunLock\n"
        "RunLock(pathlib.Path(sys.argv[1]))\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -9 and (tmp_path / records.LOCK).exists()
    records.RunLock(tmp_path).release()


def test_the_lock_of_another_host_counts_until_its_heartbeat_is_old(tmp_path):
    path = tmp_path / records.LOCK
    path.write_text(json.dumps({"host": "elsewhere", "process": 812, "start": 0}))
    with pytest.raises(RecordError, match="written by process 812 on elsewhere since"):
        records.RunLock(tmp_path)
    old = time.time() - records.HEARTBEAT_SECONDS - 1
    os.utime(path, (old, old))
    records.RunLock(tmp_path).release()


def test_the_syncer_beats_and_syncs_while_nothing_is_written(tmp_path):
    lock = records.RunLock(tmp_path)
    syncer = records.Syncer(lock)
    writer = syncer.writer(tmp_path / "events.jsonl")
    os.utime(lock.path, (1, 1))
    writer.write(event(0))
    deadline = time.monotonic() + 5
    while lock.path.stat().st_mtime < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert lock.path.stat().st_mtime > 2
    syncer.close()
    lock.release()
    assert len(read_events(tmp_path / "events.jsonl")) == 1


def test_status_follows_the_files(tmp_path):
    assert records.status(tmp_path) == "absent"
    (tmp_path / records.CONFIG).write_text("{}")
    assert records.status(tmp_path) == "partial"
    write_events(tmp_path / records.EVENTS)
    summary = {
        "is_finished": True,
        "ended_by": "steps",
        "events": records.fingerprint(tmp_path / records.EVENTS),
    }
    for change, expected in (
        ({}, "finished"),
        ({"is_finished": False, "ended_by": "stopped"}, "stopped"),
        ({"is_finished": False, "ended_by": "endpoint"}, "stopped"),
        ({"is_finished": False, "ended_by": "error"}, "failed"),
    ):
        (tmp_path / records.SUMMARY).write_text(json.dumps({**summary, **change}))
        assert records.status(tmp_path, is_thorough=True) == expected, change
    write_events(tmp_path / records.EVENTS, 4)
    assert records.status(tmp_path, is_thorough=True) == "damaged"


def test_run_folders_are_found_once_and_never_inside_each_other(tmp_path):
    for name in ("b/run", "a/run", "a/run/archives/x"):
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / records.CONFIG).write_text("{}")
    found = records.run_folders((tmp_path, tmp_path / "a"))
    assert found == (tmp_path / "a/run", tmp_path / "b/run")
    with pytest.raises(RecordError, match="no folder"):
        records.run_folders((tmp_path / "none",))


def test_a_label_changes_no_name_and_the_seed_changes_the_key_alone():
    first, other = config(), config(label="b")
    assert records.run_key(first) == records.run_key(other)
    assert records.run_key(first).startswith("cube-quorum_individual_a3_scripted_off_s0_")
    seven = config(seed=7)
    assert records.cell(seven) == records.cell(first)
    assert records.run_key(seven).rpartition("_")[0].endswith("_s7")
    assert records.config_digest(seven) != records.config_digest(first)


def test_the_digest_is_sha256_of_sorted_compact_json():
    assert records.canonical({"b": [1, 2], "a": "ü"}) == '{"a":"ü","b":[1,2]}'
    assert records.digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_a_team_of_several_planners_names_each_once():
    planners = [
        {"name": "mini", "model": "m"},
        {"name": "scripted"},
        {"name": "mini", "model": "m"},
    ]
    axes = records.axes(config(planner=planners))
    assert (axes["planner"], axes["model"]) == ("mini+scripted", "m"), axes
