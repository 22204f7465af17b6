"""Private keys: the least threshold computed a second way, exact laws of neighbours, and what the code releases."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import binom

from discreet.audit.claims import claims
from discreet.bounded import cells, rows, scalar
from discreet.errors import BadValue
from discreet.mechanism.keys import KeySelection, gaussian_key_selection, key_selection
from discreet.mechanism.promise import LARGEST
from discreet.mechanism.quantile import quantile, scores
from discreet.mechanism.select import monotone_exponential, monotone_top_k, top_k
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.privacy import calibrate, price
from discreet.privacy.cost import Approx, Exponential, Gaussian, Pure, Repeated, Together
from mechanism.exact_laws import (
    ALARM,
    ROUND_OFF,
    Fixed,
    assert_drawn_from,
    at_least,
    exponential_law,
    largest_loss,
    number,
)
from replay import Refusing

# (groups, ε, δ, τ under add-remove, τ under replace-one), by adding up the law in 60 digits without this package
GOLDEN = [
    (1, "1", "1e-3", 7, 13),
    (1, "1", "1e-6", 14, 27),
    (1, "0.1", "1e-7", 155, 309),
    (3, "1", "1e-3", 23, 45),
    (5, "0.5", "1e-6", 148, 296),
    (20, "1", "1e-6", 323, 646),
    (1, "4", "1e-5", 3, 6),
    (100, "2", "1e-8", 1118, 2234),
]
GOLDEN_GAUSSIAN = [(1, "5", "1e-6", 25), (4, "10", "1e-6", 51), (20, "25", "1e-7", 144), (3, "0.5", "1e-3", 3)]


def tail(noise, k):
    """P[X ≥ k] from the textbook formulas, in floating point of 60 digits."""
    with mp.workdps(60):
        match noise:
            case DiscreteLaplace():
                a = mpmath.exp(-1 / number(noise.scale))
                return a**k / (1 + a) if k >= 0 else 1 - a ** (1 - k) / (1 + a)
            case RoundedGaussian():
                return mpmath.erfc((k - mpf(1) / 2) / (number(noise.sigma) * mpmath.sqrt(2))) / 2


def slow_threshold(groups, delta, noise):
    """The obvious twin: one step after the other, until a unit's keys stay hidden."""
    with mp.workdps(60):
        tau = 1
        while 1 - (1 - tail(noise, tau)) ** groups > number(F(delta)):
            tau += 1
        return tau


def release_law(counts, mechanism):
    """Every pattern of released keys; a key nobody has is never one of them."""
    shown = [at_least(mechanism.noise, mechanism.threshold + 1 - c) if c >= 1 else mpf(0) for c in counts]
    return {
        pattern: mpmath.fprod(p if up else 1 - p for p, up in zip(shown, pattern, strict=True))
        for pattern in product((False, True), repeat=len(counts))
    }


def needed_delta(p, q, epsilon):
    """The least δ that goes with ε, in both directions."""
    rise = mpmath.exp(number(F(epsilon)))
    return max(sum(max(a[y] - rise * b[y], 0) for y in a) for a, b in ((p, q), (q, p)))


def one_more(keys, groups, values):
    """Counts, and the same with a unit more in up to `groups` keys."""
    for counts in product(values, repeat=keys):
        for size in range(1, groups + 1):
            for new in combinations(range(keys), size):
                yield counts, tuple(c + (i in new) for i, c in enumerate(counts))


def one_moved(keys, groups, values):
    """Counts with a unit in up to `groups` keys, and with it in others."""
    for counts in product(values, repeat=keys):
        for places in product((-1, 0, 1), repeat=keys):
            if 0 < places.count(-1) <= groups >= places.count(1):
                yield (
                    tuple(c + (p == -1) for c, p in zip(counts, places, strict=True)),
                    tuple(c + (p == 1) for c, p in zip(counts, places, strict=True)),
                )


# --- the threshold -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "epsilon", "delta", "added", "replaced"), GOLDEN)
def test_thresholds_are_the_golden_ones(groups, epsilon, delta, added, replaced):
    assert key_selection(groups, epsilon, delta).threshold == added
    assert key_selection(groups, epsilon, delta, relation="replace-one").threshold == replaced


@pytest.mark.parametrize(("groups", "sigma", "delta", "tau"), GOLDEN_GAUSSIAN)
def test_gaussian_thresholds_are_the_golden_ones_whatever_the_relation(groups, sigma, delta, tau):
    assert gaussian_key_selection(groups, sigma, delta).threshold == tau
    assert gaussian_key_selection(groups, sigma, delta, relation="replace-one").threshold == tau


