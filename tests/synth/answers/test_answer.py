"""Answers of synthetic rows: the dialect of private tables, the values of plain SQL, and a ± that says what it is."""

import json
import statistics
from itertools import combinations

import duckdb
import pytest

import discreet as dp
from discreet.errors import DiscreetError, NotAnswerable
from discreet.synth.answers.answer import MEASURED, NONE, REPLICATES
from discreet.synth.answers.replicate import replicate_tables
from synth.answers.built import built
from synth.folk import rows_of, written

PLAIN = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT COUNT(age) AS n, COUNT(*) AS rows FROM people",
    "SELECT COUNT(DISTINCT region) AS n FROM people",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex",
    "SELECT region, COUNT(*) AS n, SUM(pay) AS pay, AVG(age) AS age FROM people WHERE ill GROUP BY region",
    "SELECT sex, region, COUNT(*) AS n FROM people WHERE age BETWEEN 20 AND 60 GROUP BY sex, region",
    "SELECT ill, COUNT(*) AS n FROM people WHERE region <> 'north' AND pay >= 20.5 GROUP BY ill HAVING n > 5",
    "SELECT STDDEV_SAMP(pay) AS s, VAR_POP(age) AS v, CORR(age, pay) AS c, COVAR_SAMP(age, pay) AS k FROM people",
    "SELECT region, AVG(pay) AS pay FROM people WHERE sex = 'f' GROUP BY region ORDER BY pay DESC LIMIT 2",
    "SELECT COUNT(*) AS n FROM people WHERE age IS NULL OR pay > age",
]
SEVERAL = [*PLAIN[:6], "SELECT sex, COUNT(DISTINCT who) AS n, COUNT(*) AS rows FROM people GROUP BY sex"]
KINDS = [
    ("COUNT(*) AS n FROM people", [MEASURED]),
    ("sex, COUNT(*) AS n FROM people GROUP BY sex", [MEASURED] * 2),
    ("COUNT(DISTINCT who) AS n FROM people WHERE region = 'north'", [MEASURED]),
    ("COUNT(*) AS n FROM people WHERE region IN ('north', 'east') OR region IS NULL", [MEASURED]),
    ("COUNT(pay) AS n FROM people", [MEASURED]),
    ("COUNT(*) AS n FROM people WHERE age >= 18 AND age < 65", [MEASURED]),
    ("COUNT(*) AS n FROM people WHERE age > 18", [REPLICATES]),  # in the middle of [18, 40)
    ("COUNT(*) AS n FROM people WHERE age >= 18 AND age < 66", [REPLICATES]),
    ("BIN(age) AS age, COUNT(*) AS n FROM people GROUP BY BIN(age)", [MEASURED] * 4),
    ("BIN(age, 0, 18, 30, 110) AS age, COUNT(*) AS n FROM people GROUP BY age", [REPLICATES] * 3),
    ("COUNT(*) AS n FROM people WHERE pay % 2 = 0", [REPLICATES]),
    ("COUNT(*) AS n FROM people WHERE lower(sex) = 'f'", [REPLICATES]),
    ("COUNT(*) AS n FROM people WHERE sex = 'f' OR ill", [REPLICATES]),
    ("COUNT(*) AS n FROM people WHERE sex = 'f' AND ill AND region = 'east'", [REPLICATES]),
    ("AVG(pay) AS n FROM people", [REPLICATES]),
    ("SUM(pay) AS n FROM people", [REPLICATES]),
    ("MEDIAN(age) AS n FROM people", [REPLICATES]),
    ("MODE(region) AS n FROM people", [NONE]),
    ("COUNT(DISTINCT region) AS n FROM people", [REPLICATES]),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return built(tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return built(tmp_path_factory.mktemp("several"), max_rows=3, count=300)


def by_duckdb(table, sql):
    """The rows that plain DuckDB gives on the synthetic rows."""
    people = table.to_arrow()
    with duckdb.connect() as connection:
        connection.register("people", people)
        result = connection.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def same(own, other):
    """Whether rows agree; groups of a key that is empty belong to no group here."""
    keys = [name for name, cell in own[0].items() if isinstance(cell, str | bool)] if own else []
    filled = {tuple(row[key] for key in keys): row for row in other if all(row[key] is not None for key in keys)}
    assert {tuple(row[key] for key in keys) for row in own if row.get("n", 1)} <= set(filled)
    for row in own:
        expected = filled.get(tuple(row[key] for key in keys))
        for name, cell in row.items() if expected else ():
            if isinstance(cell, int | float) and not isinstance(cell, bool):
                assert cell == pytest.approx(float(expected[name]), rel=1e-5, abs=1e-6), name
            else:
                assert cell == expected[name], name


@pytest.mark.parametrize("sql", PLAIN)
def test_values_are_those_of_plain_sql_on_the_rows(table, sql):
    answered = table.answer(sql)
    same([{name: row[name] for name in by_names(answered)} for row in answered.rows], by_duckdb(table, sql))


@pytest.mark.parametrize("sql", SEVERAL)
def test_values_of_persons_with_several_rows_are_those_of_plain_sql(shared, sql):
    answered = shared.answer(sql)
    same([{name: row[name] for name in by_names(answered)} for row in answered.rows], by_duckdb(shared, sql))


def by_names(answered):
    return [*answered.keys, *(column.name for column in answered.columns)]


def test_a_quantile_is_a_value_of_the_rows_at_its_rank(table):
    (row,) = table.answer("SELECT MEDIAN(age) AS age FROM people").rows
    (plain,) = by_duckdb(table, "SELECT quantile_disc(age, 0.5) AS age FROM people")
    assert row["age"] == plain["age"]
    top = table.answer("SELECT TOP_K(region, 2) AS region FROM people").rows[0]["region"]
    counts = by_duckdb(table, "SELECT region, count(*) AS n FROM people WHERE region IS NOT NULL GROUP BY ALL")
    by_region = {row["region"]: row["n"] for row in counts}
    assert [by_region[region] for region in top] == sorted(by_region.values(), reverse=True)[:2]


@pytest.mark.parametrize(("sql", "kinds"), KINDS, ids=[sql for sql, _ in KINDS])
def test_only_counts_of_whole_measured_cells_are_called_measured(table, sql, kinds):
    answered = table.answer(f"SELECT {sql}")
    assert list(answered.kinds[0]) == kinds
    assert [measured is not None for measured in answered.measured[0]] == [kind == MEASURED for kind in kinds]


def test_two_columns_are_measured_where_whole_groups_of_their_pair_were(table):
    """An empty cell that nobody seems to have may share the group of the last value: that one is not whole."""
    pairs = {measured.columns for measured in table.measured if len(measured.columns) == 2}
    cells = {"sex": "sex = 'f'", "region": "region = 'north'", "ill": "NOT ill"}
    kinds = {}
    for left, right in combinations(cells, 2):
        (kinds[left, right],) = table.answer(
            f"SELECT COUNT(*) AS n FROM people WHERE {cells[left]} AND {cells[right]}"
        ).kinds[0]
    assert kinds == {pair: MEASURED if pair in pairs else REPLICATES for pair in combinations(cells, 2)}
    assert MEASURED in kinds.values()
    part = next(part for part in table.build.parts if part.tally["name"] == "pairs")
    if part.tally["groups"][4][1] == part.tally["groups"][4][2]:  # ill, and empty
        assert table.answer("SELECT COUNT(*) AS n FROM people WHERE region = 'north' AND ill").kinds == ((REPLICATES,),)


def test_rows_of_persons_with_several_were_not_measured_but_persons_were(shared):
    assert shared.answer("SELECT COUNT(*) AS n FROM people").kinds == ((REPLICATES,),)
    assert shared.answer("SELECT COUNT(DISTINCT who) AS n FROM people").kinds == ((MEASURED,),)
    assert shared.answer("SELECT COUNT(DISTINCT who) AS n FROM people WHERE sex = 'f'").kinds == ((MEASURED,),)
    assert shared.answer("SELECT COUNT(DISTINCT who) AS n FROM people WHERE ill").kinds == ((REPLICATES,),)


def test_measured_counts_are_as_exact_as_their_noise(tmp_path):
    """ε = 900: noise of less than a person. Two counts, each within 3 radii of 1.96 σ, a chance below 10⁻⁸."""
    table = built(tmp_path, max_rows=2, count=200, epsilon=900)
    women = sum(number % 2 for number in range(200))
    private = {"f": women, "m": 200 - women}
    counted = table.answer("SELECT sex, COUNT(DISTINCT who) AS n FROM people GROUP BY sex")
    (column,), (measured,) = counted.columns, counted.measured
    for row, centre, low, high in zip(counted.rows, measured, column.low, column.high, strict=True):
        radius = (high - low) / 2
        assert radius < 1
        assert abs(centre - private[row["sex"]]) <= 3 * radius
        assert abs(row["n"] - private[row["sex"]]) <= row["n_moe"] + 2 * radius


def test_the_ends_of_a_measured_count_are_around_the_measured_one(table):
    answered = table.answer("SELECT region, COUNT(*) AS n FROM people GROUP BY region")
    (column,), (measured,) = answered.columns, answered.measured
    for value, low, high, moe, centre in zip(column.value, column.low, column.high, column.moe, measured, strict=True):
        assert low <= centre <= high
        assert (low + high) / 2 == pytest.approx(centre)
        assert moe == pytest.approx(max(value - low, high - value), rel=1e-4)


def test_spread_of_replicates_is_that_of_their_plain_values(table):
    """± is t·s of what plain SQL gives on 20 replicates, with Student's t of 19, 2.093."""
    sql = "SELECT AVG(pay) AS pay FROM people WHERE sex = 'f'"
    values = [by_duckdb(other, sql)[0]["pay"] for other in replicate_tables(table, 20)]
    (row,) = table.answer(sql).rows
    assert row["pay_moe"] == pytest.approx(2.093 * statistics.stdev(values), rel=1e-3)


def test_an_answer_is_free_and_the_same_when_it_is_asked_again(tmp_path):
    sql = "SELECT sex, COUNT(*) AS n, AVG(pay) AS pay FROM people GROUP BY sex"
    with dp.open(written(tmp_path)) as people:
        table = people.synthesize().build(epsilon=2)
        assert repr(table.answer(sql)) == repr(table.answer(sql))
        anew = people.synthesize().build(epsilon=2)
        assert table.answer(sql).to_json() == anew.answer(sql).to_json()
        assert people.budget.spent.epsilon == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people",
        "SELECT age FROM people",
        "SELECT COUNT(*) FROM others",
        "SELECT COUNT(*) FROM people JOIN people",
        "SELECT COUNT(*) FROM people; DROP TABLE people",
        "SELECT COUNT(*) FROM people WHERE nothing = 1",
        "SELECT COUNT(*) FROM read_csv('people.csv')",
        "",
    ],
)
def test_what_the_dialect_refuses_is_refused_in_its_words(tmp_path, sql):
    with dp.open(written(tmp_path)) as people:
        table = people.synthesize(columns=["sex", "region", "age", "pay", "ill"]).build(epsilon=2)
        with pytest.raises(DiscreetError) as private:
            people.sql(sql)
        with pytest.raises(DiscreetError) as synthetic:
            table.answer(sql)
        assert str(synthetic.value) == str(private.value)


