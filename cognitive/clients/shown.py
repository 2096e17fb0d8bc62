"""What an agent was sent, and what came back, out of the cassette of a run."""

from __future__ import annotations

from cognitive.clients.recorded import Cassette
from worlds.api import Json

__all__ = ["shown_decision"]


def shown_decision(cassette: Cassette, decision: str) -> str:
    """Every message of a decision as it was sent, and what came back of each try.

    decision: as in events, `d12`. "" if the cassette holds nothing of it.
    """
    lines = [line for scope, line in cassette.by_scope.items() if scope.split("/")[-2] == decision]
    lines.sort(key=lambda line: int(line["scope"].rpartition("/")[2]))
    parts: list[str] = []
    for place, line in enumerate(lines):
        messages = line["request"]["messages"]
        parts += map(_message, messages[-1:] if place else messages)
        parts.append(_reply(line))
    return "\n\n".join(parts)


def _message(message: Json) -> str:
    return f"=== {message['role']} ===\n{message['content']}"


def _reply(line: Json) -> str:
    place = f"{line['scope']}, requests {line['attempts']}"
    if line["error"] is not None:
        error = line["error"]
        said = f"\n{error['text']}" if error["text"] else ""
        return f"=== error ({place}) ===\n{error['cause']}: {error['message']}{said}"
    told = line["completion"]
    usage = f"tokens {told['usage']['prompt']} + {told['usage']['completion']}"
    head = f"{place}, {usage}, level {told['level']}, finish {told['finish_reason']}"
    return f"=== reply ({head}) ===\n{told['text']}"