@pytest.mark.parametrize("scale", [F(1, 3), F(7, 2)])
@pytest.mark.parametrize("groups", [1, 2, 17, 1000])
@pytest.mark.parametrize("delta", ["0.5", "0.01", "1e-9", "1e-40"])
def test_threshold_is_that_of_its_slow_twin(scale, groups, delta):
    for mechanism in (key_selection(groups, groups / scale, delta), gaussian_key_selection(groups, scale, delta)):
        assert scale in (getattr(mechanism.noise, "scale", None), getattr(mechanism.noise, "sigma", None))
        assert mechanism.threshold == slow_threshold(groups, delta, mechanism.noise)


@pytest.mark.parametrize(("groups", "epsilon", "delta", "added", "replaced"), GOLDEN)
def test_threshold_is_within_a_step_of_the_continuous_one(groups, epsilon, delta, added, replaced):
    """τ = 1 − b·ln(2 − 2(1 − δ)^(1/g)) for continuous Laplace noise of scale b (Wilson et al. 2020)."""
    for tau, moved_groups in ((added, groups), (replaced, 2 * groups)):
        smooth = 1 - moved_groups / mpf(epsilon) * mpmath.log(2 - 2 * (1 - mpf(delta)) ** (mpf(1) / groups))
        assert abs(tau - smooth) < 1


def test_threshold_meets_delta_where_it_would_be_exact_but_for_a_hair():
    noise = DiscreteLaplace(F(1))
    with mp.workdps(60):
        chance = F(int(tail(noise, 9) * 10**50), 10**50)  # rounded down, so 9 is just not enough
    assert key_selection(1, 1, chance).threshold == 10
    assert key_selection(1, 1, chance + F(1, 10**50)).threshold == 9


def test_threshold_grows_with_groups_and_falls_with_delta_and_epsilon():
    def tau(groups=3, epsilon=1, delta="1e-6"):
        return key_selection(groups, epsilon, delta).threshold

    assert tau(1) < tau(2) < tau(50)
    assert tau(epsilon=2) < tau() < tau(epsilon="0.5")
    assert tau(delta="1e-3") < tau() < tau(delta="1e-300")


def test_gaussian_noise_wins_for_units_in_many_groups_only():
    """(1, 10⁻⁶)-DP in all, half of δ for the Gaussian's own."""
    sigma = calibrate.gaussian_sigma(1, "5e-7")
    chances = {}
    for groups in (1, 2, 4, 25, 100):
        normal = gaussian_key_selection(groups, sigma * F(groups**0.5), "5e-7")
        chances[groups] = normal.threshold < key_selection(groups, 1, "1e-6").threshold
    assert chances == {1: False, 2: False, 4: True, 25: True, 100: True}


def test_groups_may_be_a_numpy_integer():
    assert key_selection(np.int64(3), 1, "1e-3") == key_selection(3, 1, "1e-3")


def test_ends_of_the_parameters_have_a_threshold():
    assert key_selection(1, 10**6, "0.5").threshold == 1
    assert key_selection(1, "1e-9", "1e-400").threshold > 9 * 10**11
    assert gaussian_key_selection(1, "1e-300", "1e-7").threshold == 1
    assert 0 < key_selection(2**40, 1000, "1e-7").threshold < LARGEST


# --- the promise -------------------------------------------------------------------------------------------------


def test_costs_and_sensitivities_are_the_proven_ones():
    mechanism, moved = key_selection(4, "1/2", "1e-6"), key_selection(4, "1/2", "1e-6", relation="replace-one")
    delta = Approx(0, "1e-6")
    assert mechanism.cost == moved.cost == Together((Pure("1/2"), delta))
    assert (mechanism.sensitivity, moved.sensitivity) == (cells(4, 1), cells(8, 1, "replace-one"))
    assert (mechanism.noise.scale, moved.noise.scale) == (8, 16)
    normal, other = gaussian_key_selection(4, 6, "1e-6"), gaussian_key_selection(8, 8, "1e-6", relation="replace-one")
    assert normal.cost == Together((Gaussian(3), delta))
    assert other.cost == Together((Gaussian(2), delta))
    assert isinstance(normal.noise, RoundedGaussian)


