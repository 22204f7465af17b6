"""A locked file per holder of reservations shows whether the holder is alive: the system unlocks it when it dies.

A process number does not show this, because it is used again; a lock on a file of one's own does, after any kill.
"""

import contextlib
import fcntl
import itertools
import os
import time
from pathlib import Path

from discreet.errors import LedgerUnavailable
from discreet.ledger import forks

_numbers = itertools.count()


class Lease:
    """The file of this holder, made when first needed, and a test of other holders' files."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside
        self._handle: int | None = None
        self._name = ""
        forks.watch(self)

    def before_fork(self) -> None:
        """Do nothing: the parent keeps its lock."""

    def after_fork_in_parent(self) -> None:
        """Do nothing: the lock is still held."""

    def after_fork_in_child(self) -> None:
        """Give up the copy of the parent's lock, which would outlive the parent."""
        self._forget()

    def name(self) -> str:
        """Return the holder's name, and hold its lock from now on; called while the ledger is held."""
        if self._handle is None:
            name = f"{os.getpid()}-{time.time_ns()}-{next(_numbers)}"
            try:
                handle = os.open(self._place(name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise self._unavailable(error) from None
            self._handle, self._name = handle, name
        return self._name

    @property
    def current(self) -> str:
        """The holder's name, empty as long as it was never needed."""
        return self._name

    def is_held(self, name: str) -> bool:
        """Whether the holder of that name is alive, this one included."""
        if name == self._name:
            return True
        try:
            handle = os.open(self._place(name), os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError as error:  # too many open files, say: not a sign of death
            raise self._unavailable(error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        else:
            with contextlib.suppress(OSError):
                self._place(name).unlink()
            return False
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Remove the files of dead holders; the ledger must be held, so that nobody is making one meanwhile."""
        start, end = f"{self._beside.name}.", ".run"
        for path in self._beside.parent.glob(f"*{end}"):
            if path.name.startswith(start):
                with contextlib.suppress(LedgerUnavailable):
                    self.is_held(path.name[len(start) : -len(end)])

    def close(self) -> None:
        """Let go and remove the file."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                self._place(self._name).unlink()
        self._forget()

    def _forget(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle, self._name = None, ""

    def _unavailable(self, error: OSError) -> LedgerUnavailable:
        what = f"Reservations cannot be marked or looked up in {self._beside.parent}."
        why = f"The system says: {error.strerror or 'input/output error'}."
        return LedgerUnavailable(what, why, "Make that folder writable and free some space.")

    def _place(self, name: str) -> Path:
        return self._beside.with_name(f"{self._beside.name}.{Path(name).name}.run")
