"""The kernels and an independent plain-Python oracle agree on 100,000 random states."""

from __future__ import annotations

from random import Random

import cube_oracle
import numpy as np
import pytest
from cube_oracle import FACES, Board, Row, Turn
from cube_states import (
    action_array,
    batch,
    declared_array,
    random_actions,
    random_board,
    random_declared,
)

from worlds.api import Part
from worlds.cube.config import CubeConfig
from worlds.cube.rules import CubeRules
from worlds.cube.state import OUTCOMES, REASONS, CubeState

STATES = 100_000
BATCH = 500
LAYOUTS = 20
"""Ten layouts each of both rule sets share the states."""


@pytest.mark.parametrize(
    "layout",
    [*(pytest.param(n, marks=pytest.mark.kernel) for n in range(2)), *range(2, LAYOUTS)],
)
def test_kernels_agree_with_the_oracle(layout: int) -> None:
    random = Random(layout)
    is_chain = layout % 2 == 1
    rules = CubeRules(CubeConfig(rules="chain" if is_chain else "quorum", max_steps=9))
    for _ in range(STATES // LAYOUTS // BATCH):
        shape = random.randint(3, 7), random.randint(5, 9)
        weights = tuple(random.randint(1, 3) for _ in range(random.randint(1, 5)))
        free = shape[0] * shape[1] - sum(weight * weight for weight in weights)
        agents = random.randint(1, min(9, max(1, free // 2)))
        compare(
            random,
            rules,
            [random_board(random, is_chain, shape, agents, weights) for _ in range(BATCH)],
        )


def compare(random: Random, rules: CubeRules, drawn: list[tuple[Board, str]]) -> None:
    boards = [board for board, _ in drawn]
    actions = [random_actions(random, board, way) for board, way in drawn]
    declared = [random_declared(random, board) for board in boards]
    state = batch(boards)
    stepped = rules.step(state, action_array(actions), declared_array(declared))
    seen = Seen(state)
    for w, board in enumerate(boards):
        turn = cube_oracle.step(board, actions[w], declared[w])
        expected = facts_of(board, turn)
        got = seen.facts(w)
        assert got == expected, "\n".join(
            (
                f"{board}\nactions {actions[w]}\ndeclared {declared[w]}",
                *(
                    f"{name}: kernel {got[name]}, oracle {expected[name]}"
                    for name in got
                    if got[name] != expected[name]
                ),
            )
        )
    worth = state.delivered_now[:, None] / state.agent_cell.shape[1]
    expected_rewards = np.repeat(worth - 0.01, state.agent_cell.shape[1], axis=1)
    np.testing.assert_allclose(stepped.rewards, expected_rewards, atol=1e-6)


class Seen:
    """A batch after a step as lists, world by world in the oracle's terms."""

    def __init__(self, state: CubeState) -> None:
        self.lists = {name: array.tolist() for name, array in state._asdict().items()}

    def facts(self, w: int) -> dict[str, object]:
        get = {name: values[w] for name, values in self.lists.items()}
        rows = get["attempts"]
        return {
            "agents": [tuple(cell) for cell in get["agent_cell"]],
            "blocks": [tuple(cell) for cell in get["block_cell"]],
            "occupant": get["occupant"],
            "outcomes": [
                (OUTCOMES[o], REASONS[r])
                for o, r in zip(get["agent_outcome"], get["agent_reason"], strict=True)
            ],
            "rows": [
                (*row[:5], *row[5:9], REASONS[row[10]], row[9], *row[11:])
                for row in rows[: get["attempt_count"]]
            ],
            "unused rows": any(any(row) for row in rows[get["attempt_count"] :]),
            "agent_attempt": get["agent_attempt"],
            "agent_part": get["agent_part"],
            "delivered": [k for k, step in enumerate(get["delivered_step"]) if step == 1],
            "score": (get["score"], get["delivered_now"]),
            "totals": (get["task_attempts"], get["task_successes"]),
            "ended": get["is_terminated"],
        }


def facts_of(board: Board, turn: Turn) -> dict[str, object]:
    results = ("none", "short", "blocked", "done", "delivered")
    tasks = [4 * row.block + FACES.index(row.face) for row in turn.rows]
    rows = []
    for task, row in zip(tasks, turn.rows, strict=True):
        need, participation, spatial, temporal, members, in_place, helpers = row.counts()
        rows.append(
            (
                task,
                need,
                participation,
                spatial,
                temporal,
                0,
                0,
                members,
                in_place,
                row.reason,
                results.index(row.result),
                helpers,
                int(row.is_clear),
            )
        )
    worth = sum(board.weights[block] for block in turn.delivered)
    total = [0] * (4 * len(board.blocks))
    good = list(total)
    for task, row in zip(tasks, turn.rows, strict=True):
        total[task] += row.result != "none"
        good[task] += row.result in ("done", "delivered")
    membership = {agent: i for i, row in enumerate(turn.rows) for agent in row.own}
    return {
        "agents": turn.agents,
        "blocks": [(-1, -1) if cell is None else cell for cell in turn.blocks],
        "occupant": picture(board, turn),
        "outcomes": turn.outcomes,
        "rows": rows,
        "unused rows": False,
        "agent_attempt": [membership.get(a, -1) for a in range(len(board.agents))],
        "agent_part": [
            part(turn.rows[membership[a]], a, bool(turn.delivered)) if a in membership else 0
            for a in range(len(board.agents))
        ],
        "delivered": sorted(turn.delivered),
        "score": (worth, worth),
        "totals": (total, good),
        "ended": all(cell is None for cell in turn.blocks),
    }


def part(row: Row, agent: int, is_delivery: bool) -> int:
    bits = Part.CAPABLE
    if agent in row.acting:
        bits |= Part.ACTING | Part.NEAR
    if agent in row.trying:
        bits |= Part.TRYING
    if agent in row.waiting and agent in row.aligned:
        bits |= Part.NEAR
    return bits | (Part.CREDITED if is_delivery else 0)


def picture(board: Board, turn: Turn) -> list[list[int]]:
    grid = [[0] * board.width for _ in range(board.height)]
    for agent, (r, c) in enumerate(turn.agents):
        grid[r][c] = agent + 1
    for block, cell in enumerate(turn.blocks):
        if cell is not None:
            for r, c in cube_oracle.square(cell, board.weights[block]):
                grid[r][c] = -(block + 1)
    return grid
