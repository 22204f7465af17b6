"""Sparse vector: the exact law of every pattern for neighbouring lists, the stop, and numbers with fresh noise."""

import copy
import os
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

from discreet.bounded import scalar
from discreet.errors import BadValue
from discreet.mechanism.promise import LARGEST
from discreet.mechanism.threshold import Verdict, numeric_sparse_vector, sparse_vector
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Pure, Repeated, Together
from mechanism.exact_laws import Batched, Fixed, assert_drawn_from, at_least, largest_loss, masses, number, within
from replay import Refusing


def patterns(questions, positives):
    """Every list of verdicts a run can end with: it stops with the last positive or with the questions."""
    patterns_of = []
    for verdicts_given in product((False, True), repeat=questions):
        ends = [i for i, above in enumerate(verdicts_given) if above][positives - 1 : positives]
        patterns_of.append(verdicts_given[: ends[0] + 1] if ends else verdicts_given)
    return sorted(set(patterns_of))


def pattern_law(values, mechanism, reach=120):
    """P[pattern] = Σ over ρ of P[ρ]·∏ P[ν ≥ T + ρ − q] or its complement; floats, right to 10⁻¹² of each."""
    rho = masses(mechanism.threshold_noise, reach)
    above = np.array(
        [[float(at_least(mechanism.question_noise, mechanism.threshold + r - q)) for r in rho] for q in values]
    )
    chance, sides = np.array([float(p) for p in rho.values()]), np.stack([1 - above, above])
    return {
        pattern: float(chance @ np.prod([sides[int(up), i] for i, up in enumerate(pattern)], axis=0))
        for pattern in patterns(len(values), mechanism.positives)
    }


def verdicts(mechanism, values, source=SYSTEM):
    return tuple(v.above for v in mechanism(values, source))


def fixed(mechanism, threshold, *questions, numbers=()):
    """The mechanism with chosen noise."""
    fresh = Fixed(*numbers) if numbers else None
    return replace(mechanism, threshold_noise=Fixed(threshold), question_noise=Fixed(*questions), number_noise=fresh)


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positives", [1, 2])
@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_verdicts_are_epsilon_private_for_all_neighbouring_lists(epsilon, positives):
    mechanism = sparse_vector(scalar(1), epsilon, threshold=1, positives=positives)
    lists = list(product(range(2), repeat=4))
    laws = {values: pattern_law(values, mechanism, 60) for values in lists}
    largest = max(largest_loss(laws[s], laws[t]) for s, t in within(lists, 1))
    assert largest <= number(F(epsilon)) + 1e-9
    assert largest > number(F(epsilon)) / 4
    assert mechanism.cost == Pure(epsilon)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ((0,) * 10, (1,) * 10),
        ((0,) * 10, (-1,) * 10),
        ((0,) * 10, (1,) * 5 + (-1,) * 5),
        ((0,) * 10, (-1,) * 5 + (1,) * 5),
        ((0,) * 10, (0,) * 9 + (1,)),
    ],
)
def test_long_lists_cost_no_more_than_short_ones(here, there):
    """Ten questions, five positives, the pairs that refute the wrong variants (Lyu, Su & Li 2017)."""
    mechanism = sparse_vector(scalar(1), 2, threshold=0, positives=5)
    loss = largest_loss(pattern_law(here, mechanism, 90), pattern_law(there, mechanism, 90))
    assert loss <= 2 + 1e-9


def test_fifty_negatives_before_a_positive_cost_no_more():
    mechanism = sparse_vector(scalar(1), 1, threshold=3, positives=1)
    laws = [pattern_law_of_one(mechanism, q) for q in (0, 1)]
    assert abs(mpmath.log(laws[0] / laws[1])) <= 1


