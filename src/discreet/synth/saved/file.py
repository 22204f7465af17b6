"""The file of a synthetic table: Parquet with its rows, its promise and the released numbers; or CSV with rows alone.

    rows                 any reader of Parquet shows them: nothing of Discreet is needed
    metadata `discreet`  JSON of the facts, the released numbers in base 64, and the SHA-256 of all, rows included

Equal tables are equal bytes.  The digest reveals accidents and edits, not forgery: anyone can write a file.  Rows are
read as they are and not drawn anew, for a fit by doubles may end in another last digit on another machine; all else
is computed from the released numbers and must be what the file states.
"""

import base64
import contextlib
import hashlib
import json
import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet import envelope, outputs
from discreet.envelope import Envelope, Part
from discreet.errors import BadValue, CannotWrite, IntegrityError, NotAnswerable, bad
from discreet.learn.saved.file import require_free
from discreet.learn.saved.rebuild import Unlike, used_schema_json
from discreet.query.explain import unit
from discreet.release.publish.sheets import write_csv
from discreet.synth.build import KIND, Build, facts_of
from discreet.synth.children.table import JoinedTable
from discreet.synth.drawn import Codes
from discreet.synth.opened import opened_table
from discreet.synth.plan import SynthPlan
from discreet.synth.saved.description import (
    description_of,
    plan_from_json,
    receipt_of,
    require_description,
)
from discreet.synth.saved.pages import require_unpacked
from discreet.synth.saved.parts import most_number_bytes, require_parts, units_of
from discreet.synth.saved.rows import (
    arrow_schema,
    codes_of,
    most_bytes,
    require_rows,
    require_schema,
    require_units,
)
from discreet.synth.subject import Subject
from discreet.synth.synthetic import SyntheticTable, synthetic_of
from discreet.table import Table

SUFFIXES = (".parquet", ".csv")
LARGEST = 2**32  # bytes of a file
# A pass counts 2^20 numbers at most, and what is released has three: 25 MB, 40 MB in base 64 with its head, beside the
# public values of as many cells.  Read as JSON an item takes 70 bytes, of which a letter or two may be written.
LARGEST_FACTS, MOST_ITEMS = 2**26, 2**22  # letters of its metadata, and items
LARGEST_NUMBERS = 2**27  # bytes of the released numbers, unpacked with their head
_HEAD_ITEMS, _CELL_ITEMS = 2**20, 6  # of that head: a cell is a public value and has up to four groups
MOST_CELLS = 2**30  # rows times columns that are read
_KEY = b"discreet"
_ROWS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class LoadedBuild(Build):
    """A build whose rows were read from a file."""

    rows_read: Codes

    @property
    def codes(self) -> Codes:
        """The rows of the file."""
        return self.rows_read


# --- writing ---------------------------------------------------------------------------------------------------------


def save(table: SyntheticTable, place: str | Path, *, replace: bool = False) -> Path:
    """Write a table to .parquet or .csv: never onto an input, and onto another file only with `replace`."""
    path = Path(place)
    _require_single(table)
    toml = None if table.table is None else table.table.toml
    if path.suffix.lower() not in SUFFIXES:
        fix = "Give a name such as synthetic.parquet."
        raise bad("output", "must be a file ending in .parquet or .csv", str(path), fix)
    require_free(path, replace=replace, toml=toml)
    arrow = table.to_arrow()
    try:
        with outputs.replacing(path, toml) as draft:
            if path.suffix.lower() == ".csv":
                write_csv(arrow.replace_schema_metadata(None), draft)
            else:
                _write_parquet(arrow, metadata_of(table), draft)
    except OSError:
        why = "Its folder is not there, may not be written, or the disk is full."
        fix = "Give another name; the table is still in memory."
        raise CannotWrite(f"The table could not be written to {str(path)!r}.", why, fix) from None
    return path


def metadata_of(table: SyntheticTable) -> str:
    """The text under the key `discreet`."""
    build = table.build
    stored = Envelope(KIND, envelope.version(), facts_of(build.plan), build.parts).to_bytes()
    facts = {**description_of(table), "released": base64.b64encode(stored).decode("ascii")}
    return _text({**facts, "sha256": _digest(facts, table.codes)})


