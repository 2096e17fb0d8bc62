"""Messages: kinds and priorities, when they arrive, mailboxes, and whom they interrupt."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from cognitive.stages import EXECUTING, WAITING
from worlds.api import AgentId, Draft, Json, below, uniform

__all__ = [
    "BODY_BYTES",
    "KINDS",
    "LOW",
    "NORMAL",
    "POLICIES",
    "TEXT_LENGTH",
    "URGENT",
    "Counters",
    "Delivery",
    "Mailbox",
    "Message",
    "Post",
    "bounded_body",
    "bounded_text",
    "interrupts",
]

LOW, NORMAL, URGENT = 0, 1, 2

KINDS: Mapping[str, int] = {
    "directive": URGENT,
    "request": URGENT,
    "proposal": NORMAL,
    "statement": NORMAL,
    "direct": NORMAL,
    "report": LOW,
    "ack": LOW,
    "objection": LOW,
    "plan_notice": LOW,
    "repair_statement": LOW,
    "system": LOW,
}
"""Message kind -> priority; low never interrupts."""

POLICIES: Mapping[str, Mapping[str, int]] = {
    "always": {WAITING: NORMAL, EXECUTING: NORMAL},
    "waiting-only": {WAITING: NORMAL},
    "priority": {WAITING: NORMAL, EXECUTING: URGENT},
    "never": {},
}
"""Interrupt policy -> stage of the recipient -> least priority that interrupts it."""

TEXT_LENGTH = 800
BODY_BYTES = 2000
_KEPT_IN_BODY = ("task", "note", "stage", "progress", "last")
_BOUND_BY_SCHEMA = frozenset({"directive"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message as sent; `note` is what a recipient's planner is shown of it."""

    id: int
    sender: AgentId
    recipients: tuple[AgentId, ...]
    kind: str
    text: str
    body: Json
    reply_to: int | None
    dialogue: int | None
    sent_ms: int
    sent_step: int
    note: Json = field(compare=False)

    @property
    def priority(self) -> int:
        """LOW, NORMAL or URGENT."""
        return KINDS[self.kind]


def interrupts(policy: str, stage: str, priority: int) -> bool:
    """Whether a message of this priority interrupts an agent in this stage."""
    least = POLICIES[policy].get(stage)
    return least is not None and priority >= least


def bounded_text(text: str) -> str:
    """`text` if it fits a message, else its first whole lines and how many were left out."""
    if len(text) <= TEXT_LENGTH:
        return text
    lines = text.split("\n")
    for kept in range(len(lines) - 1, -1, -1):
        short = "\n".join([*lines[:kept], f"({len(lines) - kept} more lines)"])
        if len(short) <= TEXT_LENGTH:
            return short
    raise AssertionError("a count of lines fits any message")


def bounded_body(kind: str, body: Json) -> Json:
    """`body` if it fits a message of this kind, else the short fields of it, marked as cut.

    Orders are bounded by their reply schema alone.
    """
    if body is None or kind in _BOUND_BY_SCHEMA:
        return body
    if len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()) <= BODY_BYTES:
        return body
    return {name: body[name] for name in _KEPT_IN_BODY if name in body} | {"is_cut": True}


# --- mailboxes -----------------------------------------------------------------------------------


class _Arrived(NamedTuple):
    order: int
    delivered_ms: int
    message: Message


class Mailbox:
    """Unread messages of one agent, at most `capacity` of them."""

    __slots__ = ("_by_priority", "_capacity", "_order", "count")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._by_priority: tuple[deque[_Arrived], ...] = (deque(), deque(), deque())
        self._order = 0
        self.count = 0

    def put(self, message: Message, delivered_ms: int) -> Message | None:
        """Take a message in; returns the oldest of the lowest priority if that had to go."""
        self._by_priority[message.priority].append(_Arrived(self._order, delivered_ms, message))
        self._order += 1
        self.count += 1
        if self.count <= self._capacity:
            return None
        self.count -= 1
        return next(queue for queue in self._by_priority if queue).popleft().message

    def take(self, until_ms: int) -> list[Message]:
        """Remove and return what was delivered at or before `until_ms`, in order of arrival."""
        taken: list[_Arrived] = []
        for queue in self._by_priority:
            if not queue:
                continue
            late = [entry for entry in queue if entry.delivered_ms > until_ms]
            taken += [entry for entry in queue if entry.delivered_ms <= until_ms]
            queue.clear()
            queue.extend(late)
        taken.sort(key=lambda entry: entry.order)
        self.count -= len(taken)
        return [entry.message for entry in taken]

    def put_back(self, messages: list[Message], delivered_ms: int) -> None:
        """Return what was taken for a question that was never asked."""
        for message in messages:
            self.put(message, delivered_ms)

    def holds(self, dialogue: int, kinds: frozenset[str], until_ms: int) -> bool:
        """Whether a message of this dialogue and one of these kinds lies unread."""
        return any(
            entry.message.dialogue == dialogue
            and entry.message.kind in kinds
            and entry.delivered_ms <= until_ms
            for queue in self._by_priority
            for entry in queue
        )

    def earliest(self, least_priority: int) -> int | None:
        """When the first unread message of at least this priority arrived; None if none did."""
        times = (
            entry.delivered_ms for queue in self._by_priority[least_priority:] for entry in queue
        )
        return min(times, default=None)


