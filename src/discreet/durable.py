"""Write files whole: first beside their place, then renamed.  A reader sees the old file or the new one, never half
of one, and what is there outlives a power cut.  No function here follows a link."""

import contextlib
import errno
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path


def write(path: Path, content: bytes, *, mode: int = 0o600, new: bool = False) -> None:
    """Write a file durably.  With `new`: FileExistsError where the name is taken, and no file where writing fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (os.O_EXCL if new else os.O_TRUNC)
    handle = os.open(path, flags, mode)
    try:
        if os.write(handle, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        if new:
            path.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make durable what was written to a file, or which names a folder has."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def put_in_place(draft: Path, path: Path) -> None:
    """Give the draft the name `path`, both its bytes and its name durable."""
    sync(draft)
    os.replace(draft, path)
    sync(path.parent)


def draft_name(path: Path) -> Path:
    """The name of this thread's draft of a file: hidden, in the same folder, with the same suffix.

    A draft of metadata has none: one that a kill leaves behind must not be read as metadata.
    """
    suffix = "" if path.suffix.casefold() == ".toml" else path.suffix
    return path.with_name(f".discreet-{os.getpid()}-{threading.get_ident()}{suffix}")


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give an empty draft to write; it replaces `path` when the block ends, with the permissions of the old file."""
    draft = draft_name(path)
    try:
        write(draft, b"", mode=mode)
        yield draft
        if path.is_file() and not path.is_symlink():
            draft.chmod(path.stat().st_mode & 0o777)
        put_in_place(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def replace(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Put a file with this content in place of what is there."""
    with replacing(path, mode=mode) as draft:
        draft.write_bytes(content)


@contextlib.contextmanager
def replacing_files(folder: Path, names: Sequence[str], *, remove: Sequence[str] = ()) -> Iterator[Path]:
    """Give an empty folder to write files of these names in; they go to `folder` when the block ends.

    Where `folder` exists, the last name and those of `remove` are deleted first and the last name is put there last:
    a folder with that file has all of them.
    """
    folder = folder.absolute()
    draft = folder.parent / f".{folder.name}.{os.getpid()}.new"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        yield draft
        for name in names:
            sync(draft / name)
        if os.path.lexists(folder):
            for name in (names[-1], *remove):
                (folder / name).unlink(missing_ok=True)
            for name in names:
                os.replace(draft / name, folder / name)
        else:
            os.rename(draft, folder)
        sync(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
