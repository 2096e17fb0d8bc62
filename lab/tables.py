"""Tables of means: a block for each value of the group axes, a line for each cell of runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from cognitive.errors import ConfigError
from lab import records
from lab.columns import BY_KEY, COLUMN_SETS, METRICS, Metric
from lab.layout import NA, Cell, Sheet, number
from lab.runs import ENDED, Run, grouped, load, unknown, varying
from lab.statistics import Description, describe

__all__ = ["DECIMALS", "View", "columns_of", "heading", "load", "means", "published"]

DEFAULT_ROWS = ("topology",)
DEFAULT_GROUP = ("agents", "planner", "repair")
DECIMALS = {"count": 1, "seconds": 1, "points": 1, "step": 1, "ratio": 2}
SPREADS = {"sd": "sd", "ci95": "95 % CI", "both": "sd (95 % CI)"}
PUBLISHED = Path(__file__).parent / "published" / "coop2.toml"
DIFFERENCES = (
    "Known differences: our constraint facts are those of the step before it changes anything,",
    "published ones may be later; ours count members, theirs everybody in place, bystanders",
    "included; without an attempt ours is NA, theirs 0.",
)


def columns_of(names: Sequence[str]) -> tuple[Metric | str, ...]:
    """The metrics that keys and names of sets mean; `ended_by` stays a name. Raises ConfigError."""
    found: list[Metric | str] = []
    for name in names:
        if name == "all":
            found += [*METRICS, ENDED]
        elif name in COLUMN_SETS:
            found += COLUMN_SETS[name]
        elif name in BY_KEY:
            found.append(BY_KEY[name])
        elif name == ENDED:
            found.append(ENDED)
        else:
            known = (*COLUMN_SETS, "all", ENDED, *BY_KEY)
            raise ConfigError(unknown("column", name, known))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class View:
    """How a table of means is laid out."""

    rows: tuple[str, ...] = DEFAULT_ROWS
    group: tuple[str, ...] = DEFAULT_GROUP
    columns: tuple[Metric | str, ...] = COLUMN_SETS["paper"]
    spread: str = "sd"
    interval: str = "t"
    is_published: bool = False


# --- means ---------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of a table of means: the runs of one cell that are finished, of `planned` known."""

    values: tuple[str, ...]
    labels: tuple[str, ...]
    runs: list[Run]
    planned: int


def means(runs: Sequence[Run], view: View) -> list[Sheet]:
    """A sheet for each value of the group axes, a line for each cell of runs."""
    group = (*varying(runs, (*view.group, *view.rows)), *view.group)
    sheets = []
    for values, block in grouped(runs, lambda run: _values(run, group)).items():
        lines = _lines(block, view)
        if any(line.runs for line in lines):
            sheets.append(_mean_sheet(dict(zip(group, values, strict=True)), lines, view))
    return sheets


def _values(run: Run, axes: Sequence[str]) -> tuple[str, ...]:
    return tuple(run.value(axis) for axis in axes)


def _lines(block: Sequence[Run], view: View) -> list[Line]:
    lines = []
    for values, runs in grouped(block, lambda run: _values(run, view.rows)).items():
        cells = grouped(runs, lambda run: (run.cell,))
        for (cell,), members in cells.items():
            shown = tuple(map(label_of, view.rows, values))
            if len(cells) > 1:
                shown = (*shown[:-1], f"{shown[-1]} [{cell.rpartition('_')[2]}]")
            done = [run for run in members if run.status == "finished"]
            lines.append(Line(values, shown, done, len(members)))
    return lines


def label_of(axis: str, value: str) -> str:
    """How a value of an axis is printed."""
    return value.replace("_", " ").capitalize() if axis == "topology" else value or NA


_WORDS = {
    "agents": "{} agents",
    "seed": "seed {}",
    "repair": "repair {}",
    "interrupts": "interrupts {}",
}


def heading(values: Mapping[str, str]) -> str:
    """`cube-v1:quorum, 3 agents, scripted, repair off`: the values of a block in words."""
    shown = dict(values)
    if "world" in shown and "preset" in shown:
        preset = shown.pop("preset")
        shown["world"] += f":{preset}"
    return ", ".join(
        _WORDS.get(axis, "{}" if axis in records.AXES else f"{axis} = {{}}").format(
            label_of(axis, value)
        )
        for axis, value in shown.items()
    )


def _mean_sheet(values: Mapping[str, str], lines: Sequence[Line], view: View) -> Sheet:
    table = [[_described(line.runs, column, view) for column in view.columns] for line in lines]
    best = [_best(column, table, place) for place, column in enumerate(view.columns)]
    rows, data = [], []
    for index, (line, described) in enumerate(zip(lines, table, strict=True)):
        cells = [
            _mean_cell(entry, column, view, index in best[place])
            for place, (column, entry) in enumerate(zip(view.columns, described, strict=True))
        ]
        rows.append([*(Cell(label) for label in line.labels), *cells])
        data.append(_mean_data(values, line, described, view))
    notes = [_shortfall(line) for line in lines if len(line.runs) < line.planned]
    if view.is_published:
        printed = _published([run for line in lines for run in line.runs], view)
        rows += [row for row, _ in printed]
        data += [entry for _, entry in printed]
        if printed:
            notes += [_source_note(), *(DIFFERENCES if _shows_violations(view) else ())]
    titles = (*(axis_title(axis) for axis in view.rows), *map(column_title, view.columns))
    title = f"{heading(values)} — {_statistic(lines, view)}"
    return Sheet(title, titles, tuple(rows), tuple(data), tuple(notes))


