"""`discreet check`: what the metadata of a table leaves open, without a look at the table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.reply import AsJson, OutFile, Reply, Yes
from discreet.errors import DiscreetError, MetadataError, bad
from discreet.fix import command_line
from discreet.metadata import Gap, Metadata, gaps, load
from discreet.metadata.header import SUFFIXES, names
from discreet.operation.dataset import require_metadata_file
from discreet.operation.reply import envelope

_SHOWN = 20


def check(
    metadata: Annotated[
        Path, typer.Argument(metavar="TOML", readable=False, help="The metadata file, such as people.toml.")
    ],
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """What the metadata leaves open: each gap with a line to paste.

    Reads no row.

    Example: discreet check people.toml
    """
    require_metadata_file(metadata)
    known = load(metadata)
    _require_apart(output, metadata, known.source_path)
    found = all_gaps(known)
    return Reply(
        _data(known, found, metadata),
        lambda: picture(known, found),
        output,
        exit=_exit(found),
        replace=yes,
        toml=metadata,
    )


def _require_apart(output: Path | None, *kept: Path | None) -> None:
    """Refuses to write the reply over what it is about."""
    for path in kept:
        if output is not None and path is not None and output.exists() and path.exists() and output.samefile(path):
            rule = "must not be the metadata or the table"
            raise bad("output", rule, str(output), "Give another name, for example: -o gaps.txt")


def all_gaps(known: Metadata) -> tuple[Gap, ...]:
    """The gaps of the metadata, a table that cannot be used, and how a CSV's header differs from them."""
    from discreet.engine.source import file

    table = known.source_path
    if table is None:
        return gaps(known)
    try:
        file(table)
        return gaps(known, names(table) if table.suffix.lower() in SUFFIXES else None)
    except DiscreetError as error:
        unusable = Gap("dataset.source", f"{error.what} {error.why}", error.spelt(command_line), blocks=True)
        return (unusable, *gaps(known))


def picture(known: Metadata, found: tuple[Gap, ...]) -> Any:
    """The gaps for people: those that block first."""
    from rich.text import Text

    blocking = sum(gap.blocks for gap in found)
    drawn = Text(f"{known.schema.name}: {_said(len(found), blocking)}\n")
    for gap in found[:_SHOWN]:
        drawn.append("\n")
        drawn.append("must  " if gap.blocks else "may   ", style="bold red" if gap.blocks else "dim")
        drawn.append(f"{gap.where}", style="bold")
        drawn.append(f"\n      {gap.what}\n")
        drawn.append("".join(f"      {line}\n" for line in gap.fix.splitlines()), style="dim")
    if len(found) > _SHOWN:
        drawn.append(f"\n… and {len(found) - _SHOWN} more: see --json.\n")
    drawn.rstrip()
    return drawn


def _said(count: int, blocking: int) -> str:
    if not count:
        return "no gaps. Every fact a question needs is written down."
    counted = "1 gap" if count == 1 else f"{count} gaps"
    if not blocking:
        return f"{counted}, none of which stops a question."
    return f"{counted}, of which {blocking} must be closed before a question can be asked."


def _data(known: Metadata, found: tuple[Gap, ...], file: Path) -> dict[str, Any]:
    first = next((gap for gap in found if gap.blocks), None)
    listed = {"gaps": [gap.to_json() for gap in found], "schema_hash": known.schema.hash}
    if first is None:
        return envelope(dataset=known.schema.name, **listed)
    error = MetadataError(f"{file.name}: {first.where} must be put right.", first.what, first.fix)
    return error.to_json(command_line) | {"format": 1, "dataset": known.schema.name} | listed


def _exit(found: tuple[Gap, ...]) -> int:
    return MetadataError.exit if any(gap.blocks for gap in found) else 0
