"""HAVING, ORDER BY, LIMIT and OFFSET on released rows: work that costs nothing and reads no private row."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from discreet.query.after.evaluate import value
from discreet.query.after.logic import plain
from discreet.query.nodes import After, SortKey

Places = Mapping[str, Mapping[Any, int]]
_NO_PLACES: Places = MappingProxyType({})


def afterwards(rows: Sequence[Mapping[str, Any]], after: After, *, places: Places = _NO_PLACES) -> list[int]:
    """The indices of the rows that are kept, in their order.

    A row is kept if `having` is true on it, not if it is unknown.  Empty values come last, ascending and descending,
    and rows that are equal stay in their order.  `places` gives, for a column of labels such as bins, the public place
    of each label where the order of its letters is not meant.

    >>> from discreet.query.nodes import SortKey
    >>> afterwards([{"n": 3}, {"n": None}, {"n": 7}], After(order=(SortKey("n", descending=True),), limit=2))
    [2, 0]
    """
    having = after.having
    kept = [i for i, row in enumerate(rows) if having is None or value(having, row) is True]
    for order in reversed(after.order):
        kept = _sorted(kept, rows, order, places.get(order.name, {}))
    end = None if after.limit is None else after.offset + after.limit
    return kept[after.offset : end]


def _sorted(kept: list[int], rows: Sequence[Mapping[str, Any]], order: SortKey, places: Mapping[Any, int]) -> list[int]:
    ranks = {i: _rank(rows[i].get(order.name), places) for i in kept}
    empty = [i for i in kept if ranks[i] is None]
    filled = [i for i in kept if ranks[i] is not None]
    return sorted(filled, key=lambda i: ranks[i] or (), reverse=order.descending) + empty


def _rank(given: Any, places: Mapping[Any, int]) -> tuple[Any, ...] | None:
    """What sorts a value: numbers before booleans before dates before text, and lists as their parts; None if empty."""
    if isinstance(given, (list, tuple)):
        return 4, *(_rank(part, places) or (5,) for part in given)
    if isinstance(given, str) and given in places:
        return -1, places[given]
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return (0, given) if given == given else None  # Python orders ints and floats exactly; NaN is empty
    match plain(given):
        case bool() as flag:
            return 1, flag
        case Fraction() | float() as number:
            return 0, number
        case datetime() as moment:
            return 2, moment.replace(tzinfo=None)
        case date() as day:
            return 2, datetime(day.year, day.month, day.day)
        case str() as text:
            return 3, text
        case _:
            return None
