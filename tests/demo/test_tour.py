"""The tour's figures: lecture numbers exactly, drawn numbers within what their law allows."""

import io
import math
from fractions import Fraction

import pytest

from discreet.demo import eyes, shares, survey
from discreet.demo.people import traits
from discreet.demo.tour import Tour, to_json, tour
from discreet.demo.tour_page import _axis, _bar, _curve, tour_page
from discreet.errors import BadValue
from discreet.noise.public import generator

FAR = 6.0  # standard errors: a normal variable lies beyond with probability 2·10⁻⁹


@pytest.fixture(scope="module")
def figures() -> Tour:
    return tour(1)


def test_blue_eyes_get_scale_ten_whatever_the_population(figures: Tour) -> None:
    assert figures.eyes.scale == 10
    assert figures.eyes.radius == 30
    assert round(figures.eyes.mean_abs, 3) == 9.983
    assert [town.people for town in figures.eyes.towns] == [1_000, 30_000, 1_000_000]


def test_blue_eyes_answers_are_within_what_the_law_allows(figures: Tour) -> None:
    # P[|X| > 200] < 2·e^(−20.1)/(1 + e^(−0.1)) < 2.1e-9 for each of three towns.
    assert all(abs(town.answer - town.exact) <= 200 for town in figures.eyes.towns)
    # N = 4000: E|X| = 9.983, Var|X| = 199.83 − 9.983² < 101; P[|X| ≤ 30] = 0.9527, by the formula of the radius.
    n = figures.eyes.repeats
    assert abs(figures.eyes.measured_abs - 9.983) < FAR * math.sqrt(101 / n)
    within = 1 - 2 * math.exp(-3.1) / (1 + math.exp(-0.1))
    assert abs(figures.eyes.within - within) < FAR * math.sqrt(within * (1 - within) / n)


def test_the_check_on_blue_eyes_would_notice_a_scale_ten_percent_off() -> None:
    assert abs(9.983 * 1.1 - 9.983) > FAR * math.sqrt(101 / eyes.REPEATS)


def test_tax_survey_has_the_lecture_posterior_and_epsilon(figures: Tour) -> None:
    assert figures.survey.after_yes == Fraction(3, 52)
    assert round(float(figures.survey.after_yes), 4) == 0.0577
    assert figures.survey.after_no == Fraction(1, 148)
    assert 0 <= figures.survey.epsilon - Fraction("1.09861228866810969139") < Fraction(1, 10**16)  # ln 3, from above
    assert round(figures.survey.before, 4) == 0.0196
    assert figures.survey.central == 3 / survey.PEOPLE


def test_tax_survey_estimate_is_the_unbiased_line_through_the_yeses(figures: Tour) -> None:
    survey = figures.survey
    assert survey.estimate.value == pytest.approx(2 * survey.said_yes / survey.people - 0.5)
    assert survey.estimate.low <= max(0.0, survey.estimate.value) <= survey.estimate.high
    # N = 10⁴ coins: sd of the estimate given the table is 2·√(3/16/N) = 0.00866.
    assert abs(survey.estimate.value - survey.exact) < FAR * 2 * math.sqrt(3 / 16 / survey.people)


def test_stated_errors_are_the_formulas(figures: Tour) -> None:
    local, wide, gaussian = figures.errors
    e, a = math.e, math.exp(-1)
    for place, n in enumerate(shares.SIZES):
        assert local.points[place].stated == pytest.approx(math.sqrt(e / n) / (e - 1))
        assert gaussian.points[place].stated == pytest.approx(math.sqrt(2 * a) / (1 - a) / n)
        assert wide.points[place].stated * n == pytest.approx(math.sqrt(4.22467888933**2 + 1 / 12), rel=1e-6)


def test_local_error_falls_by_root_ten_and_central_error_by_ten(figures: Tour) -> None:
    local, wide, gaussian = figures.errors
    for errors, factor in ((local, math.sqrt(10)), (wide, 10), (gaussian, 10)):
        for before, after in zip(errors.points, errors.points[1:], strict=False):
            assert before.stated / after.stated == pytest.approx(factor)


def test_measured_errors_agree_with_the_stated_ones(figures: Tour) -> None:
    # N = 200 squares: relative sd of their mean ≤ √(5.1/200) = 0.16 (kurtosis of two-sided geometric noise at ε = 1 is
    # 6.08).  Their mean leaves [¼, 3] times its expectation with probability below 1e-8: downwards by Chernoff's bound
    # 0.87²⁰⁰, upwards because one noise above 27 steps, 200·2·e^(−28), is the likeliest way.
    for errors in figures.errors:
        for point in errors.points:
            assert point.low <= point.measured <= point.high
            assert 0.5 < point.measured / point.stated < math.sqrt(3)


