"""How each world looks: which tile a cell has, how agents and labels are drawn, where a task is.

A look reads the layers of `rules.frame` and its legend; it knows no rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy import ndarray

from primitives.draw_kernels import paint_blocks
from render.canvas import Box, Brush, readable_on
from render.sprites import (
    STAGE_COLORS,
    THINGS,
    agent_sprite,
    ground,
    identity,
    ink,
    shaded,
    text_width,
    thing,
)
from worlds.api import Json
from worlds.errors import UnknownWorld

__all__ = [
    "Camera",
    "CubeLook",
    "Look",
    "MacrafterLook",
    "Person",
    "Target",
    "by_number",
    "look_of",
]

GONE = -1
SMALL_CELL = 8
"""Cells of fewer pixels hold a plain square in place of a drawn agent."""
DISTINCT_COLORS = 20
SMALLEST_LABEL = 13
"""Pixels a block must have for its id to be written on it."""

Layers = Mapping[str, ndarray]
Point = tuple[float, float]


class Camera(NamedTuple):
    """The cells shown: the first row and column, how many of each, and pixels a cell."""

    row: int
    column: int
    rows: int
    columns: int
    size: int

    def middle(self, row: float, column: float) -> Point:
        """The pixel (y, x) in the middle of a cell."""
        return (row - self.row + 0.5) * self.size, (column - self.column + 0.5) * self.size

    def box(self, row: int, column: int, rows: int = 1, columns: int = 1) -> Box:
        """The pixels of a rectangle of cells."""
        size = self.size
        top, left = (row - self.row) * size, (column - self.column) * size
        return Box(top, left, rows * size, columns * size)

    def shows(self, row: int, column: int) -> bool:
        """Whether a cell is in the picture."""
        return 0 <= row - self.row < self.rows and 0 <= column - self.column < self.columns


class Target(NamedTuple):
    """Where a task is: its rectangle (row, column, rows, columns), the cells from which it is
    done, and the direction (row, column) in which it pushes, if it does."""

    area: tuple[int, int, int, int]
    slots: tuple[tuple[int, int], ...] = ()
    push: tuple[int, int] | None = None

    @property
    def middle(self) -> Point:
        """Its middle in cells (row, column)."""
        row, column, rows, columns = self.area
        return row + (rows - 1) / 2, column + (columns - 1) / 2


class Person(NamedTuple):
    """One agent to draw. stage: its letter, "" if unknown. of: how many agents there are."""

    agent: int
    pose: str
    stage: str
    is_named: bool
    of: int


class Look(Protocol):
    """One world's looks. rows, columns: size of its map."""

    rows: int
    columns: int

    def codes(self, layers: Layers) -> ndarray:
        """[H, W] int32, the tile of each cell."""
        ...

    def tiles(self, layers: Layers, size: int) -> ndarray:
        """[N, size, size] uint32; the same array for as long as no tile changes its looks."""
        ...

    def labels(self, brush: Brush, layers: Layers, camera: Camera) -> None:
        """What is written on things."""
        ...

    def margin(self, size: int) -> int:
        """By how many pixels the picture of an agent reaches over its cell."""
        ...

    def poses(self, layers: Layers) -> list[str]:
        """How each agent holds itself: a word that `agent` understands."""
        ...

    def agent(self, brush: Brush, box: Box, person: Person) -> None:
        """Draw one agent into its cell."""
        ...

    def target(self, layers: Layers, task: str) -> Target | None:
        """Where a task, or whatever an id names, is; None if the layers do not tell."""
        ...


def look_of(world: str, legend: Json, layers: Layers) -> Look:
    """The look of a world. Raises UnknownWorld for one that nobody has drawn yet."""
    name = world.partition("-v")[0]
    if name not in _LOOKS:
        raise UnknownWorld(f'no pictures of world "{world}"; drawn are: {", ".join(_LOOKS)}')
    return _LOOKS[name](legend, layers)


