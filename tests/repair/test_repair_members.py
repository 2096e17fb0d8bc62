"""Members behind an endpoint that agree, refuse, answer nonsense or do not answer."""

import asyncio
import json
import re

import pytest
from boards import board

from cognitive.clients.fake import Behaviour, FakeServer
from cognitive.clients.profile import EndpointProfile
from cognitive.clients.stack import open_client
from cognitive.loop import play
from cognitive.planners.greedy import GreedyPlanner
from cognitive.planners.llm import LlmPlanner
from cognitive.prompts.build import PromptBuilder
from cognitive.protocols import Latency
from cognitive.schemas import reply_models
from cognitive.settings import EpisodeSettings
from cognitive.topologies import make_topology
from repair.config import repair_config
from repair.gate import RepairGate
from repair.ledger import Ledger
from repair.predict import make_predictor

RECOMMENDED = re.compile(r"Recommended for you: (\S+): (.*)")
CALL = re.compile(r"(\w+)\(([^)]*)\)")
INTENTION = {"text": "I do as advised.", "task": "none", "keeps_plan": True}
KEEP = {"choice": "keep", "follows_guidance": False, "plan": None}
STEPS = 14


class Lines:
    def __init__(self, ledger):
        self.events = []
        self._ledger = ledger

    def event(self, line):
        self.events.append(json.loads(json.dumps(line)))
        self._ledger.event(line)

    def frame(self, step, layers):
        pass

    def flush(self):
        pass

    def close(self):
        pass


def advised(prompt):
    """The recommended plan as a reply."""
    found = RECOMMENDED.search(prompt)
    if found is None:
        return KEEP
    actions = []
    for verb, inside in CALL.findall(found[2]):
        pairs = re.findall(r"(\w+)=(\[[^\]]*\]|[^,]+)", inside)
        args = {k: json.loads(v) if v[0] in "[-0123456789" else v for k, v in pairs}
        actions.append({"verb": verb, **args})
    plan = {"thought": "", "task": found[1], "actions": actions, "note": ""}
    return {"choice": "revise", "follows_guidance": True, "plan": plan}


def member(received, revision):
    prompt = "\n".join(message["content"] for message in received.body["messages"])
    is_revision = "follows_guidance" in prompt
    return json.dumps(revision(prompt) if is_revision else INTENTION)


def agrees(received):
    return Behaviour(content=member(received, advised))


def refuses(received):
    return Behaviour(content=member(received, lambda prompt: KEEP))


def babbles(received):
    return Behaviour(content="Let us all push together, shall we?")


def is_silent(received):
    return Behaviour(status=503)


async def episode(script):
    """Two agents of which only one ever pushes a block that needs both."""
    world, _ = board([(3, 3), (4, 0)], [(2, 3, 4)])
    config = repair_config({"mode": "repair", "cooldown": 50})
    ledger = Ledger()
    gate = RepairGate(
        world,
        config,
        make_predictor(world, config, 0, STEPS),
        reply_models(world.skills.verbs),
        0,
        ledger,
    )
    async with FakeServer(script) as server:
        profile = EndpointProfile("m", base_url=server.base_url, attempts=1, try_s=5)
        client = open_client(profile, None, "live")
        model = LlmPlanner(client, profile, PromptBuilder(), Latency("fixed"))
        greedy = GreedyPlanner()
        lines = Lines(ledger)
        ending = await play(
            drawn(world),
            EpisodeSettings(max_reviews=4),
            make_topology("individual", 2),
            lambda ask: model if ask.kind.startswith("repair") else greedy,
            gate,
            lines,
            stop=None,
        )
        await client.close()
    assert ending.error is None, ending.error
    return lines.events


def drawn(world):
    """The world, but for its start: always that one board."""
    _, state = board([(3, 3), (4, 0)], [(2, 3, 4)])

    class Drawn:
        def __getattr__(self, name):
            return getattr(world.rules, name)

        def reset(self, seed, worlds=1):
            return world.rules.clone(state)

    return world._replace(rules=Drawn())


def first(events, kind):
    return next(event for event in events if event["e"] == kind)


@pytest.mark.parametrize(
    ("script", "outcome", "failed"),
    [(agrees, "accepted", 0), (refuses, "kept", 0), (babbles, "kept", 4), (is_silent, "kept", 4)],
)
def test_outcome_and_booked_cost(script, outcome, failed):
    events = asyncio.run(episode(script))
    opened, closed = first(events, "repair_opened"), first(events, "repair_closed")
    assert opened["members"] == [0, 1], opened
    assert (closed["outcome"], len(closed["waves"])) == (outcome, 1), closed
    asked = {
        e["decision"]
        for e in events
        if e["e"] == "decision_started" and e["dialogue"] == opened["dialogue"]
    }
    ended = [e for e in events if e["e"] == "decision_ended" and e["decision"] in asked]
    tries = sum(len(e["tries"]) for e in ended)
    assert (closed["answers"], closed["calls"]) == (4, tries) and len(ended) == 4
    assert sum(e["outcome"] == "failed" for e in ended) == failed
    in_a_row = 4 if script is babbles else 1
    assert closed["clock_ms"] == 3 * 1500 * in_a_row, "two speeches and one wave, no more"
    plans = [e for e in events if e["e"] == "plan_committed" and e["decision"] in asked]
    assert len(plans) == (2 if outcome == "accepted" else 0), "no plan is invented"


def test_agreeing_delivers_the_block_and_refusing_does_not():
    agreed = asyncio.run(episode(agrees))
    refused = asyncio.run(episode(refuses))
    total = {name: sum(e["e"] == "score" for e in events) for name, events in
             (("agreed", agreed), ("refused", refused))}  # fmt: skip
    assert total["agreed"] == 1, total


def test_the_true_cause_is_on_record_and_no_error_text_becomes_a_plan():
    events = asyncio.run(episode(is_silent))
    opened = first(events, "repair_opened")
    asked = {
        e["decision"]
        for e in events
        if e["e"] == "decision_started" and e["dialogue"] == opened["dialogue"]
    }
    codes = {
        reason["code"]
        for e in events
        if e["e"] == "decision_ended" and e["decision"] in asked
        for reason in e["reasons"]
    }
    assert codes == {"unavailable"}, codes
