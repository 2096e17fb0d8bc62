"""A person as a planner: reads the prompt, types a plan in short form or JSON."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from stat import S_ISREG
from time import perf_counter
from typing import IO

from cognitive.prompts.build import PromptBuilder
from cognitive.protocols import Answer, Latency, Question, Usage
from worlds.api import ArgSpec, Json, VerbSpec

__all__ = ["HumanPlanner", "LineReader", "typed"]

WALL = Latency("wall")
JSON_HINT = "Type the JSON object in one line."
_PLAN_HINT = "a plan, as `TASK: wait(2); move(up, steps=3)`, or the JSON object in one line."
HINTS = {
    "plan": f"Type {_PLAN_HINT}",
    "interrupt": f"Type resume, {_PLAN_HINT}",
    "repair_revision": f"Type keep, {_PLAN_HINT}",
    "acknowledge": "Type accept, or the JSON object in one line.",
    "statement": "Type a sentence, or the JSON object in one line.",
    "repair_intention": "Type a sentence, or the JSON object in one line.",
}
"""What a person may type, by kind of question."""
_CALL = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_TASK = re.compile(r"\s*([\w@,.-]+)\s*:\s*(?=\w)")
_INTEGER = re.compile(r"[+-]?\d{1,9}")
_CELL = re.compile(r"\[\s*(-?\d{1,9})\s*[,;]\s*(-?\d{1,9})\s*\]")
_SPLIT = re.compile(r",(?![^\[]*\])")


class HumanPlanner:
    """Shows a question and waits for a line; mistakes are shown back like anybody's.

    show: takes the text of the prompt. read: gives the next line typed, "" at its end.
    """

    name = "human"
    latency = WALL

    def __init__(
        self,
        prompts: PromptBuilder,
        show: Callable[[str], None],
        read: Callable[[], Awaitable[str]],
    ) -> None:
        self._prompts = prompts
        self._show = show
        self._read = read
        self._turn = asyncio.Lock()

    async def answer(self, question: Question) -> Answer:
        """One line typed; the end of the input is `unavailable`."""
        async with self._turn:
            started = perf_counter()
            messages = self._prompts.messages(question)
            latest = messages if not question.tries else messages[-1:]
            shown = [message["content"] for message in latest]
            self._show("\n\n".join([*shown, HINTS.get(question.ask.kind, JSON_HINT)]))
            line = await self._read()
            ms = round((perf_counter() - started) * 1000)
        if not line:
            return Answer(None, "unavailable", Usage(), ms)
        verbs = question.view.verbs if question.view is not None else ()
        return Answer(typed(line.strip(), question.ask.kind, verbs), None, Usage(), ms)

    async def close(self) -> None:
        """Nothing is open."""


class LineReader:
    """Lines of a terminal, pipe or file, read without a thread; for one event loop."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        """stream: standard input if not given."""
        self._stream = sys.stdin if stream is None else stream
        self._reader: asyncio.StreamReader | None = None

    async def __call__(self) -> str:
        """The next line with its end, "" when there is none."""
        if self._reader is None:
            if S_ISREG(os.fstat(self._stream.fileno()).st_mode):
                return self._stream.readline()
            self._reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(self._reader)
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: protocol, self._stream)
        return (await self._reader.readline()).decode("utf-8", "replace")


# --- what was typed ------------------------------------------------------------------------------


def typed(line: str, kind: str, verbs: tuple[VerbSpec, ...]) -> Json:
    """A reply from a line in short form; what is no short form is left as it is.

    `block_3_left: navigate(3, left); push(3, steps=4)` is a plan (the task may be left out), one
    word answers `interrupt` (resume), `repair_revision` (keep) and `acknowledge` (accept), and a
    sentence is a statement.
    """
    if line.startswith("{"):
        return line
    word = line.casefold().rstrip(".")
    short = _WORDS.get((kind, word))
    if short is not None:
        return short
    if kind in _SENTENCES:
        return {**_SENTENCES[kind], "text": line}
    plan = _plan(line, {verb.name: verb for verb in verbs})
    if plan is None or kind not in _CARRIERS:
        return line
    return plan if kind == "plan" else {**_CARRIERS[kind], "plan": plan}


_WORDS: dict[tuple[str, str], Json] = {
    ("interrupt", "resume"): {"choice": "resume"},
    ("repair_revision", "keep"): {"choice": "keep", "follows_guidance": False},
    ("acknowledge", "accept"): {"answer": "accept"},
}
_SENTENCES: dict[str, dict[str, Json]] = {
    "statement": {"task": "none", "arrival": None, "partners": 0},
    "repair_intention": {"task": "none", "keeps_plan": True},
}
_CARRIERS: dict[str, dict[str, Json]] = {
    "plan": {},
    "interrupt": {"choice": "replan"},
    "repair_revision": {"choice": "revise", "follows_guidance": False},
}


def _plan(line: str, verbs: dict[str, VerbSpec]) -> Json:
    """A plan of calls separated by `;`, or None if the line is none."""
    task, rest = "none", line
    named = _TASK.match(line)
    if named is not None:
        task, rest = named[1], line[named.end() :]
    actions = []
    for part in rest.rstrip("; ").split(";"):
        call = _CALL.fullmatch(part)
        if call is None:
            return None
        actions.append(_action(call[1], call[2] or "", verbs))
    return {"task": task, "actions": actions}


def _action(name: str, inside: str, verbs: dict[str, VerbSpec]) -> Json:
    specs = verbs[name].args if name in verbs else ()
    action: dict[str, Json] = {"verb": name}
    for place, part in enumerate(part for part in _SPLIT.split(inside) if part.strip()):
        key, is_named, value = part.partition("=")
        argument = key.strip() if is_named else _name_of(place, specs)
        action[argument] = _read_value((value if is_named else key).strip())
    return action


def _name_of(place: int, specs: tuple[ArgSpec, ...]) -> str:
    return specs[place].name if place < len(specs) else f"argument_{place + 1}"


def _read_value(text: str) -> Json:
    cell = _CELL.fullmatch(text)
    if cell is not None:
        return [int(cell[1]), int(cell[2])]
    return int(text) if _INTEGER.fullmatch(text) else text.strip("'\"")
