"""Scripted play of CUBE: an answer to every kind of question, from what one agent knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worlds.api import Action, AgentId, Cell, Failed, Json
from worlds.cube.among import after_statements, own_crews, statement, together
from worlds.cube.board import GOAL_FACE, board_of
from worlds.cube.config import CubeConfig
from worlds.cube.moves import IDLE_STEPS, MOST_ACTIONS, NO_TASK_ID, deliver, plan, stand_clear
from worlds.cube.orders import directive
from worlds.cube.seat import Seat, goal_task, told
from worlds.cube.skills import CubeSkills
from worlds.cube.slots import blocks_under
from worlds.cube.state import CubeState, task_id, task_number
from worlds.cube.tasks import CubeTasks
from worlds.cube.verbs import is_in_limits
from worlds.errors import ConfigError

__all__ = ["CubePolicy"]

LONE_WAIT = 8
"""Steps an agent without word from others waits for partners."""
AVOID_STEPS = 15
"""Steps for which it leaves a task alone that lacked partners."""
TOO_FEW = ("timeout", "insufficient_force")
MISSING_COST = 4
"""Steps that a missing partner is worth when tasks are compared."""
NEXT_WAIT = 60
"""Steps for which partners are waited for at later tasks of a plan."""


class CubePolicy:
    """One strong cooperative player; every answer is a pure function of board and notes."""

    def __init__(self, config: CubeConfig) -> None:
        self._rules = config.rules
        self._skills = CubeSkills(config)
        self._tasks = CubeTasks(config)
        self._kinds: Mapping[str, Callable[[CubeState, Seat], Json]] = {
            "plan": self._plan,
            "interrupt": self._interrupt,
            "directive": self._directive,
            "acknowledge": self._acknowledge,
            "statement": self._statement,
            "repair_intention": self._intention,
            "repair_revision": self._revision,
        }

    def answer(self, state: CubeState, agent: AgentId, kind: str, notes: Json) -> Json:
        """A reply of that kind. Raises ConfigError for a kind this world does not know."""
        if kind not in self._kinds:
            raise ConfigError(f'kind "{kind}"; allowed: {", ".join(self._kinds)}')
        return self._kinds[kind](state, Seat(board_of(state, self._rules), agent, notes))

    # --- plans ---------------------------------------------------------------------------------

    def _plan(self, state: CubeState, seat: Seat) -> Json:
        part = seat.assignment()
        if part is not None and seat.ordered_legs():
            return _under_orders(seat, part)
        if part is not None and part["task"] == NO_TASK_ID:
            by_step = part["by_step"]
            steps = IDLE_STEPS if by_step is None else max(1, by_step - seat.step)
            return stand_clear(seat, min(IDLE_STEPS, steps))
        if seat.heard("statement"):
            return after_statements(seat)
        if _hears_others(seat):
            return together(seat)
        return self._alone(state, seat)

    def _alone(self, state: CubeState, seat: Seat) -> Json:
        """The best task for itself; partners in place are seen, all others do not count."""
        avoided = seat.failed_tasks(TOO_FEW, AVOID_STEPS)
        best: tuple[float, int] | None = None
        for block in seat.board.terrain.open:
            is_ready = blocks_under(seat.board.terrain, block) == frozenset()
            value = self._value(state, seat, block) if is_ready else None
            if value is None or goal_task(block) in avoided:
                continue
            if best is None or value > best[0]:
                best = value, block
        if best is None:
            return stand_clear(seat, AVOID_STEPS // 3)
        block = best[1]
        actions = deliver(seat, [(block, GOAL_FACE)], [LONE_WAIT])
        return plan(goal_task(block), actions, "The best task for me alone.")

    def _value(self, state: CubeState, seat: Seat, block: int) -> float | None:
        """Worth for each hand over steps, with missing partners; None if it cannot be done."""
        task = self._tasks.find(state, goal_task(block))
        if task is None or task.need > len(seat.board.agents):
            return None
        recipe = self._tasks.recipe(state, seat.agent, task)
        if isinstance(recipe, Failed):
            return None
        others = set(seat.board.aligned(block, GOAL_FACE)) - {seat.agent}
        missing = max(0, task.need - 1 - len(others))
        return task.worth / task.need / (recipe.steps + MISSING_COST * missing)

    def _interrupt(self, state: CubeState, seat: Seat) -> Json:
        """Replan iff what was heard gives another task than the one at hand."""
        resume = {"thought": "I go on.", "choice": "resume", "plan": None}
        if seat.has_new_orders():
            if seat.assignment() is None:
                return resume
            wanted = [block for block, _ in seat.ordered_legs()]
        elif seat.heard("proposal", "statement"):
            wanted = [crew.block for crew in own_crews(seat)]
        else:
            return resume
        if wanted[:1] == seat.own_queue()[:1]:
            return resume
        return {"thought": "I change plans.", "choice": "replan", "plan": self._plan(state, seat)}

    # --- orders and talk -----------------------------------------------------------------------

    def _directive(self, state: CubeState, seat: Seat) -> Json:
        return directive(seat)

    def _acknowledge(self, state: CubeState, seat: Seat) -> Json:
        """Object only to a task or slot that no path leads to."""
        accept = {"answer": "accept", "code": None, "task": None, "text": ""}
        part = seat.assignment()
        task = None if part is None else self._tasks.find(state, part["task"], seat.agent)
        if part is None or task is None:
            return accept
        recipe = self._tasks.recipe(state, seat.agent, task, slot_of(seat, part))
        if not isinstance(recipe, Failed):
            return accept
        text = f"No path leads me to {task.id}."
        return {"answer": "object", "code": "cannot_reach", "task": None, "text": text}

    def _statement(self, state: CubeState, seat: Seat) -> Json:
        return statement(seat, NO_TASK_ID)

    # --- repair --------------------------------------------------------------------------------

    def _intention(self, state: CubeState, seat: Seat) -> Json:
        context = seat.notes["context"]
        advised = context.get("recommended")
        if advised is None:
            own = seat.notes["own_plan"]
            task = NO_TASK_ID if own is None else own["task"]
            return {"text": f"I keep to {task}.", "task": task, "keeps_plan": True}
        slot, arrival = context.get("slot"), context.get("arrival")
        where = "" if slot is None else f", slot ({slot[0]},{slot[1]})"
        when = "" if arrival is None else f", there in {arrival} steps"
        text = f"I take {advised['task']}{where}{when}."
        return {"text": text, "task": advised["task"], "keeps_plan": False}

    def _revision(self, state: CubeState, seat: Seat) -> Json:
        """The recommended plan, if there is one and it can be named; else the present one."""
        advised = seat.notes["context"].get("recommended")
        if advised is None or not self._is_valid(state, seat, advised):
            return {"choice": "keep", "follows_guidance": False, "plan": None}
        taken = plan(advised["task"], [_plain(a) for a in advised["actions"]], "As recommended.")
        return {"choice": "revise", "follows_guidance": True, "plan": taken}

    def _is_valid(self, state: CubeState, seat: Seat, advised: Json) -> bool:
        """Whether a plan with these actions would be accepted."""
        named = [_as_action(action) for action in advised["actions"]]
        is_known = advised["task"] == NO_TASK_ID or self._tasks.find(state, advised["task"])
        return (
            bool(is_known)
            and 1 <= len(named) <= MOST_ACTIONS
            and all(
                is_in_limits(action, self._skills.verbs)
                and not self._skills.check(state, seat.agent, action)
                for action in named
            )
        )


def _plain(action: Json) -> Json:
    """An action without the arguments that were left out."""
    return {name: value for name, value in action.items() if value is not None}


def _as_action(action: Json) -> Action:
    return Action(action["verb"], {k: v for k, v in _plain(action).items() if k != "verb"})


def slot_of(seat: Seat, part: Json) -> Cell | None:
    """The slot an assignment gives the agent, if it is one at present."""
    if not part["cells"]:
        return None
    row, column = part["cells"][part["agents"].index(seat.agent)]
    leg = next(told(part["task"]), None)
    is_slot = leg is not None and (row, column) in seat.board.terrain.slots(*leg)
    return (row, column) if is_slot else None


def _under_orders(seat: Seat, part: Json) -> Json:
    """The tasks of an assignment in their order, waiting for partners until its step."""
    legs = seat.ordered_legs()
    is_first = legs[:1] == list(told(part["task"]))
    arrival = seat.walk(legs[0][0], face=legs[0][1])
    by_step = part["by_step"]
    wait = NEXT_WAIT if by_step is None or not is_first else by_step - seat.step - arrival
    cell = slot_of(seat, part) if is_first else None
    actions = deliver(seat, legs, [max(LONE_WAIT, wait), NEXT_WAIT], cell)
    return plan(task_id(task_number(*legs[0])), actions, "As ordered.")


def _hears_others(seat: Seat) -> bool:
    """Whether there is any word from teammates, or a place in a round in which all speak."""
    notes = seat.notes
    is_in_round = "of" in notes["context"]
    return bool(notes["team"] or notes["messages"] or notes["orders"] or is_in_round)
