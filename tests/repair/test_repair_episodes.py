"""Whole episodes: watching changes nothing, advice is followed or not, costs add up."""

import json
from pathlib import Path

import pytest

from cognitive.events import read_events
from lab import config as configs
from lab.records import canonical
from lab.run import execute
from repair.config import ABLATIONS

HEEDING = {"kind": "greedy", "heeds_guidance": True}


def episode(folder: Path, repair, seed=0, steps=60, world="cube-v1", preset="quorum", **more):
    raw = {
        "seed": seed,
        "world": {"id": world, "preset": preset},
        "topology": "individual",
        "planner": HEEDING,
        "budget": {"steps": steps},
        "repair": repair,
        **more,
    }
    outcome = execute(canonical(configs.resolve(raw)), folder)
    assert outcome.status == "finished", outcome
    return read_events(folder / "events.jsonl")


def bare(events):
    """Events as bytes, without those of repair, numbers and the digest of the settings."""
    kept = []
    for event in events:
        if not event["e"].startswith("repair_"):
            line = {k: v for k, v in event.items() if k not in ("n", "config_digest")}
            kept.append(json.dumps(line, sort_keys=True))
    return kept


def primitives(events):
    return [event["primitives"] for event in events if event["e"] == "step"]


def score(events):
    totals = [event["total"] for event in events if event["e"] == "score"]
    return totals[-1] if totals else 0


@pytest.mark.parametrize(
    ("world", "preset", "steps"),
    [("cube-v1", "quorum", 80), ("macrafter-v1", "paper", 60), ("macrafter-v1", "survival", 40)],
)
def test_watching_changes_no_byte(tmp_path, world, preset, steps):
    runs = {
        mode: list(episode(tmp_path / mode, mode, 1, steps, world, preset))
        for mode in ("off", "watch")
    }
    assert bare(runs["off"]) == bare(runs["watch"])
    assert any(event["e"] == "repair_predicted" for event in runs["watch"])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_channels_without_guidance_add_only_cost(tmp_path, seed):
    watched = list(episode(tmp_path / "w", "watch", seed))
    silent = list(episode(tmp_path / "s", "no-guidance", seed))
    assert primitives(watched) == primitives(silent) and score(watched) == score(silent)
    assert any(event["e"] == "repair_closed" for event in silent)


def test_a_heeding_team_gains_on_every_seed(tmp_path):
    gains = []
    for seed in range(6):
        off = score(list(episode(tmp_path / f"off{seed}", "off", seed, 120)))
        on = score(list(episode(tmp_path / f"on{seed}", "on", seed, 120)))
        gains.append(on - off)
    assert min(gains) > 0 and sum(gains) / len(gains) >= 6, gains


def test_predictions_are_right_where_nothing_is_treated(tmp_path):
    labels = []
    for seed in range(4):
        for agents in (3, 6):
            events = episode(tmp_path / f"{seed}-{agents}", "watch", seed, 120, agents=agents)
            labels += [event["label"] for event in events if event["e"] == "repair_scored"]
    hit, false, miss, cut = map(labels.count, ("hit", "false_alarm", "miss", "cut"))
    assert hit / (hit + false) >= 0.95 and hit / (hit + miss) >= 0.95, (hit, false, miss)
    tried = len(labels) - labels.count("unrealised")
    assert cut <= 0.3 * tried, (cut, tried)


def test_costs_of_a_channel_are_the_sums_over_its_events(tmp_path):
    events = list(episode(tmp_path / "r", "on", 0, 60))
    opened = {e["repair"]: e for e in events if e["e"] == "repair_opened"}
    closed = [e for e in events if e["e"] == "repair_closed"]
    assert closed
    for end in closed:
        number = opened[end["repair"]]["dialogue"]
        members = opened[end["repair"]]["members"]
        begun = [e for e in events if e["e"] == "dialogue_opened" and e["dialogue"] == number]
        assert [(e["cause"], e["members"]) for e in begun] == [("repair", members)]
        asked = {e["decision"] for e in events if e.get("dialogue") == number and "decision" in e}
        ended = [e for e in events if e["e"] == "decision_ended" and e["decision"] in asked]
        assert end["answers"] == len(ended) and end["calls"] == 0
        assert end["charged_ms"] == sum(e["charge_ms"] for e in ended)
        sent = [e for e in events if e["e"] == "message_sent" and e["dialogue"] == number]
        assert end["sends"] == len(sent)
        got = {e["message"] for e in sent}
        delivered = [e for e in events if e["e"] == "message_delivered" and e["message"] in got]
        assert end["deliveries"] == sum(len(e["recipients"]) for e in delivered)
        m, v = len(members), len(end["waves"])
        assert end["answers"] == m + m * v and end["clock_ms"] == 1500 * (m + v)


def test_no_agent_is_in_two_channels_of_a_step_and_every_channel_closes(tmp_path):
    events = list(episode(tmp_path / "r", "on", 2, 120, agents=6))
    by_step: dict[int, list[int]] = {}
    for event in events:
        if event["e"] == "repair_opened":
            by_step.setdefault(event["step"], []).extend(event["members"])
    assert by_step and all(len(m) == len(set(m)) for m in by_step.values()), by_step
    opened = [e["repair"] for e in events if e["e"] == "repair_opened"]
    assert opened == [e["repair"] for e in events if e["e"] == "repair_closed"]
    forecasts = [e["forecast"] for e in events if e["e"] == "repair_predicted"]
    scored = [e["forecast"] for e in events if e["e"] == "repair_scored"]
    assert len(scored) == len(set(scored)) and set(scored) <= set(forecasts)


@pytest.mark.parametrize("name", [name for name in ABLATIONS if name != "off"])
@pytest.mark.parametrize("pace", ["lockstep", "realtime"])
def test_every_ablation_plays_to_its_end(tmp_path, name, pace):
    events = list(episode(tmp_path / "r", name, 3, 40, clock={"pace": pace}))
    assert events[-1]["ended_by"] == "steps"
    again = list(episode(tmp_path / "again", name, 3, 40, clock={"pace": pace}))
    assert events == again
