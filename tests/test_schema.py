"""Public facts: each rule refuses in words, and the lattice keeps its laws."""

import math
import tomllib
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadValue
from discreet.relation import Relation
from discreet.schema import Budget, Column, Hierarchy, Lattice, Schema, Unit
from discreet.schema.column import LARGEST
from discreet.schema.kind import number_of
from discreet.schema.words import number, toml_value

AGE = Column("age", "integer", bounds=(0, 110))
REGION = Column("region", "category", values=("north", "south"))


# --- the lattice -------------------------------------------------------------------------------------------------

fractions = st.fractions(-(10**6), 10**6, max_denominator=1000)


@given(st.tuples(fractions, fractions).filter(lambda pair: pair[0] != pair[1]), st.fractions(Fraction(1, 1000), 1))
@settings(deadline=None)
def test_bounds_in_steps_cover_the_bounds_and_waste_less_than_a_step(
    pair: tuple[Fraction, Fraction], share: Fraction
) -> None:
    low, high = sorted(pair)
    step = Fraction(math.ceil((high - low) * share * 2**10), 2**10)
    if step > high - low:
        step = high - low
    lattice = Column("x", "number", bounds=(low, high), step=step).lattice
    assert lattice is not None
    assert low - step < lattice.low * step <= low
    assert high <= lattice.high * step < high + step
    assert lattice.points == len(range(lattice.low, lattice.high + 1)) >= 2
    assert lattice.largest == max(abs(point) for point in (lattice.low, lattice.high))


@given(st.tuples(fractions, fractions).filter(lambda pair: pair[0] != pair[1]))
def test_default_step_of_numbers_is_the_largest_power_of_two_below_a_millionth_of_the_width(
    pair: tuple[Fraction, Fraction],
) -> None:
    low, high = sorted(pair)
    width = high - low
    step = Column("x", "number", bounds=(low, high)).step
    assert step is not None
    assert step <= width / 2**20 < 2 * step
    assert math.log2(step).is_integer()


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62), st.integers(1, 10**6))
def test_one_unit_never_passes_two_to_the_62_steps_or_is_refused_with_a_step_that_works(
    first: int, other: int, rows: int
) -> None:
    low, high = sorted((first, other))
    if low == high:
        return
    column = Column("x", "integer", bounds=(low, high))
    fits = max(abs(low), abs(high)) * rows <= LARGEST
    try:
        Schema("t", (column,), Unit("id", rows))
    except BadValue as error:
        assert not fits
        fix = error.fix
    else:
        assert fits
        return
    if "step" in fix:
        step = tomllib.loads(fix.partition("Write: ")[2])["step"]
        Schema("t", (Column("x", "integer", bounds=(low, high), step=step),), Unit("id", rows))


def test_integers_days_and_seconds_lie_on_whole_numbers() -> None:
    day = Column("d", "date", bounds=(date(1970, 1, 1), "1970-01-31"))
    assert day.lattice == Lattice(0, 30, Fraction(1))
    moment = Column("t", "datetime", bounds=("1970-01-01", datetime(1970, 1, 2, 0, 0, 0, 1)))
    assert moment.lattice == Lattice(0, 86401, Fraction(1))
    assert Column("b", "boolean").lattice == Lattice(0, 1, Fraction(1))
    assert AGE.lattice == Lattice(0, 110, Fraction(1))
    assert AGE.lattice.points == 111
    assert Column("n", "integer", values=(3, -1, 2)).lattice == Lattice(-1, 3, Fraction(1))
    for plain in (REGION, Column("x", "number"), Column("n", "text")):
        assert plain.lattice is None


def test_numbers_are_decimals_never_binary() -> None:
    column = Column("x", "number", bounds=(0.1, Decimal("0.3")), step="0.1")
    assert column.bounds == (Fraction(1, 10), Fraction(3, 10))
    assert column.lattice == Lattice(1, 3, Fraction(1, 10))


