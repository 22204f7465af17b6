"""All that is said and written while something runs: logs, warnings, and files that are gone again before it ends.

Files are seen through inotify: every name without exception, and the bytes of a file through a handle taken at its
first event, so that it can still be read when it has lost its name.  What this process itself removes or renames with
Python's own functions is read before that happens, by an audit hook; what an engine's C code makes and removes is met
by the handle if it lives for some milliseconds.
"""

import ctypes
import logging
import os
import re
import select
import signal
import stat
import struct
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path

import pytest

from fuzz.tokens import Secrets

PATIENCE = 60  # seconds: far beyond what any statement takes on a busy machine
MOST_CPU = 1.0  # seconds of the refusing thread: what else the machine does is not counted
ENGINE_WORDS = re.compile(r"(Binder|Parser|Catalog|Conversion|Invalid Input|Out of Range|Out of Memory|IO) Error")
PREPARED = (
    tuple(  # the one private file, and what it is made of while it is made; `link` is another name of the metadata
        name.format(stem)
        for stem in ("people", "link")
        for name in (
            "{}.*.prepared",
            ".{}.preparing",
            ".{}.preparing.wal",
            ".{}.incoming.parquet",
            ".{}.preparing.spill",
        )
    )
)
_MODIFY, _CLOSE, _FROM, _TO, _CREATE, _DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
_LOST, _FOLDER, _UNWATCHED = 0x4000, 0x40000000, 0x8000
_EVENT = struct.Struct("iIII")
_LIBC = ctypes.CDLL(None, use_errno=True)


class Hang(BaseException):
    """Something that did not come back."""


