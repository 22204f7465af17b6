"""Every cell, however nasty, becomes what the twin says, and none can fail."""

from collections import Counter
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells import Family, cell, family, text, value
from discreet.query.layout import storage
from discreet.schema import Column, Schema, Type

from .twin import SCHEMA, as_row, sql_rows
from .twin import cell as twin_cell

NASTY = [
    None, "", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e308", "-1e308", "5e-324", "-0.0", "0",
    " 12", "12 ", "12.0", "12.5", "-12.5", "0.005", "0.145", "99.995", "+5", "1e3", ".5", "5.", "1,5", "12abc", "--1",
    "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "99999999999999999999999999999999999999999999999", "1", "2", "5", "3", "-25", "-24.9", "24", "25", "1000", "1001",
    "2020-02-30", "2020-02-29", "1969-12-31", "1949-12-31", "0001-01-01", "9999-12-31", "2020-06-15T10:11:59.999999",
    "1969-12-31T23:59:59.5", "infinity", "-infinity", "true", "FALSE", "yes", "n", "2", "north", "North", "north ",
    "1_000", "1_0.5", "2020-06-15T01:30:00+02:00", "2020-06-15 23:30:00-01", "9007199254740991", "4503599627370497",
    "o'east", "o''east", '"', "'; DROP TABLE source; --", "naïve", "日本", "\u202e", "\\", "%", "NULL", "none",
]  # fmt: skip
COLUMNS = [column for column in SCHEMA.columns if column.name != "who"]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_cell_is_what_the_twin_says(column):
    schema = Schema("people", [column])
    rows_read = sql_rows(schema, [(text,) for text in NASTY], only="c0")
    assert Counter(rows_read) == Counter((twin_cell(column, text),) for text in NASTY)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec="utf-8"), max_size=12)), max_size=40))
def test_no_text_makes_preparing_fail(texts):
    rows = [("u", *[text] * len(SCHEMA.columns)) for text in texts]
    assert len(sql_rows(SCHEMA, rows)) == min(len(rows), 3)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats().map(repr) | st.integers(-(2**70), 2**70).map(str), max_size=30))
def test_numbers_are_what_the_twin_says(texts):
    columns = [column for column in COLUMNS if column.type in (Type.NUMBER, Type.INTEGER)]
    schema = Schema("people", columns)
    rows = [(text,) * len(columns) for text in texts]
    rows_read = sql_rows(schema, rows, only=", ".join(storage(schema, column).name for column in columns))
    assert Counter(rows_read) == Counter(as_row(schema, ("", *row)) for row in rows)


@pytest.mark.parametrize("step", [Fraction(1, 3), Fraction(7, 1000), Fraction(1, 2**30), 2**70, Fraction(10) ** 40])
def test_steps_of_every_kind_stay_within_the_lattice(step):
    column = Column("x", "number", bounds=(-step * 5, step * 5), step=step)
    cells_read = [row[0] for row in sql_rows(Schema("t", [column]), [(text,) for text in NASTY], only="c0")]
    kept = [steps for steps in cells_read if steps is not None]
    assert -5 in kept
    assert all(-5 <= steps <= 5 for steps in kept)


@pytest.mark.parametrize("step", [1, 3, 10**30, 10**60])
def test_wide_integer_steps_are_total(step):
    column = Column("x", "integer", bounds=(-step * 5, step * 5), step=step)
    cells_read = [row[0] for row in sql_rows(Schema("t", [column]), [(text,) for text in NASTY], only="c0")]
    assert {-5, 5} <= set(cells_read)
    assert all(-5 <= steps <= 5 for steps in cells_read if steps is not None)


TYPED = [
    ("255::UTINYINT", "UTINYINT", Family.WHOLE), ("-1::HUGEINT", "HUGEINT", Family.WHOLE),
    ("340282366920938463463374607431768211455::UHUGEINT", "UHUGEINT", Family.WHOLE),
    ("12.5::FLOAT", "FLOAT", Family.REAL), ("'nan'::DOUBLE", "DOUBLE", Family.REAL),
    ("'-inf'::DOUBLE", "DOUBLE", Family.REAL), ("12.50::DECIMAL(8,2)", "DECIMAL(8,2)", Family.DECIMAL),
    ("true", "BOOLEAN", Family.FLAG), ("DATE 'infinity'", "DATE", Family.DAY),
    ("DATE '5000000-01-01'", "DATE", Family.DAY), ("TIMESTAMP '-infinity'", "TIMESTAMP", Family.MOMENT),
    ("'2020-01-01 10:00:00+02'::TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", Family.MOMENT),
    ("'2020-01-01'::TIMESTAMP_NS", "TIMESTAMP_NS", Family.MOMENT), ("[1, 2]", "INTEGER[]", Family.TEXT),
    ("[TIMESTAMP '2020-01-01']", "TIMESTAMP[]", Family.TEXT), ("{'a': 1}", "STRUCT(a INTEGER)", Family.TEXT),
    ("'ab'::BLOB", "BLOB", Family.TEXT), ("INTERVAL 1 DAY", "INTERVAL", Family.TEXT), ("NULL", "\"NULL\"", Family.TEXT),
    ("TIME '10:00:00'", "TIME", Family.TEXT), ("'00000000-0000-0000-0000-000000000000'::UUID", "UUID", Family.TEXT),
]  # fmt: skip


@pytest.mark.parametrize(("literal", "kind", "held"), TYPED, ids=[row[0] for row in TYPED])
def test_every_type_of_source_goes_into_every_type_of_column(literal, kind, held):
    assert family(kind) is held
    cells = ", ".join(cell(SCHEMA, column, f"v{place}") for place, column in enumerate(SCHEMA.columns))
    reads = ", ".join(f"{value(column, 's', held)} AS v{place}" for place, column in enumerate(SCHEMA.columns))
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TYPE t{storage(SCHEMA, SCHEMA.find('region')).name} AS ENUM ('north', 'south')")
        connection.execute(f"CREATE TABLE source AS SELECT {literal} AS s UNION ALL SELECT NULL")
        rows = connection.execute(
            f"SELECT {cells}, t FROM (SELECT {reads}, {text('s', held)} AS t FROM source)"
        ).fetchall()
        assert len(rows) == 2


def test_typed_cells_are_exact():
    def one(literal, held, column):
        with duckdb.connect() as connection:
            read = f"SELECT {value(column, 's', held)} AS v FROM (SELECT {literal} AS s)"
            return connection.execute(f"SELECT {cell(Schema('t', [column]), column, 'v')} FROM ({read})").fetchone()[0]

    whole = Column("x", "integer", bounds=(0, 2**60))
    assert one(f"{2**53 + 1}::UBIGINT", Family.WHOLE, whole) == 2**53 + 1
    assert one("-12.5::DOUBLE", Family.REAL, Column("x", "integer")) == -12
    assert one("1e30::DOUBLE", Family.REAL, whole) == 2**60
    assert one("TIMESTAMP '1969-12-31 23:00:00'", Family.MOMENT, Column("x", "date")) == -1
    assert one("TIMESTAMP 'infinity'", Family.MOMENT, Column("x", "date")) is None
    assert one("1.0::DOUBLE", Family.REAL, Column("x", "text")) == "1"
    assert one("DATE '1970-01-02'", Family.DAY, Column("x", "datetime")) == 86400
