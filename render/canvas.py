"""A canvas to draw on, and a brush that remembers which cells it drew over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from primitives.draw_kernels import (
    blend_rectangle,
    blit_sprite,
    draw_line,
    draw_ring,
    fill_triangle,
)
from render.sprites import INKS, ink, text_width, write

__all__ = ["Box", "Brush", "new_canvas", "readable_on"]

NOTHING_DRAWN = -1
TEXT_HEIGHT = 7


class Box(NamedTuple):
    """A rectangle of a canvas, in pixels."""

    top: int
    left: int
    height: int
    width: int

    @property
    def bottom(self) -> int:
        return self.top + self.height

    @property
    def right(self) -> int:
        return self.left + self.width

    def inset(self, by: int) -> Box:
        """The rectangle `by` pixels further in on every side."""
        return Box(self.top + by, self.left + by, self.height - 2 * by, self.width - 2 * by)

    def holds(self, y: int, x: int) -> bool:
        """Whether a pixel lies inside."""
        return self.top <= y < self.bottom and self.left <= x < self.right


def new_canvas(height: int, width: int, color: str = "panel") -> ndarray:
    """An even canvas: [height, width] uint32."""
    return np.full((height, width), ink(color), np.uint32)


def readable_on(color: str) -> str:
    """Dark or white, whichever reads better on `color`."""
    code = INKS.get(color, color)
    red, green, blue = (int(code[at : at + 2], 16) for at in (1, 3, 5))
    return "dark" if 299 * red + 587 * green + 114 * blue > 135_000 else "white"


class Brush:
    """Draws on a canvas; with `drawn` it marks the cells it touches, so that they are renewed.

    canvas: [Y, X] uint32. drawn: [H, W] int32, the tile drawn in each cell of `size` pixels.
    """

    def __init__(self, canvas: ndarray, drawn: ndarray | None = None, size: int = 1) -> None:
        self.canvas = canvas
        self._drawn = drawn
        self._size = size

    def _touch(self, top: float, left: float, bottom: float, right: float) -> None:
        if self._drawn is not None:
            size = self._size
            rows = slice(max(0, int(top) // size), max(0, int(bottom) // size + 1))
            columns = slice(max(0, int(left) // size), max(0, int(right) // size + 1))
            self._drawn[rows, columns] = NOTHING_DRAWN

    def fill(self, box: Box, color: str, alpha: float = 1.0) -> None:
        """A filled rectangle."""
        self._touch(box.top, box.left, box.bottom, box.right)
        blend_rectangle(self.canvas, *box, ink(color, alpha))

    def frame(self, box: Box, color: str, thickness: int = 1, alpha: float = 1.0) -> None:
        """The edge of a rectangle, inside it."""
        top, left, height, width = box
        middle = height - 2 * thickness
        self.fill(Box(top, left, thickness, width), color, alpha)
        self.fill(Box(top + height - thickness, left, thickness, width), color, alpha)
        self.fill(Box(top + thickness, left, middle, thickness), color, alpha)
        self.fill(Box(top + thickness, left + width - thickness, middle, thickness), color, alpha)

    def picture(self, picture: ndarray, top: int, left: int) -> None:
        """A sprite."""
        self._touch(top, left, top + picture.shape[0], left + picture.shape[1])
        blit_sprite(self.canvas, picture, top, left)

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: str,
        thickness: float = 1.0,
        alpha: float = 1.0,
        dash: tuple[float, float] = (1.0, 0.0),
    ) -> None:
        """A line between two points (y, x); dash: pixels drawn and left out in turn."""
        reach = thickness + 2
        self._touch(
            min(start[0], end[0]) - reach,
            min(start[1], end[1]) - reach,
            max(start[0], end[0]) + reach,
            max(start[1], end[1]) + reach,
        )
        ends = (float(start[0]), float(start[1]), float(end[0]), float(end[1]))
        draw_line(self.canvas, ends, float(thickness), dash, ink(color, alpha))

    def ring(
        self, center: tuple[float, float], inner: float, outer: float, color: str, alpha: float = 1
    ) -> None:
        """A ring between two radii; inner below 0: a disc."""
        y, x = center
        self._touch(y - outer - 1, x - outer - 1, y + outer + 1, x + outer + 1)
        where = (float(y), float(x))
        draw_ring(self.canvas, where, float(inner), float(outer), ink(color, alpha))

    def triangle(self, corners: list[tuple[float, float]], color: str, alpha: float = 1.0) -> None:
        """A filled triangle; corners (y, x)."""
        points = np.array(corners, np.float64)
        low, high = points.min(0) - 1, points.max(0) + 1
        self._touch(low[0], low[1], high[0], high[1])
        fill_triangle(self.canvas, points, ink(color, alpha))

    def star(self, center: tuple[float, float], radius: float, color: str) -> None:
        """A five-pointed star."""
        turns = np.pi * (np.arange(10) / 5 - 0.5)
        radii = radius * np.where(np.arange(10) % 2, 0.45, 1.0)
        ys, xs = center[0] + radii * np.sin(turns), center[1] + radii * np.cos(turns)
        for tip in range(0, 10, 2):
            corners = [(tip - 1) % 10, tip, (tip + 1) % 10]
            self.triangle([(ys[c], xs[c]) for c in corners], color)
            self.triangle([(ys[c], xs[c]) for c in corners[::2]] + [center], color)

    def text(self, text: str, place: tuple[int, int], color: str = "text", scale: int = 1) -> None:
        """One line of text; place: (top, left)."""
        top, left = place
        self._touch(top, left, top + 9 * scale, left + text_width(text, scale))
        write(self.canvas, text, place, ink(color), scale)

    def label(
        self, text: str, center: tuple[float, float], color: str, back: str = "", scale: int = 1
    ) -> None:
        """Text around a point (y, x), on a plate if `back` is given."""
        width, height = text_width(text, scale), TEXT_HEIGHT * scale
        top, left = round(center[0] - height / 2), round(center[1] - width / 2)
        if back:
            self.fill(Box(top - 2, left - 2, height + 4, width + 4), back)
        self.text(text, (top, left), color, scale)
