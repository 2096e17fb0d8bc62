"""From run folders to figures: which runs a figure needs, and its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cognitive.errors import ConfigError
from cognitive.events import stream_events
from lab import metrics, records
from lab.pairs import pair_runs
from lab.rounds import Cost, first_round, full_round
from lab.runs import Run, finished, grouped, read_runs, select
from lab.series import RunSeries, run_series, trace_cell
from lab.statistics import compare, describe
from lab.tables import published, published_rows
from lab.trace import Trace
from render import figures
from render.figures import (
    AblationRow,
    Curve,
    PairLines,
    PredictionData,
    PublishedRun,
    TraceCell,
    TradeoffPoint,
)

__all__ = ["FIGURES", "Request", "plot"]

EVENTS = "events.jsonl"
REPAIR_METRICS = (
    "score",
    "violation_participation",
    "violation_spatial",
    "violation_temporal",
    "violation_dependency",
)
ABLATION_METRICS = (*REPAIR_METRICS, "messages", "decision_s")
PUBLISHED = ("traces", "case", "tradeoff", "scaling")
"""Figures that can show numbers of the papers."""
BINS = 10
LEADS = (("1", 0, 1), ("2–4", 2, 4), ("5–9", 5, 9), ("≥ 10", 10, 10**9))
NAN = float("nan")
Reading = Callable[[Run], float | None]


@dataclass(frozen=True)
class Request:
    """What `cooplab plot` was asked for."""

    paths: Sequence[Path]
    figure: str
    out: Path
    form: str = "png"
    where: Mapping[str, Sequence[str]] | None = None
    strips: str = "all"
    is_published: bool = False


def plot(request: Request) -> tuple[Path, Path]:
    """Draw a figure and its CSV twin; returns both paths.

    Raises ConfigError for an unknown figure or runs that do not fit it, RecordError without runs.
    """
    if request.figure not in FIGURES:
        close = get_close_matches(request.figure, FIGURES, 1, 0.0)[0]
        known = ", ".join(FIGURES)
        raise ConfigError(f'no figure "{request.figure}"; figures: {known} (closest: {close})')
    if request.is_published and request.figure not in PUBLISHED:
        raise ConfigError(no_published(request.figure))
    runs = select(read_runs(request.paths), request.where or {})
    done = finished(runs, request.paths)
    return figures.save(lambda: FIGURES[request.figure](done, request), request.out, request.form)


def no_published(figure: str) -> str:
    """The finding for a figure that no paper has numbers for."""
    return f"--published: the papers have numbers for {', '.join(PUBLISHED)}, not {figure}"


def trace_of(run: Run) -> Trace:
    """The events of a finished run."""
    return Trace(stream_events(run.folder / EVENTS), run.config)


# --- traces --------------------------------------------------------------------------------------


def _by(runs: Sequence[Run], axes: tuple[str, ...]) -> dict[tuple[str, ...], list[Run]]:
    return grouped(runs, lambda run: tuple(run.value(axis) for axis in axes))


def _series(run: Run) -> RunSeries:
    return run_series(run, trace_of(run))


def trace_grid(runs: Sequence[Run], is_published: bool = False) -> list[TraceCell]:
    """One cell for each topology and planner; several worlds or sizes are a finding."""
    for axis in ("world", "agents"):
        values = sorted({run.value(axis) for run in runs})
        if len(values) > 1:
            raise ConfigError(
                f'figure "traces" needs runs of one {axis}; found {", ".join(values)}; '
                f"choose with --where {axis}={values[0]}"
            )
    columns = ("planner", "repair") if len({run.value("repair") for run in runs}) > 1 else (
        "planner",
    )  # fmt: skip
    cells = []
    for (topology, *rest), group in _by(runs, ("topology", *columns)).items():
        name = rest[0] if len(rest) == 1 else f"{rest[0]}, repair {rest[1]}"
        cell = trace_cell(topology, name, [_series(run) for run in group])
        printed = _published_runs(group) if is_published else ()
        cells.append(replace(cell, published=printed))
    return cells


def _published_runs(group: Sequence[Run]) -> tuple[PublishedRun, ...]:
    """Mean score and end that the papers print for runs like these: of our model, or of all."""
    topology, model = group[0].value("topology"), group[0].value("model").lower()
    rows = [
        row
        for row in published_rows(group)
        if row["topology"] == topology and "score" in row and "steps" in row
    ]
    same = [row for row in rows if row["model"].lower() == model]
    return tuple(
        PublishedRun(row["model"], _mean(row["steps"]), _mean(row["score"])) for row in same or rows
    )


def _mean(value: Any) -> float:
    """The mean of a published value, which may have an sd beside it."""
    return float(value[0] if isinstance(value, list) else value)


def _traces(runs: Sequence[Run], request: Request) -> Any:
    strips = figures.STRIPS[1:] if request.strips == "paper" else figures.STRIPS
    return figures.draw_traces(trace_grid(runs, request.is_published), strips)


def _case(runs: Sequence[Run], request: Request) -> Any:
    if len(runs) != 1:
        raise ConfigError(f'figure "case" needs one run; found {len(runs)}')
    (run,) = runs
    cell = trace_cell(run.value("topology"), "", [_series(run)])
    return figures.draw_case(replace(cell, published=_published_case(run, request)))


def _published_case(run: Run, request: Request) -> tuple[PublishedRun, ...]:
    """The published run with repair; a finding if `run` is of another kind."""
    if not request.is_published:
        return ()
    known = published()["figure_5"]
    kind = [(axis, str(known[axis])) for axis in ("world", "agents", "topology")]
    for axis, value in kind:
        if run.value(axis) != value:
            wanted = ", ".join(value for _, value in kind)
            raise ConfigError(f"--published: the case of the paper is {wanted}; {axis} differs")
    repairs = tuple(known["repairs_at"])
    return (PublishedRun(known["model"], float(run.metrics["steps"]), known["score"], repairs),)


# --- comparisons ---------------------------------------------------------------------------------


def _tradeoff(runs: Sequence[Run], request: Request) -> Any:
    points = []
    axes = ("topology", "planner", "agents", "repair")
    for (topology, planner, agents, repair), group in _by(runs, axes).items():
        score, decision, messages, breaks = (
            describe([run.metrics[key] for run in group])
            for key in ("score", "decision_s", "messages", "interruptions")
        )
        talk_ci = NAN
        if messages.ci is not None and breaks.ci is not None:
            talk_ci = (messages.ci**2 + breaks.ci**2) ** 0.5
        points.append(
            TradeoffPoint(
                topology, planner, int(agents), repair,
                _given(score.mean), _given(score.ci),
                _given(decision.mean), _given(decision.ci),
                _given(messages.mean) + _given(breaks.mean), talk_ci,
            )
        )  # fmt: skip
    if request.is_published:
        points += [_published_point(row) for row in published_rows(runs) if "decision_s" in row]
    return figures.draw_tradeoff(points)


def _published_point(row: Mapping[str, Any]) -> TradeoffPoint:
    """A row of a paper's table; its sd is no interval and not drawn."""
    talk = _mean(row["messages"]) + _mean(row["interruptions"])
    score, decision = _mean(row["score"]), _mean(row["decision_s"])
    return TradeoffPoint(
        row["topology"], row["model"], row["agents"], "off", score, NAN, decision, NAN, talk, NAN,
        is_published=True,
    )  # fmt: skip


