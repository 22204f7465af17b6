"""Sampling and shuffling against slow, obvious twins in exact arithmetic."""

import itertools
import math
import time
from fractions import Fraction

import pytest

from discreet.errors import BadValue
from discreet.privacy import amplify, clones
from discreet.privacy.cost import Approx

Law = dict[tuple[int, ...], Fraction]


def divergence(p: Law, q: Law, threshold: Fraction) -> Fraction:
    """Σ max(P − tQ, 0)."""
    return sum((max(p[k] - threshold * q.get(k, Fraction(0)), Fraction(0)) for k in p), Fraction(0))


def pair_laws(ratio: Fraction, rate: Fraction, reports: int) -> tuple[Law, Law]:
    """The clones pair written out: every C, every A, both Δ."""
    p: Law = {}
    q: Law = {}
    for c in range(reports):
        among = math.comb(reports - 1, c) * rate**c * (1 - rate) ** (reports - 1 - c)
        for a in range(c + 1):
            chance = among * Fraction(math.comb(c, a), 2**c)
            for weight, cell in ((ratio, (a + 1, c - a)), (Fraction(1), (a, c - a + 1))):
                p[cell] = p.get(cell, Fraction(0)) + chance * weight / (ratio + 1)
                q[cell[::-1]] = q.get(cell[::-1], Fraction(0)) + chance * weight / (ratio + 1)
    return p, q


def shuffled_law(rows: list[list[Fraction]]) -> Law:
    """The law of the sorted reports when unit i answers y with probability rows[i][y]."""
    law: Law = {}
    for reports in itertools.product(range(len(rows[0])), repeat=len(rows)):
        cell = tuple(sorted(reports))
        law[cell] = law.get(cell, Fraction(0)) + math.prod(row[y] for row, y in zip(rows, reports, strict=True))
    return law


def response(value: int, values: int, ratio: Fraction) -> list[Fraction]:
    """k-ary randomized response: the truth E times as likely as any other value."""
    return [(ratio if y == value else Fraction(1)) / (ratio + values - 1) for y in range(values)]


# --- sampling ----------------------------------------------------------------------------------------------------


def sampled_mechanism_delta(epsilon: float, delta: float, rate: float, threshold: float) -> float:
    """The worst (ε, δ) mechanism run with probability p and its absence otherwise, at ε', either way round."""
    e = math.exp(epsilon)
    present = [delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0.0]
    absent = [0.0, (1 - delta) / (1 + e), (1 - delta) * e / (1 + e), delta]
    mixed = [rate * a + (1 - rate) * b for a, b in zip(present, absent, strict=True)]
    both = ((mixed, absent), (absent, mixed))
    return max(sum(max(a - math.exp(threshold) * b, 0) for a, b in zip(x, y, strict=True)) for x, y in both)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "5"])
@pytest.mark.parametrize("rate", ["0.001", "0.3", "1"])
def test_sampled_promise_is_kept_and_not_wasteful(epsilon: str, rate: str) -> None:
    cost = amplify.sampled_promise(Approx(epsilon, "1e-6"), rate).cost
    true = sampled_mechanism_delta(float(epsilon), 1e-6, float(rate), float(cost.epsilon))
    assert true <= float(cost.delta) * (1 + 1e-6)
    closer = sampled_mechanism_delta(float(epsilon), 1e-6, float(rate), float(cost.epsilon) * 0.99)
    assert closer > float(cost.delta)


def test_sampling_is_only_ever_cheaper_and_nothing_sampled_is_free() -> None:
    whole = Approx("1e6", "1e-9")
    assert amplify.sampled_promise(whole, 1).cost == whole
    assert amplify.sampled_promise(whole, 0).cost == Approx(0, 0)
    assert amplify.sampled_promise(whole, "0.5").cost.epsilon < whole.epsilon
    assert amplify.sampled_promise(Approx("1e-9", 0), "1e-300").cost.epsilon == Fraction(
        1, 10**9
    )  # rounded up to what holds


def test_delta_too_fine_to_store_is_rounded_up() -> None:
    tiny = amplify.sampled_promise(Approx(1, "1e-400"), "1e-400").cost.delta
    assert tiny == Fraction(1, 10**400)


