"""Keys that show themselves to nobody, and texts without them."""

from __future__ import annotations

import re

from cognitive.errors import ConfigError

__all__ = ["Secret", "scrub", "without_key"]

SHORTEST_SECRET = 4


class Secret:
    """A key that shows itself to nobody who does not ask.

    Blanks around it are dropped; raises ConfigError for what no header can carry.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if not re.fullmatch(r"[!-~]*", self._text):
            raise ConfigError("a key must be made of printable ASCII characters without blanks")

    def reveal(self) -> str:
        """The key itself, for the one header it belongs in."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        raise TypeError("a secret is not written to any file")


_HEADERS = re.compile(
    r"(?i)\b(authorization|(?:x-)?api[-_]key)(['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",;}]+"
)
_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")


def scrub(text: str, secret: Secret | None) -> str:
    """`text` without the key, without values of key headers and without logins in addresses."""
    cleaned = _LOGIN.sub("***@", _HEADERS.sub(r"\1\2***", text))
    return without_key(cleaned, secret)


def without_key(text: str, secret: Secret | None) -> str:
    """`text` with the key blanked and nothing else changed."""
    if secret is None or len(secret.reveal()) < SHORTEST_SECRET:
        return text
    return text.replace(secret.reveal(), "***")
