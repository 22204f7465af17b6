"""Columns from noisy counts: shares that are a distribution, and steps that are the best of all."""

from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synth.measured.noisy import NoisyTable, joined, total_of
from discreet.synth.measured.single import shares, simplex, steps

COUNTS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(np.array)


@given(COUNTS, st.floats(1e-3, 1e6), st.floats(-1e6, 1e6), st.booleans())
def test_shares_are_never_negative_and_add_up_to_one(counts, deviation, total, is_ordered):
    own = shares(counts, deviation, total, is_ordered=is_ordered)
    assert own.shape == counts.shape
    assert (own >= 0).all()
    assert own.sum() == pytest.approx(1, abs=1e-6)


@given(COUNTS, st.floats(1, 1e6))
def test_the_nearest_point_of_a_simplex_is_reached_by_one_shift(counts, total):
    nearest = simplex(counts, total)
    assert nearest.sum() == pytest.approx(total, rel=1e-6)
    above = nearest > 1e-9 * max(1, np.abs(counts).max())
    shift = (counts - nearest)[above]
    assert np.ptp(shift) <= 1e-6 * max(1, np.abs(counts).max())
    assert (counts[nearest == 0] <= shift.max() + 1e-6 * max(1, np.abs(counts).max())).all()


def slow_steps(counts, deviation):
    """Every way to cut the counts into pieces, one after the other."""
    cells, price, best = len(counts), 2.0 * deviation**2 * log(1 + len(counts)), None
    for pieces in range(cells):
        for cuts in combinations(range(1, cells), pieces):
            parts = np.split(counts, cuts)
            cost = sum(((part - part.mean()) ** 2).sum() for part in parts) + price * len(parts)
            if best is None or cost < best[0] - 1e-9:
                best = cost, np.concatenate([np.full(len(part), part.mean()) for part in parts])
    return best


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8), st.sampled_from([0.5, 3.0, 20.0]))
def test_steps_are_the_best_of_all_piecewise_constant_functions(counts, deviation):
    counts = np.array(counts, dtype=float)
    cost, _ = slow_steps(counts, deviation)
    own = steps(counts, deviation)
    price = 2.0 * deviation**2 * log(1 + len(counts))
    assert ((counts - own) ** 2).sum() + price * (1 + (np.abs(np.diff(own)) > 1e-12).sum()) <= cost + 1e-6


def test_two_versions_of_a_table_are_weighted_by_their_noise():
    narrow, wide = NoisyTable((0,), np.array([10.0, 20.0]), 1.0), NoisyTable((0,), np.array([20.0, 10.0]), 3.0)
    both = joined(narrow, wide)
    assert np.allclose(both.counts, [11.0, 19.0])
    assert both.deviation == pytest.approx((1 + 1 / 9) ** -0.5)
    with pytest.raises(ValueError, match="one table"):
        joined(narrow, NoisyTable((1,), narrow.counts, 1.0))


def test_the_number_of_units_is_weighted_and_at_least_one():
    few, many = NoisyTable((0,), np.array([60.0, 40.0]), 1.0), NoisyTable((1,), np.full(200, 1.0), 1.0)
    assert total_of([few, many]) == pytest.approx((100 / 2 + 200 / 200) / (1 / 2 + 1 / 200))
    assert total_of([NoisyTable((0,), np.array([-9.0, 3.0]), 1.0)]) == 1
