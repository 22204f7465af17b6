"""Answers and what they give away: coins, beliefs, and how far one person moves a number."""

import math
from fractions import Fraction

from discreet.bounded import cells, scalar
from discreet.fix import Fix
from discreet.lecture.section import Section, rows_of, short
from discreet.lecture.topics.laws import epsilon_of, laplace_scale
from discreet.mechanism.additive import laplace
from discreet.mechanism.response import response, two_coins
from discreet.privacy.odds import posterior, response_posterior
from discreet.relation import Relation

_PEOPLE = 1_000


def coins() -> Section:
    """Randomized response with two fair coins, and what a yes tells (Warner 1965)."""
    survey = two_coins()
    yes, no = survey.said_yes(1), survey.said_yes(0)
    belief = response_posterior("0.02", yes, no)
    return Section(
        "Have you ever dodged a tax? Two coins answer",
        "Heads: the truth. Tails: a second coin says yes or no. A yes can always have come from the coins.",
        rows_of(
            ("chance of a yes, dodged", "3/4", str(yes)),
            ("chance of a yes, did not", "1/4", str(no)),
            ("ε of one answer", "ln 3", f"{short(epsilon_of(survey.cost))} = ln 3"),
            ("belief after a yes, 0.02 before", "≈ 0.058", short(belief)),
        ),
        command=Fix("", "odds", {"survey": True, "prior": "0.02"}),
    )


def coin_estimate() -> Section:
    """The estimate from two coins, its variance, and Laplace noise of the same ε beside it."""
    survey = two_coins()
    half, none = survey.variance(0.5, _PEOPLE), survey.variance(0, _PEOPLE)
    epsilon = epsilon_of(survey.cost)
    count = laplace(scalar(1), epsilon)
    return Section(
        "The share still comes out",
        "μ̂ = (2/N)·ΣX − ½ is unbiased; a curator's count with noise of the same ε is far more accurate.",
        rows_of(
            ("N·variance at share ½", "4 · ¼", short(half * _PEOPLE)),
            ("N·variance at share 0", "", short(none * _PEOPLE)),
            ("variance at share ½, over plain answers", "4", short(half * _PEOPLE / 0.25)),
            (
                "Laplace scale of the same ε on a count",
                "0.910",
                short(laplace_scale(scalar(1), epsilon), 3),
            ),
            ("variance of real-valued noise, 2/(ln 3)²", "", short(2 / math.log(3) ** 2)),
            ("variance of the integer noise that runs", "", short(count.variance)),
        ),
        "The factor 4 is reached at share ½ only: at share 0 plain answers do not err at all and coins still do.",
        Fix("", "survey design", {"metadata": "tax.toml"}),
    )


def any_epsilon() -> Section:
    """Randomized response at any ε, and its unbiasing (lecture 5)."""
    mechanism = response(1)
    estimates = mechanism.shares([1])[1].value, mechanism.shares([0])[1].value
    mean = mechanism.keep * estimates[0] + (1 - mechanism.keep) * estimates[1]
    return Section(
        "Randomized response at any ε",
        "Keep the bit with probability e^ε/(1 + e^ε), else turn it over; z = (y − 1/(1 + e^ε))·(e^ε + 1)/(e^ε − 1).",
        rows_of(
            ("chance to keep the bit, ε = 1", "e/(1 + e)", short(mechanism.keep)),
            ("mean of z for a true 1", "1", short(round(mean, 12))),
            ("variance of z", "", short(mechanism.variance(0.0, 1))),
        ),
        "The lecture prints p^k where e^ε belongs: with p = e/(1 + e) and k = 1 a true 1 would be estimated as −0.99.",
        Fix("", "curve", {"curve": "response", "output": "response.svg"}),
    )