def pattern_law_of_one(mechanism, q, negatives=50):
    """P[⊥ fifty times, then ⊤] for equal questions."""
    return mpmath.fsum(
        chance
        * (1 - at_least(mechanism.question_noise, mechanism.threshold + rho - q)) ** negatives
        * at_least(mechanism.question_noise, mechanism.threshold + rho - q)
        for rho, chance in masses(mechanism.threshold_noise, 150).items()
    )


@pytest.mark.parametrize("positives", [1, 2, 10, 1000])
@pytest.mark.parametrize("step", [1, "7/2"])
def test_split_adds_up_exactly_and_is_the_one_of_least_spread(positives, step):
    mechanism = sparse_vector(scalar(step), "3/10", threshold=0, positives=positives)
    first = F(step) / mechanism.threshold_noise.scale
    second = 2 * positives * F(step) / mechanism.question_noise.scale
    assert first + second == F(3, 10)

    def spread(share):
        return 1 / share**2 + (2 * positives) ** 2 / (F(3, 10) - share) ** 2

    assert spread(first) <= spread(first * F(101, 100))
    assert spread(first) <= spread(first * F(99, 100))


def test_numbers_cost_extra_and_have_noise_of_their_own():
    mechanism = numeric_sparse_vector(scalar(2), 1, threshold=0, positives=4, numbers="1/2")
    assert mechanism.cost == Together((Pure(1), Repeated(Pure(F(1, 8)), 4)))
    assert mechanism.number_noise.scale == 16
    plain = sparse_vector(scalar(2), 1, threshold=0, positives=4)
    assert (mechanism.threshold_noise, mechanism.question_noise) == (plain.threshold_noise, plain.question_noise)
    run = fixed(mechanism, 0, 100, numbers=(-3,)).open(SYSTEM)
    assert run.ask(50) == Verdict(True, 47)  # not 150, the number that was compared


def test_verdict_and_number_together_keep_the_whole_price():
    mechanism = numeric_sparse_vector(scalar(1), 1, threshold=0, positives=1, numbers=1)
    fresh = masses(mechanism.number_noise, 12)

    def law(values):
        joint = {}
        for pattern, chance in pattern_law(values, mechanism, 90).items():
            if pattern[-1]:
                joint |= {(pattern, y): chance * fresh[y - values[len(pattern) - 1]] for y in range(-8, 9)}
            else:
                joint[pattern] = chance
        return joint

    lists = list(product((-1, 0), repeat=2))
    laws = {values: law(values) for values in lists}
    largest = max(largest_loss(laws[s], laws[t]) for s, t in within(lists, 1))
    assert 1 < largest <= 2  # more than the verdicts alone may cost


# --- what runs ---------------------------------------------------------------------------------------------------


def test_code_decides_by_the_law_it_states():
    """All noise of the threshold and of two questions up to ±13 steps through the code, weighted by its exact mass."""
    mechanism = sparse_vector(scalar(1), 8, threshold=1, positives=1)
    rho, nu = masses(mechanism.threshold_noise, 13), masses(mechanism.question_noise, 13)
    chances = dict.fromkeys(patterns(2, 1), mpmath.mpf(0))
    for r, x, y in product(rho, nu, nu):
        chances[verdicts(fixed(mechanism, r, x, y), [0, 1])] += rho[r] * nu[x] * nu[y]
    stated = pattern_law([0, 1], mechanism)
    cut = 2 * at_least(mechanism.threshold_noise, 14) + 4 * at_least(mechanism.question_noise, 14)
    assert cut < 1e-6
    assert all(abs(chances[pattern] - stated[pattern]) <= cut for pattern in chances)


def test_draws_follow_the_law():
    """N = 30,000 runs of three questions."""
    mechanism = sparse_vector(scalar(1), 6, threshold=0, positives=2)
    quick = replace(
        mechanism, threshold_noise=Batched(mechanism.threshold_noise), question_noise=Batched(mechanism.question_noise)
    )
    values = (-3, 2, -2)
    counts = Counter(verdicts(quick, values) for _ in range(30_000))
    wrong = replace(
        mechanism,
        threshold_noise=replace(mechanism.threshold_noise, scale=mechanism.threshold_noise.scale * F(11, 10)),
        question_noise=replace(mechanism.question_noise, scale=mechanism.question_noise.scale * F(11, 10)),
    )
    assert_drawn_from(counts, pattern_law(values, mechanism), pattern_law(values, wrong))


