"""MA-Crafter for learners: what the parallel forms of `worlds.parallel` need beside its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.attempt_kernels import FROM_CREATURE
from primitives.macrafter_kernels import sum_up
from worlds.api import NO_ATTEMPT, AgentId, AttemptColumn, AttemptResult, Json, Stepped
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig, configure
from worlds.macrafter.generate import check_seed, from_drawing, to_drawing
from worlds.macrafter.reports import harms, object_codes, task_stem, unmet
from worlds.macrafter.rules import BODY_COLUMNS, VIEW_LAYERS, MacrafterRules, Views
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ACTION,
    ACTIONS,
    ITEMS,
    NOWHERE,
    OUTCOMES,
    REASONS,
    ROW,
    MacrafterState,
    creature_id,
)
from worlds.macrafter.table import load_table
from worlds.parallel import Box

__all__ = ["MacrafterPort", "build"]

NAME = "macrafter_v1"
COUNTS = ("need", "participation", "spatial", "temporal", "dependency", "dependency_need")
"""Counts of an attempt row in an agent's info, in the order of the columns."""
MOST_PATTERNS = 16_384
"""Infos and rows that are kept to be copied; beyond it they are made anew."""
Observed = dict[str, NDArray[Any]]
INT16 = np.iinfo(np.int16)
INT32 = np.iinfo(np.int32)


def build(preset: str | None = None, **overrides: Any) -> MacrafterPort:
    """MA-Crafter with the settings of `preset` changed by `overrides`. Raises ConfigError."""
    return MacrafterPort(configure(preset, **overrides))


