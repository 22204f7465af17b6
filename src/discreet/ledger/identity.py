"""The identity of a file: device, inode and time of birth, the same through links, renames and edits in place.

The number of an inode is used again once its file is gone.  Together with the time of birth, where the system has it,
it names one file for ever.
"""

import ctypes
import os
import struct
from pathlib import Path

_HERE, _BIRTH = -100, 0x800  # AT_FDCWD, STATX_BTIME
_SIZE, _MASK_AT, _BIRTH_AT = 256, 0, 80  # of `struct statx`, and where its mask and its time of birth lie


def file_mark(name: Path) -> str:
    """The identity of the file behind the name, as one line; raises OSError where there is none."""
    path = name.resolve()
    status = path.stat()
    return f"{status.st_dev}:{status.st_ino}:{_birth_time(path, status)}"


def _birth_time(path: Path, status: os.stat_result) -> str:
    """The time of birth in ns; empty where it is not known, and then the inode alone decides."""
    birth = getattr(status, "st_birthtime", None)
    if birth is not None:
        return str(int(birth * 10**9))
    try:
        buffer = ctypes.create_string_buffer(_SIZE)
        if ctypes.CDLL(None).statx(_HERE, os.fsencode(path), 0, _BIRTH, buffer) != 0:
            return ""
    except (OSError, AttributeError):
        return ""
    (mask,) = struct.unpack_from("=I", buffer.raw, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer.raw, _BIRTH_AT)
    return str(seconds * 10**9 + nanoseconds) if mask & _BIRTH else ""
