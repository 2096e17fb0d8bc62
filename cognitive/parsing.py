"""From whatever was answered to a validated value, or to findings that can be shown back."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from worlds.api import Json

__all__ = ["MAX_FINDINGS", "Finding", "Reading", "read_reply", "shown_back", "without_thinking"]

MAX_CHARACTERS = 65536
MAX_DEPTH = 32
MAX_OBJECTS = 256
MAX_FINDINGS = 8
MAX_VALUE_SHOWN = 40


class Finding(NamedTuple):
    """Why a reply cannot be used: a code of the validation table, and a sentence."""

    code: str
    text: str


class Reading(NamedTuple):
    """Either a value and no findings, or None and at least one finding."""

    value: BaseModel | None
    findings: tuple[Finding, ...]


def read_reply(raw: Json, schema: type[BaseModel], is_cut: bool = False) -> Reading:
    """Read a reply: the text of a model, or the dict of a planner that needs no text.

    A byte-order mark and `<think>` blocks are removed; of the complete JSON objects that lie in
    no other one, the last that validates is the value, else the findings are those of the last
    one. Only the first 65536 characters and the last 256 objects count, nesting deeper than 32
    is no object, and JSON is never mended. `is_cut`: the endpoint stopped at its token limit,
    which is the finding if nothing validates.
    """
    if isinstance(raw, str):
        return _read_text(raw, schema, is_cut)
    try:
        text = json.dumps(raw)
    except (TypeError, ValueError, RecursionError):
        return _nothing("no_json", "the answer is not made of JSON values")
    if not isinstance(raw, dict) or _nested(text) > MAX_DEPTH:
        return _nothing("no_json", f"the answer must be one JSON object, got {_short(raw)}")
    return _validate(text, schema)


def shown_back(findings: tuple[Finding, ...]) -> str:
    """The sentence with which findings are put before the one who answered."""
    sentences = " ".join(f"{finding.text}." for finding in findings[:MAX_FINDINGS])
    return f"Your answer was not used. {sentences}"


def _read_text(raw: str, schema: type[BaseModel], is_cut: bool) -> Reading:
    text = without_thinking(raw[:MAX_CHARACTERS].removeprefix("\ufeff"))
    spans = deque(_outermost_objects(text), MAX_OBJECTS)
    objects = [text[start:end] for start, end in spans]
    last = _nothing("no_json", "no JSON object was found in the answer")
    for place, found in enumerate(reversed(objects)):
        reading = _validate(found, schema)
        if reading.value is not None:
            return reading
        last = reading if place == 0 else last
    if is_cut:
        return _nothing("truncated", "the answer was cut at the token limit before it was complete")
    return last


def _nothing(code: str, text: str) -> Reading:
    return Reading(None, (Finding(code, text),))


# --- finding objects -----------------------------------------------------------------------------

_THINK = re.compile(r"<(/?)think>", re.IGNORECASE)
_TOKEN = re.compile(r'[{}\[\]\\]|"(?:[^"\\]|\\.)*"|"', re.DOTALL)
_DECODER = json.JSONDecoder(parse_int=str)
_ARRAY = -1


def without_thinking(text: str) -> str:
    """`text` without its closed `<think>` blocks."""
    kept, position, opened = [], 0, None
    for tag in _THINK.finditer(text):
        if not tag[1] and opened is None:
            opened = tag.start()
        elif tag[1] and opened is not None:
            kept.append(text[position:opened])
            position, opened = tag.end(), None
    return "".join([*kept, text[position:]])


def _outermost_objects(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each JSON object that lies in no other one, in order.

    Each `{` is scanned for its partner by the first attempt that meets it outside a string. Two
    attempts over one place always differ in which characters they take for strings, so there are
    never more than two, and the whole takes time linear in the text.
    """
    ends: dict[int, int] = {}
    attempts: dict[int, int] = {}
    broken: dict[int, int] = {}
    position = text.find("{")
    while position != -1:
        if position not in ends:
            attempts |= dict.fromkeys(_match_braces(text, position, ends), position)
        end, attempt = ends[position], attempts[position]
        if end and not position < broken.get(attempt, -1) < end:
            error = _json_error(text, position)
            if error == -1:
                yield position, end
                position = end - 1
            else:
                broken[attempt] = error
        position = text.find("{", position + 1)


def _match_braces(text: str, start: int, ends: dict[int, int]) -> list[int]:
    """Note where each object met from `start` on ends, 0 where it does not; return their starts.

    Goes on over objects that follow each other, and stops at anything that cannot be JSON.
    """
    opened: list[int] = []
    met: list[int] = []
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign == "{" and len(opened) < MAX_DEPTH:
            opened.append(token.start())
            met.append(token.start())
        elif sign == "[" and 0 < len(opened) < MAX_DEPTH:
            opened.append(_ARRAY)
        elif sign == "}" and opened and opened[-1] != _ARRAY:
            ends[opened.pop()] = token.end()
        elif sign == "]" and opened and opened[-1] == _ARRAY:
            opened.pop()
        elif len(sign) == 1 or not opened:
            break
    ends |= dict.fromkeys((position for position in opened if position != _ARRAY), 0)
    return met


def _json_error(text: str, position: int) -> int:
    """Where the object that opens at `position` stops being JSON, or -1."""
    try:
        _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        return error.pos
    return -1


def _nested(text: str) -> int:
    """How deep the JSON text `text` is nested."""
    depth = deepest = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        deepest = max(deepest, depth)
    return deepest


# --- findings of the schema ----------------------------------------------------------------------


def _validate(text: str, schema: type[BaseModel]) -> Reading:
    try:
        return Reading(schema.model_validate_json(text), ())
    except ValidationError as error:
        details = error.errors(include_url=False)[:MAX_FINDINGS]
        return Reading(None, tuple(Finding("schema", _sentence(item)) for item in details))


_SENTENCES = {
    "missing": "this field is missing",
    "string_type": "{input} is not a text",
    "string_too_long": "{length} characters, at most {max_length} are allowed",
    "string_too_short": "the text is empty, at least {min_length} character is needed",
    "int_type": "{input} is not an integer",
    "int_from_float": "{input} is not an integer",
    "bool_type": "{input} is not true or false",
    "list_type": "{input} is not a list",
    "model_type": "{input} is not an object",
    "none_required": "{input} is not null",
    "literal_error": "{input} is not one of {expected}",
    "too_long": "{actual_length} entries, at most {max_length} are allowed",
    "too_short": "{actual_length} entries, at least {min_length} needed",
    "greater_than_equal": "{input} is below {ge}",
    "less_than_equal": "{input} is above {le}",
    "json_invalid": "the answer is no valid JSON: {error}",
    "string_unicode": "the answer holds half of a surrogate pair, which is no text",
    "value_error": "{error}",
}


def _sentence(item: Any) -> str:
    place = _place(item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{place}: there is no such field"
    facts = {"input": _short(item["input"]), "length": _length(item["input"])}
    text = item["msg"]
    if item["type"] in _SENTENCES:
        text = _SENTENCES[item["type"]].format(**facts, **item.get("ctx", {}))
    return f"{place}: {text}" if place else text


def _place(location: tuple[str | int, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def _length(value: object) -> int:
    return len(value) if isinstance(value, str | list) else 0


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_VALUE_SHOWN else f"{text[: MAX_VALUE_SHOWN - 1]}…"
