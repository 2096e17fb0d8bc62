"""What the events of a run say about channels and plans, gathered as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy import ndarray

from worlds.api import Json

__all__ = ["Costs", "Ledger"]


@dataclass
class Costs:
    """What one channel cost: sums over the events that carry its dialogue number."""

    opened_ms: int = 0
    closed_ms: int = 0
    answers: int = 0
    calls: int = 0
    tokens: int = 0
    sends: int = 0
    deliveries: int = 0
    charged_ms: int = 0


@dataclass
class Ledger:
    """A sink that listens: dialogues opened, how plans ended, what each channel cost."""

    dialogues: int = 0
    costs: dict[int, Costs] = field(default_factory=dict)
    results: dict[int, Json] = field(default_factory=dict)
    plan_ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    """plan id -> (status, reason code or "")."""
    _decisions: dict[str, int] = field(default_factory=dict)
    _messages: dict[int, int] = field(default_factory=dict)

    def event(self, line: Json) -> None:
        """Take one event in."""
        handler = _HANDLERS.get(line["e"])
        if handler is not None:
            handler(self, line)

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Frames say nothing about channels."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held open."""

    def _opened(self, line: Json) -> None:
        self.dialogues = max(self.dialogues, line["dialogue"] + 1)
        if line["cause"] == "repair":
            self.costs[line["dialogue"]] = Costs(opened_ms=line["clock_ms"])

    def _closed(self, line: Json) -> None:
        if line["dialogue"] in self.costs:
            self.costs[line["dialogue"]].closed_ms = line["ms"]
            self.results[line["dialogue"]] = line["result"]

    def _asked(self, line: Json) -> None:
        if line["dialogue"] in self.costs:
            self._decisions[line["decision"]] = line["dialogue"]

    def _answered(self, line: Json) -> None:
        dialogue = self._decisions.pop(line["decision"], None)
        if dialogue is None:
            return
        costs = self.costs[dialogue]
        costs.answers += 1
        costs.calls += sum(1 for entry in line["tries"] if entry["level"] or entry["problem"])
        costs.tokens += line["usage"]["total"]
        costs.charged_ms += line["charge_ms"]

    def _sent(self, line: Json) -> None:
        if line["dialogue"] in self.costs:
            self.costs[line["dialogue"]].sends += 1
            self._messages[line["message"]] = line["dialogue"]

    def _delivered(self, line: Json) -> None:
        dialogue = self._messages.get(line["message"])
        if dialogue is not None:
            self.costs[dialogue].deliveries += len(line["recipients"])

    def _ended(self, line: Json) -> None:
        reason = line["reason"]
        self.plan_ends[line["plan"]] = (line["status"], reason["code"] if reason else "")


_HANDLERS = {
    "dialogue_opened": Ledger._opened,
    "dialogue_closed": Ledger._closed,
    "decision_started": Ledger._asked,
    "decision_ended": Ledger._answered,
    "message_sent": Ledger._sent,
    "message_delivered": Ledger._delivered,
    "plan_ended": Ledger._ended,
}
