"""Bring a question into the schema's spelling, with typed expressions, so that equal questions have equal text."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.errors import NotAnswerable, short_text
from discreet.query import nodes
from discreet.query.meaning import released
from discreet.query.meaning.cells import bin_labels
from discreet.query.meaning.domain import Domain, domain, require
from discreet.query.meaning.known import COUNTED, NUMBERS, TIMES, is_null, text_of
from discreet.query.meaning.names import default_name, in_sql, respelt, unprintable
from discreet.query.meaning.normal import coerced, is_unit, normal, plain
from discreet.query.meaning.released import Released, Scope
from discreet.query.nodes import MOST_NODES, Aggregate, Col, Expr, Literal, Question, weight
from discreet.schema import Schema, Type
from discreet.schema.column import is_reserved
from discreet.schema.kind import number_of

MOST_EDGES = 10_001
MOST_POINTS = 10_000  # of a lattice whose every point is a key


def resolved(question: Question, schema: Schema) -> Question:
    """The question with every name as the schema spells it, every expression typed and in its one form.

    >>> from discreet.schema import Column
    >>> people = Schema("people", [Column("age", "integer", bounds=(0, 110))])
    >>> resolved(Question("PEOPLE", (nodes.Output("n", nodes.Count(Col("AGE"))),)), people).outputs[0].aggregate
    Count(item=Col(name='age'))
    """
    if question.table.casefold() != schema.name.casefold():
        fix = f"Write: FROM {in_sql(schema.name)}"
        raise NotAnswerable(f"There is no table {short_text(question.table)} here.", f"It is {schema.name}.", fix)
    if not question.outputs:
        raise NotAnswerable(
            "A question needs an aggregate.", "Single rows are never shown.", "Write: SELECT COUNT(*) …"
        )
    if weight(question) > MOST_NODES:
        what = f"The question has more than {MOST_NODES:,} parts when written out."
        raise NotAnswerable(
            what, "How long it takes to read must not grow without bound.", "Ask several smaller questions."
        )
    keys = tuple(_named_key(key, schema) for key in question.keys)
    outputs = tuple(_named_output(output, schema) for output in question.outputs)
    _require_names([*(key.name for key in keys), *(output.name for output in outputs)])
    columns = Released(
        {key.name: _key_domain(key.item, schema) for key in keys}
        | {output.name: _output_domain(output.aggregate, schema) for output in outputs}
    )
    where = None if question.where is None else _condition(question.where, schema, "WHERE", "x > 1")
    return replace(
        question,
        table=schema.name,
        keys=keys,
        outputs=outputs,
        where=where,
        after=_after(question.after, columns),
    )


def _named_key(key: nodes.Key, schema: Schema) -> nodes.Key:
    """The key; its name takes the schema's spelling if it differs in upper and lower case alone."""
    item = _key(key.item, schema)
    bare = item.item if isinstance(key.item, Col) and isinstance(item, nodes.Bins) else item
    return nodes.Key(respelt(key.name, default_name(bare)), item)


def _named_output(output: nodes.Output, schema: Schema) -> nodes.Output:
    """The output; its default name, which holds names of columns, takes their spelling."""
    typed = aggregate(output.aggregate, schema)
    unit = None if schema.unit is None else nodes.CountDistinct(Col(schema.unit.key))
    short = default_name(unit if unit is not None and isinstance(typed, nodes.CountUnits) else typed)
    return nodes.Output(respelt(output.name, short), typed)


def _condition(expr: Expr, scope: Scope, clause: str, example: str) -> Expr:
    """A condition in its one form, on rows or on released rows; both are typed by the same rules."""
    condition = normal(expr, scope)
    require(condition, scope, (Type.BOOLEAN,), f"{clause} takes a condition", f"Write, for example: {clause} {example}")
    return condition


# --- aggregates ----------------------------------------------------------------------------------------------------


def aggregate(measure: Aggregate, schema: Schema) -> Aggregate:
    """The aggregate with its items typed: numbers for sums and moments, numbers or dates for quantiles."""
    match measure:
        case nodes.CountRows() | nodes.CountUnits():
            return measure
        case nodes.CountDistinct(item) if is_unit(item, schema):
            return nodes.CountUnits()
        case nodes.Count(item) | nodes.CountDistinct(item) | nodes.Top(item, _):
            return replace(measure, item=normal(item, schema))
        case nodes.Sum(item) | nodes.Mean(item) | nodes.Variance(item, _) | nodes.Stddev(item, _):
            return replace(measure, item=_number(item, schema, _word(measure)))
        case nodes.Quantile(item, _) | nodes.Extreme(item, _):
            typed = normal(item, schema)
            require(typed, schema, (*COUNTED, *TIMES), f"{_word(measure)} needs an order", "Give a number or a date.")
            return replace(measure, item=typed)
        case nodes.Covariance(x, y, _) | nodes.Correlation(x, y):
            return replace(measure, x=_number(x, schema, _word(measure)), y=_number(y, schema, _word(measure)))
        case _:
            raise TypeError(f"{type(measure).__name__} is no aggregate")


