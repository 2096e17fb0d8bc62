"""MA-Crafter for learners: what the parallel forms of `worlds.parallel` need beside its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.macrafter_kernels import sum_up
from worlds.api import NO_ATTEMPT, AgentId, AttemptColumn, AttemptResult, Json, Stepped
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig, configure
from worlds.macrafter.generate import check_seed, from_drawing, to_drawing
from worlds.macrafter.reports import harms, object_codes, task_name, unmet
from worlds.macrafter.rules import BODY_COLUMNS, VIEW_LAYERS, MacrafterRules
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ACTIONS,
    ITEM,
    ITEMS,
    OUTCOMES,
    REASONS,
    MacrafterState,
)
from worlds.macrafter.table import load_table
from worlds.parallel import Box

__all__ = ["MacrafterPort", "build"]

NAME = "macrafter_v1"
COUNTS = ("need", "participation", "spatial", "temporal", "dependency", "dependency_need")
"""Counts of an attempt row in an agent's info, in the order of the columns."""
MOST_PATTERNS = 16_384
"""Infos and rows that are kept to be copied; beyond it they are made anew."""
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
        self._rows: dict[tuple[int, ...], dict[str, Json]] = {}

    def play(
        self, state: MacrafterState, commands: NDArray[np.int32]
    ) -> tuple[Stepped, dict[str, NDArray[Any]]]:
        """Step a batch with `commands` [B, A, 1 or 4] int32, and look at it afterwards."""
        actions, arguments = commands[..., 0], None
        if self.config.full_actions:
            actions, arguments = actions.copy(), commands[..., 1:].copy()
        return self.rules.advance(state, actions, None, arguments), self.views(state)

    def views(self, state: MacrafterState) -> dict[str, NDArray[Any]]:
        """`view` [B, A, R, C, 3] int16, `inventory` [B, A, I] int16, `self` [B, A, 6] int32."""
        return self.rules.observe_all(state)

    def observations(
        self, views: dict[str, NDArray[Any]], agents: Sequence[AgentId]
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
        sum_up(
            state.agent_outcome[0],
            state.agent_reason[0],
            state.agent_harm[0],
            state.achievements[0],
            self._facts,
        )
        facts, score = self._facts.tolist(), float(state.score[0])
        infos = [self._info(facts[agent]) for agent in agents]
        for info in infos:
            info["score"] = score
        if state.attempt_count[0] > 0:
            rows = state.agent_attempt[0].tolist()
            attempts = self._attempts(state)
            for agent, info in zip(agents, infos, strict=True):
                if rows[agent] != NO_ATTEMPT:
                    info["attempt"] = attempts[rows[agent]].copy()
        return infos

    def _info(self, facts: int) -> dict[str, Json]:
        """An info of the packed `facts` of `sum_up`, without score and attempt."""
        pattern = self._patterns.get(facts)
        if pattern is None:
            if len(self._patterns) >= MOST_PATTERNS:
                self._patterns.clear()
            reason, won = facts >> 8 & 255, facts >> 24
            pattern = self._patterns[facts] = {
                "outcome": OUTCOMES[facts & 255],
                "reason": REASONS[reason] if reason else None,
                "attempt": None,
                "harm": harms(facts >> 16 & 255),
                "score": 0.0,
                "achievements": tuple(n for i, n in enumerate(ACHIEVEMENTS) if won >> i & 1),
                "lowered": self._lowered,
            }
        return pattern.copy()

    def _attempts(self, state: MacrafterState) -> list[dict[str, Json]]:
        """The attempt rows as a learner reads them."""
        height, width = state.material.shape[1:]
        rows = state.attempts[0, : int(state.attempt_count[0])].tolist()
        return [self._attempt(row, height * width) for row in rows]

    def _attempt(self, row: list[int], cells: int) -> dict[str, Json]:
        key = tuple(row[AttemptColumn.NEED : ITEM + 1])
        pattern = self._rows.get(key)
        if pattern is None:
            if len(self._rows) >= MOST_PATTERNS:
                self._rows.clear()
            pattern = self._rows[key] = {
                "task": "",
                **dict(zip(COUNTS, row[AttemptColumn.NEED :], strict=False)),
                "members": row[AttemptColumn.MEMBERS],
                "result": AttemptResult.NAMES[row[AttemptColumn.RESULT]],
                "reason": REASONS[row[AttemptColumn.REASON]],
                "unmet": unmet(row),
            }
        attempt = pattern.copy()
        attempt["task"] = task_name(self.table, row, cells)
        return attempt

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
