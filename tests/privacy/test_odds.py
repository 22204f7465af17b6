"""Beliefs, guesses and catches against attackers written out."""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import mpmath
import pytest

from discreet.errors import BadValue, NotPriced
from discreet.privacy import odds, price, words
from discreet.privacy.cost import Approx, Cost, Exponential, Gaussian, Pure, Repeated, Response, Together, Zcdp

NORMAL = NormalDist()


def best_attacker(prior: float, p: list[float], q: list[float]) -> float:
    """How often the more likely story is the true one, outcome by outcome."""
    return sum(max(prior * a, (1 - prior) * b) for a, b in zip(p, q, strict=True))


def response_laws(epsilon: float, leak: float = 0.0) -> tuple[list[float], list[float]]:
    """The worst (ε, δ) mechanism: an outcome that gives all away, and randomized response."""
    e = math.exp(epsilon)
    p = [leak, (1 - leak) * e / (1 + e), (1 - leak) / (1 + e), 0.0]
    return p, p[::-1]


# --- relations and groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "under", "group", "units"),
    [
        ("presence", "add-remove", 1, 1),
        ("value", "add-remove", 1, 2),
        ("value", "replace-one", 1, 1),
        ("presence", "add-remove", 4, 4),
        ("value", "add-remove", 4, 8),
        ("value", "replace-one", 4, 4),
    ],
)
def test_steps_between_two_stories_follow_question_relation_and_group(
    question: str, under: str, group: int, units: int
) -> None:
    assert odds.units_at_once(question, under, group) == units


def test_value_under_add_remove_really_moves_by_twice_epsilon() -> None:
    # Two cells, one unit in either: each noisy cell is a response to "is it here?", and the two stories differ in both.
    e = math.exp(0.7)
    here, gone = [e / (1 + e), 1 / (1 + e)], [1 / (1 + e), e / (1 + e)]
    left = [a * b for a in here for b in gone]
    right = [a * b for a in gone for b in here]
    assert max(a / b for a, b in zip(left, right, strict=True)) == pytest.approx(math.exp(1.4))
    assert max(a / b for a, b in zip(left, [x * y for x in gone for y in gone], strict=True)) == pytest.approx(e)


def test_presence_under_replace_one_is_refused() -> None:
    with pytest.raises(BadValue, match="number of units is public"):
        odds.units_at_once("presence", "replace-one")


@pytest.mark.parametrize("group", [0, -1, 1.5, "2", 10**7, True])
def test_bad_groups_are_refused(group: object) -> None:
    with pytest.raises(BadValue, match="group"):
        odds.units_at_once("presence", "add-remove", group)


@pytest.mark.parametrize("units", [0, -1, 1.5, 10**9, None])
def test_bad_numbers_of_steps_are_refused(units: int) -> None:
    for ask in (lambda: odds.guess(Pure(1), units=units), lambda: odds.loss_bound(Pure(1), 0, units=units)):
        with pytest.raises(BadValue, match="units"):
            ask()
    with pytest.raises(BadValue, match="units"):
        odds.catch_rate(Pure(1), "0.1", units=units)


@pytest.mark.parametrize("question", ["", "Value", None, 3])
def test_unknown_questions_are_refused(question: object) -> None:
    with pytest.raises(BadValue, match="question"):
        odds.units_at_once(question, "add-remove")


# --- beliefs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["0.001", "0.02", "0.5", "0.9", "1e-300"])
@pytest.mark.parametrize("loss", ["1e-9", "0.1", "1", "20", "900"])
def test_posterior_is_bayes_rule_at_the_extreme_odds(prior: str, loss: str) -> None:
    before, e = Fraction(prior), Fraction(loss)
    posterior = odds.posterior(e, prior)
    ratio = math.exp(float(e)) if e < 700 else math.inf
    assert float(posterior.high) == pytest.approx(1 / (1 + float((1 - before) / before) / ratio), rel=1e-12)
    assert float(posterior.low) == pytest.approx(1 / (1 + float((1 - before) / before) * ratio), rel=1e-12)
    assert 0 <= posterior.low <= before <= posterior.high <= 1


def test_no_loss_leaves_the_prior_and_an_endless_one_leaves_nothing() -> None:
    assert odds.posterior(Fraction(0), "0.25") == odds.Belief(Fraction(1, 4), Fraction(1, 4))
    assert odds.posterior(Fraction(10**12), "0.25") == odds.Belief(Fraction(0), Fraction(1))


