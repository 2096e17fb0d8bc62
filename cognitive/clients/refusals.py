"""What the statuses and words of an endpoint mean, each with its own cause and sentence."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import time

from cognitive.errors import ClientError, ClientRefused, ClientUnavailable, ReplyFormatError

__all__ = ["connection_error", "format_error", "is_context_error", "status_error"]

_RETRIED = frozenset({408, 409, 429})
_KEY_STATUSES = frozenset({401, 403})
_CONTEXT_WORDS = (
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "too many tokens",
    "prompt is too long",
)
_FILTER_WORDS = ("content_filter", "content management policy", "content filter")
_QUOTA_WORDS = ("insufficient_quota", "exceeded your current quota", "billing")
_CAUSES = {
    400: ("bad_request", "the request was refused"),
    401: ("bad_key", "the key was refused"),
    402: ("quota", "there is no credit left"),
    403: ("forbidden", "this key may not do that"),
    404: ("no_model", "there is no such model or address"),
    408: ("server_timeout", "the service gave up waiting"),
    409: ("conflict", "the service reports a conflict"),
    413: ("context_length", "the request is too large"),
    429: ("rate_limit", "too many requests"),
}
_SERVER = ("server_error", "the service failed")
_OTHER = ("bad_request", "the request was refused")


def status_error(label: str, status: int, text: str, retry_after: str | None) -> ClientError:
    """The error for an HTTP status; `text` is the cleaned body, `retry_after` the header."""
    cause, sentence = _meaning(status, text.lower())
    message = f"{label}: {sentence} (status {status}): {text.strip()[:300]}"
    if status in _RETRIED or status >= 500:
        return ClientUnavailable(
            message, cause, retry="later", retry_after=_seconds(retry_after), text=text
        )
    return ClientRefused(message, cause, text=text, ends_run=status in _KEY_STATUSES)


def connection_error(label: str, text: str) -> ClientError:
    """The error for a connection that did not come about or was lost."""
    return ClientUnavailable(f"{label}: no connection: {text}", "no_connection", retry="later")


def format_error(label: str, cause: str, text: str) -> ClientError:
    """The error for an answer that is no chat completion."""
    return ReplyFormatError(f"{label}: {text}", cause, text=text)


def is_context_error(text: str) -> bool:
    """Whether the endpoint says that the prompt is longer than the model can take."""
    return any(word in text.lower() for word in _CONTEXT_WORDS)


def _meaning(status: int, text: str) -> tuple[str, str]:
    if status in (400, 413, 422) and is_context_error(text):
        return "context_length", "the prompt is longer than the model can take"
    if status in (400, 403) and any(word in text for word in _FILTER_WORDS):
        return "content_filter", "its content filter refused the prompt"
    if status == 429 and any(word in text for word in _QUOTA_WORDS):
        return "quota", "there is no quota left"
    return _CAUSES.get(status, _SERVER if status >= 500 else _OTHER)


def _seconds(header: str | None) -> float | None:
    """`Retry-After` in seconds, given as a number or a date; None if it is neither."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return None