def _write_parquet(arrow: Any, metadata: str, place: Path) -> None:
    from pyarrow import parquet  # type: ignore[import-untyped]

    plain = arrow.replace_schema_metadata(None)
    with parquet.ParquetWriter(str(place), plain.schema, compression="zstd", version="2.6") as writer:
        writer.write_table(plain, row_group_size=_ROWS_AT_ONCE)
        writer.add_key_value_metadata({_KEY.decode(): metadata})


def _text(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest(facts: Mapping[str, Any], codes: Codes) -> str:
    """The SHA-256 of the facts and the rows; values follow from codes and released numbers."""
    digest = hashlib.sha256(_text(facts).encode("ascii"))
    for column in (*codes.columns, *([] if codes.units is None else [codes.units])):
        digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    return digest.hexdigest()


# --- reading ---------------------------------------------------------------------------------------------------------


def load(place: str | Path, people: Any = None) -> SyntheticTable:
    """The synthetic table in a .parquet file; `people` is the dataset that it is of, which `check` asks.

    Nothing but a check needs the private table: answers, replicates and pages are made of released numbers.
    """
    path, table = Path(place), None if people is None else _table_of(people)
    require_plain_file(path)
    stated, loaded = _facts_and_table(path)
    if table is not None:
        _require_same_facts(loaded.build.plan.subject, table)
    is_invented = stated.get("rehearsal") is True
    if is_invented is not (table is not None and table.is_rehearsal):
        raise _other_rows(is_invented)
    return loaded if table is None else synthetic_of(table, _with_schema(loaded.build, table))


def _with_schema(build: Build, table: Table) -> Build:
    """The build with all public facts of the table at hand, of which the file has those that it uses."""
    return replace(build, plan=replace(build.plan, subject=replace(build.plan.subject, schema=table.schema)))


def _facts_and_table(path: Path) -> tuple[Mapping[str, Any], SyntheticTable]:
    """What a file states and the table in it; refused with the same words wherever anything does not agree."""
    import pyarrow
    from pyarrow import parquet

    reading = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError, OSError)
    try:
        with parquet.ParquetFile(str(path)) as file:
            stated = _facts(file.metadata.metadata)
            return stated, _table_of_file(stated, file, path)
    except (*reading, IntegrityError, MemoryError, pyarrow.ArrowException):
        pass
    why = "It was edited, or its facts, rows and numbers make no table that this Discreet knows."
    fix = "Fetch the file again, or build the table again: an equal build costs nothing."
    raise IntegrityError("This is no whole file of a synthetic table.", why, fix)


def _facts(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Any]:
    text = (metadata or {})[_KEY]
    if len(text) > LARGEST_FACTS or items_at_most(text) > MOST_ITEMS:
        raise Unlike("the facts are too long")
    facts = json.loads(text)
    if not isinstance(facts, dict):
        raise Unlike("there are no facts")
    if "synthetic tables" in facts:
        raise _two_tables()
    return facts


def _table_of_file(stated: Mapping[str, Any], file: Any, path: Path) -> SyntheticTable:
    """The table that facts and rows make; ValueError where they do not agree."""
    plan, receipt = plan_from_json(stated), receipt_of(stated)
    parts = _parts(stated["released"], plan)
    require_parts(plan, parts)
    subject, is_invented = plan.subject, stated.get("rehearsal") is True
    schema = arrow_schema(subject)
    require_schema(file.schema_arrow, schema, is_invented)
    units = units_of(plan, parts)
    _require_small(plan, units * subject.schema.max_rows, file.metadata, path)
    arrow = file.read(columns=schema.names) if is_invented else file.read()
    codes = codes_of(subject.columns, unit(subject.schema) if subject.is_shared else None, subject.limit.rows, arrow)
    require_units(subject, units, codes)
    loaded = synthetic_of(None, LoadedBuild(plan, parts, receipt, True, codes))
    if stated["sha256"] != _digest({name: fact for name, fact in stated.items() if name != "sha256"}, codes):
        raise Unlike("bytes were changed")
    require_rows(subject.columns, loaded.to_arrow(), arrow)
    require_description(loaded, {name: fact for name, fact in stated.items() if name not in ("released", "sha256")})
    return loaded


