"""Laws of an embodied world, each a function that may be checked by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worlds.api import (
    NO_ATTEMPT,
    NO_TASK,
    STAY,
    Action,
    ArgSpec,
    Attempt,
    AttemptColumn,
    AttemptResult,
    Done,
    Failed,
    Json,
    Primitive,
    Running,
    VerbSpec,
    World,
    row,
)
from worlds.errors import IllegalAction, LayoutError

__all__ = ["WORLD_LAWS", "equal_values", "is_json", "require"]

STEPS = 40
LONGEST_EPISODE = 1000
LONGEST_VERB = 500
BATCH = 3
LIMITS = (200, 1000, 6000)
SHEET_LENGTH = 300
NEW_KEY = 12345
KINDS = ("plan", "statement")
"""Kinds of questions that need no context."""


def require(holds: bool, law: str, **values: Any) -> None:
    """Raise AssertionError with the law and the values unless it holds."""
    if not holds:
        shown = ", ".join(f"{name} = {value!r}" for name, value in values.items())
        raise AssertionError(f"{law}: {shown}")


def is_json(value: Any) -> bool:
    """Whether a value is plain data that is the same after it was written and read."""
    try:
        return bool(value == json.loads(json.dumps(value)))
    except (TypeError, ValueError):
        return False


def equal_values(one: Any, other: Any) -> bool:
    """Equality of arrays, and of dicts, lists and tuples of them."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal_values(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal_values, one, other))
    return bool(one == other)


# --- playing -------------------------------------------------------------------------------------


