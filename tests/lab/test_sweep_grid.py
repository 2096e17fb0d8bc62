"""What a sweep file means."""

import pytest

from cognitive.errors import ConfigError
from lab import config, grid

SWEEP = """
name = "small"
out = "{out}"
seeds = "0-1"
[base]
world = "cube-v1:quorum"
"budget.steps" = 20
[axes]
topology = ["individual", "chain"]
planner = ["scripted", "bold"]
[planners.bold]
kind = "greedy"
heeds_guidance = true
{more}
"""


def read(tmp_path, more="", text=SWEEP, only=None):
    path = tmp_path / "sweep.toml"
    path.write_text(text.replace("{out}", str(tmp_path / "out")).replace("{more}", more))
    return grid.read_sweep(str(path), None, only or {})


def test_runs_come_in_the_order_of_the_axes_seed_fastest(tmp_path):
    labels = [tuple(run.labels.values()) for run in read(tmp_path).runs]
    assert labels == [
        (topology, planner, seed)
        for topology in ("individual", "chain")
        for planner in ("scripted", "bold")
        for seed in "01"
    ]


def test_each_run_has_its_own_whole_config(tmp_path):
    runs = read(tmp_path).runs
    assert len({run.key for run in runs}) == 8
    assert all(config.resolve(config.reopened(run.config)) == run.config for run in runs)


def test_skips_match_every_key_and_only_keeps(tmp_path):
    more = '[[skip]]\nplanner = "bold"\ntopology = ["chain"]\nseed = 1\n'
    assert len(read(tmp_path, more).runs) == 7
    assert len(read(tmp_path, more, only={"planner": ("bold",)}).runs) == 3


@pytest.mark.parametrize("name", config.preset_names("sweep"))
def test_every_sweep_preset_gives_runs_with_keys_of_their_own(name):
    runs = grid.read_sweep(name, None, {}).runs
    assert len({run.key for run in runs}) == len(runs) > 1


def test_the_demo_plays_four_teams_in_cube_and_one_in_macrafter():
    runs = [tuple(run.labels.values()) for run in grid.read_sweep("demo", None, {}).runs]
    assert len(runs) == 4 * 8 + 2, runs


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"chain"', '"star"', 'sweep.toml: [axes] topology[1] = "star": allowed: individual, '),
        ('"bold"]', '"bald"]', 'sweep.toml: [axes] planner[1] = "bald": allowed '),
        ("[axes]", "[axis]", 'sweep.toml: unknown setting "axis"; a sweep has: name, out, seeds'),
        ('"0-1"', '"0-x"', 'sweep.toml: seeds = "0-x": allowed a list, or ranges as "0-4,7"'),
        ('"0-1"', "[1, 1]", "sweep.toml: seeds = [1, 1]: allowed 0 to 9223372036854775807, each"),
        ("20", "-20", "sweep.toml: budget.steps = -20: allowed 0 to"),
        ("[base]", "[base", "sweep.toml: "),
    ],
)
def test_a_bad_sweep_names_file_and_place(tmp_path, old, new, says):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, text=SWEEP.replace(old, new))
    assert str(raised.value).startswith(says), raised.value


def test_a_sweep_that_skips_everything_is_an_error(tmp_path):
    more = '[[skip]]\nplanner = ["scripted", "bold"]\n'
    with pytest.raises(ConfigError, match=r"sweep\.toml: the axes give 0 runs \(\[\[skip\]\]"):
        read(tmp_path, more)


def test_two_runs_with_one_key_are_an_error(tmp_path):
    text = SWEEP.replace('["individual", "chain"]', '["chain", "broadcast_chain"]')
    with pytest.raises(ConfigError, match="two runs have the key cube-quorum_chain"):
        read(tmp_path, text=text)
