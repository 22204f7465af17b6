"""Draws of a whole question: copies side by side follow the law of single calls, and the verdict can fall both ways."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from audit.answers import Pair, audited_answer, charged_tests, outputs, pull, same
from audit.copies import narrowed, one_by_one, side_by_side
from discreet.audit.bounds import Odds
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Buckets, Exacts
from discreet.query.joint import Joint
from discreet.query.parts import Present, Ranks, Rows, Tops
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms

SCHEMA = Schema(
    "people",
    [
        Column("kind", "category", values=("a", "b", "c")),
        Column("age", "integer", bounds=(0, 3)),
        Column("town", "text"),
    ],
    Unit("person", 2),
)


def planned(sql, delta="0"):
    return plan_of(draft_of(parse_sql(sql).question, SCHEMA), Terms.parse(1, delta))


KINDS = planned("SELECT kind, COUNT(*) AS n FROM people GROUP BY kind")
TOWNS = planned("SELECT town, COUNT(*) AS n FROM people GROUP BY town", "0.4")
MEDIANS = planned("SELECT kind, MEDIAN(age) AS m FROM people GROUP BY kind")
TOP = planned("SELECT TOP_K(kind, 2) AS t FROM people")


def counts(*numbers):
    return Exacts((("a",), ("b",), ("c",)), {Rows(): np.array(numbers)})


def towns(**units):
    rows = np.array(list(units.values()))
    return Exacts(tuple((name,) for name in units), {Present(): rows, Rows(): 2 * rows})


def buckets(part, *rows):
    cell, bucket, count = np.array(rows).T
    keys = (("a",), ("b",), ("c",)) if isinstance(part, Ranks) else ((),)
    return Exacts(keys, {part: Buckets(cell, bucket, count)})


(RANKS,) = [measured.part for measured in MEDIANS.measured]
(TOPS,) = [measured.part for measured in TOP.measured]
CASES = [
    (KINDS, counts(5, 0, 9)),
    (TOWNS, towns(rome=3, oslo=9, bonn=40)),
    (MEDIANS, buckets(RANKS, (0, 1, 4), (0, 3, 9), (2, 0, 7))),
    (TOP, buckets(TOPS, (0, 0, 5), (0, 2, 3))),
]


@pytest.mark.parametrize(("plan", "exact"), CASES, ids=["counts", "keys", "medians", "top"])
def test_copies_side_by_side_have_the_law_of_single_calls(plan, exact):
    """N = 2,000 by each way: means of all columns within 7 standard errors; false alarms below 10⁻⁹."""
    many, single = (draw(plan, exact, 2_000, SYSTEM) for draw in (side_by_side, one_by_one))
    assert many.keys == single.keys == exact.keys
    for part in [None, *many.parts]:
        first, other = ((released.shown if part is None else released.parts[part]) * 1.0 for released in (many, single))
        spread = np.sqrt((first.var(axis=0) + other.var(axis=0)) / 2_000)
        assert (np.abs(first.mean(axis=0) - other.mean(axis=0)) <= 7 * spread + 1e-12).all()
        assert np.allclose(first[:-1].std(axis=0) > 0, other.std(axis=0) > 0)


def test_copies_differ_from_each_other_and_from_call_to_call():
    first, other = (side_by_side(KINDS, counts(5, 0, 9), 200, SYSTEM).parts[Rows()] for _ in range(2))
    assert len({tuple(row) for row in first.tolist()}) > 100
    assert not np.array_equal(first, other)


def test_what_is_not_shown_is_zero_and_kept_apart_from_what_is():
    released = side_by_side(TOWNS, towns(tiny=1, large=1_000), 500, SYSTEM)
    assert released.shown[:, 1].all()
    assert not released.parts[Rows()][~released.shown].any()
    assert (released.parts[Rows()][:, 1] > 1_500).all()


def test_narrowed_keeps_the_numbers_of_the_groups_it_keeps():
    exact = buckets(RANKS, (0, 1, 4), (1, 3, 9), (2, 0, 7))
    few = narrowed(exact, [("c",), ("a",), ("elsewhere",)])
    assert few.keys == (("a",), ("c",))
    assert few.parts[RANKS].of(0, 4).tolist() == [0, 4, 0, 0]
    assert few.parts[RANKS].of(1, 4).tolist() == [7, 0, 0, 0]


def test_same_tells_numbers_groups_and_buckets_apart():
    assert same(counts(1, 2, 3), counts(1, 2, 3))
    assert not same(counts(1, 2, 3), counts(1, 2, 4))
    assert not same(towns(a=1), towns(b=1))
    assert not same(buckets(RANKS, (0, 1, 4)), buckets(RANKS, (0, 1, 5)))


def test_pull_is_the_loss_of_a_count_and_weighs_keys_by_their_chance():
    assert pull(Pair(KINDS, counts(5, 0, 9), counts(3, 0, 9))) == pytest.approx(1)  # two rows of scale 2
    assert pull(Pair(KINDS, counts(5, 0, 9), counts(5, 0, 9))) == 0
    seen, unseen = (Pair(TOWNS, towns(x=n), towns(x=n - 1)) for n in (50, 2))
    assert pull(seen) > 3 * pull(unseen) > 0


def test_tilt_of_one_laplace_count_is_the_log_of_its_odds():
    pair = Pair(KINDS, counts(5, 0, 9), counts(3, 0, 9))
    draws = side_by_side(KINDS, pair.first, 300, SYSTEM)
    tilt, number = outputs(pair, draws)[:, :2].T
    assert np.array_equal(number, draws.parts[Rows()][:, 0] - 5)
    assert tilt == pytest.approx((np.abs(number + 2) - np.abs(number)) / 2)


@pytest.mark.parametrize(
    "pair",
    [
        Pair(KINDS, counts(5, 0, 9), counts(3, 0, 9)),
        Pair(TOWNS, towns(x=9, y=4), towns(x=8, y=3)),
        Pair(MEDIANS, buckets(RANKS, (0, 0, 4), (1, 0, 1)), buckets(RANKS, (0, 0, 4), (0, 3, 2), (1, 0, 1))),
        Pair(TOP, buckets(TOPS, (0, 0, 5), (0, 2, 3)), buckets(TOPS, (0, 0, 3), (0, 2, 3))),
    ],
    ids=["counts", "keys", "medians", "top"],
)
def test_sound_plan_is_not_refuted(pair):
    """N = 4,000; false alarms below 10⁻⁶ each."""
    assert not audited_answer("sound", pair, runs=4_000).is_refuted


def test_plan_with_a_quarter_of_its_noise_is_refuted():
    """True ε = 4 against 1: {y ≥ 5} has the chances 0.73 and 0.01, so 4,000 draws cannot miss it."""
    (measured,) = KINDS.measured
    thin = replace(measured, mechanism=replace(measured.mechanism, noise=DiscreteLaplace(Fraction(1, 2))))
    pair = Pair(replace(KINDS, joint=Joint((thin,))), counts(5, 0, 9), counts(3, 0, 9))
    row = audited_answer("thin", pair, runs=4_000)
    assert row.is_refuted
    assert 1 < row.lower_bound < 4


def test_gaussian_plan_is_also_held_against_its_epsilon_at_a_hundredth():
    names = ", ".join(f"COUNT(CASE WHEN age > {i} THEN 1 END) AS n{i}" for i in range(3))
    plan = planned(f"SELECT kind, {names} FROM people GROUP BY kind", "1e-2")
    gaussian = plan_of(plan.draft, Terms.parse(1, Fraction(9, 1000)))
    assert charged_tests(KINDS) == (Odds(Fraction(1)),)
    assert [test.delta for test in charged_tests(gaussian)] == [gaussian.terms.delta, Fraction(1, 100)]
    assert isinstance(TOPS, Tops)