@pytest.mark.parametrize("prior", [0, 1, "nan", float("inf"), -0.1, "1.5", None, True, "9" * 5000])
def test_bad_priors_are_refused(prior: object) -> None:
    with pytest.raises(BadValue, match="prior"):
        odds.posterior(Fraction(1), prior)
    with pytest.raises(BadValue, match="prior"):
        odds.guess(Pure(1), prior)


def test_response_posterior_counts_people() -> None:
    # Of 10,000 people 200 would say yes truly; 150 of them and 2,450 of the others answer yes.
    assert odds.response_posterior("0.02", "0.75", "0.25") == Fraction(150, 150 + 2450)
    assert odds.response_posterior("0.5", 1, 0) == 1
    with pytest.raises(BadValue, match="yes_if_true"):
        odds.response_posterior("0.5", 0, 0)


# --- how far one answer can move the odds ------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [Pure("0.3"), Response("0.3"), Exponential("0.3"), Approx("0.3", 0)])
def test_pure_promises_need_no_exception(cost: Cost) -> None:
    assert odds.loss_bound(cost, 0) == Fraction(3, 10)
    assert odds.loss_bound(cost, 0, units=6) == Fraction(18, 10)


@pytest.mark.parametrize("cost", [Gaussian(1), Zcdp("0.1"), Approx(1, "1e-6")])
@pytest.mark.parametrize("chance", [0, 1])
def test_promises_other_than_pure_need_an_exception(cost: Cost, chance: int) -> None:
    with pytest.raises(BadValue, match="chance"):
        odds.loss_bound(cost, chance)


def rounded_gaussian_exceeds(sigma: float, units: int, t: float) -> float:
    """Pr[ln(P(k)/Q(k)) > t] by summation, k from P: a Gaussian of σ at 0, rounded, beside the same at −units."""
    with mpmath.workdps(80):

        def mass(k: int) -> Any:
            low, high = (k - mpmath.mpf(1) / 2) / sigma, (k + mpmath.mpf(1) / 2) / sigma
            return (mpmath.erfc(low / mpmath.sqrt(2)) - mpmath.erfc(high / mpmath.sqrt(2))) / 2

        reach = math.ceil(14 * sigma) + units
        cells = {k: mass(k) for k in range(-reach, reach + units + 1)}
        beyond = [p for k, p in cells.items() if k <= reach and p > mpmath.exp(t) * cells[k + units]]
        return float(mpmath.fsum(beyond))


@pytest.mark.parametrize("sigma", [0.5, 1, 2, 3, 7.5])
@pytest.mark.parametrize("chance", ["0.4", "1e-3", "1e-6", "1e-12"])
@pytest.mark.parametrize("units", [1, 2])
def test_rounded_gaussian_exceeds_its_bound_no_oftener_than_allowed(sigma: float, chance: str, units: int) -> None:
    bound = float(odds.loss_bound(Gaussian(Fraction(sigma)), chance, units=units))
    assert rounded_gaussian_exceeds(sigma, units, bound) <= float(chance)


def test_law_of_the_continuous_loss_does_not_bound_the_rounded_one() -> None:
    """σ = 2: answers that move the odds by more than μ²/2 + μz come up to 2.1 times as often as that law allows."""
    worst = 0.0
    for step in range(1, 100):
        chance = 10 ** (-step / 10)
        mu, z = 0.5, -NORMAL.inv_cdf(chance)
        if z > 0:
            worst = max(worst, rounded_gaussian_exceeds(2, 1, mu * mu / 2 + mu * z) / chance)
            honest = float(odds.loss_bound(Gaussian(2), Fraction(chance)))
            assert rounded_gaussian_exceeds(2, 1, honest) <= chance
    assert worst > 2


@pytest.mark.parametrize("sigma", ["0.5", "3", "100"])
@pytest.mark.parametrize("chance", ["0.4", "1e-6", "1e-30"])
@pytest.mark.parametrize("units", [1, 3])
def test_gaussian_bound_is_reached_by_telling_only_whether_the_noise_is_large(
    sigma: str, chance: str, units: int
) -> None:
    # Post-processing "is it above z?" has a yes of chance Φ(−z) = η with odds Φ(−z)/Φ(−z−μ): no smaller bound holds.
    with mpmath.workdps(60):
        mu = mpmath.mpf(units) / mpmath.mpf(sigma)
        z = -mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(chance) - 1)
        reached = mpmath.log(mpmath.mpf(chance) / (mpmath.erfc((z + mu) / mpmath.sqrt(2)) / 2))
        bound = odds.loss_bound(Gaussian(sigma), chance, units=units)
        loss = mpmath.mpf(bound.numerator) / bound.denominator
        assert reached <= loss <= reached * (1 + mpmath.mpf(10) ** -6)


