"""Rounded and discrete Gaussian: mass, moments, radius and the keep coin, each against a second computation."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import real
from discreet.errors import BadValue
from discreet.noise import gaussian as module
from discreet.noise.digits import Digits, below
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from replay import Replay, fair, then_system

LAST = 2**64 - 1
SIGMAS = [Fraction(1, 20), Fraction(1, 2), Fraction(3), Fraction(101, 7), Fraction(120)]
EACH = pytest.mark.parametrize("sigma", SIGMAS, ids=str)
TINY = pytest.mark.parametrize("sigma", ["3e-8", "1e-160", "1e-300", "1e-330", "1e-400"])


def as_mpf(value):
    return mpf(value.numerator) / value.denominator


def rounded_masses(sigma, largest):
    s = as_mpf(sigma) * mpmath.sqrt(2)
    tails = [mpmath.erfc((2 * k - 1) / (2 * s)) / 2 for k in range(largest + 2)]
    return [a - b for a, b in pairwise(tails)]


def discrete_masses(sigma, largest):
    s = as_mpf(sigma)
    reach = max(largest, int(25 * sigma) + 3)
    weights = [mpmath.exp(-k * k / (2 * s * s)) for k in range(reach + 1)]
    total = 2 * mpmath.fsum(weights) - 1
    return [w / total for w in weights[: largest + 1]]


LAWS = [(RoundedGaussian, rounded_masses), (DiscreteGaussian, discrete_masses)]
BOTH = pytest.mark.parametrize(("law", "masses"), LAWS, ids=["rounded", "discrete"])


@EACH
@BOTH
def test_mass_encloses_the_stated_law(law, masses, sigma):
    with mp.workdps(60), real.precision(180):
        for k, exact in enumerate(masses(sigma, 20)):
            for side in (k, -k):
                assert abs(as_mpf(real.exact(law(sigma).mass(side).mid())) - exact) < mpf(10) ** -35


@EACH
@BOTH
def test_moments_are_the_sums(law, masses, sigma):
    with mp.workdps(40):
        terms = masses(sigma, int(11 * sigma) + 3)
        variance = 2 * mpmath.fsum(k * k * p for k, p in enumerate(terms))
        mean_abs = 2 * mpmath.fsum(k * p for k, p in enumerate(terms))
    assert law(sigma).variance == pytest.approx(float(variance), rel=1e-9)
    assert law(sigma).mean_abs == pytest.approx(float(mean_abs), rel=1e-9)


@BOTH
def test_mean_size_above_500_steps_is_right_to_the_digits_stated(law, masses):
    sigma = Fraction(501)
    with mp.workdps(30):
        exact = float(2 * mpmath.fsum(k * p for k, p in enumerate(masses(sigma, 10 * 501))))
    stated = 2e-7 if law is RoundedGaussian else 1e-6
    assert abs(law(sigma).mean_abs / exact - 1) < stated


@EACH
@pytest.mark.parametrize("level", ["0.01", "0.5", "0.95", "0.99999"])
@BOTH
def test_radius_is_the_least_that_holds_the_level(law, masses, sigma, level):
    t = law(sigma).radius(Fraction(level))
    with mp.workdps(40):
        terms = masses(sigma, t)
        within = 2 * mpmath.fsum(terms) - terms[0]
        assert within >= mpf(level)
        assert t == 0 or within - 2 * terms[t] < mpf(level)


@pytest.mark.parametrize("level", [1 - Fraction(1, 10**12), 1 - Fraction(1, 2**1399)], ids=["1e-12", "2^-1399"])
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(30), Fraction(10**12)], ids=str)
def test_radius_at_extreme_levels_holds_and_comes_at_once(sigma, level):
    missed = (1 - level) / 2
    t = RoundedGaussian(sigma).radius(level)
    with mp.workdps(450):
        tail = [mpmath.erfc((2 * k + 1) / (2 * as_mpf(sigma) * mpmath.sqrt(2))) / 2 for k in (t, t - 1)]
        assert tail[0] <= as_mpf(missed) < tail[1]
    assert DiscreteGaussian(sigma).radius(level) == t + 1


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2)], ids=str)
@pytest.mark.parametrize(
    "law", [RoundedGaussian(3), DiscreteGaussian(3), DiscreteLaplace(3)], ids=lambda law: type(law).__name__
)
def test_levels_at_which_there_is_no_radius_are_refused(law, level):
    with pytest.raises(BadValue, match="level must be strictly between 0 and 1"):
        law.radius(level)


def test_one_step_more_than_the_rounded_form_covers_the_discrete_one():
    """P[K > t] ≤ P[N > t/σ] for a range of σ and t, the inequality radius() rests on."""
    with mp.workdps(30):
        for sigma in [Fraction(1, 3), Fraction(2), Fraction(40)]:
            terms = discrete_masses(sigma, int(9 * sigma) + 4)
            for t in range(int(5 * sigma) + 2):
                gauss = mpmath.erfc(t / (as_mpf(sigma) * mpmath.sqrt(2))) / 2
                assert mpmath.fsum(terms[t + 1 :]) <= gauss


@TINY
@pytest.mark.parametrize("law", [RoundedGaussian, DiscreteGaussian])
def test_tiny_scales_have_no_error_to_state(law, sigma):
    mechanism = law(sigma)
    assert (mechanism.variance, mechanism.mean_abs, mechanism.radius(Fraction(95, 100))) == (0.0, 0.0, 0)
    assert not mechanism.draw(2000, then_system([])).any()
    with real.precision(128):
        assert mechanism.mass(0) > Fraction(99, 100).numerator / 100
        assert abs(mechanism.mass(1)) < 1e-300


def keep_bias(sigma, y):
    """exp(c − (y/σ − 1)²/2) with c the least such square over the whole numbers, found by trying those near σ."""
    spared = min((m / sigma - 1) ** 2 for m in (int(sigma), int(sigma) + 1))
    return real.exp((spared - (y / sigma - 1) ** 2) / 2)


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3), Fraction(700), Fraction(10**12)], ids=str)
def test_the_keep_coin_agrees_with_the_slow_twin(sigma):
    """2,000 proposals out to 12σ, each coin read by floats and by certified digits from the same word."""
    law = DiscreteGaussian(sigma)
    sizes = (fair(2000, 61) % np.uint64(int(12 * sigma) + 1)).astype(np.int64)
    words = fair(2000, 62)
    fast = law._toss_keep(sizes, Replay([*words.tolist(), *([1] * 9)]))
    slow = [below(Digits(int(w), 64), keep_bias(sigma, int(y)), Replay([1])) for y, w in zip(sizes, words, strict=True)]
    assert fast.tolist() == slow


def keep_edge_is_answered_right(sigma, y):
    """Whether the coin is right on both sides when its word equals the first 64 digits of the keep probability."""
    bias = keep_bias(sigma, y)
    edge = real.floor(bias, 64)
    after = real.floor(bias, 128) - (edge << 64)
    cases = [([edge, after - 1], True), ([edge, after + 1], False), ([edge + 1, 0], False), ([edge - 1, LAST], True)]
    return all(DiscreteGaussian(sigma)._toss_keep(np.array([y]), Replay(w))[0] == truth for w, truth in cases)


@pytest.mark.parametrize(
    ("sigma", "y"), [(Fraction(3), 0), (Fraction(3), 7), (Fraction(101, 7), 60), (Fraction(10**9), 10**8)]
)
def test_a_keep_coin_on_the_edge_is_refined_on_both_sides(sigma, y):
    assert keep_edge_is_answered_right(sigma, y)


def test_a_keep_coin_that_trusts_its_floats_is_caught(monkeypatch):
    monkeypatch.setattr(module, "_COIN_MARGIN", -1.0)
    assert not keep_edge_is_answered_right(Fraction(3), 7)


@pytest.mark.parametrize(("sigma", "y"), [(5, 5), ("1/2", 0), ("1/2", 1), ("1/100", 0), ("7/3", 2)])
def test_nearest_to_sigma_every_proposal_is_kept(sigma, y):
    """exp(0) = 1, whatever the word."""
    assert DiscreteGaussian(sigma)._toss_keep(np.array([y, -y, y]), Replay([0, LAST, LAST - 1, 3, 3])).all()


@pytest.mark.parametrize("sigma", [Fraction(1, 100), Fraction(1, 2), Fraction(7, 3), Fraction(60)], ids=str)
def test_the_share_of_kept_proposals_is_planned_right(sigma):
    law, proposal = DiscreteGaussian(sigma), DiscreteLaplace(sigma)
    with real.precision(128):
        truth = sum(float(proposal.mass(y) * keep_bias(sigma, abs(y))()) for y in range(-600, 601))
    assert law._kept_share() == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3), Fraction(101, 7)], ids=str)
def test_rejection_gives_the_stated_law(sigma):
    """proposal mass × keep probability ∝ exp(−k²/2σ²), to 10⁻⁴⁰."""
    with mp.workdps(60):
        s = as_mpf(sigma)
        joint = [mpmath.exp(-k / s) * mpmath.exp(-((k / s - 1) ** 2) / 2) for k in range(40)]
        target = [mpmath.exp(-mpf(k * k) / (2 * s * s)) for k in range(40)]
        assert all(abs(p / joint[0] - q) < mpf(10) ** -40 for p, q in zip(joint, target, strict=True))


def test_small_requests_are_cut_from_a_batch():
    source = then_system([])
    assert DiscreteGaussian(10).draw(1, source).size == 1
    assert source.asked >= 2048


def test_many_sigmas_do_not_fill_the_memory():
    assert module._discrete_masses.cache_info().maxsize == 64
    assert module._keep_table.cache_info().maxsize == 64
