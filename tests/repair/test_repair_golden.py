"""Golden moments in CUBE: what is predicted, who is invited, what they are told."""

import pytest
from boards import IDLE, board, gate_of, lines_of, moment, mv, plan_views, predictor, push, wait

from repair.config import repair_config
from repair.forecast import fails
from worlds.api import PlanDraft

B0, B1 = "block_0_left", "block_1_left"
TWO = [(2, 3, 4)]

CASES = {
    1: ([(3, 0), (4, 0), (8, 0)], TWO, [(B0, [mv(3), push(3)]), (B0, [mv(3), push(3)]), IDLE]),
    2: (
        [(3, 0), (4, 0), (8, 0)],
        TWO,
        [(B0, [mv(3), push(3)]), (B0, [wait(1), mv(3), push(3)]), IDLE],
    ),
    3: (
        [(3, 0), (4, 0), (8, 0)],
        TWO,
        [(B0, [mv(3), push(3)]), (B0, [wait(3), mv(3), push(3)]), IDLE],
    ),
    4: (
        [(3, 3), (4, 3), (8, 0)],
        TWO,
        [
            (B0, [push(3)]),
            (B0, [("rendezvous", {"block": 0, "face": "left", "count": 3, "timeout": 5}), push(3)]),
            IDLE,
        ],
    ),
    5: (
        [(3, 3), (0, 0), (6, 0)],
        [(2, 3, 4), (1, 0, 6)],
        [(B0, [push(3)]), (B1, [mv(5), push(1, 1)]), IDLE],
    ),
    6: (
        [(3, 3), (2, 3), (8, 0)],
        [(2, 3, 4), (1, 0, 6)],
        [(B0, [push(3)]), (B1, [mv(2, "up"), mv(2), push(1, 1)]), IDLE],
    ),
    7: (
        [(3, 1), (3, 0), (8, 0)],
        TWO,
        [(B0, [mv(2), push(4)]), (B0, [mv(3), push(4)]), IDLE],
    ),
    8: ([(3, 3), (4, 3), (3, 6)], TWO, [(B0, [push(3)]), (B0, [push(3)]), IDLE]),
    9: ([(3, 3), (4, 3)], [(3, 3, 4)], [(B0, [push(3)]), (B0, [push(3)])]),
    10: (
        [(1, 2), (5, 2), (0, 0), (8, 0), (7, 0)],
        [(3, 1, 3), (2, 6, 4)],
        [(B0, [push(2)]), (B1, [mv(1, "down"), mv(1), push(2, 1)]), IDLE, IDLE, IDLE],
    ),
    11: (
        [(1, 2), (6, 0), (5, 0)],
        [(2, 1, 3), (1, 1, 5), (2, 5, 4)],
        [(B0, [push(3)]), IDLE, IDLE],
    ),
    12: (
        [(1, 3), (4, 3), (5, 3), (6, 3)],
        [(2, 1, 4), (3, 4, 4)],
        [(B0, [push(3)]), *[(B1, [push(2, 1)])] * 3],
    ),
}
# case -> task -> (best attempts as "first-last", held per constraint, cause)
FORECASTS = {
    1: {B0: (4, 6, (1, 1, 1, 1), None)},
    2: {B0: (4, 6, (1, 1, 1, 1), None)},
    3: {B0: (4, 6, (0, 0, 0, 1), "spatial")},
    4: {B0: (1, 3, (0, 1, 0, 1), "temporal")},
    5: {B0: (1, 3, (0, 0, 0, 1), "participation"), B1: (6, 6, (1, 1, 1, 1), None)},
    6: {B0: (1, 3, (0, 0, 0, 1), "participation"), B1: (5, 5, (1, 1, 1, 1), None)},
    7: {B0: (3, 6, (0, 0, 1, 1), "spatial")},
    8: {B0: (1, 3, (1, 1, 1, 1), "passage")},
    9: {B0: (1, 3, (0, 0, 0, 1), "participation")},
    10: {
        B0: (1, 2, (0, 0, 0, 1), "participation"),
        B1: (3, 4, (0, 0, 0, 1), "participation"),
    },
    11: {B0: (1, 3, (0, 0, 0, 1), "participation")},
    12: {B0: (1, 3, (0, 0, 0, 1), "participation"), B1: (1, 2, (1, 1, 1, 1), None)},
}
# case -> channels: (members, cohort agents and costs, strategy, target, meeting)
CHANNELS = {
    1: [],
    2: [],
    3: [((0, 1), {0: 3, 1: 3}, "synchronise", B0, 3)],
    4: [((0, 1), {0: 0, 1: 0}, "synchronise", B0, 0)],
    5: [((0, 2), {0: 0, 2: 5}, "recruit", B0, 5)],
    6: [((0, 1), {0: 0, 1: 7}, "recruit", B0, 4)],
    7: [((0, 1), {0: 2, 1: 4}, "synchronise", B0, 4)],
    8: [],
    9: [((0, 1), {}, "release", None, None)],
    10: [
        ((0, 2, 4), {0: 0, 2: 4, 4: 6}, "recruit", B0, 6),
        ((1, 3), {1: 2, 3: 4}, "recruit", B1, 4),
    ],
    11: [((0, 1, 2), {1: 3, 2: 3}, "switch", "block_2_left", 3)],
    12: [((0, 1), {0: 0, 1: 7}, "recruit", B0, 2)],
}


