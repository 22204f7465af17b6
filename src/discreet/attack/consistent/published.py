"""What is public: who could be in the database, and the numbers of each table, as intervals over kinds of persons.

A *kind* is one possible row.  A *world* is a database seen as a multiset of kinds, as the order of rows says nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice, product
from math import comb, prod
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Ints

MOST_PERSONS = 200
MOST_KINDS = 20_000
_MOST_WORLDS = 10**300
_MOST_VALUE, _MOST_NUMBER, _MOST_DIGITS = 10**9, 10**15, 30
_NUMBERS = ("count", "sum", "mean", "median")
_KEYS = ("name", "where", "of", *_NUMBERS, "ranks")
Ends = tuple[Fraction, Fraction]  # the least and the greatest that a number can be
Rule = Mapping[str, Any] | Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, eq=False)
class Universe:
    """So many persons, each of one of the kinds; `truth` holds the kind of every real person, where it is given."""

    persons: int
    columns: tuple[str, ...]
    kinds: tuple[tuple[Any, ...], ...]
    truth: tuple[int, ...] | None = None

    @property
    def worlds(self) -> int:
        """C(k + n − 1, n): the multisets of n persons of k kinds, before anything is published."""
        return comb(len(self.kinds) + self.persons - 1, self.persons)

    def person(self, kind: int) -> dict[str, Any]:
        """The row of a kind."""
        return dict(zip(self.columns, self.kinds[kind], strict=True))


@dataclass(frozen=True, eq=False)
class Published:
    """One table as constraints: who is in its group, and the ends of its numbers.

    `count` holds what the table itself says of it too: all persons in a table of everybody, somebody behind a mean.
    A median is the middle value, or the mean of the two middle ones.  With `ranks` it may be off by so many: at most
    count/2 + `ranks` members are below its low end, and as many above its high end.
    """

    name: str
    members: Bools  # by kind
    values: Ints  # what is summed and ranked, by kind
    of: str | None
    count: Ends | None
    total: Ends | None
    mean: Ends | None
    median: Ends | None
    ranks: int

    @property
    def fixed_count(self) -> int | None:
        """The exact number of members, where it is known."""
        return None if self.count is None or self.count[0] != self.count[1] else int(self.count[0])

    @property
    def has_middle(self) -> bool:
        """Whether the median is the middle itself, and not some ranks off."""
        return self.median is not None and self.ranks == 0


def universe(people: Mapping[str, Any], rules: Iterable[Rule] = ()) -> Universe:
    """The possible persons: every combination of the columns' values that no rule forbids."""
    if not isinstance(people, Mapping) or not {"count", "columns"} <= set(people):
        example = 'Write people={"count": 5, "columns": {"age": range(111), "sex": ["man", "woman"]}}.'
        raise bad("people", "must be a mapping with count and columns", type(people).__name__, example)
    persons = people["count"]
    if not isinstance(persons, int) or isinstance(persons, bool) or not 1 <= persons <= MOST_PERSONS:
        raise bad("count", f"must be a whole number from 1 to {MOST_PERSONS}", persons, "Attack one small block.")
    columns = people["columns"]
    if not isinstance(columns, Mapping) or not columns:
        raise bad("columns", "must name every column with its possible values", type(columns).__name__, "Add one.")
    values = {str(name): _values_of(str(name), listed) for name, listed in columns.items()}
    names = tuple(values)
    size = prod(map(len, values.values()))
    if size > MOST_KINDS:
        raise bad("columns", f"must have at most {MOST_KINDS:,} combinations", size, "Take coarser values.")
    tests = [_rule_of(rule, values) for rule in rules]
    rows = product(*values.values())
    kinds = tuple(row for row in rows if all(test(dict(zip(names, row, strict=True))) for test in tests))
    if not kinds:
        raise bad("rules", "must leave a possible person", "none", "Remove a rule.")
    who = Universe(persons, names, kinds, _truth_of(people.get("truth"), persons, names, kinds))
    if who.worlds > _MOST_WORLDS:
        raise bad("people", "must leave at most 1e300 databases", persons, "Take fewer persons or coarser values.")
    return who


