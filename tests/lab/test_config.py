"""From presets and assignments to a resolved config: defaults, refusals, names."""

import re

import pytest

from cognitive.errors import ConfigError
from lab import config, records, settings


def resolved(*assignments, preset="cube-quorum"):
    raw = config.read_source(preset, "run")
    for text in assignments:
        config.assign(raw, *config.parse_assignment(text))
    return config.resolve(raw)


def finding(*assignments, preset="cube-quorum"):
    with pytest.raises(ConfigError) as raised:
        resolved(*assignments, preset=preset)
    return str(raised.value)


@pytest.mark.parametrize("name", config.preset_names("run"))
def test_every_run_preset_resolves_to_a_world_of_its_name(name):
    found = resolved(preset=name)
    world = found["world"]
    assert name == f"{world['id'].rpartition('-v')[0]}-{world['preset']}"
    assert config.make_world(found).rules.agents == found["agents"]


@pytest.mark.parametrize("name", config.preset_names("run"))
def test_a_resolved_config_opened_again_is_the_same(name):
    found = resolved("repair=on", "interrupts.policy=never", preset=name)
    assert config.resolve(config.reopened(found)) == found


@pytest.mark.parametrize(
    ("assignment", "sentence"),
    [
        (
            "repair.taus=1",
            'unknown setting "repair.taus"; [repair] has: mode, predictor, .*(closest: tau)',
        ),
        ("agents=0", "agents = 0: allowed 1 to 1024"),
        ("topology=star", "topology = 'star': allowed: individual, centralized, chain, .*"),
        (
            "topology.windo=1",
            'unknown setting "topology.windo"; [topology] has: leader, .*(closest: notice)',
        ),
        ("world.sidee=3", 'unknown setting "world.sidee"; [world] has: id, .*(closest: side)'),
        ("plannr=4", 'unknown setting "plannr"; a run has: agents, .*(closest: planner)'),
        ("planner=mini", 'planner = "mini": allowed scripted, greedy, .*, or a table'),
        ("budget.steps=-1", "budget.steps = -1: allowed 0 to 1000000000000"),
        ("seed=-1", "seed = -1: allowed 0 to 9223372036854775807"),
        ("seed=1.5", "seed = 1.5: allowed 0 to 9223372036854775807"),
        ("repair.tau.spatial=1.4", "repair.tau.spatial = 1.4: allowed 0 to 1"),
        ("world=cube-v2", 'no world "cube-v2"; worlds: cube-v1, .*(closest: cube-v1)'),
        ("world.side=4", "cube-v1: side is 4; allowed: .*5..1024.*"),
        ("interrupts=sometimes", 'interrupts.policy = "sometimes": allowed always, .*'),
        ("messages.delay_ms=[5, 2]", "messages.delay_ms = [5, 2]: allowed 0 to .*"),
        ("clock=true", "clock = true: allowed a table"),
    ],
)
def test_a_bad_setting_is_one_sentence(assignment, sentence):
    pattern = ".*".join(map(re.escape, sentence.split(".*")))
    assert re.fullmatch(pattern, finding(assignment)), finding(assignment)


def test_all_findings_come_together():
    lines = finding("agents=0", "plannr=1", "budget.calls=true", "topology=star").split("\n")
    assert len(lines) == 4, lines


def test_a_team_too_small_for_its_world_names_the_switch():
    assert "team has 2" in finding("agents=2", preset="macrafter-paper")
    assert 'excess_requirements = "lower"' in finding("agents=2", preset="macrafter-paper")
    found = resolved("agents=2", "world.excess_requirements=lower", preset="macrafter-paper")
    assert found["agents"] == 2


def test_the_size_of_the_team_is_the_same_whether_said_or_not():
    assert resolved() == resolved("agents=3")
    assert resolved("agents=8", preset="cube-chain")["world"]["n"] == 8
    assert "give one of them" in finding("agents=3", "world.agents=4")


def test_one_word_sections_and_dotted_keys_mean_the_same():
    assert resolved("topology=chain") == resolved("topology.kind=chain")
    assert resolved("interrupts=never") == resolved("interrupts.policy=never")
    assert resolved("pace=realtime") == resolved("clock.pace=realtime")
    assert resolved("world=cube-v1:quorum") == resolved("world.id=cube-v1", "world.preset=quorum")
    assert resolved("topology=broadcast_chain") == resolved("topology=chain")


def test_a_new_kind_drops_options_of_the_old_one():
    found = resolved("topology.leader=1", "topology.kind=gossip")
    assert found["topology"] == {"kind": "gossip", "fanout": 1, "rounds": 2, "free_talk": False}


