"""Worlds: the figures of the literature, three ways of counting that agree, and what is refused."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from statistics import median

import pytest

import discreet as dp
from discreet.attack.catalog import attack_named
from discreet.attack.consistent import left
from discreet.attack.consistent.ages import AGES
from discreet.attack.consistent.block import BLOCK, NO_MARRIED_CHILD
from discreet.attack.consistent.counting import counted_worlds
from discreet.attack.consistent.examples import noisy_tables
from discreet.attack.consistent.fitting import estimated_worlds, fits
from discreet.attack.consistent.published import published_table, universe
from discreet.attack.consistent.solver import enumerated_worlds
from discreet.errors import BadValue
from discreet.noise.public import generator

SMALL = {"count": 4, "columns": {"age": range(9), "sex": ("f", "m")}}
F, M = {"sex": "f"}, {"sex": "m"}
CASES = [
    [{"count": 4}],
    [{"where": F, "count": 2, "median": "3.5"}],
    [{"where": F, "count": 2, "median": (3, 4), "mean": "3.5"}, {"sum": (10, 20)}],
    [{"where": M, "count": (1, 3), "mean": "4.3"}, {"median": 4}],
    [{"where": M, "mean": "4.3"}, {"where": F, "sum": 5, "median": 2, "ranks": 1}],
    [{"where": {"age": range(5)}, "count": 4, "median": 2, "mean": "2.2"}, {"where": F, "count": 3, "median": 3}],
    [{"where": M, "count": 0}, {"count": 4, "median": (2, "2.5")}],
    [{"count": 3}],
]


def by_hand(who, tables):
    """Every multiset, tried one by one."""
    every = combinations_with_replacement(range(len(who.kinds)), who.persons)
    return {world for world in every if all(fits(world, table) for table in tables)}


@pytest.mark.parametrize("case", range(len(CASES)))
def test_solver_and_dynamic_program_count_what_trying_all_worlds_counts(case):
    who = universe(SMALL)
    tables = [published_table(table, place, who) for place, table in enumerate(CASES[case])]
    expected = by_hand(who, tables)
    assert counted_worlds(who, tables) == len(expected)
    enumerated = enumerated_worlds(who, tables, 10_000)
    assert enumerated.complete
    assert enumerated.count == len(expected)
    assert set(enumerated.worlds(10_000)) == expected


def test_sampling_meets_the_exact_count():
    """100,000 draws and six standard deviations: a false alarm once in 10⁸."""
    who = universe(SMALL)
    for case in (1, 3, 4):
        tables = [published_table(table, place, who) for place, table in enumerate(CASES[case])]
        exact, estimate = counted_worlds(who, tables), estimated_worlds(who, tables, generator(3))
        if estimate is not None:
            share = exact / who.worlds
            assert abs(estimate.worlds / who.worlds - share) < 6 * (share / 100_000) ** 0.5


def statistics_of(world, numbers):
    """By definition: the number of persons, and mean and median of their ages; the latter of nobody are none."""
    ages = [age for age, _ in world]
    rows = {"count": len(ages)}
    if ages:
        rows |= {"mean": Fraction(sum(ages), len(ages)), "median": Fraction(median(map(Fraction, ages)))}
    return {name: rows.get(name) for name in numbers}


@pytest.mark.parametrize("seed", range(4))
def test_any_numbers_of_random_groups_leave_what_the_definitions_leave(seed):
    """Every choice of mean, median and count for everybody and for one sex, of persons drawn at random."""
    chance = generator(seed)
    persons = int(chance.integers(3, 6))
    kinds = [(age, sex) for age in range(5) for sex in "fm"]
    truth = sorted(kinds[place] for place in [1, *chance.integers(0, len(kinds), size=persons - 1)])
    people = {"count": persons, "columns": {"age": range(5), "sex": ("f", "m")}}
    every = list(combinations_with_replacement(kinds, persons))
    names = ("mean", "median", "count")
    choices = [chosen for size in range(4) for chosen in combinations(names, size)]
    for of_all, of_one in product(choices, choices):
        asked = [(everybody, of_all), (only_men, of_one)]
        published = [(group, statistics_of(group(truth), numbers)) for group, numbers in asked if numbers]
        expected = sum(all(statistics_of(group(world), row) == row for group, row in published) for world in every)
        tables = [row | ({"where": M} if group is only_men else {}) for group, row in published]
        who = universe(people)
        constraints = [published_table(table, place, who) for place, table in enumerate(tables, 1)]
        if constraints:
            assert dp.attack.worlds(tables, people).steps[-1].count == expected, tables
            assert counted_worlds(who, constraints) == expected, tables
        if constraints and seed == 0:
            assert enumerated_worlds(who, constraints, 10_000).count == expected, tables


def everybody(world):
    return world


def only_men(world):
    return [person for person in world if person[1] == "m"]


def test_a_median_of_everybody_is_of_as_many_as_there_are():
    """Tables that leave the count to `people`: a mean of 45.75 … 45.85 and a middle of 47, of four ages."""
    people = {"count": 4, "columns": {"age": range(19, 76)}}
    expected = sum(
        1
        for ages in combinations_with_replacement(range(19, 76), 4)
        if 183 <= sum(ages) <= 183.4 and ages[1] + ages[2] == 94
    )
    result = dp.attack.worlds([{"mean": "45.8"}, {"median": 47}], people)
    stated = dp.attack.worlds([{"mean": "45.8", "count": 4}, {"median": 47, "count": 4}], people)
    assert result.raw == stated.raw == expected == 300


def test_the_median_of_a_group_is_sampled_as_it_is_counted():
    """100,000 draws and six standard deviations: a false alarm once in 10⁸."""
    who = universe(SMALL)
    tables = [published_table({"where": M, "median": (3, 6)}, 1, who)]
    exact, estimate = counted_worlds(who, tables), estimated_worlds(who, tables, generator(3))
    assert exact == len(by_hand(who, tables))
    assert abs(estimate.worlds - exact) / who.worlds < 6 * (exact / who.worlds / 100_000) ** 0.5


def test_the_census_block_is_left_alone_by_seven_tables_and_the_rule():
    """192, 2 and 1 worlds after five, six and seven tables; the only one is the truth."""
    steps, who, _ = left.steps_of(BLOCK.tables, BLOCK.people, BLOCK.rules)
    assert [step.count for step in steps[3:]] == [3128, 192, 2, 1]
    assert steps[0].count == 3_029_652_849_792
    assert all(step.has_truth for step in steps)
    assert steps[-1].worlds == (tuple(who.person(kind) for kind in who.truth),)


def test_without_the_rule_the_child_may_be_married():
    who = universe(BLOCK.people)
    tables = [published_table(table, place, who) for place, table in enumerate(BLOCK.tables)]
    two = enumerated_worlds(who, tables, 100)
    assert two.complete
    assert who.truth in two.worlds(10)
    statuses = {who.person(world[0])["status"] for world in two.worlds(10)}
    assert (two.count, statuses) == (2, {"married", "single"})
    assert NO_MARRIED_CHILD["status"] == "married"


def test_the_ages_of_the_lecture_are_a_staircase_and_said_to_be():
    result = dp.attack.worlds(AGES.tables, AGES.people)
    counts = [step.count for step in result.steps]
    assert counts == [1_455_389_376, 2_012_983, counts[2], 22_085, 980, 784]
    assert "not a reconstruction" in " ".join(result.notes)
    assert all(step.has_truth for step in result.steps)
    assert len(result.steps[-1].worlds) == 784
    assert result.to_json()["details"]["steps"][-1]["worlds"] == 784


def test_noise_of_the_product_leaves_more_than_a_hundred_thousand_worlds():
    """At ε = 1 the intervals of seven noisy tables, counted with a cap of 100,000 or sampled."""
    steps, _, _ = left.steps_of(noisy_tables(BLOCK, 1), BLOCK.people, BLOCK.rules)
    assert steps[-1].height > 100_000


def test_more_worlds_than_the_cap_are_said_to_be_more(monkeypatch):
    """Two columns of numbers keep the dynamic program out, and no draws are made."""
    monkeypatch.setattr(left, "estimated_worlds", lambda *_: None)
    people = {"count": 5, "columns": {"age": range(9), "weight": range(4)}}
    last = dp.attack.worlds([{"of": "age", "sum": 12}, {"of": "weight", "sum": 7}], people, cap=50).steps[-1]
    assert (last.count, last.more_than, last.text) == (None, 50, "more than 50")


def test_a_condition_may_be_a_range_that_is_longer_than_the_memory():
    result = dp.attack.worlds([{"where": {"age": range(5, 10**30), "sex": "f"}, "count": 4}], SMALL)
    assert result.raw == 35  # four persons of four kinds
    assert result.of_real_data


def test_contradictory_tables_leave_nothing():
    result = dp.attack.worlds([{"count": 4, "mean": "3.0"}, {"sum": 20}], SMALL)
    assert result.steps[-1].count == 0
    assert "contradict" in result.notes[0]


def test_a_rule_may_be_a_function_of_a_person():
    tables = [{"where": F, "count": 4}]
    by_function = dp.attack.worlds(tables, SMALL, rules=[lambda person: person["age"] > 6])
    by_mapping = dp.attack.worlds(tables, SMALL, rules=[{"age": range(7)}])
    assert by_function.raw == by_mapping.raw == 5


@pytest.mark.parametrize(
    ("tables", "people", "word"),
    [
        ([], SMALL, "tables"),
        ([{"where": {"race": "x"}, "count": 1}], SMALL, "column"),
        ([{"where": F}], SMALL, "table"),
        ([{"size": 3}], SMALL, "table"),
        ([{"mean": "high"}], SMALL, "mean"),
        ([{"count": (4, 2)}], SMALL, "count"),
        ([{"mean": "3.0", "of": "sex"}], SMALL, "of"),
        ([{"count": 0, "median": 3}], SMALL, "median"),
        ([{"count": 1}], {"count": 0, "columns": {"age": range(3)}}, "count"),
        ([{"count": 1}], {"columns": {"age": range(3)}}, "people"),
        ([{"count": 1}], {"count": 1, "columns": {"age": []}}, "columns"),
        ([{"count": 1}], SMALL | {"truth": [{"age": 3, "sex": "f"}]}, "truth"),
        ([{"count": 1}], SMALL | {"truth": 3}, "truth"),
        ([{"count": 1}], SMALL | {"truth": [3] * 4}, "truth"),
        ([{"count": 1}], SMALL | {"truth": [{"age": [3], "sex": "f"}] * 4}, "truth"),
        (None, SMALL, "tables"),
        (3, SMALL, "tables"),
        *[([{"mean": number}], SMALL, "mean") for number in ("1e400", "1e9999999", "1e-9999999", "inf", "nan", 10**16)],
        *[([{"sum": number}], SMALL, "sum") for number in ((1, "1e9999999"), 10**5000, "-1e9999999", 1e300)],
        ([{"mean": "3." + "3" * 25}], SMALL, "fewer digits"),
        ([{"median": 3, "ranks": 10**30}], SMALL, "ranks"),
        ([{"where": {"age": [[3]]}, "count": 1}], SMALL, "where"),
        *[([{"mean": 1}], {"count": 2, "columns": {"age": [0, age]}}, "columns") for age in (10**30, 2**61, -1)],
        ([{"count": 1}], {"count": 2, "columns": {"age": range(10**30)}}, "columns"),
        ([{"count": 1}], {"count": 2, "columns": {"age": [[1]]}}, "columns"),
        ([{"count": 1}], {"count": 200, "columns": {"age": range(20_000)}}, "people"),
    ],
)
def test_bad_tables_and_people_are_refused_in_a_sentence(tables, people, word):
    with pytest.raises(BadValue, match=word):
        dp.attack.worlds(tables, people)


@pytest.mark.parametrize("cap", [0, True, "many", 10**9])
def test_a_cap_that_is_none_is_refused(cap):
    with pytest.raises(BadValue, match="cap"):
        dp.attack.worlds([{"count": 4}], SMALL, cap=cap)


def test_examples_are_in_the_catalog():
    assert attack_named("worlds").module == "consistent.block"
    result = attack_named("ages").example(("1",), 7)
    assert result.raw == 784
    assert result.private["1"] > 100_000
    assert result.baseline >= result.private["1"] * 0.999
