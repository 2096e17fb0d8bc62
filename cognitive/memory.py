"""What each agent remembers: a fold over the events of the run, and nothing else.

Entries are dicts with `kind`, `step`, `ms`, `n` (the event they refer to) and fields of their
kind. `read` is what `decision_started.read` says; everything else comes from `Memories.take`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cognitive.plans import NO_PLAN_TASK
from cognitive.plans import REASONS as PLAN_REASONS
from cognitive.prompts.words import quoted, ranges
from worlds.api import AgentId, Json

__all__ = ["AgentMemory", "Memories", "outcome_sentence", "rebuild", "render"]

ENTRIES = 64
_CHANNEL_KIND = "repair_statement"
"""What is said in a channel is part of its one `repair` entry, so that it crowds nothing out."""
LINE_LENGTH = 160
RENDERED_LENGTH = 2000
FAILED_PLANS_KEPT = 3
_NAMES = 100
"""Most characters of the agents that are named in a line."""
_BOARD_KINDS = frozenset(
    {"report", "request", "proposal", "plan_notice", "statement", "repair_statement"}
)
_SHEET_KINDS = frozenset({"report", "request"})
_SENT_FIELDS = ("n", "sender", "recipients", "kind", "text", "body", "step")
_CLEARING = frozenset({"done", "gone"})
_TASK_SENTENCES: Mapping[str, str] = {
    "done": " The task is done.",
    "advanced": " The task advanced.",
    "none": " The task did not advance.",
    "gone": " The task is gone.",
    "unknown": "",
}


@dataclass
class AgentMemory:
    """Event memory, team board, standing orders and how the last plan ended.

    team: newest plan, report or statement read, by the teammate's number as text. orders:
    {"sender", "step", "assignments"} of the last directive read, or None.
    """

    events: deque[Json] = field(default_factory=lambda: deque(maxlen=ENTRIES))
    team: dict[str, Json] = field(default_factory=dict)
    orders: Json = None
    orders_seen: bool = False
    last: Json = None

    def told_tasks(self, agent: AgentId) -> tuple[str, ...]:
        """Tasks that the standing orders name for `agent`."""
        if self.orders is None:
            return ()
        return tuple(a["task"] for a in self.orders["assignments"] if agent in a["agents"])


class Memories:
    """The memories of all agents; a message is kept until all its recipients read or lost it."""

    def __init__(self, agents: int) -> None:
        self.of = [AgentMemory() for _ in range(agents)]
        self._sent: dict[int, Json] = {}
        self._board: dict[int, Json] = {}
        self._unread: dict[int, int] = {}
        self._asked: dict[str, AgentId] = {}
        self._plans: dict[str, Json] = {}

    def take(self, line: Json) -> None:
        """Take in an event line, as written."""
        handler = _HANDLERS.get(line["e"])
        if handler is not None:
            handler(self, line)

    def read(self, agent: AgentId, messages: Iterable[int], step: int, ms: int) -> None:
        """`agent` reads these messages."""
        memory = self.of[agent]
        for number in messages:
            sent = self._sent[number]
            kind = "gone" if sent["kind"] == "system" else "message_read"
            if sent["kind"] != _CHANNEL_KIND:
                memory.events.append(_entry(kind, step, ms, sent["n"], message=sent))
            entry = self._board.get(number)
            if entry is not None:
                memory.team[str(sent["sender"])] = entry
            elif sent["kind"] == "directive":
                self._order(agent, sent, step, ms)
            self._done_with(number, 1)

    def _done_with(self, number: int, recipients: int) -> None:
        """So many more recipients will not read a message any more."""
        left = self._unread.get(number, 0) - recipients
        if left > 0:
            self._unread[number] = left
            return
        for kept in (self._unread, self._sent, self._board):
            kept.pop(number, None)

    def _order(self, agent: AgentId, sent: Json, step: int, ms: int) -> None:
        memory = self.of[agent]
        assignments = sent["body"]["assignments"]
        memory.orders = {
            "sender": sent["sender"], "step": sent["step"], "assignments": assignments,
        }  # fmt: skip
        memory.orders_seen = False
        own = next((a for a in assignments if agent in a["agents"]), None)
        told = None if own is None else {"task": own["task"], "role": own["role"]}
        memory.events.append(
            _entry("orders", step, ms, sent["n"], message=sent, own=told, agent=agent)
        )

    def _decision_started(self, line: Json) -> None:
        self._asked[line["decision"]] = line["agent"]

    def _message_sent(self, line: Json) -> None:
        sent = {name: line[name] for name in _SENT_FIELDS} | {"id": line["message"]}
        self._sent[line["message"]] = sent
        self._unread[line["message"]] = len(line["recipients"])
        if line["kind"] in _BOARD_KINDS:
            self._board[line["message"]] = _board_entry(line)
        if line["sender"] < 0:
            return
        memory = self.of[line["sender"]]
        if line["kind"] != _CHANNEL_KIND:
            memory.events.append(_entry_of(line, "message_sent", message=sent))
        if line["kind"] == "directive" and _names(line["body"], line["sender"]):
            self._order(line["sender"], sent, line["step"], line["ms"])

    def _message_lost(self, line: Json) -> None:
        self._done_with(line["message"], len(line["recipients"]))

    def _plan_committed(self, line: Json) -> None:
        self._plans[line["plan"]] = line
        entry = _entry_of(line, "plan_committed", plan=line["plan"], task=line["task"])
        self.of[line["agent"]].events.append(entry)

    def _plan_ended(self, line: Json) -> None:
        memory = self.of[line["agent"]]
        plan = self._plans.pop(line["plan"])
        entry = _entry_of(line, "plan_ended", task=plan["task"])
        for name in ("plan", "status", "reason", "done", "of", "task_result"):
            entry[name] = line[name]
        memory.events.append(entry)
        memory.last = {
            "plan": line["plan"],
            "task": plan["task"],
            "status": line["status"],
            "reason": line["reason"]["code"] if line["reason"] else None,
            "facts": line["reason"]["facts"] if line["reason"] else {},
            "step": line["step"],
            "done": line["done"],
            "of": line["of"],
            "verb": plan["actions"][min(line["done"], line["of"] - 1)]["verb"],
            "task_result": line["task_result"],
        }
        if line["task_result"] in _CLEARING and plan["task"] in memory.told_tasks(line["agent"]):
            memory.orders = None

    def _decision_ended(self, line: Json) -> None:
        agent = self._asked.pop(line["decision"])
        if line["outcome"] == "failed" and agent >= 0:
            codes = [reason["code"] for reason in line["reasons"]]
            entry = _entry_of(line, "decision_failed", decision=line["decision"], codes=codes)
            self.of[agent].events.append(entry)

    def _dialogue_opened(self, line: Json) -> None:
        if line["cause"] == "repair":
            for agent in line["members"]:
                entry = _entry_of(line, "repair", members=line["members"])
                self.of[agent].events.append(entry)


_HANDLERS = {
    "decision_started": Memories._decision_started,
    "message_sent": Memories._message_sent,
    "message_lost": Memories._message_lost,
    "plan_committed": Memories._plan_committed,
    "plan_ended": Memories._plan_ended,
    "decision_ended": Memories._decision_ended,
    "dialogue_opened": Memories._dialogue_opened,
}


def rebuild(lines: Iterable[Json], agents: int) -> Memories:
    """The memories after these events."""
    memories = Memories(agents)
    for line in lines:
        if line["e"] == "decision_started" and line["agent"] >= 0:
            memories.read(line["agent"], line["read"], line["step"], line["ms"])
        memories.take(line)
    return memories


def _entry(kind: str, step: int, ms: int, n: int, **fields: Json) -> Json:
    return {"kind": kind, "step": step, "ms": ms, "n": n, **fields}


def _entry_of(line: Json, kind: str, **fields: Json) -> Json:
    return _entry(kind, line["step"], line["ms"], line["n"], **fields)


def _names(body: Json, agent: AgentId) -> bool:
    return any(agent in assignment["agents"] for assignment in body["assignments"])


def _board_entry(line: Json) -> Json:
    body = line["body"] or {}
    return {
        "task": body.get("task", NO_PLAN_TASK),
        "actions": body.get("actions", []),
        "note": body.get("note", line["text"]),
        "sheet": body if line["kind"] in _SHEET_KINDS else None,
        "step": line["step"],
        "kind": line["kind"],
        "message": line["message"],
    }


# --- words ---------------------------------------------------------------------------------------


def outcome_sentence(last: Json, reasons: Mapping[str, str]) -> str:
    """How a plan ended, in one or two sentences. reasons: the world's code -> sentence table."""
    name = f"Plan {last['plan']} ({last['task']})"
    told = _TASK_SENTENCES[last["task_result"]]
    if last["status"] == "success":
        done = f"all {last['of']} actions" if last["of"] > 1 else "its only action"
        return f"{name} succeeded at step {last['step']}: {done} done.{told}"
    why = reason_sentence(last["reason"], last["facts"], reasons)
    if last["status"] == "failed":
        place = f"action {last['done'] + 1} of {last['of']} ({last['verb']}), step {last['step']}"
        return f"{name} failed at {place}: {why}.{told}"
    done = f"after {last['done']} of {last['of']} actions"
    return f"{name} was interrupted at step {last['step']} {done}: {why}.{told}"