@contextmanager
def watchdog(seconds: float = PATIENCE) -> Iterator[None]:
    """Ends with `Hang` what takes longer."""

    def bark(signum: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def surrounded(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The folder's own place for scratch and for the heads of ledgers."""
    (folder / "scratch").mkdir()
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    for name in ("TMPDIR", "TEMP", "TMP"):
        patch.setenv(name, str(folder / "scratch"))
    patch.setattr(tempfile, "tempdir", str(folder / "scratch"))


@contextmanager
def watched(folder: Path, secrets: Secrets, *, private: tuple[str, ...] = PREPARED) -> Iterator[list[str]]:
    """Fills a list, when all is over, with whatever told a token meanwhile that nobody typed."""
    told: list[str] = []
    with ExitStack() as watching:
        said = watching.enter_context(_heard())
        files = watching.enter_context(Files(folder, secrets, private))
        yield told
    told += [f"log of {name}: {leaked}" for name, text in said if (leaked := secrets.leaked(text))]
    told += [f"warning: {text[:300]}" for name, text in said if name == "py.warnings"]
    told += files.told


# --- logs and warnings -----------------------------------------------------------------------------------------------


class _Ear(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.said: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append((record.name, "\n".join([self.format(record), repr(vars(record))])))


@contextmanager
def _heard() -> Iterator[list[tuple[str, str]]]:
    """Every record of every logger at any level, and every warning: who said it and all that is in it."""
    ear, root = _Ear(), logging.getLogger()
    loggers = [known for known in root.manager.loggerDict.values() if isinstance(known, logging.Logger)]
    before = [(each, each.level, each.propagate, each.disabled) for each in (root, *loggers)]
    disabled = root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for logger, *_ in before:
            logger.setLevel(logging.DEBUG if logger is root else logging.NOTSET)
            logger.propagate, logger.disabled = True, False
        logging.disable(logging.NOTSET)
        root.addHandler(ear)
        logging.captureWarnings(True)
        try:
            yield ear.said
        finally:
            logging.captureWarnings(False)
            root.removeHandler(ear)
            logging.disable(disabled)
            for logger, level, propagate, off in before:
                logger.setLevel(level)
                logger.propagate, logger.disabled = propagate, off


# --- files -----------------------------------------------------------------------------------------------------------


class Files:
    """What happens below a folder, seen by a thread of its own; `told` is complete when the thread has ended.

    Content that is `private` by purpose is not searched, but nobody else may be able to open it, at no moment.  A
    handle is kept as long as its file has a name: to close one would drop this process's locks on the ledger.
    """

    def __init__(self, folder: Path, secrets: Secrets, private: tuple[str, ...]) -> None:
        self.told: list[str] = []
        self.names: set[str] = set()
        self._root, self._secrets, self._private = folder, secrets, private
        self._queue = _LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._end, self._ending = os.pipe()
        self._folders: dict[int, Path] = {}
        self._handles: dict[Path, int] = {}
        self._first = True  # what lies there before is the test's own
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Files":
        self._enter(self._root)
        self._first = False
        self._thread.start()
        _watching.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watching.remove(self)
        os.write(self._ending, b"x")
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self.told.append("the watch did not end")
        for handle in (self._queue, self._end, self._ending):
            os.close(handle)

    def _enter(self, folder: Path) -> None:
        """Watches a folder and what is in it already."""
        mask = _MODIFY | _CLOSE | _FROM | _TO | _CREATE | _DELETE
        number = _LIBC.inotify_add_watch(self._queue, os.fsencode(folder), mask)
        if number < 0:
            return  # gone again
        self._folders[number] = folder
        there: list[Path] = []
        with suppress(OSError):  # it too may be gone again
            there += folder.iterdir()
        for path in there:
            self._name(path)
            if path.is_dir() and not path.is_symlink():
                self._enter(path)
            elif not self._first:
                self._hold(path)

    def _watch(self) -> None:
        ending = False
        while not ending:
            ready, _, _ = select.select([self._queue, self._end], [], [])
            ending = self._end in ready
            with self._lock:
                changed: set[Path] = set()
                with suppress(BlockingIOError):
                    while True:
                        self._read(os.read(self._queue, 2**16), changed)
                for path in changed:
                    self._search(path)
        for path in list(self._handles):
            self._let_go(path)

    def going(self, path: Path) -> None:
        """Reads a file that is about to lose its name."""
        if self._root in path.parents:
            with self._lock:
                self._hold(path)
                self._search(path)

    def _read(self, events: bytes, changed: set[Path]) -> None:
        position = 0
        while position < len(events):
            number, mask, _, size = _EVENT.unpack_from(events, position)
            name = events[position + _EVENT.size : position + _EVENT.size + size].rstrip(b"\0")
            position += _EVENT.size + size
            if mask & _LOST:
                self.told.append("events were lost")
            elif not mask & _UNWATCHED and number in self._folders:
                self._happened(self._folders[number] / os.fsdecode(name), mask, changed)

    def _happened(self, path: Path, mask: int, changed: set[Path]) -> None:
        self._name(path)
        if mask & _FOLDER:
            if mask & (_CREATE | _TO):
                self._enter(path)
            return
        if mask & (_CREATE | _TO):  # a new file under that name: the old one is read to its end first
            self._let_go(path)
        self._hold(path)
        if mask & (_MODIFY | _CLOSE | _TO):
            changed.add(path)
        if mask & (_DELETE | _FROM):
            self._let_go(path)

    def _hold(self, path: Path) -> None:
        if path in self._handles:
            return
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            mode = os.fstat(handle).st_mode
            private = any(fnmatch(name, pattern) for name in (path.name, path.parent.name) for pattern in self._private)
            if private and mode & 0o077:
                self.told.append(f"others can open {path.name}")
            if private or not stat.S_ISREG(mode):
                os.close(handle)
            else:
                self._handles[path] = handle

    def _let_go(self, path: Path) -> None:
        if path in self._handles:
            self._search(path)
            os.close(self._handles.pop(path))

    def _name(self, path: Path) -> None:
        name = str(path.relative_to(self._root))
        if name not in self.names:
            self.names.add(name)
            if secret := self._secrets.found(name):
                self.told.append(f"name: {secret}")

    def _search(self, path: Path) -> None:
        handle = self._handles.get(path)
        if handle is None:
            return
        content = os.pread(handle, os.fstat(handle).st_size, 0).decode("latin-1")
        if secret := self._secrets.leaked(content):
            self.told.append(f"{path.relative_to(self._root)}: {secret}")


# --- before a name goes ----------------------------------------------------------------------------------------------

_watching: list[Files] = []


def _before(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching or event not in ("os.remove", "os.rename"):
        return
    *names, folder = (
        (arguments[0], arguments[1]) if event == "os.remove" else (arguments[0], arguments[1], arguments[2])
    )
    for name in names:
        if isinstance(name, (str, bytes, os.PathLike)):
            within = f"/proc/self/fd/{folder}" if isinstance(folder, int) and folder >= 0 else os.curdir
            for watch in _watching:
                watch.going(Path(os.path.realpath(within)) / os.fsdecode(name))


sys.addaudithook(_before)
