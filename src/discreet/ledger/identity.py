"""Which file a name stands for: device, inode and time of birth, the same through links, renames and edits in place.

An inode's number is given out again once its file is gone; together with the time of birth, where the system tells it,
it names one file for ever.
"""

import ctypes
import os
import struct
from pathlib import Path

_HERE, _BIRTH = -100, 0x800  # AT_FDCWD, STATX_BTIME
_SIZE, _MASK_AT, _BIRTH_AT = 256, 0, 80  # of `struct statx`, and where its mask and its time of birth lie


def file_mark(given: Path) -> str:
    """The file behind the name, in one line; raises OSError where there is none."""
    path = given.resolve()
    seen = path.stat()
    return f"{seen.st_dev}:{seen.st_ino}:{_born(path, seen)}"


def _born(path: Path, seen: os.stat_result) -> str:
    """The time of birth in ns; empty where it is not known, and then the inode alone decides."""
    there = getattr(seen, "st_birthtime", None)
    if there is not None:
        return str(int(there * 10**9))
    try:
        told = ctypes.create_string_buffer(_SIZE)
        if ctypes.CDLL(None).statx(_HERE, os.fsencode(path), 0, _BIRTH, told) != 0:
            return ""
    except (OSError, AttributeError):
        return ""
    (mask,) = struct.unpack_from("=I", told.raw, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", told.raw, _BIRTH_AT)
    return str(seconds * 10**9 + nanoseconds) if mask & _BIRTH else ""
