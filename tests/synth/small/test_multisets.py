"""Multisets by number, and how many sequences each stands for."""

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest

from discreet.synth.small.multisets import Multiplicity, multisets, number_of_multisets, primes_above


@pytest.mark.parametrize(("size", "kinds"), [(0, 3), (1, 1), (5, 1), (4, 2), (3, 3), (6, 4), (2, 9)])
def test_every_multiset_has_one_number(size, kinds):
    """Against all sequences, sorted."""
    numbers = np.arange(number_of_multisets(size, kinds))
    listed = list(map(tuple, multisets(numbers, size, kinds).T.tolist()))
    sequences = {tuple(row.count(kind) for kind in range(kinds)) for row in product(range(kinds), repeat=size)}
    assert len(listed) == len(sequences)
    assert set(listed) == sequences
    assert listed == sorted(listed)


def test_multisets_are_the_same_from_any_block():
    whole = multisets(np.arange(number_of_multisets(9, 5)), 9, 5)
    assert np.array_equal(multisets(np.array([700, 3, 714]), 9, 5), whole[:, [700, 3, 714]])


def test_numbers_of_databases_of_the_worked_examples():
    """|X| = 4 with N̂ = 34 and |X| = 8 with N̂ = 16; 4³⁴ sequences are 10^20.5."""
    assert number_of_multisets(34, 4) == 7_770
    assert number_of_multisets(16, 8) == 245_157
    assert np.log10(4.0**34) == pytest.approx(20.47, abs=0.005)
    assert Multiplicity(34, (1, 1, 1, 1)).total == 4**34


@pytest.mark.parametrize("each", [(1, 1, 1), (2, 1, 3), (4,), (1, 5)])
def test_multiplicities_count_sequences(each):
    """Against all sequences of four rows over the different rows of all kinds."""
    kind_of = [kind for kind, different in enumerate(each) for _ in range(different)]
    seen = Counter(
        tuple([kind_of[cell] for cell in row].count(kind) for kind in range(len(each)))
        for row in product(range(len(kind_of)), repeat=4)
    )
    multiplicity = Multiplicity(4, each)
    assert {counts: multiplicity.exact(counts) for counts in seen} == dict(seen)
    assert sum(seen.values()) == multiplicity.total


@pytest.mark.parametrize(("size", "each"), [(3, (1, 2)), (34, (1, 1, 1, 1)), (60, (3, 7, 2)), (200, (1, 40))])
def test_sums_by_residues_are_those_of_whole_numbers(size, each):
    """Sums over chosen multisets, from one to all of them, also beyond 64 bits."""
    multiplicity = Multiplicity(size, each)
    counts = multisets(np.arange(number_of_multisets(size, len(each))), size, len(each))
    residues = multiplicity.residues(counts)
    ends = [1, 3, counts.shape[1] // 2 + 1, counts.shape[1]]
    primes = multiplicity.primes
    sums = np.array(
        [[int(row[:end].sum()) % prime for end in ends] for row, prime in zip(residues, primes, strict=True)]
    )
    exact = [multiplicity.exact(column) for column in counts.T.tolist()]
    assert multiplicity.sums(sums) == [sum(exact[:end]) for end in ends]
    assert sum(exact) == sum(each) ** size


def test_primes_are_prime_different_and_enough():
    primes = primes_above(2**200)
    assert prod(primes) > 2**200 >= prod(primes[:-1])
    assert len(set(primes)) == len(primes)
    assert max(primes) < 2**31
    assert all(pow(base, prime - 1, prime) == 1 for prime in primes for base in (2, 3, 5, 7))
