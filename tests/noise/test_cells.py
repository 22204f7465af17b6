"""The proposal is the stated one, cell by cell, and its mixture is the stated density."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from discreet import real
from discreet.noise import cells as module
from discreet.noise.cells import EXPONENTIAL, NORMAL, H, is_kept, locate, tables
from discreet.noise.digits import Digits
from replay import Replay, fair

from .certified import density, proposal

LAST = 2**64 - 1
BOTH = pytest.mark.parametrize("cells", [EXPONENTIAL, NORMAL], ids=["exponential", "normal"])


def twin(cells, bits=180):
    return proposal(cells.alpha, cells.beta, tables(cells).count, bits)


def as_mpf(ball):
    value = real.exact(ball.mid())
    return mpf(value.numerator) / value.denominator


@BOTH
def test_thresholds_are_the_certified_cumulative_masses(cells):
    t, other = tables(cells), twin(cells)
    assert t.thresholds.tolist() == [end >> (other.bits - 64) for end in other.ends]


@BOTH
def test_all_65536_cells_of_the_table_are_right(cells):
    """A 16-bit cell names j exactly when all numbers in it lie in sure cell j, and is open otherwise."""
    left, other = tables(cells).sure_cell, twin(cells)
    named = 0
    for index, given in enumerate(left.tolist()):
        truth = other.located(index, 16)
        expected = truth[0] if truth is not None and truth[1] else None
        assert (None if np.isnan(given) else int(given)) == expected
        named += expected is not None
    assert named / 65536 > 0.97


@BOTH
def test_ratios_are_correctly_rounded(cells):
    with mp.workdps(60):
        f = density(cells.alpha, cells.beta)
        exact = [float(f(mpf(j + 1) / 64) / f(mpf(j) / 64)) for j in range(tables(cells).count)]
    assert tables(cells).ratio.tolist() == exact


@BOTH
def test_located_agrees_with_the_second_computation(cells):
    other = twin(cells)
    for word in fair(60, 21).tolist():
        assert locate(cells, Digits(word, 64), Replay([0])) == other.located(word, 64)


@pytest.mark.parametrize(("cells", "ties"), [(EXPONENTIAL, 1), (EXPONENTIAL, 2), (NORMAL, 1), (NORMAL, 2), (NORMAL, 6)])
def test_a_word_equal_to_a_threshold_is_refined_on_both_sides(cells, ties):
    """The proposal agrees with an end in 64·ties digits; six words lie beyond any fixed precision."""
    bits = 64 * (ties + 1)
    other = twin(cells, bits)
    for part in [100, cells_part(other, 90)]:
        for step in (-1, 1):
            word = other.ends[part] + step
            words = [(word >> (bits - 64 * (i + 1))) & LAST for i in range(ties + 1)]
            source = Replay(words[1:])
            cell = locate(cells, Digits(words[0], 64), source)
            assert cell == other.located(word, bits)
            assert source.left.size == 0


def cells_part(other, j):
    """The index of the end of maybe-cell j."""
    return other.count + 1 + j


@BOTH
def test_tails_are_located_beyond_the_tables(cells):
    t, other = tables(cells), twin(cells, 192)
    word = other.ends[t.count] - 2**70  # within 2⁻¹²² below the end of all sure cells: far out in their tail
    words = [(word >> shift) & LAST for shift in (128, 64, 0)]
    j, sure = locate(cells, Digits(words[0], 64), Replay([*words[1:], 2**63, 2**63]))
    assert (j >= t.count, sure) == (True, True)
    for words in ([LAST] * 3, [LAST, LAST, 2**40]):
        j, sure = locate(cells, Digits(LAST, 64), Replay([*words, 2**63, 2**63]))
        assert (j >= t.count, sure) == (True, False)


@BOTH
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("j", [0, 7, 200])
def test_the_keep_coin_is_right_on_both_sides_of_its_edge(cells, j, mirrored):
    """Y equals, in 64 digits, what V at its 40 known digits followed by zeros asks for; the next digits decide."""
    place = 2**39 + 12345
    with mp.workdps(60):
        f = density(cells.alpha, cells.beta)
        v = mpf(place) / 2**40
        low, high = f(mpf(j + 1) / 64), f(mpf(j) / 64)
        edge = (f((j + (1 - v if mirrored else v)) / 64) - low) / (high - low)
        first = int(edge * 2**64)
        after = int(edge * mpf(2) ** 128) - (first << 64)
    for step, truth in [(-(2**45), True), (2**45, False)]:
        source = Replay([0, after + step])
        assert is_kept(cells, j, Digits(place, 40), Digits(first, 64), source, mirrored=mirrored) is truth
        assert source.left.size == 0


@BOTH
def test_the_keep_coin_agrees_with_the_second_computation(cells):
    f = density(cells.alpha, cells.beta)
    words = fair(900, 22).reshape(300, 3).tolist()
    for a, b, c in words:
        j, v, y, mirrored = a % 300, b >> 24, c, bool(a >> 63)
        with mp.workdps(60):
            low, high = f(mpf(j + 1) / 64), f(mpf(j) / 64)
            place = mpf(v) / 2**40
            truth = low + mpf(y) / mpf(2) ** 64 * (high - low) < f((j + (1 - place if mirrored else place)) / 64)
        assert is_kept(cells, j, Digits(v, 40), Digits(y, 64), Replay([0] * 4), mirrored=mirrored) == truth


def component_masses(cells):
    """(sure, maybe) masses of every tabled cell, from the very ends the sampler uses."""
    with real.precision(256):
        weights = [cells.weight(j) for j in range(tables(cells).count + 1)]
        ends = [mpf(0)] + [as_mpf(end) for end in module._cumulative(cells, weights)]
    masses = [b - a for a, b in pairwise(ends)]
    count = tables(cells).count
    return masses[:count], masses[count + 1 :]


def kept_share(cells, j, low, high):
    """∫ over z in [low, high] ⊂ cell j of P[kept | z] dz/h, by Gauss–Legendre of degree 12, exact to 10⁻³⁵ here."""
    f = density(cells.alpha, cells.beta)
    first, last = f(mpf(j) / 64), f(mpf(j + 1) / 64)
    middle, half = (low + high) / 2, (high - low) / 2
    chance = [(w, (f(middle + half * x) - last) / (first - last)) for x, w in NODES]
    return 64 * half * mpmath.fsum(w * p for w, p in chance)


with mp.workdps(50), real.precision(200):
    NODES = [tuple(map(as_mpf, arb.legendre_p_root(12, k, weight=True))) for k in range(12)]


@BOTH
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(101, 70)], ids=str)
def test_the_mixture_is_the_stated_law(cells, scale):
    """Σ over components of mass × overlap × P[kept] over P[kept at all] is P[k ≤ scale·Z < k+1] to 10⁻²⁵."""
    with mp.workdps(50):
        sure, maybe = component_masses(cells)
        whole = mpmath.fsum(
            s + m * kept_share(cells, j, mpf(j) / 64, mpf(j + 1) / 64)
            for j, (s, m) in enumerate(zip(sure, maybe, strict=True))
        )
        end = mpf(len(sure)) / 64  # what lies beyond the tabled cells: w(0) = 1 has mass maybe₀/(1 − w(1))
        unit = maybe[0] / (1 - density(cells.alpha, cells.beta)(1 / mpf(64)))
        whole += (
            64
            * unit
            * (mpmath.exp(-end) if cells.beta == 0 else mpmath.sqrt(mp.pi / 2) * mpmath.erfc(end / mpmath.sqrt(2)))
        )
        for k in range(4):
            low, high = (mpf(k) * scale.denominator / scale.numerator, mpf(k + 1) * scale.denominator / scale.numerator)
            share = mpf(0)
            for j in range(int(low * 64), int(high * 64) + 1):
                a, b = max(low, mpf(j) / 64), min(high, mpf(j + 1) / 64)
                if a < b:
                    share += sure[j] * (b - a) * 64 + maybe[j] * kept_share(cells, j, a, b)
            if cells.beta == 0:
                exact = mpmath.exp(-low) - mpmath.exp(-high)
            else:
                exact = mpmath.erf(high / mpmath.sqrt(2)) - mpmath.erf(low / mpmath.sqrt(2))
            assert abs(share / whole - exact) < mpf(10) ** -25


def test_the_width_is_a_power_of_two():
    assert Fraction(1, 64) == H
