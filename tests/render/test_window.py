"""The window: every key and click, and that a run goes on whatever becomes of its window."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from synthetic import CubePlay, MacrafterPlay

os.environ["SDL_VIDEODRIVER"] = "dummy"
pygame = pytest.importorskip("pygame", reason="needs cooplab[gui]")

from cognitive.errors import ConfigError, MissingPrerequisite, RecordError  # noqa: E402
from render import window  # noqa: E402
from render.replay import open_run  # noqa: E402
from render.window import LiveWindow, Viewer, show_run  # noqa: E402


@pytest.fixture
def viewer(run, tmp_path) -> Viewer:
    viewer = Viewer(run.story, run.frames, run.name, tmp_path)
    viewer.draw()
    return viewer


def test_keys_walk_through_the_steps(viewer):
    pressed = [("right", 1), ("right", 2), ("left", 1), ("end", 40), ("right", 40), ("home", 0)]
    for key, step in pressed:
        viewer.press(key)
        assert viewer.view.step == step, key
    viewer.press("left")
    viewer.press("right", shift=True)
    assert viewer.view.step == 10
    viewer.press("left", shift=True)
    assert viewer.view.step == 0


def test_space_plays_to_the_end_and_starts_again_there(viewer):
    viewer.go(38)
    viewer.press("space")
    for _ in range(5):
        viewer.advance()
    assert (viewer.view.step, viewer.view.is_playing) == (40, False)
    viewer.press("space")
    assert (viewer.view.step, viewer.view.is_playing) == (0, True)


def test_speed_stays_between_1_and_60(viewer):
    for _ in range(20):
        viewer.press("+")
    assert viewer.view.speed == 60
    for _ in range(20):
        viewer.press("-")
    assert viewer.view.speed == 1


def test_tab_goes_round_all_agents(viewer):
    seen = []
    for _ in range(viewer.story.agents):
        viewer.press("tab")
        seen.append(viewer.view.chosen)
    assert seen == [*range(1, viewer.story.agents), 0]
    viewer.press("tab", shift=True)
    assert viewer.view.chosen == viewer.story.agents - 1


@pytest.mark.parametrize("key", ["m", "p", "r", "g", "h", "f"])
def test_a_toggle_changes_the_picture_and_changes_it_back(viewer, key):
    viewer.go(viewer.story.channels[1].step)
    viewer.view.zoom, viewer.view.corner, viewer.view.follows = 64, (6, 6), key == "g"
    before = viewer.draw().copy()
    viewer.press(key)
    assert not np.array_equal(viewer.draw(), before)
    viewer.press(key)
    assert np.array_equal(viewer.draw(), before)


def test_n_visits_repairs_failures_and_scores_and_begins_anew(viewer):
    story = viewer.story
    due = {channel.step for channel in story.channels} | {step for step, _, _ in story.failures}
    due |= {score.step for score in story.scores}
    due -= {0}
    seen = []
    for _ in due:
        viewer.press("n")
        seen.append(viewer.view.step)
        assert viewer.view.notice
    assert seen == sorted(due)
    viewer.press("n")
    assert viewer.view.step <= seen[0]


def test_a_click_on_an_agent_chooses_it_at_any_zoom(viewer):
    for zoom in (None, 12, 24):
        viewer.view.zoom = zoom
        for agent in range(viewer.story.agents):
            viewer.view.follows, viewer.view.chosen = True, agent
            viewer.draw()
            viewer.view.chosen = -1 % viewer.story.agents
            camera, box = viewer._board.painter.camera, viewer._board.map_box
            row, column = viewer.frames.redraw(viewer.view.step)["agent_cell"][agent].tolist()
            y, x = camera.middle(row, column)
            viewer.click(box.top + int(y), box.left + int(x))
            assert viewer.view.chosen == agent, f"zoom {zoom}"


def test_a_click_on_the_lanes_jumps_there(viewer):
    board = viewer._board
    for step in (0, 7, 23, 40):
        viewer.click(board.layout.lanes.top + 60, board.lanes.x_of(step))
        assert viewer.view.step == step


def test_wheel_zooms_about_the_mouse_and_drag_moves_the_map(viewer):
    board = viewer._board
    y, x = board.map_box.top + 100, board.map_box.left + 100
    for _ in range(3):
        viewer.wheel(y, x, 1)
        viewer.draw()
    camera = board.painter.camera
    assert camera.size > 20
    viewer.click(300, 300)
    viewer.drag(300 - 2 * camera.size, 300 - camera.size)
    viewer.release()
    viewer.draw()
    moved = board.painter.camera
    largest = (board.painter.look.rows - moved.rows, board.painter.look.columns - moved.columns)
    assert moved.row == min(camera.row + 2, largest[0])
    assert moved.column == min(camera.column + 1, largest[1])
    for _ in range(20):
        viewer.wheel(y, x, -1)
        viewer.draw()
    assert board.painter.camera.size == 2


def test_s_saves_the_picture_that_is_shown(viewer, tmp_path):
    viewer.go(13)
    viewer.press("s")
    saved = np.array(Image.open(tmp_path / "step-0013.png"))
    viewer.view.notice = ""
    assert np.array_equal(saved, viewer.draw().view(np.uint8).reshape(800, 1280, 4)[..., :3])


def test_a_smaller_window_still_shows_everything(viewer):
    for height, width in ((700, 1024), (360, 640), (1400, 2400), (10, 10)):
        viewer.resize(height, width)
        shape = viewer.draw().shape
        assert shape == (max(360, height), max(640, width))


def post(*keys: str) -> None:
    for key in keys:
        code = pygame.key.key_code(key)
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, mod=0, unicode=""))


def test_the_window_opens_plays_and_closes(cube_folder, monkeypatch):
    """The real loop under the dummy driver: keys are posted while it waits for the next picture."""
    waits = iter(["right", "n", "h", "tab", "space", *[None] * 30, "q"])
    seen = []

    def tick(self) -> int:
        key = next(waits)
        if key:
            post(key)
        seen.append(self._viewer.view.step)
        return 100

    monkeypatch.setattr(window._Screen, "tick", tick)
    show_run(cube_folder, step=2, speed=12)
    assert seen[0] == 2
    assert seen[-1] > 10
    assert not pygame.display.get_init()


def test_bad_wishes_for_a_window_are_named(cube_folder, tmp_path):
    with pytest.raises(ConfigError, match="step = 41: allowed 0 to 40"):
        show_run(cube_folder, step=41)
    with pytest.raises(ConfigError, match="speed = 61: allowed 1 to 60"):
        show_run(cube_folder, speed=61)
    with pytest.raises(RecordError, match="is no run folder"):
        show_run(tmp_path / "nothing")


def feed(sink: LiveWindow, play) -> None:
    """Hand over events and frames in the order in which the loop does."""
    shown = 0
    for line in play.events.lines:
        if line["e"] == "step":
            sink.frame(shown, play.frames[shown])
            shown += 1
        sink.event(line)
    sink.frame(shown, play.frames[shown])
    sink.flush()


@pytest.mark.parametrize("kind", [CubePlay, MacrafterPlay])
def test_a_live_window_ends_up_showing_what_the_recording_shows(kind, tmp_path, monkeypatch):
    """However often it drew on the way: here after every event."""
    monkeypatch.setattr(window, "LIVE_PAUSE_MS", 0)
    play = kind(agents=3, steps=12, seed=4)
    folder = play.write(tmp_path / "run")
    before = [line.copy() for line in play.events.lines]
    live = LiveWindow(play.world, play.legend, "run")
    feed(live, play)
    assert live.viewer.view.step == 12
    recorded = open_run(folder)
    viewer = Viewer(recorded.story, recorded.frames, "run", tmp_path)
    viewer.view = live.viewer.view
    assert np.array_equal(live.viewer.draw(), viewer.draw())
    assert play.events.lines == before
    live.close()
    live.close()
    assert not live.is_open


def test_a_live_window_that_is_closed_lets_the_run_go_on(monkeypatch):
    play = CubePlay(agents=3, steps=8, seed=4)
    play.play()
    live = LiveWindow(play.world, play.legend)
    monkeypatch.setattr(live._screen, "since", lambda: 100)
    post("q")
    feed(live, play)
    assert not live.is_open
    assert live.viewer.last < 8


def test_a_display_that_goes_away_closes_the_window_not_the_run(monkeypatch):
    play = CubePlay(agents=3, steps=8, seed=4)
    play.play()
    live = LiveWindow(play.world, play.legend)
    monkeypatch.setattr(live._screen, "since", lambda: 100)
    pygame.display.quit()
    feed(live, play)
    assert not live.is_open


def type_line(text: str) -> None:
    codes = [(pygame.key.key_code(letter) if letter.isalnum() else 0, letter) for letter in text]
    for code, letter in [*codes, (pygame.K_RETURN, "\r")]:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, mod=0, unicode=letter))


def test_a_person_types_an_answer_into_the_window(monkeypatch):
    """Keys are letters of the answer while a question is open, and do what they did afterwards."""
    play = CubePlay(agents=3, steps=8, seed=4)
    play.play()
    live = LiveWindow(play.world, play.legend)
    monkeypatch.setattr(live._screen, "since", lambda: 100)
    feed(live, play)
    before = live.viewer.draw().copy()
    live.ask("## question\nWhat now?\n" + "word " * 3000)
    asked = live.viewer.draw().copy()
    side = live.viewer._board.layout.side
    assert (asked != before)[side.top : side.bottom, side.left : side.right].any()
    post("page up", "q", "backspace")
    type_line("quit(2); wait(9)")
    assert asyncio.run(live.read_line()) == "quit(2); wait(9)\n"
    assert live.viewer.view.question == "" and live.is_open
    assert np.array_equal(live.viewer.draw(), before)
    live.ask("And now?")
    live.close()
    assert asyncio.run(live.read_line()) == ""


def test_a_paused_live_window_stays_where_it_is_looked_at(monkeypatch):
    play = CubePlay(agents=3, steps=8, seed=4)
    play.play()
    live = LiveWindow(play.world, play.legend)
    post("space")
    monkeypatch.setattr(live._screen, "since", lambda: 100)
    feed(live, play)
    assert live.viewer.view.step < 8
    assert live.viewer.last == 8
    live.close()


def test_without_pygame_the_install_command_is_told(cube_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingPrerequisite, match=r"pip install 'cooplab\[gui\]'"):
        show_run(cube_folder)


def test_without_a_display_the_window_says_what_is_missing(cube_folder):
    """Field case 54: no display is said plainly; pictures do not need one."""
    code = "import sys; from render.window import show_run; show_run(sys.argv[1])"
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    done = subprocess.run(
        [sys.executable, "-c", code, str(cube_folder)],
        capture_output=True,
        text=True,
        env=environment | {"SDL_VIDEODRIVER": "x11"},
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode != 0
    assert "MissingPrerequisite: the window needs a display" in done.stderr


def test_nothing_is_written_to_standard_output(cube_folder):
    code = (
        "import sys; from render import window\n"
        "window.Viewer.draw, draw = (lambda v: (v.press('q'), draw(v))[1]), window.Viewer.draw\n"
        "window.show_run(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cube_folder)],
        capture_output=True,
        text=True,
        env=dict(os.environ, SDL_VIDEODRIVER="dummy"),
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
