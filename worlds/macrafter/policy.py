"""Scripted play of MA-Crafter: an answer to every kind of question, from what one agent knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from worlds.api import Action, AgentId, Json
from worlds.errors import ConfigError
from worlds.macrafter.care import Care
from worlds.macrafter.chart import LONGEST_LEG, SHORT_LEG, Chart
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.crew import Crew
from worlds.macrafter.jobs import NO_TASK_ID, Job, as_assignment, is_change, read_job
from worlds.macrafter.labour import MOST_ACTIONS, Draft, Labour
from worlds.macrafter.nearest import gap
from worlds.macrafter.notebook import Notebook, news
from worlds.macrafter.sectors import seen_text
from worlds.macrafter.sight import Sight, look, read_id
from worlds.macrafter.skills import MacrafterSkills
from worlds.macrafter.state import ITEMS, VITALS, MacrafterState
from worlds.macrafter.table import Table
from worlds.macrafter.tasks import MacrafterTasks
from worlds.macrafter.team import Team
from worlds.macrafter.text import MacrafterText

__all__ = ["MacrafterPolicy"]

NOTE_CHARACTERS, TEXT_CHARACTERS = 300, 400
BLOCKED_STEPS = 10
"""Steps after a blocked way for which ways are kept to exactly."""
GIVE_WAY = 2
"""Steps for which the larger id waits when two are in each other's way."""
IDLE_STEPS = 3
"""Steps of a wait when there is nothing better to do."""


class Seat(NamedTuple):
    """One agent at one moment: what it knows, its notes, its picture of the team."""

    state: MacrafterState
    agent: AgentId
    sight: Sight
    book: Notebook
    chart: Chart
    team: Team

    @property
    def labour(self) -> Labour:
        """Fresh plans of this moment."""
        team = self.team
        return Labour(team.crew.config, team.crew.table, self.sight, self.chart, self.book, team)


