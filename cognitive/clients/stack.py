"""A client put together from its wrappers: recorded, retried, capped, one endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cognitive.clients.answers import answer_of
from cognitive.clients.base import Client, Completion
from cognitive.clients.openai import OpenAIClient
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.recorded import Filled, Recording, Replayed, read_cassette
from cognitive.clients.retry import Capped, Retrying, RetryPolicy
from cognitive.clients.secrets import Secret
from cognitive.clock import charge_of
from cognitive.errors import ClientError, ConfigError
from cognitive.protocols import Latency
from worlds.api import Json

__all__ = ["Mode", "open_client"]

Mode = Literal["live", "record", "replay", "fill"]


def open_client(
    profile: EndpointProfile,
    key: Secret | None,
    mode: Mode,
    cassette: Path | None = None,
    *,
    write_reply: Callable[[Json], None] = lambda line: None,
    write_call: Callable[[Json], None] = lambda line: None,
    latency: Latency = Latency("tokens"),  # noqa: B008
    may_retry: Callable[[str], bool] = lambda scope: True,
    places: asyncio.Semaphore | None = None,
) -> Client:
    """A client for a run.

    mode: `live` asks, `record` asks and writes, `replay` only reads `cassette`, `fill` reads it
    and asks and writes what is missing. write_reply: appends a line to the cassette. write_call:
    takes the wall facts of every attempt. latency: what replies are charged by, stored with them.
    may_retry: takes one more call from the budget. places: requests in flight, if shared with
    other clients. Raises ConfigError without the cassette a mode needs, MissingPrerequisite
    without the `openai` package (not for `replay`).
    """
    if mode in ("replay", "fill") and cassette is None:
        raise ConfigError(f"mode {mode} needs a cassette")
    if mode == "replay" and cassette is not None:
        return Replayed(read_cassette(cassette), may_retry)
    policy = RetryPolicy(profile.attempts, profile.attempt_s, profile.try_s)
    capped = Capped(OpenAIClient(profile, key), places or asyncio.Semaphore(profile.concurrency))
    live = Retrying(capped, policy, profile.label, may_retry, write_call)
    if mode == "live":
        return live

    def charge(outcome: Completion | ClientError) -> int:
        answer = answer_of(outcome, profile)
        return charge_of(latency, answer, answer.measured_ms)

    recording = Recording(live, write_reply, charge)
    if mode == "fill" and cassette is not None:
        return Filled(read_cassette(cassette), recording, may_retry)
    return recording
