"""`discreet check`: list what the metadata of a table leaves open, without reading a row."""

from pathlib import Path
from typing import Any

from discreet.cli.asking import Toml
from discreet.cli.reply import AsJson, OutFile, Reply, Yes
from discreet.errors import DiscreetError, MetadataError, bad
from discreet.fix import command_line
from discreet.metadata import Gap, Metadata, gaps, load
from discreet.metadata.header import SUFFIXES, names
from discreet.operation.dataset import require_metadata_file
from discreet.operation.reply import envelope

_SHOWN = 20


def check(metadata: Toml, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """List what the metadata leaves open, each gap with a line to paste.

    Reads no row.

    Example: discreet check people.toml
    """
    require_metadata_file(metadata)
    facts = load(metadata)
    _require_apart(output, metadata, facts.source_path)
    listed = all_gaps(facts)
    status = MetadataError.exit if any(gap.blocks for gap in listed) else 0
    data, draw = _data(facts, listed, metadata), lambda: picture(facts, listed)
    return Reply(data, draw, output, exit=status, replace=yes, toml=metadata)


def _require_apart(output: Path | None, *inputs: Path | None) -> None:
    """Refuses to write the reply over the metadata or the table."""
    for path in inputs:
        if output is not None and path is not None and output.exists() and path.exists() and output.samefile(path):
            rule = "must not be the metadata or the table"
            raise bad("output", rule, str(output), "Give another name, for example: -o gaps.txt")


def all_gaps(facts: Metadata) -> tuple[Gap, ...]:
    """The gaps of the metadata, also where they differ from a CSV's header, and a table that cannot be used."""
    from discreet.engine.source import file

    table = facts.source_path
    if table is None:
        return gaps(facts)
    try:
        file(table)
        return gaps(facts, names(table) if table.suffix.lower() in SUFFIXES else None)
    except DiscreetError as error:
        unusable = Gap("dataset.source", f"{error.what} {error.why}", error.fix_text(command_line), blocks=True)
        return (unusable, *gaps(facts))


def picture(facts: Metadata, listed: tuple[Gap, ...]) -> Any:
    """The gaps for people: those that block first."""
    from rich.text import Text

    text = Text(f"{facts.schema.name}: {_summary(len(listed), sum(gap.blocks for gap in listed))}\n")
    for gap in listed[:_SHOWN]:
        text.append("\n")
        text.append("must  " if gap.blocks else "may   ", style="bold red" if gap.blocks else "dim")
        text.append(f"{gap.where}", style="bold")
        text.append(f"\n      {gap.what}\n")
        text.append("".join(f"      {line}\n" for line in gap.fix.splitlines()), style="dim")
    if len(listed) > _SHOWN:
        text.append(f"\n… and {len(listed) - _SHOWN} more: see --json.\n")
    text.rstrip()
    return text


def _summary(count: int, blocking: int) -> str:
    if not count:
        return "no gaps. Every fact a question needs is written down."
    counted = "1 gap" if count == 1 else f"{count} gaps"
    if not blocking:
        return f"{counted}, none of which stops a question."
    return f"{counted}, of which {blocking} must be closed before a question can be asked."


def _data(facts: Metadata, listed: tuple[Gap, ...], file: Path) -> dict[str, Any]:
    blocking = next((gap for gap in listed if gap.blocks), None)
    data = {"gaps": [gap.to_json() for gap in listed], "schema_hash": facts.schema.hash}
    if blocking is None:
        return envelope(dataset=facts.schema.name, **data)
    error = MetadataError(f"{file.name}: {blocking.where} must be put right.", blocking.what, blocking.fix)
    return error.to_json(command_line) | {"format": 1, "dataset": facts.schema.name} | data
