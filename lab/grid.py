"""Grids of runs: what a sweep file means."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cognitive.errors import ConfigError
from lab import config, records, settings
from lab.models import Choice

NAMES = ("name", "out", "seeds", "base", "axes", "planners", "skip", "limits", "table")
TABLE = (
    settings.Setting(
        "columns", [], settings.TEXTS, "sets or metrics of a table printed at the end"
    ),
    settings.Setting("published", False, settings.FLAG, "numbers of the papers beside them"),
)
LIMITS = (
    settings.Setting("workers", 0, settings.whole(0, 4096), "runs at a time; 0: one a core"),
    settings.Setting("calls_in_flight", 16, settings.whole(1, 4096), "of the whole sweep"),
    settings.Setting("max_calls", 0, settings.whole(0, settings.COUNT), "of the whole sweep"),
    settings.Setting("max_tokens", 0, settings.whole(0, settings.COUNT), "of the whole sweep"),
    settings.Setting("max_money", 0, settings.whole(0, settings.COUNT), "in millionths"),
    settings.Setting("retries", 1, settings.whole(0, 100), "further tries of a failed run"),
    settings.Setting("stop_after_failures", 0, settings.whole(0, 10**6), "0: never stop"),
)
NO_CHOICE = Choice()


class Planned(NamedTuple):
    """One run of a sweep: its key, resolved config, and its values of the axes as words."""

    key: str
    config: Mapping[str, Any]
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Sweep:
    """All runs of a sweep in order (axes as written, seed fastest), folder and limits."""

    name: str
    out: Path
    runs: tuple[Planned, ...]
    limits: Mapping[str, int]
    table: Mapping[str, Any]


def read_sweep(
    source: str, out: str | None, only: Mapping[str, Sequence[str]], choice: Choice = NO_CHOICE
) -> Sweep:
    """The sweep of a shipped preset or a file. Raises ConfigError with every finding.

    choice: planner, model and endpoint that take the place of those of the file.
    """
    place = Path(source).name
    raw = config.read_source(source, "sweep")
    choice.check()
    findings = [
        settings.unknown_setting("", key, NAMES, "a sweep") for key in raw if key not in NAMES
    ]
    limits = settings.read_section("limits", LIMITS, raw.get("limits", {}), findings)
    table = settings.read_section("table", TABLE, raw.get("table", {}), findings)
    name = str(raw.get("name", Path(source).stem))
    _choose(raw, choice)
    axes = raw.get("axes", {})
    findings += [
        f"[axes] {axis} = {settings.shown(values)}: allowed a list of values"
        for axis, values in axes.items()
        if not isinstance(values, list) or not values
    ]
    seeds = _seeds(raw.get("seeds", "0"), findings)
    if findings:
        raise ConfigError("\n".join(f"{place}: {finding}" for finding in findings))
    runs = list(_runs(place, raw, axes, seeds))
    if not runs:
        raise ConfigError(f"{place}: the axes give 0 runs ([[skip]] leaves nothing)")
    chosen = [run for run in runs if _fits(run, only, place)]
    _refuse_twins(chosen, place)
    folder = Path(out or raw.get("out") or f"results/{name}")
    return Sweep(name, folder, tuple(chosen), limits, table)


def _choose(raw: dict[str, Any], choice: Choice) -> None:
    """Put the planner, model and endpoint of the command line in the place of the file's."""
    raw["planners"] = choice.planners(raw.get("planners", {}))
    base, axes = raw.get("base", {}), raw.get("axes", {})
    if choice.name is not None:
        base.pop("planner", None)
        raw["axes"] = {**axes, "planner": [choice.name]}
        return
    if isinstance(axes.get("planner"), list):
        axes["planner"] = [choice.pointed(entry) for entry in axes["planner"]]
    if "planner" in base:
        base["planner"] = choice.pointed(base["planner"])