def published_table(table: Mapping[str, Any], place: int, who: Universe) -> Published:
    """One table, its texts and numbers read as intervals.

    Text is rounded as printed: "36.7" stands for 36.65 … 36.75.  A whole number or Fraction is exact, and a pair is an
    interval.
    """
    if not isinstance(table, Mapping) or (strange := [str(key) for key in table if key not in _KEYS]):
        given = type(table).__name__ if not isinstance(table, Mapping) else strange[0]
        raise bad("table", f"must be a mapping with keys of {', '.join(_KEYS)}", given, "Remove other keys.")
    numbers = {name: None if table.get(name) is None else _ends(name, table[name]) for name in _NUMBERS}
    if not any(numbers.values()):
        raise bad("table", f"must publish one of {', '.join(_NUMBERS)}", "none", 'Add "count".')
    where = table.get("where", {})
    if not isinstance(where, Mapping):
        raise bad("where", "must be a mapping from columns to values", where, 'Write {"sex": "man"}.')
    admitted = [(_index(who.columns, column), _value_set(values)) for column, values in where.items()]
    members = np.array([all(kind[place] in values for place, values in admitted) for kind in who.kinds], dtype=bool)
    of = _value_column(table.get("of"), who) if any(numbers[name] for name in _NUMBERS[1:]) else None
    values = np.zeros(len(who.kinds), dtype=np.int64)
    if of is not None:
        column = _index(who.columns, of)
        if not all(0 <= kind[column] <= _MOST_VALUE for kind in who.kinds):
            rule = f"must have values from 0 to {_MOST_VALUE:,} where they are summed or ranked"
            raise bad("columns", rule, of, "Count from the least value, or in larger units.")
        values = np.array([kind[column] for kind in who.kinds], dtype=np.int64)
    ranks = table.get("ranks", 0)
    if not isinstance(ranks, int) or isinstance(ranks, bool) or not 0 <= ranks <= _MOST_NUMBER:
        raise bad("ranks", "must be a whole number from 0 to 1e15", ranks, "Give how far off the median's rank may be.")
    name = str(table.get("name", f"table {place}"))
    count, total, mean, median = (numbers[name] for name in _NUMBERS)
    if mean is not None:
        _require_countable(mean, max(1, int(values.max())), who.persons)
    if median is not None and count is not None and count[1] < 1:
        raise bad("median", "must be of a group with somebody in it", "a count of 0", "Remove the median.")
    has_somebody = (median is not None and ranks == 0) or not (mean is None or _is_pair(table["mean"]))
    if median is not None or mean is not None:
        count = _narrowed(count or (Fraction(0), Fraction(who.persons)), int(has_somebody), who.persons)
    if count is not None and members.all():
        count = _narrowed(count, who.persons, who.persons)
    return Published(name, members, values, of, count, total, mean, median, ranks)


# --- reading ---------------------------------------------------------------------------------------------------------


def _narrowed(ends: Ends, least: int, greatest: int) -> Ends:
    """The ends within least … greatest; crossed where nothing is in both."""
    return max(ends[0], Fraction(least)), min(ends[1], Fraction(greatest))


def _is_pair(number: Any) -> bool:
    return isinstance(number, (tuple, list)) and len(number) == 2


def _ends(name: str, number: Any) -> Ends:
    if _is_pair(number):
        low, high = (_exact(name, end) for end in number)
        if low > high:
            raise bad(name, "must be an interval from low to high", number, "Swap the ends.")
        return low, high
    value = _exact(name, number)
    if isinstance(number, (str, float, Decimal)):
        half = Fraction(10) ** int(Decimal(str(number)).as_tuple().exponent) / 2
        return value - half, value + half
    return value, value


