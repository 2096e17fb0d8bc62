"""Every Python block in README and docs runs; every command named in them exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def blocks(language):
    for page in PAGES:
        for number, match in enumerate(BLOCK.finditer(page.read_text())):
            if match[1] == language:
                yield pytest.param(match[2], id=f"{page.name}-{number}")


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_block_runs(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", list(blocks("sh")))
def test_cooplab_lines_parse(code):
    """Each `cooplab COMMAND` line of a shell block names a command that has a help page."""
    for line in code.splitlines():
        words = line.strip().split()
        if words[:1] == ["cooplab"] and len(words) > 1 and not words[1].startswith("-"):
            done = subprocess.run(
                [sys.executable, "-m", "lab.cli", words[1], "--help"],
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}: {done.stderr}"


def test_links_between_pages_lead_somewhere():
    bad = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                bad.append(f"{page.name}: {target}")
    assert not bad, bad


def test_every_world_has_a_page():
    worlds = [p.name for p in (ROOT / "worlds").iterdir() if (p / "__init__.py").exists()]
    missing = [world for world in worlds if not (ROOT / "docs" / f"{world}.md").exists()]
    assert not missing, missing