@dataclass
class _Play:
    """A batch played at random, by fixed numbers."""

    world: World
    state: Any
    random: np.random.Generator
    is_over: bool = False

    @classmethod
    def start(cls, world: World, seed: int, worlds: int = 1) -> _Play:
        return cls(world, world.rules.reset(seed, worlds), np.random.default_rng(seed))

    @property
    def shape(self) -> tuple[int, int]:
        worlds, agents = self.state.agent_part.shape
        return worlds, agents

    def choose(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Actions, and declared tasks of every second agent."""
        actions = self.random.integers(0, len(self.world.rules.actions), self.shape)
        declared = np.full(self.shape, NO_TASK, np.int32)
        for w in range(self.shape[0]):
            numbers = [task.number for task in self.world.tasks.open(row(self.state, w))]
            numbers = [number for number in numbers if number != NO_TASK]
            if numbers:
                picks = self.random.choice(numbers, self.shape[1])
                declared[w] = np.where(self.random.random(self.shape[1]) < 0.5, picks, NO_TASK)
        return actions.astype(np.int32), declared

    def run(self, steps: int) -> Iterator[Any]:
        """Play on until all worlds are over, giving what each step handed back."""
        for _ in range(steps):
            if self.is_over:
                return
            stepped = self.world.rules.step(self.state, *self.choose())
            self.is_over = bool(_over(stepped).all())
            yield stepped


def _over(stepped: Any) -> NDArray[np.bool_]:
    """[B] bool, worlds that have ended."""
    over: NDArray[np.bool_] = stepped.truncated | stepped.terminated.all(axis=1)
    return over


def _differences(one: Any, other: Any) -> list[str]:
    """Names of the arrays in which two states differ."""
    pairs = zip(one._asdict().items(), other, strict=True)
    return [name for (name, array), twin in pairs if not equal_values(array, twin)]


# --- laws of a world -----------------------------------------------------------------------------


def equal_seeds_agree(world: World) -> None:
    """Two copies with one seed and the same actions are equal, bit for bit; other seeds differ."""
    one, other = _Play.start(world, 0), _Play.start(world, 0)
    require(bool(_differences(one.state, world.rules.reset(1))), "other seeds differ", seeds=(0, 1))
    for _ in zip(one.run(STEPS), other.run(STEPS), strict=True):
        names = _differences(one.state, other.state)
        require(not names, "equal seeds agree", arrays=names, step=one.state.step)


def batches_equal_single_worlds(world: World) -> None:
    """World b of a batch is the batch of one with seed + b and the same actions."""
    many = _Play.start(world, 3, BATCH)
    singles = [world.rules.reset(3 + b) for b in range(BATCH)]
    over = np.zeros(BATCH, np.bool_)
    for _ in range(STEPS):
        if over.all():
            return
        actions, declared = many.choose()
        stepped = world.rules.step(many.state, actions, declared)
        for b, single in enumerate(singles):
            if over[b]:
                continue
            part = slice(b, b + 1)
            alone = world.rules.step(single, actions[part], declared[part])
            names = _differences(row(many.state, b), single)
            require(not names, "a batch equals its worlds", arrays=names, world=b)
            handed = tuple(array[part] for array in stepped)
            require(equal_values(handed, tuple(alone)), "and hands back the same", world=b)
        over = _over(stepped)


def illegal_actions_raise_and_change_nothing(world: World) -> None:
    """A bad action, declared task, shape or dtype raises and leaves the state as it was."""
    play = _Play.start(world, 0)
    shape, before = play.shape, world.rules.clone(play.state)
    still = np.full(shape, STAY, np.int32)
    bad: list[tuple[str, Any, Any]] = [
        ("action too large", _with(still, len(world.rules.actions)), None),
        ("action negative", _with(still, -1), None),
        ("declared task negative", still, _with(np.full(shape, NO_TASK, np.int32), -2)),
        ("actions of another dtype", still.astype(np.float64), None),
        ("actions of another shape", still[0], None),
        ("one agent too many", np.zeros((shape[0], shape[1] + 1), np.int32), None),
    ]
    for name, actions, declared in bad:
        try:
            world.rules.step(play.state, actions, declared)
        except (IllegalAction, LayoutError):
            names = _differences(play.state, before)
            require(not names, "an illegal action changes nothing", case=name, arrays=names)
        else:
            raise AssertionError(f"illegal actions raise: case = {name!r}")


def _with(array: NDArray[np.int32], value: int) -> NDArray[np.int32]:
    """A copy whose last entry is `value`."""
    changed = array.copy()
    changed[-1, -1] = value
    return changed


def ended_agents_stay_ended(world: World) -> None:
    """Who has left never returns, and a world that is over is not stepped any more."""
    play = _Play.start(world, 5)
    living = set(world.rules.living(play.state))
    for stepped in play.run(LONGEST_EPISODE):
        now = set(world.rules.living(play.state))
        require(now <= living, "ended agents stay ended", before=living, after=now)
        ended = set(np.flatnonzero(stepped.terminated[0]).tolist())
        require(not ended & now, "the terminated do not live", ended=ended, living=now)
        living = now
    if play.is_over:
        before = world.rules.clone(play.state)
        try:
            world.rules.step(play.state, np.full(play.shape, STAY, np.int32))
        except IllegalAction:
            pass
        else:
            raise AssertionError("a step after the end raises: it did not")
        names = _differences(play.state, before)
        require(not names, "a world that is over keeps its state", arrays=names)


def shapes_and_dtypes_hold(world: World) -> None:
    """Arrays of the state, what a step hands back and observations keep shape and dtype."""
    play = _Play.start(world, 0, BATCH)
    layout = _layout(play.state._asdict())
    worlds, agents = play.shape
    for name, expected in {
        "stream": ((worlds, 2), np.uint64),
        "step": ((worlds,), np.int32),
        "agent_attempt": ((worlds, agents), np.int16),
        "agent_part": ((worlds, agents), np.uint8),
    }.items():
        array = play.state._asdict()[name]
        require((array.shape, array.dtype) == expected, "arrays every world has", name=name)
    attempts = play.state.attempts
    require(
        attempts.shape[:2] == (worlds, agents) and attempts.dtype == np.int32,
        "attempts are [B, A, N] int32",
        shape=attempts.shape,
    )
    seen = _layout(world.rules.observe(row(play.state, 0), 0))
    for stepped in play.run(STEPS):
        require(_layout(play.state._asdict()) == layout, "the layout of a state holds", is_=layout)
        handed = [(array.shape, array.dtype) for array in stepped]
        expected_handed = [
            ((worlds, agents), np.float32),
            ((worlds, agents), np.bool_),
            ((worlds,), np.bool_),
        ]
        require(handed == expected_handed, "the layout of a step holds", handed=handed)
        for agent in world.rules.living(row(play.state, 0)):
            now = _layout(world.rules.observe(row(play.state, 0), agent))
            require(now == seen, "the layout of observations holds", agent=agent, layout=now)


def _layout(value: Any) -> Any:
    """Shapes and dtypes, name by name."""
    if isinstance(value, dict):
        return {name: _layout(part) for name, part in value.items()}
    return value.shape, value.dtype


def looking_changes_and_draws_nothing(world: World) -> None:
    """Observations, texts, tasks and checks leave the state as it is, and repeat themselves."""
    play = _Play.start(world, 2)
    for _ in play.run(STEPS // 4):
        before = world.rules.clone(play.state)
        first, second = _look(world, play.state), _look(world, play.state)
        names = _differences(play.state, before)
        require(not names, "looking changes nothing", arrays=names)
        for name, value in first.items():
            require(equal_values(value, second[name]), "looking twice shows the same", what=name)
        world.rules.reseed(play.state, np.array([NEW_KEY], np.uint64))
        reseeded = _look(world, play.state)
        for name, value in first.items():
            require(equal_values(value, reseeded[name]), "nobody sees the random stream", what=name)


def _look(world: World, state: Any) -> dict[str, Any]:
    """Everything that can be read of a batch of one."""
    facts: dict[str, Any] = {
        "living": world.rules.living(state),
        "report": world.rules.report(state),
        "frame": world.rules.frame(state),
        "manual": world.text.manual(),
        "open": world.tasks.open(state),
    }
    for agent in world.rules.living(state):
        facts[f"observation of agent_{agent}"] = world.rules.observe(state, agent)
        facts |= _known_to(world, state, agent)
    for task in world.tasks.open(state)[:BATCH]:
        slots = world.tasks.slots(state, task)
        facts[f"{task.id} slots"] = slots
        facts[f"{task.id} way"] = world.tasks.way(state, task)
        facts[f"{task.id} distances"] = world.tasks.distances(state, slots)
        facts[f"{task.id} mark"] = world.tasks.mark(state, task)
    return facts


def _known_to(world: World, state: Any, agent: int) -> dict[str, Any]:
    """What is told to one agent, and how scripted play in its place answers."""
    name = f"agent_{agent}"
    facts: dict[str, Any] = {f"view of {name}": world.text.view(state, agent)}
    facts[f"text of {name}"] = [world.text.describe(state, agent, limit) for limit in LIMITS]
    facts[f"sheet of {name}"] = world.text.sheet(state, agent)
    facts[f"tasks known to {name}"] = world.tasks.known(state, agent)
    for kind in KINDS if world.policy is not None else ():
        assert world.policy is not None
        notes = _notes(world, state, agent)
        facts[f"{kind} of {name}"] = world.policy.answer(state, agent, kind, notes)
    return facts


def _notes(world: World, state: Any, agent: int) -> Json:
    """The notes of an agent that remembers and was told nothing."""
    return {
        "agent": agent,
        "agents": world.rules.agents,
        "step": int(state.step[0]),
        "team": {},
        "own_plan": None,
        "last": None,
        "memory": {"events": []},
        "messages": [],
        "orders": None,
        "context": {},
    }


def texts_fit_and_are_plain_data(world: World) -> None:
    """Texts keep to their limit, sheets to 300 characters, views and sheets are Json."""
    play = _Play.start(world, 4)
    for _ in play.run(STEPS // 4):
        for agent in world.rules.living(play.state):
            for limit in LIMITS:
                text = world.text.describe(play.state, agent, limit)
                require(len(text) <= limit, "texts keep to their limit", limit=limit, text=text)
            view, sheet = world.text.view(play.state, agent), world.text.sheet(play.state, agent)
            for what, value in (("view", view), ("sheet", sheet)):
                require(is_json(value), "views and sheets are Json", what=what, value=value)
            length = len(json.dumps(sheet, separators=(",", ":")))
            require(length <= SHEET_LENGTH, "sheets are short", sheet=sheet, length=length)


def tasks_are_found_by_their_names(world: World) -> None:
    """Open tasks are in ascending order and found by id; known ones are open; others are not."""
    play = _Play.start(world, 6)
    for _ in play.run(STEPS // 4):
        tasks = world.tasks.open(play.state)
        numbers = [task.number for task in tasks]
        require(numbers == sorted(numbers), "open tasks ascend", numbers=numbers)
        for task in tasks:
            require(
                world.tasks.find(play.state, task.id) == task, "open tasks are found", task=task
            )
        for agent in world.rules.living(play.state):
            known = world.tasks.known(play.state, agent)
            require(set(known) <= set(tasks), "known tasks are open", agent=agent, known=known)
        nothing = world.tasks.find(play.state, "no such task")
        require(nothing is None, "an unknown task is not found", found=nothing)


def clones_are_independent(world: World) -> None:
    """Stepping a clone leaves the original alone, and each copy is the original."""
    play = _Play.start(world, 1)
    for _ in play.run(STEPS // 2):
        pass
    kept, copies = world.rules.clone(play.state), world.rules.clone(play.state, BATCH)
    for b in range(BATCH):
        names = _differences(row(copies, b), play.state)
        require(not names, "a copy is a copy", copy=b, arrays=names)
    for _ in _Play(world, copies, np.random.default_rng(0)).run(STEPS // 2):
        pass
    names = _differences(play.state, kept)
    require(not names, "clones are independent", arrays=names)


def common_columns_agree_with_attempts(world: World) -> None:
    """`report.attempts` says what the kernel's rows say, members and their parts included."""
    play = _Play.start(world, 9)
    for _ in play.run(5 * STEPS):
        count = int(play.state.attempt_count[0])
        lines, report = play.state.attempts[0, :count].tolist(), world.rules.report(play.state)
        require(len(report.attempts) == count, "one attempt a row", attempts=report.attempts)
        for number, (line, attempt) in enumerate(zip(lines, report.attempts, strict=True)):
            _check_attempt(play.state, number, line, attempt)


def _check_attempt(state: Any, number: int, line: list[int], attempt: Attempt) -> None:
    need, dependency_need = line[AttemptColumn.NEED], line[AttemptColumn.DEPENDENCY_NEED]
    counts = line[AttemptColumn.PARTICIPATION : AttemptColumn.DEPENDENCY + 1]
    told = (attempt.need, attempt.dependency_need, attempt.in_place)
    require(
        told == (need, dependency_need, line[AttemptColumn.IN_PLACE])
        and [attempt.participation, attempt.spatial, attempt.temporal, attempt.dependency] == counts
        and attempt.result == AttemptResult.NAMES[line[AttemptColumn.RESULT]],
        "columns agree with the attempt",
        line=line,
        attempt=attempt,
    )
    own = np.flatnonzero(state.agent_attempt[0] == number).tolist()
    parts = tuple((agent, int(state.agent_part[0, agent])) for agent in own)
    require(attempt.members == parts, "members are those of the row", attempt=attempt)
    is_fit = 1 <= len(own) <= line[AttemptColumn.MEMBERS]
    require(is_fit, "a row has members, and counts them", line=line, members=own)
    needs = (need, need, need, dependency_need)
    names = ("participation", "spatial", "temporal", "dependency")
    short = tuple(
        name for name, count, least in zip(names, counts, needs, strict=True) if count < least
    )
    unmet = tuple(name for name in attempt.unmet if name != "passage")
    require(unmet == short, "unmet are the unsatisfied constraints", attempt=attempt)
    require(max(counts) <= line[AttemptColumn.MEMBERS], "counts are of members", line=line)


def play_and_text_know_what_the_agent_knows(world: World) -> None:
    """As long as all an agent was shown is the same, it is told and answers the same.

    Two copies of a world in which one other agent does something else are compared.
    """
    play = _Play.start(world, 8)
    for _ in play.run(STEPS // 4):
        living = world.rules.living(play.state)
        if len(living) > 1:
            _compare_copies(world, play, living[-1])


def _compare_copies(world: World, play: _Play, changed: int) -> None:
    one, other = world.rules.clone(play.state), world.rules.clone(play.state)
    alike = {agent for agent in world.rules.living(one) if agent != changed}
    for _ in range(BATCH):
        actions, _ = play.choose()
        changed_actions = actions.copy()
        changed_actions[0, changed] = (actions[0, changed] + 1) % len(world.rules.actions)
        stepped = world.rules.step(one, actions), world.rules.step(other, changed_actions)
        if any(_over(part).any() for part in stepped):
            return
        alike &= set(world.rules.living(one)) & set(world.rules.living(other))
        for agent in sorted(alike):
            view = f"view of agent_{agent}"
            here, there = _known_to(world, one, agent), _known_to(world, other, agent)
            if not equal_values(here[view], there[view]) or not equal_values(
                world.rules.observe(one, agent), world.rules.observe(other, agent)
            ):
                alike.discard(agent)
                continue
            for what, value in here.items():
                require(
                    equal_values(value, there[what]),
                    "what is told rests on what is known",
                    what=what,
                )


def every_verb_ends(world: World) -> None:
    """Each verb with arguments that may be named is done or fails, and grounding only looks."""
    names = [verb.name for verb in world.skills.verbs]
    require("wait" in names, "every world has wait", verbs=names)
    for verb in world.skills.verbs:
        play = _Play.start(world, 10)
        agent = world.rules.living(play.state)[0]
        for action in _calls(world, play.state, agent, verb):
            if world.skills.check(play.state, agent, action) == ():
                _run_verb(world, world.rules.clone(play.state), agent, action)


def _calls(world: World, state: Any, agent: int, verb: VerbSpec) -> Iterator[Action]:
    """The verb with its defaults, and with each value worth a try of each argument."""
    names = sorted(_ids(world.text.view(state, agent)))
    names += [task.id for task in world.tasks.known(state, agent)]
    values = {spec.name: _values(spec, names) for spec in verb.args}
    firsts = {spec.name: spec.default for spec in verb.args if spec.default is not None}
    for spec in verb.args:
        for value in values[spec.name]:
            for other in names if spec.type != "id" else names[:1]:
                ids = {s.name: other for s in verb.args if s.type == "id" and s.is_required}
                yield Action(verb.name, {**firsts, **ids, spec.name: value})
    if not verb.args:
        yield Action(verb.name, {})


def _values(spec: ArgSpec, names: list[str]) -> list[Json]:
    if spec.type == "int":
        return sorted({spec.low, min(spec.high, spec.low + 2)})
    if spec.type == "choice":
        return list(spec.choices)
    if spec.type == "id":
        return list(names)
    return [[1, 1], [2, 3]]


def _ids(value: Json) -> set[str]:
    """All texts under a key `id` in a view."""
    if isinstance(value, dict):
        found = {value["id"]} if isinstance(value.get("id"), str) else set()
        return found.union(*map(_ids, value.values()))
    return set().union(*map(_ids, value)) if isinstance(value, list) else set()


def _run_verb(world: World, state: Any, agent: int, action: Action) -> None:
    """Play one verb while everybody else stays, until it is over."""
    progress: Json = None
    shape = state.agent_part.shape
    for _ in range(LONGEST_VERB):
        before = world.rules.clone(state)
        grounded = world.skills.ground(state, agent, action, progress)
        names = _differences(state, before)
        require(not names, "grounding changes nothing", action=action, arrays=names)
        if isinstance(grounded, Done | Failed):
            return
        if _play_primitive(world, state, agent, shape, grounded):
            return
        settled = world.skills.settle(state, agent, action, grounded.progress)
        if isinstance(settled, Done | Failed):
            return
        assert isinstance(settled, Running)
        progress = settled.progress
        require(is_json(progress), "progress is Json", action=action, progress=progress)
    raise AssertionError(f"every verb ends: action = {action!r} runs after {LONGEST_VERB} steps")


def _play_primitive(
    world: World, state: Any, agent: int, shape: tuple[int, int], primitive: Primitive
) -> bool:
    """Play one agent's primitive; whether that ended the agent or the world."""
    actions, declared = np.full(shape, STAY, np.int32), np.full(shape, NO_TASK, np.int32)
    actions[0, agent], declared[0, agent] = primitive.action, primitive.declared
    arguments = None
    if primitive.arguments:
        arguments = np.full((*shape, world.rules.argument_count), NO_ATTEMPT, np.int32)
        arguments[0, agent] = primitive.arguments
    stepped = world.rules.step(state, actions, declared, arguments)
    return bool(_over(stepped)[0] or stepped.terminated[0, agent])


WORLD_LAWS: tuple[Callable[[World], None], ...] = (
    equal_seeds_agree,
    batches_equal_single_worlds,
    illegal_actions_raise_and_change_nothing,
    ended_agents_stay_ended,
    shapes_and_dtypes_hold,
    looking_changes_and_draws_nothing,
    texts_fit_and_are_plain_data,
    tasks_are_found_by_their_names,
    clones_are_independent,
    common_columns_agree_with_attempts,
    play_and_text_know_what_the_agent_knows,
    every_verb_ends,
)
"""The laws of `check_world`."""