def opened(number, **settings):
    agents, blocks, plans = CASES[number]
    world, state = board(agents, blocks)
    guard = gate_of(world, **settings)
    channels, lines = guard.review(moment(state, plans))
    return channels, lines


@pytest.mark.parametrize("number", FORECASTS)
def test_forecast(number):
    agents, blocks, plans = CASES[number]
    world, state = board(agents, blocks)
    found = {one.task: one for one in predictor(world).predict(state, plan_views(plans), 0)}
    for task, (first, last, held, cause) in FORECASTS[number].items():
        one = found[task]
        assert (one.first, one.last, one.held, one.cause) == (first, last, held, cause), one
        assert one.rollouts == 1 and one.support == 1 and one.status == "decided", one


@pytest.mark.parametrize("number", CHANNELS)
def test_channel(number):
    _, lines = opened(number)
    seen = [
        (
            tuple(line["members"]),
            {agent: cost for agent, _, cost in line["cohort"]},
            line["strategy"],
            line["target"],
            line["arrival"],
        )
        for line in lines_of(lines, "repair_opened")
    ]
    assert seen == CHANNELS[number]


def test_blocked_way_alarms_only_if_asked():
    _, lines = opened(8, on_blocked=True)
    assert [line["alarm"] for line in lines_of(lines, "repair_predicted")] == [True]


def test_longer_push_succeeds_later_and_raises_no_alarm():
    agents, blocks, plans = CASES[3]
    plans = [(B0, [mv(3), push(6)]), *plans[1:]]
    world, state = board(agents, blocks)
    (one,) = predictor(world).predict(state, plan_views(plans), 0)
    assert one.succeeded == 1 and not fails(one, repair_config("on")), one


@pytest.mark.parametrize("number", [3, 4, 7])
def test_analytic_misses(number):
    agents, blocks, plans = CASES[number]
    world, state = board(agents, blocks)
    (one,) = predictor(world, predictor="analytic").predict(state, plan_views(plans), 0)
    assert one.status == "decided" and not fails(one, repair_config("on")), one
    if number == 3:
        assert one.first == 6, one


def test_switch_cohort_without_a_third_agent_near():
    agents, blocks, plans = CASES[11]
    world, state = board([agents[0], agents[1], (0, 0)], blocks)
    _, lines = gate_of(world).review(moment(state, plans))
    (line,) = lines_of(lines, "repair_opened")
    assert line["members"] == [0, 1] and line["arrival"] == 5, line


@pytest.mark.parametrize(("number", "before", "after"), [(5, 1, 3), (6, 1, 2)])
def test_value_of_the_recommended_plans(number, before, after):
    (channel,), _ = opened(number)
    recommended = told_plans(channel)
    verdict = channel._judge(recommended)
    assert verdict.is_accepted, verdict
    assert (channel._value_before, verdict.value) == (1000 * before, 1000 * after)


def told_plans(channel):
    plans = []
    for agent in channel._members:
        told = channel._contexts[agent]["recommended"]
        plans.append(None if told is None else as_draft(told))
    return tuple(plans)


def as_draft(told):
    from worlds.api import Action

    actions = tuple(
        Action(entry["verb"], {k: v for k, v in entry.items() if k != "verb"})
        for entry in told["actions"]
    )
    return PlanDraft(told["task"], actions)


def test_values_of_two_channels_add_up():
    channels, _ = opened(10)
    first, second = channels
    assert first._value_before == 0
    assert first._judge(told_plans(first)).value == 3000
    assert second._value_before == 3000
    assert second._judge(told_plans(second)).value == 5000


def test_taking_an_agent_off_a_running_task_is_judged_worse():
    (channel,), _ = opened(12)
    verdict = channel._judge(told_plans(channel))
    assert not verdict.is_harmless and not verdict.is_no_worse, verdict
    assert (channel._value_before, verdict.value) == (3000, 2000)


@pytest.mark.parametrize("number", sorted(CASES))
def test_forecast_changes_nothing(number):
    agents, blocks, plans = CASES[number]
    world, state = board(agents, blocks)
    before = [array.tobytes() for array in state]
    views = plan_views(plans)
    one = predictor(world)
    first = one.predict(state, views, 0)
    assert [array.tobytes() for array in state] == before
    assert views == plan_views(plans)
    assert one.predict(state, views, 0) is first
