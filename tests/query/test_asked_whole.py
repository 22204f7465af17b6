"""Answers through the whole path, at an epsilon at which noise rounds to nothing, beside plain DuckDB on the file."""

import duckdb
import pytest

import discreet as dp
from discreet.errors import NotAnswerable

TOML = """\
[dataset]
name = "t"
source = "t.csv"
[columns.x]
type = "number"
bounds = [0, 50]
step = 1
[columns.a]
type = "category"
values = ["0", "1", "2"]
[columns.town]
type = "text"
[budget]
epsilon = 1e6
delta = 1e-6
"""
EPSILON = 10**4
LONG = "9" * 300


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    rows = [f"{17 + i % 3},{i % 3},{('rome', '1e5', LONG)[i % 3]}" for i in range(300)]
    (folder / "t.csv").write_text("\n".join(["x,a,town", *rows]) + "\n")
    (folder / "t.toml").write_text(TOML)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        people = dp.open(folder / "t.toml")
        with duckdb.connect() as con:
            kinds = "{'x': 'DECIMAL(9,2)', 'a': 'VARCHAR', 'town': 'VARCHAR'}"
            con.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{folder / 't.csv'}', columns={kinds}, header=true)")
            yield people, con
        people.close()


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM t WHERE x > 17.5",
    "SELECT COUNT(*) AS n FROM t WHERE x <= 17.5",
    "SELECT COUNT(*) AS n FROM t WHERE x = 17.5",
    "SELECT COUNT(*) AS n FROM t WHERE x <> 17.5",
    "SELECT COUNT(*) AS n FROM t WHERE x + 0.5 BETWEEN 17.75 AND 19.25",
    "SELECT a, COUNT(*) AS n FROM t WHERE a IN ('0', '1') GROUP BY a ORDER BY a",
    "SELECT a, COUNT(*) AS n FROM t GROUP BY a HAVING n > 5 AND a <> '1' ORDER BY a",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_an_answer_is_what_duckdb_says(both, sql):
    people, con = both
    answer = people.sql(sql).ask(epsilon=EPSILON)
    assert [tuple(row.values()) for row in answer.rows] == con.execute(sql).fetchall()


def test_a_median_is_not_invented_for_a_group_that_where_excludes(both):
    people, _ = both
    answer = people.sql("SELECT a, MEDIAN(x) AS m FROM t WHERE a IN ('0', '1') GROUP BY a").ask(epsilon=EPSILON)
    assert [row["a"] for row in answer.rows] == ["0", "1"]


def test_a_private_key_beyond_the_cap_is_no_group_and_others_may_be_cast_after_the_noise(both):
    people, _ = both
    asked = people.group_by("town").agg(n=dp.count()).having(dp.col("town").cast("number") > 5)
    assert [row["town"] for row in asked.ask(epsilon=EPSILON, delta="1e-8").rows] == ["1e5"]


@pytest.mark.parametrize("tail", ["GROUP BY a HAVING a = 1", "GROUP BY a HAVING a", "GROUP BY a LIMIT 0"])
def test_a_refused_question_is_not_charged(both, tail):
    people, _ = both
    spent = people.budget.spent.epsilon
    with pytest.raises(NotAnswerable):
        people.sql(f"SELECT a, COUNT(*) AS n FROM t {tail}").ask(epsilon=EPSILON)
    assert people.budget.spent.epsilon == spent
