"""What is random in MA-Crafter has the right distribution, and that of crafter 1.8.3.

Every figure that is compared is printed; `pytest -rP` shows them. The comparison with crafter
plays 200 episodes of each policy, or `COOPLAB_CRAFTER_EPISODES`.
"""

import numpy as np
import pytest
from macrafter_peer import crafter_env, ground, noise_seed, note
from scipy.stats import ks_2samp

from primitives import terrain_kernels as terrain
from worlds.errors import UnsolvableMap
from worlds.macrafter.config import configure
from worlds.macrafter.rules import MacrafterRules
from worlds.macrafter.state import ACHIEVEMENTS, CREATURES, MATERIALS
from worlds.macrafter.table import load_table

SEEDS = 200
CELLS = {
    "water": (829, 973),
    "grass": (1688, 1831),
    "stone": (527, 614),
    "path": (306, 372),
    "sand": (220, 250),
    "tree": (178, 198),
    "lava": (26, 37),
    "coal": (45, 54),
    "iron": (16, 21.5),
    "diamond": (2.5, 3.7),
}
WITHOUT_DIAMOND = (0, 0.12)
STARTERS = {"cow": (24.5, 27.9), "zombie": (13.4, 16), "skeleton": (8.8, 10.8)}
REJECTED = (0.03, 0.20)
MOST_Z = 4
KS_FACTOR = 1.95
CLASSES = np.array([0, 1, 2, 3, 4, 5, 2, 3, 3, 3, 3, 0, 0])
"""Materials by class: grass and tree; stone, ores and lava; path; sand; water."""
KNOWN_RATES = {
    "U": {"wake_up": 0.946, "collect_sapling": 0.50, "place_plant": 0.45, "collect_wood": 0.25,
          "collect_drink": 0.09, "place_table": 0.05},
    "V": {"collect_sapling": 0.96, "collect_wood": 0.76, "place_plant": 0.63,
          "collect_drink": 0.52, "place_table": 0.26, "eat_cow": 0.17, "defeat_zombie": 0.16,
          "make_wood_sword": 0.04, "make_wood_pickaxe": 0.03},
}  # fmt: skip
KNOWN_LENGTHS = {"U": (168, 43), "V": (177, 49)}
KNOWN_EPISODES = {"U": 1200, "V": 500}
FREE = {"ensure_solvable": False}


def rules_of(preset, **overrides):
    config = configure(preset, **overrides)
    return MacrafterRules(config, load_table(config))


@pytest.fixture(scope="module")
def our_maps():
    """[200, 64, 64], the maps of seeds 0 to 199."""
    rules = rules_of("solo", **FREE)
    return np.concatenate([rules.reset(seed).material for seed in range(SEEDS)])


def counts(maps):
    """[N, 13], cells of each material."""
    return np.array([np.bincount(one.ravel(), minlength=len(MATERIALS)) for one in maps])


def z_of_means(ours, theirs):
    spread = np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    return abs(ours.mean() - theirs.mean()) / spread if spread else 0.0


def z_of_rates(ours, theirs):
    """Pooled two-proportion z of two arrays of bool."""
    pooled = (ours.sum() + theirs.sum()) / (len(ours) + len(theirs))
    spread = np.sqrt(pooled * (1 - pooled) * (1 / len(ours) + 1 / len(theirs)))
    return abs(ours.mean() - theirs.mean()) / spread if spread else 0.0


# --- maps ----------------------------------------------------------------------------------------


def test_terrain_is_in_its_ranges(our_maps):
    means = counts(our_maps).mean(axis=0)
    for name, (low, high) in CELLS.items():
        mean = means[MATERIALS.index(name)]
        note(f"{name}: {mean:.2f}, range {low}..{high}")
        assert low <= mean <= high, f"{name}: {mean}"
    bare = (counts(our_maps)[:, MATERIALS.index("diamond")] == 0).mean()
    note(f"maps without diamond: {bare:.3f}")
    assert WITHOUT_DIAMOND[0] <= bare <= WITHOUT_DIAMOND[1], bare


def test_terrain_agrees_with_crafter(our_maps, crafter_play):
    theirs = counts(crafter_play["U"].maps)
    for name in CELLS:
        column = MATERIALS.index(name)
        ours = counts(our_maps)[:, column]
        z = z_of_means(ours, theirs[:, column])
        note(f"{name}: {ours.mean():.2f} and {theirs[:, column].mean():.2f}, z {z:.2f}")
        assert z < MOST_Z, f"{name}: {ours.mean()} and {theirs[:, column].mean()}"


