"""A view of one prepared file: held from the time it is taken, so that nobody removes the file meanwhile."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.bounded import Bounded
from discreet.engine import states
from discreet.engine.chunks import BEGINNING, Place
from discreet.engine.passes import KernelPass, Pass, kernel_pass, row_limit, rows_pass
from discreet.engine.process import WorkerFailed
from discreet.engine.remembering import RememberingView
from discreet.errors import engine_failed
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.query.compile.operations import DUCKDB
from discreet.query.compile.render import value
from discreet.query.meaning.resolve import resolved
from discreet.query.nodes import And, CountRows, Expr, Output, Question
from discreet.schema import Schema

if TYPE_CHECKING:
    from discreet.engine.engine import Engine


class FileView(RememberingView):
    """One prepared file, by the engine that asks its worker."""

    _engine: "Engine"

    def __init__(self, engine: "Engine", snapshot: str, path: Path) -> None:
        hold = states.Holds()
        hold.hold(path)
        super().__init__(engine, snapshot, DUCKDB, hold.release)

    def sum(
        self, kernel: str, columns: Sequence[str], public: dict[str, Any], *, where: Expr | None = None
    ) -> Bounded[Ints]:
        """As `View.sum`: the worker reads whole units in chunks and adds up; a pass has its own limit of time."""
        to_read, sensitivity = kernel_pass(self._engine.schema, kernel, columns, public)
        condition = _condition(self._engine.schema, where)
        return Bounded(lambda: self._sum(to_read, condition), sensitivity, "kernel.md")

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """As `View.rows`: read in chunks, and given up where they take more than half of the limit of memory."""
        schema = self._engine.schema
        to_read, condition = rows_pass(schema, columns), _condition(schema, where)
        return Bounded(lambda: self._read_rows(to_read, condition), row_limit(schema))

    # --- passes over rows ------------------------------------------------------------------------------------------

    def _sum(self, to_read: KernelPass, where: str) -> Ints:
        limits = self._engine.limits
        with self._engine.lock:
            self._ask("load", to_read.kernel, seconds=limits.prepare_seconds)
            numbers = self._ask("sum", *self._state(), to_read, where, seconds=limits.seconds)
        try:
            return to_read.require_answer(numbers)
        except ValueError:
            pass
        raise engine_failed()

    def _read_rows(self, to_read: Pass, where: str) -> UnitRows:
        limits = self._engine.limits
        until, spare = time.monotonic() + limits.seconds, limits.memory // 2
        chunks: list[UnitRows] = []
        place: Place | None = BEGINNING
        while place is not None:
            seconds = until - time.monotonic()
            if seconds <= 0 or spare < 0:
                raise engine_failed()
            with self._engine.lock:
                chunk, place = self._ask("rows", *self._state(), to_read, where, place, seconds=seconds)
            chunks.append(chunk)
            spare -= 2 * (sum(column.nbytes for column in chunk.columns.values()) + chunk.starts.nbytes)
        return concatenated(chunks)

    def _state(self) -> tuple[str, dict[str, str]]:
        """Where the state lies, and what it was made from; the fixed reply if it is not there any more."""
        engine = self._engine
        path = states.path(engine.folder, engine.name, self._snapshot)
        if states.owned_stamp(path) is None:
            raise engine_failed()
        return str(path), {"snapshot": self._snapshot, "layout": engine.layout}

    def _ask(self, verb: str, *arguments: Any, seconds: float) -> Any:
        try:
            return self._engine.process.ask(verb, *arguments, seconds=seconds)
        except WorkerFailed:
            pass
        raise engine_failed()


def concatenated(chunks: Sequence[UnitRows]) -> UnitRows:
    """All chunks, at least one, as one."""
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
