"""The engine: a source, the table prepared from it beside the ledger, and questions on that table.

    {name}.key                   32 random bytes, made once
    {name}.{snapshot}.prepared   a prepared state, a second copy of the declared columns

Only their owner can read them.  Several states may lie side by side; a state that nobody holds is removed.  A question
gets whole numbers and keys, or `engine_failed`, which is the same whatever went wrong.
"""

import contextlib
import json
import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet import durable
from discreet.engine import files, frames, joined, legacy, prepare, states
from discreet.engine import source as origin
from discreet.engine.joined import JoinedFile, JoinedSource
from discreet.engine.prepared import Columns, Prepared, PreparingEngine, copy_in_use, rows_gone
from discreet.engine.process import WorkerFailed, process
from discreet.engine.protocol import Progress
from discreet.engine.secret import Secret, load_or_create_secret
from discreet.engine.view import FileView
from discreet.errors import SourceUnavailable, bad, engine_failed
from discreet.ledger.identity import file_mark
from discreet.schema import Schema
from discreet.schema.limits import Limits
from discreet.schema.words import toml_value

_SHARE = {"reading": 0.0, "ranking": 0.1, "writing": 0.7}  # of the whole, roughly; never counted in rows
_SETTLED = 2 * 10**9  # ns after which a file's time of change can be trusted to move with the next change
_TRIES = 3


@dataclass(frozen=True)
class _State:
    """A prepared state that is good, and what tells whether anything changed since."""

    snapshot: str
    older_snapshots: tuple[str, ...]
    stamps: str  # of the source
    prepared: files.Stamp


