"""Bad input gets one clear sentence and changes nothing."""

from pathlib import Path

import numpy as np
import pytest
from macrafter_play import make_rules

from worlds.errors import ConfigError, IllegalAction, LayoutError
from worlds.macrafter.config import PRESETS, configure
from worlds.macrafter.generate import from_drawing, to_drawing
from worlds.macrafter.table import load_table
from worlds.registry import make, presets

DRAWN = "0.T\n.1C\n.kp"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agents": 0}, r"agents is 0; allowed: an integer 1..4096"),
        ({"agents": True}, r"agents is True"),
        ({"agents": 3.0}, r"agents is 3.0"),
        ({"area": (15, 64)}, r"area is \(15, 64\); allowed: two integers 16..2048"),
        ({"area": "big"}, r"area is 'big'.*or auto"),
        ({"view": (8, 9)}, r"view is \(8, 9\); allowed: two odd integers 3..63"),
        ({"area": (16, 16), "view": (7, 17)}, r"view is \(7, 17\); allowed: at most the area"),
        ({"reach": 9}, r"reach is 9; allowed: an integer 1..8"),
        ({"share_radius": 0}, r"share_radius is 0.*or None"),
        ({"credit": "all"}, r"credit is 'all'; allowed: required or participants"),
        ({"cows": 1}, r"cows is 1; allowed: true or false"),
        ({"seed": -1}, r"seed is -1; allowed: an integer 0..9223372036854775807"),
        ({"overrides": 3}, r"overrides is 3"),
        ({"agent": 3}, r"unknown agent; allowed: .*agents"),
        ({"reach": 0, "item_cap": 0}, r"reach is 0.*; item_cap is 0"),
    ],
)
def test_bad_settings(changes, words):
    with pytest.raises(ConfigError, match=words):
        configure("paper", **changes)


def test_unknown_preset():
    with pytest.raises(
        ConfigError, match='preset "papers"; allowed: paper, paper-6, survival, solo'
    ):
        configure("papers")
    assert tuple(PRESETS) == presets("macrafter-v1")


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (
            {"collect.gold.agents": 1},
            r"overrides has 'collect.gold.agents'; allowed: .*coal.agents",
        ),
        ({"collect.coal": 1}, r"overrides has 'collect.coal'"),
        ({"collect.coal.agents": 0}, r"collect.coal.agents is 0; allowed: an integer >= 1"),
        ({"collect.coal.agents": "2"}, r"collect.coal.agents is '2'"),
        ({"collect.coal.leaves": "mud"}, r"collect.coal.leaves is 'mud'; allowed: water, grass"),
        ({"collect.coal.tool": "spade"}, r"collect.coal.tool is 'spade'"),
        ({"collect.coal.gives": "gold"}, r"collect.coal.gives is 'gold'"),
        ({"collect.coal.gives": "wood"}, r"allowed: one source an item"),
        ({"collect.iron.gives": "sapling", "collect.grass.gives": "drink"}, r"one source"),
        ({"collect.grass.chance": 1.5}, r"collect.grass.chance is 1.5; allowed: a number 0..1"),
        ({"make.wood_sword.stations": ["oven"]}, r"stations is \['oven'\]"),
        ({"make.wood_sword.uses.wood": 0}, r"make.wood_sword.uses is \{'wood': 0\}"),
        ({"place.table.on": []}, r"place.table.on is \[\]"),
        ({"creature.cow.resets": "luck"}, r"creature.cow.resets is 'luck'"),
    ],
)
def test_bad_cells_of_the_table(overrides, words):
    with pytest.raises(ConfigError, match=words):
        load_table(configure("paper", overrides=overrides))


def test_requirements_above_the_team_are_refused_or_lowered():
    words = r"collect.iron.agents is 3: iron needs 3 agents, the team has 2.*"
    with pytest.raises(ConfigError, match=words + r'excess_requirements = "lower"'):
        make("macrafter-v1", "paper", agents=2)
    table = load_table(configure("paper", agents=2, excess_requirements="lower"))
    assert table.lowered == {"collect.iron.agents": 3, "collect.diamond.agents": 3}
    assert table.collect["iron"].agents == 2 and table.collect["iron"].unit_score == 100.0


def test_a_row_that_is_switched_off_is_not_refused():
    changes = {"creature.zombie.agents": 9}
    table = load_table(configure("paper", overrides=changes))
    assert table.lowered == {} and table.creature["zombie"].agents == 3
    with pytest.raises(ConfigError, match=r"creature.zombie.agents is 9"):
        load_table(configure("paper", zombies=True, overrides=changes))


def test_unit_scores_of_the_variants():
    scores = {name: row.unit_score for name, row in load_table(configure("paper")).collect.items()}
    assert scores == {
        "tree": 1, "stone": 15, "coal": 75, "iron": 150, "diamond": 600, "water": 0, "grass": 0,
    }  # fmt: skip
    crafter = load_table(configure("solo")).collect
    assert [crafter[n].unit_score for n in ("coal", "iron", "diamond")] == [37.5, 50, 200]


