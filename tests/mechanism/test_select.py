"""Choosing by private scores: exact laws of neighbours on small tables, the law of the code itself, and shortfalls."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import permutations, product

import mpmath
import numpy as np
import pytest

from discreet.bounded import cells, scalar
from discreet.errors import BadValue
from discreet.mechanism.promise import LARGEST
from discreet.mechanism.select import exponential, monotone_exponential, noisy_max, permute_and_flip, top_k
from discreet.noise.source import SYSTEM
from discreet.privacy import price
from discreet.privacy.cost import Exponential, Pure, Repeated
from mechanism.exact_laws import (
    Batched,
    Fixed,
    assert_drawn_from,
    at_least,
    exponential_law,
    keeps,
    largest_loss,
    masses,
    number,
    within,
)
from replay import Refusing

SMALL = list(product(range(3), repeat=3))  # three candidates, scores 0 … 2


def flip_law(scores, rate):
    """Permute-and-flip by the set of coins that fall heads: uniform among them."""
    heads = [mpmath.exp(number(rate) * (s - max(scores))) for s in scores]
    law = dict.fromkeys(range(len(scores)), mpmath.mpf(0))
    for fallen in product((False, True), repeat=len(scores)):
        chance = mpmath.fprod(p if up else 1 - p for p, up in zip(heads, fallen, strict=True))
        for i in range(len(scores)):
            law[i] += chance / max(1, sum(fallen)) if fallen[i] else 0
    return law


def permuted_flip_law(scores, rate):
    """Permute-and-flip as it is told: every order, coin after coin."""
    orders = list(permutations(range(len(scores))))
    law = dict.fromkeys(range(len(scores)), mpmath.mpf(0))
    for order in orders:
        reached = mpmath.mpf(1) / len(orders)
        for i in order:
            head = mpmath.exp(number(rate) * (scores[i] - max(scores)))
            law[i] += reached * head
            reached *= 1 - head
    return law


def noisy_max_law(scores, noise, reach=70):
    """P[i] = Σ over its noise x of P[x]·P[no earlier reaches it, no later passes it]."""
    law = masses(noise, reach)
    best = {}
    for i, s in enumerate(scores):
        best[i] = mpmath.fsum(
            p
            * mpmath.fprod(1 - at_least(noise, s + x - t + (1 if j > i else 0)) for j, t in enumerate(scores) if j != i)
            for x, p in law.items()
        )
    return best


def top_law(scores, rate, k):
    """Ordered lists by peeling."""
    law = {(): mpmath.mpf(1)}
    for _ in range(k):
        after = {}
        for chosen, chance in law.items():
            left = [i for i in range(len(scores)) if i not in chosen]
            for place, p in exponential_law([scores[i] for i in left], rate).items():
                after[(*chosen, left[place])] = chance * p
        law = after
    return law


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("step", [1, 2])
def test_exponential_has_epsilon_bounded_range_for_all_neighbours(epsilon, step):
    mechanism = exponential(scalar(step), epsilon)
    widest = 0
    for s, t in within(SMALL, step):
        p, q = exponential_law(s, mechanism.rate), exponential_law(t, mechanism.rate)
        losses = [mpmath.log(p[i] / q[i]) for i in p]
        widest = max(widest, max(losses) - min(losses))
    assert abs(widest - number(F(epsilon))) < 1e-30
    assert mechanism.cost == Exponential(epsilon)


def test_exponential_comes_as_near_to_epsilon_as_the_candidates_allow():
    mechanism = exponential(scalar(1), 1)
    for candidates in (2, 10, 10_000):
        up, down = [1] + [-1] * (candidates - 1), [0] * candidates
        loss = largest_loss(exponential_law(up, mechanism.rate), exponential_law(down, mechanism.rate))
        assert loss <= 1
    assert loss > 0.999


def test_monotone_exponential_keeps_its_promise_for_scores_that_move_one_way_only():
    mechanism = monotone_exponential(scalar(1), 1)
    assert mechanism.rate == 2 * exponential(scalar(1), 1).rate
    one_way = [(s, t) for s, t in within(SMALL, 1) if all(a <= b for a, b in zip(s, t, strict=True))]
    assert all(keeps(exponential_law(s, mechanism.rate), exponential_law(t, mechanism.rate), 1) for s, t in one_way)
    both_ways = [(s, t) for s, t in within(SMALL, 1) if (s, t) not in one_way and (t, s) not in one_way]
    assert any(
        not keeps(exponential_law(s, mechanism.rate), exponential_law(t, mechanism.rate), 1) for s, t in both_ways
    )


def test_monotone_scores_are_refused_under_replace_one():
    with pytest.raises(BadValue, match="must be add-remove"):
        monotone_exponential(scalar(1, "replace-one"), 1)


def test_flipping_all_coins_at_once_is_permute_and_flip():
    for scores in SMALL:
        a, b = flip_law(scores, F(1, 2)), permuted_flip_law(scores, F(1, 2))
        assert all(abs(a[i] - b[i]) < 1e-30 for i in a)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_permute_and_flip_is_epsilon_private_and_reaches_it(epsilon):
    mechanism = permute_and_flip(scalar(1), epsilon)
    losses = [largest_loss(flip_law(s, mechanism.rate), flip_law(t, mechanism.rate)) for s, t in within(SMALL, 1)]
    assert abs(max(losses) - number(F(epsilon))) < 1e-30


def test_permute_and_flip_has_no_bounded_range_and_is_not_priced_so():
    mechanism = permute_and_flip(scalar(1), 1)
    p, q = flip_law((0, 0), mechanism.rate), flip_law((1, -1), mechanism.rate)
    losses = [mpmath.log(p[i] / q[i]) for i in p]
    assert max(losses) - min(losses) > 1.4  # an exponential mechanism's would be 1
    assert mechanism.cost == Pure(1)
    order = F(2)
    true = mpmath.log(sum(p[i] ** 2 / q[i] for i in p))
    assert true > number(order * F(1, 8))  # so ε²/8-zCDP would be false
    assert true <= number(price.renyi(mechanism.cost, order).value)


@pytest.mark.parametrize("scores", SMALL)
def test_permute_and_flip_never_scores_worse_than_the_exponential_mechanism(scores):
    def mean(law):
        return sum(scores[i] * p for i, p in law.items())

    assert mean(flip_law(scores, F(1, 2))) >= mean(exponential_law(scores, F(1, 2))) - mpmath.mpf(10) ** -30


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_noisy_max_is_epsilon_private_ties_included(epsilon):
    mechanism = noisy_max(scalar(1), epsilon)
    laws = {s: noisy_max_law(s, mechanism.noise) for s in SMALL}
    assert all(abs(sum(law.values()) - 1) < 1e-5 for law in laws.values())
    losses = [largest_loss(laws[s], laws[t]) for s, t in within(SMALL, 1)]
    assert max(losses) <= number(F(epsilon)) + mpmath.mpf(10) ** -6  # the sums leave out e^(−70/b)
    assert max(losses) > number(F(epsilon)) / 2


def test_noisy_max_runs_the_law_it_states():
    """All noise of up to ±11 steps through the code itself, weighted by its exact mass."""
    mechanism = noisy_max(scalar(1), 3)
    law = masses(mechanism.noise, 11)
    chances = dict.fromkeys(range(3), mpmath.mpf(0))
    for x in product(law, repeat=3):
        chances[replace(mechanism, noise=Fixed(*x))((1, 0, 1), SYSTEM)] += mpmath.fprod(map(law.get, x))
    stated = noisy_max_law((1, 0, 1), mechanism.noise)
    cut = 3 * 2 * at_least(mechanism.noise, 12)
    assert cut < 1e-6
    assert all(abs(chances[i] - stated[i]) <= cut for i in chances)


def test_the_first_of_tied_candidates_wins():
    mechanism = noisy_max(scalar(1), 1)
    assert replace(mechanism, noise=Fixed(0, 2, 1))([2, 0, 1], SYSTEM) == 0
    assert replace(mechanism, noise=Fixed(-1, 2, 1))([2, 0, 1], SYSTEM) == 1


def test_cutting_noisy_scores_instead_of_the_noise_would_break_the_promise():
    """Ten candidates one step below the cut and one at it: every one of the ten must not reach the cut."""
    noise = noisy_max(scalar(1), 1).noise
    below, level = 1 - at_least(noise, 1), 1 - at_least(noise, 0)  # s = L − 1: noise ≤ 0;  s = L: noise ≤ −1
    assert 10 * mpmath.log(below / level) > 4.9  # a part of the loss that should be 1 in all
    full = [LARGEST - 1] * 10 + [LARGEST]
    mechanism = replace(noisy_max(scalar(1), 1), noise=Fixed(*[5] * 10, 7))
    assert mechanism(full, SYSTEM) == 10  # the code compares beyond the saturation of its input


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_is_epsilon_private_in_total(k):
    mechanism = top_k(scalar(1), 1, k)
    assert mechanism.cost == Repeated(Exponential(F(1, k)), k)
    losses = [
        largest_loss(top_law(s, mechanism.choice.rate, k), top_law(t, mechanism.choice.rate, k))
        for s, t in within(SMALL, 1)
    ]
    assert max(losses) <= 1
    assert max(losses) > 0.3


# --- shortfalls --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [(5, 0), (9, 7, 7, 2, 0), tuple(range(40)), (3, 3, 3), (30, *[0] * 99)])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_loss_bound_holds_at_every_distance(scores, epsilon):
    """P[loss ≥ R] ≤ |Y|·e^(−εR/2Δ), exactly computed at every R a candidate has."""
    e, size = number(F(epsilon)), len(scores)
    ways = [(exponential(scalar(2), epsilon), exponential_law)]
    if size < 6:
        ways.append((permute_and_flip(scalar(2), epsilon), flip_law))
    for mechanism, law in ways:
        chances = law(scores, mechanism.rate)
        lost = {i: max(scores) - s for i, s in enumerate(scores)}
        for missed in map(mpmath.mpf, ("0.3", "0.01", "1e-9")):
            stated = mechanism.shortfall(size, str(missed))
            assert stated == pytest.approx(float(4 * mpmath.log(size / missed) / e))
            assert sum(p for i, p in chances.items() if lost[i] >= stated) <= missed
        for gap in set(lost.values()):
            assert sum(p for i, p in chances.items() if lost[i] >= gap) <= size * mpmath.exp(-e * gap / 4)


@pytest.mark.parametrize("scores", [(5, 0), (9, 7, 7, 2, 0), (12, *[0] * 9)])
@pytest.mark.parametrize("missed", ["0.3", "0.01"])
def test_noisy_max_shortfall_holds(scores, missed):
    mechanism = noisy_max(scalar(1), 2)
    stated = mechanism.shortfall(len(scores), missed)
    law = noisy_max_law(scores, mechanism.noise)
    assert sum(p for i, p in law.items() if max(scores) - scores[i] > stated) <= mpmath.mpf(missed)
    t = int(stated / 2)
    assert len(scores) * 2 * at_least(mechanism.noise, t + 1) <= mpmath.mpf(missed)
    assert len(scores) * 2 * at_least(mechanism.noise, t) > mpmath.mpf(missed)


def test_shortfall_is_a_number_however_extreme_the_rate_or_the_chance():
    assert exponential(scalar(1), 1).shortfall(3, "1e-400") == pytest.approx(2 * (400 * np.log(10) + np.log(3)))
    assert exponential(scalar("1e-160"), "1e6").shortfall(3, "0.1") == pytest.approx(6.8e-166, rel=0.01)
    assert exponential(scalar("1e160"), "1e-9").shortfall(3, "0.1") == 2.0 * LARGEST
    assert exponential(scalar(1), 1).shortfall(1, "0.5") == pytest.approx(2 * np.log(2))


@pytest.mark.parametrize("make", [exponential, permute_and_flip, noisy_max])
@pytest.mark.parametrize("given", [0, 1, -1, float("nan"), None, True])
def test_bad_chance_or_number_of_candidates_is_refused(make, given):
    with pytest.raises(BadValue, match="missed must be"):
        make(scalar(1), 1).shortfall(3, given)
    if given not in (1, True):
        with pytest.raises(BadValue, match="candidates must be"):
            make(scalar(1), 1).shortfall(given, "0.1")


# --- what runs ---------------------------------------------------------------------------------------------------


def test_exponential_draws_follow_the_law():
    """N = 60,000."""
    scores, mechanism = (7, 4, 4, 0, -3), exponential(scalar(1), "3/2")
    counts = Counter(mechanism.many(scores, 60_000, SYSTEM).tolist())
    assert_drawn_from(counts, *(exponential_law(scores, mechanism.rate * off) for off in (1, F(11, 10))))


CROWD = 400  # candidates three steps below the best: together about as likely as the best at rate 2
CROWDED = np.array([3, *[0] * CROWD])


def test_single_choices_follow_the_law_too():
    """N = 4,000 calls; outcome 0 is the best."""
    mechanism = exponential(scalar(1), 4)

    def law(rate):
        best = exponential_law(CROWDED.tolist(), rate)[0]
        return {True: best, False: 1 - best}

    counts = Counter(mechanism(CROWDED, SYSTEM) == 0 for _ in range(4000))
    assert_drawn_from(counts, law(mechanism.rate), law(mechanism.rate * F(11, 10)))


def test_permute_and_flip_draws_follow_the_law():
    """N = 4,000 calls; the best is chosen with probability E[1/(1 + K)], K of the crowd's coins being heads."""
    mechanism = permute_and_flip(scalar(1), 4)

    def law(rate):
        head = mpmath.exp(-3 * number(rate))
        best = (1 - (1 - head) ** (CROWD + 1)) / ((CROWD + 1) * head)
        return {True: best, False: 1 - best}

    assert abs(flip_law((3, 0, 0), F(1))[0] - (1 - (1 - mpmath.exp(-3)) ** 3) / (3 * mpmath.exp(-3))) < 1e-30
    counts = Counter(mechanism(CROWDED, SYSTEM) == 0 for _ in range(4000))
    assert_drawn_from(counts, law(mechanism.rate), law(mechanism.rate * F(11, 10)))