@pytest.mark.parametrize(("groups", "epsilon", "delta"), [(1, "1", "0.01"), (2, "2", "0.05"), (3, "3", "0.01")])
def test_keys_are_private_for_all_units_more(groups, epsilon, delta):
    mechanism = key_selection(groups, epsilon, delta)
    counts = (0, 1, mechanism.threshold - 1, mechanism.threshold)
    pairs = list(one_more(groups, groups, counts))
    worst = max(needed_delta(release_law(s, mechanism), release_law(t, mechanism), epsilon) for s, t in pairs)
    assert worst <= number(F(delta)) + ROUND_OFF
    new = needed_delta(release_law((0,) * groups, mechanism), release_law((1,) * groups, mechanism), epsilon)
    with mp.workdps(60):
        assert abs(new - (1 - (1 - tail(mechanism.noise, mechanism.threshold)) ** groups)) < ROUND_OFF
    lower = replace(mechanism, threshold=mechanism.threshold - 1)  # one step less would not do
    short = needed_delta(release_law((0,) * groups, lower), release_law((1,) * groups, lower), epsilon)
    assert short > number(F(delta))


@pytest.mark.parametrize(("groups", "epsilon", "delta"), [(1, "1", "0.01"), (2, "4", "0.05")])
def test_keys_are_private_for_all_units_elsewhere(groups, epsilon, delta):
    mechanism = key_selection(groups, epsilon, delta, relation="replace-one")
    pairs = list(one_moved(2 * groups, groups, (0, mechanism.threshold)))
    worst = max(needed_delta(release_law(s, mechanism), release_law(t, mechanism), epsilon) for s, t in pairs)
    assert number(F(delta)) / 10 < worst <= number(F(delta)) + ROUND_OFF


def test_keys_left_and_entered_do_not_add_up():
    """The exponent is g under replace-one too: on either side only g keys of the unit can show."""
    mechanism = key_selection(2, 4, "0.05", relation="replace-one")
    here, there = (1, 1, 0, 0), (0, 0, 1, 1)
    with mp.workdps(60):
        p = tail(mechanism.noise, mechanism.threshold)
        delta = needed_delta(release_law(here, mechanism), release_law(there, mechanism), "1e-9")
        assert abs(delta - (1 - (1 - p) ** 2)) < 1e-8
        assert delta < 1 - (1 - p) ** 4 - mpf("0.01")


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_gaussian_keys_are_private_at_every_epsilon(relation):
    mechanism = gaussian_key_selection(2, 2, "0.01", relation=relation)
    moved, keys = (one_more, 2) if relation == "add-remove" else (one_moved, 4)
    pairs = list(moved(keys, 2, (0, mechanism.threshold)))
    laws = {counts: release_law(counts, mechanism) for counts in {side for pair in pairs for side in pair}}
    for epsilon in ("0.1", "1", "2"):
        worst = max(needed_delta(laws[s], laws[t], epsilon) for s, t in pairs)
        assert worst <= number(price.delta(mechanism.cost, epsilon).value)


def test_registered_pairs_differ_by_one_unit_in_so_many_keys():
    claims_of_keys = [c for c in claims() if isinstance(c.mechanism, KeySelection)]
    assert len(claims_of_keys) >= 8
    for claim in claims_of_keys:
        s = claim.mechanism.sensitivity
        for first, other in (*claim.pairs, *claim.world):
            moves = [b - a for a, b in zip(first, other, strict=True)]
            assert set(moves) <= {-1, 0, 1}
            assert sum(map(abs, moves)) <= s.l1
            if s.relation == "replace-one":
                assert max(moves.count(1), moves.count(-1)) <= s.l0 / 2
            else:
                assert len(set(moves) - {0}) == 1


# --- what runs ---------------------------------------------------------------------------------------------------


def test_a_key_must_pass_the_threshold_and_not_only_meet_it():
    mechanism = replace(key_selection(1, 1, "1e-3"), noise=Fixed(0, -1, 1, 6, 5))
    assert mechanism.threshold == 7
    assert mechanism([7, 9, 7, 2, 2], SYSTEM).tolist() == [False, True, True, True, False]


def test_keys_nobody_has_are_never_released():
    mechanism = replace(key_selection(1, 1, "1e-3"), noise=Fixed(*[10**9] * 4))
    assert mechanism(np.array([0, -1, -(2**63), 1]), SYSTEM).tolist() == [False, False, False, True]


def test_no_keys_give_no_keys():
    for empty in ([], (), np.zeros(0, dtype=np.int64)):
        keys = key_selection(1, 1, "1e-3")(empty, SYSTEM)
        assert (keys.dtype, keys.shape) == (np.dtype(bool), (0,))