def reason_sentence(code: str, facts: Mapping[str, Json], reasons: Mapping[str, str]) -> str:
    """The sentence of a reason code; facts it does not hold show as `?`."""
    sentence = reasons.get(code) or PLAN_REASONS.get(code) or code
    return sentence.format_map(_Facts(facts)).rstrip(".")


class _Facts(dict[str, Json]):
    def __missing__(self, key: str) -> str:
        return "?"


def render(events: Iterable[Json], limit: int = RENDERED_LENGTH) -> str:
    """One line an entry, newest last, at most `limit` characters in all.

    The last 3 failed plans always, then the newest first until it is full.
    """
    entries = _drawn_together(events)
    lines = [_line(entry) for entry in entries]
    failed = [i for i, entry in enumerate(entries) if entry.get("status") == "failed"]
    order = [*failed[-FAILED_PLANS_KEPT:], *range(len(entries) - 1, -1, -1)]
    kept: set[int] = set()
    used = -1
    for i in dict.fromkeys(order):
        if used + 1 + len(lines[i]) > limit:
            break
        used += 1 + len(lines[i])
        kept.add(i)
    return "\n".join(lines[i] for i in sorted(kept))


def _drawn_together(events: Iterable[Json]) -> list[Json]:
    """Entries as they are rendered: orders once, wordless messages of a kind and step in one."""
    entries: list[Json] = []
    for entry in events:
        if entry["kind"] != "message_read":
            entries.append(entry)
            continue
        message, before = entry["message"], entries[-1] if entries else {}
        if message["kind"] == "directive":
            continue
        senders = before.get("senders")
        same = (before.get("step"), before.get("message", message)["kind"])
        if senders and not message["text"] and same == (entry["step"], message["kind"]):
            senders.append(message["sender"])
        else:
            group = {} if message["text"] else {"senders": [message["sender"]]}
            entries.append({**entry, **group})
    return entries


