"""The command that plays one episode."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cognitive.errors import ConfigError
from cognitive.protocols import Sink
from lab import config, layout, records, runs, tables
from lab.cli_options import DONE, FAILED, INTERRUPTED, STOPPED
from lab.commands import Console, millionths, need_display
from lab.models import Choice
from lab.progress import StepLine
from lab.run import Company, Orders, Outcome, execute
from lab.stopping import Stop
from lab.wiring import Parts
from render.window import LiveWindow

EXIT_OF = {"finished": DONE, "failed": FAILED, "stopped": STOPPED}


def run(options: Namespace, console: Console) -> int:
    """Play one episode."""
    choice = Choice(None, options.model, options.endpoint, options.key_env)
    choice.check()
    choice.announce()
    if options.resume:
        if options.model:
            raise ConfigError("--model: a run that is resumed keeps its planners")
        resolved = _resumed(options)
        folder = Path(options.resume)
    else:
        resolved = config.resolve(_raw_settings(options, choice))
        folder = Path(options.out or f"runs/{records.run_key(resolved)}")
    for remark in config.remarks(resolved):
        console.note(f"cooplab: warning: {remark}")
    if options.dry_run:
        console.out(_described(resolved, options))
        return DONE
    orders = Orders(
        "resume" if options.resume else "new",
        options.replies or "record",
        options.max_calls or 0,
        options.max_tokens or 0,
        millionths(options.max_money),
    )
    stop = Stop()
    watching = console.is_terminal and not options.quiet
    if options.window:
        need_display("leave --window out, and look at the run with `cooplab export`")

    windows: list[LiveWindow] = []

    def watchers(parts: Parts) -> list[Sink]:
        found: list[Sink] = []
        if options.window:
            world = parts.world
            windows.append(LiveWindow(world.id, world.rules.legend, folder.name))
            found += windows
        if watching:
            found.append(StepLine(parts.settings.limits.steps, console.progress))
        return found

    def show(text: str) -> None:
        console.note(text)
        for window in windows:
            window.ask(text)

    read = (lambda: windows[0].read_line()) if options.window else None
    company = Company(stop, sinks=watchers, show=show, read=read)
    with stop.on_signals():
        outcome = execute(records.canonical(resolved), folder, orders, company)
    return _told(outcome, folder, stop, options.quiet, console)


def _raw_settings(options: Namespace, choice: Choice) -> dict[str, Any]:
    raw = config.read_source(options.preset or config.DEFAULT_PRESET, "run")
    raw["planners"] = choice.planners(raw.get("planners", {}))
    raw["planner"] = choice.name or choice.pointed(raw.get("planner", "scripted"))
    for text in options.set:
        config.assign(raw, *config.parse_assignment(text))
    if options.seed is not None:
        raw["seed"] = options.seed
    return raw


def _resumed(options: Namespace) -> dict[str, Any]:
    """The stored config, changed where a resumed run may differ."""
    folder = Path(options.resume)
    stored = records.read_json(folder / records.CONFIG)
    raw = config.reopened(stored)
    for text in options.set:
        config.assign(raw, *config.parse_assignment(text))
    return config.resolve(raw)


def _described(resolved: Mapping[str, Any], options: Namespace) -> str:
    most = config.most_calls(resolved)
    if options.max_calls:
        most = options.max_calls if most is None else min(most, options.max_calls)
    calls = "no limit" if most is None else f"{most:,}"
    whole = json.dumps(resolved, indent=2, ensure_ascii=False)
    return f"{whole}\nrun key: {records.run_key(resolved)}\nmost model calls: {calls}"


def _told(outcome: Outcome, folder: Path, stop: Stop, is_quiet: bool, console: Console) -> int:
    """Say how a run ended; the exit code."""
    if outcome.status == "failed":
        console.note(f"cooplab: error: {outcome.error} (recorded in {folder})")
        return FAILED
    if not is_quiet:
        found = runs.read_run(folder)
        if found is not None and found.metrics:
            shown = ("score", "steps", "messages", "decision_s")
            metrics = [tables.columns_of([key])[0] for key in shown]
            console.out(
                " · ".join(
                    f"{tables.column_title(metric).lower()} {layout.number(found.metrics[key], 1)}"
                    for key, metric in zip(shown, metrics, strict=True)
                )
            )
        console.out(f"{outcome.status} by {outcome.ended_by}: {folder}")
    if stop.is_asked:
        return INTERRUPTED
    return EXIT_OF[outcome.status]


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {"run": run}
