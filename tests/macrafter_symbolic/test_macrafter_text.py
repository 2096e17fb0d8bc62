"""The texts of MA-Crafter: the golden view, limits, sheets, the manual, and what they hide."""

import json
import re
import string

import numpy as np
import pytest
from drawn_maps import Drawn

from worlds.macrafter.config import configure
from worlds.macrafter.manual import manual_text
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.state import ITEMS, MATERIALS, REASONS
from worlds.macrafter.table import load_table
from worlds.macrafter.text import MacrafterText

VIEW = """
....TT...
...TT....
..SSSS...
..,,0C,S.
..SSSS1..
...~~~...
...~~~.c.
"""

GOLDEN = """\
macrafter-v1. Step 12 of 200. Team score 6. You are agent_0 at (31,40), facing right, awake.
Health 9, food 9, drink 8, energy 9. You carry: wood 2, wood_pickaxe 1.
Last step: do, failed (too_few_participants). coal@31,41: short, need 2, participation 1, \
spatial 1, temporal 1, dependency 1 of 2.
View, rows 28-34, columns 36-44:
....TT...
...TT....
..SSSS...
..,,0C,S.
..SSSS1..
...~~~...
...~~~.c.
. grass , path : sand ~ water T tree S stone C coal I iron D diamond L lava B table F furnace \
c cow z zombie k skeleton p plant P ripe; digit: last digit of an agent; blank: outside
Team: agent_1 at (32,42). Not in view: agent_2.
In view:
- stone@30,40: 0 steps; 1 agent with wood_pickaxe (you have it); 15 a unit
- coal@31,41: 0 steps; 2 agents with wood_pickaxe (you have it); 75 a unit
- stone@32,40: 0 steps; 1 agent with wood_pickaxe (you have it); 15 a unit
- tree@29,39: 6 steps; 1 agent; 1 a unit
- water@33,39: 6 steps; 1 agent
- water@34,39: 7 steps; 1 agent
- tree@28,40: 8 steps; 1 agent; 1 a unit
- cow_4: no known path; 1 agent
Remembered: table@36,38, 7 steps.
Craft here: nothing. Next: stone_pickaxe needs stone 1 more and a table."""

GOLDEN_JSON = json.loads("""
{"world": "macrafter-v1", "step": 12, "max_steps": 200, "score": 6,
 "self": {"id": "agent_0", "cell": [31, 40], "facing": "right", "asleep": false,
          "vitals": {"health": 9, "food": 9, "drink": 8, "energy": 9},
          "inventory": {"wood": 2, "wood_pickaxe": 1},
          "last": {"action": "do", "outcome": "failed", "reason": "too_few_participants",
                   "harm": [],
                   "attempt": {"task": "coal@31,41", "result": "short", "need": 2,
                               "participation": 1, "spatial": 1, "temporal": 1, "dependency": 1,
                               "dependency_need": 2, "members": 1,
                               "unmet": ["participation", "spatial", "temporal", "dependency"]}}},
 "view": {"top_left": [28, 36],
          "rows": ["....TT...", "...TT....", "..SSSS...", "..,,0C,S.", "..SSSS1..", "...~~~...",
                   "...~~~.c."]},
 "team": [{"id": "agent_1", "cell": [32, 42]}, {"id": "agent_2", "cell": null}],
 "craft": {"here": [], "next": {"item": "stone_pickaxe", "missing": {"stone": 1},
                                "stations": ["table"]}}}
""")
FIRST_TARGET = {
    "id": "stone@30,40",
    "cell": [30, 40],
    "steps": 0,
    "agents": 1,
    "tool": "wood_pickaxe",
    "you_have_tool": True,
    "unit_score": 15,
    "in_view": True,
}


@pytest.fixture
def golden():
    """A 64 x 64 meadow with the drawn view in it, after a lone try at the coal."""
    rows = [["."] * 64 for _ in range(64)]
    for r, line in enumerate(VIEW.split()):
        for c, letter in enumerate(line):
            rows[28 + r][36 + c] = letter
    rows[36][38] = "B"
    rows[0][:5] = "2cccc"
    drawing = "\n".join("".join(row) for row in rows)
    world = Drawn(drawing, active_radius=2)
    world.give(0, "right", wood=2, wood_pickaxe=1, drink=8)
    world.state.step[0], world.state.score[0] = 11, 6
    world.step({0: "do"})
    world.show(0, (36, 38), "table")
    world.show(0, (35, 37), "grass")
    return world


