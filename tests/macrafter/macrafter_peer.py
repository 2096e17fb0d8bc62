"""Random play in crafter 1.8.3, run as a black box, and the same play in MA-Crafter.

Policy U: uniform over the 17 actions without `share`. Policy V: half `do`; three tenths a move in
a held direction (left at first, redrawn with probability 0.2 before each use); the rest uniform
over the 16 actions without `sleep` and `share`.
"""

import sys
from typing import NamedTuple

import numpy as np

from worlds.macrafter.config import configure
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.state import ACHIEVEMENTS, ACTIONS
from worlds.macrafter.table import load_table

NOISE_SEEDS = 2**31 - 1
CRAFTER_MATERIALS = 13
ACTION_COUNT = ACTIONS.index("share")
AWAKE = [number for number in range(ACTION_COUNT) if ACTIONS[number] != "sleep"]


class Episodes(NamedTuple):
    """lengths: [N]. wins: [N, 22] bool, achievements won. maps: [M, 64, 64], (row, column)."""

    lengths: np.ndarray
    wins: np.ndarray
    maps: np.ndarray


class Chooser:
    """One of the two policies."""

    def __init__(self, policy, seed):
        self.policy, self.generator, self.direction = policy, np.random.default_rng(seed), 1

    def __call__(self):
        draw = self.generator.random
        if self.policy == "U":
            return int(draw() * ACTION_COUNT)
        which = draw()
        if which < 0.5:
            return ACTIONS.index("do")
        if which < 0.8:
            if draw() < 0.2:
                self.direction = 1 + int(draw() * 4)
            return self.direction
        return AWAKE[int(draw() * len(AWAKE))]


def crafter_env(seed):
    """A crafter environment that draws no pictures."""
    import crafter

    class Blind(crafter.Env):
        def render(self, size=None):
            return None

    return Blind(seed=seed)


def play_crafter(policy, seed, episodes):
    """Episodes of one environment."""
    env, choose = crafter_env(seed), Chooser(policy, seed)
    lengths, wins, maps = [], [], []
    for _ in range(episodes):
        env.reset()
        maps.append(ground(env))
        choose.direction, done, steps = 1, False, 0
        while not done:
            _, _, done, info = env.step(choose())
            steps += 1
        lengths.append(steps)
        wins.append([info["achievements"][name] > 0 for name in ACHIEVEMENTS])
    return Episodes(np.array(lengths), np.array(wins), np.array(maps))


def ground(env):
    """[64, 64] uint8, materials of the map of a crafter environment, (row, column)."""
    return np.array(env._world._mat_map, np.uint8).T.copy()


def noise_seed(env):
    """Reset a crafter environment and return the first number its world draws."""
    world, seeds = env._world, []
    reset = world.reset
    world.reset = lambda seed=None: (seeds.append(seed), reset(seed=seed))[1]
    try:
        env.reset()
    finally:
        del world.reset
    return int(np.random.RandomState(seeds[-1]).randint(0, NOISE_SEEDS))


def play_ours(policy, seed, episodes):
    """Episodes of preset `solo` on maps that need not be solvable."""
    config = configure("solo", ensure_solvable=False)
    rules = MacrafterRules(config, load_table(config))
    choose = Chooser(policy, seed + 10**6)
    lengths, wins, maps = [], [], []
    action = np.zeros((1, 1), np.int32)
    for episode in range(episodes):
        state = rules.reset(seed + episode)
        maps.append(state.material[0].copy())
        choose.direction = 1
        while state.is_alive[0, 0] and not state.is_truncated[0]:
            action[0, 0] = choose()
            rules.step(state, action)
        lengths.append(int(state.step[0]))
        wins.append(state.achievements[0, 0] > 0)
    return Episodes(np.array(lengths), np.array(wins), np.array(maps))


def joined(parts):
    return Episodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def note(text):
    """Print a figure, for `pytest -rP`."""
    sys.stdout.write(f"{text}\n")