def test_a_column_that_is_not_synthesised_is_refused_with_what_to_do(tmp_path):
    note = '[columns.note]\ntype = "text"\n'
    toml = written(tmp_path, [[*row, "x"] for row in rows_of(50)], columns=note)
    with (tmp_path / "people.csv").open() as file:
        lines = file.read().splitlines()
    head = "who,sex,region,age,pay,ill,note,mark"
    (tmp_path / "people.csv").write_text("\n".join([head, *lines[1:]]) + "\n")
    with dp.open(toml) as people:
        table = people.synthesize(columns=["sex", "ill"]).build(epsilon=2)
        with pytest.raises(NotAnswerable, match="The synthetic table has no age") as refused:
            table.answer("SELECT AVG(age) AS age FROM people")
        assert "build a table whose columns hold age" in refused.value.fix
        whole = people.synthesize().build(epsilon=2)
        with pytest.raises(NotAnswerable, match="The synthetic table has no note") as refused:
            whole.answer("SELECT COUNT(note) AS n FROM people")
        assert "free text" in refused.value.why


def test_options_of_the_text_change_nothing(table):
    plain = table.answer("SELECT COUNT(*) AS n FROM people")
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_groups_contributed = 1)"
    assert table.answer(f"SELECT {options} COUNT(*) AS n FROM people").rows == plain.rows


