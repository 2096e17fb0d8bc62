"""A real model, small as it is, plays both worlds: whatever it says, the run holds its rules."""

import asyncio
import json

import pytest
from kept_events import Kept

from cognitive.budget import Ledger, Limits
from cognitive.clients.local import INSTALL, LocalServer, model_file
from cognitive.clients.stack import open_client
from cognitive.errors import MissingPrerequisite
from cognitive.events import encode
from cognitive.loop import NoGate, play
from cognitive.planners.llm import LlmPlanner
from cognitive.prompts.build import PromptBuilder
from cognitive.protocols import Latency
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from worlds.registry import make

TOKENS = Latency("tokens")


def is_installed():
    try:
        return model_file().is_file()
    except MissingPrerequisite:
        return False


needs_model = pytest.mark.skipif(
    not is_installed(), reason=f"the small model is not installed: {INSTALL}"
)


@pytest.fixture(scope="module")
def server():
    with LocalServer() as running:
        yield running


def episode(world, profile, mode, cassette, rules):
    """One step of a team with a model each, short rules, one try and 96 tokens a decision."""
    replies: list = []
    sink = Kept()
    limits = Limits(steps=1)

    async def run():
        client = open_client(profile, None, mode, cassette, write_reply=replies.append)
        planner = LlmPlanner(client, profile, PromptBuilder(rules), TOKENS, output_cap=96)
        settings = EpisodeSettings(limits=limits, tries=1)
        topology = make_topology("individual", world.rules.agents)
        ending = await play(
            world, settings, topology, lambda ask: planner, NoGate(), sink, ledger=Ledger(limits)
        )
        await client.close()
        return ending

    ending = asyncio.run(run())
    return ending, sink.events, replies


@needs_model
@pytest.mark.parametrize(
    ("id", "settings", "rules"),
    [
        ("cube-v1", {"n": 2}, "Push the blocks to the right, together."),
        ("macrafter-v1:solo", {}, "Collect wood, then stone."),
    ],
)
def test_a_small_model_plays_and_its_run_repeats(server, tmp_path, id, settings, rules):
    world = make(id, **settings)
    profile = server.profile(temperature=0.0, seed=1)
    ending, events, replies = episode(world, profile, "record", None, rules)
    assert ending.ended_by == "steps" and ending.error is None
    decisions = [line for line in events if line["e"] == "decision_ended"]
    assert len(decisions) == len(replies) == world.rules.agents
    for decision in decisions:
        (entry,) = decision["tries"]
        assert entry["level"] == "json_schema" and entry["usage"]["completion"] <= 96
        assert decision["outcome"] == "answered" or entry["findings"], decision
    path = tmp_path / "cassette.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in replies))
    _, again, _ = episode(world, profile, "replay", path, rules)
    assert [encode(line) for line in again] == [encode(line) for line in events]
