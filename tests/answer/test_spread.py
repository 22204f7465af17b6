"""Radii of noises taken together: honest for the exact integer laws, and not much wider than they must be."""

from fractions import Fraction as F
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import norm

from discreet.answer.spread import joint_radius, normal_radius, pair_radius, sum_radius
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from mechanism.exact_laws import masses

LAPLACE = [DiscreteLaplace(F(s)) for s in ("0.3", "1", "2.5")]
GAUSS = [RoundedGaussian(F(s)) for s in ("0.4", "1.5", "3")]
LEVELS = [F(1, 2), F(95, 100), F(999, 1000)]


@cache
def floats(law, reach=90):
    return {k: float(p) for k, p in masses(law, reach).items() if p > 1e-15}


def law_of(laws, coefficients):
    """|Σ c_i·X_i| by adding up every combination of values: obvious and slow."""
    total = {0.0: 1.0}
    for law, c in zip(laws, coefficients, strict=True):
        after: dict[float, float] = {}
        for (a, p), (k, q) in product(total.items(), floats(law).items()):
            point = round(a + c * k, 9)
            after[point] = after.get(point, 0.0) + p * q
        total = after
    return total


def quantile(law, level):
    """The least q with P[|S| ≤ q] ≥ level."""
    held, sizes = 0.0, {}
    for value, p in law.items():
        sizes[abs(value)] = sizes.get(abs(value), 0.0) + p
    for size in sorted(sizes):
        held += sizes[size]
        if held >= float(level) - 1e-12:
            return size
    raise AssertionError("the law is cut too short")


@pytest.mark.parametrize(
    "laws",
    [
        *combinations_with_replacement(LAPLACE, 2),
        *combinations_with_replacement(GAUSS, 2),
        (LAPLACE[1], GAUSS[1]),
    ],
)
def test_pair_radius_holds_at_its_level_for_the_exact_laws(laws):
    times = np.array([0.0, 0.2, 1.0, 3.0, -7.5])
    laws_at = [law_of(laws, (1, -t)) for t in times]
    for level in LEVELS:
        for exact, radius in zip(laws_at, pair_radius(*laws, level)(times), strict=True):
            assert sum(p for s, p in exact.items() if abs(s) <= radius) >= float(level) - 1e-12


@pytest.mark.parametrize("pair", [LAPLACE[1:], GAUSS[1:]])
def test_pair_radius_is_at_most_a_rounding_wider_than_the_exact_quantile(pair):
    times = np.array([0.0, 0.2, 1.0, 3.0])
    given = pair_radius(*pair, F(95, 100))(times)
    for t, radius in zip(times, given, strict=True):
        assert radius <= 1.06 * quantile(law_of(pair, (1, -t)), F(95, 100)) + 1 + t


@pytest.mark.parametrize(
    ("laws", "coefficients"),
    [
        ((LAPLACE[1], LAPLACE[2]), (1, 2)),
        ((LAPLACE[1], LAPLACE[0], LAPLACE[1]), (1, 1, 1)),
        ((LAPLACE[2], LAPLACE[1], LAPLACE[1]), (1, 0, 3)),
        ((LAPLACE[1],) * 4, (1, 1, 1, 1)),
        ((LAPLACE[1], LAPLACE[2], LAPLACE[1], LAPLACE[0]), (2, 1, 1, 4)),
        ((GAUSS[1], GAUSS[2], GAUSS[0]), (1, 1, 2)),
        ((GAUSS[1],) * 4, (1, 1, 2, 1)),
        ((GAUSS[1], LAPLACE[1], DiscreteGaussian(F(2))), (1, 1, 1)),
    ],
)
def test_joint_radius_holds_and_is_not_far_from_the_exact_quantile(laws, coefficients):
    exact = law_of(laws, coefficients)
    for level in (F(9, 10), F(99, 100)):
        radius = float(joint_radius(laws, level)([np.array([float(c)]) for c in coefficients])[0])
        assert sum(p for s, p in exact.items() if abs(s) <= radius) >= float(level) - 1e-12
        mixed = len({type(law) for law in laws}) > 1
        assert radius <= (1.8 if mixed else 1.3) * quantile(exact, level) + sum(coefficients) / 2 + 1


@pytest.mark.parametrize("law", [*LAPLACE, *GAUSS])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_sum_radius_is_the_shortest_on_the_lattice(law, m):
    exact = law_of([law] * m, [1] * m)
    for level in LEVELS:
        assert sum_radius(law, m, level) == quantile(exact, level)


def test_sum_radius_of_laws_that_cannot_be_convolved_adds_up_single_radii():
    wide, level = DiscreteLaplace(F(10**9)), F(1, 10**8)
    assert sum_radius(wide, 3, F(95, 100)) == 3 * wide.radius(1 - F(5, 300))
    assert sum_radius(LAPLACE[1], 3, 1 - level) == 3 * LAPLACE[1].radius(1 - level / 3)
    assert sum_radius(wide, 0, F(1, 2)) == 0


def test_normal_radius_is_just_above_the_quantile():
    for missed in (F(1, 2), F(5, 100), F(1, 10**9), F(1, 10**30)):
        assert 0 < normal_radius(missed) - norm.isf(float(missed) / 2) < 1e-6


def test_levels_beyond_floats_fall_back_to_exact_radii():
    level = 1 - F(1, 10**300)
    radius = pair_radius(LAPLACE[1], LAPLACE[1], level)(np.array([1.0]))[0]
    assert 2 * 300 * np.log(10) < radius < 2 * 300 * np.log(10) + 20
    assert joint_radius(LAPLACE[:2] * 2, level)([np.ones(1)] * 4)[0] > radius
