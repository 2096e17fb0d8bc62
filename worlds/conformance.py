"""The public kit: laws that every world, dialogue and PettingZoo form must keep.

Each law is a function whose name and docstring say it; an AssertionError names it and the values.
"""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from typing import Any

from worlds.api import RESOURCE, Dialogue, Reason, Reply, Setting, World
from worlds.conformance_laws import WORLD_LAWS, is_json, require
from worlds.parallel import parallel_env

__all__ = ["check_dialogue", "check_parallel", "check_world"]

SHORT_EPISODE = 50
LONGEST_DIALOGUE = 2000


def check_world(world: World) -> None:
    """Check the laws of an embodied world. Raises AssertionError naming law and values."""
    for law in WORLD_LAWS:
        law(world)


def check_dialogue(dialogue: Dialogue[Any], setting: Setting) -> None:
    """Check that a dialogue is pure and ends when nobody answers. Raises AssertionError."""
    before = deepcopy(setting)
    first = dialogue.begin(setting)
    require(first == dialogue.begin(setting), "begin is pure", first=first)
    require(setting == before, "begin changes nothing", setting=setting)
    state, asked, committed = first.state, set(), {c.agent for c in first.commits}
    for _ in range(LONGEST_DIALOGUE):
        asks = dialogue.requests(state)
        if not asks:
            break
        _check_asks(dialogue, state)
        asked |= {ask.agent for ask in asks if ask.kind == "own"}
        replies = tuple(Reply(ask, "failed", None, (Reason("unavailable"),), 0) for ask in asks)
        kept = deepcopy(state)
        advance = dialogue.apply(state, replies)
        require(advance == dialogue.apply(state, replies), "apply is pure", state=state)
        require(state == kept, "apply leaves its state alone", before=kept, after=state)
        state = advance.state
        committed |= {commit.agent for commit in advance.commits}
    require(not dialogue.requests(state), "every dialogue ends under failed replies", state=state)
    require(
        asked <= committed,
        "each member asked for a plan is committed at the end",
        missing=sorted(asked - committed),
    )
    result = dialogue.result(state)
    require(is_json(result), "a result is Json", result=result)


def _check_asks(dialogue: Dialogue[Any], state: Any) -> None:
    """Laws of what is open in one state."""
    asks = dialogue.requests(state)
    require(asks == dialogue.requests(state), "requests is pure", asks=asks)
    agents = [ask.agent for ask in asks if ask.agent != RESOURCE]
    require(len(agents) == len(set(agents)), "at most one ask per agent", agents=agents)
    members = dialogue.members(state)
    require(set(agents) <= members, "only members are asked", agents=agents, members=members)


def check_parallel(id: str, preset: str | None = None, **overrides: Any) -> None:
    """Check the PettingZoo form of world `id`, with PettingZoo's own tests among the checks.

    Raises AssertionError, and MissingPrerequisite without the extra `rl`.
    """
    settings = {"max_steps": SHORT_EPISODE, **overrides}
    parallel_env(id, preset, **settings)
    import_module("worlds.conformance_zoo").check_environment(id, preset, settings)
