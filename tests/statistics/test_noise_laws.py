"""Draws against their exact mass: chi-square tests that accept the true law and reject one 10 % off.

An acceptance alarms at a nominal p < 10⁻¹¹.  That leaves room for what the chi-square law misses in bins that expect as
few as 10: the worst of them, one such bin carrying the whole deviation, has odds of P[Poisson(10) ≥ 32] < 2·10⁻⁸.  With
34 acceptances the whole file raises a false alarm less than once in 10⁶ runs.  N is stated at each test and so large
that a law 10 % off has a non-centrality of 300 and more: missing it has odds below 10⁻⁶ too.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from discreet import real
from discreet.noise.bernoulli import bernoulli, bernoulli_exp
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.select import exponential_choice, first_flipped, uniforms
from discreet.noise.source import SYSTEM

N = 200_000
ALARM = 1e-11
LAWS = {"two-sided": DiscreteLaplace, "one-sided": Geometric, "rounded": RoundedGaussian, "discrete": DiscreteGaussian}
SCALES = ["1/20", "1/2", "3", "101/7", "10", "1000"]
EACH_LAW = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
OFF = Fraction(11, 10)


def visible(law, scale):
    """At 1/20 a geometric law is off zero with odds of e^(−20) = 2·10⁻⁹, too few for N draws: 1/5 in its place."""
    return Fraction(1, 5) if scale == "1/20" and law in (DiscreteLaplace, Geometric) else Fraction(scale)


def p_value(counts, masses, n):
    """Pearson's chi-square after merging neighbours until each bin expects at least 10."""
    observed, expected = [0.0], [0.0]
    for count, mass in zip(counts, masses, strict=True):
        observed[-1] += count
        expected[-1] += n * mass
        if expected[-1] >= 10:
            observed.append(0.0)
            expected.append(0.0)
    last_observed, last_expected = observed.pop(), expected.pop()
    observed[-1] += last_observed
    expected[-1] += last_expected
    assert sum(expected) == pytest.approx(n, rel=1e-6)
    if len(observed) == 1:
        return 1.0
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return float(chi2.sf(statistic, len(observed) - 1))


def binned(law, edges, draws):
    """Counts and exact masses of the bins between edges, with everything beyond in the outer two."""
    counts = np.histogram(draws, bins=[-(2.0**63), *edges, 2.0**63])[0]
    with real.precision(128):
        below = [0.0, *(float(1 - above(law, edge - 1)) for edge in edges), 1.0]
    return counts, np.diff(below)


def above(law, t):
    """P[K > t] as a ball."""
    if isinstance(law, Geometric):
        return (-real.ball((t + 1) / law.scale)).exp() if t >= 0 else real.ball(1)
    return law.above(t)


def masses_of(law, points):
    """P[K = k] as floats; the discrete Gaussian's from its mass at 0, whose ball need be made only once."""
    if isinstance(law, DiscreteGaussian):
        top, width = float(law.mass(0)), 2 * float(law.sigma) ** 2
        return [top * float(np.exp(-k * k / width)) for k in points]
    return [float(law.mass(k)) for k in points]


def point_test(true_law, tested_law, scale):
    """The p-value of draws from one law under another, by single points out to 14 scales."""
    draws = true_law.draw(N, SYSTEM)
    reach = int(14 * scale) + 3
    low = 0 if isinstance(true_law, Geometric) else -reach
    with real.precision(96):
        masses = masses_of(tested_law, range(low, reach + 1))
    inside = draws[(draws >= low) & (draws <= reach)]
    counts = np.bincount(inside - low, minlength=reach - low + 1)
    return p_value([*counts, draws.size - inside.size], [*masses, max(0.0, 1 - sum(masses))], N)


def coarse_test(true_law, tested_law, scale):
    """The p-value over 64 bins of an eighth of a scale."""
    edges = [int(Fraction(i, 8) * scale) for i in range(-32, 33)]
    draws = true_law.draw(N, SYSTEM)
    return p_value(*binned(tested_law, edges, draws), N)


@EACH_LAW
@pytest.mark.parametrize("scale", SCALES)
def test_draws_follow_the_exact_mass_and_not_one_ten_percent_off(law, scale):
    """N = 200,000 draws.  At σ = 1/20 a Gaussian is 0 in all draws (Φ(−10) < 10⁻²³), whatever the law: see below."""
    least_scale = visible(law, scale)
    test = coarse_test if least_scale >= 1000 and law is not DiscreteGaussian else point_test
    assert test(law(least_scale), law(least_scale), least_scale) > ALARM
    if scale != "1/20" or law in (DiscreteLaplace, Geometric):
        assert test(law(least_scale), law(least_scale * OFF), least_scale) < ALARM
        assert test(law(least_scale), law(least_scale / OFF), least_scale) < ALARM


