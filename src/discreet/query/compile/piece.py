"""Pieces of SQL with the kind of their value, and public constants as such pieces."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from discreet.query.compile import spelling
from discreet.query.nodes import Constant
from discreet.schema import Type
from discreet.schema.kind import number_of

if TYPE_CHECKING:
    from discreet.query.compile.operations import Operations


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


@dataclass(frozen=True)
class Sql:
    """A piece of SQL; `nan` if it may be NaN, `plain` if it only compares what is stored."""

    text: str
    kind: Kind
    nan: bool = False
    plain: bool = False

    def __post_init__(self) -> None:
        spelling.short(self.text)

    def real(self, ops: "Operations") -> str:
        """As a double."""
        match self.kind:
            case Kind.REAL:
                return self.text
            case Kind.FLAG:
                return ops.flag_as_double(self.text)
            case _:
                return ops.double(self.text)

    def without_nan(self, ops: "Operations") -> str:
        """The SQL with NULL for NaN."""
        return f"CASE WHEN {ops.is_nan(self.text)} THEN NULL ELSE {self.text} END" if self.nan else self.text


def constant(value: Constant, ops: "Operations") -> Sql:
    """A public constant.

    >>> from discreet.query.compile.operations import DUCKDB
    >>> constant(date(1970, 1, 3), DUCKDB).text, constant("a'b", DUCKDB).text
    ('CAST(2 AS BIGINT)', "'a''b'")
    """
    match value:
        case None:
            return Sql("NULL", Kind.NULL, plain=True)
        case bool():
            return Sql("TRUE" if value else "FALSE", Kind.FLAG, plain=True)
        case str():
            return Sql(ops.text(value), Kind.TEXT, plain=True)
        case datetime():
            return Sql(_bigint(floor(number_of(value))), Kind.SECONDS, plain=True)
        case date():
            return Sql(_bigint(int(number_of(value))), Kind.DAYS, plain=True)
        case _:
            exact = Fraction(value)
            if exact.denominator == 1 and abs(exact) <= spelling.LARGEST_WHOLE:
                return Sql(_bigint(int(exact)), Kind.WHOLE, plain=True)
            return Sql(ops.real(exact), Kind.REAL, plain=True)


def _bigint(number: int) -> str:
    return f"CAST({spelling.whole(number)} AS BIGINT)"


def joint_kind(*pieces: Sql) -> Kind:
    """The kind that all of them can be held as."""
    kinds = {piece.kind for piece in pieces} - {Kind.NULL}
    if len(kinds) > 1:
        return Kind.SECONDS if Kind.SECONDS in kinds else Kind.REAL
    return kinds.pop() if kinds else Kind.WHOLE


def as_kind(piece: Sql, kind: Kind, ops: "Operations") -> Sql:
    """The piece as this kind: numbers as doubles, days as seconds; NULL fits every kind."""
    if piece.kind is Kind.NULL:
        return Sql(f"CAST(NULL AS {ops.type(kind)})", kind, plain=True)
    if piece.kind is Kind.DAYS and kind is Kind.SECONDS:
        return Sql(ops.product(piece.text, 86400), kind)
    return Sql(piece.real(ops), kind, piece.nan, piece.plain) if kind is Kind.REAL else piece


def as_joint_kind(ops: "Operations", *pieces: Sql) -> tuple[Kind, list[Sql]]:
    """All pieces as their joint kind."""
    kind = joint_kind(*pieces)
    return kind, [as_kind(piece, kind, ops) for piece in pieces]
