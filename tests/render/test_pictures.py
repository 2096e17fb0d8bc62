"""Pictures: what they show, that they depend on the moment alone, and that they change nothing."""

import copy
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from synthetic import CubePlay, MacrafterPlay

from cognitive.errors import ConfigError, RecordError
from render.frames import MapPainter, fitting_size, marks_of
from render.looks import Camera, look_of
from render.replay import open_run
from render.sprites import IDENTITY_COLORS, STAGE_COLORS, cut, ink, text_width
from render.story import Story
from worlds.errors import UnknownWorld


def parts(color: str) -> list[int]:
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]


def test_a_redrawn_step_equals_the_frame_drawn_live(run):
    """Any step of a recording looks as it looked while it played, in any order of asking."""
    for play in (CubePlay(3, 40, 1), MacrafterPlay(4, 40, 2, side=32)):
        if play.world == run.frames.world:
            break
    play.play()
    live = MapPainter(play.world, play.legend, play.frames[0], 12)
    story = Story.of(play.events.lines)
    shown = [live.draw(play.frames[step], marks_of(story, step)).copy() for step in range(41)]
    for step in (40, 0, 13, 12, 13, 39, 4, 31):
        assert np.array_equal(run.canvas(step, 12, "map", None), shown[step]), f"step {step}"


def test_what_was_drawn_before_leaves_no_trace(run):
    for step in (4, 13, 14, 15, 22, 40):
        used = run.canvas(step, 10, "map", 1).copy()
        fresh = open_run(run.folder).canvas(step, 10, "map", 1)
        assert np.array_equal(used, fresh), f"step {step}"


def test_the_second_of_two_episodes_is_drawn_as_if_it_were_the_first():
    """After a reset the picture is that of the new world (field case 21)."""
    first, second = CubePlay(3, 0, 1), CubePlay(3, 0, 9)
    painter = MapPainter("cube-v1", {}, first.layers(), 12)
    painter.draw(first.layers())
    again = painter.draw(second.layers()).copy()
    fresh = MapPainter("cube-v1", {}, second.layers(), 12).draw(second.layers())
    assert np.array_equal(again, fresh)


def test_drawing_changes_no_byte_of_what_it_draws(run):
    layers = run.redraw(13)
    before = {name: array.tobytes() for name, array in layers.items()}
    story = copy.deepcopy(run.story.plans)
    painter = MapPainter(run.frames.world, run.frames.legend, layers, 9)
    painter.draw(layers, marks_of(run.story, 13, 1))
    assert {name: array.tobytes() for name, array in layers.items()} == before
    assert run.story.plans == story


def test_pictures_need_no_display_and_hold_colours():
    """In a process without any display: at least 6 colours, agents differ from the ground."""
    folder = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r})\n"
        "import numpy as np\nfrom synthetic import *\nfrom render.frames import MapPainter\n"
        "for play in (CubePlay(3, 0, 1), MacrafterPlay(3, 0, 1, side=32)):\n"
        "    layers = play.layers()\n"
        "    painter = MapPainter(play.world, play.legend, layers, 16)\n"
        "    picture = painter.draw(layers)\n"
        "    bare = dict(layers, agent_cell=np.full_like(layers['agent_cell'], -1))\n"
        "    ground = MapPainter(play.world, play.legend, bare, 16).draw(bare)\n"
        "    differ = []\n"
        "    for row, column in layers['agent_cell'].tolist():\n"
        "        cell = np.s_[row * 16 : row * 16 + 16, column * 16 : column * 16 + 16]\n"
        "        differ.append(int((picture[cell] != ground[cell]).sum()))\n"
        "    print(len(np.unique(picture)), min(differ), 'pygame' in sys.modules)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    for line in done.stdout.splitlines():
        colors, pixels, has_pygame = line.split()
        assert int(colors) >= 6, line
        assert int(pixels) > 60, line
        assert has_pygame == "False", line


