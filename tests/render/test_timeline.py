"""The timeline of a run: its CSV twin holds every interval, its picture is not blank."""

import csv
import itertools
import sys

import numpy as np
import pytest
from PIL import Image

from cognitive.errors import ConfigError, MissingPrerequisite
from render.replay import open_run
from render.timeline import draw, intervals

pytest.importorskip("matplotlib", reason="needs cooplab[analysis]")


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("axis", ["ms", "step"])
def test_the_twin_holds_what_the_events_say(run, tmp_path, axis):
    picture, twin = draw(run, tmp_path / "t.png", axis)
    assert np.array(Image.open(picture).convert("L")).std() > 20
    rows = rows_of(twin)
    story = run.story
    counts = {lane: sum(row["lane"] == lane for row in rows) for lane in {r["lane"] for r in rows}}
    assert counts["environment"] == run.steps + 1
    assert counts["plan"] == len(story.plans)
    assert counts["repair"] == len(story.channels) > 0
    assert counts["sent"] == len(story.messages)
    assert counts["received"] == sum(
        len(one.recipients) for message in story.messages for one in message.deliveries
    )
    assert counts["action"] == sum(
        action.started_step is not None for plan in story.plans.values() for action in plan.actions
    )
    plan = next(iter(story.plans.values()))
    row = next(row for row in rows if row["label"].startswith(f"{plan.id} "))
    assert (row["label"], row["agent"]) == (f"{plan.id} {plan.task}", str(plan.agent))
    assert (row["from_ms"], row["to_ms"]) == (str(plan.ms), str(plan.ended_ms))


def test_stages_of_an_agent_fill_the_whole_axis(run):
    for agent in range(run.agents):
        timed = [row for row in intervals(run, [agent], "ms") if row.lane == "stage"]
        assert timed[0].from_ms == 0
        assert timed[-1].to_ms == run.story.last_ms
        for one, other in itertools.pairwise(timed):
            assert one.to_ms == other.from_ms, f"agent {agent}: {one} then {other}"
        stepped = [row for row in intervals(run, [agent], "step") if row.lane == "stage"]
        steps = [step for row in stepped for step in range(row.from_step, row.to_step)]
        assert steps == list(range(run.steps + 1))
        letters = [row.label for row in stepped for _ in range(row.from_step, row.to_step)]
        seen = [run.story.stage_at(agent, step).stage for step in range(run.steps + 1)]
        assert letters == seen


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_equal_runs_give_equal_timelines(run, tmp_path, form):
    one, twin = draw(run, tmp_path / "one", format=form)
    other, second = draw(run, tmp_path / "other", format=form)
    assert one.suffix == f".{form}"
    assert one.read_bytes() == other.read_bytes()
    assert twin.read_bytes() == second.read_bytes()


def test_a_crowd_is_shown_as_shares(crowd_folder, tmp_path):
    run = open_run(crowd_folder)
    for axis in ("ms", "step"):
        _, twin = draw(run, tmp_path / axis, axis)
        rows = rows_of(twin)
        for row in rows:
            shares = [float(value) for name, value in row.items() if name != axis]
            assert sum(shares) == pytest.approx(1, abs=1e-4), row
    steps = {row["step"]: row for row in rows_of(tmp_path / "step.csv")}
    seen = [run.story.stage_at(agent, 7).stage for agent in range(256)]
    assert float(steps["7"]["X"]) == pytest.approx(seen.count("X") / 256, abs=1e-4)


def test_chosen_agents_of_a_crowd_get_lanes(crowd_folder, tmp_path):
    _, twin = draw(open_run(crowd_folder), tmp_path / "t", agents=[3, 40, 200])
    shown = {row["agent"] for row in rows_of(twin)}
    assert shown == {"-1", "3", "40", "200"}


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"axis": "seconds"}, 'axis = "seconds": allowed ms, step'),
        ({"agents": [0, 4]}, "agent = 4: allowed 0 to"),
        ({"format": "bmp"}, 'format "bmp": allowed png, svg, pdf'),
    ],
)
def test_bad_wishes_for_a_timeline_are_named(cube_folder, tmp_path, wish, says):
    with pytest.raises(ConfigError, match=says):
        draw(open_run(cube_folder), tmp_path / "t", **wish)


def test_without_matplotlib_the_install_command_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'cooplab\[analysis\]'"):
        draw(run, tmp_path / "t")
