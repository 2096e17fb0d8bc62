"""What an agent's notes tell: words of teammates, orders, things it was told of, own failures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from worlds.api import AgentId, Cell, Json
from worlds.macrafter.nearest import gap
from worlds.macrafter.needs import SLEEPY
from worlds.macrafter.sectors import read_seen
from worlds.macrafter.sight import read_id
from worlds.macrafter.state import ITEMS, VITALS

__all__ = ["Notebook", "Word", "news"]

NO_TASK_ID = "none"
HERD_STEPS = 160
"""Steps for which a cow is looked for where it was seen."""
IN_VIEW = 4
"""Distance from an agent at which it would have seen a cow."""
STAY_STEPS, NAP_STEPS = 8, 90
"""Steps for which a teammate is taken to stay where it said it was; if tired, asleep."""
TRUST_STEPS = 80
"""Steps after which a told position is no longer believed."""

_CELL = re.compile(r"at \((\d+),(\d+)\)")
_HOLDS = re.compile(r"holds ([a-z_0-9, ]+)")
_UNITS = re.compile(r"([a-z_]+) (\d+)")
_COW = re.compile(r"cow at \((\d+),(\d+)\)")
_SEEN = re.compile(r"\b[a-z]+@\d+,\d+")
_GONE = re.compile(r"\b([a-z]+@\d+,\d+) is gone")
_WRITTEN = frozenset(
    {"report", "request", "proposal", "plan_notice", "statement", "repair_statement"}
)


class Word(NamedTuple):
    """The newest of what a teammate said of itself; None and empty where it said nothing.

    is_asking: it has no plan, so that `last` tells how the one before ended.
    """

    step: int
    cell: Cell | None
    holdings: Mapping[str, int] | None
    task: str
    is_asking: bool
    vitals: Mapping[str, int] | None
    last: str | None


def news(
    cell: Cell, holdings: Mapping[str, int], sights: tuple[str, ...], cow: str, limit: int
) -> str:
    """A sentence that tells teammates where one is, what one holds and what one knows.

    cow: words on a cow in view, or nothing.
    """
    held = ", ".join(f"{item} {count}" for item, count in holdings.items() if count)
    text = f"at ({cell[0]},{cell[1]}); holds {held or 'nothing'}{cow and f'; {cow}'}"
    for count in range(len(sights), 0, -1):
        told = f"{text}; sees {', '.join(sights[:count])}"
        if len(told) <= limit:
            return told
    return text[:limit]


class Notebook:
    """The notes of one agent at one moment, read once."""

    def __init__(self, notes: Json) -> None:
        self.notes = notes
        self.agent: AgentId = notes["agent"]
        self.agents: int = notes["agents"]
        self.step: int = notes["step"]

    @property
    def own_plan(self) -> Json:
        """The live plan, or None."""
        return self.notes["own_plan"]

    @property
    def context(self) -> Json:
        """Named inputs of the question."""
        return self.notes["context"] or {}

    def heard(self, *kinds: str) -> list[Json]:
        """Messages of these kinds among those newly read."""
        return [message for message in self.notes["messages"] if message["kind"] in kinds]

    @cached_property
    def events(self) -> list[Json]:
        """Event memory, oldest first."""
        return list(self.notes["memory"]["events"])

    @cached_property
    def messages(self) -> list[Json]:
        """All messages remembered or newly read, oldest first."""
        found = {}
        for event in self.events:
            if event["kind"] == "message_read":
                found[event["message"]["id"]] = event["message"]
        found |= {message["id"]: message for message in self.notes["messages"]}
        return list(found.values())

    @cached_property
    def remarks(self) -> list[Json]:
        """As `messages`, and what this agent itself sent."""
        sent = (e["message"] for e in self.events if e["kind"] == "message_sent")
        found = {message["id"]: message for message in (*self.messages, *sent)}
        return [found[id] for id in sorted(found)]

    @cached_property
    def cows(self) -> dict[Cell, int]:
        """Where cows were seen of late, with the step; not where somebody was since."""
        found: dict[Cell, int] = {}
        for message in self.remarks:
            body, text = message.get("body") or {}, message["text"] or ""
            text = f"{text} {body.get('note', '')}"
            cell = _cell_in(body, text)
            if cell is not None:
                found = {cow: step for cow, step in found.items() if gap(cow, cell) > IN_VIEW}
            if message["kind"] == "directive":
                text = (part_of(body["assignments"], self.agent) or {"instruction": ""})[
                    "instruction"
                ]
            for row, column in _COW.findall(text):
                found[int(row), int(column)] = message["step"]
        return {cow: step for cow, step in found.items() if self.step - step <= HERD_STEPS}

    @cached_property
    def words(self) -> dict[AgentId, Word]:
        """The newest word of each teammate."""
        found: dict[AgentId, Word] = {}
        for message in self.messages:
            if message["kind"] in _WRITTEN:
                _update(found, message["sender"], message["step"], message)
        for name, entry in sorted(self.notes["team"].items()):
            body = entry["sheet"] or {"task": entry["task"], "actions": entry["actions"]}
            if entry["step"] >= (found[int(name)].step if int(name) in found else -1):
                _update(found, int(name), entry["step"], {"body": body, "text": entry["note"]})
        return found

    @cached_property
    def told(self) -> dict[str, int]:
        """Ids that teammates said they know, with the step at which the newest said so.

        Those that somebody said are gone, or stands beside without naming them, are left out.
        """
        found: dict[str, int] = {}
        for message in self.messages:
            named = _ids_in(message)
            for id in _GONE.findall(message["text"] or ""):
                found.pop(id, None)
                named = [other for other in named if other != id]
            for id in _missed(found, message, named):
                del found[id]
            found |= dict.fromkeys(named, message["step"])
        return found

    @property
    def standing(self) -> tuple[Cell, ...]:
        """Cells where teammates are taken to be still: just told, or tired when they told it."""
        return tuple(
            word.cell
            for word in self.words.values()
            if word.cell is not None
            and self.step - word.step <= (NAP_STEPS if _is_tired(word) else STAY_STEPS)
        )

    @cached_property
    def seen(self) -> dict[AgentId, frozenset[int]]:
        """Sectors that each teammate last said it has seen."""
        found = {}
        for message in self.messages:
            body = message.get("body") or {}
            text = f"{message['text'] or ''} {body.get('note', '')}"
            sectors = read_seen(text)
            if sectors:
                found[message["sender"]] = sectors
        return found

    @cached_property
    def gone(self) -> frozenset[AgentId]:
        """Teammates of whom it is known that they are gone."""
        texts = (event["message"]["text"] for event in self.events if event["kind"] == "gone")
        names = (re.findall(r"agent_(\d+)", text.partition("gone")[0]) for text in texts)
        return frozenset(int(number) for found in names for number in found)

    # --- orders ----------------------------------------------------------------------------------

    def assignment(self) -> Json:
        """The agent's part of its standing orders, or None."""
        orders = self.notes["orders"]
        return None if orders is None else part_of(orders["assignments"], self.agent)

    @cached_property
    def directives(self) -> list[tuple[int, Json]]:
        """Directives remembered, given or read, oldest first: (step, assignments)."""
        remembered = (event.get("message") for event in self.events)
        found = {
            message["id"]: message
            for message in (*remembered, *self.notes["messages"])
            if message is not None and message["kind"] == "directive" and message["body"]
        }
        return [(found[id]["step"], found[id]["body"]["assignments"]) for id in sorted(found)]

    def given(self, agent: AgentId, before: int | None = None) -> tuple[int, Json]:
        """Step and part of the newest orders to `agent` that are remembered; (-1, None).

        before: only orders of earlier steps.
        """
        for step, assignments in reversed(self.directives):
            part = part_of(assignments, agent)
            if part is not None and (before is None or step < before):
                return step, part
        return -1, None

    @cached_property
    def part_at_commit(self) -> Json:
        """The agent's part of the orders that stood when its live plan was committed, or None."""
        part = found = None
        for event in self.events:
            message = event.get("message")
            if message is not None and message["kind"] == "directive":
                part = part_of(message["body"]["assignments"], self.agent) or part
            elif event["kind"] == "plan_committed":
                found = part
        return found

    # --- own record ------------------------------------------------------------------------------

    def failures(self, steps: int) -> Iterator[tuple[str, str, int]]:
        """(task, reason, step) of own plans that failed in the last `steps` steps."""
        for event in self.events:
            is_failure = event["kind"] == "plan_ended" and event["status"] == "failed"
            if is_failure and event["step"] > self.step - steps:
                reason = event["reason"]
                yield event["task"], reason["code"] if reason else "", event["step"]

    def has_failed(self, code: str, steps: int) -> bool:
        """Whether an own plan failed for this reason in the last `steps` steps."""
        return any(reason == code for _, reason, _ in self.failures(steps))


