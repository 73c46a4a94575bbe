"""Random numbers that depend on nothing but what they are for.

Each value is a hash of (stream key, record index, purpose), so it is the same on
every machine, in every process, and in whichever order values are asked for.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_ODD = 0xD1B54A32D192ED03


def mix(key: int, index: int, purpose: int = 0) -> int:
    """Hash three integers to 64 bits; one-to-one in `index` (SplitMix64)."""
    z = (key + index * _GOLDEN + purpose * _ODD) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    return z ^ z >> 31


@lru_cache
def stream_key(seed: int, stream: str) -> int:
    """Give the key from which all values of a stream are drawn."""
    return mix(seed, crc32(stream.encode()))


def unit(key: int, index: int, purpose: int) -> float:
    """Draw from [0, 1), evenly."""
    return (mix(key, index, purpose) >> 11) * 2.0**-53


def exponential(key: int, index: int, purpose: int, mean: float) -> float:
    """Draw from the exponential distribution with the given mean."""
    return -mean * math.log(1.0 - unit(key, index, purpose))


class Source:
    """Many choices in a row; far cheaper to start than `random.Random`."""

    def __init__(self, seed: int) -> None:
        """Start a row that depends on nothing but the seed."""
        self._state = seed

    def pick(self, options: Sequence[_T]) -> _T:
        """Choose one of the options."""
        return options[self.whole(0, len(options) - 1)]

    def some(self, options: Sequence[_T], size: int) -> list[_T]:
        """Choose neighbours among the options, without repeating any."""
        start = self.whole(0, len(options) - 1)
        return [options[(start + step) % len(options)] for step in range(size)]

    def whole(self, least: int, most: int) -> int:
        """Choose an integer, both ends included."""
        # A linear congruential generator (Knuth's MMIX), of which only the high
        # bits are random enough.
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return least + (self._state >> 33) % (most - least + 1)

    def chance(self, probability: float) -> bool:
        """Say yes with a probability, in steps of a thousandth."""
        return self.whole(1, 1000) <= probability * 1000


def source(key: int, index: int, purpose: int) -> Source:
    """Give the source of the choices for one purpose."""
    return Source(mix(key, index, purpose))