@pytest.mark.parametrize(("sampling", "under"), [("poisson", "replace-one"), ("fixed-size", "add-remove")])
def test_sampling_that_no_theorem_covers_is_refused(sampling: str, under: str) -> None:
    with pytest.raises(BadValue, match="must match the relation"):
        amplify.sampled_promise(Approx(1, 0), "0.1", sampling=sampling, under=under)
    with pytest.raises(BadValue, match="must be 'poisson' or 'fixed-size'"):
        amplify.sampled_promise(Approx(1, 0), "0.1", sampling="shuffled")


def test_fixed_size_sampling_holds_under_replace_one() -> None:
    promise = amplify.sampled_promise(Approx(1, 0), "0.01", sampling="fixed-size", under="replace-one")
    assert promise.cost == amplify.sampled_promise(Approx(1, 0), "0.01").cost
    assert "replace-one" in promise.route


# --- the clones pair ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reports", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("ratio", [1.125, 3.0, 50.0])
@pytest.mark.parametrize("rate", [0.0, 0.03125, 1 / 3, 0.9, 1.0])
def test_numeric_curve_is_just_above_the_exact_one(reports: int, ratio: float, rate: float) -> None:
    p, q = pair_laws(Fraction(ratio), Fraction(rate), reports)
    table = clones.sheet(clones.Clones(ratio, rate, reports), Fraction(1, 10**6))
    for threshold in (1.0, 1 + (ratio - 1) / 7, 1 + (ratio - 1) / 2, ratio):
        exact = divergence(p, q, Fraction(threshold))
        delta = Fraction(clones.delta(table, threshold))
        assert exact <= delta <= exact * (1 + Fraction(1, 10**8)) + Fraction(1, 10**10)


def log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def test_blocks_of_rows_only_ever_add_to_the_curve() -> None:
    others, ratio, rate, t = 2999, math.exp(1), math.exp(-1), math.exp(0.05)
    true = 0.0
    for c in range(850, 1400):
        m, weight = c + 1, log_choose(others, c) + c * math.log(rate) + (others - c) * math.log1p(-rate)
        for a in range(m // 2, m // 2 + 250):
            line = 2 * (a / m * (ratio - 1) * (1 + t) - (t * ratio - 1)) / (ratio + 1)
            if line > 0:
                true += line * math.exp(weight + log_choose(m, a) - m * math.log(2))
    delta = clones.delta(clones.sheet(clones.Clones(ratio, rate, others + 1), Fraction(1, 10**6)), t)
    assert true * (1 - 1e-9) <= delta <= true * 1.02 + 1e-11


# --- shuffling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("values", "reports"), [(2, 2), (2, 5), (3, 2), (3, 4), (5, 3)])
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3), Fraction(20)])
def test_shuffled_response_pair_covers_every_real_survey(values: int, reports: int, ratio: Fraction) -> None:
    p, q = pair_laws(ratio, 2 / (ratio + 1), reports)
    for others in itertools.combinations_with_replacement(range(values), reports - 1):
        rest = [response(x, values, ratio) for x in others]
        with_zero = shuffled_law([response(0, values, ratio), *rest])
        with_one = shuffled_law([response(1, values, ratio), *rest])
        for threshold in (Fraction(1), (1 + ratio) / 3 + 1, ratio * Fraction(9, 10)):
            assert divergence(with_zero, with_one, threshold) <= divergence(p, q, threshold)


def test_shuffled_response_pair_is_within_twice_a_real_survey() -> None:
    ratio = Fraction(3)
    p, q = pair_laws(ratio, 2 / (ratio + 1), 2)
    met = [
        divergence(
            shuffled_law([response(0, 2, ratio), response(other, 2, ratio)]),
            shuffled_law([response(1, 2, ratio), response(other, 2, ratio)]),
            Fraction(5, 4),
        )
        for other in (0, 1)
    ]
    assert max(met) > divergence(p, q, Fraction(5, 4)) * Fraction(1, 2)