def test_gaussian_of_hardly_any_noise_has_a_bound_by_simple_tails() -> None:
    covered, beyond = odds.loss_bound(Gaussian("0.001"), "1e-6"), odds.loss_bound(Gaussian("0.000999"), "1e-6")
    assert covered < beyond < covered * Fraction(1003, 1000)
    assert odds.loss_bound(Gaussian("1e-9"), "1e-6", units=10**6) > 10**29


def test_gaussian_chances_too_rare_for_floats_still_have_a_bound() -> None:
    assert odds.loss_bound(Gaussian(1), "1e-350") > odds.loss_bound(Gaussian(1), "1e-290")


@pytest.mark.parametrize("rho", ["0.01", "0.5"])
def test_concentrated_promise_covers_the_gaussian_that_keeps_it(rho: str) -> None:
    sigma = Fraction(1 / math.sqrt(2 * float(rho)))
    assert odds.loss_bound(Zcdp(rho), "1e-6") >= odds.loss_bound(Gaussian(sigma), "1e-6")
    assert odds.guess(Zcdp(rho)) >= odds.guess(Gaussian(sigma))
    assert odds.catch_rate(Zcdp(rho), "0.01") >= odds.catch_rate(Gaussian(sigma), "0.01")


def test_approximate_promise_allows_a_hundred_delta_one_percent_beyond_epsilon() -> None:
    assert float(odds.loss_bound(Approx(1, "1e-8"), "1e-6")) == pytest.approx(1 - math.log(0.99))
    assert float(odds.loss_bound(Approx(1, "1e-8"), "2e-8")) == pytest.approx(1 + math.log(2))
    with pytest.raises(BadValue, match="twice the promise's own"):
        odds.loss_bound(Approx(1, "1e-8"), "1.9e-8")


def test_approximate_promise_is_met_by_a_mechanism_that_needs_the_extra() -> None:
    # An outcome of chance δ/(1 − s) with odds e^(ε − ln(1−s)) is allowed by (ε, δ); the bound may not be smaller.
    epsilon, delta, s = 1.0, 1e-3, 0.5
    mass = delta / s
    assert mass - math.exp(epsilon) * mass * (1 - s) / math.exp(epsilon) == pytest.approx(delta)
    assert float(odds.loss_bound(Approx(1, "0.001"), "0.002")) == pytest.approx(epsilon - math.log(1 - s))


# --- guesses and catches -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["0.01", "0.4", "0.5", "0.97"])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "0"), ("1", "0"), ("1", "0.01"), ("3", "1e-6")])
def test_guess_is_the_best_attackers(prior: str, epsilon: str, delta: str) -> None:
    p, q = response_laws(float(epsilon), float(delta))
    guess = float(odds.guess(Approx(epsilon, delta), prior))
    assert guess == pytest.approx(best_attacker(float(prior), p, q), rel=1e-12)


@pytest.mark.parametrize("units", [1, 2, 5])
def test_guess_for_groups_multiplies_epsilon(units: int) -> None:
    e = math.exp(units * 0.4)
    assert float(odds.guess(Pure("0.4"), units=units)) == pytest.approx(e / (1 + e))
    assert float(odds.guess(Gaussian(5), units=units)) == pytest.approx(NORMAL.cdf(units / 10))


def test_integer_noise_is_guessed_a_little_better_than_continuous_laplace() -> None:
    a = math.exp(-1)
    right = sum((1 - a) / (1 + a) * a ** abs(k) for k in range(-60, 1))  # "without" answers 0 or less
    assert float(odds.guess(Pure(1))) == pytest.approx(right, rel=1e-9)
    assert odds.laplace_guess(1) < odds.guess(Pure(1))


