"""Plans: shares that add up to ε, the noise with the smaller error, and a cost that the ledger accepts as typed."""

from fractions import Fraction
from itertools import product

import pytest

from discreet import amounts
from discreet.errors import BadValue, NotAnswerable
from discreet.ledger.weigh import declared, promise
from discreet.mechanism.additive import Additive
from discreet.mechanism.keys import KeySelection
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import price
from discreet.query import explain
from discreet.query.bound import draft_of
from discreet.query.explain import caveats
from discreet.query.parts import Present, Rows, RowSum
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.query.target import half_widths, least_epsilon
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms

COLUMNS = [
    Column("region", "category", values=("north", "south", "east"), fixed_per_unit=True, null="key"),
    Column("kind", "category", values=("a", "b")),
    Column("age", "integer", bounds=(-5, 110), bins=(0, 18, 65, 110)),
    Column("price", "number", bounds=(-1, 3), step="0.25"),
    Column("pay", "number", bounds=(0, 200_000)),
    Column("town", "text"),
    Column("code", "integer"),
    Column("vip", "boolean"),
    Column("seen", "date", bounds=("2020-01-01", "2020-12-31")),
]
SELECTS = [
    "COUNT(*) AS n",
    "COUNT(age) AS n",
    "COUNT(DISTINCT person) AS n",
    "COUNT(DISTINCT town) AS n",
    "SUM(age) AS s",
    "SUM(pay) AS s, COUNT(*) AS n",
    "AVG(price) AS m",
    "VAR_SAMP(age) AS v, AVG(age) AS m, COUNT(age) AS n",
    "STDDEV(price) AS d",
    "COVAR_SAMP(age, price) AS c",
    "CORR(age, pay) AS c",
    "MEDIAN(age) AS q",
    "MAX(seen) AS q, COUNT(*) AS n",
    "MODE(kind) AS t",
    "TOP_K(region, 2) AS t, AVG(age) AS m",
    "COUNT(*) AS n, COUNT(DISTINCT person) AS u, SUM(age) AS s, AVG(pay) AS p, MEDIAN(price) AS q, MODE(kind) AS t",
]
TAILS = [
    ("", ""),
    ("region, ", " GROUP BY region"),
    ("age, ", " WHERE kind = 'a' GROUP BY age"),
    ("town, ", " GROUP BY town"),
    ("town, vip, ", " WHERE region = 'north' GROUP BY town, vip"),
]
QUESTIONS = [f"SELECT {keys}{what} FROM people{tail}" for what in SELECTS for keys, tail in TAILS]
PRICES = list(product(("0.001", "0.1", "1", "2.7", "30", "100000"), ("0", "1e-300", "1e-12", "1e-6", "0.01")))
RELATIONS = ("add-remove", "replace-one")


def schema(relation="add-remove", rows=3):
    return Schema("people", COLUMNS, Unit("person", rows), relation)


def draft(text, relation="add-remove", rows=3):
    return draft_of(parse_sql(text).question, schema(relation, rows))


def hidden(plan):
    return [measured for measured in plan.measured if isinstance(measured.part, Present)]


def test_there_are_at_least_thirty_questions():
    assert len(QUESTIONS) >= 30


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_no_cap_is_told_where_every_row_is_a_unit():
    asked = draft_of(
        parse_sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region").question, Schema("people", COLUMNS)
    )
    assert "Cap: none is needed, for every row is protected by itself." in explain.words(plan_of(asked, Terms.parse(1)))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("text", QUESTIONS)
def test_the_ledger_accepts_the_cost_at_the_typed_epsilon_and_delta(text, relation):
    asked = draft(text, relation)
    for epsilon, delta in PRICES:
        if not asked.cells.public and delta == "0":
            continue
        plan = plan_of(asked, Terms.parse(epsilon, delta))
        assert plan.terms.epsilon == Fraction(epsilon)
        assert plan.terms.delta <= Fraction(delta)
        declared(plan.cost, asked.schema.relation, epsilon=plan.terms.epsilon, delta=plan.terms.delta)


@pytest.mark.parametrize("text", QUESTIONS)
def test_shares_add_up_to_the_typed_epsilon_exactly(text):
    asked = draft(text)
    for epsilon in ("0.1", "1", "2.7"):
        laplace = plan_of(asked, Terms.parse(epsilon, "0" if asked.cells.public else "1e-9"))
        shares = [measured.epsilon for measured in laplace.measured]
        if None in shares:  # a Gaussian: what is chosen takes its own shares of what is left
            assert sum((share for share in shares if share is not None), Fraction(0)) < Fraction(epsilon)
        else:
            assert sum(shares, Fraction(0)) == Fraction(epsilon)


