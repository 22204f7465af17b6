"""Refusals of SQL: each has a position in the text, a reason and, where possible, a rewrite."""

import re
from typing import TYPE_CHECKING, Any

from discreet.errors import NotAnswerable
from discreet.query.sql.dialect import fragment, sql_of

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST_QUOTE = 60
_LONGEST_REWRITE = 2_000

_RAW = "It would return single rows or depend on their order."
_ONE_TABLE = "A question is about one table, whose units are counted and capped beforehand."
_UNBOUNDED = "How far one privacy unit can move it is not known, or a cell could make it fail."
_PLAIN_FROM = "Write FROM and the table's name alone."
_FIRST = "Ask the inner question first, and write its answer here as a constant."
_PREPARED = "Join or stack the tables in the source, describe the result as one table, and ask that."

_NO_ESCAPE = "Compare with = where the whole text is known; in LIKE, _ stands for any one letter, a % too."

REASONS: dict[str, tuple[str, str]] = {  # a node's class, or Class.argument: why not, and what instead
    "Select.distinct": (_RAW, "Group by the columns instead."),
    "Select.joins": (_ONE_TABLE, _PREPARED),
    "Select.laterals": (_ONE_TABLE, _PREPARED),
    "Select.qualify": (_RAW, "Use HAVING on an aggregate that is selected."),
    "Select.windows": (_RAW, "Use GROUP BY."),
    "Select.sample": ("A sample would be drawn anew for every question.", "Leave TABLESAMPLE out."),
    "Select.into": ("A question changes nothing.", "Leave INTO out."),
    "Select.locks": ("A question changes nothing.", "Leave FOR UPDATE out."),
    "Table.sample": ("A sample would be drawn anew for every question.", "Leave TABLESAMPLE out."),
    "Table.pivots": (_RAW, "Use GROUP BY."),
    "Table.joins": (_ONE_TABLE, _PREPARED),
    "Table.db": (_ONE_TABLE, _PLAIN_FROM),
    "Table.catalog": (_ONE_TABLE, _PLAIN_FROM),
    "Group.all": ("Keys are named, so that a question says what it asks.", "Write the columns after GROUP BY."),
    "Group.rollup": ("Totals at several levels are several questions.", "Ask once per level, each with a GROUP BY."),
    "Group.cube": ("Totals at several levels are several questions.", "Ask once per level, each with a GROUP BY."),
    "Group.grouping_sets": ("Totals at several levels are several questions.", "Ask once per level."),
    "Like.escape": ("A LIKE pattern has no escape here.", _NO_ESCAPE),
    "In.query": (_ONE_TABLE, "Ask for them first, and list the constants: x IN (1, 2)."),
    "Between.symmetric": ("Only the plain form is understood.", "Write the smaller end first, without SYMMETRIC."),
    "Escape": ("A LIKE pattern has no escape here.", _NO_ESCAPE),
    "Window": (_RAW, "Leave OVER (…) out and use GROUP BY."),
    "Filter": ("A condition on one aggregate stands inside it.", "Put the condition into a CASE inside the aggregate."),
    "IgnoreNulls": ("Empty cells are left out by every aggregate already.", "Leave IGNORE NULLS out."),
    "RespectNulls": ("Empty cells are left out by every aggregate.", "Leave RESPECT NULLS out."),
    "Subquery": (_ONE_TABLE, _FIRST),
    "Select": (_ONE_TABLE, _FIRST),
    "Exists": (_ONE_TABLE, _FIRST),
    "Union": (_ONE_TABLE, "Ask each SELECT on its own."),
    "Intersect": (_ONE_TABLE, "Ask each SELECT on its own."),
    "Except": (_ONE_TABLE, "Ask each SELECT on its own."),
    "Star": ("It returns single rows, and only aggregates are answered.", "Name an aggregate."),
    "Distinct": ("DISTINCT is understood in COUNT(DISTINCT x) alone.", "Leave DISTINCT out."),
    "Order": ("The order of rows is private.", "Leave ORDER BY out of the aggregate."),
    "Placeholder": ("Every constant must be in the text.", "Write the value itself."),
    "Parameter": ("Every constant must be in the text.", "Write the value itself."),
    "Tuple": ("A list stands only after IN.", "Write the expressions one by one."),
    "Interval": ("Intervals are not supported.", "Compare with a date: d >= DATE '2020-01-31'."),
    "CurrentDate": ("The answer would change with the day.", "Write the day itself: DATE '2020-01-31'."),
    "CurrentTimestamp": ("The answer would change with the clock.", "Write it: TIMESTAMP '2020-01-31 00:00:00'."),
    "IntDiv": (
        "A whole division fails on 0.",
        "Use floor(x / y), which rounds down; // rounds toward 0, so below 0 use ceil(x / y).",
    ),
    "Pow": (_UNBOUNDED, "Use products: x * x."),
    "SimilarTo": (_UNBOUNDED, "Use LIKE: % is any text, _ one letter."),
    "Glob": (_UNBOUNDED, "Use LIKE: % is any text, _ one letter."),
    "Concat": (_UNBOUNDED, "Write one string."),
    "Dot": ("A column has at most the table's name before it.", "Write the column's name alone."),
    "Alias": ("A name can be given to a selected column only.", "Leave AS out here."),
    "Kwarg": ("This named argument is not supported.", "Leave it out."),
}
_OTHERWISE = (
    "Only what is known to be safe for every row is understood.",
    "Use comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT, CASE, + - * / % and functions of docs/howto/sql.md.",
)


