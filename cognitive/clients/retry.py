"""Asking again, when that makes sense, within one deadline; and giving up on an endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import NoReturn

from cognitive.clients.base import Completion, Request, Transport
from cognitive.errors import ClientError, ClientRefused
from worlds.api import Json, uniform

__all__ = ["Capped", "RetryPolicy", "Retrying"]

CALL_FIELDS = ("scope", "endpoint", "model", "attempt", "outcome", "level", "ms", "wait_ms", "text")


class Capped:
    """At most as many requests in flight as there are places; waiting costs no time limit."""

    def __init__(self, inner: Transport, places: asyncio.Semaphore) -> None:
        self._inner = inner
        self._places = places

    async def attempt(self, request: Request, scope: str, limit_s: float) -> Completion:
        """Send once a place is free."""
        async with self._places:
            return await self._inner.attempt(request, scope, limit_s)

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()


@dataclass(frozen=True)
class RetryPolicy:
    """Limits of one answer and of patience with an endpoint; all times in seconds."""

    attempts: int = 5
    attempt_s: float = 60.0
    try_s: float = 120.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_asked_wait_s: float = 60.0
    outage_in_a_row: int = 20
    outage_s: float = 300.0

    def wait_s(self, failures: int, scope: str, asked: float | None) -> float:
        """Seconds before the next attempt, after `failures` of them."""
        if asked is not None:
            return asked
        longest = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (failures - 1))
        return longest * (0.5 + 0.5 * uniform(0, "backoff", scope, failures))


class Retrying:
    """A client that asks a transport until an answer comes, a limit is met or asking is futile.

    may_retry: called with the scope before each further request; False: the budget has none left.
    note: takes the wall facts of every attempt.
    """

    def __init__(
        self,
        inner: Transport,
        policy: RetryPolicy,
        label: str = "endpoint",
        may_retry: Callable[[str], bool] = lambda scope: True,
        note: Callable[[Json], None] = lambda line: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._inner = inner
        self._policy = policy
        self._label = label
        self._may_retry = may_retry
        self._note = note
        self._sleep = sleep
        self._health = _Health(policy, clock)

    async def complete(self, request: Request, scope: str) -> Completion:
        """The first good answer. Raises the last error, with all attempts and their time in it."""
        tally = _Tally()
        while True:
            limit_s = min(self._policy.attempt_s, self._policy.try_s - tally.seconds)
            try:
                completion = await self._inner.attempt(request, scope, limit_s)
            except ClientError as error:
                wait = self._after(error, tally, request, scope)
                await self._sleep(wait)
                tally.seconds += wait
                continue
            tally.count(completion.measured_ms)
            self._health.good()
            self._write(scope, request, tally, "ok", completion.level, completion.measured_ms)
            return completion._replace(attempts=tally.attempts, measured_ms=tally.measured_ms)

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()

    def _after(self, error: ClientError, tally: _Tally, request: Request, scope: str) -> float:
        """Seconds to wait before asking again. Raises if that is not to be done."""
        tally.count(error.measured_ms)
        tally.failures += error.retry != "now"
        wait, is_last = self._verdict(error, tally, scope)
        self._write(scope, request, tally, error.cause, "", error.measured_ms, wait, f"{error}")
        if is_last or not self._may_retry(scope):
            self._give_up(error, tally)
        return wait

    def _verdict(self, error: ClientError, tally: _Tally, scope: str) -> tuple[float, bool]:
        policy = self._policy
        if error.retry == "now":
            return 0.0, tally.seconds >= policy.try_s
        wait = policy.wait_s(tally.failures, scope, error.retry_after)
        is_last = (
            error.retry == "no"
            or tally.failures >= policy.attempts
            or (error.retry_after or 0.0) > policy.longest_asked_wait_s
            or tally.seconds + wait >= policy.try_s
        )
        return (0.0 if is_last else wait), is_last

    def _give_up(self, error: ClientError, tally: _Tally) -> NoReturn:
        error.attempts = tally.attempts
        error.measured_ms = tally.measured_ms
        if not isinstance(error, ClientRefused) and self._health.is_down():
            error.ends_run = True
        raise error

    def _write(
        self,
        scope: str,
        request: Request,
        tally: _Tally,
        outcome: str,
        level: str,
        ms: int,
        wait: float = 0.0,
        text: str = "",
    ) -> None:
        wait_ms = round(wait * 1000)
        facts = (
            scope, self._label, request.model, tally.attempts, outcome, level, ms, wait_ms, text,
        )  # fmt: skip
        self._note(dict(zip(CALL_FIELDS, facts, strict=True)))


@dataclass
class _Tally:
    """What one answer has cost so far: requests, those that failed, seconds without queueing."""

    attempts: int = 0
    failures: int = 0
    seconds: float = 0.0

    @property
    def measured_ms(self) -> int:
        return round(self.seconds * 1000)

    def count(self, ms: int) -> None:
        self.attempts += 1
        self.seconds += ms / 1000


class _Health:
    """Whether an endpoint is down for long: failed answers in a row, or failing for minutes."""

    def __init__(self, policy: RetryPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._in_a_row = 0
        self._failing_since = 0.0

    def good(self) -> None:
        self._in_a_row = 0

    def is_down(self) -> bool:
        """Count one more failed answer; whether that makes an outage."""
        now = self._clock()
        if self._in_a_row == 0:
            self._failing_since = now
        self._in_a_row += 1
        failing_s = now - self._failing_since
        return self._in_a_row >= self._policy.outage_in_a_row or failing_s >= self._policy.outage_s
