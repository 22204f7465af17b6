"""Quantiles on a grid: scores counted value by value, the sensitivity by brute force, and the law for neighbours."""

from collections import Counter
from fractions import Fraction as F
from itertools import product
from operator import eq, gt, lt

import mpmath
import numpy as np
import pytest

from discreet.bounded import cells, rows, scalar
from discreet.errors import BadValue
from discreet.mechanism.quantile import quantile, scores
from discreet.mechanism.quantile import runs as grid_runs
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Exponential
from mechanism.exact_laws import assert_drawn_from, exponential_law, keeps, largest_loss, number
from replay import Refusing

QS = [F(0), F(1, 4), F(1, 3), F(1, 2), F(9, 10), F(1)]
TABLES = list(product(range(3), repeat=3))  # counts at three grid points


def counted(counts, q):
    """The scores from a list of values, one comparison at a time."""
    values = [t for t, many in enumerate(counts) for _ in range(many)]
    a, b = q.numerator, q.denominator
    scored = []
    for t in range(len(counts)):
        below, tied, above = (sum(way(x, t) for x in values) for way in (lt, eq, gt))
        scored.append(-max(0, (b - a) * below - a * (tied + above), a * above - (b - a) * (below + tied)))
    return scored


def neighbours(under):
    """All pairs of tables one row apart."""
    for s, t in product(TABLES, repeat=2):
        moved = [abs(x - y) for x, y in zip(s, t, strict=True)]
        if sum(moved) == 1 and under == "add-remove":
            yield s, t
        if sorted(moved) == [0, 1, 1] and sum(s) == sum(t) and under == "replace-one":
            yield s, t


def made(q, under, epsilon=1):
    return quantile(rows(1) if under == "add-remove" else cells(2, 1, under), epsilon, q=q)


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", QS, ids=str)
def test_scores_are_those_counted_one_by_one(q):
    for counts in TABLES:
        assert scores(counts, q).tolist() == counted(counts, q)


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
@pytest.mark.parametrize("q", QS, ids=str)
def test_no_neighbour_moves_a_score_by_more_than_the_stated_step(q, under):
    moved = max(
        max(abs(x - y) for x, y in zip(counted(s, q), counted(t, q), strict=True)) for s, t in neighbours(under)
    )
    stated = made(q, under).choice.sensitivity.linf
    assert moved <= stated
    assert moved == (stated if under == "add-remove" else q.denominator)  # by replacement exact at the median


@pytest.mark.parametrize("under", ["add-remove", "replace-one"])
@pytest.mark.parametrize("q", QS, ids=str)
def test_answer_is_epsilon_private_for_all_neighbours(q, under):
    mechanism = made(q, under)
    laws = {counts: exponential_law(scores(counts, q).tolist(), mechanism.choice.rate) for counts in TABLES}
    pairs = list(neighbours(under))
    assert len(pairs) > 50
    assert all(keeps(laws[s], laws[t], 1) for s, t in pairs)
    assert max(largest_loss(laws[s], laws[t]) for s, t in pairs) > 0.15
    assert mechanism.cost == Exponential(1)


def test_a_unit_of_five_rows_costs_five_times_the_step():
    assert quantile(rows(5), 1, q="0.9").choice.rate == F(1, 2 * 5 * 9)
    assert quantile(rows(5), 1, q="0.9").choice.sensitivity.linf == 45


def test_relation_is_carried_along():
    assert made(F(1, 2), "replace-one").choice.sensitivity.relation == "replace-one"


@pytest.mark.parametrize("q", [*QS, F(1, 10), F(2, 3)], ids=str)
def test_the_score_is_zero_at_the_quantiles_and_only_there(q):
    """t is a q-quantile where at most q·n values lie below and at most (1 − q)·n above; some point always is one."""
    for counts in TABLES:
        n = sum(counts)
        best = [sum(counts[:t]) <= q * n and sum(counts[t + 1 :]) <= (1 - q) * n for t in range(3)]
        assert (scores(counts, q) == 0).tolist() == best
        assert any(best)


def test_a_heap_that_holds_the_quantile_is_answered():
    """Beside a heap an empty point must not win: 400 of 1,000 ratings are the highest, and so is the 0.9-quantile."""
    counts = [0, 50, 50, 100, 0, 150, 100, 150, 0, 0, 400]
    assert {quantile(rows(1), 1, q="0.9")(counts, SYSTEM) for _ in range(20)} == {10}  # missed with chance below 1e-6
    assert scores(counts, F(9, 10)).tolist()[-3:] == [-3000, -3000, 0]


# --- what runs ---------------------------------------------------------------------------------------------------


def test_draws_follow_the_law():
    """N = 60,000."""
    counts, mechanism = [2, 0, 5, 1, 0, 9, 3], quantile(rows(1), "1/2", q="0.25")
    frequencies = Counter(mechanism.many(counts, 60_000, SYSTEM).tolist())
    exact = counted(counts, F(1, 4))
    assert_drawn_from(frequencies, *(exponential_law(exact, mechanism.choice.rate * off) for off in (1, F(11, 10))))


def test_no_values_at_all_give_the_uniform_law():
    """N = 20,000; the wrong law leans by 10 % to the first half of the grid."""
    mechanism = quantile(rows(1), 1, q="0.5")
    assert set(scores([0] * 8, F(1, 2)).tolist()) == {0}
    counts = Counter("low" if y < 4 else "high" for y in mechanism.many([0] * 8, 20_000, SYSTEM).tolist())
    assert_drawn_from(counts, {"low": F(1, 2), "high": F(1, 2)}, {"low": F(11, 20), "high": F(9, 20)})


