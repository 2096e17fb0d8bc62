"""One file with the whole run in it: a page that needs no server and no network."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy import ndarray

from cognitive.errors import ConfigError
from render.looks import WEIGHT_COLORS, by_number
from render.replay import RecordedRun
from render.sprites import (
    IDENTITY_COLORS,
    REPAIR_COLOR,
    STAGE_COLORS,
    THINGS,
    TILE,
    agent_sprite,
    ground,
    item_icon,
    thing,
)
from render.story import CONSTRAINTS, EVIDENCE, ChannelRecord, MessageRecord, PlanRecord, body_text
from render.video import png_bytes
from worlds.api import AgentId, Json

__all__ = ["SIZE_LIMIT", "page_data", "write_page"]

SIZE_LIMIT = 10_000_000
"""Bytes a page should have at most."""
TEXT_LIMITS = (None, 160, 40, 0)
"""Characters kept of a message's text, tried in this order until the page is small enough."""
POSES = ("up", "down", "left", "right", "asleep")
DRAWN_LAYERS = (
    *("board", "block_cell", "block_weight", "agent_cell", "agent_facing", "is_asleep"),
    *("material", "object", "object_facing", "inventory", "light"),
)
STYLE, SCRIPTS = "page.css", ("page_run.js", "page_map.js", "page_view.js")


def write_page(run: RecordedRun, out: Path | str) -> Path:
    """Write the page of a run. Message texts are shortened if it would pass 10 MB, and it says so.

    Raises ConfigError if the file cannot be written.
    """
    path = Path(out)
    for limit in TEXT_LIMITS:
        text = _page(run, page_data(run, limit))
        if len(text) <= SIZE_LIMIT:
            break
    try:
        path.write_bytes(text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    return path


def _page(run: RecordedRun, data: Json) -> bytes:
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0)
    parts = {
        "title": html.escape(f"{run.name} – cooplab"),
        "style": _asset(STYLE),
        "script": "\n".join(_asset(name) for name in SCRIPTS),
        "data": base64.b64encode(packed).decode(),
    }
    page = _asset("page.html")
    for name, value in parts.items():
        before, _, after = page.partition("{{" + name + "}}")
        page = before + value + after
    return page.encode()


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").strip()


def page_data(run: RecordedRun, text_limit: int | None = None) -> dict[str, Json]:
    """All that the page shows, as JSON; message texts cut to `text_limit` characters."""
    story, start = run.story, run.story.start
    steps = run.steps
    return {
        "name": run.name,
        "world": run.frames.world,
        "agents": run.agents,
        "steps": steps,
        "start": {k: v for k, v in start.items() if k not in ("v", "n", "e", "step", "ms")},
        "end": _ending(run),
        "textLimit": text_limit,
        "stepMs": story.step_ms[: steps + 1],
        "endMs": story.last_ms,
        "colors": _colors(),
        "legend": run.frames.legend,
        **_frames(run),
        "atlas": _atlas(run),
        "shown": [_shown(run, agent) for agent in range(run.agents)],
        "stages": [[list(entry) for entry in entries] for entries in story.stages],
        "plans": [_plan(plan) for plan in story.plans.values()],
        **_messages(story.messages, text_limit),
        "channels": [_channel(run, channel) for channel in story.channels],
        "scores": [list(score) for score in story.scores],
        "failures": [list(failure) for failure in story.failures],
        "attempts": [_attempt(step, event) for step, event in story.attempts],
        "metrics": (run.summary or {}).get("metrics", {}),
        "summary": {k: v for k, v in (run.summary or {}).items() if k != "metrics"},
        "config": run.config,
        "timing": run.timing,
    }


def _ending(run: RecordedRun) -> Json:
    end = run.story.end
    return None if end is None else {"by": end["ended_by"], "detail": end["detail"]}


def _colors() -> Json:
    return {
        "stages": dict(STAGE_COLORS),
        "identity": list(IDENTITY_COLORS),
        "weights": list(WEIGHT_COLORS),
        "repair": REPAIR_COLOR,
        "constraints": list(CONSTRAINTS),
    }


def _frames(run: RecordedRun) -> dict[str, Json]:
    first = run.redraw(0)
    names = [name for name in DRAWN_LAYERS if name in first]
    layers = {
        name: {"shape": list(first[name].shape), "data": _numbers(first[name])} for name in names
    }
    changes = []
    for step in range(1, run.steps + 1):
        change = run.frames.changes(step)
        changes.append(
            {name: [c.tolist() for c in change[name]] for name in names if name in change}
        )
    return {"layers": layers, "changes": changes}


