"""The rules of CUBE once more, in plain Python over sets of cells, to compare the kernels with.

Nothing here is shared with the package: every stage looks at whole areas of cells and at ids,
where the kernels move edges on one grid. Slow on purpose, and written to be read beside the
manual of the world.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Cell = tuple[int, int]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
FACES = ("up", "down", "left", "right")
PUSHES = {"up": "down", "down": "up", "left": "right", "right": "left"}
FAILURES = ("already_moved", "blocked_by_wall", "blocked_by_block", "blocked_by_agent")


@dataclass(frozen=True)
class Board:
    """One world: cells of agents, top-left cells of blocks (None: delivered), weights."""

    is_chain: bool
    height: int
    width: int
    agents: tuple[Cell, ...]
    blocks: tuple[Cell | None, ...]
    weights: tuple[int, ...]


@dataclass
class Row:
    """An attempt: who takes part, and its counts."""

    block: int
    face: str
    acting: list[int] = field(default_factory=list)
    trying: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    aligned: set[int] = field(default_factory=set)
    helpers: list[int] = field(default_factory=list)
    need: int = 0
    is_clear: bool = False
    result: str = ""
    reason: str = ""

    @property
    def own(self) -> list[int]:
        return sorted(self.acting + self.trying + self.waiting)

    def counts(self) -> tuple[int, ...]:
        """NEED PARTICIPATION SPATIAL TEMPORAL MEMBERS IN_PLACE HELPERS."""
        acting = len(self.acting) + len(self.helpers)
        near = len(self.aligned & set(self.waiting))
        return (
            self.need,
            acting,
            acting + near,
            acting + len(self.trying),
            len(self.own) + len(self.helpers),
            len(self.aligned),
            len(self.helpers),
        )


@dataclass
class Turn:
    """What one step made of a board."""

    agents: list[Cell]
    blocks: list[Cell | None]
    outcomes: list[tuple[str, str]]
    rows: list[Row]
    delivered: list[int]


def shift(cell: Cell, direction: str, times: int = 1) -> Cell:
    return cell[0] + times * STEPS[direction][0], cell[1] + times * STEPS[direction][1]


def square(cell: Cell, size: int) -> set[Cell]:
    return {(cell[0] + i, cell[1] + j) for i in range(size) for j in range(size)}


def contacts(board: Board, block: int, face: str) -> list[Cell]:
    """Cells outside the block that touch one side, the board's edge not minded."""
    cell, size = board.blocks[block], board.weights[block]
    assert cell is not None
    inside = square(cell, size)
    return sorted({shift(c, face) for c in inside} - inside)


def step(board: Board, actions: list[str], declared: list[tuple[int, str] | None]) -> Turn:
    """Play one step; `declared` names a block and a face."""
    rows = engage(board, actions, declared)
    turn = Turn(list(board.agents), list(board.blocks), [("", "")] * len(actions), [], [])
    lines = {(row.block, row.face): row.acting for row in rows}
    frozen: set[int] = set()
    pushed: set[int] = set()
    for direction in STEPS:
        face = PUSHES[direction]
        here = [row for row in rows if row.face == face]
        started = {row.block: close(board, turn, row.block, direction, frozen) for row in here}
        able = {
            block: members
            for block, (members, failure) in started.items()
            if lines.get((block, face))
            and failure is None
            and force(members, lines, face) >= heft(board, members)
        }
        moving = set().union(*able.values())
        for row in here:
            describe(board, row, started[row.block], able, moving, lines, frozen)
        for block in moving:
            turn.blocks[block] = shift(turn.blocks[block], direction)
            for agent in lines.get((block, face), []):
                turn.agents[agent] = shift(turn.agents[agent], direction)
                pushed.add(agent)
        frozen |= moving
        for block in sorted(moving):
            cell = turn.blocks[block]
            if any(column == board.width - 1 for _, column in square(cell, board.weights[block])):
                turn.blocks[block] = None
                turn.delivered.append(block)
        for row in here:
            if row.result == "moved":
                gone = turn.blocks[row.block] is None
                row.result, row.reason = ("delivered",) * 2 if gone else ("done", "moved")
    walk(board, turn, actions, pushed, rows)
    turn.rows = rows
    return turn


