"""Start, step and copies of MA-Crafter."""

from __future__ import annotations

import numpy as np

from worlds.api import AgentId, Stepped
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.state import ACTIONS, MacrafterState
from worlds.macrafter.table import Table

__all__ = ["MacrafterRules"]


class MacrafterRules:
    """The rules of one configuration, over batches of worlds."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        self.agents = config.agents
        self.actions = ACTIONS
        self.argument_count = 3

    def reset(self, seed: int, worlds: int = 1) -> MacrafterState:
        """A fresh batch; world b gets seed + b."""
        raise NotImplementedError

    def step(
        self,
        state: MacrafterState,
        actions: np.ndarray,
        declared: np.ndarray | None = None,
        arguments: np.ndarray | None = None,
    ) -> Stepped:
        """Play one step in place."""
        raise NotImplementedError

    def living(self, state: MacrafterState) -> tuple[AgentId, ...]:
        """Agents that are alive, ascending."""
        return tuple(np.flatnonzero(state.is_alive[0]).tolist())