def _given(value: float | None) -> float:
    return NAN if value is None else value


def _repair(runs: Sequence[Run], request: Request) -> Any:
    sides = {run.value("repair") for run in runs}
    if not {"off", "on"} <= sides:
        found = ", ".join(sorted(sides))
        raise ConfigError(
            f'figure "repair" needs matched runs with repair off and on; found only {found}'
        )
    pairs = pair_runs(runs, "repair", ("off", "on"))
    lines = []
    for key in REPAIR_METRICS:
        known = [
            (off.seed, off.metrics[key], on.metrics[key])
            for off, on in pairs
            if off.metrics[key] is not None and on.metrics[key] is not None
        ]
        if not known:
            continue
        found_ = compare([(a, b) for _, a, b in known])
        p = "–" if found_.p is None else ("<.0001" if found_.p < 1e-4 else f"{found_.p:.4f}")
        interval = "" if found_.low is None else f"[{found_.low:.2f}, {found_.high:.2f}]"
        title = f"{key}\nmean d {found_.mean:.2f} {interval}\np {p}, n {found_.n}"
        seeds, off, on = (tuple(column) for column in zip(*known, strict=True))
        lines.append(PairLines(key, title, seeds, off, on))
    return figures.draw_repair(lines)


def _prediction(runs: Sequence[Run], request: Request) -> Any:
    watched = [run for run in runs if run.value("repair") != "off"]
    if not watched:
        raise ConfigError('figure "prediction" needs runs with repair watch or on; found only off')
    return figures.draw_prediction(prediction_data([trace_of(run) for run in watched]))


def prediction_data(traces: Sequence[Trace]) -> PredictionData:
    """Reliability of participation in ten bins, and precision and recall by lead."""
    bins = [[0, 0, 0.0] for _ in range(BINS)]  # held, count, sum of predictions
    labels: list[tuple[str, int]] = []
    for trace in traces:
        forecasts = {event["forecast"]: event for event in trace.by_type["repair_predicted"]}
        for event in trace.by_type["repair_scored"]:
            if event["label"] not in metrics.MATRIX:
                continue
            labels.append((event["label"], event["lead"]))
            forecast = forecasts[event["forecast"]]
            if forecast["status"] == "decided":
                chance = forecast["held"][0] / forecast["support"]
                one = bins[min(BINS - 1, int(chance * BINS))]
                one[0] += event["held"][0]
                one[1] += 1
                one[2] += chance
    points = tuple((b[2] / b[1], b[0] / b[1], int(b[1])) for b in bins if b[1])
    return PredictionData(points, tuple(_by_lead(labels, *lead) for lead in LEADS))


