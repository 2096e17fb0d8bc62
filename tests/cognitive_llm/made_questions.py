"""Questions for tests, as the loop makes them, on CUBE or on a view of made-up text."""

from cognitive.protocols import Question
from cognitive.schemas import reply_models
from cognitive.views import BoundView
from worlds.api import ArgSpec, Ask, VerbSpec
from worlds.registry import make

VERBS = (
    VerbSpec(
        "wait", (ArgSpec("steps", "int", 1, 50, default=1),), "do nothing for that many steps"
    ),
    VerbSpec(
        "push",
        (
            ArgSpec("block", "id", is_required=True),
            ArgSpec("face", "choice", choices=("up", "down", "left", "right"), default="left"),
            ArgSpec("cell", "cell"),
        ),
        "push a block",
    ),
)
REPAIR = {
    "task": "block_3_left",
    "need": 2,
    "step": 12,
    "failing": ["temporal: 1 of 2 in the best try, holds in 0 of 8 forecasts"],
    "cause": "late",
    "evidence": ["agent_0 at [1,1]: not in place, not trying, able"],
    "plans": ["agent_0: none: wait(steps=3)", "agent_2: no plan"],
    "members": ["agent_0", "agent_2"],
    "guidance": "Go to your slot.\nRecommended for you: block_3_left: push(block=3)",
    "statements": [[2, "I keep to it"]],
    "still_failing": ["block_3_left"],
}


class MadeView:
    """A view with a text of any length; knows nothing."""

    def __init__(self, text="You see nothing.", verbs=VERBS):
        self.text = text
        self.verbs = verbs

    def describe(self, limit):
        return self.text[:limit]

    def known(self):
        return ()


def made_memory(agents=3, **changed):
    notes = {
        "agent": 0,
        "agents": agents,
        "step": 12,
        "stage": "R",
        "topology": "centralized",
        "leader": 1,
        "left": {"steps": 188, "ms": 90_000, "agent_ms": None},
        "events": [
            {"kind": "plan_committed", "step": 3, "ms": 1, "n": 4, "plan": "0.1", "task": "none"}
        ],
        "team": {},
        "own_plan": {
            "plan": "0.1",
            "task": "block_3_left",
            "actions": [{"verb": "push", "block": 3}, {"verb": "wait", "steps": 4}],
            "index": 1,
            "progress": None,
        },
        "last": {"text": "Plan 0.1 (block_3_left) failed at action 2 of 2 (push), step 12: late."},
    }
    return {**notes, **changed}


def question(kind, view=None, *, memory=None, messages=(), orders=None, context=REPAIR, tries=()):
    view = view or MadeView()
    notes = made_memory() if memory is None else memory
    schema = reply_models(view.verbs)[kind]
    return Question(
        "run/0/d0/1", Ask(0, kind, schema, context), view, notes, list(messages), orders, tries, 0
    )


def cube_view(agents=3, agent=0):
    """The view of an agent of CUBE, and the world."""
    world = make("cube-v1", n=agents)
    return BoundView(world, world.rules.reset(0), agent), world
