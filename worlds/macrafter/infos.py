"""What learners are told of the last step: dicts made from patterns, since most are alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from primitives.macrafter_kernels import COUNT_BITS, NOT_COUNTED, OF_CREATURE, sum_up
from worlds.api import NO_TASK, AttemptColumn, AttemptResult, Json
from worlds.macrafter.reports import harms, task_name, task_stem, unmet
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ITEM,
    OUTCOMES,
    REASONS,
    MacrafterState,
)
from worlds.macrafter.table import Table

__all__ = ["Infos"]

COUNTS = ("need", "participation", "spatial", "temporal", "dependency", "dependency_need")
"""Counts of an attempt row in an agent's info, in the order of the columns."""
COUNT_MASK = (1 << COUNT_BITS) - 1
MOST_KEPT = 65_536
"""Patterns of a kind that are kept; beyond it they are made anew."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Made(dict[K, V], Generic[K, V]):
    """Values by key, each made by `make` when it is first asked for."""

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        if len(self) >= MOST_KEPT:
            self.clear()
        value = self[key] = self._make(key)
        return value


class Infos:
    """Infos of a team whose map has `height` x `width` cells."""

    def __init__(self, table: Table, agents: int, height: int, width: int) -> None:
        self._table, self._lowered = table, tuple(table.lowered)
        self._cells, self._told = height * width, np.zeros((4, agents), np.int64)
        self._patterns: Made[int, dict[str, Json]] = Made(self._pattern)
        self._attempts: Made[int, dict[str, Json]] = Made(self._counted)
        # Ids of tasks end like `@31,41`; row and column -1, the last ones here, are no cell.
        self._rows = [*(f"@{row}" for row in range(height)), ""]
        self._columns = [*(f",{column}" for column in range(width)), ""]

    def of(self, state: MacrafterState) -> list[dict[str, Json]]:
        """Outcome, reason, attempt row, harm, score, achievements and lowered requirements, of
        every agent of a batch of one; each dict is its reader's own."""
        sum_up(
            state.agent_outcome,
            state.agent_reason,
            state.agent_harm,
            state.achievements,
            state.attempts,
            state.agent_attempt,
            self._cells,
            self._told,
        )
        facts, *told = self._told.tolist()
        patterns, attempts, rows, columns = (
            self._patterns,
            self._attempts,
            self._rows,
            self._columns,
        )
        infos = [pattern.copy() for pattern in map(patterns.__getitem__, facts)]
        score = float(state.score[0])
        for info, counts, row, column in zip(infos, *told):  # noqa: B905
            info["score"] = score
            if counts >= 0:
                info["attempt"] = attempt = attempts[counts].copy()
                if row == OF_CREATURE:
                    attempt["task"] += f"_{column}"
                else:
                    attempt["task"] += rows[row] + columns[column]
        if NOT_COUNTED in told[0]:
            self._add_large(state, told[0], infos)
        return infos

    def _add_large(self, state: MacrafterState, counted: list[int], infos: list[Any]) -> None:
        """Add the attempts whose counts do not fit into a pattern's number."""
        for agent in range(len(infos)):
            if counted[agent] == NOT_COUNTED:
                row = state.attempts[0, state.agent_attempt[0, agent]].tolist()
                task = task_name(self._table, row, self._cells)
                infos[agent]["attempt"] = {**_attempt(row), "task": task}

    def _pattern(self, fact: int) -> dict[str, Json]:
        """An info by FACTS, without score and attempt."""
        reason, won = fact >> 8 & 255, fact >> 24
        return {
            "outcome": OUTCOMES[fact & 255],
            "reason": REASONS[reason] if reason else None,
            "attempt": None,
            "harm": harms(fact >> 16 & 255),
            "score": 0.0,
            "achievements": tuple(n for i, n in enumerate(ACHIEVEMENTS) if won >> i & 1),
            "lowered": self._lowered,
        }

    def _counted(self, counts: int) -> dict[str, Json]:
        """An attempt by COUNTED; its task is what the id begins with."""
        row = [NO_TASK, *(counts >> COUNT_BITS * i & COUNT_MASK for i in range(ITEM))]
        return {**_attempt(row), "task": task_stem(self._table, row)}


def _attempt(row: list[int]) -> dict[str, Json]:
    """An attempt row as a learner reads it, without its task."""
    return {
        "task": "",
        **dict(zip(COUNTS, row[AttemptColumn.NEED :], strict=False)),
        "members": row[AttemptColumn.MEMBERS],
        "result": AttemptResult.NAMES[row[AttemptColumn.RESULT]],
        "reason": REASONS[row[AttemptColumn.REASON]],
        "unmet": unmet(row),
    }
