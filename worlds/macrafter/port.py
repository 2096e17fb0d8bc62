"""MA-Crafter for learners: what the parallel forms of `worlds.parallel` need beside its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worlds.api import AgentId, Json, Stepped
from worlds.errors import ConfigError
from worlds.macrafter.config import MacrafterConfig, configure
from worlds.macrafter.generate import check_seed, from_drawing, to_drawing
from worlds.macrafter.infos import Infos
from worlds.macrafter.reports import object_codes
from worlds.macrafter.rules import BODY_COLUMNS, VIEW_LAYERS, MacrafterRules
from worlds.macrafter.sheets import Sheets, Views
from worlds.macrafter.state import ACTIONS, ITEMS, MacrafterState
from worlds.macrafter.table import load_table
from worlds.parallel import Box

__all__ = ["MacrafterPort", "build"]

NAME = "macrafter_v1"
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
        self._sheets = Sheets(self.rules.room_for)
        self._infos = Infos(self.table, config.agents, *config.shape)

    def play(self, state: MacrafterState, commands: NDArray[np.int32]) -> tuple[Stepped, Observed]:
        """Step a batch with `commands` [B, A, 1 or 4] int32, and look at it afterwards."""
        actions, arguments = commands[..., 0], None
        if self.config.full_actions:
            actions, arguments = actions.copy(), commands[..., 1:].copy()
        views = self._sheets.take(*state.agent_part.shape)
        rewards = self.rules.advance(state, actions, None, arguments, views)
        return Stepped(rewards, state.is_terminated, state.is_truncated), _named(views)

    def views(self, state: MacrafterState) -> Observed:
        """`view` [B, A, R, C, 3] int16, `inventory` [B, A, I] int16, `self` [B, A, 6] int32."""
        views = self._sheets.take(*state.agent_part.shape)
        self.rules.look(state, views)
        return _named(views)

    def observations(
        self, views: Observed, agents: Sequence[AgentId]
    ) -> list[dict[str, NDArray[Any]]]:
        """Each agent's own arrays; views: the last ones given by `play` or `views`."""
        seen = self._sheets.own(views["view"])
        if len(agents) < len(seen):
            seen = [seen[agent] for agent in agents]
        return [own.copy() for own in seen]

    def infos(self, state: MacrafterState, agents: Sequence[AgentId]) -> list[dict[str, Json]]:
        """As `Infos.of`."""
        infos = self._infos.of(state)
        return infos if len(agents) == len(infos) else [infos[agent] for agent in agents]

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
