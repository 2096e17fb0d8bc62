"""The contracts between worlds and everything above them.

A view is plain data an agent may see. Text ids (`agent_0`, `block_3_left`, `coal@31,41`) are what
prompts, plans and events hold; numbers are what kernels hold. Letters of shapes: B worlds, A
agents, H rows, W columns, K blocks or creatures, I items, N columns of an attempt row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from numpy import ndarray
from pydantic import BaseModel

from primitives.rng import below, draw, uniform

__all__ = [
    "NO_ATTEMPT",
    "NO_TASK",
    "RESOURCE",
    "STAY",
    "Action",
    "Advance",
    "AgentId",
    "AgentView",
    "ArgSpec",
    "Ask",
    "Attempt",
    "AttemptColumn",
    "AttemptResult",
    "Briefing",
    "Cell",
    "CommandResult",
    "Commit",
    "Dialogue",
    "DialogueWorld",
    "Done",
    "Draft",
    "Failed",
    "Grade",
    "Json",
    "Lease",
    "Outcome",
    "Part",
    "PlanDraft",
    "Points",
    "Policy",
    "Primitive",
    "Reason",
    "Recipe",
    "Reply",
    "Report",
    "Resource",
    "Rules",
    "Running",
    "Setting",
    "Skills",
    "Standing",
    "Stepped",
    "Task",
    "TaskResult",
    "Tasks",
    "Text",
    "VerbSpec",
    "World",
    "below",
    "draw",
    "row",
    "uniform",
]

AgentId = int
Cell = tuple[int, int]
Json = Any
"""None, bool, int, str, list, dict with str keys; no float in a state or note."""

STAY = 0
NO_TASK = -1
NO_ATTEMPT = -1
RESOURCE = -1

S = TypeVar("S")
"""A NamedTuple of arrays with leading axis B, among them `stream` [B, 2] uint64, `step` [B] int32,
`agent_cell` [B, A, 2] int16, `attempts` [B, A, N] int32, `attempt_count` [B], `agent_attempt`
[B, A], `agent_part` [B, A]."""


class AttemptColumn:
    """Columns of an attempt row that every world shares."""

    TASK = 0
    NEED = 1
    PARTICIPATION = 2
    SPATIAL = 3
    TEMPORAL = 4
    DEPENDENCY = 5
    DEPENDENCY_NEED = 6
    MEMBERS = 7
    IN_PLACE = 8
    RESULT = 9
    REASON = 10


class AttemptResult:
    """Values of the column RESULT; DONE and DELIVERED are successes."""

    NONE = 0
    SHORT = 1
    BLOCKED = 2
    DONE = 3
    DELIVERED = 4
    NAMES = ("none", "short", "blocked", "done", "delivered")


class Part:
    """Bits of `agent_part`: what a member does in its attempt row."""

    NEAR = 1
    TRYING = 2
    CAPABLE = 4
    ACTING = 8
    CREDITED = 16


# --- an embodied world ---------------------------------------------------------------------------


class World(NamedTuple):
    """A rule set in four parts and, where there is one, its scripted play."""

    id: str
    config: Any
    rules: Rules[Any]
    text: Text[Any]
    skills: Skills[Any]
    tasks: Tasks[Any]
    policy: Policy[Any] | None


def row(state: S, world: int) -> S:
    """A batch of one that shares memory with row `world` of the batch `state`."""
    return type(state)(*(array[world : world + 1] for array in state))  # type: ignore[attr-defined]


class Stepped(NamedTuple):
    """What a step hands back: [B, A] float32, [B, A] bool, [B] bool."""

    rewards: ndarray
    terminated: ndarray
    truncated: ndarray


class Outcome(NamedTuple):
    """How one agent's primitive action went."""

    name: str
    reason: str | None


class Points(NamedTuple):
    """Points of one task won in the last step, and who is credited."""

    task: str
    points: float
    credited: tuple[AgentId, ...]


class Attempt(NamedTuple):
    """An attempt row for readers; the `attempt` event carries exactly these fields."""

    task: str
    kind: str
    action: str
    need: int
    participation: int
    spatial: int
    temporal: int
    dependency: int
    dependency_need: int
    members: tuple[tuple[AgentId, int], ...]
    in_place: int
    result: str
    reason: str
    unmet: tuple[str, ...]
    is_counted: bool
    extra: Mapping[str, Json]


class Report(NamedTuple):
    """Plain facts of the last step."""

    outcomes: tuple[Outcome, ...]
    attempts: tuple[Attempt, ...]
    points: tuple[Points, ...]
    score: float
    gone: tuple[tuple[AgentId, str], ...]
    ended: str | None