class MacrafterPolicy:
    """One cooperative player; every answer is a pure function of its knowledge and notes."""

    def __init__(self, config: MacrafterConfig, table: Table) -> None:
        self.config, self.table = config, table
        self._text = MacrafterText(config, table)
        self._skills = MacrafterSkills(config, table)
        self._tasks = MacrafterTasks(config, table)
        self._kinds: Mapping[str, Callable[[Seat], Json]] = {
            "plan": self._plan,
            "interrupt": self._interrupt,
            "directive": self._directive,
            "acknowledge": self._acknowledge,
            "statement": self._statement,
            "repair_intention": self._intention,
            "repair_revision": self._revision,
        }

    def answer(self, state: MacrafterState, agent: AgentId, kind: str, notes: Json) -> Json:
        """A reply of that kind. Raises ConfigError for a kind this world does not know."""
        if kind not in self._kinds:
            raise ConfigError(f'kind "{kind}"; allowed: {", ".join(self._kinds)}')
        sight = look(self.config, state, agent)
        book = Notebook(notes)
        leg = SHORT_LEG if book.has_failed("blocked", BLOCKED_STEPS) else LONGEST_LEG
        chart = Chart(self.config, self.table, sight, book.standing, leg)
        team = Team(Crew(self.config, self.table, sight, chart, book))
        return self._kinds[kind](Seat(state, agent, sight, book, chart, team))

    # --- plans -----------------------------------------------------------------------------------

    def _plan(self, seat: Seat) -> Json:
        part = seat.book.assignment()
        job = None if part is None else read_job(part, seat.agent)
        care = Care(self.config, self.table, seat.sight, seat.chart, seat.labour, seat.book)
        draft = care.draft(job)
        if draft is None and job is not None:
            draft = seat.labour.draft(job)
        if draft is None:
            draft = seat.labour.draft(self._own_job(seat, job))
        if draft is None or not draft.actions:
            draft = Draft(NO_TASK_ID, [{"verb": "wait", "steps": IDLE_STEPS}], "I wait.")
        draft = care.guard.shorten(draft)
        if self._gives_way(seat):
            draft = draft._replace(actions=[{"verb": "wait", "steps": GIVE_WAY}, *draft.actions])
        return self._reply(seat, draft)

    def _gives_way(self, seat: Seat) -> bool:
        """Whether it was just blocked beside an agent with a smaller id, which then goes first."""
        if not seat.book.has_failed("blocked", 2):
            return False
        others = seat.sight.others()
        return any(a < seat.agent and gap(cell, seat.sight.cell) <= 2 for a, cell in others)

    def _own_job(self, seat: Seat, ordered: Job | None) -> Job:
        """Without orders that hold: explore where a leader makes the tools, else by itself."""
        if ordered is not None and seat.team.is_pooling:
            return Job("explore", items=seat.team.sought())
        return seat.team.own_job()

    def _reply(self, seat: Seat, draft: Draft) -> Json:
        note = f"{draft.note} {self._news(seat, NOTE_CHARACTERS - len(draft.note) - 1)}"
        task = draft.task
        if task != NO_TASK_ID and self._tasks.find(seat.state, task, seat.agent) is None:
            task = NO_TASK_ID
        actions = draft.actions[:MOST_ACTIONS]
        return {"thought": draft.note, "task": task, "actions": actions, "note": note}

    def _news(self, seat: Seat, limit: int) -> str:
        held = {name: seat.sight.inventory[name] for name in ITEMS[len(VITALS) :]}
        sheet = self._text.sheet(seat.state, seat.agent)
        return news(seat.sight.cell, held, tuple(sheet["tasks"]), _cow_text(seat.sight), limit)

    def _interrupt(self, seat: Seat) -> Json:
        """Replan iff the orders give another job than those the live plan was made under."""
        resume = {"thought": "I go on.", "choice": "resume", "plan": None}
        part, before = seat.book.assignment(), seat.book.part_at_commit
        if part is None or part == before or seat.sight.is_asleep:
            return resume
        if before is not None and not is_change(
            read_job(before, seat.agent), read_job(part, seat.agent)
        ):
            return resume
        return {"thought": "I follow.", "choice": "replan", "plan": self._plan(seat)}

    # --- orders and talk -------------------------------------------------------------------------

    def _directive(self, seat: Seat) -> Json:
        workers = seat.book.context.get("workers") or []
        jobs = seat.team.lead()
        named = [a for a in workers if a in jobs]
        own = jobs[seat.agent]
        keeps = self._keeps(seat, own)
        agents = named if keeps else [seat.agent, *named]
        return {
            "thought": "Everybody where it is needed most.",
            "own": "keep" if keeps else "replan",
            "assignments": [self._assignment(seat, jobs[a], a) for a in sorted(agents)][:32],
        }

    def _assignment(self, seat: Seat, job: Job, agent: AgentId) -> Json:
        """The job in words, for the hungry with where a cow was seen."""
        part = as_assignment(job, agent)
        cow = seat.team.crew.prey(agent)
        if cow is not None:
            part["instruction"] = f"{part['instruction']}; cow at ({cow[0]},{cow[1]})"[:200]
        return part

    def _keeps(self, seat: Seat, own: Job) -> bool:
        """Whether the leader's live plan serves what it would be told to do."""
        if seat.book.own_plan is None:
            return False
        before = seat.book.part_at_commit
        return before is None or not is_change(read_job(before, seat.agent), own)

    def _acknowledge(self, seat: Seat) -> Json:
        seen = f"{seen_text(seat.sight.known)} {_cow_text(seat.sight)}".strip()
        accept = {"answer": "accept", "code": None, "task": None, "text": seen}
        part = seat.book.assignment()
        if part is None:
            return accept
        job = read_job(part, seat.agent)
        if job.role != "meet":
            return accept
        name, row_number, column = read_id(job.task) or ("", 0, -1)
        known = seat.sight.known
        if column >= 0 and known.name((row_number, column)) not in (name, "outside"):
            text = f"{job.task} is gone."
            return {"answer": "object", "code": "cannot_reach", "task": None, "text": text}
        row = self.table.collect.get(name)
        tool = row.tool if row is not None else None
        if tool and not seat.sight.inventory[tool] and not job.is_ahead:
            text = f"I have no {tool}."
            return {"answer": "object", "code": "missing_tool", "task": None, "text": text}
        return accept

    def _statement(self, seat: Seat) -> Json:
        job = seat.team.own_job()
        return {
            "text": self._news(seat, TEXT_CHARACTERS),
            "task": job.task,
            "arrival": None,
            "partners": max(0, job.crew - 1),
        }

    # --- repair ----------------------------------------------------------------------------------

    def _intention(self, seat: Seat) -> Json:
        advised = seat.book.context.get("recommended")
        if advised is None:
            own = seat.book.own_plan
            task = NO_TASK_ID if own is None else own["task"]
            return {"text": f"I keep to {task}.", "task": task, "keeps_plan": True}
        return {"text": f"I take {advised['task']}.", "task": advised["task"], "keeps_plan": False}

    def _revision(self, seat: Seat) -> Json:
        advised = seat.book.context.get("recommended")
        if advised is None or not self._is_valid(seat, advised):
            return {"choice": "keep", "follows_guidance": False, "plan": None}
        actions = [_plain(action) for action in advised["actions"]]
        plan = {
            "thought": "",
            "task": advised["task"],
            "actions": actions,
            "note": "As recommended.",
        }
        return {"choice": "revise", "follows_guidance": True, "plan": plan}

    def _is_valid(self, seat: Seat, advised: Json) -> bool:
        named = [_as_action(action) for action in advised["actions"]]
        if not 1 <= len(named) <= MOST_ACTIONS:
            return False
        task = advised["task"]
        is_known = task == NO_TASK_ID or self._tasks.find(seat.state, task, seat.agent) is not None
        return is_known and not any(
            self._skills.check(seat.state, seat.agent, action) for action in named
        )


def _cow_text(sight: Sight) -> str:
    """Words on the nearest cow in view, nothing without one."""
    cows = [cow.cell for cow in sight.creatures("cow")]
    if not cows:
        return ""
    row, column = min(cows, key=lambda cell: (gap(sight.cell, cell), cell))
    return f"cow at ({row},{column})"


def _plain(action: Json) -> Json:
    """An action without the arguments that were left out."""
    return {name: value for name, value in action.items() if value is not None}


def _as_action(action: Json) -> Action:
    return Action(action["verb"], {k: v for k, v in _plain(action).items() if k != "verb"})