class Engine(PreparingEngine):
    """The engine on files and tables in memory; it reads rows in a worker process, and a fork gets its own worker."""

    def __init__(self, folder: Path, name: str, schema: Schema, source: Any, limits: Limits | None = None) -> None:
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise bad("name", "must be a file's name without its ending", name, 'Give a name such as "people".')
        super().__init__(folder, name, schema, limits)
        self._source = _source(source)
        self._state: _State | None = None
        self._holds = states.Holds()
        weakref.finalize(self, self._holds.release)
        self.process = process(self.limits)

    @property
    def path(self) -> Path:
        """Where the table's present state lies; prepared first if it changed."""
        return self._path(self.snapshot)

    def prepare(self, progress: Progress | None = None) -> Prepared:
        """Prepare the table from the source as it is now, unless it already is."""
        tell = progress or (lambda _name, _share: None)
        with self.lock:
            if self._state is not None and self._is_good(self._state):
                return Prepared(self._state.snapshot, anew=False, older_snapshots=self._state.older_snapshots)
            self._state = None
            secret = load_or_create_secret(self._key)
            with files.lock(self._key, self.limits.prepare_seconds):
                for _ in range(_TRIES):
                    prepared = self._find_or_make(secret, tell)
                    if prepared is not None:
                        return prepared
        why = "Someone wrote to it each time it was being read."
        raise SourceUnavailable("The table keeps changing.", why, "Wait until it is complete, then prepare it again.")

    def view(self, progress: Progress | None = None, *, snapshot: str | None = None) -> FileView:
        """As `protocol.Engine.view`; a state that is gone is prepared again if the source is as it was then."""
        with self.lock:
            for _ in range(_TRIES):
                present = self._present_snapshot(snapshot, progress)
                with contextlib.suppress(OSError):  # it went away meanwhile
                    return FileView(self, present, self._path(present))
        why = "Another process removed it each time."
        raise SourceUnavailable("The prepared state is not there.", why, "Do it again.")

    def _present_snapshot(self, snapshot: str | None, progress: Progress | None) -> str:
        if snapshot is not None and states.is_snapshot(snapshot) and states.owned_stamp(self._path(snapshot)):
            return snapshot
        present = self.prepare(progress).snapshot
        if snapshot is not None and present != snapshot:
            raise rows_gone("The source has changed, and their copy was removed.")
        return present

    def older_snapshots(self, snapshot: str) -> tuple[str, ...]:
        """The ids that the content of that state had in older formats, for finding stored answers again."""
        state = self._state
        return state.older_snapshots if state is not None and state.snapshot == snapshot else ()

    def identity(self) -> dict[str, str]:
        """What the source is, under whatever name: the file that it is, and the digest of its content."""
        with self.lock:
            if not self._content:
                self.prepare()
            if not isinstance(self._source, Path):
                return {"content": self._content}
            try:
                return {"content": self._content, "file": file_mark(self._source)}
            except OSError:
                raise origin.unreadable(toml_value(self._source.name)) from None

    def run(self, statements: Sequence[str], snapshot: str | None = None) -> list[Columns]:
        """The columns each statement gives on the prepared table: int64 arrays, and objects for the keys k0, k1, …

        If the `snapshot` that was charged for is given, nothing is read of any other.
        """
        with self.lock:
            if snapshot is None:
                snapshot = self._state.snapshot if self._state is not None else self.prepare().snapshot
            columns = self._columns(list(statements), snapshot)
        if not _is_answer(columns, len(statements)):
            raise engine_failed() from None
        return columns  # type: ignore[no-any-return]

    def clean(self) -> None:
        """Remove the prepared files; the key stays, so that the same content is the same snapshot again."""
        with self.lock:
            self._state = None
            self.process.close()
            self._holds.release()
            paths = [legacy.path(self.folder, self.name), *states.paths(self.folder, self.name)]
            for leftover in self._scratch():
                files.or_cannot_write(leftover, partial(files.remove, leftover))
            removed = [files.or_cannot_write(path, partial(states.remove_unheld, path)) for path in paths]
            if not all(removed):
                raise copy_in_use()

    def close(self) -> None:
        """End the worker and let go of the state; the next question starts one and holds one."""
        with self.lock:
            self._holds.release()
        self.process.close()

    def _columns(self, statements: list[str], snapshot: str) -> Any:
        """What the worker gives on that state; None if it gives nothing, for whatever reason."""
        path = self._path(snapshot)
        if not states.is_snapshot(snapshot) or states.owned_stamp(path) is None:
            return None
        expected = {"snapshot": snapshot, "layout": self.layout}
        with contextlib.suppress(WorkerFailed):
            return self.process.ask("run", str(path), expected, statements, seconds=self.limits.seconds)
        return None

    # --- is what lies there still good? ----------------------------------------------------------------------------

    def _is_good(self, state: _State) -> bool:
        """Whether source and prepared file are as they were, and the file is held."""
        on_disk = self._on_disk()
        if on_disk is None:
            return False  # only its content tells whether a table in memory was changed in place
        path = self._path(state.snapshot)
        with contextlib.suppress(OSError):
            self._holds.hold(path)
            stamps = _stamps_text(on_disk.stamps())
            return bool(stamps) and (stamps, states.owned_stamp(path)) == (state.stamps, state.prepared)
        return False

    def _find_or_make(self, secret: Secret, tell: Progress) -> Prepared | None:
        """The table, as it was prepared before or prepared now; None if the source changed meanwhile."""
        tell("reading", _SHARE["reading"])
        on_disk = self._on_disk()
        if on_disk is not None:
            return self._from_file(on_disk, secret, tell)
        table = frames.arrow_table(self._source, self.schema)
        content = frames.digest(table)
        expected = self._expected_facts(secret, content, "")
        facts = self._facts(self._path(expected["snapshot"]))
        if anew := not _agree(facts, expected):
            incoming = self._scratch()[0]
            with self._fresh_scratch():
                files.or_cannot_write(incoming, partial(frames.write_parquet, table, incoming))
                if frames.digest(table) != content:  # it may share memory with the frame, which another thread changes
                    return None
                facts = self._make(origin.File(incoming, origin.Format.PARQUET), secret, expected, tell)
                self._put_in_place(expected, tell)
        return self._remember(facts, anew=anew)

    def _on_disk(self) -> origin.File | JoinedFile | None:
        """The file, or the two, that the table lies in; None where it is in memory."""
        if isinstance(self._source, JoinedSource):
            return self._source.file()
        return origin.file(self._source) if isinstance(self._source, Path) else None

    def _from_file(self, file: origin.File | JoinedFile, secret: Secret, tell: Progress) -> Prepared | None:
        first_stamps = file.stamps()
        stamps = _stamps_text(first_stamps)
        known_facts = self._seen_before(stamps)
        content = bytes.fromhex(known_facts["content"]) if known_facts else file.digest()
        expected = self._expected_facts(secret, content, stamps)
        facts = known_facts if _agree(known_facts, expected) else self._facts(self._path(expected["snapshot"]))
        anew = not _agree(facts, expected)
        if anew:
            with self._fresh_scratch():
                facts = self._make(file, secret, expected, tell)
                # Before it gets its name: else rows of another state would stand under this one's id.
                if file.stamps() != first_stamps or not (stamps or file.digest() == content):
                    return None
                self._put_in_place(expected, tell)
        elif (not known_facts and stamps) or Path(f"{self._path(expected['snapshot'])}.wal").exists():
            facts |= {"stamps": stamps} if stamps else {}
            with contextlib.suppress(WorkerFailed):  # saves the next process a digest, ends what a kill left undone
                self._ask("record", str(self._path(expected["snapshot"])), prepare.facts(facts))
        return None if file.stamps() != first_stamps else self._remember(facts, anew=anew)

    def _seen_before(self, stamps: str) -> dict[str, str]:
        """The facts of a state that was made from a source with these stamps: its content need not be read again."""
        for path in reversed(states.paths(self.folder, self.name) if stamps else []):
            facts = self._facts(path)
            if facts.get("stamps") == stamps and facts.get("format") == str(prepare.FORMAT):
                return facts
        return {}

    def _facts(self, path: Path) -> dict[str, str]:
        """What a prepared file was made from; empty unless the file opens and only its owner can use it."""
        if states.owned_stamp(path) is None:
            return {}
        try:
            facts: dict[str, str] = self._ask("facts", str(path))
        except WorkerFailed:
            return {}
        return facts if all(isinstance(value, str) for value in facts.values()) else {}

    def _expected_facts(self, secret: Secret, content: bytes, stamps: str) -> dict[str, str]:
        snapshot = secret.snapshot(content, self.layout, prepare.FORMAT)
        facts = {"snapshot": snapshot, "content": content.hex(), "layout": self.layout, "stamps": stamps}
        return {"format": str(prepare.FORMAT), **facts}

    def _path(self, snapshot: str) -> Path:
        return states.path(self.folder, self.name, snapshot)

    def _remember(self, facts: dict[str, str], *, anew: bool) -> Prepared | None:
        """Hold the state and remember it; None if it went away meanwhile."""
        path, older_snapshots = self._path(facts["snapshot"]), tuple(json.loads(facts["carried"]))
        self._content = facts["content"]
        try:
            self._holds.hold(path)
        except OSError:
            return None
        prepared = states.owned_stamp(path)
        if prepared is not None:
            self._state = _State(facts["snapshot"], older_snapshots, facts["stamps"], prepared)
        return Prepared(facts["snapshot"], anew, older_snapshots)

    # --- making it -------------------------------------------------------------------------------------------------

    def _make(
        self, file: origin.File | JoinedFile, secret: Secret, expected: dict[str, str], tell: Progress
    ) -> dict[str, str]:
        """Write the new file beside its place, complete, and return its facts."""
        old_facts = self._facts(legacy.path(self.folder, self.name))
        older_snapshots = legacy.old_snapshots(old_facts, secret, self.schema, bytes.fromhex(expected["content"]))
        facts = expected | {"carried": json.dumps(older_snapshots)}
        keys = {name: secret.key_for(name, digits) for name, digits in prepare.KEYS.items()}
        sources, new, spill = [str(path) for path in file.paths], self._scratch()[1], self._scratch()[3]
        refusal: Exception | None = None
        try:
            table = joined.read_as(file, self.schema, lambda statements: self._ask("look", sources, list(statements)))
            steps = [(step.name, list(step.statements)) for step in prepare.steps(self.schema, table)]
            steps[0][1][:0] = joined.attachment(file)
            steps[-1][1].append(prepare.facts(facts))
            advance: Callable[[str], None] = lambda name: tell(name, _SHARE.get(name, 0.0))  # noqa: E731
            self._ask("prepare", str(new), sources, str(spill), keys, steps, on_step=advance)
        except WorkerFailed as failure:
            refusal = self._refusal(failure.cause, file)
        except OSError:
            refusal = origin.unreadable(file.shown)
        if refusal is not None:
            raise refusal
        return facts

    def _put_in_place(self, expected: dict[str, str], tell: Progress) -> None:
        """Give the new file its name, and remove the states that nobody holds."""
        path = self._path(expected["snapshot"])
        files.or_cannot_write(path, partial(durable.put_in_place, self._scratch()[1], path))
        with contextlib.suppress(OSError):  # what stays takes space and harms nothing
            self._holds.hold(path)
            legacy.remove_unheld(legacy.path(self.folder, self.name))
            kept = {self._path(snapshot) for snapshot in self._kept}
            for state in states.paths(self.folder, self.name):
                if state != path and state not in kept:
                    states.remove_unheld(state)
        tell("writing", 1.0)

    def _ask(self, verb: str, *arguments: Any, on_step: Callable[[str], None] | None = None) -> Any:
        return self.process.ask(verb, *arguments, seconds=self.limits.prepare_seconds, on_step=on_step)

    def _refusal(self, cause: str, file: origin.File | JoinedFile) -> Exception:
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
        def remove_scratch() -> None:
            for leftover in self._scratch():
                files.remove(leftover)

        files.or_cannot_write(self._scratch()[1], remove_scratch)
        try:
            yield
        finally:
            files.or_cannot_write(self._scratch()[1], remove_scratch)


def _source(source: Any) -> Any:
    """The source as a path, as two, or as a table in memory."""
    if isinstance(source, JoinedSource):
        return source
    return Path(source).absolute() if isinstance(source, (str, os.PathLike)) else frames.require_frame(source)


def _agree(facts: dict[str, str], expected: dict[str, str]) -> bool:
    return all(facts.get(fact) == expected[fact] for fact in ("layout", "snapshot"))


def _stamps_text(stamps: tuple[files.Stamp, ...]) -> str:
    """The stamps as text; empty when a change now might leave them as they are."""
    recent = any(max(times) > time.time_ns() - _SETTLED for _, *times, _ in stamps)
    return "" if recent else json.dumps(stamps)


def _is_answer(columns: Any, size: int) -> bool:
    return (
        isinstance(columns, list)
        and len(columns) == size
        and all(isinstance(array, np.ndarray) for arrays in columns for array in arrays.values())
    )
