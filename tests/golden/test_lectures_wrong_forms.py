"""Where five lectures are loose or wrong on these floors: not what runs here, and what the wrong form really gives.

L0 trustworthy AI, L1 privacy in machine learning, L2 responsible AI, L3 privacy-preserving learning, L4 privacy in AI.
"""

import math
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest

from discreet import real
from discreet.bounded import cells, scalar
from discreet.errors import BadValue
from discreet.mechanism.additive import laplace
from discreet.mechanism.beta import bias
from discreet.mechanism.response import response
from discreet.mechanism.select import exponential, monotone_exponential
from discreet.noise.laplace import DiscreteLaplace, Geometric
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Repeated
from discreet.privacy.price import epsilon as price


def true_epsilon(noise: DiscreteLaplace, *moved: int) -> float:
    """The largest loss when coordinates with this noise move so far: Σ max |ln P[k]/P[k − moved]|."""
    with real.precision(128):
        return sum(max(abs(float((noise.mass(k) / noise.mass(k - by)).log())) for k in range(-60, 120)) for by in moved)


def softmax_loss(here: list[int], there: list[int], rate: float) -> float:
    p, q = (np.exp(rate * (np.array(s) - max(s))) for s in (here, there))
    return float(np.abs(np.log(p / p.sum()) - np.log(q / q.sum())).max())


def test_l0_one_sum_of_noises_for_all_coordinates_hides_no_difference() -> None:
    """L0 adds (Y₁ + … + Y_k).  Added to every coordinate it cancels in differences: no finite ε."""
    exact = np.array([5, 9, 1])
    shared = exact + DiscreteLaplace(F(30)).draw(3, SYSTEM).sum()
    assert np.diff(shared).tolist() == np.diff(exact).tolist()  # a change of one coordinate alone is seen for sure
    answers = laplace(cells(3, 1), "0.1")(np.tile(exact, (200, 1)), SYSTEM)
    assert len(set(map(tuple, np.diff(answers).tolist()))) > 100


def test_l3_exponent_without_the_two_costs_up_to_twice_as_much() -> None:
    """L3's exponent s·ε/Δ: at ε = 1 and 1,000 candidates one moved score and 999 moved the other way lose 1.9977."""
    up, down = [1] + [0] * 999, [0] + [1] * 999
    assert exponential(scalar(1), 1).rate == F(1, 2)
    assert softmax_loss(up, down, 0.5) < 1
    assert softmax_loss(up, down, 1.0) == pytest.approx(1.9977, abs=1e-4)
    # With scores that all move one way it is right, and offered only when declared so.
    assert monotone_exponential(scalar(1), 1).rate == 1
    assert softmax_loss([1] + [0] * 999, [0] * 1000, 1.0) < 1
    with pytest.raises(BadValue, match="add-remove"):
        monotone_exponential(scalar(1, "replace-one"), 1)


def test_l1_bernoulli_counts_need_scale_10_or_20_not_22() -> None:
    """L1 scales noise on counts by the log-likelihood's Δ/ε = 22 (it would be 23.03): 4.8 or 1.2 times the variance."""
    assert laplace(cells(1, 1), "0.1").noise.scale == 10
    assert laplace(cells(2, 1, "replace-one"), "0.1").noise.scale == 20
    wrong = DiscreteLaplace(F(22)).variance
    assert wrong / laplace(cells(1, 1), "0.1").variance == pytest.approx(4.84, abs=0.01)
    assert wrong / laplace(cells(2, 1, "replace-one"), "0.1").variance == pytest.approx(1.21, abs=0.01)
    assert -math.log(0.1) / 0.1 == pytest.approx(23.03, abs=0.01)
    # The log-likelihood's own step belongs to the exponential mechanism: ln 10, by replacement ln 9.
    steps = [
        float(bias(1, low="0.1", high="0.9", points=9, under=u).choice.sensitivity.linf) / 2**12
        for u in ("add-remove", "replace-one")
    ]
    assert steps == pytest.approx([math.log(10), math.log(9)], abs=3e-4)


def test_l1_l2_neighbours_are_named_a_histogram_is_1_or_2() -> None:
    """A histogram with noise for one count, read as replace-one, is 2ε-DP."""
    noise = laplace(cells(1, 1), "0.5").noise
    assert true_epsilon(noise, 1) == pytest.approx(0.5)
    assert true_epsilon(noise, 1, -1) == pytest.approx(1.0)
    assert true_epsilon(laplace(cells(2, 1, "replace-one"), "0.5").noise, 1, -1) == pytest.approx(0.5)


def test_l1_l2_neighbours_a_sum_over_3_to_5_moves_by_5_or_by_2() -> None:
    """Replace-one noise (b − a = 2) for a table that may lose a row: 2.5 times the ε claimed."""
    by_replacement = laplace(scalar(5 - 3, "replace-one"), 1).noise
    assert true_epsilon(by_replacement, 2) == pytest.approx(1)
    assert true_epsilon(by_replacement, 5) == pytest.approx(2.5)
    assert true_epsilon(laplace(scalar(5), 1).noise, 5) == pytest.approx(1)