@EACH_LAW
def test_draws_at_a_thousand_million_follow_the_exact_mass(law):
    """N = 200,000 draws in 64 bins; the discrete form by the rounded one, whose bins agree to 1/(24σ²)."""
    scale = Fraction(10**9)
    tested = RoundedGaussian if law is DiscreteGaussian else law
    assert coarse_test(law(scale), tested(scale), scale) > ALARM
    assert coarse_test(law(scale), tested(scale * OFF), scale) < ALARM
    assert coarse_test(law(scale), tested(scale / OFF), scale) < ALARM


@EACH_LAW
@pytest.mark.parametrize("scale", [Fraction(3, 10**8), Fraction(33, 10**9)], ids=["3e-8", "ten-percent-off"])
def test_at_three_hundred_millionths_every_draw_is_zero(law, scale):
    """N = 200,000: a draw off zero has odds below e^(−3·10⁷).  Both laws say so; the next test tells laws apart."""
    assert not law(scale).draw(N, SYSTEM).any()


@pytest.mark.parametrize("law", [RoundedGaussian, DiscreteGaussian])
def test_the_smallest_sigma_that_shows_itself_is_told_from_ten_percent_off(law):
    """σ = 1/4, N = 200,000: mass off zero is 4.6 % (rounded) and 0.07 % (discrete); 10 % off it differs widely."""
    sigma = Fraction(1, 4)
    assert point_test(law(sigma), law(sigma), sigma) > ALARM
    assert point_test(law(sigma), law(sigma * OFF), sigma) < ALARM
    assert point_test(law(sigma), law(sigma / OFF), sigma) < ALARM


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 100), Fraction(254, 255)], ids=str)
def test_coins_fall_as_often_as_stated_and_not_ten_percent_off(p):
    """N = 10⁷ coins; the rarer side 10 % off lies 20 standard deviations and more away."""
    n = 10**7
    heads = int(bernoulli(p, n, SYSTEM).sum())
    rarer = min(p, 1 - p)
    seen = [heads, n - heads] if p == rarer else [n - heads, heads]
    assert p_value(seen, [float(rarer), float(1 - rarer)], n) > ALARM
    assert p_value(seen, [float(rarer * OFF), float(1 - rarer * OFF)], n) < ALARM


def exponential_coins_p_value(rate):
    """N = 200,000 coins of rate 1/3 at each of four gaps, against `rate` in one chi-square over eight cells."""
    counts, masses = [], []
    for gap in (1, 2, 5, 9):
        heads = int(bernoulli_exp(np.full(N, gap), Fraction(1, 3), SYSTEM).sum())
        counts += [heads, N - heads]
        masses += [float(np.exp(-gap * rate)) / 4, (1 - float(np.exp(-gap * rate))) / 4]
    return p_value(counts, masses, 4 * N)


def test_exponential_coins_fall_as_often_as_stated_and_not_ten_percent_off():
    assert bernoulli_exp(np.zeros(N, dtype=np.int64), Fraction(1, 3), SYSTEM).all()
    assert exponential_coins_p_value(1 / 3) > ALARM
    assert exponential_coins_p_value(1.1 / 3) < ALARM


def chosen_p_value(draw, rate):
    gaps = np.array([0, 3, 1, 0, 7, 2])
    weights = np.exp(-rate * gaps)
    counts = np.bincount(draw(gaps), minlength=6)
    return p_value(counts, weights / weights.sum(), counts.sum())


def test_exponential_choice_follows_its_weights_and_not_ten_percent_off():
    """N = 200,000 choices among six."""

    def draw(gaps):
        return exponential_choice(gaps, Fraction(1, 2), N, SYSTEM)

    assert chosen_p_value(draw, 0.5) > ALARM
    assert chosen_p_value(draw, 0.55) < ALARM


def flip_law(gaps, rate):
    """Permute-and-flip's exact law: E[1{i is a head}/#heads] over all coin patterns."""
    p = np.exp(-rate * gaps)
    law = np.zeros(gaps.size)
    for pattern in range(1, 2**gaps.size):
        heads = [i for i in range(gaps.size) if pattern >> i & 1]
        chance = np.prod([p[i] if i in heads else 1 - p[i] for i in range(gaps.size)])
        law[heads] += chance / len(heads)
    return law


def test_permute_and_flip_follows_its_law_and_not_ten_percent_off():
    """N = 30,000 choices among eight; and it is not the exponential mechanism of the same rate."""
    gaps, n = np.array([0] + [2] * 7), 30_000
    counts = np.bincount([first_flipped(gaps, Fraction(1), SYSTEM) for _ in range(n)], minlength=8)
    assert p_value(counts, flip_law(gaps, 1.0), n) > ALARM
    assert p_value(counts, flip_law(gaps, 1.1), n) < ALARM
    exponential = np.exp(-1.0 * gaps) / np.exp(-1.0 * gaps).sum()
    assert p_value(counts, exponential, n) < ALARM


def test_uniform_numbers_are_uniform():
    """N = 200,000 below 100: the refusals leave no value out and none ahead."""
    assert p_value(np.bincount(uniforms(100, N, SYSTEM), minlength=100), [0.01] * 100, N) > ALARM
