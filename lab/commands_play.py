"""The commands that play: run, sweep."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cognitive.errors import ConfigError
from cognitive.protocols import Sink
from lab import config, grid, layout, records, runs, settings, sweep, tables
from lab.backends import make_backend
from lab.cli_options import DONE, FAILED, INTERRUPTED, STOPPED
from lab.commands import Console, need_display, where_of
from lab.progress import Progress, StepLine, Tally
from lab.run import Company, Orders, Outcome, execute
from lab.serving import local_model
from lab.stopping import Stop
from lab.wiring import Parts
from render.window import LiveWindow

EXIT_OF = {"finished": DONE, "failed": FAILED, "stopped": STOPPED}


def run(options: Namespace, console: Console) -> int:
    """Play one episode."""
    if options.resume:
        resolved = _resumed(options)
        folder = Path(options.resume)
    else:
        resolved = config.resolve(_raw_settings(options))
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
        _millionths(options.max_money),
    )
    stop = Stop()
    watching = console.is_terminal and not options.quiet
    if options.window:
        need_display("leave --window out, and look at the run with `cooplab export`")

    def watchers(parts: Parts) -> list[Sink]:
        found: list[Sink] = []
        if options.window:
            world = parts.world
            found.append(LiveWindow(world.id, world.rules.legend, folder.name))
        if watching:
            found.append(StepLine(parts.settings.limits.steps, console.progress))
        return found

    company = Company(stop, sinks=watchers, show=console.note)
    with stop.on_signals():
        outcome = execute(records.canonical(resolved), folder, orders, company)
    return _told(outcome, folder, stop, options.quiet, console)


def _raw_settings(options: Namespace) -> dict[str, Any]:
    raw = config.read_source(options.preset or config.DEFAULT_PRESET, "run")
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


def _millionths(amount: float | None) -> int:
    return round((amount or 0) * 1e6)


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


# --- sweep ---------------------------------------------------------------------------------------


def run_sweep(options: Namespace, console: Console) -> int:
    """Play what is left of a sweep."""
    if not options.source:
        names = ", ".join(config.preset_names("sweep"))
        raise ConfigError(f"sweep needs a PRESET or FILE.toml; presets: {names}")
    planned = grid.read_sweep(options.source, options.out, where_of(options.only))
    limits = {**planned.limits, **_limits_given(options)}
    planned = grid.Sweep(planned.name, planned.out, planned.runs, limits)
    manifest = sweep.Manifest(planned.out)
    found = sweep.survey(planned, manifest, options.retry_failed, options.rerun_damaged)
    if options.dry_run:
        console.out(_listed(planned, found))
        return DONE
    planned.out.mkdir(parents=True, exist_ok=True)
    for run in found.damaged:
        console.note(f"cooplab: warning: {planned.out / run.key} is damaged; see --rerun-damaged")
    planners = _planners_of(found)
    stop = Stop()
    with records.RunLock(planned.out), local_model(planners), stop.on_signals():
        for planner in planners:
            settings.endpoint_variables(planner)
        driver = _drive(planned, found, manifest, stop, options, console)
    console.out(_summed(planned, driver, found))
    for key, error in driver.errors.items():
        console.note(f"cooplab: failed: {key}: {error}")
    if stop.is_asked:
        return INTERRUPTED
    if driver.tally.failed or found.damaged:
        return FAILED
    return STOPPED if driver.hit or driver.tally.stopped else DONE


def _limits_given(options: Namespace) -> dict[str, int]:
    given = {
        "workers": options.workers,
        "max_calls": options.max_calls,
        "max_tokens": options.max_tokens,
        "max_money": None if options.max_money is None else _millionths(options.max_money),
    }
    return {name: value for name, value in given.items() if value is not None}


def _planners_of(found: sweep.Survey) -> list[Mapping[str, Any]]:
    """Every planner's section of the runs to play, once a name."""
    planners = {
        planner["name"]: planner for todo in found.todo for planner in todo.run.config["planner"]
    }
    return list(planners.values())


def _drive(
    planned: grid.Sweep,
    found: sweep.Survey,
    manifest: sweep.Manifest,
    stop: Stop,
    options: Namespace,
    console: Console,
) -> sweep.Driver:
    name = (options.backend or "processes") if found.todo else "serial"
    workers = planned.limits["workers"]
    backend = make_backend(name, workers, stop, options.ray_address, manifest.path)
    manifest.open()
    driver = sweep.Driver(planned, backend, manifest, stop, found)
    try:
        driver.play(_progress(options, console))
    except KeyboardInterrupt:
        backend.cancel(is_hard=True)
        raise
    finally:
        backend.close()
        manifest.close()
    return driver


def _progress(options: Namespace, console: Console) -> Callable[[Tally], None]:
    if options.quiet:
        return lambda tally: None
    return Progress(console.is_terminal, console.progress, console.note)


def _listed(planned: grid.Sweep, found: sweep.Survey) -> str:
    bounds = [config.most_calls(todo.run.config) for todo in found.todo]
    most = "no limit" if None in bounds else f"{sum(bound or 0 for bound in bounds):,}"
    if planned.limits["max_calls"] and None not in bounds:
        most = f"{min(planned.limits['max_calls'], sum(bound or 0 for bound in bounds)):,}"
    lines = list(found.lines())
    return "\n".join(
        [
            *lines,
            f"{len(planned.runs)} runs in {planned.out}: {len(found.todo)} to play, "
            f"{len(found.finished)} finished; most model calls: {most}",
        ]
    )


def _summed(planned: grid.Sweep, driver: sweep.Driver, found: sweep.Survey) -> str:
    tally = driver.tally
    text = (
        f"{tally.total} runs in {planned.out}: {tally.finished} finished "
        f"({len(found.finished)} before), {tally.failed} failed, {tally.stopped} stopped; "
        f"played {tally.played}"
    )
    return f"{text}; ended by {driver.hit}" if driver.hit else text


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {"run": run, "sweep": run_sweep}
