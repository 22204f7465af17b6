"""Arrays and frames of a caller as the subject of a fit: public facts come from arguments alone, never from the cells.

Columns are named x0, x1 … inside, whatever the caller calls them; the target is y and the unit's key is unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from discreet.engine.arrays import view_of_arrays
from discreet.engine.protocol import View
from discreet.errors import BadValue, bad, bad_private
from discreet.learn.input.cells import EXACT, cells_of, is_float, keys_of, numbers_of, values_of
from discreet.learn.subject import Subject, subject_of
from discreet.schema import Column, Schema, Unit
from discreet.schema.words import suggestion

TARGET, UNIT = "y", "unit"
_LISTED = 20  # names that a refusal shows at most


@dataclass(frozen=True)
class ArrayFacts:
    """The public facts that a caller gives of arrays."""

    bounds: Any = None  # (low, high), or one for each column, or {column: (low, high)}
    values: Any = None  # {column: values}
    classes: Any = None
    target_bounds: Any = None
    relation: str = "add-remove"
    max_rows: int = 1


def columns_of(table: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The columns of a matrix, a list of rows, a dict or a frame by name; those without names are called x0, x1 …

    They are handed on as they are: a type in common would let one cell change how others are read.
    """
    if isinstance(table, Mapping):
        if len(set(map(str, table))) < len(table):
            raise bad("X", "must name each column once", list(map(str, table)), "Rename one of them.")
        return {str(name): column for name, column in table.items()}
    if hasattr(table, "column_names"):  # an Arrow table
        return {str(name): table.column(name) for name in table.column_names}
    if hasattr(table, "columns") and not isinstance(table, np.ndarray):
        return {str(name): table[name] for name in table.columns}
    if isinstance(table, (list, tuple)):
        return _by_name([list(column) for column in _columns_of_rows(table)], names)
    matrix = table if isinstance(table, np.ma.MaskedArray) else np.asarray(table)
    if matrix.ndim != 2:
        raise bad("X", "must be a table with two axes", matrix.ndim, "Reshape it to rows and columns.")
    return _by_name([matrix[:, place] for place in range(matrix.shape[1])], names)


def _by_name(columns: Sequence[Any], names: Sequence[str] | None) -> dict[str, Any]:
    shown = list(names) if names is not None else [f"x{place}" for place in range(len(columns))]
    return dict(zip(shown, columns, strict=True))


def _columns_of_rows(rows: Any) -> list[tuple[Any, ...]]:
    """The columns of a list of rows, all of one length."""
    try:
        listed = [cells_of(row) for row in rows]
    except TypeError:
        raise bad_private("X", "must hold rows", "Hand over one cell a column in every row.") from None
    if len({len(row) for row in listed}) > 1:
        raise bad_private("X", "must have rows of one length", "Hand over one cell a column in every row.")
    return list(zip(*listed, strict=True))


def subject_of_arrays(columns: Mapping[str, Any], y: Any, units: Any, facts: ArrayFacts) -> tuple[Subject, View]:
    """The subject that the facts describe, and a view of the rows."""
    names = list(columns)
    facts = _by_text(facts)
    for argument in ("bounds", "values"):
        _require_known(argument, getattr(facts, argument), names, _target_names(y))
    declared = [_feature_column(f"x{place}", name, place, names, facts) for place, name in enumerate(names)]
    target = _target(facts)
    unit = None if units is None else Unit(UNIT, facts.max_rows)
    schema = Schema("arrays", (*declared, target), unit, relation=facts.relation)  # type: ignore[arg-type]
    shown = {f"x{place}": name for place, name in enumerate(names)} | {TARGET: "y"}
    features = [column.name for column in declared]
    rows = facts.max_rows if unit is not None else 1
    subject = subject_of(schema, TARGET, features, max_rows=rows, names=shown)
    table = {f"x{place}": _cells(columns[name], declared[place]) for place, name in enumerate(names)}
    table[TARGET] = _cells(y, target)
    if units is not None:
        if is_float(units):
            fix = "Hand over whole numbers or texts, for example units.astype('Int64') before one is missing."
            raise bad("units", "must not be floats, which merge large numbers", "a column of floats", fix)
        table[UNIT] = keys_of(units)  # a row without a key is nobody's, and left out
    if len({len(column) for column in table.values()}) > 1:
        raise bad_private("X, y and units", "must have one length", "Hand over one target, and one unit, a row.")
    return subject, view_of_arrays(schema, table)


def _by_text(facts: ArrayFacts) -> ArrayFacts:
    """The facts with names of columns as texts, as the columns have them; values must be a dict."""
    if facts.values is not None and not isinstance(facts.values, Mapping):
        fix = 'Give, for example, values={"region": ["north", "south"]}.'
        raise bad("values", "must be a dict of columns and their public values", facts.values, fix)
    by_text: dict[str, Any] = {
        name: {str(column): fact for column, fact in given.items()}
        for name, given in (("bounds", facts.bounds), ("values", facts.values))
        if isinstance(given, Mapping)
    }
    return replace(facts, **by_text)


def _target_names(y: Any) -> list[str]:
    """What the target is called: y, and the name of the column that it is, where it has one."""
    name = getattr(y, "name", None)
    return [TARGET] if name is None else [TARGET, str(name)]


