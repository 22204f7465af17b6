"""Rehearsal: a table over invented rows, with a ledger of its own in a private folder that `close` removes.

It has the metadata of the dataset at hand, which are public.  It neither opens nor makes the source, ledger, key,
prepared files, head and registry of that dataset.  Its budget is that of the metadata, on a ledger that begins empty.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.engine import Limits
from discreet.engine.protocol import View
from discreet.errors import CannotWrite
from discreet.gate import Disclosed
from discreet.ledger import account as accounts
from discreet.ledger.purse import Purse
from discreet.metadata import Metadata
from discreet.rehearsal import stamp
from discreet.rehearsal.engine import RevealingEngine
from discreet.rehearsal.reveal import Causes, revealing
from discreet.rehearsal.rows import SEED, UNITS, write_rows
from discreet.rehearsal.stamped import rehearsed
from discreet.run import Gate, Run
from discreet.table import Table, Value


class Rehearsal(Table):
    """A table that is asked like the real one and holds nobody; `units` and `seed` are those of its invented rows."""

    is_rehearsal = True

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
        """The private folder, made when it is first needed; it is removed by `close` or when the process ends."""
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
    def _head(self) -> Path:
        """The head lies beside the throw-away ledger: nobody has to be kept from setting that one back."""
        return self.folder / "head" / "head.json"

    def _has_ledger(self) -> bool:
        return self._ledger is not None

    def _enter(self, view: View) -> None:
        """Do nothing: no registry knows invented rows."""

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

    @property
    def _gate(self) -> Gate:
        """The gate, with the cause of each failure shown and the receipt stamped."""
        return lambda *arguments, **named: stamped_receipt(revealing(self._causes, *arguments, **named))

    def _run(self, purse: Purse, view: Callable[[], View], path: accounts.Path) -> Run:
        return RehearsedRun(purse, view, path, self._gate)


class RehearsedRun(Run):
    """A run whose receipts are stamped."""

    @property
    def receipt(self) -> str:
        """The receipt of the purse, stamped."""
        return stamp.receipt(super().receipt)

    def done(self, result: bytes) -> Disclosed:
        """As `Run.done`, with the receipt stamped."""
        return stamped_receipt(super().done(result))


def stamped_receipt(disclosed: Disclosed) -> Disclosed:
    """The same with the stamp on the name of its receipt."""
    return replace(disclosed, receipt=replace(disclosed.receipt, name=stamp.receipt(disclosed.receipt.name)))


def _remove(folder: Path, owner: int) -> None:
    """Remove the folder; a forked child leaves that to the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