def engage(board: Board, actions: list[str], declared: list[tuple[int, str] | None]) -> list[Row]:
    standing = {cell: agent for agent, cell in enumerate(board.agents)}
    table: dict[tuple[int, str], Row] = {}
    acting: set[int] = set()
    for block, cell in enumerate(board.blocks):
        for face in FACES if cell is not None else ():
            row = table[block, face] = Row(block, face)
            for contact in contacts(board, block, face):
                line = range(len(board.agents) if board.is_chain else 1)
                is_pushing = True
                for k in line:
                    agent = standing.get(shift(contact, face, k))
                    if agent is None:
                        break
                    row.aligned.add(agent)
                    is_pushing = is_pushing and actions[agent] == PUSHES[face]
                    if is_pushing:
                        row.acting.append(agent)
            acting |= set(row.acting)
    for agent, task in enumerate(declared):
        if task is not None and task in table and agent not in acting:
            row = table[task]
            is_trying = actions[agent] == PUSHES[row.face]
            (row.trying if is_trying else row.waiting).append(agent)
    return [
        table[key]
        for key in sorted(table, key=lambda k: (k[0], FACES.index(k[1])))
        if table[key].own
    ]


def close(
    board: Board, turn: Turn, block: int, direction: str, frozen: set[int]
) -> tuple[set[int], str | None]:
    """The closure of a block before a pass, and the first thing wrong with its passage."""
    if turn.blocks[block] is None or block in frozen:
        return {block}, "already_moved"
    areas = {
        other: square(cell, board.weights[other])
        for other, cell in enumerate(turn.blocks)
        if cell is not None
    }
    members = {block}
    while True:
        ahead = {shift(cell, direction) for member in members for cell in areas[member]}
        met = {other for other, area in areas.items() if area & ahead} - members
        if not met or not board.is_chain:
            break
        members |= met
    wrong = {
        "already_moved": bool(members & frozen),
        "blocked_by_wall": any(
            not (0 <= r < board.height and 0 <= c < board.width) for r, c in ahead
        ),
        "blocked_by_block": bool(met),
        "blocked_by_agent": bool(ahead & set(turn.agents)),
    }
    return members, next((name for name in FAILURES if wrong[name]), None)


def force(members: set[int], lines: dict[tuple[int, str], list[int]], face: str) -> int:
    return sum(len(lines.get((member, face), [])) for member in members)


def heft(board: Board, members: set[int]) -> int:
    return sum(board.weights[member] for member in members)


def describe(board, row, own_closure, able, moving, lines, frozen) -> None:
    """Fill in what a row says after its pass; `moved` stands for done or delivered."""
    members, failure = own_closure
    if row.block in moving:
        around = [(heft(board, m), start, m) for start, m in able.items() if row.block in m]
        _, _, members = min(around, key=lambda entry: entry[:2])
        failure = None
    row.need, row.is_clear = heft(board, members), failure is None
    if not row.acting:
        row.result = "short" if row.trying else "none"
        row.reason = "not_in_contact" if row.trying else "waiting"
        return
    for member in members - {row.block}:
        row.helpers += lines.get((member, row.face), [])
    if row.block in moving:
        row.result = "moved"
        return
    row.result = "short" if len(row.acting) + len(row.helpers) < row.need else "blocked"
    row.reason = failure or "insufficient_force"


def walk(board: Board, turn: Turn, actions: list[str], pushed: set[int], rows: list[Row]) -> None:
    agents = set(turn.agents)
    blocks = set()
    for block, cell in enumerate(turn.blocks):
        if cell is not None:
            blocks |= square(cell, board.weights[block])
    taken: set[Cell] = set()
    for agent, action in enumerate(actions):
        if agent in pushed:
            turn.outcomes[agent] = ("pushed", "none")
            continue
        if action == "stay":
            turn.outcomes[agent] = ("stayed", "none")
            continue
        cell = shift(turn.agents[agent], action)
        reason = ""
        if not (0 <= cell[0] < board.height and 0 <= cell[1] < board.width):
            reason = "wall"
        elif cell in agents:
            reason = "agent"
        elif cell in blocks:
            reason = "block"
        elif not board.is_chain and cell[1] == board.width - 1:
            reason = "goal_column"
        if reason:
            reason = next((row.reason for row in rows if agent in row.acting), reason)
        elif cell in taken:
            reason = "lost_race"
        else:
            taken.add(cell)
            turn.agents[agent] = cell
        turn.outcomes[agent] = ("blocked", reason) if reason else ("moved", "none")