# --- sending and delivering ----------------------------------------------------------------------


@dataclass
class Counters:
    """What became of messages; amounts are per recipient but for `sends`."""

    sends: int = 0
    deliveries: int = 0
    drops: int = 0
    overflows: int = 0
    gone: int = 0
    undelivered: int = 0
    unread: int = 0
    reads: int = 0
    interrupts: Counter[str] = field(default_factory=Counter)
    sends_by_kind: Counter[str] = field(default_factory=Counter)
    sends_by_sender: Counter[int] = field(default_factory=Counter)
    deliveries_by_kind: Counter[str] = field(default_factory=Counter)
    deliveries_by_sender: Counter[int] = field(default_factory=Counter)
    deliveries_by_recipient: Counter[int] = field(default_factory=Counter)

    def as_json(self) -> Json:
        """As `run_ended` holds them; per agent as [agent, amount] pairs."""
        return {
            "sends": self.sends,
            "deliveries": self.deliveries,
            "drops": self.drops,
            "overflows": self.overflows,
            "gone": self.gone,
            "expired": {"undelivered": self.undelivered, "unread": self.unread},
            "reads": self.reads,
            "interrupts": {name: self.interrupts[name] for name in ("message", "repair")},
            "sends_by_kind": dict(sorted(self.sends_by_kind.items())),
            "sends_by_sender": _pairs(self.sends_by_sender),
            "deliveries_by_kind": dict(sorted(self.deliveries_by_kind.items())),
            "deliveries_by_sender": _pairs(self.deliveries_by_sender),
            "deliveries_by_recipient": _pairs(self.deliveries_by_recipient),
        }


def _pairs(counter: Counter[int]) -> Json:
    return [[agent, counter[agent]] for agent in sorted(counter)]


class Delivery(NamedTuple):
    """One message for all recipients for whom it is due at the same time."""

    due_ms: int
    sender: AgentId
    message: Message
    recipients: tuple[AgentId, ...]
    due_step: int


class Post:
    """Messages under way. Drops and delays are drawn per message and recipient."""

    def __init__(
        self,
        seed: int,
        drop: float = 0.0,
        delay_ms: int | tuple[int, int] = 0,
        delay_steps: int = 0,
    ) -> None:
        self._seed = seed
        self._drop = drop
        self._delay_ms = delay_ms
        self._delay_steps = delay_steps
        self._under_way: list[tuple[int, int, int, AgentId, Delivery]] = []
        self._sent = 0

    def message(self, draft: Draft, dialogue: int | None, ms: int, step: int) -> Message:
        """The message of a draft, numbered and cut to size."""
        recipients = tuple(sorted(set(draft.recipients) - {draft.sender}))
        text, body = bounded_text(draft.text), bounded_body(draft.kind, draft.body)
        note = {
            "id": self._sent,
            "sender": draft.sender,
            "kind": draft.kind,
            "text": text,
            "body": body,
            "step": step,
        }
        self._sent += 1
        return Message(
            note["id"], draft.sender, recipients, draft.kind, text, body, draft.reply_to,
            dialogue, ms, step, note,
        )  # fmt: skip

    def dispatch(self, message: Message) -> tuple[AgentId, ...]:
        """Put a message on its way; returns the recipients for whom it was dropped."""
        lost: set[AgentId] = set()
        if self._drop:
            lost = {agent for agent in message.recipients if self._is_dropped(message.id, agent)}
        recipients = tuple(agent for agent in message.recipients if agent not in lost)
        due_step = message.sent_step + self._delay_steps
        for due_ms, group in self._by_due(message, recipients).items():
            delivery = Delivery(due_ms, message.sender, message, group, due_step)
            heappush(self._under_way, (due_ms, message.sender, message.id, group[0], delivery))
        return tuple(sorted(lost))

    def due(self, ms: int, step: int) -> Iterator[Delivery]:
        """Remove and yield what is due by `ms` and `step`, in order of delivery."""
        waiting = []
        while self._under_way and self._under_way[0][0] <= ms:
            entry = heappop(self._under_way)
            if entry[4].due_step <= step:
                yield entry[4]
            else:
                waiting.append(entry)
        for entry in waiting:
            heappush(self._under_way, entry)

    def rest(self) -> list[Delivery]:
        """Remove and return what was never delivered, in order."""
        rest = [entry[4] for entry in sorted(self._under_way, key=lambda entry: entry[:4])]
        self._under_way.clear()
        return rest

    def _is_dropped(self, message: int, agent: AgentId) -> bool:
        return uniform(self._seed, "drop", message, agent) < self._drop

    def _by_due(
        self, message: Message, recipients: tuple[AgentId, ...]
    ) -> dict[int, tuple[AgentId, ...]]:
        if not recipients:
            return {}
        if isinstance(self._delay_ms, int):
            return {message.sent_ms + self._delay_ms: recipients}
        low, high = self._delay_ms
        groups: dict[int, list[AgentId]] = {}
        for agent in recipients:
            delay = low + below(high - low + 1, self._seed, "delay", message.id, agent)
            groups.setdefault(message.sent_ms + delay, []).append(agent)
        return {due: tuple(group) for due, group in groups.items()}
