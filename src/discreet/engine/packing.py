"""A row's cells in few words: whole numbers that hold all cells of public range, and the rest one by one.

A cell of public range, low … high, is the digit 0 for NULL and c − low + 1 otherwise, in as many bits as high − low + 1
takes.  Columns go in the order of their places; a word takes digits as long as they fit its 62 bits.  Words are short
to sort, break ties with few comparisons, and give the limbs that order a unit's rows.  Text, doubles, and whole
numbers without bounds or of 2⁶² points and more are words of their own, behind the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engine.mixing import LIMB
from discreet.query.compile import keyed
from discreet.query.compile.piece import Kind
from discreet.query.layout import Store, engine_type, storage
from discreet.schema import Column, Schema

BITS = 2 * LIMB  # of a word
_FEW = 4  # limbs; each takes three steps of mixing


@dataclass(frozen=True)
class Digit:
    """A cell within a word: (word >> shift) mod 2^bits."""

    cell: str
    low: int
    shift: int
    bits: int
    type: str
    fixed: bool


@dataclass(frozen=True)
class Word:
    """Packed digits, or one loose cell of that kind."""

    name: str
    digits: tuple[Digit, ...]
    kind: Kind | None = None

    @property
    def from_cells(self) -> str:
        """The word from cells."""
        if self.kind is not None:
            return self.digits[0].cell
        terms = []
        for digit in self.digits:
            digit_value = f"CAST({digit.cell} AS BIGINT) + {1 - digit.low}"
            terms.append(f"coalesce({digit_value}, 0)" + (f" * {2**digit.shift}" if digit.shift else ""))
        return " + ".join(terms)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells from the word."""
        if self.kind is not None:
            return (f"{self.name} AS {self.digits[0].cell}",)
        return tuple(f"CAST(nullif({self._value(d)}, 0) + {d.low - 1} AS {d.type}) AS {d.cell}" for d in self.digits)

    @property
    def bits(self) -> int:
        """The number of bits that a packed word fills."""
        return self.digits[-1].shift + self.digits[-1].bits

    @property
    def agrees(self) -> tuple[str, ...]:
        """SQL for each cell that is fixed per unit: whether it is that of the unit's first row."""
        fixed = [digit for digit in self.digits if digit.fixed]
        if self.kind is not None:
            return tuple(f"{self.name} IS NOT DISTINCT FROM first_{self.name}" for _ in fixed)
        return tuple(f"{self._value(digit)} = {self._value(digit, 'first_')}" for digit in fixed)

    def _value(self, digit: Digit, prefix: str = "") -> str:
        shifted = f"({prefix}{self.name} >> {digit.shift})" if digit.shift else f"{prefix}{self.name}"
        return f"({shifted} & {2**digit.bits - 1})"


def words(schema: Schema) -> tuple[Word, ...]:
    """The words of a row.

    >>> age = Column("age", "integer", bounds=(0, 110))
    >>> words(Schema("people", [age, Column("vip", "boolean")]))[0].from_cells
    'coalesce(CAST(c0 AS BIGINT) + 1, 0) + coalesce(CAST(c1 AS BIGINT) + 1, 0) * 128'
    """
    packed: list[list[Digit]] = []
    loose: list[tuple[Kind, Digit]] = []
    filled = BITS
    for column in sorted(schema.columns, key=lambda column: schema.places[column.name]):
        ends = _range(schema, column)
        name, type_ = storage(schema, column).name, engine_type(schema, column)
        if ends is None:
            loose.append((_KINDS[storage(schema, column).store], Digit(name, 0, 0, 0, type_, column.fixed_per_unit)))
            continue
        low, bits = ends[0], (ends[1] - ends[0] + 1).bit_length()
        if filled + bits > BITS:
            packed.append([])
            filled = 0
        packed[-1].append(Digit(name, low, filled, bits, type_, column.fixed_per_unit))
        filled += bits
    full = [Word(f"w{place}", tuple(digits)) for place, digits in enumerate(packed)]
    return (*full, *(Word(f"w{len(full) + place}", (digit,), kind) for place, (kind, digit) in enumerate(loose)))


def word_names(words: Sequence[Word]) -> tuple[str, ...]:
    """The names of the words."""
    return tuple(word.name for word in words)


def is_short(words: Sequence[Word]) -> bool:
    """Whether all words are packed and have few limbs: these are mixed as they are, others by a hash of all words."""
    return all(word.kind is None for word in words) and sum(1 + (word.bits > LIMB) for word in words) <= _FEW


def message_parts(words: Sequence[Word]) -> list[str]:
    """SQL of the words as parts of a message."""
    return [keyed.message_part(word.name, word.kind or Kind.WHOLE) for word in words]


_KINDS = {Store.TEXT: Kind.TEXT, Store.FLOAT: Kind.REAL, Store.STEPS: Kind.WHOLE}


def _range(schema: Schema, column: Column) -> tuple[int, int] | None:
    """The least and the most that a cell can be, where both are public and fit."""
    match storage(schema, column).store:
        case Store.CODE:
            return 0, len(column.values or ()) - 1
        case Store.FLAG:
            return 0, 1
        case Store.STEPS if column.lattice is not None and column.lattice.points < 2**BITS:
            return column.lattice.low, column.lattice.high
        case _:
            return None
