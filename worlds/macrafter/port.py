"""MA-Crafter for learners: what the parallel forms of `worlds.parallel` need beside its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.macrafter_kernels import sum_up
from worlds.api import NO_ATTEMPT, AgentId, Json, Stepped
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig, configure
from worlds.macrafter.generate import check_seed, from_drawing, to_drawing
from worlds.macrafter.reports import attempt, harms, object_codes
from worlds.macrafter.rules import BODY_COLUMNS, VIEW_LAYERS, MacrafterRules
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ACTIONS,
    ITEMS,
    OUTCOMES,
    REASONS,
    MacrafterState,
)
from worlds.macrafter.table import load_table
from worlds.parallel import Box

__all__ = ["MacrafterPort", "build"]

NAME = "macrafter_v1"
FACTS = 5
"""Columns of `sum_up`."""
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
        self._facts = np.zeros((config.agents, FACTS), np.int64)
        self._patterns: dict[tuple[int, int, int], dict[str, Json]] = {}

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
        facts, score = self._facts, float(state.score[0])
        sum_up(
            state.agent_outcome[0],
            state.agent_reason[0],
            state.agent_harm[0],
            state.agent_attempt[0],
            state.achievements[0],
            facts,
        )
        rows = facts.tolist()
        attempts: dict[int, dict[str, Json]] = {}
        infos = []
        for agent in agents:
            outcome, reason, harm, row, won = rows[agent]
            info = self._pattern(outcome, reason, harm).copy()
            info["score"] = score
            info["achievements"] = _achievements(won)
            if row != NO_ATTEMPT:
                if row not in attempts:
                    attempts[row] = self._attempt(state, row)
                info["attempt"] = attempts[row].copy()
            infos.append(info)
        return infos

    def _pattern(self, outcome: int, reason: int, harm: int) -> dict[str, Json]:
        """The part of an info that agents have in common."""
        key = (outcome, reason, harm)
        if key not in self._patterns:
            self._patterns[key] = {
                "outcome": OUTCOMES[outcome],
                "reason": REASONS[reason] if reason else None,
                "attempt": None,
                "harm": harms(harm),
                "lowered": self._lowered,
            }
        return self._patterns[key]

    def _attempt(self, state: MacrafterState, row: int) -> dict[str, Json]:
        """An attempt row as a learner reads it."""
        entry = attempt(state, self.table, row)
        return {
            "task": entry.task,
            "need": entry.need,
            "participation": entry.participation,
            "spatial": entry.spatial,
            "temporal": entry.temporal,
            "dependency": entry.dependency,
            "dependency_need": entry.dependency_need,
            "members": len(entry.members),
            "result": entry.result,
            "reason": entry.reason,
            "unmet": entry.unmet,
        }

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


@lru_cache(maxsize=4096)
def _achievements(won: int) -> tuple[str, ...]:
    """Names of achievements, from their bits."""
    return tuple(name for number, name in enumerate(ACHIEVEMENTS) if won >> number & 1)
