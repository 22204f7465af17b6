"""Count a drafted question on synthetic rows: prepared and counted by the SQL that private rows are.

The rows are public, so the keys of hashes are fixed ones, and nothing is hidden or capped.  The connection reads this
one table and no file.  Values follow from the counts by the formulas of private answers, with noise of 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from discreet.answer.compose import in_type
from discreet.answer.estimate import estimates_of
from discreet.answer.noisy import Noisy
from discreet.engine import connect
from discreet.engine.cells import family
from discreet.engine.prepare import KEYS, Table, columns_read, identifier, is_key, steps
from discreet.ndarrays import Ints
from discreet.query.bound import Draft
from discreet.query.compile.exacts import Buckets, Exacts, exacts_of
from discreet.query.compile.statements import statements
from discreet.query.meaning.domain import domain
from discreet.query.parts import Part, Present, Ranks, Rows
from discreet.query.recipe import CorrelationOf, CovarianceOf, MeanOf, Picked, PickedTop, Recipe, VarianceOf
from discreet.schema import Schema
from discreet.terms import LEVEL

_ROWS, _SCHEMA = "discreet_synthetic_rows", "discreet_synthetic"
_MEMORY, _THREADS = 2**32, 1

Label = tuple[Any, ...]


class NoNoise:
    """The law of what is known exactly."""

    def radius(self, level: Fraction) -> int:
        """0 at every level."""
        return 0


@dataclass(frozen=True)
class Counted:
    """For each group its labels, and for each output the value in each group; None where it has no meaning."""

    labels: Sequence[Label]
    values: tuple[Sequence[Any], ...]

    def by_label(self) -> dict[Label, tuple[Any, ...]]:
        """The values of each group."""
        rows = zip(*self.values, strict=True) if self.values else [()] * len(self.labels)
        return dict(zip(self.labels, rows, strict=True))


def counted_on(tables: Iterable[Any], draft: Draft) -> list[Counted]:
    """The outputs of the draft on each of these Arrow tables of synthetic rows."""
    with closing(connect.preparing(":memory:", [], memory=_MEMORY, threads=_THREADS, spill="")) as connection:
        for name, digits in KEYS.items():
            connection.execute(f"SET VARIABLE {name} = ?", ["0" * digits])
        return [_counted_of(_exacts(connection, rows, draft), draft) for rows in tables]


def _counted_of(exacts: Exacts, draft: Draft) -> Counted:
    return Counted(list(exacts.keys), tuple(_values(recipe, exacts, draft.schema) for recipe in draft.recipes))


def _exacts(connection: Any, rows: Any, draft: Draft) -> Exacts:
    """What is counted on one table, prepared in a schema of its own that is dropped with all that is in it."""
    schema, parts = draft.schema, tuple(need.part for need in draft.needs)
    asked = statements(schema, draft.cells, draft.question.where, draft.caps, parts)
    connection.register(_ROWS, _with_units(rows, schema))
    described = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {_ROWS}").fetchall()}
    wanted = {name: (identifier(name), family(described[name])) for name in columns_read(schema)}
    preparing = [text for step in steps(schema, Table(_ROWS, wanted)) for text in step.statements]
    for statement in (f"CREATE SCHEMA {_SCHEMA}", f"USE {_SCHEMA}", *preparing):
        connection.execute(statement)
    exacts = exacts_of(asked, [_columns(connection, statement.sql) for statement in asked], draft.cells)
    for statement in ("USE main", f"DROP SCHEMA {_SCHEMA} CASCADE"):
        connection.execute(statement)
    connection.unregister(_ROWS)
    return exacts


def _with_units(rows: Any, schema: Schema) -> Any:
    """The rows with a number for each unit, where each has one row and none was needed."""
    if schema.unit is None or schema.unit.key in rows.column_names:
        return rows
    return rows.append_column(schema.unit.key, [np.arange(rows.num_rows)])


def _columns(connection: Any, sql: str) -> Mapping[str, Any]:
    """The columns of one SELECT: whole numbers, and values of keys as they are stored."""
    result = connection.execute(sql)
    names, rows = [column[0] for column in result.description], result.fetchall()
    kinds = {name: object if is_key(name) else np.int64 for name in names}
    return {
        name: np.fromiter((row[place] for row in rows), dtype=kinds[name], count=len(rows))
        for place, name in enumerate(names)
    }


# --- values ----------------------------------------------------------------------------------------------------------


def _values(recipe: Recipe, exacts: Exacts, schema: Schema) -> Sequence[Any]:
    match recipe:
        case Picked(part):
            kind = domain(part.item, schema).type
            return [
                None if point is None else in_type(part.grid.first + point * part.grid.step, kind)
                for point in (_quantile(exacts, part, group) for group in range(len(exacts.keys)))
            ]
        case PickedTop(part):
            buckets = _buckets(exacts, part)
            return [_favourites(buckets.of(group, len(part.values)), part) for group in range(len(exacts.keys))]
        case _:
            return _formula(recipe, exacts)


def _formula(recipe: Recipe, exacts: Exacts) -> Sequence[Any]:
    """The value that a private answer's formula gives without noise; None where too few rows have one."""
    noisy: dict[Part, Noisy] = {
        part: Noisy(numbers, NoNoise())
        for part, numbers in exacts.parts.items()
        if not isinstance(numbers, Buckets) and not isinstance(part, Present)
    }
    values: list[Any] = list(estimates_of(recipe, noisy, LEVEL).value)
    needed = _rows_needed(recipe)
    if needed is None:
        return values
    part, least = needed
    counts = np.asarray(exacts.parts[part]).tolist()
    return [value if count >= least else None for value, count in zip(values, counts, strict=True)]


def _rows_needed(recipe: Recipe) -> tuple[Rows, int] | None:
    """The count, and from which number on the value has a meaning."""
    match recipe:
        case MeanOf():
            return recipe.count, 1
        case VarianceOf() | CovarianceOf():
            return recipe.count, 1 + recipe.less
        case CorrelationOf():
            return recipe.both.count, 2
        case _:
            return None


def _quantile(exacts: Exacts, part: Ranks, group: int) -> int | None:
    """The first grid point with at least q·n values up to it, and at least one."""
    points, counts = _buckets(exacts, part).buckets_of(group)
    if not len(points):
        return None
    running = np.cumsum(counts)
    rank = max(1, ceil(part.q * int(running[-1])))
    return int(points[np.searchsorted(running, rank)])


def _favourites(counts: Ints, part: Any) -> Any:
    """The most frequent values, the first of equal ones in public order."""
    order = np.argsort(-counts, kind="stable")[: part.k]
    chosen = tuple(part.values[place] for place in order)
    return chosen[0] if part.k == 1 else chosen


def _buckets(exacts: Exacts, part: Any) -> Buckets:
    buckets = exacts.parts[part]
    if not isinstance(buckets, Buckets):
        raise TypeError
    return buckets
