"""Sizes and bounds, against all tables of tiny domains."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.synth.small.selection import selection_of
from discreet.synth.small.size import lecture_size, size_of, tight_size, told_apart
from synth.small.twins import histograms, table

TABLES = {
    "three atoms": table("110", "011"),
    "one query": table("0011"),
    "all subsets of three": table("100", "010", "001", "110"),
    "binary columns": table("0011", "0101", "0001", "0111"),
    "cells alike": table("00011", "00111"),
}


def test_sizes_of_the_worked_examples():
    """K = 8, α = 0.3: log₂8/0.09 = 33.3 and ln 16/0.18 = 15.4."""
    assert lecture_size(8, "0.3") == 34
    assert tight_size(8, "0.3") == 16


@pytest.mark.parametrize("queries", [2, 3, 4, 7, 8, 1000, 10**6])
@pytest.mark.parametrize("alpha", ["0.5", "0.3", "1/4", "0.1", 0.07])
def test_sizes_are_the_least_that_their_formulas_allow(queries, alpha):
    with mpmath.workdps(60):
        square = mpmath.mpf(Fraction(str(alpha)).numerator) ** 2 / Fraction(str(alpha)).denominator ** 2
        assert lecture_size(queries, alpha) == mpmath.ceil(mpmath.log(queries) / mpmath.log(2) / square - 1e-40)
        assert tight_size(queries, alpha) == mpmath.ceil(mpmath.log(2 * queries) / (2 * square))


def test_a_whole_quotient_is_not_rounded_up():
    assert lecture_size(4, "0.5") == 8
    assert lecture_size(16, "0.5") == 16


def test_the_tight_size_is_never_above_the_lectures():
    for queries in (2, 3, 10, 10**4):
        for alpha in ("0.9", "0.5", "0.1"):
            assert tight_size(queries, alpha) <= lecture_size(queries, alpha)


@pytest.mark.parametrize(
    ("size", "alpha", "match"),
    [
        ("medium", "0.3", "size must be lecture, tight or a whole number"),
        ("tight", None, "alpha must be given"),
        ("tight", 0, "alpha must be a decimal number strictly between 0 and 1"),
        ("tight", "1.5", "alpha must be a decimal number strictly between 0 and 1"),
        ("tight", "0.01", "alpha must be so large"),
        (12, "0.3", "alpha must be left out"),
        (0, None, "size must be a whole number between 1 and 4096"),
        (2.5, None, "size must be a whole number"),
        (True, None, "size must be a whole number"),
    ],
)
def test_bad_sizes_are_refused(size, alpha, match):
    with pytest.raises(BadValue, match=match):
        size_of(size, alpha, 8)


def test_the_lectures_size_of_a_single_query_is_refused():
    with pytest.raises(BadValue, match="single query"):
        size_of("lecture", "0.3", 1)
    assert size_of("tight", "0.3", 1).rows == 4


@pytest.mark.parametrize("truths", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("size", ["lecture", "tight", 1, 2, 5])
def test_some_database_is_as_near_to_every_table_as_the_bounds_say(truths, size):
    """All tables of seven rows."""
    if truths.shape[0] == 1 and size == "lecture":
        size = 9
    alpha = "0.45" if isinstance(size, str) else None
    selection = selection_of(truths, epsilon=1, public_rows=7, size=size, alpha=alpha)
    distances = [selection.law(counts).nearest for counts in histograms(truths.shape[1], 7)]
    assert max(distances) <= float(selection.setting.nearest)
    assert max(distances) < float(selection.setting.size.alpha)
    assert selection.setting.nearest <= selection.setting.size.alpha


@pytest.mark.parametrize("truths", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("epsilon", [3, 12, 40])
@pytest.mark.parametrize("unit_rows", [1, 2])
def test_bounds_hold_for_every_table_by_the_exact_law(truths, epsilon, unit_rows):
    """All tables of six rows, size 3, three levels: the chance of a worst error at the bound or above."""
    for level in ("0.5", "0.9", "0.95"):
        selection = selection_of(truths, epsilon=epsilon, public_rows=6, size=3, level=level, unit_rows=unit_rows)
        assert selection.bound <= selection.lecture_bound
        for counts in histograms(truths.shape[1], 6):
            law = selection.law(counts)
            assert law.chances[law.errors >= selection.bound].sum() <= 1 - float(level)


def test_our_bound_is_not_far_above_the_worst_table():
    """A bound at half of ours is broken by some table: the test above can fail."""
    selection = selection_of(table("100", "010", "001"), epsilon=30, public_rows=6, size=3)
    broken = [
        law.chances[law.errors >= selection.bound / 2].sum() > 0.05 for law in map(selection.law, histograms(3, 6))
    ]
    assert selection.bound < 1
    assert any(broken)


def test_bounds_are_the_formulas_of_their_page():
    """|X| = 1,024, K = 1,000, N = 10⁴, ε = 1, the notes' size 81."""
    truths = np.array([[bool((cell * 2654435761 >> shift) & 1) for cell in range(6)] for shift in range(5)])
    selection = selection_of(truths, epsilon="0.5", public_rows=10**4, size="lecture", alpha="0.4", level="0.9")
    rows, queries = selection.candidates.size, truths.shape[0]
    assert rows == math.ceil(math.log2(queries) / 0.16)
    excess = 2 / (0.5 * 10**4) * (rows * math.log(6) - math.log(0.1))
    assert selection.lecture_bound == pytest.approx(0.4 + excess)
    nearest = float(selection.setting.nearest)
    least = selection.setting.least_cells
    assert selection.bound == pytest.approx(nearest + 2 / 5000 * (rows * math.log(6 / least) - math.log(0.1)))


def test_queries_that_differ_are_counted_once_with_their_opposites():
    assert told_apart(table("110", "001", "110", "111", "000", "010")) == 2


def test_queries_that_tell_nothing_apart_leave_no_error():
    selection = selection_of(table("111"), epsilon=1, public_rows=5, size=2)
    assert selection.setting.nearest == 0
    assert selection.law([5, 0, 0]).nearest == 0
