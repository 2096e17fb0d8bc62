"""The commands that show what was played: table, plot, replay, export."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cognitive.errors import ConfigError, RecordError
from lab import layout, pairs, plots, records, runs, settings, tables, viewing
from lab.cli_options import DIFFERS, DONE
from lab.commands import Console, names_of, need_display, where_of
from render import timeline
from render.page import write_page
from render.replay import open_run
from render.video import export_gif, export_mp4, export_png
from render.window import show_run

DEFAULT_PATHS = ("results", "runs")
SPEED = 8


def table(options: Namespace, console: Console) -> int:
    """Print a table of finished runs."""
    rows = names_of(options.rows) or tables.DEFAULT_ROWS
    group = tables.DEFAULT_GROUP if options.group is None else names_of(options.group)
    where = where_of(options.where)
    columns = tables.columns_of(names_of(options.columns) or ("paper",))
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


def _compared(text: str) -> tuple[str, tuple[str, str]]:
    axis, _, values = text.partition("=")
    sides = names_of(values)
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
        if options.published:
            raise ConfigError(plots.no_published("timeline"))
        drawn = timeline.draw(
            open_run(_one_run(paths)), out, options.axis or "ms", _agents(options.agents), form
        )
    else:
        where = where_of(options.where)
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
    for part in names_of(text):
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
    need_display("read it with --step N, or see `cooplab export`")
    show_run(folder, options.step or 0, options.speed or SPEED)
    return DONE


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


HANDLERS: Mapping[str, Callable[[Namespace, Console], int]] = {
    "table": table,
    "plot": plot,
    "replay": replay,
    "export": export,
}
