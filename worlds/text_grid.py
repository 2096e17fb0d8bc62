"""Words that texts of grid worlds share: cells, lists, and what was left out."""

from collections.abc import Sequence

from worlds.api import Cell

__all__ = ["cell_text", "cells_text", "left_out", "list_text"]

SHOWN_CELLS = 8
"""Cells of a straight line that are written one by one; of a longer line the two ends."""


def cell_text(cell: Cell) -> str:
    """A cell as `(row,column)`."""
    return f"({cell[0]},{cell[1]})"


def cells_text(cells: Sequence[Cell]) -> str:
    """Cells of one straight line without gaps, in order."""
    if len(cells) > SHOWN_CELLS:
        return f"{cell_text(cells[0])} to {cell_text(cells[-1])}"
    return " ".join(map(cell_text, cells)) or "no cell"


def list_text(names: Sequence[str]) -> str:
    """Names with commas, or `none`."""
    return ", ".join(names) or "none"


def left_out(count: int, what: str) -> str:
    """The line that says how many of `what` are not shown."""
    return f"({count} more {what} left out)"
