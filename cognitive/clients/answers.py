"""What a completion or an error of a client is to whoever asked."""

from __future__ import annotations

from cognitive.clients.base import Completion
from cognitive.clients.profile import EndpointProfile
from cognitive.errors import ClientError, ClientRefused, ClientTimeout
from cognitive.protocols import Answer, Usage

__all__ = ["answer_of"]

_KEY_CAUSES = frozenset({"bad_key", "forbidden"})


def answer_of(outcome: Completion | ClientError, profile: EndpointProfile) -> Answer:
    """The outcome as an answer; an error keeps its text and its tokens.

    `changes` names the level of structured output whenever it is not the one to begin with.
    """
    if isinstance(outcome, ClientError):
        usage = Usage(*outcome.tokens, sum(outcome.tokens))
        return Answer(outcome.text or None, _problem(outcome), usage, outcome.measured_ms)
    start, level = profile.schema_level, outcome.level
    change = (profile.label, outcome.model, start, level)
    return Answer(
        outcome.text,
        None,
        outcome.usage,
        outcome.measured_ms,
        level,
        outcome.finish_reason == "length",
        () if level == start else (change,),
    )


def _problem(error: ClientError) -> str:
    if error.ends_run:
        return "denied" if error.cause in _KEY_CAUSES else "outage"
    if isinstance(error, ClientTimeout):
        return "timeout"
    return "refused" if isinstance(error, ClientRefused) else "unavailable"
