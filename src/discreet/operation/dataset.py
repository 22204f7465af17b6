"""Open the dataset of a call; the fixes of refusals inside then name that dataset."""

import contextlib
import stat
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import DiscreetError, EngineFailed, MetadataError
from discreet.fix import UNKNOWN, Fix
from discreet.schema.words import toml_value

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.engine.protocol import Progress
    from discreet.table import Table

Watch = Callable[[], contextlib.AbstractContextManager["Progress | None"]]  # around what may take long


class Call(Protocol):
    """What all calls about a dataset have."""

    @property
    def metadata(self) -> Path: ...
    @property
    def rehearse(self) -> bool: ...
    @property
    def second_ledger(self) -> str | None: ...
    def fix(self, words: str, **more: Any) -> Fix: ...


no_watch: Watch = contextlib.nullcontext


@contextlib.contextmanager
def open_called(call: Call) -> "Iterator[Dataset]":
    """Open the dataset of the call, and close it at the end."""
    from discreet.dataset import open_dataset

    require_metadata_file(call.metadata)
    with (
        _changing_fixes(lambda fix: _fix_in_call(fix, call)),
        _stamping_failures() if call.rehearse else contextlib.nullcontext(),
        open_dataset(call.metadata, second_ledger=call.second_ledger, rehearsal=call.rehearse) as dataset,
    ):
        yield dataset


@contextlib.contextmanager
def open_table(metadata: Path) -> "Iterator[Table]":
    """Open the table for operations that ask nothing, and close it at the end."""
    from discreet.metadata import load
    from discreet.table import Table

    require_metadata_file(metadata)
    with fixes_about(metadata), contextlib.closing(Table(load(metadata), metadata)) as table:
        yield table


def fixes_about(metadata: Path) -> contextlib.AbstractContextManager[None]:
    """Let refusals inside name the file in their fixes."""
    return _changing_fixes(lambda fix: fix.about(str(metadata)))


@contextlib.contextmanager
def _changing_fixes(change: Callable[[Fix], Fix]) -> Iterator[None]:
    try:
        yield
    except DiscreetError as error:
        if not error.fixes:
            raise
        raise error.with_fixes(change) from None


def _fix_in_call(fix: Fix, call: Call) -> Fix:
    """The fix with the call's metadata; one that opens the dataset differently repeats the call in that way."""
    if fix.verb == "open":
        return call.fix(fix.words, second_ledger=True, why=UNKNOWN)
    about = fix.about(str(call.metadata))
    if call.rehearse and fix.verb in ("ask", "quote", "release plan", "release build"):
        return replace(about, arguments={**about.arguments, "rehearse": True})
    return about


@contextlib.contextmanager
def _stamping_failures() -> Iterator[None]:
    """Stamp refusals of a rehearsal, and show any other failure with its traceback: the rows are invented."""
    from discreet.rehearsal.stamp import titled

    try:
        yield
    except DiscreetError as error:
        kind, (what, *more) = type(error), error.__reduce__()[1]
        raise kind(titled(what), *more) from None
    except Exception as error:
        why = "".join(traceback.format_exception(error)).rstrip()
        fix = "Find it by the traceback above: its rows are invented, and nothing real was opened or charged."
        raise EngineFailed(titled(f"{type(error).__name__}: {error}"), why, fix) from None


def require_metadata_file(metadata: Path) -> None:
    """Refuses metadata that are a pipe or a device; a folder or a missing file is refused when it is read."""
    if mode(metadata) not in (None, stat.S_IFREG, stat.S_IFDIR):
        why = f"You gave {toml_value(str(metadata))}, which is a pipe or a device."
        raise MetadataError("The metadata must be a plain file.", why, "Save them to a file, such as people.toml.")


def mode(path: Path) -> int | None:
    """The kind of file at the path, None if there is none."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        return None
