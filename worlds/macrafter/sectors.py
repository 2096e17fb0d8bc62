"""The map in sectors, in which teammates tell each other what they have seen."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from worlds.api import Cell
from worlds.macrafter.ground import UNKNOWN, Ground

__all__ = ["SIDE", "centres", "read_seen", "seen_share", "seen_text"]

SIDE = 6
"""Rows and columns of sectors; they are numbered row by row from 0."""
MOSTLY = 0.8
"""Share of a sector from which on it counts as seen."""
_SEEN = re.compile(r"sectors seen: ([0-9 ]+)")


def _bounds(length: int) -> list[int]:
    return [length * k // SIDE for k in range(SIDE + 1)]


def centres(ground: Ground) -> list[Cell]:
    """The middle cell of each sector."""
    rows, columns = _bounds(ground.rows), _bounds(ground.columns)
    return [
        ((rows[i] + rows[i + 1]) // 2, (columns[j] + columns[j + 1]) // 2)
        for i in range(SIDE)
        for j in range(SIDE)
    ]


def seen_share(marked: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[SIDE * SIDE] float64, share of marked cells of each sector. marked: [H, W] bool."""
    rows, columns = _bounds(marked.shape[0]), _bounds(marked.shape[1])
    shares = [
        marked[rows[i] : rows[i + 1], columns[j] : columns[j + 1]].mean()
        for i in range(SIDE)
        for j in range(SIDE)
    ]
    return np.array(shares)


def seen_text(ground: Ground) -> str:
    """The sectors that are mostly seen, in words that `read_seen` reads; empty if none is."""
    share = seen_share(ground.material != UNKNOWN)
    numbers = " ".join(str(k) for k in np.flatnonzero(share >= MOSTLY))
    return f"Of {SIDE * SIDE} sectors seen: {numbers}." if numbers else ""


def read_seen(text: str) -> frozenset[int]:
    """Sectors that a text says are seen."""
    found = _SEEN.search(text)
    numbers = (int(word) for word in found[1].split()) if found else ()
    return frozenset(number for number in numbers if number < SIDE * SIDE)
