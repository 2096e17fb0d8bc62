"""What each topology costs, who is asked when, and what happens when somebody is missing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stub_play import ACCEPT, OBJECT, RESUME, Script, directive, plan, play_stub, say

from cognitive.errors import ConfigError
from cognitive.topologies import TOPOLOGIES, canonical_kind, make_topology
from cognitive.topologies.leading import parent_of

SIZES = (2, 3, 6, 32, 256)
LARGE_MAILBOX = 100_000


class FullRound(Script):
    """Everybody plans one step of work; leaders order all their workers; workers accept."""

    def __init__(self, objectors=()):
        super().__init__({}, default=self._reply)
        self._objectors = objectors

    def _reply(self, agent, kind):
        workers = self.questions[-1].ask.context.get("workers", [])
        return {
            "plan": plan("w1"),
            "interrupt": RESUME,
            "statement": say(),
            "acknowledge": OBJECT if agent in self._objectors else ACCEPT,
            "directive": orders("replan", workers),
        }[kind]


def orders(own, workers):
    """A directive in groups of at most 256."""
    reply = directive(own, [])
    reply["assignments"] = [
        {"agents": workers[i : i + 256], "task": "none", "role": "free"}
        for i in range(0, len(workers), 256)
    ]
    return reply


def full_round(topology, agents, objectors=(), **more):
    return play_stub(agents, topology, FullRound(objectors), steps=1, mailbox=LARGE_MAILBOX, **more)


def in_a_row(played):
    """Decisions in a row: the longest wait over the charge of one."""
    return max(line["ms"] for line in played.of("decision_ended")) // 1500


def tree(agents, branching):
    inner = -(-(agents - 1) // branching)
    levels, rank = 0, inner - 1
    while rank >= 0:
        levels += 1
        rank = (rank - 1) // branching if rank else -1
    return inner, levels


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("topology", sorted(TOPOLOGIES.keys() - {"graph"}))
def test_full_round(topology, n):
    played = full_round(topology, n)
    inner, levels = tree(n, 4)
    calls, sends, deliveries, row = {
        "individual": (n, 0, 0, 1),
        "centralized": (2 * n, 2 * n, 4 * (n - 1), 4),
        "chain": (n, n - 1, n * (n - 1) // 2, n),
        "ring": (n + 1, n, n, n + 1),
        "all_to_all": (2 * n, n, n * (n - 1), 2),
        "hierarchy": (n + inner, n - 1 + inner, 2 * (n - 1), levels + 1),
        "gossip": (3 * n, 2 * n, 2 * n, 3),
    }[topology]
    assert played.counts[:3] == (calls, sends, deliveries)
    assert in_a_row(played) == row
    assert all(count == 1 for count in asked_once(played).values()) or topology == "ring"


def asked_once(played):
    found = {}
    for line in played.of("decision_started"):
        if line["kind"] == "plan":
            found[line["agent"]] = found.get(line["agent"], 0) + 1
    return found


@pytest.mark.parametrize("n", [2, 3, 6, 32])
def test_full_round_of_the_published_centralized_form(n):
    options = {"reports": False, "notice": False, "on_idle": "standing"}
    played = full_round("centralized", n, options=options)
    assert (*played.counts[:3], in_a_row(played)) == (2 * n, n, 2 * (n - 1), 4)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (6, 4)])
def test_full_round_with_objectors(n, k):
    played = full_round("centralized", n, objectors=range(1, k + 1))
    assert (*played.counts[:3], in_a_row(played)) == (2 * n + 1, 2 * n + 1, 4 * (n - 1) + k, 5)


@settings(max_examples=12, deadline=None)
@given(
    agents=st.integers(2, 12),
    rounds=st.integers(0, 3),
    order=st.sampled_from(["parallel", "ascending"]),
    data=st.data(),
)
def test_full_round_on_random_graphs(agents, rounds, order, data):
    pairs = [(a, b) for a in range(agents) for b in range(agents) if a != b]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    graph = {"edges": [list(edge) for edge in edges], "is_directed": True}
    options = {"graph": graph, "rounds": rounds, "order": order}
    played = full_round("graph", agents, options=options, interrupts="never")
    speakers = len({a for a, _ in edges})
    calls, sends, deliveries = (
        agents + rounds * speakers, rounds * speakers, rounds * len(edges),
    )  # fmt: skip
    assert played.counts[:3] == (calls, sends, deliveries)
    waves = rounds * (speakers if order == "ascending" else min(speakers, 1))
    assert in_a_row(played) == waves + 1


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("fanout", [1, 2])
def test_full_round_of_gossip(rounds, fanout):
    n = 6
    played = full_round("gossip", n, options={"rounds": rounds, "fanout": fanout})
    expected = (n * (rounds + 1), n * rounds, n * fanout * rounds)
    assert (*played.counts[:3], in_a_row(played)) == (*expected, rounds + 1)


# --- partial rounds ------------------------------------------------------------------------------


def partial(topology, script, **more):
    """Counts of the second round alone: everybody plans once before."""
    played = play_stub(4, topology, script, steps=2, **more)
    full = play_stub(4, topology, script, steps=1, **more)
    return tuple(a - b for a, b in zip(played.counts, full.counts, strict=True))


PLANS = {(0, "plan"): ["w9"], (1, "plan"): ["w1", "w9"], (2, "plan"): ["w1", "w9"]}
PLANS |= {(3, "plan"): ["w9"], **{(i, "interrupt"): [RESUME] for i in range(4)}}


def test_partial_round_of_a_chain():
    """m = 2 plan; q = 1 executing agent is interrupted by their proposals."""
    assert partial("chain", PLANS)[0] == 2 + 1


def test_partial_round_of_all_to_all():
    script = {**PLANS, **{(i, "statement"): [say()] for i in range(4)}}
    m, q, r, n = 2, 2, 1, 4
    calls, sends, deliveries, _ = partial("all_to_all", script)
    assert (calls, sends, deliveries) == (m * (r + 1) + q, m * r, m * (n - 1) * r)


@pytest.mark.parametrize("replans", [0, 1])
def test_partial_round_of_centralized(replans):
    own = "replan" if replans else "keep"
    script = {
        **PLANS,
        (0, "plan"): ["w9", "w9"],
        (0, "directive"): [directive("replan", [1, 2, 3]), directive(own, [1, 2])],
        **{(i, "acknowledge"): [ACCEPT] for i in range(1, 4)},
    }
    m, d = 2, replans
    calls, sends, deliveries, _ = partial("centralized", script)
    assert (calls, sends, deliveries) == (1 + 2 * m + d, 2 * m + 1 + d, 3 * m + d * m)


def test_a_child_asks_its_parent():
    script = {(i, "plan"): ["w9"] for i in range(3)} | {
        (3, "plan"): ["w1", "w9"],
        (1, "interrupt"): [RESUME],
        (0, "interrupt"): [RESUME],
    }
    script |= {(0, "directive"): [directive("replan", [1, 2])]}
    script |= {(1, "directive"): [directive("replan", [3]), directive("keep", [3])]}
    played = play_stub(4, "hierarchy", script, steps=2, options={"branching": 2})
    second = [line for line in played.of("message_sent") if line["step"] == 1]
    assert [(line["kind"], line["sender"], line["recipients"]) for line in second] == [
        ("request", 3, [1]), ("directive", 1, [3]),
    ]  # fmt: skip
    assert "I" in played.log(1) and "I" not in played.log(0)


# --- behaviour -----------------------------------------------------------------------------------


def test_a_failed_directive_degrades_the_round():
    script = {
        **{(i, "plan"): ["w1"] for i in range(3)},
        (0, "directive"): ["? no orders"],
    }
    played = play_stub(3, "centralized", script, steps=1)
    assert [line["cause"] for line in played.of("round_degraded")] == ["directive_failed"]
    kinds = [line["kind"] for line in played.of("decision_started")]
    assert kinds == ["directive", "plan", "plan", "plan"]
    sent = {line["kind"] for line in played.of("message_sent")}
    assert sent == {"report", "plan_notice"}


def test_a_silent_worker_is_asked_for_its_plan_all_the_same():
    script = {
        **{(i, "plan"): ["w1"] for i in range(3)},
        (0, "directive"): [directive("replan", [1, 2])],
        (1, "acknowledge"): ["? well"],
        (2, "acknowledge"): [ACCEPT],
    }
    played = play_stub(3, "centralized", script, steps=1)
    assert [line["sender"] for line in played.of("message_sent") if line["kind"] == "ack"] == [2]
    assert played.plans().keys() == {"0.1", "1.1", "2.1"}


def test_a_dropped_directive_is_not_acknowledged():
    script = {
        **{(i, "plan"): ["w1"] for i in range(3)},
        (0, "directive"): [directive("replan", [1, 2])],
    }
    played = play_stub(3, "centralized", script, steps=1, drop=1.0)
    kinds = [line["kind"] for line in played.of("decision_started")]
    assert kinds == ["directive", "plan", "plan", "plan"]


def test_a_window_limits_who_hears_a_proposal():
    played = play_stub(
        4, "chain", {i: ["w1"] for i in range(4)}, steps=1, options={"window": 1}
    )  # fmt: skip
    assert [line["recipients"] for line in played.of("message_sent")] == [[1], [2], [3]]


@pytest.mark.parametrize("topology", sorted(TOPOLOGIES.keys() - {"graph"}))
def test_who_is_left_alone_plans_alone(topology):
    played = full_round(topology, 1)
    assert played.counts == (1, 0, 0, 0)
    assert played.of("dialogue_opened")[0]["kind"] == "individual"


def test_a_chain_closes_up_when_somebody_dies():
    played = play_stub(3, "chain", {0: ["w1", "w2"], 1: ["d1"], 2: ["w1", "w2"]}, steps=3)
    opened = [line["members"] for line in played.of("dialogue_opened")]
    assert opened == [[0, 1, 2], [0, 2]]


def test_standing_orders_stay_with_the_successor():
    script = {
        (0, "directive"): [directive("replan", [1, 2])],
        (0, "plan"): ["d1"],
        (1, "plan"): ["w9"],
        (2, "plan"): ["w1", "w9"],
        (1, "interrupt"): [RESUME],
        (1, "directive"): [directive("keep", [2])],
        (1, "acknowledge"): [ACCEPT],
        (2, "acknowledge"): [ACCEPT],
    }
    played = play_stub(3, "centralized", script, steps=2)
    asks = {(q.ask.agent, q.ask.kind): q for q in played.script.questions}
    assert asks[1, "directive"].orders["sender"] == 0
    assert asks[2, "acknowledge"].orders["sender"] == 1


def test_the_tree_over_the_living():
    living = (1, 4, 5, 7, 8)
    assert [parent_of(agent, living, 2) for agent in living] == [None, 1, 1, 4, 4]


def test_neighbours():
    living = tuple(range(5))
    links = {
        kind: [sorted(make_topology(kind, 5).neighbours(a, living)) for a in (0, 4)]
        for kind in ("individual", "centralized", "chain", "ring", "hierarchy")
    }
    assert links == {
        "individual": [[], []],
        "centralized": [[1, 2, 3, 4], [0]],
        "chain": [[1, 2, 3, 4], []],
        "ring": [[1], [0]],
        "hierarchy": [[1, 2, 3, 4], [0]],
    }


# --- making them ---------------------------------------------------------------------------------


def test_the_alias_is_recorded_as_chain():
    assert canonical_kind("broadcast_chain") == "chain"
    assert make_topology("broadcast_chain", 3).kind == "chain"


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("star", {}, ("'star'", "individual", "gossip")),
        ("chain", {"rounds": 2}, ("topology.rounds = 2", "window")),
        ("chain", {"window": -1}, ("topology.window = -1", "integer from 0")),
        ("centralized", {"leader": 3}, ("topology.leader = 3", "number of an agent")),
        ("centralized", {"on_idle": "no"}, ("'no'", "ask, standing")),
        ("hierarchy", {"branching": 0}, ("branching = 0", "from 1")),
        ("graph", {}, ("topology.graph = None", "edges")),
        ("graph", {"graph": [[0, 0]]}, ("agent 0 has an edge to itself",)),
        ("graph", {"graph": [[0, 3]]}, ("(0, 3)", "0..2")),
        ("graph", {"graph": [[0, "1"]]}, ("pair of agent numbers",)),
        ("graph", {"graph": "nowhere.graphml"}, ("no GraphML file",)),
        ("graph", {"graph": {"name": "hairy_ball"}}, ("hairy_ball", "path_graph")),
        ("graph", {"graph": {"name": "erdos_renyi_graph", "p": 0.5}}, ("arguments: p, seed",)),
    ],
)
def test_bad_topologies_are_refused_with_what_is_allowed(kind, options, words):
    with pytest.raises(ConfigError) as caught:
        make_topology(kind, 3, **options)
    for word in words:
        assert word in str(caught.value)


def test_graphs_from_networkx_files_and_generators(tmp_path):
    networkx = pytest.importorskip("networkx")
    directed = networkx.DiGraph([(0, 1), (1, 2), (2, 0)])
    path = tmp_path / "ring.graphml"
    networkx.write_graphml(directed, path)
    living = (0, 1, 2)
    for graph in (directed, str(path), {"edges": [[0, 1], [1, 2], [2, 0]], "is_directed": True}):
        topology = make_topology("graph", 3, graph=graph)
        assert [sorted(topology.neighbours(a, living)) for a in living] == [[1], [2], [0]]
    star = make_topology("graph", 3, graph={"name": "star_graph"})
    assert [sorted(star.neighbours(a, living)) for a in living] == [[1, 2], [0], [0]]
    drawn = {"name": "erdos_renyi_graph", "p": 0.5, "seed": 3}
    first, second = (make_topology("graph", 3, graph=drawn) for _ in range(2))
    assert [first.neighbours(a, living) for a in living] == [
        second.neighbours(a, living) for a in living
    ]
    with pytest.raises(ConfigError, match=r"nodes 0, 1, 2; needed: exactly 0\.\.3"):
        make_topology("graph", 4, graph=directed)
