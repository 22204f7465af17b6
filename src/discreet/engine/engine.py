"""The engine: a source, the table prepared from it beside the ledger, and questions on that table.

    {name}.key                   32 random bytes, made once
    {name}.{snapshot}.prepared   a prepared state, a second copy of the declared columns

Both are their owner's alone.  States lie side by side while one is in use, and go when nobody holds them.  What a
question gets back is whole numbers and keys, or `engine_failed`, the same whatever went wrong.
"""

import contextlib
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import durable
from discreet.engine import files, frames, legacy, prepare, states, tables
from discreet.engine import source as origin
from discreet.engine.process import Gone, process
from discreet.engine.secret import Secret, kept_secret
from discreet.engine.view import FileView
from discreet.errors import SourceUnavailable, bad, engine_failed
from discreet.ledger.identity import file_mark
from discreet.schema import Schema
from discreet.schema.limits import Limits
from discreet.schema.words import written

Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]

_SHARE = {"reading": 0.0, "ranking": 0.1, "writing": 0.7}  # of the whole, roughly; never counted in rows
_SETTLED = 2 * 10**9  # ns after which a file's time of change can be trusted to move with the next change
_TRIES = 3


@dataclass(frozen=True)
class Prepared:
    """What may be known of a prepared table: which state it is, and whether it was made just now.

    `carried` are the ids that this content had in older formats: for finding stored answers again, and nothing else.
    """

    snapshot: str
    anew: bool
    carried: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Known:
    """A state that was found good, and what would betray a change since."""

    snapshot: str
    carried: tuple[str, ...]
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
        self._key = self.folder / f"{name}.key"
        named = isinstance(source, (str, os.PathLike))
        self._given = Path(source).absolute() if named else frames.require_frame(source)
        self._layout = prepare.layout(schema)
        self._known: _Known | None = None
        self._kept: frozenset[str] = frozenset()  # snapshots of runs under way
        self._content = ""  # the digest of what was prepared last
        self._holds = states.Holds()
        weakref.finalize(self, self._holds.release)
        self.lock = threading.RLock()
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

    @property
    def path(self) -> Path:
        """Where the table's present state lies; prepared first if it changed."""
        return states.path(self.folder, self.name, self.snapshot)

    def prepare(self, progress: Progress | None = None) -> Prepared:
        """The table prepared from the source as it is now; at once if it already is."""
        tell = progress or (lambda _name, _share: None)
        with self.lock:
            if self._known is not None and self._is_good(self._known):
                return Prepared(self._known.snapshot, anew=False, carried=self._known.carried)
            self._known = None
            secret = kept_secret(self._key)
            with files.locked(self._key, self.limits.prepare_seconds):
                for _ in range(_TRIES):
                    found = self._prepared(secret, tell)
                    if found is not None:
                        return found
        why = "Someone wrote to it each time it was being read."
        raise SourceUnavailable("The table keeps changing.", why, "Wait until it is complete, then prepare it again.")

    def view(self, progress: Progress | None = None, *, at: str | None = None) -> FileView:
        """As `protocol.Engine.view`; a state `at` that is gone is prepared again if the source is as it was then."""
        with self.lock:
            for _ in range(_TRIES):
                snapshot = self._snapshot_at(at, progress)
                with contextlib.suppress(OSError):  # it went away meanwhile
                    return FileView(self, snapshot, states.path(self.folder, self.name, snapshot))
        why = "Another process removed it each time."
        raise SourceUnavailable("The prepared state is not there.", why, "Do it again.")

    def _snapshot_at(self, at: str | None, progress: Progress | None) -> str:
        if at is None:
            return self.prepare(progress).snapshot
        if states.is_snapshot(at) and states.owned_stamp(states.path(self.folder, self.name, at)) is not None:
            return at
        if self.prepare(progress).snapshot == at:
            return at
        what, why = "The rows that this run began with are gone.", "The source has changed, and their copy was removed."
        raise SourceUnavailable(what, why, "Put the source back as it was, or abandon the run.")

    def carried(self, snapshot: str) -> tuple[str, ...]:
        """The ids that the content of that state had in older formats, for finding stored answers again."""
        known = self._known
        return known.carried if known is not None and known.snapshot == snapshot else ()

    def keep(self, snapshots: Iterable[str]) -> None:
        """Do not remove these states when the source changes: runs under way go on with them."""
        with self.lock:
            self._kept = frozenset(snapshots)

    def identity(self) -> dict[str, str]:
        """What the source is, under whatever name: the file that it is, and the digest of its content."""
        with self.lock:
            if not self._content:
                self.prepare()
            if not isinstance(self._given, Path):
                return {"content": self._content}
            try:
                return {"content": self._content, "file": file_mark(self._given)}
            except OSError:
                raise origin.unreadable(written(self._given.name)) from None

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[Columns]:
        """The columns each statement gives on the prepared table: int64 arrays, and objects for the keys k0, k1, …

        With a `snapshot`, the one that was charged for, nothing is read of any other.
        """
        with self.lock:
            if snapshot is None:
                snapshot = self._known.snapshot if self._known is not None else self.prepare().snapshot
            columns = self._columns(list(statements), snapshot)
        if not _is_answer(columns, len(statements)):
            raise engine_failed() from None
        return columns  # type: ignore[no-any-return]

    def clean(self) -> None:
        """No prepared file any more; the key stays, so that the same content is the same snapshot again."""
        with self.lock:
            self._known = None
            self._process.close()
            self._holds.release()
            own = [legacy.path(self.folder, self.name), *states.paths(self.folder, self.name)]
            for leftover in self._scratch():
                files.or_cannot_write(leftover, partial(files.remove, leftover))
            held = [path for path in own if not files.or_cannot_write(path, partial(states.remove_unheld, path))]
            if held:
                why, fix = "Another process is asking it.", "Wait for that process, or end it; then do this again."
                raise SourceUnavailable("The prepared copy is in use and was left there.", why, fix)

    def close(self) -> None:
        """No worker any more, and no state held; the next question starts one and holds one."""
        with self.lock:
            self._holds.release()
        self._process.close()

    def _columns(self, statements: list[str], snapshot: str) -> Any:
        """What the worker gives on that state; None for every way in which there is nothing."""
        path = states.path(self.folder, self.name, snapshot)
        if not states.is_snapshot(snapshot) or states.owned_stamp(path) is None:
            return None
        expected = {"snapshot": snapshot, "layout": self._layout}
        with contextlib.suppress(Gone):
            return self._process.ask("run", str(path), expected, statements, seconds=self.limits.seconds)
        return None

    # --- is what lies there still good? ----------------------------------------------------------------------------

    def _is_good(self, known: _Known) -> bool:
        """Whether source and state are as they were, and the state is held."""
        if not isinstance(self._given, Path):
            return False  # only its content tells whether a table in memory was changed in place
        path = states.path(self.folder, self.name, known.snapshot)
        with contextlib.suppress(OSError):
            self._holds.hold(path)
            stamps = _spelt(origin.file(self._given).stamps())
            return bool(stamps) and (stamps, states.owned_stamp(path)) == (known.stamps, known.prepared)
        return False

    def _prepared(self, secret: Secret, tell: Progress) -> Prepared | None:
        """The table found good or made anew; None if the source changed meanwhile."""
        tell("reading", _SHARE["reading"])
        if isinstance(self._given, Path):
            return self._from_file(origin.file(self._given), secret, tell)
        table = frames.arrow_table(self._given, self.schema)
        content = frames.digest(table)
        wanted = self._wanted(secret, content, "")
        facts = self._facts(self._path(wanted))
        if anew := not _agree(facts, wanted):
            incoming = self._scratch()[0]
            with self._fresh_scratch():
                files.or_cannot_write(incoming, partial(frames.write_parquet, table, incoming))
                if frames.digest(table) != content:  # it may share memory with the frame, which another thread changes
                    return None
                facts = self._make(origin.File(incoming, origin.Format.PARQUET), secret, wanted, tell)
                self._place_files(wanted, tell)
        return self._remember(facts, anew=anew)

    def _from_file(self, file: origin.File, secret: Secret, tell: Progress) -> Prepared | None:
        before = file.stamps()
        stamps = _spelt(before)
        known = self._seen_before(stamps)
        content = bytes.fromhex(known["content"]) if known else file.digest()
        wanted = self._wanted(secret, content, stamps)
        facts = known if _agree(known, wanted) else self._facts(self._path(wanted))
        anew = not _agree(facts, wanted)
        if anew:
            with self._fresh_scratch():
                facts = self._make(file, secret, wanted, tell)
                # Before it gets its name: else rows of another state would stand under this one's id.
                if file.stamps() != before or not (stamps or file.digest() == content):
                    return None
                self._place_files(wanted, tell)
        elif (not known and stamps) or Path(f"{self._path(wanted)}.wal").exists():
            facts |= {"stamps": stamps} if stamps else {}
            with contextlib.suppress(Gone):  # saves the next process a digest, and ends what a kill here left undone
                self._ask("record", str(self._path(wanted)), prepare.facts(facts))
        return None if file.stamps() != before else self._remember(facts, anew=anew)

    def _seen_before(self, stamps: str) -> dict[str, str]:
        """The facts of a state that was made from a source with these stamps: its content need not be read again."""
        for path in reversed(states.paths(self.folder, self.name) if stamps else []):
            facts = self._facts(path)
            if facts.get("stamps") == stamps and facts.get("format") == str(prepare.FORMAT):
                return facts
        return {}

    def _facts(self, path: Path) -> dict[str, str]:
        """What a prepared file was made from; nothing if there is none of its owner's alone that opens."""
        if states.owned_stamp(path) is None:
            return {}
        try:
            found = self._ask("facts", str(path))
        except Gone:
            return {}
        return found if all(isinstance(value, str) for value in found.values()) else {}

    def _wanted(self, secret: Secret, content: bytes, stamps: str) -> dict[str, str]:
        snapshot = secret.snapshot(content, self._layout, prepare.FORMAT)
        facts = {"snapshot": snapshot, "content": content.hex(), "layout": self._layout, "stamps": stamps}
        return {"format": str(prepare.FORMAT), **facts}

    def _path(self, wanted: dict[str, str]) -> Path:
        return states.path(self.folder, self.name, wanted["snapshot"])

    def _remember(self, facts: dict[str, str], *, anew: bool) -> Prepared | None:
        """The state held and known; None if it went away meanwhile."""
        path, carried = self._path(facts), tuple(json.loads(facts["carried"]))
        self._content = facts["content"]
        try:
            self._holds.hold(path)
        except OSError:
            return None
        prepared = states.owned_stamp(path)
        if prepared is not None:
            self._known = _Known(facts["snapshot"], carried, facts["stamps"], prepared)
        return Prepared(facts["snapshot"], anew, carried)

    # --- making it -------------------------------------------------------------------------------------------------

    def _make(self, file: origin.File, secret: Secret, wanted: dict[str, str], tell: Progress) -> dict[str, str]:
        """The new file beside, complete, and its facts."""
        old = self._facts(legacy.path(self.folder, self.name))
        carried = legacy.carried(old, secret, self.schema, bytes.fromhex(wanted["content"]))
        facts = wanted | {"carried": json.dumps(carried)}
        keys = {name: secret.derived(name, digits) for name, digits in prepare.KEYS.items()}
        sources, new, spill = [str(path) for path in file.paths], self._scratch()[1], self._scratch()[3]
        refusal: Exception | None = None
        try:
            table = tables.table(file, self.schema, lambda asked: self._ask("look", sources, list(asked)))
            steps = [(step.name, list(step.statements)) for step in prepare.steps(self.schema, table)]
            steps[0][1][:0] = tables.attachment(file)
            steps[-1][1].append(prepare.facts(facts))
            advance: Callable[[str], None] = lambda name: tell(name, _SHARE.get(name, 0.0))  # noqa: E731
            self._ask("prepare", str(new), sources, str(spill), keys, steps, on_step=advance)
        except Gone as gone:
            refusal = self._refusal(gone.cause, file)
        except OSError:
            refusal = origin.unreadable(file.shown)
        if refusal is not None:
            raise refusal
        return facts

    def _place_files(self, wanted: dict[str, str], tell: Progress) -> None:
        """The new file under its name, and the states that nobody holds gone."""
        path = self._path(wanted)
        files.or_cannot_write(path, partial(durable.put_in_place, self._scratch()[1], path))
        with contextlib.suppress(OSError):  # what stays takes space and harms nothing
            self._holds.hold(path)
            legacy.remove_unheld(legacy.path(self.folder, self.name))
            kept = {states.path(self.folder, self.name, snapshot) for snapshot in self._kept}
            for other in states.paths(self.folder, self.name):
                if other != path and other not in kept:
                    states.remove_unheld(other)
        tell("writing", 1.0)

    def _ask(self, verb: str, *arguments: Any, on_step: Callable[[str], None] | None = None) -> Any:
        return self._process.ask(verb, *arguments, seconds=self.limits.prepare_seconds, on_step=on_step)

    def _refusal(self, cause: str, file: origin.File) -> Exception:
        if cause == "write":
            return files.cannot_write(self._scratch()[1])
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

        files.or_cannot_write(self._scratch()[1], removed)
        try:
            yield
        finally:
            files.or_cannot_write(self._scratch()[1], removed)


def _agree(facts: dict[str, str], wanted: dict[str, str]) -> bool:
    return all(facts.get(fact) == wanted[fact] for fact in ("layout", "snapshot"))


def _spelt(stamps: tuple[files.Stamp, ...]) -> str:
    """The stamps as text; empty when a change now might leave them as they are."""
    recent = any(max(times) > time.time_ns() - _SETTLED for _, *times, _ in stamps)
    return "" if recent else json.dumps(stamps)


def _is_answer(columns: Any, size: int) -> bool:
    return (
        isinstance(columns, list)
        and len(columns) == size
        and all(isinstance(array, np.ndarray) for one in columns for array in one.values())
    )


_members: "weakref.WeakSet[Engine]" = weakref.WeakSet()


def _in_child() -> None:
    for member in list(_members):
        member.lock = threading.RLock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_in_child)
