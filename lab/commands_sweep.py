"""The command that plays a grid of episodes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cognitive.errors import ConfigError
from lab import config, grid, layout, records, runs, settings, sweep, tables
from lab.backends import make_backend
from lab.cli_options import DONE, FAILED, INTERRUPTED, STOPPED
from lab.commands import Console, millionths, where_of
from lab.models import Choice
from lab.progress import Progress, Tally
from lab.serving import local_model
from lab.stopping import Stop


def run_sweep(options: Namespace, console: Console) -> int:
    """Play what is left of a sweep."""
    if not options.source:
        names = ", ".join(config.preset_names("sweep"))
        raise ConfigError(f"sweep needs a PRESET or FILE.toml; presets: {names}")
    choice = Choice(options.planner, options.model, options.endpoint, options.key_env)
    planned = grid.read_sweep(options.source, options.out, where_of(options.only), choice)
    planned = replace(planned, limits={**planned.limits, **_limits_given(options)})
    choice.announce()
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
    if planned.table["columns"]:
        _show_table(planned, console)
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
        "max_money": None if options.max_money is None else millionths(options.max_money),
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
    manifest.open(found)
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


def _show_table(planned: grid.Sweep, console: Console) -> None:
    """Print the table that the sweep's file asks for, if a run has finished."""
    folders = [planned.out / run.key for run in planned.runs]
    kept = [folder for folder in folders if (folder / records.CONFIG).is_file()]
    found = [run for run in map(runs.read_run, kept) if run is not None]
    columns = tables.columns_of(planned.table["columns"])
    view = tables.View(columns=columns, is_published=planned.table["published"])
    sheets = tables.means(found, view)
    if sheets:
        console.out(layout.render(sheets, "text"))


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {"sweep": run_sweep}
