"""Dialogues of all topologies keep the laws of the public kit, which finds what breaks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from cognitive.topologies import TOPOLOGIES, make_topology
from worlds.api import Advance, Ask, Commit, Json, Reply, Setting
from worlds.conformance import check_dialogue

OPTIONS: dict[str, dict[str, Any]] = {"graph": {"graph": [[0, 1], [1, 2], [2, 0]]}}


def setting(agents: int, needing: tuple[int, ...], live: frozenset[int] = frozenset()) -> Setting:
    everybody = tuple(range(agents))
    return Setting(0, 4, 0, everybody, needing, live, {a: {"id": a} for a in everybody}, {})


@pytest.mark.parametrize("kind", TOPOLOGIES)
@pytest.mark.parametrize("needing", [(0, 1, 2), (1,), (2,)], ids=str)
def test_topologies(kind: str, needing: tuple[int, ...]) -> None:
    topology = make_topology(kind, 3, **OPTIONS.get(kind, {}))
    here = setting(3, needing, frozenset({0, 1, 2}) - set(needing))
    dialogues = topology.open(here)
    assert dialogues
    for dialogue in dialogues:
        check_dialogue(dialogue, here)


@dataclass(frozen=True, slots=True)
class Left:
    """Who has still to answer, and how often this dialogue was advanced."""

    agents: tuple[int, ...]
    turn: int = 0


class Faulty:
    """Each agent is asked for a plan in turn; one fault of the given kind."""

    kind = "faulty"

    def __init__(self, fault: str) -> None:
        self.fault, self.calls = fault, 0

    def begin(self, setting: Setting) -> Advance[Left]:
        return Advance(Left(setting.needing))

    def members(self, state: Left) -> frozenset[int]:
        return frozenset() if self.fault == "asks strangers" else frozenset(state.agents)

    def requests(self, state: Left) -> tuple[Ask, ...]:
        first = state.agents[:1]
        asked = first * 2 if self.fault == "asks twice" else first
        return tuple(Ask(agent, "own", None) for agent in asked)

    def apply(self, state: Left, replies: tuple[Reply, ...]) -> Advance[Left]:
        self.calls += 1
        agents = state.agents if self.fault == "never ends" else state.agents[1:]
        turn = self.calls if self.fault == "counts calls" else state.turn + 1
        commits = () if self.fault == "forgets" else (Commit(state.agents[0], "none"),)
        return Advance(Left(agents, turn), commits)

    def result(self, state: Left) -> Json:
        return {1, 2} if self.fault == "odd result" else {"turns": state.turn}


def test_a_sound_dialogue_passes() -> None:
    check_dialogue(Faulty("none"), setting(3, (0, 1, 2)))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("asks strangers", "only members are asked"),
        ("asks twice", "at most one ask per agent"),
        ("never ends", "every dialogue ends"),
        ("counts calls", "apply is pure"),
        ("forgets", "is committed at the end"),
        ("odd result", "a result is Json"),
    ],
)
def test_the_kit_finds_faults_of_dialogues(fault: str, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_dialogue(Faulty(fault), setting(3, (0, 1, 2)))
