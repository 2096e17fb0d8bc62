"""The planner that gives the recorded answers of a run again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cognitive.budget import Metered, Quote
from cognitive.clients.recorded import Cassette, first_difference
from cognitive.desk import question_quote
from cognitive.errors import RecordError
from cognitive.prompts.build import PromptBuilder, prompt_hash, prompt_length
from cognitive.protocols import Answer, Latency, Question, Usage
from worlds.api import Json

__all__ = ["ReplayPlanner", "recorded_answers"]

RECORDED = Latency("recorded")
_PROBLEM_OF_REASON = {"unavailable": "unavailable", "refused": "refused"}


class _Recorded(NamedTuple):
    """A recorded decision: what was asked, and an answer for each of its tries."""

    kind: str
    prompt_hash: str
    answers: tuple[Answer, ...]


def recorded_answers(events: Iterable[Json]) -> dict[str, _Recorded]:
    """The answers of the decisions in `events`, by decision id."""
    asked: dict[str, Json] = {}
    recorded = {}
    for line in events:
        if line["e"] == "decision_started":
            asked[line["decision"]] = line
        elif line["e"] == "decision_ended" and line["decision"] in asked:
            started = asked.pop(line["decision"])
            answers = _answers(line)
            recorded[line["decision"]] = _Recorded(started["kind"], started["prompt_hash"], answers)
    return recorded


def _answers(line: Json) -> tuple[Answer, ...]:
    answers = []
    for entry in line["tries"]:
        usage = Usage(**entry["usage"])
        is_good = entry["problem"] is None and not entry["findings"]
        raw = line["value"] if is_good else entry.get("reply")
        cut = any(found["code"] == "truncated" for found in entry["findings"])
        answers.append(
            Answer(raw, entry["problem"], usage, entry["charge_ms"], entry["level"], cut)
        )
    return tuple(answers)


class ReplayPlanner(Metered):
    """Answers every try as it was answered in a recorded run, charges included.

    name: of the planner that was recorded. prompts: for runs whose prompts were hashed; without
    it the questions are. cassette: names the section in which a prompt differs.
    """

    latency = RECORDED

    def __init__(
        self,
        events: Iterable[Json],
        name: str,
        prompts: PromptBuilder | None = None,
        cassette: Cassette | None = None,
    ) -> None:
        self.name = name
        self._recorded = recorded_answers(events)
        self._prompts = prompts
        self._cassette = cassette

    def quote(self, question: Question) -> Quote:
        """Hash and length of the prompt; nothing is sent. Raises RecordError if it differs.

        A decision that was not recorded is quoted as a call, so that a run which ended for want
        of calls ends there again.
        """
        _, decision, number = _place(question)
        found, messages = question_quote(question), None
        if self._prompts is not None:
            messages = self._prompts.messages(question)
            found = Quote(prompt_hash(messages), prompt_length(messages))
        recorded = self._recorded.get(decision)
        if recorded is None:
            return found._replace(calls=1)
        if number == 1 and found.prompt_hash != recorded.prompt_hash:
            raise RecordError(
                f"{decision}: the question differs from the recorded one in "
                f"{self._difference(question.scope, messages)}"
            )
        is_call = any(answer.level is not None for answer in recorded.answers[number - 1 : number])
        return found._replace(calls=int(is_call))

    def bill(self, usage: Usage) -> int:
        """Nothing is paid twice."""
        return 0

    async def answer(self, question: Question) -> Answer:
        """The recorded answer. Raises RecordError if there is none."""
        _, decision, number = _place(question)
        recorded = self._find(decision)
        if recorded.kind != question.ask.kind:
            raise RecordError(f"{decision}: recorded as {recorded.kind}, now {question.ask.kind}")
        if number > len(recorded.answers):
            raise RecordError(f"{decision}: {len(recorded.answers)} tries recorded, try {number}")
        return recorded.answers[number - 1]

    async def close(self) -> None:
        """Nothing is open."""

    def _find(self, decision: str) -> _Recorded:
        if decision not in self._recorded:
            raise RecordError(f"no recorded decision {decision}")
        return self._recorded[decision]

    def _difference(self, scope: str, messages: tuple[Json, ...] | None) -> str:
        line = self._cassette.by_scope.get(scope) if self._cassette is not None else None
        if line is None or messages is None:
            return "a section that was not recorded"
        return first_difference(line["request"]["messages"], list(messages))


def _place(question: Question) -> tuple[str, str, int]:
    run, _, decision, number = question.scope.rsplit("/", 3)
    return run, decision, int(number)
