"""Machine code is made anew when anything it was made from has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from primitives import sources
from primitives.cube_kernels import step_at
from primitives.sources import stamp_of

SOURCES = {
    "outer": "from primitives.middle import (\n    call,\n)\nfrom primitives import other, more\n",
    "middle": "import numpy\nfrom primitives.inner import NUMBER\n",
    "inner": "NUMBER = 1\n",
    "other": "import primitives.inner\n",
    "more": "",
    "unused": "",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def names(package: Path, module: str) -> list[str]:
    return [name for name, _, _ in stamp_of(package / f"{module}.py", package)]


def test_a_stamp_holds_all_that_is_imported(package: Path) -> None:
    assert names(package, "outer") == ["inner.py", "middle.py", "more.py", "other.py", "outer.py"]
    assert names(package, "middle") == ["inner.py", "middle.py"]
    assert names(package, "inner") == ["inner.py"]


@pytest.mark.parametrize("changed", ["inner", "middle", "outer"])
def test_a_change_anywhere_below_changes_the_stamp(package: Path, changed: str) -> None:
    before = stamp_of(package / "outer.py", package)
    os.utime(package / f"{changed}.py", ns=(1, 1))
    sources._facts.cache_clear()
    assert stamp_of(package / "outer.py", package) != before


def test_a_change_elsewhere_does_not(package: Path) -> None:
    before = stamp_of(package / "outer.py", package)
    os.utime(package / "unused.py", ns=(1, 1))
    sources._facts.cache_clear()
    assert stamp_of(package / "outer.py", package) == before


def test_the_step_of_cube_rests_on_its_stages() -> None:
    path = Path(step_at.__code__.co_filename)
    rests = {name for name, _, _ in stamp_of(path)}
    assert {"cube_kernels.py", "cube_push_kernels.py", "cube_work.py", "grid.py"} <= rests
    assert "macrafter_kernels.py" not in rests
