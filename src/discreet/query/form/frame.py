"""The Python form of a question: a frozen builder whose `question` is the one SQL would have given.

    Frame("people").where(col("age") >= 18).group_by("region").agg(n=count(), age=mean("age"))

The order of the calls does not matter: `where` always chooses rows, `having` always released rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self

from discreet import amounts
from discreet.errors import NotAnswerable, bad
from discreet.query import nodes
from discreet.query.form.term import Term, all_of, column, condition
from discreet.query.form.words import Measure
from discreet.query.meaning.names import unprintable
from discreet.query.nodes import After, Bins, Caps, Expr, Key, Output, Question, SortKey

MOST_NODES = 20_000
MOST_DEPTH = 64  # as deep as SQL may nest
_MOST = 2**62
_NO_CAPS, _AS_RELEASED = Caps(), After()


@dataclass(frozen=True)
class Frame:
    """A question under construction, without data; each method returns a new frame.

    >>> from discreet.query.form.words import col, count, mean
    >>> frame = Frame("people").where(col("age") >= 18).group_by("region").agg(n=count(), age=mean("age"))
    >>> [output.name for output in frame.order_by("-n").limit(3).question.outputs]
    ['n', 'age']
    """

    table: str
    filters: tuple[Expr, ...] = ()
    keys: tuple[Key, ...] = ()
    outputs: tuple[Output, ...] = ()
    capped: Caps = _NO_CAPS
    after: After = _AS_RELEASED

    def where(self, *conditions: Any) -> Self:
        """Only rows for which all conditions hold; a str names a boolean column."""
        return replace(self, filters=(*self.filters, *(condition(given, "where") for given in conditions)))

    def group_by(self, *keys: Any, **named_keys: Any) -> Self:
        """One answered row for each value of the keys: names of columns, `bins`, or `name=term`."""
        listed = (*(Key(_key_name(key), _key_item(key)) for key in keys), *_named_keys(named_keys))
        return replace(self, keys=(*self.keys, *listed))

    def agg(self, **outputs: Any) -> Self:
        """What is answered: `name=aggregate` for each column."""
        return replace(self, outputs=(*self.outputs, *(_output(name, measure) for name, measure in outputs.items())))

    def having(self, *conditions: Any) -> Self:
        """Only released rows for which all conditions on released names hold: free, for it reads nothing else."""
        earlier = () if self.after.having is None else (self.after.having,)
        parts = (*earlier, *(condition(given, "having") for given in conditions))
        return replace(self, after=replace(self.after, having=all_of(parts) if parts else None))

    def order_by(self, *names: str) -> Self:
        """Released rows in the order of these columns, a leading - for descending."""
        return replace(self, after=replace(self.after, order=(*self.after.order, *map(_order, names))))

    def limit(self, rows: int) -> Self:
        """At most so many released rows."""
        return replace(self, after=replace(self.after, limit=amounts.count(rows, "limit", 0, _MOST)))

    def offset(self, rows: int) -> Self:
        """Without the first so many released rows."""
        return replace(self, after=replace(self.after, offset=amounts.count(rows, "offset", 0, _MOST)))

    def caps(self, *, rows: int | None = None, groups: int | None = None) -> Self:
        """Caps below the schema's: rows of one unit, groups one unit may count in.  None leaves one as it is."""
        rows = self.capped.rows if rows is None else amounts.count(rows, "rows", 1, _MOST)
        groups = self.capped.groups if groups is None else amounts.count(groups, "groups", 1, _MOST)
        return replace(self, capped=Caps(rows, groups))

    @property
    def question(self) -> Question:
        """The question, equal to the one that SQL gives; refused without an aggregate, and if nested too deep."""
        if not self.outputs:
            what, why = "The question asks for nothing.", "It has no aggregate, and single rows are never answered."
            raise NotAnswerable(what, why, "Add one, for example: .agg(n=dp.count())")
        where = all_of(self.filters) if self.filters else None
        question = Question(self.table, self.outputs, self.keys, where, self.capped, self.after)
        _require_small(question)
        return question


def _output(name: str, measure: Any) -> Output:
    _require_name(name)
    if isinstance(measure, Measure):
        return Output(name, measure.aggregate)
    if isinstance(measure, (Term, str)):
        what = f"{name} is a column of single rows."
        why = "Only aggregates over many rows are answered, and keys of groups."
        column_name = measure if isinstance(measure, str) else "age"
        raise NotAnswerable(what, why, f"Write .agg({name}=dp.mean({column_name!r})) or .group_by({column_name!r}).")
    raise bad(name, "must be an aggregate", measure, "Write, for example: .agg(n=dp.count(), age=dp.mean('age'))")


def _key_name(key: Any) -> str:
    item = _key_item(key)
    inner = item.item if isinstance(item, Bins) else item
    if isinstance(inner, nodes.Col):
        return inner.name
    what = "A key that is computed needs a name."
    why = "It becomes a column of the answer, and nothing says how to call that."
    raise NotAnswerable(what, why, "Write, for example: .group_by(month=dp.col('admitted').month)")


def _key_item(key: Any) -> Expr | Bins:
    match key:
        case Bins():
            return key
        case Term():
            return key.expr
        case str():
            return column(key)
        case Measure():
            what, why = "An aggregate cannot be a key.", "Groups are formed from rows, before anything is counted."
            raise NotAnswerable(what, why, "Name it in .agg(…) and choose released rows with .having(…).")
        case _:
            fix = "Write, for example: .group_by('region', dp.bins('age', [0, 18, 65, 110]))"
            raise bad("key", "must be a column's name, a term or bins", key, fix)


def _named_keys(named_keys: dict[str, Any]) -> Iterator[Key]:
    for name, item in named_keys.items():
        _require_name(name)
        yield Key(name, _key_item(item))


def _require_name(name: str) -> None:
    """Refuses a name that SQL could not give a column of the answer."""
    if not name.strip() or unprintable(name):
        rule = "must have letters that can be seen, and no control characters or half of one"
        raise bad("name", rule, name, "Write, for example: .agg(n=dp.count())")


def _order(name: Any) -> SortKey:
    if isinstance(name, Term) and isinstance(name.expr, nodes.Col):
        return SortKey(name.expr.name)
    if not isinstance(name, str) or not name.removeprefix("-").strip():
        raise bad("order_by", "must be released names", name, "Write, for example: .order_by('region', '-n')")
    return SortKey(column(name.removeprefix("-")).name, name.startswith("-"))


def _require_small(question: Question) -> None:
    """Refuses a question so deep or long that reading it would recurse too far; this check does not recurse."""
    count, pending = 0, [(0, part) for part in _inside(question)]
    while pending:
        depth, node = pending.pop()
        count += is_dataclass(node)
        if count > MOST_NODES or depth > MOST_DEPTH:
            what = "The question is too long."
            why = f"It may hold {MOST_NODES} parts, nested {MOST_DEPTH} deep."
            raise NotAnswerable(what, why, "Use .is_in([…]) for many constants, or ask for less at once.")
        pending += [(depth + is_dataclass(node), part) for part in _inside(node)]


def _inside(node: Any) -> list[Any]:
    if isinstance(node, tuple):
        return [part for part in node if isinstance(part, tuple) or is_dataclass(part)]
    if not is_dataclass(node):
        return []
    return [getattr(node, field.name) for field in fields(node)]
