"""Opening what a call is about, so that the operations in the fixes of refusals inside name that very dataset."""

import contextlib
import stat
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from discreet.errors import DiscreetError, EngineFailed, MetadataError
from discreet.fix import UNKNOWN, Fix
from discreet.schema.words import written

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.engine.protocol import Progress
    from discreet.table import Table

Watch = Callable[[], contextlib.AbstractContextManager["Progress | None"]]  # around what may take long


class Call(Protocol):
    """What all calls about a dataset say."""

    @property
    def metadata(self) -> Path: ...
    @property
    def rehearse(self) -> bool: ...
    @property
    def second_ledger(self) -> str | None: ...
    def fix(self, words: str, **more: Any) -> Fix: ...


def unwatched() -> contextlib.AbstractContextManager[None]:
    """Nobody waits and looks."""
    return contextlib.nullcontext()


@contextlib.contextmanager
def opened(call: Call) -> "Iterator[Dataset]":
    """The dataset, let go of at the end."""
    from discreet.dataset import open_dataset

    require_metadata_file(call.metadata)
    told = _revealed() if call.rehearse else contextlib.nullcontext()
    with (
        _fixes_changed(lambda fix: _of_call(fix, call)),
        told,
        open_dataset(call.metadata, second_ledger=call.second_ledger, rehearsal=call.rehearse) as dataset,
    ):
        yield dataset


@contextlib.contextmanager
def opened_table(metadata: Path) -> "Iterator[Table]":
    """The same for operations that ask nothing."""
    from discreet.metadata import load
    from discreet.table import Table

    require_metadata_file(metadata)
    with fixes_about(metadata), contextlib.closing(Table(load(metadata), metadata)) as table:
        yield table


def fixes_about(metadata: Path) -> contextlib.AbstractContextManager[None]:
    """Refusals inside name the file in the operations of their fixes."""
    return _fixes_changed(lambda fix: fix.about(str(metadata)))


@contextlib.contextmanager
def _fixes_changed(change: Callable[[Fix], Fix]) -> Iterator[None]:
    try:
        yield
    except DiscreetError as error:
        if not error.fixes:
            raise
        raise error.with_fixes(change) from None


def _of_call(fix: Fix, call: Call) -> Fix:
    """To open the dataset in another way is to make the same call in that way."""
    if fix.verb == "open":
        return call.fix(fix.words, second_ledger=True, why=UNKNOWN)
    about = fix.about(str(call.metadata))
    return replace(about, arguments={**about.arguments, "rehearse": True}) if _is_rehearsed(fix, call) else about


def _is_rehearsed(fix: Fix, call: Call) -> bool:
    """Whether the verb would meet the real table, where the call does not."""
    return call.rehearse and fix.verb in ("ask", "quote", "release plan", "release build")


@contextlib.contextmanager
def _revealed() -> Iterator[None]:
    """Refusals of a rehearsal are stamped, and any other failure is told with its traceback: its rows are invented."""
    from discreet.rehearsal.stamp import titled

    try:
        yield
    except DiscreetError as error:
        kind, (what, *rest) = type(error), error.__reduce__()[1]
        raise kind(titled(what), *rest) from None
    except Exception as error:
        told = "".join(traceback.format_exception(error)).rstrip()
        fix = "Find it by the traceback above: its rows are invented, and nothing real was opened or charged."
        raise EngineFailed(titled(f"{type(error).__name__}: {error}"), told, fix) from None


def require_metadata_file(metadata: Path) -> None:
    """Refuses metadata that are neither a file nor missing nor a folder; those have refusals of their own."""
    if mode(metadata) not in (None, stat.S_IFREG, stat.S_IFDIR):
        why = f"You gave {written(str(metadata))}, which is a pipe or a device."
        raise MetadataError("The metadata must be a plain file.", why, "Save them to a file, such as people.toml.")


def mode(path: Path) -> int | None:
    """What lies there: a pipe or a device would keep a reader waiting, or never end."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        return None
