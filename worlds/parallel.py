"""Worlds for learners: a PettingZoo environment of one world, and arrays of many.

What differs between worlds stands in `worlds/<world>/port.py`, behind `Port`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from primitives.rng import GOLDEN, SEED_LIMIT, mix
from worlds.api import AgentId, Json, Rules, Stepped, row
from worlds.errors import ConfigError, IllegalAction, MissingPrerequisite, UnknownWorld

__all__ = ["Box", "Port", "SeedLine", "VectorEnv", "Views", "parallel_env", "vector_env"]

S = TypeVar("S")

Views = Any
"""Observations of a batch: an array or a dict of arrays, with leading axis B or axes [B, A]."""

PORTS: Mapping[str, str] = {
    "cube-v1": "worlds.cube.port",
    "macrafter-v1": "worlds.macrafter.port",
}
EXTRA = ("pettingzoo", "gymnasium")
MOST_WORLDS = 2**20


class Box(NamedTuple):
    """Bounds, shape and dtype of an array of an observation."""

    low: float
    high: float
    shape: tuple[int, ...]
    dtype: type[np.generic]


class Port(Protocol[S]):
    """One configuration of a world as the parallel forms need it, beside its rules."""

    name: str
    """Name in PettingZoo's metadata, `cube_v1`."""
    rules: Rules[Any]
    seed: int
    """Seed of a reset before any seed was given."""
    choices: tuple[int, ...]
    """Number of values of each part of an action; (5,): a single number."""
    observation: Box | Mapping[str, Box]

    def play(self, state: S, commands: NDArray[np.int32]) -> tuple[Stepped, Views]:
        """Step a batch with `commands` [B, A, P] int32, and look at it afterwards.

        The arrays of `Stepped` may be those of the state: read them before the next step.
        """
        ...

    def views(self, state: S) -> Views:
        """Fresh observations of a batch."""
        ...

    def observations(self, views: Views, agents: Sequence[AgentId]) -> list[Any]:
        """Those of the first world of a batch, one for each of `agents`."""
        ...

    def infos(self, state: S, agents: Sequence[AgentId]) -> list[dict[str, Json]]:
        """Plain facts of the last step of a batch of one, one dict for each of `agents`."""
        ...

    def draw(self, drawing: str, seed: int) -> S:
        """A drawn start state of the config's size and team. Raises ConfigError."""
        ...

    def picture(self, state: S) -> str:
        """The drawing of a batch of one."""
        ...

    def board(self, state: S) -> NDArray[np.int16]:
        """What PettingZoo's `state()` returns of a batch of one: a copy."""
        ...


class SeedLine:
    """Seeds of episode after episode: the last one given, then what follows from it."""

    def __init__(self, first: int) -> None:
        self._seed, self._next = first, 0

    def restart(self, seed: int) -> int:
        """Take `seed` for the next episode."""
        self._seed, self._next = seed % SEED_LIMIT, 1
        return self._seed

    def follow(self) -> int:
        """The seed of the next episode when none is given."""
        episode, self._next = self._next, self._next + 1
        if episode == 0:
            return self._seed
        mixed = mix(np.uint64((self._seed + episode * int(GOLDEN)) % 2**64))
        return int(mixed) >> 1


def build_port(id: str, preset: str | None, overrides: Mapping[str, Any]) -> Port[Any]:
    """The port of world `id` (or `id:preset`). Raises UnknownWorld, ConfigError."""
    name, _, short = id.partition(":")
    if name not in PORTS:
        raise UnknownWorld(f'no parallel form of "{name}"; allowed: {", ".join(PORTS)}')
    build: Callable[..., Port[Any]] = import_module(PORTS[name]).build
    return build(preset or short or None, **overrides)


def parallel_env(
    id: str, preset: str | None = None, render_mode: str | None = None, **overrides: Any
) -> Any:
    """A PettingZoo `ParallelEnv` of world `id`.

    render_mode: None or `ansi`, the drawing as text.
    Raises MissingPrerequisite without the extra `rl`, UnknownWorld, ConfigError.
    """
    port = build_port(id, preset, overrides)
    try:
        zoo = import_module("worlds.zoo")
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        raise MissingPrerequisite(
            f"{error.name} is not installed; install it with: pip install 'cooplab[rl]'"
        ) from error
    return zoo.WorldEnv(port, render_mode)


def vector_env(
    id: str, worlds: int, preset: str | None = None, threads: int = 1, **overrides: Any
) -> VectorEnv:
    """`worlds` worlds stepped together, over arrays. Raises UnknownWorld, ConfigError.

    threads: how many share the worlds; more than one pays for hundreds of worlds, and changes
    nothing else.
    """
    for name, value, most in (("worlds", worlds, MOST_WORLDS), ("threads", threads, worlds)):
        if type(value) is not int or not 1 <= value <= most:
            raise ConfigError(f"{name} is {value!r}; allowed: an integer 1..{most}")
    port = build_port(id, preset, overrides)
    return VectorEnv(port, worlds) if threads == 1 else ThreadedEnv(port, worlds, threads)


