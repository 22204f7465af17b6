"""Ceilings against the best attacker, found by brute force on laws that use the whole promise."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.attack.ceiling import caught, chance_of, group_terms, guess_of_bit, guess_of_many
from discreet.noise.public import generator

EPSILONS = (0.1, 0.5, 1.0, 3.0)


def response(epsilon, choices, truth):
    """The law of k-ary randomized response."""
    low = 1 / (math.exp(epsilon) + choices - 1)
    return [math.exp(epsilon) * low if value == truth else low for value in range(choices)]


def leaking(epsilon, delta, truth):
    """The truth itself with probability δ, else a randomized bit: it uses all of (ε, δ)."""
    bit = [(1 - delta) * mass for mass in response(epsilon, 2, truth)]
    return [*bit, *(delta if value == truth else 0.0 for value in range(2))]


def best_catch(law, other, false_alarms):
    """The most powerful random test at that rate, by the likelihood ratio (Neyman & Pearson)."""
    order = sorted(range(len(law)), key=lambda i: law[i] / other[i] if other[i] else math.inf, reverse=True)
    left, power = false_alarms, 0.0
    for i in order:
        share = 1.0 if other[i] <= left else left / other[i]
        power, left = power + share * law[i], left - share * other[i]
        if share < 1:
            break
    return power


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("false_alarms", [0.001, 0.01, 0.1, 0.4, 0.9])
def test_no_test_catches_more_and_response_catches_as_many(epsilon, false_alarms):
    power = best_catch(response(epsilon, 2, 1), response(epsilon, 2, 0), false_alarms)
    assert power == pytest.approx(caught(epsilon, false_alarms=false_alarms), rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
@pytest.mark.parametrize("false_alarms", [0.0, 0.01, 0.3])
def test_with_delta_the_leak_stays_below(epsilon, delta, false_alarms):
    power = best_catch(leaking(epsilon, delta, 1), leaking(epsilon, delta, 0), false_alarms)
    ceiling = caught(epsilon, delta, false_alarms=false_alarms)
    assert power <= ceiling + 1e-12
    assert power >= ceiling - 1.1 * delta - 1e-12  # so a ceiling without δ, or with a smaller ε, would be crossed


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("choices", [2, 3, 5])
def test_no_guess_is_better_and_response_reaches_it(epsilon, choices):
    laws = [response(epsilon, choices, truth) for truth in range(choices)]
    rates = [
        sum(laws[truth][output] for output, truth in enumerate(guesses)) / choices
        for guesses in itertools.product(range(choices), repeat=choices)
    ]
    assert max(rates) == pytest.approx(guess_of_many(epsilon, choices=choices), rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("choices", [2, 3, 8])
def test_the_best_guess_of_an_independent_secret_under_presence(epsilon, choices):
    """By linear programming over all laws of a guess: `choices` of them with a row of each secret, and one without."""
    law, size = np.arange((choices + 1) * choices).reshape(choices + 1, choices), (choices + 1) * choices
    limits = []
    for truth, value in itertools.product(range(choices), repeat=2):
        for more, less in ((law[truth, value], law[-1, value]), (law[-1, value], law[truth, value])):
            limits.append(np.zeros(size))  # P[more] − e^ε·P[less] ≤ 0
            limits[-1][[more, less]] = 1, -math.exp(epsilon)
    right, sums = np.zeros(size), np.repeat(np.eye(choices + 1), choices, axis=1)
    right[np.diag(law)] = 1 / choices
    best = linprog(-right, A_ub=np.array(limits), b_ub=np.zeros(len(limits)), A_eq=sums, b_eq=np.ones(choices + 1))
    ceiling = chance_of(epsilon, 0.0, without=1 / choices)
    assert -best.fun == pytest.approx(ceiling, rel=1e-6)
    assert ceiling <= guess_of_many(epsilon, choices=choices, group=2)


@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_guess_with_delta_stays_below(delta):
    laws = [leaking(1.0, delta, truth) for truth in range(2)]
    best = sum(max(laws[truth][output] for truth in range(2)) for output in range(4)) / 2
    assert guess_of_many(1.0) < best <= guess_of_many(1.0, delta)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.72, 0.95, 1.0])
def test_no_rule_guesses_a_biased_bit_better_and_the_leak_reaches_it(epsilon, delta, share):
    """All sixteen rules from the four outputs of the leak to a bit."""
    weights = (1 - share, share)
    laws = [leaking(epsilon, delta, truth) for truth in range(2)]
    rates = [
        sum(weights[guess] * laws[guess][output] for output, guess in enumerate(rule))
        for rule in itertools.product(range(2), repeat=4)
    ]
    assert max(rates) == pytest.approx(guess_of_bit(epsilon, delta, share=share), rel=1e-12)


def test_other_laws_of_the_same_promise_guess_a_biased_bit_no_better():
    """Laws on five outputs whose odds lie within e^±1, drawn at random."""
    chance = generator(4)
    for _ in range(300):
        law = chance.random(5)
        other = law * chance.choice([1, math.e**0.5, math.e], size=5)
        law, other = law / law.sum(), other / other.sum()
        epsilon, share = float(abs(np.log(law / other)).max()), float(chance.random())
        assert np.maximum(share * law, (1 - share) * other).sum() <= guess_of_bit(epsilon, share=share) + 1e-12


def test_ceilings_of_an_epsilon_beyond_the_floats_are_one():
    for loss in (1e3, 1e6):
        ceilings = (caught(loss, false_alarms=0.01), guess_of_bit(loss), guess_of_many(loss, choices=9))
        assert (*ceilings, chance_of(loss, 1e-9, without=1e-18, group=4)) == (1, 1, 1, 1)
        assert caught(loss, false_alarms=0) == 0


def test_groups_multiply_epsilon_and_sum_deltas():
    assert group_terms(1.0, 0.0, 4) == (4.0, 0.0)
    loss, chance = group_terms(1.0, 1e-5, 3)
    assert loss == 3.0
    assert chance == pytest.approx(1e-5 * (1 + math.e + math.e**2))
    assert chance_of(1.0, 0.0, without=1e-4, group=4) == pytest.approx(1e-4 * math.exp(4))
    assert guess_of_many(0.25, group=4) == pytest.approx(guess_of_many(1.0))


def test_ceilings_at_epsilon_one_are_the_known_figures():
    assert guess_of_many(1.0) == pytest.approx(0.7311, abs=5e-5)
    assert caught(1.0, false_alarms=0.01) == pytest.approx(0.0272, abs=5e-5)
