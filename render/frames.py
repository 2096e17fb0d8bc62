"""Pictures of a world at a step: the map, and over it who plans what, who talks, who repairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from primitives.draw_kernels import blit_cells, blit_sprites
from render.canvas import NOTHING_DRAWN, Box, Brush, new_canvas
from render.looks import DISTINCT_COLORS, SMALL_CELL, Camera, Look, Person, Target, look_of
from render.sprites import REPAIR_COLOR, identity, text_width
from render.story import ChannelRecord, MessageRecord, Story
from worlds.api import AgentId, Json

__all__ = ["NO_MARKS", "MapPainter", "Marks", "fitting_size", "marks_of"]

COMFORTABLE = 1024
"""Pixels a map may take if nothing else is asked for."""
ARC_BEND = 0.16
ARC_PIECES = 14
CROWD_SHOWN = 2
"""Agents that must make for one target before a crowded map says how many they are."""
CELL_SIZES: tuple[int, ...] = (64, 56, 48, 40, 36, 32, 28, 24, 20, *range(16, 0, -1))
GONE = -1
FIRST_PICTURES = 8


class PlanMark(NamedTuple):
    """What a live plan is about, and where its current action leads, by name."""

    agent: AgentId
    task: str
    way: str


class Marks(NamedTuple):
    """What is drawn over a map. stages: one letter an agent, "" for none; chosen: None for none."""

    stages: tuple[str, ...] = ()
    plans: tuple[PlanMark, ...] = ()
    messages: tuple[MessageRecord, ...] = ()
    channels: tuple[ChannelRecord, ...] = ()
    chosen: AgentId | None = None
    has_grid: bool = True


NO_MARKS = Marks()


def marks_of(story: Story, step: int, chosen: AgentId | None = None, grid: bool = True) -> Marks:
    """What there is to see of agents' minds at `step`."""
    agents = range(story.agents)
    entries = [story.stage_at(agent, step) for agent in agents]
    return Marks(
        stages=tuple("" if entry is None else entry.stage for entry in entries),
        plans=tuple(mark for agent in agents if (mark := _plan_mark(story, agent, step))),
        messages=tuple(story.messages_at(step)),
        channels=tuple(channel for channel in story.channels if channel.is_visible(step)),
        chosen=chosen,
        has_grid=grid,
    )


def _plan_mark(story: Story, agent: AgentId, step: int) -> PlanMark | None:
    plan = story.plan_at(agent, step)
    if plan is None or not story.is_living(agent, step):
        return None
    action = plan.current(step)
    way = _named_place(action.args) if action is not None else ""
    task = way if plan.task == "none" else plan.task
    return PlanMark(agent, task, way) if task else None


def _named_place(args: Mapping[str, Json]) -> str:
    """What an action is about, by those of its arguments that name something."""
    if "block" in args:
        block = args["block"]
        name = block if isinstance(block, str) else f"block_{block}"
        return f"{name}_{args['face']}" if args.get("face") else name
    for name in ("target", "recipient", "cell"):
        value = args.get(name)
        if isinstance(value, list) and len(value) == 2:
            return f"cell@{value[0]},{value[1]}"
        if isinstance(value, int):
            return f"agent_{value}"
        if isinstance(value, str) and value:
            return value
    return ""


def fitting_size(rows: int, columns: int, height: int, width: int) -> int:
    """The largest size of a cell with which the map stays within `height` x `width` pixels."""
    for size in CELL_SIZES:
        if rows * size <= height and columns * size <= width:
            return size
    return 1


