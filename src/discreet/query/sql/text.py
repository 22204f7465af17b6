"""Turn SQL text into a tree, within limits that are checked first.

SQLGlot recurses about 20 frames for each nesting level, and its time doubles with every level of TYPE(…), so depth,
words and calls of types are limited before it runs.  A word that is nowhere in the tree is refused, because SQLGlot
drops some that change the meaning (NULLS LAST, VARCHAR(3)).
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.query.nodes import Expr
from discreet.query.sql.dialect import dialect, sql_of, tokens_of, trees
from discreet.query.sql.head import Head, head
from discreet.query.sql.refusal import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

MOST_BYTES = 65_536
MOST_WORDS = 4_000  # about 0.2 s of parsing; an IN list of 1,900 constants fits
MOST_DEPTH = 24  # of brackets, CASE, NOT and signs: 500 frames, half of Python's limit
MOST_TREE_DEPTH = 64  # of the tree, chains of + included: all readers of the question recurse

_MARKS = {
    *("L_PAREN", "R_PAREN", "COMMA", "DOT", "STAR", "PLUS", "DASH", "SLASH", "MOD", "DCOLON", "FARROW", "SEMICOLON"),
    *("EQ", "NEQ", "LT", "LTE", "GT", "GTE", "DIV", "CARET", "DSTAR", "DPIPE", "NUMBER", "STRING", "IDENTIFIER", "VAR"),
}
_WORDS = {
    *("SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "ASC", "DESC", "LIMIT", "OFFSET", "AS", "DISTINCT"),
    *("AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "BETWEEN", "LIKE", "ILIKE", "WITHIN"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT"),
    *("DATE", "TIMESTAMP", "DATETIME", "INT", "INTEGER", "BIGINT", "INT64", "LONG", "DOUBLE", "FLOAT", "FLOAT64"),
    *("REAL", "NUMERIC", "DECIMAL", "TEXT", "VARCHAR", "STRING", "BOOLEAN", "BOOL"),
}
_ENDS = (None, "HAVING", "ORDER_BY", "LIMIT", "OFFSET")
_OPEN = {  # token: tokens that must not follow it
    "GROUP_BY": (*_ENDS, "COMMA"),
    "COMMA": _ENDS,
    "ALIAS": (*_ENDS, "COMMA", "FROM", "WHERE", "GROUP_BY", "R_PAREN"),
}
_LIMIT_WHY = "The text of a question has a limit, because a longer or deeper one would take too long to read."
_EXAMPLE = "SELECT COUNT(*) AS n FROM people"


@dataclass(frozen=True)
class Source:
    """A parsed statement: its tree, the options before it, and the name of its table."""

    root: "exp.Select"
    head: Head
    strings: frozenset[int]  # offsets of texts in quotes: never names
    words: "tuple[Token, ...]"
    tables: tuple[str, ...] = ()
    released: "Callable[[exp.Expr], Expr | None] | None" = field(default=None, compare=False)


def source(text: str) -> Source:
    """The one SELECT in the text."""
    _require_clean(text)
    words = _words(text)
    _require_shape(words)
    options, statement = head(words, text)
    _require_flat(statement)
    _require_complete(statement)
    root = _tree(statement, text)
    _require_shallow(root)
    strings = frozenset(word.start for word in words if word.token_type.name == "STRING")
    return Source(root, options, strings, tuple(statement))


def _require_clean(text: str) -> None:
    if not text.strip():
        raise refusal(0, "The question is empty.", "There is nothing to answer.", f"Write: {_EXAMPLE}")
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise refusal(0, "The question is longer than 64 KB.", _LIMIT_WHY, "Ask several shorter questions.")
    for start, letter in enumerate(text):
        if (letter < " " and letter not in "\t\n\r") or letter == "\x7f" or "\ud800" <= letter <= "\udfff":
            what = f"The text holds the control character U+{ord(letter):04X}."
            raise refusal(start, what, "It cannot be seen and has no meaning in SQL.", "Remove it.")


def _words(text: str) -> "list[Token]":
    from sqlglot.errors import SqlglotError

    try:
        words = tokens_of(text)
    except (SqlglotError, RecursionError, MemoryError, ValueError, IndexError):
        why = "A quotation mark or a comment is opened and not closed, or a letter has no meaning in SQL."
        raise refusal(len(text) - 1, "The text does not split into words.", why, "Close what is open.") from None
    while words and words[-1].token_type.name == "SEMICOLON":
        words.pop()
    if not words:
        raise refusal(0, "The question is empty.", "There is nothing to answer.", f"Write: {_EXAMPLE}")
    if len(words) > MOST_WORDS:
        what = f"The question has more than {MOST_WORDS:,} words."
        raise refusal(words[MOST_WORDS].start, what, _LIMIT_WHY, "Ask several shorter questions.")
    return words


def _require_shape(words: "list[Token]") -> None:
    """Refuses several statements and all but SELECT; WITH passes, and is refused later with a rewrite."""
    for word in words:
        if word.token_type.name == "SEMICOLON":
            why = "A question is one statement."
            raise refusal(word.start, "There is more than one statement.", why, "Ask them one by one, without the ;.")
    if words[0].token_type.name not in ("SELECT", "WITH"):
        what = f"A question begins with SELECT, not with {words[0].text[:30]!r}."
        fix = f"Write, for example: {_EXAMPLE}"
        raise refusal(words[0].start, what, "Nothing but a question about one table is understood.", fix)


def _require_flat(words: "list[Token]") -> None:
    """Refuses unknown marks, TYPE(…) and deep nesting."""
    from sqlglot.tokenizer_core import TokenType

    types = dialect().parser_class.TYPE_TOKENS
    brackets = cases = signs = 0
    for word, following in zip(words, [*words[1:], words[-1]], strict=True):
        kind = word.token_type
        if kind.name not in _MARKS and not word.text[:1].isalpha() and word.text[:1] != "_":
            what = f"{word.text[:20]!r} is not supported."
            why = "Lists, structs, parameters, patterns and bit operators are not part of a question."
            raise refusal(word.start, what, why, "Use comparisons, + - * / % and the functions in docs/howto/sql.md.")
        if kind in types and following.token_type == TokenType.L_PAREN and following is not word:
            what = f"{word.text[:30]}(…) is not supported."
            fix = "Use a plain cast, such as CAST(x AS DATE), or an aggregate, such as COUNT(x)."
            why = "Types take no brackets here, and lists, structs and maps are not part of a question."
            raise refusal(word.start, what, why, fix)
        brackets += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        cases += (kind == TokenType.CASE) - (kind == TokenType.END)
        signs = signs + 1 if kind in (TokenType.NOT, TokenType.DASH, TokenType.PLUS) else 0
        if max(brackets, 0) + max(cases, 0) + signs > MOST_DEPTH:
            what = f"The question is nested more than {MOST_DEPTH} deep."
            raise refusal(word.start, what, _LIMIT_WHY, "Write it flatter: AND, OR and IN need no brackets.")


def _require_complete(words: "list[Token]") -> None:
    """Refuses GROUP BY, AS and commas with nothing behind them, which SQLGlot accepts.

    A comma before FROM or a bracket has a clear meaning and is ignored, as in DuckDB.
    """
    for word, following in zip(words, [*words[1:], None], strict=True):
        if (None if following is None else following.token_type.name) in _OPEN.get(word.token_type.name, ()):
            name = "the comma" if word.text == "," else word.text.upper()
            why, fix = "The question is not complete.", "Write what belongs there, or"
            raise refusal(word.start, f"Nothing stands behind {name}.", why, f"{fix} leave {name} out.")


def _tree(words: "list[Token]", text: str) -> "exp.Select":
    from sqlglot import exp
    from sqlglot.errors import ParseError, SqlglotError

    start = words[-1].start
    try:
        statements = trees(words, text)
    except ParseError as error:
        start = _error_start(error, words)
        statements = []
    except (SqlglotError, RecursionError, MemoryError, ValueError, TypeError, AttributeError, LookupError):
        statements = []
    if len(statements) == 1 and isinstance(statements[0], exp.Select):
        return statements[0]
    if len(statements) == 1 and isinstance(statements[0], exp.Query):
        raise _set_operation(statements[0])
    what = "The text is not SQL that can be read."
    why = f"Reading stopped near {text[start : start + 30].split(chr(10))[0]!r}."
    raise refusal(start, what, why, f"Check the words around it. A question looks like this: {_EXAMPLE}")


def _error_start(error: "Exception", words: "list[Token]") -> int:
    """The offset of the word at which the parser stopped; SQLGlot counts columns to a word's end."""
    errors = getattr(error, "errors", None) or [{}]
    stop = errors[0].get("line"), errors[0].get("col")
    return next((word.start for word in words if (word.line, word.col) == stop), words[-1].start)


