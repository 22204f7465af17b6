"""A view of one prepared file: held from the time it is taken, so that nobody removes the file meanwhile."""

import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.bounded import Bounded
from discreet.engine import states
from discreet.engine.arrays_pass import KernelPass, Pass, kernel_pass, row_limit, rows_pass
from discreet.engine.arrays_read import BEGINNING, Place
from discreet.engine.process import Gone
from discreet.errors import bad, engine_failed
from discreet.kernel.coins import drawn_key
from discreet.kernel.rows import UnitRows
from discreet.noise.source import SYSTEM, Ints, Source
from discreet.query.compile.exacts import Exacts, gathered
from discreet.query.compile.render import value
from discreet.query.compile.statements import Statement, statements
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import And, CountRows, Expr, Output, Question
from discreet.query.tally import Tally
from discreet.schema import Schema

if TYPE_CHECKING:
    from discreet.engine.engine import Engine

MOST_REMEMBERED = 4_000_000  # cells of all tallies that one view remembers: 32 MiB a part


class FileView:
    """One prepared state of a table, by the engine that asks its worker."""

    def __init__(self, engine: "Engine", snapshot: str, path: Path) -> None:
        self._engine, self._snapshot = engine, snapshot
        self._hold = states.Holds()
        self._hold.hold(path)
        self._remembered: OrderedDict[str, Exacts] = OrderedDict()
        self._cells = 0
        weakref.finalize(self, self._hold.release)

    @property
    def snapshot(self) -> str:
        """The id of the state."""
        return self._snapshot

    def tally(self, wanted: Tally) -> Bounded[Exacts]:
        """As `View.tally`: compiled here, so refused here."""
        if wanted.schema != self._engine.schema:
            raise bad("tally", "must be of this table's public facts", wanted.schema.name, "Bound it anew.")
        key = _spelt(wanted)
        if key in self._remembered:
            return Bounded(lambda: self._recalled(key, wanted, ()), wanted.sensitivity)
        compiled = statements(wanted.schema, wanted.cells, wanted.where, wanted.caps, wanted.parts)
        return Bounded(lambda: self._recalled(key, wanted, compiled), wanted.sensitivity)

    def sum(
        self,
        kernel: str,
        columns: Sequence[str],
        public: dict[str, Any],
        *,
        where: Expr | None = None,
        source: Source = SYSTEM,
    ) -> Bounded[Ints]:
        """As `View.sum`: the worker reads whole units in chunks and adds up; a pass has its own limit of time."""
        wanted, sensitivity = kernel_pass(self._engine.schema, kernel, columns, public)
        condition = _condition(self._engine.schema, where)
        return Bounded(lambda: self._summed(wanted, condition, source), sensitivity, "kernel.md")

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """As `View.rows`: read in chunks, and given up where they take more than half of the limit of memory."""
        schema = self._engine.schema
        wanted, condition = rows_pass(schema, columns), _condition(schema, where)
        return Bounded(lambda: self._read(wanted, condition), row_limit(schema))

    def close(self) -> None:
        """As `View.close`."""
        self._hold.release()
        with self._engine.lock:
            self._remembered.clear()
            self._cells = 0

    def _recalled(self, key: str, wanted: Tally, compiled: tuple[Statement, ...]) -> Exacts:
        with self._engine.lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        if not compiled:  # it was forgotten meanwhile, for another that is larger
            compiled = statements(wanted.schema, wanted.cells, wanted.where, wanted.caps, wanted.parts)
        columns = self._engine.run([statement.sql for statement in compiled], self._snapshot)
        exacts = gathered(compiled, columns, wanted.cells)
        if wanted.cells.public:
            with self._engine.lock:
                self._remember(key, exacts)
        return exacts

    def _remember(self, key: str, exacts: Exacts) -> None:
        size = len(exacts.keys) * max(len(exacts.parts), 1)
        if size > MOST_REMEMBERED or key in self._remembered:
            return
        self._remembered[key] = exacts
        self._cells += size
        while self._cells > MOST_REMEMBERED:
            _, oldest = self._remembered.popitem(last=False)
            self._cells -= len(oldest.keys) * max(len(oldest.parts), 1)

    # --- passes over rows ------------------------------------------------------------------------------------------

    def _summed(self, wanted: KernelPass, where: str, source: Source) -> Ints:
        limits, key = self._engine.limits, drawn_key(source)
        with self._engine.lock:
            self._ask("load", wanted.kernel, seconds=limits.prepare_seconds)
            numbers = self._ask("sum", *self._state(), wanted, where, key, seconds=limits.seconds)
        try:
            return wanted.require_answer(numbers)
        except ValueError:
            pass
        raise engine_failed()

    def _read(self, wanted: Pass, where: str) -> UnitRows:
        limits = self._engine.limits
        until, left = time.monotonic() + limits.seconds, limits.memory // 2
        found: list[UnitRows] = []
        place: Place | None = BEGINNING
        while place is not None:
            seconds = until - time.monotonic()
            if seconds <= 0 or left < 0:
                raise engine_failed()
            with self._engine.lock:
                chunk, place = self._ask("rows", *self._state(), wanted, where, place, seconds=seconds)
            found.append(chunk)
            left -= 2 * (sum(column.nbytes for column in chunk.columns.values()) + chunk.starts.nbytes)  # joined below
        return joined(found)

    def _state(self) -> tuple[str, dict[str, str]]:
        """Where the state lies, and what it was made from; the fixed reply if it is not there any more."""
        engine = self._engine
        path = states.path(engine.folder, engine.name, self._snapshot)
        if states.owned_stamp(path) is None:
            raise engine_failed()
        return str(path), {"snapshot": self._snapshot, "layout": engine._layout}

    def _ask(self, verb: str, *arguments: Any, seconds: float) -> Any:
        try:
            return self._engine._process.ask(verb, *arguments, seconds=seconds)
        except Gone:
            pass
        raise engine_failed()


def _spelt(wanted: Tally) -> str:
    """What is counted, as text: as values 1 and True would be one constant."""
    return repr((tuple(key.key.item for key in wanted.cells.keys), wanted.where, wanted.caps, wanted.parts))


def joined(chunks: Sequence[UnitRows]) -> UnitRows:
    """All chunks, of which there is one at least, as one."""
    firsts = np.cumsum([0, *(chunk.size for chunk in chunks)])
    starts = [chunk.starts + first for chunk, first in zip(chunks, firsts, strict=False)]
    names = list(chunks[0].columns)
    columns = {name: np.concatenate([chunk.columns[name] for chunk in chunks]) for name in names}
    return UnitRows(columns, np.concatenate(starts), int(firsts[-1]))


def _condition(schema: Schema, where: Expr | None) -> str:
    """The condition as SQL over a stored row, resolved and refused as that of a question is."""
    if where is None:
        return ""
    question = resolved(Question(schema.name, (Output("n", CountRows()),), where=where), schema)
    if question.where is None:
        return ""
    parts = question.where.parts if isinstance(question.where, And) else (question.where,)
    return " AND ".join(f"({value(part, schema)})" for part in parts)
