"""Drawing kernels against plain Python, at the edges of the canvas and beyond."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primitives import draw_kernels as kernels

pytestmark = pytest.mark.kernel

SOLID = 0xFF << 24


def mixed(below: int, ink: int, cover: int) -> int:
    """`ink` over `below` in floating point."""
    rest = (below >> 24) / 255 * (1 - cover / 255)
    whole = rest + cover / 255
    parts = [
        round(((below >> shift & 255) * rest + (ink >> shift & 255) * cover / 255) / whole)
        for shift in (0, 8, 16)
    ]
    return parts[0] | parts[1] << 8 | parts[2] << 16 | round(whole * 255) << 24


def near(one: np.ndarray, other: np.ndarray) -> bool:
    parts = [a.view(np.uint8).astype(int) for a in (one, other)]
    return bool(np.abs(parts[0] - parts[1]).max() <= 2)


def test_cells_are_drawn_where_their_code_changed():
    random = np.random.default_rng(1)
    tiles = random.integers(0, 1 << 32, (5, 3, 3), dtype=np.uint32)
    codes = random.integers(0, 5, (4, 6)).astype(np.int32)
    drawn, canvas = np.full((4, 6), -1, np.int32), np.zeros((12, 18), np.uint32)
    assert kernels.blit_cells(codes, drawn, tiles, canvas) == 24
    due = tiles[codes].transpose(0, 2, 1, 3).reshape(12, 18)
    assert np.array_equal(canvas, due)
    assert kernels.blit_cells(codes, drawn, tiles, canvas) == 0
    codes[2, 3] = (codes[2, 3] + 1) % 5
    assert kernels.blit_cells(codes, drawn, tiles, canvas) == 1
    assert np.array_equal(canvas, tiles[codes].transpose(0, 2, 1, 3).reshape(12, 18))


@settings(max_examples=30, deadline=None)
@given(top=st.integers(-6, 12), left=st.integers(-6, 12), seed=st.integers(0, 99))
def test_a_sprite_is_laid_over_and_cut_at_the_edges(top, left, seed):
    random = np.random.default_rng(seed)
    canvas = random.integers(0, 1 << 24, (8, 9)).astype(np.uint32) | np.uint32(SOLID)
    sprite = random.integers(0, 1 << 32, (5, 4), dtype=np.uint32)
    due = canvas.copy()
    for y in range(5):
        for x in range(4):
            if 0 <= top + y < 8 and 0 <= left + x < 9 and sprite[y, x] >> 24:
                below, ink = int(due[top + y, left + x]), int(sprite[y, x])
                due[top + y, left + x] = mixed(below, ink, ink >> 24)
    kernels.blit_sprite(canvas, sprite, top, left)
    assert near(canvas, due)


def test_drawing_on_a_clear_canvas_keeps_what_is_see_through():
    canvas = np.zeros((3, 3), np.uint32)
    half = 0x80 << 24 | 0x204060
    kernels.blend_rectangle(canvas, 0, 0, 2, 2, half)
    assert canvas[0, 0] == half and canvas[2, 2] == 0
    kernels.blend_rectangle(canvas, 1, 1, 5, 5, SOLID | 0xFFFFFF)
    assert canvas[1, 1] == SOLID | 0xFFFFFF
    kernels.blend_rectangle(canvas, 0, 0, 1, 1, half)
    assert near(canvas[:1, :1].copy(), np.array([[mixed(half, half, 0x80)]], np.uint32))


def test_many_sprites_equal_one_after_another_and_mark_their_cells():
    random = np.random.default_rng(3)
    sprites = random.integers(0, 1 << 32, (3, 6, 6), dtype=np.uint32)
    which = np.array([0, 2, 1, 1, 0], np.int64)
    cells = np.array([[0, 0], [2, 3], [-1, -1], [9, 9], [4, 4]], np.int16)
    canvas, drawn = np.zeros((20, 20), np.uint32), np.zeros((5, 5), np.int32)
    due = canvas.copy()
    kernels.blit_sprites(canvas, sprites, which, cells, (0, 0, 4, 1), drawn)
    for index in (0, 1, 4):
        row, column = cells[index].tolist()
        kernels.blit_sprite(due, sprites[which[index]], row * 4 - 1, column * 4 - 1)
    assert np.array_equal(canvas, due)
    touched = {(r, c) for r, c in np.argwhere(drawn == -1).tolist()}
    assert touched >= {(0, 0), (0, 1), (1, 0), (2, 3), (1, 3), (3, 3), (2, 2), (2, 4), (4, 4)}
    assert (0, 4) not in touched


def test_blocks_are_painted_with_their_rims():
    codes = np.zeros((6, 7), np.int32)
    cells = np.array([[1, 1], [-1, -1], [4, 5]], np.int16)
    weights = np.array([3, 2, 1], np.int16)
    kernels.paint_blocks(codes, cells, weights, np.array([100, 200, 300], np.int32))
    assert codes[1:4, 1:4].tolist() == [[105, 101, 109], [104, 100, 108], [106, 102, 110]]
    assert codes[4, 5] == 315
    assert np.count_nonzero(codes) == 10


@settings(max_examples=40, deadline=None)
@given(
    ends=st.tuples(*[st.floats(-30, 50) for _ in range(4)]),
    thickness=st.floats(0.5, 9),
    gap=st.floats(0, 4),
)
def test_a_line_covers_what_is_near_it_and_nothing_else(ends, thickness, gap):
    canvas = np.zeros((20, 24), np.uint32)
    kernels.draw_line(canvas, ends, thickness, (2.0, gap), SOLID | 0xFF)
    y0, x0, y1, x1 = ends
    length = np.hypot(y1 - y0, x1 - x0)
    y, x = np.indices(canvas.shape) + 0.5
    if length == 0:
        assert not canvas.any()
        return
    along = ((y - y0) * (y1 - y0) + (x - x0) * (x1 - x0)) / length
    across = np.abs((y - y0) * (x1 - x0) - (x - x0) * (y1 - y0)) / length
    far = (across > thickness / 2 + 0.6) | (along < -0.6) | (along > length + 0.6)
    assert not canvas[far].any()
    core = (across < thickness / 2 - 0.6) & (along > 0.6) & (along < length - 0.6)
    if gap == 0:
        assert (canvas[core] >> 24 == 255).all()


@settings(max_examples=25, deadline=None)
@given(y=st.floats(-8, 28), x=st.floats(-8, 28), inner=st.floats(-1, 6), wide=st.floats(1, 6))
def test_a_ring_covers_what_lies_between_its_radii(y, x, inner, wide):
    canvas = np.zeros((20, 22), np.uint32)
    kernels.draw_ring(canvas, (y, x), inner, inner + wide, SOLID)
    rows, columns = np.indices(canvas.shape) + 0.5
    radius = np.hypot(rows - y, columns - x)
    inside = (radius < inner + wide - 0.6) & ((radius > inner + 0.6) | (inner < 0))
    outside = (radius > inner + wide + 0.6) | ((radius < inner - 0.6) & (inner >= 0))
    assert (canvas[inside] >> 24 == 255).all()
    assert not canvas[outside].any()


def test_a_triangle_is_filled_whichever_way_it_turns():
    for corners in ([(2, 2), (2, 17), (17, 2)], [(2, 2), (17, 2), (2, 17)]):
        canvas = np.zeros((20, 20), np.uint32)
        kernels.fill_triangle(canvas, np.array(corners, float), SOLID)
        assert canvas[4, 4] == canvas[3, 12] == SOLID
        assert canvas[16, 16] == canvas[1, 1] == 0
    kernels.fill_triangle(canvas, np.array([(-9.0, -9), (-9, 60), (60, -9)]), SOLID)
    assert (canvas[:10, :10] == SOLID).all()


def test_text_is_written_glyph_by_glyph():
    glyphs = np.zeros((2, 2, 3), np.uint8)
    glyphs[0, :, 0] = 1
    glyphs[1, 0, :3] = 1
    widths, canvas = np.array([1, 3]), np.zeros((6, 14), np.uint32)
    end = kernels.draw_text(canvas, glyphs, widths, np.array([0, 1, 0]), (1, 1, 2), SOLID)
    assert end == 1 + 4 + 8 + 4
    shown = ["".join("#" if pixel else "." for pixel in row) for row in canvas]
    assert shown == [
        "..............",
        ".##..######..#",
        ".##..######..#",
        ".##..........#",
        ".##..........#",
        "..............",
    ]


def unpacked(data: bytes) -> list[int]:
    """A plain LZW reader for GIF, 8 bits a pixel."""
    table: list[bytes] = []
    bits, at, width = int.from_bytes(data, "little"), 0, 9
    out, last = bytearray(), b""
    while True:
        code = bits >> at & ((1 << width) - 1)
        at += width
        if code == 256:
            table, width, last = [bytes([value]) for value in range(256)] + [b"", b""], 9, b""
            continue
        if code == 257:
            assert len(data) == (at + 7) // 8
            return list(out)
        entry = table[code] if code < len(table) else last + last[:1]
        out += entry
        if last and len(table) < 4096:
            table.append(last + entry[:1])
        if len(table) == 1 << width and width < 12:
            width += 1
        last = entry


@pytest.mark.parametrize("count", [1, 2, 255, 300, 5000, 60000])
@pytest.mark.parametrize("colors", [1, 2, 17, 256])
def test_lzw_is_read_back_by_a_plain_reader(count, colors):
    pixels = np.random.default_rng(count).integers(0, colors, count).astype(np.uint8)
    keys, codes = np.empty(kernels.HASH_SIZE, np.int64), np.empty(kernels.HASH_SIZE, np.int64)
    out = np.empty(2 * count + 64, np.uint8)
    size = kernels.lzw_encode(pixels, keys, codes, out)
    assert unpacked(out[:size].tobytes()) == pixels.tolist()


def test_colours_are_counted_and_found_again():
    random = np.random.default_rng(5)
    palette = random.integers(0, 1 << 24, 50)
    canvas = (palette[random.integers(0, 50, (40, 30))] | SOLID).astype(np.uint32)
    table, counts = np.full(256, -1, np.int64), np.zeros(256, np.int64)
    found = kernels.count_colors(canvas, table, counts)
    seen, times = np.unique(canvas & 0xFFFFFF, return_counts=True)
    assert found == len(seen)
    assert dict(zip(table[table >= 0].tolist(), counts[table >= 0].tolist(), strict=True)) == dict(
        zip(seen.tolist(), times.tolist(), strict=True)
    )
    places, out = np.arange(256).astype(np.uint8), np.empty(canvas.shape, np.uint8)
    kernels.index_colors(canvas, table, places, np.zeros(32768, np.uint8), out)
    assert np.array_equal(table[out], canvas & 0xFFFFFF)
    small = np.full(16, -1, np.int64)
    assert kernels.count_colors(canvas, small, np.zeros(16, np.int64)) == -1


def test_an_unknown_colour_takes_the_nearest():
    colors = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]])
    coarse = np.empty(32768, np.uint8)
    kernels.nearest_colors(colors, coarse)
    canvas = np.array([[0x0000F0, 0x00E010, 0xC00000, 0x101010]], np.uint32)
    out = np.empty((1, 4), np.uint8)
    none = np.full(16, -1, np.int64)
    kernels.index_colors(canvas, none, np.zeros(16, np.uint8), coarse, out)
    assert out.tolist() == [[1, 2, 3, 0]]
