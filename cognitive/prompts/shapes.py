"""The form of a reply in words, and an example of it, both made from its model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel

from worlds.api import AgentId, ArgSpec, Json, VerbSpec

__all__ = ["example_of", "shape_of"]

_EXAMPLES: Mapping[str, Json] = {
    "acknowledge": {"answer": "accept", "code": None, "task": None, "text": ""},
    "statement": {"text": "I wait for you.", "task": "none", "arrival": None, "partners": 0},
    "repair_intention": {"text": "I wait.", "task": "none", "keeps_plan": True},
}
_ASSIGNMENT: Mapping[str, Json] = {
    "task": "none",
    "role": "wait",
    "cells": [],
    "by_step": None,
    "instruction": "stay clear",
}
_EXAMPLE_ARGUMENTS: Mapping[str, Json] = {"id": "ID", "cell": [0, 0]}


@lru_cache(maxsize=256)
def shape_of(model: type[BaseModel]) -> str:
    """The fields of a reply, one a line, with types and limits."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    lines = [
        f'  "{name}": {_shape(field, definitions)}' for name, field in schema["properties"].items()
    ]
    return "\n".join(["{", ",\n".join(lines), "}"])


def _shape(schema: Json, definitions: Json) -> str:
    if "$ref" in schema:
        return _shape(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(_shape(branch, definitions) for branch in branches)
    if len(schema.get("allOf", ())) == 1:
        return _shape(schema["allOf"][0], definitions)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join(map(json.dumps, schema["enum"]))
    return _SHAPES.get(schema.get("type", ""), _any)(schema, definitions)


def _any(schema: Json, definitions: Json) -> str:
    return "any value"


def _text(schema: Json, definitions: Json) -> str:
    if "maxLength" not in schema:
        return "text"
    least = "not empty, " if schema.get("minLength") else ""
    return f"text ({least}at most {schema['maxLength']} characters)"


def _number(schema: Json, definitions: Json) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    kind = "integer" if schema["type"] == "integer" else "number"
    if low is None and high is None:
        return kind
    if high is None:
        return f"{kind} from {low}"
    return f"{kind} up to {high}" if low is None else f"{kind} {low} to {high}"


def _list(schema: Json, definitions: Json) -> str:
    items = schema.get("items", {})
    if any("verb" in branch.get("properties", {}) for branch in items.get("anyOf", ())):
        return 'list of actions, each {"verb": its name, then its arguments}'
    low, high = schema.get("minItems"), schema.get("maxItems")
    count = "" if high is None else f" ({low or 0} to {high})"
    count = f" (exactly {high})" if low == high and high is not None else count
    return f"list{count} of {_shape(items, definitions) if items else 'values'}"


def _object(schema: Json, definitions: Json) -> str:
    fields = schema.get("properties", {}).items()
    inner = ", ".join(f'"{name}": {_shape(field, definitions)}' for name, field in fields)
    if not inner and isinstance(schema.get("additionalProperties"), Mapping):
        return f'{{"name": {_shape(schema["additionalProperties"], definitions)}, ...}}'
    return f"{{{inner}}}"


_SHAPES = {
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": lambda schema, definitions: "true or false",
    "null": lambda schema, definitions: "null",
    "array": _list,
    "object": _object,
}


def example_of(kind: str, verbs: tuple[VerbSpec, ...], worker: AgentId) -> Json:
    """A reply of this kind that is valid in form; None for kinds of dialogue worlds.

    worker: whom an example of orders may name.
    """
    plan = _example_plan(verbs)
    with_plan: Mapping[str, Json] = {
        "plan": plan,
        "directive": {
            "thought": "",
            "own": "replan",
            "assignments": [{"agents": [worker], **_ASSIGNMENT}],
        },
        "interrupt": {"thought": "", "choice": "replan", "plan": plan},
        "repair_revision": {"choice": "revise", "follows_guidance": False, "plan": plan},
    }
    return with_plan.get(kind, _EXAMPLES.get(kind))


def _example_plan(verbs: tuple[VerbSpec, ...]) -> Json:
    first = next((verb for verb in verbs if any(arg.is_required for arg in verb.args)), verbs[0])
    chosen = {arg.name: _example_argument(arg) for arg in first.args if arg.is_required}
    actions = [{"verb": first.name, **chosen}, {"verb": "wait", "steps": 2}]
    return {"thought": "why I do this", "task": "none", "actions": actions, "note": ""}


def _example_argument(arg: ArgSpec) -> Json:
    if arg.type == "int":
        return arg.low
    return arg.choices[0] if arg.type == "choice" else _EXAMPLE_ARGUMENTS[arg.type]
