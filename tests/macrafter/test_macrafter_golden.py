"""Every golden case: the world after, the rows, the outcomes, the items and the score."""

import pytest
from macrafter_cases import Played, read_cases

CASES = read_cases()


def test_all_cases_are_read():
    assert [case.name for case in CASES] == [f"M{number:02}" for number in range(1, 24)]


@pytest.mark.kernel
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} {case.title}")
def test_case(case):
    played = Played(case)
    assert played.drawing == case.after, f"{case.name}: the world after"
    assert played.rows == case.notes["rec"], f"{case.name}: the rows"
    assert played.end == case.notes["end"], f"{case.name}: the end"
