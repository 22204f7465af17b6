"""HAVING, ORDER BY, LIMIT and OFFSET on released rows.  They cost nothing, because no private row is read."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from discreet.query.meaning.evaluate import value
from discreet.query.meaning.logic import plain
from discreet.query.nodes import After, SortKey

LabelRanks = Mapping[str, Mapping[Any, int]]
_NO_RANKS: LabelRanks = MappingProxyType({})


def row_order(rows: Sequence[Mapping[str, Any]], after: After, *, label_ranks: LabelRanks = _NO_RANKS) -> list[int]:
    """The indices of the rows that HAVING, LIMIT and OFFSET leave, in the order of ORDER BY.

    HAVING leaves rows on which it is true, not those on which it is NULL.  Empty values come last, ascending and
    descending, and equal rows stay in their order.  `label_ranks` gives, for a column of labels such as bins, the
    public rank of each label where labels are not sorted by their letters.

    >>> from discreet.query.nodes import SortKey
    >>> row_order([{"n": 3}, {"n": None}, {"n": 7}], After(order=(SortKey("n", descending=True),), limit=2))
    [2, 0]
    """
    having = after.having
    indices = [i for i, row in enumerate(rows) if having is None or value(having, row) is True]
    for key in reversed(after.order):
        indices = _sorted(indices, rows, key, label_ranks.get(key.name, {}))
    end = None if after.limit is None else after.offset + after.limit
    return indices[after.offset : end]


def _sorted(
    indices: list[int], rows: Sequence[Mapping[str, Any]], key: SortKey, label_ranks: Mapping[Any, int]
) -> list[int]:
    ranks = {i: _rank(rows[i].get(key.name), label_ranks) for i in indices}
    empty = [i for i in indices if ranks[i] is None]
    filled = [i for i in indices if ranks[i] is not None]
    return sorted(filled, key=lambda i: ranks[i] or (), reverse=key.descending) + empty


def _rank(cell: Any, label_ranks: Mapping[Any, int]) -> tuple[Any, ...] | None:
    """The sort key of a cell, None if it is empty: numbers before booleans before dates before text before lists."""
    if isinstance(cell, (list, tuple)):
        return 4, *(_rank(part, label_ranks) or (5,) for part in cell)
    if isinstance(cell, str) and cell in label_ranks:
        return -1, label_ranks[cell]
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return (0, cell) if cell == cell else None  # Python orders ints and floats exactly; NaN is empty
    match plain(cell):
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
