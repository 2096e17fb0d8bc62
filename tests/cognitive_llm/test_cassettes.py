"""Recorded replies: what is written, what is given back, and what is missing."""

import asyncio
import json

import pytest

from cognitive.clients.base import Request
from cognitive.clients.recorded import (
    Filled,
    Recording,
    Replayed,
    first_difference,
    read_cassette,
    request_hash,
    stop_mark,
)
from cognitive.clients.scripted import Drop, Scripted, Status, Text
from cognitive.errors import ClientError, ClientUnavailable, RecordError, RunStopped

REQUEST = Request("m", ({"role": "user", "content": "hi"},), None, 0.7, 16, None)


def file_of(lines, path):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_cassette(path)


def record(script, scopes, request=REQUEST):
    lines: list = []

    async def run():
        client = Recording(Scripted(script), lines.append, lambda outcome: 1234)
        for scope in scopes:
            try:
                await client.complete(request, scope)
            except ClientError as error:
                assert error.cause
        await client.close()

    asyncio.run(run())
    return lines


def outcome(client, scope, request=REQUEST):
    try:
        return asyncio.run(client.complete(request, scope))
    except ClientError as error:
        return error


def test_the_hash_is_that_of_the_published_case():
    """Golden case 28."""
    expected = "5871fb95ae9f22899a5c3a793e5a624cce6ea225771db5e22ddcada5fed81c5c"
    assert request_hash(REQUEST) == expected


@pytest.mark.parametrize(
    "changed",
    [{"model": "n"}, {"temperature": 0.8}, {"max_output_tokens": 17}, {"seed": 1},
     {"schema": {"type": "object"}}, {"messages": ({"role": "user", "content": "ho"},)}],
)  # fmt: skip
def test_whatever_is_asked_otherwise_is_another_question(changed):
    assert request_hash(REQUEST._replace(**changed)) != request_hash(REQUEST)


def test_what_was_recorded_is_given_back_and_nobody_is_asked(tmp_path):
    """Equal prompts in two scopes are two samples; errors come back as they were."""
    scopes = ["r/0/d0/1", "r/0/d1/1", "r/0/d2/1"]
    moves = [Text("one", tokens=5), Text("two", "length"), Drop()]
    cassette = file_of(record(moves, scopes), tmp_path / "cassette.jsonl")
    client = Replayed(cassette)
    first, second, third = (outcome(client, scope) for scope in scopes)
    assert (first.text, first.usage.completion, first.measured_ms) == ("one", 5, 1234)
    assert (second.text, second.finish_reason) == ("two", "length")
    assert isinstance(third, ClientUnavailable)
    assert (third.cause, third.measured_ms) == ("no_connection", 1234)


def test_a_missing_reply_says_what_differs(tmp_path):
    system = {"role": "system", "content": "## role\nyou\n\n## manual\nold rules\n"}
    asked = REQUEST._replace(messages=(system,))
    cassette = file_of(record(["x"], ["r/0/d0/1"], asked), tmp_path / "cassette.jsonl")
    changed = asked._replace(
        messages=({**system, "content": system["content"].replace("old", "new")},)
    )
    with pytest.raises(RecordError, match="section manual: 'old rules' recorded, 'new rules' now"):
        asyncio.run(Replayed(cassette).complete(changed, "r/0/d0/1"))
    with pytest.raises(RecordError, match=r"temperature \(0.7 recorded, 1.0 now\)"):
        asyncio.run(Replayed(cassette).complete(asked._replace(temperature=1.0), "r/0/d0/1"))
    with pytest.raises(RecordError, match="no recorded reply for r/0/d9/1"):
        asyncio.run(Replayed(cassette).complete(asked, "r/0/d9/1"))


def test_filling_asks_only_for_what_is_missing(tmp_path):
    cassette = file_of(record(["old"], ["a"]), tmp_path / "cassette.jsonl")
    live = Scripted(["new"])
    client = Filled(cassette, live)
    assert [outcome(client, scope).text for scope in ("a", "b")] == ["old", "new"]
    assert [scope for scope, _ in live.requests] == ["b"]


def test_a_replay_ends_where_the_recorded_run_was_stopped(tmp_path):
    lines = record(["x"], ["a"])
    stopped = file_of([*lines, stop_mark("stopped", 17)], tmp_path / "stopped.jsonl")
    assert stopped.stop == {"stop": "stopped", "step": 17}
    ended = outcome(Replayed(stopped), "b")
    assert isinstance(ended, RunStopped) and ended.cause == "stopped" and ended.ends_run
    resumed = file_of([stop_mark("endpoint", 3), *lines], tmp_path / "resumed.jsonl")
    assert resumed.stop is None, "a mark that is not the last line was passed by a resumed run"


def test_an_error_that_ends_the_run_is_asked_anew_after_a_resume():
    assert record([Status(401), "x"], ["a", "b"])[0]["scope"] == "b"


def test_a_cut_last_line_is_left_out_and_other_damage_is_refused(tmp_path):
    path = tmp_path / "cassette.jsonl"
    whole = json.dumps(record(["x"], ["a"])[0])
    for end in range(len(whole)):
        path.write_text(f"{whole}\n{whole[:end]}")
        assert len(read_cassette(path).lines) == 1
    path.write_text(f"{whole[:-3]}\n{whole}\n")
    with pytest.raises(RecordError, match="line 1: no JSON"):
        read_cassette(path)
    path.write_text('{"scope": "a"}\n')
    with pytest.raises(RecordError, match="line 1: no recorded reply"):
        read_cassette(path)
    assert read_cassette(tmp_path / "none.jsonl").lines == {}


def test_the_first_difference_is_the_section_it_lies_in():
    before = [{"role": "user", "content": "## view\na\nb\n## question\nc"}]
    after = [{"role": "user", "content": "## view\na\nb\n## question\nd"}]
    assert first_difference(before, after).startswith("section question")
    assert first_difference(before, before * 2).startswith("the number of messages")
