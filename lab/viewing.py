"""Looking at a recorded run: a step as text, a prompt, and whether it comes out again."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cognitive.clients.recorded import read_cassette
from cognitive.clients.shown import shown_decision
from cognitive.errors import ConfigError, CooplabError, RecordError
from cognitive.events import read_events
from lab import records, sinks
from lab.run import Orders, execute
from render.replay import RecordedRun

COMPARED = (records.EVENTS, records.FRAMES, records.SUMMARY)


# --- playing again -------------------------------------------------------------------------------


def check(folder: Path) -> str | None:
    """Play a run again from its recorded replies; the first difference, None if there is none.

    A run that is not finished is compared as far as it is recorded. Raises RecordError if the
    folder is damaged.
    """
    config = (folder / records.CONFIG).read_text(encoding="utf-8")
    state = records.status(folder, is_thorough=True)
    if state == "damaged":
        return f"{folder / records.SUMMARY} does not match {records.EVENTS}"
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = Path(name) / "run"
        copy.mkdir()
        for file in (records.CONFIG, records.EVENTS, records.CASSETTE):
            if (folder / file).exists():
                shutil.copyfile(folder / file, copy / file)
        problem = _played_again(config, copy)
        if problem is not None and sinks.written_beside(copy, records.EVENTS).exists():
            return problem.replace(str(copy), str(folder))
        return _first_difference(folder, copy) if state == "finished" else None


def _played_again(config: str, copy: Path) -> str | None:
    try:
        execute(config, copy, Orders("resume", "replay"))
    except CooplabError as problem:
        return str(problem)
    return None


def _first_difference(folder: Path, copy: Path) -> str | None:
    for name in COMPARED:
        old = (folder / name).read_bytes().split(b"\n")
        new = (copy / name).read_bytes().split(b"\n")
        for number, (before, after) in enumerate(zip(old, new, strict=False), start=1):
            if before != after:
                return f"{folder / name}, line {number}: {_cut(before)} recorded, {_cut(after)} now"
        if len(old) != len(new):
            return f"{folder / name}: {len(old) - 1} lines recorded, {len(new) - 1} now"
    return None


def _cut(line: bytes) -> str:
    text = line.decode(errors="replace")
    return text if len(text) <= 200 else f"{text[:200]}…"


# --- as text -------------------------------------------------------------------------------------


def step_text(run: RecordedRun, step: int) -> str:
    """What is so at `step`: score, each agent's stage and plan, messages, channels.

    Raises RecordError for a step outside the run.
    """
    if not 0 <= step <= run.steps:
        raise RecordError(f"step {step}: {run.folder} has steps 0 to {run.steps}")
    story = run.story
    _, ms = story.span(step)
    lines = [f"step {step} of {run.steps} · {ms} ms · score {story.score_at(step):g}"]
    lines += [_agent_line(run, agent, step) for agent in range(run.agents)]
    lines += [
        f"message {message.id}: {message.kind} from {message.sender} to "
        f"{','.join(map(str, message.recipients))} {message.text}".rstrip()
        for message in story.messages_at(step)
        if message.step == step
    ]
    lines += [
        f"repair {channel.label}: {channel.task}, agents {','.join(map(str, channel.members))}, "
        f"{channel.outcome}"
        for channel in story.channels
        if channel.step == step
    ]
    return "\n".join(lines)


def _agent_line(run: RecordedRun, agent: int, step: int) -> str:
    entry, plan = run.story.stage_at(agent, step), run.story.plan_at(agent, step)
    stage = entry.stage if entry else "R"
    if plan is None:
        return f"agent {agent}: {stage}, no plan"
    action = plan.current(step)
    doing = f", {action.text}" if action else ""
    return f"agent {agent}: {stage}, plan {plan.id} ({plan.task}){doing}"


def prompt_text(folder: Path, name: str) -> str:
    """The recorded prompts and answers of a decision, named `AGENT:DECISION` as `1:d7`.

    Raises ConfigError if there is no such decision, and for planners that get no prompt.
    """
    agent, colon, decision = name.partition(":")
    if not colon or not agent.isdigit():
        raise ConfigError(f'--prompt "{name}": allowed AGENT:DECISION, as 1:d7')
    events = read_events(folder / records.EVENTS)
    own = [e for e in events if e["e"] == "decision_started" and e["agent"] == int(agent)]
    asked = next((event for event in own if event["decision"] == decision), None)
    if asked is None:
        listed = ", ".join(event["decision"] for event in own[:8]) or "none"
        raise ConfigError(
            f"--prompt {name}: agent {agent} has no decision {decision}; it has {listed}"
            + (", …" if len(own) > 8 else "")
        )
    text = shown_decision(read_cassette(folder / records.CASSETTE), decision)
    if not text:
        raise ConfigError(f"--prompt {name}: {_why_nothing(events, asked)}")
    return text


def _why_nothing(events: list[dict[str, Any]], asked: Mapping[str, Any]) -> str:
    ends = {e["decision"]: e["outcome"] for e in events if e["e"] == "decision_ended"}
    if ends.get(asked["decision"], "cut") == "cut":
        return "it was cut before anything came back; what was under way is not recorded"
    return (
        f"the {asked['planner']} planner answered; only what is sent to models is recorded, its "
        f"answer stands in {records.EVENTS}"
    )
