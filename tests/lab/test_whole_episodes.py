"""Benchmarks count an episode only if nothing cut it short."""

from types import SimpleNamespace

import pytest

from benchmarks.timing import require_whole


def ending(ended_by, error=None):
    return SimpleNamespace(ended_by=ended_by, error=error, steps=10, detail="a planner failed")


@pytest.mark.parametrize("ended_by", ["world", "steps"])
def test_an_episode_that_ran_to_its_end_counts(ended_by):
    require_whole(ending(ended_by))


def test_an_end_that_is_meant_counts_if_it_is_named():
    require_whole(ending("team_ms"), "team_ms")


def test_a_planner_that_gave_up_counts_for_nothing():
    with pytest.raises(RuntimeError, match="ended by error at step 10: a planner failed"):
        require_whole(ending("error"))


def test_what_was_raised_is_raised_again():
    with pytest.raises(KeyError):
        require_whole(ending("error", KeyError("x")))
