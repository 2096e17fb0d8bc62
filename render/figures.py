"""The papers' figures and ours: each drawn from plain data, each with a CSV twin of every value.

Colours are those of Okabe and Ito; every meaning has a second cue beside its colour.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from worlds.errors import ConfigError, MissingPrerequisite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "MARKERS",
    "PLANNER_COLORS",
    "AblationRow",
    "Curve",
    "PairLines",
    "PredictionData",
    "PublishedRun",
    "RepairMark",
    "TraceCell",
    "TradeoffPoint",
    "draw_ablations",
    "draw_case",
    "draw_prediction",
    "draw_repair",
    "draw_scaling",
    "draw_traces",
    "draw_tradeoff",
    "new_figure",
    "save",
]

FORMATS = ("png", "svg", "pdf")
STRIPS = ("participation", "spatial", "temporal", "dependency")
STRIP_NAMES = {
    "participation": "part.",
    "spatial": "spat.",
    "temporal": "temp.",
    "dependency": "dep.",
}
SATISFACTION = ("#D55E00", "#F0E442", "#009E73")
END_COLOR = "#CC0000"
REPAIR_COLOR = "#E69F00"
LABEL_SHARE = 0.03
"""Share of the steps shown within which the next label goes below."""
PUBLISHED_COLOR = "#707070"
PUBLISHED_STYLES = ("--", (0, (1.5, 1.5)), (0, (6, 1.5, 1, 1.5)))
PLANNER_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
MARKERS: Mapping[str, str] = {
    "individual": "o",
    "centralized": "s",
    "chain": "^",
    "ring": "D",
    "all_to_all": "*",
    "hierarchy": "v",
    "gossip": "P",
    "graph": "X",
}
NOTHING = 1e-9
"""Differences below this are rounding."""
_DPI = 200
_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "svg.hashsalt": "cooplab",
    "axes.spines.top": False,
}
_METADATA: Mapping[str, Any] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
}
Row = Mapping[str, Any]


# --- what is drawn -------------------------------------------------------------------------------


@dataclass(frozen=True)
class RepairMark:
    """A channel that opened after step `step`, about `task`."""

    step: int
    task: str


@dataclass(frozen=True)
class PublishedRun:
    """What a paper says of runs like ours: mean last step and score, steps of repairs."""

    name: str
    end: float
    score: float
    repairs: tuple[int, ...] = ()


@dataclass(frozen=True)
class TraceCell:
    """The runs of one cell, over world steps 1..T.

    satisfaction: [4, T] float, mean over runs, nan where no attempt. marks: (constraint, step,
    satisfaction) of single attempts, for one run. heat: [rows, T] float, agents on tasks of each
    kind, mean over the runs still playing. score, low, high: [T] float. end: mean last step.
    """

    row: str
    column: str
    agents: int
    runs: int
    limit: int
    satisfaction: ndarray
    marks: tuple[tuple[str, int, float], ...]
    heat_rows: tuple[str, ...]
    heat: ndarray
    score: ndarray
    low: ndarray
    high: ndarray
    end: float
    repairs: tuple[RepairMark, ...] = ()
    published: tuple[PublishedRun, ...] = ()

    @property
    def has_attempts(self) -> bool:
        """Whether some run tried something together."""
        return bool(np.isfinite(self.satisfaction).any())

    @property
    def title(self) -> str:
        """Topology, team size, final score, mean end and number of runs."""
        score = self.score[-1] if len(self.score) else 0.0
        count = f"{self.runs} run" + ("s" if self.runs != 1 else "")
        return f"{self.row} · n = {self.agents} · score {score:.1f} · end {self.end:.1f} · {count}"


@dataclass(frozen=True)
class TradeoffPoint:
    """Mean score of a cell against its cost; `*_ci` are half widths, nan for one run.

    A published point is named as its planner.
    """

    topology: str
    planner: str
    agents: int
    repair: str
    score: float
    score_ci: float
    decision_s: float
    decision_ci: float
    talk: float
    talk_ci: float
    is_published: bool = False


@dataclass(frozen=True)
class PairLines:
    """A metric of matched runs, off and on: one pair of values a seed."""

    key: str
    title: str
    seeds: tuple[int, ...]
    off: tuple[float, ...]
    on: tuple[float, ...]


@dataclass(frozen=True)
class PredictionData:
    """Reliability bins (predicted, observed, count) and precision and recall by lead."""

    bins: tuple[tuple[float, float, int], ...]
    leads: tuple[tuple[str, float, float, int], ...]


@dataclass(frozen=True)
class Curve:
    """A line of the scaling figure; a dashed one is published or a formula."""

    panel: str
    name: str
    agents: tuple[int, ...]
    values: tuple[float, ...]
    is_reference: bool = False


@dataclass(frozen=True)
class AblationRow:
    """Mean difference of a named ablation from `on`, with its interval, per metric."""

    name: str
    differences: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


# --- saving --------------------------------------------------------------------------------------


def save(draw: Callable[[], tuple[Figure, list[Row]]], out: Path, form: str) -> tuple[Path, Path]:
    """Write a figure and its twin; the same data and library versions give the same bytes.

    out: path without its ending. Returns the picture's path and the twin's.
    Raises ConfigError for an unknown format, MissingPrerequisite without matplotlib.
    """
    if form not in FORMATS:
        raise ConfigError(f'format "{form}": allowed {", ".join(FORMATS)}')
    matplotlib = _matplotlib()
    picture, twin = out.with_suffix(f".{form}"), out.with_suffix(".csv")
    out.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_STYLE):
        figure, rows = draw()
        figure.savefig(
            picture, format=form, dpi=_DPI, metadata=_METADATA[form], bbox_inches="tight"
        )
    _write_twin(twin, rows)
    return picture, twin


def _write_twin(path: Path, rows: list[Row]) -> None:
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(names), lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if not np.isfinite(value) else f"{float(value):.6g}"
    return value


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingPrerequisite(
            "figures need matplotlib: pip install 'cooplab[analysis]'"
        ) from None
    return matplotlib


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches, bound to no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


# --- traces and case -----------------------------------------------------------------------------


def draw_traces(
    cells: Sequence[TraceCell], strips: Sequence[str] = STRIPS
) -> tuple[Figure, list[Row]]:
    """A grid of cells: rows are topologies, columns planners."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    figure = new_figure(4.2 * len(columns) + 0.8, 2.6 * len(rows) + 0.4)
    grid = figure.add_gridspec(len(rows), len(columns), hspace=0.45, wspace=0.45, right=0.88)
    right = max([cell.end for cell in cells] + [1.0])
    most = max(cell.agents for cell in cells)
    top = {row: _top(cell for cell in cells if cell.row == row) for row in rows}
    image = None
    for cell in cells:
        place = grid[rows.index(cell.row), columns.index(cell.column)]
        image = _draw_cell(figure, place, cell, strips, right, most, top[cell.row])
    if image is not None:
        _color_bar(figure, image, 0.95 if len(columns) > 1 else 1.0)
    return figure, [row for cell in cells for row in _cell_rows(cell, strips)]


