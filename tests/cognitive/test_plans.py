"""Plans, how they are played, stages, and what may follow what."""

import pytest
from stub_world import stub_world

from cognitive.errors import IllegalTransition
from cognitive.plans import Plan, plan_of_view, play_step, view_of
from cognitive.stages import STAGES, StageBook
from worlds.api import Action, Reason


def executing(agent, *steps):
    actions = tuple(Action(verb, {"k": k}) for verb, k in steps)
    return Plan(f"{agent}.1", agent, "none", actions, status="executing")


def outline(plan):
    return [(step.status, step.started_step, step.ended_step) for step in plan.steps]


def test_actions_follow_each_other_one_primitive_a_step():
    world = stub_world(1)
    state = world.rules.reset(0)
    plan = executing(0, ("work", 2), ("work", 1))
    for _ in range(3):
        last = play_step(world, state, [plan])
        assert last.primitives == [1]
    assert (plan.status, last.ended) == ("success", [plan])
    assert outline(plan) == [("done", 1, 2), ("done", 3, 3)]


def test_what_is_done_already_costs_no_step_but_a_plan_does():
    world = stub_world(2)
    state = world.rules.reset(0)
    skipping = executing(0, ("skip", 0), ("work", 1))
    nothing = executing(1, ("skip", 0), ("skip", 0))
    played = play_step(world, state, [skipping, nothing])
    assert played.primitives == [1, 0]
    assert (skipping.status, nothing.status) == ("success", "success")
    assert outline(skipping) == [("done", 1, 1), ("done", 1, 1)]
    changes = [(c.plan.agent, c.what, c.is_before) for c in played.changes]
    assert changes == [
        (0, "started", True), (0, "done", True), (0, "started", True),
        (1, "started", True), (1, "done", True), (1, "started", True), (1, "done", True),
        (0, "done", False), (0, "ended", False), (1, "ended", False),
    ]  # fmt: skip


def test_a_failure_ends_the_plan_and_cancels_the_rest():
    world = stub_world(1)
    state = world.rules.reset(0)
    plan = executing(0, ("work", 1), ("break", 1), ("work", 1))
    play_step(world, state, [plan])
    played = play_step(world, state, [plan])
    assert (plan.status, plan.reason.code) == ("failed", "stub_broken")
    assert [step.status for step in plan.steps] == ["done", "failed", "cancelled"]
    assert played.ended == [plan]
    assert play_step(world, state, [plan]).primitives == [0], "an ended plan is not played"


class RefusingSkills:
    """The stub's verbs, but nothing can be started."""

    def __init__(self, skills):
        self.verbs = skills.verbs

    def ground(self, state, agent, action, progress):
        from worlds.api import Failed

        return Failed(Reason("stub_broken", {"verb": action.verb, "steps": 0}))


def test_a_verb_that_cannot_go_on_becomes_no_other_action():
    world = stub_world(1)
    world = world._replace(skills=RefusingSkills(world.skills))
    state = world.rules.reset(0)
    plan = executing(0, ("work", 1), ("work", 1))
    played = play_step(world, state, [plan])
    assert played.primitives == [0]
    assert int(state.step[0]) == 1
    assert plan.status == "failed"


def test_a_forked_plan_leaves_the_original_alone():
    world = stub_world(1)
    state = world.rules.reset(0)
    plan = executing(0, ("work", 3))
    play_step(world, state, [plan])
    fork, clone = plan.fork(), world.rules.clone(state)
    for _ in range(2):
        play_step(world, clone, [fork])
    assert (fork.status, plan.status, plan.progress) == ("success", "executing", 1)
    assert (int(clone.step[0]), int(state.step[0])) == (3, 1)


def test_a_plan_from_a_view_goes_on_where_the_view_was_taken():
    world = stub_world(1)
    state = world.rules.reset(0)
    plan = executing(0, ("work", 1), ("work", 3))
    play_step(world, state, [plan])
    play_step(world, state, [plan])
    again = plan_of_view(view_of(0, "X", plan))
    clone = world.rules.clone(state)
    ended = [play_step(world, clone, [again]).ended for _ in range(2)]
    assert ended == [[], [again]]
    assert plan_of_view(view_of(0, "W", None)) is None


@pytest.mark.parametrize(
    ("status", "legal"),
    [
        ("pending", {"executing", "interrupted"}),
        ("executing", {"success", "failed", "interrupted"}),
        ("success", set()),
        ("failed", set()),
        ("interrupted", set()),
    ],
)
def test_plans_move_only_as_the_table_says(status, legal):
    for to in ("pending", "executing", "success", "failed", "interrupted"):
        plan = Plan("0.1", 0, "none", (), status=status)
        if to in legal:
            plan.move(to)
            assert plan.status == to
        else:
            with pytest.raises(IllegalTransition, match=f"0.1 is {status}"):
                plan.move(to)
            assert plan.status == status


LEGAL = {"R": "WG", "W": "RXIG", "X": "RIG", "I": "W", "G": ""}
PATHS = {"R": "", "W": "W", "X": "WX", "I": "WI", "G": "WG"}


@pytest.mark.parametrize("pace", ["lockstep", "realtime"])
@pytest.mark.parametrize("before", STAGES)
def test_stages_move_only_as_the_table_says(pace, before):
    legal = LEGAL[before] + ("RG" if pace == "realtime" and before == "I" else "")
    for to in STAGES:
        book = StageBook(1, pace)
        for stage in PATHS[before]:
            book.enter(0, stage, 0)
        if to in legal:
            assert book.enter(0, to, 5) == before
        else:
            with pytest.raises(IllegalTransition):
                book.enter(0, to, 5)
            assert book.stage == [before]


def test_durations_and_time_that_runs_backwards():
    book = StageBook(1)
    book.enter(0, "W", 1500)
    book.enter(0, "X", 2000)
    assert book.durations(2600) == [{"R": 1500, "W": 500, "X": 600, "I": 0, "G": 0}]
    with pytest.raises(IllegalTransition, match="X since 2000 ms, R at 1999 ms"):
        book.enter(0, "R", 1999)