def test_permute_and_flip_treats_candidates_of_one_score_alike():
    """N = 12,000 calls; the wrong law leans by 10 % to the first."""
    mechanism = permute_and_flip(scalar(1), 1)
    counts = Counter(mechanism((0, 0), SYSTEM) for _ in range(12_000))
    assert_drawn_from(
        counts, {0: mpmath.mpf("0.5"), 1: mpmath.mpf("0.5")}, {0: mpmath.mpf("0.55"), 1: mpmath.mpf("0.45")}
    )


def test_noisy_max_draws_follow_the_law():
    """N = 60,000."""
    scores, mechanism = (0, 4, 6, 1), noisy_max(scalar(1), 1)
    counts = Counter(mechanism.many(scores, 60_000, SYSTEM).tolist())
    calls = replace(mechanism, noise=Batched(mechanism.noise))
    counts.update(calls(scores, SYSTEM) for _ in range(20_000))
    laws = [
        noisy_max_law(scores, replace(mechanism.noise, scale=mechanism.noise.scale * off)) for off in (1, F(11, 10))
    ]
    assert_drawn_from(counts, *laws)


def test_top_k_draws_follow_the_law():
    """N = 80,000 lists."""
    scores, mechanism = (6, 3, 0, 1), top_k(scalar(1), 2, 2)
    counts = Counter(map(tuple, mechanism.many(scores, 80_000, SYSTEM).tolist()))
    assert_drawn_from(counts, *(top_law(scores, mechanism.choice.rate * off, 2) for off in (1, F(11, 10))))


