"""Many biased bits at once, and the sums of columns of bits, 64 to a word.

A bit is a coin `u < T` for a uniform 32-bit u whose digits are drawn from the highest on, for 64 coins together: a coin
is decided at the first digit that differs from T's.  Columns are added by full adders (three rows become a sum and a
carry), so that a count of n rows is read off some 2·log₂ n rows.
"""

import numpy as np

from discreet.local.words import Bytes
from discreet.ndarrays import Bools, Ints, Words
from discreet.noise.source import Source

_DIGITS = 32
_BLOCK = 1 << 12  # reports that are counted together


def biased_words(threshold: int, n: int, source: Source) -> Words:
    """n words of 64 independent bits, each 1 with probability threshold/2³², threshold < 2³²."""
    result = np.zeros(n, dtype=np.uint64)
    open_words = np.arange(n)  # those with coins that are not decided
    undecided = np.full(n, ~np.uint64(0))
    for digit in range(_DIGITS - 1, -1, -1):
        if not open_words.size:
            break
        if threshold & ((1 << (digit + 1)) - 1) == 0:
            break  # T has no more digits above 0: whoever is undecided has u ≥ T
        drawn = source.words(open_words.size)
        if threshold >> digit & 1:
            result[open_words] |= undecided & ~drawn
            undecided = undecided & drawn
        else:
            undecided = undecided & ~drawn
        if digit <= _DIGITS - 6:
            left = undecided != 0
            open_words, undecided = open_words[left], undecided[left]
    return result


def column_sums(rows: Words) -> Ints:
    """How many rows of (n, width) words have each of the 64·width bits set."""
    totals = np.zeros(64 * rows.shape[1], dtype=np.int64)
    weight = 1
    while len(rows):
        carries = []
        while (third := len(rows) // 3) > 0:
            a, b, c = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
            half = a ^ b
            carries.append((a & b) | (c & half))
            rows = np.concatenate([half ^ c, rows[3 * third :]])
        bits = np.unpackbits(rows.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        totals += weight * bits.sum(axis=0, dtype=np.int64)
        rows = np.concatenate(carries) if carries else rows[:0]
        weight *= 2
    return totals


def words_of_bytes(reports: Bytes) -> Words:
    """Rows of bytes as rows of words, padded with 0."""
    n, width = reports.shape
    if width % 8 == 0:
        return np.ascontiguousarray(reports).view("<u8")
    padded = np.zeros((n, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = reports
    return padded.view("<u8")


def bytes_of_words(words: Words, width: int) -> Bytes:
    """The first `width` bytes of each row of words."""
    return words.astype("<u8").view(np.uint8)[:, :width]


def bit_totals(reports: Bytes, size: int) -> Ints:
    """How many reports have each of the first `size` bits set."""
    totals = np.zeros(size, dtype=np.int64)
    for start in range(0, len(reports), _BLOCK):
        totals += column_sums(words_of_bytes(reports[start : start + _BLOCK]))[:size]
    return totals


def bit_of(reports: Bytes, place: int) -> Bools:
    """Which reports have that bit set."""
    return (reports[:, place // 8] >> np.uint8(place % 8) & 1).astype(np.bool_)


def has_spare_bits(reports: Bytes, size: int) -> Bools:
    """Which reports have a bit set beyond the first `size`."""
    spare = -size % 8
    return reports[:, -1] >> np.uint8(8 - spare) != 0 if spare else np.zeros(len(reports), dtype=np.bool_)