@pytest.mark.parametrize("alarms", ["0.001", "0.01", "0.3", "0.9"])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("2", "1e-3"), ("8", "1e-6")])
def test_catch_rate_is_the_best_tests_power(alarms: str, epsilon: str, delta: str) -> None:
    p, q = response_laws(float(epsilon), float(delta))
    room, power = float(alarms), 0.0
    for a, b in sorted(zip(p, q, strict=True), key=lambda cell: -math.inf if cell[1] == 0 else -cell[0] / cell[1]):
        share = 1.0 if b <= room else room / b  # most telling outcomes first, the last one by a coin
        room, power = room - share * b, power + share * a
    assert float(odds.catch_rate(Approx(epsilon, delta), alarms)) == pytest.approx(power, rel=1e-9)


@pytest.mark.parametrize("alarms", [0, 1, "nan", -1, None])
def test_bad_false_alarm_rates_are_refused(alarms: object) -> None:
    with pytest.raises(BadValue, match="false_alarms"):
        odds.catch_rate(Pure(1), alarms)


def test_everything_grows_with_epsilon_and_with_the_group() -> None:
    sizes = [odds.guess(Pure(e), "0.3", units=k) for k in (1, 2) for e in ("1e-9", "0.1", "1", "10", "1e6")]
    assert sizes[:5] == sorted(sizes[:5])
    assert all(a <= b for a, b in zip(sizes[:5], sizes[5:], strict=True))
    assert odds.catch_rate(Pure("1e6"), "0.01", units=10**6) == 1


# --- costs that only price.py knows ------------------------------------------------------------------------------


FOUR = Repeated(Gaussian(2), 4)  # exactly one Gaussian with σ = 1


@pytest.mark.parametrize("units", [1, 3])
def test_whole_curve_of_a_composed_cost_is_used(units: int) -> None:
    for prior in ("0.1", "0.5", "0.4999999999"):
        gaussian = float(odds.guess(Gaussian(1), prior, units=units))
        assert float(odds.guess(FOUR, prior, units=units)) == pytest.approx(gaussian, rel=1e-9)
    tight = odds.loss_bound(Gaussian(1), "1e-6", units=units)
    assert tight <= odds.loss_bound(FOUR, "1e-6", units=units) <= tight + Fraction(4, 5)
    caught = float(odds.catch_rate(Gaussian(1), "0.01", units=units))
    assert float(odds.catch_rate(FOUR, "0.01", units=units)) == pytest.approx(caught, rel=1e-9)


def test_composed_pure_promises_need_no_exception() -> None:
    cost = Together((Pure("0.25"), Response("0.5")))
    assert odds.loss_bound(cost, 0) == Fraction(3, 4)
    assert odds.loss_bound(cost, 0, units=2) == Fraction(3, 2)
    assert odds.loss_bound(cost, "1e-9") <= Fraction(3, 4)


def test_cost_without_a_price_has_no_odds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> price.Bound:
        raise NotPriced("No.", "None.", "Stop.")

    monkeypatch.setattr(price, "epsilon", refuse)
    with pytest.raises(BadValue, match="chance"):
        odds.loss_bound(FOUR, "1e-6")


# --- sentences ---------------------------------------------------------------------------------------------------


def test_person_hears_the_best_observers_yeses_of_a_hundred() -> None:
    said = words.person(odds.guess(Pure(1)), seen_by="the survey office")
    assert "26.8 would make them say yes if you stay out and 73.2 if you take part" in said
    assert said.endswith("Your exact record is seen by the survey office.")
    assert "25 would make them say so if it is not and 75 if it is" in words.person_value(Fraction(3, 4), seen_by="you")


def test_person_in_a_group_hears_of_the_others() -> None:
    three = words.person(Fraction(3, 4), seen_by="x", others=3)
    assert "suspects you and 3 others are all in this data" in three
    assert "25 would make them say yes if you all stay out and 75 if you all take part" in three
    assert "are both in" in (two := words.person(Fraction(3, 4), seen_by="x", others=1))
    assert "if you both stay out and 75 if you both take part" in two
    assert three.endswith("Your exact records are seen by x.")
    assert "which of two values you and 1 other have" in words.person_value(Fraction(3, 4), seen_by="x", others=1)


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        ("0.1", "strong"),
        ("1", "strong"),
        ("1.01", "moderate"),
        ("3", "moderate"),
        ("3.01", "weak"),
        ("10", "weak"),
        ("11", "needs justification"),
        ("1e6", "needs justification"),
    ],
)
def test_strength_of_a_pure_promise_follows_its_epsilon(epsilon: str, word: str) -> None:
    assert words.strength(odds.guess(Pure(epsilon))) == word


