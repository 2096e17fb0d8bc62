"""Drawing into a frame buffer of our own, and packing pictures.

A canvas is [Y, X] uint32, a pixel red + green * 2^8 + blue * 2^16 + alpha * 2^24; rows first. What
lies outside the canvas is cut off. `ink` is such a pixel; its alpha says how much it covers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import ndarray

from primitives.compile import kernel

__all__ = [
    "blend_rectangle",
    "blit_cells",
    "blit_sprite",
    "blit_sprites",
    "count_colors",
    "draw_line",
    "draw_ring",
    "draw_text",
    "fill_triangle",
    "index_colors",
    "lzw_encode",
    "nearest_colors",
    "paint_blocks",
]

Whole = int | np.int64
"""Uncompiled these are numpy's integers, compiled there is one kind."""

OPAQUE = 255
LZW_LIMIT = 4096
HASH_SIZE = 8192


@kernel
def _mix(below: Whole, ink: Whole, cover: Whole) -> Whole:
    """`ink` over `below`, `cover` of 255; `below` may be clear itself."""
    rest = ((below >> 24) * (OPAQUE - cover) + 127) // OPAQUE
    whole = rest + cover
    if whole == 0:
        return 0
    half = whole // 2
    red = ((below & 255) * rest + (ink & 255) * cover + half) // whole
    green = (((below >> 8) & 255) * rest + ((ink >> 8) & 255) * cover + half) // whole
    blue = (((below >> 16) & 255) * rest + ((ink >> 16) & 255) * cover + half) // whole
    return red | (green << 8) | (blue << 16) | (whole << 24)


@kernel
def blit_cells(codes: ndarray, drawn: ndarray, tiles: ndarray, canvas: ndarray) -> int:
    """Draw the tile of every cell whose code differs from what is drawn there; returns how many.

    codes: [H, W] int32, index into `tiles`. drawn: [H, W] int32, brought up to date.
    tiles: [N, S, S] uint32. canvas: [H * S, W * S] uint32.
    """
    height, width = codes.shape
    size = tiles.shape[1]
    changed = 0
    for row in range(height):
        for column in range(width):
            code = codes[row, column]
            if code == drawn[row, column]:
                continue
            drawn[row, column] = code
            changed += 1
            top, left = row * size, column * size
            for y in range(size):
                for x in range(size):
                    canvas[top + y, left + x] = tiles[code, y, x]
    return changed


@kernel
def paint_blocks(codes: ndarray, cells: ndarray, weights: ndarray, first: ndarray) -> None:
    """Write the tiles of square blocks into a grid of tile codes.

    codes: [H, W] int32, written to. cells: [K, 2], (row, column) of the top left; row < 0: gone.
    weights: [K], side in cells. first: [K] int32, code of an inner tile; the rim adds 1 at the top,
    2 at the bottom, 4 at the left, 8 at the right.
    """
    for block in range(cells.shape[0]):
        top, left, side = cells[block, 0], cells[block, 1], weights[block]
        if top < 0:
            continue
        for dy in range(side):
            for dx in range(side):
                code = first[block]
                code += (dy == 0) + 2 * (dy == side - 1)
                code += 4 * (dx == 0) + 8 * (dx == side - 1)
                codes[top + dy, left + dx] = code


@kernel
def blit_sprite(canvas: ndarray, sprite: ndarray, top: int, left: int) -> None:
    """Lay `sprite` [h, w] uint32 over the canvas, each pixel by its alpha."""
    height, width = canvas.shape
    for y in range(max(0, -top), min(sprite.shape[0], height - top)):
        for x in range(max(0, -left), min(sprite.shape[1], width - left)):
            ink = np.int64(sprite[y, x])
            cover = ink >> 24
            if cover == OPAQUE:
                canvas[top + y, left + x] = ink
            elif cover:
                canvas[top + y, left + x] = _mix(np.int64(canvas[top + y, left + x]), ink, cover)


