"""Arrays for what agents observe, used again once nobody holds them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sheet", "Sheets", "Views"]

KEPT = 3
"""Sheets kept: the newest, the one a caller still holds, and one to spare."""


class Views(NamedTuple):
    """Observations of a batch: view [B, A, R, C, 3] int16, inventory [B, A, I] int16, body
    [B, A, 6] int32."""

    view: NDArray[np.int16]
    inventory: NDArray[np.int16]
    body: NDArray[np.int32]


class Sheet:
    """Arrays of one batch, and each agent's own parts of those of a batch of one.

    Whoever holds a part, or anything made from one, holds a reference to it or to its array.
    """

    def __init__(self, views: Views) -> None:
        self.views = views
        self.size = views.body.shape[:2]
        self._arrays: list[NDArray[Any]] = list(views)
        self._own: list[dict[str, NDArray[Any]]] = []
        self._unheld = sum(map(getrefcount, self._arrays))

    def is_free(self) -> bool:
        """Whether nobody holds an array or a part of one."""
        return sum(map(getrefcount, self._arrays)) == self._unheld

    def own(self) -> list[dict[str, NDArray[Any]]]:
        """What each agent of the first world observes: arrays by name, dicts to be copied."""
        if not self._own:
            parts = [part for array in self.views for part in array[0]]
            team = len(parts) // len(self.views)
            self._own = [
                {"view": parts[a], "inventory": parts[team + a], "self": parts[2 * team + a]}
                for a in range(team)
            ]
            self._arrays += parts
            del parts
            alone = sum(map(getrefcount, islice(self._arrays, len(self.views), None)))
            self._unheld += len(self._arrays) - len(self.views) + alone  # each holds its array
        return self._own


class Sheets:
    """The sheets of one caller; a copy of it starts with none."""

    def __init__(self, make: Callable[[int, int], Views]) -> None:
        self._make = make
        self._kept: list[Sheet] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"_make": self._make, "_kept": []}

    def take(self, worlds: int, agents: int) -> Views:
        """Arrays that nobody holds, for what so many agents of so many worlds observe."""
        size = worlds, agents
        for sheet in self._kept:
            if sheet.size == size and sheet.is_free():
                return sheet.views
        sheet = Sheet(self._make(worlds, agents))
        self._kept = [sheet, *self._kept[: KEPT - 1]]
        return sheet.views

    def own(self, view: NDArray[np.int16]) -> list[dict[str, NDArray[Any]]]:
        """`Sheet.own` of the kept sheet whose array is `view`."""
        for sheet in self._kept:
            if sheet.views.view is view:
                return sheet.own()
        raise ValueError("views of no sheet that is kept")