def test_agents_up_to_twenty_have_colours_of_their_own():
    assert len(set(IDENTITY_COLORS)) == 20
    cells = np.array([[1 + 2 * (a // 5), 1 + 2 * (a % 5)] for a in range(20)], np.int16)
    layers = CubePlay(3, 0, 1, weights=()).layers() | {"agent_cell": cells}
    painter = MapPainter("cube-v1", {}, layers, 40)
    picture = painter.draw(layers)
    painter.draw(layers)
    for agent, (row, column) in enumerate(cells.tolist()):
        cell = picture[row * 40 : row * 40 + 40, column * 40 : column * 40 + 40]
        own = [other for other in range(20) if (cell == ink(IDENTITY_COLORS[other])).sum() > 50]
        assert own == [agent], f"agent {agent} shows the colours of {own}"


def test_agents_of_one_colour_are_told_apart_by_their_id():
    cells = np.full((42, 2), -1, np.int16)
    layers = CubePlay(3, 0, 1, weights=()).layers() | {"agent_cell": cells}
    painter = MapPainter("cube-v1", {}, layers, 32)
    seen = []
    for agent in (1, 21, 41):
        cells[:] = -1
        cells[agent] = (3, 3)
        seen.append(painter.draw(layers).copy())
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[1], seen[2])


@pytest.mark.parametrize("stage", list(STAGE_COLORS))
def test_the_stage_of_an_agent_is_seen_at_every_size(run, stage):
    layers = run.redraw(0)
    marks = marks_of(run.story, 0)._replace(
        stages=(stage,) * run.agents, plans=(), messages=(), channels=()
    )
    for size in (4, 8, 16, 40):
        painter = MapPainter(run.frames.world, run.frames.legend, layers, size)
        picture = painter.draw(layers, marks)
        row, column = layers["agent_cell"][0].tolist()
        cell = picture[row * size : (row + 1) * size, column * size : (column + 1) * size]
        assert (cell == ink(STAGE_COLORS[stage])).sum() >= 2, f"stage {stage}, size {size}"


def test_plans_messages_and_channels_leave_their_marks(run):
    step = run.story.channels[1].step
    layers = run.redraw(step)
    painter = MapPainter(run.frames.world, run.frames.legend, layers, 16)
    marks = marks_of(run.story, step)
    assert marks.plans and marks.messages and marks.channels
    whole = painter.draw(layers, marks).copy()
    for name in ("plans", "messages", "channels"):
        less = painter.draw(layers, marks._replace(**{name: ()}))
        assert (whole != less).sum() > 40, f"{name} are not seen"


def test_a_part_of_the_map_equals_that_part_of_the_whole():
    play = MacrafterPlay(4, 0, 2, side=32)
    layers = play.layers()
    layers["agent_cell"][:] = [[5, 5], [9, 20], [20, 9], [12, 12]]
    whole = MapPainter(play.world, play.legend, layers, 8).draw(layers).copy()
    painter = MapPainter(play.world, play.legend, layers, 8)
    painter.aim(Camera(4, 8, 12, 16, 8))
    assert np.array_equal(painter.draw(layers)[8:-8], whole[32:128, 64:192][8:-8])


def test_night_is_darker_than_day():
    play = MacrafterPlay(2, 0, 2, side=32)
    means = []
    for light in (100, 50, 0):
        layers = play.layers() | {"light": np.array([light], np.uint8)}
        picture = MapPainter(play.world, play.legend, layers, 8).draw(layers)
        means.append(picture.view(np.uint8).reshape(-1, 4)[:, :3].mean())
    assert means[0] > means[1] > means[2], means


def test_tasks_are_found_where_they_are():
    play = CubePlay(3, 0, 1)
    layers = play.layers()
    look = look_of("cube-v1", {}, layers)
    row, column = layers["block_cell"][6].tolist()
    target = look.target(layers, "block_6_left")
    assert target.area == (row, column, 3, 3)
    assert target.push == (0, 1)
    assert target.slots == tuple((row + k, column - 1) for k in range(3))
    down = look.target(layers, "block_6_down")
    assert down.slots == tuple((row + 3, column + k) for k in range(3) if row + 3 < 15)
    for unknown in ("block_99_left", "block_6_north", "none", "", "coal@3,4", "agent_7"):
        assert look.target(layers, unknown) is None, unknown
    look = look_of("macrafter-v1", MacrafterPlay.legend, MacrafterPlay(2, 0, 1).layers())
    layers = MacrafterPlay(2, 0, 1).layers()
    assert look.target(layers, "coal@3,4").area == (3, 4, 1, 1)
    for unknown in ("coal@64,0", "coal@x,0", "cow_7", "coal@1"):
        assert look.target(layers, unknown) is None, unknown


def test_cells_grow_with_the_room_there_is():
    assert fitting_size(15, 15, 1024, 1024) == 64
    assert fitting_size(64, 64, 1024, 1024) == 16
    assert fitting_size(256, 256, 1024, 1024) == 4
    assert fitting_size(5000, 10, 1024, 1024) == 1


def test_a_crowd_is_drawn_with_all_its_agents(crowd_folder):
    run = open_run(crowd_folder)
    layers = run.redraw(5)
    painter = MapPainter(run.frames.world, run.frames.legend, layers, 4)
    marks = marks_of(run.story, 5)._replace(plans=(), messages=(), channels=())
    picture = painter.draw(layers, marks)
    for agent, (row, column) in enumerate(layers["agent_cell"].tolist()):
        cell = picture[row * 4 : row * 4 + 4, column * 4 : column * 4 + 4]
        color = ink(STAGE_COLORS[marks.stages[agent]])
        assert (cell == color).any(), f"agent {agent} at {row},{column}"


def test_text_is_cut_to_its_room():
    for room in (0, 5, 12, 40, 100, 1000):
        for text in ("navigate(target=coal@31,41)", "", "WWWW iiii", "日本"):
            assert text_width(cut(text, room)) <= max(room, text_width("…")), (text, room)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"panel": "side"}, 'panel = "side": allowed map, full'),
        ({"scale": 0}, "scale = 0: allowed 1 to 256"),
        ({"chosen": 9}, "agent = 9: allowed 0 to"),
    ],
)
def test_bad_wishes_are_named(run, arguments, says):
    with pytest.raises(ConfigError, match=says):
        run.picture(0, **arguments)


def test_a_step_outside_the_run_is_named(run):
    with pytest.raises(RecordError, match="step 41: there are frames of steps 0 to 40"):
        run.picture(41)


def test_a_world_nobody_has_drawn_is_named():
    with pytest.raises(UnknownWorld, match='no pictures of world "maze-v1"; drawn are: cube'):
        look_of("maze-v1", {}, {})


def test_equal_runs_give_equal_pictures_in_every_process(cube_folder):
    code = (
        "import sys, hashlib\nfrom render.replay import open_run\n"
        "run = open_run(sys.argv[1])\n"
        "for panel in ('map', 'full'):\n"
        "    print(hashlib.sha256(run.picture(13, 16, panel).tobytes()).hexdigest())\n"
    )
    environment = dict(os.environ, PYTHONHASHSEED="7")
    done = subprocess.run(
        [sys.executable, "-c", code, str(cube_folder)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    run = open_run(cube_folder)
    here = [
        hashlib.sha256(run.picture(13, 16, panel).tobytes()).hexdigest()
        for panel in ("map", "full")
    ]
    assert done.stdout.split() == here
