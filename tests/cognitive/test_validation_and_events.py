"""What a reply is checked for, in order; event lines, written and read."""

import json
import warnings

import pytest
from stub_play import plan
from stub_world import stub_world

from cognitive.errors import DialogueError, RecordError
from cognitive.events import EVENT_FIELDS, EventLog, draft, encode, parse_events, read_events
from cognitive.parsing import read_reply, shown_back
from cognitive.schemas import reply_models
from cognitive.validation import Situation, argument_findings, check_reply
from cognitive.views import BoundView, report_body, scripted_notes
from worlds.api import Action, ArgSpec, Attempt, VerbSpec

WORLD = stub_world(3)
STATE = WORLD.rules.reset(0)
MODELS = reply_models(WORLD.skills.verbs, free_talk=True)


def situation(**more):
    return Situation(
        **{
            "agent": 0,
            "view": BoundView(WORLD, STATE, 0),
            "reasons": WORLD.text.reasons,
            "max_actions": 8,
            "has_live_plan": False,
            "workers": (1, 2),
            "neighbours": lambda: frozenset({1}),
            **more,
        }
    )


def findings(kind, raw, **more):
    value, problems = read_reply(raw, MODELS[kind])
    assert value is not None, problems
    return check_reply(value, situation(**more))


def codes(kind, raw, **more):
    return [code for code, _ in findings(kind, raw, **more)]


def act(verb, **args):
    return {"task": "none", "actions": [{"verb": verb, **args}]}


@pytest.mark.parametrize(
    ("kind", "raw", "expected"),
    [
        ("plan", plan("w1 b2"), []),
        ("plan", plan("!"), ["empty_plan"]),
        ("plan", plan(" ".join(["w1"] * 9)), ["too_many_actions"]),
        ("plan", act("jump"), ["unknown_verb"]),
        ("plan", act("work"), ["missing_argument"]),
        ("plan", act("work", k=1, far=2), ["extra_argument"]),
        ("plan", act("work", k=100), ["bad_argument"]),
        ("plan", act("work", k="1"), ["bad_argument"]),
        ("plan", act("work", k=True), ["bad_argument"]),
        ("plan", act("touch", thing="tree"), ["unknown_reference"]),
        ("plan", act("touch", thing="stone"), []),
        ("plan", plan("w1", task="pit"), ["unknown_task"]),
        ("plan", plan("w1", task="pile"), []),
        ("plan", plan("w1", messages=[{"recipients": [2], "text": "Hi."}]), ["not_allowed"]),
        ("plan", plan("w1", messages=[{"recipients": [1], "text": "Hi."}]), []),
        ("interrupt", {"choice": "resume"}, []),
        ("interrupt", {"choice": "replan", "plan": plan("!")}, ["empty_plan"]),
        ("acknowledge", {"answer": "object", "code": "other", "task": "pit"}, ["unknown_task"]),
        ("acknowledge", {"answer": "accept"}, []),
    ],
)
def test_codes(kind, raw, expected):
    assert codes(kind, raw) == expected


def order(own="replan", *groups):
    parts = [{"agents": list(group), "task": "pit", "role": "r"} for group in groups]
    return {"own": own, "assignments": parts}


@pytest.mark.parametrize(
    ("raw", "has_plan", "words"),
    [
        (order("keep", [1]), False, ["you have no plan to keep"]),
        (order("keep", [1]), True, []),
        (order("replan", [0, 1, 2]), False, []),
        (order("replan", [3]), False, ["3 is not one of your workers"]),
        (order("replan", [1], [2, 1]), False, ["1 is named twice"]),
        (order("replan"), False, ["give your workers at least one"]),
    ],
)
def test_directives(raw, has_plan, words):
    found = findings("directive", raw, has_live_plan=has_plan)
    assert [code for code, _ in found] == ["not_allowed"] * len(words)
    for finding, word in zip(found, words, strict=True):
        assert word in finding.text


def test_a_task_that_was_told_may_be_named():
    assert codes("plan", plan("w1", task="pit"), told_tasks=("pit",)) == []


def test_the_first_group_with_a_finding_ends_the_check():
    raw = {"task": "pit", "actions": [{"verb": "work", "k": 1}, {"verb": "jump"}]}
    assert codes("plan", raw) == ["unknown_verb"]


def test_findings_are_shown_back_with_place_value_and_what_is_allowed():
    raw = {"task": "none", "actions": [{"verb": "work", "k": 1}, {"verb": "work", "k": 120}]}
    assert shown_back(findings("plan", raw)) == (
        "Your answer was not used. actions[1].k: 120 is not in 1..99 (work)."
    )
    many = {"task": "none", "actions": [{"verb": "jump"}] * 8}
    assert len(findings("plan", many)) == 8
    text = findings("interrupt", {"choice": "replan", "plan": act("jump")})[0].text
    assert text == 'plan.actions[0]: no verb "jump"; verbs: work, break, die, skip, wait, touch'


