"""Mailboxes, delays and drops, caps of texts and bodies, and what is remembered."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stub_play import ACCEPT, directive, plan, play_stub, say

from cognitive.memory import Memories, outcome_sentence, rebuild, render
from cognitive.messages import (
    KINDS,
    LOW,
    NORMAL,
    URGENT,
    Mailbox,
    Post,
    bounded_body,
    bounded_text,
    interrupts,
)
from worlds.api import Draft


def message(post, kind, ms=0, recipients=(1,)):
    return post.message(Draft(0, recipients, kind), 0, ms, 0)


def test_a_full_mailbox_evicts_the_oldest_of_the_lowest_priority():
    post, box = Post(0), Mailbox(3)
    kinds = ("proposal", "report", "directive", "report", "directive", "directive", "report")
    evicted = [box.put(message(post, kind), 0) for kind in kinds]
    assert [m and m.id for m in evicted] == [None, None, None, 1, 3, 0, 6]
    assert [m.id for m in box.take(0)] == [2, 4, 5]


def test_only_what_has_arrived_is_taken():
    post, box = Post(0), Mailbox(8)
    for ms in (10, 30, 20):
        box.put(message(post, "proposal"), ms)
    assert [m.id for m in box.take(20)] == [0, 2]
    assert box.count == 1
    assert not box.holds(0, frozenset({"proposal"}), 20)
    assert box.holds(0, frozenset({"proposal"}), 30)
    assert not box.holds(1, frozenset({"proposal"}), 30)
    assert box.earliest(NORMAL) == 30
    assert box.earliest(URGENT) is None


def test_priorities_and_policies():
    assert {kind for kind, priority in KINDS.items() if priority == URGENT} == {
        "directive", "request",
    }  # fmt: skip
    hit = {
        policy: [
            (stage, priority)
            for stage in "RWXIG"
            for priority in (LOW, NORMAL, URGENT)
            if interrupts(policy, stage, priority)
        ]
        for policy in ("always", "waiting-only", "priority", "never")
    }
    waiting = [("W", NORMAL), ("W", URGENT)]
    assert hit == {
        "always": [*waiting, ("X", NORMAL), ("X", URGENT)],
        "waiting-only": waiting,
        "priority": [*waiting, ("X", URGENT)],
        "never": [],
    }


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), low=st.integers(0, 50), width=st.integers(0, 50))
def test_delays_are_drawn_within_their_range_and_delivered_in_order(seed, low, width):
    post = Post(seed, delay_ms=(low, low + width))
    for sender in (2, 0):
        post.dispatch(post.message(Draft(sender, (1, 3, 4), "proposal"), 0, 100, 0))
    found = [
        (d.due_ms, d.sender, d.message.id, agent)
        for d in post.due(10_000, 0)
        for agent in d.recipients
    ]
    assert found == sorted(found)
    assert len(found) == 6
    assert all(100 + low <= due <= 100 + low + width for due, *_ in found)


def test_steps_and_time_must_both_have_come():
    post = Post(0, delay_ms=5, delay_steps=2)
    post.dispatch(post.message(Draft(0, (1,), "proposal"), 0, 100, 3))
    assert not list(post.due(104, 9))
    assert not list(post.due(200, 4))
    assert [d.due_ms for d in post.due(200, 5)] == [105]
    assert not post.rest()


def test_a_certain_drop_leaves_nothing_under_way():
    post = Post(3, drop=1.0)
    assert post.dispatch(post.message(Draft(0, (1, 2), "proposal"), 0, 0, 0)) == (1, 2)
    assert not list(post.due(10, 0))


def test_long_texts_lose_whole_lines_and_say_how_many():
    text = "\n".join(f"line {i} " + "x" * 90 for i in range(12))
    short = bounded_text(text)
    assert len(short) <= 800
    assert short.splitlines()[-1] == "(4 more lines)"
    assert text.startswith(short.rsplit("\n", 1)[0])
    assert bounded_text("a" * 900) == "(1 more lines)"


def test_a_body_that_is_too_long_keeps_its_task():
    body = {"task": "pile", "actions": ["x" * 100] * 40, "note": "n"}
    assert bounded_body("proposal", body) == {"task": "pile", "note": "n", "is_cut": True}
    assert bounded_body("directive", body) == body
    assert bounded_body("proposal", {"task": "pile"}) == {"task": "pile"}


# --- memory --------------------------------------------------------------------------------------


def test_the_team_board_holds_the_newest_word_of_each_teammate():
    played = play_stub(3, "chain", {i: ["w1"] for i in range(3)}, steps=1)
    board = played.script.questions[2].memory["team"]
    assert {name: (entry["kind"], entry["step"]) for name, entry in board.items()} == {
        "0": ("proposal", 0), "1": ("proposal", 0),
    }  # fmt: skip
    assert board["1"]["actions"] == [{"verb": "work", "k": 1}]


def test_reports_carry_the_sheet_and_where_the_agent_stands():
    script = {
        (0, "directive"): [directive("replan", [1])],
        (0, "plan"): ["w1"],
        (1, "plan"): ["b1", "w5"],
        (1, "acknowledge"): [ACCEPT],
    }
    played = play_stub(2, "centralized", script, steps=3)
    bodies = [line["body"] for line in played.of("message_sent") if line["kind"] == "report"]
    assert bodies[0] == {
        "id": "agent_1", "stage": "R", "task": "none", "progress": "0/0", "last": None,
    }  # fmt: skip
    assert bodies[1]["last"] == "stub_broken"


def test_orders_are_forgotten_when_their_task_is_over():
    """The pile is done after step 3, as everybody can see."""
    pile = {"own": "replan", "assignments": [{"agents": [0, 1], "task": "pile", "role": "carry"}]}
    script = {
        (0, "directive"): [pile],
        (0, "plan"): ["w9"],
        (1, "plan"): [plan("w2", task="pile"), "w1"],
        (1, "acknowledge"): [ACCEPT],
    }
    options = {"on_idle": "standing", "reports": False, "notice": False}
    played = play_stub(2, "centralized", script, steps=5, options=options)
    own = [(q.memory["step"], q.orders) for q in played.script.questions if q.ask.agent == 1]
    assert [step for step, orders in own if orders is not None] == [0, 0, 2]
    assert [step for step, orders in own if orders is None] == [3, 4]


TALK = {"plan": "w1", "statement": say(), "interrupt": {"choice": "resume"}}


def line(n, e, **fields):
    return {"v": 1, "n": n, "e": e, "step": n, "ms": n, **fields}


def test_rendering_keeps_the_last_failed_plans():
    memories = Memories(1)
    for n in range(40):
        status = "failed" if n in (1, 2, 3, 4) else "success"
        reason = {"code": "stub_broken", "facts": {}} if status == "failed" else None
        plan_line = {"plan": f"0.{n}", "agent": 0}
        memories.take(
            line(
                n, "plan_committed", **plan_line, task="t" * 40, actions=[{"verb": "work"}],
                decision="d", note="", replaces=None,
            )
        )  # fmt: skip
        memories.take(
            line(
                n, "plan_ended", **plan_line, status=status, reason=reason, done=0, of=1,
                task_result="none",
            )
        )  # fmt: skip
    events = memories.of[0].events
    assert len(events) == 64
    text = render(events)
    assert len(text) <= 2000
    assert all(len(row) <= 160 for row in text.splitlines())
    assert text.splitlines()[-1].startswith("step 39: plan 0.39")
    failed = [entry["plan"] for entry in events if entry.get("status") == "failed"]
    assert all(f"plan {name} " in text for name in failed[-3:])


def test_what_everybody_read_or_lost_is_not_kept():
    """What memories hold of messages does not grow with the run, lossy mailboxes included."""
    script = {(i, kind): [reply] for i in range(3) for kind, reply in TALK.items()}
    played = play_stub(3, "all_to_all", script, steps=60, drop=0.2, mailbox=1)
    assert played.of("message_lost") and len(played.of("message_sent")) > 100
    whole = rebuild(played.events, 3)
    half = rebuild(played.events[: len(played.events) // 2], 3)
    for memories in (half, whole):
        held = [len(kept) for kept in (memories._sent, memories._board, memories._unread)]
        assert max(held) <= 6, held


def read(step, sender, kind, text="", **body):
    message = {"sender": sender, "kind": kind, "text": text, "body": body, "recipients": [0]}
    return {"kind": "message_read", "step": step, "ms": 0, "n": 0, "message": message}


def test_rendering_draws_wordless_messages_together_and_tells_own_orders():
    memories = Memories(3)
    assignments = [{"agents": [0, 1], "task": "pile", "role": "carry", "cells": []}]
    sent = {"dialogue": 0, "text": "", "reply_to": None, "recipients": [0, 2]}
    body = {"assignments": assignments}
    memories.take(line(0, "message_sent", message=0, sender=1, kind="directive", body=body, **sent))
    memories.read(0, [0], 0, 0)
    memories.read(2, [0], 0, 0)
    own, told, free = (render(memories.of[agent].events).splitlines() for agent in (1, 0, 2))
    assert own == [
        "step 0: sent directive to 2 agents",
        'step 0: own orders: task "pile", role "carry"',
    ]
    assert told == ['step 0: orders of agent_1: task "pile", role "carry"']
    assert free == ["step 0: orders of agent_1: plan as you like"]
    events = [
        *(read(4, sender, "ack") for sender in (3, 1, 2)),
        read(4, 5, "ack", "so be it"),
        read(5, 1, "ack"),
        read(5, 1, "report"),
    ]
    assert render(events).splitlines() == [
        "step 4: read ack of agents 1-3",
        'step 4: read ack of agent_5 "so be it"',
        "step 5: read ack of agent_1",
        "step 5: read report of agent_1",
    ]


LAST = {
    "plan": "2.4", "task": "coal@17,30", "status": "failed", "reason": "too_few_participants",
    "facts": {"need": 2, "took": 1}, "step": 41, "done": 1, "of": 3, "verb": "collect",
    "task_result": "none",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {},
            "Plan 2.4 (coal@17,30) failed at action 2 of 3 (collect), step 41: collect needs 2, "
            "1 took part. The task did not advance.",
        ),
        (
            {"status": "success", "done": 3, "reason": None, "facts": {}, "task_result": "done"},
            "Plan 2.4 (coal@17,30) succeeded at step 41: all 3 actions done. The task is done.",
        ),
        (
            {"status": "interrupted", "reason": "replaced", "task_result": "unknown"},
            "Plan 2.4 (coal@17,30) was interrupted at step 41 after 1 of 3 actions: another plan "
            "took its place.",
        ),
        (
            {"reason": "odd_code", "task_result": "gone"},
            "Plan 2.4 (coal@17,30) failed at action 2 of 3 (collect), step 41: odd_code. The task "
            "is gone.",
        ),
    ],
)
def test_how_a_plan_ended_in_words(change, sentence):
    reasons = {"too_few_participants": "collect needs {need}, {took} took part."}
    assert outcome_sentence({**LAST, **change}, reasons) == sentence


def test_notes_are_plain_json():
    played = play_stub(3, "chain", {i: ["w1", "b1"] for i in range(3)}, steps=4)
    for question in played.script.questions:
        assert json.loads(json.dumps(question.memory)) == question.memory