def axis_title(axis: str) -> str:
    """The heading of a column of axis values."""
    return "Structure" if axis == "topology" else axis.capitalize()


def column_title(column: Metric | str) -> str:
    """The heading of a column of values."""
    return "Ended" if isinstance(column, str) else column.title


def _described(
    runs: Sequence[Run], column: Metric | str, view: View
) -> Description | tuple[tuple[str, int], ...]:
    if isinstance(column, str):
        ends = [run.ended_by or NA for run in runs]
        return tuple((end, ends.count(end)) for end in sorted(set(ends), key=ends.count)[::-1])
    return describe([run.metrics.get(column.key) for run in runs], view.interval)


def _best(column: Metric | str, table: Sequence[Sequence[Any]], place: int) -> set[int]:
    """Lines with the best mean, ties all; none without a direction or anything to compare."""
    if isinstance(column, str) or not column.better:
        return set()
    known = {i: row[place].mean for i, row in enumerate(table) if row[place].mean is not None}
    if len(known) < 2:
        return set()
    top = max(known.values()) if column.better > 0 else min(known.values())
    return {i for i, mean in known.items() if isclose(mean, top, rel_tol=1e-12, abs_tol=1e-12)}


def _mean_cell(entry: Any, column: Metric | str, view: View, is_best: bool) -> Cell:
    if isinstance(column, str):
        return Cell(" · ".join(f"{end} {count}" for end, count in entry) or NA)
    return Cell(spread_text(entry, DECIMALS[column.unit], view.spread), is_best)


def spread_text(entry: Description, decimals: int, spread: str) -> str:
    """`61.0 ± 9.2`; the value alone for one run; `(4/5)` if some runs have no value."""
    if entry.mean is None:
        return NA
    text = number(entry.mean, decimals)
    if entry.sd is not None and entry.ci is not None:
        sd, ci = number(entry.sd, decimals), number(entry.ci, decimals)
        text += {"sd": f" ± {sd}", "ci95": f" ± {ci}", "both": f" ± {sd} (± {ci})"}[spread]
    return text if entry.valued == entry.n else f"{text} ({entry.valued}/{entry.n})"


def _statistic(lines: Sequence[Line], view: View) -> str:
    counts = sorted({len(line.runs) for line in lines if line.runs})
    if counts == [1]:
        return "one run"
    over = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    kind = " (normal)" if view.interval == "normal" and view.spread != "sd" else ""
    return f"mean ± {SPREADS[view.spread]}{kind} over {over} seeds"


def _shortfall(line: Line) -> str:
    return f"{', '.join(line.labels)}: {len(line.runs)} of {line.planned} runs"


def _mean_data(
    values: Mapping[str, str], line: Line, described: Sequence[Any], view: View
) -> dict[str, Any]:
    entry: dict[str, Any] = {**values, **dict(zip(view.rows, line.values, strict=True))}
    entry |= {"runs": len(line.runs), "runs_known": line.planned, "source": "ours"}
    for column, found in zip(view.columns, described, strict=True):
        if isinstance(column, str):
            entry[column] = " · ".join(f"{end} {count}" for end, count in found) or None
            continue
        entry |= {
            f"{column.key}_mean": found.mean,
            f"{column.key}_sd": found.sd,
            f"{column.key}_ci95": found.ci,
            f"{column.key}_n": found.valued,
        }
    return entry


# --- published rows ------------------------------------------------------------------------------


def published() -> Mapping[str, Any]:
    """The published numbers, as their file holds them."""
    return tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))


def _source_note() -> str:
    return f"† {published()['note']}; never averaged, paired or tested with ours"


def _shows_violations(view: View) -> bool:
    return any(
        isinstance(column, Metric) and column.key.startswith("violation_")
        for column in view.columns
    )


def _published(runs: Sequence[Run], view: View) -> list[tuple[list[Cell], dict[str, Any]]]:
    """Rows of the papers for a world and team size of `runs`, each structure and model once.

    Models differ from ours by nature, so the label names the published one.
    """
    note = {"source": published()["note"]}
    return [(_published_cells(row, view), {**row, **note}) for row in published_rows(runs)]


def published_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What the papers print of runs with a world and team size of `runs`.

    One row for each structure and model: its table, figure 4 and the project page together.
    """
    known = published()
    settings = {(run.axes["world"], run.axes["agents"]) for run in runs}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in (*known["row"], *known["figure_4"], *known["project_page"]):
        name = (row["world"], row["agents"], row["model"], row["topology"])
        if name[:2] in settings:
            rows[name] = {**row, **rows.get(name, {})}
    return list(rows.values())


def _published_cells(row: Mapping[str, Any], view: View) -> list[Cell]:
    labels = [
        Cell(label_of(axis, str(row.get(axis, ""))) + (f" † {row['model']}" if not place else ""))
        for place, axis in enumerate(view.rows)
    ]
    return [*labels, *(_published_cell(row, column) for column in view.columns)]


def _published_cell(row: Mapping[str, Any], column: Metric | str) -> Cell:
    if isinstance(column, str) or column.key not in row:
        return Cell(NA)
    value, decimals = row[column.key], DECIMALS[column.unit]
    if isinstance(value, list):
        return Cell(f"{number(value[0], decimals)} ± {number(value[1], decimals)}")
    return Cell(number(value, decimals))
