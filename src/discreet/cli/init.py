"""`discreet init`: a first metadata file from a CSV's header and six answers.  Reads no row."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import questions
from discreet.cli.check import picture
from discreet.cli.questions import Answers
from discreet.cli.reply import AsJson, Reply, envelope
from discreet.errors import BadValue, CannotWrite, bad
from discreet.metadata import Gap, Metadata, dumps, gaps, header, parse, write
from discreet.schema import Schema


@dataclass(frozen=True)
class Draft:
    """The file to write, its text, what the text means and what it leaves open."""

    file: Path
    text: str
    metadata: Metadata
    gaps: tuple[Gap, ...]
    undeclared: tuple[str, ...]


def init(
    data: Annotated[Path, typer.Argument(metavar="CSV", help="The private table; only its header is read.")],
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Whose row it is: who is protected.")] = None,
    max_rows: Annotated[str | None, typer.Option(metavar="N", help="Rows of one unit that may count.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="age:integer:0:110 or region:category:north|south; repeat.")
    ] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Levels that nest: geo:country>region>ward; repeat.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", "--eps", metavar="ε", help="The whole budget.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="δ", help="Its δ, such as 1e-7.")] = None,
    neighbours: Annotated[str, typer.Option(metavar="NAME", help="add-remove or replace-one.")] = "add-remove",
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What questions call the table.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="TOML", help="The file to write.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; replace the file if it is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the file instead of writing it.")] = False,
    json: AsJson = False,
) -> Reply:
    """Write the metadata of a table: reads only its header, asks six questions on a terminal.

    Example: discreet init people.csv --unit person_id --max-rows 5 --column age:integer:0:110 --epsilon 3
    """
    file = _file(output, data)
    if file.exists() and not (yes or dry_run):
        raise _taken(file)
    given = Answers(unit, max_rows, tuple(column or ()), tuple(hierarchy or ()), epsilon, delta)
    names = _names(data, given)
    if not (yes or json) and sys.stdin.isatty() and sys.stderr.isatty():
        given = questions.asked(given, names)
    draft = _draft(given, data, file, names=names, neighbours=neighbours, called=name)
    if not dry_run:
        _save(draft, write.replace if yes else write.create)
    return Reply(_data(draft, dry_run), lambda: _drawn(draft, dry_run))


def _file(output: Path | None, data: Path) -> Path:
    if output is None and not data.stem:
        raise bad("CSV", "must be the name of a file", str(data), "Write, for example: discreet init people.csv")
    file = data.with_suffix(".toml") if output is None else output
    if file.suffix.lower() != ".toml":
        raise bad("output", "must end in .toml", str(file), f"Write: -o {file.stem or 'people'}.toml")
    if not file.parent.is_dir():
        raise bad("output", "must lie in a folder that exists", str(file), f"Make it first: mkdir -p {file.parent}")
    return file


def _taken(file: Path) -> BadValue:
    return bad("output", "must not be there yet", str(file), "Add --yes to replace it, or another name: -o new.toml")


def _names(data: Path, given: Answers) -> tuple[str, ...] | None:
    """The header of a CSV; None for another format whose columns were given as flags."""
    if given.columns and data.suffix.lower() not in header.SUFFIXES:
        return None
    return header.names(data)


def _draft(
    given: Answers, data: Path, file: Path, *, names: tuple[str, ...] | None, neighbours: str, called: str | None
) -> Draft:
    columns = tuple(map(questions.column, given.columns))
    protected = questions.unit(given)
    wanted = [*(one.name for one in columns), *([protected.key] if protected else [])]
    questions.require_there(wanted, names)
    schema = Schema(
        _called(data) if called is None else called,
        columns,
        protected,
        neighbours,  # type: ignore[arg-type]
        hierarchies=tuple(map(questions.hierarchy, given.hierarchies)),
    )
    said = frozenset({"budget.delta"} if given.delta is not None else ())
    source = Path(os.path.relpath(data, file.parent)).as_posix()
    metadata = Metadata(schema, questions.budget(given), source, file.parent, said=said)
    declared = {name.casefold() for name in wanted}
    undeclared = tuple(name for name in names or () if name.casefold() not in declared)
    text = dumps(metadata, undeclared)
    parse(text, file=file.name, folder=file.parent)  # a file that could not be read back is never written
    return Draft(file, text, metadata, gaps(metadata, names), undeclared)


def _called(data: Path) -> str:
    """The file's name as a plain word that SQL needs no quotes for."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in data.stem)[:60]
    return plain if plain.isidentifier() else f"t_{plain}"


def _save(draft: Draft, write_text: Any) -> None:
    try:
        write_text(draft.file, draft.text)
    except FileExistsError:
        raise _taken(draft.file) from None
    except OSError:
        fix = "Check that you may write there and that the disk is not full, or give another name: -o new.toml"
        raise CannotWrite("The metadata was not written.", f"The file is {str(draft.file)!r}.", fix) from None


def _next(draft: Draft) -> list[str]:
    return [f"discreet check {draft.file}"]


def _data(draft: Draft, dry_run: bool) -> dict[str, Any]:
    return envelope(
        dataset=draft.metadata.schema.name,
        file=None if dry_run else str(draft.file),
        text=draft.text,
        undeclared=list(draft.undeclared),
        gaps=[gap.as_json() for gap in draft.gaps],
        next=_next(draft),
    )


def _drawn(draft: Draft, dry_run: bool) -> Any:
    from rich.console import Group
    from rich.text import Text

    if dry_run:
        return _pasteable(draft.text.rstrip())
    following = "\n".join(["", "Next:", *(f"  {line}" for line in _next(draft))])
    return Group(Text(f"Written: {draft.file}\n"), picture(draft.metadata, draft.gaps), _pasteable(following))


def _pasteable(lines: str) -> Any:
    """Lines to copy: a file's name may be longer than a terminal is wide, and a broken command does not run."""
    from rich.text import Text

    return Text(lines, no_wrap=True, overflow="ignore")
