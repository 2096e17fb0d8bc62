"""Small drawn worlds, and a loop that plays verbs on them."""

import numpy as np

from worlds.api import Action, Primitive, Running
from worlds.cube.config import CubeConfig
from worlds.cube.generate import from_drawing
from worlds.cube.rules import CubeRules
from worlds.cube.skills import CubeSkills


def drawn(text, rules="quorum", **settings):
    """The drawing as a state, and a config whose counts fit it."""
    rows = text.strip("\n").split("\n")
    agents = max(1, sum(character.isdigit() for row in rows for character in row))
    config = CubeConfig(
        rules=rules, side=20, agents=max(agents, 3), require_movable=False, **settings
    )
    return from_drawing("\n".join(rows), config), config


def act(state, config, actions, declared=None):
    """One step with action names by agent; everybody else stays."""
    rules = CubeRules(config)
    numbers = np.zeros((1, state.agent_cell.shape[1]), np.int32)
    tasks = np.full(numbers.shape, -1, np.int32)
    for agent, name in actions.items():
        numbers[0, agent] = rules.actions.index(name)
    for agent, task in (declared or {}).items():
        tasks[0, agent] = task
    return rules.step(state, numbers, tasks)


def play(state, config, plans, steps):
    """Play one verb an agent for at most `steps` steps.

    Returns {agent: (verdict, steps taken)}; the verdict of whoever is not done yet is None.
    """
    rules, skills = CubeRules(config), CubeSkills(config)
    running = {agent: [action, None, 0] for agent, action in plans.items()}
    ended = {}
    for _ in range(steps):
        numbers = np.zeros((1, state.agent_cell.shape[1]), np.int32)
        declared = np.full(numbers.shape, -1, np.int32)
        for agent, entry in sorted(running.items()):
            given = skills.ground(state, agent, entry[0], entry[1])
            if isinstance(given, Primitive):
                numbers[0, agent], declared[0, agent] = given.action, given.declared
                entry[1], entry[2] = given.progress, entry[2] + 1
            else:
                ended[agent] = (given, entry[2])
        running = {agent: entry for agent, entry in running.items() if agent not in ended}
        if not running:
            break
        rules.step(state, numbers, declared)
        for agent, entry in sorted(running.items()):
            verdict = skills.settle(state, agent, entry[0], entry[1])
            if isinstance(verdict, Running):
                entry[1] = verdict.progress
            else:
                ended[agent] = (verdict, entry[2])
        running = {agent: entry for agent, entry in running.items() if agent not in ended}
        if not running:
            break
    return ended | {agent: (None, entry[2]) for agent, entry in running.items()}


def verb(name, **args):
    return Action(name, args)
