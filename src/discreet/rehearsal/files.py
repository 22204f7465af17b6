"""The files of a rehearsed release are made and checked by the real code in another folder, stamped, and put in place.

Every row of a table has a column `rehearsal`, the page, the report and the facts begin with the stamp, and release.json
is of another kind, so that no verb takes the folder for a release.  The files of a real release are never replaced.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import durable
from discreet.errors import BadValue, CannotWrite
from discreet.rehearsal import stamp
from discreet.release.publish import files as real
from discreet.release.publish import tidy
from discreet.release.publish.sheets import write_csv
from discreet.schema.words import toml_value

if TYPE_CHECKING:
    from discreet.rehearsal.releases import RehearsedRelease

KIND = "rehearsal"


def save(release: "RehearsedRelease", folder: Path, *, replace: bool) -> tuple[Path, ...]:
    """Facts, table and measurements, stamped."""
    return _write(release, folder, real.BUILT, replace)


def publish(release: "RehearsedRelease", folder: Path, *, replace: bool) -> tuple[Path, ...]:
    """All that a release is published with, stamped."""
    return _write(release, folder, real.PUBLISHED, replace)


def marked(table: Any) -> Any:
    """An Arrow table with the stamp in every row and first in its metadata."""
    arrow = tidy.pyarrow()
    cells = arrow.array([stamp.CELL] * table.num_rows, arrow.string())
    facts = json.loads((table.schema.metadata or {}).get(b"discreet", b"{}"))
    wider = table.append_column(stamp.free_column(table.column_names), cells)
    return wider.replace_schema_metadata({"discreet": json.dumps(stamp.JSON | facts)})


def _write(release: "RehearsedRelease", folder: Path, names: tuple[str, ...], replace: bool) -> tuple[Path, ...]:
    real.require_harmless(folder, names, release.toml)
    with tempfile.TemporaryDirectory(prefix="discreet-rehearsal-") as scratch:
        built, out = Path(scratch) / "built", Path(scratch) / "published"
        real.save(release, built)
        real.publish(built, release.plan.subject.schema, out)  # which checks what was built
        _stamp(out, names)
        _require_own(folder, replace)
        _put_in_place(out, folder, names)
    return tuple(folder / name for name in names)


def _stamp(folder: Path, names: tuple[str, ...]) -> None:
    """Every file of the published folder, stamped; the facts, which hold the digests of the others, last."""
    from pyarrow import parquet  # type: ignore[import-untyped]

    facts = json.loads((folder / real.FACTS).read_text(encoding="utf-8"))
    of = facts.get("of")
    for stem, note in (("table", "n_of"), ("noisy", "measured_of")):
        table = parquet.read_table(folder / f"{stem}.parquet")
        notes = ({note: of} if of else {}) | {stamp.COLUMN: stamp.CELL}
        write_csv(table, folder / f"{stem}.csv", notes=notes)
        parquet.write_table(marked(table), folder / f"{stem}.parquet", compression="zstd")
    for name, marks in (("index.html", ("<title>", "<header><h1>", '"title":"')), ("report.md", ("# ",))):
        _insert(folder / name, marks)
    digests = {name: {"sha256": real.digest(folder / name)} for name in names if name != real.FACTS}
    stamped = stamp.JSON | facts | {"kind": KIND, "files": digests}
    (folder / real.FACTS).write_text(real.as_json(stamped), encoding="utf-8")


def _insert(file: Path, marks: tuple[str, ...]) -> None:
    """The stamp behind the first of each of these marks, which must be there."""
    text = file.read_text(encoding="utf-8")
    for mark in marks:
        if mark not in text:
            raise ValueError(f"{file.name} has no {mark} for the stamp to follow")
        text = text.replace(mark, mark + stamp.titled(""), 1)
    file.write_text(text, encoding="utf-8")


def _require_own(folder: Path, replace: bool) -> None:
    """Refuses to write over anything but an earlier rehearsal, and over that only if it may be replaced."""
    there = [name for name in real.PUBLISHED if os.path.lexists(folder / name)]
    if not there:
        return
    if not _is_rehearsal(folder):
        why = f"{toml_value(folder.name)} has a {there[0]} that is of no rehearsal."
        raise BadValue("folder must not hold a release.", why, "Give another folder.")
    if not replace:
        fix = "Give another folder, or let it be replaced: replace=True, --yes at the command line."
        raise BadValue("folder must not hold another rehearsal.", f"You gave {toml_value(folder.name)}.", fix)


def _is_rehearsal(folder: Path) -> bool:
    try:
        facts = json.loads((folder / real.FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("kind") == KIND


def _put_in_place(source: Path, folder: Path, names: tuple[str, ...]) -> None:
    """Copy the files to the folder, and remove those of an earlier rehearsal that this one does not have."""
    try:
        with durable.replacing_files(folder, names, remove=real.PUBLISHED) as draft:
            for name in names:
                shutil.copyfile(source / name, draft / name)
    except OSError:
        why, fix = "The disk may be full, or the folder not yours to write.", "Give a folder you own."
        raise CannotWrite(f"The rehearsal was not written to {toml_value(folder.name)}.", why, fix) from None
