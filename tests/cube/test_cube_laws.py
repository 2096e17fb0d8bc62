"""Laws of CUBE over random crowded boards, actions and declared tasks, both rule sets."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from cube_oracle import Board
from cube_states import (
    action_array,
    batch,
    declared_array,
    random_actions,
    random_board,
    random_declared,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from worlds.api import AttemptColumn as Column
from worlds.api import AttemptResult as Result
from worlds.api import Part, row
from worlds.cube.config import CubeConfig
from worlds.cube.rules import CubeRules
from worlds.cube.state import ACTIONS, GONE, HELPERS, IS_CLEAR, CubeState

STEPS = 6
LAWS = settings(max_examples=120, deadline=None, derandomize=True)


class Play(NamedTuple):
    """A board and what everybody does on it for some steps."""

    board: Board
    actions: list[np.ndarray]
    declared: list[np.ndarray]


@st.composite
def plays(draw: st.DrawFn) -> Play:
    random = Random(draw(st.integers(0, 10**9)))
    shape = draw(st.integers(3, 8)), draw(st.integers(5, 10))
    weights = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    free = shape[0] * shape[1] - sum(weight * weight for weight in weights)
    agents = draw(st.integers(1, max(1, min(8, free // 2))))
    board, way = random_board(random, draw(st.booleans()), shape, agents, weights)
    actions = [action_array([random_actions(random, board, way)]) for _ in range(STEPS)]
    declared = [declared_array([random_declared(random, board)]) for _ in range(STEPS)]
    return Play(board, actions, declared)


def start(play: Play) -> tuple[CubeRules, CubeState]:
    rules = CubeRules(CubeConfig(rules="chain" if play.board.is_chain else "quorum"))
    return rules, batch([play.board])


def turns(play: Play):
    """Each step of a play: state before (a copy), state after, actions, what was handed back."""
    rules, state = start(play)
    for actions, declared in zip(play.actions, play.declared, strict=True):
        if state.is_terminated[0]:
            return
        before = rules.clone(state)
        stepped = rules.step(state, actions, declared)
        yield before, state, actions, stepped


def rows_of(state: CubeState) -> np.ndarray:
    return state.attempts[0, : state.attempt_count[0]]


def check_cells(state: CubeState) -> None:
    """Every entity is inside, no two share a cell, and `occupant` says the same."""
    expected = np.zeros_like(state.occupant[0])
    height, width = expected.shape
    for agent, (r, c) in enumerate(state.agent_cell[0].tolist()):
        assert 0 <= r < height and 0 <= c < width, f"agent_{agent} at ({r},{c})"
        assert expected[r, c] == 0, f"agent_{agent} on {expected[r, c]} at ({r},{c})"
        expected[r, c] = agent + 1
    for block, (r, c) in enumerate(state.block_cell[0].tolist()):
        size = int(state.block_weight[0, block])
        if r != GONE:
            assert 0 <= r <= height - size and 0 <= c < width - size, f"block_{block} at ({r},{c})"
            area = expected[r : r + size, c : c + size]
            assert not area.any(), f"block_{block} on {area.tolist()} at ({r},{c})"
            area[:] = -(block + 1)
    np.testing.assert_array_equal(state.occupant[0], expected)


@given(plays())
@LAWS
def test_no_two_entities_share_a_cell(play: Play) -> None:
    drawn = {cell for cell in play.board.agents if cell[1] == play.board.width - 1}
    for _, after, _, _ in turns(play):
        check_cells(after)
        if not play.board.is_chain:
            for cell in map(tuple, after.agent_cell[0].tolist()):
                assert cell[1] < play.board.width - 1 or cell in drawn, f"{cell} in the goal"


@given(plays())
@LAWS
def test_everything_moves_at_most_one_cell_and_agents_where_they_want(play: Play) -> None:
    directions = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])
    for before, after, actions, _ in turns(play):
        walked = after.agent_cell[0].astype(int) - before.agent_cell[0]
        wanted = directions[actions[0]]
        is_still = (walked == 0).all(axis=1)
        assert (is_still | (walked == wanted).all(axis=1)).all(), f"{walked} of {wanted}"
        kept = after.block_cell[0, :, 0] != GONE
        slid = (after.block_cell[0].astype(int) - before.block_cell[0])[kept]
        assert (np.abs(slid).sum(axis=1) <= 1).all(), f"blocks slid by {slid}"


@given(plays())
@LAWS
def test_weight_is_conserved_and_delivery_is_for_good(play: Play) -> None:
    for before, after, _, stepped in turns(play):
        worth = [
            s.score[0] + s.block_weight[0][s.block_cell[0, :, 0] != GONE].sum()
            for s in (before, after)
        ]
        assert worth[0] == worth[1]
        assert after.score[0] - before.score[0] == after.delivered_now[0] >= 0
        assert not (after.block_cell[0, :, 0][before.block_cell[0, :, 0] == GONE] != GONE).any()
        agents = after.agent_cell.shape[1]
        expected = after.delivered_now[0] - agents * 0.01
        assert stepped.rewards.sum() == pytest.approx(expected, abs=1e-5)


@given(plays())
@LAWS
def test_what_rows_say_agrees_with_what_moved(play: Play) -> None:
    for before, after, actions, _ in turns(play):
        rows = rows_of(after)
        result, need, part = rows[:, Column.RESULT], rows[:, Column.NEED], rows[:, 2]
        is_clear = rows[:, IS_CLEAR] == 1
        success = result >= Result.DONE
        assert (success == (success & (part >= need) & is_clear)).all(), rows
        blocked = result == Result.BLOCKED
        assert (blocked == (blocked & (part >= need) & ~is_clear)).all(), rows
        assert (
            success == ((rows[:, Column.MEMBERS] > rows[:, HELPERS]) & is_clear & (part >= need))
        ).all(), rows
        moved = {
            block
            for block in range(after.block_cell.shape[1])
            if (after.block_cell[0, block] != before.block_cell[0, block]).any()
        }
        done = set((rows[success, Column.TASK] // 4).tolist())
        assert done <= moved
        if not play.board.is_chain:
            assert done == moved
            assert_full_faces(before, rows[success], actions[0])
        elif moved:
            weight = sum(int(after.block_weight[0, block]) for block in moved)
            assert done and need[success].sum() >= weight, (moved, rows)


def assert_full_faces(before: CubeState, rows: np.ndarray, actions: np.ndarray) -> None:
    """Under quorum each contact cell of a face that moved held one acting agent."""
    for line in rows:
        block, face = divmod(int(line[Column.TASK]), 4)
        size = int(before.block_weight[0, block])
        r, c = before.block_cell[0, block].tolist()
        assert line[Column.PARTICIPATION] == size
        cells = {
            0: [(r - 1, c + k) for k in range(size)],
            1: [(r + size, c + k) for k in range(size)],
            2: [(r + k, c - 1) for k in range(size)],
            3: [(r + k, c + size) for k in range(size)],
        }[face]
        for cell in cells:
            agent = int(before.occupant[0][cell]) - 1
            assert agent >= 0, f"nobody on {cell}"
            assert actions[agent] == (face ^ 1) + 1, f"agent_{agent} on {cell} does not push"


@given(plays())
@LAWS
def test_counts_are_ordered_and_membership_is_single(play: Play) -> None:
    for _, after, _, _ in turns(play):
        rows, agents = rows_of(after), after.agent_cell.shape[1]
        participation, spatial = rows[:, Column.PARTICIPATION], rows[:, Column.SPATIAL]
        temporal, members = rows[:, Column.TEMPORAL], rows[:, Column.MEMBERS]
        assert (participation <= np.minimum(spatial, temporal)).all(), rows
        assert (np.maximum(spatial, temporal) <= members).all() and (members <= agents).all(), rows
        assert (np.diff(rows[:, Column.TASK]) > 0).all(), rows
        own = members - rows[:, HELPERS]
        membership = after.agent_attempt[0]
        assert own.tolist() == [int((membership == i).sum()) for i in range(len(rows))]
        assert ((membership >= 0) == (after.agent_part[0] & Part.CAPABLE > 0)).all()
        assert not after.attempts[0, len(rows) :].any()


@given(plays())
@LAWS
def test_declaring_changes_records_only(play: Play) -> None:
    (rules, told), (_, silent) = start(play), start(play)
    records = {
        "attempt_count",
        "attempts",
        "agent_attempt",
        "agent_part",
        "task_attempts",
        "task_successes",
    }
    for actions, declared in zip(play.actions, play.declared, strict=True):
        if told.is_terminated[0]:
            return
        one, other = rules.step(told, actions, declared), rules.step(silent, actions)
        np.testing.assert_array_equal(one.rewards, other.rewards)
        for name in set(CubeState._fields) - records:
            np.testing.assert_array_equal(
                told._asdict()[name], silent._asdict()[name], err_msg=name
            )


MIRRORED = np.array([0, 2, 1, 3, 4], np.int32)


def mirror(board: Board) -> Board:
    """The board top to bottom."""
    return board.__class__(
        board.is_chain,
        board.height,
        board.width,
        tuple((board.height - 1 - r, c) for r, c in board.agents),
        tuple(
            None if cell is None else (board.height - cell[0] - size, cell[1])
            for cell, size in zip(board.blocks, board.weights, strict=True)
        ),
        board.weights,
    )


@given(plays())
@LAWS
def test_a_mirrored_board_gives_the_mirrored_result(play: Play) -> None:
    """Without up and down, whose passes have an order."""
    rules, state = start(play)
    reflected = batch([mirror(play.board)])
    for actions, declared in zip(play.actions, play.declared, strict=True):
        if state.is_terminated[0]:
            return
        level = np.where(actions < 3, 0, actions).astype(np.int32)
        face = declared % 4
        flipped = np.where((declared >= 0) & (face < 2), declared ^ 1, declared).astype(np.int32)
        rules.step(state, level, declared)
        rules.step(reflected, level, flipped)
        np.testing.assert_array_equal(reflected.occupant[0], state.occupant[0, ::-1])
        for name in ("agent_outcome", "agent_reason", "agent_part", "delivered_step"):
            np.testing.assert_array_equal(reflected._asdict()[name], state._asdict()[name])
        mine, other = rows_of(state).copy(), rows_of(reflected)
        vertical = mine[:, Column.TASK] % 4 < 2
        mine[vertical, Column.TASK] ^= 1
        np.testing.assert_array_equal(mine[np.argsort(mine[:, Column.TASK])], other)


@pytest.mark.parametrize("preset", [{}, {"rules": "chain", "n": 4}, {"agents": 6}])
def test_batches_clones_and_looks(preset: dict) -> None:
    """Equal seeds agree, a batch equals its worlds, clones are apart, looking changes nothing."""
    rules, random = CubeRules(CubeConfig(max_steps=40, **preset)), np.random.default_rng(1)
    many, singles = rules.reset(7, 5), [rules.reset(7 + b) for b in range(5)]
    for _ in range(40):
        actions = random.integers(0, len(ACTIONS), (5, rules.agents)).astype(np.int32)
        declared = random.integers(-1, 4, (5, rules.agents)).astype(np.int32)
        original = rules.clone(row(many, 2))
        untouched = rules.clone(original)
        rules.step(rules.clone(original), actions[:1], declared[:1])
        for look in (rules.observe, lambda s, _: rules.report(s), lambda s, _: rules.frame(s)):
            look(original, 0)
        assert_equal(original, untouched)
        stepped = rules.step(many, actions, declared)
        for b, single in enumerate(singles):
            alone = rules.step(single, actions[b : b + 1], declared[b : b + 1])
            assert_equal(row(many, b), single)
            np.testing.assert_array_equal(stepped.rewards[b : b + 1], alone.rewards)


def assert_equal(one: CubeState, other: CubeState) -> None:
    for name, array in one._asdict().items():
        np.testing.assert_array_equal(array, other._asdict()[name], err_msg=name)


@given(st.integers(0, 2**63 - 1), st.sampled_from(["moat", "scatter"]))
@LAWS
def test_layouts_keep_their_promise(seed: int, placement: str) -> None:
    rules = CubeRules(CubeConfig(placement=placement))
    state = rules.reset(seed)
    check_cells(state)
    rows, columns = state.agent_cell[0].T
    assert (columns == 0).all() and len(set(rows.tolist())) == rules.agents
    squares = list(zip(state.block_cell[0].tolist(), state.block_weight[0].tolist(), strict=True))
    for i, ((r, c), size) in enumerate(squares):
        assert 1 <= r <= 15 - size - 2 and 1 <= c <= 15 - size - 2
        for (y, x), other in squares[:i]:
            gap = max(r - (y + other), y - (r + size), c - (x + other), x - (c + size))
            assert gap >= (1 if placement == "moat" else 0), f"blocks at {(r, c)} and {(y, x)}"
