"""Run folders as rows: what became of each, its axes and its metrics.

Only summaries are read, and the configs of runs where a setting that is no axis is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cognitive.errors import ConfigError, MissingPrerequisite, RecordError
from lab import records
from lab.columns import BY_KEY, METRICS

if TYPE_CHECKING:
    import polars

ENDED = "ended_by"
FRAME_AXES = (*records.AXES, "seed")
TOPOLOGY_ORDER = (
    "individual",
    "centralized",
    "chain",
    "ring",
    "all_to_all",
    "hierarchy",
    "gossip",
    "graph",
)


@dataclass(frozen=True)
class Run:
    """One run folder, as far as tables read it; `metrics` is empty unless it is finished."""

    folder: Path
    status: str
    key: str
    cell: str
    seed: int
    axes: Mapping[str, Any]
    metrics: Mapping[str, Any]
    ended_by: str | None

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The whole config of the run."""
        return records.read_json(self.folder / records.CONFIG)

    def value(self, axis: str) -> str:
        """The value of an axis, of `seed`, or of a dotted setting, as text."""
        if axis == "seed":
            return str(self.seed)
        if axis in self.axes:
            return str(self.axes[axis])
        found: Any = self.config
        for part in axis.split("."):
            if not isinstance(found, Mapping) or part not in found:
                raise ConfigError(unknown("axis", axis, FRAME_AXES))
            found = found[part]
        return found if isinstance(found, str) else records.canonical(found)

    def matches(self, axis: str, allowed: Iterable[str]) -> bool:
        """Whether the value is one of `allowed`; a world may be named with its preset."""
        named = {self.value(axis)}
        if axis == "world":
            named.add(f"{self.axes['world']}:{self.axes['preset']}")
        return not named.isdisjoint(allowed)


def read_runs(paths: Sequence[Path]) -> list[Run]:
    """Every run below `paths`, once each, whatever became of it, sorted by name.

    Runs of dialogue worlds have tables of their own and are left out.
    """
    runs: dict[str, Run] = {}
    for folder in records.run_folders(tuple(paths)):
        run = read_run(folder)
        if run is not None and (run.key not in runs or runs[run.key].status != "finished"):
            runs[run.key] = run
    return [runs[key] for key in sorted(runs)]


def read_run(folder: Path) -> Run | None:
    """The run in `folder`; None if it is one of a dialogue world. Raises RecordError."""
    status = records.status(folder)
    if status in ("partial", "damaged"):
        config = records.read_json(folder / records.CONFIG)
        if "topology" not in config:
            return None
        names = (records.run_key(config), records.cell(config), config["seed"])
        return Run(folder, status, *names, records.axes(config), {}, None)
    summary = records.read_json(folder / records.SUMMARY)
    if summary.get("schema") != records.SUMMARY_SCHEMA:
        found = summary.get("schema")
        raise RecordError(
            f"{folder}: summary schema {found}; this version reads {records.SUMMARY_SCHEMA}"
        )
    if "topology" not in summary["axes"]:
        return None
    return Run(
        folder,
        status,
        summary["run_key"],
        summary["cell"],
        summary["seed"],
        summary["axes"],
        summary["metrics"] if status == "finished" else {},
        summary["ended_by"],
    )


def select(runs: Iterable[Run], where: Mapping[str, Sequence[str]]) -> list[Run]:
    """The runs whose axes have one of the values asked for."""
    return [run for run in runs if all(run.matches(axis, where[axis]) for axis in where)]


def finished(runs: Sequence[Run], paths: Sequence[Path]) -> list[Run]:
    """The finished ones. Raises RecordError, with what else there is, if there is none."""
    found = [run for run in runs if run.status == "finished"]
    if not found:
        others = [
            f"{sum(run.status == status for run in runs)} {status}"
            for status in ("failed", "partial", "stopped", "damaged")
            if any(run.status == status for run in runs)
        ]
        where = ", ".join(str(path) for path in paths)
        raise RecordError(f"no finished run below {where} ({', '.join(others) or 'no run at all'})")
    return found


def load(paths: Sequence[Path | str]) -> polars.DataFrame:
    """Finished runs below `paths` as a polars frame, a row a run.

    run_key, cell, the axes (text; agents and seed int64), every metric (float64 or int64, null for
    NA), ended_by, path. Raises MissingPrerequisite without polars.
    """
    where = tuple(Path(path) for path in paths)
    return frame(finished(read_runs(where), where))


def frame(runs: Sequence[Run]) -> polars.DataFrame:
    """`runs` as the frame `load` returns."""
    try:
        import polars
    except ImportError:
        raise MissingPrerequisite(
            "this needs polars; install it with: pip install 'cooplab[analysis]'"
        ) from None
    texts = {"run_key", "cell", ENDED, "path"} | set(FRAME_AXES) - {"agents", "seed"}
    wholes = {"agents", "seed"} | {metric.key for metric in METRICS if metric.is_integer}
    rows = [
        {
            "run_key": run.key,
            "cell": run.cell,
            **{axis: run.axes[axis] for axis in records.AXES},
            "seed": run.seed,
            **{metric.key: run.metrics.get(metric.key) for metric in METRICS},
            ENDED: run.ended_by,
            "path": str(run.folder),
        }
        for run in runs
    ]
    names = ("run_key", "cell", *FRAME_AXES, *BY_KEY, ENDED, "path")
    schema = {
        name: polars.String if name in texts else polars.Int64 if name in wholes else polars.Float64
        for name in names
    }
    return polars.DataFrame(rows, schema=schema)


def check_axes(names: Iterable[str]) -> None:
    """Raise ConfigError for a name that is neither an axis nor a dotted setting."""
    for name in names:
        if name not in FRAME_AXES and "." not in name:
            raise ConfigError(unknown("axis", name, FRAME_AXES))


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """The finding for a column or axis that does not exist, with the known ones."""
    close = get_close_matches(name, known, 1, 0.0)[0]
    plural = "axes" if what == "axis" else f"{what}s"
    return f'unknown {what} "{name}"; {plural}: {", ".join(known)} (closest: {close})'


def varying(runs: Sequence[Run], taken: Sequence[str]) -> tuple[str, ...]:
    """Axes that differ among `runs` and are not in `taken`: they may not be averaged over."""
    free = [axis for axis in records.AXES if axis not in taken and axis != "model"]
    return tuple(axis for axis in free if len({run.value(axis) for run in runs}) > 1)


def grouped(
    runs: Iterable[Run], name: Callable[[Run], tuple[str, ...]]
) -> dict[tuple[str, ...], list[Run]]:
    """`runs` by what `name` says of them; numbers and topologies in their natural order."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(name(run), []).append(run)
    return {key: groups[key] for key in sorted(groups, key=_natural)}


def _natural(values: tuple[str, ...]) -> list[tuple[int, int, str]]:
    order = {name: place for place, name in enumerate(TOPOLOGY_ORDER)}
    return [
        (0, int(value), "") if value.isdigit() else (1, order.get(value, len(order)), value)
        for value in values
    ]