@pytest.mark.parametrize("ratio", [Fraction(2), Fraction(5)])
def test_any_randomizer_pair_covers_randomizers_that_break_the_response_condition(ratio: Fraction) -> None:
    # A third input that avoids the answer the other two share: R(x) < (R(x₀) + R(x₁))/(E+1) there.
    shared = Fraction(2, 5)
    zero = [shared, (1 - shared) * ratio / (ratio + 1), (1 - shared) / (ratio + 1)]
    first = [zero[0], zero[2], zero[1]]
    third = [shared / ratio, (1 - shared / ratio) / 2, (1 - shared / ratio) / 2]
    rows = [zero, first, third]
    assert all(a <= ratio * b for left in rows for right in rows for a, b in zip(left, right, strict=True))
    assert third[0] < (zero[0] + first[0]) / (ratio + 1)
    for reports in (2, 3, 5):
        p, q = pair_laws(ratio, 1 / ratio, reports)
        for rest in itertools.combinations_with_replacement(rows, reports - 1):
            for threshold in (Fraction(1), (1 + ratio) / 2):
                true = divergence(shuffled_law([zero, *rest]), shuffled_law([first, *rest]), threshold)
                assert true <= divergence(p, q, threshold)


def test_pair_with_more_clones_than_proven_is_caught_as_wrong() -> None:
    ratio = Fraction(3)
    p, q = pair_laws(ratio, Fraction(1), 3)
    zero, first = response(0, 2, ratio), response(1, 2, ratio)
    true = divergence(shuffled_law([zero, first, first]), shuffled_law([first, first, first]), Fraction(3, 2))
    assert true > divergence(p, q, Fraction(3, 2))


@pytest.mark.parametrize("bound", [amplify.shuffled_any, amplify.shuffled_response, amplify.shuffled_closed_form])
def test_more_reports_a_larger_delta_or_a_smaller_local_promise_never_cost_more(bound: object) -> None:
    assert callable(bound)

    def price(local: str, reports: int, delta: str) -> Fraction:
        epsilon: Fraction = bound(local, reports, delta).cost.epsilon
        return epsilon

    base = price("1", 10**4, "1e-6")
    assert price("1", 10**5, "1e-6") <= base
    assert price("1", 10**4, "1e-5") <= base
    assert price("0.9", 10**4, "1e-6") <= base <= 1


@pytest.mark.parametrize("local", ["0.5", "1", "3"])
def test_numeric_bounds_lie_in_their_proven_order(local: str) -> None:
    response_only, general, closed = (
        bound(local, 10**4, "1e-6").cost.epsilon
        for bound in (amplify.shuffled_response, amplify.shuffled_any, amplify.shuffled_closed_form)
    )
    assert response_only < general < closed <= Fraction(local)


@pytest.mark.parametrize("bound", [amplify.shuffled_any, amplify.shuffled_response, amplify.shuffled_closed_form])
def test_out_of_range_the_local_promise_is_given_and_said(bound: object) -> None:
    assert callable(bound)
    for local, reports, delta in (("41", 10**6, "1e-6"), ("1e6", 10**6, "1e-6"), ("1", 10**6, "0")):
        promise = bound(local, reports, delta)
        assert promise.cost == Approx(local, 0)
        assert promise.route.startswith("the local promise")


def test_tiny_and_huge_local_promises_are_priced() -> None:
    assert amplify.shuffled_any("1e-9", 100, "1e-6").cost.epsilon == 0  # δ(0) is below 10⁻⁶ already
    assert 0 < amplify.shuffled_any("1e-9", 100, "1e-12").cost.epsilon <= Fraction(1, 10**9)
    assert amplify.shuffled_any(1, 2**40, "1e-6").cost.epsilon < Fraction(1, 1000)
    assert amplify.shuffled_any(10, 10**6, "1e-90").cost.epsilon <= 10


def test_ten_thousand_reports_take_less_than_two_seconds() -> None:
    start = time.process_time()
    amplify.shuffled_any(2, 10**4, "1e-6")
    assert time.process_time() - start < 2


@pytest.mark.parametrize("reports", [0, -1, 1.5, "many", True, None, 2**41])
def test_bad_report_counts_are_refused(reports: object) -> None:
    with pytest.raises(BadValue, match="reports"):
        amplify.shuffled_any(1, reports, "1e-6")


@pytest.mark.parametrize("delta", ["-1e-9", "1.1", "nan", float("inf"), None, True])
def test_bad_deltas_are_refused(delta: object) -> None:
    for bound in (amplify.shuffled_any, amplify.shuffled_response, amplify.shuffled_closed_form):
        with pytest.raises(BadValue, match="delta"):
            bound(1, 100, delta)
