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
from discreet.noise.source import SYSTEM, Source
from discreet.query.compile.exacts import Exacts, exacts_of
from discreet.query.compile.operations import Operations
from discreet.query.compile.statements import Statement, statements
from discreet.query.nodes import Expr
from discreet.query.tally import Tally
from discreet.schema import Schema

MOST_REMEMBERED = 4_000_000  # cells of all tallies that one view remembers: 32 MiB a part


class Asking(Protocol):
    """What a view needs of its engine."""

    @property
    def schema(self) -> Schema: ...

    @property
    def lock(self) -> Any: ...

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[dict[str, NDArray[Any]]]: ...


class RememberingView:
    """One prepared state of a table, asked by SQL made of these operations; tallies of public cells are remembered."""

    def __init__(self, engine: Asking, snapshot: str, ops: Operations, release: Callable[[], None]) -> None:
        self._asking, self._snapshot, self._ops = engine, snapshot, ops
        self._remembered: OrderedDict[str, Exacts] = OrderedDict()
        self._cells = 0
        self._release = weakref.finalize(self, release)

    @property
    def snapshot(self) -> str:
        """The id of the state."""
        return self._snapshot

    def tally(self, wanted: Tally) -> Bounded[Exacts]:
        """As `View.tally`: compiled here, so refused here."""
        if wanted.schema != self._asking.schema:
            raise bad("tally", "must be of this table's public facts", wanted.schema.name, "Bound it anew.")
        key = _spelt(wanted)
        compiled = () if key in self._remembered else self._compiled(wanted)
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
        """As `View.sum`: refused where the engine runs no kernels."""
        raise _no_rows("Kernels")

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """As `View.rows`: refused where the engine hands out no rows."""
        raise _no_rows("Blocks of training")

    def close(self) -> None:
        """As `View.close`."""
        self._release()
        with self._asking.lock:
            self._remembered.clear()
            self._cells = 0

    def _compiled(self, wanted: Tally) -> tuple[Statement, ...]:
        return statements(wanted.schema, wanted.cells, wanted.where, wanted.caps, wanted.parts, self._ops)

    def _recalled(self, key: str, wanted: Tally, compiled: tuple[Statement, ...]) -> Exacts:
        with self._asking.lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        asked = compiled or self._compiled(wanted)  # it may have been forgotten meanwhile, for a larger one
        columns = self._asking.run([statement.sql for statement in asked], self._snapshot)
        exacts = exacts_of(asked, columns, wanted.cells)
        if wanted.cells.public:
            with self._asking.lock:
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


def _spelt(wanted: Tally) -> str:
    """What is counted, as text: as values 1 and True would be one constant."""
    return repr((tuple(key.key.item for key in wanted.cells.keys), wanted.where, wanted.caps, wanted.parts))


def _no_rows(what: str) -> NotAnswerable:
    why = "They run where the rows are, and this engine only counts there."
    return NotAnswerable(f"{what} are not run on this source.", why, "Prepare the table from a file.")