def _exact(name: str, number: Any) -> Fraction:
    if isinstance(number, (int, float, str, Decimal, Fraction, np.integer)) and not isinstance(number, bool):
        try:
            if isinstance(number, Fraction):
                value = number
            else:
                decimal = Decimal(str(number))
                exponent = decimal.as_tuple().exponent  # looked at first: 10**exponent may be larger than the memory
                if not isinstance(exponent, int) or exponent < -_MOST_DIGITS or decimal.adjusted() > _MOST_DIGITS:
                    raise ValueError
                value = Fraction(decimal)
            if abs(value) <= _MOST_NUMBER:
                return value
        except (ArithmeticError, ValueError):
            pass
    raise bad(
        name,
        "must be a number or a pair of numbers, none beyond 1e15",
        number,
        'Write 4, "33.5" or (2, 6).',
    )


def _require_countable(mean: Ends, greatest: int, persons: int) -> None:
    """Refuses a mean with so many digits that counting persons by it leaves 64 bits."""
    for end in mean:
        if max(end.denominator * greatest, abs(end.numerator)) * persons >= 2**61:
            rule = f"must have fewer digits for {persons} persons"
            raise bad("mean", rule, end, 'Round it: "36.7" stands for 36.65 … 36.75.')


def _values_of(name: str, listed: Any) -> tuple[Any, ...]:
    is_list = isinstance(listed, Iterable) and not isinstance(listed, (str, bytes, Mapping))
    values = tuple(islice(listed, MOST_KINDS + 1)) if is_list else ()
    if len(values) > MOST_KINDS:
        raise bad("columns", f"must list at most {MOST_KINDS:,} values of each column", name, "Take coarser values.")
    try:
        values = tuple(dict.fromkeys(values))
    except TypeError:
        values = ()
    if not values:
        raise bad("columns", "must list the possible values of each column", name, "Give a list or a range.")
    return values


def _value_set(values: Any) -> frozenset[Any] | range:
    """The values to compare with; a range stays one, as it may be longer than the memory."""
    if isinstance(values, range):
        return values
    try:
        return frozenset(values if isinstance(values, (list, tuple, set, frozenset)) else [values])
    except TypeError:
        raise bad("where", "must have numbers or texts as values", type(values).__name__, "Give a list.") from None


def _index(columns: Sequence[str], column: Any) -> int:
    if column not in columns:
        raise bad("column", f"must be one of {', '.join(columns)}", column, "Name a column of people.")
    return list(columns).index(column)


def _value_column(of: Any, who: Universe) -> str:
    """The column that is summed and ranked: the one that is named, or the only one of whole numbers."""
    whole = [
        name
        for place, name in enumerate(who.columns)
        if all(isinstance(kind[place], (int, np.integer)) and not isinstance(kind[place], bool) for kind in who.kinds)
    ]
    if of is None and len(whole) == 1:
        return whole[0]
    if of not in whole:
        raise bad("of", "must name a column of whole numbers", of, 'Write "of": "age".')
    return str(of)


def _rule_of(rule: Rule, values: Mapping[str, Any]) -> Callable[[dict[str, Any]], bool]:
    """Whether a person is possible: nobody is all that a mapping says, and a function says it itself."""
    if callable(rule):
        return rule
    if not isinstance(rule, Mapping) or not rule:
        example = 'Write {"age": range(15), "status": "married"}: nobody is both.'
        raise bad("rule", "must be a mapping of what nobody is, or a function of a person", rule, example)
    for column in rule:
        _index(tuple(values), column)
    nobody = {column: _value_set(listed) for column, listed in rule.items()}
    return lambda person: not all(person[column] in listed for column, listed in nobody.items())


def _truth_of(
    rows: Any, persons: int, names: tuple[str, ...], kinds: tuple[tuple[Any, ...], ...]
) -> tuple[int, ...] | None:
    if rows is None:
        return None
    places = {kind: place for place, kind in enumerate(kinds)}
    try:
        truth = [places.get(tuple(row.get(name) for name in names), -1) for row in rows]
    except (AttributeError, TypeError):  # no rows, or cells that are lists
        truth = []
    if len(truth) != persons or min(truth) < 0:
        rule = "must be as many persons as count says, each of possible values"
        raise bad("truth", rule, f"{len(truth)} rows", "Give every column of every person.")
    return tuple(sorted(truth))