@pytest.mark.parametrize("n", [10, 100, 1490, 1491, 1492, 1493, 5000, 10**12])
def test_any_number_of_equal_rows_is_answered(n):
    counts = [0] * 50 + [n] + [0] * 50
    assert quantile(rows(1), 1, q="0.5")(counts, SYSTEM) in range(101)
    if n > 1000:
        assert quantile(rows(1), 1, q="0.5")(counts, SYSTEM) == 50


def test_counts_beyond_the_public_limit_saturate_and_never_wrap():
    for q in QS:
        huge = scores([10**30, 0, 2**63 - 1, -(10**30)], q)
        assert huge.min() >= -(2**62)
        assert huge.max() <= 0
    assert quantile(rows(1), 1, q="0.5")([0, 10**30, 0], SYSTEM) == 1


def test_counts_below_zero_count_as_zero():
    assert scores([-5, 2, -1], F(1, 2)).tolist() == scores([0, 2, 0], F(1, 2)).tolist()


def test_saturation_moves_no_table_further_apart():
    top = 2**62 // (2 * 3)
    tables = [[top - 1, 0, 0], [top, 0, 0], [top + 1, 0, 0], [-1, 0, 0], [0, 0, 0]]
    for s, t in zip(tables, tables[1:3] + tables[:1] + tables[4:], strict=False):
        if abs(s[0] - t[0]) == 1:
            assert np.abs(scores(s, F(1, 2)) - scores(t, F(1, 2))).max() <= 1


def test_extreme_quantiles_find_the_ends():
    counts = [0, 0, 50, 70, 90, 0, 0]
    assert quantile(rows(1), 20, q=0)(counts, SYSTEM) in (0, 1, 2)
    assert quantile(rows(1), 20, q=1)(counts, SYSTEM) in (4, 5, 6)


@pytest.mark.parametrize("q", [F(1, 4), F(1, 2), F(9, 10)], ids=str)
@pytest.mark.parametrize("missed", ["0.3", "0.01"])
def test_rank_error_holds(q, missed):
    mechanism = quantile(rows(1), 1, q=q)
    counts = [3, 0, 8, 20, 5, 1, 0, 30, 2]
    error = [-F(s, q.denominator) for s in counted(counts, q)]
    law = exponential_law(counted(counts, q), mechanism.choice.rate)
    stated = mechanism.rank_error(len(counts), missed)
    assert sum(p for t, p in law.items() if error[t] - min(error) >= stated) <= mpmath.mpf(missed)
    assert stated == pytest.approx(float(2 * max(q, 1 - q) * number(F(1)) * mpmath.log(9 / mpmath.mpf(missed))))


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [-1, "1.1", float("nan"), None, True, "9" * 5000, "0.12345", [0.5]])
def test_bad_q_is_refused(q):
    with pytest.raises(BadValue, match="q must be"):
        quantile(rows(1), 1, q=q)


def test_refusal_draws_nothing():
    with pytest.raises(BadValue):
        quantile(scalar(1), 1, q="0.5")([1.0, 2.0], Refusing())


# --- runs of equal scores ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [F(0), F(1, 2), F(9, 10), F(1), F(1, 10_000)])
@pytest.mark.parametrize("held", [[], [0], [6], [0, 6], [2, 3], [0, 1, 2, 3, 4, 5, 6], [1, 5]])
@pytest.mark.parametrize("count", [-3, 0, 1, 40, 2**61])
def test_runs_have_the_score_of_every_grid_point(q, held, count):
    """Grids of seven points, counts below 0 and beyond what is held included: point by point the slow scores."""
    counts = np.zeros(7, dtype=np.int64)
    counts[held] = [count + (i if count < 2**61 else 0) for i in range(len(held))]
    runs = grid_runs(np.array(held, dtype=np.int64), counts[held], 7, q)
    assert np.array_equal(np.repeat(runs.scores, runs.lengths), scores(counts, q))
    assert np.array_equal(runs.starts, np.cumsum(runs.lengths) - runs.lengths)
    assert runs.lengths.min() >= 1


def test_held_points_give_the_law_of_the_whole_grid():
    """N = 20,000 draws of each form, on runs of 18, 1, 2, 1 and 18 points."""
    mechanism = quantile(rows(1), 2, q="0.5")
    counts = np.zeros(40, dtype=np.int64)
    counts[[18, 21]] = 3, 2
    weights = np.exp(float(mechanism.choice.rate) * scores(counts, mechanism.q))
    law = dict(enumerate((weights / weights.sum()).tolist()))
    wrong = dict(enumerate((weights**1.1 / (weights**1.1).sum()).tolist()))
    whole = Counter(mechanism.many(counts, 20_000, SYSTEM).tolist())
    assert_drawn_from(whole, law, wrong)
    held = Counter(mechanism.choose_from(np.array([18, 21]), np.array([3, 2]), 40, SYSTEM) for _ in range(20_000))
    assert_drawn_from(held, law, wrong)


def test_grid_larger_than_can_be_chosen_from_is_refused():
    with pytest.raises(BadValue, match="grid"):
        grid_runs(np.array([1]), np.array([1]), 2**21 + 1, F(1, 2))
