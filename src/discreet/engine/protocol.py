"""What every engine gives: views of one prepared state of the rows, and from a view computations for the gate.

Only an engine holds the rows, or knows where they lie, and reads them.  What a view gives is lazy: making it touches
nothing and refuses what cannot be computed; the gate computes it after the charge.  Whatever goes wrong then has one
fixed reply, `engine_failed`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from discreet.bounded import Bounded
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Ints
from discreet.query.compile.exacts import Exacts
from discreet.query.nodes import Expr
from discreet.query.tally import Tally

Progress = Callable[[str, float], None]


class View(Protocol):
    """One prepared state, kept as it is while it is held."""

    @property
    def snapshot(self) -> str:
        """The id of the state: a keyed hash of content and public layout."""

    def tally(self, tally: Tally) -> Bounded[Exacts]:
        """The tally's integers, remembered while the view is held; refused here where they cannot be counted."""

    def sum(
        self, kernel: str, columns: Sequence[str], public: dict[str, Any], *, where: Expr | None = None
    ) -> Bounded[Ints]:
        """A kernel's sum over all units with rows that satisfy `where`, read anew each time it is computed.

        Its bound is the kernel's own, from the table's public caps.
        """

    def rows(self, columns: Sequence[str], *, where: Expr | None = None) -> Bounded[UnitRows]:
        """The rows themselves, of whole units, for mechanisms that are proven for rows: the bound is a `RowLimit`.

        How many there are is private, so beyond the limits of memory and time the reply is the fixed one.
        """

    def close(self) -> None:
        """Let go of the state."""


class Engine(Protocol):
    """A source of rows, and the states prepared from it."""

    def identity(self) -> Mapping[str, str]:
        """Facts that identify the source, whatever name it has."""

    def view(self, progress: Progress | None = None, *, snapshot: str | None = None) -> View:
        """The present state, prepared first if it is not yet; or the state `snapshot`, refused where it is gone."""

    def close(self) -> None:
        """Let go of everything; the next view opens again what it needs."""
