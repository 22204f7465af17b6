"""Leave out the public groups that WHERE excludes whatever the rows hold.

The labels of a group stand in for its keys in WHERE; a part of it that still looks at a column may have any value.  A
group stays if the condition can be true.  Only the question and public facts are read.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import Any

from discreet.errors import NotAnswerable
from discreet.query.meaning.cells import Cells, KeyCells
from discreet.query.meaning.evaluate import value
from discreet.query.meaning.fold import columns, has_part
from discreet.query.meaning.steps import Line, line
from discreet.query.nodes import And, Bins, Case, Col, Compare, Expr, In, IsNull, Literal, Not, Or, weight
from discreet.schema import Schema
from discreet.schema.kind import number_of

MOST_WORK = 2_000_000  # labels times parts of WHERE, a few seconds: beyond, every group stays
_ANY = frozenset((True, False, None))

Truths = frozenset[bool | None]


@dataclass(frozen=True)
class _Bin:
    """The values in a bin: from low to high, the upper end only if closed; never empty."""

    low: Fraction
    high: Fraction
    closed: bool


Labels = Mapping[Any, Any]  # a key's expression → the label that stands for it, or a `_Bin`


def with_kept(cells: Cells, where: Expr | None, schema: Schema) -> Cells:
    """The cells with those that WHERE can leave filled; refused where it leaves none."""
    if where is None or not cells.keys or not cells.public:
        return cells
    columns_in_where = columns(where)
    concerned = [axis for axis, key in enumerate(cells.keys) if columns(key.key.item) & columns_in_where]
    allowed = [list(range(size)) for size in cells.sizes]
    parts, work = where.parts if isinstance(where, And) else (where,), weight(where)
    for axis in concerned:
        allowed[axis] = _in_lists(cells.keys[axis], parts)
        if len(allowed[axis]) * work <= MOST_WORK:
            label_at = _label_at(cells.keys[axis])
            allowed[axis] = [index for index in allowed[axis] if _may_hold(parts, label_at(index), schema)]
    together = prod(len(allowed[axis]) for axis in concerned)
    combinations = None
    if len(concerned) > 1 and together * work <= MOST_WORK:
        combinations = set(_combinations(cells, concerned, allowed, parts, schema))
    if combinations is None and list(map(len, allowed)) == list(cells.sizes):
        return cells
    kept = [
        _row_major(indices, cells.sizes)
        for indices in product(*allowed)
        if combinations is None or tuple(indices[axis] for axis in concerned) in combinations
    ]
    if not kept:
        why = "None of its groups can have a row that satisfies it, whatever the table holds."
        raise NotAnswerable("WHERE leaves out every group.", why, "Change the condition, or group by something else.")
    return replace(cells, kept=None if len(kept) == prod(cells.sizes) else tuple(kept))


def _in_lists(key: KeyCells, parts: tuple[Expr, ...]) -> list[int]:
    """The indices of labels that are in every list of texts that WHERE demands; quick even for many labels."""
    lists = [part.options for part in parts if isinstance(part, In) and part.item == key.key.item]
    texts = [{option.value for option in options} for options in lists if isinstance(options[0].value, str)]
    return [index for index, label in enumerate(key.labels or ()) if all(label in listed for listed in texts)]


def _row_major(indices: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    number = 0
    for index, size in zip(indices, sizes, strict=True):
        number = number * size + index
    return number


def _combinations(
    cells: Cells, concerned: list[int], allowed: list[list[int]], parts: tuple[Expr, ...], schema: Schema
) -> Iterable[tuple[int, ...]]:
    """The indices, of the keys that WHERE looks at, at which it may hold."""
    label_at = [_label_at(cells.keys[axis]) for axis in concerned]
    for indices in product(*(allowed[axis] for axis in concerned)):
        labels: dict[Any, Any] = {}
        for of_key, index in zip(label_at, indices, strict=True):
            labels |= of_key(index)
        if _may_hold(parts, labels, schema):
            yield indices


def _label_at(key: KeyCells) -> Callable[[int], Labels]:
    """From an index of the key to its expression's label or bin."""
    item, labels = key.key.item, key.labels or ()
    if not isinstance(item, Bins):
        return lambda index: {item: labels[index]}
    edges = [number_of(edge) for edge in item.edges or ()]
    return lambda index: {item.item: _Bin(edges[index], edges[index + 1], index == len(edges) - 2)}


# --- what a condition can be ---------------------------------------------------------------------------------------


def _may_hold(parts: tuple[Expr, ...], labels: Labels, schema: Schema) -> bool:
    return all(True in _truths(part, labels, schema) for part in parts)


def _truths(expr: Expr, labels: Labels, schema: Schema) -> Truths:
    """The values that the condition can have with these labels, and possibly more."""
    match expr:
        case Not(item):
            return frozenset(None if truth is None else not truth for truth in _truths(item, labels, schema))
        case And(parts):
            return _joined_truths([_truths(part, labels, schema) for part in parts], decisive=False)
        case Or(parts):
            return _joined_truths([_truths(part, labels, schema) for part in parts], decisive=True)
        case Compare(op, left, Literal() as constant):
            return _constant_truths(left, op, (constant,), expr, labels, schema)
        case In(item, options):
            return _constant_truths(item, "=", options, expr, labels, schema)
        case Case(branches, otherwise):
            return _case_truths(branches, otherwise, labels, schema)
        case IsNull(item) if isinstance(labels.get(item), _Bin):
            return frozenset((False,))
        case _:
            return _settled_truths(expr, labels)


