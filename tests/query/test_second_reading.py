"""What a hostile reader tried: parts of a table that are charged too cheaply, neighbours further apart than promised,
and failures that come only after the charge.
"""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.amounts import MAX_EPSILON
from discreet.answer.compose import answer_of
from discreet.engine import Engine
from discreet.errors import BadValue, BudgetExceeded, NotAnswerable
from discreet.query.bound import draft_of
from discreet.query.compile.exacts import Buckets, exacts_of
from discreet.query.compile.statements import statements
from discreet.query.explain import caveats
from discreet.query.joint import Released
from discreet.query.nodes import Caps
from discreet.query.parts import Rows
from discreet.query.plan import plan_of
from discreet.query.sql import parse_sql
from discreet.query.target import half_widths, least_epsilon
from discreet.relation import Relation
from discreet.schema import Column, Schema, Unit
from discreet.terms import Terms

REGIONS = ("north", "south", "east")


def draft(text, schema):
    return draft_of(parse_sql(text).question, schema)


# --- parts of a table ------------------------------------------------------------------------------------------------


def fixed(**facts):
    return Schema("people", [Column("x", fixed_per_unit=True, **facts)], Unit("person", 2))


def part(condition, schema):
    return draft(f"SELECT COUNT(*) AS n FROM people WHERE {condition}", schema).path


@pytest.mark.parametrize("order", [REGIONS, REGIONS[::-1], ("south", "north", "east")])
def test_a_part_has_one_name_whatever_the_order_of_values_in_the_metadata(order):
    """The snapshot does not see that order; a name that did would let a part be charged side by side with itself."""
    first, other = fixed(type="category", values=REGIONS), fixed(type="category", values=order)
    assert first.hash == other.hash
    for region in REGIONS:
        assert part(f"x = '{region}'", first) == part(f"x = '{region}'", other) != ()


def test_conditions_that_the_same_cells_satisfy_name_the_same_part():
    """With a step of 2, 1 and 2 are both stored as one step: WHERE x = 1 and WHERE x = 2 are about the same units."""
    schema = fixed(type="integer", values=(1, 2, 3, 6), bounds=(0, 10))
    object.__setattr__(schema.columns[0], "step", Fraction(2))  # past the schema, which refuses it
    assert part("x = 1", schema) == part("x = 2", schema) != ()
    assert part("x = 6", schema) != part("x = 2", schema)


def test_a_flag_and_its_comparison_name_the_same_part_and_its_opposite_another():
    schema = fixed(type="boolean")
    assert part("x", schema) == part("x = TRUE", schema) == part("x IN (TRUE)", schema) == (("x", "1"),)
    assert part("x = FALSE", schema) == (("x", "0"),)


@pytest.mark.parametrize(
    "condition",
    [
        "x = 'north' OR x = 'south'",
        "NOT x = 'north'",
        "x != 'north'",
        "x IS NULL",
        "x IN ('north', 'south')",
        "COALESCE(x, 'north') = 'north'",
        "CASE WHEN x = 'north' THEN TRUE ELSE FALSE END",
        "(x = 'north' AND x LIKE 'n%') OR x IS NULL",
    ],
)
def test_whatever_is_not_one_value_of_a_fixed_column_is_charged_to_all(condition):
    assert part(condition, fixed(type="category", values=REGIONS, null="key")) == ()


def test_by_replacement_every_question_is_charged_to_all():
    schema = replace(fixed(type="category", values=REGIONS), relation=Relation.REPLACE_ONE)
    assert part("x = 'north'", schema) == ()


TOML = """
[dataset]
format = 1
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 1
[columns.region]
type = "category"
values = ["{}"]
fixed_per_unit = true
[budget]
epsilon = 1
"""


def test_listing_the_values_in_another_order_buys_no_second_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    toml = tmp_path / "people.toml"
    (tmp_path / "people.csv").write_text("person,region\n1,north\n2,south\n")
    toml.write_text(TOML.format('", "'.join(REGIONS)))
    with dp.open(toml) as people:
        for region in ("north", "south"):  # side by side, as promised
            people.sql(f"SELECT COUNT(*) AS n FROM people WHERE region = '{region}'").ask(epsilon=1)
    toml.write_text(TOML.format('", "'.join(REGIONS[::-1])))
    with dp.open(toml) as people:
        for region in REGIONS:
            with pytest.raises(BudgetExceeded):
                people.sql(f"SELECT COUNT(*) AS m FROM people WHERE region = '{region}'").ask(epsilon=1)
        assert people.budget.spent.epsilon == 1


TWO_COLUMNS = """
[dataset]
format = 1
name = "people"
source = "people.csv"
[unit]
key = "person"
max_rows = 2
{}
[budget]
epsilon = 2000
"""
REGION = '[columns.region]\ntype = "category"\nvalues = ["north", "south"]\nfixed_per_unit = true\n'
AGE = '[columns.age]\ntype = "integer"\nbounds = [0, 110]\n'