def beliefs() -> Section:
    """How far any answer moves a belief (lectures 2 and 3)."""
    belief = posterior("0.1", "0.4")
    return Section(
        "What an attacker can conclude",
        "One answer without δ moves the odds that one person is in the table by at most e^ε, whatever else is known.",
        rows_of(
            ("lowest belief after ε = 0.1, 0.4 before", f"{short(0.4 * math.exp(-0.1))}", short(belief.low)),
            ("highest belief", f"{short(0.4 * math.exp(0.1))}", short(belief.high)),
        ),
        "The printed ends 0.4·e^∓ε hold and are loose: e^ε moves the odds, not the probability.",
        Fix("", "odds", {"epsilon": "0.1", "prior": "0.4"}),
    )


def blue_eyes() -> Section:
    """One count at ε = 0.1 (lecture 2)."""
    answer = laplace(scalar(1), "0.1")
    return Section(
        "How many people have blue eyes?",
        "One person moves a count by 1, so the noise has scale 1/ε whatever the population.",
        rows_of(
            ("scale at ε = 0.1", "10", short(laplace_scale(scalar(1), "0.1"))),
            ("mean squared error", "2(Δ/ε)² = 200", short(answer.variance, 5)),
            ("mean absolute error", "Δ/ε = 10", short(answer.mean_abs)),
        ),
        "200 and 10 are those of real numbers; a count is an integer and gets integer noise, which errs a little less.",
        Fix("", "demo lecture"),
    )


def neighbours() -> Section:
    """What "differ in one entry" can mean (lectures 2 and 3)."""
    added, replaced = laplace_scale(cells(1, 1), 1), laplace_scale(cells(2, 1, Relation.REPLACE_ONE), 1)
    return Section(
        "Neighbours: a person more, or a person changed",
        "Lecture 2 says “agree except for a single entry”, lecture 3 “differ in one entry”. Both readings exist; "
        "Discreet names its own in every answer.",
        rows_of(
            ("Δ of a histogram, one person more", "1", short(added)),
            ("Δ of a histogram, one person changed", "", short(replaced)),
            ("Δ of a sum over [3, 5], one more", "5", short(laplace_scale(scalar(5), 1))),
            ("Δ of a sum over [3, 5], one changed", "", short(laplace_scale(scalar(2, Relation.REPLACE_ONE), 1))),
        ),
        "Noise for one count under a promise about changed persons gives away twice the ε that it claims.",
        Fix("", "explain", {"metadata": "people.toml", "receipt": "last"}),
    )


def sums() -> Section:
    """Heights, salaries, means and a cancer table (lectures 3 and 4)."""
    mean = laplace_scale(scalar(1, Relation.REPLACE_ONE), "0.1") / _PEOPLE
    return Section(
        "How far one person moves a number",
        "Sensitivity comes from public bounds, never from the rows.",
        rows_of(
            ("patients with cancer, 3 or 4: Δ", "1", short(laplace_scale(scalar(4 - 3), 1))),
            ("sum of heights up to 7 feet: Δ", "7", short(laplace_scale(scalar(7), 1))),
            ("salaries to £50K, four leave at once: Δ", "£200K", f"£{short(laplace_scale(scalar(4 * 50), 1))}K"),
            (f"mean of {_PEOPLE:,} values in [0, 1]: Lap scale at ε = 0.1", "1/(εn)", short(mean)),
        ),
        command=Fix("", "quote", {"metadata": "people.toml", "sql": "SELECT SUM(height) FROM people", "epsilon": 1}),
    )


def ages() -> Section:
    """A table of five ages and its means (lecture 3)."""
    table = {"men": (49, 19), "women": (31, 26, 27)}
    everyone = [age for group in table.values() for age in group]
    means = {name: Fraction(sum(group), len(group)) for name, group in table.items()}
    return Section(
        "Three means of five people",
        "Averages look harmless; each one rules out most of the tables that could have been.",
        rows_of(
            ("mean age", "30.4", short(Fraction(sum(everyone), len(everyone)))),
            ("mean age of the men", "34", short(means["men"])),
            ("mean age of the women", "28", short(means["women"])),
        ),
        "This is no reconstruction yet but a staircase: the three means still leave 22,085 tables.",
        Fix("", "attack", {"attack": "ages"}),
    )