def test_a_tie_counts_as_above():
    mechanism = sparse_vector(scalar(1), 1, threshold=5, positives=1)
    assert verdicts(fixed(mechanism, 2, 3), [4]) == (True,)
    assert verdicts(fixed(mechanism, 2, 2), [4]) == (False,)


def test_nothing_is_answered_after_the_last_positive():
    mechanism = sparse_vector(scalar(1), 1, threshold=0, positives=2)
    answers = fixed(mechanism, 0, 0, 0, 0, 0, 0)([-1, 5, -1, 5, 5, 5], SYSTEM)
    assert [v.above for v in answers] == [False, True, False, True]
    run = fixed(mechanism, 0, 0, 0).open(SYSTEM)
    assert [run.ask(1).above, run.ask(1).above] == [True, True]
    run._source = Refusing()
    for _ in range(3):
        with pytest.raises(BadValue, match="must stop after the last positive"):
            run.ask(1)


def test_no_list_has_more_positives_than_were_paid_for():
    mechanism = sparse_vector(scalar(1), 1, threshold=0, positives=3)
    for _ in range(20):
        answers = verdicts(mechanism, [10**6] * 10)
        assert sum(answers) == len(answers) == 3


def test_threads_share_the_positives():
    run = sparse_vector(scalar(1), 1, threshold=0, positives=50).open(SYSTEM)

    def ask(_):
        try:
            return run.ask(10**9).above
        except BadValue:
            return None

    with ThreadPoolExecutor(8) as pool:
        counts = Counter(pool.map(ask, range(200)))
    assert counts == {True: 50, None: 150}


DUPLICATES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda run: pickle.loads(pickle.dumps(run)),
    "old pickle": lambda run: pickle.loads(pickle.dumps(run, protocol=0)),
    "__replace__": lambda run: run.__replace__(),
    "in a list": lambda run: copy.deepcopy([run]),
}


def test_an_open_run_does_not_show_its_threshold():
    run = sparse_vector(scalar(1), 1, threshold=10**9, positives=1).open(SYSTEM)
    assert repr(run) == "Run(left=1)"
    assert not hasattr(run, "__dict__")


@pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES.keys())
def test_an_open_run_cannot_be_duplicated(duplicate):
    run = sparse_vector(scalar(1), 1, threshold=-(10**9), positives=1).open(SYSTEM)
    with pytest.raises(BadValue, match="cannot be copied"):
        duplicate(run)
    assert run.ask(0).above


def test_an_open_run_cannot_be_replaced():
    run = sparse_vector(scalar(1), 1, threshold=0, positives=1).open(SYSTEM)
    with pytest.raises(TypeError, match="dataclass"):
        replace(run, left=100)


