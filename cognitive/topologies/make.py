"""Making a topology by its name and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cognitive.errors import ConfigError
from cognitive.topologies.base import Living, Structure
from cognitive.topologies.graphs import as_option, out_edges
from cognitive.topologies.leading import CentralizedRound, TreeRound, parent_of
from cognitive.topologies.sequence import AloneRound, ChainRound, RingRound
from cognitive.topologies.talk import Audience, TalkRound, TalkState, everybody, gossip
from worlds.api import AgentId, Dialogue, Json, Setting

__all__ = ["TOPOLOGIES", "canonical_kind", "make_topology"]

Dialogues = tuple[Dialogue[Any], ...]
_ALIASES = {"broadcast_chain": "chain"}


class _Option(NamedTuple):
    default: Json
    is_allowed: Callable[[Any, int], bool]
    allowed: str


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _from(least: int, default: int) -> _Option:
    return _Option(default, lambda v, _: _is_int(v) and v >= least, f"an integer from {least}")


def _choice(*choices: str) -> _Option:
    return _Option(choices[0], lambda v, _: v in choices, ", ".join(choices))


_FLAG = _Option(True, lambda v, _: isinstance(v, bool), "true, false")

TOPOLOGIES: Mapping[str, Mapping[str, _Option]] = {
    "individual": {},
    "centralized": {
        "leader": _Option(0, lambda v, n: _is_int(v) and 0 <= v < n, "the number of an agent"),
        "on_idle": _choice("ask", "standing"),
        "reports": _FLAG,
        "notice": _FLAG,
    },
    "chain": {"window": _from(0, 0)},
    "ring": {},
    "all_to_all": {"rounds": _from(0, 1)},
    "hierarchy": {"branching": _from(1, 4)},
    "gossip": {"fanout": _from(1, 1), "rounds": _from(0, 2)},
    "graph": {
        "graph": _Option(None, lambda v, _: v is not None, "edges, a file, a generator"),
        "rounds": _from(0, 1),
        "order": _choice("parallel", "ascending"),
    },
}
"""Kind -> option -> default and what is allowed."""


def canonical_kind(kind: str) -> str:
    """The name under which a topology is recorded. Raises ConfigError."""
    name = _ALIASES.get(kind, kind)
    if name not in TOPOLOGIES:
        raise ConfigError(f"topology = {kind!r}: allowed: {', '.join((*TOPOLOGIES, *_ALIASES))}")
    return name


def make_topology(kind: str, agents: int, **options: Any) -> Structure:
    """The topology `kind` for `agents` agents. Raises ConfigError on anything it does not know."""
    name = canonical_kind(kind)
    table = TOPOLOGIES[name]
    for key, value in options.items():
        if key not in table:
            allowed = ", ".join(table) or "none"
            raise ConfigError(f"topology.{key} = {value!r}: options of {name}: {allowed}")
    chosen = {key: options.get(key, option.default) for key, option in table.items()}
    for key, option in table.items():
        if not option.is_allowed(chosen[key], agents):
            raise ConfigError(f"topology.{key} = {chosen[key]!r}: allowed: {option.allowed}")
    return _BUILDERS[name](agents, chosen)


def _alone(setting: Setting) -> Dialogues:
    return tuple(AloneRound(agent) for agent in setting.needing)


def _all_others(agent: AgentId, living: Living) -> frozenset[AgentId]:
    return frozenset(living) - {agent}


def _individual(agents: int, options: Mapping[str, Any]) -> Structure:
    return Structure("individual", agents, options, _alone, _alone)


def _chain(agents: int, options: Mapping[str, Any]) -> Structure:
    window = options["window"]

    def links(agent: AgentId, living: Living) -> frozenset[AgentId]:
        later = tuple(other for other in living if other > agent)
        return frozenset(later[:window] if window else later)

    def rounds(setting: Setting) -> Dialogues:
        return (ChainRound(window),)

    return Structure("chain", agents, options, rounds, _alone, links=links)


def _ring(agents: int, options: Mapping[str, Any]) -> Structure:
    def links(agent: AgentId, living: Living) -> frozenset[AgentId]:
        place = living.index(agent)
        return frozenset({living[(place + 1) % len(living)]}) - {agent}

    return Structure("ring", agents, options, lambda _: (RingRound(),), _alone, links=links)


def _centralized(agents: int, options: Mapping[str, Any]) -> Structure:
    def leader(living: Living) -> AgentId:
        return options["leader"] if options["leader"] in living else living[0]

    def rounds(setting: Setting) -> Dialogues:
        first = leader(setting.living)
        is_full = first in setting.needing
        workers = setting.living if is_full else setting.needing
        workers = tuple(agent for agent in workers if agent != first)
        is_asking = options["on_idle"] == "ask"
        return (
            CentralizedRound(
                first, workers, is_full, is_asking, options["reports"], options["notice"]
            ),
        )

    def links(agent: AgentId, living: Living) -> frozenset[AgentId]:
        first = leader(living)
        return _all_others(agent, living) if agent == first else frozenset({first})

    return Structure("centralized", agents, options, rounds, _alone, leader, links)


def _hierarchy(agents: int, options: Mapping[str, Any]) -> Structure:
    branching = options["branching"]

    def links(agent: AgentId, living: Living) -> frozenset[AgentId]:
        parent = parent_of(agent, living, branching)
        place = living.index(agent)
        children = living[place * branching + 1 : (place + 1) * branching + 1]
        return frozenset(children) | ({parent} if parent is not None else frozenset())

    def rounds(setting: Setting) -> Dialogues:
        return (TreeRound(branching),)

    return Structure("hierarchy", agents, options, rounds, _alone, lambda living: living[0], links)


def _all_to_all(agents: int, options: Mapping[str, Any]) -> Structure:
    return _talking("all_to_all", agents, options, everybody)


def _gossip(agents: int, options: Mapping[str, Any]) -> Structure:
    return _talking("gossip", agents, options, gossip(options["fanout"]))


def _talking(kind: str, agents: int, options: Mapping[str, Any], audience: Audience) -> Structure:
    def rounds(setting: Setting) -> Dialogues:
        return (TalkRound(kind, audience, setting.needing, options["rounds"]),)

    return Structure(kind, agents, options, rounds, _alone, links=_all_others)


def _graph(agents: int, options: Mapping[str, Any]) -> Structure:
    edges = out_edges(options["graph"], agents)
    recorded = {**options, "graph": as_option(options["graph"], edges)}

    def present(agent: AgentId, living: Living) -> Living:
        alive = frozenset(living)
        return tuple(other for other in edges[agent] if other in alive)

    def audience(state: TalkState, speaker: AgentId) -> Living:
        return present(speaker, state.living)

    def rounds(setting: Setting) -> Dialogues:
        speakers = tuple(a for a in setting.needing if present(a, setting.living))
        is_ascending = options["order"] == "ascending"
        return (TalkRound("graph", audience, speakers, options["rounds"], is_ascending),)

    def links(agent: AgentId, living: Living) -> frozenset[AgentId]:
        return frozenset(present(agent, living))

    return Structure("graph", agents, recorded, rounds, _alone, links=links)


_BUILDERS: Mapping[str, Callable[[int, Mapping[str, Any]], Structure]] = {
    "individual": _individual,
    "centralized": _centralized,
    "chain": _chain,
    "ring": _ring,
    "all_to_all": _all_to_all,
    "hierarchy": _hierarchy,
    "gossip": _gossip,
    "graph": _graph,
}
