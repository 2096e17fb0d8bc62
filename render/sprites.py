"""Colours, letters and small pictures: everything that is drawn is made here, at any size.

A sprite is [Y, X] uint32 in the pixel form of `primitives.draw_kernels`; alpha 0 lets through what
lies below. The drawings stand as text in `tiles.txt`, the letters in `font.txt`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from primitives.draw_kernels import draw_text

__all__ = [
    "IDENTITY_COLORS",
    "INKS",
    "REPAIR_COLOR",
    "STAGE_COLORS",
    "THINGS",
    "TILE",
    "agent_sprite",
    "cut",
    "ground",
    "identity",
    "ink",
    "item_icon",
    "resized",
    "shaded",
    "sprite",
    "text_width",
    "thing",
    "write",
]

TILE = 16
LINE = 10
SMALL_LIFT = 0.62

STAGE_COLORS: Mapping[str, str] = {
    "R": "#0072B2",
    "W": "#F0E442",
    "X": "#009E73",
    "I": "#D55E00",
    "G": "#7F7F7F",
}
REPAIR_COLOR = "#E69F00"
# Far apart for the eye (at least 34 in CIELAB); those unlike the colours of stages come first.
IDENTITY_COLORS = (
    *("#CC79A7", "#56B4E9", "#A0CC47", "#5D47CC", "#F200CA"),
    *("#993636", "#24F28B", "#3B6B6B", "#CE85F2", "#6B4700"),
    *("#F20051", "#0000F2", "#4D6B10", "#AE24F2", "#6B256B"),
    *("#00F200", "#E69F00", "#0072B2", "#009E73", "#D55E00"),
)
INKS: Mapping[str, str] = {
    "dark": "#15171C",
    "panel": "#1D2027",
    "raised": "#282C35",
    "line": "#3A404C",
    "faint": "#6C7482",
    "dim": "#9AA3B2",
    "text": "#E6E9EF",
    "white": "#FFFFFF",
    "score": "#F5F5F5",
    "bad": "#FF6B57",
    "good": "#49C98A",
    "board": "#ECE8DF",
    "grid": "#DDD8CC",
    "goal": "#BFE3C6",
    "goal_mark": "#6DB57C",
}


@cache
def ink(color: str, alpha: float = 1.0) -> int:
    """A pixel from `#RRGGBB` or a name of INKS."""
    code = INKS.get(color, color)
    red, green, blue = (int(code[at : at + 2], 16) for at in (1, 3, 5))
    return red | green << 8 | blue << 16 | round(255 * alpha) << 24


def identity(agent: int) -> str:
    """The colour of an agent; they repeat after 20, ids do not."""
    return IDENTITY_COLORS[agent % len(IDENTITY_COLORS)]


def shaded(color: str, factor: float) -> str:
    """`color` darker (factor below 1) or mixed with white (above 1)."""
    code = INKS.get(color, color)
    parts = np.array([int(code[at : at + 2], 16) for at in (1, 3, 5)], float)
    parts = parts * factor if factor <= 1 else parts + (255 - parts) * (factor - 1)
    return "#" + "".join(f"{round(part):02X}" for part in parts.clip(0, 255))


# --- letters -------------------------------------------------------------------------------------


class Font(NamedTuple):
    """place: of a character in glyphs. glyphs: [G, 9, 7] uint8, 7 rows and 2 below the line.

    widths: [G] int64, pixels.
    """

    place: Mapping[str, int]
    glyphs: ndarray
    widths: ndarray


@cache
def _font() -> Font:
    blocks = Path(__file__).with_name("font.txt").read_text(encoding="utf-8").strip().split("\n\n")
    places: dict[str, int] = {" ": 0}
    drawn: list[list[str]] = [["..."]]
    for block in blocks:
        names, *rows = (line.split() for line in block.splitlines())
        for place, name in enumerate(names):
            places[name] = len(drawn)
            drawn.append([row[place] for row in rows])
    glyphs = np.zeros((len(drawn), 9, 7), np.uint8)
    for place, glyph in enumerate(drawn):
        for y, row in enumerate(glyph):
            glyphs[place, y, : len(row)] = [letter == "1" for letter in row]
    return Font(places, glyphs, np.array([len(glyph[0]) for glyph in drawn]))


def _letters(text: str) -> ndarray:
    font = _font()
    unknown = font.place["�"]
    return np.array([font.place.get(letter, unknown) for letter in text], np.int64)


def text_width(text: str, scale: int = 1) -> int:
    """Pixels from the left of the first letter to the right of the last."""
    return int((_font().widths[_letters(text)] + 1).sum()) * scale - scale if text else 0


def write(canvas: ndarray, text: str, place: tuple[int, int], color: int, scale: int = 1) -> None:
    """Write one line of text; place: (top, left) of its first letter, in pixels."""
    font = _font()
    draw_text(canvas, font.glyphs, font.widths, _letters(text), (*place, scale), color)


def cut(text: str, width: int, scale: int = 1) -> str:
    """`text` on one line, shortened with "…" to at most `width` pixels."""
    text = " ".join(text.split())
    ends = (_font().widths[_letters(text)] + 1).cumsum() * scale - scale
    if not text or ends[-1] <= width:
        return text
    room = width - text_width("…", scale) - scale
    return text[: int(np.searchsorted(ends, room, side="right"))].rstrip() + "…"


# --- pictures ------------------------------------------------------------------------------------


class _Drawing(NamedTuple):
    palette: Mapping[str, str]
    rows: tuple[str, ...]


@cache
def _drawings() -> Mapping[str, _Drawing]:
    text = Path(__file__).with_name("tiles.txt").read_text(encoding="utf-8")
    drawings = {}
    for block in text.split("\n\n")[1:]:
        head, *rows = block.strip().splitlines()
        name, *colors = head.split()
        palette = dict(color.split("=") for color in colors)
        drawings[name.strip("[]")] = _Drawing(palette, tuple(rows))
    return drawings


@cache
def sprite(name: str, size: int, **colors: str) -> ndarray:
    """A picture of `tiles.txt`; `agent`, `shade`, `metal` are the colours of its `@`, `%`, `*`.

    Returns [size, size] uint32, shared: not to be written to.
    """
    drawing = _drawings()[name]
    marks = {"agent": "@", "shade": "%", "metal": "*"}
    palette = {**drawing.palette, **{marks[key]: color for key, color in colors.items()}}
    pixels = [[ink(palette[p]) if p != "." else 0 for p in row] for row in drawing.rows]
    return resized(np.array(pixels, np.uint32), size)


def resized(picture: ndarray, size: int) -> ndarray:
    """A square picture at another size: pixels repeated when larger, averaged when smaller."""
    own = picture.shape[0]
    if size >= own:
        near = np.arange(size) * own // size
        return np.ascontiguousarray(picture[near][:, near])
    parts = picture.view(np.uint8).reshape(own, own, 4).astype(float)
    parts[..., :3] *= parts[..., 3:] / 255
    weights = np.zeros((size, own))
    edges = np.arange(size + 1) * own / size
    for place in range(size):
        cover = np.minimum(edges[place + 1], np.arange(own) + 1) - np.maximum(
            edges[place], np.arange(own)
        )
        weights[place] = cover.clip(0) * size / own
    mean = np.einsum("yi,xj,ijc->yxc", weights, weights, parts)
    mean[..., :3] *= 255 / np.maximum(mean[..., 3:], 1e-9)
    return np.ascontiguousarray(mean.round().clip(0, 255).astype(np.uint8)).view(np.uint32)[..., 0]


class _Texture(NamedTuple):
    """A base colour, and speckles: colour and share of the pixels, in patches `stretch` wide."""

    base: str
    speckles: tuple[tuple[str, float], ...]
    stretch: int = 1


_TEXTURES: Mapping[str, _Texture] = {
    "outside": _Texture("#0F1014", ()),
    "water": _Texture("#3F86D0", (("#5E9FE0", 0.10), ("#3576BC", 0.10)), 4),
    "grass": _Texture("#7DB95A", (("#6DA84C", 0.16), ("#92CB6E", 0.08))),
    "stone": _Texture("#8A8C94", (("#7C7E87", 0.22), ("#9B9DA5", 0.10)), 2),
    "path": _Texture("#C9B48B", (("#BDA77C", 0.15), ("#D5C29C", 0.08))),
    "sand": _Texture("#EADBA3", (("#DFCE91", 0.14), ("#F3E7BC", 0.08))),
    "lava": _Texture("#E4582B", (("#F7A13A", 0.22), ("#B93A1C", 0.16)), 3),
}
_STANDS_ON: Mapping[str, str] = {
    "tree": "grass",
    "table": "grass",
    "coal": "stone",
    "iron": "stone",
    "diamond": "stone",
    "furnace": "stone",
}


def ground(material: str, size: int) -> ndarray:
    """The tile of a MA-Crafter material: [size, size] uint32, without holes."""
    texture = _texture(_STANDS_ON.get(material, material))
    if material in _STANDS_ON:
        over = sprite(material, TILE)
        texture = np.where(over >> 24 > 0, over, texture)
    return resized(texture, size)


def _texture(name: str) -> ndarray:
    texture = _TEXTURES[name]
    y, x = np.indices((TILE, TILE))
    patch = x // texture.stretch + (y * 7) % texture.stretch
    mixed = (patch * 374761393 + y * 668265263 + len(name) * 362437) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    chance = ((mixed ^ (mixed >> 16)) & 1023) / 1024
    pixels = np.full((TILE, TILE), ink(texture.base), np.uint32)
    low = 0.0
    for color, share in texture.speckles:
        pixels[(chance >= low) & (chance < low + share)] = ink(color)
        low += share
    return pixels


METALS: Mapping[str, str] = {"wood": "#B98348", "stone": "#A9ACB5", "iron": "#F1E4D8"}
_ICONS: Mapping[str, str] = {
    "stone": "stone_item",
    "coal": "coal_item",
    "iron": "iron_item",
    "diamond": "diamond_item",
}


def item_icon(item: str, size: int) -> ndarray:
    """The icon of a MA-Crafter item, tools in their metal: [size, size] uint32."""
    metal, _, tool = item.partition("_")
    if tool:
        return sprite(tool, size, metal=METALS[metal])
    return sprite(_ICONS.get(item, item), size)


def agent_sprite(agent: int, facing: str, size: int) -> ndarray:
    """An agent of MA-Crafter in its colour; facing: a direction, or `asleep`."""
    color = identity(agent)
    name = "agent_right" if facing == "left" else f"agent_{facing}"
    picture = sprite(name, size, agent=color, shade=shaded(color, SMALL_LIFT))
    return np.ascontiguousarray(picture[:, ::-1]) if facing == "left" else picture


THINGS: Mapping[str, tuple[str, int]] = {
    "cow": ("cow", 0),
    "zombie": ("zombie", 0),
    "skeleton": ("skeleton", 0),
    "arrow_up": ("arrow", 0),
    "arrow_left": ("arrow", 1),
    "arrow_down": ("arrow", 2),
    "arrow_right": ("arrow", 3),
    "plant": ("sapling", 0),
    "ripe_plant": ("ripe", 0),
}
"""What can stand on a tile: its picture, and how many quarter turns to the left it is turned."""


def thing(name: str, size: int) -> ndarray:
    """A picture of THINGS: [size, size] uint32."""
    picture, turns = THINGS[name]
    return np.ascontiguousarray(np.rot90(sprite(picture, size), turns))