class MapPainter:
    """Draws the map of one run, frame after frame, on a canvas that it keeps.

    Only cells that changed are drawn again; what comes out depends on the arguments alone.
    """

    def __init__(
        self,
        world: str,
        legend: Json,
        layers: Mapping[str, ndarray],
        size: int | None = None,
    ) -> None:
        """layers: any frame of the run. size: pixels a cell; None: as fits comfortably."""
        self.look: Look = look_of(world, legend, layers)
        rows, columns = self.look.rows, self.look.columns
        size = size or fitting_size(rows, columns, COMFORTABLE, COMFORTABLE)
        self.aim(Camera(0, 0, rows, columns, size))

    def aim(self, camera: Camera) -> None:
        """Show another part of the map, or in another size."""
        self.camera = camera
        rows, columns, size = camera.rows, camera.columns, camera.size
        self.canvas = new_canvas(rows * size, columns * size, "dark")
        self._drawn = np.full((rows, columns), NOTHING_DRAWN, np.int32)
        self._tiles: ndarray | None = None
        side = size + 2 * self.look.margin(size)
        self._people = np.zeros((FIRST_PICTURES, side, side), np.uint32)
        self._person_at: dict[Person, int] = {}

    def draw(self, layers: Mapping[str, ndarray], marks: Marks = NO_MARKS) -> ndarray:
        """The picture: [rows * size, columns * size] uint32, overwritten by the next call."""
        camera = self.camera
        tiles = self.look.tiles(layers, camera.size)
        if tiles is not self._tiles:
            self._drawn[:] = NOTHING_DRAWN
            self._tiles = tiles
        codes = self.look.codes(layers)
        seen = codes[
            camera.row : camera.row + camera.rows, camera.column : camera.column + camera.columns
        ]
        blit_cells(seen, self._drawn, tiles, self.canvas)
        brush = Brush(self.canvas, self._drawn, camera.size)
        if marks.has_grid:
            self.look.labels(brush, layers, camera)
        self._draw_marks(brush, layers, marks)
        return self.canvas

    def agent_at(self, layers: Mapping[str, ndarray], y: int, x: int) -> AgentId | None:
        """Who stands under a pixel."""
        camera = self.camera
        cell = (y // camera.size + camera.row, x // camera.size + camera.column)
        for agent, place in enumerate(layers["agent_cell"].tolist()):
            if tuple(place) == cell:
                return agent
        return None

    # --- marks, from below to above ---

    def _draw_marks(self, brush: Brush, layers: Mapping[str, ndarray], marks: Marks) -> None:
        cells = layers["agent_cell"].tolist()
        is_crowd = len(cells) > DISTINCT_COLORS
        names = {name for mark in marks.plans for name in (mark.task, mark.way)}
        targets = {name: self.look.target(layers, name) for name in sorted(names)}
        for channel in marks.channels:
            self._draw_channel(brush, layers, cells, channel)
        for mark in marks.plans:
            if not is_crowd or mark.agent == marks.chosen:
                self._draw_plan(brush, cells[mark.agent], mark, targets)
        told = [
            message
            for message in marks.messages
            if not is_crowd or marks.chosen in (message.sender, *message.recipients)
        ]
        for message in told:
            self._draw_message(brush, cells, message)
        self._draw_agents(brush, layers, cells, marks)
        if is_crowd:
            self._draw_crowds(brush, marks, targets)
        for sender in sorted({message.sender for message in told}):
            if cells[sender][0] != GONE:
                self._draw_bubble(brush, self.camera.middle(*cells[sender]))
        for channel in marks.channels:
            self._draw_star(brush, layers, cells, channel)

    def _draw_agents(
        self, brush: Brush, layers: Mapping[str, ndarray], cells: list[list[int]], marks: Marks
    ) -> None:
        camera, agents = self.camera, len(cells)
        stages = marks.stages or ("",) * agents
        people = [
            self._picture_of(Person(agent, pose, stages[agent], marks.has_grid, agents))
            for agent, pose in enumerate(self.look.poses(layers))
        ]
        blit_sprites(
            self.canvas,
            self._people[: len(self._person_at)],
            np.array(people, np.int64),
            layers["agent_cell"],
            (camera.row, camera.column, camera.size, self.look.margin(camera.size)),
            self._drawn,
        )
        if marks.chosen is not None and cells[marks.chosen][0] != GONE:
            middle = camera.middle(*cells[marks.chosen])
            reach = max(camera.size * 0.72, 6.0)
            brush.ring(middle, reach - 1, reach + 2, "dark", 0.8)
            brush.ring(middle, reach - 0.5, reach + 1, "white")

    def _picture_of(self, person: Person) -> int:
        """Where the picture of an agent stands in `_people`; it is drawn when first needed."""
        place = self._person_at.get(person)
        if place is None:
            place = self._person_at[person] = len(self._person_at)
            if place == len(self._people):
                self._people = np.concatenate([self._people, np.zeros_like(self._people)])
            size, margin = self.camera.size, self.look.margin(self.camera.size)
            self.look.agent(Brush(self._people[place]), Box(margin, margin, size, size), person)
        return place

    def _draw_plan(
        self,
        brush: Brush,
        cell: list[int],
        mark: PlanMark,
        targets: Mapping[str, Target | None],
    ) -> None:
        """A line from the agent to where it goes, and corners around the thing it is about."""
        task = targets[mark.task]
        way = targets[mark.way] or task
        color = identity(mark.agent)
        if cell[0] != GONE and way is not None:
            self._draw_way(brush, cell, way, color)
        if task is not None:
            self._draw_corners(brush, task, color, mark.agent)
            if task.push is not None:
                self._draw_push(brush, task, color)

    def _draw_way(self, brush: Brush, cell: list[int], way: Target, color: str) -> None:
        slots = way.slots or ((round(way.middle[0]), round(way.middle[1])),)
        if tuple(cell) in slots:
            return
        slot = min(slots, key=lambda s: (abs(s[0] - cell[0]) + abs(s[1] - cell[1]), s))
        thick = max(1.8, self.camera.size / 12)
        start, end = self.camera.middle(*cell), self.camera.middle(*slot)
        brush.line(start, end, "dark", thick + 1.5, 0.35)
        brush.line(start, end, color, thick, 0.95, (3 * thick, 2 * thick))
        brush.ring(end, -1, max(1.5, self.camera.size * 0.14), color)

    def _draw_corners(self, brush: Brush, target: Target, color: str, agent: AgentId) -> None:
        """Brackets around a target; agents with the same target keep theirs apart."""
        camera = self.camera
        box = camera.box(*target.area)
        out = 1 + (agent % 3) * max(1, camera.size // 10)
        top, left, bottom, right = box.top - out, box.left - out, box.bottom + out, box.right + out
        arm = max(2.0, min(box.width, box.height) * 0.28)
        thick = max(1.0, camera.size / 14)
        for y, x in ((top, left), (top, right), (bottom, left), (bottom, right)):
            inward_y, inward_x = (1 if y == top else -1), (1 if x == left else -1)
            brush.line((y, x - inward_x * thick / 2), (y, x + inward_x * arm), color, thick)
            brush.line((y - inward_y * thick / 2, x), (y + inward_y * arm, x), color, thick)

    def _draw_push(self, brush: Brush, target: Target, color: str) -> None:
        """An arrowhead on the block's side, pointing where it is to be pushed."""
        assert target.push is not None
        camera, (dy, dx) = self.camera, target.push
        _, _, rows, columns = target.area
        reach = camera.size * min(0.3, 0.08 + 0.1 * rows)
        y, x = camera.middle(*target.middle)
        y -= dy * (rows * camera.size / 2 - reach)
        x -= dx * (columns * camera.size / 2 - reach)
        tip = (y + dy * reach, x + dx * reach)
        wings = [
            (y - dy * reach + side * dx * reach, x - dx * reach + side * dy * reach)
            for side in (-1, 1)
        ]
        brush.triangle([tip, *wings], color, 0.9)

    def _draw_crowds(
        self, brush: Brush, marks: Marks, targets: Mapping[str, Target | None]
    ) -> None:
        """Where many agents play, each target says how many make for it."""
        counts: dict[str, int] = {}
        for mark in marks.plans:
            counts[mark.task] = counts.get(mark.task, 0) + 1
        for place, count in counts.items():
            target = targets[place]
            if target is None or count < CROWD_SHOWN:
                continue
            text = f"{count}→"
            middle = self.camera.middle(*target.middle)
            side = target.push or (1, 0)
            reach = target.area[2] * self.camera.size / 2 + 8
            shift = reach + (text_width(text) / 2 if side[1] else 0)
            brush.label(
                text, (middle[0] - side[0] * shift, middle[1] - side[1] * shift), "white", "dark"
            )

    def _draw_message(self, brush: Brush, cells: list[list[int]], message: MessageRecord) -> None:
        """A dotted arc with an arrowhead from the sender to each whom it reaches."""
        if cells[message.sender][0] == GONE:
            return
        start = self.camera.middle(*cells[message.sender])
        for agent in message.recipients:
            if cells[agent][0] != GONE:
                self._draw_arc(brush, start, self.camera.middle(*cells[agent]), message.sender)

    def _draw_arc(
        self, brush: Brush, start: tuple[float, float], end: tuple[float, float], sender: AgentId
    ) -> None:
        """Bent to the left of its way, so that both ways between two agents stay apart."""
        size = self.camera.size
        length = math.hypot(end[0] - start[0], end[1] - start[1])
        rim = max(2.0, size * 0.5)
        if length <= 2 * rim:
            return
        dy, dx = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        bend = min(length * ARC_BEND, 3.0 * max(size, 8))
        at = np.linspace(rim / length, 1 - rim / length, ARC_PIECES + 1)
        side = 4 * at * (1 - at) * bend
        ys = start[0] + (end[0] - start[0]) * at - dx * side
        xs = start[1] + (end[1] - start[1]) * at + dy * side
        color, thick = identity(sender), max(2.0, size / 16)
        edge = self.camera.box(0, 0, self.look.rows, self.look.columns).inset(2)
        ys, xs = ys.clip(edge.top, edge.bottom), xs.clip(edge.left, edge.right)
        points = list(zip(ys.tolist(), xs.tolist(), strict=True))
        for one, other in itertools.pairwise(points):
            brush.line(one, other, "dark", thick + 2, 0.5)
        dash = (2.5 * thick, 1.2 * thick)
        for one, other in itertools.pairwise(points):
            brush.line(one, other, color, thick, 1.0, dash)
        self._draw_head(brush, points[-2], points[-1], color, max(4.0, size * 0.22))

    @staticmethod
    def _draw_head(
        brush: Brush, back: tuple[float, float], tip: tuple[float, float], color: str, reach: float
    ) -> None:
        length = math.hypot(tip[0] - back[0], tip[1] - back[1]) or 1.0
        dy, dx = (tip[0] - back[0]) / length, (tip[1] - back[1]) / length
        for grow, ink in ((1.5, "dark"), (0.0, color)):
            long, wide = reach + 1.5 * grow, reach * 0.55 + grow
            nose = (tip[0] + dy * grow, tip[1] + dx * grow)
            root = (nose[0] - dy * long, nose[1] - dx * long)
            brush.triangle(
                [
                    nose,
                    (root[0] - dx * wide, root[1] + dy * wide),
                    (root[0] + dx * wide, root[1] - dy * wide),
                ],
                ink,
            )

    def _draw_bubble(self, brush: Brush, middle: tuple[float, float]) -> None:
        """A speech bubble above an agent."""
        if self.camera.size < SMALL_CELL:
            return
        unit = max(1, self.camera.size // 16)
        y, x = middle[0] - self.camera.size * 0.62, middle[1] + self.camera.size * 0.42
        brush.ring((y, x), -1, 4.6 * unit, "dark")
        brush.triangle(
            [(y + 2 * unit, x - 4 * unit), (y + 4 * unit, x), (y + 7 * unit, x - 5 * unit)], "dark"
        )
        brush.ring((y, x), -1, 3.6 * unit, "white")
        for dot in (-1.7, 0.0, 1.7):
            brush.ring((y, x + dot * unit), -1, 0.7 * unit, "dark")

    def _channel_middle(
        self, layers: Mapping[str, ndarray], cells: list[list[int]], channel: ChannelRecord
    ) -> tuple[float, float] | None:
        target = self.look.target(layers, channel.target or channel.task)
        if target is not None:
            return target.middle
        here = [cells[agent] for agent in channel.members if cells[agent][0] != GONE]
        if not here:
            return None
        return sum(c[0] for c in here) / len(here), sum(c[1] for c in here) / len(here)

    def _draw_channel(
        self,
        brush: Brush,
        layers: Mapping[str, ndarray],
        cells: list[list[int]],
        channel: ChannelRecord,
    ) -> None:
        """Gold spokes from each member to what the channel is about, and a gold ring around it."""
        middle = self._channel_middle(layers, cells, channel)
        if middle is None:
            return
        size = self.camera.size
        thick = max(2.0, size / 8)
        for agent in channel.members:
            if cells[agent][0] != GONE:
                start, end = self.camera.middle(*cells[agent]), self.camera.middle(*middle)
                brush.line(start, end, "dark", thick + 2, 0.3)
                brush.line(start, end, REPAIR_COLOR, thick, 0.75)
                reach = max(size * 0.54, 4.0)
                brush.ring(start, reach - 1, reach + thick + 1, "dark", 0.5)
                brush.ring(start, reach, reach + thick, REPAIR_COLOR)

    def _draw_star(
        self,
        brush: Brush,
        layers: Mapping[str, ndarray],
        cells: list[list[int]],
        channel: ChannelRecord,
    ) -> None:
        middle = self._channel_middle(layers, cells, channel)
        if middle is None:
            return
        radius = min(20.0, max(7.0, self.camera.size * 0.4))
        target = self.look.target(layers, channel.target or channel.task)
        rows = 1 if target is None else target.area[2]
        y, x = self.camera.middle(middle[0] - rows / 2, middle[1])
        scale = 2 if radius > 14 else 1
        width = text_width(channel.label, scale)
        brush.label(channel.label, (y, x + radius + width / 2), "dark", REPAIR_COLOR, scale)
        brush.star((y, x), radius + 1.5, "dark")
        brush.star((y, x), radius, REPAIR_COLOR)
