"""Limits of a run, what a planner's call will cost, and the books that are kept of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

from cognitive.errors import ConfigError
from cognitive.protocols import Question, Usage

__all__ = ["Ledger", "Limits", "Metered", "Quote"]

_CALLABLE = ("calls", "tokens", "money")
_WARN_PERCENT = 80


@dataclass(frozen=True)
class Limits:
    """Hard limits of a run; 0 means no limit.

    steps: world steps. team_ms: the cognitive clock. agent_ms: charges of one agent. calls:
    requests sent to an endpoint. tokens: prompt and completion. money: in millionths.
    """

    steps: int = 200
    team_ms: int = 0
    agent_ms: int = 0
    calls: int = 0
    tokens: int = 0
    money: int = 0

    def as_json(self) -> dict[str, int]:
        """Every limit by name."""
        return asdict(self)

    def __post_init__(self) -> None:
        """Raises ConfigError for a limit that is no integer of at least 0."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigError(f"budget.{limit.name} = {value!r}: allowed: an integer from 0")


class Quote(NamedTuple):
    """What the next try will send: hash and length of the prompt, and what it may use at most.

    prompt_hash: first 16 hex digits of the SHA-256 of the canonical messages. calls: 1 per try of
    a model. tokens: ceil(prompt bytes / 3) + the most output tokens. money: in millionths.
    """

    prompt_hash: str
    prompt_chars: int
    calls: int = 0
    tokens: int = 0
    money: int = 0


class Metered(ABC):
    """A planner whose tries cost calls, tokens and money; others cost nothing."""

    @abstractmethod
    def quote(self, question: Question) -> Quote:
        """What the try that answers `question` will send and may use; sends nothing."""

    @abstractmethod
    def bill(self, usage: Usage) -> int:
        """What tokens in use cost, in millionths; 0 without a price table."""


class Ledger:
    """Calls, tokens and money used and reserved; shared by the loop and the client stack."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.used = dict.fromkeys(_CALLABLE, 0)
        self._reserved = dict.fromkeys(_CALLABLE, 0)
        self._marked: dict[str, bool] = {}

    def short_of(self, quotes: Iterable[Quote]) -> str | None:
        """The first of calls, tokens, money that does not hold these quotes; None if all do."""
        sums = _sums(quotes)
        for which in _CALLABLE:
            limit = getattr(self.limits, which)
            if limit and self.used[which] + self._reserved[which] + sums[which] > limit:
                return which
        return None

    def reserve(self, quotes: Iterable[Quote]) -> None:
        """Set aside what these tries may use."""
        for which, amount in _sums(quotes).items():
            self._reserved[which] += amount

    def settle(self, quotes: Sequence[Quote], tokens: int, money: int) -> None:
        """Replace a reservation by what was used; every reserved call counts as sent."""
        sums = _sums(quotes)
        for which, amount in sums.items():
            self._reserved[which] -= amount
        for which, amount in {"calls": sums["calls"], "tokens": tokens, "money": money}.items():
            self.used[which] += amount

    def retry(self) -> bool:
        """Take one more call for a transport retry; False if there is none left."""
        limit = self.limits.calls
        if limit and self.used["calls"] + self._reserved["calls"] + 1 > limit:
            return False
        self.used["calls"] += 1
        return True

    @property
    def left_calls(self) -> int | None:
        """Calls that may still be sent; None without a limit."""
        if not self.limits.calls:
            return None
        return self.limits.calls - self.used["calls"] - self._reserved["calls"]

    def marks(self, used: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
        """(which, used, limit), once at 80 % and once when the limit is reached.

        used: amounts by name; a name may carry an agent after a slash (`agent_ms/3`).
        """
        for which, amount in used.items():
            limit = getattr(self.limits, which.partition("/")[0])
            if not limit or amount * 100 < limit * _WARN_PERCENT:
                continue
            if self._mark(which, amount >= limit):
                yield which, amount, limit

    def mark_reached(self, which: str) -> bool:
        """Note that `which` stopped the run; False if that was noted before."""
        return self._mark(which, True)

    def _mark(self, which: str, is_reached: bool) -> bool:
        is_new = self._marked.get(which) is None or (is_reached and not self._marked[which])
        self._marked[which] = is_reached or self._marked.get(which, False)
        return is_new


def _sums(quotes: Iterable[Quote]) -> dict[str, int]:
    sums = dict.fromkeys(_CALLABLE, 0)
    for quote in quotes:
        sums["calls"] += quote.calls
        sums["tokens"] += quote.tokens
        sums["money"] += quote.money
    return sums
