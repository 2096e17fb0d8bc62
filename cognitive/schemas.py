"""Reply models of the decision kinds, and the form of them that is sent to an endpoint.

One model serves both ends. Reading is done with the model itself: it takes any number of actions
with any verb, so that an empty plan or a wrong argument is found by the checks that know the
right words for it. Its JSON schema, reduced by `strict_schema`, holds the tagged union of verbs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
    model_validator,
)

from cognitive.errors import ConfigError
from worlds.api import Action, ArgSpec, Json, VerbSpec

__all__ = [
    "AckReply",
    "ActionReply",
    "Assignment",
    "DirectMessage",
    "DirectiveReply",
    "IntentionReply",
    "InterruptReply",
    "PlanReply",
    "RevisionReply",
    "StatementReply",
    "TalkingPlanReply",
    "reply_models",
    "strict_schema",
]

MAX_NESTING = 5
MAX_PROPERTIES = 100
MAX_CHOICES = 500
_WRAPPING = " \t\r\n\"'`*_.,;:!?()[]<>"
_OBJECTION_CODES = ("cannot_reach", "missing_tool", "better_task", "unsafe", "other")


def _same_word(value: object, choices: tuple[str, ...]) -> object:
    """The choice that `value` spells but for case, width, quotes and punctuation around it."""
    if not isinstance(value, str) or value in choices:
        return value
    word = unicodedata.normalize("NFKC", value).strip(_WRAPPING).casefold()
    for choice in choices:
        if word == choice.casefold():
            return choice
    return value


def _choice(*choices: str) -> Any:
    return BeforeValidator(lambda value: _same_word(value, choices))


_OwnChoice = Annotated[Literal["keep", "replan"], _choice("keep", "replan")]
_InterruptChoice = Annotated[Literal["resume", "replan"], _choice("resume", "replan")]
_RevisionChoice = Annotated[Literal["keep", "revise"], _choice("keep", "revise")]
_Answer = Annotated[Literal["accept", "object"], _choice("accept", "object")]
_Objection = Annotated[
    Literal["cannot_reach", "missing_tool", "better_task", "unsafe", "other"],
    _choice(*_OBJECTION_CODES),
]
_TaskName = Annotated[str, Field(min_length=1, max_length=64)]
_Text0 = Annotated[str, Field(max_length=200)]


class _ReplyModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ActionReply(BaseModel):
    """One action of a plan as it was answered: a verb and whatever arguments came with it."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    known_verbs: ClassVar[Mapping[str, VerbSpec]] = {}

    verb: str

    @property
    def args(self) -> dict[str, Json]:
        """The arguments; null means that one was left out. Words of choices are put right."""
        given = {k: v for k, v in (self.model_extra or {}).items() if v is not None}
        spec = self.known_verbs.get(self.verb)
        for arg in spec.args if spec else ():
            if arg.type == "choice" and arg.name in given:
                given[arg.name] = _same_word(given[arg.name], arg.choices)
        return given

    def as_action(self) -> Action:
        """The same as an action of the worlds' contracts."""
        return Action(self.verb, self.args)


class PlanReply(_ReplyModel):
    """A plan; that it has 1 to `max_actions` legal actions is checked after the schema."""

    thought: str = Field(default="", max_length=600)
    task: _TaskName
    actions: list[ActionReply]
    note: str = Field(default="", max_length=300)


class DirectMessage(_ReplyModel):
    """A message to neighbours, sent along with a plan."""

    recipients: list[int] = Field(min_length=1, max_length=32)
    text: str = Field(min_length=1, max_length=400)


class TalkingPlanReply(PlanReply):
    """A plan of an agent that may also write to its neighbours."""

    messages: list[DirectMessage] = Field(default_factory=list, max_length=2)


def _given_iff(field: str, value: object, condition: bool, when: str) -> None:
    if condition and value is None:
        raise ValueError(f"{field} is missing: it must be given when {when}")
    if not condition and value is not None:
        raise ValueError(f"{field} must be null unless {when}")


class InterruptReply(_ReplyModel):
    """Go on with the live plan, or replace it."""

    thought: str = Field(default="", max_length=400)
    choice: _InterruptChoice
    plan: PlanReply | None = None

    @model_validator(mode="after")
    def _plan_iff_replan(self) -> InterruptReply:
        _given_iff("plan", self.plan, self.choice == "replan", 'choice is "replan"')
        return self


