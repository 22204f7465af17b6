"""The worker that asks DuckDB plainly, on the Parquet file and without any protection: the measure of engine time."""

from functools import partial

import duckdb

from benchmarks.people import path
from benchmarks.serve import Draw, Laws, serve

SQL = {
    "count": "SELECT count(*) FROM {}",
    "count by region": "SELECT region, count(*) FROM {} GROUP BY region",
    "sum by region": "SELECT region, sum(income) FROM {} GROUP BY region",
    "median": "SELECT median(income) FROM {}",
    "median by region": "SELECT region, median(income) FROM {} GROUP BY region",
    "units by region": "SELECT region, count(DISTINCT person_id) FROM {} GROUP BY region",
}
_CONNECTION = duckdb.connect()


def _asked(sql: str, rows: str) -> Draw:
    text = sql.format(f"'{path(int(rows))}'")
    return lambda n: [_CONNECTION.execute(text).fetchnumpy() for _ in range(n)]


LAWS: Laws = {name: partial(_asked, sql) for name, sql in SQL.items()}

if __name__ == "__main__":
    serve(LAWS)
