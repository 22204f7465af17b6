"""Coins and uniform choices from 32-bit words, the same in every language.

    coin        a word w falls heads iff w < T: probability exactly T/2³²
    uniform     words are drawn until w < 2³² − (2³² mod m), then w mod m: exactly 1/m each

Both forms are here: from a list of words, one report, as a browser runs it, and from a source, whole arrays.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.noise.source import Source

SIDES = 2**32  # a threshold is a whole number of these; T = SIDES is a coin that always falls heads
Draws = NDArray[np.uint32]
Bytes = NDArray[np.uint8]
BLOCK = 1 << 16  # reports that are drawn together: their words stay in the processor's cache


class WordList:
    """Words that were given, in order; refuses to go on where they end.

    >>> words = WordList([5, 2**32 - 1, 7])
    >>> words.coin(6), words.uniform(3)
    (True, 1)
    """

    def __init__(self, words: Iterable[int]) -> None:
        self._words: Iterator[int] = iter(words)

    def word(self) -> int:
        """The next word."""
        word = next(self._words, None)
        if word is None or isinstance(word, bool) or not 0 <= int(word) < SIDES:
            fix = "Give more whole numbers between 0 and 4294967295."
            raise bad("words", "must be enough 32-bit words for the report", word, fix)
        return int(word)

    def coin(self, threshold: int) -> bool:
        """Heads with probability threshold/2³²."""
        return self.word() < threshold

    def uniform(self, size: int) -> int:
        """One of 0 … size−1, each alike."""
        limit = SIDES - SIDES % size
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % size


def words(n: int, source: Source) -> Draws:
    """n words of the source."""
    return source.words(-(-n // 2)).view(np.uint32)[:n]


def coins(threshold: int, n: int, source: Source) -> NDArray[np.bool_]:
    """n coins of probability threshold/2³²."""
    if threshold >= SIDES:
        return np.ones(n, dtype=np.bool_)
    return words(n, source) < np.uint32(threshold)


def uniforms(size: int, n: int, source: Source) -> NDArray[np.unsignedinteger]:
    """n independent choices among 0 … size−1; of a byte's bits where those are enough and all alike."""
    if size <= 256 and size & (size - 1) == 0:
        return source.words(-(-n // 8)).view(np.uint8)[:n] & np.uint8(size - 1)
    draws = words(n, source)
    if size & (size - 1) == 0:
        return draws & np.uint32(size - 1)
    limit = SIDES - SIDES % size
    rejected = np.flatnonzero(draws >= np.uint32(limit))
    if rejected.size:
        draws = draws.copy()
        while rejected.size:
            draws[rejected] = words(rejected.size, source)
            rejected = rejected[draws[rejected] >= np.uint32(limit)]
    return draws % np.uint32(size)


def bytes_of(numbers: NDArray[np.unsignedinteger], width: int) -> Bytes:
    """Each number as `width` little-endian bytes: an array (n, width)."""
    if width == 1:
        return numbers.astype(np.uint8).reshape(-1, 1)
    if width == 2:
        return numbers.astype("<u2").view(np.uint8).reshape(-1, 2)
    return np.ascontiguousarray(numbers.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width])


def numbers_of(reports: Bytes) -> NDArray[np.unsignedinteger]:
    """The numbers that `bytes_of` wrote, in the shortest type that holds them."""
    n, width = reports.shape
    if width in (1, 2, 4):
        return np.ascontiguousarray(reports).view(f"<u{width}")[:, 0]
    padded = np.zeros((n, 4), dtype=np.uint8)
    padded[:, :width] = reports
    return padded.view("<u4")[:, 0]


def histogram(reports: Bytes, cells: int) -> Ints:
    """How many reports have each number below `cells`, which all of them are."""
    numbers = numbers_of(reports)
    if cells == 2:
        ones = int(np.count_nonzero(numbers))
        return np.array([numbers.size - ones, ones])
    totals = np.zeros(cells, dtype=np.int64)
    block = max(BLOCK, 4 * cells)
    for start in range(0, numbers.size, block):
        totals += np.bincount(numbers[start : start + block], minlength=cells)
    return totals


def width_of(cells: int) -> int:
    """Bytes that hold 0 … cells−1."""
    return max(1, -(-(cells - 1).bit_length() // 8))
