"""The agents of an episode: their stages, plans, mailboxes and memories, and what moves them.

`Team` is where the rules of stages, plans and messages meet; every change is written as an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cognitive.budget import Ledger
from cognitive.errors import DialogueError
from cognitive.events import EventLog, reason_json
from cognitive.memory import AgentMemory, Memories
from cognitive.messages import (
    KINDS,
    NORMAL,
    POLICIES,
    Counters,
    Delivery,
    Mailbox,
    Message,
    Post,
    interrupts,
)
from cognitive.plans import NO_PLAN_TASK, Plan, Played, view_of
from cognitive.protocols import PlanView
from cognitive.settings import EpisodeSettings
from cognitive.stages import (
    EXECUTING,
    GONE,
    INTERRUPTED,
    REASONING,
    THINKING,
    WAITING,
    StageBook,
)
from cognitive.views import action_json, report_body
from worlds.api import AgentId, Commit, Draft, Json, PlanDraft, Reason, Report, World

__all__ = ["ENGINE", "Agent", "Sheets", "Team"]

ENGINE = -1
"""Sender of `system` messages."""
LeaderOf = Callable[[tuple[AgentId, ...]], AgentId | None]
_FOREVER = 2**62


class Agent:
    """What the loop keeps of one agent.

    retry_step: when an idle agent is asked again, None if it is not idle. hits: interruptions in
    this phase. spent_ms: charges. planner_errors: in a row.
    """

    __slots__ = (
        "hits",
        "id",
        "mailbox",
        "memory",
        "plan",
        "planner_errors",
        "plans",
        "retry_step",
        "spent_ms",
    )

    def __init__(self, id: AgentId, mailbox: Mailbox, memory: AgentMemory) -> None:
        self.id = id
        self.mailbox = mailbox
        self.memory = memory
        self.plan: Plan | None = None
        self.plans = 0
        self.retry_step: int | None = None
        self.hits = 0
        self.spent_ms = 0
        self.planner_errors = 0

    @property
    def live_plan(self) -> Plan | None:
        """The pending or executing plan."""
        return self.plan if self.plan is not None and self.plan.is_live else None


class Team:
    """All agents, where they stand, and the only way to change that."""

    def __init__(self, world: World, state: Any, settings: EpisodeSettings, log: EventLog) -> None:
        agents = world.rules.agents
        self.world = world
        self.state = state
        self.settings = settings
        self.log = log
        self.step = 0
        self.now_ms = 0
        self.began_ms = [0]
        self.living: tuple[AgentId, ...] = tuple(world.rules.living(state))
        self.book = StageBook(agents, settings.pace)
        self.memories = Memories(agents)
        self.agents = [
            Agent(i, Mailbox(settings.mailbox), self.memories.of[i]) for i in range(agents)
        ]
        self.post = Post(settings.seed, settings.drop, settings.delay_ms, settings.delay_steps)
        self.counters = Counters()
        self.decisions = 0
        self.plans_committed = 0
        self.score = 0.0
        self.has_new_plans = False
        self._sheets: dict[AgentId, Json] = {}

    # --- asking ----------------------------------------------------------------------------------

    def stage(self, agent: AgentId) -> str:
        """R, W, X, I or G."""
        return self.book.stage[agent]

    def thinking(self) -> list[AgentId]:
        """Living agents in R or I, ascending."""
        stage = self.book.stage
        return [agent for agent in self.living if stage[agent] in THINKING]

    def latest_wait_ms(self) -> int:
        """The latest entry into W of those who wait; 0 without any."""
        stage, since = self.book.stage, self.book.since_ms
        return max((since[i] for i in self.living if stage[i] == WAITING), default=0)

    def live_plans(self) -> frozenset[AgentId]:
        """Agents with a live plan."""
        return frozenset(agent.id for agent in self.agents if agent.live_plan is not None)

    def plan_views(self) -> tuple[PlanView, ...]:
        """Living agents' live plans as gates see them."""
        stage = self.book.stage
        return tuple(view_of(i, stage[i], self.agents[i].live_plan) for i in self.living)

    def played_views(
        self, agents: Iterable[AgentId], ended: Iterable[Plan]
    ) -> tuple[PlanView, ...]:
        """As `plan_views` of `agents`, plans that ended in the step just played included."""
        over = {plan.agent: plan for plan in ended}
        stage, minds = self.book.stage, self.agents
        return tuple(view_of(i, stage[i], over.get(i, minds[i].live_plan)) for i in agents)

    def sheet(self, agent: AgentId) -> Json:
        """The body of a report of `agent`, as of now."""
        if agent not in self._sheets:
            self._sheets[agent] = self.world.text.sheet(self.state, agent)
        mind = self.agents[agent]
        return report_body(self._sheets[agent], self.stage(agent), mind.live_plan, mind.memory.last)

    def write(self, e: str, ms: int, *values: Json) -> Json:
        """Write an event of this step; memories take it in."""
        line = self.log.write(e, self.step, ms, *values)
        self.memories.take(line)
        return line

    def mark_budgets(self, ledger: Ledger, used: Mapping[str, int]) -> None:
        """Write which limits are nearly used up, and which are."""
        for which, amount, limit in ledger.marks(used):
            self.write("budget", self.now_ms, which, amount, limit)

    # --- stages and plans ------------------------------------------------------------------------

    def enter(self, agent: AgentId, to: str, reason: str, ms: int) -> None:
        """Move an agent to another stage."""
        before = self.book.enter(agent, to, ms)
        self.write("stage", ms, agent, before, to, reason)

    def commit(self, commit: Commit, ms: int, decision: str, cause: str) -> None:
        """Let an agent go on with what it decided. Raises DialogueError if it is not thinking.

        cause: reason code of a plan that is replaced.
        """
        agent = self.agents[commit.agent]
        stage = self.stage(agent.id)
        if stage == GONE:
            return
        if stage not in THINKING:
            raise DialogueError(f"agent {agent.id} committed in stage {stage}; allowed: R, I")
        if commit.choice == "plan":
            if commit.plan is None:
                raise DialogueError(f"agent {agent.id} committed a plan without a plan")
            self._take_plan(agent, commit.plan, ms, decision, cause)
        elif commit.choice == "resume":
            self._resume(agent, ms, decision)
        else:
            self._go_on(agent, ms)
        self._open_mail(agent)

    def _take_plan(
        self, agent: Agent, draft: PlanDraft, ms: int, decision: str, cause: str
    ) -> None:
        old = agent.live_plan
        if old is not None:
            self.interrupt_plan(old, Reason(cause), ms)
        agent.plans += 1
        plan = Plan(
            f"{agent.id}.{agent.plans}", agent.id, draft.task, draft.actions, draft.note,
            decision, ms, self.step,
        )  # fmt: skip
        agent.plan = plan
        agent.retry_step = None
        self.plans_committed += 1
        self.has_new_plans = True
        actions = [action_json(action) for action in plan.actions]
        replaces = old.id if old is not None else None
        self.write(
            "plan_committed", ms, plan.id, agent.id, decision, plan.task, actions, plan.note,
            replaces,
        )  # fmt: skip
        is_replan = self.stage(agent.id) == INTERRUPTED
        self.enter(agent.id, WAITING, "replanned" if is_replan else "planned", ms)

    def _resume(self, agent: Agent, ms: int, decision: str) -> None:
        if self.stage(agent.id) != INTERRUPTED:
            raise DialogueError(f"agent {agent.id} resumed in stage R; there is nothing to resume")
        plan = agent.live_plan
        if plan is None:
            self.enter(agent.id, REASONING, "overtaken", ms)
            return
        self.write("plan_resumed", ms, plan.id, agent.id, decision)
        self.enter(agent.id, WAITING, "resumed", ms)

    def _go_on(self, agent: Agent, ms: int) -> None:
        """A failed decision: keep the old plan, or idle."""
        if agent.live_plan is None:
            agent.retry_step = self.step + self.settings.retry_steps
        self.enter(agent.id, WAITING, "kept" if agent.live_plan else "idle", ms)

    def interrupt_plan(self, plan: Plan, reason: Reason, ms: int) -> None:
        """End a live plan from outside."""
        if plan.is_action_running:
            self.write(
                "action_ended", ms, plan.id, plan.index, "cancelled", reason_json(reason),
                plan.worked,
            )  # fmt: skip
        plan.move("interrupted", reason)
        self._plan_ended(plan, ms)

    def _plan_ended(self, plan: Plan, ms: int) -> None:
        if plan.mark:
            plan.task_result = self.world.tasks.result(self.state, plan.mark[0])
        self.write(
            "plan_ended", ms, plan.id, plan.agent, plan.status, reason_json(plan.reason),
            plan.index, len(plan.actions), plan.task_result,
        )  # fmt: skip

    def start_plans(self) -> None:
        """Everybody who waits with a live plan executes from now on."""
        stage, ms = self.book.stage, self.now_ms
        for i in self.living:
            if stage[i] != WAITING:
                continue
            plan = self.agents[i].live_plan
            if plan is None:
                continue
            self.enter(i, EXECUTING, "start", ms)
            if plan.status == "pending":
                plan.move("executing")
                self._mark(plan)
                self.write("plan_started", ms, plan.id)

    def _mark(self, plan: Plan) -> None:
        """Note how the plan's task stands at its start; `gone` if it is not open."""
        if plan.task == NO_PLAN_TASK:
            return
        task = self.world.tasks.find(self.state, plan.task)
        if task is None:
            plan.task_result = "gone"
        else:
            plan.mark = (self.world.tasks.mark(self.state, task),)

    def executing(self) -> list[Plan]:
        """Plans that are played in the next step, ascending."""
        stage = self.book.stage
        going = {EXECUTING}
        if self.settings.pace == "realtime" and self.settings.while_thinking == "continue":
            going.add(INTERRUPTED)
        found = (self.agents[i].plan for i in self.living if stage[i] in going)
        return [plan for plan in found if plan is not None and plan.status == "executing"]

    def take_in(self, played: Played, report: Report, before_ms: int) -> None:
        """What a played step brought: its facts, then plans and stages. The step has counted."""
        self._sheets.clear()
        ms = self.now_ms
        for attempt in report.attempts:
            self.write("attempt", ms, *attempt[:-1], dict(attempt.extra))
        for task, points, credited in report.points:
            self.score += points
            self.write("score", ms, task, points, list(credited), self.score)
        rewards = [round(float(reward), 6) for reward in played.stepped.rewards[0].tolist()]
        self.write("step", ms, played.primitives, rewards, list(self.living))
        for change in played.changes:
            plan, at = change.plan, before_ms if change.is_before else ms
            if change.what == "started":
                action = plan.actions[change.index]
                self.write(
                    "action_started", at, plan.id, change.index, action.verb, dict(action.args)
                )
            elif change.what == "ended":
                self._plan_ended(plan, ms)
                if self.stage(plan.agent) == EXECUTING:
                    self.enter(plan.agent, REASONING, f"plan_{plan.status}", ms)
            else:
                self.write(
                    "action_ended", at, plan.id, change.index, change.what,
                    reason_json(change.reason), change.worked,
                )  # fmt: skip

    # --- interrupts and messages -----------------------------------------------------------------

    def new_phase(self) -> None:
        """Interruptions are counted anew."""
        for agent in self.agents:
            agent.hits = 0

    def retry_idle(self) -> None:
        """Idle agents whose wait is over are asked again, unless their time is used up."""
        for i in self.living:
            agent = self.agents[i]
            if self.stage(i) != WAITING or agent.retry_step is None or self.is_spent(agent):
                continue
            if self.step >= agent.retry_step:
                agent.retry_step = None
                self.enter(i, REASONING, "retry", self.now_ms)

    def is_spent(self, agent: Agent) -> bool:
        """Whether an agent has used up its own decision time."""
        return bool(self.settings.limits.agent_ms) and (
            agent.spent_ms >= self.settings.limits.agent_ms
        )

    def call_together(self, members: Iterable[AgentId], ms: int) -> None:
        """A repair channel opens: its members are interrupted under every policy."""
        for i in sorted(members):
            if self.stage(i) in (WAITING, EXECUTING):
                self.counters.interrupts["repair"] += 1
                self.enter(i, INTERRUPTED, "repair", max(ms, self.book.since_ms[i]))

    def send(self, draft: Draft, dialogue: int | None, ms: int) -> None:
        """Send a message. Raises DialogueError for an unknown kind."""
        if draft.kind not in KINDS:
            raise DialogueError(f'no message kind "{draft.kind}"; kinds: {", ".join(KINDS)}')
        message = self.post.message(draft, dialogue, ms, self.step)
        self.counters.sends += 1
        self.counters.sends_by_kind[message.kind] += 1
        self.counters.sends_by_sender[message.sender] += 1
        self.write(
            "message_sent", ms, message.id, dialogue, message.sender, list(message.recipients),
            message.kind, message.text, message.body, message.reply_to,
        )  # fmt: skip
        dropped = self.post.dispatch(message)
        if dropped:
            self.counters.drops += len(dropped)
            self._lost(message, dropped, "dropped", ms)

    def deliver(self, until_ms: int) -> None:
        """Deliver everything that is due by `until_ms` and this step."""
        for delivery in self.post.due(until_ms, self.step):
            self._deliver(delivery)

    def _deliver(self, delivery: Delivery) -> None:
        message = delivery.message
        ms = delivery.due_ms
        if delivery.due_step > message.sent_step:
            ms = max(ms, self.began_ms[delivery.due_step])
        stage = self.book.stage
        gone = [i for i in delivery.recipients if stage[i] == GONE]
        if gone:
            self.counters.gone += len(gone)
            self._lost(message, gone, "recipient_gone", ms)
        present = [i for i in delivery.recipients if stage[i] != GONE]
        if not present:
            return
        hit = [i for i in present if self._is_hit(i, message.priority)]
        hit_set = set(hit)
        effects = ["interrupted" if i in hit_set else "buffered" for i in present]
        self._count_deliveries(message, present)
        self.write("message_delivered", ms, message.id, present, effects, delivery.due_ms)
        for i in hit:
            self._interrupt(i, ms)
        self._put(message, present, ms)

    def _put(self, message: Message, recipients: list[AgentId], ms: int) -> None:
        evicted: dict[int, tuple[Message, list[AgentId]]] = {}
        for i in recipients:
            out = self.agents[i].mailbox.put(message, ms)
            if out is not None:
                evicted.setdefault(out.id, (out, []))[1].append(i)
        for out, losers in evicted.values():
            self.counters.overflows += len(losers)
            self._lost(out, losers, "overflow", ms)

    def _count_deliveries(self, message: Message, recipients: list[AgentId]) -> None:
        counters, count = self.counters, len(recipients)
        counters.deliveries += count
        counters.deliveries_by_kind[message.kind] += count
        counters.deliveries_by_sender[message.sender] += count
        for i in recipients:
            counters.deliveries_by_recipient[i] += 1

    def _is_hit(self, i: AgentId, priority: int) -> bool:
        return self.agents[i].hits < self.settings.max_interrupts and interrupts(
            self.settings.interrupts, self.book.stage[i], priority
        )

    def _interrupt(self, i: AgentId, ms: int) -> None:
        self.agents[i].hits += 1
        self.counters.interrupts["message"] += 1
        self.enter(i, INTERRUPTED, "message", max(ms, self.book.since_ms[i]))

    def _open_mail(self, agent: Agent) -> None:
        """What lies unread when an agent commits counts as arriving at that moment."""
        least = POLICIES[self.settings.interrupts].get(WAITING, None)
        if not agent.mailbox.count or least is None or self.stage(agent.id) != WAITING:
            return
        arrived = agent.mailbox.earliest(max(least, NORMAL))
        if arrived is not None and agent.hits < self.settings.max_interrupts:
            self._interrupt(agent.id, arrived)

    def _lost(self, message: Message, recipients: Iterable[AgentId], cause: str, ms: int) -> None:
        self.write("message_lost", ms, message.id, list(recipients), cause)

    # --- departures and the end ------------------------------------------------------------------

    def depart(self, gone: tuple[tuple[AgentId, str], ...], leader_of: LeaderOf) -> None:
        """Agents that are gone leave; the living are told, and who leads now."""
        ms, before = self.now_ms, leader_of(self.living)
        leaving = {agent for agent, _ in gone}
        self.living = tuple(agent for agent in self.living if agent not in leaving)
        after = leader_of(self.living)
        for i, cause in sorted(gone):
            self.write("gone", ms, i, cause)
            plan = self.agents[i].live_plan
            if plan is not None:
                self.interrupt_plan(plan, Reason("agent_gone"), ms)
            self.enter(i, GONE, cause, ms)
            for message in self.agents[i].mailbox.take(_FOREVER):
                self.counters.unread += 1
                self._lost(message, (i,), "expired", ms)
            if self.living:
                text = f"agent_{i} is gone ({cause})."
                if i == before and after is not None:
                    text += f" agent_{after} leads now."
                body = {"gone": i, "cause": cause, "leader": after}
                self.send(Draft(ENGINE, self.living, "system", text, body), None, ms)

    def expire(self, ms: int) -> None:
        """The run ends: nothing under way or unread will be read."""
        for delivery in self.post.rest():
            self.counters.undelivered += len(delivery.recipients)
            self._lost(delivery.message, delivery.recipients, "expired", ms)
        unread: dict[int, tuple[Message, list[AgentId]]] = {}
        for agent in self.agents:
            for message in agent.mailbox.take(_FOREVER):
                unread.setdefault(message.id, (message, []))[1].append(agent.id)
        for _, (message, recipients) in sorted(unread.items()):
            self.counters.unread += len(recipients)
            self._lost(message, recipients, "expired", ms)

    def end_plans(self, ms: int) -> None:
        """The run ends: so do all live plans."""
        for agent in self.agents:
            if agent.live_plan is not None:
                self.interrupt_plan(agent.live_plan, Reason("run_ended"), ms)


class Sheets(Mapping[AgentId, Json]):
    """Bodies of reports, made when they are asked for."""

    def __init__(self, team: Team) -> None:
        self._team = team

    def __getitem__(self, agent: AgentId) -> Json:
        return self._team.sheet(agent)

    def __iter__(self) -> Iterator[AgentId]:
        return iter(range(len(self._team.agents)))

    def __len__(self) -> int:
        return len(self._team.agents)
