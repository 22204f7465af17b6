"""An engine on rows that are arrays in this process: the same integers as the engine on files, for fewer questions.

The rows are read once, when the first view is taken, and copied; whoever changes the arrays later changes nothing.
There is no worker, and so no limit of time or memory: this is for tables that fit beside the program that made them.
Of conditions it knows parts of the units (`arrays_part`); tallies are those of `arrays_tally`.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet.bounded import Bounded
from discreet.engine.arrays_cells import Array, Held, prepared_rows, require_held, rows_in_place
from discreet.engine.arrays_part import part_of, require_part
from discreet.engine.arrays_tally import exacts_of_tally, require_countable
from discreet.engine.chunks import starts_of
from discreet.engine.passes import KernelPass, Pass, kernel_pass, row_limit, rows_pass
from discreet.engine.prepare import FORMAT, columns_read, layout
from discreet.engine.protocol import Progress
from discreet.engine.secret import load_or_create_secret, new_secret
from discreet.errors import SourceUnavailable, bad, engine_failed
from discreet.kernel.add import sum_of_chunks
from discreet.kernel.contract import kernel_of
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.query.compile.exacts import Exacts
from discreet.query.nodes import Expr
from discreet.query.tally import Tally
from discreet.schema import Schema

Result = TypeVar("Result")


class ArrayEngine:
    """A dict of numpy arrays, or a frame of pandas or Polars, under a schema; its key lies in `{name}.key`."""

    def __init__(self, folder: Path, name: str, schema: Schema, table: Any) -> None:
        self.schema = schema
        self._table: Mapping[str, Array] = _arrays(table, columns_read(schema))
        require_held(schema, self._table)
        self._secret = load_or_create_secret(Path(folder) / f"{name}.key")
        self._lock = threading.Lock()
        self._view: ArrayView | None = None
        self._content = ""

    def __repr__(self) -> str:
        return f"ArrayEngine({self.schema.name!r})"

    def identity(self) -> dict[str, str]:
        """As `Engine.identity`: the digest of the content."""
        self.view()
        return {"content": self._content}

    def view(self, progress: Progress | None = None, *, snapshot: str | None = None) -> "ArrayView":
        """As `Engine.view`; there is one state."""
        with self._lock:
            if self._view is None:
                content = _digest(self._table)
                rows = prepared_rows(self.schema, self._table, self._secret)
                name = self._secret.snapshot(content, layout(self.schema), FORMAT)
                self._view, self._content, self._table = ArrayView(self.schema, rows, name), content.hex(), {}
            if progress is not None:
                progress("writing", 1.0)
            if snapshot is not None and snapshot != self._view.snapshot:
                what, why = "The rows that this run began with are gone.", "These arrays hold others."
                raise SourceUnavailable(what, why, "Hand over the table as it was, or abandon the run.")
            return self._view

    def close(self) -> None:
        """As `Engine.close`: nothing is open."""


def view_of_arrays(schema: Schema, table: Mapping[str, Array]) -> "ArrayView":
    """Arrays that were handed over for one computation: their keys of hashes are drawn now and forgotten with them."""
    require_held(schema, table)
    if schema.unit is None:
        return ArrayView(schema, rows_in_place(schema, table), "")
    return ArrayView(schema, prepared_rows(schema, table, new_secret()), "")


class ArrayView:
    """The one state of an `ArrayEngine`."""

    def __init__(self, schema: Schema, rows: Held, snapshot: str) -> None:
        self._schema, self._rows, self._snapshot = schema, rows, snapshot
        # chunks of the last pass, for one that reads the same rows
        self._last: tuple[tuple[Pass, Expr | None], list[UnitRows]] | None = None

    @property
    def snapshot(self) -> str:
        """As `View.snapshot`."""
        return self._snapshot

    def tally(self, tally: Tally) -> Bounded[Exacts]:
        """As `View.tally`."""
        if tally.schema != self._schema:
            raise bad("tally", "must be of this table's public facts", tally.schema.name, "Bound it anew.")
        require_countable(tally)
        require_part(self._rows, tally.where)
        return Bounded(_fixed_reply(lambda: exacts_of_tally(self._rows, tally)), tally.sensitivity)

    def sum(
        self, kernel: str, columns: Sequence[str], public: dict[str, Any], *, where: Expr | None = None
    ) -> Bounded[Ints]:
        """As `View.sum`, over all units or a part of them."""
        require_part(self._rows, where)
        reading, sensitivity = kernel_pass(self._schema, kernel, columns, public)
        return Bounded(_fixed_reply(lambda: self._sum(reading, where)), sensitivity, "kernel.md")

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """As `View.rows`, of all units or a part of them."""
        require_part(self._rows, where)
        reading = rows_pass(self._schema, columns)
        return Bounded(_fixed_reply(lambda: _all_rows(part_of(self._rows, where), reading)), row_limit(self._schema))

    def close(self) -> None:
        """As `View.close`: the engine keeps its one state."""

    def _sum(self, reading: KernelPass, where: Expr | None) -> Ints:
        key = reading.read, where
        if self._last is None or self._last[0] != key:
            self._last = key, list(_chunks(part_of(self._rows, where), reading.read))
        chunks = self._last[1]
        return reading.require_answer(sum_of_chunks(kernel_of(reading.kernel), chunks, reading.public))


def _all_rows(held: Held, reading: Pass) -> UnitRows:
    return _between(held, reading, 0, len(held.unit))


def _chunks(held: Held, reading: Pass) -> Iterator[UnitRows]:
    unit, first = held.unit, 0
    while first < len(unit):
        end = min(first + reading.chunk_rows, len(unit))
        if end < len(unit):
            end = int(np.searchsorted(unit, unit[end]))  # the first row of the unit that would be cut
        yield _between(held, reading, first, end)
        first = end


def _between(held: Held, reading: Pass, first: int, end: int) -> UnitRows:
    part = slice(first, end)
    cells = {field.name: held.cells[field.name][part] for field in reading.fields}
    columns = {field.name: field.values(cells[field.name].stored, cells[field.name].empty) for field in reading.fields}
    return UnitRows(columns, starts_of(held.unit[part], reading.max_rows), end - first)


def _fixed_reply(compute: Callable[[], Result]) -> Callable[[], Result]:
    """The same, with the one reply to whatever goes wrong."""

    def attempt() -> Result:
        try:
            return compute()
        except Exception:  # what it says may depend on rows
            pass
        raise engine_failed()

    return attempt


def _arrays(table: Any, names: Sequence[str]) -> dict[str, Array]:
    """The wanted columns as arrays of numpy."""
    present = list(table.keys()) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
    columns = {name: table[name] for name in names if name in present}
    return {name: column if isinstance(column, np.ndarray) else _array(column) for name, column in columns.items()}


def _array(column: Any) -> Array:
    """Of a frame's column; one that is no column is refused by its type."""
    if not hasattr(column, "to_numpy"):
        rule = "must be a dict of numpy arrays, or a frame of pandas or Polars"
        raise bad("table", rule, type(column).__name__, 'Give, for example, {"age": np.array([30, 31])}.')
    return np.asarray(column.to_numpy())


def _digest(table: Mapping[str, Array]) -> bytes:
    """SHA-256 of names, dtypes and cells: equal for equal content, also in another process."""
    digest = hashlib.sha256()
    for name, array in sorted(table.items()):
        digest.update(f"{len(name.encode())}:{name} {array.dtype.str} ".encode())
        plain, empty = np.ma.getdata(array), np.ma.getmaskarray(array)
        if plain.dtype.kind == "O":
            for cell in plain.tolist():
                text = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else repr(cell).encode()
                digest.update(f"{type(cell).__name__} {len(text)}:".encode() + text)
        else:
            digest.update(np.ascontiguousarray(plain).tobytes())
        digest.update(empty.tobytes())
    return digest.digest()