def test_a_table_of_ones_own(tmp_path):
    source = Path(make.__code__.co_filename).with_name("macrafter") / "table.toml"
    text = source.read_text()
    own = tmp_path / "own.toml"
    own.write_text(
        text.replace("{ paper = 2, crafter = 1 }", "2")
        .replace("{ paper = 3, crafter = 1 }", "3")
        .replace('{ paper = ["furnace"], crafter = ["table", "furnace"] }', '["furnace"]')
    )
    assert load_table(configure("paper", table=str(own))) == load_table(configure("paper"))
    own.write_text(own.read_text().replace("[collect.diamond]", "[collect.gold]"))
    with pytest.raises(ConfigError, match=r"table has \[collect.gold\]"):
        load_table(configure("paper", table=str(own)))
    own.write_text("[make.wood_pickaxe\n")
    with pytest.raises(ConfigError, match=r"own.toml.*allowed: paper, crafter"):
        load_table(configure("paper", table=str(own)))
    own.write_text("[collect.tree]\nagents = 1\n")
    with pytest.raises(ConfigError, match=r"collect.tree has no tool.*no rows \[make"):
        load_table(configure("paper", table=str(own)))
    with pytest.raises(ConfigError, match=r"No such file"):
        load_table(configure("paper", table=str(tmp_path / "none.toml")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.\n...", r"row 1 has 3 columns; allowed: 2"),
        ("0.\n.#", r"'#' at row 1, column 1"),
        ("0.\n.2", r"agent 2 at row 1, column 1; allowed: ids 0..1 without gaps"),
        ("0.\n.0", r"agent 0 again at row 1, column 1"),
        ("..\n..", r"no agent"),
        ("", r"drawing is empty"),
    ],
)
def test_bad_drawings(text, words):
    with pytest.raises(ConfigError, match=words):
        from_drawing(text, configure("paper"))


def test_a_drawing_is_drawn_again():
    text = "0.T,:\n.1~SL\nBFCID\nczk>p\n^v<P2"
    state = from_drawing(text, configure("paper"))
    assert to_drawing(state) == text
    assert state.creature_serial[0, :9].tolist() == list(range(9))
    assert state.creature_kind[0, :9].tolist() == [1, 2, 3, 4, 5, 4, 4, 4, 5]


def team(agents=2, **changes):
    config = configure("paper", agents=agents, excess_requirements="lower", **changes)
    rules = make_rules(config)
    return rules, from_drawing(DRAWN, config)


NOOP = np.zeros((1, 2), np.int32)


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        (([[0, 18]],), IllegalAction, r"action of agent_1 is 18; allowed: 0 noop, .*17 share"),
        (([[-1, 0]],), IllegalAction, r"action of agent_0 is -1"),
        (([[0, 0]], [[0, -2]]), IllegalAction, r"declared task of agent_1 is -2; allowed: -1"),
        (([[17, 0]], None, [[[2, 5, 1], [-1] * 3]]), IllegalAction, r"agent_0 are \[2, 5, 1\]"),
        (([[17, 0]], None, [[[1, 16, 1], [-1] * 3]]), IllegalAction, r"item 0..15"),
        (([[17, 0]], None, [[[1, 5, 21], [-1] * 3]]), IllegalAction, r"quantity 0..20"),
        (([[17, 0]], None, [[[1, 5, -1], [-1] * 3]]), IllegalAction, r"or -1 for all three"),
        (([[0, 0, 0]],), LayoutError, r"actions is \[1, 3\] int32; needed: \[1, 2\] int32"),
        (([[0.0, 0.0]],), LayoutError, r"actions is \[1, 2\] float64"),
        (([[0, 0]], [[0]]), LayoutError, r"declared is \[1, 1\] int32"),
        (
            ([[0, 0]], None, [[0, 0]]),
            LayoutError,
            r"arguments is \[1, 2\] int32; needed: \[1, 2, 3\]",
        ),
    ],
)
def test_bad_actions_change_nothing(inputs, error, words):
    rules, state = team()
    before = rules.clone(state)
    arrays = [
        None if x is None else np.array(x, np.float64 if isinstance(x[0][0], float) else np.int32)
        for x in inputs
    ]
    with pytest.raises(error, match=words):
        rules.step(state, *arrays)
    for name, one, other in zip(state._fields, state, before, strict=True):
        assert np.array_equal(one, other), name


def test_arguments_are_read_for_a_share_only():
    rules, state = team()
    rules.step(state, NOOP, None, np.full((1, 2, 3), 99, np.int32))
    assert state.step[0] == 1


def test_no_step_after_the_end():
    rules, state = team(max_steps=1)
    rules.step(state, NOOP)
    with pytest.raises(IllegalAction, match=r"after the end"):
        rules.step(state, NOOP)


def test_a_state_of_another_layout_is_refused():
    rules, state = team()
    wrong = state._replace(material=state.material.astype(np.int64))
    with pytest.raises(LayoutError, match=r"material is \[1, 3, 3\] int64; needed: .* uint8"):
        rules.step(wrong, NOOP)
    with pytest.raises(LayoutError, match=r"known is .*contiguous"):
        rules.step(state._replace(known=state.known[:, :, ::-1]), NOOP)


def test_keys_of_another_layout_are_refused():
    rules, state = team()
    with pytest.raises(LayoutError, match=r"keys is \[2\] uint64; needed: \[1\] uint64"):
        rules.reseed(state, np.zeros(2, np.uint64))


def test_bad_seeds():
    rules, _ = team()
    for seed in (-1, 2**63, 1.5, True, None):
        with pytest.raises(ConfigError, match=r"seed is .*allowed: an integer 0..92233720"):
            rules.reset(seed)
