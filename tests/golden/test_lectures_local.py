"""The lectures' figures on private surveys, from the protocols that really run.

L1 privacy in machine learning (randomized response), L3 privacy-preserving learning (local DP), L4 privacy in AI.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from discreet.local import binary, compare, number, two_coins
from discreet.local.protocol import ValueProtocol
from discreet.privacy.odds import response_posterior
from local.cases import SIDES

Z = F("1.96")


def respondents(variance: F, radius: F = F(3, 100)) -> int:
    """People needed for ± radius at 95 % where n·variance is that."""
    return math.ceil(Z**2 * variance / radius**2)


def said_yes(protocol: ValueProtocol, answer: str) -> F:
    return protocol.law(answer)[b"\x01"]


def test_two_coins_are_ln_3() -> None:
    # L1: P(yes | dodge) = 3/4, P(yes | no) = 1/4: ln 3-DP.
    protocol = two_coins()
    assert (said_yes(protocol, "yes"), said_yes(protocol, "no")) == (F(3, 4), F(1, 4))
    assert protocol.code.ratio == 3
    assert float(protocol.epsilon) == pytest.approx(math.log(3), rel=1e-15)


def test_posterior_of_a_yes_is_0_0577() -> None:
    # L1: prior 0.02 and a yes: 0.015/(0.015 + 0.245) = 0.0577.
    protocol = two_coins()
    posterior = response_posterior("0.02", said_yes(protocol, "yes"), said_yes(protocol, "no"))
    assert posterior == F(15, 260)
    assert round(float(posterior), 4) == 0.0577


def test_variance_against_the_share_has_the_factor_four_at_one_half_only() -> None:
    # L1: N·variance of the estimate is λ(1 − λ)/(p − q)², λ = 1/4 + μ/2; without protection it is μ(1 − μ).
    protocol = two_coins()
    for percent in range(101):
        share = F(percent, 100)
        said = F(1, 4) + share / 2
        assert protocol.variance(share, 1) == pytest.approx(float(4 * said * (1 - said)), rel=1e-14)
        plain = 4 * share * (1 - share)
        assert (protocol.variance(share, 1) == float(plain)) == (percent == 50)
        assert protocol.variance(share, 1) >= float(plain)
    assert protocol.variance("0.5", 1) / 0.25 == 4
    assert protocol.variance(0, 1) == protocol.variance(1, 1) == 0.75  # where plain answers do not err at all


def test_respondents_for_three_points() -> None:
    # Worst share ½, 95 %: 1,068 without protection, 4,269 with two coins, 4,997 at ε = 1, 17,790 at ε = 0.5.
    assert respondents(F(1, 4)) == 1_068
    figures = [respondents(F(p.variance("0.5", 1))) for p in (two_coins(), binary(1), binary("0.5"))]
    assert figures == [4_269, 4_997, 17_790]


def test_phones_err_by_the_root_of_n_more_than_a_curator() -> None:
    # L3: local ± of order 1/(ε√n), a curator's of order 1/(εn): the factor grows like √n.
    few, many = (compare(1, people, "1e-6") for people in (10_000, 1_000_000))
    assert many.factor / few.factor == pytest.approx(10, rel=0.02)
    assert 50 < few.factor < 100  # of √n = 100
    assert [row.name for row in few.rows] == ["local", "shuffled", "central"]
    local, shuffled, central = few.rows
    assert (local.epsilon, central.epsilon) == (1, 1)
    assert shuffled.epsilon < F(1, 5)
    assert local.radius == shuffled.radius > 50 * central.radius


def test_shuffled_promise_is_of_an_independent_shuffler() -> None:
    rows = {row.name: row.trusted for row in compare(1, 10_000, "1e-6").rows}
    assert rows["local"] == "the page on each device"
    assert "independent" in rows["shuffled"]
    assert "curator" in rows["central"]


def test_snooper_on_the_line_sees_a_report_of_constant_length_and_learns_at_most_e_to_the_epsilon() -> None:
    # L3: whoever reads the line, or seizes the server, has the report alone.  Reports of both answers are equally long
    # and the odds of any guess move by the ratio at most, however often the same bytes are seen.
    protocol = two_coins()
    lengths = {len(report) for answer in ("no", "yes") for report in protocol.law(answer)}
    assert lengths == {protocol.report_bytes}
    for report in protocol.law("no"):
        odds = protocol.law("yes")[report] / protocol.law("no")[report]
        assert F(1, 3) <= odds <= 3
    reports = protocol.encode(["yes"] * 1_000)
    assert set(vars(reports)) == {"bytes"}  # and no answer is kept beside them
    assert 0 < np.count_nonzero(reports.bytes) < 1_000


def test_noise_for_one_use_is_no_protection_of_a_person() -> None:
    # L3: "privacy at the level of a single use": Lap(1/ε) at the source hides one use, event level.  The lecture's
    # claim is about a use; a person of N uses has N·ε, and their number is nearly seen.
    use, person = number("0.5", 0, 100, 1, protects="use"), number("0.5", 0, 100, 1)
    assert float(use.epsilon) == pytest.approx(0.5, rel=1e-6)
    assert use.cost.epsilon == use.person_epsilon == 100 * use.epsilon
    assert person.cost.epsilon == person.person_epsilon == person.epsilon <= F(1, 2)
    nobody, heavy = use.law(0), use.law(100)
    assert max(heavy[report] / nobody[report] for report in nobody) == use.code.ratio**100
    assert "not the person" in use.why
    assert "100 times" in use.why
    a = F(use.code.more, SIDES)
    assert use.variance("0.5", 1) == pytest.approx(float(2 * a / (1 - a) ** 2))
    assert person.variance("0.5", 1) > 100 * use.variance("0.5", 1)


def test_lecture_unbiasing_holds_with_e_to_the_epsilon() -> None:
    # L4 prints z = (y − 1/(1 + p^k))·(p^k + 1)/(p^k − 1); with e^ε for p^k it is this estimate, and unbiased.
    protocol = binary(1)
    odds = protocol.code.ratio
    for report in (0, 1):
        z = (report - 1 / (1 + odds)) * (odds + 1) / (odds - 1)
        estimate = protocol.estimate(protocol.aggregate([bytes([report])]))["yes"].estimate
        assert estimate == pytest.approx(float(z), rel=1e-12)
