"""Where outputs may go: beside what a dataset is made of, and never onto it, whatever the flags.

    by what they are   source and public files of the dataset at hand and of those whose metadata lie in the same
                       folder; through links of both kinds too
    by what they were  every file in the registry of sources: a table that was once asked, wherever it lies
    by their names     *.ledger, *.key, *.prepared, and any *.toml that is there, whosever they are; through links of
                       both kinds too, hard ones of a file in the folder of the metadata at hand or of the output
    by what they hold  stores of surveys, ledgers and checkpoints of trainings under any name
    by their place     the state folder with its heads and its registry

What may be written is made beside its place and put there whole.
"""

import contextlib
import functools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet import durable
from discreet.errors import LedgerUnavailable, MetadataError, bad
from discreet.state import state_folder

METADATA, TABLE = "the metadata of a dataset", "a private table"
STORE, LOG = "the store of a survey", "the log of a survey's store"
LEDGER, CHECKPOINT = "a ledger or the checkpoint of a training", "the checkpoint of a training"
LEDGER_LOG = "the log of a ledger"
_NAMES = {
    "a ledger": re.compile(r".*\.ledger(-wal|-shm|-journal)?", re.IGNORECASE),
    "the key of a dataset": re.compile(r".*\.key", re.IGNORECASE),
    "a prepared table": re.compile(r".*\.prepared(\.wal)?|\..*\.preparing(\.wal)?", re.IGNORECASE),
}
_LOG_NAME = re.compile(r"(.+)-(wal|shm|journal)", re.IGNORECASE | re.DOTALL)  # what SQLite keeps beside a file
_MARKS = {  # what files hold that may have any name, and where: SQLite keeps the application's id at 68
    STORE: (68, b"DPSV"),
    LEDGER: (68, b"DPLG"),
    CHECKPOINT: (0, b'{"discreet": "training '),
}
_SQLITE, _HEAD = b"SQLite format 3\0", 72
_TOML = ".toml"
_STREAMS = ("/dev/", "/proc/")  # written themselves: there is nothing to put in their place


def require_harmless(path: Path, toml: Path | None = None, *, flag: str = "output") -> None:
    """Refuses an output that would replace an input of the dataset at hand or of another."""
    kind = input_kind(path, toml)
    if kind is not None:
        raise bad(flag, f"must not replace {kind}", str(path), "Give another name, such as answer.csv.")


@contextlib.contextmanager
def replacing(path: Path, toml: Path | None = None, *, flag: str = "output") -> Iterator[Path]:
    """A file to write, which stands whole at `path` when the block has ended; a pipe or a device is written itself."""
    require_harmless(path, toml, flag=flag)
    if str(path.absolute()).startswith(_STREAMS) or (path.exists() and not path.is_file()):
        yield path
        return
    with durable.replacing(path.resolve()) as draft:  # a link stays one
        yield draft


def require_apart(plot: Path | None, other: Path | None, rule: str, *, flag: str = "plot") -> None:
    """Refuses a picture that would share its file with something else."""
    if plot is not None and other is not None and is_same_file(plot, other):
        raise bad(flag, rule, str(plot), f"Give another name after {'-o' if flag == 'output' else f'--{flag}'}.")


def is_same_file(path: Path, other: Path) -> bool:
    """Whether both names are of one file, through links of both kinds too, whether it is there yet or not."""
    return _is_same(_resolved(path), _resolved(other))


def is_log_of(path: Path, other: Path) -> bool:
    """Whether SQLite would keep a log of the other file under this name, or under the one that it links to."""
    return any(is_same_file(owner, other) for owner in _logged_files(path))


def input_kind(path: Path, toml: Path | None = None) -> str | None:
    """What of a dataset lies there, or would; None where nothing of the kind does."""
    spelt, place = path.absolute(), _resolved(path)
    folders = dict.fromkeys((spelt.parent, place.parent))
    named = _kind_by_name(spelt) or _kind_by_name(place) or _linked_kind(place, [*folders, *_folder_of(toml)])
    if named is not None:
        return named
    with contextlib.suppress(LedgerUnavailable):  # no home, so no state
        state = _resolved(state_folder())
        if place == state or state in place.parents:
            return "what is remembered of ledgers"
    files = {} if toml is None else {toml: None}
    for folder in folders:
        files |= dict.fromkeys(_tomls(folder))
    for kind, kept in (pair for file in files for pair in _inputs(file)):
        if _is_same(place, _resolved(kept)):
            return kind
    if _is_registered(place):
        return TABLE
    held = _kind_by_content(place)
    if held is not None:
        return held
    logged = set(map(_kind_by_content, _logged_files(path)))
    if logged & {STORE, LEDGER}:
        return LOG if STORE in logged else LEDGER_LOG
    return METADATA if _is_toml(spelt) or _is_toml(place) else None


def _kind_by_name(path: Path) -> str | None:
    return next((kind for kind, names in _NAMES.items() if names.fullmatch(path.name)), None)


def _linked_kind(place: Path, folders: Iterable[Path]) -> str | None:
    """What a file is by its other names, where hard links in these folders give it one."""
    with contextlib.suppress(OSError, ValueError):
        if place.is_file() and place.stat().st_nlink > 1:
            for other in (file for folder in folders for file in _files(folder)):
                kind = _kind_by_name(other)
                if kind is not None and _is_same(place, other):
                    return kind
    return None


