"""Geometric and two-sided geometric: mass, moments, radius and the sign coin, each against a second computation."""

from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import real
from discreet.noise import laplace as module
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.lattice import FEWEST
from replay import Replay, bytes_as_words, fair, then_system

SCALES = [Fraction(1, 20), Fraction(1, 2), Fraction(3), Fraction(101, 7), Fraction(300)]
EACH = pytest.mark.parametrize("scale", SCALES, ids=str)


def as_mpf(value):
    return mpf(value.numerator) / value.denominator


def masses(scale, largest):
    """P[X = k] for 0 ≤ k ≤ most at 50 digits."""
    a = mpmath.exp(-1 / as_mpf(scale))
    return list(accumulate(range(largest), lambda mass, _: mass * a, initial=(1 - a) / (1 + a)))


@EACH
def test_mass_and_tail_enclose_the_stated_law(scale):
    law, one_sided = DiscreteLaplace(scale), Geometric(scale)
    with mp.workdps(50), real.precision(140):
        a = mpmath.exp(-1 / as_mpf(scale))
        for k, exact in enumerate(masses(scale, 30)):
            for ball, truth in [
                (law.mass(k), exact),
                (law.mass(-k), exact),
                (one_sided.mass(k), (1 - a) * a**k),
                (law.above(k), a ** (k + 1) / (1 + a)),
                (law.above(-k - 1), 1 - a ** (k + 1) / (1 + a)),
            ]:
                assert abs(as_mpf(real.exact(ball.mid())) - truth) < mpf(10) ** -35
        assert one_sided.mass(-1) == 0


@EACH
def test_moments_are_the_sums(scale):
    law = DiscreteLaplace(scale)
    with mp.workdps(50):
        terms = masses(scale, int(45 * scale) + 10)
        assert law.variance == pytest.approx(float(2 * sum(k * k * p for k, p in enumerate(terms))), rel=1e-12)
        assert law.mean_abs == pytest.approx(float(2 * sum(k * p for k, p in enumerate(terms))), rel=1e-12)


@EACH
@pytest.mark.parametrize("level", ["0.01", "0.5", "0.95", "0.999999"])
def test_radius_is_the_least_that_holds_the_level(scale, level):
    law = DiscreteLaplace(scale)
    t = law.radius(Fraction(level))
    with mp.workdps(50):
        terms = masses(scale, t)
        within = 2 * sum(terms) - terms[0]
        assert within >= mpf(level)
        assert t == 0 or within - 2 * terms[t] < mpf(level)


@pytest.mark.parametrize("scale", ["3e-8", "1e-160", "1e-300", "1e-330", "1e-400"])
def test_tiny_scales_have_no_error_to_state(scale):
    law = DiscreteLaplace(scale)
    assert (law.variance, law.mean_abs, law.radius(Fraction("0.999999"))) == (0.0, 0.0, 0)
    assert not law.draw(2000, then_system([])).any()


def test_the_widest_scale_has_the_continuous_moments():
    law = DiscreteLaplace(10**12)
    assert law.variance == pytest.approx(2e24, rel=1e-12)
    assert law.mean_abs == pytest.approx(1e12, rel=1e-12)
    assert law.radius(Fraction(95, 100)) == 2995732273554  # ⌊10¹²·ln 20 + small⌋


def negatives_over_every_byte(scale):
    """How many of 1,024 draws are negative when each first byte of the sign coin is met four times."""
    law = DiscreteLaplace(scale)
    sizes = Geometric(scale)
    words = fair(4 * FEWEST, 51)
    size_source = Replay(words)
    expected = sizes.draw(FEWEST, size_source)
    given = np.concatenate([words[: size_source.asked], bytes_as_words(list(range(256)) * 4), fair(8, 52)])
    values = law.draw(FEWEST, Replay(given))
    assert (np.where(values < 0, -1 - values, values) == expected).all()
    return int((values < 0).sum())


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3)], ids=str)
def test_every_first_byte_of_the_sign_coin_gives_the_stated_share(scale):
    """P[X < 0] = a/(1 + a): ⌊256p⌋ bytes are heads for sure, met four times; the tied byte gives 0 … 4 more."""
    with mp.workdps(50):
        a = mpmath.exp(-1 / as_mpf(scale))
        sure = 4 * int(256 * a / (1 + a))
    assert sure <= negatives_over_every_byte(scale) <= sure + 4


def test_a_fair_sign_coin_is_caught(monkeypatch):
    fairly = module.coins
    monkeypatch.setattr(module, "coins", lambda bias, n, source: fairly(lambda: real.ball(Fraction(1, 2)), n, source))
    assert negatives_over_every_byte(Fraction(1)) == 512, "where the true law has 275 to 279"


def test_the_sign_coin_of_one_draw_is_cut_from_a_batch_too():
    """So that the time of a tie, one byte in 256, says nothing of this draw's sign."""
    sizes, both = then_system(fair(FEWEST, 53)), then_system(fair(FEWEST, 53))
    Geometric(10).draw(1, sizes)
    DiscreteLaplace(10).draw(1, both)
    assert both.asked >= FEWEST + FEWEST // 8
