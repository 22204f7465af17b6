"""The lectures' worked sensitivities and scales, read off `explain`: the plan itself, not a formula beside it."""

from fractions import Fraction

import pytest

from discreet.query import explain
from discreet.query.bound import draft_of
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms


def explained(schema, sql, epsilon=1):
    return explain.to_json(plan_of(draft_of(parse_sql(sql).question, schema), Terms.parse(epsilon)))


def people(*columns, **facts):
    return Schema("people", list(columns), **facts)


EYES = Column("eyes", "category", values=("blue", "brown", "green"))


def test_a_count_has_sensitivity_one_and_blue_eyes_at_a_tenth_get_scale_ten():
    """Lecture 1: how many people have blue eyes, ε = 0.1: Laplace scale 10, whatever the population."""
    explanation = explained(people(EYES), "SELECT COUNT(*) AS n FROM people WHERE eyes = 'blue'", "0.1")
    assert explanation["columns"][0]["sensitivity"] == "1"
    assert explanation["parts"][0]["scale"] == "10"
    assert explanation["parts"][0]["mechanism"] == "Laplace"


@pytest.mark.parametrize(("low", "high", "sensitivity"), [(0, 7, 7), (-3, 2, 3), (-5, 9, 9), (2, 4, 4), (-8, -1, 8)])
def test_a_sum_has_the_larger_end_of_its_bounds(low, high, sensitivity):
    """Δ of a sum over [a, b] under add-remove is max(|a|, |b|)."""
    explanation = explained(people(Column("x", "number", bounds=(low, high))), "SELECT SUM(x) AS s FROM people")
    assert explanation["columns"][0]["sensitivity"] == str(sensitivity)


def test_heights_up_to_seven_feet_have_sensitivity_seven():
    """Lecture 2: heights ≤ 7 ft, Δ = 7."""
    heights = people(Column("height", "number", bounds=(0, 7)))
    assert explained(heights, "SELECT SUM(height) AS s FROM people")["parts"][0]["sensitivity"]["l1"] == "7"


def test_salaries_of_groups_of_four_have_sensitivity_two_hundred_thousand():
    """Lecture 2: salaries ≤ £50K, groups of 4 present or absent: Δ = £200K."""
    homes = people(Column("salary", "number", bounds=(0, 50_000)), unit=Unit("household", 4))
    explanation = explained(homes, "SELECT SUM(salary) AS s FROM people")
    assert explanation["parts"][0]["sensitivity"]["l1"] == "200000"
    assert explanation["parts"][0]["scale"] == "200000"


@pytest.mark.parametrize("n", [10, 1000, 250_000])
def test_a_mean_by_replacement_moves_by_one_nth(n):
    """Lecture 2: mean of n values in [0, 1], one of them replaced: Δ = 1/n."""
    shares = people(Column("x", "number", bounds=(0, 1)), relation="replace-one", population=n)
    explanation = explained(shares, "SELECT AVG(x) AS m FROM people")
    assert Fraction(explanation["columns"][0]["sensitivity"]) == Fraction(1, n)


@pytest.mark.parametrize("tables", [2, 3, 7])
def test_joint_tables_get_noise_of_scale_their_number_over_epsilon(tables):
    """Lecture 1: D joint tables at ε in all: Laplace scale D/ε for each."""
    columns = [Column(f"c{i}", "boolean") for i in range(tables)]
    asked = ", ".join(f"COUNT(c{i}) AS n{i}" for i in range(tables))
    explanation = explained(people(*columns), f"SELECT {asked} FROM people", "0.5")
    assert [part["scale"] for part in explanation["parts"]] == [str(2 * tables)] * tables
    assert [part["epsilon"] for part in explanation["parts"]] == [part["epsilon"] for part in explanation["parts"]][
        :1
    ] * tables
