"""Laws of a step, over random worlds, tables, settings and actions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from macrafter_play import make_rules, random_config, random_inputs, random_state

from worlds.api import AttemptColumn as Column
from worlds.api import Part
from worlds.macrafter.state import (
    ACTION,
    ACTIONS,
    COLUMN,
    CREATURES,
    HARMS,
    ITEM,
    ITEMS,
    MATERIALS,
    ROW,
    THINGS,
    VITAL_CAP,
    WALKABLE,
)

PRESETS = ("paper", "survival", "solo")
STEPS = 12
SEEDS = st.integers(0, 2**32 - 1)
MATERIAL_OF = {name: number for number, name in enumerate(MATERIALS)}
IS_WALKABLE = np.isin(np.arange(len(MATERIALS)), [MATERIAL_OF[name] for name in WALKABLE])
OPEN = IS_WALKABLE | np.isin(np.arange(len(MATERIALS)), [1, 7])
ARROW, PLANT = CREATURES.index("arrow"), CREATURES.index("plant")
BOTH = Part.ACTING | Part.CAPABLE


class Step:
    """A step that was played: what was before, what was sent, what came of it."""

    def __init__(self, rules, config, before, state, inputs, stepped):
        self.rules, self.config, self.before, self.state = rules, config, before, state
        self.actions, self.declared, self.arguments = (array[0] for array in inputs)
        self.stepped = stepped
        self.rows = state.attempts[0, : state.attempt_count[0]]


def play(seed, steps=STEPS, has_creatures=True, **changes):
    """Random steps of a random world."""
    generator = np.random.default_rng(seed)
    agents = int(generator.integers(1, 11))
    config = random_config(generator, PRESETS[seed % 3], agents, **changes)
    rules = make_rules(config)
    state = random_state(generator, config, has_creatures)
    for _ in range(steps):
        inputs = random_inputs(generator, state, config)
        before = rules.clone(state)
        yield Step(rules, config, before, state, inputs, rules.step(state, *inputs))
        if state.is_truncated[0] or not state.is_alive[0].any():
            return


def law(function):
    return settings(max_examples=25, deadline=None)(given(SEEDS)(function))


@law
def test_objects_cells_and_slots_agree(seed):
    for step in play(seed):
        state = step.state
        expected = np.zeros(state.occupant.shape[1:], np.int32)
        holders = [(a + 1, cell) for a, cell in enumerate(state.agent_cell[0]) if cell[0] >= 0]
        slots = np.flatnonzero(state.creature_kind[0])
        holders += [(-(k + 1), state.creature_cell[0, k]) for k in slots]
        for holder, cell in holders:
            assert expected[tuple(cell)] == 0, f"two objects on {cell}"
            expected[tuple(cell)] = holder
            ground = state.material[0][tuple(cell)]
            is_arrow = holder < 0 and state.creature_kind[0, -holder - 1] == ARROW
            assert (OPEN if is_arrow else IS_WALKABLE)[ground], (holder, MATERIALS[ground])
        assert np.array_equal(expected, state.occupant[0])
        assert (slots < state.next_serial[0]).all()
        assert len(set(state.creature_serial[0, slots].tolist())) == len(slots)


@law
def test_items_stay_between_0_and_their_cap(seed):
    for step in play(seed):
        caps = np.array([VITAL_CAP] * 4 + [step.config.item_cap] * 12)
        items = step.state.inventory[0]
        assert (items >= 0).all() and (items <= caps).all(), items.tolist()


@law
def test_items_come_from_rows_and_gifts_alone(seed):
    """Craft and place take one cost from the group, collect gives the amount to the credited, and
    gifts keep the team's total of every item."""
    for step in play(seed, item_cap=999):
        if not step.state.is_alive[0, step.before.is_alive[0]].all():
            continue
        gained = np.zeros(len(ITEMS), int)
        for index, row in enumerate(step.rows):
            if row[Column.RESULT] >= 3:
                gained += gains(step, index, row)
        before, after = (s.inventory[0].sum(axis=0) for s in (step.before, step.state))
        assert np.array_equal((after - before)[4:], gained[4:]), (after - before, gained)


def gains(step, index, row):
    """Items a successful row brings to the team, or takes."""
    parts = step.state.agent_part[0][step.state.agent_attempt[0] == index]
    credited, thing = int((parts & Part.CREDITED > 0).sum()), THINGS[row[ITEM]]
    table, gained = step.rules.table, np.zeros(len(ITEMS), int)
    if row[ACTION] == 0:
        gained[ITEMS.index(thing)] += table.source_of(thing).amount * credited
    elif row[ACTION] >= 2:
        rule = (table.make if row[ACTION] == 2 else table.place)[thing]
        for item, count in rule.uses.items():
            gained[ITEMS.index(item)] -= count
        if row[ACTION] == 2:
            gained[ITEMS.index(thing)] += credited
    return gained


