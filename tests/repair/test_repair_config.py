"""Settings of repair: named ablations, ranges, one sentence for each fault."""

import pytest

from repair.config import ABLATIONS, RepairConfig, repair_config
from worlds.errors import ConfigError


def test_defaults_are_off():
    assert repair_config({}) == RepairConfig() and RepairConfig().mode == "off"


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_ablation_is_on_with_at_most_two_changes(name):
    config, base = repair_config(name), repair_config("on")
    changed = [k for k in vars(base) if getattr(config, k) != getattr(base, k)]
    assert len(changed) <= 2, changed


def test_a_world_may_bring_defaults_that_a_table_overrides():
    config = repair_config({"mode": "watch", "tolerance": 3}, {"cooldown": 20, "tolerance": 2})
    assert (config.mode, config.cooldown, config.tolerance) == ("watch", 20, 3)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"tau": {"spatial": 1.4}}, "repair.tau.spatial = 1.4: allowed 0 to 1"),
        (
            {"tau": {"space": 0.4}},
            'repair.tau has no constraint "space": allowed '
            "participation, spatial, temporal, dependency",
        ),
        ({"early": 9}, "repair.early = 9: allowed 1 to rollouts = 8"),
        ({"horizon": 0}, "repair.horizon = 0: allowed 1 to 100000"),
        ({"horizon": True}, "repair.horizon = true: allowed 1 to 100000"),
        ({"min_support": 0}, "repair.min_support = 0: allowed above 0, to 1"),
        ({"guidance": "yes"}, 'repair.guidance = "yes": allowed true, false'),
        ({"channel": "all"}, 'repair.channel = "all": allowed cohort, failing, everyone, random'),
        ({"mode": "repair", "rounds": 0, "guidance": False}, "the channel would carry nothing"),
        ({"taus": 1}, 'unknown setting "repair.taus"; [repair] has: mode'),
        ({"taus": 1}, "(closest: tau)"),
        ("sometimes", 'repair = "sometimes": allowed off, watch, on'),
    ],
)
def test_bad_settings_get_their_sentence(table, sentence):
    with pytest.raises(ConfigError) as caught:
        repair_config(table)
    assert sentence in str(caught.value), str(caught.value)


def test_all_findings_come_together():
    with pytest.raises(ConfigError) as caught:
        repair_config({"horizon": 0, "taus": 1})
    assert "horizon" in str(caught.value) and "taus" in str(caught.value)