_WORDS = {  # of SQLGlot's classes and arguments whose names are not SQL
    **dict.fromkeys(("query", "Select", "Subquery"), "A subquery"),
    **{"joins": "JOIN", "laterals": "LATERAL", "windows": "WINDOW", "sample": "TABLESAMPLE", "pivots": "PIVOT"},
    **{"with_": "WITH", "Star": "*", "Window": "OVER", "IntDiv": "//", "DPipe": "||", "Pow": "A power"},
    **{"NullSafeEQ": "IS NOT DISTINCT FROM", "NullSafeNEQ": "IS DISTINCT FROM"},
    **{"db": "A schema's name", "catalog": "A catalogue's name"},
}


class Refusal(NotAnswerable):
    """A refusal before its position is known: an offset in the text, and a statement that may do instead."""

    def __init__(self, what: str, why: str, fix: str, start: int, rewrite: str | None = None) -> None:
        super().__init__(what, why, fix)
        self.start, self.rewrite = start, rewrite

    def with_position(self, text: str, rewrite: str | None) -> NotAnswerable:
        """The error for the caller, with line, column and the accepted rewrite."""
        fix = self.fix if rewrite is None else f"{self.fix} Write: {rewrite}"
        return NotAnswerable(self.what, self.why, fix, line_and_column(text, self.start) if text else None)


def line_and_column(text: str, start: int) -> tuple[int, int]:
    """The line and column, both from 1, of an offset; beyond the end, those of the last letter."""
    start = max(0, min(start, len(text) - 1))
    line_start = text.rfind("\n", 0, start) + 1
    return text.count("\n", 0, start) + 1, start - line_start + 1


def refusal(where: "exp.Expr | int", what: str, why: str, fix: str, *, rewrite: str | None = None) -> Refusal:
    """A refusal of a node, or of the word at an offset."""
    start = where if isinstance(where, int) else start_of(where)
    short = rewrite if rewrite is not None and len(rewrite) <= _LONGEST_REWRITE else None
    return Refusal(what, why, fix, start, short)


def unsupported(node: "exp.Expr", argument: str = "", *, rewrite: str | None = None) -> Refusal:
    """The refusal of a node, or of one of its arguments, that no rule allows."""
    name = type(node).__name__
    key = f"{name}.{argument}" if argument else name
    why, fix = REASONS.get(key, _OTHERWISE)
    value: Any = node.args.get(argument) if argument else node
    value = value[0] if isinstance(value, list) and value else value
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", argument.strip("_").replace("_", " ") if argument else name).upper()
    word, text = _WORDS.get(argument or name, plain), excerpt(node)
    what = f"{word} is not supported{'' if text == word else f' in {text}'}."
    return refusal(value if hasattr(value, "args") else node, what, why, fix, rewrite=rewrite)


def require_only(node: "exp.Expr", *names: str) -> None:
    """Refuses a node that has an argument other than those named."""
    for name, value in node.args.items():
        if name not in names and value is not None and value is not False and value != []:
            raise unsupported(node, name)


def start_of(node: "exp.Expr") -> int:
    """The offset at which the node's text begins, or else its parent's."""
    ancestor: exp.Expr | None = node
    while ancestor is not None:
        parts = [part for part in ancestor.walk(prune=_is_type) if not _is_type(part)]  # types may have no text here
        starts = [start for part in parts if isinstance(start := part.meta.get("start"), int)]
        if starts:
            return min(starts)
        ancestor = ancestor.parent
    return 0


def _is_type(node: "exp.Expr") -> bool:
    return type(node).__name__ == "DataType"


def excerpt(node: "exp.Expr") -> str:
    """The node as SQL for a sentence, at most 60 letters long."""
    text = " ".join(sql_of(node).split())
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def statement_with(node: "exp.Expr", text: str) -> str | None:
    """The whole statement with `text` in place of the node; None if `text` is no SQL."""
    from sqlglot.errors import SqlglotError

    path: list[tuple[str, int | None]] = []
    root = node
    while root.parent is not None:
        path.append((root.arg_key or "", root.index))
        root = root.parent
    copy = root = root.copy()
    for key, index in reversed(path):
        value = copy.args[key]
        copy = value if index is None else value[index]
    try:
        copy.replace(fragment(text))
    except SqlglotError:
        return None
    return sql_of(root)