def test_maps_of_one_noise_seed_are_those_of_crafter():
    pytest.importorskip("crafter")
    source, perm = np.zeros(256, np.int64), np.zeros(256, np.int64)
    material, is_tunnel = np.zeros((64, 64), np.uint8), np.zeros((64, 64), np.bool_)
    equal = []
    for seed in range(30):
        env = crafter_env(seed)
        terrain.fill_permutation(noise_seed(env), source, perm)
        terrain.fill_terrain(perm, np.array([seed, 0], np.uint64), material, is_tunnel)
        equal.append((CLASSES[material] == CLASSES[ground(env)]).mean())
    note(f"cells of equal class: {np.mean(equal):.6f}, least {min(equal):.6f}")
    assert np.mean(equal) >= 0.9995, equal


def test_noise_is_opensimplex():
    peer = pytest.importorskip("opensimplex")
    source, perm = np.zeros(256, np.int64), np.zeros(256, np.int64)
    terrain.fill_permutation(42, source, perm)
    assert abs(terrain.noise(perm, 0.5, 1.25, 3.0) + 0.5162979757568) < 1e-12
    points = np.random.default_rng(5).uniform(-30, 30, (50_000, 3)).tolist()
    worst = 0.0
    for k, seed in enumerate((0, 42, 2**31 - 2)):
        peer.seed(seed)
        terrain.fill_permutation(seed, source, perm)
        for point in points[k::3]:
            worst = max(worst, abs(peer.noise3(*point) - terrain.noise(perm, *point)))
    note(f"greatest difference: {worst:.2e}")
    assert worst <= 2e-4, worst


@pytest.mark.parametrize("preset", ["paper", "paper-6"])
def test_few_first_maps_are_rejected(preset):
    rules, strict = rules_of(preset), rules_of(preset, solvable_tries=1)
    rejected = 0
    for seed in range(SEEDS):
        try:
            first = strict.reset(seed)
        except UnsolvableMap:
            rejected += 1
            rules.reset(seed)
        else:
            if seed % 20 == 0:
                assert np.array_equal(first.material, rules.reset(seed).material), seed
    note(f"{preset}: {rejected / SEEDS:.3f} of the first tries rejected")
    assert REJECTED[0] <= rejected / SEEDS <= REJECTED[1], rejected


def test_creatures_at_the_start():
    rules = rules_of("solo", **FREE)
    kinds = [np.bincount(rules.reset(seed).creature_kind[0], minlength=6) for seed in range(300)]
    for name, (low, high) in STARTERS.items():
        mean = np.mean([kind[CREATURES.index(name)] for kind in kinds])
        note(f"{name}: {mean:.2f}, range {low}..{high}")
        assert low <= mean <= high, f"{name}: {mean}"


# --- play ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["U", "V"])
def test_achievements_are_as_likely_as_in_crafter(policy, our_play, crafter_play):
    ours, theirs = our_play[policy].wins, crafter_play[policy].wins
    found = []
    for column, name in enumerate(ACHIEVEMENTS):
        z = z_of_rates(ours[:, column], theirs[:, column])
        found.append((z, f"{name}: {ours[:, column].mean():.3f}, {theirs[:, column].mean():.3f}"))
        note(f"{found[-1][1]}, z {z:.2f}")
    assert max(found)[0] < MOST_Z, max(found)


@pytest.mark.parametrize("policy", ["U", "V"])
def test_episodes_are_as_long_as_in_crafter(policy, our_play, crafter_play):
    ours, theirs = our_play[policy].lengths, crafter_play[policy].lengths
    z, ks = z_of_means(ours, theirs), ks_2samp(ours, theirs).statistic
    bound = KS_FACTOR * np.sqrt(1 / len(ours) + 1 / len(theirs))
    note(f"mean {ours.mean():.1f} and {theirs.mean():.1f}, z {z:.2f}; KS {ks:.3f} < {bound:.3f}")
    assert z < MOST_Z, (ours.mean(), theirs.mean())
    assert ks < bound, (ks, bound)


@pytest.mark.parametrize("policy", ["U", "V"])
def test_rates_measured_before_are_met(policy, our_play):
    ours, known = our_play[policy], KNOWN_EPISODES[policy]
    length, spread = KNOWN_LENGTHS[policy]
    error = spread * np.sqrt(1 / len(ours.lengths) + 1 / known)
    note(f"mean length {ours.lengths.mean():.1f}, {length} +- {MOST_Z * error:.1f}")
    assert abs(ours.lengths.mean() - length) < MOST_Z * error, ours.lengths.mean()
    for column, name in enumerate(ACHIEVEMENTS):
        rate, won = KNOWN_RATES[policy].get(name, 0.01), ours.wins[:, column].mean()
        error = np.sqrt(rate * (1 - rate) * (1 / len(ours.wins) + 1 / known))
        low = rate - MOST_Z * error if name in KNOWN_RATES[policy] else 0.0
        note(f"{name}: {won:.3f}, {rate} +- {MOST_Z * error:.3f}")
        assert low <= won <= rate + MOST_Z * error, f"{name}: {won}"
