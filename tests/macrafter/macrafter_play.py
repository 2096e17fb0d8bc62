"""Random worlds and random play for the tests of MA-Crafter, and the comparison with the oracle."""

import numpy as np

from worlds.macrafter.config import configure
from worlds.macrafter.generate import from_drawing
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.state import (
    ACHIEVEMENTS,
    ACTIONS,
    CREATURES,
    HARMS,
    ITEMS,
    MATERIALS,
    OUTCOMES,
    REASONS,
    allocate,
)
from worlds.macrafter.table import load_table

NAMES = ("up", "down", "left", "right")
GROUND = ".........,,::~TTSSCIDLBF"
BEASTS = "cczkkp><^vP"
OVERRIDES = (
    "collect.tree.agents",
    "collect.coal.agents",
    "creature.cow.agents",
    "make.wood_pickaxe.agents",
    "make.iron_sword.agents",
    "place.table.agents",
    "place.stone.agents",
)


def random_config(generator, preset, agents, **fixed):
    """Settings of `preset` for a small crowded map, with some of them changed; some are fixed."""
    pick = generator.integers
    overrides = {key: int(pick(1, 4)) for key in OVERRIDES if pick(3) == 0}
    changes = {
        "reach": int(pick(1, 4)),
        "share_radius": [None, 1, 3][pick(3)],
        "credit": ["required", "participants"][pick(2)],
        "item_cap": int(pick(4, 12)),
        "vitals": bool(pick(4)),
        "plants": bool(pick(2)),
        "zombies": bool(pick(2)),
        "skeletons": bool(pick(2)),
        "active_radius": [None, 4, 9][pick(3)],
    }
    kept = {key: value for key, value in changes.items() if pick(2)} | fixed
    return configure(
        preset,
        agents=agents,
        view=(5, 7),
        max_steps=60,
        excess_requirements="lower",
        overrides=overrides,
        seed=int(pick(2**31)),
        **kept,
    )


def random_drawing(generator, agents, has_creatures=True):
    """A map of random materials and creatures, up to ten agents on it."""
    height, width = (int(generator.integers(9, 26)) for _ in range(2))
    letters = generator.choice(list(GROUND), (height, width))
    beasts = generator.random((height, width)) < 0.06 * has_creatures
    letters[beasts] = generator.choice(list(BEASTS), int(beasts.sum()))
    for agent, cell in enumerate(generator.choice(height * width, agents, replace=False)):
        letters.flat[cell] = str(agent)
    return "\n".join("".join(row) for row in letters)


def random_state(generator, config, has_creatures=True):
    """A crowded world in mid-game. Teams beyond ten are put together from arrays."""
    drawn = min(config.agents, 10)
    state = from_drawing(random_drawing(generator, drawn, has_creatures), config)
    if config.agents > drawn:
        state = _add_agents(generator, state, config)
    team, pick = (1, config.agents), generator.integers
    state.inventory[:, :, 4:] = pick(0, 4, (*team, 12)) * pick(0, 2, (*team, 12))
    state.inventory[:, :, :4] = pick(1, 10, (*team, 4))
    state.last_health[:] = state.inventory[:, :, 0]
    state.counters[:] = pick(0, 25, (*team, 4))
    state.agent_facing[:] = pick(0, 4, team)
    state.is_asleep[:] = pick(0, 5, team) == 0
    state.step[:] = pick(0, 40)
    state.creature_timer[state.creature_kind == 5] = pick(290, 302)
    return state


def _add_agents(generator, state, config):
    """The world of `state` with as many agents as the config wants, on free grass."""
    more = config.agents - state.agent_cell.shape[1]
    free = np.argwhere((state.material[0] == 2) & (state.occupant[0] == 0))
    cells = generator.permutation(free)[:more]
    grown = allocate(1, config.agents, *state.material.shape[1:])
    for new, old in zip(grown, state, strict=True):
        part = tuple(slice(0, size) for size in old.shape)
        new[part] = old
    for agent, cell in enumerate(cells, start=config.agents - more):
        grown.agent_cell[0, agent] = cell
        grown.occupant[0][tuple(cell)] = agent + 1
    return grown