def _by_lead(
    labels: Sequence[tuple[str, int]], name: str, low: int, high: int
) -> tuple[str, float, float, int]:
    own = [label for label, lead in labels if lead is not None and low <= lead <= high]
    hit, false, miss = (own.count(label) for label in ("hit", "false_alarm", "miss"))
    precision = hit / (hit + false) if hit + false else NAN
    recall = hit / (hit + miss) if hit + miss else NAN
    return name, precision, recall, len(own)


def _ablations(runs: Sequence[Run], request: Request) -> Any:
    sides = list(dict.fromkeys(run.value("repair") for run in runs))
    if "on" not in sides or len(sides) < 2:
        raise ConfigError(
            'figure "ablations" needs matched runs with repair on and at least one other setting; '
            f"found only {', '.join(sorted(sides))}"
        )
    rows = []
    for name in sides:
        if name == "on":
            continue
        pairs = pair_runs(runs, "repair", ("on", name))
        differences = {}
        for key in ABLATION_METRICS:
            found = compare([(on.metrics[key], other.metrics[key]) for on, other in pairs])
            if found.mean is not None and found.low is not None and found.high is not None:
                differences[key] = (found.mean, found.low, found.high)
        rows.append(AblationRow(name, differences))
    return figures.draw_ablations(rows, ABLATION_METRICS)


def _scaling(runs: Sequence[Run], request: Request) -> Any:
    curves = scaling_curves(runs)
    if request.is_published:
        known = published()["cube_seconds_per_step"]
        rates = tuple(1 / seconds for seconds in known["seconds"])
        name = "published CUBE"
        curves.append(Curve("steps per second", name, tuple(known["agents"]), rates, True))
    return figures.draw_scaling(curves)


def scaling_curves(runs: Sequence[Run]) -> list[Curve]:
    """Speed, cost of a full round beside its formula, and time of a review, over agents."""
    if len({run.value("agents") for run in runs}) < 2:
        raise ConfigError('figure "scaling" needs runs with at least two numbers of agents')
    first = {run.key: first_round(stream_events(run.folder / EVENTS)) for run in runs}
    panels = {**_SCALING, **{name: _counted(first, field) for name, field in _ROUND.items()}}
    curves = []
    for panel, read in panels.items():
        for (world, topology, repair), group in _by(runs, ("world", "topology", "repair")).items():
            is_review = panel == REVIEW
            if (repair != "off") != is_review:
                continue
            name = f"{world} {topology}" + (f" {repair}" if is_review else "")
            curves += _curve(panel, name, group, read)
            if panel in _ROUND:
                formula = _formula(_ROUND[panel])
                curves += _curve(panel, f"{world} {topology}, formula", group, formula, True)
    return curves


def _curve(
    panel: str, name: str, runs: Sequence[Run], read: Reading, is_reference: bool = False
) -> list[Curve]:
    """The mean of a reading by team size; nothing if no run has one above 0."""
    by_size = {
        int(agents): [value for run in own if (value := read(run)) is not None]
        for (agents,), own in _by(runs, ("agents",)).items()
    }
    points = sorted((n, sum(v) / len(v)) for n, v in by_size.items() if v and sum(v) > 0)
    if not points:
        return []
    sizes, values = zip(*points, strict=True)
    return [Curve(panel, name, sizes, values, is_reference)]


def _counted(first: Mapping[str, Cost], field: str) -> Reading:
    return lambda run: float(getattr(first[run.key], field))


def _formula(field: str) -> Reading:
    def read(run: Run) -> float | None:
        cost = full_round(run.config["topology"], run.config["agents"])
        return None if cost is None else float(getattr(cost, field))

    return read


def _timing(run: Run, key: str) -> float | None:
    path = run.folder / records.TIMING
    value = records.read_json(path).get(key) if path.exists() else None
    return None if value is None else float(value)


REVIEW = "repair review (ms)"
_SCALING: Mapping[str, Reading] = {
    "steps per second": lambda run: _timing(run, "steps_per_second"),
    "agent-steps per second": lambda run: _rate(run),
    "peak memory (MB)": lambda run: _timing(run, "peak_memory_mb"),
    REVIEW: lambda run: _timing(run, "review_ms"),
}
_ROUND = {
    "calls in a full round": "calls",
    "sends in a full round": "sends",
    "deliveries in a full round": "deliveries",
}


def _rate(run: Run) -> float | None:
    steps = _timing(run, "steps_per_second")
    return None if steps is None else steps * int(run.value("agents"))


FIGURES: Mapping[str, Callable[[Sequence[Run], Request], Any]] = {
    "traces": _traces,
    "case": _case,
    "tradeoff": _tradeoff,
    "repair": _repair,
    "prediction": _prediction,
    "ablations": _ablations,
    "scaling": _scaling,
}
"""Figures drawn from many runs; `timeline` draws one run by itself."""
