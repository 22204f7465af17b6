"""Shares, differences and ratios: honest at the level they state, exact where no noise is left.

Every simulation has N = 3,000 noisy rows unless it says otherwise, and fails below the count that happens with
probability 1e-7.
"""

from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from answer.cells import DRAWS, LEVEL, covered, fewest
from discreet.answer import Answer, Estimates, column
from discreet.answer.spread import sum_radius
from discreet.errors import BadValue
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM

LAWS = {"laplace": DiscreteLaplace(F(10)), "gaussian": RoundedGaussian(F(9))}
COST = {"epsilon": "1", "delta": "0", "neighbours": "add-remove", "unit": "person_id"}


@cache
def radius(law):
    return law.radius(LEVEL)


def given_column(name, values, kind, *, step=F(1), part=None, signed=False):
    """Noisy whole numbers of steps as a column, its ends those of `estimated`."""
    law = LAWS[kind]
    scale, r = (law.scale if kind == "laplace" else law.sigma), radius(law)
    ends = ([(int(v) + d) * step for v in values] for d in (0, -r, r))
    return column(
        name, Estimates(*ends), mechanism=kind, scale=scale, step=step, kind=kind, part=part or name, signed=signed
    )


def noisy_column(name, exact, kind, **more):
    return given_column(name, np.asarray(exact) + LAWS[kind].draw(len(exact), SYSTEM), kind, **more)


def answer(*columns):
    labels = tuple((i,) for i in range(len(columns[0].value)))
    return Answer("people", "[]", ("k",), labels, columns, LEVEL, COST)


def interval(values):
    """Columns without a law: only their own interval is known."""
    return Estimates(list(values), [v - 1.0 for v in values], [v + 2.0 for v in values])


def held(derived, truth):
    whole = [(d.low if d.low is not None else -np.inf, d.high if d.high is not None else np.inf) for d in derived]
    return covered(Estimates([], [a for a, _ in whole], [b for _, b in whole]), truth)


# --- honesty -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LAWS)
def test_difference_of_rows_holds_and_is_shorter_than_both_intervals_together(kind):
    differences = []
    for _ in range(DRAWS // 100):
        some = answer(noisy_column("n", [500, 320] * 100, kind))
        differences += [some.difference("n", 2 * i, 2 * i + 1) for i in range(100)]
    assert held(differences, 180) >= fewest()
    assert {d.level for d in differences} == {LEVEL}
    half = (differences[0].high - differences[0].low) / 2
    assert radius(LAWS[kind]) < half < 1.5 * radius(LAWS[kind])


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("step", [F(1), F(1, 4)])
def test_difference_of_columns_holds(kind, step):
    x, y = noisy_column("x", [900] * DRAWS, kind), noisy_column("y", [400] * DRAWS, kind, step=step)
    differences = answer(x, y).column_difference("x", "y")
    assert held(differences, float(900 - 400 * step)) >= fewest()


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize(("a", "b"), [(900, 400), (0, 400), (30, 25), (5, 0), (10**6, 10**5)])
def test_ratio_holds_whatever_the_sizes(kind, a, b):
    x, y = noisy_column("x", [a] * DRAWS, kind), noisy_column("y", [b] * DRAWS, kind, step=F(1, 2))
    ratios = answer(x, y).ratio("x", "y")
    if b:
        assert held(ratios, 2 * a / b) >= fewest()
    else:  # no ratio at all: nearly always said to have no bounds
        assert sum(d.low is None for d in ratios) >= fewest()


@pytest.mark.parametrize("kind", LAWS)
def test_ratio_of_a_sum_below_zero_holds(kind):
    x = noisy_column("x", [300] * DRAWS, kind)
    y = noisy_column("y", [-700] * DRAWS, kind, signed=True)
    ratios = answer(x, y).ratio("x", "y")
    assert held(ratios, -3 / 7) >= fewest()
    assert all(d.low <= d.value <= d.high for d in ratios)


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("sizes", [(0, 1, 20), (1000, 3000), (40,) * 30])
def test_share_holds_for_every_row(kind, sizes):
    """N = 3,000 answers, 500 where each has 30 rows."""
    times = DRAWS if len(sizes) < 30 else 500
    drawn = LAWS[kind].draw(times * len(sizes), SYSTEM).reshape(-1, len(sizes))
    shares_drawn = [answer(given_column("n", sizes + noise, kind)).share("n") for noise in drawn]
    total = sum(sizes)
    for i, size in enumerate(sizes):
        mine = [shares[i] for shares in shares_drawn]
        assert held(mine, size / total) >= fewest(len(mine))
        assert all(0 <= d.low <= d.value <= d.high <= 1 for d in mine)


# --- what is known exactly -----------------------------------------------------------------------------------------


def test_the_same_draw_taken_from_itself_leaves_nothing():
    x = noisy_column("x", [900] * 3, "laplace", part="rows")
    twin = column("y", Estimates(list(x.value), list(x.low), list(x.high)), mechanism="", scale=x.scale, step=F(1),
                  kind="laplace", part="rows")  # fmt: skip
    assert {(d.value, d.low, d.high) for d in answer(x, twin).column_difference("x", "y")} == {(0, 0, 0)}
    zero = answer(x).difference("x", 1, 1)
    assert (zero.value, zero.low, zero.high) == (0, 0, 0)


def test_draws_that_may_be_the_same_are_trusted_one_by_one():
    x, y = (noisy_column(name, [900], "laplace") for name in "xy")
    unknown = [column(c.name, Estimates(list(c.value), list(c.low), list(c.high)), mechanism="", scale=c.scale,
                      step=F(1), kind="laplace") for c in (x, y)]  # fmt: skip
    [known] = answer(x, y).column_difference("x", "y")
    [careful] = answer(*unknown).column_difference("x", "y")
    assert careful.high - careful.low == 4 * LAWS["laplace"].radius(F(975, 1000)) > known.high - known.low


def test_columns_of_several_noises_give_a_lower_level_and_say_so():
    means = column("m", interval([5.0, 9.0]), mechanism="")
    other = column("o", interval([2.0, 0.5]), mechanism="")
    both = answer(means, other)
    apart = both.difference("m", 0, 1)
    assert (apart.value, apart.low, apart.high, apart.level) == (-4, -7, -1, F(9, 10))
    first, second = both.ratio("m", "o")
    assert (first.value, first.low, first.high, first.level) == (2.5, 1, 7, F(9, 10))
    assert (second.value, second.low, second.high) == (18, None, None)
    assert str(first) == "m / o: 2.5 (1 to 7, with probability 90 %)"
    assert "no bound to no bound" in str(second)
    assert both.column_difference("m", "o")[0].row == {"k": 0}


def test_shares_need_amounts_that_are_never_negative():
    mean = column("m", interval([5.0]), mechanism="")
    signed = noisy_column("s", [5], "laplace", signed=True)
    for name in "ms":
        with pytest.raises(BadValue, match="to have shares"):
            answer(mean, signed).share(name)
    chosen = column("q", Estimates([4], [None], [None], ranks=2.0), mechanism="")
    with pytest.raises(BadValue, match="must be a column with an interval"):
        answer(chosen).ratio("q", "q")


def test_large_numbers_are_written_out():
    difference = answer(given_column("n", [3_000_000, 1_000_000], "laplace")).difference("n", 0, 1)
    r = sum_radius(LAWS["laplace"], 2, LEVEL)
    assert (
        str(difference) == f"difference of n: 2,000,000 ({2_000_000 - r:,} to {2_000_000 + r:,}, with probability 95 %)"
    )
