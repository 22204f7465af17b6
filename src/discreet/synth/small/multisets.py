"""All multisets of `size` rows over a few kinds of row, by number, and how many sequences of rows each stands for.

    T(r, m) = C(r + m − 1, m − 1)       multisets of r rows over m kinds
    M(c) = size!·∏ g_s^(c_s)/c_s!       sequences with c_s rows of kind s, where kind s has g_s different rows

Σ M(c) over all multisets is (Σ g_s)^size.  The numbers M are too large for 64 bits, so they are added up modulo
several primes below 2³¹, and the sums are put together again by the Chinese remainder theorem.
Proof page: docs/proofs/synth/small.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from flint import fmpz

from discreet.ndarrays import Ints, Words

_LARGEST_PRIME = 2**31 - 1  # a product of two residues stays below 2⁶²


def number_of_multisets(size: int, kinds: int) -> int:
    """T(size, kinds): how many multisets there are.

    >>> number_of_multisets(34, 4), number_of_multisets(16, 8)
    (7770, 245157)
    """
    return math.comb(size + kinds - 1, kinds - 1)


def multisets(numbers: Ints, size: int, kinds: int) -> Ints:
    """The multisets with these numbers, 0 … T − 1, one a column: how many rows of each kind.

    The first c rows of the first kind come after all multisets with fewer of it.  T(r, m) − T(r − c, m) multisets have
    fewer than c rows of the first of m kinds, so a search in the table of T(·, m) finds c.

    >>> multisets(np.arange(4), 3, 2).tolist()
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    """
    counts = np.zeros((kinds, numbers.size), dtype=np.int64)
    left, rest = np.full(numbers.size, size, dtype=np.int64), numbers.astype(np.int64)
    for kind in range(kinds - 1):
        table = _tables(size, kinds - kind)
        present = table[left]
        after = np.searchsorted(table, present - rest)  # rows that later kinds get
        counts[kind] = left - after
        rest -= present - table[after]
        left = after
    counts[kinds - 1] = left
    return counts


@cache
def _tables(size: int, kinds: int) -> Ints:
    """T(0, kinds) … T(size, kinds)."""
    return np.array([number_of_multisets(rows, kinds) for rows in range(size + 1)], dtype=np.int64)


@dataclass(frozen=True)
class Multiplicity:
    """M of multisets of `size` rows, where kind s has `each[s]` different rows."""

    size: int
    each: tuple[int, ...]

    @property
    def total(self) -> int:
        """Σ M over all multisets: how many sequences there are."""
        total: int = sum(self.each) ** self.size
        return total

    @cached_property
    def primes(self) -> tuple[int, ...]:
        """Primes above `size` whose product is above every sum of M."""
        return primes_above(self.total)

    def exact(self, counts: Sequence[int]) -> int:
        """M of one multiset.

        >>> Multiplicity(3, (1, 2)).exact([1, 2])
        12
        """
        ways, left = 1, self.size
        for number, different in zip(counts, self.each, strict=True):
            ways *= math.comb(left, number) * different**number
            left -= number
        return ways

    def residues(self, counts: Ints) -> Words:
        """M of many multisets, a row for each prime; `counts` has one multiset a column."""
        rows = []
        for prime, table in zip(self.primes, self._residue_tables, strict=True):
            product = table[0][counts[0]]
            for kind in range(1, len(self.each)):
                product = (product * table[kind][counts[kind]]) % np.uint64(prime)
            rows.append(product)
        return np.array(rows, dtype=np.uint64)

    @cached_property
    def _residue_tables(self) -> list[Words]:
        """By prime and kind: the residues of g_s^c/c! for c = 0 … size, those of the first kind times size!."""
        tables = []
        for prime in self.primes:
            inverse = [1] * (self.size + 1)
            factorial = math.factorial(self.size) % prime
            inverse[self.size] = pow(factorial, -1, prime)
            for number in range(self.size, 0, -1):
                inverse[number - 1] = inverse[number] * number % prime
            table = [
                [inverse[number] * pow(different, number, prime) % prime for number in range(self.size + 1)]
                for different in self.each
            ]
            table[0] = [entry * factorial % prime for entry in table[0]]
            tables.append(np.array(table, dtype=np.uint64))
        return tables

    def sums(self, residues: Ints) -> list[int]:
        """The whole numbers from 0 to `total` with these residues: one row for each prime, one number a column."""
        modulus = math.prod(self.primes)
        parts = [modulus // prime * pow(modulus // prime, -1, prime) for prime in self.primes]
        return [
            sum(part * residue for part, residue in zip(parts, column, strict=True)) % modulus
            for column in residues.T.tolist()
        ]


@cache
def primes_above(limit: int) -> tuple[int, ...]:
    """The largest primes below 2³¹, as many as make a product above `limit`.

    >>> primes_above(2**40)
    (2147483647, 2147483629)
    """
    primes, product, candidate = [], 1, _LARGEST_PRIME
    while product <= limit:
        if fmpz(candidate).is_prime():
            primes.append(candidate)
            product *= candidate
        candidate -= 2
    return tuple(primes)
