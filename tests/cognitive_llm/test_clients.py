"""Clients against the fake endpoint: causes, steps down, limits of time, pace, secrets."""

import asyncio
import json
import time
from math import ceil

import pytest

from cognitive.budget import Ledger, Limits
from cognitive.clients.base import Request
from cognitive.clients.budgeted import Budgeted, request_quote
from cognitive.clients.fake import BEHAVIOURS, FakeServer, behaviour
from cognitive.clients.openai import OpenAIClient
from cognitive.clients.profile import EndpointProfile, read_profile
from cognitive.clients.retry import Capped, Retrying, RetryPolicy
from cognitive.clients.scripted import Drop, Scripted, Slow, Status, Text, Timeout
from cognitive.clients.secrets import Secret, scrub
from cognitive.errors import (
    BudgetExceeded,
    ClientError,
    ClientRefused,
    ClientTimeout,
    ClientUnavailable,
    ConfigError,
    ReplyFormatError,
)
from cognitive.protocols import Usage
from cognitive.schemas import AckReply, strict_schema

KEY = "sk-0123456789-very-secret"
QUICK = RetryPolicy(attempts=3, attempt_s=0.4, try_s=1.5, first_wait_s=0.01)
REQUEST = Request(
    "m",
    ({"role": "system", "content": "rules"}, {"role": "user", "content": "what now?"}),
    strict_schema(AckReply),
    0.7,
    64,
    5,
)


def stack(server, policy=QUICK, concurrency=16, **more):
    profile = EndpointProfile("m", base_url=server.base_url, attempt_s=policy.attempt_s)
    client = OpenAIClient(profile, Secret(KEY))
    return Retrying(Capped(client, asyncio.Semaphore(concurrency)), policy, "fake", **more)


async def ask(client, request=REQUEST, scope="run/0/d0/1"):
    try:
        return await client.complete(request, scope)
    except ClientError as error:
        return error
    finally:
        await client.close()


async def ask_fake(name, **more):
    lines: list = []
    async with FakeServer((), name) as server:
        outcome = await ask(stack(server, note=lines.append, **more))
    return outcome, server, lines


# --- every fault has its cause -------------------------------------------------------------------