def test_top_k_of_all_is_a_permutation_and_of_more_is_refused():
    mechanism = top_k(scalar(1), 1, 5)
    assert sorted(mechanism([1, 2, 3, 4, 5], SYSTEM)) == [0, 1, 2, 3, 4]
    with pytest.raises(BadValue, match="at least k = 5 candidates"):
        mechanism([1, 2, 3, 4], Refusing())


@pytest.mark.parametrize("k", [0, -1, 2.0, True, None, 10**7, "2"])
def test_bad_k_is_refused(k):
    with pytest.raises(BadValue, match="k must be a whole number"):
        top_k(scalar(1), 1, k)


@pytest.mark.parametrize("make", [exponential, permute_and_flip, noisy_max])
def test_scores_at_both_ends_of_the_range_do_not_wrap(make):
    for scores, best in (([10**40, -(10**40)], 0), ([-(2**63), 2**63 - 1, 0], 1), (np.array([0, 2**64 - 1], "u8"), 1)):
        assert make(scalar(1), 1)(scores, SYSTEM) == best


@pytest.mark.parametrize("make", [exponential, permute_and_flip, noisy_max])
def test_steepest_rate_always_takes_the_best(make):
    mechanism = make(scalar("1e-150"), "1e6")
    assert {mechanism([0, 1, 0], SYSTEM) for _ in range(50)} == {1}


@pytest.mark.parametrize("make", [exponential, permute_and_flip])
def test_flattest_rate_takes_all_alike(make):
    """N = 4,000: each of two candidates between 1,840 and 2,160 times, five standard deviations: alarm 6·10⁻⁷."""
    mechanism = make(scalar("1e200"), "1e-9")
    counts = Counter(mechanism([0, LARGEST], SYSTEM) for _ in range(4000))
    assert abs(counts[0] - 2000) < 160


def test_one_candidate_is_chosen():
    for make in (exponential, permute_and_flip, noisy_max):
        assert make(scalar(1), 1)([-5], SYSTEM) == 0


def test_sensitivity_of_scores_is_the_largest_move_of_one_of_them():
    assert exponential(cells(5, 3), 1).rate == F(1, 6)
    assert noisy_max(cells(5, 3), 1).noise.scale == 6
