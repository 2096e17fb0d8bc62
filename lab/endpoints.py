"""The endpoints of a run: their profiles, the clients to them, limits from outside the config."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cognitive.budget import Ledger
from cognitive.clients.base import Client, Completion, Request
from cognitive.clients.profile import EndpointProfile, read_profile
from cognitive.clients.recorded import Cassette, read_cassette, request_hash
from cognitive.clients.stack import Mode, open_client
from cognitive.errors import ClientError, RunStopped
from cognitive.protocols import Latency, Usage
from lab import settings
from worlds.api import Json

Write = Callable[[Json], None]
MODES: Mapping[str, Mode] = {
    "record": "fill",
    "fill": "fill",
    "replay": "replay",
    "live": "live",
}
"""What is recorded is never asked twice, so `record` begins with what there is."""
_OURS = ("base_url_env", "output_cap")
"""Settings of a planner that are none of its endpoint's."""


class Guard:
    """Limits from outside the config: calls, tokens and money of this session; 0 means none.

    What is in flight is waited for before a run is stopped, so that no reply is paid for and lost.
    """

    def __init__(self, calls: int = 0, tokens: int = 0, money: int = 0) -> None:
        self.limits = {"calls": calls, "tokens": tokens, "money": money}
        self.used = dict.fromkeys(self.limits, 0)
        self._flying: set[str] = set()
        self._landed = asyncio.Condition()

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        return any(limit and self.used[name] >= limit for name, limit in self.limits.items())

    def may_retry(self, scope: str) -> bool:
        """Take one more call for a transport retry; recorded ones were paid for before."""
        if scope not in self._flying:
            return True
        if self.is_spent:
            return False
        self.used["calls"] += 1
        return True

    async def enter(self, scope: str) -> None:
        """Begin a call. Raises RunStopped, once nothing is in flight, if a limit is reached."""
        if not self.is_spent:
            self.used["calls"] += 1
            self._flying.add(scope)
            return
        async with self._landed:
            await self._landed.wait_for(lambda: not self._flying)
        raise RunStopped("a limit outside the config is reached", "stopped", ends_run=True)

    async def leave(self, scope: str, tokens: int, money: int) -> None:
        """End a call that used that much."""
        self.used["tokens"] += tokens
        self.used["money"] += money
        self._flying.discard(scope)
        async with self._landed:
            self._landed.notify_all()


class Guarded:
    """A client behind a guard; what the cassette holds passes freely."""

    def __init__(
        self, inner: Client, guard: Guard, profile: EndpointProfile, cassette: Cassette
    ) -> None:
        self._inner = inner
        self._guard = guard
        self._profile = profile
        self._cassette = cassette

    async def complete(self, request: Request, scope: str) -> Completion:
        """Ask, if the guard lets it through."""
        if (scope, request_hash(request)) in self._cassette.lines:
            return await self._inner.complete(request, scope)
        await self._guard.enter(scope)
        usage = Usage()
        try:
            completion = await self._inner.complete(request, scope)
            usage = completion.usage
            return completion
        except ClientError as error:
            usage = Usage(*error.tokens, sum(error.tokens))
            raise
        finally:
            await self._guard.leave(scope, usage.total, self._profile.money(usage))

    async def close(self) -> None:
        """Close what is below."""
        await self._inner.close()


def profile_of(planner: Mapping[str, Any], address: str, concurrency: int) -> EndpointProfile:
    """The endpoint of a planner's section; `concurrency` lowers its own, 0 leaves it."""
    names = [setting.name for setting in settings.PLANNERS["llm"] if setting.name not in _OURS]
    table = {name: planner[name] for name in names}
    if concurrency:
        table["concurrency"] = min(table["concurrency"], concurrency)
    table |= {name: None for name in ("temperature", "seed") if table[name] == settings.NONE}
    return read_profile({**table, "label": planner["name"], "base_url": address})


def make_client(
    planner: Mapping[str, Any],
    latency: Latency,
    replies: str,
    cassette: Path,
    write: Write,
    note: Write,
    ledger: Ledger,
    guard: Guard,
    concurrency: int = 0,
) -> tuple[Client, EndpointProfile]:
    """The client of a planner's section, and its endpoint.

    replies: `record` and `fill` use and extend the cassette, `replay` uses it alone, `live` leaves
    it out. write: appends a line to the cassette; note: to the wall facts. Raises ConfigError for
    a variable that is not set.
    """
    mode = MODES[replies]

    def may_retry(scope: str) -> bool:
        return guard.may_retry(scope) and ledger.retry()

    address, key = ("", None) if mode == "replay" else settings.endpoint_variables(planner)
    profile = profile_of(planner, address, concurrency)
    client = open_client(
        profile,
        key,
        mode,
        cassette,
        write_reply=write,
        write_call=note,
        latency=latency,
        may_retry=may_retry,
    )
    if mode == "replay":
        return client, profile
    known = Cassette({}, {}, None) if mode == "live" else read_cassette(cassette)
    return Guarded(client, guard, profile, known), profile
