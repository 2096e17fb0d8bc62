"""One agent's part among others in CUBE: by what they plan, or by what they state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from worlds.api import AgentId, Cell, Json
from worlds.cube.board import GOAL_FACE
from worlds.cube.detour import detour
from worlds.cube.moves import IDLE_STEPS, PAUSE_STEPS, deliver, plan, stand_clear
from worlds.cube.schedule import Crew, schedule
from worlds.cube.seat import Seat, goal_task, told
from worlds.cube.slots import is_narrow, matched, must_wait
from worlds.cube.state import task_id, task_number

__all__ = [
    "MEETING_WAIT",
    "SPARE_WAIT",
    "after_statements",
    "own_crews",
    "slot_in",
    "statement",
    "together",
]

SPARE_WAIT = 10
"""Steps beyond the expected meeting for which partners are waited for."""
MEETING_WAIT = 30
"""Steps for which partners are waited for where no meeting was worked out."""
FARTHEST_ARRIVAL, MOST_PARTNERS = 999, 255


def own_crews(seat: Seat) -> list[Crew]:
    """The agent's part of a schedule round everything that is known of the others."""
    queues = seat.queues()
    here = seat.at_work().get(seat.agent)
    if here is not None:
        queues[seat.agent] = [here]
    crews = schedule(seat.board, queues, seat.promised())
    return [crew for crew in crews if seat.agent in crew.agents]


def together(seat: Seat) -> Json:
    """A plan: fill the best task that others named and lack hands for, else the best new one."""
    crews = own_crews(seat)
    if not crews:
        return aside(seat)
    if must_wait(seat.board.terrain, crews[0].block):
        return stand_clear(seat, PAUSE_STEPS)
    crew = crews[0]
    return _join(seat, crew.block, crew.start, slot_in(seat, crew))


def aside(seat: Seat) -> Json:
    """A plan while nothing can be delivered: help to push a block aside, or stand clear."""
    way = detour(seat.board)
    if way is None or seat.agent not in way.agents:
        return stand_clear(seat, PAUSE_STEPS if way else IDLE_STEPS)
    actions = deliver(seat, [(way.block, way.face)], [MEETING_WAIT])
    return plan(task_id(task_number(way.block, way.face)), actions, "This one is in the way.")


def slot_in(seat: Seat, crew: Crew) -> Cell | None:
    """The agent's slot where it matters who takes which."""
    if not is_narrow(seat.board.terrain, crew.block):
        return None
    return crew.cells[crew.agents.index(seat.agent)]


def _join(seat: Seat, block: int, start: int, cell: Cell | None) -> Json:
    wait = start - seat.walk(block) + SPARE_WAIT
    actions = deliver(seat, [(block, GOAL_FACE)], [wait], cell)
    return plan(goal_task(block), actions, "My part of what we do together.")


# --- statements ----------------------------------------------------------------------------------


def statement(seat: Seat, nothing: str) -> Json:
    """A statement: the best task, when it can be reached, and how many others it takes."""
    crew = next(iter(own_crews(seat)), None)
    if crew is None:
        text = "I have nothing to push and stay out of the way."
        return {"text": text, "task": nothing, "arrival": None, "partners": 0}
    task, arrival = goal_task(crew.block), min(seat.walk(crew.block), FARTHEST_ARRIVAL)
    partners = min(len(crew.agents) - 1, MOST_PARTNERS)
    cell = slot_in(seat, crew)
    where = "" if cell is None else f" at slot ({cell[0]},{cell[1]})"
    help_needed = "nobody else is needed" if not partners else f"others needed: {partners}"
    text = f"{task} next: I can be there{where} in {arrival} steps; {help_needed}."
    return {"text": text, "task": task, "arrival": arrival, "partners": partners}


class _Word(NamedTuple):
    speaker: AgentId
    block: int
    arrival: int


def _words(seat: Seat) -> Iterator[_Word]:
    """What was just stated, and what this agent states itself."""
    for message in seat.heard("statement"):
        body = message["body"]
        for block, face in seat.undelivered(told(body["task"])):
            if face == GOAL_FACE and body["arrival"] is not None:
                yield _Word(message["sender"], block, body["arrival"])
    for crew in own_crews(seat)[:1]:
        yield _Word(seat.agent, crew.block, seat.walk(crew.block))


def after_statements(seat: Seat) -> Json:
    """A plan: tasks by the sum of stated arrivals, each for the speakers who are nearest to it.

    A task takes as many speakers as it needs, those who stated it first; one that the speakers
    cannot staff is passed over. Whoever is left joins what else is known.
    """
    words = list(_words(seat))
    free = {message["sender"] for message in seat.heard("statement")} | {seat.agent}
    stated: dict[int, dict[AgentId, int]] = {}
    for word in words:
        stated.setdefault(word.block, {})[word.speaker] = word.arrival
    for block in sorted(stated, key=lambda b: (sum(stated[b].values()), b)):
        steps = {a: stated[block].get(a, seat.walk(block, a)) for a in free}
        ranked = sorted(free, key=lambda a: (a not in stated[block], steps[a], a))
        crew = ranked[: seat.board.terrain.weights[block]]
        if len(crew) < seat.board.terrain.weights[block]:
            continue
        if seat.agent in crew:
            arrivals = [steps[agent] for agent in crew]
            cells = matched(seat.board, block, crew, arrivals, {})
            slot = cells[seat.agent] if is_narrow(seat.board.terrain, block) else None
            return _join(seat, block, max(arrivals), slot)
        free -= set(crew)
    return together(seat)
