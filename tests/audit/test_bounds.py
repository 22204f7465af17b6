"""Counts in, lower bounds out: never above the truth more often than promised, and never vacuous."""

import math
from fractions import Fraction
from math import comb

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from audit.power import sure_power
from discreet import real
from discreet.audit import bounds
from discreet.audit.bounds import Hits, Odds, Shift, lower_bound, lower_end, upper_end

ONE = Odds(Fraction(1))
COUNTS = [(0, 10), (1, 10), (5, 10), (9, 10), (10, 10), (3, 1000), (500, 1000), (997, 1000), (40, 20_000)]
ALPHAS = [0.05, 1e-3, 1e-7]


def reaches(hits: int, runs: int, p: float) -> arb:
    """P[Bin(runs, p) ≥ hits], certified: the incomplete beta function as a ball."""
    return arb(p).beta_lower(arb(hits), arb(runs - hits + 1), True) if hits else arb(1)


def reaches_exactly(hits: int, runs: int, p: Fraction) -> Fraction:
    """The same by adding up the binomial law."""
    return sum((comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(hits, runs + 1)), start=Fraction(0))


@pytest.mark.parametrize(("hits", "runs"), COUNTS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_ends_hold_their_level_by_certified_arithmetic_and_are_tight(hits: int, runs: int, alpha: float) -> None:
    low, high = lower_end(hits, runs, alpha), upper_end(hits, runs, alpha)
    with real.precision(256):
        if hits:
            assert reaches(hits, runs, low) < alpha
            assert reaches(hits, runs, low * (1 + 1e-7)) > alpha
        if hits < runs:
            assert 1 - reaches(hits + 1, runs, high) < alpha
            assert 1 - reaches(hits + 1, runs, high * (1 - 1e-7)) > alpha
    assert (low == 0.0) == (hits == 0)
    assert (high == 1.0) == (hits == runs)


def test_certified_tail_is_the_sum_of_the_binomial_law() -> None:
    with real.precision(128):
        for hits in range(1, 13):
            assert reaches(hits, 12, 0.375).overlaps(real.ball(reaches_exactly(hits, 12, Fraction(3, 8))))


@pytest.mark.parametrize(("hits", "runs"), COUNTS)
def test_ends_agree_with_scipy(hits: int, runs: int) -> None:
    theirs = binomtest(hits, runs).proportion_ci(0.999, "exact")
    assert lower_end(hits, runs, 0.0005) == pytest.approx(theirs.low, rel=1e-8)
    assert upper_end(hits, runs, 0.0005) == pytest.approx(theirs.high, rel=1e-8)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0"), ("0.5", "0"), ("1", "0.05"), ("0", "0.1")])
def test_false_alarm_at_exact_tightness_is_below_alpha(epsilon: str, delta: str) -> None:
    """Every pair of counts at n = 60, weighed by the true law of an event that uses up the whole promise."""
    test, n, alpha = Odds(Fraction(epsilon), Fraction(delta)), 60, 0.05
    q = 0.2
    p = math.exp(float(epsilon)) * q + float(delta)
    first, second = binom.pmf(range(n + 1), n, p), binom.pmf(range(n + 1), n, q)

    def alarm(level: float) -> float:
        return sum(
            first[k] * second[m]
            for k in range(n + 1)
            for m in range(n + 1)
            if bounds.refutes(test, lower_bound(test, Hits(k, m, n), level))
        )

    assert alarm(alpha) <= alpha
    assert alarm(0.5) > 1e-4  # the count of alarms can fail


def test_ten_per_cent_too_little_noise_is_refuted() -> None:
    """Geometric noise at ε = 1.1 under a claim of 1, by y ≥ 1: 80,000 runs leave a miss rarer than 10⁻⁶."""
    a = math.exp(-1.1)
    chances = (1 / (1 + a), a / (1 + a))
    assert sure_power(ONE, chances, 80_000, 1e-6) > 1 - 1e-6
    assert sure_power(Odds(Fraction("1.1")), chances, 80_000, 1e-6) == 0.0


@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.6, 0.05), (1.0, 0.0), (0.5, 0.3)])
def test_sure_power_is_below_the_whole_sum(p: float, q: float) -> None:
    n, alpha = 120, 1e-3
    first, second = binom.pmf(range(n + 1), n, p), binom.pmf(range(n + 1), n, q)
    whole = sum(
        first[k] * second[m]
        for k in range(n + 1)
        for m in range(n + 1)
        if bounds.refutes(ONE, lower_bound(ONE, Hits(k, m, n), alpha))
    )
    sure = sure_power(ONE, (p, q), n, alpha)
    assert sure <= whole + 1e-12
    assert sure == 0.0 or sure > 1 - 1e-6


def test_mu_bound_is_the_one_from_error_rates() -> None:
    hits, alpha = Hits(8_413, 1_587, 10_000), 1e-6
    false_positive = upper_end(hits.second, hits.runs, alpha / 2)
    false_negative = upper_end(hits.runs - hits.first, hits.runs, alpha / 2)
    want = norm.ppf(1 - false_positive) - norm.ppf(false_negative)
    assert lower_bound(Shift(Fraction(1)), hits, alpha) == pytest.approx(want, abs=1e-6)
    assert 1.8 < want < 2.0  # the shift from 16 to 84 of 100 is 2


def test_delta_is_taken_off_before_the_ratio() -> None:
    hits = Hits(500, 0, 10_000)
    assert lower_bound(Odds(Fraction(0), Fraction(1, 10)), hits, 1e-6) == -math.inf
    plain, leaky = (lower_bound(Odds(Fraction(0), d), hits, 1e-6) for d in (Fraction(0), Fraction(1, 100)))
    assert leaky < plain


@given(
    st.integers(1, 300),
    st.integers(0, 299),
    st.sampled_from([ONE, Odds(Fraction(1), Fraction(1, 50)), Shift(Fraction(1))]),
)
def test_bound_grows_with_first_hits_and_falls_with_second(k: int, m: int, test: Odds | Shift) -> None:
    here = lower_bound(test, Hits(k, m, 300), 1e-3)
    assert lower_bound(test, Hits(k - 1, m, 300), 1e-3) <= here
    assert lower_bound(test, Hits(k, m + 1, 300), 1e-3) <= here


def test_nothing_seen_proves_nothing() -> None:
    assert lower_bound(ONE, Hits(0, 0, 100), 1e-6) == -math.inf
    assert lower_bound(Shift(Fraction(1)), Hits(100, 100, 100), 1e-6) == -math.inf
    assert not bounds.refutes(ONE, -math.inf)
