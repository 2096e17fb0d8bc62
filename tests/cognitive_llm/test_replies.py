"""Reading replies: what is found in a text, what is refused, and in which words."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from cognitive.errors import ConfigError
from cognitive.parsing import MAX_CHARACTERS, read_reply, shown_back
from cognitive.schemas import AckReply, TalkingPlanReply, reply_models, strict_schema
from worlds.api import ArgSpec, VerbSpec
from worlds.registry import make, presets

VERBS = (
    VerbSpec(
        "move",
        (
            ArgSpec("direction", "choice", choices=("up", "down"), is_required=True),
            ArgSpec("steps", "int", 1, 10, default=1),
        ),
        "go straight on",
    ),
    VerbSpec("wait", (ArgSpec("steps", "int", 1, 50, default=1),), "do nothing"),
    VerbSpec("go", (ArgSpec("block", "id", is_required=True), ArgSpec("cell", "cell")), "walk"),
)
MODELS = reply_models(VERBS)
PLAN = {
    "thought": "",
    "task": "block_3_left",
    "actions": [{"verb": "wait", "steps": 2}],
    "note": "",
}
TEXT = json.dumps(PLAN)


def codes(raw, kind="plan", is_cut=False):
    return [finding.code for finding in read_reply(raw, MODELS[kind], is_cut).findings]


def test_one_value_out_of_every_wrapping():
    """Thinking, fences, prose, a byte-order mark, drafts before, words after change nothing."""
    draft = TEXT.replace("block_3_left", "block_1_left")
    for text in (
        TEXT,
        f"\ufeff{TEXT}",
        f"```json\n{TEXT}\n```",
        f"<think>Maybe {draft}?</think>\n{TEXT}",
        f"<THINK>one</THINK> and <think>two {{</think>{TEXT}",
        f"first {draft}, no, rather {TEXT}",
        f"I use {{curly}} words and {{'odd': quotes}}: {TEXT} and that is all",
        f'{{"wrapped": {TEXT[:-1]}, {TEXT}',
        f'{TEXT}\n{{}}\n{{"note": "not a plan"}}',
        'thinking with one " quote and a { brace ' + TEXT,
    ):
        reading = read_reply(text, MODELS["plan"])
        assert reading.findings == (), (text, reading.findings)
        assert reading.value.task == "block_3_left", text


def test_a_dict_is_validated_like_a_text():
    reading = read_reply(
        {**PLAN, "actions": [{"verb": "go", "block": 3, "cell": (4, 1)}]}, MODELS["plan"]
    )
    assert reading.value.actions[0].as_action() == ("go", {"block": 3, "cell": [4, 1]})


def test_named_outcomes_of_what_is_no_reply():
    assert codes("") == ["no_json"]
    assert codes(" \n\t") == ["no_json"]
    assert codes("I would push the block.") == ["no_json"]
    assert codes(f"<think>{TEXT}</think>") == ["no_json"]
    assert codes("[1, 2]") == ["no_json"]
    assert codes(None) == ["no_json"]
    assert codes(7) == ["no_json"]
    assert codes({1.5: float}) == ["no_json"]
    assert codes('{"thought": "I will go to the bl', is_cut=True) == ["truncated"]
    assert codes('{"thought": "I will go to the bl') == ["no_json"]
    assert codes(TEXT[:-15], is_cut=True) == ["truncated"]
    assert codes(TEXT, is_cut=True) == []
    assert codes('{"task": "x", "actions": [], }') == ["no_json"]


def test_nesting_deeper_than_32_is_no_object():
    inside = "[" * 31 + "]" * 31
    assert codes(f'{{"task": "x", "actions": {inside}}}') == ["schema"]
    assert codes(f'{{"task": "x", "actions": [{inside}]}}') == ["no_json"]
    deep: dict = {}
    for _ in range(40):
        deep = {"a": deep}
    assert codes(deep) == ["no_json"]


def test_only_the_first_65536_characters_count():
    padding = " " * (MAX_CHARACTERS - len(TEXT))
    assert codes(padding + TEXT) == []
    assert "schema" in codes(" " + padding + TEXT)
    assert codes(" " * MAX_CHARACTERS + TEXT) == ["no_json"]


def test_counts_and_arguments_are_left_to_later_checks():
    """An empty plan, too many actions, unknown verbs and wrong arguments pass the schema."""
    for actions in (
        [],
        [{"verb": "wait"}] * 30,
        [{"verb": "jump", "height": 3}],
        [{"verb": "wait", "steps": 12.5}],
    ):
        assert codes({**PLAN, "actions": actions}) == [], actions


def test_findings_name_place_value_and_what_is_allowed():
    def said(raw, kind="plan"):
        return shown_back(read_reply(raw, MODELS[kind]).findings)

    assert said({"task": 7, "actions": [{"steps": 1}], "plan": 1}) == (
        "Your answer was not used. task: 7 is not a text. "
        "actions[0].verb: this field is missing. plan: there is no such field."
    )
    assert "choice: \"stop\" is not one of 'resume' or 'replan'" in said(
        {"choice": "stop"}, "interrupt"
    )
    assert 'plan is missing: it must be given when choice is "replan"' in said(
        {"choice": "replan"}, "interrupt"
    )
    assert "plan must be null unless choice" in said(
        {"choice": "resume", "plan": PLAN}, "interrupt"
    )
    assert "note: 301 characters, at most 300 are allowed" in said({**PLAN, "note": "x" * 301})
    assert "arrival: 1000 is above 999" in said(
        {"text": "a", "task": "b", "partners": 1, "arrival": 1000}, "statement"
    )
    assert "partners: true is not an integer" in said(
        {"text": "a", "task": "b", "partners": True}, "statement"
    )
    assert "code must be null unless" in said({"answer": "accept", "code": "unsafe"}, "acknowledge")
    one = {"agents": [1, 2], "task": "t", "role": "push", "cells": [[1, 1]]}
    assert "cells has 1 entries for 2 agents" in said(
        {"own": "keep", "assignments": [one]}, "directive"
    )
    many = {"task": "", **{f"x{i}": 0 for i in range(20)}}
    assert len(read_reply(many, MODELS["plan"]).findings) == 8


@pytest.mark.parametrize(
    "word",
    [
        "resume",
        "Resume",
        "RESUME.",
        " resume\n",
        "(resume)",
        "**resume**",
        '"resume"',
        "ｒｅｓｕｍｅ",
    ],
)
def test_variants_of_a_choice_are_taken_for_it(word):
    """Case, width, quotes and punctuation around a word do not cost a try; another word does."""
    assert read_reply({"choice": word}, MODELS["interrupt"]).value.choice == "resume"
    assert codes({"choice": f"{word} it"}, "interrupt") == ["schema"]


@pytest.mark.parametrize("text", ["b)", "(b)", "B.", "**b**", "b) Yes", "Option b", '"b"', "b\n"])
def test_a_bare_word_is_shown_back_not_fatal(text):
    assert codes(text, "interrupt") == ["no_json"]


def test_variants_of_verbs_and_choice_arguments():
    plan = {**PLAN, "actions": [{"verb": "Move", "direction": "UP", "steps": None}]}
    action = read_reply(plan, MODELS["plan"]).value.actions[0]
    assert action.as_action() == ("move", {"direction": "up"})


def test_messages_only_with_free_talk():
    talking = reply_models(VERBS, free_talk=True)["plan"]
    raw = {**PLAN, "messages": [{"recipients": [1], "text": "come"}]}
    assert codes(raw) == ["schema"]
    reading = read_reply(raw, talking)
    assert isinstance(reading.value, TalkingPlanReply)
    assert reading.value.messages[0].text == "come"


# --- any text ------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "\\", ":", ",", "<think>", "</think>", "\ufeff", "```json\n", TEXT,
     TEXT[:40], "null", "1e999", "\ud800", '"task"', '{"task":"x","actions":[]}', "NaN", " "]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=60).map("".join), st.booleans())
def test_any_text_ends_in_a_value_or_a_finding(text, is_cut):
    for kind, model in MODELS.items():
        reading = read_reply(text, model, is_cut)
        assert (reading.value is None) == bool(reading.findings), (kind, text)


WORDS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_any_value_ends_in_a_value_or_a_finding(raw):
    for model in MODELS.values():
        reading = read_reply(raw, model)
        assert (reading.value is None) == bool(reading.findings), raw


HOSTILE = {
    "braces": "{" * 10**6,
    "pairs": "{}" * 500_000,
    "keys": '{"' * 500_000,
    "nested": ('{"a":' * 31 + "x" + "}" * 31) * 5_000,
    "shifted": '{"{":":",":{":' * 70_000,
    "lists": "{" + "[]" * 500_000,
    "escapes": '{"a":"\\\\"}' * 90_000,
    "thinking": "<think>" * 140_000,
    "quotes": '"' * 10**6,
    "digits": '{"a":' + "9" * 10**6 + "}",
    "inverse": '{"a":' * 31 + '"' + "y" * 64_000 + '"' + "x}" * 31,
    "opened": '{"a":{"b":[1,2,{"c":' * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_is_read_in_50_ms(name):
    """Processor time, the best of three; none raises a recursion error."""
    times = []
    for _ in range(3):
        started = time.process_time()
        reading = read_reply(HOSTILE[name], MODELS["plan"])
        times.append(time.process_time() - started)
    assert reading.findings, name
    assert min(times) < 0.05, (name, times)


# --- the schema that is sent ---------------------------------------------------------------------


def walk(schema):
    yield schema
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from walk(part)
    if "items" in schema:
        yield from walk(schema["items"])


def all_verbs():
    worlds = [(world, preset) for world in ("cube-v1", "macrafter-v1") for preset in presets(world)]
    return [VERBS, *(make(world, preset).skills.verbs for world, preset in worlds)]


@pytest.mark.parametrize("talk", [False, True])
def test_every_sent_schema_is_one_that_strict_modes_take(talk):
    """Closed objects, every field required, and no keyword beyond the few that all servers know;
    nesting, properties and choices within the limits that `strict_schema` keeps. Every preset."""
    known = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"}
    models = [pair for verbs in all_verbs() for pair in reply_models(verbs, talk).items()]
    for kind, model in models:
        for part in walk(strict_schema(model)):
            assert part.keys() <= known, (kind, part)
            if part.get("type") == "object":
                assert part["additionalProperties"] is False, (kind, part)
                assert part["required"] == list(part["properties"]), (kind, part)


def test_the_sent_plan_schema_is_the_union_of_verbs():
    items = strict_schema(MODELS["plan"])["properties"]["actions"]["items"]["anyOf"]
    assert [branch["properties"]["verb"]["enum"] for branch in items] == [
        ["move"],
        ["wait"],
        ["go"],
    ]
    assert items[0]["properties"]["steps"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_schemas_that_cannot_be_sent_are_refused():
    class Free(BaseModel):
        seconds: dict[str, int]

    class Anything(BaseModel):
        value: object

    class Deep(BaseModel):
        inner: "Deep | None"

    for model, words in ((Free, "free keys"), (Anything, "any type"), (Deep, "recursive")):
        with pytest.raises(ConfigError, match=words):
            strict_schema(model)


def test_a_reply_with_null_for_what_was_left_out_is_taken():
    """What strict modes make a model write is what reading takes."""
    assert isinstance(
        read_reply({"answer": "accept", "code": None, "task": None, "text": ""}, AckReply).value,
        AckReply,
    )
