"""Directives of scripted play in CUBE: a schedule put into assignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worlds.api import AgentId, Cell, Json
from worlds.cube.among import MEETING_WAIT, SPARE_WAIT
from worlds.cube.board import GOAL_FACE
from worlds.cube.detour import detour
from worlds.cube.moves import MOST_ACTIONS, NO_TASK_ID, PAUSE_STEPS, actions_for
from worlds.cube.schedule import Crew, schedule
from worlds.cube.seat import Seat, goal_task
from worlds.cube.slots import blocks_under, is_narrow, must_wait
from worlds.cube.state import task_id, task_number

__all__ = ["directive"]

MOST_ASSIGNMENTS, MOST_CELLS = 32, 64
LONG_ORDERS_TEAM, LONG_ORDERS = 32, 3
"""Up to this many agents, orders name slots of wide faces too, and this many tasks each."""


def directive(seat: Seat) -> Json:
    """Orders from reports and own view: whoever has no plan gets the next tasks by the schedule.

    Whoever has a plan is left to it, the leader too; what it is about enters the schedule.
    """
    own, is_busy = seat.own_queue(), seat.notes["own_plan"] is not None
    idle = seat.idle_workers()
    queues = seat.queues(idle) | ({seat.agent: own} if own else {})
    crews = schedule(seat.board, queues, seat.promised(idle))
    keeps = is_busy and (bool(own) or not _crews_of(crews, seat.agent))
    named, context = idle, seat.notes["context"]
    if context.get("objections"):
        crews, named = (), sorted(entry["agent"] for entry in context["objections"])
    elif not keeps and not seat.has_new_orders():
        named = sorted([*idle, seat.agent])
    named = named or seat.workers
    orders = _assignments(seat, crews, named) if crews else _aside(seat, named)
    own_choice = "keep" if keeps else "replan"
    return {"thought": _thought(crews), "own": own_choice, "assignments": orders}


def _crews_of(crews: Iterable[Crew], agent: AgentId) -> list[Crew]:
    return [crew for crew in crews if agent in crew.agents]


def _thought(crews: Sequence[Crew]) -> str:
    if not crews:
        return "Nothing is left to order."
    first = crews[0]
    return f"{goal_task(first.block)} comes first; its crew meets in {first.start} steps."


def _assignments(seat: Seat, crews: Sequence[Crew], named: Sequence[AgentId]) -> list[Json]:
    """Agents with the same tasks ahead are named together."""
    ahead = _ahead(seat, crews, named)
    groups: dict[tuple[int, ...], list[AgentId]] = {}
    for agent in named:
        groups.setdefault(tuple(ahead[agent]), []).append(agent)
    by_block = {crew.block: crew for crew in crews}
    parts = [
        _assignment(seat, by_block[blocks[0]], blocks[1:], agents)
        if blocks
        else _clear(seat, crews, agents)
        for blocks, agents in sorted(groups.items())
    ]
    return parts[:MOST_ASSIGNMENTS]


def _ahead(seat: Seat, crews: Sequence[Crew], named: Sequence[AgentId]) -> dict[AgentId, list[int]]:
    """The blocks that each agent is told to deliver, in its order: as many as its plan can hold.

    A later one is left out, with all that follow, if its face is narrow, since such a face takes
    slots given on the spot, or if a block is in its way now.
    """
    terrain = seat.board.terrain
    most = LONG_ORDERS if len(seat.board.agents) <= LONG_ORDERS_TEAM else 1
    found: dict[AgentId, list[int]] = {agent: [] for agent in range(len(seat.board.agents))}
    room = dict.fromkeys(named, MOST_ACTIONS)
    for crew in crews:
        is_wide = len(crew.agents) == 1 or not is_narrow(terrain, crew.block)
        is_blocked = bool(blocks_under(terrain, crew.block))
        for agent in crew.agents:
            if agent not in room:
                found[agent].append(crew.block)
                continue
            cost = min(MOST_ACTIONS, actions_for(seat.board, (crew.block, GOAL_FACE)))
            is_first = not found[agent]
            is_later = is_wide and not is_blocked and len(found[agent]) < most
            if (
                room[agent] >= cost
                and (is_first or is_later)
                and not must_wait(terrain, crew.block)
            ):
                found[agent].append(crew.block)
                room[agent] -= cost
            if crew.block not in found[agent] or is_blocked:
                room[agent] = 0
    return found


def _aside(seat: Seat, named: Sequence[AgentId]) -> list[Json]:
    """While nothing can be delivered: push a block aside that is in the way of others."""
    way = detour(seat.board)
    if way is None:
        return [_clear(seat, (), list(named))]
    helping = [agent for agent in named if agent in way.agents]
    others = [agent for agent in named if agent not in way.agents]
    task = task_id(task_number(way.block, way.face))
    order = {
        "agents": helping,
        "task": task,
        "role": "push aside",
        "cells": [],
        "by_step": seat.step + MEETING_WAIT,
        "instruction": f"Push it {way.steps} cells, out of the way of others.",
    }
    return [*([order] if helping else []), *([_clear(seat, (), others)] if others else [])]


def _clear(seat: Seat, crews: Sequence[Crew], agents: list[AgentId]) -> Json:
    """Stand clear: until further orders, or, with a task to come, for a short while."""
    is_needed = any(agent in crew.agents for crew in crews for agent in agents)
    is_needed = is_needed or (not crews and detour(seat.board) is not None)
    return {
        "agents": agents,
        "task": NO_TASK_ID,
        "role": "stand clear",
        "cells": [],
        "by_step": seat.step + PAUSE_STEPS if is_needed else None,
        "instruction": "Keep out of the lanes in front of blocks.",
    }


def _assignment(seat: Seat, crew: Crew, later: Sequence[int], agents: list[AgentId]) -> Json:
    slots: dict[AgentId, Cell] = dict(zip(crew.agents, crew.cells, strict=True))
    is_small = len(seat.board.agents) <= LONG_ORDERS_TEAM
    has_cells = is_small or is_narrow(seat.board.terrain, crew.block)
    following = ", ".join(goal_task(block) for block in later)
    return {
        "agents": agents,
        "task": goal_task(crew.block),
        "role": "push",
        "cells": [list(slots[agent]) for agent in agents]
        if has_cells and len(agents) <= MOST_CELLS
        else [],
        "by_step": seat.step + crew.start + SPARE_WAIT,
        "instruction": f"Then {following}." if following else "",
    }
