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
    """The path of that state's file."""
    return folder / f"{name}.{snapshot}.prepared"


def is_snapshot(text: str) -> bool:
    """Whether the text is a snapshot id, and so safe in a file's name."""
    return re.fullmatch(_SNAPSHOT, text) is not None


def paths(folder: Path, name: str) -> list[Path]:
    """The files of all states, ordered by the time they were written."""
    pattern = re.compile(re.escape(name) + rf"\.{_SNAPSHOT}\.prepared")
    by_time = []
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            if pattern.fullmatch(file.name):
                with contextlib.suppress(OSError):
                    by_time.append((file.lstat().st_mtime_ns, file))
    return [file for _, file in sorted(by_time)]


def owned_stamp(path: Path) -> files.Stamp | None:
    """The stamp of a regular file that its owner alone can use; None for anything else."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    owned = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
    return (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino) if owned else None


def remove_unheld(path: Path) -> bool:
    """Remove the file and its log unless another process holds it; whether they were removed."""
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
        """Hold that file, and let go of all but the last few; OSError if it is gone."""
        if path in self._handles and os.path.samestat(os.fstat(self._handles[path]), path.stat()):
            return
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        fcntl.flock(handle, fcntl.LOCK_SH)
        self._release(path)
        self._handles[path] = handle
        for oldest in list(self._handles)[:-_HELD]:
            self._release(oldest)

    def release(self) -> None:
        """Let go of every file."""
        for path in list(self._handles):
            self._release(path)

    def _release(self, path: Path) -> None:
        handle = self._handles.pop(path, None)
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)
