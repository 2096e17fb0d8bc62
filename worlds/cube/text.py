"""What agents of CUBE read: the manual, the view as text and as data, sentences for reasons."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from worlds.api import NO_ATTEMPT, AgentId, AttemptColumn, AttemptResult, Json
from worlds.cube import concepts
from worlds.cube.board import GOAL_FACE, Board, board_of
from worlds.cube.config import CubeConfig
from worlds.cube.generate import to_drawing
from worlds.cube.manual import manual
from worlds.cube.rules import unmet
from worlds.cube.state import ACTIONS, FACES, OUTCOMES, REASONS, CubeState, task_id
from worlds.text_grid import cell_text, cells_text, left_out, list_text

__all__ = ["CubeText"]

SHOWN_BLOCKS = 40
MAP_AGENTS, MAP_BLOCKS, MAP_SIDE = 10, 26, 40
"""A map is drawn up to these numbers of agents and blocks, and rows and columns."""

RULE_LINES = {
    "quorum": "A block of weight w moves one cell when w agents fill one whole face and push in the"
    " same step. To push right, stand on its left face.",
    "chain": "A block moves when the agents lined up behind one face exert at least the weight of"
    " the block and of every block it must push along.",
}

SENTENCES = {
    "wall": "The next cell is outside the board.",
    "goal_column": "The goal column is closed to walkers.",
    "agent": "Another agent stood on the next cell.",
    "block": "A block stands on the next cell.",
    "lost_race": "Another agent with a smaller id entered that cell in the same step.",
    "already_moved": "The block had moved in another direction in the same step.",
    "blocked_by_wall": "The block cannot move: it, or one it pushes along, would leave the board.",
    "blocked_by_block": "The block cannot move: another block is in its way.",
    "blocked_by_agent": "The block cannot move: an agent stands in its way.",
    "insufficient_force": "The block did not move: it needs {need} agents pushing in the same step,"
    " {participation} did.",
    "not_in_contact": "The push did not reach the block: nobody stood on that face and pushed.",
    "waiting": "Everybody at that face waited; nobody pushed.",
    "moved": "The block moved.",
    "delivered": "The block was delivered.",
    "unknown_reference": "{reference} is not an undelivered block or agent of this world.",
    "block_delivered": "{block} is delivered already.",
    "face_blocked": "No agent can stand there: every cell asked for is outside the board, under a"
    " block, or not at the {face} face of {block}.",
    "face_full": "Every cell at the {face} face of {block} is held by another agent.",
    "not_at_face": "You do not stand at the {face} face of {block}.",
    "timeout": "Gave up after {steps} steps.",
    "blocked": "No progress for {steps} steps: other agents are in the way.",
    "no_path": "No path leads there round the blocks.",
    "unknown_verb": 'There is no verb "{verb}".',
    "missing_argument": "The argument {field} is missing.",
    "extra_argument": "There is no argument {field}.",
    "bad_argument": "{field}: {value} is not one of {limits}.",
}


class Page(NamedTuple):
    """The parts of a view that all agents share."""

    head: str
    agents: tuple[str, ...]
    blocks: tuple[str, ...]
    blocks_left_out: int
    delivered: str


class CubeText:
    """The manual and the views; nothing of the world is hidden from anybody."""

    reasons: Mapping[str, str] = SENTENCES

    def __init__(self, config: CubeConfig) -> None:
        self._config = config

    def manual(self) -> str:
        """Rules, verbs and concepts, under 6000 characters."""
        return manual(self._config)

    def describe(self, state: CubeState, agent: AgentId, limit: int) -> str:
        """The view as text of at most `limit` characters.

        The map goes first, then the farthest blocks, then the agents of high id.
        """
        board = board_of(state, self._config.rules)
        score = int(state.score[0])
        page = _page(board, int(state.step[0]), self._config.max_steps, score)
        head = f"{page.head}\n{_yourself(state, board, agent)}"
        whole = f"{head}\n{_rest(page, page.agents, page.blocks, page.blocks_left_out)}"
        drawn = f"\nMap:\n{to_drawing(state)}" if _has_map(board) else ""
        if len(whole) + len(drawn) <= limit:
            return whole + drawn
        note = "\n(map left out)" if drawn else ""
        if len(whole) + len(note) > limit:
            whole = _cut(page, head, limit - len(note))
        return (whole + note)[: max(0, limit)]

    def view(self, state: CubeState, agent: AgentId) -> Json:
        """The view as data: the same facts, with all four faces of each block."""
        board = board_of(state, self._config.rules)
        terrain = board.terrain
        shown = _order(board)[:SHOWN_BLOCKS]
        return {
            "world": "cube-v1",
            "rules": self._config.rules,
            "step": int(state.step[0]),
            "max_steps": self._config.max_steps,
            "score": int(state.score[0]),
            "max_score": sum(terrain.weights),
            "board": {
                "rows": terrain.rows,
                "columns": terrain.columns,
                "goal_column": terrain.columns - 1,
            },
            "self": {
                "id": f"agent_{agent}",
                "cell": list(board.agents[agent]),
                "last": _last(state, agent),
            },
            "agents": [
                {"id": f"agent_{other}", "cell": list(cell)}
                for other, cell in enumerate(board.agents)
            ],
            "blocks": [_block_view(board, block) for block in shown],
            "blocks_left_out": len(terrain.open) - len(shown),
            "delivered": [f"block_{block}" for block in _delivered(board)],
        }

    def sheet(self, state: CubeState, agent: AgentId) -> Json:
        """Id, cell and last outcome: what a report to another agent carries."""
        last = _last(state, agent)
        told = last and {"outcome": last["outcome"], "reason": last["reason"]}
        cell = state.agent_cell[0, agent].tolist()
        return {"id": f"agent_{agent}", "cell": cell, "last": told}


def _order(board: Board) -> list[int]:
    """Undelivered blocks by distance to the goal, weight, id."""
    terrain = board.terrain
    return sorted(terrain.open, key=lambda b: (terrain.distance_to_goal(b), terrain.weights[b], b))


def _delivered(board: Board) -> list[int]:
    return [block for block, cell in enumerate(board.terrain.cells) if cell is None]


@lru_cache(maxsize=4)
def _page(board: Board, step: int, max_steps: int, score: int) -> Page:
    terrain = board.terrain
    head = (
        f"cube-v1, rules {terrain.rules}. Step {step} of {max_steps}. "
        f"Team score {score} of {sum(terrain.weights)}.\n"
        f"Board: {terrain.rows} rows x {terrain.columns} columns, cells are (row, column), "
        f"(0,0) is top left. Goal: column {terrain.columns - 1}.\n{RULE_LINES[terrain.rules]}"
    )
    shown = _order(board)[:SHOWN_BLOCKS]
    return Page(
        head,
        tuple(f"agent_{other} {cell_text(cell)}" for other, cell in enumerate(board.agents)),
        tuple(_block_line(board, block) for block in shown),
        len(terrain.open) - len(shown),
        f"Delivered: {list_text([f'block_{block}' for block in _delivered(board)])}.",
    )


def _rest(page: Page, agents: tuple[str, ...], blocks: tuple[str, ...], blocks_left: int) -> str:
    """Everything after the line about the agent itself, without the map."""
    missing = len(page.agents) - len(agents)
    more = f"; {left_out(missing, 'agents')}" if missing else ""
    lines = [f"Agents: {'; '.join(agents)}{more}.", "Blocks, nearest to the goal first:", *blocks]
    lines += [left_out(blocks_left, "blocks")] if blocks_left else []
    return "\n".join([*lines, page.delivered])


def _cut(page: Page, head: str, limit: int) -> str:
    """A text without the farthest blocks and, if need be, without some agents."""
    total = len(page.blocks) + page.blocks_left_out
    room = limit - len(head) - 1
    agents, bare = page.agents, len(_rest(page, page.agents, (), total))
    while agents and bare > room:
        agents = agents[: -max(1, len(agents) // 8)]
        bare = len(_rest(page, agents, (), total))
    kept = 0
    while kept < len(page.blocks) and bare + len(page.blocks[kept]) + 1 <= room:
        bare += len(page.blocks[kept]) + 1
        kept += 1
    return f"{head}\n{_rest(page, agents, page.blocks[:kept], total - kept)}"


def _has_map(board: Board) -> bool:
    terrain = board.terrain
    return (
        len(board.agents) <= MAP_AGENTS
        and len(terrain.cells) <= MAP_BLOCKS
        and max(terrain.rows, terrain.columns) <= MAP_SIDE
    )


def _block_line(board: Board, block: int) -> str:
    terrain = board.terrain
    corner, weight = terrain.cells[block], terrain.weights[block]
    assert corner is not None
    (top, left), (bottom, right) = corner, (corner[0] + weight - 1, corner[1] + weight - 1)
    ahead = [f"block_{other}" for other in concepts.ahead(board, block)]
    path = f"blocked by {list_text(ahead)}" if ahead else "clear"
    faces = "; ".join(_face_text(board, block, face) for face in _shown_faces(board, block))
    return (
        f"- block_{block}: weight {weight}, rows {top}-{bottom}, columns {left}-{right}, "
        f"{terrain.distance_to_goal(block)} from the goal, path {path}. {faces}."
    )


def _shown_faces(board: Board, block: int) -> list[int]:
    """The left face, then the others where somebody is in place."""
    others = [face for face in range(len(FACES)) if face != GOAL_FACE]
    return [GOAL_FACE, *(face for face in others if _in_place(board, block, face))]


def _in_place(board: Board, block: int, face: int) -> list[AgentId]:
    found = (board.agent_at(cell) for cell in board.terrain.contacts(block, face))
    return sorted(agent for agent in found if agent is not None)


def _face_text(board: Board, block: int, face: int) -> str:
    cells = cells_text(board.terrain.contacts(block, face))
    count = len(_in_place(board, block, face))
    return f"{FACES[face]} {count}/{board.terrain.weights[block]} at {cells}"


def _yourself(state: CubeState, board: Board, agent: AgentId) -> str:
    text = f"You are agent_{agent} at {cell_text(board.agents[agent])}."
    last = _last(state, agent)
    if last is None:
        return text
    why = "" if last["reason"] is None else f" ({last['reason']})"
    text += f" Last step: {last['action']}, {last['outcome']}{why}."
    row = last["attempt"]
    if row is None:
        return text
    counts = ", ".join(f"{key} {row[key]}" for key in ("participation", "spatial", "temporal"))
    return f"{text} {row['task']}: {row['result']}, need {row['need']}, {counts}."


def _last(state: CubeState, agent: AgentId) -> Json:
    """How the agent's last action went; None before the first step."""
    if state.step[0] == 0:
        return None
    reason = int(state.agent_reason[0, agent])
    return {
        "action": ACTIONS[state.agent_action[0, agent]],
        "outcome": OUTCOMES[state.agent_outcome[0, agent]],
        "reason": REASONS[reason] if reason else None,
        "attempt": _attempt(state, agent),
    }