# --- how values are written --------------------------------------------------------------------------------------


@given(st.one_of(st.integers(), st.fractions(max_denominator=10**9), st.booleans(), st.dates(), st.datetimes()))
def test_what_is_written_reads_back(value: Any) -> None:
    back = tomllib.loads(f"x = {toml_value(value)}", parse_float=Decimal)["x"]
    assert (number(back, "x", "", "") if isinstance(value, Fraction) else back) == value


@given(st.text())
def test_text_that_is_written_reads_back(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


# --- refusals ----------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Any, str, str]] = [
    (lambda: Column("age", "integer", bounds=(110, 0)), "columns.age.bounds must have the upper", "bounds = [0, 110]"),
    (lambda: Column("age", "integer", bounds=(5, 5)), "above the lower", "[0, 110]"),
    (lambda: Column("age", "integer", bounds=(0,)), "pair", "bounds = [0, 110]"),
    (lambda: Column("age", "integer", bounds=5), "pair", "bounds = [0, 110]"),
    (lambda: Column("age", "integer", bounds=(0, 1.5)), "whole numbers", 'type = "number"'),
    (lambda: Column("age", "integer", bounds=(0, True)), "whole numbers", "bounds"),
    (lambda: Column("x", "number", bounds=(0, "inf")), "numbers", "bounds"),
    (lambda: Column("x", "number", bounds=(0, float("nan"))), "numbers", "bounds"),
    (lambda: Column("x", "number", bounds=(0, Fraction(1, 3**200))), "80 characters", "bounds"),
    (lambda: Column("x", "number", bounds=(0, 16**9000)), "numbers", "bounds"),
    (lambda: Column("d", "date", bounds=("2020-13-01", "2021-01-01")), "dates", "2029-12-31"),
    (lambda: Column("d", "date", bounds=(datetime(2020, 1, 1), date(2021, 1, 1))), "dates", "2029-12-31"),
    (lambda: Column("t", "datetime", bounds=("2020-01-01T00:00:00Z", "2021-01-01")), "offset", "2029"),
    (lambda: Column("t", "datetime", bounds=(1, 2)), "datetimes", "2029"),
    (lambda: Column("r", "category", bounds=(0, 1)), "left out of a category", "Remove the bounds"),
    (lambda: Column("x", "number", bounds=(0, 1), step=0), "positive", "step = 1"),
    (lambda: Column("x", "number", bounds=(0, 1), step=-1), "positive", "step = 1"),
    (lambda: Column("x", "number", bounds=(0, 1), step=2), "width", "leave it out"),
    (lambda: Column("x", "number", step=2), "must come with bounds", "bounds = [0, 110]"),
    (lambda: Column("n", "integer", bounds=(0, 9), step="0.5"), "whole number of integers", "step = 1"),
    (lambda: Column("d", "date", bounds=("2020-01-01", "2021-01-01"), step="0.5"), "of days", "step = 1"),
    (lambda: Column("x", "number", bounds=(0, "1.8e308")), "at most 1e280", "bounds = [0, 5000]"),
    (lambda: Column("x", "number", bounds=("-1.7e308", "1.7e308")), "at most 1e280", "bounds = [0, 5000]"),
    (lambda: Column("x", "integer", bounds=(0, 10**300), step=10**290), "at most 1e280", "bounds = [0, 110]"),
    (lambda: Column("x", "number", bins=(0, "1e300")), "at most 1e280", "bounds = [0, 5000]"),
    (lambda: Column("x", "number", bounds=(0, "1e-320")), "a step of at least 1e-300", "smaller unit"),
    (lambda: Column("x", "number", bounds=(0, 1), step="1e-310"), "a step of at least 1e-300", "smaller unit"),
    (lambda: Column("r", "category", values=("a", "b", "a")), "different", '"a" once'),
    (lambda: Column("r", "category", values=()), "list of 1 to", "values = ["),
    (lambda: Column("r", "category", values="abc"), "list of 1 to", "values = ["),
    (lambda: Column("r", "category", values=(1, 2)), "text", 'quotes: values = ["1"]'),
    (lambda: Column("r", "category", values=("",), empty="null"), "text of 1 to 200", "values"),
    (lambda: Column("r", "integer", empty="null"), "left out of a integer column", "Remove"),
    (lambda: Column("r", "text", empty="nul"), "one of value, null", "empty"),
    (lambda: Column("r", "category", values=("a\0",)), "printable", "values"),
    (lambda: Column("n", "integer", values=(1, 20), bounds=(0, 9)), "within the bounds", "Widen"),
    (lambda: Column("n", "integer", values=("one",)), "whole numbers", "values = [1, 2, 3]"),
    (lambda: Column("b", "boolean", values=("a",)), "two already", "Remove"),
    (lambda: Column("x", "number", values=("a",)), "bins", "category"),
    (lambda: Column("n", "integer", bins=(0, 5, 5)), "increase", "bins = [0, 5]"),
    (lambda: Column("n", "integer", bins=(0,)), "2 to", "bins = ["),
    (lambda: Column("n", "integer", bounds=(0, 9), bins=(0, 10)), "within the bounds [0, 9]", "Widen"),
    (lambda: Column("r", "text", bins=(0, 1)), "left out", "Remove"),
    (lambda: Column("n", "txt"), "columns.n.type must be one of category, integer", "Did you mean 'text'?"),
    (lambda: Column("n", "int"), "columns.n.type must be one of category, integer", 'type = "integer"'),
    (lambda: Column("n", None), "must be one of", "type = "),
    (lambda: Column("n", "text", null="keep"), "columns.n.null must be one of drop, key", "null = "),
    (lambda: Column("n", "text", fixed_per_unit="yes"), "true or false", "fixed_per_unit = true"),
    (lambda: Column("n", "text", why_public=3), "columns.n.why_public must be text", "why_public"),
    (lambda: Column("n_moe", "text"), "_moe", "Rename"),
    (lambda: Column("N_MOE", "text"), "_moe", "Rename"),
    (lambda: Column("discreet_rank", "text"), "discreet_", "Rename"),
    (lambda: Column("rowid", "text"), "rowid", "Rename"),
    (lambda: Column("", "text"), "1 to 200", "[columns.age]"),
    (lambda: Column(" a", "text"), "spaces around", "[columns.age]"),
    (lambda: Column("x" * 201, "text"), "1 to 200", "[columns.age]"),
    (lambda: Column(7, "text"), "columns must be text", "[columns.age]"),
    (lambda: Column("x", "number", bounds=(10**30, 10**30 + 1)), "2^62 steps", "distance from a public"),
    (lambda: Column("n", "integer", values=(0, 2**63)), "columns.n.values must keep", 'type = "category"'),
    (lambda: Unit("", 1), "unit.key", 'key = "person_id"'),
    (lambda: Unit("id", 0), "unit.max_rows must be a whole number between 1", "max_rows = 5"),
    (lambda: Unit("id", "5"), "unit.max_rows", "max_rows = 5"),
    (lambda: Unit("id", True), "unit.max_rows", "max_rows = 5"),
    (lambda: Budget(0), "budget.epsilon must be a decimal number between", "epsilon = 1"),
    (lambda: Budget("x"), "budget.epsilon", "epsilon = 1"),
    (lambda: Budget(1, "0.1"), "budget.delta", "population"),
    (lambda: Budget(1, max_delta=1), "budget.max_delta", "max_delta = 1e-6"),
    (lambda: Budget(1, analysts={"ana": 2}), "budget.analysts.ana must be at most the dataset's", "ana = 1"),
    (lambda: Budget(1, analysts=3), "budget.analysts must be a table", "ana = 1"),
    (lambda: Budget(1, max_epsilon_per_question=2), "at most the dataset's", "max_epsilon_per_question = 1"),
    (lambda: Budget(1, share_answers=1), "true or false", "share_answers = true"),
    (lambda: Hierarchy("geo", ("ward",)), "2 to", "levels = ["),
    (lambda: Hierarchy("geo", ("a", "a")), "different", "levels = ["),
    (lambda: Hierarchy("geo", ("a", "b"), branches=(("x",),)), "all 2 levels", "branches"),
    (lambda: Hierarchy("geo", ("a", "b"), branches=(("x", "y"), ("z", "y"))), "each b in one a", "different names"),
    (lambda: Hierarchy("geo", ("a", "b"), branches=(("x", "y"), ("x", "y"))), "different", "Remove"),
    (lambda: Schema("two words"), "letters, digits", 'name = "two_words"'),
    (lambda: Schema("2020"), "letters, digits", 'name = "t_2020"'),
    (lambda: Schema("t", (AGE, Column("AGE", "text"))), "upper and lower case", "Remove"),
    (lambda: Schema("t", (AGE,), Unit("Age", 1)), "declared as a column too", "Remove [columns.age]"),
    (lambda: Schema("t", relation="swap"), "dataset.neighbours", 'neighbours = "replace-one"'),
    (lambda: Schema("t", population=1), "dataset.population", "population = 60000"),
    (lambda: Schema("t", (REGION,), hierarchies=(Hierarchy("g", ("a", "regoin")),)), "end with", "mean 'region'"),
    (lambda: Schema("t", (), hierarchies=(Hierarchy("g", ("a", "ward")),)), "end with", "Declare it:\n[columns.ward]"),
    (lambda: Schema("t", (AGE,), hierarchies=(Hierarchy("g", ("a", "age")),)), "category", 'type = "category"'),
    (
        lambda: Schema("t", (REGION,), hierarchies=(Hierarchy("g", ("a", "region"), branches=(("x", "north"),)),)),
        "hierarchy.g.branches must hold every value",
        '"south"',
    ),
]


