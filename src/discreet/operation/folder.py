"""Check and publish a built release in its folder.  Reads no private table."""

import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import IntegrityError, bad, fixed_by
from discreet.fix import UNKNOWN, Fix
from discreet.operation.dataset import require_metadata_file
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.release.read import Checked
    from discreet.schema import Schema


@dataclass(frozen=True)
class BuiltCall:
    """A built release, and the folder where it is published."""

    metadata: Path
    folder: Path | None = None
    output: Path | None = None
    replaces: bool = False  # what is in that folder

    @property
    def release_folder(self) -> Path:
        """The folder of the release."""
        return built_folder(self.metadata) if self.folder is None else self.folder


def built_folder(metadata: Path) -> Path:
    """The default folder of a built release, beside the metadata."""
    return metadata.parent / f"{metadata.stem}.release"  # a name that no file can have is refused by its reader


def check(call: BuiltCall) -> "Reply[Checked]":
    """Check a built release against every rule; the reply has a problem where it breaks one."""
    from discreet.release import read

    schema, folder = _schema(call.metadata), call.release_folder
    _require_built(folder, call.metadata)
    with fixed_by(_rebuild(call.metadata), IntegrityError):
        checked = read.check_release(folder, schema)
    facts, problems = checked.facts, checked.problems
    data = {
        "dataset": schema.name,
        "receipt": facts.get("receipt"),
        "folder": str(folder),
        "violations": checked.violations,
        "problems": list(problems),
    }
    if not problems:
        cost = {name: facts.get(name) for name in ("epsilon", "delta", "neighbours", "unit")}
        caveats = facts.get("caveats", [])
        return Reply(envelope(**data, cost=cost, levels=facts.get("levels"), caveats=caveats), checked)
    more = f" ({len(problems) - 1:,} more)" if len(problems) > 1 else ""
    error = IntegrityError("The release does not check.", f"{problems[0]}{more}", _rebuild(call.metadata))
    return Reply({"format": 1} | data, checked, problem=error)


def publish(call: BuiltCall) -> Reply[list[Path]]:
    """Write everything that is published, made from the built folder alone."""
    from discreet.release.publish import files

    metadata, folder = call.metadata, call.release_folder
    out = metadata.parent / f"{metadata.stem}.published" if call.output is None else call.output
    files.require_harmless(out, files.PUBLISHED, metadata)
    schema = _schema(metadata)
    _require_built(folder, metadata)
    _require_free(out, replaces=call.replaces, fix="Add --yes to replace it, or give another folder after -o.")
    with fixed_by(_rebuild(metadata), IntegrityError):
        written = files.publish(folder, schema, out, replace=call.replaces, toml=metadata)
    paths = [out / path.name for path in written]
    return Reply(envelope(dataset=schema.name, folder=str(out), files=[str(path) for path in paths]), paths)


def following(metadata: Path, folder: Path) -> tuple[Fix, ...]:
    """The operations that can follow on a built release."""
    arguments = {"metadata": str(metadata)} | ({} if folder == built_folder(metadata) else {"folder": str(folder)})
    return tuple(Fix("Next:", f"release {verb}", arguments) for verb in ("check", "publish"))


# --- guards ----------------------------------------------------------------------------------------------------------


def require_writable(folder: Path, *, replaces: bool) -> None:
    """Refuses, before anything is spent, a folder that could not be written afterwards."""
    _require_free(folder, replaces=replaces, fix="Add --yes to replace what is in it, or give another folder after -o.")
    if find_spec("pyarrow") is None:
        raise bad("output", "needs the package pyarrow", str(folder), "Install discreet[release].")


def _require_free(folder: Path, *, replaces: bool, fix: str) -> None:
    """Refuses a folder that could not be made, and one that holds a release unless that may be replaced."""
    from discreet.release.publish.files import PUBLISHED

    _require_usable(folder, "output")
    if not folder.absolute().parent.is_dir():
        make = f"Make it first: mkdir -p {shlex.quote(str(folder.parent))}"
        raise bad("output", "must lie in a folder that exists", str(folder), make)
    if folder.exists() and not folder.is_dir():
        raise bad("output", "must be a folder", str(folder), "Give another name after -o.")
    if not replaces and any((folder / name).exists() for name in PUBLISHED):
        raise bad("output", "must not hold a release yet", str(folder), fix)


def _require_built(folder: Path, metadata: Path) -> None:
    """Refuses a folder without a release, with the call that builds one."""
    _require_usable(folder, "DIR")
    if not (folder / "release.json").is_file():
        fix = Fix("Build one first:", "release build", {"metadata": str(metadata), "epsilon": "1"})
        raise bad("DIR", "must be the folder of a built release", str(folder), fix)


def _require_usable(folder: Path, flag: str) -> None:
    """Refuses a name that no folder can have, or that lies where nobody may look."""
    try:
        (folder / "release.json").lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError):
        rule, fix = "must be the name of a folder that you may use", "Give a shorter name, in a folder of your own."
        raise bad(flag, rule, str(folder), fix) from None


def _rebuild(metadata: Path) -> Fix:
    words = "Build it again with the flags it was built with, which costs nothing while the table is as it was:"
    return Fix(words, "release build", {"metadata": str(metadata), "flags": UNKNOWN, "yes": True})


def _schema(metadata: Path) -> "Schema":
    from discreet.metadata import load

    require_metadata_file(metadata)
    return load(metadata).schema
