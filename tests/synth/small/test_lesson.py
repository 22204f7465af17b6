"""The bound beside what was reached on invented tables."""

import numpy as np
import pytest

from discreet.errors import BadValue
from discreet.noise.source import SYSTEM
from discreet.synth.small.lesson import invented_histogram, lesson, worst_errors
from discreet.synth.small.selection import selection_of
from synth.small.twins import table

QUERIES = table("00001111", "00110011", "01010101", "00000011", "01111111", "10010110")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("epsilon", ["0.2", "1"])
def test_worst_errors_stay_within_the_bound_as_often_as_it_says(seed, epsilon):
    """1,000 runs.  The bound is for the worst table: here a miss has a chance below 1 %, so 51 of them one of 10⁻¹⁸."""
    selection = selection_of(QUERIES, epsilon=epsilon, public_rows=400, size="tight", alpha="0.4")
    told = lesson(selection, invented_histogram(8, 400, seed), 1000)
    assert selection.bound < 1
    assert told.law.chances[told.law.errors >= selection.bound].sum() < 0.01
    assert told.errors.size == 1000
    assert told.within >= 0.95
    assert (told.errors <= selection.lecture_bound).mean() >= 0.95


def test_a_bound_that_is_too_small_is_seen():
    """1,000 runs: the exact median is passed by at least a third of them."""
    selection = selection_of(QUERIES, epsilon="0.05", public_rows=400, size=6)
    told = lesson(selection, invented_histogram(8, 400, 1), 1000)
    below = told.law.errors[told.law.errors < told.law.quantile("0.5")].max()
    assert (told.errors <= below).mean() < 0.5 + 5 * 0.5 / 1000**0.5


def test_worst_errors_are_those_of_shares():
    histogram = invented_histogram(8, 400, 3)
    selection = selection_of(QUERIES, epsilon=1, public_rows=400, size=5)
    drawn = selection.mechanism.many(selection.counts(histogram), 50, SYSTEM)
    slow = [np.abs(QUERIES @ database / 5 - QUERIES @ histogram / 400).max() for database in drawn]
    assert worst_errors(selection, histogram, drawn) == pytest.approx(slow)


def test_a_lesson_goes_from_promises_to_what_was_reached():
    selection = selection_of(QUERIES, epsilon=1, public_rows=400, size="lecture", alpha="0.6")
    told = lesson(selection, invented_histogram(8, 400, 1), 300)
    figures = dict(told.lines)
    values = list(figures.values())
    assert values[0] >= values[1] >= values[2] >= values[3] >= values[4]
    assert figures["on average of 300 draws"] == pytest.approx(
        told.law.mean, abs=6 * told.errors.std() / 300**0.5 + 1e-9
    )
    assert str(told).count("\n") == len(told.lines)


def test_invented_tables_have_their_rows_and_follow_their_seed():
    assert invented_histogram(5, 100, 4).sum() == 100
    assert np.array_equal(invented_histogram(5, 100, 4), invented_histogram(5, 100, 4))
    assert not np.array_equal(invented_histogram(5, 100, 4), invented_histogram(5, 100, 5))


@pytest.mark.parametrize("runs", [0, -1, 1.5, 10**6])
def test_bad_numbers_of_runs_are_refused(runs):
    selection = selection_of(QUERIES, epsilon=1, public_rows=400, size=3)
    with pytest.raises(BadValue, match="runs must be"):
        lesson(selection, invented_histogram(8, 400, 1), runs)