@kernel
def blit_sprites(
    canvas: ndarray,
    sprites: ndarray,
    which: ndarray,
    cells: ndarray,
    view: tuple[int, int, int, int],
    drawn: ndarray,
) -> None:
    """Lay one sprite over each of many cells, and mark the cells it touches for drawing anew.

    sprites: [N, P, P] uint32. which: [M] int64, index into sprites. cells: [M, 2], (row, column);
    those out of view are passed over. view: (first row, first column, pixels a cell, pixels by
    which a sprite reaches over its cell on each side). drawn: [H, W] int32, -1 where marked.
    """
    first_row, first_column, size, margin = view
    height, width = drawn.shape
    reach = (margin + size - 1) // size
    for index in range(which.shape[0]):
        row, column = cells[index, 0] - first_row, cells[index, 1] - first_column
        if cells[index, 0] < 0 or not (0 <= row < height and 0 <= column < width):
            continue
        sprite = sprites[which[index]]
        blit_sprite(canvas, sprite, row * size - margin, column * size - margin)
        for y in range(max(0, row - reach), min(height, row + reach + 1)):
            for x in range(max(0, column - reach), min(width, column + reach + 1)):
                drawn[y, x] = -1


@kernel
def blend_rectangle(
    canvas: ndarray, top: int, left: int, height: int, width: int, ink: int
) -> None:
    """Fill a rectangle with `ink` by its alpha."""
    cover = ink >> 24
    for y in range(max(0, top), min(canvas.shape[0], top + height)):
        for x in range(max(0, left), min(canvas.shape[1], left + width)):
            canvas[y, x] = ink if cover == OPAQUE else _mix(np.int64(canvas[y, x]), ink, cover)


@kernel
def _touch(canvas: ndarray, y: int, x: int, ink: int, share: float) -> None:
    """Cover one pixel with `ink` by its alpha times `share` (0 to 1)."""
    if share > 0.0 and 0 <= y < canvas.shape[0] and 0 <= x < canvas.shape[1]:
        cover = int((ink >> 24) * min(1.0, share) + 0.5)
        canvas[y, x] = _mix(np.int64(canvas[y, x]), ink, cover)


@kernel
def draw_line(
    canvas: ndarray,
    ends: tuple[float, float, float, float],
    thickness: float,
    dash: tuple[float, float],
    ink: int,
) -> None:
    """A smooth line; `ends` (y, x, y, x), `dash` (drawn, left out; 0: solid), all in pixels."""
    y0, x0, y1, x1 = ends
    length = math.hypot(y1 - y0, x1 - x0)
    if length == 0.0:
        return
    dy, dx = (y1 - y0) / length, (x1 - x0) / length
    half = thickness / 2.0
    is_steep = abs(dy) > abs(dx)
    first, last = (min(y0, y1), max(y0, y1)) if is_steep else (min(x0, x1), max(x0, x1))
    limit = canvas.shape[0] if is_steep else canvas.shape[1]
    reach = int(half * 1.5) + 2
    for major in range(max(0, int(first - half)), min(limit, int(last + half) + 2)):
        middle = (
            x0 + (major + 0.5 - y0) * dx / dy if is_steep else y0 + (major + 0.5 - x0) * dy / dx
        )
        for minor in range(int(middle) - reach, int(middle) + reach + 1):
            y, x = (major, minor) if is_steep else (minor, major)
            along = (y + 0.5 - y0) * dy + (x + 0.5 - x0) * dx
            if dash[1] > 0.0 and along % (dash[0] + dash[1]) >= dash[0]:
                continue
            across = abs((y + 0.5 - y0) * dx - (x + 0.5 - x0) * dy)
            inside = min(along, length - along) + 0.5
            _touch(canvas, y, x, ink, min(half - across + 0.5, inside))


