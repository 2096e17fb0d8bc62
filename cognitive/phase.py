"""What happens between two world steps: dialogues open, ask, apply and close.

`Rounds.phase` is the phase of lockstep: passes until nobody is left who must decide.
`Rounds.boundary` is the boundary of realtime: whatever is due now takes effect, the rest goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from cognitive.agents import Sheets, Team
from cognitive.clock import Recall
from cognitive.desk import Decision, Desk, RunEnds
from cognitive.dialogue import PLAN_KINDS, OpenDialogue, Respond
from cognitive.errors import DialogueError
from cognitive.messages import Message
from cognitive.questions import Questions
from cognitive.schemas import TalkingPlanReply
from cognitive.stages import GONE, THINKING
from cognitive.topologies.base import Structure
from cognitive.validation import plan_in, recheck
from worlds.api import Advance, AgentId, Ask, Dialogue, Draft, Reason, Setting

__all__ = ["Rounds"]

MAX_STALE = 3
MAX_PLANNER_ERRORS = 3


class Rounds:
    """The dialogues in progress, and who takes part in them."""

    def __init__(
        self,
        team: Team,
        topology: Structure,
        respond: Respond,
        desk: Desk,
        schemas: Mapping[str, type[BaseModel]],
        recall: Recall,
    ) -> None:
        self.open: list[OpenDialogue] = []
        self._team = team
        self._topology = topology
        self._desk = desk
        self._recall = recall
        self._questions = Questions(team, topology, respond, schemas)
        self._settings = team.settings
        self._numbers = 0
        self._passes = 0
        self._is_announced = False
        self._horizon = 0
        self._held: dict[AgentId, set[int]] = {}
        self._completions: dict[int, int] = {}
        self._shown: dict[str, list[Message]] = {}

    # --- lockstep --------------------------------------------------------------------------------

    async def phase(self) -> None:
        """Pass after pass until every living agent waits or executes."""
        self._begin_phase()
        while True:
            self._drop_finished()
            self._open_new(self._team.now_ms)
            if not self.open:
                break
            self._count_pass()
            await self._pass()
        self._end_phase()

    async def _pass(self) -> None:
        """One wave of every open dialogue: ask together, then apply in order, then deliver."""
        decisions = self._waves(self.open)
        try:
            self._start(decisions)
            await self._desk.work(decisions)
        except RunEnds as end:
            self._cut(decisions, end)
            raise
        limit = self._settings.limits.team_ms
        late = [table for table in self.open if limit and table.completion_ms > limit]
        for table in late:
            for decision in table.decisions.values():
                decision.cut(min(decision.charge_ms, limit - decision.start_ms))
        for decision in decisions:
            self._close(decision)
        for table in self.open:
            if table not in late:
                self._apply(table, None)
        self._team.deliver(min(self._horizon, limit) if limit else self._horizon)
        if late or (limit and self._horizon >= limit):
            raise RunEnds("team_ms")
        self._check_planners(decisions)

    # --- realtime --------------------------------------------------------------------------------

    async def boundary(self) -> None:
        """Everything that is due by now takes effect; asks that follow are sent."""
        team = self._team
        self._begin_phase()
        is_changed = True
        while is_changed:
            applied = await self._apply_due(team.now_ms)
            team.deliver(team.now_ms)
            self._drop_finished()
            self._open_new(team.now_ms)
            sent = await self._send()
            is_changed = applied or sent
        self._end_phase()

    async def _send(self) -> bool:
        """Ask the waves that have not been asked."""
        tables = [table for table in self.open if table.asks and not self._is_sent(table)]
        if not tables:
            return False
        self._count_pass()
        await self._dispatch(tables, self._waves(tables))
        return True

    async def _dispatch(self, tables: list[OpenDialogue], decisions: list[Decision]) -> None:
        """Send decisions; under the wall clock nobody waits for them, unless they are recalled."""
        try:
            self._start(decisions)
            if self._settings.clock == "virtual":
                await self._desk.work(decisions)
                return
            for table in filter(self._is_recalled, tables):
                await self._desk.work([d for d in decisions if d.dialogue == table.number])
        except RunEnds as end:
            self._cut(decisions, end)
            raise
        for table in tables:
            own = [d for d in decisions if d.dialogue == table.number]
            if own and not self._is_recalled(table):
                table.work = asyncio.create_task(self._desk.work(own))

    def _is_recalled(self, table: OpenDialogue) -> bool:
        """Whether the wave was applied in the run that is played again."""
        return any(self._recall.was_applied(d.id) for d in table.decisions.values())

    def _is_sent(self, table: OpenDialogue) -> bool:
        return bool(table.decisions) or all(reply is not None for reply in table.replies)

    async def _apply_due(self, now_ms: int) -> bool:
        due = [t for t in self.open if t.asks and self._is_sent(t) and self._is_due(t, now_ms)]
        fresh = []
        for table in due:
            stale = self._stale(table)
            if stale:
                await self._dispatch([table], stale)
            else:
                fresh.append(table)
        for table in fresh:
            for decision in table.decisions.values():
                self._close(decision)
        for table in fresh:
            self._apply(table, now_ms)
            self._check_planners(list(table.decisions.values()))
        return bool(due)

    def _is_due(self, table: OpenDialogue, now_ms: int) -> bool:
        """Whether all replies of the wave are in hand and ended by now.

        In the part of a run that is played again, what is not recalled was not in hand.
        """
        if table.work is not None:
            if now_ms <= self._recall.until_ms or not table.work.done():
                table.awaited_ms = now_ms
                return False
            table.work.result()
            if table.completion_ms <= table.awaited_ms:
                last = max(table.decisions.values(), key=lambda decision: decision.end_ms)
                last.delay(table.awaited_ms + 1)
        return table.completion_ms <= now_ms

    def _stale(self, table: OpenDialogue) -> list[Decision]:
        """Decisions that take the place of those which the world has moved past."""
        again = []
        for index, decision in list(table.decisions.items()):
            agent = decision.ask.agent
            if self._team.stage(agent) == GONE:
                decision.fail(Reason("agent_gone"))
                continue
            value = decision.value
            if value is None or not recheck(value, self._questions.situation(decision.ask)):
                continue
            decision.fail(Reason("stale"))
            table.stale[index] = table.stale.get(index, 0) + 1
            if table.stale[index] <= MAX_STALE:
                self._close(decision)
                table.clock_ms = self._team.now_ms
                table.decisions[index] = self._decision(table, index, decision.ask)
                again.append(table.decisions[index])
        return again

    async def release(self) -> None:
        """Cancel every call under way; what had come back in a run played again is heard."""
        for table in self.open:
            had_come = any(self._recall.charges.get(d.id) for d in table.decisions.values())
            if table.work is not None and had_come:
                await asyncio.wait([table.work])
        tasks = [table.work for table in self.open if table.work is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def cut_rest(self, charge_ms: int | None) -> None:
        """Close what is under way; None: charged up to now."""
        now = self._team.now_ms
        for table in self.open:
            for decision in table.decisions.values():
                if decision.is_started and not decision.is_closed:
                    up_to_now = max(0, min(decision.charge_ms, now - decision.start_ms))
                    decision.cut(up_to_now if charge_ms is None else charge_ms)
                    self._close(decision)

    # --- opening ---------------------------------------------------------------------------------

    def open_channels(self, channels: Sequence[Dialogue[Any]]) -> None:
        """Open what a gate asks for; its members are called together first."""
        team = self._team
        for dialogue in channels:
            setting = self._setting(())
            members = sorted(dialogue.members(dialogue.begin(setting).state))
            team.call_together(members, team.now_ms)
            setting = self._setting(tuple(members))
            advance = dialogue.begin(setting)
            self._enter(dialogue, setting, advance, "repair", members, team.now_ms)

    def _open_new(self, now_ms: int) -> None:
        """Open the rounds of those who must decide and take part in nothing."""
        busy = {agent: table.number for table in self.open for agent in table.members}
        needing = tuple(agent for agent in self._team.thinking() if agent not in busy)
        if not needing:
            return
        setting, waiting = self._setting(needing), frozenset(needing)
        proposals = self._topology.open(setting)
        if not proposals and not self.open:
            raise DialogueError(
                f"topology {self._topology.kind} opens no dialogue for agents {needing}"
            )
        for dialogue in proposals:
            own = replace(setting, dialogue=self._numbers)
            advance = dialogue.begin(own)
            members = dialogue.members(advance.state)
            holders = {busy[agent] for agent in members if agent in busy}
            if holders:
                for agent in members & waiting:
                    self._held.setdefault(agent, set()).update(holders)
            else:
                deciding = sorted(members & waiting)
                self._enter(dialogue, own, advance, "topology", deciding, now_ms)

    def _setting(self, needing: tuple[AgentId, ...]) -> Setting:
        team = self._team
        return Setting(
            self._numbers, team.step, self._settings.seed, team.living, needing,
            team.live_plans(), Sheets(team), self._topology.options,
        )  # fmt: skip

    def _enter(
        self,
        dialogue: Dialogue[Any],
        setting: Setting,
        advance: Advance[Any],
        cause: str,
        needing: list[AgentId],
        now_ms: int,
    ) -> None:
        """Open a dialogue; `needing`: its members that must decide, ascending."""
        members = dialogue.members(advance.state)
        clock = self._clock(needing, now_ms)
        table = OpenDialogue(
            self._numbers, dialogue, advance.state, setting, clock, cause,
            self._topology.max_waves(len(setting.living)),
        )  # fmt: skip
        if cause == "topology":
            table.owed.update(needing)
        self._numbers += 1
        self._announce()
        self._team.write(
            "dialogue_opened", clock, table.number, dialogue.kind, sorted(members), needing,
            clock, cause, self._topology.leader(setting.living),
        )  # fmt: skip
        self._follow(table, advance, clock, clock)
        self._horizon = max(self._horizon, clock)
        self._team.deliver(self._horizon)
        table.ask()
        self.open.append(table)

    def _clock(self, needing: list[AgentId], now_ms: int) -> int:
        since = self._team.book.since_ms
        clock = max([now_ms, *(since[agent] for agent in needing)])
        for agent in needing:
            for number in self._held.pop(agent, ()):
                clock = max(clock, self._completions.get(number, 0))
        return clock

    # --- asking ----------------------------------------------------------------------------------

    def _waves(self, tables: Iterable[OpenDialogue]) -> list[Decision]:
        """Decisions of the present waves, dialogue by dialogue; the other asks are skipped.

        Whoever is in a repair channel is asked nothing by others, which may be open in realtime.
        """
        decisions = []
        called = {a: t.number for t in self.open if t.cause == "repair" for a in t.members}
        for table in tables:
            for index, ask in enumerate(table.asks):
                is_elsewhere = called.get(ask.agent, table.number) != table.number
                if is_elsewhere or self._is_skipped(table, ask):
                    table.skip(index)
                else:
                    table.decisions[index] = self._decision(table, index, ask)
                    decisions.append(table.decisions[index])
        return decisions

    def _is_skipped(self, table: OpenDialogue, ask: Ask) -> bool:
        if not 0 <= ask.agent < len(self._team.agents):
            raise DialogueError(f"dialogue {table.number} asks {ask.agent}, who is no agent here")
        if self._team.stage(ask.agent) not in ask.stages:
            return True
        if not ask.unread:
            return False
        mailbox = self._team.agents[ask.agent].mailbox
        return not mailbox.holds(table.number, ask.unread, self._start_ms(table, ask.agent))

    def _start_ms(self, table: OpenDialogue, agent: AgentId) -> int:
        return max(table.clock_ms, self._team.book.since_ms[agent])

    def _decision(self, table: OpenDialogue, index: int, ask: Ask) -> Decision:
        """The decision of an ask; unread messages are taken for it."""
        start = self._start_ms(table, ask.agent)
        decision, messages = self._questions.decision(table.number, index, ask, start)
        self._shown[decision.id] = messages
        table.decided[ask.agent] = decision.id
        if decision.kind in PLAN_KINDS:
            table.owed.add(ask.agent)
        return decision

    def _start(self, decisions: list[Decision]) -> None:
        """Write that decisions start. Raises RunEnds, nothing read, if they cannot be paid."""
        try:
            self._desk.open(decisions)
        except RunEnds:
            for decision in decisions:
                mailbox = self._team.agents[decision.ask.agent].mailbox
                mailbox.put_back(self._shown.pop(decision.id), decision.start_ms)
            raise
        for decision in decisions:
            self._team.counters.reads += len(self._shown.pop(decision.id))

    # --- after the barrier -----------------------------------------------------------------------

    def _close(self, decision: Decision) -> None:
        """Write how a decision ended, and charge its agent."""
        agent = self._team.agents[decision.ask.agent]
        agent.spent_ms += decision.charge_ms
        self._desk.close(decision)
        if decision.outcome != "cut":
            agent.planner_errors = agent.planner_errors + 1 if decision.error else 0
        if self._settings.limits.agent_ms:
            self._team.mark_budgets(self._desk.ledger, {f"agent_ms/{agent.id}": agent.spent_ms})

    def _cut(self, decisions: list[Decision], end: RunEnds) -> None:
        """The run ends before these take effect."""
        for decision in decisions:
            if not decision.is_started or decision.is_closed:
                continue
            if decision.outcome != "failed":
                decision.cut(0 if end.ended_by == "stopped" else decision.charge_ms)
            self._close(decision)

    def _check_planners(self, decisions: list[Decision]) -> None:
        self._team.mark_budgets(self._desk.ledger, self._desk.ledger.used)
        for decision in decisions:
            errors = self._team.agents[decision.ask.agent].planner_errors
            if errors >= MAX_PLANNER_ERRORS:
                who = f"agent {decision.ask.agent}"
                raise RunEnds("error", f"the planner of {who} failed {errors} times in a row")

    def _apply(self, table: OpenDialogue, now_ms: int | None) -> None:
        """What follows from a wave; `now_ms`: when it takes effect, None: at each reply's end."""
        if not table.asks:
            return
        advance = table.apply()
        completion = table.completion_ms if now_ms is None else now_ms
        if table.decisions or advance.note is not None:
            self._team.write(
                "dialogue_advanced", completion, table.number, table.wave + 1, advance.note
            )
        self._follow(table, advance, completion, now_ms)
        self._horizon = max(self._horizon, completion)
        table.work = None
        table.turn(advance, completion)

    def _follow(
        self, table: OpenDialogue, advance: Advance[Any], completion: int, now_ms: int | None
    ) -> None:
        """Commits, then sends, each at its agent's own time."""
        team = self._team
        if isinstance(advance.note, Mapping) and "degraded" in advance.note:
            team.write("round_degraded", completion, table.number, advance.note["degraded"])
        cause = "repaired" if table.cause == "repair" else "replaced"
        for commit in advance.commits:
            ms = table.end_of(commit.agent) if now_ms is None else now_ms
            team.commit(commit, ms, table.decided.get(commit.agent, ""), cause)
            table.owed.discard(commit.agent)
        for draft in (*advance.sends, *_direct(table)):
            ms = table.end_of(draft.sender) if now_ms is None else now_ms
            if draft.recipients:
                team.send(draft, table.number, ms)

    def _drop_finished(self) -> None:
        going = []
        for table in self.open:
            if table.asks or table.ask():
                going.append(table)
            else:
                self._finish(table)
        self.open = going

    def _finish(self, table: OpenDialogue) -> None:
        """Close a dialogue; whoever was to decide in it must have."""
        left = sorted(a for a in table.owed if self._team.stage(a) in THINKING)
        if left:
            raise DialogueError(
                f"dialogue {table.number} ({table.dialogue.kind}) ended; agents {left} were to "
                "decide in it and did not"
            )
        self._completions[table.number] = table.clock_ms
        result = table.dialogue.result(table.state)
        self._team.write("dialogue_closed", table.clock_ms, table.number, table.wave, result)

    # --- phase events ----------------------------------------------------------------------------

    def _begin_phase(self) -> None:
        self._passes = 0
        self._is_announced = False
        self._horizon = self._team.now_ms
        if not self.open:
            self._held.clear()
            self._completions.clear()
        elif self._settings.pace == "lockstep":
            self._announce()

    def _announce(self) -> None:
        if not self._is_announced:
            self._is_announced = True
            self._team.write("phase_started", self._team.now_ms, self._team.thinking())

    def _count_pass(self) -> None:
        self._announce()
        self._passes += 1

    def _end_phase(self) -> None:
        if self._is_announced:
            self._team.write("phase_ended", self._horizon, self._passes)


def _direct(table: OpenDialogue) -> list[Draft]:
    """Messages that came along with the plans of a wave."""
    drafts = []
    for decision in table.decisions.values():
        plan = plan_in(decision.value)[0] if decision.value is not None else None
        if isinstance(plan, TalkingPlanReply):
            for message in plan.messages:
                recipients = tuple(sorted(set(message.recipients)))
                drafts.append(Draft(decision.ask.agent, recipients, "direct", message.text))
    return drafts