def test_strength_never_contradicts_the_best_guess() -> None:
    costs = [Pure("0.3"), Pure(1), Pure(4), Gaussian("2.5"), Gaussian("0.7"), Gaussian("0.1"), Zcdp("0.1"), Zcdp(3)]
    costs += [Approx(1, "1e-6"), Pure(20)]
    order = ["strong", "moderate", "weak", "needs justification"]
    ranked = [order.index(words.strength(right)) for right in sorted(map(odds.guess, costs))]
    assert ranked == sorted(ranked)
    assert set(ranked) == {0, 1, 2, 3}
    assert words.strength(odds.guess(Gaussian("2.5"))) == words.strength(odds.guess(Approx(1, "1e-6"))) == "strong"


def test_odds_are_stated_for_presence_and_for_a_value() -> None:
    said = words.odds_moved("This release", odds.reaches(Pure(1), "add-remove"))
    assert said == (
        "This release can multiply anyone's odds on whether you are in this data by at most 2.72, and on which of two "
        "values is yours by at most 7.39. A changed value is twice as far, being a removal and an addition."
    )
    assert words.odds_moved("It", odds.reaches(Pure(100), "add-remove")).count("by more than 400 million") == 2
    family = words.odds_moved("It", odds.reaches(Pure("0.1"), "add-remove", group=4), others=3)
    assert "on whether you and 3 others are all in this data by at most 1.50" in family
    assert "on which of two values you and 3 others have by at most 2.23" in family


def test_under_replace_one_odds_are_those_of_a_value_and_presence_is_said_to_be_public() -> None:
    said = words.odds_moved("This release", odds.reaches(Pure(1), "replace-one"))
    assert said == (
        "This release can multiply anyone's odds on which of two values is yours by at most 2.72. How many there are "
        "is public under replace-one, so that you are among them is not hidden."
    )


def test_odds_with_a_delta_name_the_chance_of_each_question() -> None:
    presence, value = odds.reaches(Approx(2, "1e-7"), "add-remove")
    assert (presence.steps, value.steps) == (1, 2)
    assert float(presence.chance) == pytest.approx(1e-5 * (1 + 0.99 * math.exp(-2)))  # up, and down
    two = 1e-5 * (1 + math.exp(2))  # the δ of a group of two
    assert float(value.chance) == pytest.approx(two * (1 + 0.99 * math.exp(-4)))
    assert float(presence.loss or 0) == pytest.approx(2 - math.log(0.99))
    assert float(value.loss or 0) == pytest.approx(4 - math.log(0.99))
    said = words.odds_moved("It", (presence, value))
    assert "by at most 7.47, except with a chance of at most one in 88,184, and on" in said
    assert "by at most 55.2, except with a chance of at most one in 11,707." in said


def test_odds_that_a_delta_leaves_without_a_bound_are_said_to_have_none() -> None:
    presence, value = odds.reaches(Approx(10, "1e-6"), "add-remove")
    assert presence.loss is not None
    assert (value.loss, value.chance) == (None, 1)
    assert value.to_json()["log_factor"] is None
    said = words.odds_moved("It", (presence, value))
    assert "With so large a δ no factor can be stated on which of two values is yours." in said
    assert words.odds_moved("It", odds.reaches(Approx(10, "0.9"), "add-remove")).count("no factor can be stated") == 2


def test_gaussian_odds_on_a_value_are_those_of_half_the_sigma() -> None:
    presence, value = odds.reaches(Gaussian(4), "add-remove", "1e-6")
    assert presence.loss == odds.loss_bound(Gaussian(4), "1e-6")
    assert value.loss == odds.loss_bound(Gaussian(2), "1e-6")
    assert value.chance == odds.either_way(Fraction(1, 10**6), value.loss or Fraction(0))
    assert value.best_guess == odds.guess(Gaussian(2))


def outside(p: list[float], q: list[float], factor: float) -> float:
    """How often odds move by more than the factor, up or down, when p is the truth."""
    return sum(a for a, b in zip(p, q, strict=True) if a > factor * b or b > factor * a)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.01", "0.002"), ("0.3", "0.001"), ("2", "1e-5")])