def _set_operation(node: "exp.Query") -> Refusal:
    name = type(node).__name__.upper()
    why = "A question is about one table, whose units are counted and capped beforehand."
    left = node.args.get("this")
    rewrite = None if left is None else sql_of(left)
    return refusal(node, f"{name} is not supported.", why, "Ask each SELECT on its own.", rewrite=rewrite)


def _require_shallow(root: "exp.Select") -> None:
    """Refuses a deep tree; brackets, and a chain of AND or of OR, count as one level."""
    stack: list[tuple[exp.Expr, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MOST_TREE_DEPTH:
            what = f"An expression is more than {MOST_TREE_DEPTH} operations deep."
            raise refusal(node, what, _LIMIT_WHY, "Split it into shorter ones.")
        name = type(node).__name__
        for child in node.iter_expressions():
            chained = type(child).__name__ == "Paren" or (name in ("And", "Or") and type(child).__name__ == name)
            stack.append((child, depth if chained else depth + 1))


def require_all_used(read: Source) -> None:
    """Refuses a word that is neither an allowed keyword nor a name or constant in the tree."""
    root = read.root
    leaves = {"Identifier", "Anonymous", "Literal", "Var", "Boolean", "Null"}
    unplaced = {node.this for node in root.walk() if type(node).__name__ == "Literal" and "start" not in node.meta}
    used = {node.meta.get("start") for node in root.walk() if type(node).__name__ in leaves}
    for word in read.words:
        kind, upper = word.token_type.name, word.text.upper()
        if word.start in used or (kind in _MARKS and kind not in ("NUMBER", "STRING", "IDENTIFIER", "VAR")):
            continue
        if kind not in ("NUMBER", "STRING", "IDENTIFIER") and all(part in _WORDS for part in upper.split()):
            continue
        if kind == "NUMBER" and f"0.{word.text}" in unplaced:  # .5 is read as 0.5
            continue
        if upper == "CONTRIBUTION_BOUNDS_PER_ROW":  # a named argument is no leaf of the tree
            continue
        if upper == "NULLS":
            why = "Empty keys come last, whatever the direction."
            raise refusal(word.start, "NULLS FIRST and NULLS LAST are not supported.", why, "Leave them out.")
        what = f"{word.text[:30]!r} is not supported here."
        why = "Every word of a question must have one known meaning."
        raise refusal(word.start, what, why, "Leave it out, or put a name in double quotes.")