def test_counts_of_any_size_do_not_wrap():
    mechanism = key_selection(1, 1, "1e-6")
    for counts in ([10**40, 1 - 10**40], np.array([2**64 - 1, 0], "u8"), np.array([2**63 - 1, -(2**63)])):
        assert mechanism(counts, SYSTEM).tolist() == [True, False]
    wild = replace(mechanism, noise=Fixed(2**63 - 1, -(2**63)))
    assert wild([2**63 - 1, 2**63 - 1], SYSTEM).tolist() == [True, False]


def test_singletons_are_released_no_more_often_than_delta():
    """N = 200,000 keys of one unit, δ = 10⁻³: at most the 1 − 10⁻⁶ quantile of the binomial law.

    Released at ≥ τ instead of > τ they would be 362 on average, and the quantile is passed.
    """
    n, mechanism = 200_000, key_selection(1, 1, "1e-3")
    allowed = int(binom.ppf(1 - ALARM, n, 1e-3))
    assert int(mechanism(np.ones(n, dtype=np.int64), SYSTEM).sum()) <= allowed
    met = float(tail(mechanism.noise, mechanism.threshold - 1))
    assert binom.cdf(allowed, n, met) < ALARM
    loose = replace(mechanism, threshold=mechanism.threshold - 1)
    assert int(loose(np.ones(n, dtype=np.int64), SYSTEM).sum()) > allowed


@pytest.mark.parametrize("mechanism", [key_selection(2, 2, "0.01"), gaussian_key_selection(2, 2, "0.01")])
@pytest.mark.parametrize("below", [0, 2, 4])
def test_draws_follow_the_law(mechanism, below):
    """N = 400,000 keys a count; noise a tenth wider must be refuted."""
    n, count = 400_000, mechanism.threshold - below
    wrong = (
        DiscreteLaplace(mechanism.noise.scale * F(11, 10))
        if isinstance(mechanism.noise, DiscreteLaplace)
        else RoundedGaussian(mechanism.noise.sigma * F(11, 10))
    )
    counts = Counter(mechanism(np.full(n, count), SYSTEM).tolist())
    laws = [{True: tail(law, below + 1), False: 1 - tail(law, below + 1)} for law in (mechanism.noise, wrong)]
    assert_drawn_from(counts, *laws)


def test_keys_are_decided_independently():
    """N = 100,000 pairs of keys at the threshold: all four patterns as products."""
    mechanism = key_selection(1, 1, "0.01")
    said = mechanism(np.full(200_000, mechanism.threshold), SYSTEM).reshape(-1, 2)
    up = tail(mechanism.noise, 1)
    law, wrong = (
        {(a, b): (p if a else 1 - p) * (p if b else 1 - p) for a, b in product((False, True), repeat=2)}
        for p in (up, up * mpf("1.1"))
    )
    assert_drawn_from(Counter(map(tuple, said.tolist())), law, wrong)


# --- what is lost ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism", [key_selection(1, 1, "1e-6"), key_selection(3, "0.5", "1e-6"), gaussian_key_selection(4, 10, "1e-6")]
)
@pytest.mark.parametrize("level", ["1e-12", "1e-3", "0.5", "0.95", "0.999999"])
def test_least_count_is_the_least_count_that_is_enough(mechanism, level):
    with mp.workdps(60):
        count = 1
        while tail(mechanism.noise, mechanism.threshold + 1 - count) < mpf(level):
            count += 1
    assert mechanism.least_count(F(level)) == count


def test_least_count_has_no_trouble_with_levels_near_one():
    mechanism = key_selection(1, 1, "1e-6")
    assert mechanism.least_count(1 - F(1, 10**100)) == mechanism.threshold + 230
    assert mechanism.least_count(F(1, 10**100)) == 1
    rare = key_selection(1, 1, "1e-300")
    count = rare.least_count(F(1, 10**200))
    assert tail(rare.noise, rare.threshold + 1 - count) >= mpf("1e-200") > tail(rare.noise, rare.threshold + 2 - count)


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made_by", [key_selection, gaussian_key_selection])
def test_bad_parameters_are_refused(made_by):
    for groups in (0, -1, 1.0, True, None, "2", 2**41):
        with pytest.raises(BadValue, match="groups must be a whole number"):
            made_by(groups, 1, "1e-6")
    for delta in (0, "0.0"):
        with pytest.raises(BadValue, match="delta must be above 0"):
            made_by(1, 1, delta)
    for delta in (-1, "0.51", 1, None, True, float("nan"), "much"):
        with pytest.raises(BadValue, match="delta must be a decimal number"):
            made_by(1, 1, delta)
    with pytest.raises(BadValue, match="relation must be"):
        made_by(1, 1, "1e-6", relation="swap")
    for amount in (0, -1, None, float("nan")):
        with pytest.raises(BadValue, match="must be a"):
            made_by(1, amount, "1e-6")