def _line(entry: Json) -> str:
    text = f"step {entry['step']}: {_WORDS[entry['kind']](entry)}"
    return text if len(text) <= LINE_LENGTH else f"{text[: LINE_LENGTH - 1]}…"


def _plan_ended_words(entry: Json) -> str:
    words = f"plan {entry['plan']} ({entry['task']}) {_ENDED[entry['status']]}"
    if entry["reason"]:
        words += f": {entry['reason']['code']}"
    return f"{words}, {entry['done']} of {entry['of']} actions done"


_ENDED = {"success": "succeeded", "failed": "failed", "interrupted": "was interrupted"}


def _read_words(entry: Json) -> str:
    sent = entry["message"]
    senders = sorted(set(entry.get("senders", (sent["sender"],))))
    return f"read {sent['kind']} of {ranges(senders, _NAMES)}{_quoted(sent)}"


def _sent_words(entry: Json) -> str:
    sent = entry["message"]
    to = sent["recipients"]
    whom = f"agent_{to[0]}" if len(to) == 1 else f"{len(to)} agents"
    return f"sent {sent['kind']} to {whom}{_quoted(sent)}"


def _orders_words(entry: Json) -> str:
    sender, own = entry["message"]["sender"], entry["own"]
    whose = "own orders" if sender == entry["agent"] else f"orders of agent_{sender}"
    if own is None:
        return f"{whose}: plan as you like"
    return f"{whose}: task {quoted(own['task'])}, role {quoted(own['role'])}"


def _quoted(sent: Json) -> str:
    return f" {quoted(' '.join(sent['text'].split()))}" if sent["text"] else ""


_WORDS: Mapping[str, Callable[[Json], str]] = {
    "message_read": _read_words,
    "message_sent": _sent_words,
    "plan_committed": lambda e: f"plan {e['plan']} ({e['task']}) committed",
    "plan_ended": _plan_ended_words,
    "orders": _orders_words,
    "decision_failed": lambda e: f"decision failed: {', '.join(e['codes'])}",
    "repair": lambda e: f"repair channel with agents {', '.join(map(str, e['members']))}",
    "gone": lambda e: e["message"]["text"],
}
