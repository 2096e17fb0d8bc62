"""What happened in a run, told from its events: stages, plans, messages, channels, scores by step.

Step s is the state after s world steps together with all that was decided in it, before the world
moved on. Everything that is shown of a run, window, video, page or figure, is read from here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from worlds.api import AgentId, Json

__all__ = [
    "CONSTRAINTS",
    "EVIDENCE",
    "ActionRecord",
    "ChannelRecord",
    "Delivery",
    "MessageRecord",
    "PlanRecord",
    "ScoreRecord",
    "StageEntry",
    "Story",
    "body_text",
    "reason_text",
]

CONSTRAINTS = ("participation", "spatial", "temporal", "dependency")
"""The order of `held` in forecasts."""
EVIDENCE = ("agent", "in_place", "acting", "able", "cell", "arrival")
"""The parts of a line of evidence in forecasts."""
INTERRUPTED = "interrupted"
CHANNEL_LINGER = 2
"""Steps for which a closed channel stays on the map."""


class StageEntry(NamedTuple):
    stage: str
    ms: int
    step: int
    reason: str


@dataclass(slots=True)
class ActionRecord:
    """One action of a plan; status todo, running, done, failed or cancelled."""

    verb: str
    args: dict[str, Json]
    status: str = "todo"
    reason: str = ""
    started_step: int | None = None
    ended_step: int | None = None
    started_ms: int | None = None
    ended_ms: int | None = None

    @property
    def text(self) -> str:
        """As one would write it: `navigate(target=coal@3,4)`."""
        return f"{self.verb}({', '.join(f'{k}={_plain(v)}' for k, v in self.args.items())})"

    def status_at(self, step: int) -> str:
        """Its status as it was at `step`."""
        if self.ended_step is not None and self.ended_step <= step:
            return self.status
        is_begun = self.started_step is not None and self.started_step <= step
        return "running" if is_begun else "todo"


@dataclass(slots=True)
class PlanRecord:
    """A committed plan. ended_step, ended_ms: None while it lives. resumed: (ms, step) each."""

    id: str
    agent: AgentId
    task: str
    note: str
    actions: list[ActionRecord]
    decision: Json
    replaces: str | None
    ms: int
    step: int
    started_ms: int | None = None
    ended_ms: int | None = None
    ended_step: int | None = None
    status: str = "pending"
    reason: str = ""
    task_result: str = ""
    resumed: list[tuple[int, int]] = field(default_factory=list)

    def is_live(self, step: int) -> bool:
        """Whether the agent held it when it went on from `step`."""
        return self.step <= step and (self.ended_step is None or self.ended_step > step)

    def current(self, step: int) -> ActionRecord | None:
        """The action under way, or next, at `step`."""
        for action in self.actions:
            if action.ended_step is None or action.ended_step > step:
                return action
        return None


class Delivery(NamedTuple):
    """Recipients that a message reached together; interrupted: those of them it broke off."""

    ms: int
    step: int
    recipients: tuple[AgentId, ...]
    interrupted: tuple[AgentId, ...]


@dataclass(slots=True)
class MessageRecord:
    """A message, when it reached whom, and for whom it was lost (recipient to cause)."""

    id: int
    sender: AgentId
    recipients: tuple[AgentId, ...]
    kind: str
    text: str
    body: Json
    dialogue: int | None
    ms: int
    step: int
    deliveries: list[Delivery] = field(default_factory=list)
    lost: dict[AgentId, str] = field(default_factory=dict)

    @property
    def interrupted(self) -> tuple[AgentId, ...]:
        """Recipients that it broke off from what they did."""
        return tuple(agent for one in self.deliveries for agent in one.interrupted)


@dataclass(slots=True)
class ChannelRecord:
    """A repair channel. opened, closed, forecast: its events; before, after: plan ids by member."""

    id: int
    label: str
    dialogue: int
    members: tuple[AgentId, ...]
    task: str
    target: str | None
    step: int
    ms: int
    opened: dict[str, Json]
    forecast: dict[str, Json] | None
    before: dict[AgentId, str]
    ended_step: int | None = None
    ended_ms: int | None = None
    outcome: str = "open"
    closed: dict[str, Json] | None = None
    scored: dict[str, Json] | None = None
    statements: list[int] = field(default_factory=list)
    after: dict[AgentId, str] = field(default_factory=dict)

    def is_visible(self, step: int) -> bool:
        """Whether the map of `step` shows it: while open, and a little longer."""
        last = self.step if self.ended_step is None else self.ended_step
        return self.step <= step <= last + CHANNEL_LINGER


class ScoreRecord(NamedTuple):
    step: int
    task: str
    points: float
    credited: tuple[AgentId, ...]
    total: float


class Story:
    """Folds events, one after another, into what happened. Knows as much as it has been told.

    told: how many events. last_ms: the latest of their times.
    """

    def __init__(self) -> None:
        self.start: dict[str, Json] = {}
        self.end: dict[str, Json] | None = None
        self.agents = 0
        self.step_ms: list[int] = [0]
        self.step_first_ms: list[int] = [0]
        self.stages: list[list[StageEntry]] = []
        self.plans: dict[str, PlanRecord] = {}
        self.plans_of: list[list[PlanRecord]] = []
        self.messages: list[MessageRecord] = []
        self.channels: list[ChannelRecord] = []
        self.scores: list[ScoreRecord] = []
        self.attempts: list[tuple[int, dict[str, Json]]] = []
        self.decisions: list[dict[str, Json]] = []
        self.failures: list[tuple[int, AgentId, str]] = []
        self.living: list[frozenset[AgentId]] = []
        self.last_ms = 0
        self.told = 0
        self._forecasts: dict[Json, dict[str, Json]] = {}
        self._message_of: dict[int, MessageRecord] = {}
        self._channel_of: dict[int, ChannelRecord] = {}
        self._decision_of: dict[int, dict[str, Json]] = {}

    @classmethod
    def of(cls, events: Iterable[Json]) -> Story:
        """The story of all events of a run."""
        story = cls()
        for event in events:
            story.take(event)
        return story

    def take(self, event: Json) -> None:
        """Fold the next event; types that tell nothing to look at are passed over."""
        self.told += 1
        self.last_ms = max(self.last_ms, event["ms"])
        handler = _HANDLERS.get(event["e"])
        if handler is not None:
            handler(self, event)

    # --- what can be asked ---

    @property
    def steps(self) -> int:
        """World steps taken."""
        return len(self.step_ms) - 1

    def span(self, step: int) -> tuple[int, int]:
        """First and last ms of a step on the cognitive clock."""
        end = self.step_ms[step + 1] if step < self.steps else self.last_ms
        return self.step_ms[step], max(end, self.step_ms[step])

    def stage_at(self, agent: AgentId, step: int) -> StageEntry | None:
        """The stage an agent spent most of `step` in (ties: the earlier); None before its first.

        A step in which no time passes shows the last stage entered.
        """
        entries = self.stages[agent]
        low, high = self.span(step)
        last = bisect_right(entries, step, key=lambda entry: entry.step) - 1
        if last < 0:
            return None
        best, longest = entries[last], 0
        for index in range(last, -1, -1):
            until = entries[index + 1].ms if index < last else high
            lasted = min(until, high) - max(entries[index].ms, low)
            if lasted >= longest and lasted > 0:
                best, longest = entries[index], lasted
            if entries[index].step < step or entries[index].ms < low:
                break
        return best

    def plan_at(self, agent: AgentId, step: int) -> PlanRecord | None:
        """The plan with which an agent went on from `step`."""
        for plan in reversed(self.plans_of[agent]):
            if plan.is_live(step):
                return plan
        return None

    def last_ended(self, agent: AgentId, step: int) -> PlanRecord | None:
        """The plan of an agent that ended last, at `step` or before."""
        for plan in reversed(self.plans_of[agent]):
            if plan.ended_step is not None and plan.ended_step <= step:
                return plan
        return None

    def score_at(self, step: int) -> float:
        """Team score after `step` steps."""
        index = bisect_right(self.scores, step, key=lambda score: score.step)
        return self.scores[index - 1].total if index else 0.0

    def messages_at(self, step: int) -> list[MessageRecord]:
        """Messages sent in `step`."""
        first = bisect_right(self.messages, step - 1, key=lambda message: message.step)
        last = bisect_right(self.messages, step, key=lambda message: message.step)
        return self.messages[first:last]

    def is_living(self, agent: AgentId, step: int) -> bool:
        """Whether the agent is still in the world after `step` steps."""
        return step == 0 or agent in self.living[min(step, self.steps) - 1]

    # --- events, by type ---

    def _run_started(self, event: Json) -> None:
        self.start = event
        self.agents = event["agents"]
        self.stages = [[StageEntry("R", 0, 0, "")] for _ in range(self.agents)]
        self.plans_of = [[] for _ in range(self.agents)]

    def _stage(self, event: Json) -> None:
        entry = StageEntry(event["to"], event["ms"], event["step"], reason_text(event["reason"]))
        entries = self.stages[event["agent"]]
        if entries == [StageEntry("R", 0, 0, "")] and event["from"] is None:
            entries.clear()
        entries.append(entry)

    def _plan_committed(self, event: Json) -> None:
        plan = PlanRecord(
            id=event["plan"],
            agent=event["agent"],
            task=event["task"],
            note=event["note"],
            actions=[_action(action) for action in event["actions"]],
            decision=event["decision"],
            replaces=event["replaces"],
            ms=event["ms"],
            step=event["step"],
        )
        self.plans[plan.id] = plan
        self.plans_of[plan.agent].append(plan)
        dialogue = self._dialogue_of(event["decision"])
        if dialogue in self._channel_of:
            self._channel_of[dialogue].after[plan.agent] = plan.id

    def _dialogue_of(self, decision: Json) -> int:
        return int(self._decision_of.get(decision, {}).get("dialogue", -1))

    def _plan_resumed(self, event: Json) -> None:
        self.plans[event["plan"]].resumed.append((event["ms"], event["step"]))
        dialogue = self._dialogue_of(event["decision"])
        if dialogue in self._channel_of:
            self._channel_of[dialogue].after[event["agent"]] = event["plan"]

    def _plan_started(self, event: Json) -> None:
        plan = self.plans[event["plan"]]
        plan.status, plan.started_ms = "executing", event["ms"]

    def _action_started(self, event: Json) -> None:
        action = self.plans[event["plan"]].actions[event["index"]]
        action.status = "running"
        action.started_step, action.started_ms = event["step"], event["ms"]

    def _action_ended(self, event: Json) -> None:
        action = self.plans[event["plan"]].actions[event["index"]]
        action.status, action.reason = event["status"], reason_text(event["reason"])
        action.ended_step, action.ended_ms = event["step"], event["ms"]

    def _plan_ended(self, event: Json) -> None:
        plan = self.plans[event["plan"]]
        plan.status, plan.reason = event["status"], reason_text(event["reason"])
        plan.task_result = event["task_result"] or ""
        plan.ended_step, plan.ended_ms = event["step"], event["ms"]
        for action in plan.actions:
            if action.ended_step is None:
                action.status = "cancelled"
                action.ended_step, action.ended_ms = event["step"], event["ms"]
        if plan.status == "failed":
            self.failures.append((event["step"], plan.agent, f"plan {plan.id}: {plan.reason}"))

    def _decision_started(self, event: Json) -> None:
        self._decision_of[event["decision"]] = event

    def _decision_ended(self, event: Json) -> None:
        started = self._decision_of.get(event["decision"], {})
        self.decisions.append({"started": started, "ended": event})
        if event["outcome"] == "failed" and started:
            reasons = ", ".join(reason_text(reason) for reason in event["reasons"] or ())
            text = f"decision {event['decision']} failed: {reasons}"
            self.failures.append((event["step"], started["agent"], text))

    def _message_sent(self, event: Json) -> None:
        message = MessageRecord(
            id=event["message"],
            sender=event["sender"],
            recipients=tuple(event["recipients"]),
            kind=event["kind"],
            text=event["text"],
            body=event["body"],
            dialogue=event["dialogue"],
            ms=event["ms"],
            step=event["step"],
        )
        self.messages.append(message)
        self._message_of[message.id] = message
        channel = self._channel_of.get(-1 if message.dialogue is None else message.dialogue)
        if channel is not None:
            channel.statements.append(message.id)

    def _message_delivered(self, event: Json) -> None:
        message = self._message_of[event["message"]]
        recipients = tuple(event["recipients"])
        if recipients == message.recipients:
            recipients = message.recipients
        effects = zip(recipients, event["effects"], strict=True)
        hit = tuple(agent for agent, effect in effects if effect == INTERRUPTED)
        message.deliveries.append(Delivery(event["ms"], event["step"], recipients, hit))

    def _message_lost(self, event: Json) -> None:
        for agent in event["recipients"]:
            self._message_of[event["message"]].lost[agent] = event["cause"]

    def _repair_predicted(self, event: Json) -> None:
        self._forecasts[event["forecast"]] = event

    def _repair_opened(self, event: Json) -> None:
        members = tuple(event["members"])
        plans = {agent: self.plan_at(agent, event["step"]) for agent in members}
        channel = ChannelRecord(
            id=event["repair"],
            label=f"R{len(self.channels) + 1}",
            dialogue=event["dialogue"],
            members=members,
            task=event["task"],
            target=event["target"],
            step=event["step"],
            ms=event["ms"],
            opened=event,
            forecast=self._forecasts.get(event["forecast"]),
            before={agent: plan.id for agent, plan in plans.items() if plan is not None},
        )
        self.channels.append(channel)
        self._channel_of[channel.dialogue] = channel

    def _dialogue_closed(self, event: Json) -> None:
        channel = self._channel_of.get(event["dialogue"])
        if channel is not None:
            channel.ended_step, channel.ended_ms = event["step"], event["ms"]

    def _repair_closed(self, event: Json) -> None:
        for channel in self.channels:
            if channel.id == event["repair"]:
                channel.outcome, channel.closed = event["outcome"], event
                if channel.ended_step is None:
                    channel.ended_step, channel.ended_ms = event["step"], event["ms"]

    def _repair_scored(self, event: Json) -> None:
        for channel in self.channels:
            if channel.forecast and channel.forecast["forecast"] == event["forecast"]:
                channel.scored = event

    def _step(self, event: Json) -> None:
        self.step_ms.append(event["ms"])
        self.living.append(frozenset(event["living"]))

    def _attempt(self, event: Json) -> None:
        self.attempts.append((event["step"], event))

    def _score(self, event: Json) -> None:
        credited = tuple(event["credited"])
        self.scores.append(
            ScoreRecord(event["step"], event["task"], event["points"], credited, event["total"])
        )

    def _run_ended(self, event: Json) -> None:
        self.end = event


_HANDLERS = {
    "run_started": Story._run_started,
    "stage": Story._stage,
    "plan_committed": Story._plan_committed,
    "plan_resumed": Story._plan_resumed,
    "plan_started": Story._plan_started,
    "action_started": Story._action_started,
    "action_ended": Story._action_ended,
    "plan_ended": Story._plan_ended,
    "decision_started": Story._decision_started,
    "decision_ended": Story._decision_ended,
    "message_sent": Story._message_sent,
    "message_delivered": Story._message_delivered,
    "message_lost": Story._message_lost,
    "repair_predicted": Story._repair_predicted,
    "repair_opened": Story._repair_opened,
    "dialogue_closed": Story._dialogue_closed,
    "repair_closed": Story._repair_closed,
    "repair_scored": Story._repair_scored,
    "step": Story._step,
    "attempt": Story._attempt,
    "score": Story._score,
    "run_ended": Story._run_ended,
}


def reason_text(reason: Json) -> str:
    """A reason as events hold it (nothing, a code, or code and facts) in words."""
    if reason is None:
        return ""
    if isinstance(reason, str):
        return reason
    facts = ", ".join(f"{name} {_plain(value)}" for name, value in reason["facts"].items())
    return f"{reason['code']} ({facts})" if facts else str(reason["code"])


def body_text(body: Json) -> str:
    """The body of an engine-made message, in words."""
    if not isinstance(body, dict):
        return "" if body is None else str(body)
    parts = []
    for name, value in body.items():
        if value is None or value == "":
            continue
        if name == "actions" and isinstance(value, list):
            parts.append(f"by {', '.join(str(action.get('verb')) for action in value)}")
        elif name == "assignments" and isinstance(value, list):
            parts += [_assignment(one) for one in value]
        elif name == "task":
            parts.append(str(value))
        elif isinstance(value, str | int):
            parts.append(f"{name} {value}")
    return "; ".join(parts)


def _assignment(assignment: Json) -> str:
    agents = ",".join(map(str, assignment["agents"]))
    instruction = assignment.get("instruction")
    return f"{agents} → {assignment['task']}" + (f": {instruction}" if instruction else "")


def _plain(value: Json) -> str:
    return ",".join(_plain(part) for part in value) if isinstance(value, list) else str(value)


def _action(action: Json) -> ActionRecord:
    args = action.get("args")
    if args is None:
        args = {name: value for name, value in action.items() if name != "verb"}
    return ActionRecord(action["verb"], dict(args))