class Assignment(_ReplyModel):
    """What a leader asks of one group of agents."""

    agents: list[int] = Field(min_length=1, max_length=256)
    task: _TaskName
    role: str = Field(min_length=1, max_length=40)
    cells: list[Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list, max_length=64
    )
    by_step: int | None = None
    instruction: _Text0 = ""

    @model_validator(mode="after")
    def _cells_match_agents(self) -> Assignment:
        if self.cells and len(self.cells) != len(self.agents):
            raise ValueError(
                f"cells has {len(self.cells)} entries for {len(self.agents)} agents; "
                "give none or one per agent"
            )
        return self


class DirectiveReply(_ReplyModel):
    """A leader's orders; whom it may name is checked after the schema."""

    thought: str = Field(default="", max_length=600)
    own: _OwnChoice
    assignments: list[Assignment] = Field(max_length=32)


class AckReply(_ReplyModel):
    """A worker's answer to orders."""

    answer: _Answer
    code: _Objection | None = None
    task: _TaskName | None = None
    text: _Text0 = ""

    @model_validator(mode="after")
    def _code_iff_object(self) -> AckReply:
        _given_iff("code", self.code, self.answer == "object", 'answer is "object"')
        return self


class StatementReply(_ReplyModel):
    """What an agent tells the others in a talking round."""

    text: str = Field(min_length=1, max_length=400)
    task: _TaskName
    arrival: int | None = Field(default=None, ge=0, le=999)
    partners: int = Field(ge=0, le=255)


class IntentionReply(_ReplyModel):
    """What a member of a repair channel says it will do."""

    text: str = Field(min_length=1, max_length=280)
    task: _TaskName
    keeps_plan: bool


class RevisionReply(_ReplyModel):
    """A member's last word in a repair channel."""

    choice: _RevisionChoice
    follows_guidance: bool
    plan: PlanReply | None = None

    @model_validator(mode="after")
    def _plan_iff_revise(self) -> RevisionReply:
        _given_iff("plan", self.plan, self.choice == "revise", 'choice is "revise"')
        return self


def reply_models(
    verbs: tuple[VerbSpec, ...], free_talk: bool = False
) -> Mapping[str, type[BaseModel]]:
    """The reply model of each decision kind for a world with these verbs.

    Every plan model derives from `PlanReply`, with `free_talk` from `TalkingPlanReply`.
    """
    plan = _plan_model(verbs, TalkingPlanReply if free_talk else PlanReply)
    optional: Any = (plan | None, None)
    return {
        "plan": plan,
        "interrupt": create_model("Interrupt", __base__=InterruptReply, plan=optional),
        "directive": DirectiveReply,
        "acknowledge": AckReply,
        "statement": StatementReply,
        "repair_intention": IntentionReply,
        "repair_revision": create_model("Revision", __base__=RevisionReply, plan=optional),
    }


def _plan_model(verbs: tuple[VerbSpec, ...], base: type[PlanReply]) -> type[PlanReply]:
    names = tuple(verb.name for verb in verbs)

    class WorldAction(ActionReply):
        known_verbs = {verb.name: verb for verb in verbs}
        verb: Annotated[str, _choice(*names)]

    union = {
        "type": "array",
        "items": {"anyOf": [_verb_schema(verb) for verb in verbs]},
    }
    actions = Annotated[list[WorldAction], WithJsonSchema(union)]
    return create_model("Plan", __base__=base, actions=(actions, ...))


def _verb_schema(verb: VerbSpec) -> Json:
    arguments = {arg.name: _argument_schema(arg) for arg in verb.args}
    properties = {"verb": {"type": "string", "enum": [verb.name]}, **arguments}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_ARGUMENT_SCHEMAS: Mapping[str, Json] = {
    "int": {"type": "integer"},
    "cell": {"type": "array", "items": {"type": "integer"}},
    "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
}


def _argument_schema(arg: ArgSpec) -> Json:
    if arg.type == "choice":
        schema: Json = {"type": "string", "enum": list(arg.choices)}
    else:
        schema = _ARGUMENT_SCHEMAS[arg.type]
    return schema if arg.is_required else _nullable(schema)


# --- the schema sent to an endpoint --------------------------------------------------------------

_KEPT = ("type", "enum")


SHORT_TEXT, SHORT_LIST = 60, 3
"""Most characters and entries where a reply is to be short."""


