"""Errors of the cognitive layer."""

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
]


class IllegalTransition(CooplabError):
    """A plan or agent was moved between states that do not follow."""


class DialogueError(CooplabError):
    """A reply nobody asked for, a commit out of place, or too many waves."""


class ClientError(CooplabError):
    """A model endpoint did not give a usable completion."""


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


class BudgetExceeded(CooplabError):
    """Calls, tokens or seconds would pass their limit."""


class RecordError(CooplabError):
    """A run folder or recorded reply that is cut, foreign, missing or of another version."""
