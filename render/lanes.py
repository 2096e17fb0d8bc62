"""The lanes below the map: the score, repair, failures and the stages of all agents over steps."""

from __future__ import annotations

import itertools

import numpy as np
from numpy import ndarray

from render.canvas import Box, Brush, readable_on
from render.sprites import REPAIR_COLOR, STAGE_COLORS, ink, text_width
from render.story import Story
from worlds.api import AgentId

__all__ = ["Lanes"]

PADDING = 10
NAMES_WIDTH = 54
NUMBERS_HEIGHT = 18
SCORE_SHARE = 0.3
LANE_GAP = 1
SMALLEST_LANE = 3
LETTER_LANE = 9
HIGHEST_LANE = 18
MOST_TICKS = 12


class Lanes:
    """Draws a story over its steps; x is the step. Keeps the stages it has worked out."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._grid = _StageGrid(story)
        self._track = Box(0, 0, 1, 1)

    def draw(self, canvas: ndarray, box: Box, step: int, chosen: AgentId) -> None:
        """Fill `box` of the canvas, with a cursor at `step` and the lane of `chosen` marked."""
        brush = Brush(canvas)
        brush.fill(box, "raised")
        height, width = box.height - PADDING - NUMBERS_HEIGHT, box.width - NAMES_WIDTH
        inner = Box(box.top + PADDING, box.left + NAMES_WIDTH, height, width - 2 * PADDING)
        self._track = inner
        score = inner._replace(height=int(inner.height * SCORE_SHARE))
        stages = Box(score.bottom + 4, inner.left, inner.bottom - score.bottom - 4, inner.width)
        brush.text("score", (score.top + score.height // 2 - 4, box.left + PADDING), "dim")
        self._grid.draw(canvas, brush, stages, chosen)
        self._draw_score(brush, score)
        x = self.x_of(step)
        brush.fill(Box(inner.top - 4, x - 1, inner.height + 8, 3), "dark", 0.6)
        brush.fill(Box(inner.top - 4, x, inner.height + 8, 1), "white")
        for tick in _ticks(self._story.steps):
            left = self.x_of(tick) - text_width(str(tick)) // 2
            brush.text(str(tick), (inner.bottom + 4, left), "faint")

    def x_of(self, step: int) -> int:
        """The pixel column in the middle of a step, where the lanes were drawn last."""
        track = self._track
        return track.left + int((step + 0.5) * track.width / (self._story.steps + 1))

    def step_at(self, x: int) -> int:
        """The step under a pixel column."""
        track = self._track
        step = (x - track.left) * (self._story.steps + 1) // max(1, track.width)
        return max(0, min(self._story.steps, step))

    def _draw_score(self, brush: Brush, box: Box) -> None:
        story = self._story
        brush.fill(box, "panel")
        best = max((score.total for score in story.scores), default=0.0) or 1.0
        y, x = box.bottom - 4, self.x_of(0)
        for score in story.scores:
            to_y = box.bottom - 4 - round((box.height - 8) * score.total / best)
            to_x = self.x_of(score.step)
            brush.fill(Box(y, x, 2, to_x - x + 2), "score")
            brush.fill(Box(min(y, to_y), to_x, abs(to_y - y) + 2, 2), "score")
            y, x = to_y, to_x
        brush.fill(Box(y, x, 2, self.x_of(story.steps) - x), "score")
        for step, _, _ in story.failures:
            brush.fill(Box(box.bottom - 5, self.x_of(step) - 1, 4, 2), "bad")
        for channel in story.channels:
            brush.star((box.top + 7, self.x_of(channel.step)), 7, "dark")
            brush.star((box.top + 7, self.x_of(channel.step)), 6, REPAIR_COLOR)


class _StageGrid:
    """The stage of each agent at each step, worked out as far as the story has come."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._codes = np.zeros((0, 0), np.uint8)
        self._known = (0, -1)
        order = ["", *STAGE_COLORS]
        self._index = {stage: code for code, stage in enumerate(order)}
        colors = [ink("line"), *(ink(STAGE_COLORS[stage]) for stage in order[1:])]
        self._colors = np.array(colors, np.uint32)

    def codes(self) -> ndarray:
        """[A, T + 1] uint8; the last columns are worked out anew, for they may have changed."""
        story, (steps, told) = self._story, self._known
        if story.told == told:
            return self._codes
        grid = np.zeros((story.agents, story.steps + 1), np.uint8)
        fixed = steps if self._codes.size else 0
        if fixed:
            grid[:, :fixed] = self._codes[:, :fixed]
        for agent in range(story.agents):
            for step in range(fixed, story.steps + 1):
                entry = story.stage_at(agent, step)
                grid[agent, step] = self._index["" if entry is None else entry.stage]
        self._codes, self._known = grid, (story.steps, story.told)
        return grid

    def draw(self, canvas: ndarray, brush: Brush, box: Box, chosen: AgentId) -> None:
        """A lane an agent while there is room, else the share of agents in each stage."""
        codes = self.codes()
        agents, columns = codes.shape
        brush.fill(box, "panel")
        if not agents or box.height < 1 or box.width < 1:
            return
        seen = codes[:, np.arange(box.width) * columns // box.width]
        height = min(box.height // agents, HIGHEST_LANE)
        if height < SMALLEST_LANE:
            shares = np.sort(seen, axis=0)[np.arange(box.height) * agents // box.height]
            canvas[box.top : box.bottom, box.left : box.right] = self._colors[shares]
            brush.text("stages", (box.top + box.height // 2 - 4, PADDING), "dim")
            return
        for agent in range(agents):
            lane = Box(box.top + agent * height, box.left, height - LANE_GAP, box.width)
            canvas[lane.top : lane.bottom, lane.left : lane.right] = self._colors[seen[agent]]
            if height >= LETTER_LANE:
                self._write_lane(brush, lane, agent, codes[agent], chosen)
            if agent == chosen:
                brush.frame(lane.inset(-1), "white")

    def _write_lane(
        self, brush: Brush, lane: Box, agent: AgentId, codes: ndarray, chosen: AgentId
    ) -> None:
        """The agent's id before its lane, and in it a letter where a stage begins."""
        color = "white" if agent == chosen else "dim"
        top = lane.top + (lane.height - 7) // 2
        brush.text(str(agent), (top, lane.left - 6 - text_width(str(agent))), color)
        starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
        letters = ["", *STAGE_COLORS]
        for start, end in itertools.pairwise(starts):
            left, right = (lane.left + lane.width * step // len(codes) for step in (start, end))
            if right - left >= 9 and codes[start]:
                letter = letters[codes[start]]
                brush.text(letter, (top, left + 2), readable_on(STAGE_COLORS[letter]))


def _ticks(steps: int) -> list[int]:
    """About ten round numbers from 0 to `steps`."""
    spans = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000)
    span = next((s for s in spans if steps / s <= MOST_TICKS), spans[-1])
    return list(range(0, steps + 1, span))
