"""Stamps, locks and removal of the files beside the ledger."""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from discreet.errors import CannotWrite, SourceUnavailable
from discreet.schema.words import toml_value

Stamp = tuple[int, int, int, int]  # size, times of change of the content and of the file's entry in ns, inode
_PAUSE = 0.005  # seconds
_T = TypeVar("_T")


def stamp(path: Path) -> Stamp:
    """Facts that change when a file is written or replaced; a rename away and back changes only its entry's time."""
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def or_cannot_write(path: Path, write: Callable[[], _T]) -> _T:
    """Do the action; an OSError becomes the refusal `cannot_write`."""
    try:
        return write()
    except OSError:
        pass
    raise cannot_write(path)


def cannot_write(path: Path) -> CannotWrite:
    """The refusal when the disk is full or the folder may not be written."""
    why = "The disk may be full, or its folder missing or not yours to write."
    return CannotWrite(
        f"The file {toml_value(path.name)} could not be written.", why, "Free some space, or use a folder you own."
    )


def remove(path: Path) -> None:
    """Remove the file or folder of that name, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def lock(path: Path, seconds: float) -> Iterator[None]:
    """Hold the file's lock, which ends with the process; refuse after waiting so many seconds for another's."""
    handle, until = os.open(path, os.O_RDONLY), time.monotonic() + seconds
    try:
        while not _take_lock(handle):
            if time.monotonic() > until:
                why = f"Another process has been preparing it for {seconds:g} s."
                raise SourceUnavailable("The table is being prepared.", why, "Wait for that process, or end it.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def _take_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
