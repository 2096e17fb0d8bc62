"""The window: a recorded run to walk through, or a run as it plays.

All that is shown is drawn by the dashboard; pygame shows it and says which keys were pressed.
A window only looks, and passes on what a person types who plays an agent: closing it, or losing
the display, leaves the run as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from numpy import ndarray

from cognitive.errors import ConfigError, MissingPrerequisite
from render.panels import Dashboard, View
from render.replay import FrameEncoder, Frames, open_run
from render.story import Story
from render.video import png_bytes
from worlds.api import Json

__all__ = ["LiveWindow", "Viewer", "show_run"]

SHAPE = (800, 1280)
SMALLEST = (360, 640)
FRAMES_PER_SECOND = 60
SPEEDS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 60)
FOLLOW_ZOOM = 32
ZOOMS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
LONG_STEP = 10
PAGE = 10
MOST_TYPED = 2000
LIVE_PAUSE_MS = 30
"""A live window draws again after this many ms at the earliest, so that it costs little."""


class Viewer:
    """What is looked at and how; keys and clicks change it. Knows nothing of a window."""

    def __init__(self, story: Story, frames: Frames, title: str, save_to: Path) -> None:
        """save_to: folder for pictures saved with the key s."""
        self.story = story
        self.frames = frames
        self.view = View()
        self.is_open = True
        self.is_live = False
        self._save_to = save_to
        self._shape = SHAPE
        self._title = title
        self._board: Dashboard | None = None
        self._dragged: tuple[int, int] | None = None

    @property
    def last(self) -> int:
        """The last step that can be shown."""
        return min(self.frames.steps, self.story.steps)

    def draw(self) -> ndarray:
        """The picture of now: [height, width] uint32, overwritten by the next call."""
        layers = self.frames.redraw(self.view.step)
        if self._board is None:
            self._board = Dashboard(
                self.story,
                self.frames.world,
                self.frames.legend,
                layers,
                self._shape,
                self._title,
            )
        return self._board.draw(layers, self.view)

    def resize(self, height: int, width: int) -> None:
        """The window has another size."""
        self._shape = (max(SMALLEST[0], height), max(SMALLEST[1], width))
        if self._board is not None:
            self._board.resize(*self._shape)

    def advance(self) -> None:
        """One step further while playing; stops at the end, unless more is coming."""
        if self.view.step < self.last:
            self.view.step += 1
        elif not self.is_live:
            self.view.is_playing = False

    # --- answers of a person ---

    def ask(self, text: str) -> None:
        """Show a question until a line is typed."""
        self.view.question, self.view.typed, self.view.scroll = text, "", 0

    def type(self, key: str, text: str) -> str | None:
        """A key pressed while a question is open; the line once it is sent."""
        view = self.view
        if key in ("return", "enter") and view.typed.strip():
            line, view.question = view.typed, ""
            return line
        if key == "backspace":
            view.typed = view.typed[:-1]
        elif key in ("page up", "page down"):
            view.scroll = max(0, view.scroll + (PAGE if key == "page up" else -PAGE))
        elif text.isprintable():
            view.typed = (view.typed + text)[:MOST_TYPED]
        return None

    # --- keys ---

    def press(self, key: str, shift: bool = False) -> None:
        """A key by its name; unknown ones do nothing."""
        self.view.notice = ""
        action = _KEYS.get(key)
        if action is not None:
            action(self, shift)

    def go(self, step: int) -> None:
        """Show a step, the nearest there is; what plays stops."""
        self.view.step = max(0, min(self.last, step))
        self.view.is_playing = False

    def _play(self, shift: bool) -> None:
        if not self.view.is_playing and self.view.step >= self.last and not self.is_live:
            self.view.step = 0
        self.view.is_playing = not self.view.is_playing

    def _back(self, shift: bool) -> None:
        self.go(self.view.step - (LONG_STEP if shift else 1))

    def _on(self, shift: bool) -> None:
        self.go(self.view.step + (LONG_STEP if shift else 1))

    def _faster(self, shift: bool) -> None:
        self.view.speed = next((s for s in SPEEDS if s > self.view.speed), SPEEDS[-1])

    def _slower(self, shift: bool) -> None:
        self.view.speed = next((s for s in SPEEDS[::-1] if s < self.view.speed), SPEEDS[0])

    def _next_agent(self, shift: bool) -> None:
        self.view.chosen = (self.view.chosen + (-1 if shift else 1)) % max(1, self.story.agents)

    def _next_mark(self, shift: bool) -> None:
        """The next repair, failed plan or score, from the start again after the last."""
        marks = [(channel.step, f"repair {channel.label}") for channel in self.story.channels]
        marks += [(step, f"agent {agent}: {text}") for step, agent, text in self.story.failures]
        marks += [
            (score.step, f"score {score.total:g}: {score.task}") for score in self.story.scores
        ]
        marks = sorted(mark for mark in marks if mark[0] <= self.last)
        if marks:
            later = [mark for mark in marks if mark[0] > self.view.step]
            step, self.view.notice = later[0] if later else marks[0]
            self.go(step)

    def _save(self, shift: bool) -> None:
        path = self._save_to / f"step-{self.view.step:04d}.png"
        try:
            path.write_bytes(png_bytes(self.draw()))
            self.view.notice = f"saved {path.name}"
        except OSError as error:
            self.view.notice = f"not saved: {error.strerror}"

    def _close(self, shift: bool) -> None:
        self.is_open = False

    # --- mouse ---

    def click(self, y: int, x: int) -> None:
        """On the lanes: jump. On an agent of the map: choose it. Else the map can be dragged."""
        self._dragged = None
        board = self._board
        if board is None:
            return
        if board.layout.lanes.holds(y, x):
            self.go(board.lanes.step_at(x))
        elif board.map_box.holds(y, x):
            box = board.map_box
            layers = self.frames.redraw(self.view.step)
            agent = board.painter.agent_at(layers, y - box.top, x - box.left)
            self._dragged = (y, x)
            if agent is not None:
                self.view.chosen = agent

    def drag(self, y: int, x: int) -> None:
        """Move the map along, by whole cells."""
        if self._dragged is None or self._board is None:
            return
        camera = self._board.painter.camera
        rows, columns = (
            (old - new) // camera.size for old, new in zip(self._dragged, (y, x), strict=True)
        )
        if rows or columns:
            self.view.follows = False
            self.view.corner = (camera.row + rows, camera.column + columns)
            self._dragged = (
                self._dragged[0] - rows * camera.size,
                self._dragged[1] - columns * camera.size,
            )

    def release(self) -> None:
        """The mouse button is up."""
        self._dragged = None

    def wheel(self, y: int, x: int, turns: int) -> None:
        """Zoom around the cell under the mouse."""
        board = self._board
        if board is None or not board.layout.map.holds(y, x):
            return
        camera, box = board.painter.camera, board.map_box
        larger = [zoom for zoom in ZOOMS if zoom > camera.size]
        smaller = [zoom for zoom in ZOOMS if zoom < camera.size]
        if turns > 0 and larger:
            zoom = larger[0]
        elif turns < 0 and smaller:
            zoom = smaller[-1]
        else:
            return
        below = (
            camera.row + (y - box.top) // camera.size,
            camera.column + (x - box.left) // camera.size,
        )
        self.view.zoom = zoom
        self.view.corner = (
            below[0] - (y - board.layout.map.top) // zoom,
            below[1] - (x - board.layout.map.left) // zoom,
        )


def _messages(viewer: Viewer, shift: bool) -> None:
    viewer.view.has_messages = not viewer.view.has_messages


def _plans(viewer: Viewer, shift: bool) -> None:
    viewer.view.has_plans = not viewer.view.has_plans


def _repair(viewer: Viewer, shift: bool) -> None:
    viewer.view.has_repair = not viewer.view.has_repair


def _follow(viewer: Viewer, shift: bool) -> None:
    """Following wants a map larger than its room: the first time it zooms in."""
    view = viewer.view
    view.follows = not view.follows
    if view.follows and view.zoom is None:
        view.zoom = FOLLOW_ZOOM


def _grid(viewer: Viewer, shift: bool) -> None:
    viewer.view.has_grid = not viewer.view.has_grid


def _help(viewer: Viewer, shift: bool) -> None:
    viewer.view.has_help = not viewer.view.has_help


_KEYS: Mapping[str, Callable[[Viewer, bool], None]] = {
    "space": Viewer._play,
    "left": Viewer._back,
    "right": Viewer._on,
    "+": Viewer._faster,
    "=": Viewer._faster,
    "-": Viewer._slower,
    "home": lambda viewer, shift: viewer.go(0),
    "end": lambda viewer, shift: viewer.go(viewer.last),
    "tab": Viewer._next_agent,
    "m": _messages,
    "p": _plans,
    "r": _repair,
    "n": Viewer._next_mark,
    "f": _follow,
    "g": _grid,
    "h": _help,
    "s": Viewer._save,
    "q": Viewer._close,
    "escape": Viewer._close,
}


# --- pygame --------------------------------------------------------------------------------------


class _Screen:
    """A pygame window that shows a viewer and passes on what is pressed."""

    def __init__(self, viewer: Viewer, title: str) -> None:
        """Raises MissingPrerequisite without pygame or without a display."""
        self._pygame = _pygame()
        self._viewer = viewer
        try:
            self._pygame.display.init()
            height, width = SHAPE
            flags = self._pygame.RESIZABLE
            self._surface = self._pygame.display.set_mode((width, height), flags)
        except self._pygame.error as error:
            raise MissingPrerequisite(
                f"the window needs a display ({error}); without one: cooplab export, or set "
                "SDL_VIDEODRIVER=dummy"
            ) from error
        self._pygame.display.set_caption(f"cooplab: {title}")
        self._pygame.key.set_repeat(300, 50)
        self._clock = self._pygame.time.Clock()
        self.sent: list[str] = []
        """Lines that a person typed."""

    def show(self) -> None:
        """Draw the viewer's picture into the window."""
        canvas = self._viewer.draw()
        height, width = canvas.shape
        picture = self._pygame.image.frombuffer(canvas, (width, height), "RGBA")
        self._surface.blit(picture, (0, 0))
        self._pygame.display.flip()

    def listen(self) -> bool:
        """Pass on keys and clicks; whether there were any."""
        pygame, viewer, happened = self._pygame, self._viewer, False
        for event in pygame.event.get():
            happened = True
            if event.type == pygame.QUIT:
                viewer.is_open = False
            elif event.type == pygame.KEYDOWN and viewer.view.question:
                line = viewer.type(pygame.key.name(event.key), event.unicode)
                self.sent += [] if line is None else [line]
            elif event.type == pygame.KEYDOWN:
                name = event.unicode if event.unicode in ("+", "-", "=") else None
                shift = bool(event.mod & pygame.KMOD_SHIFT)
                viewer.press(name or pygame.key.name(event.key).strip("[]"), shift)
            elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
                viewer.click(event.pos[1], event.pos[0])
            elif event.type == pygame.MOUSEBUTTONUP:
                viewer.release()
            elif event.type == pygame.MOUSEMOTION and event.buttons[0]:
                viewer.drag(event.pos[1], event.pos[0])
            elif event.type == pygame.MOUSEWHEEL:
                x, y = pygame.mouse.get_pos()
                viewer.wheel(y, x, event.y)
            elif event.type == pygame.VIDEORESIZE:
                viewer.resize(event.h, event.w)
                self._surface = pygame.display.get_surface()
        return happened

    def tick(self) -> int:
        """Wait for the next picture; ms since the last one."""
        return int(self._clock.tick(FRAMES_PER_SECOND))

    def since(self) -> int:
        """ms since the last call, without waiting; for pacing a live window only."""
        return int(self._clock.tick())

    @property
    def failure(self) -> type[Exception]:
        """What pygame raises when its display is gone."""
        failure: type[Exception] = self._pygame.error
        return failure

    def close(self) -> None:
        self._pygame.display.quit()