def test_golden_text(golden):
    assert golden.text.describe(golden.state, 0, 6000) == GOLDEN


def test_golden_data(golden):
    view = golden.text.view(golden.state, 0)
    targets = view.pop("targets")
    assert view == GOLDEN_JSON
    assert targets[0] == FIRST_TARGET
    assert [target["id"] for target in targets] == [
        *re.findall(r"^- (\S+):", GOLDEN, re.M)[:6],
        "table@36,38",
        "tree@28,40",
        "cow_4",
    ]
    assert list(view) == list(GOLDEN_JSON)
    assert json.loads(json.dumps(view)) == view


def test_past_the_limit_remembered_things_go_first_then_the_farthest(golden):
    full = len(GOLDEN)
    texts = [golden.text.describe(golden.state, 0, limit) for limit in range(full + 5)]
    assert all(len(text) <= limit for limit, text in enumerate(texts))
    assert texts[full] == GOLDEN
    shorter = texts[full - 1]
    assert "Remembered: (1 more left out)." in shorter and "cow_4" in shorter
    everything = re.findall("^- (.*)$", GOLDEN, re.M)
    for limit in range(720, full - 1):
        shown = re.findall("^- (.*)$", texts[limit], re.M)
        assert shown == everything[: len(shown)], f"limit {limit}: {shown}"
        if len(shown) < len(everything):
            assert f"({len(everything) - len(shown)} more in view left out)" in texts[limit]
            assert "Remembered: (1 more left out)." in texts[limit]
    assert re.search(r"\(\d+ lines left out\)", golden.text.describe(golden.state, 0, 250))


def test_three_trees_are_all_in_the_map_and_the_nearest_two_in_the_list():
    world = Drawn("""
        T....
        ..0.T
        T....
        """)
    text = world.text.describe(world.state, 0, 6000)
    rows = text.split("legend")[0].split("\n")
    assert (
        sum(
            line.count("T")
            for line in rows[rows.index("View, rows -2 to 4, columns -2 to 6:") :][1:8]
        )
        == 3
    )
    assert re.findall(r"^- (tree@\S+):", text, re.M) == ["tree@1,4", "tree@0,0"]


def test_no_compass_word_outside_the_actions():
    compass = re.compile(r"\b(north|south|east|west|northeast|north-east)\w*\b", re.I)
    config = configure("survival")
    table = load_table(config)
    rules, text = MacrafterRules(config, table), MacrafterText(config, table)
    state = rules.reset(5)
    chance = np.random.default_rng(0)
    for _ in range(60):
        rules.step(state, chance.integers(0, 17, (1, 3)).astype(np.int32))
        for agent in rules.living(state):
            found = compass.findall(text.describe(state, agent, 6000))
            assert not found, found
    assert not compass.findall(text.manual())


def test_ids_never_name_what_was_not_seen():
    config = configure("paper")
    table = load_table(config)
    rules, text = MacrafterRules(config, table), MacrafterText(config, table)
    state = rules.reset(11)
    chance = np.random.default_rng(1)
    for _ in range(40):
        rules.step(state, chance.integers(0, 17, (1, 3)).astype(np.int32))
    for agent in range(3):
        known = state.known[0, agent]
        words = text.describe(state, agent, 6000) + json.dumps(text.sheet(state, agent))
        words = re.sub("^Last step.*$", "", words, flags=re.M)
        for name, row, column in re.findall(r"([a-z]+)@(\d+),(\d+)", words):
            seen = MATERIALS[known[int(row), int(column)]]
            assert seen == name, f"{name}@{row},{column} named, {seen} seen"


@pytest.mark.parametrize("preset", ["paper", "survival"])
def test_text_and_data_ignore_what_lies_outside_knowledge(preset):
    """Only the cells and creatures an agent has seen can change what it reads."""
    config = configure(preset, navigation="known", agents=3)
    table = load_table(config)
    rules, text = MacrafterRules(config, table), MacrafterText(config, table)
    state = rules.reset(2)
    chance = np.random.default_rng(3)
    for _ in range(25):
        rules.step(state, chance.integers(0, 17, (1, 3)).astype(np.int32))
    agent = rules.living(state)[0]
    before = (text.describe(state, agent, 6000), text.view(state, agent), text.sheet(state, agent))
    hidden = state.known[0, agent] == 0
    state.material[0][hidden] = chance.integers(1, 13, int(hidden.sum()))
    for other in rules.living(state):
        row = state.agent_cell[0, other, 0]
        if other != agent and abs(row - state.agent_cell[0, agent, 0]) > 3:
            state.inventory[0, other] += 1
    after = (text.describe(state, agent, 6000), text.view(state, agent), text.sheet(state, agent))
    assert before == after


