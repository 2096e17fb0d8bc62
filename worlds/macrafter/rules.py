"""Start, step and copies of MA-Crafter, and what is read from its states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives import macrafter_kernels as kernels
from primitives.attempt_kernels import MacrafterWork
from primitives.macrafter_batch import handle_of
from worlds.api import NO_TASK, AgentId, Json, Report, Stepped
from worlds.errors import IllegalAction, LayoutError
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.generate import start
from worlds.macrafter.numbers import table_numbers
from worlds.macrafter.reports import frame, legend, report
from worlds.macrafter.sheets import Views
from worlds.macrafter.state import ACTIONS, ITEMS, MacrafterState, check_layout
from worlds.macrafter.table import Table

__all__ = ["BODY_COLUMNS", "VIEW_LAYERS", "MacrafterRules"]

VIEW_LAYERS = 3
INT32 = np.dtype(np.int32)
BODY_COLUMNS = 6


class MacrafterRules:
    """The rules of one configuration, over batches of worlds."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        self.agents = config.agents
        self.actions = ACTIONS
        self.argument_count = kernels.ARGUMENTS
        self.legend: Json = legend()
        self._numbers = table_numbers(config, table)
        self._view_shape = (*config.view, VIEW_LAYERS)
        self._no_views = self.room_for(0, 0)
        self._no_step = (
            np.zeros((0, 0), np.int32),
            np.zeros((0, 0), np.int32),
            np.zeros((0, 0, 0), np.int32),
            np.zeros((0, 0), np.float32),
        )
        self._bound: MacrafterState | None = None
        self._handle: Any = None
        self._size: tuple[int, ...] = ()
        self._work: MacrafterWork
        self._undeclared = np.zeros((0, 0), np.int32)
        self._not_given = np.zeros((0, 0, 0), np.int32)

    def __getstate__(self) -> dict[str, Any]:
        """Without addresses: a copy must find its own arrays."""
        return {**self.__dict__, "_bound": None, "_handle": None}

    # --- changing a state ------------------------------------------------------------------------

    def reset(self, seed: int, worlds: int = 1) -> MacrafterState:
        """A fresh batch; world b gets seed + b. Raises ConfigError, UnsolvableMap."""
        return start(self.config, self.table, seed, worlds)

    def step(
        self,
        state: MacrafterState,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32] | None = None,
        arguments: NDArray[np.int32] | None = None,
    ) -> Stepped:
        """Play one step in place; worlds that are over stay as they are and reward 0.

        actions, declared: [B, A] int32. arguments: [B, A, 3] int32, recipient, item index and
        quantity of a share, NOT_GIVEN for none. Entries of the dead are not read.
        Raises LayoutError for another shape or dtype; IllegalAction for a bad entry, or when all
        worlds are over; then the state is unchanged.
        """
        team = state.agent_part.shape
        _check_array("actions", actions, team)
        if declared is not None:
            _check_array("declared", declared, team)
        if arguments is not None:
            _check_array("arguments", arguments, (*team, self.argument_count))
        rewards = self.advance(state, actions, declared, arguments)
        return Stepped(rewards, state.is_terminated.copy(), state.is_truncated.copy())

    def advance(
        self,
        state: MacrafterState,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32] | None = None,
        arguments: NDArray[np.int32] | None = None,
        views: Views | None = None,
    ) -> NDArray[np.float32]:
        """`step` for arrays of the right layout; returns rewards [B, A]. Raises IllegalAction.

        views: of `room_for`; what every agent observes afterwards is written there.
        """
        if state is not self._bound:
            self._bind(state)
        if declared is None:
            declared = self._undeclared
        if arguments is None:
            arguments = self._not_given
        rewards = np.empty(declared.shape, np.float32)
        fault = kernels.step_at(
            self._handle, 0, actions, declared, arguments, rewards, *(views or self._no_views)
        )
        if fault != kernels.LEGAL:
            raise IllegalAction(self._complaint(fault, actions, declared, arguments))
        return rewards

    def reseed(self, state: MacrafterState, keys: NDArray[np.uint64]) -> None:
        """keys: [B] uint64; (key, 0) becomes each world's stream. Raises LayoutError."""
        _check_array("keys", keys, state.step.shape, np.dtype(np.uint64))
        state.stream[:, 0] = keys
        state.stream[:, 1] = 0

    def clone(self, state: MacrafterState, copies: int = 1) -> MacrafterState:
        """The one world of `state` copied into a batch of `copies`."""
        if copies == 1:
            return MacrafterState._make(array.copy() for array in state)
        return MacrafterState._make(np.repeat(array, copies, axis=0) for array in state)

    def _bind(self, state: MacrafterState) -> None:
        """Take note of a state that was not the last one: its size, and where its arrays are."""
        check_layout(state)
        team = state.agent_part.shape
        size = team[1], state.material.shape[1], state.material.shape[2]
        if size != self._size:
            self._size = size
            self._work = kernels.macrafter_work(*size, state.creature_kind.shape[1])
        if team != self._undeclared.shape:
            self._undeclared = np.full(team, NO_TASK, np.int32)
            shape = (*team, self.argument_count)
            self._not_given = np.full(shape, kernels.NOT_GIVEN, np.int32)
        self._bound = state
        self._handle = handle_of(state, self._work, self._numbers)

    def _complaint(
        self,
        fault: int,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32],
        arguments: NDArray[np.int32],
    ) -> str:
        """A sentence on the bad entry the kernel found."""
        worlds, agents = actions.shape
        if fault == kernels.ALL_OVER:
            return "step after the end; allowed: none, reset first"
        what, place = divmod(fault, worlds * agents)
        world, agent = divmod(place, agents)
        whose = f"agent_{agent}" if worlds == 1 else f"agent_{agent} of world {world}"
        if what == 0:
            allowed = ", ".join(f"{number} {name}" for number, name in enumerate(ACTIONS))
            return f"action of {whose} is {actions[world, agent]}; allowed: {allowed}"
        if what == 1:
            return f"declared task of {whose} is {declared[world, agent]}; allowed: -1 or a number"
        return (
            f"arguments of the share of {whose} are {arguments[world, agent].tolist()}; allowed: "
            f"recipient 0..{agents - 1}, item 0..{len(ITEMS) - 1}, quantity "
            f"0..{self.config.item_cap}, or -1 for all three"
        )

    # --- reading a batch of one ------------------------------------------------------------------

    def living(self, state: MacrafterState) -> tuple[AgentId, ...]:
        """Agents that are alive, ascending."""
        return tuple(np.flatnonzero(state.is_alive[0]).tolist())

    def observe(self, state: MacrafterState, agent: AgentId) -> dict[str, NDArray[Any]]:
        """What one agent observes.

        `view` [R, C, 3] int16, material, object code, agent id + 1; `inventory` [I] int16;
        `self` [6] int32, row, column, facing, is asleep, light in percent, step.
        """
        views = self.room_for(1, 1)
        self.look(state, views, agent)
        return {
            "view": views.view[0, 0],
            "inventory": views.inventory[0, 0],
            "self": views.body[0, 0],
        }

    def look(self, state: MacrafterState, views: Views, first: AgentId = 0) -> None:
        """Write what agents of a batch observe, from `first` on, into `views`, of `room_for`."""
        if state is not self._bound:
            self._bind(state)
        kernels.step_at(self._handle, first, *self._no_step, *views)

    def room_for(self, worlds: int, agents: int) -> Views:
        """Arrays for what so many agents of so many worlds observe; nothing is in them yet."""
        return Views(
            np.empty((worlds, agents, *self._view_shape), np.int16),
            np.empty((worlds, agents, len(ITEMS)), np.int16),
            np.empty((worlds, agents, BODY_COLUMNS), np.int32),
        )

    def report(self, state: MacrafterState) -> Report:
        """Plain facts of the last step."""
        return report(state, self.table)

    def frame(self, state: MacrafterState) -> dict[str, NDArray[Any]]:
        """Small integer layers, enough to draw the world; `legend` names their values."""
        return frame(state)


def _check_array(
    name: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any] = INT32
) -> None:
    if not isinstance(array, np.ndarray):
        raise LayoutError(f"{name} is {array!r}; needed: an array {list(shape)} {dtype}")
    if array.shape != shape or array.dtype != dtype:
        raise LayoutError(
            f"{name} is {list(array.shape)} {array.dtype}; needed: {list(shape)} {dtype}"
        )
