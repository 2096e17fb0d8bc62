"""The planner that hands every question to the scripted play of the world."""

from __future__ import annotations

from collections.abc import Callable

from cognitive.errors import ConfigError
from cognitive.protocols import Answer, Latency, Question, Usage
from cognitive.views import scripted_notes
from worlds.api import DialogueWorld, Json, World

__all__ = ["ScriptedPlanner", "scripted_answer", "scripted_for"]


class ScriptedPlanner:
    """Cooperative play. `world_answer`: that of a dialogue world, where there is no view."""

    name = "scripted"

    def __init__(
        self,
        latency: Latency | None = None,
        world_answer: Callable[[str, Json, Json], Json] | None = None,
    ) -> None:
        self.latency = latency or Latency()
        self._world_answer = world_answer

    async def answer(self, question: Question) -> Answer:
        """The reply of the world's scripted play."""
        ask = question.ask
        if question.view is not None:
            raw = scripted_answer(question)
        elif self._world_answer is not None:
            raw = self._world_answer(ask.kind, ask.context.get("view"), dict(ask.context))
        else:
            raise ConfigError("planner scripted: this dialogue world has no scripted play")
        return Answer(raw, None, Usage(), 0)

    async def close(self) -> None:
        """Nothing is held open."""


def scripted_answer(question: Question) -> Json:
    """The scripted reply to a question about an embodied world."""
    assert question.view is not None
    notes = scripted_notes(
        question.memory, question.messages, question.orders, dict(question.ask.context)
    )
    return question.view.answer(question.ask.kind, notes)


def scripted_for(world: World | DialogueWorld, latency: Latency | None = None) -> ScriptedPlanner:
    """The scripted planner of a world. Raises ConfigError for a world without scripted play."""
    if isinstance(world, DialogueWorld):
        return ScriptedPlanner(latency, world.answer)
    if world.policy is None:
        raise ConfigError(f"planner = scripted: {world.id} has no scripted play")
    return ScriptedPlanner(latency)
