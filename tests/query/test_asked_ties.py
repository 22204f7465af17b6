"""Quantiles of tied values through the whole path, at an epsilon at which only the best is chosen, beside DuckDB."""

import duckdb
import pytest

import discreet as dp

TOML = """\
[dataset]
name = "t"
source = "t.csv"
[columns.visits]
type = "integer"
bounds = [0, 200]
[columns.day]
type = "date"
bounds = ["2020-01-01", "2020-12-31"]
[columns.rating]
type = "number"
bounds = [0, 5]
step = 0.5
[columns.g]
type = "category"
values = ["a", "b"]
[budget]
epsilon = 1e6
delta = 1e-6
"""
ROWS = 997  # a prime, so that no q·n below is whole and the q-quantile is one value
HEAPS, DAYS = (0, 1, 1, 1, 7, 7, 100, 100, 100, 200), ("2020-01-01", "2020-02-29", "2020-02-29", "2020-11-03")
RATINGS = (0.5, 1, 2, 2.5, 3, 3.5, 3.5, 4, 4, 4, 4.5, 5, 5, 5)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ties")
    rows = [f"{HEAPS[i % 10]},{DAYS[i % 4]},{RATINGS[i % 14]},{'ab'[i < 300]}" for i in range(ROWS)]
    (folder / "t.csv").write_text("\n".join(["visits,day,rating,g", *rows]) + "\n")
    (folder / "t.toml").write_text(TOML)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        people = dp.open(folder / "t.toml")
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE t AS FROM read_csv('{folder / 't.csv'}', header=true)")
            yield people, con
        people.close()


@pytest.mark.parametrize("q", ["0.01", "0.1", "0.25", "0.5", "0.7", "0.9", "0.99"])
@pytest.mark.parametrize("column", ["visits", "day", "rating"])
def test_the_quantile_of_tied_values_is_what_duckdb_says(both, column, q):
    people, con = both
    (row,) = people.sql(f"SELECT QUANTILE({column}, {q}) AS x FROM t").ask(epsilon=10**4).rows
    (wanted,) = con.execute(f"SELECT quantile_disc({column}, {q}) FROM t").fetchone()
    assert row["x"] == (str(wanted) if column == "day" else wanted)


def test_a_quantile_that_is_not_unique_is_one_of_its_points(both):
    """300 rows are in b, so the median may lie anywhere between two values: counted, not compared."""
    people, con = both
    (row,) = people.sql("SELECT MEDIAN(visits) AS x FROM t WHERE g = 'b'").ask(epsilon=10**4).rows
    sql = "SELECT count(*) FILTER (visits < $1), count(*) FILTER (visits > $1), count(*) FROM t WHERE g = 'b'"
    below, above, n = con.execute(sql, [row["x"]]).fetchone()
    assert max(below, above) <= n / 2
