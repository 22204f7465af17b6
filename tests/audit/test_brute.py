"""Exact laws against their slow twins and against the draws, and the measures read off them."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from flint import arb

from discreet import real
from discreet.audit import brute, laws
from discreet.audit.bounds import lower_end, upper_end
from discreet.audit.claim import Claim
from discreet.audit.claims import claims
from discreet.audit.runs import outputs
from discreet.mechanism.vectors import Vectors
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.privacy import analytic
from discreet.privacy.cost import Exponential, Pure, Zcdp
from discreet.real import ball
from discreet.release.measure import Measurement

HALF = Fraction(1, 2)
CHOICES = [
    c for c in claims() if c.name.startswith(("exp", "mono", "perm", "noisy", "top", "quant", "bias", "sparse-vector-"))
]


@pytest.mark.parametrize(
    "claim",
    [c for c in claims() if c.world and not isinstance(c.mechanism, (Measurement, Vectors))],
    ids=lambda c: c.name,
)
def test_law_adds_up_to_one(claim: Claim) -> None:
    with real.precision(brute.BITS):
        for inputs in {claim.world[0][0], claim.world[-1][1]}:
            total = sum(claim.exact_law(inputs).values(), start=arb(0))
            assert total.contains(1)
            assert total.rad() < 1e-30


def drawn_keys(claim: Claim, inputs: object, n: int) -> Counter[object]:
    """Outputs of the real mechanism, in the words of its law."""
    said = outputs(claim.mechanism, inputs, n, SYSTEM)
    if claim.name.startswith("sparse"):
        return Counter("".join({1: "⊤", 0: "⊥"}.get(v, "") for v in row) for row in said.tolist())
    return Counter(tuple(row) if isinstance(row, list) else row for row in said.tolist())


@pytest.mark.parametrize("claim", [c for c in CHOICES if "numbers" not in c.name], ids=lambda c: c.name)
def test_draws_follow_the_exact_law(claim: Claim) -> None:
    """N = 4,000; each output within its Clopper–Pearson interval, 10⁻⁷ a claim; a law one tenth off must fail."""
    n, inputs = 4_000, claim.world[-1][1]
    with real.precision(64):
        law = {key: float(p) for key, p in claim.exact_law(inputs).items()}
    seen = drawn_keys(claim, inputs, n)
    assert set(seen) <= set(law)

    def fits(key: object, chance: float) -> bool:
        level = 1e-7 / (2 * len(law))
        return lower_end(seen[key], n, level) <= chance <= upper_end(seen[key], n, level)

    assert all(fits(key, chance) for key, chance in law.items())
    for key, chance in law.items():  # 0.1 is at least 12 standard deviations of any share of 4,000
        assert not fits(key, chance + 0.1 if chance < 0.5 else chance - 0.1)


def test_permute_and_flip_is_what_its_name_says() -> None:
    """The twin walks through all orders and flips one coin after the other."""
    scores = (2, 0, 1)
    with real.precision(128):
        coins = [(-ball(HALF * (2 - s))).exp() for s in scores]
        twin = dict.fromkeys(range(3), arb(0))
        for order in permutations(range(3)):
            left = arb(1) / 6
            for i in order:
                twin[i] += left * coins[i]
                left *= 1 - coins[i]
        law = laws.permute_and_flip(scores, HALF)
        assert all(law[i].overlaps(twin[i]) for i in range(3))
        assert max(law[i].rad() for i in range(3)) < 1e-30


def test_noisy_max_of_two_is_a_double_sum() -> None:
    noise, reach = DiscreteLaplace(HALF), 40
    with real.precision(128):
        law = laws.noisy_max((1, 0), noise)
        masses = {k: noise.mass(k) for k in range(-reach, reach + 1)}
        first = sum((masses[a] * masses[b] for a in masses for b in masses if 1 + a >= b), start=arb(0))
        assert abs(law[0] - first) < 1e-25
        assert abs(law[1] - (1 - first)) < 1e-25


@pytest.mark.parametrize(
    "noise", [DiscreteGaussian(Fraction(3, 2)), RoundedGaussian(Fraction(3, 2)), DiscreteLaplace(HALF)]
)
@pytest.mark.parametrize("t", [-4, -1, 0, 2])
def test_tail_is_the_sum_of_masses(noise: laws.Noise, t: int) -> None:
    with real.precision(128):
        direct = sum((noise.mass(k) for k in range(t + 1, 60)), start=arb(0))
        assert abs(laws.above(noise, t) - direct) < 1e-25


def test_claim_met_exactly_is_not_refuted_and_one_bit_more_is() -> None:
    noise = DiscreteLaplace(Fraction(1))

    def law(exact: int) -> laws.OutputLaw:
        return laws.window_law(noise, exact, range(-3, 5))

    exactly = brute.brute("x", Pure(Fraction(1)), pairs=((0, 1),), law=law)
    assert (exactly.verdict, exactly.lower_bound) == ("not refuted", math.nextafter(1, 0))
    almost = brute.brute("x", Pure(1 - Fraction(1, 2**60)), pairs=((0, 1),), law=law)
    assert almost.is_refuted


def test_measures_agree_with_closed_forms() -> None:
    wide = range(-80, 82)
    with real.precision(brute.BITS):
        discrete = [laws.window_law(DiscreteGaussian(Fraction(2)), shift, wide) for shift in (0, 1)]
        smooth = [laws.window_law(RoundedGaussian(Fraction(200)), shift, range(-2000, 2100)) for shift in (0, 100)]
        for order in (2, 3, 8):  # the discrete Gaussian meets its zCDP bound at whole orders
            assert float(brute.renyi(*discrete, Fraction(order))) == pytest.approx(order / 8, rel=1e-12)
        delta = float(brute.hockey_stick(smooth[1], smooth[0], Fraction(1, 2)))
    truth = float(analytic.delta(Fraction(2), Fraction(1, 2)))
    assert truth * 0.999 < delta <= truth


def test_impossible_output_is_an_infinite_bound() -> None:
    p, q = {0: arb(1)}, {0: arb(1) / 2, 1: arb(1) / 2}
    assert brute.log_odds(q, p) == (None, 1)
    assert brute.renyi(q, p, Fraction(2)) is None
    assert brute.bounded_range(p, q) is None
    row = brute.brute("x", Pure(Fraction(1)), pairs=((0, 1),), law={0: p, 1: q}.__getitem__)
    assert row.is_refuted
    assert row.to_json()["lower_bound"] is None


def test_exponential_and_zcdp_are_held_to_more_than_epsilon() -> None:
    kinds = [limit.kind for limit in brute.limits(Exponential(Fraction(1)))]
    assert kinds == ["log odds", "range", *["Rényi"] * 4]
    assert {limit.kind for limit in brute.limits(Zcdp(HALF))} == {"δ", "Rényi"}


def test_tiny_worlds_hold_every_table() -> None:
    assert len(brute.tables()) == math.comb(7, 3)  # at most 4 rows over 3 values
    assert len(brute.one_row_more()) == 3 * math.comb(6, 3)
    assert all(sum(b) == sum(a) + 1 for a, b in brute.one_row_more())
    assert all(sum(np.abs(np.subtract(a, b))) == 2 for a, b in brute.one_row_other())
    scores = brute.nearby(range(3), 2)
    assert len(scores) == (7**2 - 9) // 2  # 7 ordered pairs a place differ by at most one
