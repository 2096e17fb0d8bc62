"""The respondent for a thing with one holder at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from cognitive.errors import DialogueError
from cognitive.protocols import Answer, Latency, Question, Usage
from worlds.api import CommandResult, Json, Resource

__all__ = ["ResourcePlanner"]

CHARGED_AS_SAID = Latency("recorded")


class ResourcePlanner:
    """Hands the asks `open`, `execute`, `evaluate` to a resource; charged what it returns.

    The context of an ask names the `agent` it is for, `open` also `subrun`, `execute` also
    `command` and `limit_ms`.
    """

    name = "resource"
    latency = CHARGED_AS_SAID

    def __init__(self, resource: Resource) -> None:
        self._asks: dict[str, Callable[[Json], Awaitable[BaseModel]]] = {
            "open": lambda told: resource.open(told["agent"], told["subrun"]),
            "execute": lambda told: resource.execute(
                told["agent"], told["command"], told["limit_ms"]
            ),
            "evaluate": lambda told: resource.evaluate(told["agent"]),
        }
        self._resource = resource

    async def answer(self, question: Question) -> Answer:
        """What the resource returns. Raises DialogueError for any other ask."""
        ask = question.ask
        if ask.kind not in self._asks:
            raise DialogueError(f"a resource has no ask {ask.kind}; asks: {', '.join(self._asks)}")
        result = await self._asks[ask.kind](ask.context)
        ms = result.ms if isinstance(result, CommandResult) else 0
        return Answer(result.model_dump(mode="json"), None, Usage(), ms)

    async def close(self) -> None:
        """Close the resource."""
        await self._resource.close()
