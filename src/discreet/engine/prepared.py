"""What engines that prepare a table have in common: their name, their lock, and the snapshots that they keep."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from discreet.engine import prepare as layouts
from discreet.engine.protocol import Progress
from discreet.errors import SourceUnavailable
from discreet.ledger import forks
from discreet.schema import Schema
from discreet.schema.limits import Limits

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Prepared:
    """What may be known of a prepared table: its snapshot, and whether it was made just now.

    `older_snapshots` are the ids that this content had in older formats; they only serve to find stored answers again.
    """

    snapshot: str
    anew: bool
    older_snapshots: tuple[str, ...] = ()


class PreparingEngine(ABC):
    """An engine on a prepared copy of a table; threads may share it, and a forked child gets a lock of its own."""

    has_kernels = True  # whether its views sum by kernels and hand out rows

    def __init__(self, folder: Path, name: str, schema: Schema, limits: Limits | None) -> None:
        # absolute: the worker may have been started in another working folder
        self.folder, self.name, self.schema = Path(folder).absolute(), name, schema
        self.limits = limits or Limits()
        self.renew_lock()
        self.layout = layouts.layout(schema)
        self._key = self.folder / f"{name}.key"
        self._kept: frozenset[str] = frozenset()  # snapshots of runs under way
        self._content = ""  # the digest of what was prepared last
        forks.call_in_child(self, PreparingEngine.renew_lock)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def renew_lock(self) -> None:
        """Take a new lock: after a fork another thread of the parent may hold the old one."""
        self.lock = threading.RLock()

    @property
    def snapshot(self) -> str:
        """The id of the table's present state; prepared first if it changed."""
        return self.prepare().snapshot

    @abstractmethod
    def prepare(self, progress: Progress | None = None) -> Prepared:
        """Prepare the table from the source as it is now, unless it already is."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; the next question opens again what it needs."""

    def keep(self, snapshots: Iterable[str]) -> None:
        """Do not remove these states when the source changes: runs under way go on with them."""
        with self.lock:
            self._kept = frozenset(snapshots)


def rows_gone(why: str) -> SourceUnavailable:
    """The refusal of a run whose rows are there no more."""
    fix = "Put the source back as it was, or abandon the run."
    return SourceUnavailable("The rows that this run began with are gone.", why, fix)


def copy_in_use() -> SourceUnavailable:
    """The refusal to remove a prepared copy that somebody reads."""
    why, fix = "Another process is asking it.", "Wait for that process, or end it; then do this again."
    return SourceUnavailable("The prepared copy is in use and was left there.", why, fix)
