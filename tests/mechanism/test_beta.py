"""The bias of a coin: coefficients by 40-digit logarithms, the exact step of the score, and the limiting Beta law."""

from collections import Counter
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import betainc

from discreet.errors import BadValue
from discreet.mechanism.beta import STEP, _coefficients, bias
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Exponential
from mechanism.exact_laws import assert_drawn_from, exponential_law, keeps, largest_loss, number

COUNTS = list(product(range(5), repeat=2))
MOST = 2**40


def made(under="add-remove", epsilon=1, points=9, low="0.1", high="0.9"):
    return bias(epsilon, low=low, high=high, points=points, under=under)


def neighbours(tables, under):
    """All pairs of (heads, tails) one flip apart."""
    for s, t in product(tables, repeat=2):
        moved = (s[0] - t[0], s[1] - t[1])
        if moved in ((1, 0), (-1, 0), (0, 1), (0, -1)) and under == "add-remove":
            yield s, t
        if moved in ((1, -1), (-1, 1)) and under == "replace-one":
            yield s, t


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [("0.1", "0.9"), ("1e-6", "0.5"), ("0.4", "0.4001")])
def test_coefficients_are_rounded_logarithms(low, high):
    c, d = _coefficients(F(low), F(high), 7)
    for i in range(7):
        theta = number(F(low) + (F(high) - F(low)) * i / 6)
        assert int(c[i]) == int(mpmath.floor(mpmath.log(theta) / number(STEP) + mpmath.mpf("0.5")))
        assert int(d[i]) == int(mpmath.floor(mpmath.log(1 - theta) / number(STEP) + mpmath.mpf("0.5")))


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
def test_the_stated_step_is_exactly_what_one_flip_can_move(under):
    mechanism = made(under)
    moved = [int(np.abs(mechanism.scores(s) - mechanism.scores(t)).max()) for s, t in neighbours(COUNTS, under)]
    assert max(moved) == mechanism.choice.sensitivity.linf


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
def test_the_step_holds_where_the_counts_saturate(under):
    """Heads and tails cut one by one would move a score by ln 10 when a flip is turned over, and not by ln 9."""
    mechanism = made(under)
    edge = [(MOST + h, t) for h in (-2, -1, 0, 1, 2) for t in range(3)]
    edge += [(h, MOST + t) for h in range(3) for t in (-2, -1, 0, 1, 2)]
    edge += [(MOST // 2 + h, MOST // 2 + t) for h in (-1, 0, 1) for t in (-1, 0, 1)]
    edge += [(-1, 0), (0, -1), (-1, 1), (1, -1), (0, 0), (-2, 1), (2**62, -(2**62)), (10**30, 10**30)]
    pairs = list(neighbours(edge, under))
    assert len(pairs) > 20
    for s, t in pairs:
        assert np.abs(mechanism.scores(s) - mechanism.scores(t)).max() <= mechanism.choice.sensitivity.linf


def test_scores_do_not_wrap_at_the_narrowest_bounds():
    mechanism = made(low="1e-400", high=1 - F(1, 10**400), points=3)
    for flips in ((MOST, MOST), (MOST, 0), (0, MOST), (2**62, 2**62)):
        assert mechanism.scores(flips).max() <= 0
        assert mechanism.scores(flips).min() > -(2**62)


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", ["0.1", "2"])
def test_answer_is_epsilon_private_for_all_neighbours(under, epsilon):
    mechanism = made(under, epsilon)
    laws = {s: exponential_law(mechanism.scores(s).tolist(), mechanism.choice.rate) for s in COUNTS}
    pairs = list(neighbours(COUNTS, under))
    assert all(keeps(laws[s], laws[t], F(epsilon)) for s, t in pairs)
    assert max(largest_loss(laws[s], laws[t]) for s, t in pairs) > float(F(epsilon)) / 4
    assert mechanism.cost == Exponential(epsilon)


def test_sensitivity_is_one_count_or_two():
    assert made("add-remove").sensitivity.l1 == 1
    assert made("replace-one").sensitivity.l1 == 2
    assert made("replace-one").sensitivity.relation == "replace-one"


# --- what runs ---------------------------------------------------------------------------------------------------


def test_draws_follow_the_law():
    """N = 60,000."""
    mechanism = made(epsilon=2, points=7)
    counts = Counter(mechanism.many((20, 4), 60_000, SYSTEM).tolist())
    exact = mechanism.scores((20, 4)).tolist()
    assert_drawn_from(counts, *(exponential_law(exact, mechanism.choice.rate * off) for off in (1, F(11, 10))))


def test_answers_lie_on_the_lattice():
    mechanism = made()
    lattice = {mechanism.theta(i) for i in range(9)}
    assert lattice == {F(i + 1, 10) for i in range(9)}
    assert {mechanism((3, 9), SYSTEM) for _ in range(50)} <= lattice


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
@pytest.mark.parametrize("flips", [(0, 0), (100, 300), (4000, 500)])
def test_fine_lattice_tends_to_the_truncated_beta_law(under, flips):
    """The distribution functions differ by no more than one cell of 0.001 holds: densities here stay below 12.5."""
    mechanism = made(under, "0.1", 801)
    law = exponential_law(mechanism.scores(flips).tolist(), mechanism.choice.rate)
    reached = np.cumsum([float(law[i]) for i in range(801)])
    a, b = (1 + mechanism.exponent * n for n in flips)
    low, high = betainc(a, b, 0.1), betainc(a, b, 0.9)
    theta = np.array([float(mechanism.theta(i)) for i in range(801)])
    limit = (betainc(a, b, theta) - low) / (high - low)
    assert np.abs(reached - limit).max() < 0.0125


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [0, 1, -1, 2, float("nan"), None, True, "9" * 5000])
def test_bad_bound_is_refused(given):
    with pytest.raises(BadValue, match="low must be"):
        bias(1, low=given, high="0.9", points=5)
    with pytest.raises(BadValue, match="high must be"):
        bias(1, low="0.1", high=given, points=5)


@pytest.mark.parametrize("high", ["0.1", "0.05"])
def test_bounds_in_the_wrong_order_are_refused(high):
    with pytest.raises(BadValue, match="high must be above low"):
        bias(1, low="0.1", high=high, points=5)


@pytest.mark.parametrize("points", [1, 0, -1, 2.5, None, True, 10**6])
def test_bad_number_of_points_is_refused(points):
    with pytest.raises(BadValue, match="points must be a whole number"):
        bias(1, low="0.1", high="0.9", points=points)


def test_bad_relation_is_refused():
    with pytest.raises(BadValue, match="relation must be"):
        made("swap")
