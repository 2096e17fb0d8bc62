"""What an agent was sent, and what it answered, out of the cassette of a run."""

from __future__ import annotations

from cognitive.clients.base import Request
from cognitive.clients.recorded import Cassette
from cognitive.clients.scripted import addressed
from cognitive.errors import RecordError
from worlds.api import Json

__all__ = ["shown_decision"]


def shown_decision(cassette: Cassette, decision: str, agent: int | None = None) -> str:
    """Every message of a decision as it was sent, with the reply to each try.

    decision: as in events, `d12`. agent: whose it must be, where the prompt names its agent.
    Raises RecordError if the cassette holds no such decision of that agent.
    """
    lines = [line for scope, line in cassette.by_scope.items() if _decision(scope) == decision]
    if not lines:
        known = sorted({_decision(scope) for scope in cassette.by_scope}, key=_number)
        span = f"{known[0]} to {known[-1]}" if known else "none"
        raise RecordError(f'no recorded decision "{decision}"; recorded: {span}')
    lines.sort(key=lambda line: int(line["scope"].rpartition("/")[2]))
    _check_agent(lines[0], decision, agent)
    parts = [_message(message) for message in lines[0]["request"]["messages"]]
    for place, line in enumerate(lines):
        if place:
            parts.append(_message(line["request"]["messages"][-1]))
        parts.append(_reply(line))
    return "\n\n".join(parts) + "\n"


def _check_agent(line: Json, decision: str, agent: int | None) -> None:
    found = addressed(Request(**line["request"]))
    if agent is not None and found is not None and found[0] != agent:
        raise RecordError(f"decision {decision} is one of agent {found[0]}, not of agent {agent}")


def _message(message: Json) -> str:
    return f"=== {message['role']} ===\n{message['content']}"


def _reply(line: Json) -> str:
    place = f"{line['scope']}, {line['attempts']} requests"
    if line["error"] is not None:
        return f"=== error ({place}) ===\n{line['error']['cause']}: {line['error']['message']}"
    told = line["completion"]
    usage = f"{told['usage']['prompt']} + {told['usage']['completion']} tokens"
    head = f"{place}, {usage}, level {told['level']}, finish {told['finish_reason']}"
    return f"=== reply ({head}) ===\n{told['text']}"


def _decision(scope: str) -> str:
    return scope.rsplit("/", 2)[1]


def _number(decision: str) -> tuple[int, str]:
    digits = decision.removeprefix("d")
    return (int(digits) if digits.isdigit() else -1), decision
