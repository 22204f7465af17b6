"""`discreet release publish`: everything that goes out, made from the built folder alone."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.asking import Toml
from discreet.cli.release_asking import Folder, default_folder, require_usable
from discreet.cli.release_check import known, rebuilt, require_built
from discreet.cli.reply import AsJson, Reply, envelope
from discreet.errors import bad

_WHAT = {
    "index.html": "a page to look around in, without any outside request",
    "report.md": "what it is and what it promises, in words",
    "table.csv": "the tables that add up, a row for each number, with its ±",
    "table.parquet": "the same",
    "noisy.csv": "the measurements themselves",
    "noisy.parquet": "the same",
    "release.json": "the facts: cost, noise, shares, method",
}

Out = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="OUT", help="The folder to write; NAME.published by default.")
]


def publish(
    metadata: Toml,
    folder: Folder = None,
    output: Out = None,
    json: AsJson = False,
    yes: Annotated[bool, typer.Option("--yes", help="Replace what is in OUT.")] = False,
) -> Reply:
    """Tables, measurements, a page and a report, ready to share.

    Costs nothing: all of it is made from what was released. A release that does not check is not published.

    Example: discreet release publish people.toml -o published
    """
    from discreet.release.publish import files

    out = metadata.parent / f"{metadata.stem}.published" if output is None else output
    files.require_harmless(out, files.PUBLISHED, metadata)
    schema, place = known(metadata), folder or default_folder(metadata)
    require_built(place, metadata)
    require_usable(out, "output")
    if out.exists() and not out.is_dir():
        raise bad("output", "must be a folder", str(out), "Give another name after -o.")
    if not yes and any((out / name).exists() for name in files.PUBLISHED):
        fix = "Add --yes to replace it, or give another folder after -o."
        raise bad("output", "must not hold a release yet", str(out), fix)
    if not out.absolute().parent.is_dir():
        fix = f"Make it first: mkdir -p {shlex.quote(str(out.parent))}"
        raise bad("output", "must lie in a folder that exists", str(out), fix)
    with rebuilt(metadata):
        made = [out / path.name for path in files.published(place, schema, out, replace=yes, toml=metadata)]
    data = envelope(dataset=schema.name, folder=str(out), files=[str(path) for path in made])
    return Reply(data, lambda: _picture(made))


def _picture(made: list[Path]) -> Any:
    from rich.text import Text

    wide = max(len(str(path)) for path in made)
    lines = [f"{path!s:<{wide}}  {_WHAT.get(path.name, '')}".rstrip() for path in made]
    return Text("\n".join(lines), no_wrap=True, overflow="ignore")