class Rules(Protocol[S]):
    """Start, step, copies; the only part that works on batches.

    `observe`, `living`, `report` and `frame` read a batch of one. Only `reset`, `step` and
    `reseed` change a state; only `reset` and `step` draw from its stream.
    """

    @property
    def agents(self) -> int: ...

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the primitive actions, by number."""
        ...

    @property
    def argument_count(self) -> int:
        """Further integers that an action takes."""
        ...

    @property
    def legend(self) -> Json:
        """{layer: {value: name}} for `frame`."""
        ...

    def reset(self, seed: int, worlds: int = 1) -> S:
        """A fresh batch; world b gets seed + b."""
        ...

    def step(
        self,
        state: S,
        actions: ndarray,
        declared: ndarray | None = None,
        arguments: ndarray | None = None,
    ) -> Stepped:
        """Play one step in place.

        actions, declared: [B, A] int32; `declared` is the number of the task an agent's verb is
        about, or NO_TASK, and changes records only. arguments: [B, A, argument_count] int32.
        Raises IllegalAction and leaves the state as it was on anything else.
        """
        ...

    def living(self, state: S) -> tuple[AgentId, ...]: ...

    def observe(self, state: S, agent: AgentId) -> Any: ...

    def report(self, state: S) -> Report: ...

    def frame(self, state: S) -> dict[str, ndarray]:
        """Small integer layers, enough to draw the world."""
        ...

    def clone(self, state: S, copies: int = 1) -> S:
        """One world copied into a batch of `copies`."""
        ...

    def reseed(self, state: S, keys: ndarray) -> None:
        """keys: [B] uint64; (key, 0) becomes each world's stream."""
        ...


class Text(Protocol[S]):  # type: ignore[misc]
    """The manual, and what one agent may see, as text and as data."""

    reasons: Mapping[str, str]

    def manual(self) -> str: ...

    def describe(self, state: S, agent: AgentId, limit: int) -> str:
        """At most `limit` characters; says what was left out."""
        ...

    def view(self, state: S, agent: AgentId) -> Json: ...

    def sheet(self, state: S, agent: AgentId) -> Json:
        """At most 300 characters of JSON: what a report to another agent carries."""
        ...


class Reason(NamedTuple):
    """Why something failed; rendered by the sentence of `code` with `facts`."""

    code: str
    facts: Mapping[str, Json] = {}


class Action(NamedTuple):
    """One entry of a plan."""

    verb: str
    args: Mapping[str, Json]


class ArgSpec(NamedTuple):
    """An argument of a verb; `low..high` for int, `choices` for choice."""

    name: str
    type: Literal["int", "choice", "id", "cell"]
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    default: Json = None
    is_required: bool = False


class VerbSpec(NamedTuple):
    name: str
    args: tuple[ArgSpec, ...]
    summary: str


class Primitive(NamedTuple):
    """The primitive action of this step, and what the verb must remember."""

    action: int
    progress: Json
    declared: int = NO_TASK
    arguments: tuple[int, ...] = ()


class Running(NamedTuple):
    progress: Json


class Done(NamedTuple):
    facts: Mapping[str, Json]


class Failed(NamedTuple):
    reason: Reason


class Standing(NamedTuple):
    """Where arithmetic says an agent is after some actions; `steps` counts from the start."""

    steps: int
    cell: Cell
    holdings: Mapping[str, int]
    task: int = NO_TASK


class Skills(Protocol[S]):  # type: ignore[misc]
    """Verbs, and how each becomes one primitive action a step. Nothing here changes or draws."""

    verbs: tuple[VerbSpec, ...]

    def check(self, state: S, agent: AgentId, action: Action) -> tuple[Reason, ...]:
        """Why the action cannot be named now."""
        ...

    def ground(
        self, state: S, agent: AgentId, action: Action, progress: Json
    ) -> Primitive | Done | Failed:
        """Before a step; `progress` is None at first, then what the last call gave."""
        ...

    def settle(
        self, state: S, agent: AgentId, action: Action, progress: Json
    ) -> Running | Done | Failed:
        """After the step, for whoever gave a primitive."""
        ...

    def estimate(self, state: S, agent: AgentId, action: Action, start: Standing) -> Standing: ...


class Task(NamedTuple):
    """Something the team can do together; `number` is what `declared` takes."""

    number: int
    id: str
    kind: str
    cell: Cell
    need: int
    worth: float
    tool: str | None


class Recipe(NamedTuple):
    """One agent's share of a task: become able, go to the slot, act."""

    prepare: tuple[Action, ...]
    prepare_steps: int
    approach: tuple[Action, ...]
    act: tuple[Action, ...]
    steps: int


TaskResult = Literal["done", "advanced", "none", "gone"]


class Tasks(Protocol[S]):  # type: ignore[misc]
    """What cooperation asks for."""

    def open(self, state: S) -> tuple[Task, ...]: ...

    def known(self, state: S, agent: AgentId) -> tuple[Task, ...]: ...

    def find(self, state: S, id: str, agent: AgentId | None = None) -> Task | None:
        """None: closed, unknown, or not known to the agent."""
        ...

    def slots(self, state: S, task: Task) -> tuple[Cell, ...]: ...

    def way(self, state: S, task: Task) -> tuple[int, int]:
        """Steps of progress until something other than an agent is in the way; to the end."""
        ...

    def distances(self, state: S, cells: tuple[Cell, ...]) -> ndarray:
        """[H, W] int32 path lengths to the nearest cell, agents ignored, UNREACHABLE if none."""
        ...

    def recipe(
        self, state: S, agent: AgentId, task: Task, slot: Cell | None = None
    ) -> Recipe | Failed: ...

    def mark(self, state: S, task: Task) -> Json: ...

    def result(self, state: S, mark: Json) -> TaskResult: ...


