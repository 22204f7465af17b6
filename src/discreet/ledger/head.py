"""The chain's head in a second place, which shows that a ledger was cut or restored from an old copy.

A small file outside the ledger's folder holds the number of entries and the last hash.  It is written beside, before
the ledger's commit, and moved into place after it: so it may lag behind after a crash (then it is brought up to date)
but can never be ahead of a ledger that was not set back.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import durable
from discreet.errors import IntegrityError, LedgerUnavailable
from discreet.fix import UNKNOWN, Fix
from discreet.state import state_folder

_LARGEST = 4096  # bytes
_HASH = re.compile(r"[0-9a-f]{64}")
_AMOUNT = re.compile(r"\d{1,2000}(/[1-9]\d{0,1999})?")
_PAUSE, _LONGEST_PAUSE = 0.0005, 0.01


@dataclass(frozen=True)
class Head:
    """How many entries there are, the hash of the last, and the typed ε of all charges added up, where it is known."""

    count: int
    hash: bytes
    charged: Fraction | None = field(default=None, compare=False)


def default_place(ledger: Path) -> Path:
    """The file in the state folder's `heads` that belongs to a ledger at that path."""
    name = hashlib.sha256(os.fsencode(ledger)).hexdigest()[:32]
    return state_folder() / "heads" / f"{ledger.stem}-{name}.json"


class HeadFile:
    """The file, its lock, and the writing of it in two steps."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._new = place.with_name(place.name + ".new")  # one writer at a time: the lock is held

    def prepare_folder(self) -> None:
        """Make the folder, for the owner alone, if it is not there."""
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise self._unwritable(error) from None

    @contextlib.contextmanager
    def lock(self, seconds: float) -> Iterator[None]:
        """Hold the writers' lock; a process that dies lets go of it."""
        try:
            handle = os.open(self.place.with_name(self.place.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            _lock(handle, seconds)
            yield
        finally:
            os.close(handle)

    def read(self) -> Head | None:
        """The head recorded, None where none ever was; an unreadable one is refused."""
        try:
            with self.place.open("rb") as file:
                text = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unwritable(error) from None
        return _head_of(text)

    def prepare(self, head: Head) -> None:
        """Write the coming head beside the present one, durably: all that can fail, before the ledger commits."""
        charged = {} if head.charged is None else {"charged": str(head.charged)}
        text = json.dumps({"count": head.count, "hash": head.hash.hex(), **charged}).encode()
        try:
            durable.write(self._new, text)
        except OSError as error:
            raise self._unwritable(error) from None

    def publish(self) -> None:
        """Move the prepared head into place."""
        try:
            os.replace(self._new, self.place)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> LedgerUnavailable:
        what = f"The head of the ledger cannot be written or read at {self.place}."
        why = f"The system says: {error.strerror or 'input/output error'}."
        return LedgerUnavailable(what, why, "Make that folder writable and free some space, or name another place.")


def _lock(handle: int, seconds: float) -> None:
    deadline, pause = time.monotonic() + seconds, _PAUSE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() >= deadline:
                why = f"Another process has been writing to it for {seconds:g} s."
                fix = "Try again, or end the process that holds it."
                raise LedgerUnavailable("The ledger is busy.", why, fix) from None
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _head_of(text: bytes) -> Head:
    try:
        value: Any = json.loads(text) if len(text) <= _LARGEST else None
        count, digest = value["count"], value["hash"]
        if type(count) is int and count >= 1 and isinstance(digest, str) and _HASH.fullmatch(digest):
            charged = value.get("charged")
            is_amount = isinstance(charged, str) and _AMOUNT.fullmatch(charged)
            return Head(count, bytes.fromhex(digest), Fraction(charged) if is_amount else None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    words = "Compare the ledger with an export you trust, then adopt it:"
    fix = Fix(words, "ledger adopt", {"ledger": UNKNOWN, "why": UNKNOWN})
    raise IntegrityError("The recorded head of the ledger is unreadable.", "It was edited or damaged.", fix)
