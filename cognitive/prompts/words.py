"""How values stand in prompts: quoted, on one line, cut by whole lines, counted when too many."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from worlds.api import ArgSpec, Json, VerbSpec

__all__ = [
    "body_text",
    "call_text",
    "clipped",
    "digest",
    "fit",
    "outline",
    "quoted",
    "verb_line",
]

STAGES = {"R": "without a plan", "I": "interrupted", "W": "waiting", "X": "executing"}
"""What the letters of stages mean, in words for agents."""
_BREAKS = re.compile(r"[\u0085\u2028\u2029\x00-\x1f\x7f]|<(?=[|/]?\w|\|)")
_DIGEST_TASKS = 12


def quoted(text: str) -> str:
    """A text of somebody else, in quotes, on one line, that can end neither line nor section."""
    inner = json.dumps(text, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", inner)


def call_text(action: Json) -> str:
    """An action as `verb(name=value, ...)`."""
    given = (
        f"{_one_line(k)}={_value(v)}" for k, v in action.items() if k != "verb" and v is not None
    )
    return f"{_one_line(str(action['verb']))}({', '.join(given)})"


def body_text(body: Json) -> str:
    """What a message carries beside its text, on one line; "" if nothing."""
    if not isinstance(body, Mapping):
        return "" if body is None else _value(body)
    rest = {k: v for k, v in body.items() if k not in ("task", "actions", "note", "id")}
    rest |= {"stage": STAGES.get(rest["stage"])} if "stage" in rest else {}
    parts = [f"task {_one_line(str(body['task']))}"] if "task" in body else []
    if body.get("actions"):
        parts.append(f"plan {', '.join(map(call_text, body['actions']))}")
    if body.get("note"):
        parts.append(f"note {quoted(str(body['note']))}")
    parts += [f"{_one_line(str(k))} {_value(v)}" for k, v in rest.items() if v not in (None, "")]
    return "; ".join(parts)


def outline(view: Json) -> str:
    """A view given as data, a line for each of its entries."""
    if isinstance(view, str):
        return view
    if not isinstance(view, Mapping):
        return _value(view)
    lines = []
    for key, value in view.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping | list):
            lines.append(f"{key}:")
            lines += [f"- {_value(entry)}" for entry in value]
        else:
            lines.append(f"{key}: {_value(value)}")
    return "\n".join(lines)


def _value(value: Json) -> str:
    if isinstance(value, str) and re.fullmatch(r"[\w@,.+-]+", value):
        return value
    return _BREAKS.sub(
        lambda found: f"\\u{ord(found[0]):04x}",
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str),
    )


def _one_line(text: str) -> str:
    return text if re.fullmatch(r"[\w@,.+ -]+", text) else quoted(text)


# --- verbs ---------------------------------------------------------------------------------------


def verb_line(verb: VerbSpec, is_explained: bool = True) -> str:
    """A verb with the types, ranges and defaults of its arguments, and what it does."""
    args = ", ".join(map(_argument, verb.args))
    return f"- {verb.name}({args}){f': {verb.summary}' if is_explained else ''}"


def _argument(arg: ArgSpec) -> str:
    kinds = {
        "int": f"{arg.low}-{arg.high}",
        "choice": "|".join(arg.choices),
        "id": "id",
        "cell": "[row, column]",
    }
    text = f"{arg.name}: {kinds[arg.type]}"
    if arg.is_required:
        return text
    return f"[{text}]" if arg.default is None else f"[{text} = {_value(arg.default)}]"


# --- lengths -------------------------------------------------------------------------------------


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning and three dots."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def fit(lines: Sequence[str], limit: int, rest: str = "({} more)") -> str:
    """As many whole lines as fit, the first ones, and how many were left out."""
    text = "\n".join(lines)
    if len(text) <= limit:
        return text
    kept, used = 0, 0
    room = limit - len(rest.format(len(lines)))
    while kept < len(lines) and used + len(lines[kept]) + 1 <= room:
        used += len(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], rest.format(len(lines) - kept)])


def digest(tasks: Iterable[str]) -> str:
    """How many are on each task, the fullest first: `18 more on block_3_left, 6 idle`."""
    counts = Counter(tasks)
    idle = counts.pop("none", 0)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    parts = [f"{count} more on {clipped(task, 24)}" for task, count in ranked[:_DIGEST_TASKS]]
    others = sum(count for _, count in ranked[_DIGEST_TASKS:])
    parts += [f"{others} more on other tasks"] if others else []
    parts += [f"{idle} idle"] if idle else []
    return ", ".join(parts)