class Policy(Protocol[S]):  # type: ignore[misc]
    """Scripted play: a reply of `kind` from that agent's own knowledge and `notes` alone."""

    def answer(self, state: S, agent: AgentId, kind: str, notes: Json) -> Json: ...


class AgentView(Protocol):
    """World, state and agent bound together: the parts' methods without both."""

    verbs: tuple[VerbSpec, ...]

    def describe(self, limit: int) -> str: ...

    def view(self) -> Json: ...

    def sheet(self) -> Json: ...

    def check(self, action: Action) -> tuple[Reason, ...]: ...

    def known(self) -> tuple[Task, ...]: ...

    def find(self, id: str) -> Task | None: ...

    def recipe(self, task: Task, slot: Cell | None = None) -> Recipe | Failed: ...

    def answer(self, kind: str, notes: Json) -> Json: ...


# --- dialogues -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """What a dialogue knows when it begins; `sheets` serve report and request bodies only."""

    dialogue: int
    step: int
    seed: int
    living: tuple[AgentId, ...]
    needing: tuple[AgentId, ...]
    live_plans: frozenset[AgentId]
    sheets: Mapping[AgentId, Json]
    options: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one agent (or RESOURCE).

    kind "own" becomes `interrupt` for an agent in I with a live plan, else `plan`; its schema is
    then None. `check` gives further findings on a valid value. Skipped in a stage outside
    `stages`, and, if `unread` is given, unless the mailbox holds an unread message of this
    dialogue and such a kind.
    """

    agent: AgentId
    kind: str
    schema: type[BaseModel] | None
    context: Mapping[str, Json] = field(default_factory=dict)
    check: Callable[[BaseModel], tuple[str, ...]] | None = field(default=None, compare=False)
    stages: frozenset[str] = frozenset({"R", "I"})
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of an ask; `value` is given iff answered, and then validated."""

    ask: Ask
    outcome: Literal["answered", "failed", "skipped"]
    value: BaseModel | None
    reasons: tuple[Reason, ...]
    charge_ms: int


class PlanDraft(NamedTuple):
    """The accepted part of a plan reply."""

    task: str
    actions: tuple[Action, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What an agent goes on with; `none` is a failed decision."""

    agent: AgentId
    choice: Literal["plan", "resume", "none"]
    plan: PlanDraft | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be sent."""

    sender: AgentId
    recipients: tuple[AgentId, ...]
    kind: str
    text: str = ""
    body: Json = None
    reply_to: int | None = None


@dataclass(frozen=True, slots=True)
class Advance(Generic[S]):
    """The next state of a dialogue (a frozen dataclass of Json-like fields) and what follows."""

    state: S
    commits: tuple[Commit, ...] = ()
    sends: tuple[Draft, ...] = ()
    note: Json = None


class Dialogue(Protocol[S]):
    """A pure state machine: who must answer now, and what follows from the replies."""

    kind: str

    def begin(self, setting: Setting) -> Advance[S]: ...

    def members(self, state: S) -> frozenset[AgentId]:
        """Whom it may still ask."""
        ...

    def requests(self, state: S) -> tuple[Ask, ...]:
        """Asks that are open together; () iff the dialogue is finished."""
        ...

    def apply(self, state: S, replies: tuple[Reply, ...]) -> Advance[S]:
        """One reply per ask of `requests(state)`, same order."""
        ...

    def result(self, state: S) -> Json: ...


class DialogueWorld(NamedTuple):
    """A world that is nothing but dialogues; `answer(kind, view, notes)` is its scripted play."""

    id: str
    config: Any
    start: Callable[..., Dialogue[Any]]
    answer: Callable[[str, Json, Json], Json]


# --- resource and lease --------------------------------------------------------------------------


class Briefing(BaseModel):
    text: str
    tools: tuple[VerbSpec, ...]


class CommandResult(BaseModel):
    ms: int
    code: int
    text: str
    is_cut: bool
    facts: dict[str, Json]


class Grade(BaseModel):
    passed: int
    total: int
    state: Literal["scored", "no_source", "no_build", "not_run"]


class Resource(Protocol):
    """One thing with one holder at a time; answers `open`, `execute`, `evaluate`."""

    async def open(self, agent: AgentId, subrun: int) -> Briefing: ...

    async def execute(self, agent: AgentId, command: Json, limit_ms: int) -> CommandResult: ...

    async def evaluate(self, agent: AgentId) -> Grade: ...

    async def close(self) -> None: ...


class Lease(NamedTuple):
    thing: str
    holder: AgentId
    until: int
