"""Write the files of a release, all or none, and over another release only if told to.

    save       release.json, table.parquet, noisy.parquet: the built release
    publish    the same, with CSV beside them, a page and a report; made from the built folder alone

Files are written to a folder beside their target and then moved.  release.json is moved last and removed first, so a
folder that has it holds the whole release.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import durable, outputs
from discreet.errors import BadValue, CannotWrite, IntegrityError
from discreet.inert import in_json
from discreet.release.publish import tidy, words
from discreet.release.publish.facts import facts as public_facts
from discreet.release.publish.sheets import write_csv
from discreet.schema import Schema
from discreet.schema.words import toml_value

if TYPE_CHECKING:
    from discreet.release.release import Release

FACTS, TABLE, NOISY = "release.json", "table.parquet", "noisy.parquet"
BUILT = (TABLE, NOISY, FACTS)
PUBLISHED = ("index.html", "report.md", "table.csv", "noisy.csv", *BUILT)
_BLOCK = 1 << 20


def save(release: "Release", folder: Path | str, *, replace: bool = False) -> tuple[Path, ...]:
    """Write the built release, its facts, table and measurements; return the paths."""
    require_harmless(Path(folder), BUILT, release.toml)
    facts = public_facts(release)

    def make(here: Path) -> None:
        _write_parquet(tidy.table(release), here / TABLE, facts)
        _write_parquet(tidy.noisy(release), here / NOISY, facts)
        facts["files"] = {name: {"sha256": digest(here / name)} for name in (TABLE, NOISY)}
        (here / FACTS).write_text(as_json(facts), encoding="utf-8")

    return _place_files(Path(folder), BUILT, make, replace)


def publish(
    folder: Path | str, schema: Schema, out: Path | str, *, replace: bool = False, toml: Path | None = None
) -> tuple[Path, ...]:
    """Write everything that is published and return the paths; refused where the built folder does not check."""
    from discreet.release import read
    from discreet.release.publish.page import page

    require_harmless(Path(out), PUBLISHED, toml)
    source = Path(folder)
    checked, tables = read.read_release(source, schema)
    if checked.problems or tables is None:
        more = f" ({len(checked.problems) - 1:,} more)" if len(checked.problems) > 1 else ""
        why = f"{checked.problems[0]}{more}" if checked.problems else "There is no table in it."
        raise IntegrityError("The release does not check, so nothing was published.", why, "Build it again.")

    def make(here: Path) -> None:
        for name in (TABLE, NOISY):
            shutil.copyfile(source / name, here / name)
        of = checked.facts.get("of")
        write_csv(_parquet(here / TABLE), here / "table.csv", notes=of and {"n_of": of})
        write_csv(_parquet(here / NOISY), here / "noisy.csv", notes=of and {"measured_of": of})
        (here / "index.html").write_text(page(checked.facts, tables), encoding="utf-8")
        (here / "report.md").write_text(words.report(checked.facts), encoding="utf-8")
        written = [name for name in PUBLISHED if name != FACTS]
        facts = checked.facts | {"files": {name: {"sha256": digest(here / name)} for name in written}}
        (here / FACTS).write_text(as_json(facts), encoding="utf-8")

    return _place_files(Path(out), PUBLISHED, make, replace)


def require_harmless(folder: Path, names: tuple[str, ...], toml: Path | None) -> None:
    """Refuse a folder that is an input of a dataset, or in which a file would replace one."""
    for path in (folder, *(folder / name for name in names)):
        outputs.require_harmless(path, toml, flag="folder" if path == folder else f"folder with a {path.name}")


def as_json(facts: dict[str, Any]) -> str:
    """The text of release.json."""
    return in_json(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()


def _write_parquet(table: Any, path: Path, facts: dict[str, Any]) -> None:
    tidy.pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]

    names = ("dataset", "of", "epsilon", "delta", "neighbours", "unit", "level", "receipt")
    marked = table.replace_schema_metadata({"discreet": json.dumps({name: facts[name] for name in names})})
    parquet.write_table(marked, path, compression="zstd")


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


# --- all or none -----------------------------------------------------------------------------------------------------


def _place_files(folder: Path, names: tuple[str, ...], make: Callable[[Path], None], replace: bool) -> tuple[Path, ...]:
    """Let `make` write these files to a draft folder, then move them to the folder; return their paths."""
    folder = folder.absolute()
    try:
        with durable.replacing_files(folder, names) as draft:
            make(draft)
            _require_own(folder, draft, names, replace)
    except OSError:
        why = "The disk may be full, or the folder not yours to write."
        fix = "Free some space, or give a folder you own."
        raise CannotWrite(
            f"The files of the release were not written to {toml_value(folder.name)}.", why, fix
        ) from None
    return tuple(folder / name for name in names)


def _require_own(folder: Path, draft: Path, names: tuple[str, ...], replace: bool) -> None:
    """Refuse to write over anything but the same release."""
    there = [name for name in names if os.path.lexists(folder / name)]
    if replace or not there or _same(folder / FACTS, draft / FACTS):
        return
    what = "folder must not hold another release."
    why = f"{toml_value(folder.name)} has a {there[0]} that is not of this one."
    raise BadValue(what, why, "Give another folder, or let it be replaced: replace=True, --yes at the command line.")


def _same(left: Path, right: Path) -> bool:
    with suppress(OSError):
        return left.read_bytes() == right.read_bytes()
    return False
