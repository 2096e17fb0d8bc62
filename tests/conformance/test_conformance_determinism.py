"""One seed and one list of actions give one episode, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = 500
SCRIPT = f"""
from hashlib import sha256
import numpy as np
from worlds.parallel import parallel_env

def digest(total, value):
    if isinstance(value, np.ndarray):
        total.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key, part in value.items():
            total.update(str(key).encode())
            digest(total, part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            digest(total, part)
    else:
        total.update(repr(value).encode())

for id, settings in (
    ("cube-v1", {{"agents": 6}}),
    ("cube-v1:chain", {{"n": 8}}),
    ("macrafter-v1:survival", {{"agents": 3}}),
):
    env = parallel_env(id, max_steps={STEPS}, **settings)
    random, total = np.random.default_rng(7), sha256()
    digest(total, env.reset(seed=0))
    steps = 0
    while env.agents:
        count = env.action_space(env.agents[0]).n
        actions = {{agent: int(random.integers(count)) for agent in env.agents}}
        digest(total, [env.step(actions), list(env.world), env.agents])
        steps += 1
    print(id, steps, total.hexdigest())
"""


def run(hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("hash_seed", ["1", "2", "random"])
def test_episodes_do_not_depend_on_the_process(hash_seed: str) -> None:
    if not FIRST:
        FIRST.extend(run("0"))
    assert run(hash_seed) == FIRST


FIRST: list[str] = []
"""What the process with hash seed 0 printed, run once for all."""


def test_the_cube_episodes_have_their_length() -> None:
    if not FIRST:
        FIRST.extend(run("0"))
    names = [line.split()[0] for line in FIRST]
    assert names == ["cube-v1", "cube-v1:chain", "macrafter-v1:survival"]
    assert [int(line.split()[1]) for line in FIRST[:2]] == [STEPS, STEPS]