def random_inputs(generator, state, config):
    """Actions with much doing, declared tasks near and far, and legal gifts."""
    agents, pick = config.agents, generator.integers
    weights = np.array([1, 2, 2, 2, 2, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2.0])
    actions = generator.choice(len(ACTIONS), (1, agents), p=weights / weights.sum())
    height, width = state.material.shape[1:]
    declared = pick(-1, height * width + int(state.next_serial[0]) + 2, (1, agents))
    for agent in range(agents):
        row, column = state.agent_cell[0, agent].tolist()
        if row >= 0 and pick(2):
            r, c = row + int(pick(-2, 3)), column + int(pick(-2, 3))
            declared[0, agent] = np.clip(r, 0, height - 1) * width + np.clip(c, 0, width - 1)
    declared[generator.random((1, agents)) < 0.3] = -1
    arguments = np.stack(
        [pick(0, agents, (1, agents)), pick(0, 16, (1, agents)),
         pick(0, config.item_cap + 1, (1, agents))], axis=2
    )  # fmt: skip
    arguments[generator.random((1, agents)) < 0.1] = -1
    return actions.astype(np.int32), declared.astype(np.int32), arguments.astype(np.int32)


def make_rules(config):
    return MacrafterRules(config, load_table(config))


def differences(state, oracle, rewards, is_deep):
    """Names of what the state and the oracle disagree on; `is_deep` compares whole maps too."""
    found = []

    def check(name, ours, theirs):
        if not np.array_equal(np.asarray(ours), np.asarray(theirs)):
            found.append(f"{name}: {np.asarray(ours).tolist()} against {theirs}")

    agents = oracle.agents
    check("stream", state.stream[0].tolist(), [oracle.stream.key, oracle.stream.counter])
    check("step", state.step[0], oracle.step_count)
    check("light", state.light[0], oracle.light)
    check("cells", state.agent_cell[0], [a.cell for a in agents])
    check("facings", state.agent_facing[0], [NAMES.index(a.facing) for a in agents])
    check("alive", state.is_alive[0], [a.alive for a in agents])
    check("terminated", state.is_terminated[0], [not a.alive for a in agents])
    check("asleep", state.is_asleep[0], [a.asleep for a in agents])
    check("inventory", state.inventory[0], [[a.items[i] for i in ITEMS] for a in agents])
    check("last health", state.last_health[0], [a.last_health for a in agents])
    check("counters", state.counters[0],
          [[a.hunger, a.thirst, a.fatigue, a.recovery] for a in agents])  # fmt: skip
    check(
        "achievements", state.achievements[0], [[a.wins[n] for n in ACHIEVEMENTS] for a in agents]
    )
    check("outcomes", state.agent_outcome[0], [OUTCOMES.index(o) for o in oracle.outcome])
    check("reasons", state.agent_reason[0], [REASONS.index(r) for r in oracle.reason])
    harm = [sum(1 << HARMS.index(name) for name in names) for names in oracle.harm]
    check("harm", state.agent_harm[0], harm)
    check("given", state.share_amount[0], oracle.given)
    check("row count", state.attempt_count[0], len(oracle.rows))
    check(
        "rows", state.attempts[0, : len(oracle.rows)].tolist(), [r.numbers() for r in oracle.rows]
    )
    check("unused rows", state.attempts[0, len(oracle.rows) :].any(), False)
    check("row scores", state.attempt_score[0, : len(oracle.rows)], [r.score for r in oracle.rows])
    check("row of", state.agent_attempt[0], oracle.row_of)
    check("parts", state.agent_part[0], oracle.part)
    check("score", state.score[0], oracle.score)
    check("truncated", state.is_truncated[0], oracle.truncated)
    check("rewards", rewards[0], np.array(oracle.rewards, np.float32))
    used = np.flatnonzero(state.creature_kind[0]).tolist()
    check("slots", used, sorted(oracle.creatures))
    if used == sorted(oracle.creatures):
        herd = [oracle.creatures[k] for k in used]
        check("kinds", state.creature_kind[0, used], [CREATURES.index(c.kind) for c in herd])
        check("creature cells", state.creature_cell[0, used].tolist(), [list(c.cell) for c in herd])
        check("timers", state.creature_timer[0, used], [c.timer for c in herd])
        check("healths", state.creature_health[0, used], [c.health for c in herd])
        check("serials", state.creature_serial[0, used], [c.serial for c in herd])
        check("born", state.creature_born[0, used], [c.born for c in herd])
        check("creature facings", state.creature_facing[0, used],
              [NAMES.index(c.facing) for c in herd])  # fmt: skip
    check("next serial", state.next_serial[0], oracle.next_serial)
    if is_deep:
        ground = np.zeros(state.material.shape[1:], np.uint8)
        for cell, name in oracle.material.items():
            ground[cell] = MATERIALS.index(name)
        check("material", state.material[0], ground)
        occupant = np.zeros(ground.shape, np.int32)
        for cell, (kind, which) in oracle.objects.items():
            occupant[cell] = which + 1 if kind == "agent" else -(which + 1)
        check("occupant", state.occupant[0], occupant)
        check("known", state.known[0], [a.known for a in agents])
    return found
