"""The events of one run, sorted once for everybody who counts or draws them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from worlds.api import Attempt

Event = Mapping[str, Any]
READ = frozenset(
    {
        "attempt",
        "decision_ended",
        "decision_started",
        "message_delivered",
        "message_lost",
        "message_sent",
        "plan_committed",
        "plan_ended",
        "plan_resumed",
        "plan_started",
        "repair_closed",
        "repair_opened",
        "repair_predicted",
        "repair_scored",
        "run_ended",
        "score",
        "stage",
        "step",
    }
)
"""Types of events that are counted or drawn."""
UNREAD = frozenset(
    {
        "actions",
        "args",
        "body",
        "effects",
        "evidence",
        "living",
        "note",
        "primitives",
        "prompt_hash",
        "reasons",
        "rewards",
        "text",
        "value",
    }
)
"""Fields that nobody who counts or draws looks at; most of what a long run holds."""


class Entry(NamedTuple):
    """One stay of an agent in a stage; `start` and `end` in ms."""

    agent: int
    stage: str
    reason: str | None
    start: int
    end: int


class Life(NamedTuple):
    """A committed plan. It is executed in the world steps `started` + 1 to `ended`, if started."""

    plan: str
    agent: int
    task: str
    committed: int
    started: int | None
    ended: int
    status: str
    reason: str | None


class Trace:
    """The events of one run by type, and what several metrics need of them."""

    def __init__(self, events: Iterable[Event], config: Mapping[str, Any]) -> None:
        """events: of one run, in order; config: of the same run (team, step_ms, repair mode).

        Events that come one by one are never in memory as a whole: only what is read is kept.
        """
        self.by_type: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            if event["e"] in READ:
                self.by_type[event["e"]].append(_kept(event))
        self.agents: int = config["agents"]
        self.step_ms: int = config["clock"]["step_ms"]
        self.watches = config["repair"]["mode"] != "off"
        ended = self.by_type["run_ended"]
        self.run_ms: int = ended[-1]["ms"] if ended else 0
        self.ended_by: str | None = ended[-1]["ended_by"] if ended else None
        self.detail: str | None = ended[-1]["detail"] if ended else None

    @property
    def steps(self) -> int:
        """Steps the world played."""
        return len(self.by_type["step"])

    @cached_property
    def stages(self) -> tuple[Entry, ...]:
        """Every stay in a stage; all begin in R at 0 ms, the last one ends with the run."""
        entries, open_ = [], dict.fromkeys(range(self.agents), ("R", None, 0))
        for event in self.by_type["stage"]:
            stage, reason, start = open_[event["agent"]]
            entries.append(Entry(event["agent"], stage, reason, start, event["ms"]))
            open_[event["agent"]] = (event["to"], event["reason"], event["ms"])
        for agent, (stage, reason, start) in open_.items():
            entries.append(Entry(agent, stage, reason, start, max(start, self.run_ms)))
        return tuple(entries)

    @cached_property
    def plans(self) -> tuple[Life, ...]:
        """Every committed plan, in order of commitment."""
        started = {event["plan"]: event["step"] for event in self.by_type["plan_started"]}
        ended = {event["plan"]: event for event in self.by_type["plan_ended"]}
        lives = []
        for event in self.by_type["plan_committed"]:
            plan = event["plan"]
            end: Event = ended.get(plan, {"step": self.steps, "status": "live", "reason": None})
            lives.append(
                Life(
                    plan,
                    event["agent"],
                    event["task"],
                    event["step"],
                    started.get(plan),
                    end["step"],
                    end["status"],
                    _code(end["reason"]),
                )
            )
        return tuple(lives)

    @cached_property
    def counted(self) -> tuple[tuple[int, Attempt], ...]:
        """World step and row of the attempts that enter the violation metrics."""
        return tuple(
            (event["step"], Attempt(*(event[name] for name in Attempt._fields)))
            for event in self.by_type["attempt"]
            if event["is_counted"] and event["result"] != "none"
        )

    @cached_property
    def groups(self) -> Mapping[tuple[str, int], frozenset[int]]:
        """By task and world step: the agents whose committed plan names the task in that step."""
        members: dict[tuple[str, int], set[int]] = defaultdict(set)
        for life in self.plans:
            for step in range(life.committed + 1, life.ended + 1):
                members[life.task, step].add(life.agent)
        return {key: frozenset(agents) for key, agents in members.items()}

    @cached_property
    def decisions(self) -> tuple[Event, ...]:
        """Decisions that were answered or failed; cut ones are none."""
        return tuple(
            event
            for event in self.by_type["decision_ended"]
            if event["outcome"] in ("answered", "failed")
        )

    @cached_property
    def asked(self) -> Mapping[str, Event]:
        """The start of each decision."""
        return {event["decision"]: event for event in self.by_type["decision_started"]}

    @cached_property
    def decider(self) -> Mapping[str, int]:
        """Agent of each decision."""
        return {decision: event["agent"] for decision, event in self.asked.items()}


def _kept(event: Event) -> Event:
    """The fields that are read; recipients, of which a crowd has many, in two bytes each."""
    kept = {name: event[name] for name in event if name not in UNREAD}
    if "recipients" in kept:
        kept["recipients"] = array("H", kept["recipients"])
    return kept


def _code(reason: Any) -> str | None:
    """The code of a reason, which is an object with a code or the code itself."""
    code: str | None = reason["code"] if isinstance(reason, Mapping) else reason
    return code