@pytest.mark.parametrize(("make", "said", "fix"), REFUSED, ids=[said for _, said, _ in REFUSED])
def test_each_rule_refuses_with_its_name_and_a_fix(make: Any, said: str, fix: str) -> None:
    with pytest.raises(BadValue) as refused:
        make()
    assert said in refused.value.what
    assert refused.value.why.startswith("You gave ")
    assert fix in refused.value.fix
    assert len(str(refused.value)) < 600
    assert "Fraction(" not in str(refused.value)


# --- the whole ---------------------------------------------------------------------------------------------------


def schema(**changed: Any) -> Schema:
    facts: dict[str, Any] = {"name": "people", "columns": (AGE, REGION), "unit": Unit("person_id", 5)}
    return Schema(**(facts | changed))


def test_without_a_unit_each_row_is_one() -> None:
    assert schema(unit=None).max_rows == 1
    assert schema().max_rows == 5


def test_columns_are_found_in_any_case_and_nothing_else_is() -> None:
    assert schema().find("REGION") is REGION
    assert schema().find("person_id") is None


def test_hash_is_stable_across_releases() -> None:
    assert schema().canonical() == (
        '{"columns":{"age":{"bins":null,"bounds":["0","110"],"fixed_per_unit":false,"null":"drop","step":"1",'
        '"type":"integer","values":null},"region":{"bins":null,"bounds":null,"fixed_per_unit":false,"null":"drop",'
        '"step":null,"type":"category","values":["\\"north\\"","\\"south\\""]}},"format":1,"hierarchies":{},'
        '"name":"people","neighbours":"add-remove","population":null,"unit":{"key":"person_id","max_rows":5}}'
    )
    assert schema().hash == "3c6bbe48daed7f510aa0c3fa68615e96ca2b0269c191baa912daa96ccf95e8ee"


