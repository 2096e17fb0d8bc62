"""Decisions: an ask and its tries, sent together, charged, read, checked and shown back.

One barrier a send wave: everybody who is asked is awaited, then those whose replies cannot be used
are asked again together.
"""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

from cognitive.budget import Ledger, Metered, Quote
from cognitive.clock import Recall, charge_of
from cognitive.errors import DialogueError, RecordError, RunStopped
from cognitive.events import reason_json
from cognitive.parsing import Finding, read_reply
from cognitive.protocols import Answer, Latency, Planner, Question, Usage
from worlds.api import Ask, Json, Reason, Reply

__all__ = ["Decision", "Desk", "RunEnds", "Stop", "Trouble", "question_quote"]

REPLY_SHOWN = 2000
HASH_LENGTH = 16
NOTHING_RECALLED = Recall()
_WALL = Latency("wall")
_NO_QUOTE = Quote("", 0)
_NO_USAGE = Usage()
_UNHASHED = ("left",)
_RUN_ENDING = frozenset({"denied", "outage"})
_REASON_OF_PROBLEM = {
    "timeout": "unavailable",
    "unavailable": "unavailable",
    "outage": "unavailable",
    "refused": "refused",
    "denied": "refused",
    "planner_error": "planner_error",
}

T = TypeVar("T")
Trouble = Callable[[Json], None]
"""Takes where, code, exception, text and traceback of an error; for `calls.jsonl`."""


class RunEnds(Exception):
    """Something asks the run to end now; caught by whoever runs it."""

    def __init__(self, ended_by: str, detail: str = "") -> None:
        super().__init__(ended_by)
        self.ended_by = ended_by
        self.detail = detail


class Stop:
    """A handle to end a run early: call it. From another thread, through the loop of the run."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self._event.set()

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for the end."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Return once somebody asks for the end."""
        await self._event.wait()


class Writer(Protocol):
    """Writes an event at `ms`."""

    def __call__(self, e: str, ms: int, *values: Json) -> Json: ...


@dataclass(slots=True)
class Decision:
    """One ask of a wave, and what came of it.

    index: of the ask in its wave. read: ids of the messages shown with it. question: made from
    the tries so far; `asked` is the one of the present try. check: findings beyond the schema.
    left_ms: of the agent's own time, None if unlimited.
    """

    id: str
    dialogue: int
    index: int
    ask: Ask
    kind: str
    schema: type[BaseModel]
    planner: Planner
    start_ms: int
    read: tuple[int, ...]
    question: Callable[[tuple[Json, ...]], Question]
    check: Callable[[BaseModel], tuple[Finding, ...]]
    left_ms: int | None
    quote: Quote = _NO_QUOTE
    asked: Question | None = None
    outcome: Literal["answered", "failed", "cut"] | None = None
    value: BaseModel | None = None
    reasons: tuple[Reason, ...] = ()
    charge_ms: int = 0
    usage: Usage = _NO_USAGE
    tries: list[Json] = field(default_factory=list)
    shown_back: list[Json] = field(default_factory=list)
    changes: list[tuple[str, str, str, str]] = field(default_factory=list)
    error: str | None = None
    is_started: bool = False
    is_closed: bool = False

    @property
    def end_ms(self) -> int:
        """When its last try came back."""
        return self.start_ms + self.charge_ms

    def fail(self, *reasons: Reason) -> None:
        """It failed."""
        self.outcome = "failed"
        self.value = None
        self.reasons = reasons

    def delay(self, end_ms: int) -> None:
        """Its last try came back later than it took to answer."""
        late_ms = end_ms - self.end_ms
        self.charge_ms += late_ms
        if self.tries:
            self.tries[-1]["charge_ms"] += late_ms

    def cut(self, charge_ms: int) -> None:
        """The run ended before it could take effect."""
        self.outcome = "cut"
        self.value = None
        self.charge_ms = charge_ms

    def reply(self) -> Reply:
        """What its dialogue gets."""
        outcome: Literal["answered", "failed"]
        outcome = "answered" if self.outcome == "answered" else "failed"
        return Reply(self.ask, outcome, self.value, self.reasons, self.charge_ms)