def test_chance_counts_odds_that_move_too_far_in_either_direction(epsilon: str, delta: str) -> None:
    """Telling "more than e^loss", with η if it is true and e^(−loss)·η if it is not, is (ε, δ)-DP, and so is its mirror
    image: one law that does both leaves the range with η(1 + e^(−loss)), which no chance for one direction covers."""
    reach = odds.reach(Approx(epsilon, delta), "replace-one", question="value")
    eta, e = 100 * float(delta), math.exp(float(reach.loss or 0))
    up, down = eta, eta / e
    p, q = [up, down, 1 - up - down], [down, up, 1 - up - down]
    allowed = float(Fraction(delta)) * (1 + 1e-9)
    assert sum(max(0.0, a - math.exp(float(epsilon)) * b) for a, b in zip(p, q, strict=True)) <= allowed
    moved = outside(p, q, e * (1 - 1e-9))
    assert moved == pytest.approx(eta * (1 + 1 / e))
    assert eta < moved <= float(reach.chance) * (1 + 1e-12)


def test_chance_of_either_direction_that_reaches_one_leaves_no_factor() -> None:
    reach = odds.reach(Approx("0.01", "0.0099"), "replace-one", question="value")
    assert (reach.loss, reach.chance) == (None, 1)
    assert odds.either_way(Fraction(99, 100), Fraction(0)) == 1


@pytest.mark.parametrize("sigma", [0.5, 2, 7.5])
@pytest.mark.parametrize("chance", ["0.4", "1e-3", "1e-6"])
def test_rounded_gaussian_leaves_its_range_no_oftener_than_stated(sigma: float, chance: str) -> None:
    odds_reached = odds.reach(Gaussian(Fraction(sigma)), "replace-one", chance, question="value")
    loss = float(odds_reached.loss or 0)
    reach = math.ceil(12 * sigma)
    cells = [NORMAL.cdf((k + 0.5) / sigma) - NORMAL.cdf((k - 0.5) / sigma) for k in range(-reach, 1)]
    mass = [*cells, *cells[-2::-1]]  # symmetric, so that both tails are exact to many digits
    p, q = [0.0, *mass], [*mass, 0.0]
    assert outside(p[1:-1], q[1:-1], math.exp(loss)) <= float(odds_reached.chance)


def test_reviewer_hears_bound_and_measurement() -> None:
    said = words.reviewer(Fraction(28, 1000), Fraction(1, 100), Fraction(12, 1000))
    assert said == (
        "At one false accusation per 100, an ideal attacker names at most 2.8 of 100 members. Our attacks reached 1.2."
    )
    assert words.reviewer(Fraction(1, 2), Fraction(1, 10**4)).startswith("At 0.01 false accusations per 100")


def test_public_sentence_names_the_unit() -> None:
    assert words.public("household").startswith("Results barely depend on any one household.")


def test_small_numbers_do_not_vanish_and_large_ones_round_to_the_worse_side() -> None:
    assert words.at_most(Fraction(1, 10**9)) == "1e-7"
    assert words.at_most(Fraction(9997, 10000)) == "100"
    assert words.at_least(Fraction(9, 10000)) == "0"
    assert words.factor(Fraction(1, 10**9)) == "at most 1.0001"
    assert words.chance(Fraction(1, 3)) == "at most one in 3"


def test_no_sentence_makes_a_promise_privacy_cannot_keep() -> None:
    half, whole = Fraction(1, 2), Fraction(1)
    said = [
        words.person(half, seen_by="x"),
        words.person_value(half, seen_by="x"),
        words.odds_moved("It", odds.reaches(Pure(whole), "add-remove")),
        words.reviewer(half, half),
        words.public("person"),
        *(words.strength(Fraction(right)) for right in ("0.6", "0.9", "0.99", "1")),
    ]
    for banned in ("anonymous", "safe", "guarantee", "cannot be", "gold standard", "impossible"):
        assert all(banned not in text.lower() for text in said)


def test_a_loss_may_be_typed_and_nonsense_is_refused() -> None:
    assert odds.posterior("0.1", "0.4") == odds.posterior(Fraction(1, 10), "0.4")
    for nonsense in ("abc", -1, "-0.1", Fraction(-1), None, True, float("nan")):
        with pytest.raises(BadValue, match="loss"):
            odds.posterior(nonsense, "0.4")


def test_a_loss_longer_than_anyone_may_type_is_taken() -> None:
    tiny = odds.loss_bound(Gaussian("1e300"), "1e-6")
    assert odds.posterior(tiny, "0.4").high >= Fraction(2, 5)
    assert odds.posterior(Fraction(1, 2**4000), "0.4").high >= Fraction(2, 5)
