"""Turn SQL text into a question, or refuse it with a position and, where possible, a rewrite.

The text is never run.  A node without a rule in `expr`, `functions` or `aggregate` is refused, and so is every argument
of a SQLGlot node that no rule names.  The schema is not known here: `COUNT(DISTINCT x)` is always a `CountDistinct`,
and `meaning.resolve` makes it a `CountUnits` where x is the unit's key.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.errors import NotAnswerable
from discreet.query.meaning.names import default_name
from discreet.query.nodes import Bins, CountRows, Expr, Key, Literal, Output, Question
from discreet.query.sql.after import AnswerColumns, after, meaning
from discreet.query.sql.aggregate import aggregate, bins, call_name, is_aggregate
from discreet.query.sql.clauses import require_plain
from discreet.query.sql.dialect import fragment, sql_of, without_alias
from discreet.query.sql.expr import expression, name_of, selected_index
from discreet.query.sql.head import Options, with_head
from discreet.query.sql.refusal import Refusal, excerpt, refusal, require_only
from discreet.query.sql.text import Source, require_all_used, source

if TYPE_CHECKING:
    from sqlglot import exp


MOST_COLUMNS = 100  # selected columns and keys
_CLAUSE_WORDS = ("GROUP", "ORDER", "BY", "OFFSET", "LIMIT", "HAVING", "WHERE", "ASC", "DESC", "DISTINCT", "AS")
_REWRITES = 4  # a rewrite may need another rewrite


@dataclass(frozen=True)
class Parsed:
    """A question and the options in its text."""

    question: Question
    options: Options


def parse_sql(text: str) -> Parsed:
    """The question of the SQL text; NotAnswerable, with line and column, for everything else.

    >>> parse_sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region").question.keys
    (Key(name='region', item=Col(name='region')),)
    """
    if not isinstance(text, str):
        why = f"You gave a {type(text).__name__}."
        raise NotAnswerable("The question must be text.", why, "Give SQL: SELECT COUNT(*) AS n FROM people")
    from sqlglot.errors import SqlglotError

    try:
        return _parse(text)
    except Refusal as error:
        refused = error
    except (RecursionError, MemoryError, SqlglotError):
        refused = refusal(0, "The question is nested too deep.", "Reading it takes too much.", "Write it flatter.")
    raise refused.with_position(text, _accepted_rewrite(refused.rewrite)) from None


def _accepted_rewrite(rewrite: str | None) -> str | None:
    """The rewrite, or a rewrite of that one, that is accepted itself; None if there is none."""
    from sqlglot.errors import SqlglotError

    for _ in range(_REWRITES):
        if rewrite is None:
            return None
        try:
            _parse(rewrite)
        except Refusal as error:
            rewrite = error.rewrite
        except (RecursionError, MemoryError, SqlglotError):
            return None
        else:
            return rewrite
    return None


def _parse(text: str) -> Parsed:
    statement = source(text)
    try:
        require_plain(statement.root)
        table = statement.root.args["from_"].this
        name, alias = name_of(table.this, statement), table.args.get("alias")
        qualifier = name if alias is None else name_of(alias.this, statement)  # an alias takes the place of the name
        _require_no_keyword(qualifier, alias)
        question = _question(replace(statement, tables=(qualifier.casefold(),)), name)
        require_all_used(statement)
        return Parsed(question, statement.head.options)
    except Refusal as error:
        if error.rewrite is not None:
            error.rewrite = with_head(error.rewrite, statement.head)
        raise


def _require_no_keyword(name: str, alias: "exp.Expr | None") -> None:
    """Refuses a keyword as the table's alias: GROUP at the end of a text is an unfinished clause."""
    if alias is not None and name.upper() in _CLAUSE_WORDS and not alias.this.args.get("quoted"):
        why = "It is a keyword, and the clause that it begins is not complete."
        raise refusal(alias, f"{name.upper()} stands where a name could.", why, "Complete it, or leave it out.")


@dataclass(frozen=True)
class _Item:
    """One entry of SELECT."""

    node: "exp.Expr"
    alias: str | None


def _question(statement: Source, table: str) -> Question:
    root = statement.root
    items = [_item(node, statement) for node in root.expressions]
    grouped = _group_nodes(statement, items)
    if len(items) + len(grouped) > MOST_COLUMNS:
        why = "The price is split over all columns."
        raise refusal(root, f"More than {MOST_COLUMNS} columns are asked for.", why, "Ask several questions.")
    keys = {meaning(key): key for key in (_key(node, statement) for node in grouped)}
    names = _Names([item.alias for item in items if item.alias is not None])
    released: list[tuple[str, str]] = []
    outputs: list[Output] = []
    key_names: dict[str, str] = {}
    for item in items:
        if is_aggregate(item.node) and call_name(item.node) != "histogram":
            answer = aggregate(item.node, statement)
            outputs.append(Output(names.of(item.alias, default_name(answer), item.node), answer))
            released.append((meaning(answer), outputs[-1].name))
        elif call_name(item.node) == "histogram":
            binned = _histogram(item, items, statement)
            keys[meaning(binned)] = binned
            outputs.append(Output(names.of(item.alias, "count", item.node), CountRows()))
            released.append((meaning(CountRows()), outputs[-1].name))
        else:
            key_meaning = _selected_key(item, keys, key_names, statement)
            key_names[key_meaning] = names.of(item.alias, default_name(keys[key_meaning]), item.node)
            released.append((key_meaning, key_names[key_meaning]))
    for key_meaning, key in keys.items():
        key_names.setdefault(key_meaning, names.of(None, default_name(key), root))
    if not outputs:
        raise _nothing_counted(root)
    selected = tuple(name for _, name in released)
    columns = AnswerColumns({**dict(reversed(released)), **key_names}, selected, (*selected, *key_names.values()))
    condition: Expr | None = None
    where = root.args.get("where")
    if where is not None:
        require_only(where, "this")
        condition = expression(where.this, statement)
    named_keys = tuple(Key(key_names[key_meaning], key) for key_meaning, key in keys.items())
    return Question(table, tuple(outputs), named_keys, condition, statement.head.caps, after(statement, columns))


