"""A view that asks its engine by SQL and remembers what it counted."""

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from discreet.bounded import Bounded
from discreet.errors import NotAnswerable, bad
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.query.compile.exacts import Exacts, exacts_of
from discreet.query.compile.operations import Operations
from discreet.query.compile.statements import Statement, statements
from discreet.query.nodes import Expr
from discreet.query.tally import Tally
from discreet.schema import Schema

MOST_REMEMBERED = 4_000_000  # cells of all tallies that one view remembers: 32 MiB a part


class AskableEngine(Protocol):
    """What a view needs of its engine."""

    @property
    def schema(self) -> Schema: ...

    @property
    def lock(self) -> Any: ...

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[dict[str, NDArray[Any]]]: ...


class RememberingView:
    """One prepared state of a table, asked by SQL made of these operations; tallies of public cells are remembered."""

    def __init__(self, engine: AskableEngine, snapshot: str, ops: Operations, release: Callable[[], None]) -> None:
        self._engine, self._snapshot, self._ops = engine, snapshot, ops
        self._remembered: OrderedDict[str, Exacts] = OrderedDict()
        self._cells = 0
        self._release = weakref.finalize(self, release)

    @property
    def snapshot(self) -> str:
        """The id of the state."""
        return self._snapshot

    def tally(self, tally: Tally) -> Bounded[Exacts]:
        """As `View.tally`: compiled here, so refused here."""
        if tally.schema != self._engine.schema:
            raise bad("tally", "must be of this table's public facts", tally.schema.name, "Bound it anew.")
        key = _tally_text(tally)
        compiled = () if key in self._remembered else self._statements(tally)
        return Bounded(lambda: self._recall(key, tally, compiled), tally.sensitivity)

    def sum(
        self, kernel: str, columns: Sequence[str], public: dict[str, Any], *, where: Expr | None = None
    ) -> Bounded[Ints]:
        """As `View.sum`: refused where the engine runs no kernels."""
        raise _no_rows("Kernels")

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """As `View.rows`: refused where the engine hands out no rows."""
        raise _no_rows("Blocks of training")

    def close(self) -> None:
        """As `View.close`."""
        self._release()
        with self._engine.lock:
            self._remembered.clear()
            self._cells = 0

    def _statements(self, tally: Tally) -> tuple[Statement, ...]:
        return statements(tally.schema, tally.cells, tally.where, tally.caps, tally.parts, self._ops)

    def _recall(self, key: str, tally: Tally, compiled: tuple[Statement, ...]) -> Exacts:
        with self._engine.lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        compiled = compiled or self._statements(tally)  # it may have been forgotten meanwhile, for a larger one
        columns = self._engine.run([statement.sql for statement in compiled], self._snapshot)
        exacts = exacts_of(compiled, columns, tally.cells)
        if tally.cells.public:
            with self._engine.lock:
                self._remember(key, exacts)
        return exacts

    def _remember(self, key: str, exacts: Exacts) -> None:
        size = _size(exacts)
        if size > MOST_REMEMBERED or key in self._remembered:
            return
        self._remembered[key] = exacts
        self._cells += size
        while self._cells > MOST_REMEMBERED:
            _, oldest = self._remembered.popitem(last=False)
            self._cells -= _size(oldest)


def _size(exacts: Exacts) -> int:
    return len(exacts.keys) * max(len(exacts.parts), 1)


def _tally_text(tally: Tally) -> str:
    """What is counted, as text, in which 1 and True differ; as values they are equal."""
    return repr((tuple(key.key.item for key in tally.cells.keys), tally.where, tally.caps, tally.parts))


def _no_rows(subject: str) -> NotAnswerable:
    why = "They run where the rows are, and this engine only counts there."
    return NotAnswerable(f"{subject} are not run on this source.", why, "Prepare the table from a file.")