def test_a_step_takes_time_by_the_pace():
    assert resolved()["clock"]["step_ms"] == 0
    assert resolved("pace=realtime")["clock"]["step_ms"] == 500
    assert "from 1 in pace realtime" in finding("pace=realtime", "clock.step_ms=0")


@pytest.mark.parametrize(
    ("assignments", "name"),
    [
        ((), "off"),
        (("repair=on",), "on"),
        (("repair.mode=watch",), "watch"),
        (("repair=on", "repair.guidance=false"), "no-guidance"),
        (("repair=on", "repair.horizon=20"), "custom"),
    ],
)
def test_repair_is_named_after_the_ablation_it_is(assignments, name):
    assert resolved(*assignments)["repair"]["name"] == name


def test_the_world_of_the_paper_changes_repair_and_centralized():
    found = resolved("topology=centralized", "repair=on", preset="macrafter-paper")
    assert (found["repair"]["cooldown"], found["repair"]["cooldown_key"]) == (20, "kind")
    assert found["topology"]["reports"] is False and found["topology"]["on_idle"] == "standing"
    assert found["repair"]["name"] == "on" and found["budget"]["team_ms"] == 120000


def test_planners_by_name_by_table_and_one_an_agent():
    raw = config.read_source("cube-quorum", "run")
    raw["planners"] = {"mini": {"kind": "llm", "model": "m"}}
    raw["planner"] = ["mini", "scripted", {"name": "bold", "kind": "greedy"}]
    found = config.resolve(raw)
    assert records.axes(found)["planner"] == "mini+scripted+bold"
    assert [planner["latency"]["model"] for planner in found["planner"]] == [
        "tokens",
        "fixed",
        "fixed",
    ]
    assert config.planner_of(found, 2)["kind"] == "greedy"
    raw["planner"] = ["mini", "scripted"]
    with pytest.raises(ConfigError, match="planner has 2 entries: allowed 1 or 3"):
        config.resolve(raw)


def test_a_model_needs_its_key_and_shows_it_to_nobody(monkeypatch):
    raw = config.read_source("cube-quorum", "run")
    raw["planner"] = {"name": "mini", "kind": "llm", "model": "m", "api_key_env": "MINI_KEY"}
    (planner,) = config.resolve(raw)["planner"]
    monkeypatch.delenv("MINI_KEY", raising=False)
    with pytest.raises(ConfigError, match='planner "mini" needs the variable MINI_KEY'):
        settings.endpoint_variables(planner)
    monkeypatch.setenv("MINI_KEY", "s3cret-value")
    _, key = settings.endpoint_variables(planner)
    assert "s3cret" not in repr(key) and "s3cret" not in str(planner)


def test_the_most_calls_are_none_for_scripts_and_never_above_the_budget():
    assert config.most_calls(resolved("repair=on")) == 0
    raw = config.read_source("cube-quorum", "run")
    raw["planner"] = {"kind": "llm", "model": "m"}
    unbounded = config.most_calls(config.resolve(raw))
    assert unbounded > 200 * 3 * 4
    raw["budget"] = {"team_ms": 60_000}
    assert config.most_calls(config.resolve(raw)) == 3 * (60_000 // 500 + 1) * 5
    raw["budget"] = {"calls": 50}
    assert config.most_calls(config.resolve(raw)) == 50


def test_a_long_chain_on_a_short_clock_is_remarked_on():
    found = resolved("topology=chain", "agents=8", "budget.team_ms=9000")
    assert "8 decisions in a row" in config.remarks(found)[0]
    assert config.remarks(resolved()) == ()


def test_differences_and_which_of_them_a_resumed_run_may_have():
    old, new = resolved(), resolved("budget.steps=300", "interrupts=never", "seed=1")
    keys = [key for key, _, _ in config.differences(old, new)]
    assert keys == ["budget.steps", "interrupts.policy", "seed"]
    assert [config.is_resumable_as(key) for key in keys] == [True, False, False]
    assert not config.is_resumable_as("planner.temperature")
    assert config.is_resumable_as("planner.api_key_env")


def test_an_unknown_preset_and_a_broken_file_say_where(tmp_path):
    with pytest.raises(
        ConfigError, match=r'no preset or file "cube-qorum"; .*closest: cube-quorum'
    ):
        config.read_source("cube-qorum", "run")
    path = tmp_path / "my.toml"
    path.write_text("[world]\nid = \n")
    with pytest.raises(ConfigError, match=r"my\.toml: .*line 2"):
        config.read_source(str(path), "run")


def test_seed_0_is_a_seed_like_any_other():
    assert resolved("seed=0")["seed"] == 0
    assert records.run_key(resolved("seed=0")) != records.run_key(resolved("seed=1"))
