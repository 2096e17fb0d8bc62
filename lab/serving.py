"""The embedded small model, served while runs that ask for it are played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cognitive.clients.local import ALIAS, ATTEMPT_S, TRY_S, LocalServer
from lab import settings

SHIPPED_PLANNERS: Mapping[str, Mapping[str, Any]] = {
    "small": {
        "kind": "llm",
        "model": ALIAS,
        "base_url_env": settings.LOCAL_ADDRESS,
        "api_key_env": "",
        "output_cap": 160,
        "size": "small",
        "concurrency": 1,
        "attempt_s": ATTEMPT_S,
        "try_s": TRY_S,
    },
}
"""Named planners that need no table: the embedded model, which a run starts and stops."""


@contextmanager
def local_model(planners: Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Serve the embedded model if a planner's section needs it and nobody serves it yet.

    Processes started meanwhile use the same server. Raises MissingPrerequisite where model or
    server is not installed, ClientUnavailable if it does not come up.
    """
    is_needed = any(planner.get("base_url_env") == settings.LOCAL_ADDRESS for planner in planners)
    if not is_needed or settings.local_address():
        yield
        return
    with LocalServer() as server:
        settings.set_local_address(server.base_url)
        try:
            yield
        finally:
            settings.set_local_address("")
