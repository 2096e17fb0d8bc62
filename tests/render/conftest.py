"""Made-up runs that several test files look at."""

from pathlib import Path

import pytest
from synthetic import CROWD_WEIGHTS, CubePlay, MacrafterPlay

from render.replay import RecordedRun, open_run


@pytest.fixture(scope="session")
def cube_folder(tmp_path_factory) -> Path:
    return CubePlay(agents=3, steps=40, seed=1).write(tmp_path_factory.mktemp("runs") / "cube")


@pytest.fixture(scope="session")
def macrafter_folder(tmp_path_factory) -> Path:
    play = MacrafterPlay(agents=4, steps=40, seed=2, side=32)
    return play.write(tmp_path_factory.mktemp("runs") / "macrafter")


@pytest.fixture(scope="session")
def crowd_folder(tmp_path_factory) -> Path:
    play = CubePlay(agents=256, steps=12, seed=3, side=256, weights=CROWD_WEIGHTS)
    return play.write(tmp_path_factory.mktemp("runs") / "crowd")


@pytest.fixture(params=["cube", "macrafter"])
def run(request) -> RecordedRun:
    return open_run(request.getfixturevalue(f"{request.param}_folder"))
