"""Files of two synthetic tables: units under the name that was given, and their rows beside them.

    synthetic.parquet            units, and in the metadata `discreet` what was promised, measured and released
    synthetic.visits.parquet     their rows, and the same promise

Any reader of Parquet joins them by the unit's number.  They are not read back as tables of Discreet: an equal build
costs nothing and gives the same rows.
"""

import base64
import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from discreet import durable, envelope, outputs
from discreet.envelope import Envelope
from discreet.errors import CannotWrite, bad
from discreet.learn.fit import price_json
from discreet.learn.saved.file import require_free
from discreet.release.publish.sheets import write_csv
from discreet.synth.build import KIND, facts_of

if TYPE_CHECKING:
    from discreet.synth.children.tables import SyntheticTables

SUFFIXES = (".parquet", ".csv")
KEY = "discreet"


def save_both(tables: "SyntheticTables", place: str | Path, *, replace: bool = False) -> Path:
    """Write units to that file and rows beside it; refused, before anything is written, where either is in the way."""
    path, tomls = Path(place), _tomls(tables)
    if path.suffix.lower() not in SUFFIXES:
        fix = "Give a name such as synthetic.parquet."
        raise bad("output", "must be a file ending in .parquet or .csv", str(path), fix)
    ((name, rows),) = tables.children.items()
    files = {path: tables.to_arrow(), child_place(path, name): rows.to_arrow()}
    for target in files:
        for toml in tomls:
            require_free(target, replace=replace, toml=toml)
    _require_plain(*files)
    _write(files, _text(tables, [str(file.name) for file in files]))
    return path


def child_place(path: Path, name: str) -> Path:
    """Where the rows of that name lie beside units.

    >>> child_place(Path("out/synthetic.parquet"), "visits").name
    'synthetic.visits.parquet'
    """
    return path.parent / f"{path.stem}.{name}{path.suffix}"


def _tomls(tables: "SyntheticTables") -> list[Path]:
    from discreet.synth.children.table import JoinedTable

    table = tables.table
    if not isinstance(table, JoinedTable):
        raise TypeError
    return [table.persons.toml, table.rows.toml]


def _require_plain(units: Path, rows: Path) -> None:
    """Refuses a folder, a device or a pipe, and two names of one file: two tables are put in place whole, or not."""
    for target in (units, rows):
        if os.path.lexists(target) and not target.is_file():
            fix = "Give another name: both tables are written, or none."
            raise bad("output", "must be a plain file, or none yet, for each of two tables", str(target), fix)
    if outputs.is_same_file(units, rows):
        fix = "Give another name, which is no link."
        raise bad("output", "must be two files for two tables", f"{units} and {rows}", fix)


def _write(files: Mapping[Path, Any], text: str) -> None:
    """Write a draft of each beside its place, and put them there when both are whole."""
    current = next(iter(files))
    try:
        with contextlib.ExitStack() as folders:
            drafts = dict[Path, Path]()
            for current, arrow in files.items():
                place = current.resolve()  # a link stays one
                folder = folders.enter_context(TemporaryDirectory(prefix=".discreet-", dir=place.parent))
                drafts[place] = Path(folder) / place.name
                _write_draft(arrow, text, drafts[place], current.suffix)
            for place, draft in drafts.items():
                if place.is_file():
                    draft.chmod(place.stat().st_mode & 0o777)
                durable.put_in_place(draft, place)
    except OSError:
        why = "Its folder is not there, may not be written, or the disk is full."
        fix = "Give another name; both tables are still in memory."
        raise CannotWrite(f"The table could not be written to {str(current)!r}.", why, fix) from None


def _write_draft(arrow: Any, text: str, draft: Path, suffix: str) -> None:
    plain = arrow.replace_schema_metadata(None)
    if suffix.lower() == ".csv":
        write_csv(plain, draft)
    else:
        _write_parquet(plain, text, draft)


def _write_parquet(arrow: Any, text: str, draft: Path) -> None:
    from pyarrow import parquet  # type: ignore[import-untyped]

    with parquet.ParquetWriter(str(draft), arrow.schema, compression="zstd", version="2.6") as writer:
        writer.write_table(arrow)
        writer.add_key_value_metadata({KEY: text})


def _text(tables: "SyntheticTables", files: list[str]) -> str:
    """What both files say of themselves."""
    build = tables.build
    plan = build.plan
    released = Envelope(KIND, envelope.version(), facts_of(plan), build.parts).to_bytes()
    facts = {
        "synthetic tables": 1,
        "files": files,
        "subject": plan.subject.to_json(),
        "price": price_json(plan.price),
        "options": {"method": plan.method, "max_cells": plan.max_cells, "rows": plan.rows},
        "privacy": tables.privacy_.to_json(),
        "measured": [measurement.to_json() for measurement in tables.measured],
        "released": base64.b64encode(released).decode("ascii"),
        "version": envelope.version(),
    }
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