def _pygame() -> Any:
    try:
        # It greets on standard output, where only results belong.
        with redirect_stdout(StringIO()):
            import pygame
    except ImportError as error:
        raise MissingPrerequisite("the window needs pygame: pip install 'cooplab[gui]'") from error
    return pygame


def show_run(folder: Path | str, step: int = 0, speed: int = 8) -> None:
    """Open a window on a recorded run and stay until it is closed.

    step: where to begin. speed: steps a second once it plays, 1 to 60.
    Raises RecordError on a damaged folder, ConfigError on a bad step or speed,
    MissingPrerequisite without pygame or a display.
    """
    run = open_run(folder)
    if not 0 <= step <= run.steps:
        raise ConfigError(f"step = {step}: allowed 0 to {run.steps}")
    if not SPEEDS[0] <= speed <= SPEEDS[-1]:
        raise ConfigError(f"speed = {speed}: allowed {SPEEDS[0]} to {SPEEDS[-1]}")
    viewer = Viewer(run.story, run.frames, run.name, Path())
    viewer.view.step = step
    viewer.view.speed = speed
    screen = _Screen(viewer, run.name)
    waited, has_changed = 0.0, True
    try:
        while True:
            has_changed = screen.listen() or has_changed
            if not viewer.is_open:
                return
            if viewer.view.is_playing and waited >= 1000 / viewer.view.speed:
                viewer.advance()
                waited, has_changed = 0.0, True
            if has_changed:
                screen.show()
                has_changed = False
            waited += screen.tick()
    finally:
        screen.close()