@pytest.mark.parametrize("given", [5, [[1, 2]], [1.0], [True], "12", None, np.ones((2, 2), int), np.array([1.5])])
def test_counts_are_a_flat_list_of_whole_numbers(given):
    with pytest.raises(BadValue, match="counts must") as refused:
        key_selection(1, 1, "1e-6")(given, Refusing())
    assert "1.5" not in str(refused.value)


@pytest.mark.parametrize("level", [F(0), F(1), F(-1), F(2)], ids=str)
def test_bad_level_is_refused(level):
    with pytest.raises(BadValue, match="level must be"):
        key_selection(1, 1, "1e-6").least_count(level)


# --- choices beside keys: monotone top k, and many groups at the price of one ------------------------------------


def top_law(values, rate, k):
    """Ordered lists by peeling."""
    law = {(): mpf(1)}
    for _ in range(k):
        law = {
            (*chosen, left[choice]): chance * p
            for chosen, chance in law.items()
            for left in [[i for i in range(len(values)) if i not in chosen]]
            for choice, p in exponential_law([values[i] for i in left], rate).items()
        }
    return law


@pytest.mark.parametrize("k", [1, 2, 3])
def test_monotone_top_k_is_private_for_scores_that_move_one_way(k):
    mechanism = monotone_top_k(scalar(1), 1, k)
    assert mechanism.cost == Repeated(Exponential(F(1, k)), k)
    assert mechanism.choice.rate == 2 * top_k(scalar(1), 1, k).choice.rate == F(1, k)
    pairs = one_more(4, 4, (0, 2))
    losses = [
        largest_loss(top_law(s, mechanism.choice.rate, k), top_law(t, mechanism.choice.rate, k)) for s, t in pairs
    ]
    assert mpf(1) / 3 < max(losses) <= 1 + ROUND_OFF


def test_monotone_top_k_is_refused_under_replace_one_where_it_would_cost_more():
    both_ways = [top_law(side, F(1, 2), 2) for side in ((1, 1, 0, 0), (0, 0, 1, 1))]
    assert largest_loss(*both_ways) > mpf("1.16")  # at ε = 1
    with pytest.raises(BadValue, match="must be add-remove"):
        monotone_top_k(scalar(1, "replace-one"), 1, 2)


def joint_range(parts):
    """max − min of the loss of independent choices, each a pair of laws."""
    widest = mpf(0)
    for p, q in parts:
        losses = [mpmath.log(p[i] / q[i]) for i in p]
        widest += max(losses) - min(losses)
    return widest


def test_quantiles_of_all_groups_together_have_the_range_of_one():
    """Three groups on a grid of three points; a unit of three rows, shared out in every way."""
    mechanism = quantile(rows(3), 1, q="0.9")
    tables = [(0, 0, 0), (2, 1, 0), (0, 4, 1)]
    spots = list(product(range(3), repeat=2))  # group and grid point
    widest = mpf(0)
    for places in product(spots, repeat=3):
        after = [[c + places.count((g, t)) for t, c in enumerate(counts)] for g, counts in enumerate(tables)]
        laws = [
            tuple(exponential_law(scores(list(x), mechanism.q).tolist(), mechanism.choice.rate) for x in pair)
            for pair in zip(tables, after, strict=True)
        ]
        widest = max(widest, joint_range(laws))
    assert mpf("0.5") < widest <= 1 + ROUND_OFF


def test_counts_of_all_groups_together_have_the_range_of_one():
    """The monotone rate ε/m in both of two groups; a unit of three rows, shared out in every way."""
    mechanism = monotone_exponential(rows(3), 1)
    tables, spots = [(0, 2), (1, 0)], list(product(range(2), repeat=2))
    ranges = []
    for places in product(spots, repeat=3):
        after = [[c + places.count((g, t)) for t, c in enumerate(counts)] for g, counts in enumerate(tables)]
        pairs = zip(tables, after, strict=True)
        ranges.append(joint_range([tuple(exponential_law(x, mechanism.rate) for x in pair) for pair in pairs]))
    assert abs(max(ranges) - 1) < ROUND_OFF