def _case_truths(branches: tuple[tuple[Expr, Expr], ...], otherwise: Expr, labels: Labels, schema: Schema) -> Truths:
    """Of a CASE between conditions: the values of the branches that may be taken."""
    truths: Truths = frozenset()
    for test, result in branches:
        test_truths = _truths(test, labels, schema)
        truths |= _truths(result, labels, schema) if True in test_truths else frozenset()
        if test_truths == {True}:
            return truths
    return truths | _truths(otherwise, labels, schema)


def _joined_truths(parts: list[Truths], *, decisive: bool) -> Truths:
    """Of AND (decisive: false) and OR (decisive: true), each part free to have any of its values."""
    truths: set[bool | None] = set()
    if any(decisive in part for part in parts):
        truths.add(decisive)
    undecided = [part - {decisive} for part in parts]
    if all(undecided):
        if any(None in part for part in undecided):
            truths.add(None)
        if all((not decisive) in part for part in undecided):
            truths.add(not decisive)
    return frozenset(truths)


def _constant_truths(
    item: Expr, op: str, constants: tuple[Literal, ...], whole: Expr, labels: Labels, schema: Schema
) -> Truths:
    """A comparison with constants, in the steps of a stored column or within a bin."""
    axis = line(item, schema)
    if axis is not None:
        label = labels.get(Col(axis.column.name), ...)
        if label is not ...:
            return _axis_truths(axis, label, op, constants)
        bins = (around for key, around in labels.items() if isinstance(around, _Bin) and line(key, schema) == axis)
        around = next(bins, None)
        if around is None:
            return _settled_truths(whole, labels)
        return _step_truths(_in_steps(around, axis), op, axis, constants)
    around = labels.get(item)
    if isinstance(around, _Bin):
        return _any_of([_comparison_truths(op, around, number_of(_value(constant))) for constant in constants])
    return _settled_truths(whole, labels)


def _axis_truths(axis: Line, label: Any, op: str, constants: tuple[Literal, ...]) -> Truths:
    if label is None:
        return frozenset((None,))
    if isinstance(label, _Bin):
        return _step_truths(_in_steps(label, replace(axis, factor=Fraction(1), shift=Fraction(0))), op, axis, constants)
    step = number_of(label) / axis.step
    return _step_truths(_Bin(step, step, closed=True), op, axis, constants)


def _in_steps(bounds: _Bin, axis: Line) -> _Bin | None:
    """The stored steps inside of a bin, None where there is none."""
    lowest, high = ceil(axis.place(bounds.low)), axis.place(bounds.high)
    highest = floor(high) if bounds.closed else ceil(high) - 1
    return _Bin(Fraction(lowest), Fraction(highest), closed=True) if lowest <= highest else None


def _step_truths(steps: _Bin | None, op: str, axis: Line, constants: tuple[Literal, ...]) -> Truths:
    if steps is None:
        return _ANY
    results = []
    for constant in constants:
        turned, place = axis.comparison(op, number_of(_value(constant)))
        truths = _comparison_truths(turned, steps, place)
        if place.denominator != 1 and op in ("=", "!="):
            truths = frozenset((op == "!=",))
        results.append(truths)
    return _any_of(results)


def _any_of(results: list[Truths]) -> Truths:
    """Of an IN, whose options are compared by =: true if one can be, false unless one must be."""
    if len(results) == 1:
        return results[0]
    return frozenset((True, False)) if any(True in truths for truths in results) else frozenset((False,))


def _comparison_truths(op: str, bounds: _Bin, place: Fraction) -> Truths:
    """The values of `x op place` for x in the bin, which holds its lower end."""
    reaches = bounds.high >= place if bounds.closed else bounds.high > place  # some x ≥ place
    match op:
        case ">":
            can, cannot = bounds.high > place, bounds.low <= place
        case ">=":
            can, cannot = reaches, bounds.low < place
        case "<":
            can, cannot = bounds.low < place, reaches
        case "<=":
            can, cannot = bounds.low <= place, bounds.high > place
        case "=":
            can, cannot = bounds.low <= place and reaches, not bounds.low == bounds.high == place
        case _:
            can, cannot = not bounds.low == bounds.high == place, bounds.low <= place and reaches
    return frozenset(truth for truth, is_so in ((True, can), (False, cannot)) if is_so)


def _value(constant: Literal) -> Any:
    return constant.value


def _settled_truths(expr: Expr, labels: Labels) -> Truths:
    """The one value of a condition whose every column has a label, else any."""
    plain = _with_labels(expr, {item: label for item, label in labels.items() if not isinstance(label, _Bin)})
    if columns(plain) or has_part(plain):
        return _ANY
    truth = value(plain, {})
    return frozenset((truth if isinstance(truth, bool) else None,))


def _with_labels(node: Any, labels: Labels) -> Any:
    """The node with labels in place of the expressions that they stand for."""
    if isinstance(node, tuple):
        return tuple(_with_labels(part, labels) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if not isinstance(node, Literal) and node in labels:
        return Literal(labels[node])
    parts = {field.name: _with_labels(getattr(node, field.name), labels) for field in fields(node)}
    return type(node)(**parts)
