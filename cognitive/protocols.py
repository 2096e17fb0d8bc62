"""What the loop is handed and what it hands out: planners, topologies, gates, sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from numpy import ndarray

from worlds.api import Action, AgentId, AgentView, Ask, Attempt, Dialogue, Json, Setting


class Usage(NamedTuple):
    """Tokens of one try as the endpoint reports them, or `estimated` from characters."""

    prompt: int = 0
    completion: int = 0
    total: int = 0
    estimated: bool = False


@dataclass(frozen=True)
class Latency:
    """How a try is charged on the cognitive clock, in ms; `rate` in tokens per second."""

    model: Literal["tokens", "fixed", "wall", "recorded"] = "fixed"
    fixed_ms: int = 1500
    base: int = 500
    rate: int = 50
    cap: int = 30000


class Question(NamedTuple):
    """All an answer may depend on.

    memory, messages, orders: as `cognitive.views` makes them; empty for dialogue worlds. tries:
    of this decision so far, each {"reply": what was answered, "findings": [{"code", "text"}]}.
    """

    scope: str
    ask: Ask
    view: AgentView | None
    memory: Json
    messages: Json
    orders: Json
    tries: tuple[Json, ...]
    seed: int


class Answer(NamedTuple):
    """One try: the raw reply, or the problem.

    problem: None, `timeout`, `unavailable` or `refused`; `denied` (the endpoint does not take the
    key) and `outage` (it is down for long) end the run. measured_ms: 0 if nothing was measured.
    level: structured-output level used, None if no endpoint was asked. is_cut: the endpoint
    stopped at its token limit. changes: (endpoint label, model, from, to) if
    that is not the level to begin with.
    """

    raw: Json
    problem: str | None
    usage: Usage
    measured_ms: int
    level: str | None = None
    is_cut: bool = False
    changes: tuple[tuple[str, str, str, str], ...] = ()


class Planner(Protocol):
    """Whoever answers; keeps no state between calls."""

    name: str
    latency: Latency

    async def answer(self, question: Question) -> Answer: ...

    async def close(self) -> None: ...


class Topology(Protocol):
    """Opens the planning dialogues of the agents that need one, with disjoint members."""

    def open(self, setting: Setting) -> tuple[Dialogue[Any], ...]: ...


class PlanView(NamedTuple):
    """An agent's committed plan as gates see it."""

    agent: AgentId
    stage: str
    plan: str | None
    task: str
    actions: tuple[Action, ...]
    index: int  # type: ignore[assignment]  # hides tuple.index
    progress: Json
    status: str


class Moment(NamedTuple):
    """What a gate reviews; `left_ms` and `left_calls` are None without a limit."""

    t: int
    now_ms: int
    state: Any
    plans: tuple[PlanView, ...]
    left_ms: int | None
    left_calls: int | None


class Gate(Protocol):
    """Reviews committed plans before they are played; what it returns as events is written."""

    def review(self, moment: Moment) -> tuple[tuple[Dialogue[Any], ...], tuple[Json, ...]]: ...

    def observe(
        self, t: int, attempts: tuple[Attempt, ...], plans: tuple[PlanView, ...]
    ) -> tuple[Json, ...]: ...

    def close(self, t: int) -> tuple[Json, ...]: ...


class Sink(Protocol):
    """Takes events and frames as they come."""

    def event(self, line: Json) -> None: ...

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...
