"""Drawn worlds of MA-Crafter for the tests of its symbolic side."""

import json

import numpy as np

from worlds.api import Action, Done, Failed, Primitive
from worlds.macrafter.config import configure
from worlds.macrafter.generate import from_drawing
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.skills import MacrafterSkills
from worlds.macrafter.state import FACINGS, ITEMS, MATERIALS
from worlds.macrafter.table import load_table
from worlds.macrafter.tasks import MacrafterTasks
from worlds.macrafter.text import MacrafterText


class Drawn:
    """A drawn world with the parts that read it.

    agents: per agent {"facing": name, item: count}. settings change the preset `paper`.
    """

    def __init__(self, drawing, agents=None, preset="paper", seed=0, **settings):
        settings = {"balance": False, "excess_requirements": "lower", "seed": seed, **settings}
        rows = [line.strip() for line in drawing.strip().splitlines()]
        team = max(int(letter) for row in rows for letter in row if letter.isdigit()) + 1
        self.config = configure(preset, agents=team, **settings)
        self.table = load_table(self.config)
        self.state = from_drawing("\n".join(rows), self.config)
        self.rules = MacrafterRules(self.config, self.table)
        self.text = MacrafterText(self.config, self.table)
        self.skills = MacrafterSkills(self.config, self.table)
        self.tasks = MacrafterTasks(self.config, self.table)
        for agent, given in (agents or {}).items():
            self.give(agent, **given)

    def give(self, agent, facing=None, **items):
        if facing is not None:
            self.state.agent_facing[0, agent] = FACINGS.index(facing)
        for item, count in items.items():
            self.state.inventory[0, agent, ITEMS.index(item)] = count

    def held(self, agent, item):
        return int(self.state.inventory[0, agent, ITEMS.index(item)])

    def cell(self, agent):
        return tuple(self.state.agent_cell[0, agent].tolist())

    def show(self, agent, cell, material):
        """Let the agent have seen a material on a cell."""
        self.state.known[0, agent][cell] = MATERIALS.index(material)

    def step(self, actions, declared=None, arguments=None):
        """One step; `actions` by name for each agent that does not wait."""
        team = self.config.agents
        codes = np.zeros((1, team), np.int32)
        tasks = np.full((1, team), -1, np.int32)
        gifts = np.full((1, team, 3), -1, np.int32)
        for agent, action in actions.items():
            is_name = isinstance(action, str)
            codes[0, agent] = self.rules.actions.index(action) if is_name else action
        for agent, task in (declared or {}).items():
            tasks[0, agent] = task
        for agent, gift in (arguments or {}).items():
            gifts[0, agent] = gift
        return self.rules.step(self.state, codes, tasks, gifts)

    def play(self, plans, most=60):
        """Play one verb for each agent to its end; agent -> (Done or Failed, primitives given).

        plans: agent -> (verb, args). The verb's memory passes through JSON between calls.
        """

        running = {a: (Action(verb, args), None) for a, (verb, args) in plans.items()}
        ends, given = {}, {agent: [] for agent in plans}
        for _ in range(most):
            primitives = {}
            for agent, (action, memory) in list(running.items()):
                answer = self.skills.ground(self.state, agent, action, memory)
                if isinstance(answer, Primitive):
                    memory = json.loads(json.dumps(answer.progress))
                    running[agent] = (action, memory)
                    primitives[agent] = answer
                    given[agent].append((self.rules.actions[answer.action], answer.declared))
                else:
                    ends[agent] = answer
                    del running[agent]
            if not running:
                break
            self.step(
                {agent: answer.action for agent, answer in primitives.items()},
                {agent: answer.declared for agent, answer in primitives.items()},
                {a: answer.arguments for a, answer in primitives.items() if answer.arguments},
            )
            for agent, (action, memory) in list(running.items()):
                answer = self.skills.settle(self.state, agent, action, memory)
                if isinstance(answer, Done | Failed):
                    ends[agent] = answer
                    del running[agent]
                else:
                    running[agent] = (action, json.loads(json.dumps(answer.progress)))
        assert not running, f"verbs still running after {most} steps: {sorted(running)}"
        return {agent: (ends[agent], given[agent]) for agent in plans}


def code(end):
    """The reason code of a failure, `done` of a success."""
    return end.reason.code if isinstance(end, Failed) else "done"
