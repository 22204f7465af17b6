"""Proportions of steps: least noise over all cells, by trying others."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.learn.price import parse_price
from discreet.relation import Relation
from discreet.synth.law import GAUSSIAN, LAPLACE, law_of, mu, precision, spread

CELLS = st.lists(st.integers(1, 5000), min_size=1, max_size=8).map(lambda cells: np.array(cells, dtype=float))


def noise_of(law, cells, weights):
    """Σ of E|noise| over all cells at m = 1, where tables are counted in these weights."""
    norm = sqrt(float((weights**2).sum())) if law is GAUSSIAN else float(weights.sum())
    return law.mean_abs * norm * float((cells / weights).sum())


@given(CELLS, st.integers(0, 2**32))
def test_no_other_proportion_has_less_noise(cells, seed):
    other = np.random.default_rng(seed).uniform(0.1, 10, len(cells))
    for law in (GAUSSIAN, LAPLACE):
        best = noise_of(law, cells, law.weights(cells))
        assert best == pytest.approx(law.noise(float(law.parts(cells).sum()), 1.0), rel=1e-9)
        assert noise_of(law, cells, other) >= best * (1 - 1e-9)


def test_a_replaced_unit_makes_noise_wider_by_its_law():
    gaussian, laplace = parse_price(1, "1e-9"), parse_price(1)
    assert law_of(gaussian) is GAUSSIAN
    assert law_of(laplace) is LAPLACE
    assert [spread(price, Relation.ADD_REMOVE) for price in (gaussian, laplace)] == [1, 1]
    assert [spread(price, Relation.REPLACE_ONE) for price in (gaussian, laplace)] == [sqrt(2), 2]
    assert mu(laplace) == pytest.approx(1 / sqrt(2))
    assert precision(laplace, Fraction(1, 4)) == 0.25
    assert precision(gaussian, Fraction(1, 4)) == pytest.approx(mu(gaussian) / 2)
