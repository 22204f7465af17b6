"""Rehearsal: a table over invented rows, with a ledger of its own in a private folder that goes when it is closed.

Of the dataset at hand it has the metadata, which are public; source, ledger, key, prepared files, head and registry are
neither opened nor made.  Budget rules are those of the metadata, on a ledger that begins empty.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.bounded import Bounded
from discreet.engine import Limits
from discreet.engine.protocol import Progress, View
from discreet.errors import CannotWrite
from discreet.gate import Disclosed
from discreet.ledger.ledger import Ledger
from discreet.ledger.purse import Purse
from discreet.mechanism.promise import Mechanism
from discreet.metadata import Metadata
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.cost import Cost
from discreet.rehearsal import stamp
from discreet.rehearsal.engine import RevealingEngine
from discreet.rehearsal.reveal import Causes, Pack, revealing
from discreet.rehearsal.rows import SEED, UNITS, write_rows
from discreet.rehearsal.stamped import rehearsed
from discreet.request import Request
from discreet.run import Run
from discreet.table import OlderKey, Table, Value


class Rehearsal(Table):
    """A table that is asked like the real one and holds nobody; `units` and `seed` are those of its invented rows."""

    def __init__(
        self, metadata: Metadata, toml: Path, *, limits: Limits | None = None, units: int = UNITS, seed: int = SEED
    ) -> None:
        super().__init__(metadata, toml, limits=limits)
        self._units, self._seed = units, seed
        self._causes: Causes = {}
        self._removal: Callable[[], Any] | None = None
        self._place: Path | None = None

    # --- where it lies -----------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The private folder, made when it is first needed; it goes with `close`, and with the process."""
        with self._lock:
            if self._place is None:
                try:
                    self._place = Path(tempfile.mkdtemp(prefix="discreet-rehearsal-"))
                except OSError:
                    why, fix = "The folder for temporary files cannot be written.", "Free some space, or set TMPDIR."
                    raise CannotWrite("A rehearsal has no place for its files.", why, fix) from None
                self._removal = weakref.finalize(self, _remove, self._place, os.getpid())
            return self._place

    @property
    def ledger_path(self) -> Path:
        """Where the throw-away ledger lies."""
        return self.folder / f"{self.toml.stem}.ledger"

    @property
    def engine(self) -> RevealingEngine:
        """The engine on invented rows, which are written when it is first needed."""
        with self._lock:
            if not isinstance(self._engine, RevealingEngine):
                rows = self.folder / "invented.csv"
                write_rows(self.schema, rows, units=self._units, seed=self._seed)
                self._engine = RevealingEngine(self.folder, self.toml.stem, self.schema, rows, self._limits)
            return self._engine

    @property
    def ledger(self) -> Ledger:
        """The throw-away ledger; its head lies beside it, since nobody is to be kept from setting it back."""
        with self._lock:
            if self._ledger is None:
                fixed = [column.name for column in self.schema.columns if column.fixed_per_unit]
                head = self.folder / "head" / "head.json"
                self._ledger = Ledger.open_or_create(self.ledger_path, self.opening, fixed=fixed, head=head)
            return self._ledger

    def _has_ledger(self) -> bool:
        return self._ledger is not None

    def _enter(self, view: View) -> None:
        """No registry knows invented rows."""

    def close(self) -> None:
        """Stop the worker, and remove the folder with all that is in it; what is asked later begins anew."""
        with self._lock:
            try:
                super().close()
            finally:
                if self._removal is not None:
                    self._removal()
                self._removal = self._place = None
                self._causes.clear()

    def stamped(self, value: Value) -> Value:
        """An answer, a quote or a release to be, with the stamp on all that leaves it."""
        return rehearsed(value)

    # --- what rooms use ----------------------------------------------------------------------------------------------

    def disclose(
        self,
        request: Request,
        view: View,
        mechanism: Mechanism,
        bounded: Bounded[Any],
        *,
        pack: Pack,
        older_key: OlderKey | None = None,
    ) -> Disclosed:
        """As `Table.disclose`; what fails shows its own cause."""
        through: Callable[[Mechanism, Bounded[Any], Pack], Disclosed] = lambda mechanism, bounded, pack: (  # noqa: E731
            super(Rehearsal, self).disclose(request, view, mechanism, bounded, pack=pack, older_key=older_key)
        )
        key = self.charge_request(request, view.snapshot).key
        return _stamped(revealing(self._causes, key, mechanism, bounded, pack, through))

    def run(self, request: Request, cost: Cost, *, progress: Progress | None = None) -> Run:
        """As `Table.run`; what fails in a step shows its own cause."""
        run = super().run(request, cost, progress=progress)
        return _RehearsedRun(run._purse, run._open, run._path, self._causes)


class _RehearsedRun(Run):
    """A run whose steps show what they raise and whose receipts are stamped."""

    def __init__(self, purse: Purse, view: Callable[[], View], path: Any, causes: Causes) -> None:
        super().__init__(purse, view, path)
        self._causes = causes

    @property
    def receipt(self) -> str:
        """The receipt of the purse, stamped."""
        return stamp.receipt(super().receipt)

    def step(
        self, name: str, mechanism: Mechanism, bounded: Bounded[Any], *, pack: Pack, source: Source = SYSTEM
    ) -> bytes:
        """As `Run.step`."""
        through: Callable[[Mechanism, Bounded[Any], Pack], bytes] = lambda mechanism, bounded, pack: (  # noqa: E731
            super(_RehearsedRun, self).step(name, mechanism, bounded, pack=pack, source=source)
        )
        return revealing(self._causes, self._request(name).key, mechanism, bounded, pack, through)

    def done(self, result: bytes) -> Disclosed:
        """As `Run.done`."""
        return _stamped(super().done(result))


def _stamped(disclosed: Disclosed) -> Disclosed:
    receipt = replace(disclosed.receipt, name=stamp.receipt(disclosed.receipt.name))
    return replace(disclosed, receipt=receipt)


def _remove(folder: Path, owner: int) -> None:
    """The folder gone; a forked child leaves it to the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
