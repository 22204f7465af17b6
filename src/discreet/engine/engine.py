"""The engine: a source, the table prepared from it beside the ledger, and questions on that table.

    {name}.key        32 random bytes, made once
    {name}.prepared   the prepared table, a second copy of the declared columns

Both are their owner's alone.  What a question gets back is whole numbers and keys, or `engine_failed`, the same
whatever went wrong.
"""

import contextlib
import json
import os
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine import files, frames, prepare, tables
from discreet.engine import source as origin
from discreet.engine.process import Gone, process
from discreet.engine.secret import Secret, kept_secret
from discreet.errors import SourceUnavailable, bad, engine_failed
from discreet.schema import Schema
from discreet.schema.limits import Limits

Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]

_SHARE = {"reading": 0.0, "ranking": 0.1, "writing": 0.7}  # of the whole, roughly; never counted in rows
_SETTLED = 2 * 10**9  # ns after which a file's time of change can be trusted to move with the next change
_TRIES = 3


@dataclass(frozen=True)
class Prepared:
    """What may be known of a prepared table: which state it is, and whether it was made just now."""

    snapshot: str
    anew: bool


@dataclass(frozen=True)
class _Known:
    """A state that was found good, and what would betray a change since."""

    snapshot: str
    stamps: str  # of the source
    prepared: files.Stamp


