"""The words on everything that comes out of a rehearsal, so that nobody takes invented numbers for real ones."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

from discreet.inert import unused_name

STAMP = "REHEARSAL"
SENTENCE = f"{STAMP}: the rows are invented from public facts, so these numbers say nothing about the private table."
COLUMN, CELL = "rehearsal", "invented"  # in every row of a table, since rows are copied without what stands around them
RECEIPT = "rehearsal-"
JSON = {COLUMN: True}  # the first key of every object

Made = TypeVar("Made")


def titled(text: str) -> str:
    """The text with the stamp before it.

    >>> titled("people over geo")
    'REHEARSAL: people over geo'
    """
    return f"{STAMP}: {text}"


def receipt(name: str) -> str:
    """The name of a receipt that is in no real ledger."""
    return f"{RECEIPT}{name}"


def free_column(names: Iterable[str]) -> str:
    """The name of the stamp's column beside others of these names."""
    return unused_name(COLUMN, {column.casefold() for column in names})


def as_kind(kind: type[Made], value: Any) -> Made:
    """The same fields as a `kind`, which is the value's class with a stamp."""
    return kind(**{field.name: getattr(value, field.name) for field in fields(value)})