class Desk:
    """Asks planners and keeps the books of it."""

    def __init__(
        self,
        write: Writer,
        ledger: Ledger,
        stop: Stop,
        tries: int = 4,
        is_wall: bool = False,
        trouble: Trouble | None = None,
        recall: Recall = NOTHING_RECALLED,
    ) -> None:
        self._write = write
        self.ledger = ledger
        self._stop = stop
        self._stopped: asyncio.Task[None] | None = None
        self._tries = tries
        self._is_wall = is_wall
        self._trouble = trouble
        self._recall = recall
        self.usage = Usage()
        self.calls = 0
        self.decided = 0
        self._levels: dict[tuple[str, str], str] = {}

    def open(self, decisions: Sequence[Decision]) -> None:
        """Reserve the budget of the first tries and write that they start.

        Raises RunEnds, with nothing reserved and written, if they do not fit what is left.
        """
        for decision in decisions:
            decision.quote = self._quote(decision)
        self._reserve(decisions)
        for decision in decisions:
            decision.is_started = True
            self._write(
                "decision_started", decision.start_ms, decision.id, decision.dialogue,
                decision.ask.agent, decision.kind, decision.planner.name,
                decision.quote.prompt_hash, decision.quote.prompt_chars, list(decision.read),
                self._tries,
            )  # fmt: skip
            if decision.left_ms is not None and decision.left_ms <= 0:
                self.ledger.settle((decision.quote,), 0, 0)
                decision.fail(Reason("agent_budget"))

    async def work(self, decisions: Sequence[Decision]) -> None:
        """Ask until every decision is answered or failed.

        Raises RunEnds if the run is stopped, an endpoint is lost or a further wave does not fit.
        """
        pending = [decision for decision in decisions if decision.outcome is None]
        while pending:
            answers = await self._together([self._ask(decision) for decision in pending])
            for decision, (answer, elapsed_ms) in zip(pending, answers, strict=True):
                self._take(decision, answer, elapsed_ms)
            if any(answer.problem in _RUN_ENDING for answer, _ in answers):
                raise RunEnds("endpoint")
            pending = [decision for decision in pending if decision.outcome is None]
            for decision in pending:
                decision.quote = self._quote(decision)
            self._reserve(pending)

    def close(self, decision: Decision) -> None:
        """Write how a decision ended."""
        for endpoint, model, start, level in decision.changes:
            before = self._levels.get((endpoint, model), start)
            if before != level:
                self._levels[endpoint, model] = level
                self._write("structure_level", decision.end_ms, endpoint, model, before, level)
        if decision.error is not None:
            self._write("error", decision.end_ms, "planner", "planner_error", decision.error)
        value = decision.value.model_dump(mode="json") if decision.value is not None else None
        self.decided += 1
        decision.is_closed = True
        self._write(
            "decision_ended", decision.end_ms, decision.id, decision.outcome, value,
            decision.tries, decision.usage._asdict(), decision.charge_ms,
            [reason_json(reason) for reason in decision.reasons],
        )  # fmt: skip

    async def until_stopped(self, other: Coroutine[Any, Any, None]) -> None:
        """Await `other`, or raise RunEnds as soon as a stop is asked for."""
        await self._together([other])

    async def shut(self) -> None:
        """Let go of the stop handle."""
        if self._stopped is not None:
            self._stopped.cancel()
            await asyncio.gather(self._stopped, return_exceptions=True)

    # --- budget ----------------------------------------------------------------------------------

    def _quote(self, decision: Decision) -> Quote:
        question = decision.question(tuple(decision.shown_back))
        decision.asked = question
        if isinstance(decision.planner, Metered):
            return decision.planner.quote(question)
        return question_quote(question)

    def _reserve(self, decisions: Iterable[Decision]) -> None:
        quotes = [decision.quote for decision in decisions]
        which = self.ledger.short_of(quotes)
        if which is not None:
            raise RunEnds(which)
        self.ledger.reserve(quotes)

    # --- one try ---------------------------------------------------------------------------------

    async def _together(self, coroutines: list[Coroutine[Any, Any, T]]) -> list[T]:
        """All results; the first error, or a stop, cancels the rest and is raised."""
        if self._stopped is None:
            self._stopped = asyncio.create_task(self._stop.wait())
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
        everything: asyncio.Future[Any] = asyncio.gather(*tasks)
        awaited: set[asyncio.Future[Any]] = {everything, self._stopped}
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            if everything.done():
                return list(everything.result())
            raise RunEnds("stopped")
        finally:
            await _cancelled([task for task in tasks if not task.done()], everything)

    async def _ask(self, decision: Decision) -> tuple[Answer, int]:
        """One try; a planner that fails makes a failed decision, whatever it raises."""
        assert decision.asked is not None
        began = time.monotonic_ns()
        try:
            answer = await decision.planner.answer(decision.asked)
        except RecordError:
            raise
        except RunStopped as stopped:
            raise RunEnds(stopped.cause) from stopped
        except Exception as error:  # noqa: BLE001
            decision.error = type(error).__name__
            self._tell(decision, error)
            answer = Answer(None, "planner_error", Usage(), 0)
        return answer, -((began - time.monotonic_ns()) // 1_000_000)

    def _tell(self, decision: Decision, error: Exception) -> None:
        if self._trouble is not None:
            self._trouble(
                {
                    "where": f"planner of {decision.id}",
                    "code": "planner_error",
                    "exception": type(error).__name__,
                    "text": str(error),
                    "traceback": traceback.format_exc(),
                }
            )

    def _take(self, decision: Decision, answer: Answer, elapsed_ms: int) -> None:
        """Charge, read and check one try."""
        latency = _WALL if self._is_wall else decision.planner.latency
        charge = charge_of(latency, answer, elapsed_ms)
        if latency.model == "wall":
            recalled = self._recall.charge(decision.id, len(decision.tries))
            charge = charge if recalled is None else recalled
        is_over = decision.left_ms is not None and decision.charge_ms + charge > decision.left_ms
        if is_over and decision.left_ms is not None:
            charge = decision.left_ms - decision.charge_ms
        self._book(decision, answer, charge)
        findings: tuple[Finding, ...] = ()
        value = None
        if answer.problem is None:
            value, findings = self._read(decision, answer)
        elif answer.problem not in _REASON_OF_PROBLEM:
            allowed = ", ".join(_REASON_OF_PROBLEM)
            raise DialogueError(f"planner problem {answer.problem!r}; allowed: {allowed}")
        self._note(decision, answer, findings, charge)
        if is_over:
            decision.fail(Reason("agent_budget"))
        elif answer.problem is not None:
            decision.fail(Reason(_REASON_OF_PROBLEM[answer.problem]))
        elif value is not None:
            decision.outcome, decision.value = "answered", value
        elif len(decision.tries) == self._tries:
            decision.fail(*(Reason(code, {"text": text}) for code, text in findings))

    def _book(self, decision: Decision, answer: Answer, charge: int) -> None:
        planner, usage = decision.planner, answer.usage
        money = planner.bill(usage) if isinstance(planner, Metered) else 0
        self.ledger.settle((decision.quote,), usage.total, money)
        self.calls += decision.quote.calls
        decision.charge_ms += charge
        decision.usage = _sum(decision.usage, usage)
        self.usage = _sum(self.usage, usage)
        decision.changes += answer.changes

    def _read(
        self, decision: Decision, answer: Answer
    ) -> tuple[BaseModel | None, tuple[Finding, ...]]:
        value, findings = read_reply(answer.raw, decision.schema, answer.is_cut)
        if value is None:
            return None, findings
        findings = decision.check(value)
        if not findings and decision.ask.check is not None:
            findings = tuple(Finding("check", text) for text in decision.ask.check(value))
        return (None, findings) if findings else (value, ())

    def _note(
        self, decision: Decision, answer: Answer, findings: tuple[Finding, ...], charge: int
    ) -> None:
        found = [finding._asdict() for finding in findings]
        entry = {
            "problem": answer.problem,
            "findings": found,
            "usage": answer.usage._asdict(),
            "charge_ms": charge,
            "level": answer.level,
        }
        if findings:
            entry["reply"] = _short(answer.raw)
            decision.shown_back.append({"reply": answer.raw, "findings": found})
        decision.tries.append(entry)


async def _cancelled(tasks: list[asyncio.Task[Any]], everything: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they, and what gathers them, are over."""
    if not tasks:
        return
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, everything, return_exceptions=True)


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.prompt + b.prompt, a.completion + b.completion, a.total + b.total,
        a.estimated or b.estimated,
    )  # fmt: skip


def _short(raw: Json) -> str:
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=repr)
    return text[:REPLY_SHOWN]


def question_quote(question: Question) -> Quote:
    """Hash and length of a question that becomes no prompt."""
    text = _question_text(question)
    return Quote(sha256(text.encode("utf-8", "replace")).hexdigest()[:HASH_LENGTH], len(text))


def _question_text(question: Question) -> str:
    """Canonical JSON of a question; what events hold already is named by its step and number."""
    memory = {k: v for k, v in (question.memory or {}).items() if k not in _UNHASHED}
    events, team = memory.pop("events", ()), memory.pop("team", {})
    return json.dumps(
        {
            "agent": question.ask.agent,
            "kind": question.ask.kind,
            "context": dict(question.ask.context),
            "messages": [message["id"] for message in question.messages or ()],
            "orders": question.orders and [question.orders["sender"], question.orders["step"]],
            "events": [(entry["kind"], entry["step"], entry["ms"]) for entry in events],
            "team": [(agent, entry["kind"], entry["step"]) for agent, entry in team.items()],
            "memory": memory,
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        default=repr,
    )
