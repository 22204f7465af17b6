"""SQL text to a question: parsed within limits, allow-listed node by node, refused with a place and a rewrite.

The text is never run.  Whatever has no rule in `expr`, `functions` or `aggregate` is refused, and so is
every argument of a SQLGlot node that no rule names.  Which columns exist is not known here: `COUNT(DISTINCT x)` is
always a `CountDistinct`; it becomes `CountUnits` when the question meets a schema whose unit key is x.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.errors import NotAnswerable
from discreet.query.meaning.names import short_name
from discreet.query.nodes import Bins, CountRows, Expr, Key, Literal, Output, Question
from discreet.query.sql.after import Released, after, meaning
from discreet.query.sql.aggregate import aggregate, bins, call_name, is_aggregate
from discreet.query.sql.clauses import require_plain
from discreet.query.sql.dialect import fragment, sql_of
from discreet.query.sql.expr import expression, named, number
from discreet.query.sql.head import Options, with_head
from discreet.query.sql.refusal import Refusal, known, refused, shown
from discreet.query.sql.text import Source, require_all_used, source

if TYPE_CHECKING:
    from sqlglot import exp


MOST_COLUMNS = 100  # selected columns and keys
_CLAUSE_WORDS = ("GROUP", "ORDER", "BY", "OFFSET", "LIMIT", "HAVING", "WHERE", "ASC", "DESC", "DISTINCT", "AS")
_REWRITES = 4  # a rewrite may need another one


@dataclass(frozen=True)
class Parsed:
    """The question, and the options that its text gives."""

    question: Question
    options: Options


def parsed(text: str) -> Parsed:
    """The question that the SQL text asks; NotAnswerable, with line and column, for everything else.

    >>> parsed("SELECT region, COUNT(*) AS n FROM people GROUP BY region").question.keys
    (Key(name='region', item=Col(name='region')),)
    """
    if not isinstance(text, str):
        why = f"You gave a {type(text).__name__}."
        raise NotAnswerable("The question must be text.", why, "Give SQL: SELECT COUNT(*) AS n FROM people")
    from sqlglot.errors import SqlglotError

    try:
        return _read(text)
    except Refusal as refusal:
        failed = refusal
    except (RecursionError, MemoryError, SqlglotError):
        failed = refused(0, "The question is nested too deep.", "Reading it takes too much.", "Write it flatter.")
    raise failed.placed(text, _working(failed.rewrite)) from None


def _working(rewrite: str | None) -> str | None:
    """The rewrite, or a rewrite of it, that is itself understood."""
    from sqlglot.errors import SqlglotError

    for _ in range(_REWRITES):
        if rewrite is None:
            return None
        try:
            _read(rewrite)
        except Refusal as again:
            rewrite = again.rewrite
        except (RecursionError, MemoryError, SqlglotError):
            return None
        else:
            return rewrite
    return None


def _read(text: str) -> Parsed:
    read = source(text)
    try:
        require_plain(read.root)
        table = read.root.args["from_"].this
        name, alias = named(table.this, read), table.args.get("alias")
        called = name if alias is None else named(alias.this, read)  # an alias takes the place of the name
        _require_other(called, alias)
        question = _question(replace(read, tables=(called.casefold(),)), name)
        require_all_used(read)
        return Parsed(question, read.head.options)
    except Refusal as refusal:
        if refusal.rewrite is not None:
            refusal.rewrite = with_head(refusal.rewrite, read.head)
        raise


def _require_other(called: str, alias: "exp.Expr | None") -> None:
    """Refuses a word of SQL where an alias could stand: GROUP at the end of a text is half a clause."""
    if alias is not None and called.upper() in _CLAUSE_WORDS and not alias.this.args.get("quoted"):
        why = "It is a word of SQL, and the clause that it begins is not complete."
        raise refused(alias, f"{called.upper()} stands where a name could.", why, "Complete it, or leave it out.")


@dataclass(frozen=True)
class _Item:
    """One entry of SELECT."""

    node: "exp.Expr"
    alias: str | None


def _question(read: Source, table: str) -> Question:
    root = read.root
    items = [_item(node, read) for node in root.expressions]
    grouped = _group_nodes(read, items)
    if len(items) + len(grouped) > MOST_COLUMNS:
        why = "The price is split over all columns."
        raise refused(root, f"More than {MOST_COLUMNS} columns are asked for.", why, "Ask several questions.")
    keys = {meaning(found): found for found in (_key(node, read) for node in grouped)}
    names = _Names([item.alias for item in items if item.alias is not None])
    released: list[tuple[str, str]] = []
    outputs: list[Output] = []
    key_names: dict[str, str] = {}
    for item in items:
        if is_aggregate(item.node) and call_name(item.node) != "histogram":
            answer = aggregate(item.node, read)
            outputs.append(Output(names.of(item.alias, short_name(answer), item.node), answer))
            released.append((meaning(answer), outputs[-1].name))
        elif call_name(item.node) == "histogram":
            binned = _histogram(item, items, read)
            keys[meaning(binned)] = binned
            outputs.append(Output(names.of(item.alias, "count", item.node), CountRows()))
            released.append((meaning(CountRows()), outputs[-1].name))
        else:
            what = _selected_key(item, keys, key_names, read)
            key_names[what] = names.of(item.alias, short_name(keys[what]), item.node)
            released.append((what, key_names[what]))
    for what, key in keys.items():
        key_names.setdefault(what, names.of(None, short_name(key), root))
    if not outputs:
        raise _nothing_counted(root)
    selected = tuple(name for _, name in released)
    everything = Released({**dict(reversed(released)), **key_names}, selected, (*selected, *key_names.values()))
    where = root.args.get("where")
    if where is not None:
        known(where, "this")
    condition = None if where is None else expression(where.this, read)
    made = tuple(Key(key_names[what], key) for what, key in keys.items())
    return Question(table, tuple(outputs), made, condition, read.head.caps, after(read, everything))


def _item(node: "exp.Expr", read: Source) -> _Item:
    if type(node).__name__ != "Alias":
        return _Item(_bare(node), None)
    known(node, "this", "alias")
    return _Item(_bare(node.this), named(node.args["alias"], read))


def _bare(node: "exp.Expr") -> "exp.Expr":
    while type(node).__name__ == "Paren" and is_aggregate(node.this):
        node = node.this
    return node


def _group_nodes(read: Source, items: list[_Item]) -> "list[exp.Expr]":
    """What is grouped by: positions and names of selected columns stand for what they name."""
    group = read.root.args.get("group")
    found = []
    for node in group.expressions if group is not None else ():
        target = node
        if type(node).__name__ == "Literal":
            place = None if node.args.get("is_string") else number(str(node.this), node)
            if not isinstance(place, int) or not 1 <= place <= len(items):
                why = f"There are {len(items)} selected columns, counted from 1."
                raise refused(
                    node, f"GROUP BY {shown(node)} names no selected column.", why, "Group by a column's name."
                )
            target = items[place - 1].node
        elif type(node).__name__ == "Column" and node.args.get("table") is None:
            name = named(node.this, read).casefold()
            target = next((item.node for item in items if (item.alias or "").casefold() == name), node)
        if is_aggregate(target):
            why = "Rows are grouped before anything is counted."
            raise refused(
                node, f"GROUP BY {shown(node)} names an aggregate.", why, "Group by a column that is no aggregate."
            )
        found.append(target)
    return found


def _key(node: "exp.Expr", read: Source) -> Expr | Bins:
    found = bins(node, read) if call_name(node) == "bin" else expression(node, read)
    if isinstance(found, Literal):
        raise refused(node, f"{shown(node)} is the same for every row.", "A key tells rows apart.", "Leave it out.")
    return found


def _selected_key(item: _Item, keys: dict[str, Expr | Bins], taken: dict[str, str], read: Source) -> str:
    """The meaning of a selected column that is grouped by."""
    if not any(is_aggregate(part) for part in item.node.walk()):
        what = meaning(_key(item.node, read))
        if what in taken:
            why = "Each key has one name in the answer."
            raise refused(item.node, f"{shown(item.node)} is selected twice.", why, "Select it once.")
        if what in keys:
            return what
        root = read.root.copy()
        rewrite = sql_of(root.group_by(fragment(sql_of(item.node)), copy=False))
        why = "A column that is neither counted nor grouped by would show single rows."
        fix = "Add it to GROUP BY, or put it into an aggregate."
        raise refused(item.node, f"{shown(item.node)} is selected but not grouped by.", why, fix, rewrite=rewrite)
    parts = [sql_of(part) for part in item.node.walk() if is_aggregate(part)]
    others = [sql_of(other) for other in read.root.expressions if _bare(_inner(other)) is not item.node]
    start, text = item.node, shown(item.node)
    root = read.root.copy()
    root.set("expressions", [fragment(part) for part in dict.fromkeys([*others, *parts])])
    why = "Every aggregate is answered with noise of its own; calculating with the answers afterwards is free."
    fix = "Select the aggregates and calculate with the answer's columns."
    raise refused(start, f"{text} calculates with aggregates.", why, fix, rewrite=sql_of(root))


def _inner(node: "exp.Expr") -> "exp.Expr":
    inner: exp.Expr = node.this if type(node).__name__ == "Alias" else node
    return inner


def _histogram(item: _Item, items: list[_Item], read: Source) -> Bins:
    """HISTOGRAM(x): one more key, and a count."""
    found = bins(item.node, read)
    if sum(is_aggregate(other.node) for other in items) == 1:
        return found
    arguments = ", ".join(sql_of(part) for part in item.node.expressions)
    others = [other for other in read.root.expressions if _bare(_inner(other)) is not item.node]
    root = read.root.copy()
    root.set("expressions", [fragment(f"BIN({arguments})"), *[fragment(sql_of(other)) for other in others]])
    rewrite = sql_of(root.group_by(fragment(f"BIN({arguments})"), copy=False))
    why = "It makes a row per bin, so every other aggregate would be one per bin too."
    raise refused(item.node, "HISTOGRAM stands beside another aggregate.", why, "Group by BIN(x).", rewrite=rewrite)


def _nothing_counted(root: "exp.Select") -> Refusal:
    copy = root.copy()
    copy.append("expressions", fragment("COUNT(*) AS n"))
    why = "An answer is made of aggregates; keys alone would say which ones exist."
    return refused(root, "The question has no aggregate.", why, "Add one, such as COUNT(*).", rewrite=sql_of(copy))


class _Names:
    """The names of the answer's columns, each once; given ones first, so that no made-up one takes their place."""

    def __init__(self, given: list[str]) -> None:
        self._given = [name.casefold() for name in given]
        self._made: set[str] = set()

    def of(self, alias: str | None, short: str, node: "exp.Expr") -> str:
        """The alias, or the short name with the first free number behind it."""
        if alias is not None:
            if self._given.count(alias.casefold()) > 1 or alias.casefold() in self._made:
                why = "Each column of the answer needs its own name."
                raise refused(node, f"Two columns are named {alias[:40]!r}.", why, "Change the name after AS.")
            return alias
        name, number_behind = short, 1
        while name.casefold() in self._made or name.casefold() in self._given:
            number_behind += 1
            name = f"{short}_{number_behind}"
        self._made.add(name.casefold())
        return name
