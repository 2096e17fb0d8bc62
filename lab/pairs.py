"""Matched pairs: two runs that are equal in everything but one axis, seed included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cognitive.errors import ConfigError
from lab import records
from lab.columns import Metric
from lab.layout import NA, Cell, Sheet, number, p_value
from lab.runs import Run, varying
from lab.statistics import Comparison, compare, holm
from lab.tables import DECIMALS, DEFAULT_GROUP, heading

COMPARED = ("Metric", "n", "dropped", "{first}", "{second}", "mean d", "95 % interval")
TESTED = ("p", "p (Holm)", "effect", "wins/ties/losses")
SECTION_OF = {
    "topology": ("topology",),
    "planner": ("planner",),
    "model": ("planner",),
    "repair": ("repair",),
    "interrupts": ("interrupts",),
    "pace": ("clock",),
    "clock": ("clock",),
    "world": ("world",),
    "preset": ("world",),
    "agents": ("agents", "world.agents", "world.n", "world.side", "world.blocks"),
}
"""What of a config may differ between the two runs of a pair when an axis is compared."""


def matched(
    runs: Sequence[Run], axis: str, sides: tuple[str, str], columns: Sequence[Metric | str]
) -> list[Sheet]:
    """A sheet for each remaining cell, a line for each metric, over runs equal but for `axis`.

    A pair whose other half is missing, unfinished or without a value is dropped and counted.
    Raises ConfigError if there are finished runs of one side only.
    """
    done = [run for run in runs if run.status == "finished"]
    for side in sides:
        if not any(run.matches(axis, (side,)) for run in done):
            others = sorted({run.value(axis) for run in done})
            raise ConfigError(
                f"--compare {axis}={','.join(sides)} needs finished runs of both; found only "
                f"{', '.join(others)}"
            )
    every = _pair_blocks(runs, axis, sides)
    blocks = {key: pairs for key, pairs in every.items() if _has_both_sides(pairs)}
    if not blocks:
        raise ConfigError(
            f"--compare {axis}={','.join(sides)}: no two runs are equal in everything else"
        )
    alone = sum(len(pairs) for key, pairs in every.items() if key not in blocks)
    metrics = [column for column in columns if isinstance(column, Metric)]
    compared = [
        [compare(_pair_values(pairs, metric.key)) for metric in metrics]
        for pairs in blocks.values()
    ]
    adjusted = iter(holm([entry.p for block in compared for entry in block]))
    sheets = []
    for pairs, found in zip(blocks.values(), compared, strict=True):
        title = _pair_heading(pairs, axis, sides, blocks.values())
        corrected = [next(adjusted) for _ in found]
        sheets.append(_pair_sheet(title, sides, metrics, found, corrected))
    if alone:
        note = f"{alone} runs of other cells have no partner and are left out"
        sheets[-1] = sheets[-1]._replace(notes=(*sheets[-1].notes, note))
    return sheets


Pair = tuple[Run | None, Run | None]


def _pair_blocks(
    runs: Sequence[Run], axis: str, sides: tuple[str, str]
) -> dict[str, dict[int, Pair]]:
    """By what else a config says, and by seed: the run of each side."""
    blocks: dict[str, dict[int, Pair]] = {}
    for run in runs:
        for place, side in enumerate(sides):
            if run.matches(axis, (side,)):
                pairs = blocks.setdefault(_rest(run.config, axis), {})
                pair = list(pairs.get(run.seed, (None, None)))
                pair[place] = run
                pairs[run.seed] = (pair[0], pair[1])
    return {key: blocks[key] for key in sorted(blocks)}


def _has_both_sides(pairs: Mapping[int, Pair]) -> bool:
    return all(any(pair[place] is not None for pair in pairs.values()) for place in (0, 1))


def _rest(config: Mapping[str, Any], axis: str) -> str:
    """The config without seed, labels and whatever the axis changes, as text."""
    dropped = {"seed", "label", "output", *SECTION_OF.get(axis, (axis,))}
    kept: dict[str, Any] = {key: config[key] for key in config if key not in dropped}
    for section, _, name in (key.partition(".") for key in dropped if "." in key):
        kept[section] = {key: kept[section][key] for key in kept[section] if key != name}
    if axis == "agents":
        kept["planner"] = sorted({records.canonical(planner) for planner in config["planner"]})
    return records.canonical(kept)


def _pair_values(pairs: Mapping[int, Pair], key: str) -> list[tuple[Any, Any]]:
    return [
        (first and first.metrics.get(key), second and second.metrics.get(key))
        for first, second in pairs.values()
    ]


def _pair_heading(
    pairs: Mapping[int, Pair],
    axis: str,
    sides: tuple[str, str],
    blocks: Iterable[Mapping[int, Pair]],
) -> str:
    runs = [_either(pair) for block in blocks for pair in block.values()]
    usual = [name for name in ("topology", *DEFAULT_GROUP) if name != axis]
    shown = [*(name for name in varying(runs, usual) if name != axis), *usual]
    one = _either(next(iter(pairs.values())))
    values = {name: one.value(name) for name in shown}
    return f"{heading(values)} — {axis} {sides[1]} minus {sides[0]}, matched seeds"


def _either(pair: Pair) -> Run:
    run = pair[0] or pair[1]
    assert run is not None
    return run


def _pair_sheet(
    title: str,
    sides: tuple[str, str],
    metrics: Sequence[Metric],
    found: Sequence[Comparison],
    corrected: Sequence[float | None],
) -> Sheet:
    rows, data = [], []
    notes: dict[str, None] = {}
    for metric, entry, adjusted in zip(metrics, found, corrected, strict=True):
        places = DECIMALS[metric.unit] + 1
        interval = NA
        if entry.low is not None and entry.high is not None:
            interval = f"[{number(entry.low, places)}, {number(entry.high, places)}]"
        texts = (
            metric.title,
            str(entry.n),
            str(entry.dropped),
            *(number(value, places) for value in (entry.first, entry.second, entry.mean)),
            interval,
            p_value(entry.p),
            p_value(adjusted),
            number(entry.effect, 2),
            f"{entry.wins}/{entry.ties}/{entry.losses}",
        )
        rows.append([Cell(text) for text in texts])
        data.append({"metric": metric.key, **entry._asdict(), "p_holm": adjusted})
        if entry.why_no_p:
            notes[f"{metric.title}: no p, {entry.why_no_p}"] = None
    titles = tuple(name.format(first=sides[0], second=sides[1]) for name in (*COMPARED, *TESTED))
    return Sheet(title, titles, tuple(rows), tuple(data), tuple(notes))


def pair_runs(runs: Sequence[Run], axis: str, sides: tuple[str, str]) -> list[tuple[Run, Run]]:
    """The finished runs that are equal but for `axis`, as (first, second)."""
    done = [run for run in runs if run.status == "finished"]
    return [
        (first, second)
        for block in _pair_blocks(done, axis, sides).values()
        for first, second in block.values()
        if first is not None and second is not None
    ]