class Engine:
    """Rows behind one door; threads may share it, and a forked child gets a worker of its own."""

    def __init__(self, folder: Path, name: str, schema: Schema, source: Any, limits: Limits | None = None) -> None:
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise bad("name", "must be a file's name without its ending", name, 'Give a name such as "people".')
        # absolute: the worker may have been started in another working folder
        self.folder, self.name, self.schema = Path(folder).absolute(), name, schema
        self.limits = limits or Limits()
        self.path = self.folder / f"{name}.prepared"
        self._key = self.folder / f"{name}.key"
        named = isinstance(source, (str, os.PathLike))
        self._given = Path(source).absolute() if named else frames.require_frame(source)
        self._layout = prepare.layout_hash(schema)
        self._known: _Known | None = None
        self._frame_digest: bytes | None = None
        self._lock = threading.RLock()
        self._process = process(self.limits)
        _members.add(self)

    def __repr__(self) -> str:
        return f"Engine({self.name!r})"

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def snapshot(self) -> str:
        """The id of the table's present state; prepared first if it changed."""
        return self.prepare().snapshot

    def prepare(self, progress: Progress | None = None) -> Prepared:
        """The table prepared from the source as it is now; at once if it already is."""
        tell = progress or (lambda _name, _share: None)
        with self._lock:
            if self._known is not None and self._known == self._seen_again(self._known):
                return Prepared(self._known.snapshot, anew=False)
            self._known = None
            secret = kept_secret(self._key)
            with files.locked(self._key, self.limits.prepare_seconds):
                for _ in range(_TRIES):
                    found = self._prepared(secret, tell)
                    if found is not None:
                        return found
        why = "Someone wrote to it each time it was being read."
        raise SourceUnavailable("The table keeps changing.", why, "Wait until it is complete, then prepare it again.")

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[Columns]:
        """The columns each statement gives on the prepared table: int64 arrays, and objects for the keys k0, k1, …

        With a `snapshot`, the one that was charged for, nothing is read of any other.
        """
        with self._lock:
            if self._known is None and snapshot is None:
                self.prepare()
            known = self._known
            found = known.snapshot if known else ""
            expected = {"snapshot": found if snapshot in (None, found) else "none", "layout": self._layout}
            try:
                columns = self._process.ask(
                    "run", str(self.path), expected, list(statements), seconds=self.limits.seconds
                )
            except Gone:
                columns = None
        if not _is_answer(columns, len(statements)):
            raise engine_failed() from None
        return columns  # type: ignore[no-any-return]

    def clean(self) -> None:
        """No prepared file any more; the key stays, so that the same content is the same snapshot again."""
        with self._lock:
            self._known = None
            self._process.close()
            for leftover in (self.path, Path(f"{self.path}.wal"), *self._scratch()):
                _written(leftover, partial(files.remove, leftover))

    def close(self) -> None:
        """No worker any more; the next question starts one."""
        self._process.close()

    # --- is what lies there still good? ----------------------------------------------------------------------------

    def _seen_again(self, known: _Known) -> _Known | None:
        prepared = _owned_stamp(self.path)
        if prepared is None:
            return None
        if not isinstance(self._given, Path):
            return _Known(known.snapshot, "", prepared)
        stamps = _spelt(origin.file(self._given).stamps())
        return _Known(known.snapshot, stamps, prepared) if stamps else None

    def _prepared(self, secret: Secret, tell: Progress) -> Prepared | None:
        """The table found good or made anew; None if the source changed meanwhile."""
        tell("reading", _SHARE["reading"])
        facts = self._facts()
        if isinstance(self._given, Path):
            return self._from_file(origin.file(self._given), secret, facts, tell)
        table = None
        if self._frame_digest is None:
            table = frames.arrow_table(self._given, self.schema)
            self._frame_digest = frames.digest(table)
        wanted = self._wanted(secret, self._frame_digest, "")
        if not _agree(facts, wanted):
            table = frames.arrow_table(self._given, self.schema) if table is None else table
            incoming = self._scratch()[0]
            with self._fresh_scratch():
                _written(incoming, partial(frames.write_parquet, table, incoming))
                self._make(origin.File(incoming, origin.Format.PARQUET), secret, wanted, tell)
                self._put_in_place(tell)
        return self._remember(wanted, anew=not _agree(facts, wanted))

    def _from_file(self, file: origin.File, secret: Secret, facts: dict[str, str], tell: Progress) -> Prepared | None:
        before = file.stamps()
        stamps = _spelt(before)
        known = stamps != "" and facts.get("stamps") == stamps
        content = bytes.fromhex(facts["content"]) if known else file.digest()
        wanted = self._wanted(secret, content, stamps)
        anew = not _agree(facts, wanted)
        if anew:
            with self._fresh_scratch():
                self._make(file, secret, wanted, tell)
                # Before it gets its name: else rows of another state would stand under this one's id.
                if file.stamps() != before or not (stamps or file.digest() == content):
                    return None
                self._put_in_place(tell)
        elif not known and stamps:
            with contextlib.suppress(Gone):  # only saves the next process a digest
                self._ask("record", str(self.path), prepare.facts(wanted))
        return None if file.stamps() != before else self._remember(wanted, anew=anew)

    def _facts(self) -> dict[str, str]:
        """What the prepared file was made from; nothing if there is none of its owner's alone that opens."""
        if _owned_stamp(self.path) is None:
            return {}
        try:
            found = self._ask("facts", str(self.path))
        except Gone:
            return {}
        return found if all(isinstance(value, str) for value in found.values()) else {}

    def _wanted(self, secret: Secret, content: bytes, stamps: str) -> dict[str, str]:
        # The layout too: the order of columns decides which rows of a unit count.
        snapshot = secret.snapshot(content, self.schema.hash + self._layout, prepare.FORMAT)
        return {"layout": self._layout, "snapshot": snapshot, "content": content.hex(), "stamps": stamps}

    def _remember(self, wanted: dict[str, str], *, anew: bool) -> Prepared:
        prepared = _owned_stamp(self.path)
        if prepared is not None:
            self._known = _Known(wanted["snapshot"], wanted["stamps"], prepared)
        return Prepared(wanted["snapshot"], anew)

    # --- making it -------------------------------------------------------------------------------------------------

    def _make(self, file: origin.File, secret: Secret, wanted: dict[str, str], tell: Progress) -> None:
        sources, new, spill = [str(path) for path in file.paths], self._scratch()[1], self._scratch()[3]
        refusal: Exception | None = None
        try:
            table = tables.table(file, self.schema, lambda asked: self._ask("look", sources, list(asked)))
            steps = [(step.name, list(step.statements)) for step in prepare.steps(self.schema, table, secret.word)]
            steps[0][1][:0] = tables.attachment(file)
            steps[-1][1].append(prepare.facts(wanted))
            self._ask(
                "prepare", str(new), sources, str(spill), steps, on_step=lambda name: tell(name, _SHARE.get(name, 0.0))
            )
        except Gone as gone:
            refusal = self._refusal(gone.cause, file)
        except OSError:
            refusal = origin.unreadable(file.shown)
        if refusal is not None:
            raise refusal

    def _put_in_place(self, tell: Progress) -> None:
        _written(self.path, partial(files.put_in_place, self._scratch()[1], self.path))
        tell("writing", 1.0)

    def _ask(self, verb: str, *arguments: Any, on_step: Callable[[str], None] | None = None) -> Any:
        return self._process.ask(verb, *arguments, seconds=self.limits.prepare_seconds, on_step=on_step)

    def _refusal(self, cause: str, file: origin.File) -> Exception:
        if cause == "write":
            return files.cannot_write(self.path)
        if cause == "source":
            return origin.unreadable(file.shown)
        why = "How much it needs depends on the data, so it is not told."
        fix = "Allow more in the metadata, for example:\n[limits]\nmemory_gib = 8\nprepare_seconds = 7200"
        return SourceUnavailable("The table could not be prepared within the limits of memory and time.", why, fix)

    def _scratch(self) -> tuple[Path, ...]:
        """What exists only while preparing: the table from memory, the new file and its log, and its overflow."""
        new = self.folder / f".{self.name}.preparing"
        return (self.folder / f".{self.name}.incoming.parquet", new, Path(f"{new}.wal"), Path(f"{new}.spill"))

    @contextlib.contextmanager
    def _fresh_scratch(self) -> Iterator[None]:
        def removed() -> None:
            for leftover in self._scratch():
                files.remove(leftover)

        _written(self.path, removed)
        try:
            yield
        finally:
            _written(self.path, removed)


def _agree(facts: dict[str, str], wanted: dict[str, str]) -> bool:
    return all(facts.get(fact) == wanted[fact] for fact in ("layout", "snapshot"))


def _spelt(stamps: tuple[files.Stamp, ...]) -> str:
    """The stamps as text; empty when a change now might leave them as they are."""
    recent = any(changed > time.time_ns() - _SETTLED for _, changed, _ in stamps)
    return "" if recent else json.dumps(stamps)


def _owned_stamp(path: Path) -> files.Stamp | None:
    """The stamp of a regular file that its owner alone can use; None for anything else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    owned = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return (found.st_size, found.st_mtime_ns, found.st_ino) if owned else None


def _written(path: Path, write: Callable[[], None]) -> None:
    """Does it, or says that it cannot be done."""
    try:
        write()
        return
    except OSError:
        pass
    raise files.cannot_write(path)


def _is_answer(columns: Any, size: int) -> bool:
    return (
        isinstance(columns, list)
        and len(columns) == size
        and all(isinstance(array, np.ndarray) for one in columns for array in one.values())
    )


_members: "weakref.WeakSet[Engine]" = weakref.WeakSet()


def _in_child() -> None:
    for member in list(_members):
        member._lock = threading.RLock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_in_child)