def test_hash_ignores_order_reasons_and_spelt_out_defaults() -> None:
    same = schema(
        columns=(
            Column("region", "category", values=["south", "north"], why_public="map"),
            Column("age", "integer", bounds=["0", 110.0], step=1),
        )
    )
    assert same.hash == schema().hash


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "others"},
        {"unit": None},
        {"unit": Unit("person_id", 6)},
        {"relation": Relation.REPLACE_ONE},
        {"population": 1000},
        {"columns": (AGE,)},
        {"columns": (Column("age", "integer", bounds=(0, 111)), REGION)},
        {"columns": (Column("age", "number", bounds=(0, 110), step=1), REGION)},
        {"columns": (Column("age", "integer", bounds=(0, 110), step=2), REGION)},
        {"columns": (Column("age", "integer", bounds=(0, 110), bins=(0, 1)), REGION)},
        {"columns": (Column("age", "integer", bounds=(0, 110), fixed_per_unit=True), REGION)},
        {"columns": (Column("age", "integer", bounds=(0, 110), null="key"), REGION)},
        {"columns": (AGE, Column("region", "text", values=("north", "south")))},
        {"hierarchies": (Hierarchy("geo", ("land", "region")),)},
    ],
    ids=str,
)
def test_hash_moves_with_every_fact_an_answer_rests_on(changed: dict[str, Any]) -> None:
    assert schema(**changed).hash != schema().hash


