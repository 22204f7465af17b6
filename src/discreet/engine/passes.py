"""A pass over the rows, as every engine plans it: which cells are read, by which kernel, in chunks of what size.

All of it follows from public facts, and is refused here, before anything is charged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import MOST_NUMBERS, MOST_STEPS, Public, kernel_of, plain
from discreet.ndarrays import Bools, Ints
from discreet.query.layout import Store, storage
from discreet.schema import Column, Schema
from discreet.schema.words import suggestion

CHUNK_ROWS, LEAST_ROWS = 2**16, 2**10
CHUNK_CELLS = 2**22  # of a chunk and what a kernel makes of it, 32 MiB, where one unit's rows leave it at that
MOST_CELLS = 2**26  # of twice as many rows as one unit may have
_EXACT = 2**53


@dataclass(frozen=True)
class Field:
    """A column of a pass: its name, the cell that holds it, and how cells become numbers."""

    name: str
    cell: str
    store: Store
    step: Fraction

    def values(self, cells: NDArray[Any], empty: Bools | None) -> NDArray[Any]:
        """Stored cells as `kernel.rows` has them: codes as int64 with −1, all else as float64 with NaN."""
        if self.store is Store.CODE:
            codes = cells.astype(np.int64)
            if empty is not None:
                np.copyto(codes, -1, where=empty)
            return codes
        numbers = cells.astype(np.float64)
        top, bottom = self.step.numerator, self.step.denominator
        if self.store is Store.STEPS and self.step != 1:  # rounded once wherever steps · top is exact
            exact_step = bottom & (bottom - 1) == 0 or max(top, bottom) >= _EXACT
            numbers *= float(self.step) if exact_step else float(top)
            if not exact_step:
                numbers /= float(bottom)
        if empty is not None:
            np.copyto(numbers, np.nan, where=empty)
        return numbers


@dataclass(frozen=True)
class Pass:
    """What is read, and in chunks of how many rows; a unit has at most `max_rows`."""

    fields: tuple[Field, ...]
    max_rows: int
    chunk_rows: int


@dataclass(frozen=True)
class KernelPass:
    """A pass for a kernel, by its name, with a copy of its parameters; `length` is how many numbers it gives."""

    read: Pass
    kernel: str
    public: Public
    length: int

    def require_answer(self, numbers: Any) -> Ints:
        """The numbers, if they are what a kernel gives; ValueError otherwise."""
        if type(numbers) is not np.ndarray or numbers.dtype != np.int64 or numbers.shape != (self.length,):
            raise ValueError
        return numbers


def row_limit(schema: Schema) -> RowLimit:
    """How many rows a unit has at most, by the public facts of the table."""
    return RowLimit(schema.max_rows, schema.relation)


def rows_pass(schema: Schema, columns: Sequence[str]) -> Pass:
    """The pass that reads these columns; refused where there is none such, or one without numbers or public values."""
    return _pass(schema, _columns(schema, columns), 0)


def kernel_pass(schema: Schema, kernel: str, columns: Sequence[str], public: Any) -> tuple[KernelPass, Sensitivity]:
    """The pass of a kernel, and how far one unit moves its sum."""
    implementation, declared = kernel_of(kernel), _columns(schema, columns)
    if not isinstance(public, dict):
        raise bad("public", "must be a dict of parameters", type(public).__name__, 'Give, say, {"norm": 1, …}.')
    parameters = plain(public)
    implementation.require(parameters, declared)
    length, sensitivity = implementation.length(parameters), implementation.sensitivity(parameters, row_limit(schema))
    if not 1 <= length <= MOST_NUMBERS or sensitivity.linf > 2 * MOST_STEPS:
        rule = f"must ask for at most {MOST_NUMBERS} numbers, of which a unit moves none by more than 2^30 steps"
        raise bad("public", rule, (length, sensitivity.linf), "Use fewer columns, or a wider step.")
    read = _pass(schema, declared, implementation.per_row(parameters))
    return KernelPass(read, kernel, parameters, length), sensitivity


def _pass(schema: Schema, columns: Sequence[Column], per_row: int) -> Pass:
    places = [(column.name, storage(schema, column)) for column in columns]
    fields = tuple(Field(name, place.name, place.store, place.step) for name, place in places)
    width, least_rows = per_row + len(fields), 2 * schema.max_rows
    if least_rows * width > MOST_CELLS:
        rule = f"must be at most {MOST_CELLS // (2 * width)} where {width} numbers a row are read and made"
        raise bad("max_rows", rule, schema.max_rows, "Lower unit.max_rows in the metadata, or use fewer columns.")
    return Pass(fields, schema.max_rows, max(least_rows, LEAST_ROWS, min(CHUNK_ROWS, CHUNK_CELLS // width)))


def _columns(schema: Schema, columns: Sequence[str]) -> list[Column]:
    if isinstance(columns, str) or not columns or not all(isinstance(name, str) for name in columns):
        raise bad("columns", "must be a list of names", columns, 'Give, for example, ["age"].')
    declared = [_column(schema, name) for name in columns]
    if len({column.name for column in declared}) < len(declared):
        raise bad("columns", "must name each column once", list(columns), "Leave out what is there already.")
    return declared


def _column(schema: Schema, name: str) -> Column:
    column = schema.find(name)
    if column is None:
        similar = suggestion(name, [known.name for known in schema.columns])
        raise bad("columns", "must be declared", name, f"Did you mean {similar!r}?" if similar else "Declare it first.")
    if storage(schema, column).store is Store.TEXT:
        fix = 'Declare its public values: values = ["…"]'
        raise bad(f"column {column.name!r}", "must hold numbers or have public values", str(column.type), fix)
    return column