def _said_in_a_child(run):
    """What a forked child hears from the run, or the name of the error it gets."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = f"above: {run.ask(0).above}"
        except BadValue as error:
            told = str(error)
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as said:
        told = said.read().decode()
    os.waitpid(child, 0)
    return told


def test_a_forked_childs_copy_of_a_run_refuses_and_the_parents_goes_on():
    run = sparse_vector(scalar(1), 1, threshold=-(10**9), positives=2).open(SYSTEM)
    assert run.ask(0).above
    assert "process that opened it" in _said_in_a_child(run)
    assert run.ask(0).above
    assert run.positives_left == 0


def test_a_forked_child_is_refused_even_under_its_parents_number(monkeypatch):
    run = sparse_vector(scalar(1), 1, threshold=-(10**9), positives=1).open(SYSTEM)
    number = os.getpid()
    monkeypatch.setattr("discreet.mechanism.threshold.os.getpid", lambda: number)
    assert "process that opened it" in _said_in_a_child(run)


def test_a_child_may_open_a_run_of_its_own():
    mechanism = sparse_vector(scalar(1), 1, threshold=-(10**9), positives=1)

    class Late:
        def ask(self, value):
            return mechanism.open(SYSTEM).ask(value)

    assert _said_in_a_child(Late()) == "above: True"


# --- slack -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missed", ["0.5", "0.05", "1e-6"])
@pytest.mark.parametrize("questions", [1, 20])
def test_values_beyond_the_slack_are_judged_right(questions, missed):
    mechanism = sparse_vector(scalar(1), 2, threshold=7, positives=1)
    slack = mechanism.slack(questions, missed)
    rho = masses(mechanism.threshold_noise, 150)
    for side in (-1, 1):
        value = 7 + side * slack
        wrong = [1 - _right(mechanism, value, r, side) ** questions for r in rho]
        assert mpmath.fsum(p * w for p, w in zip(rho.values(), wrong, strict=True)) <= mpmath.mpf(missed)


def _right(mechanism, value, rho, side):
    above = at_least(mechanism.question_noise, mechanism.threshold + rho - value)
    return above if side > 0 else 1 - above


def test_slack_holds_at_the_edge_of_both_radii():
    mechanism = sparse_vector(scalar(1), 2, threshold=0, positives=1)
    a = mechanism.threshold_noise.radius(F(39, 40))
    b = mechanism.question_noise.radius(F(39, 40))
    slack = mechanism.slack(1, "0.05")
    assert slack == a + b + 1
    assert verdicts(fixed(mechanism, -a, b), [-slack]) == (False,)
    assert verdicts(fixed(mechanism, a, -b), [slack]) == (True,)
    assert verdicts(fixed(mechanism, -a, b), [-(a + b)]) == (True,)  # without the one step more: a tie, judged wrong


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [0.5, 1000.5, float("nan"), True, None, "1", [1], [1, 2]])
def test_a_question_is_one_whole_number(given):
    run = numeric_sparse_vector(scalar(1), 1, threshold=0, positives=1, numbers=1).open(SYSTEM)
    run._source = Refusing()
    with pytest.raises(BadValue, match="value must"):
        run.ask(given)
    assert run.positives_left == 1


def test_questions_saturate_like_everything_else():
    mechanism = sparse_vector(scalar(1), 1, threshold=LARGEST, positives=1)
    assert verdicts(fixed(mechanism, 0, 0), [10**40]) == (True,)
    assert verdicts(fixed(mechanism, 1, 0), [10**40]) == (False,)


@pytest.mark.parametrize("given", [2**62, -(2**62), 0.5, None, True, float("nan"), "0"])
def test_bad_threshold_is_refused(given):
    with pytest.raises(BadValue, match="threshold must be a whole number"):
        sparse_vector(scalar(1), 1, threshold=given, positives=1)


@pytest.mark.parametrize("given", [0, -1, 1.0, None, True, 10**7])
def test_bad_number_of_positives_is_refused(given):
    with pytest.raises(BadValue, match="positives must be a whole number"):
        sparse_vector(scalar(1), 1, threshold=0, positives=given)


@pytest.mark.parametrize("given", [0, -1, None, True, float("nan"), "9" * 5000])
def test_bad_price_of_numbers_is_refused(given):
    with pytest.raises(BadValue, match="numbers must be"):
        numeric_sparse_vector(scalar(1), 1, threshold=0, positives=1, numbers=given)


@pytest.mark.parametrize("given", [0, 1, None, True, float("nan")])
def test_bad_slack_is_refused(given):
    mechanism = sparse_vector(scalar(1), 1, threshold=0, positives=1)
    with pytest.raises(BadValue, match="missed must be"):
        mechanism.slack(5, given)
    if given not in (1, True):
        with pytest.raises(BadValue, match="questions must be"):
            mechanism.slack(given, "0.1")
