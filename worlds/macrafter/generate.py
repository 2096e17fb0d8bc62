"""Start states of MA-Crafter: drawn by chance from a seed, or by hand from a text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives import creature_kernels, rng, terrain_kernels
from primitives.creature_kernels import Herd, Team
from primitives.macrafter_kernels import see
from primitives.rng import SEED_LIMIT
from primitives.terrain_kernels import Land
from worlds.errors import ConfigError, UnsolvableMap
from worlds.macrafter.config import MacrafterConfig
from worlds.macrafter.numbers import table_numbers
from worlds.macrafter.state import (
    ARROW_LETTERS,
    CREATURE_LETTERS,
    CREATURES,
    ITEMS,
    MATERIAL_LETTERS,
    MATERIALS,
    RIPE_LETTER,
    WALKABLE,
    MacrafterState,
    allocate,
)
from worlds.macrafter.table import Table, load_table

__all__ = ["RIPE_AGE", "check_seed", "from_drawing", "start", "to_drawing"]

RIPE_AGE = creature_kernels.RIPE_AGE + 1
"""Age at which a plant is ripe and stops ageing."""
GRASS_LETTERS = "0123456789czpP"
"""Letters of things that are drawn standing on grass."""
PATH_LETTERS = "k" + ARROW_LETTERS
"""Letters of things that are drawn standing on path."""
PLAY_LABEL = 1
FIRST_TRY_LABEL = 100
"""Labels of the stream that is kept in the state, and of that of the first try at a map."""
NOISE_SEEDS = 2**31 - 1
NOT_COUNTED = -1
"""In place of usable cells: the team found no room to start."""
CLEARED = ("tree", "stone")
"""Sources a team can clear away, and so pass."""
NEEDED = ("tree", "stone", "coal", "iron", "diamond")
"""Sources of which a solvable map has at least one."""
PICKAXES = ITEMS[10:13]
STATIONS = ("table", "furnace")


def check_seed(seed: object) -> int:
    """`seed` itself. Raises ConfigError unless it is an integer 0..2**63-1."""
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_integer or not 0 <= int(seed) < SEED_LIMIT:  # type: ignore[call-overload]
        raise ConfigError(f"seed is {seed!r}; allowed: an integer 0..{SEED_LIMIT - 1}")
    return int(seed)  # type: ignore[call-overload, no-any-return]


# --- by chance -----------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """What generation asks of a configuration.

    is_passable: [13] bool. need, wanted: [13] int32, agents and usable cells asked of a source.
    is_on: [3] bool, cows, zombies, skeletons. health: [6] int64, of new creatures by kind.
    """

    is_passable: NDArray[np.bool_]
    need: NDArray[np.int32]
    wanted: NDArray[np.int32]
    is_on: NDArray[np.bool_]
    health: NDArray[np.int64]


class _Draft(NamedTuple):
    """Buffers of one try: noise permutation and its source [256], tunnels, region, names of
    regions and cells near agents [H, W], cells in line [H * W], numbers taken [A], usable cells
    of each source [13]."""

    source: NDArray[np.int64]
    perm: NDArray[np.int64]
    is_tunnel: NDArray[np.bool_]
    region: NDArray[np.bool_]
    label: NDArray[np.int32]
    near: NDArray[np.uint8]
    queue: NDArray[np.int64]
    taken: NDArray[np.int64]
    usable: NDArray[np.int32]


def start(config: MacrafterConfig, table: Table, seed: int, worlds: int = 1) -> MacrafterState:
    """A fresh batch of `worlds` worlds; world b is that of seed + b, modulo 2**63.

    Raises ConfigError for a bad seed, UnsolvableMap when no map was found.
    """
    first, shape = check_seed(seed), config.shape
    state = allocate(worlds, config.agents, *shape)
    numbers = table_numbers(config, table)
    plan = _plan(config, table)
    draft = _Draft(
        np.zeros(terrain_kernels.PERMUTATION, np.int64),
        np.zeros(terrain_kernels.PERMUTATION, np.int64),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.int32),
        np.zeros(shape, np.uint8),
        np.zeros(shape[0] * shape[1], np.int64),
        np.zeros(config.agents, np.int64),
        np.zeros(len(MATERIALS), np.int32),
    )
    state.light[:] = numbers.light[0]
    for b in range(worlds):
        _start_one(state, b, (first + b) % SEED_LIMIT, config, plan, draft)
        _see(state, b, numbers.settings)
    return state


def _start_one(
    state: MacrafterState,
    b: int,
    seed: int,
    config: MacrafterConfig,
    plan: _Plan,
    draft: _Draft,
) -> None:
    root, stream = np.zeros(2, np.uint64), np.zeros(2, np.uint64)
    rng.start(root, np.uint64(seed))
    for attempt in range(config.solvable_tries):
        rng.fork(root, FIRST_TRY_LABEL + attempt, stream)
        if _try(state, b, config, plan, draft, stream):
            rng.fork(root, PLAY_LABEL, state.stream[b])
            return
    raise UnsolvableMap(_shortage(seed, config, plan, draft))


def _try(
    state: MacrafterState,
    b: int,
    config: MacrafterConfig,
    plan: _Plan,
    draft: _Draft,
    stream: NDArray[np.uint64],
) -> bool:
    """Fill world `b` from `stream`; whether the map holds and suffices the team."""
    material, cells = state.material[b], state.agent_cell[b]
    is_together = config.spawn == "together"
    terrain_kernels.fill_permutation(rng.next_below(stream, NOISE_SEEDS), draft.source, draft.perm)
    terrain_kernels.fill_terrain(draft.perm, stream, material, draft.is_tunnel)
    terrain_kernels.mark_region(
        material, plan.is_passable, is_together, draft.region, draft.label, draft.queue
    )
    draft.usable[:] = NOT_COUNTED
    if is_together:
        is_placed = _start_together(material, draft.region, cells)
    else:
        where = draft.region if config.ensure_solvable else np.ones_like(draft.region)
        is_placed = terrain_kernels.start_scattered(
            material, where, stream, cells, draft.queue, draft.taken
        )
    if not is_placed:
        return False
    if config.ensure_solvable:
        terrain_kernels.count_usable(material, draft.region, plan.need, config.reach, draft.usable)
        if (draft.usable < plan.wanted).any():
            return False
    state.occupant[b, cells[:, 0], cells[:, 1]] = np.arange(1, config.agents + 1)
    land = Land(material, state.occupant[b])
    herd = Herd(
        state.creature_kind[b],
        state.creature_cell[b],
        state.creature_health[b],
        state.creature_timer[b],
        state.creature_facing[b],
        state.creature_serial[b],
        state.creature_born[b],
        state.next_serial[b : b + 1],
    )
    creature_kernels.scatter_creatures(
        land, herd, cells, stream, draft.is_tunnel, plan.is_on, plan.health, draft.near
    )
    return True


def _start_together(
    material: NDArray[np.uint8], region: NDArray[np.bool_], cells: NDArray[np.int16]
) -> bool:
    """Put agent 0, 1, ... on the grass of `region` nearest to the middle; False if it is too small.

    Nearest by (squared distance, row, column). cells: [A, 2] int16, overwritten on success.
    """
    height, width = material.shape
    grass = np.flatnonzero(region & (material == MATERIALS.index("grass")))
    if len(grass) < len(cells):
        return False
    rows, columns = np.divmod(grass, width)
    near = (rows - height // 2) ** 2 + (columns - width // 2) ** 2
    first = np.sort(near * material.size + grass)[: len(cells)] % material.size
    cells[:, 0], cells[:, 1] = np.divmod(first, width)
    return True


def _see(state: MacrafterState, b: int, settings: NDArray[np.int64]) -> None:
    """Let the agents of world `b` see for the first time."""
    team = Team(
        state.agent_cell[b],
        state.agent_facing[b],
        state.agent_harm[b],
        state.is_alive[b],
        state.is_asleep[b],
        state.inventory[b],
        state.counters[b],
        state.achievements[b],
    )
    see(state.material[b], team, settings, state.known[b])


def _plan(config: MacrafterConfig, table: Table) -> _Plan:
    need = np.zeros(len(MATERIALS), np.int32)
    for source, row in table.collect.items():
        if source != "grass" or config.plants:
            need[MATERIALS.index(source)] = row.agents
    passable = [
        name in WALKABLE or (name in CLEARED and 0 < need[i] <= config.agents)
        for i, name in enumerate(MATERIALS)
    ]
    health = [table.creature[kind].health if kind in table.creature else 0 for kind in CREATURES]
    return _Plan(
        is_passable=np.array(passable, np.bool_),
        need=need,
        wanted=_wanted(config, table),
        is_on=np.array([config.cows, config.zombies, config.skeletons], np.bool_),
        health=np.array(health, np.int64),
    )


def _wanted(config: MacrafterConfig, table: Table) -> NDArray[np.int32]:
    """Usable cells a solvable map has of each source: enough for all pickaxes and two stations."""
    wanted = np.zeros(len(MATERIALS), np.int32)
    for source in NEEDED:
        if source in table.collect:
            row = table.collect[source]
            each = sum(table.make[tool].uses.get(row.gives, 0) for tool in PICKAXES)
            once = sum(table.place[station].uses.get(row.gives, 0) for station in STATIONS)
            units, yielded = config.agents * each + once, row.amount * row.agents
            wanted[MATERIALS.index(source)] = max(1, -(-units // yielded))
    if config.vitals and "water" in table.collect:
        wanted[MATERIALS.index("water")] = 1
    return wanted


def _shortage(seed: int, config: MacrafterConfig, plan: _Plan, draft: _Draft) -> str:
    """Why the last try failed, in one sentence."""
    rows, columns = config.shape
    short = [
        f"{name} {draft.usable[i]} of {plan.wanted[i]}"
        for i, name in enumerate(MATERIALS)
        if draft.usable[i] < plan.wanted[i]
    ]
    if draft.usable[0] == NOT_COUNTED:
        short = ["grass cells to start on"]
    return (
        f"no map for {config.agents} agents on {rows} x {columns} cells in "
        f"{config.solvable_tries} tries, seed {seed}; the last one was short of "
        f"{', '.join(short)}"
    )


# --- by hand -------------------------------------------------------------------------------------


def from_drawing(text: str, config: MacrafterConfig) -> MacrafterState:
    """A batch of one as drawn, a letter a cell, of the drawing's own size and team.

    Slots and serials of creatures follow row-major order. Raises ConfigError with the row and
    column of what is wrong.
    """
    rows = [line.strip() for line in text.strip().splitlines()]
    _check_shape(rows)
    agents = _agents(rows)
    state = allocate(1, len(agents), len(rows), len(rows[0]))
    table = load_table(config)
    numbers = table_numbers(config, table)
    state.light[:] = numbers.light[0]
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            _put(state, (r, c), letter, table)
    _start_stream(state.stream[0], config.seed)
    _see(state, 0, numbers.settings)
    return state


def to_drawing(state: MacrafterState) -> str:
    """The one world of `state` as a drawing; agents print modulo 10."""
    lines = [[MATERIAL_LETTERS[ground] for ground in row] for row in state.material[0].tolist()]
    for row, column in np.argwhere(state.occupant[0]).tolist():
        holder = int(state.occupant[0, row, column])
        lines[row][column] = str((holder - 1) % 10) if holder > 0 else _sign(state, -holder - 1)
    return "\n".join("".join(line) for line in lines)


def _sign(state: MacrafterState, slot: int) -> str:
    """The letter of a creature."""
    kind = CREATURES[state.creature_kind[0, slot]]
    if kind == "arrow":
        return ARROW_LETTERS[state.creature_facing[0, slot]]
    if kind == "plant" and state.creature_timer[0, slot] >= RIPE_AGE:
        return RIPE_LETTER
    return CREATURE_LETTERS[CREATURES.index(kind)]


def _check_shape(rows: list[str]) -> None:
    if not rows:
        raise ConfigError("drawing is empty; allowed: one letter a cell")
    for r, line in enumerate(rows):
        if len(line) != len(rows[0]):
            raise ConfigError(
                f"drawing row {r} has {len(line)} columns; allowed: {len(rows[0])}, as row 0"
            )
        for c, letter in enumerate(line):
            if letter not in MATERIAL_LETTERS[1:] + GRASS_LETTERS + PATH_LETTERS:
                allowed = MATERIAL_LETTERS[1:] + GRASS_LETTERS + PATH_LETTERS
                raise ConfigError(
                    f"drawing has {letter!r} at row {r}, column {c}; allowed: {allowed}"
                )


def _agents(rows: list[str]) -> list[int]:
    """Ids of the agents, ascending from 0 without gaps."""
    cells: dict[int, tuple[int, int]] = {}
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter.isdigit():
                if int(letter) in cells:
                    raise ConfigError(
                        f"drawing has agent {letter} again at row {r}, column {c}; allowed: once"
                    )
                cells[int(letter)] = (r, c)
    for agent in sorted(cells):
        if agent >= len(cells):
            r, c = cells[agent]
            raise ConfigError(
                f"drawing has agent {agent} at row {r}, column {c}; allowed: ids 0.."
                f"{len(cells) - 1} without gaps"
            )
    if not cells:
        raise ConfigError("drawing has no agent; allowed: digits 0..9, from 0 without gaps")
    return sorted(cells)


def _put(state: MacrafterState, cell: tuple[int, int], letter: str, table: Table) -> None:
    if letter in MATERIAL_LETTERS:
        state.material[0][cell] = MATERIAL_LETTERS.index(letter)
        return
    ground = "grass" if letter in GRASS_LETTERS else "path"
    state.material[0][cell] = MATERIALS.index(ground)
    if letter.isdigit():
        state.agent_cell[0, int(letter)] = cell
        state.occupant[0][cell] = int(letter) + 1
    else:
        _put_creature(state, cell, letter, table)


def _put_creature(state: MacrafterState, cell: tuple[int, int], letter: str, table: Table) -> None:
    slot = int(state.next_serial[0])
    if slot == state.creature_kind.shape[1]:
        raise ConfigError(f"drawing has more than {slot} creatures; allowed: {slot}")
    kind = _kind_of(letter)
    state.creature_kind[0, slot] = kind
    state.creature_cell[0, slot] = cell
    state.creature_serial[0, slot] = slot
    state.creature_born[0, slot] = -1
    row = table.creature.get(CREATURES[kind])
    state.creature_health[0, slot] = row.health if row else 0
    state.creature_timer[0, slot] = RIPE_AGE if letter == RIPE_LETTER else 0
    facing = ARROW_LETTERS.index(letter) if letter in ARROW_LETTERS else 1
    state.creature_facing[0, slot] = facing
    state.occupant[0][cell] = -(slot + 1)
    state.next_serial[0] += 1


def _kind_of(letter: str) -> int:
    if letter in ARROW_LETTERS:
        return CREATURES.index("arrow")
    return CREATURE_LETTERS.index(letter.lower())


def _start_stream(stream: np.ndarray, seed: int) -> None:
    """Overwrite `stream` [2] with the one a world of `seed` plays with."""
    root = np.zeros(2, np.uint64)
    rng.start(root, np.uint64(seed))
    rng.fork(root, PLAY_LABEL, stream)
