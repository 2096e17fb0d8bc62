"""What an endpoint really does: asked, not believed. A handful of short calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import perf_counter
from typing import Literal, NamedTuple

from cognitive.clients.base import Completion, Request
from cognitive.clients.openai import OpenAIClient
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.secrets import Secret
from cognitive.errors import ClientError
from cognitive.schemas import AckReply, strict_schema

__all__ = ["Probed", "probe"]

SHORT = 16
LONG = 200
SIDE_BY_SIDE = 4
_SCHEMA = strict_schema(AckReply)


class Probed(NamedTuple):
    """One thing about an endpoint: what, whether it holds, and what was seen."""

    what: str
    state: Literal["ok", "no", "unknown"]
    text: str


async def probe(profile: EndpointProfile, key: Secret | None) -> list[Probed]:
    """Whether the endpoint answers, and what it enforces. Stops at the first call that fails."""
    client = OpenAIClient(profile, key)
    found: list[Probed] = []
    try:
        for check in _CHECKS:
            found.append(await check(client, profile))
            if found[-1].state == "no" and check is _answers:
                break
    except ClientError as error:
        found.append(Probed(error.cause, "no", str(error)))
    finally:
        await client.close()
    return found


async def _answers(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    started = perf_counter()
    try:
        completion = await _ask(client, profile, "Say hello.", LONG)
    except ClientError as error:
        return Probed("answers", "no", f"{error.cause}: {error}")
    ms = round((perf_counter() - started) * 1000)
    return Probed("answers", "ok", f"{profile.model} answered in {ms} ms: {completion.text[:60]!r}")


async def _usage(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    completion = await _ask(client, profile, "Say hello.", LONG)
    if completion.usage.estimated:
        return Probed("usage", "no", "tokens are not reported; they will be estimated and marked")
    return Probed("usage", "ok", f"{completion.usage.total} tokens reported")


async def _limit(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    """Both names of the limit are tried, in the order in which a run would try them."""
    seen = []
    for _ in range(2):
        told = await _ask(client, profile, "Count from 1 to 500, in words.", SHORT)
        seen.append(told.usage.completion)
        if told.usage.completion <= SHORT:
            return Probed("output limit", "ok", f"{SHORT} tokens allowed, {seen[-1]} used")
    return Probed("output limit", "no", f"{SHORT} tokens allowed, {seen} used")


async def _schema(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    """The question asks for something else than the schema: only an enforced one is kept."""
    told = await _ask(client, profile, "Answer with the single word banana.", LONG, _SCHEMA)
    try:
        kept = json.loads(told.text).keys() == _SCHEMA["properties"].keys()
    except (ValueError, AttributeError):
        kept = False
    text = f"level {told.level}: the reply {'kept' if kept else 'ignored'} the schema"
    return Probed("structured output", "ok" if kept else "no", text)


async def _seed(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    seeded = replace(profile, seed=7)
    texts = {(await _ask(client, seeded, "Write one line of a poem.", LONG)).text for _ in range(2)}
    if len(texts) == 1:
        return Probed("seed", "ok", "one seed gave one reply twice")
    return Probed("seed", "no", "one seed gave two replies; only recorded replies repeat a run")


async def _side_by_side(client: OpenAIClient, profile: EndpointProfile) -> Probed:
    started = perf_counter()
    await _ask(client, profile, "Say hello.", SHORT)
    alone = perf_counter() - started
    started = perf_counter()
    await asyncio.gather(*(_ask(client, profile, "Say hello.", SHORT) for _ in range(SIDE_BY_SIDE)))
    together = perf_counter() - started
    text = f"one call {alone:.2f} s, {SIDE_BY_SIDE} side by side {together:.2f} s"
    return Probed("concurrency", "ok" if together < 0.75 * SIDE_BY_SIDE * alone else "no", text)


async def _ask(
    client: OpenAIClient,
    profile: EndpointProfile,
    text: str,
    tokens: int,
    schema: object = None,
) -> Completion:
    """One call; steps down as often as the endpoint asks for it."""
    messages = ({"role": "user", "content": text},)
    request = Request(profile.model, messages, schema, profile.temperature, tokens, profile.seed)
    while True:
        try:
            return await client.attempt(request, "probe", profile.attempt_s)
        except ClientError as error:
            if error.retry != "now":
                raise


_CHECKS: tuple[Callable[[OpenAIClient, EndpointProfile], Awaitable[Probed]], ...] = (
    _answers,
    _usage,
    _limit,
    _schema,
    _seed,
    _side_by_side,
)