def test_budget_is_exact_and_sorted() -> None:
    budget = Budget(0.3, "1e-7", analysts={"bo": "0.1", "ana": 0.2}, max_epsilon_per_question=0.1)
    assert budget.epsilon == Fraction(3, 10)
    assert budget.delta == Fraction(1, 10**7)
    assert budget.analysts == (("ana", Fraction(1, 5)), ("bo", Fraction(1, 10)))
    assert budget.cap("ana") == Fraction(1, 5)
    assert budget.cap("eve") is None
    assert budget.max_delta == Fraction(1, 10**6)
    assert Budget(1, "0.001", max_delta="0.01").delta == Fraction(1, 1000)


def test_dates_are_measured_in_days_and_moments_in_seconds() -> None:
    assert number_of(date(2000, 1, 1)) == 10957
    assert number_of(datetime(2000, 1, 1)) == 10957 * 86400
    assert number_of(datetime(1969, 12, 31, 23, 59, 59, 500000)) == Fraction(-1, 2)


def test_a_step_that_does_not_divide_the_values_is_refused():
    with pytest.raises(BadValue, match="must divide every one of the values; 7 lies between two steps"):
        Column("c", "integer", bounds=(0, 10), step=5, values=(0, 7))
    assert Column("c", "integer", bounds=(0, 10), step=5, values=(0, 10)).lattice.points == 3


def test_a_branch_may_end_above_the_lowest_level():
    geo = Hierarchy("geo", ("region", "ward"), branches=(("north", "n1"), ("south", "")))
    assert geo.leaves == ("n1", "south")
    assert Schema("people", [Column("ward", "category")], hierarchies=[geo]).columns[0].values == ("n1", "south")
    for branches in ((("", "n1"),), (("", ""),)):
        with pytest.raises(BadValue, match="empty only at the end"):
            Hierarchy("geo", ("region", "ward"), branches=branches)


def test_places_go_by_name_whatever_the_order_of_the_columns():
    for names in (("b", "A", "c"), ("c", "b", "A")):
        assert Schema("people", [Column(name, "text") for name in names]).places == {"A": 0, "b": 1, "c": 2}


@pytest.mark.parametrize("key", ["row", "ROW", "Row"])
def test_no_key_is_called_as_the_unit_of_a_table_without_one(key):
    """A ledger notes its unit by name: with such a key, a ledger of persons would take charges for rows."""
    with pytest.raises(BadValue, match="must not be called 'row'"):
        Unit(key, 5)
