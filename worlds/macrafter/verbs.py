"""The verbs of MA-Crafter, their arguments, and the check of arguments that were given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from worlds.api import Action, AgentId, ArgSpec, Cell, Json, Reason, VerbSpec
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.sight import read_id, source_names
from worlds.macrafter.state import FACINGS, ITEMS, VITALS
from worlds.macrafter.table import Table

__all__ = ["Call", "collect_names", "read_call", "verb_specs"]

WORD_CHARACTERS = 40
"""Characters of a wrong value that are shown back."""
MOST_STEPS = 10
"""Most tries or moves of one verb."""

_STEPS = ArgSpec("steps", "int", 1, MOST_STEPS, default=1)
_DIRECTION = ArgSpec("direction", "choice", choices=FACINGS, is_required=True)


def collect_names(config: MacrafterConfig, table: Table) -> Mapping[str, str]:
    """Words `collect` takes instead of an id, and the source or creature each stands for."""
    names = {}
    for source in source_names(config, table):
        gives = table.collect[source].gives
        names[source if gives in VITALS else gives] = source
    return {**names, **{kind: kind for kind in ("cow", "plant") if kind in table.creature}}


def verb_specs(config: MacrafterConfig, table: Table) -> tuple[VerbSpec, ...]:
    """Every verb with its arguments, under these settings."""
    target = ArgSpec("target", "id", is_required=True)
    named = ArgSpec("target", "id", choices=tuple(collect_names(config, table)), is_required=True)
    waiting = (ArgSpec("steps", "int", 1, 50, default=1),)
    return (
        VerbSpec("wait", waiting, "do nothing for some steps"),
        VerbSpec("noop", waiting, "the same as wait"),
        VerbSpec("move", (_DIRECTION, _STEPS), "go one way, whatever is there"),
        VerbSpec(
            "navigate",
            (target, ArgSpec("cell", "cell"), ArgSpec("timeout", "int", 1, 200, default=64)),
            "walk to where the target is reached, or to the one cell given",
        ),
        VerbSpec(
            "explore",
            (
                ArgSpec("direction", "choice", choices=FACINGS),
                ArgSpec("timeout", "int", 1, 100, default=30),
            ),
            "walk to the nearest place that borders on unseen ground",
        ),
        VerbSpec(
            "collect",
            (named, ArgSpec("steps", "int", 1, MOST_STEPS, default=3)),
            "turn to a source or creature beside you and take it",
        ),
        VerbSpec(
            "attack",
            (target, ArgSpec("timeout", "int", 1, 50, default=20)),
            "follow a creature and hit it until it is beaten",
        ),
        VerbSpec(
            "craft",
            (ArgSpec("item", "choice", choices=tuple(table.make), is_required=True), _STEPS),
            "make an item beside its stations",
        ),
        VerbSpec(
            "place",
            (ArgSpec("object", "choice", choices=tuple(table.place), is_required=True), _STEPS),
            "put an object on the faced cell, else on one beside you",
        ),
        VerbSpec(
            "share",
            (
                ArgSpec("recipient", "id", is_required=True),
                ArgSpec("item", "choice", choices=ITEMS[len(VITALS) :], is_required=True),
                ArgSpec("quantity", "int", 1, config.item_cap, default=1),
            ),
            "give some of an item to a teammate",
        ),
        VerbSpec("sleep", (), "sleep until energy is full or you are hurt"),
        VerbSpec(
            "rendezvous",
            (
                target,
                ArgSpec("count", "int", 1, config.agents),
                ArgSpec("timeout", "int", 1, 100, default=30),
            ),
            "wait beside the target until that many agents are within reach of it",
        ),
    )


class Call(NamedTuple):
    """A verb with all its arguments; those it does not take keep their empty value."""

    verb: str
    target: str = ""
    direction: int | None = None
    cell: Cell | None = None
    steps: int = 1
    timeout: int = 1
    item: str = ""
    recipient: AgentId = -1
    quantity: int = 1
    crew: int | None = None


def read_call(action: Action, verbs: Mapping[str, VerbSpec], agents: int) -> Call | Reason:
    """The call that `action` makes, or the first thing that is wrong with its arguments."""
    spec = verbs.get(action.verb)
    if spec is None:
        return Reason("unknown_verb", {"verb": str(action.verb)[:WORD_CHARACTERS]})
    named = {arg.name: arg for arg in spec.args}
    for name in action.args:
        if name not in named:
            return Reason("extra_argument", {"field": str(name)[:WORD_CHARACTERS]})
    values = {}
    for name, arg in named.items():
        value = action.args.get(name)
        if value is None and arg.is_required:
            return Reason("missing_argument", {"field": name})
        if value is not None and not _fits(value, arg):
            return _bad(name, value, _limits(arg))
        values[name] = arg.default if value is None else value
    return _call(action.verb, values, agents)


def _call(verb: str, values: dict[str, Json], agents: int) -> Call | Reason:
    if "direction" in values and values["direction"] is not None:
        values["direction"] = FACINGS.index(values["direction"])
    if values.get("cell") is not None:
        values["cell"] = tuple(values["cell"])
    if "object" in values:
        values["item"] = values.pop("object")
    if "recipient" in values:
        recipient = _agent_number(values["recipient"], agents)
        if recipient is None:
            return _bad("recipient", values["recipient"], f"agent_0..agent_{agents - 1}")
        values["recipient"] = recipient
    if "target" in values:
        values["target"] = str(values["target"])
    if "count" in values:
        values["crew"] = values.pop("count")
    return Call(verb, **values)


def _fits(value: Json, arg: ArgSpec) -> bool:
    if arg.type == "int":
        return type(value) is int and arg.low <= value <= arg.high
    if arg.type == "choice":
        return value in arg.choices
    if arg.type == "id":
        return isinstance(value, str) or type(value) is int
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    return is_pair and all(type(part) is int and part >= 0 for part in value)


def _limits(arg: ArgSpec) -> str:
    if arg.type == "int":
        return f"{arg.low}..{arg.high}"
    if arg.type == "choice":
        return ", ".join(arg.choices)
    return "ids" if arg.type == "id" else "[row, column]"


def _bad(field: str, value: Json, limits: str) -> Reason:
    facts = {"field": field, "value": str(value)[:WORD_CHARACTERS], "limits": limits}
    return Reason("bad_argument", facts)


def _agent_number(value: Json, agents: int) -> AgentId | None:
    """The agent that `agent_3`, `3` or 3 names."""
    parts = read_id(value)
    if parts is not None and parts[0] == "agent":
        number = parts[1]
    else:
        digits = str(value)
        number = int(digits) if digits.isdecimal() and len(digits) < 6 else -1
    return number if 0 <= number < agents else None