class VectorEnv:
    """A batch of worlds. Records of the last step stay in `state`.

    A world that has ended keeps its state, gets reward 0 and ignores its actions until
    `reset_done`. World b of a batch equals a batch of one with the same seed and actions.
    """

    def __init__(self, port: Port[Any], worlds: int) -> None:
        self.port = port
        self.worlds, self.agents = worlds, port.rules.agents
        self.state: Any = None
        self.is_over = np.zeros(worlds, np.bool_)
        self._seeds = [SeedLine((port.seed + b) % SEED_LIMIT) for b in range(worlds)]
        self._last = Stepped(
            np.zeros((worlds, self.agents), np.float32),
            np.zeros((worlds, self.agents), np.bool_),
            np.zeros(worlds, np.bool_),
        )

    def reset(self, seed: int | None = None) -> Views:
        """Start all worlds, world b with seed + b; returns observations.

        Without a seed each world follows on from its last one. Raises ConfigError.
        """
        if seed is None:
            self.state = _joined([self.port.rules.reset(s.follow()) for s in self._seeds])
        else:
            self.state = self.port.rules.reset(seed, self.worlds)
            for b, line in enumerate(self._seeds):
                line.restart(seed + b)
        self.is_over[:] = False
        self._share()
        return self._views()

    def reset_done(self) -> Views:
        """Start the next episode of each world that has ended; returns observations of all."""
        self._check_started()
        for b in np.flatnonzero(self.is_over):
            fresh = self.port.rules.reset(self._seeds[b].follow())
            for old, new in zip(row(self.state, int(b)), fresh, strict=True):
                old[:] = new
        self.is_over[:] = False
        return self._views()

    def step(
        self,
        actions: NDArray[np.int32],
        declared: NDArray[np.int32] | None = None,
        arguments: NDArray[np.int32] | None = None,
    ) -> tuple[Views, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Play one step: observations, rewards [B, A], terminated [B, A], truncated [B].

        actions, declared: [B, A] int32. arguments: [B, A, N] int32.
        Raises LayoutError, and IllegalAction for another value or before `reset`.
        """
        self._check_started()
        if self.is_over.all():
            stepped = self._last._replace(rewards=np.zeros_like(self._last.rewards))
            return self._views(), *stepped
        self._last, views = self._play(actions, declared, arguments)
        self.is_over = self._last.truncated | self._last.terminated.all(axis=1)
        return views, *self._last

    def _play(self, actions: Any, declared: Any, arguments: Any) -> tuple[Stepped, Views]:
        """Step the worlds that go on, and look at all."""
        stepped = self.port.rules.step(self.state, actions, declared, arguments)
        return stepped, self._views()

    def _views(self) -> Views:
        return self.port.views(self.state)

    def _share(self) -> None:
        """Take note of a new batch."""

    def _check_started(self) -> None:
        if self.state is None:
            raise IllegalAction("step before reset; allowed: reset")


class ThreadedEnv(VectorEnv):
    """A batch whose worlds are shared out to threads, each with buffers of its own.

    Steps with declared tasks or arguments are played in one thread.
    """

    def __init__(self, port: Port[Any], worlds: int, threads: int) -> None:
        super().__init__(port, worlds)
        ends = [worlds * i // threads for i in range(threads + 1)]
        self._parts = [slice(*pair) for pair in pairwise(ends)]
        self._ports = [deepcopy(port) for _ in self._parts]
        self._states: list[Any] = []
        self._pool = ThreadPoolExecutor(threads - 1)

    def __getstate__(self) -> dict[str, Any]:
        """Without threads, and without parts of a state that is copied whole."""
        return {**self.__dict__, "_pool": None, "_states": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pool = ThreadPoolExecutor(len(self._parts) - 1)
        self._share()

    def _share(self) -> None:
        if self.state is not None:
            batch = type(self.state)
            self._states = [batch._make(a[part] for a in self.state) for part in self._parts]

    def _play(self, actions: Any, declared: Any, arguments: Any) -> tuple[Stepped, Views]:
        if declared is not None or arguments is not None or not self._is_legal(actions):
            return super()._play(actions, declared, arguments)
        found = self._everywhere(lambda i: self._play_part(i, actions[self._parts[i]]))
        stepped = Stepped(*map(np.concatenate, zip(*(part for part, _ in found), strict=True)))
        return stepped, _put_together([views for _, views in found])

    def _is_legal(self, actions: Any) -> bool:
        """Whether no part can refuse: one that did would leave the others a step ahead."""
        if not isinstance(actions, np.ndarray) or actions.shape != (self.worlds, self.agents):
            return False
        is_in_range = actions.min() >= 0 and actions.max() < len(self.port.rules.actions)
        return bool(actions.dtype == np.int32 and is_in_range)

    def _play_part(self, i: int, actions: NDArray[np.int32]) -> tuple[Stepped, Views]:
        part, port, state = self._parts[i], self._ports[i], self._states[i]
        if self.is_over[part].all():
            rewards, terminated, truncated = (array[part] for array in self._last)
            return Stepped(np.zeros_like(rewards), terminated, truncated), port.views(state)
        return port.rules.step(state, actions), port.views(state)

    def _views(self) -> Views:
        return _put_together(self._everywhere(lambda i: self._ports[i].views(self._states[i])))

    def _everywhere(self, work: Callable[[int], Any]) -> list[Any]:
        """`work` of each part, the first in this thread."""
        rest = [self._pool.submit(work, i) for i in range(1, len(self._parts))]
        return [work(0), *(future.result() for future in rest)]


def _put_together(views: Sequence[Views]) -> Views:
    """Observations of parts of a batch as those of the batch."""
    if isinstance(views[0], dict):
        return {name: np.concatenate([view[name] for view in views]) for name in views[0]}
    return np.concatenate(views)


def _joined(singles: Sequence[Any]) -> Any:
    """Batches of one as one batch."""
    return type(singles[0])(*(np.concatenate(arrays) for arrays in zip(*singles, strict=True)))
