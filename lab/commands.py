"""What each command does. Results and remarks go to the console they are given."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cognitive.errors import ClientError, CooplabError, MissingPrerequisite, RecordError
from cognitive.protocols import Sink
from lab import (
    config,
    doctor,
    grid,
    layout,
    pairs,
    plots,
    records,
    runs,
    settings,
    sweep,
    tables,
    viewing,
)
from lab.backends import make_backend
from lab.cli_options import BAD_INPUT, DIFFERS, DONE, FAILED, INTERRUPTED, MISSING, STOPPED
from lab.progress import Progress, StepLine, Tally
from lab.run import Company, Orders, Outcome, execute
from lab.serving import local_model
from lab.stopping import Stop
from lab.wiring import Parts
from render import timeline
from render.page import write_page
from render.replay import open_run
from render.video import export_gif, export_mp4, export_png
from render.window import LiveWindow, show_run
from worlds.errors import ConfigError, LayoutError, UnknownWorld

DEFAULT_PATHS = ("results", "runs")
SPEED = 8
EXIT_OF = {"finished": DONE, "failed": FAILED, "stopped": STOPPED}
_BAD_INPUT = (ConfigError, RecordError, LayoutError, UnknownWorld)
_BAD_PATH = (FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)


class Console(Protocol):
    """Where commands write."""

    @property
    def is_terminal(self) -> bool: ...

    def out(self, text: str) -> None: ...

    def note(self, text: str) -> None: ...

    def progress(self, text: str) -> None: ...


def explain(problem: Exception) -> tuple[int, list[str]]:
    """Exit code and sentences of an error."""
    sentences = str(problem).split("\n")
    if isinstance(problem, MissingPrerequisite):
        return MISSING, sentences
    if isinstance(problem, _BAD_INPUT):
        return BAD_INPUT, sentences
    if isinstance(problem, (*_BAD_PATH, PermissionError)):
        return BAD_INPUT, [f"{problem.filename}: {problem.strerror}"]
    if isinstance(problem, ClientError):
        return STOPPED, sentences
    if isinstance(problem, CooplabError):
        return FAILED, sentences
    return FAILED, [
        f"{type(problem).__name__}: {problem}; this is a defect of cooplab, please report it with "
        "the output of --debug"
    ]


# --- run -----------------------------------------------------------------------------------------


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
        _need_display("leave --window out, and look at the run with `cooplab export`")

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
    planned = grid.read_sweep(options.source, options.out, _where(options.only))
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


# --- table, plot ---------------------------------------------------------------------------------


def table(options: Namespace, console: Console) -> int:
    """Print a table of finished runs."""
    rows = _names(options.rows) or tables.DEFAULT_ROWS
    group = tables.DEFAULT_GROUP if options.group is None else _names(options.group)
    where = _where(options.where)
    columns = tables.columns_of(_names(options.columns) or ("paper",))
    runs.check_axes((*rows, *group, *where))
    compared = _compared(options.compare) if options.compare else None
    paths = _paths(options.paths)
    found = runs.select(runs.read_runs(paths), where)
    done = runs.finished(found, paths)
    for path, write in ((options.parquet, "write_parquet"), (options.csv, "write_csv")):
        if path:
            _write_frame(done, Path(path), write)
    if compared is not None:
        sheets = pairs.matched(found, *compared, columns)
    else:
        view = tables.View(
            rows, group, columns, options.spread or "sd", options.ci or "t", options.published
        )
        sheets = tables.means(found, view)
    text = layout.render(sheets, options.format or "text")
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        console.out(text)
    return DONE


def _write_frame(done: Sequence[runs.Run], path: Path, write: str) -> None:
    frame = runs.frame(done)
    if write == "write_parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def _paths(given: Sequence[str]) -> tuple[Path, ...]:
    if given:
        return tuple(map(Path, given))
    found = tuple(Path(name) for name in DEFAULT_PATHS if Path(name).is_dir())
    if not found:
        raise RecordError(f"no finished run below {', '.join(DEFAULT_PATHS)} (no such folders)")
    return found


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _where(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`KEY=VALUE[,VALUE]` as a table."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals or not _names(values):
            raise ConfigError(f'"{text}" is no filter; allowed KEY=VALUE[,VALUE]')
        found[key.strip()] = (*found.get(key.strip(), ()), *_names(values))
    return found


def _compared(text: str) -> tuple[str, tuple[str, str]]:
    axis, _, values = text.partition("=")
    sides = _names(values)
    if len(sides) != 2 or sides[0] == sides[1]:
        raise ConfigError(f'--compare "{text}": allowed AXIS=A,B with two different values')
    runs.check_axes((axis,))
    return axis, (sides[0], sides[1])


def plot(options: Namespace, console: Console) -> int:
    """Draw a figure."""
    if not options.figure:
        raise ConfigError(f"plot needs --figure; figures: {', '.join(plots.FIGURES)}")
    form = options.format or "png"
    out = Path(options.out or f"{options.figure}.{form}")
    paths = _paths(options.paths)
    if options.figure == "timeline":
        drawn = timeline.draw(
            open_run(_one_run(paths)), out, options.axis or "ms", _agents(options.agents), form
        )
    else:
        where = _where(options.where)
        strips = options.strips or "all"
        request = plots.Request(paths, options.figure, out, form, where, strips, options.published)
        drawn = plots.plot(request)
    for path in drawn:
        console.out(str(path))
    return DONE


def _one_run(paths: Sequence[Path]) -> Path:
    found = records.run_folders(tuple(paths))
    if len(found) != 1:
        raise ConfigError(f"figure timeline shows one run; {len(found)} are below the given path")
    return found[0]


def _agents(text: str | None) -> list[int] | None:
    """`0-11,40` as numbers."""
    found: list[int] = []
    for part in _names(text):
        low, dash, high = part.partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise ConfigError(f'--agents "{text}": allowed numbers and ranges, as 0-11,40')
        found += range(int(low), int(high if dash else low) + 1)
    return found or None


# --- replay, export ------------------------------------------------------------------------------


def replay(options: Namespace, console: Console) -> int:
    """Look at a recorded run."""
    folder = _run_folder(options.run)
    if options.check:
        difference = viewing.check(folder)
        if difference is not None:
            console.note(f"cooplab: {difference}")
            return DIFFERS
        console.out(f"{folder} comes out again, byte for byte")
        return DONE
    if options.prompt:
        console.out(viewing.prompt_text(folder, options.prompt))
        return DONE
    if options.step is not None and not settings.has_display():
        console.out(viewing.step_text(open_run(folder), options.step))
        return DONE
    _need_display("read it with --step N, or see `cooplab export`")
    show_run(folder, options.step or 0, options.speed or SPEED)
    return DONE


def _need_display(instead: str) -> None:
    if not settings.has_display():
        raise MissingPrerequisite(f"no display for a window (DISPLAY is not set); {instead}")


def _run_folder(name: str | None) -> Path:
    if not name:
        raise ConfigError("RUN is missing: the folder of a run")
    if not (Path(name) / records.CONFIG).is_file():
        raise RecordError(f"{name} is no run folder")
    return Path(name)


def export(options: Namespace, console: Console) -> int:
    """Write a video, a picture or a page of a run."""
    folder = _run_folder(options.run)
    if not options.format:
        raise ConfigError("export needs --format; formats: mp4, gif, png, html")
    out = Path(options.out or f"replay.{options.format}")
    given = {
        "fps": options.fps,
        "scale": options.scale,
        "start": getattr(options, "from"),
        "stop": options.to,
        "step": options.step,
        "panel": options.panel,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    takes = EXPORTS[options.format]
    foreign = [name for name in chosen if name not in takes]
    if foreign:
        flags = ", ".join(f"--{_FLAGS.get(name, name)}" for name in foreign)
        raise ConfigError(f"{flags}: not for format {options.format}")
    run = open_run(folder)
    write: Callable[..., Path] = _WRITERS[options.format]
    write(run, out, **chosen)
    console.out(str(out))
    return DONE


_FLAGS = {"start": "from", "stop": "to"}
EXPORTS = {
    "png": ("step", "scale", "panel"),
    "gif": ("fps", "scale", "start", "stop", "panel"),
    "mp4": ("fps", "scale", "start", "stop", "panel"),
    "html": (),
}
"""Options that each format takes."""
_WRITERS: Mapping[str, Callable[..., Path]] = {
    "png": export_png,
    "gif": export_gif,
    "mp4": export_mp4,
    "html": write_page,
}


# --- bench, doctor -------------------------------------------------------------------------------


def bench(options: Namespace, console: Console) -> int:
    """Run the benchmarks of the repository this package lies in."""
    root = Path(__file__).parents[1]
    if not (root / "benchmarks" / "run.py").is_file():
        raise MissingPrerequisite(
            "the benchmarks are in the repository, not in the installed package; clone it and run "
            "`make setup`, then `cooplab bench` there"
        )
    given = {"--json": options.json, "--agents": options.agents}
    more = [word for flag, value in given.items() if value for word in (flag, value)]
    words = [options.part or "all", *(["--quick"] if options.quick else []), *more]
    done = subprocess.run([sys.executable, "-m", "benchmarks.run", *words], cwd=root, check=False)
    return DONE if done.returncode == 0 else FAILED


def examine(options: Namespace, console: Console) -> int:
    """Say what works here."""
    found = doctor.examine(options.endpoint, options.model, options.key_env)
    if options.json:
        console.out(json.dumps(doctor.as_data(found), indent=2))
    else:
        console.out(doctor.report(found))
    return DONE if doctor.is_fit(found) else MISSING


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {
    "run": run,
    "sweep": run_sweep,
    "table": table,
    "plot": plot,
    "replay": replay,
    "export": export,
    "bench": bench,
    "doctor": examine,
}
