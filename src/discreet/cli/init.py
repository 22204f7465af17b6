"""`discreet init`: a first metadata file from a CSV's header and a few answers.  Reads no row."""

import os
import shlex
import stat
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import amounts, durable, outputs
from discreet.cli import questions
from discreet.cli.check import picture
from discreet.cli.questions import Answers
from discreet.cli.reply import AsJson, Reply
from discreet.errors import BadValue, CannotWrite, SourceUnavailable, bad
from discreet.fix import Fix, command_line
from discreet.metadata import Gap, Metadata, dumps, gaps, header, parse
from discreet.operation.dataset import mode
from discreet.operation.reply import envelope
from discreet.relation import Relation
from discreet.schema import Schema
from discreet.schema.words import written


@dataclass(frozen=True)
class Draft:
    """The file to write, its text, what the text means, what it leaves open, and a command that leaves less open."""

    file: Path
    text: str
    metadata: Metadata
    gaps: tuple[Gap, ...]
    undeclared: tuple[str, ...]
    caveats: tuple[str, ...] = ()
    fuller: str | None = None


def init(
    data: Annotated[
        Path, typer.Argument(metavar="CSV", readable=False, help="The private table; only its header is read.")
    ],
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Whose row it is: who is protected.")] = None,
    max_rows: Annotated[str | None, typer.Option(metavar="N", help="Rows of one unit that may count.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help="age:integer:0:110 or 'region:category:north|south'; repeat."),
    ] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Levels that nest: 'geo:country>region>ward'; repeat.")
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
    """Write the metadata of a table from its header and a few answers.

    Reads no row; asks on a terminal for what the flags leave open.

    Example: discreet init people.csv --unit person_id --max-rows 5 --column age:integer:0:110 --epsilon 3
    """
    file = _file(output, data)
    _require_harmless(file, data)
    if file.exists() and not (yes or dry_run):
        raise _taken(file)
    given = Answers(unit, max_rows, tuple(column or ()), tuple(hierarchy or ()), epsilon, delta)
    given = replace(given, before=_before(data, output=output, name=name, neighbours=neighbours))
    called = questions.plain_name(data.stem) if name is None else questions.called(name)
    related = questions.relation(neighbours)
    names = _names(data, given)
    silent = "of --yes" if yes else "of --json" if json else "there is no terminal"
    if not (yes or json) and sys.stdin.isatty() and sys.stderr.isatty():
        given, silent = questions.asked(given, names), ""
    draft = _draft(given, data, file, names=names, related=related, called=called)
    draft = _noted(draft, given, names=names, silent=silent)
    if not dry_run:
        _save(draft, replace_old=yes)
    return Reply(_data(draft, dry_run), lambda: _drawn(draft, dry_run))


def _file(output: Path | None, data: Path) -> Path:
    if output is None and not data.stem:
        fix = Fix("Write, for example:", "init", {"table": "people.csv"})
        raise bad("CSV", "must be the name of a file", str(data), fix)
    file = data.with_suffix(".toml") if output is None else output
    if file.suffix.lower() != ".toml":
        raise bad("output", "must end in .toml", str(file), f"Write: -o {shlex.quote(f'{file.stem}.toml')}")
    if not file.parent.is_dir():
        raise bad(
            "output",
            "must lie in a folder that exists",
            str(file),
            f"Make it first: mkdir -p {shlex.quote(str(file.parent))}",
        )
    return file


def _require_harmless(file: Path, data: Path) -> None:
    """Refuses to write over an input, metadata too unless they are of this very table and nothing was charged yet."""
    if _is_same(file, data):
        raise bad("output", f"must not replace {outputs.TABLE}", str(file), "Give another name: -o new.toml")
    if outputs.input_kind(file) != outputs.METADATA:
        outputs.require_harmless(file)
        return
    sources = outputs.sources(file)
    if sources is None:
        return
    ledger = file.with_suffix(".ledger")
    if ledger.exists() and ledger.stat().st_size > 0:
        rule, fix = "must not replace metadata that a ledger stands on", "Edit them, or give another name: -o new.toml"
        raise bad("output", rule, str(file), fix)
    if file.is_file() and not any(_is_same(source, data) for source in sources):
        rule, fix = "must not replace the metadata of another table", "Give another name: -o new.toml"
        raise bad("output", rule, str(file), fix)


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _before(data: Path, *, output: Path | None, name: str | None, neighbours: str) -> dict[str, Any]:
    """The arguments before the answers, as they were typed."""
    unusual = None if neighbours == Relation.ADD_REMOVE else neighbours
    return {"table": str(data), "name": name, "neighbours": unusual, "output": output}


def _taken(file: Path) -> BadValue:
    return bad("output", "must not be there yet", str(file), "Add --yes to replace it, or another name: -o new.toml")


def _names(data: Path, given: Answers) -> tuple[str, ...] | None:
    """The header of a CSV; None for another format whose columns were given as flags."""
    _require_no_device(data)
    if given.columns and data.suffix.lower() not in header.SUFFIXES:
        return None
    return header.names(data)


def _require_no_device(table: Path) -> None:
    """Refuses a table that is a device or a socket; of a pipe only the header is taken."""
    if mode(table) not in (None, stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO):
        why = f"You gave {written(table.name)}, which is a device or a socket."
        raise SourceUnavailable("The table must be a file.", why, "Save it to a file, such as people.csv.")


def _draft(
    given: Answers, data: Path, file: Path, *, names: tuple[str, ...] | None, related: Relation, called: str
) -> Draft:
    columns = tuple(map(questions.column, given.columns))
    wanted = [*([] if given.unit is None else [given.unit]), *(one.name for one in columns)]
    questions.require_there(wanted, names)
    protected = questions.unit(given, names)
    nested = tuple(map(questions.hierarchy, given.hierarchies))
    questions.require_there([one.levels[-1] for one in nested], names)
    questions.require_together(columns, protected, nested)
    schema = Schema(called, columns, protected, related, hierarchies=nested)
    said = frozenset({"budget.delta"} if given.delta is not None else ())
    source = Path(os.path.relpath(data, file.parent)).as_posix()
    metadata = Metadata(schema, questions.budget(given), source, file.parent, said=said)
    declared = {name.casefold() for name in wanted}
    undeclared = tuple(name for name in names or () if name.casefold() not in declared)
    text = dumps(metadata, undeclared)
    parse(text, file=file.name, folder=file.parent)  # a file that could not be read back is never written
    return Draft(file, text, metadata, gaps(metadata, names), undeclared)


def _noted(draft: Draft, given: Answers, *, names: tuple[str, ...] | None, silent: str) -> Draft:
    """The draft, and where nothing was asked and something is open, why so and the command that would fill it."""
    fuller = questions.filled(given, names)
    if not silent or fuller == given:
        return draft
    more = "" if given.columns else "; add --column NAME:TYPE for each column to ask about"
    note = f"Nothing was asked, because {silent}. With your own answers in it, this command fills the gaps{more}:"
    return replace(draft, caveats=(note,), fuller=command_line(questions.again(fuller, yes=True)))


def _save(draft: Draft, *, replace_old: bool) -> None:
    try:
        if replace_old:
            durable.replace(draft.file, draft.text.encode())
        else:
            durable.write(draft.file, draft.text.encode(), mode=0o666, new=True)
    except FileExistsError:
        raise _taken(draft.file) from None
    except OSError:
        fix = "Check that you may write there and that the disk is not full, or give another name: -o new.toml"
        raise CannotWrite("The metadata was not written.", f"The file is {str(draft.file)!r}.", fix) from None


def _next(draft: Draft) -> list[str]:
    """Commands that work now: the check, and a first quote where nothing stops a question."""
    about, budget = {"metadata": str(draft.file)}, draft.metadata.budget
    ways = [Fix("", "check", about)]
    if budget is not None and not any(gap.blocks for gap in draft.gaps):
        price = amounts.shown(min(Fraction(1), budget.epsilon))
        question = f"SELECT COUNT(*) AS n FROM {draft.metadata.schema.name}"
        ways.append(Fix("", "quote", about | {"sql": question, "epsilon": price}))
    return list(map(command_line, ways))


def _data(draft: Draft, dry_run: bool) -> dict[str, Any]:
    return envelope(
        dataset=draft.metadata.schema.name,
        file=None if dry_run else str(draft.file),
        text=draft.text,
        undeclared=list(draft.undeclared),
        gaps=[gap.to_json() for gap in draft.gaps],
        caveats=[f"{note} {draft.fuller}" for note in draft.caveats],
        next=_next(draft),
    )


def _drawn(draft: Draft, dry_run: bool) -> Any:
    from rich.console import Group
    from rich.text import Text

    if dry_run:
        return _pasteable(draft.text.rstrip())
    fuller = [] if draft.fuller is None else ["", *draft.caveats, f"  {draft.fuller}"]
    following = "\n".join([*fuller, "", "Next:", *(f"  {line}" for line in _next(draft))])
    return Group(Text(f"Written: {draft.file}\n"), picture(draft.metadata, draft.gaps), _pasteable(following))


def _pasteable(lines: str) -> Any:
    """Lines to copy: a file's name may be longer than a terminal is wide, and a broken command does not run."""
    from rich.text import Text

    return Text(lines, no_wrap=True, overflow="ignore")
