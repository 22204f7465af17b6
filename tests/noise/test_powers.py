"""e^(−x) stays within its stated margin of certified balls."""

import numpy as np
import pytest
from flint import arb

from discreet import real
from discreet.noise import powers
from discreet.noise.powers import MARGIN, exp_minus


def points():
    """10⁵ points: uniform, near zero, and the floats on and beside every table boundary up to x = 49."""
    edges = np.arange(0, 49 * 64 + 1) / 64
    rng = np.random.default_rng(11)
    beside = [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)]
    x = np.concatenate(
        [*beside, 10.0 ** rng.uniform(-18, 1.7, 30_000), [0.0, 5e-324, 1e-300, 700.0, 1e18, 1e300, np.inf]]
    )
    x = x[x >= 0]
    return np.concatenate([x, rng.uniform(0, 50, 100_000 - x.size)])


@pytest.fixture(scope="module")
def truth():
    x = points()
    with real.precision(80):
        return x, np.array([float((-arb(float(v))).exp()) for v in np.minimum(x, 1e4)])


def worst(x, truth):
    """The largest error; the twin is a correctly rounded ball, itself within 2⁻⁵³."""
    return np.abs(exp_minus(x) - truth).max() + 2.0**-53


def test_every_point_is_within_the_margin(truth):
    x, exact = truth
    assert x.size == 100_000
    assert worst(x, exact) < MARGIN


def test_the_margin_is_not_slack_by_more_than_a_few_bits(truth):
    """The remainder (1/64)⁶/6! is 2⁻⁴⁵·⁵: a margin of 2⁻⁴⁶ would be false."""
    assert worst(*truth) > 2.0**-46


def test_a_lost_taylor_term_is_seen(truth, monkeypatch):
    monkeypatch.setattr(powers, "_TAYLOR", powers._TAYLOR[1:])
    assert worst(*truth) > MARGIN


def test_values_lie_in_the_unit_interval_and_input_is_kept(truth):
    x = truth[0].copy()
    assert ((exp_minus(x) >= 0) & (exp_minus(x) <= 1)).all()
    assert (x == truth[0]).all()
    assert exp_minus(np.array([0.0]))[0] == 1.0
