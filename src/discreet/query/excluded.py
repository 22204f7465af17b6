"""Which public groups WHERE leaves out by its own words, whatever the rows hold: they are no part of the answer.

The labels of a group stand in for its keys in WHERE, and what then still looks at a column may be anything.  A group
stays if the condition can be true.  Only the question and public facts are looked at.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import Any

from discreet.errors import NotAnswerable
from discreet.query.meaning.cells import Cells, KeyCells
from discreet.query.meaning.evaluate import value
from discreet.query.meaning.fold import columns
from discreet.query.meaning.steps import Line, line
from discreet.query.nodes import And, Bins, Case, Col, Compare, Expr, In, IsNull, Literal, Not, Or, weight
from discreet.schema import Schema
from discreet.schema.kind import measured

MOST_WORK = 2_000_000  # labels times parts of WHERE, a few seconds: beyond, every group stays
_ANY = frozenset((True, False, None))

Truths = frozenset[bool | None]


@dataclass(frozen=True)
class _Within:
    """What lies in a bin: from low to high, the upper end only if closed; never empty."""

    low: Fraction
    high: Fraction
    closed: bool


Known = Mapping[Any, Any]  # a key's expression → the label that stands for it, or a `_Within`


def with_kept(cells: Cells, where: Expr | None, schema: Schema) -> Cells:
    """The cells with those that WHERE can leave filled; refused where it leaves none."""
    if where is None or not cells.keys or not cells.public:
        return cells
    looked_at = columns(where)
    concerned = [place for place, key in enumerate(cells.keys) if columns(key.key.item) & looked_at]
    allowed = [list(range(size)) for size in cells.sizes]
    parts, work = _conjunction(where), weight(where)
    for place in concerned:
        allowed[place] = _listed(cells.keys[place], parts)
        if len(allowed[place]) * work <= MOST_WORK:
            known = _known(cells.keys[place])
            allowed[place] = [own for own in allowed[place] if _may_hold(parts, known(own), schema)]
    together = prod(len(allowed[place]) for place in concerned)
    combinations = None
    if len(concerned) > 1 and together * work <= MOST_WORK:
        combinations = set(_combined(cells, concerned, allowed, parts, schema))
    if combinations is None and list(map(len, allowed)) == list(cells.sizes):
        return cells
    kept = [
        _row_major(places, cells.sizes)
        for places in product(*allowed)
        if combinations is None or tuple(places[place] for place in concerned) in combinations
    ]
    if not kept:
        why = "None of its groups can have a row that satisfies it, whatever the table holds."
        raise NotAnswerable("WHERE leaves out every group.", why, "Change the condition, or group by something else.")
    return replace(cells, kept=None if len(kept) == prod(cells.sizes) else tuple(kept))


def _listed(key: KeyCells, parts: tuple[Expr, ...]) -> list[int]:
    """The places whose label is in every list of texts that WHERE demands: what many labels need to be quick."""
    lists = [part.options for part in parts if isinstance(part, In) and part.item == key.key.item]
    texts = [{option.value for option in options} for options in lists if isinstance(options[0].value, str)]
    return [own for own, label in enumerate(key.labels or ()) if all(label in listed for listed in texts)]


def _conjunction(where: Expr) -> tuple[Expr, ...]:
    return where.parts if isinstance(where, And) else (where,)


def _row_major(places: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    found = 0
    for place, size in zip(places, sizes, strict=True):
        found = found * size + place
    return found


def _combined(
    cells: Cells, concerned: list[int], allowed: list[list[int]], parts: tuple[Expr, ...], schema: Schema
) -> Iterable[tuple[int, ...]]:
    """The places, of the keys that WHERE looks at, at which it may hold."""
    known = [_known(cells.keys[place]) for place in concerned]
    for places in product(*(allowed[place] for place in concerned)):
        facts: dict[Any, Any] = {}
        for one, own in zip(known, places, strict=True):
            facts |= one(own)
        if _may_hold(parts, facts, schema):
            yield places


def _known(key: KeyCells) -> Any:
    """What a place of the key says of its expression."""
    item, labels = key.key.item, key.labels or ()
    if not isinstance(item, Bins):
        return lambda own: {item: labels[own]}
    edges = [measured(edge) for edge in item.edges or ()]
    return lambda own: {item.item: _Within(edges[own], edges[own + 1], own == len(edges) - 2)}


# --- what a condition can be ---------------------------------------------------------------------------------------


def _may_hold(parts: tuple[Expr, ...], known: Known, schema: Schema) -> bool:
    return all(True in _truths(part, known, schema) for part in parts)


def _truths(expr: Expr, known: Known, schema: Schema) -> Truths:
    """What the condition can be where these expressions are known; more than that at most, never less."""
    match expr:
        case Not(item):
            return frozenset(None if truth is None else not truth for truth in _truths(item, known, schema))
        case And(parts):
            return _joined([_truths(part, known, schema) for part in parts], decisive=False)
        case Or(parts):
            return _joined([_truths(part, known, schema) for part in parts], decisive=True)
        case Compare(op, left, Literal() as constant):
            return _beside(left, op, (constant,), expr, known, schema)
        case In(item, options):
            return _beside(item, "=", options, expr, known, schema)
        case Case(branches, otherwise):
            return _chosen(branches, otherwise, known, schema)
        case IsNull(item) if isinstance(known.get(item), _Within):
            return frozenset((False,))
        case _:
            return _settled(expr, known)


def _chosen(branches: tuple[tuple[Expr, Expr], ...], otherwise: Expr, known: Known, schema: Schema) -> Truths:
    """Of a CASE between conditions: what the branches that may be taken can be."""
    truths: Truths = frozenset()
    for test, result in branches:
        taken = _truths(test, known, schema)
        truths |= _truths(result, known, schema) if True in taken else frozenset()
        if taken == {True}:
            return truths
    return truths | _truths(otherwise, known, schema)


def _joined(found: list[Truths], *, decisive: bool) -> Truths:
    """Of AND (decisive: false) and OR (decisive: true), each part free to be any of its own."""
    truths: set[bool | None] = set()
    if any(decisive in one for one in found):
        truths.add(decisive)
    undecided = [one - {decisive} for one in found]
    if all(undecided):
        if any(None in one for one in undecided):
            truths.add(None)
        if all((not decisive) in one for one in undecided):
            truths.add(not decisive)
    return frozenset(truths)


def _beside(item: Expr, op: str, constants: tuple[Literal, ...], whole: Expr, known: Known, schema: Schema) -> Truths:
    """A comparison with constants, in the steps of a stored column or within a bin."""
    axis = line(item, schema)
    if axis is not None:
        held = known.get(Col(axis.column.name), ...)
        if held is not ...:
            return _on_axis(axis, held, op, constants)
        held = next((one for key, one in known.items() if isinstance(one, _Within) and line(key, schema) == axis), None)
        return _settled(whole, known) if held is None else _within(_in_steps(held, axis), op, axis, constants)
    held = known.get(item)
    if isinstance(held, _Within):
        return _union([_ordered(op, held, measured(_value(one))) for one in constants], op)
    return _settled(whole, known)


def _on_axis(axis: Line, held: Any, op: str, constants: tuple[Literal, ...]) -> Truths:
    if held is None:
        return frozenset((None,))
    if isinstance(held, _Within):
        return _within(_in_steps(held, replace(axis, factor=Fraction(1), shift=Fraction(0))), op, axis, constants)
    here = measured(held) / axis.step
    return _within(_Within(here, here, closed=True), op, axis, constants)


def _in_steps(held: _Within, axis: Line) -> _Within | None:
    """The stored steps inside of a bin, None where there is none."""
    low, high = ceil(axis.place(held.low)), axis.place(held.high)
    last = floor(high) if held.closed else ceil(high) - 1
    return _Within(Fraction(low), Fraction(last), closed=True) if low <= last else None


def _within(held: _Within | None, op: str, axis: Line, constants: tuple[Literal, ...]) -> Truths:
    if held is None:
        return _ANY
    found = []
    for one in constants:
        turned, place = axis.comparison(op, measured(_value(one)))
        truths = _ordered(turned, held, place)
        if place.denominator != 1 and op in ("=", "!="):
            truths = frozenset((op == "!=",))
        found.append(truths)
    return _union(found, op)


def _union(found: list[Truths], op: str) -> Truths:
    """Of an IN, whose options are compared by =: true if one can be, false unless one must be."""
    if len(found) == 1:
        return found[0]
    return frozenset((True, False)) if any(True in one for one in found) else frozenset((False,))


def _ordered(op: str, held: _Within, place: Fraction) -> Truths:
    """What `x op place` can be for x in the bin, which holds its lower end."""
    reached = held.high >= place if held.closed else held.high > place  # some x ≥ place
    match op:
        case ">":
            can, cannot = held.high > place, held.low <= place
        case ">=":
            can, cannot = reached, held.low < place
        case "<":
            can, cannot = held.low < place, reached
        case "<=":
            can, cannot = held.low <= place, held.high > place
        case "=":
            can, cannot = held.low <= place and reached, not held.low == held.high == place
        case _:
            can, cannot = not held.low == held.high == place, held.low <= place and reached
    return frozenset(truth for truth, is_so in ((True, can), (False, cannot)) if is_so)


def _value(constant: Literal) -> Any:
    return constant.value


def _settled(expr: Expr, known: Known) -> Truths:
    """The one value of a condition whose every column is known, else any."""
    plain = _with_labels(expr, {item: held for item, held in known.items() if not isinstance(held, _Within)})
    if columns(plain):
        return _ANY
    truth = value(plain, {})
    return frozenset((truth if isinstance(truth, bool) else None,))


def _with_labels(node: Any, known: Known) -> Any:
    """The node with labels in place of the expressions that they stand for."""
    if isinstance(node, tuple):
        return tuple(_with_labels(part, known) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if not isinstance(node, Literal) and node in known:
        return Literal(known[node])
    parts = {field.name: _with_labels(getattr(node, field.name), known) for field in fields(node)}
    return type(node)(**parts)
