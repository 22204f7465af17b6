"""Preparing takes time in proportion to the number of columns."""

import contextlib

import pytest

from discreet.engine import connect
from discreet.engine.cells import Family
from discreet.engine.prepare import Table, steps
from discreet.schema import Column, Schema, Unit

KINDS = (
    {"type": "integer", "bounds": (0, 10)},
    {"type": "integer", "bounds": (0, 100), "step": 5, "fixed_per_unit": True},
    {"type": "date", "bounds": ("2000-01-01", "2030-01-01")},
    {"type": "number"},
    {"type": "category", "values": ("a", "b")},
)


def statements(number, unit, kinds=KINDS):
    """All SQL that prepares a table of that many columns, from text."""
    columns = [Column(f"c{place}", **kinds[place % len(kinds)]) for place in range(number)]
    if unit is None:
        columns = [Column(column.name, column.type, column.bounds, column.values) for column in columns]
    names = [column.name for column in columns] + ([] if unit is None else [unit.key])
    table = Table("source", {name: (f"s{place}", Family.TEXT) for place, name in enumerate(names)})
    return [sql for step in steps(Schema("t", columns, unit), table) for sql in step.statements]


@pytest.mark.parametrize("unit", [Unit("who", 2), None])
def test_twice_the_columns_are_twice_the_sql(unit):
    half, whole = (sum(map(len, statements(number, unit))) for number in (250, 500))
    assert 1.9 * half < whole < 2.1 * half


@pytest.mark.parametrize(("kind", "dear"), [(KINDS[0], "'_', '?') AS DOUBLE"), (KINDS[2], "AS TIMESTAMPTZ")])
def test_no_text_is_read_twice(kind, dear):
    assert sum(sql.count(dear) for sql in statements(50, Unit("who", 2), [kind])) == 50


def test_nothing_searches_all_columns_for_each():
    """One optimizer of the engine compares every expression with the others: 2,000 columns took it minutes."""
    opened = connect.preparing(":memory:", [], memory=2**28, threads=1, spill="")
    with contextlib.closing(opened) as connection:
        disabled = connection.execute("SELECT current_setting('disabled_optimizers')").fetchone()[0]
    assert set(disabled.split(",")) == {"common_subexpressions", "statistics_propagation"}
