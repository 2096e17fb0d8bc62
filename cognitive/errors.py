"""Errors of the cognitive layer."""

from __future__ import annotations

from typing import Literal

from worlds.errors import (
    ConfigError,
    CooplabError,
    MissingPrerequisite,
)

__all__ = [
    "BudgetExceeded",
    "ClientError",
    "ClientRefused",
    "ClientTimeout",
    "ClientUnavailable",
    "ConfigError",
    "CooplabError",
    "DialogueError",
    "IllegalTransition",
    "MissingPrerequisite",
    "PromptTooLong",
    "RecordError",
    "ReplyFormatError",
    "RunStopped",
]


class IllegalTransition(CooplabError):
    """A plan or agent was moved between states that do not follow."""


class DialogueError(CooplabError):
    """A reply nobody asked for, a commit out of place, or too many waves."""


class ClientError(CooplabError):
    """A model endpoint did not give a usable completion.

    cause: a word for tables (`bad_key`, `rate_limit`, `html`, ...). retry: whether asking again
    makes sense, `now` if the request was changed for it. retry_after: seconds the server asked
    for. attempts: requests sent. measured_ms: their time and the waits between them. tokens: what
    was used all the same, (prompt, completion). text: what came back, if anything did. ends_run:
    no call to this endpoint can do better.
    """

    def __init__(
        self,
        message: str,
        cause: str = "unavailable",
        *,
        retry: Literal["no", "later", "now"] = "no",
        retry_after: float | None = None,
        tokens: tuple[int, int] = (0, 0),
        text: str = "",
        ends_run: bool = False,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.retry = retry
        self.retry_after = retry_after
        self.tokens = tokens
        self.text = text
        self.ends_run = ends_run
        self.attempts = 1
        self.measured_ms = 0


class ClientTimeout(ClientError):
    """No completion within the allowed time, retries included."""


class ClientRefused(ClientError):
    """The endpoint answered that it will not: a bad request, a bad key, a content filter."""


class ClientUnavailable(ClientError):
    """The endpoint could not be reached or kept failing."""


class ReplyFormatError(ClientError):
    """An answer of the endpoint that is no chat completion."""


class PromptTooLong(ClientError):
    """A prompt passed the bound that every prompt must keep; a defect of ours."""


class RunStopped(ClientError):
    """A replay came to the place where the recorded run was stopped; `cause` is how it ended."""


class BudgetExceeded(CooplabError):
    """Calls, tokens or seconds would pass their limit."""


class RecordError(CooplabError):
    """A run folder or recorded reply that is cut, foreign, missing or of another version."""
