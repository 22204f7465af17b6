"""The thin face: one door for all tables, quotes that are charged as quoted, budgets that end where they say."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.errors import BadValue, BudgetExceeded, NotAnswerable
from people_toml import TOWN, people_toml

SECRET = "zanzibarite"
TOML = people_toml("epsilon = 1\n{delta}", columns=TOWN, region="fixed_per_unit = true\n")
ROWS = [(n // 2, ("north", "south")[n // 2 % 2], n % 100, SECRET) for n in range(400)]


@pytest.fixture
def make_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def dataset(delta="", table=None):
        (tmp_path / "people.toml").write_text(TOML.format(delta=delta))
        lines = ["person,region,age,town", *(",".join(map(str, row)) for row in ROWS)]
        (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
        opened.append(dp.open(tmp_path / "people.toml", table=table))
        return opened[-1]

    opened = []
    yield dataset
    for people in opened:
        people.close()


def test_a_budget_of_one_takes_ten_asks_of_a_tenth_and_nothing_more(make_dataset):
    people = make_dataset()
    for age in range(10):
        people.where(dp.col("age") > age).agg(n=dp.count()).ask(epsilon="0.1")
    for crumb, refusal in (("1e-9", BudgetExceeded), ("0.1", BudgetExceeded), ("1e-15", BadValue)):
        with pytest.raises(refusal):
            people.agg(n=dp.count()).ask(epsilon=crumb)
    assert people.budget.spent.epsilon == 1
    assert people.budget.charges == 10


def test_an_epsilon_delta_budget_takes_more_asks_than_their_sum_allows(make_dataset):
    people = make_dataset("delta = 1e-7")
    for age in range(60):
        people.where(dp.col("age") > age).agg(n=dp.count()).ask(epsilon="0.02")
    assert people.budget.spent.epsilon == Fraction("1.2") > people.table.budget.epsilon


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region",
    "SELECT region, COUNT(DISTINCT person) AS n FROM people GROUP BY region",
    "SELECT MEDIAN(age) AS m, SUM(age) AS s FROM people WHERE region = 'north'",
    "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    "SELECT STDDEV(age) AS s, MODE(region) AS r FROM people",
]


def test_what_is_quoted_is_what_is_charged(make_dataset):
    people = make_dataset("delta = 1e-7")
    for sql in QUESTIONS:
        asking = people.sql(sql)
        quote = asking.quote(epsilon="0.1")
        before = people.budget.spent.epsilon if people.budget else Fraction(0)
        answer = asking.ask(epsilon="0.1")
        assert answer.cost == quote.cost
        charged = [entry for entry in people.table.ledger.entries() if entry["kind"] == "charge"][-1]
        assert (Fraction(charged["epsilon"]), Fraction(charged["delta"])) == (
            Fraction(quote.cost["epsilon"]), Fraction(quote.cost["delta"]),
        )  # fmt: skip
        assert people.budget.spent.epsilon - before <= Fraction("0.1")


def test_a_quote_makes_no_file_and_reads_no_row(make_dataset, tmp_path):
    people = make_dataset()
    (tmp_path / "people.csv").unlink()
    assert people.sql(QUESTIONS[0]).quote(epsilon=1).columns[0].moe == 6
    assert {path.name for path in tmp_path.iterdir()} == {"people.toml"}


def test_parts_of_a_split_are_paid_for_side_by_side(make_dataset):
    people = make_dataset()
    for region in ("north", "south"):
        people.where(dp.col("region") == region).agg(n=dp.count()).ask(epsilon="0.6")
    assert people.budget.spent.epsilon == Fraction("0.6")
    with pytest.raises(BudgetExceeded):
        people.agg(n=dp.count()).ask(epsilon="0.6")


def test_a_repeated_question_gets_the_same_answer_for_nothing_until_the_table_changes(make_dataset, tmp_path):
    people = make_dataset()
    first = people.sql(QUESTIONS[1]).ask(epsilon="0.3")
    replayed = people.sql("select REGION, count(*) as n, avg(Age) as a from People group by Region").ask(epsilon="0.3")
    assert replayed.replayed
    assert replayed.to_bytes() == first.to_bytes()
    with (tmp_path / "people.csv").open("a") as table:
        table.write("9999,north,5,x\n")
    assert not people.sql(QUESTIONS[1]).ask(epsilon="0.3").replayed
    assert people.budget.spent.epsilon == Fraction("0.6")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_tables_in_memory_go_through_the_same_door(make_dataset, kind):
    import pandas
    import polars
    import pyarrow

    names = ["person", "region", "age", "town"]
    columns = {name: list(cells) for name, cells in zip(names, zip(*ROWS, strict=True), strict=True)}
    frame = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pyarrow.table}[kind](columns)
    answer = make_dataset(table=frame).sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM people").ask(epsilon=1)
    assert abs(answer.column("n").value[0] - 400) < 200
    assert SECRET not in repr(answer) + answer.explain()


def test_nothing_that_is_printed_holds_a_row(make_dataset):
    people = make_dataset("delta = 1e-7")
    asking = people.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town")
    said = repr(people) + repr(asking) + repr(asking.quote(epsilon=1)) + asking.explain()
    assert SECRET not in said
    assert "protects each person" in repr(people)


def test_a_unit_named_in_the_question_must_be_the_protected_one(make_dataset):
    people = make_dataset()
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, privacy_unit_column={}) COUNT(*) AS n FROM people"
    assert people.sql(head.format("person")).ask().cost["epsilon"] == "0.5"
    with pytest.raises(NotAnswerable, match="privacy_unit_column must be person"):
        people.sql(head.format("town"))


def test_a_name_that_is_almost_an_analysts_is_refused(make_dataset, tmp_path):
    people = make_dataset()
    text = (tmp_path / "people.toml").read_text()
    (tmp_path / "people.toml").write_text(text + "[budget.analysts]\nana = 0.5\n")
    people = dp.open(tmp_path / "people.toml")
    with pytest.raises(BadValue, match="Did you mean 'ana'"):
        people.agg(n=dp.count()).ask(epsilon="0.1", analyst="anna")
    with pytest.raises(BudgetExceeded):
        people.agg(n=dp.count()).ask(epsilon="0.6", analyst="ana")
    people.close()