def test_sheet_fits_its_bound_and_names_the_best_kinds(golden):
    sheet = golden.text.sheet(golden.state, 0)
    assert sheet == {
        "id": "agent_0",
        "cell": [31, 40],
        "last": "too_few_participants",
        "vitals": [9, 9, 8, 9],
        "holdings": {"wood": 2, "wood_pickaxe": 1},
        "tasks": ["stone@30,40", "coal@31,41", "tree@29,39"],
    }
    for item in ITEMS[4:]:
        golden.give(0, **{item: 20})
    full = golden.text.sheet(golden.state, 0)
    assert len(json.dumps(full)) <= 300
    assert full["tasks"] == []


def test_first_step_has_no_last_step():
    world = Drawn("0..")
    assert "Last step" not in world.text.describe(world.state, 0, 6000)
    assert world.text.view(world.state, 0)["self"]["last"] is None


def test_last_action_is_told_from_the_records():
    world = Drawn("""
        .0T1.
        .....
        """)
    world.give(0, "right", wood=3)
    acts = [
        ("noop", "noop, idle."),
        ("do", "do, done."),
        ("move_left", "move_left, done."),
        ("move_up", "move_up, failed (wall)."),
        ("place_table", "place_table, failed (out_of_bounds)."),
        ("make_wood_pickaxe", "make_wood_pickaxe, failed (no_station)."),
        ("sleep", "sleep, failed (not_tired)."),
        ("share", "share, failed (no_arguments)."),
    ]
    for action, words in acts:
        world.step({0: action})
        text = world.text.describe(world.state, 0, 6000)
        assert f"Last step: {words}" in text, text.split("\n")[2]
    world.step({0: "share"}, arguments={0: (1, ITEMS.index("wood"), 2)})
    assert "Last step: share, done." in world.text.describe(world.state, 0, 6000)


@pytest.mark.parametrize("preset", ["paper", "paper-6", "survival", "solo"])
def test_manual_is_short_and_names_every_row(preset):
    config = configure(preset)
    table = load_table(config)
    manual = manual_text(config, table)
    assert len(manual) < 6000, len(manual)
    for row in table.collect.values():
        if row.source != "grass" or config.plants:
            people = "1 agent" if row.agents == 1 else f"{row.agents} agents"
            assert f"{row.source} gives {row.gives} {row.amount}, {people}" in manual
    for name in (*table.make, *("stone", "table", "furnace")):
        assert f"{name} (" in manual


def test_every_reason_has_a_sentence():
    text = Drawn("0..").text
    verbs = [
        "unknown_reference", "timeout", "blocked", "no_path", "target_lost", "nothing_unknown",
        "lava_ahead", "no_place", "station_busy", "unknown_verb", "missing_argument",
        "extra_argument", "bad_argument",
    ]  # fmt: skip
    for code in (*REASONS, *verbs):
        assert text.reasons[code].endswith("."), code
        fields = {name for _, name, _, _ in string.Formatter().parse(text.reasons[code]) if name}
        assert fields <= {
            "need", "participation", "tool", "reference", "steps", "target", "verb", "field",
            "value", "limits",
        }, f"{code}: {fields}"  # fmt: skip


def test_asleep_an_agent_sees_its_own_cell_only():
    world = Drawn("""
        .T.
        .01
        ...
        """)
    world.give(0, energy=5)
    world.step({0: "sleep"})
    view = world.text.view(world.state, 0)
    assert "".join(view["view"]["rows"]).split() == ["0"]
    assert view["team"] == [{"id": "agent_1", "cell": None}]
    assert [target["in_view"] for target in view["targets"]] == [False]
    assert "asleep" in world.text.describe(world.state, 0, 6000)


def test_daylight_is_told_where_it_changes():
    day = Drawn("0..", day_night=True)
    day.step({})
    light = int(100 * day.state.light[0])
    assert f"Daylight: {light} of 100." in day.text.describe(day.state, 0, 6000)
    assert day.text.view(day.state, 0)["self"]["light"] == light
    assert "Daylight" not in Drawn("0..").text.describe(Drawn("0..").state, 0, 6000)
