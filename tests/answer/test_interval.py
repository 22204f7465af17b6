"""Fieller's set, beside a scan of every candidate."""

from fractions import Fraction as F

import numpy as np
import pytest

from discreet.answer.interval import Range, correlation_range, moment_range, products, quotient_range, squares
from discreet.answer.spread import pair_radius
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace

REACH = 50.0
PAIRS = [
    (DiscreteLaplace(F(100)), DiscreteLaplace(F(2))),
    (RoundedGaussian(F(200)), RoundedGaussian(F(4))),
    (DiscreteLaplace(F(3)), DiscreteLaplace(F(9))),
    (RoundedGaussian(F(60)), DiscreteLaplace(F(2))),
]
TOTALS = [0, 1, -1, 40, -700, 5_000, -90_000, 10**6]
COUNTS = [-40, 0, 1, 3, 9, 20, 60, 1_000, 20_000]


def scanned(total, count, radius):
    """The hull of all accepted means among many; the whole range where the count is not positive or none fits."""
    t = np.linspace(-REACH, REACH, 200_001)
    kept = t[np.abs(total - t * count) <= radius(t)]
    return (-REACH, REACH) if count <= 0 or kept.size == 0 else (kept[0], kept[-1])


@pytest.mark.parametrize("laws", PAIRS)
def test_quotient_range_is_the_hull_that_a_scan_finds_and_never_inside_it(laws):
    radius = pair_radius(*laws, F(95, 100))
    top, bottom = np.meshgrid(np.array(TOTALS, dtype=float), np.array(COUNTS, dtype=float))
    top, bottom = top.ravel(), bottom.ravel()
    hull = quotient_range(top, bottom, radius, np.full(top.shape, REACH))
    grid = 2 * REACH / 200_000
    for t, n, low, high in zip(top, bottom, hull.low, hull.high, strict=True):
        least, largest = scanned(t, n, radius)
        if n > 0 and abs(t / n) <= REACH:
            assert low <= t / n <= high
        narrow = largest - least < grid  # a scan may miss a sliver; then only containment is told
        assert low <= least + 1e-9 or narrow
        assert high >= largest - 1e-9 or narrow
        if not narrow and (least, largest) != (-REACH, REACH):
            assert low >= least - 2 * grid - 0.01 * REACH
            assert high <= largest + 2 * grid + 0.01 * REACH


def test_quotient_range_treats_each_cell_alone():
    radius = pair_radius(*PAIRS[0], F(95, 100))
    top, bottom = np.array([900.0, -5.0, 3e6]), np.array([100.0, 0.0, 7e4])
    together = quotient_range(top, bottom, radius, np.full(3, REACH))
    for i in range(3):
        alone = quotient_range(top[i : i + 1], bottom[i : i + 1], radius, np.full(1, REACH))
        assert together.low[i] == pytest.approx(alone.low[0], rel=1e-9)
        assert together.high[i] == pytest.approx(alone.high[0], rel=1e-9)


def test_squares_and_products_are_those_of_every_point_in_the_ranges():
    ends = [(-3.0, -1.0), (-2.0, 5.0), (0.0, 4.0)]
    for low, high in ends:
        t = np.linspace(low, high, 1001)
        squared = squares(Range(np.array([low]), np.array([high])))
        assert (squared.low[0], squared.high[0]) == pytest.approx((min(t**2), max(t**2)), abs=1e-4)
        for a, b in ends:
            grid = np.outer(t, np.linspace(a, b, 101))
            both = products(Range(np.array([low]), np.array([high])), Range(np.array([a]), np.array([b])))
            assert (both.low[0], both.high[0]) == pytest.approx((grid.min(), grid.max()))


def test_moment_range_gives_all_it_started_with_where_nothing_fits():
    start, bend = Range(np.array([0.0]), np.array([1.0])), Range(np.zeros(1), np.zeros(1))
    far = moment_range(start, np.array([9.0]), bend, lambda _: np.array([2.0]))
    assert (far.low[0], far.high[0]) == (0.0, 1.0)
    moments = moment_range(start, np.array([0.5]), bend, lambda _: np.array([0.25]))
    assert (moments.low[0], moments.high[0]) == (0.25, 0.75)


def test_correlation_range_is_that_of_every_point_and_whole_where_a_variance_may_vanish():
    def one(low, high):
        return Range(np.array([low]), np.array([high]))

    correlation = correlation_range(one(-1.0, 2.0), one(4.0, 9.0), one(1.0, 4.0))
    assert (correlation.low[0], correlation.high[0]) == pytest.approx((-0.5, 1.0))
    correlation = correlation_range(one(1.0, 2.0), one(4.0, 9.0), one(1.0, 4.0))
    assert (correlation.low[0], correlation.high[0]) == pytest.approx((1 / 6, 1.0))
    correlation = correlation_range(one(-1.0, 1.0), one(0.0, 9.0), one(1.0, 4.0))
    assert (correlation.low[0], correlation.high[0]) == (-1.0, 1.0)