def _attempt(state: CubeState, agent: AgentId) -> Json:
    index = int(state.agent_attempt[0, agent])
    if index == NO_ATTEMPT:
        return None
    row, column = state.attempts[0, index].tolist(), AttemptColumn
    counts = {
        "need": row[column.NEED],
        "participation": row[column.PARTICIPATION],
        "spatial": row[column.SPATIAL],
        "temporal": row[column.TEMPORAL],
        "dependency": row[column.DEPENDENCY],
        "members": row[column.MEMBERS],
    }
    return {
        "task": task_id(row[column.TASK]),
        "result": AttemptResult.NAMES[row[column.RESULT]],
        **counts,
        "unmet": list(unmet(row)),
    }


def _block_view(board: Board, block: int) -> Json:
    terrain = board.terrain
    corner = terrain.cells[block]
    assert corner is not None
    return {
        "id": f"block_{block}",
        "weight": terrain.weights[block],
        "top_left": list(corner),
        "distance_to_goal": terrain.distance_to_goal(block),
        "path_clear": concepts.path_clear(board, block),
        "ahead": [f"block_{other}" for other in concepts.ahead(board, block)],
        "faces": {name: _face_view(board, block, face) for face, name in enumerate(FACES)},
    }


def _face_view(board: Board, block: int, face: int) -> Json:
    return {
        "cells": [list(cell) for cell in board.terrain.contacts(block, face)],
        "in_place": [f"agent_{agent}" for agent in _in_place(board, block, face)],
        "is_blocked": concepts.face_blocked(board, block, FACES[face]),
    }