def test_the_order_of_columns_moves_no_unit_to_the_other_side(tmp_path, monkeypatch):
    """Each unit has a row on either side; which one counts is decided by a keyed hash, whatever order the TOML has."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    toml = tmp_path / "people.toml"
    rows = "".join(f"{unit},north,1\n{unit},south,2\n" for unit in range(60))
    (tmp_path / "people.csv").write_text("person,region,age\n" + rows)
    counts, spent = [], []
    for columns in (REGION + AGE, AGE + REGION):
        toml.write_text(TWO_COLUMNS.format(columns))
        with dp.open(toml) as people:
            for side in ("north", "south"):
                text = f"SELECT COUNT(DISTINCT person) AS n{len(counts)} FROM people WHERE region = '{side}'"
                counts.append(people.sql(text).ask(epsilon=500).rows[0][f"n{len(counts)}"])
            spent.append(people.budget.spent.epsilon)
    assert counts[:2] == counts[2:]
    assert counts[0] + counts[1] == 60
    assert spent == [500, 500], "the same snapshot, so the answers are the stored ones"


# --- neighbours, through the real engine -----------------------------------------------------------------------------


COLUMNS = [
    Column("region", "category", values=REGIONS, fixed_per_unit=True, null="key"),
    Column("kind", "category", values=("a", "b")),
    Column("age", "integer", bounds=(-5, 20)),
    Column("price", "number", bounds=(-1, 3), step="0.25"),
    Column("town", "text"),
    Column("wild", "number", null="key"),
    Column("born", "date", null="key"),
    Column("vip", "boolean"),
]
HEADER = "person,region,kind,age,price,town,wild,born,vip"
CELLS = [
    ["a", "b", "zz", ""],
    ["-5", "0", "7", "20", "99", "", "x"],
    ["-1", "3", "0.6", "nan", "inf", "1e400", ""],
    ["rome", "oslo", ""],
    ["inf", "-inf", "nan", "0", "-0.0", "1e308", ""],
    ["2020-01-01", "9999-12-31", "290000-01-01", "0044-03-15 (BC)", "infinity", ""],
    ["true", "false", ""],
]
UNITS = "COUNT(DISTINCT person) AS u"
QUESTIONS = [
    f"SELECT COUNT(*) AS n, {UNITS}, COUNT(DISTINCT age) AS d, SUM(age) AS s, CORR(age, price) AS c FROM people",
    f"SELECT COUNT(*) AS n, {UNITS}, VAR_SAMP(age) AS v FROM people WHERE kind = 'a' OR NOT age > 3",
    f"SELECT region, COUNT(*) AS n, {UNITS}, MEDIAN(age) AS q, MODE(kind) AS t FROM people GROUP BY region",
    f"SELECT kind, COUNT(*) AS n, {UNITS}, SUM(price) AS s, TOP_K(region, 2) AS t FROM people GROUP BY kind",
    f"SELECT age, COUNT(*) AS n, {UNITS}, COUNT(DISTINCT town) AS d FROM people GROUP BY age",
    f"SELECT town, COUNT(*) AS n, {UNITS}, SUM(age) AS s, MEDIAN(price) AS q FROM people GROUP BY town",
    f"SELECT wild, born, COUNT(*) AS n, {UNITS} FROM people GROUP BY wild, born",
    f"SELECT CASE WHEN age > 5 THEN 'old' WHEN age IS NULL THEN 'none' ELSE 'young' END AS g, {UNITS}, "
    "SUM(CASE WHEN vip THEN age ELSE price END) AS s, SUM(clamp(age / price, -3, 9)) AS r FROM people GROUP BY g",
]
CAPS = (Caps(), Caps(rows=2), Caps(groups=1))


def rows_of(chance, unit):
    region = chance.choice([*REGIONS, "", "nowhere"])
    return [
        [str(unit), region if chance.random() < 0.9 else "north", *map(chance.choice, CELLS)]
        for _ in range(chance.choice([1, 2, 3, 5]))
    ]


def prepared(folder, schema, rows, plans):
    """Every part of every plan on that table: (key, bucket) → number."""
    (folder / "people.csv").write_text("\n".join([HEADER, *map(",".join, rows)]) + "\n")
    with Engine(folder, "people", schema, folder / "people.csv") as engine:
        engine.prepare(None)
        tables = []
        for plan in plans:
            parts, asked = [measured.part for measured in plan.measured], plan.draft
            compiled = statements(schema, asked.cells, asked.question.where, asked.caps, parts)
            exact = exacts_of(compiled, engine.run([statement.sql for statement in compiled]), asked.cells)
            tables.append([numbers(exact, part) for part in parts])
    return tables


def numbers(exact, part):
    values = exact.parts[part]
    if not isinstance(values, Buckets):
        return {(key, 0): int(value) for key, value in zip(exact.keys, values, strict=True)}
    places = zip(values.cell, values.bucket, values.count, strict=True)
    return {(exact.keys[int(cell)], int(bucket)): int(count) for cell, bucket, count in places}


def moved(before, after):
    change = [before.get(place, 0) - after.get(place, 0) for place in before.keys() | after.keys()]
    return sum(map(abs, change)), sum(x * x for x in change), max(map(abs, change), default=0)


@pytest.mark.parametrize("relation", list(Relation))
def test_no_neighbouring_table_moves_any_part_further_than_its_sensitivity(tmp_path, relation):
    schema = Schema("people", COLUMNS, Unit("person", 3), relation)
    questions = [replace(parse_sql(text).question, caps=caps) for text in QUESTIONS for caps in CAPS]
    plans = [plan_of(draft_of(question, schema), Terms.parse(1, "1e-6")) for question in questions]
    chance = random.Random(11)
    table = {unit: rows_of(chance, unit) for unit in range(6)}
    before = prepared(tmp_path, schema, [row for rows in table.values() for row in rows], plans)
    reached = 0
    for unit in (0, 3):
        changed = table | {unit: rows_of(chance, unit) if relation is Relation.REPLACE_ONE else []}
        rows = [row for rows in changed.values() for row in rows]
        chance.shuffle(rows)
        for plan, old, new in zip(plans, before, prepared(tmp_path, schema, rows, plans), strict=True):
            for measured, a, b in zip(plan.measured, old, new, strict=True):
                l1, l2_squared, linf = moved(a, b)
                bound = measured.sensitivity
                assert l1 <= bound.l1, (plan.draft.question, measured.part)
                assert l2_squared <= bound.l2_squared, (plan.draft.question, measured.part)
                assert linf <= bound.linf, (plan.draft.question, measured.part)
                reached += l1 == bound.l1
    assert reached > 0


# --- what would have failed too late ---------------------------------------------------------------------------------


PEOPLE = Schema("people", COLUMNS, Unit("person", 3))


@pytest.mark.parametrize("item", ["0", "age * 0", "clamp(price, 0, 0)"])
def test_a_sum_that_nobody_can_move_is_refused_in_words(item):
    with pytest.raises(NotAnswerable, match="nothing to measure"):
        draft(f"SELECT SUM({item}) AS s FROM people", PEOPLE)


def test_an_epsilon_too_small_for_its_parts_is_refused_as_it_was_typed():
    asked = draft("SELECT COUNT(*) AS n, AVG(age) AS m, CORR(age, price) AS c FROM people", PEOPLE)
    with pytest.raises(BadValue, match=r"epsilon is too small .* You gave '?1e-9'?\.") as refused:
        plan_of(asked, Terms.parse("1e-9"))
    enough = refused.value.fix.removeprefix("Give at least ").partition(",")[0]
    assert plan_of(asked, Terms.parse(enough)).terms.epsilon == Fraction(enough)


@pytest.mark.parametrize("wanted", ["1e6", "1e9", "1e15"])
def test_a_wide_error_is_within_reach_of_some_epsilon(wanted):
    asked = draft("SELECT COUNT(*) AS n, VAR_SAMP(price) AS v FROM people", PEOPLE)
    epsilon = least_epsilon(asked, {"n": wanted}, Terms.parse(MAX_EPSILON))
    assert half_widths(plan_of(asked, Terms.parse(epsilon)))["n"] <= Fraction(wanted)


def test_an_answer_too_long_to_be_stored_is_refused_before_the_charge():
    columns = [Column(name, "integer", bounds=(0, 999)) for name in ("a", "b")]
    schema = Schema("people", columns)
    assert draft("SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b", schema).cells.size == 10**6
    with pytest.raises(NotAnswerable, match="too long"):
        draft("SELECT a, b, COUNT(*) AS n, SUM(a) AS s FROM people GROUP BY a, b", schema)


def test_a_mean_among_a_public_number_of_rows_says_what_an_empty_cell_counts_as():
    schema = Schema("people", [Column("age", "integer", bounds=(0, 110))], relation="replace-one", population=1000)
    said = " ".join(caveats(plan_of(draft("SELECT AVG(age) AS m FROM people", schema), Terms.parse(1))))
    assert "m divides by the public number of rows, 1,000" in said
    assert "middle" in said


def test_a_large_private_number_is_shown_as_the_double_it_was():
    """As a whole number of 309 digits it would break Arrow, for some tables and not for others."""
    asked = draft("SELECT wild, COUNT(*) AS n FROM people GROUP BY wild", PEOPLE)
    plan = plan_of(asked, Terms.parse(1, "1e-6"))
    keys = tuple((asked.cells.keys[0].label(stored),) for stored in (-1e308, 0.5, 2.0, 1e308))
    answer = answer_of(plan, Released(keys, {Rows(): np.array([1, 2, 3, 4])}))
    assert answer.labels == ((-1e308,), (0.5,), (2,), (1e308,))
    assert [type(label) for (label,) in answer.labels] == [float, float, int, float]
    assert answer.to_arrow().num_rows == 4
