"""Exact laws by enumeration: ratios, sums, unbiased estimates and variances, all in rationals."""

from fractions import Fraction as F
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

from discreet import real
from discreet.local import number, two_coins
from discreet.local.protocol import ValueProtocol, exact_variance
from local.cases import EPSILONS, moments, name_of, slow_support, tiny_protocols

PROTOCOLS = tiny_protocols()
NUMBERS = [number(epsilon, 0, steps, 1) for epsilon in EPSILONS for steps in (1, 2, 5, 24)]
USES = [number(epsilon, 0, steps, 1, protects="use") for epsilon in EPSILONS for steps in (1, 4)]


def is_within(ratio: F, epsilon: F) -> bool:
    """ratio ≤ e^ε, certified; e^ε of a rational is irrational, so the two differ."""
    return real.less(lambda: real.ball(ratio), real.exp(epsilon))


def largest_ratio(laws: list[dict[bytes, F]]) -> F:
    return max(law[report] / other[report] for law in laws for other in laws for report in law)


def unbiased(protocol: ValueProtocol, report: bytes, value: int) -> F:
    """(1[supported] − q)/(p − q), support by the slow rule."""
    code = protocol.code
    return (slow_support(code.to_json(), report, value) - code.lie) / (code.truth - code.lie)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name_of)
def test_every_ratio_of_reports_is_within_the_stated_and_the_typed_epsilon(protocol: ValueProtocol) -> None:
    laws = [protocol.law(value) for value in protocol.values]
    assert all(len(law) == protocol.code.outputs and sum(law.values()) == 1 for law in laws)
    assert all(len(report) == protocol.report_bytes for law in laws for report in law)
    assert largest_ratio(laws) == protocol.code.ratio
    assert is_within(protocol.code.ratio, protocol.epsilon)
    assert not is_within(protocol.code.ratio, protocol.epsilon - F(1, 10**15))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_thresholds_are_the_largest_that_the_typed_epsilon_allows(epsilon: str) -> None:
    """ε of the integers lies at most 10⁻⁶ of it below what was typed, and never above."""
    for protocol in (p for p in PROTOCOLS if p.name != "two coins"):
        if abs(float(protocol.epsilon) / float(epsilon) - 1) < 0.01:
            assert is_within(protocol.code.ratio, F(epsilon))
            assert protocol.epsilon > F(epsilon) * (1 - F(1, 10**6))


def test_two_coins_have_ratio_three_and_the_epsilon_of_its_logarithm() -> None:
    assert two_coins().code.ratio == 3
    assert two_coins().epsilon >= F("1.09861228866810969139")
    assert two_coins().epsilon <= F("1.0986122886681097")


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name_of)
def test_estimates_are_exactly_unbiased_with_exactly_the_stated_variance(protocol: ValueProtocol) -> None:
    """For every pair of a true and an asked value; variances of a share f are those of the holders and the others."""
    k, code = len(protocol.values), protocol.code
    spread = {}
    for answer, value in product(range(k), repeat=2):
        law = protocol.law(protocol.values[answer])
        mean, variance = moments(law, {report: unbiased(protocol, report, value) for report in law})
        assert mean == (answer == value)
        spread.setdefault(answer == value, set()).add(variance)
    assert {len(variances) for variances in spread.values()} == {1}
    held, other = spread[True].pop(), spread[False].pop()
    for share in (F(0), F(1, 3), F(1, 2), F(1)):
        noise = share * held + (1 - share) * other
        assert exact_variance(code, share, 1, "respondents") == noise
        assert exact_variance(code, share, 7, "population") == (noise + share * (1 - share)) / 7
        p, q = code.truth, code.lie
        assert noise == q * (1 - q) / (p - q) ** 2 + share * (1 - p - q) / (p - q)  # Wang et al. (2017)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=name_of)