def _folder_of(toml: Path | None) -> list[Path]:
    return [] if toml is None else [_resolved(toml).parent, toml.absolute().parent]


def _is_registered(place: Path) -> bool:
    """Whether a ledger stands over that file, or over the one whose log it is; where nobody can tell, this raises."""
    if not os.path.lexists(place) and place.suffix != ".wal":
        return False
    from discreet.ledger.identity import file_mark
    from discreet.ledger.registry import Registry

    marks = []
    for file in (place, *([place.with_suffix("")] if place.suffix == ".wal" else [])):
        with contextlib.suppress(OSError, ValueError):  # no file there
            marks += [file_mark(file)] if file.is_file() else []
    try:
        state = state_folder()
    except LedgerUnavailable:  # no home, so no registry
        return False
    return any(Registry(state).others({"file": mark}) for mark in marks)


def _logged_files(path: Path) -> list[Path]:
    """The files whose log a name would be, as it is spelt and where it leads."""
    names = [(file, _LOG_NAME.fullmatch(file.name)) for file in (path.absolute(), _resolved(path))]
    return [file.with_name(name[1]) for file, name in names if name is not None]


def _kind_by_content(path: Path) -> str | None:
    """What a file is by its first bytes; a database that is just being made has its mark in its log alone."""
    with contextlib.suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_HEAD)
            for kind, (start, mark) in _MARKS.items():
                if head[start:].startswith(mark):
                    return kind
            if head.startswith(_SQLITE) and not any(head[68:72]) and _has_mark_in_log(path):
                return LEDGER
    return None


def _has_mark_in_log(path: Path) -> bool:
    """Whether the log beside a database begins with the first page of a ledger, after 32 and 24 bytes of its own."""
    with contextlib.suppress(OSError, ValueError), path.with_name(f"{path.name}-wal").open("rb") as file:
        start, mark = _MARKS[LEDGER]
        return file.read(56 + _HEAD)[56 + start :] == mark
    return False


def _is_toml(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.suffix.lower() == _TOML and path.is_file()
    return False


def _tomls(folder: Path) -> list[Path]:
    return [path for path in _files(folder) if _is_toml(path)]


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except (OSError, ValueError):  # no name a folder can have, or one where nobody may look
        return []


def sources(toml: Path) -> list[Path] | None:
    """The private tables that metadata name; None for a TOML of something else, or a broken one without the word."""
    named = _named_files(toml)
    if named is _UNREAD and not _has_the_word(toml):
        return None
    return None if named is None else [toml.parent / source for source in named.sources]


@dataclass(frozen=True)
class _Named:
    """The files that metadata name, as they are written there."""

    sources: tuple[str, ...] = ()
    public: tuple[str, ...] = ()


_UNREAD = _Named()


def _has_the_word(toml: Path) -> bool:
    try:
        return b"dataset" in toml.read_bytes()
    except OSError:
        return True


def _inputs(toml: Path) -> Iterator[tuple[str, Path]]:
    """The files that metadata name, and themselves last; nothing for a TOML of something else."""
    import glob

    named = _named_files(toml)
    if named is None:
        return
    for source in named.sources:
        for file in (toml.parent / source, *map(Path, glob.glob(str(toml.parent / source)))):
            yield TABLE, file
            yield TABLE, Path(f"{file}.wal")
    for public in named.public:
        yield "a public file that metadata name", toml.parent / public
    yield METADATA, toml


_PUBLIC = (("columns", "values_from"), ("hierarchy", "tree"))


def _named_files(toml: Path) -> _Named | None:
    if not _is_toml(toml):
        return None
    try:
        seen = toml.stat()
    except OSError:
        return _UNREAD
    return _read(toml, (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))


@functools.lru_cache(maxsize=256)  # a release looks at nine places, and metadata may have megabytes
def _read(toml: Path, _stamp: tuple[int, ...]) -> _Named | None:
    """What the reader of metadata finds there; no names where it can read nothing, None where no dataset is meant."""
    from discreet.metadata.read import document

    try:
        said = dict(document(toml))
    except MetadataError:
        return _UNREAD
    if "dataset" not in said:
        return None
    named = [_part(said, kind, name).get(key) for kind, key in _PUBLIC for name in _part(said, kind)]
    public = (text for value in named for text in _texts(value))
    return _Named(tuple(_texts(_part(said, "dataset").get("source"))), tuple(public))


def _part(document: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        inner = document.get(name)
        document = inner if isinstance(inner, dict) else {}
    return document


def _texts(value: Any) -> list[str]:
    several: Iterable[Any] = value if isinstance(value, list) else [value]
    return [text for text in several if isinstance(text, str) and text and "\0" not in text]


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or no name a file can have
        return path.absolute()


def _is_same(place: Path, kept: Path) -> bool:
    """Whether both are one file, or one would lie in the other."""
    if place == kept or (kept in place.parents and kept.is_dir()):
        return True
    with contextlib.suppress(OSError, ValueError):
        return place.samefile(kept)
    return False