def _item(node: "exp.Expr", statement: Source) -> _Item:
    if type(node).__name__ != "Alias":
        return _Item(_bare(node), None)
    require_only(node, "this", "alias")
    return _Item(_bare(node.this), name_of(node.args["alias"], statement))


def _bare(node: "exp.Expr") -> "exp.Expr":
    while type(node).__name__ == "Paren" and is_aggregate(node.this):
        node = node.this
    return node


def _group_nodes(statement: Source, items: list[_Item]) -> "list[exp.Expr]":
    """The nodes of GROUP BY, where a position or a name of a selected column is replaced by that column's node."""
    group = statement.root.args.get("group")
    targets = []
    for node in group.expressions if group is not None else ():
        target = node
        if type(node).__name__ == "Literal":
            target = items[selected_index(node, len(items), "GROUP BY")].node
        elif type(node).__name__ == "Column" and node.args.get("table") is None:
            name = name_of(node.this, statement).casefold()
            target = next((item.node for item in items if (item.alias or "").casefold() == name), node)
        if is_aggregate(target):
            what, why = f"GROUP BY {excerpt(node)} names an aggregate.", "Rows are grouped before anything is counted."
            raise refusal(node, what, why, "Group by a column that is no aggregate.")
        targets.append(target)
    return targets


def _key(node: "exp.Expr", statement: Source) -> Expr | Bins:
    key = bins(node, statement) if call_name(node) == "bin" else expression(node, statement)
    if isinstance(key, Literal):
        raise refusal(node, f"{excerpt(node)} is the same for every row.", "A key tells rows apart.", "Leave it out.")
    return key


def _selected_key(item: _Item, keys: dict[str, Expr | Bins], key_names: dict[str, str], statement: Source) -> str:
    """The meaning of a selected column that is grouped by."""
    if not any(is_aggregate(part) for part in item.node.walk()):
        key_meaning = meaning(_key(item.node, statement))
        if key_meaning in key_names:
            why = "Each key has one name in the answer."
            raise refusal(item.node, f"{excerpt(item.node)} is selected twice.", why, "Select it once.")
        if key_meaning in keys:
            return key_meaning
        root = statement.root.copy()
        rewrite = sql_of(root.group_by(fragment(sql_of(item.node)), copy=False))
        why = "A column that is neither counted nor grouped by would show single rows."
        fix = "Add it to GROUP BY, or put it into an aggregate."
        raise refusal(item.node, f"{excerpt(item.node)} is selected but not grouped by.", why, fix, rewrite=rewrite)
    parts = [sql_of(part) for part in item.node.walk() if is_aggregate(part)]
    others = [sql_of(node) for node in _other_items(item, statement)]
    root = statement.root.copy()
    root.set("expressions", [fragment(part) for part in dict.fromkeys([*others, *parts])])
    why = "Every aggregate is answered with noise of its own; calculating with the answers afterwards is free."
    fix = "Select the aggregates and calculate with the answer's columns."
    raise refusal(item.node, f"{excerpt(item.node)} calculates with aggregates.", why, fix, rewrite=sql_of(root))


def _other_items(item: _Item, statement: Source) -> "list[exp.Expr]":
    """The entries of SELECT other than this one."""
    return [node for node in statement.root.expressions if _bare(without_alias(node)) is not item.node]


def _histogram(item: _Item, items: list[_Item], statement: Source) -> Bins:
    """The bins of HISTOGRAM(x), which is one more key and a count."""
    binned = bins(item.node, statement)
    if sum(is_aggregate(selected.node) for selected in items) == 1:
        return binned
    arguments = ", ".join(sql_of(part) for part in item.node.expressions)
    others = [fragment(sql_of(node)) for node in _other_items(item, statement)]
    root = statement.root.copy()
    root.set("expressions", [fragment(f"BIN({arguments})"), *others])
    rewrite = sql_of(root.group_by(fragment(f"BIN({arguments})"), copy=False))
    why = "It makes a row per bin, so every other aggregate would be one per bin too."
    raise refusal(item.node, "HISTOGRAM stands beside another aggregate.", why, "Group by BIN(x).", rewrite=rewrite)


def _nothing_counted(root: "exp.Select") -> Refusal:
    copy = root.copy()
    copy.append("expressions", fragment("COUNT(*) AS n"))
    why = "An answer is made of aggregates; keys alone would say which ones exist."
    return refusal(root, "The question has no aggregate.", why, "Add one, such as COUNT(*).", rewrite=sql_of(copy))


class _Names:
    """The names of the answer's columns, each used once; aliases come first, so that no default name takes one."""

    def __init__(self, aliases: list[str]) -> None:
        self._aliases = [name.casefold() for name in aliases]
        self._defaults: set[str] = set()

    def of(self, alias: str | None, default: str, node: "exp.Expr") -> str:
        """The alias, or the default name, with the first free number behind it where it is taken."""
        if alias is not None:
            if self._aliases.count(alias.casefold()) > 1 or alias.casefold() in self._defaults:
                why = "Each column of the answer needs its own name."
                raise refusal(node, f"Two columns are named {alias[:40]!r}.", why, "Change the name after AS.")
            return alias
        name, suffix = default, 1
        while name.casefold() in self._defaults or name.casefold() in self._aliases:
            suffix += 1
            name = f"{default}_{suffix}"
        self._defaults.add(name.casefold())
        return name
