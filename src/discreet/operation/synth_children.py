"""A second table beside one that is synthesised: opened with it, and written beside it."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from discreet import outputs
from discreet.errors import bad
from discreet.fix import Fix
from discreet.operation.dataset import require_metadata_file
from discreet.operation.synth_files import require_new

if TYPE_CHECKING:
    from discreet.dataset import Dataset


class Call(Protocol):
    """What is needed of the call."""

    @property
    def child(self) -> Path | None: ...
    @property
    def zeros(self) -> Path | None: ...
    @property
    def second_ledger(self) -> str | None: ...
    @property
    def rehearse(self) -> bool: ...
    @property
    def replaces(self) -> bool: ...


@contextlib.contextmanager
def opened_children(call: Call) -> "Iterator[dict[str, Dataset] | None]":
    """The second table, open, under the name that its metadata give it; None where none was named."""
    from discreet.dataset import open_dataset

    if call.child is None:
        yield None
        return
    require_metadata_file(call.child)
    with open_dataset(call.child, second_ledger=call.second_ledger, rehearsal=call.rehearse) as dataset:
        yield {dataset.table.schema.name: dataset}


def require_no_input(call: Call, output: Path | None) -> None:
    """Refuses an output over what the second metadata name, or over the file of impossible combinations."""
    if output is None:
        return
    if call.child is not None:
        outputs.require_harmless(output, call.child)
    if call.zeros is not None and _is_same(output, call.zeros):
        raise bad("output", "must not be the file of zeros", str(output), "Give another name after -o.")


def _is_same(left: Path, right: Path) -> bool:
    try:
        return left.samefile(right)
    except OSError:
        return left.absolute() == right.absolute()


def require_child_files(call: Call, path: Path, children: "Mapping[str, Dataset] | None", fix: Fix | str) -> None:
    """Refuses, before anything is spent, files that could not be written."""
    from discreet.synth.children.files import child_place

    require_no_input(call, path)
    for name in children or {}:
        require_new(child_place(path, name), call.child, replaces=call.replaces, fix=fix)


def children_facts(table: Any, path: Path) -> dict[str, Any]:
    """What programs read of the rows of a second table: their file, how many there are, and their columns."""
    from discreet.synth.children.files import child_place

    facts = {
        name: {
            "file": str(child_place(path, name)),
            "rows": rows.rows,
            "columns": [rows.key, *(rows.names[column.name] for column in rows.columns)],
        }
        for name, rows in table.children.items()
    }
    return {"children": facts}
