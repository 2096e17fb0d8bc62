"""Figures from plain data: the CSV twin holds every value, the picture is not blank."""

import csv
import struct
import zlib

import numpy as np
import pytest

from render import figures
from render.figures import (
    AblationRow,
    Curve,
    PairLines,
    PredictionData,
    RepairMark,
    TraceCell,
    TradeoffPoint,
)
from worlds.errors import ConfigError

pytest.importorskip("matplotlib", reason="figures need the extra analysis")
NAN = float("nan")


def cell(
    row="chain",
    column="scripted",
    runs=2,
    satisfaction=((1, NAN), (0.5, NAN), (1, NAN), (1, NAN)),
    **more,
):
    values = np.array(satisfaction, float)
    steps = values.shape[1]
    given = {
        "row": row, "column": column, "agents": 3, "runs": runs, "limit": 10,
        "satisfaction": values, "marks": (("spatial", 1, 0.5),) if runs == 1 else (),
        "heat_rows": ("weight 2", "weight 1"), "heat": np.ones((2, steps)),
        "score": np.arange(steps, dtype=float), "low": np.zeros(steps),
        "high": np.arange(steps, dtype=float) + 1, "end": float(steps),
    }  # fmt: skip
    return TraceCell(**(given | more))


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def colours(path):
    """The number of distinct bytes of the first rows of pixels that are not all alike."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed = 8, b""
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        if data[place + 4 : place + 8] == b"IDAT":
            packed += data[place + 8 : place + 8 + length]
        place += 12 + length
    return len(set(zlib.decompress(packed)))


def test_traces_twin_holds_satisfaction_agents_and_score(tmp_path):
    picture, twin = figures.save(lambda: figures.draw_traces([cell()]), tmp_path / "t", "png")
    rows = rows_of(twin)
    spatial = [r for r in rows if r["series"] == "satisfaction" and r["key"] == "spatial"]
    assert [(r["step"], r["value"]) for r in spatial] == [("1", "0.5")]
    score = [(r["step"], r["value"], r["low"], r["high"]) for r in rows if r["series"] == "score"]
    assert score == [("1", "0", "0", "1"), ("2", "1", "0", "2")]
    assert len([r for r in rows if r["series"] == "agents"]) == 4
    assert colours(picture) > 20


def test_paper_strips_leave_participation_out(tmp_path):
    strips = figures.STRIPS[1:]
    _, twin = figures.save(lambda: figures.draw_traces([cell()], strips), tmp_path / "t", "svg")
    assert "participation" not in {row["key"] for row in rows_of(twin)}


@pytest.mark.parametrize("runs", [1, 5])
def test_a_cell_without_attempts_and_one_of_256_agents_are_drawn(tmp_path, runs):
    none = cell(runs=runs, satisfaction=[[NAN] * 4] * 4, marks=())
    many = cell(row="ring", runs=runs, agents=256, satisfaction=[[1.0] * 30] * 4)
    picture, _ = figures.save(lambda: figures.draw_traces([none, many]), tmp_path / "t", "png")
    assert colours(picture) > 20


def test_case_lists_each_repair(tmp_path):
    one = cell(runs=1, repairs=(RepairMark(1, "block_3_left"),))
    _, twin = figures.save(lambda: figures.draw_case(one), tmp_path / "c", "png")
    (mark,) = [row for row in rows_of(twin) if row["series"] == "repair"]
    assert (mark["key"], mark["step"], mark["task"]) == ("R1", "1", "block_3_left")


def test_labels_of_repairs_close_in_time_do_not_cover_each_other():
    marks = tuple(RepairMark(step, f"block_{step}_left") for step in (5, 6, 6, 20))
    one = cell(runs=1, satisfaction=[[1.0] * 60] * 4, repairs=marks)
    figure, _ = figures.draw_case(one)
    figure.canvas.draw()
    texts = [
        text for axes in figure.axes for text in axes.texts if text.get_text().strip()[:1] == "R"
    ]
    placed = [(text.get_position()[0], text.get_text().split("\n")) for text in texts]
    taken = [(round(x / 3), line) for x, lines in placed for line, name in enumerate(lines) if name]
    assert sorted(name for _, lines in placed for name in lines if name) == ["R1", "R2", "R3", "R4"]
    assert len(taken) == len(set(taken))


def drawings():
    return {
        "tradeoff": lambda: figures.draw_tradeoff(
            [TradeoffPoint("chain", "scripted", 3, "off", 5.0, NAN, 20.0, NAN, 9.0, NAN)]
        ),
        "repair": lambda: figures.draw_repair(
            [PairLines("score", "score", (0, 1), (3.0, 4.0), (5.0, 7.0))]
        ),
        "prediction": lambda: figures.draw_prediction(
            PredictionData(((0.05, 0.1, 4), (0.95, 0.9, 9)), (("1", 1.0, 0.5, 3),))
        ),
        "scaling": lambda: figures.draw_scaling(
            [
                Curve("steps", "cube", (3, 64), (900.0, 80.0)),
                Curve("steps", "old", (3, 64), (9.0, 1.0), True),
            ]
        ),
        "ablations": lambda: figures.draw_ablations(
            [AblationRow("off", {"score": (-4.0, -6.0, -2.0)})], ("score",)
        ),
    }


@pytest.mark.parametrize("name", drawings())
@pytest.mark.parametrize("form", figures.FORMATS)
def test_same_data_same_bytes(tmp_path, name, form):
    first, twin = figures.save(drawings()[name], tmp_path / "a", form)
    second, _ = figures.save(drawings()[name], tmp_path / "b", form)
    assert first.read_bytes() == second.read_bytes()
    assert rows_of(twin)


def test_repair_twin_holds_every_seed_and_the_mean(tmp_path):
    _, twin = figures.save(drawings()["repair"], tmp_path / "r", "png")
    assert [(r["seed"], r["off"], r["on"]) for r in rows_of(twin)] == [
        ("0", "3", "5"),
        ("1", "4", "7"),
        ("mean", "3.5", "6"),
    ]


def test_unknown_format_is_refused_by_name(tmp_path):
    with pytest.raises(ConfigError, match='format "gif": allowed png, svg, pdf'):
        figures.save(drawings()["repair"], tmp_path / "r", "gif")