def strict_schema(model: type[BaseModel], is_short: bool = False) -> Json:
    """The JSON schema of `model` reduced to what strict structured output accepts everywhere.

    Every object closed, every field required (what may be left out is nullable), references
    resolved, no keyword of length, range or default. Raises ConfigError for a map with free
    keys, a field of any type, a recursive model, and past the limits of strict modes: 5 objects
    deep, 100 properties, 500 values of enumerations.

    is_short: texts and lists are limited all the same, for services that know these keywords and
    models that do not stop by themselves.
    """
    full = model.model_json_schema()
    reduced = _reduce(full, full.get("$defs", {}), (model.__name__,))
    _lint(reduced, model.__name__)
    return _shortened(reduced) if is_short else reduced


def _shortened(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_shortened(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    limits = {"string": {"maxLength": SHORT_TEXT}, "array": {"maxItems": SHORT_LIST}}
    kind = schema.get("type")
    more = limits.get(kind, {}) if isinstance(kind, str) and "enum" not in schema else {}
    return {key: _shortened(value) for key, value in schema.items()} | more


def _reduce(schema: Json, definitions: Json, path: tuple[str, ...]) -> Json:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if f"#{name}" in path:
            raise ConfigError(f"{_dotted(path)}: a recursive model cannot be sent as a schema")
        return _reduce(definitions[name], definitions, (*path, f"#{name}"))
    if len(schema.get("allOf", ())) == 1:
        return _reduce(schema["allOf"][0], definitions, path)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return {"anyOf": [_reduce(branch, definitions, path) for branch in branches]}
    if "const" in schema:
        return {"type": _type_of(schema["const"]), "enum": [schema["const"]]}
    if "type" not in schema:
        raise ConfigError(f"{_dotted(path)}: a field of any type cannot be sent as a schema")
    reduced = {key: schema[key] for key in _KEPT if key in schema}
    if schema["type"] == "array":
        reduced["items"] = _reduce(_items(schema, path), definitions, (*path, "[]"))
    if schema["type"] == "object":
        reduced |= _reduce_object(schema, definitions, path)
    return reduced


def _items(schema: Json, path: tuple[str, ...]) -> Json:
    if "items" in schema:
        return schema["items"]
    entries = schema.get("prefixItems", [])
    if not entries or any(entry != entries[0] for entry in entries):
        raise ConfigError(f"{_dotted(path)}: a list of mixed or any entries cannot be sent")
    return entries[0]


def _reduce_object(schema: Json, definitions: Json, path: tuple[str, ...]) -> Json:
    if schema.get("additionalProperties") or "patternProperties" in schema:
        raise ConfigError(f"{_dotted(path)}: a map with free keys cannot be sent as a schema")
    properties = {
        name: _reduce(field, definitions, (*path, name))
        for name, field in schema.get("properties", {}).items()
    }
    return {
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(schema: Json) -> Json:
    branches = schema.get("anyOf", [schema])
    if {"type": "null"} in branches:
        return schema
    return {"anyOf": [*branches, {"type": "null"}]}


def _type_of(value: Json) -> str:
    names = {bool: "boolean", int: "integer", str: "string", type(None): "null"}
    return names[type(value)]


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(part for part in path if not part.startswith("#")).replace(".[]", "[]")


def _lint(schema: Json, name: str) -> None:
    if schema.get("type") != "object":
        raise ConfigError(f"{name}: the outermost schema must be one object")
    nesting, properties, choices = _measure(schema)
    for seen, limit, what in (
        (nesting, MAX_NESTING, "objects deep"),
        (properties, MAX_PROPERTIES, "properties"),
        (choices, MAX_CHOICES, "values of enumerations"),
    ):
        if seen > limit:
            raise ConfigError(f"{name}: {seen} {what}; strict modes accept at most {limit}")


def _measure(schema: Json) -> tuple[int, int, int]:
    """Objects inside each other, properties and enumeration values in all."""
    fields = list(schema.get("properties", {}).values())
    inner = [_measure(part) for part in [*fields, *schema.get("anyOf", []), *_list_items(schema)]]
    nesting = max((part[0] for part in inner), default=0) + (schema.get("type") == "object")
    properties = len(fields) + sum(part[1] for part in inner)
    choices = len(schema.get("enum", [])) + sum(part[2] for part in inner)
    return nesting, properties, choices


def _list_items(schema: Json) -> list[Json]:
    return [schema["items"]] if "items" in schema else []
