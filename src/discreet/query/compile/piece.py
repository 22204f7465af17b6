"""A piece of SQL with what it may hold, and public constants as such pieces."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from math import floor

from discreet.query.compile import spelling
from discreet.query.nodes import Constant
from discreet.schema import Type
from discreet.schema.kind import measured


class Kind(StrEnum):
    """How the engine holds a value."""

    WHOLE = "whole number"
    REAL = "real number"
    FLAG = "flag"
    TEXT = "text"
    DAYS = "days since 1970"
    SECONDS = "seconds since 1970"
    NULL = "NULL, of any kind"


KINDS = {
    Type.INTEGER: Kind.WHOLE,
    Type.NUMBER: Kind.REAL,
    Type.BOOLEAN: Kind.FLAG,
    Type.TEXT: Kind.TEXT,
    Type.CATEGORY: Kind.TEXT,
    Type.DATE: Kind.DAYS,
    Type.DATETIME: Kind.SECONDS,
}
ENGINE_TYPES = {Kind.REAL: "DOUBLE", Kind.FLAG: "BOOLEAN", Kind.TEXT: "VARCHAR"}  # all others: BIGINT


@dataclass(frozen=True)
class Sql:
    """A piece of SQL; `nan` if it may be NaN, `plain` if it only compares what is stored."""

    text: str
    kind: Kind
    nan: bool = False
    plain: bool = False

    def __post_init__(self) -> None:
        spelling.short(self.text)

    @property
    def real(self) -> str:
        """As a double."""
        match self.kind:
            case Kind.REAL:
                return self.text
            case Kind.FLAG:
                return f"CAST(CAST({self.text} AS INTEGER) AS DOUBLE)"
            case _:
                return f"CAST({self.text} AS DOUBLE)"

    @property
    def known(self) -> str:
        """With NULL for NaN."""
        return f"CASE WHEN isnan({self.text}) THEN NULL ELSE {self.text} END" if self.nan else self.text


def constant(given: Constant) -> Sql:
    """A public constant.

    >>> constant(date(1970, 1, 3)).text, constant("a'b").text
    ('CAST(2 AS BIGINT)', "'a''b'")
    """
    match given:
        case None:
            return Sql("NULL", Kind.NULL, plain=True)
        case bool():
            return Sql("TRUE" if given else "FALSE", Kind.FLAG, plain=True)
        case str():
            return Sql(spelling.text(given), Kind.TEXT, plain=True)
        case datetime():
            return Sql(_bigint(floor(measured(given))), Kind.SECONDS, plain=True)
        case date():
            return Sql(_bigint(int(measured(given))), Kind.DAYS, plain=True)
        case _:
            exact = Fraction(given)
            if exact.denominator == 1 and abs(exact) <= spelling.LARGEST_WHOLE:
                return Sql(_bigint(int(exact)), Kind.WHOLE, plain=True)
            return Sql(spelling.real(exact), Kind.REAL, plain=True)


def _bigint(number: int) -> str:
    return f"CAST({spelling.whole(number)} AS BIGINT)"


def joint_kind(*pieces: Sql) -> Kind:
    """The kind that all of them can be held as."""
    kinds = {piece.kind for piece in pieces} - {Kind.NULL}
    if len(kinds) > 1:
        return Kind.SECONDS if Kind.SECONDS in kinds else Kind.REAL
    return kinds.pop() if kinds else Kind.WHOLE


def held(piece: Sql, kind: Kind) -> Sql:
    """The piece as this kind: numbers as doubles, days as seconds; NULL fits every kind."""
    if piece.kind is Kind.NULL:
        return Sql(f"CAST(NULL AS {ENGINE_TYPES.get(kind, 'BIGINT')})", kind, plain=True)
    if piece.kind is Kind.DAYS and kind is Kind.SECONDS:
        return Sql(f"TRY({piece.text} * 86400)", kind)
    return Sql(piece.real, kind, piece.nan, piece.plain) if kind is Kind.REAL else piece


def alike(*pieces: Sql) -> tuple[Kind, list[Sql]]:
    """All pieces as their joint kind."""
    kind = joint_kind(*pieces)
    return kind, [held(piece, kind) for piece in pieces]