def _is_tired(word: Word) -> bool:
    return word.vitals is not None and word.vitals["energy"] <= SLEEPY


def part_of(assignments: Json, agent: AgentId) -> Json:
    """The first assignment that names the agent, or None."""
    return next((part for part in assignments if agent in part["agents"]), None)


def _update(found: dict[AgentId, Word], agent: AgentId, step: int, message: Json) -> None:
    body, text = message.get("body") or {}, message.get("text") or ""
    text = f"{text} {body.get('note', '')}"
    old = found.get(agent, Word(-1, None, None, NO_TASK_ID, True, None, None))
    cell, holdings = _cell_in(body, text), _holdings_in(body, text)
    task = body.get("task", old.task)
    found[agent] = Word(
        step,
        old.cell if cell is None else cell,
        old.holdings if holdings is None else holdings,
        task,
        body.get("stage", "R") == "R",
        dict(zip(VITALS, body["vitals"], strict=True)) if "vitals" in body else old.vitals,
        body["last"] if "stage" in body else old.last,
    )


def _cell_in(body: Json, text: str) -> Cell | None:
    if "cell" in body:
        return body["cell"][0], body["cell"][1]
    found = _CELL.search(text)
    return (int(found[1]), int(found[2])) if found else None


def _holdings_in(body: Json, text: str) -> Mapping[str, int] | None:
    if "holdings" in body:
        held: Mapping[str, int] = body["holdings"]
        return held
    found = _HOLDS.search(text)
    if found is None:
        return None
    return {item: int(count) for item, count in _UNITS.findall(found[1]) if item in ITEMS}


def _missed(found: Iterable[str], message: Json, named: list[str]) -> list[str]:
    """Told ids right beside the writer of a sheet that names nothing of their kind as near."""
    body = message.get("body") or {}
    if "cell" not in body or "tasks" not in body:
        return []
    near = {id.partition("@")[0] for id in named if _distance(id, body["cell"]) <= 1}
    beside = (id for id in found if _distance(id, body["cell"]) <= 1)
    return [id for id in beside if id not in named and id.partition("@")[0] not in near]


def _distance(id: str, cell: list[int]) -> int:
    _, row, column = read_id(id) or ("", 0, 0)
    return abs(row - cell[0]) + abs(column - cell[1])


def _ids_in(message: Json) -> list[str]:
    body, text = message.get("body") or {}, message.get("text") or ""
    named = [*body.get("tasks", ()), *_SEEN.findall(f"{text} {body.get('note', '')}")]
    return [id for id in named if read_id(id) is not None and not id.startswith("cell@")]
