"""OpenDP's questions in Polars form: the unit is a person's identifier, and each keeps at most `CAP` random rows.

Where OpenDP offers several forms the fastest that bounds whole units is taken: whole-number sums, since its
floating-point sums take twice as long, and group keys given as public values.  It scans the Parquet file itself.
"""

from collections.abc import Callable
from typing import Any

import opendp.prelude as dp
import polars as pl

from benchmarks.people import CAP, INCOMES, REGIONS, path
from benchmarks.serve import Laws, serve

dp.enable_features("contrib")

_GRID = [float(income) for income in range(INCOMES[0], INCOMES[1] + 1, 200)]
_MEDIAN = pl.col.income.fill_nan(0.0).fill_null(0.0).dp.median(_GRID)


def _context(rows: str) -> Any:
    """A context for one question at ε = 1; the table's size and the number of regions are public."""
    margins = [
        dp.polars.Margin(by=(), max_length=int(rows)),
        dp.polars.Margin(by=("region",), max_length=int(rows), max_groups=len(REGIONS)),
    ]
    return dp.Context.compositor(
        data=pl.scan_parquet(path(int(rows))),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person_id")),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
        split_evenly_over=1,
        margins=margins,
    )


def _whole(rows: str, item: Any) -> Any:
    return _context(rows).query().truncate_per_group(CAP).select(item)


def _by_region(rows: str, item: Any) -> Any:
    bounded = _context(rows).query().truncate_per_group(CAP)
    return bounded.group_by("region").agg(item).with_keys(pl.LazyFrame({"region": REGIONS}))


def _asked(ask: Callable[[str, Any], Any], item: Any) -> Callable[[str], Callable[[int], list[Any]]]:
    """Planning, noise and collecting are all in the time; importing is not."""
    return lambda rows: lambda n: [ask(rows, item).release().collect() for _ in range(n)]


LAWS: Laws = {
    "count": _asked(_whole, dp.len(signed=True)),
    "count by region": _asked(_by_region, dp.len(signed=True)),
    "sum by region": _asked(_by_region, pl.col.income.cast(int).fill_null(0).dp.sum(INCOMES)),
    "median": _asked(_whole, _MEDIAN),
    "median by region": _asked(_by_region, _MEDIAN),
    "units by region": _asked(_by_region, pl.col.person_id.dp.n_unique(signed=True)),
}

if __name__ == "__main__":
    serve(LAWS)