@law
def test_score_is_the_sum_of_events(seed):
    for step in play(seed):
        rows, table = step.rows, step.rules.table
        events = step.state.attempt_score[0, : len(rows)]
        assert step.state.score[0] == step.before.score[0] + events.sum()
        assert not step.state.attempt_score[0, len(rows) :].any()
        for row, event in zip(rows, events, strict=True):
            rule = table.source_of(THINGS[row[ITEM]]) if row[ACTION] == 0 else None
            is_event = row[Column.REASON] == 26 and rule is not None
            joint = row[Column.PARTICIPATION]
            credited = row[Column.NEED] if step.config.credit == "required" else joint
            expected = rule.unit_score * rule.amount * credited if is_event else 0.0
            assert event == expected, (row.tolist(), event)
        if step.config.reward == "score":
            assert step.stepped.rewards.sum() == pytest.approx(events.sum())


@law
def test_cells_change_by_rows_and_arrows_alone(seed):
    for step in play(seed):
        changed = {
            tuple(cell) for cell in np.argwhere(step.before.material[0] != step.state.material[0])
        }
        done = [row for row in step.rows if row[Column.RESULT] >= 3 and row[ACTION] in (0, 3)]
        free = changed - {(row[ROW], row[COLUMN]) for row in done}
        for cell in free:
            was, now = step.before.material[0][cell], step.state.material[0][cell]
            assert MATERIALS[was] in ("table", "furnace") and MATERIALS[now] == "path", cell


@law
def test_rows_are_consistent(seed):
    for step in play(seed):
        state = step.state
        for index, row in enumerate(step.rows):
            joint, members = row[Column.PARTICIPATION], row[Column.MEMBERS]
            for column in (Column.SPATIAL, Column.TEMPORAL, Column.DEPENDENCY):
                assert joint <= row[column] <= members, row.tolist()
            inside = state.agent_attempt[0] == index
            assert inside.sum() == members
            if row[Column.RESULT] >= 2:
                assert joint >= row[Column.NEED], row.tolist()
            able = inside & (state.agent_part[0] & BOTH == BOTH)
            credited = inside & (state.agent_part[0] & Part.CREDITED > 0)
            is_success = row[Column.REASON] == 26
            assert np.array_equal(credited, able & is_success), row.tolist()
        in_rows = state.agent_attempt[0] >= 0
        assert (state.agent_part[0][~in_rows] == 0).all()
        assert (state.agent_attempt[0] < len(step.rows)).all()


@law
def test_declared_tasks_change_records_only(seed):
    for step in play(seed, steps=4):
        twin = step.rules.clone(step.before)
        actions, arguments = step.actions[None], step.arguments[None]
        stepped = step.rules.step(twin, actions, None, arguments)
        assert np.array_equal(stepped.rewards, step.stepped.rewards)
        records = ("attempts", "attempt_count", "agent_attempt", "agent_part", "attempt_score")
        for name, ours, theirs in zip(twin._fields, twin, step.state, strict=True):
            if name == "agent_reason":
                missed = np.isin(theirs, (5, 6))
                assert np.array_equal(ours[~missed], theirs[~missed])
            elif name not in records:
                assert np.array_equal(ours, theirs), name


@law
def test_sleepers_only_sleep(seed):
    for step in play(seed):
        before, state = step.before, step.state
        slept = before.is_asleep[0] & before.is_alive[0] & (before.inventory[0, :, 3] < 9)
        alive = slept & state.is_alive[0]
        assert np.array_equal(before.agent_cell[0, alive], state.agent_cell[0, alive])
        assert (state.share_amount[0, slept] == 0).all()
        assert (state.agent_part[0, slept] & (Part.ACTING | Part.TRYING) == 0).all()


@law
def test_the_dead_never_return(seed):
    dead = np.zeros(0, bool)
    for step in play(seed):
        state = step.state
        if len(dead):
            assert not state.is_alive[0, dead].any()
        dead = ~state.is_alive[0]
        assert np.array_equal(dead, state.is_terminated[0])
        assert (state.agent_cell[0, dead] == -1).all()
        assert not state.inventory[0, dead][:, [0, *range(4, 16)]].any()


@law
def test_knowledge_only_grows(seed):
    for step in play(seed):
        before, after = step.before.known[0], step.state.known[0]
        assert (after[before > 0] > 0).all()
        ground = np.broadcast_to(step.state.material[0], after.shape)
        assert ((after == before) | (after == ground)).all()


@law
def test_in_a_calm_world_only_lava_hurts(seed):
    calm = {"vitals": False, "zombies": False, "skeletons": False, "balance": False}
    for step in play(seed, has_creatures=False, **calm):
        before, after = step.before.inventory[0, :, 0], step.state.inventory[0, :, 0]
        burnt = step.state.agent_harm[0] == 1 << HARMS.index("lava")
        assert np.array_equal(before != after, burnt), (before, after)
        assert (after[burnt] == 0).all()


@law
def test_gifts_keep_the_total_of_every_item(seed):
    for step in play(seed, has_creatures=False, vitals=False, zombies=False, balance=False):
        twin = step.rules.clone(step.before)
        share = np.full((1, step.config.agents), ACTIONS.index("share"), np.int32)
        step.rules.step(twin, share, None, step.arguments[None])
        before, after = (s.inventory[0].sum(axis=0) for s in (step.before, twin))
        assert np.array_equal(before, after), (before, after)
