"""Make and check the ledger's file: only its owner can use it, in a folder that others cannot rearrange."""

import contextlib
import os
import stat
from pathlib import Path

from discreet import durable
from discreet.errors import IntegrityError, LedgerUnavailable


def make_file(path: Path) -> None:
    """Create an empty file for its owner alone, under a durable name; a file that is there already is kept."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        durable.sync(path.parent)


def is_empty(path: Path) -> bool:
    """Whether there is no file, or one that nothing was ever written to."""
    return not path.exists() or path.stat().st_size == 0


def checked_file(path: Path) -> tuple[int, int]:
    """Device and inode of a regular file that its owner alone can use, in a folder that others cannot rearrange."""
    try:
        status, folder = path.lstat(), path.parent.stat()
    except FileNotFoundError:
        fix = "Name the right file, or make a ledger there first."
        why = "The file or its folder does not exist."
        raise LedgerUnavailable(f"There is no ledger at {path}.", why, fix) from None
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        why = "It is a link, has a second name or is no regular file: two names for one ledger break its log."
        raise IntegrityError(f"{path} cannot be a ledger.", why, "Use the file itself, under one name.")
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        why = "Others can read or change it, or it belongs to someone else."
        raise IntegrityError(f"{path} is not its owner's alone.", why, f"Run: chmod 600 {path}")
    if folder.st_mode & 0o002 and not folder.st_mode & stat.S_ISVTX:
        why = "Anyone may replace files in its folder."
        raise IntegrityError(f"{path} lies in an open folder.", why, f"Run: chmod o-w {path.parent}")
    return status.st_dev, status.st_ino