def _word(measure: Aggregate) -> str:
    """The name of the aggregate in SQL."""
    match measure:
        case nodes.Mean():
            return "AVG"
        case nodes.Extreme(_, end):
            return str(end).upper()
        case nodes.Quantile(_, q):
            return "MEDIAN" if q == Fraction(1, 2) else "QUANTILE"
        case nodes.Covariance(_, _, less):
            return "COVAR_SAMP" if less else "COVAR_POP"
        case nodes.Correlation():
            return "CORR"
        case _:
            return type(measure).__name__.upper()


def _number(item: Expr, schema: Schema, word: str) -> Expr:
    number = normal(item, schema)
    fix = f"Give a number column, or TRY_CAST({text_of(number)} AS INTEGER) within clamp(…, low, high)."
    require(number, schema, COUNTED, f"{word} takes numbers", fix)
    return number


# --- keys ----------------------------------------------------------------------------------------------------------


def _key(item: Expr | nodes.Bins, schema: Schema) -> Expr | nodes.Bins:
    if isinstance(item, nodes.Bins):
        return _bins(item, schema)
    key = normal(item, schema)
    if is_null(key):
        raise NotAnswerable("NULL is no key.", "It would be one group.", "Leave the GROUP BY out.")
    column = schema.find(key.name) if isinstance(key, Col) else None
    if column is None or column.bins is None or column.values is not None:
        return key
    lattice = column.lattice
    if column.type is not Type.NUMBER and lattice is not None and lattice.points <= MOST_POINTS:
        return key
    return _bins(nodes.Bins(key), schema)


def _bins(bins: nodes.Bins, schema: Schema) -> nodes.Bins:
    """The bins with their edges, as numbers or as the dates that the item holds."""
    item = normal(bins.item, schema)
    facts = require(item, schema, (*NUMBERS, *TIMES), "Bins need an order", "Give a number or a date.")
    edges: Any = bins.edges
    if edges is None:
        column = schema.find(item.name) if isinstance(item, Col) else None
        if column is None or column.bins is None:
            why = "Edges are public: declared, or written in the question."
            raise NotAnswerable(
                f"{text_of(item)} declares no bins.", why, f"Give edges, such as 0, 18, 65 for {text_of(item)}."
            )
        edges = column.bins
    is_time = facts.type in TIMES
    typed = tuple(_edge(edge, item, schema, is_time) for edge in edges)
    rising = all(number_of(left) < number_of(right) for left, right in pairwise(typed))
    if not 2 <= len(typed) <= MOST_EDGES or not rising:
        why = f"They are 2 to {MOST_EDGES} in number and each is above the one before."
        raise NotAnswerable(f"Edges of bins of a {facts.type} must rise.", why, "Write, for example: 0, 18, 65, 110")
    return nodes.Bins(item, typed)


def _edge(edge: Any, item: Expr, schema: Schema, is_time: bool) -> Fraction | date | datetime:
    literal = plain(Literal(edge))
    value = coerced(literal, item, schema).value if is_time else literal.value
    if is_time and isinstance(value, date):
        return value
    if is_time or isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise NotAnswerable(
            f"{short_text(edge)} is no edge of {text_of(item)}.", "Edges are of its type.", "Write another edge."
        )
    return Fraction(value)


# --- names ---------------------------------------------------------------------------------------------------------


def _require_names(names: list[str]) -> None:
    """Refuses a name that is given twice, cannot be shown, or is reserved for the answer."""
    earlier: set[str] = set()
    for name in names:
        if not name.strip() or unprintable(name):
            what = f"{short_text(name)} cannot name a column of the answer."
            why = "A name has letters that can be seen, and no control characters or half of one."
            raise NotAnswerable(what, why, "Give another name, such as n.")
        if is_reserved(name):
            why = "Discreet writes names that end in _moe or begin with discreet_ itself."
            raise NotAnswerable(
                f"{short_text(name)} cannot name a column of the answer.", why, "Give another name with AS."
            )
        if name.casefold() in earlier:
            why = "Upper and lower case are alike."
            raise NotAnswerable(
                f"Two columns of the answer are named {short_text(name)}.", why, f"Write: AS {in_sql(f'{name}_2')}"
            )
        earlier.add(name.casefold())


# --- what is done with released rows -------------------------------------------------------------------------------


def _key_domain(item: Expr | nodes.Bins, schema: Schema) -> Domain:
    return Domain(Type.TEXT, values=bin_labels(item)) if isinstance(item, nodes.Bins) else domain(item, schema)


def _output_domain(measure: Aggregate, schema: Schema) -> Domain:
    match measure:
        case nodes.Quantile(item, _) | nodes.Extreme(item, _):
            kind = domain(item, schema).type
            return Domain(kind) if kind in TIMES else released.COUNTED
        case nodes.Top(item, k):
            return domain(item, schema) if k == 1 else released.LISTED
        case _:
            return released.COUNTED


def _after(after: nodes.After, columns: Released) -> nodes.After:
    if after.limit == 0:
        why = "It would be charged in full, and nothing of it shown."
        raise NotAnswerable("LIMIT 0 asks for no row at all.", why, "Leave the LIMIT out, or ask for at least one row.")
    having = None if after.having is None else _condition(after.having, columns, "HAVING", "n > 100")
    order = tuple(nodes.SortKey(columns.spelled(key.name), key.descending) for key in after.order)
    return replace(after, having=having, order=order)