@pytest.mark.parametrize("text", ["SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS m FROM people"])
def test_the_ledger_refuses_the_same_cost_a_little_cheaper(text):
    """The test above can fail: nothing is left over."""
    plan = plan_of(draft(text), Terms.parse(1))
    with pytest.raises(BadValue, match="must cover the cost"):
        declared(plan.cost, plan.draft.schema.relation, epsilon=Fraction(999, 1000), delta=0)


def test_a_gaussian_plan_uses_nearly_all_of_its_epsilon():
    plan = plan_of(
        draft("SELECT age, COUNT(DISTINCT person) AS n FROM people GROUP BY age", rows=50), Terms.parse(1, "1e-6")
    )
    assert plan.measured[0].epsilon is None
    paid = price.epsilon(promise(plan.cost, plan.draft.schema.relation).cost, "1e-6").value
    assert Fraction(99, 100) < paid <= 1 + Fraction(1, 10**6)


def test_equal_counts_get_equal_shares():
    """D joint tables: each costs ε/D."""
    columns = ", ".join(f"COUNT({name}) AS n{place}" for place, name in enumerate(("age", "kind", "price", "pay")))
    plan = plan_of(draft(f"SELECT {columns} FROM people", rows=1), Terms.parse(1))
    assert [measured.epsilon for measured in plan.measured] == [Fraction(1, 4)] * 4
    assert all(measured.mechanism.noise.scale == 4 for measured in plan.measured)


def test_a_count_that_two_columns_need_is_measured_once():
    plan = plan_of(draft("SELECT AVG(age) AS m, COUNT(age) AS n, VAR_SAMP(age) AS v FROM people"), Terms.parse(1))
    kinds = [type(measured.part) for measured in plan.measured]
    assert (kinds.count(Rows), kinds.count(RowSum)) == (1, 2)


# --- which noise -----------------------------------------------------------------------------------------------------


MANY = "SELECT age, COUNT(DISTINCT person) AS n FROM people GROUP BY age"


def test_gaussian_noise_is_chosen_where_a_unit_is_in_many_groups_and_says_why():
    plan = plan_of(draft(MANY, rows=50), Terms.parse(1, "1e-6"))
    laplace = plan_of(draft(MANY, rows=50), Terms.parse(1))
    assert plan.why.startswith("Gaussian noise: at delta = 1e-6 its total error is smaller")
    assert plan.terms.delta == Fraction("1e-6")
    assert half_widths(plan)["n"] < half_widths(laplace)["n"]
    assert laplace.why == "Laplace noise: without a delta there is no other."


def test_laplace_noise_is_kept_where_it_is_better_and_then_no_delta_is_charged():
    plan = plan_of(draft("SELECT COUNT(*) AS n FROM people"), Terms.parse(1, "1e-6"))
    assert isinstance(plan.measured[0].mechanism.noise, DiscreteLaplace)
    assert plan.terms.delta == 0
    assert plan.why.startswith("Laplace noise: its total error is not larger")


@pytest.mark.parametrize("text", QUESTIONS[::3])
def test_a_delta_never_makes_the_total_error_larger(text):
    asked = draft(text, rows=20)
    if not asked.cells.public:
        return

    def error(plan):
        weights = {need.part: (float(need.weight), float(need.sensitivity.linf)) for need in asked.needs}
        noisy = [measured for measured in plan.measured if isinstance(measured.mechanism, Additive)]
        return sum(
            weights[measured.part][0] * measured.mechanism.variance / weights[measured.part][1] ** 2
            for measured in noisy
        )

    assert error(plan_of(asked, Terms.parse(1, "1e-6"))) <= error(plan_of(asked, Terms.parse(1))) * (1 + 1e-9)


def test_words_for_chosen_values_say_that_no_noise_is_added():
    assert plan_of(draft("SELECT MEDIAN(age) AS q FROM people"), Terms.parse(1)).why.startswith("Nothing is counted")


# --- private keys ----------------------------------------------------------------------------------------------------


def test_private_keys_need_a_delta_and_the_refusal_names_the_column_and_the_way_out():
    with pytest.raises(NotAnswerable) as refused:
        plan_of(draft("SELECT town, region, COUNT(*) AS n FROM people GROUP BY town, region"), Terms.parse(1))
    assert "town" in refused.value.why
    assert "region" not in refused.value.why
    assert "values = " in refused.value.fix


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_the_delta_of_private_keys_is_all_charged_and_split_with_gaussian_noise(rows):
    plan = plan_of(
        draft("SELECT town, COUNT(DISTINCT person) AS n FROM people GROUP BY town", rows=rows), Terms.parse(1, "1e-6")
    )
    (selection,) = hidden(plan)
    assert isinstance(selection.mechanism, KeySelection)
    assert plan.terms.delta == Fraction("1e-6")
    numbers = (
        2 if any(measured.epsilon is None for measured in plan.measured) else 1
    )  # halved with Gaussian noise of numbers
    keys = 1 if isinstance(selection.mechanism.noise, DiscreteLaplace) else 2  # and halved again with that of keys
    apart, wanted = promise(plan.cost, plan.draft.schema.relation).delta_apart, Fraction("1e-6") / (numbers * keys)
    assert wanted <= apart <= wanted + Fraction(1, 10**30)