class LiveWindow:
    """A sink that shows a run while it plays. Once closed it takes everything and does nothing."""

    def __init__(self, world: str, legend: Json, title: str = "live") -> None:
        """world: its id; legend: its `rules.legend`. Raises MissingPrerequisite."""
        self._encoder = FrameEncoder(world, legend)
        self.viewer = Viewer(Story(), Frames(), title, Path())
        self.viewer.is_live = True
        self.viewer.view.is_playing = True
        self._screen = _Screen(self.viewer, title)
        self._waited = LIVE_PAUSE_MS

    @property
    def is_open(self) -> bool:
        """Whether it still shows anything."""
        return self.viewer.is_open

    def event(self, line: Json) -> None:
        """Take in what happened; keep the window answering."""
        if self.is_open:
            self.viewer.story.take(line)
            self._refresh()

    def frame(self, step: int, layers: Mapping[str, ndarray]) -> None:
        """Take in how the world looks, and show it unless the watcher looks elsewhere."""
        if not self.is_open:
            return
        self.viewer.frames.take(self._encoder.encode(step, layers))
        if self.viewer.view.is_playing:
            self.viewer.view.step = self.viewer.last
        self._refresh()

    def flush(self) -> None:
        """Show the latest."""
        if self.is_open:
            self._refresh()

    def ask(self, text: str) -> None:
        """Show a person what is asked."""
        self.viewer.ask(text)

    async def read_line(self) -> str:
        """The next line typed, with its end; "" once the window is closed."""
        while self.is_open and not self._screen.sent:
            self._refresh()
            await asyncio.sleep(LIVE_PAUSE_MS / 1000)
        return f"{self._screen.sent.pop(0)}\n" if self._screen.sent else ""

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        if self.is_open:
            self.viewer.is_open = False
            self._screen.close()

    def _refresh(self) -> None:
        """Draw, if it is time to. A display that goes away closes the window, not the run."""
        screen, viewer = self._screen, self.viewer
        self._waited += screen.since()
        if self._waited < LIVE_PAUSE_MS or viewer.last < 0 or not viewer.story.start:
            return
        self._waited = 0
        try:
            screen.listen()
            if self.is_open:
                screen.show()
            else:
                screen.close()
        except screen.failure:
            self.viewer.is_open = False