def test_groups_without_rows_have_counts_of_0_and_no_mean(table):
    answered = table.answer("SELECT sex, COUNT(*) AS n, AVG(pay) AS pay FROM people WHERE pay < 0 GROUP BY sex")
    assert [(row["n"], row["pay"], row["pay_kind"]) for row in answered.rows] == [(0, None, NONE)] * 2


def test_forms_of_an_answer_agree(table):
    answered = table.answer("SELECT sex, COUNT(*) AS n, AVG(pay) AS pay FROM people GROUP BY sex")
    frame = answered.to_pandas()
    assert list(frame.columns) == ["sex", "n", "n_moe", "n_kind", "pay", "pay_moe", "pay_kind"]
    assert frame.to_dict("records") == answered.rows
    told = answered.to_json()
    assert json.loads(json.dumps(told))["rows"] == answered.rows
    assert told["charged"] == "0"
    assert told["synthetic"] is True
    assert "model error unknown" in " ".join(told["notes"])
    shown = repr(answered)
    assert "(measured)" in shown
    assert "(replicates)" in shown
    assert "model error unknown" in shown
    assert "nothing charged" in shown
    page = answered._repr_html_()
    assert page.startswith("<table>")
    assert page.count("<tr>") == 3


def test_a_public_number_of_rows_is_said(tmp_path):
    table = built(tmp_path, rows=500)
    answered = table.answer("SELECT COUNT(*) AS n, AVG(pay) AS pay FROM people")
    assert answered.rows[0]["n"] == 500
    assert any("500 units" in note for note in answered.notes)
    assert answered.rows[0]["n_moe"] > 50  # of 600 persons


def test_an_answer_of_a_rehearsal_is_stamped(tmp_path):
    table = built(tmp_path, rehearsal=True)
    answered = table.answer("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    assert list(answered.rows[0]) == ["sex", "n", "n_moe", "n_kind"]
    assert repr(answered).splitlines()[0].startswith("rehearsal")
    assert answered.to_json()["rehearsal"] is True
    assert all(row["rehearsal"] == "invented" for row in answered.to_json()["rows"])
    assert (answered.to_pandas()["rehearsal"] == "invented").all()
    assert "REHEARSAL" in answered._repr_html_()