def _require_small(plan: SynthPlan, rows: int, metadata: Any, path: Path) -> None:
    """Refuses more rows than the plan gives, and more bytes, unpacked, than so many rows take as they are written."""
    pieces = [metadata.row_group(place).num_rows for place in range(metadata.num_row_groups)]
    if metadata.num_rows > rows or metadata.num_rows * metadata.num_columns > MOST_CELLS:
        raise Unlike("there are too many rows")
    if len(pieces) > metadata.num_rows // _ROWS_AT_ONCE + 1 or min(pieces, default=0) < 0:
        raise Unlike("the rows are in pieces")
    if sum(pieces) != metadata.num_rows:
        raise Unlike("the pieces have other rows")
    require_unpacked(path, metadata, most_bytes(plan.subject.columns, metadata.num_rows, len(pieces)))


def _parts(released: str, plan: SynthPlan) -> tuple[Part, ...]:
    """The parts in that text, unpacked only as far as they may reach, and parsed where the plan has so many cells."""
    stored = base64.b64decode(released, validate=True)
    unpacking = zlib.decompressobj()
    body = unpacking.decompress(stored[len(envelope.HEAD) :], LARGEST_NUMBERS)
    head, cells = body.find(b"\n"), sum(plan.subject.sizes)
    if not unpacking.eof or len(body) - head > most_number_bytes(plan):
        raise Unlike("there are too many numbers")
    if head < 0 or items_at_most(body[:head]) > _HEAD_ITEMS + _CELL_ITEMS * cells:
        raise Unlike("the head of the numbers is too long")
    return envelope.from_bytes(stored, KIND).parts


def items_at_most(text: bytes) -> int:
    """No fewer than the lists, objects, texts and numbers in a JSON text.

    >>> items_at_most(b'{"a":[1,2,{}]}')
    7
    """
    return 1 + sum(map(text.count, (b",", b":", b"[", b"{")))


# --- guards ----------------------------------------------------------------------------------------------------------


def require_plain_file(path: Path) -> None:
    """Refuses what is no plain file of at most 4 GiB, and a CSV, which holds no promise."""
    if path.suffix.lower() == ".csv":
        rule, fix = "must be the .parquet of a table: a CSV holds its rows alone", "Save it as .parquet: it is free."
        raise bad("synthetic file", rule, str(path), fix)
    is_plain = False
    with contextlib.suppress(OSError, ValueError):
        seen = path.stat()
        is_plain = stat.S_ISREG(seen.st_mode) and seen.st_size <= LARGEST
    if not is_plain:
        fix = "Give a file that a synthetic table was saved to, by its path from here."
        raise bad("synthetic file", "must be a plain file of at most 4 GiB that is there", str(path), fix)


def _require_single(table: SyntheticTable) -> None:
    """Refuses two tables in one file."""
    if isinstance(table.table, JoinedTable):
        why, fix = (
            "Their rows belong to different files.",
            "Write each by itself: to_arrow(), and that of its children.",
        )
        raise NotAnswerable("Two synthetic tables are not saved as one.", why, fix)


def _two_tables() -> NotAnswerable:
    """The refusal of a file that `children.files` wrote."""
    why = "It is one of two, units and their rows, which any reader of Parquet joins by the unit's number."
    fix = "Read both with pandas.read_parquet, or build them again: an equal build costs nothing."
    return NotAnswerable("A file of two synthetic tables is not loaded.", why, fix)


def _table_of(people: Any) -> Table:
    """The table behind a dataset."""
    table = opened_table(people)
    if table is None:
        raise bad("people", "must be an open dataset", people, 'Give it, as in load("synthetic.parquet", people).')
    return table


def _require_same_facts(subject: Subject, table: Table) -> None:
    """Refuses a dataset with other public facts: another table, or the same with another unit or other columns."""
    own, theirs = (
        used_schema_json(schema, subject.column_names, subject.where) for schema in (subject.schema, table.schema)
    )
    if own != theirs:
        fix = "Give the dataset that it was built from, with the metadata of that time, or load it without one."
        raise bad(
            "people", "must have the public facts that the synthetic table was built with", table.schema.name, fix
        )


def _other_rows(is_invented: bool) -> BadValue:
    """The refusal where either the file or the dataset, and not both, is of a rehearsal."""
    if is_invented:
        what, why = "The synthetic table is of a REHEARSAL.", "Its rows are like invented ones, the dataset is real."
        fix = "Give the rehearsal: load(place, dp.open(…, rehearsal=True)), or --rehearse at the command line."
        return BadValue(what, why, fix)
    what, why = "The synthetic table is not of the rehearsal.", "Its rows are like private ones, these are invented."
    return BadValue(what, why, "Build a table in the rehearsal, or leave the rehearsal out.")
