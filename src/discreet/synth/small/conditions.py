"""Queries as conditions on one row: texts of SQL, or the Python form; each is the share of rows that satisfy it."""

import re
from collections.abc import Iterable
from typing import Any

from discreet.errors import NotAnswerable, bad, short_text
from discreet.query.form.term import Term
from discreet.query.meaning.fold import columns
from discreet.query.meaning.names import in_sql
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import After, Caps, CountRows, Expr, Output, Question, weight
from discreet.query.sql import NO_OPTIONS, parse_sql
from discreet.schema import Schema

MOST_QUERIES = 10_000
MOST_PARTS = 500  # of one condition
_EXAMPLE = 'Write, for example: queries=["age >= 40 AND ill", dp.col("region") == "north"]'
_QUESTION = re.compile(r"\s*(select|with|from)\b", re.IGNORECASE)
_COUNTED = (Output("n", CountRows()),)


def conditions_of(queries: Any, schema: Schema) -> tuple[Expr, ...]:
    """The conditions in the schema's spelling, in the order of the queries; refused where one is none."""
    if isinstance(queries, (str, bytes, Term)) or not isinstance(queries, Iterable):
        raise bad("queries", "must be a list of conditions", queries, _EXAMPLE)
    listed = list(queries)
    if not 1 <= len(listed) <= MOST_QUERIES:
        raise bad("queries", f"must be 1 to {MOST_QUERIES:,} conditions", f"{len(listed)} of them", _EXAMPLE)
    return tuple(_condition(query, number, schema) for number, query in enumerate(listed, 1))


def _condition(query: Any, number: int, schema: Schema) -> Expr:
    try:
        where = resolved(Question(schema.name, _COUNTED, where=_expression(query, schema)), schema).where
    except NotAnswerable as error:
        raise NotAnswerable(f"Query {number}: {error.what}", error.why, error.fix, error.position) from None
    if where is None or not columns(where):
        what = f"Query {number} looks at no column."
        raise NotAnswerable(what, "Its answer is 0 or 1 whatever the rows are.", "Leave it out.")
    if weight(where) > MOST_PARTS:
        why = f"It may have {MOST_PARTS} parts, because it is tried on every cell."
        raise NotAnswerable(f"Query {number} is too long.", why, "Write a shorter condition.")
    return where


def _expression(query: Any, schema: Schema) -> Expr:
    """The expression of a condition: of a term, or of a text that stands where WHERE has its condition."""
    if isinstance(query, Term):
        return query.expr
    if isinstance(query, str) and _QUESTION.match(query):
        why = "Its answer is the share of rows for which it is true, so it has no SELECT."
        fix = "Write what would stand after WHERE alone, such as \"color = 'green'\"."
        raise NotAnswerable("A query is one condition on a row, not a question.", why, fix)
    if not isinstance(query, str):
        raise bad("query", "must be a condition: SQL text, or the Python form", query, _EXAMPLE)
    try:
        parsed = parse_sql(f"SELECT COUNT(*) AS n FROM {in_sql(schema.name)} WHERE\n{query}")
    except NotAnswerable as error:
        line, column = error.position or (2, 1)
        raise NotAnswerable(error.what, error.why, error.fix, (max(line - 1, 1), column)) from None
    question = parsed.question
    where = question.where
    is_plain = (question.keys, question.caps, question.after, parsed.options) == ((), Caps(), After(), NO_OPTIONS)
    if where is None or not is_plain:
        why = f"{short_text(query)} goes on with other clauses."
        raise NotAnswerable("A query is one condition on a row.", why, "Write what would stand after WHERE alone.")
    return where
