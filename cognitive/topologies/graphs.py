"""Who may speak to whom in topology `graph`: edge lists, networkx graphs, GraphML, generators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from cognitive.errors import ConfigError, MissingPrerequisite
from worlds.api import AgentId, Json

__all__ = ["GENERATORS", "out_edges"]

OutEdges = tuple[tuple[AgentId, ...], ...]

GENERATORS: Mapping[str, tuple[str, ...]] = {
    "complete_graph": (),
    "path_graph": (),
    "cycle_graph": (),
    "star_graph": (),
    "random_regular_graph": ("d", "seed"),
    "erdos_renyi_graph": ("p", "seed"),
    "watts_strogatz_graph": ("k", "p", "seed"),
    "barabasi_albert_graph": ("m", "seed"),
}
"""Names of networkx generators that may be asked for, and their arguments beside the size."""


def out_edges(graph: Any, agents: int) -> OutEdges:
    """Per agent the agents it speaks to, ascending.

    graph: a list of pairs (an edge goes both ways), {"edges": pairs, "is_directed": bool}, a
    GraphML file, {"name": generator, arguments...}, or a networkx graph or digraph. Its nodes are
    exactly 0..agents-1, without self-loops. Raises ConfigError, MissingPrerequisite.
    """
    edges, is_directed, nodes = _edges(graph, agents)
    if sorted(nodes) != list(range(agents)):
        raise ConfigError(
            f"topology.graph: nodes {_some(sorted(nodes))}; needed: exactly 0..{agents - 1}"
        )
    targets: list[set[AgentId]] = [set() for _ in range(agents)]
    for a, b in edges:
        if a == b:
            raise ConfigError(f"topology.graph: agent {a} has an edge to itself")
        if not (0 <= a < agents and 0 <= b < agents):
            raise ConfigError(f"topology.graph: edge ({a}, {b}); agents are 0..{agents - 1}")
        targets[a].add(b)
        if not is_directed:
            targets[b].add(a)
    return tuple(tuple(sorted(found)) for found in targets)


def as_option(graph: Any, edges: OutEdges) -> Json:
    """What is recorded of a graph: what it was made from, or its directed edges."""
    if isinstance(graph, str | Path):
        return str(graph)
    if isinstance(graph, Mapping | list):
        return graph
    return [[a, b] for a, targets in enumerate(edges) for b in targets]


def _edges(graph: Any, agents: int) -> tuple[list[tuple[int, int]], bool, list[Any]]:
    """Pairs, whether they are directed, and the nodes."""
    everybody: list[Any] = list(range(agents))
    if isinstance(graph, list | tuple):
        return _pairs(graph), False, everybody
    if isinstance(graph, Mapping) and "edges" in graph:
        return _pairs(graph["edges"]), bool(graph.get("is_directed", False)), everybody
    found = _networkx_graph(graph, agents)
    return list(found.edges()), found.is_directed(), list(found.nodes())


def _pairs(edges: Any) -> list[tuple[int, int]]:
    pairs = []
    for edge in edges:
        is_pair = isinstance(edge, list | tuple) and len(edge) == 2
        if not is_pair or not all(type(node) is int for node in edge):
            raise ConfigError(f"topology.graph: {edge!r} is no pair of agent numbers")
        pairs.append((edge[0], edge[1]))
    return pairs


def _networkx_graph(graph: Any, agents: int) -> Any:
    networkx = _networkx()
    if isinstance(graph, str | Path):
        path = Path(graph)
        if not path.is_file():
            raise ConfigError(f"topology.graph: no GraphML file at {path}")
        return networkx.read_graphml(path, node_type=int)
    if isinstance(graph, Mapping):
        return _generated(networkx, graph, agents)
    if isinstance(graph, networkx.Graph):
        return graph
    raise ConfigError(
        f"topology.graph = {graph!r}: allowed: edges, a GraphML file, a generator, a networkx graph"
    )


def _generated(networkx: ModuleType, graph: Mapping[str, Any], agents: int) -> Any:
    name = str(graph.get("name"))
    if name not in GENERATORS:
        raise ConfigError(f"topology.graph.name = {name!r}: allowed: {', '.join(GENERATORS)}")
    arguments = {key: value for key, value in graph.items() if key != "name"}
    unknown = sorted(arguments.keys() - set(GENERATORS[name]))
    if unknown or len(arguments) != len(GENERATORS[name]):
        needed = ", ".join(GENERATORS[name]) or "none"
        raise ConfigError(f"topology.graph: {name} with {sorted(arguments)}; arguments: {needed}")
    build: Callable[..., Any] = networkx.__dict__[name]
    size = agents - 1 if name == "star_graph" else agents
    try:
        return build(n=size, **arguments)
    except networkx.NetworkXException as problem:
        raise ConfigError(f"topology.graph: {name}: {problem}") from None


def _networkx() -> ModuleType:
    try:
        import networkx
    except ImportError:
        raise MissingPrerequisite(
            "a graph that is not an edge list needs networkx: pip install 'cooplab[analysis]'"
        ) from None
    found: ModuleType = networkx
    return found


def _some(nodes: list[Any]) -> str:
    shown = ", ".join(map(str, nodes[:8]))
    return f"{shown}, ..." if len(nodes) > 8 else shown
