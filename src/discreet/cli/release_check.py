"""`discreet release check`: a built release read back and held against the tree.  Reads no private table."""

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import Toml
from discreet.cli.fixes import refitted
from discreet.cli.places import require_metadata_file
from discreet.cli.release_asking import Folder, default_folder, require_usable
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new
from discreet.errors import IntegrityError, bad

if TYPE_CHECKING:
    from discreet.release.read import Checked
    from discreet.schema import Schema

_SHOWN = 20


def check(
    metadata: Toml, folder: Folder = None, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Whether a built release keeps every rule: sums, signs, margins.

    Every place must be there once and be the sum of those in it, every number whole and not negative, every ± as
    planned, every file as it was written. If anything fails, the exit code is 6.

    Example: discreet release check people.toml
    """
    from discreet.release import read

    require_new(output, yes, metadata)
    schema, place = known(metadata), folder or default_folder(metadata)
    require_built(place, metadata)
    with rebuilt(metadata):
        found = read.checked(place, schema)
    code = IntegrityError.exit if found.problems else 0
    return Reply(
        _data(found, schema, metadata, place),
        lambda: _picture(found, place),
        output,
        exit=code,
        replace=yes,
        toml=metadata,
    )


def known(toml: Path) -> "Schema":
    """The public facts."""
    from discreet import metadata

    require_metadata_file(toml)
    return metadata.load(toml).schema


def require_built(folder: Path, toml: Path) -> None:
    """Refuses a folder without a release, with the command that makes one."""
    require_usable(folder, "DIR")
    if not (folder / "release.json").is_file():
        fix = f"Build one first: {shlex.join(['discreet', 'release', 'build', str(toml), '--eps', '1'])}"
        raise bad("DIR", "must be the folder of a built release", str(folder), fix)


@contextlib.contextmanager
def rebuilt(toml: Path) -> Iterator[None]:
    """What cannot be read or does not check ends with the command that builds it again."""
    try:
        yield
    except IntegrityError as error:
        raise refitted(error, _fix(toml)) from None


def _data(found: "Checked", schema: "Schema", toml: Path, folder: Path) -> dict[str, Any]:
    facts = found.facts
    said = {
        "dataset": schema.name,
        "receipt": facts.get("receipt"),
        "folder": str(folder),
        "violations": found.violations,
        "problems": list(found.problems),
    }
    if not found.problems:
        cost = {name: facts.get(name) for name in ("epsilon", "delta", "neighbours", "unit")}
        return envelope(**said, cost=cost, levels=facts.get("levels"), caveats=facts.get("caveats", []))
    more = f" ({len(found.problems) - 1:,} more)" if len(found.problems) > 1 else ""
    error = IntegrityError("The release does not check.", f"{found.problems[0]}{more}", _fix(toml))
    return error.as_json() | {"format": 1} | said


def _fix(toml: Path) -> str:
    again = f"discreet release build {shlex.quote(str(toml))} … --yes"
    return f"Build it again with the flags it was built with, which costs nothing: {again}"


def _picture(found: "Checked", folder: Path) -> Any:
    from rich.text import Text

    facts = found.facts
    if not found.problems:
        places, cells, levels = facts["places"], facts["cells"], len(facts["levels"])
        numbers = f"{places * cells:,} numbers of {places:,} places on {levels} levels"
        rules = "\n".join(f"{name:<10} {count}" for name, count in found.violations.items())
        return Text(f"{folder}: {numbers}, every rule is kept.\n\nrule       broken\n{rules}")
    told = [f"  {problem}" for problem in found.problems[:_SHOWN]]
    if len(found.problems) > _SHOWN:
        told.append(f"  … and {len(found.problems) - _SHOWN} more: see --json.")
    return Text("\n".join([f"{folder}: the release does not check.", "", *told]))
