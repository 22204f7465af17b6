"""Commit the submissions of many waiting requests together, in one thread.

While one transaction goes to the disk, whatever arrives waits for the next: a batch is as large as the disk is slow,
and no request waits for more than two transactions.  A result is set only after its transaction is durable.
"""

import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field

from discreet.survey.store import Entry, Store

LARGEST_BATCH = 1024
_COUNTING_INTERVAL = 0.2  # seconds between transactions that only count rejections


@dataclass(frozen=True)
class _Waiting:
    entry: Entry
    outcome: "Future[str]" = field(default_factory=Future)


class GroupCommit:
    """One writer thread for one store."""

    def __init__(self, store: Store, *, open_to_all: bool, largest_batch: int = LARGEST_BATCH) -> None:
        self._store, self._open_to_all, self._largest_batch = store, open_to_all, largest_batch
        self._waiting: list[_Waiting] = []
        self._rejected: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="group commit", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> "Future[str]":
        """Queue an entry; the future gives what `Store.take` says of it, once that is durable."""
        waiting = _Waiting(entry)
        with self._changed:
            if self._closing:
                raise RuntimeError("the writer is closed")
            self._waiting.append(waiting)
            self._changed.notify()
        return waiting.outcome

    def count(self, reason: str) -> None:
        """Count a rejection; it is written with the next batch, or a moment later, and nobody waits for it."""
        with self._changed:
            self._rejected[reason] += 1
            self._changed.notify()

    def close(self) -> None:
        """Commit all that is queued and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._rejected or self._closing)
                if not self._waiting and not self._closing:
                    self._changed.wait_for(lambda: self._waiting or self._closing, timeout=_COUNTING_INTERVAL)
                batch = self._waiting[: self._largest_batch]
                del self._waiting[: self._largest_batch]
                rejected, self._rejected = self._rejected, Counter()
            if batch or rejected:
                self._commit(batch, rejected)
            elif self._closing:
                return

    def _commit(self, batch: list[_Waiting], rejected: "Counter[str]") -> None:
        try:
            batch = [waiting for waiting in batch if waiting.outcome.set_running_or_notify_cancel()]
            entries = [waiting.entry for waiting in batch]
            outcomes = self._store.take(entries, open_to_all=self._open_to_all, rejected=rejected)
        except Exception as error:  # a full disk, a locked file: nothing of this batch is stored, and each is told so
            if not self._closing:
                with self._changed:
                    self._rejected.update(rejected)
            for waiting in batch:
                waiting.outcome.set_exception(error)
        else:
            for waiting, outcome in zip(batch, outcomes, strict=True):
                waiting.outcome.set_result(outcome)