@kernel
def draw_ring(
    canvas: ndarray, center: tuple[float, float], inner: float, outer: float, ink: int
) -> None:
    """A smooth ring around `center` (y, x) between two radii in pixels; inner < 0: a disc."""
    y0, x0 = center
    for y in range(int(y0 - outer) - 1, int(y0 + outer) + 2):
        for x in range(int(x0 - outer) - 1, int(x0 + outer) + 2):
            radius = math.hypot(y + 0.5 - y0, x + 0.5 - x0)
            share = outer - radius + 0.5
            if inner >= 0.0:
                share = min(share, radius - inner + 0.5)
            _touch(canvas, y, x, ink, share)


@kernel
def fill_triangle(canvas: ndarray, corners: ndarray, ink: int) -> None:
    """A smooth triangle; corners: [3, 2] float64, (y, x) in pixels."""
    low_y, high_y = int(corners[:, 0].min()) - 1, int(corners[:, 0].max()) + 2
    low_x, high_x = int(corners[:, 1].min()) - 1, int(corners[:, 1].max()) + 2
    turn = (corners[1, 1] - corners[0, 1]) * (corners[2, 0] - corners[0, 0]) - (
        corners[1, 0] - corners[0, 0]
    ) * (corners[2, 1] - corners[0, 1])
    sign = 1.0 if turn > 0 else -1.0
    for y in range(low_y, high_y):
        for x in range(low_x, high_x):
            share = 1.0
            for side in range(3):
                ay, ax = corners[side, 0], corners[side, 1]
                by, bx = corners[(side + 1) % 3, 0], corners[(side + 1) % 3, 1]
                length = math.hypot(by - ay, bx - ax) + 1e-9
                depth = ((bx - ax) * (y + 0.5 - ay) - (by - ay) * (x + 0.5 - ax)) / length
                share = min(share, sign * depth + 0.5)
            _touch(canvas, y, x, ink, share)


@kernel
def draw_text(
    canvas: ndarray,
    glyphs: ndarray,
    widths: ndarray,
    text: ndarray,
    place: tuple[int, int, int],
    ink: int,
) -> int:
    """Write glyphs one after another; returns the x where the next one would begin.

    glyphs: [G, h, w] uint8, 1 where there is ink. widths: [G] int64. text: [N] int64, index into
    glyphs. place: (top, left, scale) in pixels; a glyph's pixel is scale x scale.
    """
    top, left, scale = place
    for index in range(text.shape[0]):
        glyph = text[index]
        for y in range(glyphs.shape[1]):
            for x in range(widths[glyph]):
                if glyphs[glyph, y, x]:
                    for sub in range(scale * scale):
                        _touch(
                            canvas,
                            top + y * scale + sub // scale,
                            left + x * scale + sub % scale,
                            ink,
                            1.0,
                        )
        left += (widths[glyph] + 1) * scale
    return left


# --- packing -------------------------------------------------------------------------------------


@kernel
def _slot(color: Whole, size: int) -> Whole:
    """Where a colour is looked for first in a table of `size` (a power of two) places."""
    return ((color * 2654435761) >> 12) & (size - 1)


@kernel
def count_colors(canvas: ndarray, colors: ndarray, counts: ndarray) -> int:
    """Count the pixels of each colour; returns how many colours `colors` holds, -1: it is full.

    colors: [N] int64, N a power of two, an open hash table with -1 where free; added to.
    counts: [N] int64, added to.
    """
    size = colors.shape[0]
    found = 0
    for slot in range(size):
        if colors[slot] >= 0:
            found += 1
    place: Whole = 0
    last = np.int64(-1)
    for y in range(canvas.shape[0]):
        for x in range(canvas.shape[1]):
            color = np.int64(canvas[y, x]) & 0xFFFFFF
            if color != last:
                last = color
                place = _slot(color, size)
                while colors[place] != color:
                    if colors[place] < 0:
                        if found >= size // 2:
                            return -1
                        colors[place] = color
                        found += 1
                        break
                    place = (place + 1) & (size - 1)
            counts[place] += 1
    return found


