"""How values stand in prompts: quoted, on one line, cut by whole lines, counted when too many."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from worlds.api import ArgSpec, Json, VerbSpec

__all__ = [
    "body_text",
    "call_text",
    "clipped",
    "digest",
    "fit",
    "outline",
    "quoted",
    "ranges",
    "some",
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
    parts = [text for text in (_standing(body), _task(body)) if text]
    if body.get("actions"):
        parts.append(f"plan {', '.join(map(call_text, body['actions']))}")
    if body.get("note"):
        parts.append(f"note {quoted(str(body['note']))}")
    for key, value in body.items():
        if key in _TOLD_APART or value in (None, "", [], {}):
            continue
        told = _PHRASES[key](value) if key in _PHRASES else f"{_one_line(str(key))} {_facts(value)}"
        parts += [told] if told else []
    return "; ".join(parts)


_TOLD_APART = frozenset({"task", "actions", "note", "id", "stage", "progress"})
_PHRASES: Mapping[str, Callable[[Json], str]] = {
    "answer": lambda value: "accepted" if value == "accept" else "",
    "code": lambda value: f"because {_facts(value)}",
    "last": lambda value: f"last plan ended by {_facts(value)}",
    "arrival": lambda value: f"there in {_facts(value)} steps",
    "partners": lambda value: f"others needed: {_facts(value)}",
    "keeps_plan": lambda value: "keeps its plan" if value else "will change its plan",
}
"""How facts are told whose name alone says too little."""


def _standing(body: Mapping[str, Json]) -> str:
    """Where the sender of a fact sheet stands, and how far its plan is."""
    stage, (done, _, of) = body.get("stage"), str(body.get("progress", "")).partition("/")
    text = STAGES.get(stage, "") if isinstance(stage, str) else ""
    is_counted = text and done.isdecimal() and of.isdecimal() and of != "0"
    return f"{text}, {done} of {of} actions done" if is_counted else text


def _task(body: Mapping[str, Json]) -> str:
    """The task that is named; none goes without saying on a fact sheet."""
    task = body.get("task")
    if task is None or (task == "none" and "stage" in body):
        return ""
    return f"task {_one_line(str(task))}"


def _facts(value: Json) -> str:
    """A few facts in a row: `wood 2, stone 1`, `coal@3,4, tree@1,2`; anything else as JSON."""
    if isinstance(value, Mapping) and all(_is_plain(part) for part in value.values()):
        return ", ".join(f"{_one_line(str(key))} {_value(part)}" for key, part in value.items())
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(map(_value, value))
    return _value(value)


def _is_plain(value: Json) -> bool:
    return isinstance(value, str | int)


def ranges(agents: Sequence[int], limit: int = 10_000) -> str:
    """Ascending numbers with runs drawn together: `agents 1-3, 7`; one of them as `agent_7`.

    Past `limit` characters the rest is counted: `agents 1-3, 7 and 20 more`.
    """
    if len(agents) == 1:
        return f"agent_{agents[0]}"
    runs: list[list[int]] = []
    for agent in agents:
        if runs and agent == runs[-1][1] + 1:
            runs[-1][1] = agent
        else:
            runs.append([agent, agent])
    pieces = [(f"{a}" if a == b else f"{a}-{b}", b - a + 1) for a, b in runs]
    return f"agents {some(pieces, limit)}"


def some(pieces: Sequence[tuple[str, int]], limit: int) -> str:
    """Texts in a row up to `limit` characters; each stands for so many, and the rest is counted."""
    kept = 0
    while kept < len(pieces) and len(", ".join(text for text, _ in pieces[: kept + 1])) <= limit:
        kept += 1
    rest = sum(count for _, count in pieces[kept:])
    shown = ", ".join(text for text, _ in pieces[:kept])
    return f"{shown} and {rest} more" if rest else shown


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
    """How many are on each task, the fullest first: `18 more on coal@3,4, 6 more on no task`."""
    counts = Counter(tasks)
    free = counts.pop("none", 0)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    parts = [f"{count} more on {clipped(task, 24)}" for task, count in ranked[:_DIGEST_TASKS]]
    others = sum(count for _, count in ranked[_DIGEST_TASKS:])
    parts += [f"{others} more on other tasks"] if others else []
    parts += [f"{free} more on no task"] if free else []
    return ", ".join(parts)