def draw_case(cell: TraceCell) -> tuple[Figure, list[Row]]:
    """One run, large, with a star and a hatched band where a repair channel opened."""
    figure = new_figure(9.0, 3.6 + 0.16 * min(len(cell.repairs), 12))
    grid = figure.add_gridspec(1, 1, right=0.88)
    top = _top([cell])
    right = max(cell.end, 1.0)
    image = _draw_cell(figure, grid[0, 0], cell, STRIPS, right, cell.agents, top)
    _color_bar(figure, image, 0.95)
    axes = figure.axes[len(STRIPS)]
    names: dict[int, list[str]] = {}
    for number, mark in enumerate(cell.repairs, 1):
        names.setdefault(mark.step, []).append(f"R{number}")
    lines_above, before = 0, -right
    for step, own in sorted(names.items()):
        lines_above = lines_above if step - before < LABEL_SHARE * right else 0
        axes.axvspan(
            step + 0.5, step + 1.5, facecolor=REPAIR_COLOR, alpha=0.35, hatch="////",
            edgecolor="black", linewidth=0,
        )  # fmt: skip
        axes.plot(
            step + 1, 1.0, marker="*", markersize=11, color=REPAIR_COLOR,
            markeredgecolor="black", clip_on=False, transform=axes.get_xaxis_transform(), zorder=9,
        )  # fmt: skip
        axes.annotate(
            "\n" * lines_above + "\n".join(own), (step + 1, 0.92),
            xycoords=axes.get_xaxis_transform(), ha="center", va="top", fontsize=6,
            fontweight="bold", zorder=10, path_effects=_outlined(2),
        )  # fmt: skip
        lines_above, before = lines_above + len(own), step
    lines = [
        f"R{number} after step {mark.step}: {mark.task}"
        for number, mark in enumerate(cell.repairs, 1)
    ]
    if lines:
        figure.text(0.12, -0.02, "\n".join(lines), va="top", fontsize=6.5)
    rows = _cell_rows(cell, STRIPS)
    rows += [
        {"series": "repair", "key": f"R{i}", "step": mark.step, "task": mark.task}
        for i, mark in enumerate(cell.repairs, 1)
    ]
    return figure, rows


