"""The SQL dialect: DuckDB's grammar, with every function left as a bare call, so that none is allowed by accident.

SQLGlot is imported on first use.  Every node gets the offset of its text as `meta["start"]`, which refusals point at.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    E = TypeVar("E", bound=exp.Expr)

_SPECIAL_CALLS = ("CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT")  # those whose arguments have a grammar of their own


@lru_cache(maxsize=1)
def dialect() -> "Dialect":
    """The dialect: DuckDB's, with backticks as quotes for names, BigQuery's FLOAT64, and no built-in function."""
    from sqlglot.dialects.duckdb import DuckDB
    from sqlglot.parsers.duckdb import DuckDBParser
    from sqlglot.tokenizer_core import TokenType

    class PlainParser(DuckDBParser):
        FUNCTIONS: ClassVar[Any] = {}
        FUNCTION_PARSERS: ClassVar[Any] = {name: DuckDBParser.FUNCTION_PARSERS[name] for name in _SPECIAL_CALLS}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[Any] = {"CASE": DuckDBParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

        def expression(self, instance: "E", token: "Token | None" = None, comments: "list[str] | None" = None) -> "E":
            node = super().expression(instance, token, comments)
            if self._prev is not None:
                node.meta.setdefault("start", self._prev.start)
            return node

    class DiscreetSql(DuckDB):
        class Tokenizer(DuckDB.Tokenizer):
            IDENTIFIERS: ClassVar[Any] = ['"', "`"]
            KEYWORDS: ClassVar[Any] = {**DuckDB.Tokenizer.KEYWORDS, "FLOAT64": TokenType.DOUBLE}

        Parser = PlainParser

    return DiscreetSql()


def tokens_of(text: str) -> "list[Token]":
    """The tokens of the text, without comments, in which SQLGlot would look for instructions."""
    tokens = dialect().tokenize(text)
    for token in tokens:
        token.comments.clear()
    return tokens


def trees(tokens: "list[Token]", text: str) -> "list[exp.Expr | None]":
    """The statements that the tokens form."""
    return dialect().parser().parse(tokens, text)


def fragment(text: str) -> "exp.Expr":
    """The node of an expression that a rewrite inserts."""
    from sqlglot import exp
    from sqlglot.errors import ParseError

    tree = trees(tokens_of(f"SELECT {text}"), text)[0]
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
        raise ParseError("no single expression")
    first: exp.Expr = tree.expressions[0]
    return first


def without_alias(node: "exp.Expr") -> "exp.Expr":
    """The selected expression without AS and its name."""
    inner: exp.Expr = node.this if type(node).__name__ == "Alias" else node
    return inner


def sql_of(node: "exp.Expr") -> str:
    """The node as SQL on one line; only texts in quotes may hold line breaks."""
    from sqlglot.errors import ErrorLevel

    return node.sql(dialect(), comments=False, unsupported_level=ErrorLevel.IGNORE)
