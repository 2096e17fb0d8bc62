"""What one agent of CUBE knows when it is asked: the board, its notes, and what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from primitives.navigation import UNREACHABLE
from worlds.api import AgentId, Cell, Json
from worlds.cube.board import GOAL_FACE, Board
from worlds.cube.slots import blocks_under
from worlds.cube.state import FACES, task_id, task_number
from worlds.cube.verbs import block_of

__all__ = ["Leg", "Seat", "goal_task", "told"]

MEMORY_STEPS = 60
"""Steps after which a teammate's old word is no longer believed."""
_TASK = re.compile(r"block_(\d+)_(up|down|left|right)")
_SLOT = re.compile(r"slot \((\d+),(\d+)\)")
_FREE = "none"

Leg = tuple[int, int]
"""A block and the face from which it is pushed."""


def goal_task(block: int) -> str:
    """Id of the task that leads a block to the goal."""
    return task_id(task_number(block, GOAL_FACE))


def told(text: str) -> Iterator[Leg]:
    """The tasks that a text names, in its order."""
    for block, face in _TASK.findall(text):
        yield int(block), FACES.index(face)


@dataclass(frozen=True)
class Seat:
    """One agent, its board and its notes; nothing else enters an answer."""

    board: Board
    agent: AgentId
    notes: Json

    @property
    def cell(self) -> Cell:
        return self.board.agents[self.agent]

    @property
    def step(self) -> int:
        step: int = self.notes["step"]
        return step

    @property
    def teammates(self) -> list[AgentId]:
        return [other for other in range(len(self.board.agents)) if other != self.agent]

    def walk(self, block: int, agent: AgentId | None = None, face: int = GOAL_FACE) -> int:
        """Steps to a face of a block, agents ignored; UNREACHABLE if no path leads there."""
        cells = self.board.terrain.contacts(block, face)
        cell = self.cell if agent is None else self.board.agents[agent]
        return int(self.board.terrain.field(cells)[cell])

    def heard(self, *kinds: str) -> list[Json]:
        """Messages of these kinds among those newly read."""
        return [message for message in self.notes["messages"] if message["kind"] in kinds]

    # --- orders --------------------------------------------------------------------------------

    def assignment(self) -> Json:
        """The agent's part of its standing orders, or None."""
        orders = self.notes["orders"]
        return None if orders is None else _part_of(orders["assignments"], self.agent)

    def ordered_legs(self) -> list[Leg]:
        """What is left to do of the agent's part of its orders, from the first it can reach."""
        part = self.assignment()
        legs = [] if part is None else self.undelivered(_legs_of(part))
        able = (i for i, leg in enumerate(legs) if self.walk(leg[0], face=leg[1]) < UNREACHABLE)
        return legs[next(able, len(legs)) :]

    def undelivered(self, legs: Iterable[Leg]) -> list[Leg]:
        return [leg for leg in legs if leg[0] in self.board.terrain.open]

    # --- plans ---------------------------------------------------------------------------------

    def own_queue(self) -> list[int]:
        """Blocks that the rest of the live plan is about."""
        plan = self.notes["own_plan"]
        return [] if plan is None else self._blocks_in(plan["actions"][plan["index"] :])

    def _blocks_in(self, actions: Iterable[Json]) -> list[int]:
        known = len(self.board.terrain.cells)
        named = (block_of(action.get("block"), known) for action in actions)
        found = dict.fromkeys(block for block in named if block in self.board.terrain.open)
        return [block for block in found if block is not None]

    def at_work(self) -> dict[AgentId, int]:
        """Agents in place at the left face of a block that can be delivered now."""
        terrain, found = self.board.terrain, dict[AgentId, int]()
        for block in terrain.open:
            if blocks_under(terrain, block) == frozenset():
                here = self.board.aligned(block, GOAL_FACE)
                found |= dict.fromkeys(here[: terrain.weights[block]], block)
        return found

    def queues(self, free: Iterable[AgentId] = ()) -> dict[AgentId, list[int]]:
        """Blocks that each teammate is believed to be at work on, in its order.

        What is seen goes before what was told; nothing that was told holds for the `free`.
        """
        seen, idle = self.at_work(), set(free)
        queues = {}
        for other in self.teammates:
            queue = [] if other in idle else self._told_queue(other)
            if other in seen:
                queue = [seen[other], *(block for block in queue if block != seen[other])]
            if queue:
                queues[other] = queue
        return queues

    def _told_queue(self, other: AgentId) -> list[int]:
        """By the orders it was given, unless it has said since that it does something else."""
        step, part = self._commanded(other)
        legs = [] if part is None or step < self.step - MEMORY_STEPS else _legs_of(part)
        word = self.notes["team"].get(str(other))
        if word is not None and word["step"] >= max(step, self.step - MEMORY_STEPS):
            named = list(told(word["task"]))
            if word["actions"]:
                return self._blocks_in(word["actions"])
            if not set(named) <= set(legs):
                legs = named
        return [block for block, _ in self.undelivered(legs)]

    def promised(self, free: Iterable[AgentId] = ()) -> dict[AgentId, Cell]:
        """Slots of the own plan, and those that teammates who are not free were given or named.

        Whoever is in place, and not on the way to a slot, has the one it stands on.
        """
        seen = {agent: self.board.agents[agent] for agent in self.at_work()}
        found = {}
        for other in sorted(set(self.teammates) - set(free)):
            cells = [*self._slots_told(other), *([seen[other]] if other in seen else [])]
            if cells:
                found[other] = cells[0]
        own = self.notes["own_plan"]
        if own is not None:
            cells = _cells_in(own["actions"][own["index"] :])
            cells += [seen[self.agent]] if self.agent in seen else []
            found |= {self.agent: cells[0]} if cells else {}
        return found

    def _slots_told(self, other: AgentId) -> list[Cell]:
        """Slots by the newest orders to a teammate, or by its own later words."""
        step, part = self._commanded(other)
        cells = [] if part is None else _cells_of(part, other)
        word = self.notes["team"].get(str(other))
        if word is not None and word["step"] >= step:
            spoken = [(int(row), int(column)) for row, column in _SLOT.findall(word["note"])]
            cells = [*_cells_in(word["actions"]), *spoken, *cells]
        return cells

    def _commanded(self, other: AgentId) -> tuple[int, Json]:
        """Step and content of the newest orders to a teammate that this agent gave or read."""
        for event in reversed(self.notes["memory"]["events"]):
            message = event.get("message")
            if message is not None and message["kind"] == "directive":
                part = _part_of(message["body"]["assignments"], other)
                if part is not None:
                    return message["step"], part
        return -1, None

    @property
    def workers(self) -> list[AgentId]:
        """Those whom a directive of this agent is for."""
        return sorted(self.notes["context"].get("workers", self.teammates))

    def idle_workers(self) -> list[AgentId]:
        """Workers without a plan or with one about no task: those who ask, or by their reports.

        Without a report a worker counts as idle once it has done all it was told to do.
        """
        return [other for other in self.workers if self._is_idle(other)]

    def _is_idle(self, other: AgentId) -> bool:
        word = self.notes["team"].get(str(other))
        if word is None or word["sheet"] is None or word["step"] < self.step:
            return not self._told_queue(other)
        return bool(word["sheet"].get("task", _FREE) == _FREE)

    def has_new_orders(self) -> bool:
        """Whether somebody else gave this agent orders in this very step."""
        orders = self.notes["orders"]
        is_new = orders is not None and orders["step"] == self.step
        return is_new and orders["sender"] != self.agent

    # --- memory --------------------------------------------------------------------------------

    def failed_tasks(self, codes: Iterable[str], steps: int) -> set[str]:
        """Tasks of own plans that failed for one of these reasons in the last `steps` steps."""
        wanted, found = set(codes), set()
        for event in self.notes["memory"]["events"]:
            is_end = event["kind"] == "plan_ended" and event["status"] == "failed"
            if is_end and event["step"] > self.step - steps and event["reason"]["code"] in wanted:
                found.add(event["task"])
        return found


def _cells_in(actions: Iterable[Json]) -> list[Cell]:
    cells = (action.get("cell") for action in actions)
    return [(cell[0], cell[1]) for cell in cells if cell]


def _cells_of(part: Json, agent: AgentId) -> list[Cell]:
    """The slot an assignment gives an agent; [] for none."""
    if not part["cells"]:
        return []
    row, column = part["cells"][part["agents"].index(agent)]
    return [(row, column)]


def _part_of(assignments: Iterable[Json], agent: AgentId) -> Json:
    return next((part for part in assignments if agent in part["agents"]), None)


def _legs_of(part: Mapping[str, Json]) -> list[Leg]:
    """The task of an assignment, then those its instruction names."""
    return list(dict.fromkeys([*told(part["task"]), *told(part.get("instruction", ""))]))
