"""Published figures about beliefs and amplification, recomputed."""

import math
from fractions import Fraction

import pytest

from discreet.amounts import rounded_up
from discreet.privacy import amplify, odds
from discreet.privacy.cost import Approx, Gaussian, Pure, Response

# ε · odds factor · best guess of 100 · continuous Laplace no, yes of 100 · belief after 1 %, 10 %, 50 % · catch at 1 %
TABLE = [
    ("0.1", 1.11, 52.5, 48, 52, 1.1, 10.9, 52.5, 1.1),
    ("0.5", 1.65, 62, 39, 61, 1.6, 15.5, 62, 1.6),
    ("1", 2.72, 73, 30, 70, 2.7, 23, 73, 2.7),
    ("2", 7.4, 88, 18, 82, 7.0, 45, 88, 7.4),
    ("4", 55, 98, 7, 93, 36, 86, 98, 55),
    ("8", 2981, 99.97, 1, 99, 97, 99.7, 99.97, 99.97),
]


def decimals(printed: float) -> int:
    text = str(printed)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0


def test_two_fair_coins_take_two_percent_to_0_0577() -> None:
    # Warner 1965's idea with two coins: 0.015/(0.015 + 0.245).
    exact = odds.response_posterior("0.02", "3/4", "1/4")
    assert exact == Fraction(15, 260)
    assert round(float(exact), 4) == 0.0577


def test_two_fair_coins_are_the_worst_a_promise_of_ln_3_allows() -> None:
    ln3 = Fraction(math.nextafter(math.log(3), 2))
    assert float(odds.posterior(ln3, "0.02").high) == pytest.approx(3 / 52)
    assert float(odds.guess(Response(ln3))) == pytest.approx(0.75)


def test_belief_of_forty_percent_at_a_tenth_stays_between_0_3763_and_0_4242() -> None:
    posterior = odds.posterior(Fraction(1, 10), "0.4")
    assert (round(float(posterior.low), 4), round(float(posterior.high), 4)) == (0.3763, 0.4242)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.9", "3"])
def test_simple_ends_times_e_to_the_epsilon_are_looser(epsilon: str) -> None:
    posterior, e = odds.posterior(Fraction(epsilon), "0.4"), math.exp(float(epsilon))
    assert 0.4 / e < float(posterior.low) < float(posterior.high) < 0.4 * e


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_odds_are_those_of_the_table_of_what_epsilon_means(
    row: tuple[str, float, float, int, int, float, float, float, float],
) -> None:
    epsilon, factor, guess, no, yes, one_percent, ten, fifty, catch = row
    cost = Pure(epsilon)
    laplace = float(odds.laplace_guess(epsilon))
    figures = [
        (math.exp(float(epsilon)), factor),
        (100 * float(odds.guess(cost)), guess),
        (100 * (1 - laplace), no),
        (100 * laplace, yes),
        (100 * float(odds.posterior(cost.epsilon, "0.01").high), one_percent),
        (100 * float(odds.posterior(cost.epsilon, "0.1").high), ten),
        (100 * float(odds.posterior(cost.epsilon, "0.5").high), fifty),
        (100 * float(odds.catch_rate(Approx(epsilon, "1e-6"), "0.01")), catch),
    ]
    for computed, printed in figures:
        assert round(computed, decimals(printed)) == printed


@pytest.mark.parametrize(("rho", "guess", "caught"), [(0.01, 53, 1.4), (0.1, 59, 3), (2.56, 87, 47)])
def test_gaussian_guess_and_catch_rate_are_those_of_the_table(rho: float, guess: int, caught: float) -> None:
    cost = Gaussian(Fraction(1 / math.sqrt(2 * rho)))
    assert round(100 * float(odds.guess(cost))) == guess
    assert round(100 * float(odds.catch_rate(cost, "0.01")), decimals(caught)) == caught


def test_gaussian_noise_of_two_moves_odds_by_e_to_the_2_595_but_once_in_a_million() -> None:
    # ln(Φ(−4.7534)/Φ(−5.2534)); the continuous loss alone, N(1/8, 1/4), would give 2.5017.
    assert round(float(odds.loss_bound(Gaussian(2), "1e-6")), 3) == 2.595


def test_a_value_moves_odds_by_7_39_where_presence_moves_them_by_2_72() -> None:
    losses = [float(reach.loss or 0) for reach in odds.reaches(Pure(1), "add-remove")]
    assert [round(math.exp(loss), 2) for loss in losses] == [2.72, 7.39]


def test_two_releases_at_a_half_multiply_to_e() -> None:
    assert math.exp(0.5) ** 2 == pytest.approx(math.exp(float(odds.loss_bound(Pure("0.5"), 0, units=2))))


# --- amplification -----------------------------------------------------------------------------------------------


def test_one_step_at_epsilon_one_and_a_hundredth_costs_0_01704() -> None:
    cost = amplify.sampled_promise(Approx(1, "1e-5"), "0.01").cost
    assert round(float(cost.epsilon), 5) == 0.01704
    assert cost.delta == Fraction(1, 10**7)
    assert float(cost.epsilon) > 1.7 * 0.01  # so the lecture's qε is too small


def test_twice_p_epsilon_is_a_bound_only_up_to_1_2564() -> None:
    # e^x = 1 + 2x at x = 1.25643…: as p → 0, ln(1 + p(e^ε − 1))/p → e^ε − 1.
    rate = Fraction(1, 10**6)
    below, above = (
        amplify.sampled_promise(Approx(e, 0), rate).cost.epsilon - 2 * rate * Fraction(e) for e in ("1.2564", "1.2565")
    )
    assert below < 0 < above


@pytest.mark.parametrize(
    ("local", "any_randomizer", "response"), [(1, 0.053, 0.043), (2, 0.155, 0.114), (4, 0.601, 0.411)]
)
def test_shuffling_ten_thousand_reports_costs_what_the_pairs_say(
    local: int, any_randomizer: float, response: float
) -> None:
    # δ = 10⁻⁶.  Pairs: clone rate e^(−ε₀) (Feldman, McMillan & Talwar 2021) and 2/(e^ε₀+1) (2023, with its erratum).
    assert round(float(amplify.shuffled_any(local, 10**4, "1e-6").cost.epsilon), 3) == any_randomizer
    assert round(float(amplify.shuffled_response(local, 10**4, "1e-6").cost.epsilon), 3) == response


def test_shuffling_closed_form_of_2021_gives_its_figures_within_its_range() -> None:
    # 0.214, 0.501, and out of range at ε₀ = 4, where n = 10⁴ is below 16 e⁴ ln(2·10⁶) = 12,674.
    assert [round(float(amplify.shuffled_closed_form(e, 10**4, "1e-6").cost.epsilon), 3) for e in (1, 2)] == [
        0.214,
        0.501,
    ]
    assert amplify.shuffled_closed_form(4, 10**4, "1e-6").cost == Approx(4, 0)
    assert amplify.shuffled_closed_form(4, 12_675, "1e-6").cost.delta > 0


def test_costs_are_shown_rounded_up() -> None:
    assert str(rounded_up(amplify.sampled_promise(Approx(1, 0), "0.01").cost.epsilon, 3)) == "0.0171"
