"""DuckDB's operations yield the SQL they always did, and PostgreSQL's none that only DuckDB has."""

import hashlib
import re

from discreet.query.bound import draft_of
from discreet.query.compile.operations import DUCKDB, Operations
from discreet.query.compile.postgres import POSTGRES, Postgres
from discreet.query.compile.statements import statements
from discreet.query.sql import parse_sql
from shapes.shapes import AXES, FILTERS, covering, plain, planned, with_population
from shapes.tables import apart, measured_parts

# SHA-256 of all statements of all shapes, as compiled before there was a second engine
BEFORE = "ab5eaf1d3c5fdc6f0745a73a06aaf71997cce8db75016801a0d3553e3e2c35b5"
DUCKDB_ONLY = re.compile(r"//|\bTRY|\blist_position|\benum_range|\bisnan|\bisfinite|\bSEMI JOIN|\bANTI JOIN|\bDOUBLE\b")


def test_the_sql_for_duckdb_is_the_sql_from_before_the_cut(monkeypatch):
    """Of the shapes that there were then: parts of units came later."""
    monkeypatch.setitem(AXES, "where", tuple(name for name in FILTERS if name != "units"))
    shapes = [*covering(), *plain(), *with_population()]
    compiled = [
        statement.sql for shape in shapes for batch in apart({0: planned(shape)}) for statement in batch.statements
    ]
    assert hashlib.sha256("\n".join(compiled).encode()).hexdigest() == BEFORE


def test_the_default_operations_are_those_of_duckdb():
    draft = draft_of(parse_sql("SELECT kind, SUM(age) AS s FROM people GROUP BY kind").question, plain()[0].schema)
    given = (draft.schema, draft.cells, draft.question.where, draft.caps, [need.part for need in draft.needs])
    assert statements(*given) == statements(*given, DUCKDB)


def test_no_sql_for_postgresql_has_what_only_duckdb_has():
    for shape in covering():
        draft, parts = (plan := planned(shape)).draft, measured_parts(plan)
        for statement in statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts, POSTGRES):
            assert not DUCKDB_ONLY.search(re.sub(r"'[^']*'", "''", statement.sql)), statement.sql


def test_postgresql_inherits_only_sql_that_it_shares_with_duckdb():
    operations = {name for name in vars(Operations) if not name.startswith("_")}
    assert operations - set(vars(Postgres)) == {"double", "flag_as_double"}