FAILURES = {
    "hang": (ClientTimeout, "timeout", 3),
    "slow": (ClientTimeout, "timeout", 3),
    "reset": (ClientUnavailable, "no_connection", 3),
    "html": (ReplyFormatError, "html", 1),
    "empty_body": (ReplyFormatError, "no_json_body", 1),
    "choices_null": (ReplyFormatError, "no_choices", 1),
    "choices_empty": (ReplyFormatError, "no_choices", 1),
    "flood": (ReplyFormatError, "flood", 1),
    "refusal": (ClientRefused, "refusal", 1),
    "filtered": (ClientRefused, "content_filter", 1),
    "context": (ClientRefused, "context_length", 1),
    "error_in_200": (ClientUnavailable, "rate_limit", 3),
    "status:400": (ClientRefused, "bad_request", 1),
    "status:401": (ClientRefused, "bad_key", 1),
    "status:403": (ClientRefused, "forbidden", 1),
    "status:404": (ClientRefused, "no_model", 1),
    "status:408": (ClientUnavailable, "server_timeout", 3),
    "status:409": (ClientUnavailable, "conflict", 3),
    "status:429": (ClientUnavailable, "rate_limit", 3),
    "status:429:0": (ClientUnavailable, "rate_limit", 3),
    "status:429:90": (ClientUnavailable, "rate_limit", 1),
    "status:500": (ClientUnavailable, "server_error", 3),
    "status:503": (ClientUnavailable, "server_error", 3),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_fault_is_named_and_asked_again_only_if_that_helps(name):
    kind, cause, attempts = FAILURES[name]
    outcome, server, lines = asyncio.run(ask_fake(name))
    assert (type(outcome), outcome.cause) == (kind, cause), outcome
    assert len(server.received) == outcome.attempts == len(lines) == attempts
    assert [line["outcome"] for line in lines] == [cause] * attempts
    assert outcome.ends_run == (name in ("status:401", "status:403"))
    assert KEY not in f"{outcome}{outcome.text}{lines}"


def test_nobody_listening_is_no_connection():
    async def run():
        server = FakeServer()
        await server.start()
        client = stack(server)
        await server.stop()
        return await ask(client)

    outcome = asyncio.run(run())
    assert (type(outcome), outcome.cause) == (ClientUnavailable, "no_connection"), outcome


TEXTS = {
    "ok": '"answer": "accept"',
    "content_null": "",
    "reasoning_only": '<think>{"a": 1} hm</think>',
    "cut": '{"thought": "I will go to the bl',
    "prose": "push the block",
    "fenced": "```json",
    "thinking": "<think>",
    "wrong_schema": "confidence",
    "empty": "",
    "blank": " \n\t \n",
    "echo": "what now?",
    "noise": BEHAVIOURS["noise"].content,
    "long": "{" * 65536,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_comes_through_as_it_is_with_its_usage(name):
    outcome, _, _ = asyncio.run(ask_fake(name))
    assert TEXTS[name] in outcome.text
    assert outcome.finish_reason == ("length" if name == "cut" else "stop")
    assert outcome.usage.completion > 0 and not outcome.usage.estimated
    assert outcome.attempts == 1


def test_usage_is_estimated_and_marked_when_none_is_reported():
    outcome, _, _ = asyncio.run(ask_fake("no_usage"))
    assert outcome.usage == Usage(
        4, ceil(len(outcome.text) / 4), 4 + ceil(len(outcome.text) / 4), True
    )


def test_faults_pass_and_the_answer_comes():
    async def run():
        async with FakeServer(["status:500", "reset", "ok"]) as server:
            return await ask(stack(server))

    outcome = asyncio.run(run())
    assert outcome.attempts == 3 and "accept" in outcome.text


# --- what a service does not take ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "level", "requests"),
    [("no_schema", "json_object", 2), ("no_format", "text", 3), ("ok", "json_schema", 1)],
)
def test_structured_output_steps_down_and_the_step_is_remembered(name, level, requests):
    async def run():
        async with FakeServer((), name) as server:
            client = stack(server)
            answers = await asyncio.gather(*(client.complete(REQUEST, f"s/{i}") for i in range(6)))
            await client.close()
            return answers, server

    answers, server = asyncio.run(run())
    assert {answer.level for answer in answers} == {level}
    assert sum(answer.attempts for answer in answers) == len(server.received) == requests + 5
    tried = [r.body.get("response_format", {}).get("type", "text") for r in server.received]
    assert tried[:requests] == ["json_schema", "json_object", "text"][:requests]
    prompts = {json.dumps(received.body["messages"]) for received in server.received}
    assert len(prompts) == 1, "the prompt is the same at every level"


@pytest.mark.parametrize(
    ("name", "present", "absent"),
    [
        ("old_limit", {"max_tokens"}, {"max_completion_tokens"}),
        ("new_limit", {"max_completion_tokens"}, {"max_tokens"}),
        ("no_temperature", {"response_format"}, {"temperature", "seed"}),
    ],
)
def test_parameters_a_service_refuses_are_left_out(name, present, absent):
    outcome, server, _ = asyncio.run(ask_fake(name))
    last = server.received[-1].body.keys()
    assert present <= last and not absent & last
    assert outcome.level == "json_schema"


def test_a_limit_that_is_not_kept_is_named_the_other_way_next_time():
    async def run():
        async with FakeServer((), "no_limit") as server:
            client = stack(server)
            for i in range(3):
                await client.complete(REQUEST, f"s/{i}")
            await client.close()
            return server

    sent = [[name for name in r.body if "tokens" in name] for r in asyncio.run(run()).received]
    assert sent == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"]]


def test_a_profile_chooses_level_parameter_and_extra_fields():
    async def run():
        async with FakeServer() as server:
            profile = EndpointProfile(
                "m",
                base_url=server.base_url,
                schema_level="json_object",
                token_parameter="max_tokens",
                extra_body={"chat_template_kwargs": {"enable_thinking": False}},
            )
            client = OpenAIClient(profile, None)
            await client.attempt(REQUEST, "s", 5.0)
            await client.close()
            return server.received[0].body

    body = asyncio.run(run())
    assert body["response_format"] == {"type": "json_object"}
    assert body["max_tokens"] == 64 and "max_completion_tokens" not in body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_azure_addresses_hold_deployment_and_version():
    async def run():
        async with FakeServer() as server:
            profile = EndpointProfile(
                "gpt",
                base_url=server.base_url.removesuffix("/v1"),
                service="azure",
                azure_deployment="team-gpt",
                api_version="2024-10-21",
            )
            client = OpenAIClient(profile, Secret(KEY))
            answer = await client.attempt(REQUEST, "s", 5.0)
            await client.close()
            return server.received[0], answer

    received, answer = asyncio.run(run())
    assert received.path == "/openai/deployments/team-gpt/chat/completions"
    assert received.headers["api-key"] == KEY
    assert "accept" in answer.text


# --- time ----------------------------------------------------------------------------------------


def test_a_deadline_holds_whatever_the_service_does():
    """A deadline of 0.6 s with attempts of 0.4 s ends within it, not after attempts x limit."""
    started = time.perf_counter()
    outcome, _, _ = asyncio.run(
        ask_fake(
            "hang", policy=RetryPolicy(attempts=5, attempt_s=0.4, try_s=0.6, first_wait_s=0.01)
        )
    )
    took = time.perf_counter() - started
    assert isinstance(outcome, ClientTimeout)
    assert took < 0.9, took
    assert outcome.measured_ms <= 700, outcome.measured_ms


def test_retry_after_is_obeyed_and_waits_grow():
    waited: list = []

    async def sleep(seconds):
        waited.append(seconds)

    async def run(script):
        waited.clear()
        return await ask(Retrying(Scripted(script), RetryPolicy(), sleep=sleep))

    outcome = asyncio.run(run([Status(429, 7), Status(429, 59.5), "{}"]))
    assert waited == [7.0, 59.5] and outcome.attempts == 3
    outcome = asyncio.run(run([Status(429, 61)]))
    assert waited == [0.0] * 0 and outcome.cause == "rate_limit"
    asyncio.run(run([Drop()] * 5))
    bounds = [(0.25, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0)]
    assert len(waited) == 4
    assert all(low <= wait <= high for wait, (low, high) in zip(waited, bounds, strict=True)), (
        waited
    )


def test_no_retry_that_would_pass_the_deadline():
    waited: list = []

    async def sleep(seconds):
        waited.append(seconds)

    outcome = asyncio.run(
        ask(Retrying(Scripted([Timeout(), Status(500, 59.9), "{}"]), RetryPolicy(), sleep=sleep))
    )
    assert outcome.cause == "server_error" and outcome.attempts == 2
    assert sum(waited) < 1 and outcome.measured_ms <= 120_000


def test_waiting_for_a_place_is_part_of_no_time_limit():
    """Eight calls of 0.2 s one after the other, each with a limit of 0.3 s: none times out."""

    async def run():
        client = Retrying(
            Capped(Scripted([Slow(200)] * 8), asyncio.Semaphore(1)),
            RetryPolicy(attempts=1, attempt_s=0.3, try_s=0.3),
        )
        return await asyncio.gather(*(client.complete(REQUEST, f"s/{i}") for i in range(8)))

    assert [answer.measured_ms for answer in asyncio.run(run())] == [200] * 8


def test_cancelling_closes_the_connection():
    """Cancelled in mid-call: `complete` returns within 0.2 s and the service sees it go."""

    async def run():
        async with FakeServer((), "hang") as server:
            client = stack(server, RetryPolicy())
            task = asyncio.create_task(client.complete(REQUEST, "s"))
            while not server.received:
                await asyncio.sleep(0.01)
            started = time.perf_counter()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            took = time.perf_counter() - started
            for _ in range(100):
                if server.disconnects:
                    break
                await asyncio.sleep(0.01)
            await client.close()
            return took, server.disconnects

    took, disconnects = asyncio.run(run())
    assert took < 0.2, took
    assert disconnects == 1


@pytest.mark.parametrize("concurrency", [8, 16])
def test_fan_out_takes_as_long_as_its_cap_says(concurrency):
    """256 requests of 200 ms with prompts at the bound, within 1.5 of ceil(256 / cap) * 0.2 s;
    a second time on a busy machine."""
    padding = {"role": "user", "content": "x" * 38_000}
    request = REQUEST._replace(messages=(REQUEST.messages[0], padding))

    async def run():
        async with FakeServer((), "slow:200") as server:
            client = stack(server, RetryPolicy(), concurrency)
            await client.complete(request, "warm")
            started = time.perf_counter()
            answers = await asyncio.gather(
                *(client.complete(request, f"s/{i}") for i in range(256))
            )
            took = time.perf_counter() - started
            await client.close()
            return answers, took, server.peak

    least = ceil(256 / concurrency) * 0.2
    times = []
    while len(times) < 2 and (not times or times[-1] > 1.5 * least):
        answers, took, peak = asyncio.run(run())
        assert len(answers) == 256 and peak == concurrency
        times.append(took)
    assert min(times) <= 1.5 * least, (times, least)


# --- outage, pace, money -------------------------------------------------------------------------


def test_twenty_failures_in_a_row_end_the_run():
    async def sleep(seconds):
        pass

    async def run():
        client = Retrying(Scripted(lambda r, s: Drop()), RetryPolicy(), sleep=sleep)
        return [(await ask(client)).ends_run for _ in range(20)]

    assert asyncio.run(run()) == [False] * 19 + [True]


def test_failing_for_five_minutes_ends_the_run_and_one_answer_clears_it():
    now = [0.0]

    async def sleep(seconds):
        pass

    async def run():
        moves = [*[Drop()] * 10, "{}", *[Drop()] * 15]
        client = Retrying(Scripted(moves), RetryPolicy(), sleep=sleep, clock=lambda: now[0])
        ends = []
        for at in (0, 299, 400, 500, 700, 800):
            now[0] = at
            outcome = await ask(client)
            ends.append(isinstance(outcome, ClientError) and outcome.ends_run)
        return ends

    assert asyncio.run(run()) == [False, False, False, False, False, True]


def test_a_paced_service_is_waited_for():
    """Three requests at a time, then 429 with Retry-After: all are answered in the end."""
    count = [0]

    def three_then_wait(received):
        count[0] += 1
        return "status:429:0.05" if count[0] % 4 == 0 else "ok"

    async def run():
        async with FakeServer(three_then_wait) as server:
            client = stack(server, RetryPolicy(), 2)
            answers = [await client.complete(REQUEST, f"s/{i}") for i in range(12)]
            await client.close()
            return answers

    answers = asyncio.run(run())
    assert sum(answer.attempts for answer in answers) == 15


def test_a_retry_is_not_made_when_the_budget_has_no_call_left():
    ledger = Ledger(Limits(calls=2))
    client = Retrying(
        Scripted([Drop(), Drop(), "{}"]),
        RetryPolicy(first_wait_s=0.001),
        may_retry=lambda scope: ledger.retry(),
    )
    quotes = [request_quote(REQUEST, EndpointProfile("m"))]
    ledger.reserve(quotes)
    outcome = asyncio.run(ask(client))
    ledger.settle(quotes, 0, 0)
    assert outcome.attempts == 2 and ledger.used["calls"] == 2


def test_a_request_that_does_not_fit_is_not_sent():
    inner = Scripted([Text("{}", tokens=10), Text("{}", tokens=10)])
    profile = EndpointProfile("m", price_in=0.5, price_out=2.0)
    prompt = ceil(len("ruleswhat now?") / 3)
    ledger = Ledger(Limits(tokens=2 * (prompt + 64)))
    client = Budgeted(inner, ledger, profile)

    async def run():
        await client.complete(REQUEST, "s/0")
        await client.complete(REQUEST, "s/1")
        with pytest.raises(BudgetExceeded, match="tokens"):
            await client.complete(REQUEST._replace(max_output_tokens=200), "s/2")

    asyncio.run(run())
    assert len(inner.requests) == 2
    assert ledger.used == {"calls": 2, "tokens": 28, "money": 44}


# --- secrets -------------------------------------------------------------------------------------


def test_a_secret_shows_itself_to_nobody():
    secret = Secret(KEY)
    assert f"{secret!r} {secret} {[secret]} { ({'key': secret}) }" == "*** *** [***] {'key': ***}"
    with pytest.raises(TypeError):
        secret.__reduce__()
    assert Secret(f" {KEY}\n").reveal() == KEY
    for text in ("two words", "ключ", "a\nb"):
        with pytest.raises(ConfigError) as caught:
            Secret(text)
        assert text not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}",
        f"Authorization: Bearer {KEY}",
        '{"authorization": "Bearer other-key-9999"}',
        "api-key: other-key-9999",
        "X-API-Key=other-key-9999",
        "http://user:other-key-9999@host/v1",
    ],
)
def test_texts_pass_without_keys(text):
    cleaned = scrub(text, Secret(KEY))
    assert KEY not in cleaned and "other-key-9999" not in cleaned and "***" in cleaned


