"""Every curve lies on its theory, and falls as it should.

Points are measured with the system's own noise.  A point is off by more than 6 of its standard errors with a chance
below 10⁻⁸ (20,000 squares of Laplace noise, whose skewness of the mean is 0.05, the heaviest here); about 140 points
are looked at.  Slopes have standard errors below 0.005, and their bounds lie 6 of them away.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.lecture import choosing, many, means, thinning, trust
from discreet.lecture.curve import TWO_SIDED_95, Curve, Point, Series, fitted_slope
from discreet.lecture.curves import CURVES, curve
from discreet.mechanism.beta import bias

FAR = 6.0


@cache
def drawn(name: str) -> Curve:
    return curve(name)


def standard_errors_off(point: Point) -> float:
    assert point.measured is not None
    assert point.low is not None
    assert point.high is not None
    return abs(point.measured - point.theory) / ((point.high - point.low) / (2 * TWO_SIDED_95))


@pytest.mark.parametrize("name", sorted(set(CURVES) - {"descent"}))
def test_measured_points_lie_on_the_lines_of_theory(name: str) -> None:
    points = [point for series in drawn(name).series for point in series.points if point.measured is not None]
    assert len(points) >= 4
    assert [point for point in points if standard_errors_off(point) > FAR] == []


def test_a_theory_a_tenth_off_is_seen() -> None:
    series = drawn("response").series[0]
    wrong = [Point(p.n, p.epsilon, p.x, 1.1 * p.theory, p.measured, p.low, p.high) for p in series.points]
    assert max(map(standard_errors_off, wrong)) > FAR


def test_response_falls_by_half_and_laplace_by_one() -> None:
    local, trusted = drawn("response").series
    assert drawn("response").slope == local.slope
    assert local.slope == pytest.approx(-0.5, abs=0.03)
    assert trusted.slope == pytest.approx(-1.0, abs=0.03)
    assert (local.slope_error or 1) < 0.005
    assert (trusted.slope_error or 1) < 0.005


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_a_curators_error_falls_as_one_over_n_at_every_epsilon(name: str) -> None:
    series = drawn(name).series
    assert [line.slope for line in series] == pytest.approx([-1.0] * 3, abs=0.03)
    first = [line.points[0].theory for line in series]
    assert first[0] / first[1] == pytest.approx(10, rel=0.25)  # as 1/ε; the Gaussian nearly so


def test_phones_fall_as_the_root_and_mixed_reports_err_less() -> None:
    noisy, mixed = drawn("local").series
    assert noisy.slope == pytest.approx(-0.5, abs=0.05)
    assert mixed.slope == pytest.approx(-0.5, abs=0.05)
    assert all(a.theory > b.theory for a, b in zip(noisy.points, mixed.points, strict=True))


def test_a_shuffler_stands_between_nobody_and_a_curator() -> None:
    between, nobody, curator = drawn("shuffled").series
    for middle, worst, best in zip(between.points, nobody.points, curator.points, strict=True):
        assert best.theory < middle.theory < worst.theory


def test_strength_before_shuffling_is_the_largest_that_fits() -> None:
    from discreet.privacy.amplify import shuffled_response

    epsilon, people = Fraction(1), 3_000
    strength = trust.strength_before_shuffling(epsilon, people)
    assert shuffled_response(strength, people, trust.DELTA).cost.epsilon <= epsilon
    assert shuffled_response(strength + Fraction(1, 100), people, trust.DELTA).cost.epsilon > epsilon


def test_gaussian_overtakes_laplace_at_seven_counts() -> None:
    laplace, gaussian = drawn("dimensions").series
    assert drawn("dimensions").facts["overtakes_at"] == {"1": 7}
    ahead = {int(a.x): b.theory < a.theory for a, b in zip(laplace.points, gaussian.points, strict=True)}
    assert (ahead[4], ahead[7]) == (False, True)
    assert many.overtaking(Fraction(1)) == next(k for k in range(1, 50) if is_gaussian_ahead(k))


def is_gaussian_ahead(k: int) -> bool:
    """By the textbook: √2·k/ε against σ·√k, σ from the curve of the continuous Gaussian."""
    from discreet.privacy.analytic import sigma

    return float(sigma(1, "1e-5")) * math.sqrt(k) < math.sqrt(2) * k


def test_exact_composition_is_that_of_binomials_added_up() -> None:
    """The twin: δ(ε) = Σ max(P − e^ε·Q, 0) over numbers of true answers, term by term."""
    exact, added, advanced = drawn("composition").series
    for point, k in zip(exact.points, many.REPEATS, strict=True):
        keep = 1 / (1 + math.exp(-0.1))
        chances = np.array([math.comb(k, j) * keep**j * (1 - keep) ** (k - j) for j in range(k + 1)])
        delta = np.maximum(chances - math.exp(point.theory) * chances[::-1], 0).sum()
        assert delta == pytest.approx(float(many.SEEN_DELTA), rel=1e-6)
    assert all(a.theory <= b.theory for a, b in zip(exact.points, added.points, strict=True))
    assert all(a.theory <= b.theory for a, b in zip(exact.points, advanced.points, strict=True))
    assert advanced.points[0].theory > added.points[0].theory  # for few repeats the theorem is worse


def test_a_sample_leaves_what_the_formula_says() -> None:
    for point in drawn("sampling").series[0].points:
        assert point.theory == pytest.approx(math.log1p(point.x * math.expm1(1)), rel=1e-6)
    assert drawn("sampling").series[0].points[0].theory == pytest.approx(0.01704, abs=1e-5)


def test_steps_cost_more_than_their_limit_and_far_less_than_added_up() -> None:
    *lines, added = drawn("descent").series
    for series in lines:
        for point in series.points:
            assert (point.measured or 0) > point.theory
        assert (series.points[-1].measured or 0) == pytest.approx(series.points[-1].theory, rel=0.05)
    assert added.points[-1].theory > 1000 * (lines[1].points[-1].measured or 0)


def test_exponent_of_the_bias_is_the_lectures_and_tends_to_a_beta_law() -> None:
    from scipy.stats import beta

    assert drawn("bernoulli").facts == {"exponent": pytest.approx(0.0217, abs=1e-4), "laplace_scale": 10.0}
    n, heads = 1000, 300
    chooser = bias("0.1", low="0.1", high="0.9", points=801)
    law = beta(1 + chooser.exponent * heads, 1 + chooser.exponent * (n - heads))
    thetas = np.linspace(0.1, 0.9, 801)
    chances = law.pdf(thetas)
    expected = math.sqrt(float(chances @ (thetas - heads / n) ** 2 / chances.sum()))
    assert choosing._choice_error(chooser, heads, n) == pytest.approx(expected, rel=0.01)


def test_expected_error_of_noisy_counts_is_that_of_all_pairs() -> None:
    """The twin: both draws term by term, in plain Python."""
    epsilon, heads, n = Fraction(2), 3, 10
    a = math.exp(-2)
    total = 0.0
    for y, z in product(range(-12, 13), repeat=2):
        people = n + y + z
        share = min(max((heads + y) / people if people > 0 else 0.5, 0.1), 0.9)
        total += ((1 - a) / (1 + a)) ** 2 * a ** (abs(y) + abs(z)) * (share - heads / n) ** 2
    assert choosing._noise_error(epsilon, heads, n) == pytest.approx(math.sqrt(total), rel=1e-9)


def test_slope_of_a_power_is_its_exponent_whatever_the_weights() -> None:
    x = [math.log(n) for n in (10, 100, 1000)]
    assert fitted_slope(x, [3 - 0.5 * place for place in x], [0.1, 0.01, 0.3])[0] == pytest.approx(-0.5)
    flat = Series("flat", (Point(1, 1.0, 1.0, 1.0, 1.0, 0.9, 1.1),), "1/n")
    assert flat.slope is None  # one point has no slope


def test_people_are_those_of_the_seed() -> None:
    assert (means.answers_of_people(50, 3) == means.answers_of_people(50, 3)).all()
    assert (means.numbers_of_people(50, 3) != means.numbers_of_people(50, 4)).any()


def test_json_has_the_promised_keys_and_every_point() -> None:
    reply = drawn("response").to_json()
    assert {"points", "slope", "series", "sentence"} <= set(reply)
    assert all({"n", "epsilon", "measured", "low", "high", "theory"} <= set(point) for point in reply["points"])
    assert len(reply["points"]) == 2 * len(means.LOCAL_SIZES)


@pytest.mark.parametrize("name", sorted(CURVES))
def test_picture_draws_every_series_and_words_tell_it(name: str) -> None:
    measured = drawn(name)
    figure = measured.figure()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert all(any(text.startswith(series.name) for text in texts) for series in measured.series)
    assert all(series.name in measured.alt for series in measured.series)
    heights = sorted(text.get_window_extent().y0 for text in figure.axes[0].texts)
    assert all(b - a > 15 for a, b in pairwise(heights))  # no name covers another


@pytest.mark.parametrize("epsilons", [("1", "2", "3", "4"), ("0.001",), ("21",), ("-1",), ("x",)])
def test_epsilons_that_no_curve_takes_are_refused(epsilons: tuple[str, ...]) -> None:
    with pytest.raises(DiscreetError, match="epsilon"):
        curve("laplace", epsilons)


def test_descent_refuses_an_epsilon_and_an_unknown_curve_gets_a_suggestion() -> None:
    with pytest.raises(DiscreetError, match="left out"):
        curve("descent", ("1",))
    with pytest.raises(DiscreetError, match="response"):
        curve("respones")


def test_limit_of_many_steps_is_the_formula() -> None:
    mu = 0.01 * math.sqrt(1000 * math.expm1(1))
    from discreet.privacy.analytic import delta

    assert float(delta(1 / mu, Fraction(thinning.limit_epsilon(Fraction(1), 1000)))) == pytest.approx(1e-5, rel=1e-3)
