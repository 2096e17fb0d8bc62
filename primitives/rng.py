"""Chance, twice: the counter-based stream of the kernels, and `draw` for everything above them.

Stream: a pair (key, counter) of uint64, kept as `stream [..., 2]` in a world's state.
Source: the mixing function is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from primitives.compile import in_place, modular

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11, _1 = (np.uint64(n) for n in (30, 27, 31, 11, 1))
_ULP = 2.0**-53
SEED_LIMIT = 2**63

Stream = NDArray[np.uint64]


@modular
def mix(x: np.uint64) -> np.uint64:
    """Scramble one uint64 into another, one to one."""
    x = x ^ (x >> _30)
    x = x * _MIX_1
    x = x ^ (x >> _27)
    x = x * _MIX_2
    return x ^ (x >> _31)


@modular
def start(stream: Stream, seed: np.uint64) -> None:
    """Overwrite `stream` [2] uint64 with the stream of `seed`, at counter 0."""
    stream[0] = mix(seed + GOLDEN)
    stream[1] = np.uint64(0)


@modular
def fork(stream: Stream, label: int, child: Stream) -> None:
    """Overwrite `child` [2] with the child stream `label` of `stream` [2], which stays as it is."""
    child[0] = mix(mix(stream[0]) + (np.uint64(label) + _1) * GOLDEN)
    child[1] = np.uint64(0)


@modular
def next_u64(stream: Stream) -> np.uint64:
    """Draw a uint64 from `stream` [2]."""
    stream[1] += _1
    return mix(stream[0] + stream[1] * GOLDEN)


@in_place
def next_uniform(stream: Stream) -> float:
    """Draw a float64 in [0, 1) from `stream` [2]."""
    return np.float64(next_u64(stream) >> _11) * _ULP


@in_place
def next_below(stream: Stream, n: int) -> int:
    """Draw an int in 0..n-1 from `stream` [2]."""
    return int(next_uniform(stream) * n)


@in_place
def fill_below(stream: Stream, n: int, items: NDArray[np.int32]) -> None:
    """Overwrite `items` [N] int32 with draws of 0..n-1 from `stream` [2]."""
    for i in range(len(items)):
        items[i] = next_below(stream, n)


@in_place
def shuffle(stream: Stream, items: NDArray[np.int64]) -> None:
    """Shuffle `items` [N] in place with draws from `stream` [2]."""
    for i in range(len(items) - 1, 0, -1):
        j = next_below(stream, i + 1)
        items[i], items[j] = items[j], items[i]


def draw(seed: int, purpose: str, *keys: object) -> int:
    """A uint64 that depends on nothing but its arguments: BLAKE2b of `seed/purpose/k1/...`."""
    text = "/".join(str(part) for part in (seed, purpose, *keys))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def uniform(seed: int, purpose: str, *keys: object) -> float:
    """`draw` as a float64 in [0, 1)."""
    return draw(seed, purpose, *keys) / 2**64


def below(limit: int, seed: int, purpose: str, *keys: object) -> int:
    """`draw` as an int in 0..limit-1."""
    return draw(seed, purpose, *keys) * limit >> 64
