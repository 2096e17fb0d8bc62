"""The tables of the MA-Crafter page say what the technology table holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from worlds.macrafter.config import configure
from worlds.macrafter.table import load_table

PAGE = Path(__file__).parents[2] / "docs" / "macrafter.md"


def rows(first_column: str) -> dict[str, list[str]]:
    """Cells of the page's table whose head begins so, by name; a row may carry two names."""
    lines = PAGE.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for one in name.split(", "):
            found[one] = cells
    return found


@pytest.fixture(scope="module")
def tables():
    """The `paper` table and the `crafter` one, each as its preset has it."""
    paper = load_table(configure("paper", plants=True))
    return paper, load_table(configure("solo"))


def test_what_is_collected(tables):
    page, (paper, crafter) = rows("source"), tables
    assert page.keys() == paper.collect.keys()
    for source, (agents, tool, gives, base, event) in page.items():
        row, single = paper.collect[source], crafter.collect[source]
        assert agents == f"{row.agents} / {single.agents}"
        assert tool == (row.tool or "–")
        assert gives.startswith(f"{row.gives} {row.amount}")
        assert base in (f"{row.base_score:g}", "")
        if row.base_score:
            assert event == f"{row.unit_score * row.agents:g}"
    chance = re.search(r"chance ([\d.]+)", page["grass"][2])
    assert float(chance[1]) == paper.collect["grass"].chance


def uses(text: str) -> dict[str, int]:
    return {item: int(count) for item, count in (part.split() for part in text.split(", "))}


def test_what_is_made_and_placed(tables):
    paper, crafter = tables
    made, placed = rows("make"), rows("place")
    assert made.keys() == paper.make.keys()
    for item, (cost, stations) in made.items():
        assert uses(cost) == paper.make[item].uses
        of_paper, _, of_crafter = stations.partition(" / ")
        assert of_paper == " and ".join(paper.make[item].stations)
        assert (of_crafter or of_paper) == " and ".join(crafter.make[item].stations)
    assert placed.keys() == paper.place.keys()
    for thing, (cost, on) in placed.items():
        assert uses(cost) == paper.place[thing].uses
        assert on.split(", ") == list(paper.place[thing].on)