def test_public_keys_are_not_selected():
    assert not hidden(
        plan_of(draft("SELECT region, COUNT(*) AS n FROM people GROUP BY region"), Terms.parse(1, "1e-6"))
    )


# --- the wanted ± ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("wanted", [1, 15, 400])
@pytest.mark.parametrize(
    "text", [QUESTIONS[0], "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region", MANY]
)
def test_the_least_epsilon_reaches_the_wanted_error_and_the_next_smaller_does_not(text, wanted, delta):
    asked = draft(text)
    epsilon = least_epsilon(asked, {"n": wanted}, Terms.parse(amounts.MAX_EPSILON, delta))
    below = Fraction(amounts.rounded_up(epsilon * Fraction(99, 100), 3))
    assert half_widths(plan_of(asked, Terms.parse(epsilon, delta)))["n"] <= wanted
    assert below < epsilon
    assert half_widths(plan_of(asked, Terms.parse(below * Fraction(99, 100), delta)))["n"] > wanted


def test_the_least_epsilon_is_sought_up_to_that_of_the_terms():
    asked = draft("SELECT COUNT(*) AS n FROM people")
    enough = least_epsilon(asked, {"n": 15}, Terms.parse(amounts.MAX_EPSILON))
    assert least_epsilon(asked, {"n": 15}, Terms(enough)) == enough
    with pytest.raises(BadValue, match="within reach"):
        least_epsilon(asked, {"n": 15}, Terms(enough * Fraction(999, 1000)))


def test_where_no_error_is_known_beforehand_the_refusal_says_why():
    asked = draft("SELECT AVG(age) AS m, MEDIAN(age) AS q FROM people")
    with pytest.raises(NotAnswerable, match="how many rows there are"):
        least_epsilon(asked, {"m": 1}, Terms.parse(amounts.MAX_EPSILON))
    with pytest.raises(NotAnswerable, match="chosen by ranks"):
        least_epsilon(asked, {"q": 1}, Terms.parse(amounts.MAX_EPSILON))
    with pytest.raises(BadValue, match="must name a column"):
        least_epsilon(asked, {"x": 1}, Terms.parse(amounts.MAX_EPSILON))


# --- caveats ---------------------------------------------------------------------------------------------------------


def said(text, **kw):
    return " ".join(caveats(plan_of(draft(text, **kw), Terms.parse(1, "1e-6"))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(*) AS n FROM people", "At most 3 rows of one person can count"),
        ("SELECT MAX(age) AS top FROM people", "top is the 0.99-quantile"),
        ("SELECT MIN(age) AS low FROM people", "low is the 0.01-quantile"),
        ("SELECT town, COUNT(*) AS n FROM people GROUP BY town", "Small groups are missing"),
        ("SELECT SUM(age) AS s FROM people", "Values outside their public bounds"),
        ("SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING n > 5", "Rows were chosen by their noisy"),
        ("SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY n LIMIT 1", "Rows were chosen by their"),
    ],
)
def test_caveats_say_what_a_reader_must_know(text, words):
    assert words in said(text)


def test_caveats_are_left_out_where_they_do_not_hold():
    plain = said("SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY region")
    assert "Small groups" not in plain
    assert "chosen" not in plain.replace("a fixed choice", "")
    assert "bounds" not in plain


def test_caveats_are_the_same_whatever_the_epsilon_but_for_the_size_of_small_groups():
    asked = draft("SELECT region, MAX(age) AS m, SUM(age) AS s FROM people GROUP BY region")
    assert caveats(plan_of(asked, Terms.parse(1))) == caveats(plan_of(asked, Terms.parse(100)))


def test_values_are_chosen_in_at_most_so_many_groups():
    columns = [Column("a", "integer", bounds=(0, 200)), Column("b", "integer", bounds=(0, 200))]
    schema = Schema("people", columns, Unit("person", 3))
    with pytest.raises(NotAnswerable, match="too many groups to choose values in"):
        draft_of(parse_sql("SELECT a, b, MEDIAN(a) AS m FROM people GROUP BY a, b").question, schema)
    assert (
        draft_of(parse_sql("SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b").question, schema).cells.size
        == 201**2
    )


def test_bounds_too_many_steps_apart_for_any_noise_are_refused_with_the_way_out():
    schema = Schema("people", [Column("big", "integer", bounds=(-(2**60), 2**60))], Unit("person", 3))
    with pytest.raises(NotAnswerable, match="coarser step"):
        plan_of(draft_of(parse_sql("SELECT SUM(big) AS s FROM people").question, schema), Terms.parse(1))
