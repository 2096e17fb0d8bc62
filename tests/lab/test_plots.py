"""Figures of real runs: twins against golden files; `python tests/lab/test_plots.py` renews them.

Drawn from one run, from five, from one without attempts and from 256 agents.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from cognitive.errors import ConfigError
from cognitive.events import stream_events
from lab import config, records
from lab.cli import app
from lab.rounds import first_round, full_round
from lab.run import execute

pytest.importorskip("matplotlib", reason="figures need the extra analysis")
image = pytest.importorskip("PIL.Image", reason="pixels are read with pillow")
GOLDEN = Path(__file__).parent / "golden" / "figures"
TEAM = {"planner.kind": "greedy", "planner.heeds_guidance": True}
FIVE = [{**TEAM, "repair": repair, "seed": seed} for repair in ("off", "on") for seed in range(5)]
CROWD = {"world": "cube-v1:chain", "world.n": 256, "planner": "random", "budget.steps": 6}
SIZES = [
    {"world": f"cube-v1:{preset}", "topology": kind, "repair": repair, "budget.steps": 3}
    for preset in ("quorum", "quorum-6")
    for kind, repair in (("individual", "off"), ("chain", "off"), ("individual", "watch"))
]
RUNS = {
    "five": FIVE,
    "one": [{**TEAM, "repair": "on", "topology": "chain"}],
    "none": [{"budget.steps": 6}],
    "many": [CROWD],
    "sizes": SIZES,
}
TIMING = {"steps_per_second": 90.0, "peak_memory_mb": 200.0, "review_ms": 0.5}
PLOTS = {
    "five_traces": ("five", "traces", "--where", "repair=off"),
    "five_traces_published": ("five", "traces", "--where", "repair=off", "--published"),
    "five_tradeoff": ("five", "tradeoff"),
    "five_tradeoff_published": ("five", "tradeoff", "--published"),
    "five_repair": ("five", "repair"),
    "five_prediction": ("five", "prediction"),
    "five_ablations": ("five", "ablations"),
    "one_traces": ("one", "traces", "--strips", "paper"),
    "one_case": ("one", "case"),
    "one_tradeoff": ("one", "tradeoff"),
    "one_prediction": ("one", "prediction"),
    "one_timeline": ("one", "timeline", "--axis", "step"),
    "none_traces": ("none", "traces"),
    "none_case": ("none", "case"),
    "none_timeline": ("none", "timeline"),
    "many_traces": ("many", "traces"),
    "many_case": ("many", "case"),
    "many_timeline": ("many", "timeline", "--axis", "step"),
    "sizes_scaling": ("sizes", "scaling", "--published"),
}


def play(root):
    """Every run, below a folder for each kind; what a clock measured is put in by hand."""
    for name, team in RUNS.items():
        for number, settings in enumerate(team):
            raw = config.read_source("cube-quorum", "run")
            for key, value in {"topology": "individual", "budget.steps": 25, **settings}.items():
                config.assign(raw, key, value)
            folder = root / name / str(number)
            assert execute(records.canonical(config.resolve(raw)), folder).status == "finished"
            (folder / records.TIMING).write_text(json.dumps(TIMING))
    return root


def draw(root, name, out):
    kind, figure, *more = PLOTS[name]
    path = str(root / kind / "0" if figure in ("timeline", "case") else root / kind)
    assert app(["plot", path, "--figure", figure, "--out", str(out / name), *more]) == 0
    return out / f"{name}.png", out / f"{name}.csv"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return play(tmp_path_factory.mktemp("figures"))


@pytest.mark.parametrize("name", PLOTS)
def test_twin_of_a_figure_equals_its_golden_file(played, tmp_path, name):
    picture, twin = draw(played, name, tmp_path)
    assert twin.read_text() == (GOLDEN / f"{name}.csv").read_text()
    assert np.asarray(image.open(picture).convert("L")).std() > 10, "blank"


@pytest.mark.parametrize("kind", ["sizes", "one"])
def test_a_full_round_costs_what_its_formula_says(played, kind):
    for folder in sorted((played / kind).iterdir()):
        found = records.read_json(folder / records.CONFIG)
        counted = first_round(stream_events(folder / records.EVENTS))
        assert counted == full_round(found["topology"], found["agents"]), folder


@pytest.mark.parametrize(
    ("kind", "options", "n", "cost"),
    [
        ("individual", {}, 256, (256, 0, 0)),
        ("centralized", {"reports": True, "notice": True}, 256, (512, 512, 1020)),
        ("centralized", {"reports": False, "notice": False}, 256, (512, 256, 510)),
        ("chain", {"window": 0}, 256, (256, 255, 32640)),
        ("ring", {}, 256, (257, 256, 256)),
        ("all_to_all", {"rounds": 1}, 256, (512, 256, 65280)),
        ("hierarchy", {"branching": 4}, 256, (320, 319, 510)),
        ("gossip", {"fanout": 1, "rounds": 2}, 256, (768, 512, 512)),
        ("gossip", {"fanout": 1, "rounds": 2}, 3, (9, 6, 6)),
    ],
)
def test_formulas_of_a_full_round(kind, options, n, cost):
    assert full_round({"kind": kind, **options}, n) == cost


def test_a_figure_without_published_numbers_says_which_have_some(played, tmp_path, capsys):
    for kind, figure in (("five", "repair"), ("one", "timeline")):
        words = ["plot", str(played / kind), "--figure", figure, "--published"]
        assert app([*words, "--out", str(tmp_path / "x")]) == 2
        says = f"numbers for traces, case, tradeoff, scaling, not {figure}"
        assert says in capsys.readouterr().err


def test_the_published_case_is_of_one_world_alone(played, tmp_path):
    from lab.plots import Request, plot

    with pytest.raises(ConfigError, match="is macrafter-v1, 3, centralized; world differs"):
        plot(Request((played / "one",), "case", tmp_path / "x", is_published=True))


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        made = play(Path(place) / "runs")
        for case in PLOTS:
            (GOLDEN / f"{case}.csv").write_text(draw(made, case, Path(place))[1].read_text())
    subprocess.run(["git", "diff", "--stat", str(GOLDEN)], check=False)
    sys.exit()