def _require_known(argument: str, given: Any, features: Sequence[str], target: Sequence[str]) -> None:
    """Refuses facts of a column that is not there, which would be a fact that nobody obeys."""
    unknown = [name for name in given if name not in (*features, *target)] if isinstance(given, Mapping) else []
    if unknown:
        similar = suggestion(unknown[0], features)
        listed = ", ".join(features[:_LISTED]) + (" …" if len(features) > _LISTED else "")
        fix = f"Did you mean {similar!r}?" if similar else "Leave it out."
        rule = f"must name columns that are there: the features are {listed}, and the target is {target[-1]}"
        raise bad(argument, rule, unknown[0], fix)


def _feature_column(column: str, name: str, place: int, names: Sequence[str], facts: ArrayFacts) -> Column:
    values = facts.values.get(name) if isinstance(facts.values, Mapping) else None
    if values is not None:
        return _column_of_values(column, values, name)
    ends = _ends(facts.bounds, name, place, len(names))
    if ends is None:
        raise _missing(name)
    return _column_of_bounds(column, ends, name, "bounds")


def _column_of_bounds(column: str, ends: tuple[Any, Any], name: str, argument: str) -> Column:
    """A number with bounds; refused by the name that the caller has for it."""
    shown = f"bounds of {name!r}"
    if any(isinstance(end, (date, np.datetime64)) for end in ends):
        fix = "Give column and bounds as numbers, such as days since 1970, or fit to a dataset that declares a date."
        raise bad(shown, "must be numbers: arrays have no dates", tuple(map(str, ends)), fix)
    try:
        return Column(column, "number", bounds=ends)  # type: ignore[arg-type]
    except BadValue as error:
        example = f"{{{name!r}: (0, 100)}}" if argument == "bounds" else "(0, 100)"
        fix = f"Give numbers, the lower first, for example {argument}={example}."
        raise bad(shown, error.rule or "must be two numbers", ends, fix) from None


def _ends(bounds: Any, name: str, place: int, count: int) -> tuple[Any, Any] | None:
    """The bounds of a column: its own, those of all, or the place in two rows of ends."""
    if bounds is None:
        return None
    if isinstance(bounds, Mapping):
        if name not in bounds:
            return None
        low, high = _pair(bounds[name], name)
        return _plain(low), _plain(high)
    low, high = _pair(bounds, "bounds")
    return _end(low, place, count), _end(high, place, count)


def _pair(bounds: Any, name: str) -> tuple[Any, Any]:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise bad(f"bounds of {name}", "must be (low, high)", bounds, "Give, for example, (0, 100).") from None
    return low, high


def _end(end: Any, place: int, count: int) -> Any:
    if np.ndim(end) == 0:
        return _plain(end)
    ends = list(end)
    if len(ends) != count:
        raise bad("bounds", f"must have {count} ends, one a column", len(ends), "Give one a column, or one for all.")
    return _plain(ends[place])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def _target(facts: ArrayFacts) -> Column:
    if facts.classes is not None:
        return _column_of_values(TARGET, facts.classes, "y")
    if facts.target_bounds is None:
        fix = 'Name them, for example classes=["no", "yes"], or for a number target_bounds=(0, 100): they are public.'
        raise bad("classes or target_bounds", "must be given", None, fix)
    low, high = _pair(facts.target_bounds, "y")
    return _column_of_bounds(TARGET, (_plain(low), _plain(high)), "y", "target_bounds")


def _column_of_values(column: str, values: Any, name: str) -> Column:
    """A column with public values: texts, or whole numbers."""
    listed = tuple(_plain(value) for value in values)
    if all(isinstance(value, bool) for value in listed):
        return Column(column, "boolean")  # type: ignore[arg-type]
    if all(isinstance(value, (int, float)) and float(value).is_integer() for value in listed):
        return Column(column, "integer", values=tuple(map(int, listed)))  # type: ignore[arg-type]
    if all(isinstance(value, str) for value in listed):
        return Column(column, "category", values=listed)  # type: ignore[arg-type]
    raise bad(f"values of {name}", "must be texts, or whole numbers", values, "Give values of one kind.")


def _cells(cells: Any, column: Column) -> Any:
    """The cells as their column is read, each by its own value; what does not fit is empty."""
    if column.type in ("category", "text"):
        values = tuple(map(str, column.values or ()))
        if is_float(cells) and any(abs(number) >= EXACT for number in numbers_of(values)):
            fix = "Hand over whole numbers or texts."
            raise bad(f"column {column.name!r}", "must not be floats, which merge large numbers", "floats", fix)
        return values_of(cells, values)
    numbers = numbers_of(cells)
    if column.type == "boolean":
        return np.ma.masked_array(numbers == 1, ~np.isin(numbers, (0, 1)))
    return numbers


def _missing(name: str) -> BadValue:
    """The refusal of a column without facts, whatever its dtype: one empty cell turns booleans into objects."""
    fix = (
        f"Give bounds={{{name!r}: (low, high)}} for a number, values={{{name!r}: [...]}} for a category or "
        f"values={{{name!r}: [False, True]}} for a boolean, from public knowledge; or ask for quantiles of it through "
        "a dataset, which is charged."
    )
    return bad(f"bounds of {name!r}", "must be given", None, fix)