class MacrafterPort:
    """MA-Crafter of one configuration.

    An observation has `view` [R, C, 3] int16, `inventory` [I] int16 and `self` [6] int32, as
    `MacrafterRules.observe` gives them.
    """

    name = NAME

    def __init__(self, config: MacrafterConfig) -> None:
        self.config = config
        self.table = load_table(config)
        self.rules = MacrafterRules(config, self.table)
        self.seed = config.seed
        self.choices: tuple[int, ...] = (len(ACTIONS),)
        if config.full_actions:
            self.choices = (len(ACTIONS), config.agents, len(ITEMS), config.item_cap + 1)
        self.observation = {
            "view": Box(0, INT16.max, (*config.view, VIEW_LAYERS), np.int16),
            "inventory": Box(0, INT16.max, (len(ITEMS),), np.int16),
            "self": Box(-1, INT32.max, (BODY_COLUMNS,), np.int32),
        }
        self._lowered = tuple(self.table.lowered)
        self._facts = np.zeros(config.agents, np.int64)
        self._patterns: dict[int, dict[str, Json]] = {}
        self._rows: dict[bytes, tuple[dict[str, Json], str, bool]] = {}

    def play(self, state: MacrafterState, commands: NDArray[np.int32]) -> tuple[Stepped, Observed]:
        """Step a batch with `commands` [B, A, 1 or 4] int32, and look at it afterwards."""
        actions, arguments = commands[..., 0], None
        if self.config.full_actions:
            actions, arguments = actions.copy(), commands[..., 1:].copy()
        views = self.rules.room_for(*state.agent_part.shape)
        return self.rules.advance(state, actions, None, arguments, views), _named(views)

    def views(self, state: MacrafterState) -> Observed:
        """`view` [B, A, R, C, 3] int16, `inventory` [B, A, I] int16, `self` [B, A, 6] int32."""
        return _named(self.rules.observe_all(state))

    def observations(
        self, views: Observed, agents: Sequence[AgentId]
    ) -> list[dict[str, NDArray[Any]]]:
        """Each agent's own arrays."""
        view, inventory, body = views["view"][0], views["inventory"][0], views["self"][0]
        seen = [
            {"view": v, "inventory": i, "self": b}
            for v, i, b in zip(view, inventory, body, strict=True)
        ]
        return seen if len(agents) == len(seen) else [seen[agent] for agent in agents]

    def infos(self, state: MacrafterState, agents: Sequence[AgentId]) -> list[dict[str, Json]]:
        """Outcome, reason, attempt row, harm, score, achievements and lowered requirements."""
        facts = self._facts
        sum_up(
            state.agent_outcome[0],
            state.agent_reason[0],
            state.agent_harm[0],
            state.achievements[0],
            facts,
        )
        infos = self._patterns_of(facts.tolist())
        score = float(state.score[0])
        for info in infos:
            info["score"] = score
        if state.attempt_count[0] > 0:
            attempts = self._attempts(state)
            for info, row in zip(infos, state.agent_attempt[0].tolist(), strict=True):
                if row != NO_ATTEMPT:
                    pattern, task = attempts[row]
                    info["attempt"] = pattern.copy()
                    info["attempt"]["task"] = task
        return infos if len(agents) == len(infos) else [infos[agent] for agent in agents]

    def _patterns_of(self, facts: list[int]) -> list[dict[str, Json]]:
        """Infos of the packed `facts` of `sum_up`, without score and attempt."""
        patterns = self._patterns
        try:
            return [patterns[fact].copy() for fact in facts]
        except KeyError:
            if len(patterns) > MOST_PATTERNS:
                patterns.clear()
            for fact in facts:
                patterns[fact] = self._pattern(fact)
        return [patterns[fact].copy() for fact in facts]

    def _pattern(self, fact: int) -> dict[str, Json]:
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

    def _attempts(self, state: MacrafterState) -> list[tuple[dict[str, Json], str]]:
        """The attempt rows as a learner reads them, to be copied, and their tasks."""
        rows, known = state.attempts[0, : int(state.attempt_count[0])], self._rows
        raw, width = rows.tobytes(), rows.itemsize * rows.shape[1]
        first, last = rows.itemsize * AttemptColumn.NEED, rows.itemsize * ROW
        attempts = []
        for number, cell in enumerate(rows[:, ROW:].tolist()):
            start = number * width
            key = raw[start + first : start + last]
            if key not in known:
                if len(known) >= MOST_PATTERNS:
                    known.clear()
                known[key] = self._attempt(rows[number].tolist())
            pattern, stem, is_cell = known[key]
            if not is_cell:
                task = creature_id(stem, int(rows[number, 0]) - state.material[0].size)
            else:
                task = stem if cell[0] == NOWHERE else f"{stem}@{cell[0]},{cell[1]}"
            attempts.append((pattern, task))
        return attempts

    def _attempt(self, row: list[int]) -> tuple[dict[str, Json], str, bool]:
        """What rows that differ in their task alone have in common: the facts, the name the
        task's id begins with, and whether a cell follows."""
        facts: dict[str, Json] = {
            "task": "",
            **dict(zip(COUNTS, row[AttemptColumn.NEED :], strict=False)),
            "members": row[AttemptColumn.MEMBERS],
            "result": AttemptResult.NAMES[row[AttemptColumn.RESULT]],
            "reason": REASONS[row[AttemptColumn.REASON]],
            "unmet": unmet(row),
        }
        return facts, task_stem(self.table, row), row[ACTION] != FROM_CREATURE

    def draw(self, drawing: str, seed: int) -> MacrafterState:
        """A drawn start state with the map size and agents of the config."""
        state = from_drawing(drawing, replace(self.config, seed=check_seed(seed)))
        drawn = (*state.material.shape[1:], state.agent_cell.shape[1])
        needed = (*self.config.shape, self.config.agents)
        if drawn != needed:
            raise ConfigError(
                f"drawn has {drawn[0]} rows, {drawn[1]} columns and {drawn[2]} agents; allowed: "
                f"{needed[0]}, {needed[1]} and {needed[2]}"
            )
        return state

    def picture(self, state: MacrafterState) -> str:
        """The drawing of a batch of one."""
        return to_drawing(state)

    def board(self, state: MacrafterState) -> NDArray[np.int16]:
        """[H, W, 2] int16, material and object code of each cell."""
        return np.stack([state.material[0], object_codes(state)], axis=2).astype(np.int16)


def _named(views: Views) -> Observed:
    return {"view": views.view, "inventory": views.inventory, "self": views.body}
