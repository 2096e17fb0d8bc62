"""The driver of dialogues: who must answer now, together; what follows, in order.

`OpenDialogue` is a dialogue in progress, used by the loop; `run_dialogue` plays a dialogue world,
which is nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cognitive.budget import Ledger
from cognitive.desk import Decision, Desk, RunEnds, Stop, Trouble
from cognitive.errors import DialogueError
from cognitive.events import EventLog
from cognitive.plans import draft_of
from cognitive.protocols import Planner, Question
from cognitive.schemas import InterruptReply, PlanReply, RevisionReply
from cognitive.stages import REASONING
from worlds.api import RESOURCE, Advance, AgentId, Ask, Commit, Dialogue, Json, Reply, Setting

__all__ = ["PLAN_KINDS", "DialogueEnd", "OpenDialogue", "Respond", "commit_of", "run_dialogue"]

PLAN_KINDS = frozenset({"own", "plan", "interrupt", "repair_revision"})
"""Kinds after which an agent must have been committed when its dialogue ends."""

Respond = Callable[[Ask], Planner]
"""Who answers an ask."""


def commit_of(reply: Reply) -> Commit | None:
    """What an agent goes on with after an answer for itself; None if it was not asked."""
    agent, value = reply.ask.agent, reply.value
    if reply.outcome == "skipped":
        return None
    if isinstance(value, InterruptReply | RevisionReply):
        value = value.plan
        if value is None:
            return Commit(agent, "resume")
    if isinstance(value, PlanReply):
        return Commit(agent, "plan", draft_of(value))
    return Commit(agent, "none")


@dataclass(slots=True)
class OpenDialogue:
    """A dialogue in progress.

    clock_ms: when its next asks start at the earliest. wave: waves applied. asks, replies,
    decisions: of the present wave; a decision is at the index of its ask. owed: members that were
    asked for a plan and have not been committed. decided: last decision of each agent. stale:
    re-asks in a row, by index. work: the wave being answered, where nobody waits for it.
    awaited_ms: the last time at which it was not complete.
    """

    number: int
    dialogue: Dialogue[Any]
    state: Any
    setting: Setting
    clock_ms: int
    cause: str
    max_waves: int | None = None
    wave: int = 0
    asks: tuple[Ask, ...] = ()
    replies: list[Reply | None] = field(default_factory=list)
    decisions: dict[int, Decision] = field(default_factory=dict)
    owed: set[AgentId] = field(default_factory=set)
    decided: dict[AgentId, str] = field(default_factory=dict)
    stale: dict[int, int] = field(default_factory=dict)
    work: asyncio.Task[None] | None = None
    awaited_ms: int = -1
    _index: dict[AgentId, int] = field(default_factory=dict)

    @property
    def members(self) -> frozenset[AgentId]:
        """Whom it may still ask."""
        return self.dialogue.members(self.state)

    @property
    def completion_ms(self) -> int:
        """When the last reply of the wave comes back."""
        ends = (decision.end_ms for decision in self.decisions.values())
        return max(ends, default=self.clock_ms)

    def ask(self) -> tuple[Ask, ...]:
        """Begin a wave; () iff the dialogue is finished. Raises DialogueError."""
        self.asks = self.dialogue.requests(self.state)
        if self.asks and self.max_waves is not None and self.wave >= self.max_waves:
            raise DialogueError(
                f"dialogue {self.number} ({self.dialogue.kind}) is not finished after "
                f"{self.wave} waves"
            )
        self._index = {ask.agent: i for i, ask in enumerate(self.asks) if ask.agent != RESOURCE}
        asked = [ask.agent for ask in self.asks if ask.agent != RESOURCE]
        if len(self._index) != len(asked):
            raise DialogueError(
                f"dialogue {self.number}, wave {self.wave + 1}: two asks to one of {asked}"
            )
        self.replies = [None] * len(self.asks)
        self.decisions = {}
        self.stale = {}
        return self.asks

    def skip(self, index: int) -> None:
        """Answer an ask whose condition does not hold."""
        self.replies[index] = Reply(self.asks[index], "skipped", None, (), 0)

    def end_of(self, agent: AgentId) -> int:
        """When the agent's reply of this wave came back; the wave's completion without one."""
        decision = self.decisions.get(self._index.get(agent, -1))
        return decision.end_ms if decision is not None else self.completion_ms

    def apply(self) -> Advance[Any]:
        """Hand the replies of the wave to the dialogue. The wave stays readable until `turn`."""
        for index, decision in self.decisions.items():
            self.replies[index] = decision.reply()
        replies = tuple(reply for reply in self.replies if reply is not None)
        if len(replies) != len(self.asks):
            raise DialogueError(
                f"dialogue {self.number}: {len(replies)} replies to {len(self.asks)} asks"
            )
        return self.dialogue.apply(self.state, replies)

    def turn(self, advance: Advance[Any], clock_ms: int) -> None:
        """Go on from the state that followed."""
        self.state = advance.state
        self.clock_ms = clock_ms
        self.wave += 1
        self.asks = ()


# --- dialogue worlds -----------------------------------------------------------------------------


class DialogueEnd(NamedTuple):
    """How a dialogue ended: its last state, its result (None if it was not finished), its clock.

    ended_by: None if it finished, else `stopped`, `endpoint`, `calls`, `tokens`, `money`, `error`.
    """

    state: Any
    result: Json
    clock_ms: int
    waves: int
    ended_by: str | None


async def run_dialogue(
    dialogue: Dialogue[Any],
    setting: Setting,
    respond: Respond,
    log: EventLog,
    *,
    ledger: Ledger,
    run: str = "run",
    tries: int = 4,
    is_wall: bool = False,
    stop: Stop | None = None,
    trouble: Trouble | None = None,
    max_waves: int | None = None,
) -> DialogueEnd:
    """Play a dialogue world from beginning to end: all agents stay in R, there is no loop.

    run: first part of every scope. Writes `dialogue_opened` to `dialogue_closed`; what its world
    says is told in the contexts of its asks, so that a commit or a message is a DialogueError.
    """
    stage = _Table(log, setting, run)
    desk = Desk(stage.write, ledger, stop or Stop(), tries, is_wall, trouble)
    table = OpenDialogue(setting.dialogue, dialogue, None, setting, 0, "world", max_waves)
    try:
        stage.begin(table)
        while table.ask():
            await stage.play_wave(table, respond, desk)
    except RunEnds as end:
        _cut(table, desk, end)
        return DialogueEnd(table.state, None, table.clock_ms, table.wave, end.ended_by)
    finally:
        await desk.shut()
    result = dialogue.result(table.state)
    stage.write("dialogue_closed", table.clock_ms, table.number, table.wave, result)
    return DialogueEnd(table.state, result, table.clock_ms, table.wave, None)


class _Table:
    """A dialogue world being played."""

    def __init__(self, log: EventLog, setting: Setting, run: str) -> None:
        self._log = log
        self._setting = setting
        self._run = run
        self._decisions = 0

    def write(self, e: str, ms: int, *values: Json) -> Json:
        return self._log.write(e, self._setting.step, ms, *values)

    def begin(self, table: OpenDialogue) -> None:
        setting = self._setting
        advance = table.dialogue.begin(setting)
        table.state = advance.state
        members = sorted(table.members)
        self.write(
            "dialogue_opened", 0, table.number, table.dialogue.kind, members,
            list(setting.needing), 0, table.cause, None,
        )  # fmt: skip
        self._check(advance)
        if advance.note is not None:
            self.write("dialogue_advanced", 0, table.number, 0, advance.note)

    async def play_wave(self, table: OpenDialogue, respond: Respond, desk: Desk) -> None:
        for index, ask in enumerate(table.asks):
            if REASONING not in ask.stages or ask.unread:
                table.skip(index)
            else:
                table.decisions[index] = self._decision(table, index, ask, respond)
        decisions = list(table.decisions.values())
        desk.open(decisions)
        await desk.work(decisions)
        for decision in decisions:
            desk.close(decision)
        advance = table.apply()
        self._check(advance)
        completion = table.completion_ms
        table.turn(advance, completion)
        self.write("dialogue_advanced", completion, table.number, table.wave, advance.note)

    def _decision(self, table: OpenDialogue, index: int, ask: Ask, respond: Respond) -> Decision:
        if ask.schema is None:
            raise DialogueError(f"ask {ask.kind} of a dialogue world needs a schema")
        id = f"d{self._decisions}"
        self._decisions += 1
        seed, scope = self._setting.seed, f"{self._run}/{table.number}/{id}"

        def question(tries: tuple[Json, ...]) -> Question:
            return Question(f"{scope}/{len(tries) + 1}", ask, None, {}, [], None, tries, seed)

        return Decision(
            id, table.number, index, ask, ask.kind, ask.schema, respond(ask), table.clock_ms, (),
            question, lambda value: (), None,
        )  # fmt: skip

    def _check(self, advance: Advance[Any]) -> None:
        if advance.commits or advance.sends:
            what = "commit" if advance.commits else "message"
            raise DialogueError(f"a {what} in a dialogue world; it has no plans and no mailboxes")


def _cut(table: OpenDialogue, desk: Desk, end: RunEnds) -> None:
    """Close the decisions of a wave that will not be applied."""
    for decision in table.decisions.values():
        if not decision.is_started:
            continue
        if decision.outcome != "failed":
            decision.cut(0 if end.ended_by == "stopped" else decision.charge_ms)
        desk.close(decision)
