"""Everything around the map: the chosen agent, the repair channel, the lanes of all stages.

A dashboard puts them together into one picture; window and video show the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import NamedTuple

from numpy import ndarray

from render.canvas import Box, Brush, new_canvas, readable_on
from render.frames import MapPainter, fitting_size, marks_of
from render.lanes import Lanes
from render.looks import Camera, by_number
from render.sprites import (
    REPAIR_COLOR,
    STAGE_COLORS,
    cut,
    identity,
    item_icon,
    text_width,
)
from render.story import CONSTRAINTS, ChannelRecord, MessageRecord, PlanRecord, Story, body_text
from worlds.api import AgentId, Json

__all__ = ["Dashboard", "Layout", "View", "layout_of", "shape_around"]

HEADER_HEIGHT = 30
SIDE_WIDTH = 420
LANES_HEIGHT = 150
SMALLEST_MAP = 480
PADDING = 10
LINE_STEP = 12
BIG_STEP = 22
SHOWN_MESSAGES = 40
SHOWN_MEMORIES = 4

STAGE_NAMES: Mapping[str, str] = {
    "R": "reasoning",
    "W": "waiting",
    "X": "executing",
    "I": "interrupted",
    "G": "gone",
}
STATUS_MARKS: Mapping[str, tuple[str, str]] = {
    "todo": ("·", "faint"),
    "running": ("→", "text"),
    "done": ("✓", "good"),
    "failed": ("×", "bad"),
    "cancelled": ("–", "faint"),
}
HELP: tuple[tuple[str, str], ...] = (
    ("space", "play, pause"),
    ("← →", "one step; with shift ten"),
    ("+ -", "faster, slower"),
    ("home end", "first, last step"),
    ("click bar", "jump to a step"),
    ("tab, click", "choose an agent"),
    ("m p r", "messages, plans, repair"),
    ("n", "next repair, failure, score"),
    ("f", "follow the chosen agent"),
    ("wheel, drag", "zoom, move"),
    ("g", "ids and labels"),
    ("s", "save this picture"),
    ("h", "this help"),
    ("q, esc", "close"),
)


@dataclass
class View:
    """What a watcher has set. zoom: pixels a cell, None: the whole map; corner: top left cell."""

    step: int = 0
    chosen: AgentId = 0
    has_messages: bool = True
    has_plans: bool = True
    has_repair: bool = True
    has_grid: bool = True
    has_help: bool = False
    follows: bool = False
    is_playing: bool = False
    speed: int = 8
    zoom: int | None = None
    corner: tuple[int, int] = (0, 0)
    notice: str = ""
    question: str = ""
    """What a person is asked; answered by typing. typed: so far. scroll: lines up from the end."""
    typed: str = ""
    scroll: int = 0


class Layout(NamedTuple):
    """Where the parts of a dashboard are."""

    header: Box
    map: Box
    side: Box
    lanes: Box


def layout_of(height: int, width: int) -> Layout:
    """Header above, map left, the chosen agent right, lanes below."""
    side = min(SIDE_WIDTH, width // 2)
    lanes = min(LANES_HEIGHT, height // 3)
    middle = height - HEADER_HEIGHT - lanes
    return Layout(
        Box(0, 0, HEADER_HEIGHT, width),
        Box(HEADER_HEIGHT, 0, middle, width - side),
        Box(HEADER_HEIGHT, width - side, middle, side),
        Box(HEADER_HEIGHT + middle, 0, lanes, width),
    )


def shape_around(height: int, width: int) -> tuple[int, int]:
    """Height and width of a dashboard whose map has the given ones."""
    room = max(height, SMALLEST_MAP)
    return room + HEADER_HEIGHT + LANES_HEIGHT, max(width, SMALLEST_MAP) + SIDE_WIDTH


@dataclass
class _Pen:
    """Writes lines downwards inside a box, and stops where it ends."""

    brush: Brush
    box: Box
    top: int = field(init=False)

    def __post_init__(self) -> None:
        self.top = self.box.top + PADDING

    @property
    def is_full(self) -> bool:
        return self.top + LINE_STEP > self.box.bottom

    def line(
        self, text: str, color: str = "text", scale: int = 1, indent: int = 0, step: int = 0
    ) -> None:
        """A line, cut to the width of the box."""
        if self.is_full:
            return
        left = self.box.left + PADDING + indent
        room = self.box.right - PADDING - left
        self.brush.text(cut(text, room, scale), (self.top, left), color, scale)
        self.top += step or (LINE_STEP if scale == 1 else BIG_STEP)

    def title(self, text: str, color: str = "dim") -> None:
        """The head of a section, with a thin line above."""
        if self.is_full:
            return
        self.top += 4
        edge = Box(self.top, self.box.left + PADDING, 1, self.box.width - 2 * PADDING)
        self.brush.fill(edge, "line")
        self.top += 7
        self.line(text.upper(), color, step=LINE_STEP + 2)

    def wrapped(self, text: str, color: str, indent: int, limit: int) -> None:
        """Text over several lines, at most `limit` of them."""
        room = self.box.width - 2 * PADDING - indent
        words, line, lines = text.split(), "", 0
        while words and lines < limit:
            longer = f"{line} {words[0]}".strip()
            if line and text_width(longer) > room:
                is_last = lines == limit - 1
                self.line(" ".join([line, *words]) if is_last else line, color, 1, indent)
                line, lines = "", lines + 1
            else:
                line = longer
                words.pop(0)
        if line and lines < limit:
            self.line(line, color, 1, indent)


class Dashboard:
    """One picture of a run at a step: map, chosen agent, lanes. Keeps what it can between calls."""

    def __init__(
        self,
        story: Story,
        world: str,
        legend: Json,
        layers: Mapping[str, ndarray],
        shape: tuple[int, int],
        title: str = "",
        size: int | None = None,
    ) -> None:
        """shape: height and width in pixels. layers: any frame. size: pixels a cell, None: fit."""
        self.story = story
        self.legend = legend
        self.title = title
        self.painter = MapPainter(world, legend, layers, 1)
        self._fixed = size
        self.lanes = Lanes(story)
        self.resize(*shape)

    def resize(self, height: int, width: int) -> None:
        """Take another size."""
        self.layout = layout_of(height, width)
        self.canvas = new_canvas(height, width)

    @property
    def map_box(self) -> Box:
        """Where the map is in the picture, in the middle of its part."""
        room = self.layout.map
        height, width = self.painter.canvas.shape
        top = room.top + max(0, (room.height - height) // 2)
        return Box(top, room.left + max(0, (room.width - width) // 2), height, width)

    def draw(self, layers: Mapping[str, ndarray], view: View) -> ndarray:
        """The picture: [height, width] uint32, overwritten by the next call."""
        brush = Brush(self.canvas)
        self._aim(layers, view)
        marks = marks_of(self.story, view.step, view.chosen, view.has_grid)
        if not view.has_plans:
            marks = marks._replace(plans=())
        if not view.has_messages:
            marks = marks._replace(messages=())
        if not view.has_repair:
            marks = marks._replace(channels=())
        picture = self.painter.draw(layers, marks)
        brush.fill(self.layout.map, "dark")
        box = self.map_box
        self.canvas[box.top : box.bottom, box.left : box.right] = picture
        self._draw_header(brush, view)
        if view.question:
            _draw_question(brush, self.layout.side, view)
        else:
            self._draw_side(brush, layers, view)
        self.lanes.draw(self.canvas, self.layout.lanes, view.step, view.chosen)
        if view.has_help:
            _draw_help(brush, self.layout.map)
        return self.canvas

    def _aim(self, layers: Mapping[str, ndarray], view: View) -> None:
        """Point the camera as the view says; a map larger than its room is cut at whole cells."""
        look, room = self.painter.look, self.layout.map
        fit = fitting_size(look.rows, look.columns, room.height, room.width)
        size = view.zoom or self._fixed or fit
        rows, columns = min(look.rows, room.height // size), min(look.columns, room.width // size)
        row, column = view.corner
        here = layers["agent_cell"][view.chosen].tolist()
        if view.follows and here[0] >= 0:
            row, column = here[0] - rows // 2, here[1] - columns // 2
        row = max(0, min(row, look.rows - rows))
        column = max(0, min(column, look.columns - columns))
        camera = Camera(row, column, max(1, rows), max(1, columns), size)
        if camera != self.painter.camera:
            self.painter.aim(camera)

    # --- header ---

    def _draw_header(self, brush: Brush, view: View) -> None:
        box, story = self.layout.header, self.story
        brush.fill(box, "raised")
        sign = "→" if view.is_playing else "■"
        seconds = story.span(min(view.step, story.steps))[0] / 1000
        text = f"step {view.step} of {story.steps}    score {story.score_at(view.step):g}    "
        text += f"clock {seconds:.1f} s"
        brush.text(sign, (box.top + 8, 10), "good", 2)
        brush.text(text, (box.top + 8, 30), "text", 2)
        left = 30 + text_width(text, 2) + 30
        for stage in "RWXI":
            brush.fill(Box(box.top + 8, left, 14, 14), STAGE_COLORS[stage])
            back = readable_on(STAGE_COLORS[stage])
            brush.label(stage, (box.top + 15, left + 7), back)
            brush.text(STAGE_NAMES[stage], (box.top + 12, left + 18), "dim")
            left += 24 + text_width(STAGE_NAMES[stage]) + 8
        note = view.notice or f"{self.title}   {view.speed} steps/s   h: help"
        note = cut(note, max(0, box.right - left - PADDING))
        right = box.right - PADDING - text_width(note)
        brush.text(note, (box.top + 12, right), "dim")

    # --- the chosen agent ---

    def _draw_side(self, brush: Brush, layers: Mapping[str, ndarray], view: View) -> None:
        box = self.layout.side
        brush.fill(box, "panel")
        brush.fill(Box(box.top, box.left, box.height, 1), "line")
        pen = _Pen(brush, box)
        self._draw_person(pen, layers, view)
        if "inventory" in layers:
            self._draw_inventory(pen, layers["inventory"][view.chosen])
        if view.has_plans:
            self._draw_plan(pen, view)
            self._draw_memory(pen, view)
        if view.has_repair:
            self._draw_channel(pen, view)
        if view.has_messages:
            self._draw_messages(pen, view)

    def _draw_person(self, pen: _Pen, layers: Mapping[str, ndarray], view: View) -> None:
        agent, brush = view.chosen, pen.brush
        left, top = pen.box.left + PADDING, pen.top
        color = identity(agent)
        brush.fill(Box(top - 2, left, 22, 34), color)
        brush.label(str(agent), (top + 9, left + 17), readable_on(color), "", 2)
        row, column = layers["agent_cell"][agent].tolist()
        place = f"at ({row},{column})" if row >= 0 else "gone"
        brush.text(f"agent_{agent}", (top, left + 44), "white", 2)
        brush.text(place, (top + 5, left + 52 + text_width(f"agent_{agent}", 2)), "dim")
        entry = self.story.stage_at(agent, view.step)
        if entry is not None:
            name, back = STAGE_NAMES[entry.stage], STAGE_COLORS[entry.stage]
            width = text_width(name) + 12
            edge = pen.box.right - PADDING - width
            brush.fill(Box(top - 2, edge, 22, width), back)
            brush.text(name, (top + 5, edge + 6), readable_on(back))
        pen.top += 28

    def _draw_inventory(self, pen: _Pen, amounts: ndarray) -> None:
        names = by_number(self.legend["inventory"])
        left, top, side = pen.box.left + PADDING, pen.top, 24
        held = [(name, int(n)) for name, n in zip(names, amounts, strict=True)]
        shown = held[:4] + [(name, n) for name, n in held[4:] if n > 0]
        cells = max(1, (pen.box.width - 2 * PADDING) // (side + 26))
        for place, (name, amount) in enumerate(shown):
            y, x = top + place // cells * (side + 6), left + place % cells * (side + 26)
            pen.brush.picture(item_icon(name, side), y, x)
            low = place < 4 and amount <= 3
            pen.brush.text(str(amount), (y + 6, x + side + 3), "bad" if low else "text", 2)
        pen.top = top + ((len(shown) - 1) // cells + 1) * (side + 6)

    def _draw_plan(self, pen: _Pen, view: View) -> None:
        plan = self.story.plan_at(view.chosen, view.step)
        pen.title("plan")
        if plan is None:
            pen.line("no plan", "faint", 2)
            return
        pen.line(plan.task, "white", 2)
        resumed = sum(step <= view.step for _, step in plan.resumed)
        again = f", resumed {resumed} times" if resumed else ""
        pen.line(f"plan {plan.id}, since step {plan.step}{again}", "dim")
        for action in plan.actions:
            sign, color = STATUS_MARKS[action.status_at(view.step)]
            pen.line(f"{sign}  {action.text}", color)
        if plan.note:
            pen.wrapped(f"“{plan.note}”", "dim", 0, 2)

    def _draw_memory(self, pen: _Pen, view: View) -> None:
        ended = [
            plan
            for plan in self.story.plans_of[view.chosen]
            if plan.ended_step is not None and plan.ended_step <= view.step
        ]
        if ended:
            pen.title("memory")
        for plan in ended[: -SHOWN_MEMORIES - 1 : -1]:
            pen.line(_outcome(plan), "bad" if plan.status == "failed" else "dim")

    def _draw_messages(self, pen: _Pen, view: View) -> None:
        agent = view.chosen
        told = [
            message
            for message in self.story.messages
            if message.step <= view.step and agent in (message.sender, *message.recipients)
        ]
        pen.title(f"messages ({len(told)})")
        for message in told[: -SHOWN_MESSAGES - 1 : -1]:
            if pen.is_full:
                return
            self._draw_message(pen, message, view)

    @staticmethod
    def _draw_message(pen: _Pen, message: MessageRecord, view: View) -> None:
        is_sent = message.sender == view.chosen
        others = message.recipients if is_sent else (message.sender,)
        names = ",".join(map(str, others[:6])) + ("…" if len(others) > 6 else "")
        head = f"{'▲ to' if is_sent else '▼ from'} {names}  {message.kind}"
        if view.chosen in message.interrupted:
            head += "  (interrupted)"
        fresh = "white" if message.step == view.step else "dim"
        left = pen.box.left + PADDING
        if not pen.is_full:
            pen.brush.fill(Box(pen.top, left, 8, 8), identity(message.sender))
        pen.line(f"{head}, step {message.step}", fresh, 1, 14)
        body = message.text or body_text(message.body)
        if body:
            pen.wrapped(body, "text" if fresh == "white" else "faint", 14, 3)

    # --- repair ---

    def _draw_channel(self, pen: _Pen, view: View) -> None:
        known = [channel for channel in self.story.channels if channel.step <= view.step]
        if not known:
            return
        channel = known[-1]
        is_now = channel.is_visible(view.step)
        pen.title(f"repair {channel.label}, step {channel.step}", REPAIR_COLOR if is_now else "dim")
        members = ", ".join(map(str, channel.members))
        target = channel.target or "nothing: let go"
        pen.line(f"{target}   members {members}", "white" if is_now else "dim")
        if channel.forecast is not None:
            self._draw_forecast(pen, channel)
        is_closed = channel.ended_step is not None and channel.ended_step <= view.step
        outcome = f"outcome: {channel.outcome}" if is_closed else "talking"
        pen.line(f"{channel.opened.get('strategy', '')}   {outcome}", "dim")

    @staticmethod
    def _draw_forecast(pen: _Pen, channel: ChannelRecord) -> None:
        """A bar for each constraint: how often it held in the rollouts of the forecast."""
        forecast = channel.forecast
        assert forecast is not None
        support = max(1, int(forecast["support"]))
        for name, held in zip(CONSTRAINTS, forecast["held"], strict=True):
            if pen.is_full:
                return
            left, width = pen.box.left + PADDING, 150
            share = held / support
            pen.brush.text(name, (pen.top, left), "dim")
            bar = Box(pen.top, left + 90, 8, width)
            pen.brush.fill(bar, "line")
            color = "good" if share >= 1 else REPAIR_COLOR if share > 0 else "bad"
            pen.brush.fill(bar._replace(width=round(width * share)), color)
            pen.brush.text(f"{held} of {support}", (pen.top, left + 100 + width), "dim")
            pen.top += LINE_STEP


def _outcome(plan: PlanRecord) -> str:
    why = f": {plan.reason}" if plan.reason else ""
    return f"step {plan.ended_step}: {plan.id} {plan.task} {plan.status}{why}"


def _draw_question(brush: Brush, room: Box, view: View) -> None:
    """What is asked, its end first seen, and the line that is being typed."""
    brush.fill(room, "panel")
    width = room.width - 2 * PADDING
    entry = _folded(f"> {view.typed}_", width)
    lines = [part for line in view.question.splitlines() for part in _folded(line, width)]
    shown = (room.height - 2 * PADDING) // LINE_STEP - len(entry) - 2
    end = max(min(len(lines), shown), len(lines) - view.scroll)
    pen = _Pen(brush, room)
    pen.line("you are asked (enter sends, page up and down scroll)", REPAIR_COLOR)
    for line in lines[max(0, end - shown) : end]:
        pen.line(line)
    pen.top = max(pen.top, room.bottom - PADDING - len(entry) * LINE_STEP)
    for line in entry:
        pen.line(line, "white")


def _folded(text: str, room: int) -> list[str]:
    """A line as the lines that fit into so many pixels; an empty one stays."""
    return wrap(text, max(1, room // text_width("m"))) or [""]


def _draw_help(brush: Brush, room: Box) -> None:
    height, width = len(HELP) * 20 + 50, 400
    top, left = room.top + (room.height - height) // 2, room.left + (room.width - width) // 2
    box = Box(max(room.top, top), max(room.left, left), height, width)
    brush.fill(box, "panel", 0.94)
    brush.frame(box, "line", 2)
    brush.text("keys", (box.top + 14, box.left + 16), "white", 2)
    for place, (key, does) in enumerate(HELP):
        y = box.top + 44 + place * 20
        brush.text(key, (y, box.left + 16), REPAIR_COLOR, 2)
        brush.text(does, (y + 4, box.left + 190), "text")
