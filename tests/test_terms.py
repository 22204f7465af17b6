"""Terms: ε, δ and level are parsed once, at the face, and travel from there as one value."""

from dataclasses import replace
from fractions import Fraction
from unittest import mock

import pytest

import discreet as dp
from discreet import amounts
from discreet.errors import BadValue
from discreet.terms import LEVEL, Terms

TOML = """
[dataset]
name = "people"
source = "people.csv"

[unit]
key = "person"
max_rows = 1

[budget]
epsilon = 50
delta = 1e-6

[columns.region]
type = "category"
values = ["north", "south"]

[columns.ward]
type = "category"
values = ["n1", "s2"]

[columns.town]
type = "text"

[columns.age]
type = "integer"
bounds = [0, 100]

[hierarchy.geo]
levels = ["all", "ward"]
branches = [["all", "n1"], ["all", "s2"]]
"""
QUESTIONS = {
    "count": "SELECT COUNT(*) AS n FROM people",
    "counts and sums": "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region",
    "moments": "SELECT AVG(age) AS m, VAR_SAMP(age) AS v FROM people",
    "median": "SELECT MEDIAN(age) AS q FROM people",
    "private groups": "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
}


@pytest.fixture
def people(tmp_path):
    rows = "".join(f"{i},{'north,n1' if i % 2 else 'south,s2'},t{i % 3},{i % 90}\n" for i in range(600))
    (tmp_path / "people.csv").write_text("person,region,ward,town,age\n" + rows)
    (tmp_path / "people.toml").write_text(TOML)
    with dp.open(tmp_path / "people.toml") as dataset:
        yield dataset


# --- parsing ---------------------------------------------------------------------------------------------------------


def test_terms_are_exact_and_have_a_default_delta_and_level():
    assert Terms.parse("1/3", 1e-7, 0.9) == Terms(Fraction(1, 3), Fraction(1, 10**7), Fraction(9, 10))
    assert Terms.parse(2) == Terms(Fraction(2), Fraction(0), LEVEL, None)
    assert Fraction("0.95") == LEVEL


@pytest.mark.parametrize("epsilon", [0, -1, "1e-10", "1e7", "nan", True, None])
def test_bad_epsilons_are_refused(epsilon):
    with pytest.raises(BadValue, match="epsilon must be a decimal number between"):
        Terms.parse(epsilon)


@pytest.mark.parametrize("delta", [-1, "0.6", 1, "nan", None, False])
def test_bad_deltas_are_refused(delta):
    with pytest.raises(BadValue, match=r"delta must be a decimal number between 0 and 0\.5"):
        Terms.parse(1, delta)


@pytest.mark.parametrize("level", [0, 1, "1.5", -1, None, True, float("nan"), "9" * 5000])
def test_bad_levels_are_refused(level):
    with pytest.raises(BadValue, match="level must be a decimal number strictly between 0 and 1"):
        Terms.parse(1, level=level)


# --- where arguments, options of the text and the table's default meet -----------------------------------------------


def test_arguments_come_before_the_text_and_the_text_before_the_table(people):
    plain = people.sql(QUESTIONS["private groups"])
    by_default = plain.plan(epsilon=1).terms
    assert by_default == Terms(Fraction(1), Fraction(1, 10**8))
    options = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 2, delta = 3e-8)"
    question = people.sql(QUESTIONS["private groups"].replace("SELECT", options))
    in_text = Fraction(3, 10**8)
    assert question.plan().terms == Terms(Fraction(2), in_text, typed_delta=in_text)
    typed = Fraction(2, 10**8)
    assert question.plan(epsilon=3, delta=2e-8, level=0.9).terms == Terms(
        Fraction(3), typed, Fraction(9, 10), typed_delta=typed
    )
    assert question.plan(error={"n": 40}).terms.delta == in_text


def test_a_typed_delta_stays_in_the_terms_where_none_is_charged(people):
    plan = people.sql(QUESTIONS["count"]).plan(epsilon=1, delta="1e-8")
    assert plan.terms == Terms(Fraction(1), Fraction(0), typed_delta=Fraction(1, 10**8))


def test_a_typed_delta_asks_for_something_else_than_an_equal_default(people):
    question = people.sql(QUESTIONS["private groups"])
    by_default = question.ask(epsilon=1)
    assert question.ask(epsilon=1).replayed
    typed = question.ask(epsilon=1, delta="1e-8")
    assert not typed.replayed
    assert typed.cost == by_default.cost


def test_a_replay_shows_the_level_of_today_and_charges_nothing(people):
    question = people.sql(QUESTIONS["count"])
    question.ask(epsilon=1)
    replayed = question.ask(epsilon=1, level="0.5")
    assert replayed.replayed
    assert replayed.level == Fraction(1, 2)


# --- once ------------------------------------------------------------------------------------------------------------


def levels_parsed(action):
    """How often a level is parsed while something is done."""
    with mock.patch.object(amounts, "inner_probability", wraps=amounts.inner_probability) as parse:
        action()
    return sum(call.args[1] == "level" for call in parse.call_args_list)


@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_one_ask_parses_its_level_once(people, sql):
    question = people.sql(sql)
    assert levels_parsed(lambda: question.ask(epsilon=1, level="0.9")) == 1
    assert levels_parsed(lambda: question.quote(epsilon=1, level="0.9", at_size=100)) == 1
    assert levels_parsed(lambda: question.explain(epsilon=1, level="0.9")) == 1


def test_one_search_for_an_epsilon_parses_its_level_once(people):
    question = people.sql(QUESTIONS["counts and sums"])
    assert levels_parsed(lambda: question.ask(error={"n": 20})) == 1


def test_one_release_parses_its_level_once(people):
    releasing = people.release("geo")
    assert levels_parsed(lambda: releasing.quote(epsilon=1, level="0.9")) == 1
    assert levels_parsed(lambda: releasing.build(epsilon=1, level="0.9")) == 1


def test_the_count_of_parsed_levels_sees_a_second_one():
    terms = Terms.parse(1)
    assert levels_parsed(lambda: [Terms.parse(1), replace(terms), Terms.parse(1)]) == 2