def _color_bar(figure: Figure, image: Any, left: float) -> None:
    axes = figure.add_axes((left, 0.3, 0.012, 0.4))
    figure.colorbar(image, cax=axes, label="agents on a target")


def _top(cells: Any) -> float:
    shown = list(cells)
    highs = [float(np.nanmax(cell.high)) for cell in shown if len(cell.high)]
    printed = [one.score for cell in shown for one in cell.published]
    highest: float = max([*highs, *printed, 1.0])
    return highest * 1.05


def _draw_cell(
    figure: Figure,
    place: Any,
    cell: TraceCell,
    strips: Sequence[str],
    right: float,
    most: int,
    top: float,
) -> Any:
    heights = [0.35] * len(strips) + [max(2.5, 0.42 * len(cell.heat_rows))]
    grid = place.subgridspec(len(strips) + 1, 1, height_ratios=heights, hspace=0.12)
    for i, name in enumerate(strips):
        axes = figure.add_subplot(grid[i])
        _draw_strip(axes, cell, name, right)
        if i == 0:
            axes.set_title(cell.title if not cell.column else f"{cell.column}\n{cell.title}")
    axes = figure.add_subplot(grid[len(strips)])
    return _draw_heat(axes, cell, right, most, top)


def _draw_strip(axes: Axes, cell: TraceCell, name: str, right: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("satisfaction", SATISFACTION)
    index = STRIPS.index(name)
    axes.set_xlim(0.5, right + 0.5)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_linewidth(0.4)
    axes.set_ylabel(STRIP_NAMES[name], rotation=0, ha="right", va="center", fontsize=6)
    if not cell.has_attempts:
        axes.text(0.5, 0.45, "no attempts", transform=axes.transAxes, ha="center", va="center",
                  fontsize=6, color="#606060")  # fmt: skip
    elif cell.runs == 1:
        for marker, is_met in (("x", False), ("o", True)):
            marks = [(s, v) for n, s, v in cell.marks if n == name and (v >= 1) == is_met]
            axes.scatter(
                [s for s, _ in marks], [0.15 + 0.7 * v for _, v in marks], c=[v for _, v in marks],
                cmap=colors, vmin=0, vmax=1, marker=marker, s=9, linewidths=0.9, clip_on=False,
            )  # fmt: skip
    else:
        values = np.ma.masked_invalid(cell.satisfaction[index : index + 1])
        axes.imshow(
            values, aspect="auto", cmap=colors, vmin=0, vmax=1, alpha=0.6,
            interpolation="nearest", extent=(0.5, values.shape[1] + 0.5, 0, 1),
        )  # fmt: skip
        axes.set_xlim(0.5, right + 0.5)


def _draw_heat(axes: Axes, cell: TraceCell, right: float, most: int, top: float) -> Any:
    count = len(cell.heat_rows)
    shown = cell.heat[:, : max(1, int(np.ceil(cell.end)))]
    image = axes.imshow(
        shown, aspect="auto", cmap="Blues", vmin=0, vmax=most, interpolation="nearest",
        extent=(0.5, shown.shape[1] + 0.5, count - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks(range(count), cell.heat_rows)
    axes.set_xlim(0.5, right + 0.5)
    axes.set_xlabel("step")
    line = axes.twinx()
    steps = np.arange(1, len(cell.score) + 1)
    if cell.runs > 1:
        line.fill_between(steps, cell.low, cell.high, color="black", alpha=0.15, linewidth=0)
    line.plot(steps, cell.score, color="black", linewidth=1.2, path_effects=_outlined(2.6))
    line.axvline(cell.end, color=END_COLOR, linestyle="--", linewidth=1)
    _draw_published(line, cell, right)
    line.set_ylim(-0.015 * top, top)  # a score of 0 is seen, too
    line.set_xlim(0.5, right + 0.5)
    line.set_ylabel("score")
    return image


def _outlined(width: float) -> list[Any]:
    """A white rim that keeps a dark line or text legible on dark cells."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=width, foreground="white"), Normal()]


def _draw_published(axes: Axes, cell: TraceCell, right: float) -> None:
    """Published mean scores up to their mean ends, dashed in grey, repairs dotted."""
    for place, one in enumerate(cell.published):
        end = min(one.end, right)
        axes.plot(
            [0.5, end, end], [one.score, one.score, 0], color=PUBLISHED_COLOR, linewidth=1,
            linestyle=PUBLISHED_STYLES[place % 3], label=f"† {one.name} {one.score:g}",
            path_effects=_outlined(2),
        )  # fmt: skip
        marks = [step + 1 for step in one.repairs]
        axes.vlines(marks, 0, one.score, linestyles=":", color=PUBLISHED_COLOR, linewidth=1)
    if cell.published:
        axes.legend(fontsize=5, loc="upper left", framealpha=0.85, borderpad=0.3, handlelength=3)


def _cell_rows(cell: TraceCell, strips: Sequence[str]) -> list[Row]:
    base = {"row": cell.row, "column": cell.column}
    rows: list[Row] = [
        {**base, "series": "cell", "key": key, "value": value}
        for key, value in (("agents", cell.agents), ("runs", cell.runs), ("end", cell.end))
    ]
    for name in strips:
        values = cell.satisfaction[STRIPS.index(name)]
        rows += [
            {**base, "series": "satisfaction", "key": name, "step": t + 1, "value": value}
            for t, value in enumerate(values)
            if np.isfinite(value)
        ]
    last = max(1, int(np.ceil(cell.end)))
    for i, name in enumerate(cell.heat_rows):
        rows += [
            {**base, "series": "agents", "key": name, "step": t + 1, "value": float(value)}
            for t, value in enumerate(cell.heat[i, :last])
        ]
    rows += [
        {**base, "series": "score", "step": t + 1, "value": value, "low": low, "high": high}
        for t, (value, low, high) in enumerate(zip(cell.score, cell.low, cell.high, strict=True))
    ]
    for one in cell.published:
        marks = [("score", one.score), ("end", one.end), *(("repair", s) for s in one.repairs)]
        rows += [
            {**base, "series": "published", "key": f"{one.name}, {key}", "value": value}
            for key, value in marks
        ]
    return rows


# --- comparisons ---------------------------------------------------------------------------------


def draw_tradeoff(points: Sequence[TradeoffPoint]) -> tuple[Figure, list[Row]]:
    """Score against decision time, and against messages plus interruptions."""
    figure = new_figure(8.0, 3.4)
    planners = list(dict.fromkeys(p.planner for p in points if not p.is_published))
    panels = (
        ("decision_s", "decision_ci", "total decision time (s)"),
        ("talk", "talk_ci", "messages + interruptions"),
    )
    for i, (key, ci, label) in enumerate(panels):
        axes = figure.add_subplot(1, 2, i + 1)
        for point in points:
            _draw_point(axes, point, planners, key, ci)
        axes.set_xlabel(label)
        axes.set_ylabel("score")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    figure.axes[1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure, [vars(point) for point in points]


def _draw_point(
    axes: Axes, point: TradeoffPoint, planners: Sequence[str], key: str, ci: str
) -> None:
    """A point with its intervals; a star in it says repair, grey and hollow says published."""
    x, size = getattr(point, key), 40 * point.agents / 3
    shape: dict[str, Any] = {"marker": MARKERS.get(point.topology, "o"), "s": size}
    if point.is_published:
        name = f"† {point.topology}, {point.planner}, {point.agents}"
        axes.scatter(
            x, point.score, facecolor="white", edgecolor=PUBLISHED_COLOR, linestyle="--",
            label=name, clip_on=False, zorder=3, **shape,
        )  # fmt: skip
        axes.annotate(
            point.planner, (x, point.score), (0, -11 if point.topology == "centralized" else 6),
            textcoords="offset points", fontsize=5, color="#404040",
            ha="left" if x == 0 else "center",
        )  # fmt: skip
        return
    color = PLANNER_COLORS[planners.index(point.planner) % len(PLANNER_COLORS)]
    axes.errorbar(
        x, point.score, xerr=_finite(getattr(point, ci)), yerr=_finite(point.score_ci), fmt="none",
        ecolor=color, elinewidth=0.7, capsize=2,
    )  # fmt: skip
    name = f"{point.topology}, {point.planner}, {point.agents}"
    is_repaired = point.repair != "off"
    axes.scatter(
        x, point.score, color=color, edgecolor="black", linewidth=0.5, clip_on=False, zorder=3,
        label=name + (f", repair {point.repair} (star)" if is_repaired else ""), **shape,
    )  # fmt: skip
    if is_repaired:
        axes.scatter(
            x, point.score, marker="*", s=size * 0.45, color="white", edgecolor="black",
            linewidth=0.4, clip_on=False, zorder=4,
        )  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def draw_repair(metrics: Sequence[PairLines]) -> tuple[Figure, list[Row]]:
    """One line a seed from repair off to on, the mean thick; p and interval in the title."""
    figure = new_figure(2.1 * len(metrics) + 0.4, 3.0)
    rows: list[Row] = []
    for i, one in enumerate(metrics):
        axes = figure.add_subplot(1, len(metrics), i + 1)
        for seed, off, on in zip(one.seeds, one.off, one.on, strict=True):
            axes.plot([0, 1], [off, on], color="#0072B2", alpha=0.35, linewidth=0.8, marker="o",
                      markersize=2)  # fmt: skip
            rows.append({"metric": one.key, "seed": seed, "off": off, "on": on})
        means = float(np.mean(one.off)), float(np.mean(one.on))
        axes.plot([0, 1], means, color="black", linewidth=2.4, marker="D", markersize=4)
        rows.append({"metric": one.key, "seed": "mean", "off": means[0], "on": means[1]})
        axes.set_xticks([0, 1], ["off", "on"])
        axes.set_xlim(-0.2, 1.2)
        axes.set_title(one.title, fontsize=7)
    figure.subplots_adjust(wspace=0.55)
    return figure, rows


def draw_prediction(data: PredictionData) -> tuple[Figure, list[Row]]:
    """Predicted against observed frequency of holding; precision and recall by lead."""
    figure = new_figure(7.4, 3.0)
    left = figure.add_subplot(1, 2, 1)
    counts = left.twinx()
    counts.bar([b[0] for b in data.bins], [b[2] for b in data.bins], width=0.08, color="#D0D0D0")
    counts.set_ylabel("forecasts")
    left.set_zorder(counts.get_zorder() + 1)
    left.patch.set_visible(False)
    left.plot([0, 1], [0, 1], color=PUBLISHED_COLOR, linestyle="--", linewidth=0.8)
    left.plot([b[0] for b in data.bins], [b[1] for b in data.bins], "o-", color="#0072B2")
    left.set_xlim(-0.06, 1.06)
    left.set_ylim(-0.06, 1.06)
    left.set_xlabel("predicted chance of participation")
    left.set_ylabel("observed frequency")
    right = figure.add_subplot(1, 2, 2)
    places = np.arange(len(data.leads))
    for k, (name, column, color, hatch) in enumerate(
        (("precision", 1, "#0072B2", ""), ("recall", 2, "#E69F00", "///"))
    ):
        right.bar(places + (k - 0.5) * 0.38, [lead[column] for lead in data.leads], width=0.36,
                  color=color, hatch=hatch, edgecolor="black", label=name)  # fmt: skip
        for place, lead in enumerate(data.leads):
            if not np.isfinite(lead[column]):
                right.text(place + (k - 0.5) * 0.38, 0.01, "–", ha="center", color="#606060")
    right.set_xticks(places, [f"{lead[0]}\n({lead[3]})" for lead in data.leads])
    right.set_xlabel("steps ahead (forecasts)")
    right.set_xlim(-0.6, len(data.leads) - 0.4)
    right.set_ylim(0, 1.08)
    right.legend(fontsize=6, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    figure.subplots_adjust(wspace=0.5)
    rows: list[Row] = [
        {"series": "bin", "key": f"{p:.2f}", "predicted": p, "observed": o, "count": n}
        for p, o, n in data.bins
    ]
    rows += [
        {"series": "lead", "key": lead, "precision": p, "recall": r, "count": n}
        for lead, p, r, n in data.leads
    ]
    return figure, rows


def draw_scaling(curves: Sequence[Curve]) -> tuple[Figure, list[Row]]:
    """One panel a quantity over the number of agents, both axes logarithmic."""
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(3.3 * across, 2.7 * down)
    names = list(dict.fromkeys(curve.name for curve in curves if not curve.is_reference))
    handles: dict[str, Any] = {}
    for i, panel in enumerate(panels):
        axes = figure.add_subplot(down, across, i + 1)
        for curve in (curve for curve in curves if curve.panel == panel):
            (line,) = axes.plot(curve.agents, curve.values, **_curve_style(curve, names))
            kind = "formula" if curve.name.endswith("formula") else curve.name
            handles.setdefault(kind, line)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_title(panel)
        axes.set_xlabel("agents")
    figure.legend(
        list(handles.values()), list(handles), loc="upper center", bbox_to_anchor=(0.5, 0.03),
        ncols=min(4, len(handles)), fontsize=6, handlelength=3.5,
    )  # fmt: skip
    figure.subplots_adjust(wspace=0.35, hspace=0.5)
    rows: list[Row] = [
        {"panel": c.panel, "curve": c.name, "agents": a, "value": v, "reference": c.is_reference}
        for c in curves
        for a, v in zip(c.agents, c.values, strict=True)
    ]
    return figure, rows


def _curve_style(curve: Curve, names: Sequence[str]) -> dict[str, Any]:
    """The same colour, dashes and marker for a name in every panel; references dashed in grey."""
    if curve.is_reference:
        return {"color": PUBLISHED_COLOR, "linestyle": "--", "linewidth": 1, "zorder": 3}
    place = names.index(curve.name)
    color, turn = place % len(PLANNER_COLORS), place // len(PLANNER_COLORS)
    return {
        "color": PLANNER_COLORS[color],
        "linestyle": LINE_STYLES[(color + turn) % len(LINE_STYLES)],
        "marker": "os^D"[turn % 4],
        "markersize": 3,
    }


def draw_ablations(
    ablations: Sequence[AblationRow], metrics: Sequence[str]
) -> tuple[Figure, list[Row]]:
    """One row a named ablation: mean difference from `on` with its interval."""
    figure = new_figure(1.7 * len(metrics) + 1.0, 0.34 * len(ablations) + 1.1)
    rows: list[Row] = []
    for i, key in enumerate(metrics):
        axes = figure.add_subplot(1, len(metrics), i + 1)
        for k, row in enumerate(ablations):
            if key not in row.differences:
                continue
            mean, low, high = row.differences[key]
            is_clear = low > 0 or high < 0
            axes.errorbar(
                mean, k, xerr=[[max(0.0, mean - low)], [max(0.0, high - mean)]], fmt="o",
                color="#0072B2", markerfacecolor="#0072B2" if is_clear else "white",
                markersize=4, capsize=2, linewidth=1,
            )  # fmt: skip
            rows.append(
                {"ablation": row.name, "metric": key, "mean": mean, "low": low, "high": high}
            )
        axes.axvline(0, color="black", linewidth=0.6)
        axes.set_yticks(range(len(ablations)), [r.name for r in ablations] if i == 0 else [])
        axes.set_ylim(len(ablations) - 0.5, -0.5)
        axes.set_title(f"{key.replace('_', ' ')}\nminus on", fontsize=7)
        axes.margins(x=0.08)
        if max(map(abs, axes.get_xlim())) < NOTHING:
            axes.set_xlim(-1, 1)
    figure.subplots_adjust(wspace=0.15)
    return figure, rows