def test_what_estimate_returns_for_a_single_report_averages_to_the_truth(protocol: ValueProtocol) -> None:
    """The real tally and estimate, weighted with the law; floats, so to 10⁻⁹."""
    for value in protocol.values[:2]:
        law = protocol.law(value)
        means = np.zeros(len(protocol.values))
        for report, chance in law.items():
            rows = protocol.estimate(protocol.aggregate([report]))
            means += float(chance) * np.array([row.estimate for row in rows])
        assert means == pytest.approx([float(value == other) for other in protocol.values], abs=1e-9)


@pytest.mark.parametrize("bits", list(product((0, 1), repeat=3)))
def test_whole_vectors_of_three_people_differ_by_a_factor_of_three_for_each_changed_answer(bits) -> None:
    """The lecture's n-person ratio: P[b | answers]/P[b | other answers] ≤ 3^(people who differ), reached."""
    protocol = two_coins()
    laws = [protocol.law(value) for value in protocol.values]
    vectors = list(product((0, 1), repeat=3))

    def chance(reports: tuple[int, ...], answers: tuple[int, ...]) -> F:
        return prod(laws[answer][bytes([report])] for report, answer in zip(reports, answers, strict=True))

    assert sum(chance(reports, bits) for reports in vectors) == 1
    for other in vectors:
        differing = sum(a != b for a, b in zip(bits, other, strict=True))
        ratios = [chance(reports, bits) / chance(reports, other) for reports in vectors]
        assert max(ratios) == 3**differing
        assert min(ratios) == F(1, 3**differing)


# --- numbers ------------------------------------------------------------


@pytest.mark.parametrize("protocol", NUMBERS, ids=lambda p: f"{p.code.steps}-{float(p.epsilon):.3g}")
def test_number_of_a_person_is_within_epsilon_unbiased_and_of_the_stated_variance(protocol) -> None:
    laws = [protocol.law(float(value)) for value in protocol.values]
    assert all(sum(law.values()) == 1 and len(law) == protocol.code.outputs for law in laws)
    possible = [{report: chance for report, chance in law.items() if chance} for law in laws]
    assert {frozenset(law) for law in possible} == {frozenset(possible[0])}
    assert largest_ratio(possible) <= protocol.code.ratio
    assert is_within(protocol.code.ratio, protocol.epsilon)
    for steps, law in enumerate(possible):
        estimates = {report: protocol.code.unbiased_steps(int.from_bytes(report, "little")) for report in law}
        assert moments(law, estimates) == (steps, protocol.code.variance(steps))
        assert estimates == {
            report: pytest.approx(protocol.code.steps_of_outputs[int.from_bytes(report, "little")], abs=1e-6)
            for report in law
        }


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 2, 5, 24, 1000])
def test_number_costs_no_more_than_the_typed_epsilon(epsilon: str, steps: int) -> None:
    protocol = number(epsilon, 0, steps, 1)
    assert is_within(protocol.code.ratio, F(epsilon))
    assert protocol.epsilon > F(epsilon) * (1 - F(1, 10**4))


@pytest.mark.parametrize("protocol", USES, ids=lambda p: f"{p.code.steps}-{float(p.epsilon):.3g}")
def test_uses_are_within_epsilon_for_neighbouring_steps_and_within_the_persons_for_all(protocol) -> None:
    laws = [protocol.law(float(value)) for value in protocol.values]
    assert all(sum(law.values()) == 1 for law in laws)
    assert max(largest_ratio([a, b]) for a, b in pairwise(laws)) == protocol.code.ratio
    assert largest_ratio(laws) == protocol.code.ratio**protocol.code.steps
    assert is_within(protocol.code.ratio, protocol.epsilon)
    assert is_within(protocol.code.ratio**protocol.code.steps, protocol.person_epsilon)
    assert protocol.person_epsilon == protocol.epsilon * protocol.code.steps == protocol.cost.epsilon
    for steps, law in enumerate(laws):
        mean, variance = moments(law, {r: int.from_bytes(r, "little") - protocol.code.reach for r in law})
        assert abs(mean - steps) < F(1, 2**20)  # held to its ends
        assert variance == pytest.approx(float(protocol.code.variance(steps)), rel=1e-6)
