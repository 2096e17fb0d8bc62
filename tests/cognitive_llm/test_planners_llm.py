"""Planners for models, people, recordings and resources, and the driver's view of them."""

import asyncio
import json

import pytest
from made_questions import VERBS, made_memory, question

from cognitive.clients.answers import answer_of
from cognitive.clients.fake import FakeServer
from cognitive.clients.profile import EndpointProfile, read_profile
from cognitive.clients.recorded import read_cassette, stop_mark
from cognitive.clients.scripted import Drop, Scripted, Status, Text, Timeout, addressed
from cognitive.clients.secrets import Secret
from cognitive.clients.stack import open_client
from cognitive.errors import ConfigError, DialogueError, RecordError, RunStopped
from cognitive.parsing import read_reply
from cognitive.planners.human import HumanPlanner, typed
from cognitive.planners.llm import LlmPlanner
from cognitive.planners.replay import ReplayPlanner
from cognitive.planners.resource import ResourcePlanner
from cognitive.prompts.build import PromptBuilder, prompt_hash, prompt_length
from cognitive.protocols import Latency, Question, Usage
from worlds.api import Ask, Briefing, CommandResult, Grade

PROFILE = EndpointProfile("m", label="lab", price_in=1.0, price_out=2.0)
PROMPTS = PromptBuilder("rules")
KEY = "sk-0123456789-very-secret"
PLAN = {"thought": "", "task": "none", "actions": [{"verb": "wait", "steps": 2}], "note": ""}


def planner(script):
    client = Scripted(script)
    return LlmPlanner(client, PROFILE, PROMPTS), client


def answered(script, asked):
    llm, client = planner(script)
    return asyncio.run(llm.answer(asked)), client


# --- models --------------------------------------------------------------------------------------


def test_a_model_is_asked_what_the_prompt_says():
    asked = question("directive")
    answer, client = answered([Text("{}", tokens=7)], asked)
    ((scope, request),) = client.requests
    assert scope == asked.scope and addressed(request) == (0, "directive")
    assert request.messages == PROMPTS.messages(asked)
    assert (request.temperature, request.seed, request.max_output_tokens) == (0.7, None, 2048)
    assert request.schema["properties"].keys() == {"thought", "own", "assignments"}
    assert (answer.raw, answer.problem, answer.usage.completion) == ("{}", None, 7)


def test_a_small_model_is_asked_in_few_words_and_for_few():
    """Limits stand in the schema that is sent; what is accepted stays the same."""
    full, small = (
        LlmPlanner(Scripted(()), EndpointProfile("m", size=size), PromptBuilder()).request(
            question("plan")
        )
        for size in ("full", "small")
    )
    fields = small.schema["properties"]
    assert fields["note"] == {"type": "string", "maxLength": 60}
    assert fields["actions"]["maxItems"] == 3
    assert full.schema["properties"]["note"] == {"type": "string"}
    assert "maxLength" not in json.dumps(full.schema)
    with pytest.raises(ConfigError, match="size = 'tiny': allowed full, small"):
        read_profile({"model": "m", "size": "tiny"})