@kernel
def index_colors(
    canvas: ndarray, colors: ndarray, indices: ndarray, coarse: ndarray, out: ndarray
) -> None:
    """Give each pixel its place in a palette.

    colors: [N] int64, hash table of exactly known colours, -1 where free. indices: [N] uint8, their
    places. coarse: [32768] uint8, place by the upper 5 bits of red, green, blue, for all others.
    out: [Y, X] uint8.
    """
    size = colors.shape[0]
    last = np.int64(-1)
    index = np.uint8(0)
    for y in range(canvas.shape[0]):
        for x in range(canvas.shape[1]):
            color = np.int64(canvas[y, x]) & 0xFFFFFF
            if color != last:
                last = color
                place = _slot(color, size)
                while colors[place] != color and colors[place] >= 0:
                    place = (place + 1) & (size - 1)
                if colors[place] == color:
                    index = indices[place]
                else:
                    rough = ((color & 0xF8) << 7) | ((color >> 6) & 0x3E0) | (color >> 19)
                    index = coarse[rough]
            out[y, x] = index


@kernel
def nearest_colors(colors: ndarray, out: ndarray) -> None:
    """The nearest of some colours to the middle of each cell of a coarse colour cube.

    colors: [N, 3] int64, N at most 256.
    out: [32768] uint8, by the upper 5 bits of red, green, blue.
    """
    for rough in range(out.shape[0]):
        red, green, blue = (rough >> 10) * 8 + 4, (rough >> 5 & 31) * 8 + 4, (rough & 31) * 8 + 4
        best, least = 0, 1 << 40
        for place in range(colors.shape[0]):
            far = (colors[place, 0] - red) ** 2 + (colors[place, 1] - green) ** 2
            far += (colors[place, 2] - blue) ** 2
            if far < least:
                best, least = place, far
        out[rough] = best


@kernel
def _put(
    out: ndarray, state: tuple[int, Whole, int], code: Whole, bits: int
) -> tuple[int, Whole, int]:
    """Append `bits` bits; `state`: bytes written, bits waiting, how many of them."""
    at, waiting, count = state
    waiting |= code << count
    count += bits
    while count >= 8:
        out[at] = waiting & 255
        at += 1
        waiting >>= 8
        count -= 8
    return at, waiting, count


@kernel
def lzw_encode(pixels: ndarray, keys: ndarray, codes: ndarray, out: ndarray) -> int:
    """Compress palette places as GIF wants them (8 bits a pixel); returns the bytes written.

    pixels: [N] uint8. keys: [8192] int64 and codes: [8192] int64 are scratch.
    out: [2 * N + 64] uint8.
    """
    clear, end = 256, 257
    keys[:] = -1
    free, bits = end + 1, 9
    state = _put(out, (0, 0, 0), clear, bits)
    prefix = np.int64(pixels[0])
    for index in range(1, pixels.shape[0]):
        key = (prefix << 8) | np.int64(pixels[index])
        place = (key * 2654435761 >> 8) & (HASH_SIZE - 1)
        while keys[place] != key and keys[place] >= 0:
            place = (place + 1) & (HASH_SIZE - 1)
        if keys[place] == key:
            prefix = codes[place]
            continue
        state = _put(out, state, prefix, bits)
        if free < LZW_LIMIT:
            keys[place], codes[place] = key, free
            if free == 1 << bits:
                bits += 1
            free += 1
        else:
            state = _put(out, state, clear, bits)
            keys[:] = -1
            free, bits = end + 1, 9
        prefix = np.int64(pixels[index])
    state = _put(out, state, prefix, bits)
    # The decoder has added one more entry by now, which may widen the next code.
    if free == 1 << bits and bits < 12:
        bits += 1
    at, waiting, count = _put(out, state, end, bits)
    if count:
        out[at] = waiting & 255
        at += 1
    return at
