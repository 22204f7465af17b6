"""Noise of sums of gradients: the lattice and its price, exact sums, what is drawn ahead, and noise in floats."""

import os
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.deep.accounting.plan import plan
from discreet.deep.training.draws import Noise
from discreet.deep.training.noise import FloatNoise, Lattice, LatticeNoise, require_form
from discreet.errors import BadValue
from discreet.noise.float_gaussian import add_normal
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Gaussian

LATTICE = Lattice(7, Fraction(1, 10), Fraction(3, 2))
PLAN = plan(rows=10, rate=1, steps=1, sigma="1.5", delta="1e-5")


@pytest.mark.parametrize("size", [1, 2, 3, 100, 26_010, 203_530, 10**7])
@pytest.mark.parametrize("clip", [Fraction(1), Fraction(0.1), Fraction(1, 10**9), Fraction(10**6)])
def test_the_step_is_the_largest_power_of_two_that_is_fine_enough(size, clip):
    step = Lattice(size, clip, Fraction(1)).step
    assert size * step**2 <= (clip / 4096) ** 2 < size * (2 * step) ** 2
    assert step.numerator == 1 or step.denominator == 1
    assert (step.numerator * step.denominator).bit_count() == 1


@pytest.mark.parametrize("size", [1, 2, 10, 1000, 203_530])
def test_rounding_is_paid_with_the_root_of_the_size_and_not_half_of_it(size):
    lattice = Lattice(size, Fraction(0.1), Fraction("1.37"))
    steps = float(lattice.clip / lattice.step)
    assert lattice.mechanism.sensitivity.l2_squared >= (steps + sqrt(size)) ** 2 * (1 - 1e-12)
    assert lattice.mechanism.cost == Gaussian("1.37")
    assert float(lattice.mechanism.noise.sigma) == pytest.approx(1.37 * (steps + sqrt(size)), rel=1 / steps)


def test_two_sums_a_clipped_gradient_apart_round_to_lattice_points_within_the_sensitivity():
    lattice, generator = Lattice(50, Fraction(1), Fraction(1)), np.random.default_rng(1)
    step, worst = float(lattice.step), 0.0
    for _ in range(2000):
        moved = generator.normal(size=50)
        moved *= 1 / np.linalg.norm(moved)
        base = generator.normal(size=50)
        apart = np.rint((base + moved) / step) - np.rint(base / step)
        worst = max(worst, float(np.linalg.norm(apart)))
    assert worst <= sqrt(float(lattice.mechanism.sensitivity.l2_squared))
    half = (np.arange(50) % 2 - 0.5) * step  # the worst case: every number is moved over the edge of a cell
    apart = np.rint((half * 0.999 + step * 0.5005 * np.sign(half)) / step) - np.rint(half * 0.999 / step)
    assert np.linalg.norm(apart) == pytest.approx(sqrt(50))


def test_exact_noise_is_the_sum_on_the_lattice_plus_whole_steps():
    total = np.linspace(-3.0, 5.0, 7)
    noisy = total.copy()
    LatticeNoise(LATTICE, SYSTEM).add(noisy)
    steps = noisy / float(LATTICE.step)
    assert (steps == np.rint(steps)).all()
    assert np.abs(noisy - total).max() < 9 * LATTICE.deviation


def test_sums_beyond_all_bounds_saturate_and_stay_finite():
    noisy = np.array([1e300, -1e300, *[0.0] * 5])
    LatticeNoise(LATTICE, SYSTEM).add(noisy)
    assert np.isfinite(noisy).all()


@pytest.mark.parametrize("noise", [LatticeNoise, FloatNoise])
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_sum_that_is_not_finite_gets_no_noise(noise, broken):
    total = np.zeros(7, dtype=np.float64 if noise is LatticeNoise else np.float32)
    total[3] = broken
    with pytest.raises(ArithmeticError):
        noise(LATTICE, SYSTEM).add(total)


def test_the_noise_of_many_steps_has_the_stated_deviation_and_no_two_steps_share_it():
    """N = 70,000 numbers of either form: their variance is right to 3 %, false alarm below 10⁻⁷."""
    for form in ("exact", "float"):
        noise, rows = Noise(PLAN, LATTICE.clip, 7, form).begin(SYSTEM), []
        for _ in range(10_000):
            rows.append(np.zeros(7, dtype=np.float64 if form == "exact" else np.float32))
            noise.add(rows[-1])
        drawn = np.array(rows, dtype=np.float64)
        deviation = LATTICE.deviation if form == "exact" else 0.15
        assert np.var(drawn) == pytest.approx(deviation**2, rel=0.03)
        assert abs(float(np.var(drawn) / deviation**2 / 1.1**2 - 1)) > 0.03  # noise 10 % wider would be seen
        assert len({row.tobytes() for row in drawn}) == 10_000
        assert abs(np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]) < 6 / sqrt(drawn.size)


def test_a_forked_child_does_not_take_what_its_parent_drew_ahead():
    noise = LatticeNoise(LATTICE, SYSTEM)
    noise.add(np.zeros(7))  # now more is drawn ahead
    reading, writing = os.pipe()
    child = os.fork()
    mine = np.zeros(7)
    if child == 0:
        noise.add(mine)
        os.write(writing, mine.tobytes())
        os._exit(0)
    noise.add(mine)
    theirs = np.frombuffer(os.read(reading, 56))
    os.waitpid(child, 0)
    os.close(reading), os.close(writing)
    assert not np.array_equal(mine, theirs)


@pytest.mark.parametrize("size", [1, 2, 3, 16_384, 16_385, 40_001])
def test_float_noise_fills_arrays_of_every_length(size):
    out = np.full(size, 100, dtype=np.float32)
    add_normal(out, 2.0, SYSTEM)
    assert (out != 100).all()
    assert np.abs(out - 100).max() < 2 * 6.67


def test_float_noise_is_normal():
    """N = 400,000: the distance to Φ is below 0.0045, false alarm below 10⁻⁶ (Kolmogorov); 10 % wider is seen."""
    from scipy.stats import kstest

    out = np.zeros(400_000, dtype=np.float32)
    add_normal(out, 1.0, SYSTEM)
    assert kstest(out, "norm").statistic < 0.0045
    assert kstest(out * 1.1, "norm").statistic > 0.0045
    pairs = out[: out.size // 16_384 * 16_384].reshape(-1, 2, 8_192) ** 2  # cosine and sine of one radius
    assert abs(np.corrcoef(pairs[:, 0].ravel(), pairs[:, 1].ravel())[0, 1]) < 0.012


def test_noise_of_another_name_is_refused():
    assert require_form("float") == "float"
    with pytest.raises(BadValue, match="must be 'exact' or 'float'"):
        require_form("gaussian")