def _plain_agent(brush: Brush, box: Box, person: Person) -> None:
    """A few pixels: the stage in a dark rim and, while colours last, who it is in the middle."""
    brush.fill(box.inset(-1), "#101216")
    brush.fill(box, STAGE_COLORS.get(person.stage, "#FFFFFF"))
    if person.of <= DISTINCT_COLORS:
        brush.fill(box.inset(max(1, box.height // 3)), identity(person.agent))


# --- CUBE ----------------------------------------------------------------------------------------

_FACES: Mapping[str, tuple[int, int]] = {
    "up": (-1, 0),
    "down": (1, 0),
    "left": (0, -1),
    "right": (0, 1),
}
_FLOOR, _GOAL, _FIRST_BLOCK = 0, 1, 2
_EDGES = 16
WEIGHT_COLORS = (
    *("#D8B184", "#C08A5A", "#A66B45", "#8A5440"),
    *("#724541", "#5D3A45", "#493148", "#362A47"),
)


class CubeLook:
    """A board with blocks of any weight, discs for agents, and the goal column."""

    def __init__(self, legend: Json, layers: Layers) -> None:
        self.rows, self.columns, self.goal_column = layers["board"].tolist()

    def codes(self, layers: Layers) -> ndarray:
        codes = np.full((self.rows, self.columns), _FLOOR, np.int32)
        codes[:, self.goal_column] = _GOAL
        weights = layers["block_weight"]
        levels = np.minimum(weights, len(WEIGHT_COLORS)).astype(np.int32) - 1
        paint_blocks(codes, layers["block_cell"], weights, _FIRST_BLOCK + _EDGES * levels)
        return codes

    def tiles(self, layers: Layers, size: int) -> ndarray:
        return _cube_tiles(size)

    def labels(self, brush: Brush, layers: Layers, camera: Camera) -> None:
        weights = layers["block_weight"]
        for block in np.flatnonzero(weights * camera.size >= SMALLEST_LABEL).tolist():
            row, column = layers["block_cell"][block].tolist()
            if row != GONE:
                label = _block_label(block, int(weights[block]), camera.size)
                box = camera.box(row, column)
                brush.picture(label.picture, box.top + label.top, box.left + label.left)

    def margin(self, size: int) -> int:
        return 1

    def poses(self, layers: Layers) -> list[str]:
        return [""] * len(layers["agent_cell"])

    def agent(self, brush: Brush, box: Box, person: Person) -> None:
        size = box.height
        if size < SMALL_CELL:
            _plain_agent(brush, box, person)
            return
        middle = (box.top + size / 2, box.left + size / 2)
        color, edge = identity(person.agent), max(1.5, size * 0.11)
        radius = size * 0.44
        brush.ring(middle, GONE, radius + 1, "#101216", 0.9)
        brush.ring(middle, GONE, radius, STAGE_COLORS.get(person.stage, "#101216"))
        brush.ring(middle, GONE, radius - edge, "#101216")
        brush.ring(middle, GONE, radius - edge - max(1, size * 0.03), color)
        text = str(person.agent)
        scale = max(1, int(size * 0.5 / max(7, text_width(text))))
        if person.is_named and text_width(text, scale) <= size * 0.8:
            brush.label(text, (middle[0] + 0.5, middle[1]), readable_on(color), "", scale)

    def target(self, layers: Layers, task: str) -> Target | None:
        kind, _, rest = task.partition("_")
        number, _, face = rest.partition("_")
        if kind == "agent" and number.isdigit() and int(number) < len(layers["agent_cell"]):
            row, column = layers["agent_cell"][int(number)].tolist()
            return None if row == GONE else Target((row, column, 1, 1))
        known = number.isdigit() and int(number) < len(layers["block_cell"])
        if kind != "block" or not known or (face and face not in _FACES):
            return None
        row, column = layers["block_cell"][int(number)].tolist()
        weight = int(layers["block_weight"][int(number)])
        if row == GONE:
            return None
        area = (row, column, weight, weight)
        return Target(area) if not face else self._face(area, _FACES[face])

    def _face(self, area: tuple[int, int, int, int], side: tuple[int, int]) -> Target:
        row, column, weight, _ = area
        out = weight if max(side) > 0 else -1
        cells = [
            (row + out, column + k) if side[0] else (row + k, column + out) for k in range(weight)
        ]
        inside = tuple(c for c in cells if 0 <= c[0] < self.rows and 0 <= c[1] < self.columns)
        return Target(area, inside, (-side[0], -side[1]))


class _Label(NamedTuple):
    """A picture, and how far below and right of a block's corner it belongs."""

    picture: ndarray
    top: int
    left: int


@cache
def _block_label(block: int, weight: int, size: int) -> _Label:
    """The id in the middle; below it, in larger blocks, how many agents it needs."""
    side = weight * size
    picture = np.zeros((side, side), np.uint32)
    brush, middle = Brush(picture), side / 2
    color = readable_on(WEIGHT_COLORS[min(weight, len(WEIGHT_COLORS)) - 1])
    name = f"b{block}"
    scale = min(int(side * 0.55 / text_width(name)), int(side * 0.34 / 7), 5)
    if scale >= 1:
        brush.label(name, (middle - 4.5 * scale, middle), color, "", scale)
        small = max(1, (scale + 1) // 2)
        brush.label(f"w{weight}", (middle + 3 + 4 * small, middle), color, "", small)
    elif text_width(name) <= side - 2:
        brush.label(name, (middle, middle), color)
    rows, columns = np.flatnonzero(picture.any(1)), np.flatnonzero(picture.any(0))
    if not rows.size:
        return _Label(picture[:0, :0], 0, 0)
    top, left = int(rows[0]), int(columns[0])
    part = picture[top : int(rows[-1]) + 1, left : int(columns[-1]) + 1]
    return _Label(np.ascontiguousarray(part), top, left)


@cache
def _cube_tiles(size: int) -> ndarray:
    tiles = np.zeros((_FIRST_BLOCK + _EDGES * len(WEIGHT_COLORS), size, size), np.uint32)
    tiles[_FLOOR] = ink("board")
    tiles[_GOAL] = ink("goal")
    if size >= 6:
        tiles[: _GOAL + 1, -1, :] = tiles[: _GOAL + 1, :, -1] = ink("grid")
        half = size // 4
        y, x = np.indices((size, size))
        chevron = (np.abs(y - size // 2) + x - size // 2 - half // 2) // max(1, size // 8) == 0
        tiles[_GOAL][chevron & (np.abs(y - size // 2) <= half)] = ink("goal_mark")
    else:
        tiles[_GOAL] = ink("goal_mark")
    for level, color in enumerate(WEIGHT_COLORS):
        for edges in range(_EDGES):
            tile = tiles[_FIRST_BLOCK + _EDGES * level + edges]
            tile[:] = ink(color)
            _bevel(tile, edges, max(1, size // 12), color)
    return tiles


def _bevel(tile: ndarray, edges: int, thick: int, base: str) -> None:
    """Light from above left; edges: bits up 1, down 2, left 4, right 8 that are the block's rim."""
    light, dark = ink(shaded(base, 1.35)), ink(shaded(base, 0.55))
    rims = (
        (1, tile[:thick], light),
        (4, tile[:, :thick], light),
        (2, tile[-thick:], dark),
        (8, tile[:, -thick:], dark),
    )
    for bit, rim, color in rims:
        if edges & bit:
            rim[:] = color


# --- MA-Crafter ----------------------------------------------------------------------------------

_DIRECTIONS = ("up", "down", "left", "right")
_NIGHT_LEVELS = 8
_DARKEST = (0.34, 0.40, 0.62)


class MacrafterLook:
    """The tiles of a survival map, its creatures, and agents that face a direction or sleep."""

    def __init__(self, legend: Json, layers: Layers) -> None:
        self.rows, self.columns = layers["material"].shape
        self._materials = by_number(legend["material"])
        self._things = ("", *THINGS)
        objects = by_number(legend["object"])
        self._thing_of = np.zeros((len(objects), len(_DIRECTIONS)), np.int32)
        for code, name in enumerate(objects):
            for facing, seen in enumerate(_VARIANTS.get(name, ("",) * len(_DIRECTIONS))):
                self._thing_of[code, facing] = self._things.index(seen)
        self._tiles: dict[tuple[int, int], ndarray] = {}

    def codes(self, layers: Layers) -> ndarray:
        things = self._thing_of[layers["object"], layers["object_facing"]]
        return layers["material"] * np.int32(len(self._things)) + things

    def tiles(self, layers: Layers, size: int) -> ndarray:
        light = int(layers["light"].reshape(-1)[0]) / 100
        level = round(light * (_NIGHT_LEVELS - 1))
        if (size, level) not in self._tiles:
            self._tiles[size, level] = self._lit(size, level / (_NIGHT_LEVELS - 1))
        return self._tiles[size, level]

    def _lit(self, size: int, light: float) -> ndarray:
        tiles = []
        for material in self._materials:
            floor = ground(material, size) if material else np.zeros((size, size), np.uint32)
            for name in self._things:
                canvas = floor.copy()
                if name:
                    Brush(canvas).picture(thing(name, size), 0, 0)
                tiles.append(canvas)
        return _tinted(np.array(tiles), light)

    def labels(self, brush: Brush, layers: Layers, camera: Camera) -> None:
        """Nothing on this map is written on."""

    def margin(self, size: int) -> int:
        return 1 if size < SMALL_CELL else 11 * _plate_scale(size)

    def poses(self, layers: Layers) -> list[str]:
        facing = [_DIRECTIONS[way] for way in layers["agent_facing"].tolist()]
        asleep = layers["is_asleep"].tolist()
        return ["asleep" if deep else way for way, deep in zip(facing, asleep, strict=True)]

    def agent(self, brush: Brush, box: Box, person: Person) -> None:
        size = box.height
        if size < SMALL_CELL:
            _plain_agent(brush, box, person)
            return
        color = STAGE_COLORS.get(person.stage, "#101216")
        brush.fill(box, color, 0.35)
        brush.picture(agent_sprite(person.agent, person.pose, size), box.top, box.left)
        brush.frame(box, color, max(1, size // 12))
        if person.is_named:
            scale, plate = _plate_scale(size), identity(person.agent)
            middle = (box.top - 4.5 * scale, box.left + size / 2)
            brush.label(str(person.agent), middle, readable_on(plate), plate, scale)

    def target(self, layers: Layers, task: str) -> Target | None:
        name, at, place = task.partition("@")
        if at:
            parts = place.split(",")
            if len(parts) == 2 and all(part.isdigit() for part in parts):
                row, column = int(parts[0]), int(parts[1])
                if row < self.rows and column < self.columns:
                    return Target((row, column, 1, 1), self._beside(row, column))
            return None
        kind, _, number = name.rpartition("_")
        if kind == "agent" and number.isdigit() and int(number) < len(layers["agent_cell"]):
            row, column = layers["agent_cell"][int(number)].tolist()
            return None if row == GONE else Target((row, column, 1, 1))
        return None

    def _beside(self, row: int, column: int) -> tuple[tuple[int, int], ...]:
        cells = ((row + dy, column + dx) for dy, dx in _FACES.values())
        return tuple(c for c in cells if 0 <= c[0] < self.rows and 0 <= c[1] < self.columns)


_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "cow": ("cow",) * 4,
    "zombie": ("zombie",) * 4,
    "skeleton": ("skeleton",) * 4,
    "arrow": ("arrow_up", "arrow_down", "arrow_left", "arrow_right"),
    "plant": ("plant", "ripe_plant", "plant", "plant"),
}
"""By object, what it looks like for each value of the layer object_facing."""


def _plate_scale(size: int) -> int:
    return max(1, size // 24)


def _tinted(tiles: ndarray, light: float) -> ndarray:
    """Tiles as they look at that light: bluish and dim at 0, as they are at 1."""
    parts = np.ascontiguousarray(tiles).view(np.uint8).reshape(*tiles.shape, 4).astype(np.float32)
    dim = np.array([*_DARKEST, 1.0], np.float32)
    parts *= dim + (1 - dim) * np.float32(light)
    return np.ascontiguousarray(parts.round().astype(np.uint8)).view(np.uint32)[..., 0]


def by_number(names: Mapping[str, str]) -> list[str]:
    """Names of a legend by their number; those in between are empty."""
    listed = [""] * (max((int(number) for number in names), default=0) + 1)
    for number, name in names.items():
        listed[int(number)] = str(name)
    return listed


_LOOKS: Mapping[str, Callable[[Json, Layers], Look]] = {
    "cube": CubeLook,
    "macrafter": MacrafterLook,
}