def test_l3_local_noise_for_one_use_does_not_protect_a_person() -> None:
    """Lap(1/ε) on a phone's count of uses, ε = 0.1: one use costs 0.1, a person with up to 50 uses 5."""
    for_a_use = laplace(scalar(1, "replace-one"), "0.1")
    assert true_epsilon(for_a_use.noise, 1) == pytest.approx(0.1)
    assert true_epsilon(for_a_use.noise, 50) == pytest.approx(5.0)
    for_a_person = laplace(scalar(50, "replace-one"), "0.1")
    assert for_a_person.noise.scale == 500
    assert true_epsilon(for_a_person.noise, 50) == pytest.approx(0.1)


def test_l4_laplace_errs_by_1_over_n_and_only_randomized_response_by_1_over_root_n() -> None:
    """L4 prints O(1/(ε√n)) for both; at n = 10,000 and ε = 1 that is 71 times too much for Laplace."""
    sizes = [100, 10_000, 1_000_000]
    central = [math.sqrt(laplace(scalar(1, "replace-one"), 1).variance) / n for n in sizes]
    local = [math.sqrt(response(1).variance(0.0, n)) for n in sizes]
    assert [a / b for a, b in pairwise(central)] == pytest.approx([100, 100])
    assert [a / b for a, b in pairwise(local)] == pytest.approx([10, 10])
    assert local[1] / central[1] == pytest.approx(70.7, abs=0.1)  # √n/√2


def test_l4_unbiasing_uses_e_to_the_epsilon_not_p_to_the_k() -> None:
    """L4 prints p^k for e^ε.  With p the chance of keeping, k = 1 and ε = 1 a true 1 is estimated as −0.99."""
    mechanism, e = response(1), math.e
    keep = e / (1 + e)

    def mean(base: float, truth: int) -> float:
        said = keep if truth else 1 - keep
        return (said - 1 / (1 + base)) * (base + 1) / (base - 1)

    assert [mean(e, x) for x in (0, 1)] == pytest.approx([0, 1])
    assert mean(keep, 1) == pytest.approx(-0.9875, abs=1e-3)
    expected = keep * mechanism.shares([1])[1].value + (1 - keep) * mechanism.shares([0])[1].value
    assert expected == pytest.approx(1)


def test_l2_laplace_ratio_is_e_to_the_delta_over_b() -> None:
    """L2's proof ends in exp(Δ/ε); it is exp(Δ/b) = e^ε with b = Δ/ε.  Noise of scale ε would have a loss of Δ/ε."""
    right = laplace(scalar(1), "0.1").noise
    assert right.scale == 10
    assert math.exp(true_epsilon(right, 1)) == pytest.approx(math.exp(0.1))
    assert math.exp(1 / 0.1) == pytest.approx(22026.5, abs=0.1)  # what the printed bound would allow
    assert true_epsilon(DiscreteLaplace(F("0.1")), 1) == pytest.approx(10)


def test_l2_flips_at_51_percent_are_a_twenty_fifth_per_bit_and_add_up() -> None:
    """One bit costs 0.04; a person's picture of 64 × 64 bits 163.9 in sum, and 14.9 at δ = 10⁻⁶."""
    bit = F(math.nextafter(math.log(0.51 / 0.49), 1))
    mechanism = response(bit)
    assert float(mechanism.cost.epsilon) == pytest.approx(0.0400, abs=1e-4)
    assert float(price(Repeated(mechanism.cost, 4096), 0).value) == pytest.approx(163.86, abs=0.01)
    composed = float(price(Repeated(mechanism.cost, 4096), "1e-6").value)
    assert composed == pytest.approx(14.87, abs=0.01)


def test_l2_one_sided_geometric_noise_protects_no_one() -> None:
    """L2's Geom(2L/ε): with one-sided noise a smaller output rules a table out; with two sides the scale is right.

    At L = 3 levels and ε = 0.1 each of the 2L touched cells gives it away with probability 1 − e^(−1/60) = 0.0165.
    """
    levels, epsilon = 3, F(1, 10)
    right = laplace(cells(2 * levels, 1), epsilon).noise
    assert right.scale == 2 * levels / epsilon == 60
    assert true_epsilon(right, *[1, -1] * levels) == pytest.approx(0.1)
    with real.precision(64):
        never, sometimes = Geometric(F(60)).mass(-1), Geometric(F(60)).mass(0)
        assert float(never) == 0
        assert float(sometimes) == pytest.approx(0.0165, abs=5e-5)
    assert 1 - (1 - 0.016529) ** levels == pytest.approx(0.0488, abs=1e-4)  # the δ of three cells that fall by one