def test_a_quote_is_what_the_try_may_use():
    llm, _ = planner([])
    asked = question("acknowledge")
    messages = PROMPTS.messages(asked)
    quote = llm.quote(asked)
    tokens = -(-sum(len(m["content"].encode()) for m in messages) // 3)
    assert quote.prompt_hash == prompt_hash(messages)
    assert (quote.prompt_chars, quote.calls) == (prompt_length(messages), 1)
    assert quote.tokens == tokens + 256 and quote.money == tokens + 2 * 256
    assert llm.bill(Usage(10, 5, 15)) == 20


@pytest.mark.parametrize(
    ("move", "problem"),
    [(Timeout(), "timeout"), (Drop(), "unavailable"), (Status(500), "unavailable"),
     (Status(400), "refused"), (Status(404), "refused"), (Status(401), "denied"),
     (Status(403), "denied")],
)  # fmt: skip
def test_errors_become_problems_and_never_plans(move, problem):
    answer, _ = answered([move], question("plan"))
    assert answer.problem == problem
    assert answer.raw is None or read_reply(answer.raw, question("plan").ask.schema).value is None


def test_a_cut_reply_is_named_and_asked_for_with_more_room():
    answer, _ = answered([Text('{"task": "x', "length")], question("plan"))
    assert answer.is_cut
    findings = read_reply(answer.raw, question("plan").ask.schema, answer.is_cut).findings
    entry = {"reply": answer.raw, "findings": [found._asdict() for found in findings]}
    llm, _ = planner([])
    assert llm.request(question("plan", tries=(entry,))).max_output_tokens == 2048
    assert llm.request(question("plan", tries=(entry, entry))).max_output_tokens == 2048


def test_a_level_that_is_not_the_first_is_reported_with_the_answer():
    client = Scripted([Text("{}")], level="text")
    answer = asyncio.run(LlmPlanner(client, PROFILE, PROMPTS).answer(question("plan")))
    assert answer.changes == (("lab", "m", "json_schema", "text"),) and answer.level == "text"


# --- the whole stack over a wire -----------------------------------------------------------------


def run_stack(tmp_path, mode, behaviours, asked, **more):
    """One answer over HTTP; the answer, what the service saw, and the lines written."""
    replies: list = []
    calls: list = []

    async def run():
        async with FakeServer(behaviours) as server:
            profile = EndpointProfile("m", base_url=server.base_url, attempt_s=0.5, try_s=2.0)
            client = open_client(
                profile, Secret(KEY), mode, tmp_path / "cassette.jsonl",
                write_reply=replies.append, write_call=calls.append, **more,
            )  # fmt: skip
            llm = LlmPlanner(client, profile, PROMPTS, more.get("latency", Latency("tokens")))
            answer = await llm.answer(asked)
            await client.close()
            return answer, server

    answer, server = asyncio.run(run())
    return answer, server, replies, calls


def keep(tmp_path, lines):
    (tmp_path / "cassette.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_recorded_over_the_wire_then_replayed_without_it(tmp_path):
    asked = question("plan")
    live, server, replies, calls = run_stack(tmp_path, "record", ["status:500", "ok"], asked)
    assert read_reply(live.raw, asked.ask.schema).value is not None
    assert len(server.received) == len(calls) == 2 and len(replies) == 1
    assert [call["outcome"] for call in calls] == ["server_error", "ok"]
    keep(tmp_path, replies)
    again, server, written, _ = run_stack(tmp_path, "replay", [], asked)
    assert (again.raw, again.usage, again.level) == (live.raw, live.usage, live.level)
    assert again.measured_ms == replies[0]["charge_ms"] == 500 + live.usage.completion * 20
    assert server.received == [] and written == []


def test_retries_count_against_the_budget_in_a_replay_too(tmp_path):
    taken: list = []

    def take(scope):
        taken.append(scope)
        return True

    asked = question("plan")
    _, _, replies, _ = run_stack(
        tmp_path, "record", ["reset", "reset", "ok"], asked, may_retry=take
    )
    live, taken[:] = list(taken), []
    keep(tmp_path, replies)
    run_stack(tmp_path, "replay", [], asked, may_retry=take)
    assert taken == live == [asked.scope] * 2


def test_filling_pays_no_answer_twice(tmp_path):
    asked = question("plan")
    _, _, replies, _ = run_stack(tmp_path, "record", [], asked)
    keep(tmp_path, replies)
    _, server, written, _ = run_stack(tmp_path, "fill", [], asked)
    assert server.received == [] and written == []
    other = asked._replace(scope="run/0/d1/1")
    _, server, written, _ = run_stack(tmp_path, "fill", [], other)
    assert len(server.received) == len(written) == 1
    changed = question("plan", memory=made_memory(step=13))
    _, server, written, _ = run_stack(tmp_path, "fill", [], changed)
    assert len(server.received) == len(written) == 1, "another prompt is another question"


def test_a_stopped_recording_ends_its_replay(tmp_path):
    keep(tmp_path, [stop_mark("stopped", 3)])
    with pytest.raises(RunStopped):
        run_stack(tmp_path, "replay", [], question("plan"))


def test_no_key_in_anything_that_is_written(tmp_path):
    leaking = "leak"
    for script in ([leaking], ["status:401"], ["html"]):
        answer, _, replies, calls = run_stack(tmp_path, "record", script, question("plan"))
        assert KEY not in f"{answer} {json.dumps(replies)} {json.dumps(calls)}"


def test_a_mode_that_reads_needs_a_cassette():
    with pytest.raises(ConfigError, match="mode replay needs a cassette"):
        open_client(PROFILE, None, "replay")


def test_another_address_or_key_changes_no_answer(tmp_path):
    asked = question("plan")
    first = run_stack(tmp_path, "record", [], asked)
    second = run_stack(tmp_path, "record", [], asked)
    assert first[0].raw == second[0].raw and first[0].usage == second[0].usage
    hashes = {line["hash"] for _, _, replies, _ in (first, second) for line in replies}
    assert len(hashes) == 1


# --- recordings ----------------------------------------------------------------------------------


def recorded_run(asked, tries, value, outcome="answered"):
    started = {"e": "decision_started", "decision": "d0", "kind": asked.ask.kind,
               "prompt_hash": prompt_hash(PROMPTS.messages(asked))}  # fmt: skip
    ended = {"e": "decision_ended", "decision": "d0", "outcome": outcome, "value": value,
             "tries": tries}  # fmt: skip
    return [started, ended]


def a_try(problem=None, findings=(), charge_ms=700, reply=None):
    entry = {"problem": problem, "findings": list(findings), "usage": Usage(5, 6, 11)._asdict(),
             "charge_ms": charge_ms, "level": None}  # fmt: skip
    return entry | ({} if reply is None else {"reply": reply})


def test_a_recording_answers_as_it_was_answered():
    asked = question("plan")
    wrong = a_try(findings=[{"code": "no_json", "text": "no JSON"}], reply="hm")
    events = recorded_run(asked, [wrong, a_try(charge_ms=900)], PLAN)
    replay = ReplayPlanner(events, "human", PROMPTS)
    first = asyncio.run(replay.answer(asked))
    second = asyncio.run(replay.answer(asked._replace(scope="run/0/d0/2")))
    assert (first.raw, first.measured_ms) == ("hm", 700)
    assert (second.raw, second.measured_ms, second.usage.completion) == (PLAN, 900, 6)
    assert replay.quote(asked).calls == 0 and replay.name == "human"


def test_a_question_that_was_not_recorded_is_refused(tmp_path):
    asked = question("plan")
    replay = ReplayPlanner(recorded_run(asked, [a_try()], PLAN), "llm", PROMPTS)
    for changed, words in (
        (asked._replace(scope="run/0/d7/1"), "no recorded decision d7"),
        (asked._replace(scope="run/0/d0/2"), "1 tries recorded, try 2"),
        (question("statement"), "recorded as plan, now statement"),
    ):
        with pytest.raises(RecordError, match=words):
            asyncio.run(replay.answer(changed))


def test_a_question_with_another_prompt_names_the_section(tmp_path):
    asked = question("plan")
    _, _, replies, _ = run_stack(tmp_path, "record", [], asked)
    keep(tmp_path, replies)
    cassette = read_cassette(tmp_path / "cassette.jsonl")
    replay = ReplayPlanner(recorded_run(asked, [a_try()], PLAN), "llm", PROMPTS, cassette)
    last = {"text": "Plan 0.1 went well."}
    with pytest.raises(RecordError, match=r"d0: .* section last_outcome"):
        replay.quote(question("plan", memory=made_memory(last=last)))


# --- people --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind", "reply"),
    [
        ("push(3, left); wait(2)", "plan", {"task": "none", "actions": [
            {"verb": "push", "block": 3, "face": "left"}, {"verb": "wait", "steps": 2}]}),
        ("block_3_left: push(block_3, cell=[4, 1]); wait", "plan", {"task": "block_3_left",
         "actions": [{"verb": "push", "block": "block_3", "cell": [4, 1]}, {"verb": "wait"}]}),
        ("coal@31,41: wait(2)", "plan", {"task": "coal@31,41",
         "actions": [{"verb": "wait", "steps": 2}]}),
        ("resume", "interrupt", {"choice": "resume"}),
        ("wait(1)", "interrupt", {"choice": "replan", "plan": {"task": "none",
         "actions": [{"verb": "wait", "steps": 1}]}}),
        ("Keep.", "repair_revision", {"choice": "keep", "follows_guidance": False}),
        ("accept", "acknowledge", {"answer": "accept"}),
        ("I go to block 3", "statement", {"text": "I go to block 3", "task": "none",
         "arrival": None, "partners": 0}),
    ],
)  # fmt: skip
def test_short_forms_are_valid_replies(line, kind, reply):
    assert typed(line, kind, VERBS) == reply
    assert read_reply(reply, question(kind).ask.schema).findings == ()


def test_what_is_no_short_form_is_shown_back():
    for line, kind in (("hm, well", "plan"), ("push(", "plan"), ("hello", "directive")):
        assert typed(line, kind, VERBS) == line
        assert read_reply(line, question(kind).ask.schema).findings[0].code == "no_json"
    assert typed("push(1, left, [1,2], 9)", "plan", VERBS)["actions"][0]["argument_4"] == 9
    assert typed(json.dumps(PLAN), "plan", VERBS) == json.dumps(PLAN)


def test_a_person_sees_the_prompt_and_types_a_line():
    shown: list = []
    lines = ["push(3)\n", "again\n", ""]

    async def read():
        return lines.pop(0)

    human = HumanPlanner(PROMPTS, shown.append, read)
    asked = question("plan")
    entry = {"reply": "x", "findings": [{"code": "no_json", "text": "no JSON"}]}

    async def run():
        return [
            await human.answer(asked),
            await human.answer(asked._replace(tries=(entry,))),
            await human.answer(asked),
        ]

    first, second, third = asyncio.run(run())
    assert first.raw["actions"] == [{"verb": "push", "block": 3}]
    assert second.raw["actions"] == [{"verb": "again"}]
    assert third.problem == "unavailable"
    assert "## question" in shown[0]
    assert shown[1].startswith("Your answer was not used. no JSON.\n")


# --- resources -----------------------------------------------------------------------------------


class Oven:
    """A resource that counts."""

    def __init__(self):
        self.is_closed = False

    async def open(self, agent, subrun):
        return Briefing(text=f"agent {agent}, subrun {subrun}", tools=VERBS)

    async def execute(self, agent, command, limit_ms):
        return CommandResult(
            ms=min(limit_ms, 40), code=0, text=str(command), is_cut=False, facts={}
        )

    async def evaluate(self, agent):
        return Grade(passed=agent, total=3, state="scored")

    async def close(self):
        self.is_closed = True


def test_a_resource_answers_its_three_asks_and_says_what_they_take():
    def asked(kind, schema, **context):
        return Question("r/0/d0/1", Ask(-1, kind, schema, context), None, {}, [], None, (), 0)

    async def run():
        oven = Oven()
        planner = ResourcePlanner(oven)
        answers = [
            await planner.answer(asked("open", Briefing, agent=2, subrun=1)),
            await planner.answer(
                asked("execute", CommandResult, agent=2, command={"x": 1}, limit_ms=9)
            ),
            await planner.answer(asked("evaluate", Grade, agent=2)),
        ]
        with pytest.raises(DialogueError, match="no ask plan"):
            await planner.answer(asked("plan", Grade))
        await planner.close()
        return answers, oven.is_closed

    (opened, executed, graded), is_closed = asyncio.run(run())
    assert is_closed
    assert read_reply(opened.raw, Briefing).value.tools == VERBS
    assert executed.measured_ms == 9 and read_reply(executed.raw, CommandResult).value.ms == 9
    assert read_reply(graded.raw, Grade).value.passed == 2


def test_answers_of_completions_and_errors_are_made_in_one_place():
    completion = asyncio.run(Scripted([Text("x", "length", 3)]).complete(
        LlmPlanner(Scripted([]), PROFILE, PROMPTS).request(question("plan")), "s"
    ))  # fmt: skip
    answer = answer_of(completion, PROFILE)
    assert (answer.raw, answer.is_cut, answer.changes) == ("x", True, ())
