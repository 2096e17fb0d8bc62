"""What a full round of a topology costs: counted in a run, and by formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Event = Mapping[str, Any]


class Cost(NamedTuple):
    """Decisions asked for, messages sent, recipients reached."""

    calls: int
    sends: int
    deliveries: int


def first_round(events: Iterable[Event]) -> Cost:
    """The cost of the rounds before the first world step, in which every agent needs a plan.

    Repair channels are left out. events: of one run, in order; read up to that step.
    """
    channels, messages = set(), set()
    calls = sends = deliveries = 0
    for event in events:
        kind = event["e"]
        if kind == "step":
            break
        if kind == "dialogue_opened" and event["cause"] == "repair":
            channels.add(event["dialogue"])
        elif kind == "decision_started":
            calls += event["dialogue"] not in channels
        elif kind == "message_sent" and event["dialogue"] not in channels:
            sends += event["kind"] != "system"
            messages.add(event["message"])
        elif kind == "message_delivered" and event["message"] in messages:
            deliveries += len(event["recipients"])
    return Cost(calls, sends, deliveries)


def full_round(topology: Mapping[str, Any], n: int) -> Cost | None:
    """The cost of a round of `n` agents that all need and all plan, without losses or objections.

    topology: the section of a config. None for `graph`, where it depends on the edges, and for
    `chain` with a window.
    """
    kind = topology["kind"]
    if kind == "individual":
        return Cost(n, 0, 0)
    if kind == "centralized":
        reports, notice = topology["reports"], topology["notice"]
        sends = (n - 1) * (1 + reports) + 1 + notice
        return Cost(2 * n, sends, (n - 1) * (2 + reports + notice))
    if kind == "chain" and not topology["window"]:
        return Cost(n, n - 1, n * (n - 1) // 2)
    if kind == "ring":
        return Cost(n + 1, n, n)
    if kind == "hierarchy":
        inner = -(-(n - 1) // topology["branching"])
        return Cost(n + inner, n - 1 + inner, 2 * (n - 1))
    if kind in ("all_to_all", "gossip"):
        rounds = topology["rounds"]
        heard = n - 1 if kind == "all_to_all" else min(topology["fanout"], n - 1)
        return Cost(n * (rounds + 1), n * rounds, n * heard * rounds)
    return None
