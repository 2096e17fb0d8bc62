"""The PettingZoo environment of one world; imported by `worlds.parallel` when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from worlds.errors import ConfigError, IllegalAction
from worlds.parallel import Box, Port, SeedLine

__all__ = ["WorldEnv"]

RENDER_MODES = ("ansi",)
FEW = 16
"""Up to so many rewards are put into their dict one by one."""
TOLERATED_OPTIONS = {"options"}
"""A key that PettingZoo's own test of an API passes to `reset`; it means nothing."""

Dicts = tuple[
    dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
]


class WorldEnv(ParallelEnv):  # type: ignore[misc]
    """One world as PettingZoo's `ParallelEnv`. Agents are named `agent_0`, `agent_1`, ..."""

    def __init__(self, port: Port[Any], render_mode: str | None = None) -> None:
        self.port = port
        self.render_mode = render_mode
        self.metadata = {
            "name": port.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": True,
        }
        self.possible_agents = [f"agent_{a}" for a in range(port.rules.agents)]
        self.agents: list[str] = []
        self.world: Any = None
        self._seeds = SeedLine(port.seed)
        self._ids = {name: a for a, name in enumerate(self.possible_agents)}
        self._live: list[int] = []
        self._no: dict[str, bool] = {}
        self._nothing: dict[str, float] = {}
        self._observation_space = _observation_space(port.observation)
        self._action_spaces = {name: _action_space(port.choices) for name in self._ids}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what `agent` observes; one object for all agents."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the actions of `agent`; one object for each agent."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode: observations and infos.

        seed: None follows on from the last one. options: `drawn`, a drawing to start from.
        Raises ConfigError, UnsolvableMap.
        """
        drawing = _drawing(options)
        first = self._seeds.follow() if seed is None else seed
        if drawing is None:
            self.world = self.port.rules.reset(first)
        else:
            self.world = self.port.draw(drawing, first)
        if seed is not None:
            self._seeds.restart(seed)
        self._go_on_with(list(self._ids.values()))
        views = self.port.observations(self.port.views(self.world), self._live)
        infos = self.port.infos(self.world, self._live)
        return dict(zip(self.agents, views)), dict(zip(self.agents, infos))  # noqa: B905

    def step(self, actions: Mapping[str, Any]) -> Dicts:
        """Play one step: observations, rewards, terminated, truncated, infos.

        actions: one for each of `agents`, no more and no less. Every agent that acted is in all
        five dicts, and no longer in `agents` once it has ended.
        Raises IllegalAction naming agent, value and the legal ones; nothing has changed then.
        """
        names, live = self.agents, self._live
        stepped, views = self.port.play(self.world, self._commands(actions))
        rewards, terminated = stepped.rewards[0], stepped.terminated[0]
        if len(live) < len(self._ids):
            rewards, terminated = rewards[live], terminated[live]
        is_truncated, ended = bool(stepped.truncated[0]), terminated.tolist()
        dicts = (
            dict(zip(names, self.port.observations(views, live))),  # noqa: B905
            self._paid(rewards) if len(names) > FEW else dict(zip(names, rewards.tolist())),  # noqa: B905
            dict(zip(names, ended)) if True in ended else self._no.copy(),  # noqa: B905
            dict.fromkeys(names, True) if is_truncated else self._no.copy(),
            dict(zip(names, self.port.infos(self.world, live))),  # noqa: B905
        )
        if is_truncated:
            self._go_on_with([])
        elif True in ended:
            self._go_on_with([a for a, end in zip(live, ended, strict=True) if not end])
        return dicts

    def state(self) -> NDArray[np.int16]:
        """The board as a copy."""
        self._check_started()
        return self.port.board(self.world)

    def render(self) -> str:
        """The drawing of the world. Raises ConfigError in another mode than `ansi`."""
        self._check_started()
        if self.render_mode not in RENDER_MODES:
            raise ConfigError(f"render_mode is {self.render_mode!r}; allowed: 'ansi'")
        return self.port.picture(self.world)

    def close(self) -> None:
        """Nothing is held open."""

    def _go_on_with(self, live: list[int]) -> None:
        """Note who has not ended."""
        self._live = live
        self.agents = [self.possible_agents[a] for a in live]
        self._no = dict.fromkeys(self.agents, False)
        self._nothing = dict.fromkeys(self.agents, 0.0)

    def _paid(self, rewards: NDArray[np.float32]) -> dict[str, float]:
        """Rewards by name, of which few are not 0, mostly."""
        paid = rewards.nonzero()[0].tolist()
        if len(paid) > len(rewards) // 4:
            return dict(zip(self.agents, rewards.tolist()))  # noqa: B905
        found = self._nothing.copy()
        for place in paid:
            found[self.agents[place]] = float(rewards[place])
        return found

    def _check_started(self) -> None:
        if self.world is None:
            raise IllegalAction("the world has not started; allowed: reset")

    def _commands(self, actions: Mapping[str, Any]) -> NDArray[np.int32]:
        """The actions as [1, A, P] int32, in agent order; agents that are gone stay."""
        names, parts = self.agents, len(self.port.choices)
        if not names:
            self._check_started()
            raise IllegalAction("the world has ended; allowed: reset")
        if list(actions) != names:
            actions = self._in_order(actions)
        values: Iterable[Any] = actions.values()
        try:
            if parts > 1:
                values = [part for value in values for part in value]
            commands = np.fromiter(map(index, values), np.int32, parts * len(names))
        except (TypeError, ValueError, OverflowError) as error:
            raise self._bad_action(actions) from error
        if len(names) == len(self._ids):
            return commands.reshape(1, -1, parts)
        everybody = np.zeros((1, len(self._ids), parts), np.int32)
        everybody[0, self._live] = commands.reshape(-1, parts)
        return everybody

    def _in_order(self, actions: Mapping[str, Any]) -> dict[str, Any]:
        """`actions` in agent order. Raises IllegalAction unless it has exactly the live agents."""
        missing = [name for name in self.agents if name not in actions]
        extra = [name for name in actions if name not in self.agents]
        if missing:
            raise IllegalAction(f"no action for {missing[0]}; needed: one for each live agent")
        if extra:
            raise IllegalAction(
                f"action {actions[extra[0]]!r} for {extra[0]!r}, which is not a live agent; "
                f"allowed: {', '.join(self.agents)}"
            )
        return {name: actions[name] for name in self.agents}

    def _bad_action(self, actions: Mapping[str, Any]) -> IllegalAction:
        """The first action that is no integer, or not the right number of them."""
        legal = " x ".join(f"0..{count - 1}" for count in self.port.choices)
        for name, value in actions.items():
            if not _is_command(value, len(self.port.choices)):
                return IllegalAction(f"action {value!r} of {name}; allowed: {legal}")
        return IllegalAction(f"an action beyond 32 bits; allowed: {legal}")


def _is_command(value: Any, parts: int) -> bool:
    if parts > 1:
        values = list(value) if isinstance(value, list | tuple | np.ndarray) else []
        return len(values) == parts and all(_is_command(part, 1) for part in values)
    return isinstance(value, int | np.integer) and -(2**31) <= int(value) < 2**31


def _drawing(options: Mapping[str, Any] | None) -> str | None:
    """The drawing among the options of a reset. Raises ConfigError for anything else."""
    for key in options or {}:
        if key != "drawn" and key not in TOLERATED_OPTIONS:
            raise ConfigError(f"unknown option {key!r}; allowed: 'drawn'")
    drawing = (options or {}).get("drawn")
    if drawing is not None and not isinstance(drawing, str):
        raise ConfigError(f"option drawn is {drawing!r}; allowed: a drawing as text")
    return drawing


def _action_space(choices: tuple[int, ...]) -> spaces.Space[Any]:
    if len(choices) == 1:
        return spaces.Discrete(choices[0])
    return spaces.MultiDiscrete(np.array(choices))


def _observation_space(observation: Box | Mapping[str, Box]) -> spaces.Space[Any]:
    if isinstance(observation, Box):
        return spaces.Box(*observation[:3], dtype=observation.dtype)
    return spaces.Dict({name: _observation_space(box) for name, box in observation.items()})
