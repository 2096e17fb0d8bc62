"""What figures draw, step by step, as functions of the events of runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy import ndarray

from lab import metrics
from lab.runs import Run
from lab.statistics import quantile
from lab.trace import Trace
from render.figures import STRIPS, RepairMark, TraceCell
from render.replay import Frames

__all__ = ["RunSeries", "run_series", "trace_cell"]

FRAMES = "frames.jsonl"
_TOOLS = re.compile(r"^(wood|stone|iron)_(pickaxe|sword)@|^(table|furnace|plant)@")
_MATERIAL_ROWS = {
    "diamond": "diamond",
    "iron": "iron",
    "coal": "coal",
    "stone": "stone",
    "tree": "wood",
}
_MACRAFTER_ROWS = ("tools", "diamond", "iron", "coal", "stone", "wood")


@dataclass(frozen=True)
class RunSeries:
    """One run over its steps 1..T.

    satisfaction: [4, T] float, mean over the counted attempts of a step, nan without one. marks:
    (constraint, step, satisfaction) of every counted attempt. busy: row -> [T] int, agents
    executing a plan for a task of that row. score: [T] float, cumulative.
    """

    steps: int
    limit: int
    agents: int
    satisfaction: ndarray
    marks: tuple[tuple[str, int, float], ...]
    rows: tuple[str, ...]
    busy: Mapping[str, ndarray]
    score: ndarray
    repairs: tuple[RepairMark, ...]


def run_series(run: Run, trace: Trace) -> RunSeries:
    """The series of one finished run."""
    steps = trace.steps
    sums, counts = np.zeros((len(STRIPS), steps)), np.zeros(steps)
    marks = []
    for step, attempt in trace.counted:
        for i, name in enumerate(STRIPS):
            value = 1.0 - metrics.deficit(attempt, name)
            sums[i, step - 1] += value
            marks.append((name, step, value))
        counts[step - 1] += 1
    with np.errstate(invalid="ignore"):
        satisfaction = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    rows, row_of = _heat_rows(run)
    busy = {row: np.zeros(steps, int) for row in rows}
    for life in trace.plans:
        row = row_of(life.task)
        if life.started is not None and row in busy:
            busy[row][life.started : life.ended] += 1
    score = np.zeros(steps)
    for event in trace.by_type["score"]:
        score[event["step"] - 1 :] = event["total"]
    repairs = tuple(
        RepairMark(event["step"], str(event["target"] or event["task"]))
        for event in trace.by_type["repair_opened"]
    )
    limit = int(run.config["budget"]["steps"]) or steps
    return RunSeries(
        steps, limit, trace.agents, satisfaction, tuple(marks), rows, busy, score, repairs
    )


def trace_cell(row: str, column: str, series: Sequence[RunSeries]) -> TraceCell:
    """The mean over the runs of a cell; finished runs are carried on flat in the score."""
    longest = max(one.steps for one in series)
    satisfaction = np.full((len(series), len(STRIPS), longest), np.nan)
    score = np.zeros((len(series), longest))
    for k, one in enumerate(series):
        satisfaction[k, :, : one.steps] = one.satisfaction
        score[k, : one.steps] = one.score
        score[k, one.steps :] = one.score[-1] if one.steps else 0.0
    is_playing = np.array([[t < one.steps for t in range(longest)] for one in series])
    rows = series[0].rows
    heat = np.zeros((len(rows), longest))
    for i, name in enumerate(rows):
        for one in series:
            heat[i, : one.steps] += one.busy.get(name, np.zeros(one.steps))
    heat /= np.maximum(is_playing.sum(axis=0), 1)
    mean = score.mean(axis=0)
    half = np.zeros(longest)
    if len(series) > 1:
        half = quantile(len(series), "t") * score.std(axis=0, ddof=1) / np.sqrt(len(series))
    return TraceCell(
        row=row,
        column=column,
        agents=series[0].agents,
        runs=len(series),
        limit=max(one.limit for one in series),
        satisfaction=_mean_where_given(satisfaction),
        marks=series[0].marks if len(series) == 1 else (),
        heat_rows=rows,
        heat=heat,
        score=mean,
        low=np.maximum(mean - half, 0.0),
        high=mean + half,
        end=float(np.mean([one.steps for one in series])),
        repairs=series[0].repairs if len(series) == 1 else (),
    )


def _mean_where_given(values: ndarray) -> ndarray:
    """Mean over axis 0 of what is not nan; nan where nothing is."""
    is_given = np.isfinite(values)
    count = is_given.sum(axis=0)
    total = np.where(is_given, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _heat_rows(run: Run) -> tuple[tuple[str, ...], Callable[[str], str | None]]:
    """The rows of a world's heat map, top down, and the row of a task id."""
    if str(run.axes["world"]).startswith("macrafter"):
        return _MACRAFTER_ROWS, _macrafter_row
    weights = Frames.read(run.folder / FRAMES).redraw(0)["block_weight"].ravel().tolist()
    rows = tuple(f"weight {weight}" for weight in sorted(set(weights), reverse=True))

    @cache
    def row_of(task: str) -> str | None:
        parts = task.split("_")
        is_block = len(parts) == 3 and parts[0] == "block" and parts[1].isdecimal()
        return f"weight {weights[int(parts[1])]}" if is_block else None

    return rows, row_of


def _macrafter_row(task: str) -> str | None:
    source = task.partition("@")[0]
    if source in _MATERIAL_ROWS:
        return _MATERIAL_ROWS[source]
    return "tools" if _TOOLS.match(task) else None
