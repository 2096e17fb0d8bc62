"""A world without space: work(k) is done after k steps, break(k) fails, die(k) ends its agent.

`deaths` of a state marks agents that died; everything else the contracts ask for is there in its
smallest form. Registered nowhere: tests call `stub_world(agents)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from primitives.rng import start
from worlds.api import (
    Action,
    ArgSpec,
    Done,
    Failed,
    Outcome,
    Primitive,
    Reason,
    Recipe,
    Report,
    Running,
    Standing,
    Stepped,
    Task,
    VerbSpec,
    World,
)
from worlds.errors import IllegalAction

ACTIONS = ("stay", "work", "die")
WORK, DIE = 1, 2
LONGEST = 99


class StubState(NamedTuple):
    """stream [1, 2] uint64, step [1] int32, is_alive, died [1, A] bool; no attempts."""

    stream: np.ndarray
    step: np.ndarray
    is_alive: np.ndarray
    died: np.ndarray
    attempts: np.ndarray
    attempt_count: np.ndarray
    agent_attempt: np.ndarray
    agent_part: np.ndarray


@dataclass(frozen=True)
class StubConfig:
    agents: int
    end_step: int = 0
    policy: Mapping[str, object] | None = None


class StubRules:
    actions = ACTIONS
    argument_count = 0

    def __init__(self, config):
        self.legend = {"alive": {0: "gone", 1: "alive"}}
        self.agents = config.agents
        self._end_step = config.end_step
        self._nobody = Outcome("stay", None)

    def reset(self, seed, worlds=1):
        a = self.agents
        stream = np.zeros((worlds, 2), np.uint64)
        for world in range(worlds):
            start(stream[world], np.uint64(seed + world))
        return StubState(
            stream,
            np.zeros(worlds, np.int32),
            np.ones((worlds, a), bool),
            np.zeros((worlds, a), bool),
            np.zeros((worlds, a, 11), np.int32),
            np.zeros(worlds, np.int32),
            np.full((worlds, a), -1, np.int32),
            np.zeros((worlds, a), np.int32),
        )

    def step(self, state, actions, declared=None, arguments=None):
        if actions.min() < 0 or actions.max() >= len(ACTIONS):
            raise IllegalAction(f"actions {actions.min()}..{actions.max()}; allowed 0..2")
        state.step[:] += 1
        state.died[:] = state.is_alive & (actions == DIE)
        state.is_alive[:] &= actions != DIE
        return Stepped(
            np.zeros(actions.shape, np.float32),
            ~state.is_alive,
            np.zeros(len(actions), bool),
        )

    def living(self, state):
        return tuple(np.flatnonzero(state.is_alive[0]).tolist())

    def observe(self, state, agent):
        return state.is_alive[0].copy()

    def report(self, state):
        died = np.flatnonzero(state.died[0]).tolist()
        ended = None
        if not state.is_alive.any():
            ended = "all_gone"
        elif self._end_step and state.step[0] >= self._end_step:
            ended = "goal"
        outcomes = (self._nobody,) * self.agents
        return Report(outcomes, (), (), 0.0, tuple((agent, "died") for agent in died), ended)

    def frame(self, state):
        return {"alive": state.is_alive[0].astype(np.int8)}

    def clone(self, state, copies=1):
        return StubState(*(np.repeat(array, copies, axis=0) for array in state))

    def reseed(self, state, keys):
        state.stream[:, 0] = keys
        state.stream[:, 1] = 0


class StubText:
    def __init__(self):
        self.reasons = {
            "stub_broken": "{verb} broke after {steps} steps",
            "unknown_reference": "there is nothing of that name in sight",
        }

    def manual(self):
        return "Work, break, die or wait."

    def describe(self, state, agent, limit):
        return f"You are agent_{agent}, step {int(state.step[0])}."[:limit]

    def view(self, state, agent):
        return {"agent": agent, "step": int(state.step[0])}

    def sheet(self, state, agent):
        return {"id": f"agent_{agent}"}


def _verb(name, low=1):
    steps = ArgSpec("k", "int", low, LONGEST, is_required=True)
    return VerbSpec(name, (steps,), f"{name} for k steps")


class StubSkills:
    verbs = (
        _verb("work"),
        _verb("break"),
        _verb("die"),
        _verb("skip", 0),
        VerbSpec("wait", (ArgSpec("steps", "int", 1, LONGEST, is_required=True),), "do nothing"),
        VerbSpec("touch", (ArgSpec("thing", "id", is_required=True),), "touch a thing"),
    )

    def check(self, state, agent, action):
        if action.verb == "touch" and action.args["thing"] != "stone":
            return (Reason("unknown_reference"),)
        return ()

    def ground(self, state, agent, action, progress):
        steps = _steps(action)
        done = progress or 0
        if done >= steps:
            return Done({"steps": done})
        is_death = action.verb == "die" and done + 1 == steps
        return Primitive(DIE if is_death else WORK, done + 1)

    def settle(self, state, agent, action, progress):
        if progress < _steps(action) or action.verb == "die":
            return Running(progress)
        if action.verb == "break":
            return Failed(Reason("stub_broken", {"verb": action.verb, "steps": progress}))
        return Done({"steps": progress})

    def estimate(self, state, agent, action, start):
        return Standing(start.steps + _steps(action), start.cell, start.holdings)


def _steps(action):
    return action.args.get("k", action.args.get("steps", 1))


class StubTasks:
    """One task, `pile`, that everybody knows; it is done after step 3."""

    _pile = Task(0, "pile", "pile", (0, 0), 1, 1.0, None)

    def open(self, state):
        return (self._pile,) if state.step[0] < 3 else ()

    def known(self, state, agent):
        return self.open(state)

    def find(self, state, id, agent=None):
        return next((task for task in self.open(state) if task.id == id), None)

    def slots(self, state, task):
        return ((0, 0),)

    def way(self, state, task):
        return 1, 1

    def distances(self, state, cells):
        return np.zeros((1, 1), np.int32)

    def recipe(self, state, agent, task, slot=None):
        return Recipe((), 0, (), (Action("work", {"k": 2}),), 2)

    def mark(self, state, task):
        return {"task": task.id, "step": int(state.step[0])}

    def result(self, state, mark):
        return "done" if state.step[0] >= 3 else "none"


class StubPolicy:
    """Every plan works twice; a directive gives everybody the pile."""

    def answer(self, state, agent, kind, notes):
        plan = {"task": "none", "actions": [{"verb": "work", "k": 2}]}
        workers = notes["context"].get("workers", [])
        return {
            "plan": plan,
            "interrupt": {"choice": "resume"},
            "directive": {"own": "keep" if notes["own_plan"] else "replan", "assignments": [
                {"agents": workers, "task": "none", "role": "work"}
            ]},
            "acknowledge": {"answer": "accept"},
            "statement": {"text": "I work.", "task": "none", "partners": 0},
            "repair_intention": {"text": "I work.", "task": "none", "keeps_plan": True},
            "repair_revision": {"choice": "keep", "follows_guidance": False},
        }[kind]  # fmt: skip


def stub_world(agents, end_step=0):
    """The stub world; it ends with `goal` at `end_step`, 0: never."""
    config = StubConfig(agents, end_step)
    return World(
        "stub-v1", config, StubRules(config), StubText(), StubSkills(), StubTasks(), StubPolicy()
    )
