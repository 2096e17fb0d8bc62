"""Run folders written by hand, for tests of what reads them."""

import json

from lab import records


def config(seed=0, topology="individual", repair="off", planner="scripted", agents=3, **sections):
    base = {
        "schema": 1,
        "label": "",
        "seed": seed,
        "agents": agents,
        "world": {"id": "cube-v1", "preset": "quorum", "agents": agents, "side": 15},
        "topology": {"kind": topology},
        "planner": [{"name": planner, "kind": planner, "model": None}] * agents,
        "interrupts": {"policy": "always"},
        "clock": {"pace": "lockstep", "kind": "virtual", "step_ms": 0},
        "budget": {"steps": 200},
        "repair": {"name": repair, "mode": repair},
    }
    return {**base, **sections}


def write_run(root, settings, metrics, ended_by="steps", is_finished=True):
    """A run folder below `root` with a summary of these metrics; the rest are NA."""
    key = records.run_key(settings)
    folder = root / key
    folder.mkdir(parents=True)
    records.write_whole(folder / records.CONFIG, records.canonical(settings))
    if ended_by is None:
        return folder
    summary = {
        "schema": 1,
        "is_finished": is_finished,
        "run_key": key,
        "cell": records.cell(settings),
        "config_digest": records.config_digest(settings),
        "seed": settings["seed"],
        "axes": records.axes(settings),
        "ended_by": ended_by,
        "metrics": metrics,
    }
    (folder / records.SUMMARY).write_text(json.dumps(summary))
    return folder
