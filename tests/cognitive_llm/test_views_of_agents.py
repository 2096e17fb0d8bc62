"""Who sees what, in whole runs: each agent its own view, in prompts nothing it does not know, and
an agent that repeats itself is told so and can still be reached."""

import re

import pytest
from kept_events import Kept

from cognitive.budget import Limits
from cognitive.loop import NoGate, run
from cognitive.planners.greedy import GreedyPlanner
from cognitive.planners.random import RandomPlanner
from cognitive.planners.scripted import ScriptedPlanner
from cognitive.prompts.build import PromptBuilder
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.registry import make

WORLDS = ("cube-v1:quorum", "macrafter-v1:paper")
THING = re.compile(r"\b(?:tree|stone|coal|iron|diamond|water|table|furnace)@(\d+),(\d+)")


class Watched:
    """A planner whose questions are looked at before they are answered."""

    def __init__(self, inner, look):
        self.name, self.latency = inner.name, inner.latency
        self._inner, self._look = inner, look

    async def answer(self, question):
        self._look(question)
        return await self._inner.answer(question)

    async def close(self):
        return None


def play_watched(world, planners, topology, steps, look):
    team = [Watched(planner, look) for planner in planners]
    sink = Kept()
    ending = run(
        world,
        EpisodeSettings(limits=Limits(steps=steps)),
        make_topology(topology, world.rules.agents),
        lambda ask: team[ask.agent],
        NoGate(),
        sink,
    )
    assert ending.error is None, ending.error
    return sink.events


@pytest.mark.parametrize("id", WORLDS)
def test_each_agent_of_a_mixed_team_is_asked_with_its_own_view(id):
    """Case 16 of the field: never the view, notes or messages of another."""
    world, asked = make(id), set()

    def look(question):
        agent = question.ask.agent
        asked.add(agent)
        assert question.memory["agent"] == agent
        assert question.view.sheet()["id"] == f"agent_{agent}"
        assert question.view.view()["self"]["id"] == f"agent_{agent}"
        assert f"You are agent_{agent} at" in question.view.describe(6000)
        assert all(message["sender"] != agent for message in question.messages)

    team = [ScriptedPlanner(), RandomPlanner(), GreedyPlanner()]
    play_watched(world, team, "all_to_all", 40, look)
    assert asked == {0, 1, 2}


def test_prompts_name_nothing_that_their_agent_does_not_know():
    """Case 23: alone, without messages, all things in a prompt lie on cells the agent has seen."""
    world = make("macrafter-v1:paper")
    builder, named = PromptBuilder(world.text.manual()), set()

    def look(question):
        known = question.view._state.known[0, question.ask.agent]
        user = builder.messages(question)[1]["content"]
        cells = {(int(row), int(column)) for row, column in THING.findall(user)}
        unseen = [cell for cell in cells if not known[cell]]
        assert not unseen, (question.scope, unseen)
        named.update(cells)

    play_watched(world, [ScriptedPlanner()] * 3, "individual", 60, look)
    assert len(named) > 20


class Stubborn(GreedyPlanner):
    """Pushes a heavy block alone for ever; what it is shown is kept."""

    def __init__(self, block):
        super().__init__()
        self.shown = []
        self._plan = {
            "task": f"block_{block}_left",
            "actions": [{"verb": "push", "block": block, "steps": 2}],
        }

    async def answer(self, question):
        answer = await super().answer(question)
        self.shown.append(question)
        return answer._replace(raw=self._plan) if question.ask.kind == "plan" else answer


def test_a_planner_that_repeats_a_plan_without_effect_is_told_each_time_and_hears_messages():
    """Case 37: every failure ends the plan with its reason, and is shown with those before."""
    world = make("cube-v1:quorum")
    heavy = next(t.number // 4 for t in world.tasks.open(world.rules.reset(0)) if t.need == 3)
    stubborn = Stubborn(heavy)
    events = play_watched(
        world, [ScriptedPlanner(), stubborn, stubborn], "all_to_all", 30, lambda question: None
    )
    own = [q for q in stubborn.shown if q.ask.agent == 1]
    ended = [e for e in events if e["e"] == "plan_ended" and e["agent"] == 1]
    assert len(ended) >= 10 and {e["status"] for e in ended} == {"failed"}
    prompt = PromptBuilder(world.text.manual()).messages(own[-1])[1]["content"]
    assert "failed at action 1 of 1 (push)" in prompt
    assert prompt.count(f"(block_{heavy}_left) failed: ") >= 3
    read = [m for q in own[len(own) // 2 :] for m in q.messages if m["sender"] == 0]
    assert read, "what others say still reaches it"