@pytest.mark.parametrize(
    ("arg", "good", "bad"),
    [
        (ArgSpec("a", "choice", choices=("left", "right")), "left", "up"),
        (ArgSpec("a", "cell"), [1, 2], [1]),
        (ArgSpec("a", "cell"), [1, 2], ["1", 2]),
        (ArgSpec("a", "id"), "block_1", 1.5),
        (ArgSpec("a", "id"), 3, None),
        (ArgSpec("a", "int", 1, 4), 4, 5),
    ],
)
def test_arguments_by_type(arg, good, bad):
    verbs = (VerbSpec("go", (arg,), ""),)
    assert not list(argument_findings(Action("go", {"a": good}), verbs, ""))
    assert not list(argument_findings(Action("go", {}), verbs, ""))
    assert [f.code for f in argument_findings(Action("go", {"a": bad}), verbs, "")] == [
        "bad_argument"
    ]


def test_views_answer_for_one_agent():
    view = BoundView(WORLD, STATE, 2)
    assert view.describe(200) == "You are agent_2, step 0."
    assert view.view() == {"agent": 2, "step": 0}
    assert report_body(view.sheet(), "X", None, None)["id"] == "agent_2"
    assert [task.id for task in view.known()] == ["pile"]
    memory = dict.fromkeys(("agent", "agents", "team", "own_plan", "last", "step", "events"))
    notes = scripted_notes(memory, [], None, {})
    assert sorted(notes) == [
        "agent", "agents", "context", "last", "memory", "messages", "orders", "own_plan", "step",
        "team",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="stub-v1 has no scripted play"):
        BoundView(WORLD._replace(policy=None), STATE, 0).answer("plan", {})


# --- events --------------------------------------------------------------------------------------


class Lines(list):
    def event(self, line):
        self.append(line)


def test_lines_are_numbered_and_ordered_as_the_table_says():
    lines = Lines()
    log = EventLog(lines)
    log.write("stage", 2, 1500, 0, "R", "W", "planned")
    log.write("gone", 3, 1500, 0, "died")
    assert encode(lines[0]) == (
        b'{"v":1,"n":0,"e":"stage","step":2,"ms":1500,"agent":0,"from":"R","to":"W",'
        b'"reason":"planned"}\n'
    )
    assert [line["n"] for line in lines] == [0, 1]
    tagged = Lines()
    EventLog(tagged, {"match": "m1"}).write("gone", 0, 0, 1, "died")
    assert list(tagged[0]) == ["v", "match", "n", "e", "step", "ms", "agent", "cause"]


def test_the_attempt_event_has_the_fields_of_an_attempt():
    assert EVENT_FIELDS["attempt"] == Attempt._fields


def test_drafts_are_checked_against_the_table():
    fields = dict.fromkeys(EVENT_FIELDS["repair_scored"])
    assert list(draft("repair_scored", **dict(reversed(fields.items())))) == ["e", *fields]
    with pytest.raises(DialogueError, match='no event type "odd"'):
        draft("odd")
    with pytest.raises(DialogueError, match="needed: agent, cause"):
        draft("gone", agent=1)


def test_texts_that_are_no_unicode_are_escaped():
    line = {"text": "\ud800 é"}
    assert json.loads(encode(line)) == line
    assert "é" in encode({"text": "é"}).decode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"reward": float("nan")})


def written(count=3):
    lines = Lines()
    log = EventLog(lines)
    for step in range(count):
        log.write("gone", step, 0, 1, "died")
    return b"".join(encode(line) for line in lines)


def test_an_unfinished_last_line_is_left_out_with_a_warning(tmp_path):
    path = tmp_path / "events.jsonl"
    data = written()
    for cut in (1, 20):
        path.write_bytes(data[:-cut])
        with pytest.warns(UserWarning, match="unfinished last line"):
            assert [event["n"] for event in read_events(path)] == [0, 1]
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_events(path)) == 3
    assert parse_events(b"", "nothing") == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda d: d.replace(b'"n":1', b'"n":7'), "line 2: event number 7 where 1 belongs"),
        (
            lambda d: d.replace(b'"v":1,"n":2', b'"v":9,"n":2'),
            "line 3: events schema 9; this version reads 1",
        ),
        (lambda d: b"[1]\n" + d, "line 1: no event"),
        (lambda d: d.replace(b'"e":"gone","step":1', b'"e":"gone",step:1'), "line 2: no JSON"),
    ],
)
def test_other_damage_is_an_error_with_file_and_line(tmp_path, damage, words):
    path = tmp_path / "events.jsonl"
    path.write_bytes(damage(written()))
    with pytest.raises(RecordError) as caught:
        read_events(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    with pytest.raises(RecordError, match="no such file"):
        read_events(tmp_path / "other.jsonl")
