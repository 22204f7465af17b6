"""Nodes of a question, as frozen values: expressions over one row, aggregates over rows, and the question itself.

SQL and the Python form both end here, and only what has a node can be asked.  Nodes carry the caller's names and public
constants only.
"""

from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.schema import Type

Constant = None | bool | int | Fraction | str | date | datetime


# --- expressions over one row --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Col:
    """A declared column; after grouping, a released name."""

    name: str


@dataclass(frozen=True)
class Literal:
    """A public constant; None is NULL."""

    value: Constant


@dataclass(frozen=True)
class Compare:
    """left op right, for op in = != < <= > >=; NULL on either side gives NULL."""

    op: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class In:
    """Whether the item is one of the constants."""

    item: "Expr"
    options: tuple[Literal, ...]


@dataclass(frozen=True)
class Like:
    """SQL's LIKE: % is any text, _ one letter."""

    item: "Expr"
    pattern: str


@dataclass(frozen=True)
class IsNull:
    """Whether the cell is empty."""

    item: "Expr"


@dataclass(frozen=True)
class Not:
    item: "Expr"


@dataclass(frozen=True)
class And:
    parts: "tuple[Expr, ...]"


@dataclass(frozen=True)
class Or:
    parts: "tuple[Expr, ...]"


@dataclass(frozen=True)
class Case:
    """The value of the first branch whose condition holds."""

    branches: "tuple[tuple[Expr, Expr], ...]"
    otherwise: "Expr"


@dataclass(frozen=True)
class Arith:
    """left op right, for op in + - * / %; a division by 0 gives NULL."""

    op: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True)
class Call:
    """One of the total functions in FUNCTIONS."""

    name: str
    parts: "tuple[Expr, ...]"


@dataclass(frozen=True)
class DatePart:
    """A whole number read off a date or datetime: one of PARTS."""

    part: str
    item: "Expr"


@dataclass(frozen=True)
class TryCast:
    """The item as another type, NULL where it does not fit."""

    item: "Expr"
    type: Type


@dataclass(frozen=True)
class UnitIn:
    """Whether the unit's id, as a share of all ids, lies in [first, end): a part of the units, chosen by a keyed hash.

    No text and no form of a question names it; rooms do, to divide the persons of a table.
    """

    first: Fraction
    end: Fraction


Expr = Col | Literal | Compare | In | Like | IsNull | Not | And | Or | Case | Arith | Call | DatePart | TryCast | UnitIn

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
OPERATORS = ("+", "-", "*", "/", "%")
# weekday: 1 Monday … 7 Sunday
PARTS = ("year", "quarter", "month", "week", "day", "weekday", "hour", "minute", "second")
FUNCTIONS = {  # name: least and most arguments
    "abs": (1, 1),
    "floor": (1, 1),
    "ceil": (1, 1),
    "round": (1, 1),  # halves upward: floor(x + 0.5)
    "sqrt": (1, 1),  # NULL below 0
    "ln": (1, 1),  # NULL at and below 0
    "exp": (1, 1),
    "least": (1, 20),  # NULL if any is NULL
    "greatest": (1, 20),
    "clamp": (3, 3),  # clamp(x, low, high), constants low ≤ high: gives a number public bounds
    "coalesce": (1, 20),
    "nullif": (2, 2),
    "lower": (1, 1),
    "upper": (1, 1),
    "trim": (1, 1),
    "length": (1, 1),
}


# --- aggregates over rows ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountRows:
    """COUNT(*)."""


@dataclass(frozen=True)
class Count:
    """COUNT(item): rows whose item is not empty."""

    item: Expr


@dataclass(frozen=True)
class CountUnits:
    """COUNT(DISTINCT unit key): how many privacy units."""


@dataclass(frozen=True)
class CountDistinct:
    """COUNT(DISTINCT item): how many different values."""

    item: Expr


@dataclass(frozen=True)
class Sum:
    item: Expr


@dataclass(frozen=True)
class Mean:
    item: Expr


@dataclass(frozen=True)
class Variance:
    """Divided by n − less, less = 0 or 1."""

    item: Expr
    less: int = 1


@dataclass(frozen=True)
class Stddev:
    item: Expr
    less: int = 1


@dataclass(frozen=True)
class Quantile:
    item: Expr
    q: Fraction


class End(StrEnum):
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True)
class Extreme:
    """MIN or MAX, answered as an extreme quantile: the true extreme is one unit's value."""

    item: Expr
    end: End


@dataclass(frozen=True)
class Top:
    """The k most frequent public values, one after the other; MODE is k = 1."""

    item: Expr
    k: int = 1


@dataclass(frozen=True)
class Covariance:
    x: Expr
    y: Expr
    less: int = 1


@dataclass(frozen=True)
class Correlation:
    x: Expr
    y: Expr


Counting = CountRows | Count | CountUnits | CountDistinct
Aggregate = Counting | Sum | Mean | Variance | Stddev | Quantile | Extreme | Top | Covariance | Correlation


# --- the question --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bins:
    """A number by the public bin [edge, next edge) it lies in, the last bin closed; outside of all edges: NULL.

    Without edges, the bins that the column declares.
    """

    item: Expr
    edges: tuple[Fraction | date | datetime, ...] | None = None


@dataclass(frozen=True)
class Key:
    """The item to group by, and the name of that column in the answer."""

    name: str
    item: Expr | Bins


@dataclass(frozen=True)
class Output:
    """One answered column."""

    name: str
    aggregate: Aggregate


@dataclass(frozen=True)
class SortKey:
    """A released column to sort by."""

    name: str
    descending: bool = False


@dataclass(frozen=True)
class After:
    """Clauses about *released* rows: free, for they read nothing else.  `having` speaks of released names."""

    having: Expr | None = None
    order: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class Caps:
    """Caps below the schema's: rows of one unit, groups one unit may count in."""

    rows: int | None = None
    groups: int | None = None


@dataclass(frozen=True)
class Question:
    """One question about one table."""

    table: str
    outputs: tuple[Output, ...]
    keys: tuple[Key, ...] = ()
    where: Expr | None = None
    caps: Caps = Caps()
    after: After = After()


MOST_NODES = 3_000  # of a question written out: about half a second of reading


def weight(node: Any) -> int:
    """How many nodes there are when all is written out; shared parts are counted each time, and of the options of IN,
    which are read quickly, every sixteenth.

    >>> x = Arith("+", Col("a"), Literal(1))
    >>> weight(x), weight(Arith("*", x, x))
    (3, 7)
    """
    weights: dict[int, int] = {}  # by identity: what is shared is looked at once, however often it is written

    def weight_of(part: Any) -> int:
        if isinstance(part, tuple):
            return sum(map(weight_of, part))
        if not is_dataclass(part):
            return 0
        if isinstance(part, In):
            return 1 + weight_of(part.item) + len(part.options) // 16
        if id(part) not in weights:
            weights[id(part)] = 1 + sum(weight_of(getattr(part, field.name)) for field in fields(part))
        return weights[id(part)]

    return weight_of(node)