def _seeds(value: Any, findings: list[str]) -> list[int]:
    """Seeds as a list of integers, or as `0-4,7`."""
    found: list[Any] = []
    if isinstance(value, str):
        for part in value.split(","):
            low, dash, high = part.strip().partition("-")
            if not low.isdigit() or (dash and not high.isdigit()):
                findings.append(f'seeds = "{value}": allowed a list, or ranges as "0-4,7"')
                return []
            found += range(int(low), int(high if dash else low) + 1)
    else:
        found = value if isinstance(value, list) else [value]
    check = settings.TOP[0].check
    if not found or not all(check.test(seed) for seed in found) or len(set(found)) < len(found):
        findings.append(f"seeds = {settings.shown(value)}: allowed {check.allowed}, each once")
    return found


def _runs(
    place: str, raw: Mapping[str, Any], axes: Mapping[str, list[Any]], seeds: Sequence[int]
) -> Iterator[Planned]:
    skips = raw.get("skip", [])
    _check_skips(place, skips, axes)
    for values in itertools.product(*axes.values()):
        labels = {axis: label(value) for axis, value in zip(axes, values, strict=True)}
        for seed in seeds:
            named = {**labels, "seed": str(seed)}
            if any(_is_skipped(skip, named) for skip in skips):
                continue
            resolved = _resolved(place, raw, axes, dict(zip(axes, values, strict=True)), seed)
            yield Planned(records.run_key(resolved), resolved, named)


def label(value: Any) -> str:
    """How a value of an axis is named."""
    if isinstance(value, Mapping):
        world = ":".join(str(value[name]) for name in ("id", "preset") if name in value)
        named = value.get("name") or value.get("kind") or world
        return str(named or records.canonical(value))
    return value if isinstance(value, str) else records.canonical(value)


def _raw_run(raw: Mapping[str, Any], values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    table: dict[str, Any] = {"planners": raw.get("planners", {}), "label": raw.get("name", "")}
    for key, value in {**raw.get("base", {}), **values, "seed": seed}.items():
        config.assign(table, key, deepcopy(value))
    return table


def _resolved(
    place: str,
    raw: Mapping[str, Any],
    axes: Mapping[str, list[Any]],
    values: Mapping[str, Any],
    seed: int,
) -> dict[str, Any]:
    try:
        return config.resolve(_raw_run(raw, values, seed))
    except ConfigError as problem:
        found = list(_blamed(place, raw, axes, values))
        raise ConfigError("\n".join(found) or f"{place}: {problem}") from None


def _blamed(
    place: str, raw: Mapping[str, Any], axes: Mapping[str, list[Any]], values: Mapping[str, Any]
) -> Iterator[str]:
    """Findings with the place in [axes] of the one value that causes each."""
    for axis, value in values.items():
        others = {name: values[name] for name in values if name != axis}
        try:
            config.resolve(_raw_run(raw, others, 0))
        except ConfigError:
            continue
        where = f"[axes] {axis}[{axes[axis].index(value)}] = {settings.shown(value)}"
        try:
            config.resolve(_raw_run(raw, values, 0))
        except ConfigError as problem:
            for finding in str(problem).split("\n"):
                yield f"{place}: {where}: {finding.partition(': ')[2] or finding}"


def _check_skips(place: str, skips: Any, axes: Mapping[str, Any]) -> None:
    known = (*axes, "seed")
    for skip in skips:
        for key in skip:
            if key not in known:
                raise ConfigError(f"{place}: {settings.unknown_setting('skip', key, known)}")


def _is_skipped(skip: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    return all(
        labels[key] in map(label, value if isinstance(value, list) else [value])
        for key, value in skip.items()
    )


def _fits(run: Planned, only: Mapping[str, Sequence[str]], place: str) -> bool:
    for key, allowed in only.items():
        if key not in run.labels:
            known = ", ".join(run.labels)
            raise ConfigError(f'--only: {place} has no axis "{key}"; axes: {known}')
        if run.labels[key] not in allowed:
            return False
    return True


def _refuse_twins(runs: Sequence[Planned], place: str) -> None:
    seen: dict[str, Planned] = {}
    for run in runs:
        if run.key in seen:
            raise ConfigError(
                f"{place}: two runs have the key {run.key}: {dict(seen[run.key].labels)} and "
                f"{dict(run.labels)}"
            )
        seen[run.key] = run