def test_laplace_wins_one_count_and_gaussian_a_hundred(figures: Tour) -> None:
    by_counts = {row.counts: row for row in figures.many}
    assert by_counts[1].laplace < by_counts[1].gaussian
    assert by_counts[100].gaussian < by_counts[100].laplace
    assert by_counts[100].laplace == pytest.approx(math.sqrt(2) * 100, rel=1e-4)
    assert by_counts[100].gaussian == pytest.approx(42.25, rel=1e-3)


def test_seed_makes_the_tables_and_never_the_noise() -> None:
    first, second = (eyes.blue_eyes(generator(5)) for _ in range(2))
    assert [town.exact for town in first.towns] == [town.exact for town in second.towns]
    assert [town.exact for town in first.towns] != [town.exact for town in eyes.blue_eyes(generator(6)).towns]
    # Two sums of 4000 noises are equal with probability below 1e-3, two noises below 0.03: all four below 1e-7.
    noise = [(b.measured_abs, b.within, *(t.answer - t.exact for t in b.towns)) for b in (first, second)]
    assert noise[0] != noise[1]


@pytest.mark.parametrize("seed", [-1, True, None, 0.5, "1", 2**63])
def test_bad_seed_is_refused_by_name(seed: object) -> None:
    with pytest.raises(BadValue, match="seed must be a whole number"):
        tour(seed)  # type: ignore[arg-type]


def test_invented_people_follow_the_share() -> None:
    people = traits(100_000, "0.3", generator(3))  # seeded: the same table for ever
    assert set(people.tolist()) == {0, 1}
    assert abs(people.mean() - 0.3) < 0.01


def test_json_holds_plain_values_and_decimal_text(figures: Tour) -> None:
    plain = to_json(figures)
    assert plain["eyes"]["epsilon"] == "0.1"
    assert plain["eyes"]["scale"] == "10"
    assert plain["survey"]["after_yes"] == pytest.approx(3 / 52)
    assert plain["errors"]["delta"] == "1e-6"
    assert [c["name"] for c in plain["errors"]["curves"]] == ["randomized response", "Gaussian", "Laplace"]


@pytest.mark.parametrize("length", [10, 18, 32])
def test_bars_grow_by_the_logarithm_and_stay_on_the_page(length: int) -> None:
    lengths = [len(_bar(error, length)) for error in (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 7.0)]
    assert lengths == sorted(lengths)
    assert (lengths[1], lengths[-2], lengths[-1]) == (0, length, length)


def test_axis_leaves_out_marks_that_would_touch() -> None:
    assert _axis(32).split() == ["0.01", "0.1", "1", "10", "100"]
    assert _axis(18).split() == ["0.1", "1", "10", "100"]
    assert len(_axis(18)) == 20


def page(figures: Tour, width: int) -> str:
    from rich.console import Console

    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(tour_page(figures, None))
    return captured.get()


def test_page_shows_the_three_answers_and_says_what_is_invented(figures: Tour) -> None:
    said = page(figures, 100)
    for words in ("blue eyes", "5.77 %", "0.68 %", "noise scale", "randomized response", "invented", "takes no seed"):
        assert words in said


def bars(said: str) -> list[int]:
    return [len("".join(mark for mark in line if mark in "█▏▎▍▌▋▊▉")) for line in said.splitlines() if "█" in line]


@pytest.mark.parametrize("width", [40, 50, 60, 80, 10_000])
def test_no_number_is_cut_on_a_narrow_terminal(figures: Tour, width: int) -> None:
    said = page(figures, width)
    assert "…" not in said
    assert max(len(line) for line in said.splitlines()) <= width
    for town in figures.eyes.towns:
        assert f"{town.people:,}" in said
        assert f"{town.answer:,} ± {figures.eyes.radius}" in said
    for errors in figures.errors:
        for point in errors.points:
            assert f"{100 * point.measured:.2g}" in said


def test_bars_keep_their_proportions_on_a_narrow_terminal(figures: Tour) -> None:
    wide, narrow = bars(page(figures, 100)), bars(page(figures, 60))
    assert max(narrow) < max(wide)
    assert len(set(narrow)) > 6  # cut bars would be equal
    for short, long in zip(narrow, wide, strict=False):
        assert abs(short / max(narrow) - long / max(wide)) < 0.12
    assert bars(page(figures, 40)) == []


def test_curves_for_the_picture_carry_the_same_numbers(figures: Tour) -> None:
    for errors in figures.errors:
        curve = _curve(errors)
        assert curve.name == errors.name
        assert curve.measured == tuple(point.measured for point in errors.points)
        assert curve.people == shares.SIZES
