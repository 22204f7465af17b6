"""Prepared files side by side, each named by its snapshot: which there are, who holds one, and which may go.

    {name}.{snapshot}.prepared

Whoever means to read a state holds a shared lock on its file, which goes with the process.  A file is removed only by
whoever gets an exclusive one at once, so no state is taken from under a reader in another process.
"""

import contextlib
import fcntl
import os
import re
import stat
from pathlib import Path

from discreet.engine import files

_SNAPSHOT = "[0-9a-f]{32}"
_HELD = 2  # states that an engine holds: the present one, and the one before for questions that were charged for it


def path(folder: Path, name: str, snapshot: str) -> Path:
    """Where that state lies, or would."""
    return folder / f"{name}.{snapshot}.prepared"


def is_snapshot(given: str) -> bool:
    """Whether it is an id, and so safe in a file's name."""
    return re.fullmatch(_SNAPSHOT, given) is not None


def paths(folder: Path, name: str) -> list[Path]:
    """The files of all states, the one written last at the end."""
    pattern = re.compile(re.escape(name) + rf"\.{_SNAPSHOT}\.prepared")
    found = []
    with contextlib.suppress(OSError):
        for one in folder.iterdir():
            if pattern.fullmatch(one.name):
                with contextlib.suppress(OSError):
                    found.append((one.lstat().st_mtime_ns, one))
    return [one for _, one in sorted(found)]


def owned_stamp(path: Path) -> files.Stamp | None:
    """The stamp of a regular file that its owner alone can use; None for anything else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    owned = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino) if owned else None


def remove_unheld(path: Path) -> bool:
    """Whether the file and its log are gone: not where somebody else holds it."""
    handle = -1
    with contextlib.suppress(OSError):  # absent, a link, or a folder: nobody reads that
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if handle >= 0:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for leftover in (path, Path(f"{path}.wal")):
            files.remove(leftover)
    except BlockingIOError:
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True


class Holds:
    """The locks of one engine, by path, the oldest first."""

    def __init__(self) -> None:
        self._handles: dict[Path, int] = {}

    def hold(self, path: Path) -> None:
        """That file held, and of those before it only the last few; OSError if it went away meanwhile."""
        if path in self._handles and os.path.samestat(os.fstat(self._handles[path]), path.stat()):
            return
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        fcntl.flock(handle, fcntl.LOCK_SH)
        self._release(path)
        self._handles[path] = handle
        for oldest in list(self._handles)[:-_HELD]:
            self._release(oldest)

    def release(self) -> None:
        """Nothing held any more."""
        for path in list(self._handles):
            self._release(path)

    def _release(self, path: Path) -> None:
        handle = self._handles.pop(path, None)
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)