def test_a_service_that_repeats_the_key_does_not_get_it_on_record():
    leaking = behaviour("status:500")._replace(body=f'{{"error": "Bearer {KEY} is wrong"}}')

    async def run():
        lines: list = []
        async with FakeServer(["leak", leaking, leaking, leaking]) as server:
            client = stack(server, note=lines.append)
            answer = await client.complete(REQUEST, "s")
            error = await ask(client)
            return f"{answer} {error} {error.text} {vars(error)} {lines}"

    assert KEY not in asyncio.run(run())


# --- settings ------------------------------------------------------------------------------------


def test_a_profile_is_read_from_a_table():
    table = {"model": "m", "label": "lab", "temperature": 1, "attempts": 2, "extra_body": {"a": 1}}
    profile = read_profile(table)
    assert (profile.label, profile.temperature, profile.attempts) == ("lab", 1, 2)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"model": "m", "modle": "x"}, 'unknown setting "modle"'),
        ({}, "the name of a model is needed"),
        ({"model": "m", "attempts": 0}, "attempts = 0: allowed 1 to 100"),
        ({"model": "m", "attempts": "3"}, "attempts = '3': allowed an integer"),
        ({"model": "m", "concurrency": True}, "concurrency = True: allowed an integer"),
        ({"model": "m", "schema_level": "xml"}, "allowed json_schema, json_object, text"),
        *[
            ({"model": "m", "base_url": address}, "allowed http")
            for address in ("localhost", "ftp://x/v1", "http://[bad", "http://x:99999/v1", "/v1")
        ],
        ({"model": "m", "service": "azure"}, "base_url and api_version are needed"),
    ],
)
def test_a_bad_profile_is_refused_in_words(table, words):
    with pytest.raises(ConfigError, match=words):
        read_profile(table)


def test_prices_are_for_a_million_tokens_and_round_up():
    profile = EndpointProfile("m", price_in=0.75, price_out=4.5)
    assert profile.money(Usage(1000, 100, 1100)) == 1200
    assert profile.money(Usage(1, 0, 1)) == 1
    assert EndpointProfile("m").money(Usage(10**9, 10**9)) == 0


# --- steadiness ----------------------------------------------------------------------------------


def test_threads_and_open_files_stay_flat_over_a_thousand_answers():
    from pathlib import Path

    def counts():
        task = Path("/proc/self")
        return len(list((task / "fd").iterdir())), len(list((task / "task").iterdir()))

    async def run():
        async with FakeServer() as server:
            client = stack(server, RetryPolicy(), 8)
            seen = []
            for block in range(5):
                asked = (client.complete(REQUEST, f"s/{block}/{i}") for i in range(200))
                await asyncio.gather(*asked)
                seen.append(counts())
            await client.close()
            return seen

    seen = asyncio.run(run())
    assert seen[-1] == seen[0], seen
