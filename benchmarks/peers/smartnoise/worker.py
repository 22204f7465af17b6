"""SmartNoise SQL on a pandas table: each person keeps at most `CAP` random rows.  It has no median.

The table is in memory before the clock starts.  Keys count as public, so its key selection is off.
"""

from functools import cache
from typing import Any

import pandas as pd
from snsql import Privacy, from_df

from benchmarks.people import AGES, CAP, INCOMES, REGIONS, path
from benchmarks.serve import Draw, Laws, serve

SQL = {
    "count": "SELECT COUNT(*) AS n FROM db.people",
    "count by region": "SELECT region, COUNT(*) AS n FROM db.people GROUP BY region",
    "sum by region": "SELECT region, SUM(income) AS total FROM db.people GROUP BY region",
    "units by region": "SELECT region, COUNT(DISTINCT person_id) AS n FROM db.people GROUP BY region",
}
_TABLE = {
    "max_ids": CAP,
    "sample_max_ids": True,
    "censor_dims": False,
    "person_id": {"type": "int", "private_id": True},
    "region": {"type": "string", "cardinality": len(REGIONS)},
    "age": {"type": "int", "lower": AGES[0], "upper": AGES[1]},
    "income": {"type": "float", "lower": float(INCOMES[0]), "upper": float(INCOMES[1])},
}


@cache
def _reader(rows: str) -> Any:
    table = pd.read_parquet(path(int(rows)))
    return from_df(table, metadata={"": {"db": {"people": _TABLE}}}, privacy=Privacy(epsilon=1.0, delta=1e-7))


def _asked(sql: str, rows: str) -> Draw:
    reader = _reader(rows)
    return lambda n: [reader.execute(sql) for _ in range(n)]


LAWS: Laws = {name: (lambda rows, sql=sql: _asked(sql, rows)) for name, sql in SQL.items()}

if __name__ == "__main__":
    serve(LAWS)