def _numbers(array: ndarray) -> list[int]:
    numbers: list[int] = array.reshape(-1).astype(np.int64).tolist()
    return numbers


def _atlas(run: RecordedRun) -> Json:
    """The pictures of a survival map in one image, and where each stands in it."""
    if "material" not in run.redraw(0):
        return None
    legend = run.frames.legend
    pictures: dict[str, ndarray] = {}
    for material in by_number(legend["material"]):
        pictures[f"material:{material}"] = ground(material, TILE)
    for name in THINGS:
        pictures[f"thing:{name}"] = thing(name, TILE)
    for item in by_number(legend["inventory"]):
        pictures[f"item:{item}"] = item_icon(item, TILE)
    for agent in range(min(run.agents, len(IDENTITY_COLORS))):
        for pose in POSES:
            pictures[f"agent:{agent}:{pose}"] = agent_sprite(agent, pose, TILE)
    sheet = np.concatenate(list(pictures.values()), axis=1)
    uri = "data:image/png;base64," + base64.b64encode(png_bytes(sheet, True)).decode()
    return {"uri": uri, "size": TILE, "places": {name: at for at, name in enumerate(pictures)}}


def _shown(run: RecordedRun, agent: AgentId) -> str:
    """The stage of each step, a letter each; "." before the first."""
    entries = (run.story.stage_at(agent, step) for step in range(run.steps + 1))
    return "".join("." if entry is None else entry.stage for entry in entries)


def _plan(plan: PlanRecord) -> Json:
    actions = [
        [a.text, a.status, a.reason, a.started_step, a.ended_step, a.args] for a in plan.actions
    ]
    return {
        "id": plan.id,
        "agent": plan.agent,
        "task": plan.task,
        "note": plan.note,
        "step": plan.step,
        "ended": plan.ended_step,
        "status": plan.status,
        "reason": plan.reason,
        "result": plan.task_result,
        "resumed": [step for _, step in plan.resumed],
        "actions": actions,
    }


def _messages(messages: Iterable[MessageRecord], limit: int | None) -> dict[str, Json]:
    """Messages as rows; texts and kinds stand once each in tables of their own."""
    texts: dict[str, int] = {}
    kinds: dict[str, int] = {}
    rows = []
    for message in messages:
        text = _cut(message.text or body_text(message.body), limit)
        rows.append(
            [
                message.id,
                message.sender,
                _ranges(message.recipients),
                kinds.setdefault(message.kind, len(kinds)),
                texts.setdefault(text, len(texts)),
                message.step,
                message.ms,
                _ranges(message.interrupted),
                _ranges(message.lost),
            ]
        )
    return {"messages": rows, "texts": list(texts), "kinds": list(kinds)}


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + "…" if limit else ""


def _ranges(agents: Iterable[AgentId]) -> str:
    """Ids in short form: `0-3,5`."""
    parts: list[list[int]] = []
    for agent in sorted(agents):
        if parts and agent == parts[-1][1] + 1:
            parts[-1][1] = agent
        else:
            parts.append([agent, agent])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def _channel(run: RecordedRun, channel: ChannelRecord) -> Json:
    forecast, closed, scored = channel.forecast, channel.closed, channel.scored
    return {
        "id": channel.id,
        "label": channel.label,
        "step": channel.step,
        "ended": channel.ended_step,
        "task": channel.task,
        "target": channel.target,
        "strategy": channel.opened["strategy"],
        "arrival": channel.opened["arrival"],
        "verified": channel.opened["verified"],
        "members": list(channel.members),
        "cohort": channel.opened["cohort"],
        "forecast": None if forecast is None else _forecast(forecast),
        "statements": channel.statements,
        "before": channel.before,
        "after": channel.after,
        "outcome": channel.outcome,
        "closed": None if closed is None else {k: closed[k] for k in _CLOSED},
        "scored": None if scored is None else {k: scored[k] for k in _SCORED},
    }


_FORECAST = ("need", "rollouts", "support", "held", "succeeded", "first", "last", "cause")
_CLOSED = ("proposals", "waves", "v_before", "v_after", "calls", "tokens", "sends", "clock_ms")
_SCORED = ("label", "held", "succeeded", "attempts", "first")


def _forecast(event: Mapping[str, Json]) -> Json:
    evidence = [dict(zip(EVIDENCE, line, strict=True)) for line in event["evidence"] or ()]
    return {**{name: event[name] for name in _FORECAST}, "evidence": evidence}


def _attempt(step: int, event: Mapping[str, Json]) -> Json:
    members = [member[0] for member in event["members"]]
    return [step, event["task"], event["action"], event["result"], event["unmet"], members]
