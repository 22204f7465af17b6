"""`discreet init`: write a first metadata file from a CSV's header and a few answers.  Reads no row."""

import os
import shlex
import stat
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import amounts, durable, outputs
from discreet.cli import questions
from discreet.cli.check import picture as gap_list
from discreet.cli.drawing import unwrapped_text
from discreet.cli.questions import Answers
from discreet.cli.reply import AsJson, Reply
from discreet.cli.terminal import is_terminal
from discreet.errors import BadValue, CannotWrite, SourceUnavailable, bad
from discreet.fix import Fix, command_line
from discreet.metadata import Gap, Metadata, dumps, gaps, header, parse
from discreet.operation.dataset import mode
from discreet.operation.reply import envelope
from discreet.relation import Relation
from discreet.schema import Schema
from discreet.schema.words import toml_value


@dataclass(frozen=True)
class Draft:
    """The file to write, its text, what it leaves open, and a command that leaves less open."""

    file: Path
    text: str
    metadata: Metadata
    gaps: tuple[Gap, ...]
    undeclared: tuple[str, ...]
    caveats: tuple[str, ...] = ()
    fuller: str | None = None


def init(
    data: Annotated[
        Path, typer.Argument(metavar="CSV", readable=False, help="Private table; only its header is read.")
    ],
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that says who is protected.")] = None,
    max_rows: Annotated[str | None, typer.Option(metavar="N", help="Rows of one unit that may count, at most.")] = None,
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
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the table in questions.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="TOML", help="File to write.")] = None,
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
        raise _already_there(file)
    unusual = None if neighbours == Relation.ADD_REMOVE else neighbours
    others = {"table": str(data), "name": name, "neighbours": unusual, "output": output}
    answers = Answers(unit, max_rows, tuple(column or ()), tuple(hierarchy or ()), epsilon, delta, others)
    if name is not None:
        questions.require_name(name)
    relation = questions.relation(neighbours)
    names = _names(data, answers)
    silent = "of --yes" if yes else "of --json" if json else "there is no terminal"
    if not (yes or json) and is_terminal():
        answers, silent = questions.ask_missing(answers, names), ""
    table = questions.plain_name(data.stem) if name is None else name
    draft = _draft(answers, data, file, names=names, relation=relation, table=table)
    draft = _with_note(draft, answers, names=names, silent=silent)
    if not dry_run:
        _save(draft, replace_old=yes)
    return Reply(_data(draft, dry_run), lambda: _picture(draft, dry_run))


def _file(output: Path | None, data: Path) -> Path:
    if output is None and not data.stem:
        fix = Fix("Write, for example:", "init", {"table": "people.csv"})
        raise bad("CSV", "must be the name of a file", str(data), fix)
    file = data.with_suffix(".toml") if output is None else output
    if file.suffix.lower() != ".toml":
        raise bad("output", "must end in .toml", str(file), f"Write: -o {shlex.quote(f'{file.stem}.toml')}")
    if not file.parent.is_dir():
        make = f"Make it first: mkdir -p {shlex.quote(str(file.parent))}"
        raise bad("output", "must lie in a folder that exists", str(file), make)
    try:
        file.exists()
    except OSError:  # too long, for example
        rule = "must be a name that a file can have here"
        raise bad("output", rule, str(file)[:80], "Give a shorter name: -o new.toml") from None
    return file


def _require_harmless(file: Path, data: Path) -> None:
    """Refuses to write over an input, except over metadata of the same table that no ledger stands on."""
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


def _is_same(file: Path, other: Path) -> bool:
    return file.exists() and other.exists() and file.samefile(other)


def _already_there(file: Path) -> BadValue:
    return bad("output", "must not be there yet", str(file), "Add --yes to replace it, or another name: -o new.toml")


def _names(data: Path, answers: Answers) -> tuple[str, ...] | None:
    """The header of a CSV; None for another format whose columns were typed as flags."""
    _require_no_device(data)
    if answers.columns and data.suffix.lower() not in header.SUFFIXES:
        return None
    return header.names(data)


def _require_no_device(table: Path) -> None:
    """Refuses a table that is a device or a socket; of a pipe only the header is read."""
    if mode(table) not in (None, stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO):
        why = f"You gave {toml_value(table.name)}, which is a device or a socket."
        raise SourceUnavailable("The table must be a file.", why, "Save it to a file, such as people.csv.")


def _draft(
    answers: Answers, data: Path, file: Path, *, names: tuple[str, ...] | None, relation: Relation, table: str
) -> Draft:
    columns = tuple(map(questions.column, answers.columns))
    declared = [*([] if answers.unit is None else [answers.unit]), *(column.name for column in columns)]
    questions.require_in_header(declared, names)
    unit = questions.unit(answers, names)
    hierarchies = tuple(map(questions.hierarchy, answers.hierarchies))
    questions.require_in_header([hierarchy.levels[-1] for hierarchy in hierarchies], names)
    questions.require_together(columns, unit, hierarchies)
    schema = Schema(table, columns, unit, relation, hierarchies=hierarchies)
    said = frozenset({"budget.delta"} if answers.delta is not None else ())
    source = Path(os.path.relpath(data, file.parent)).as_posix()
    metadata = Metadata(schema, questions.budget(answers), source, file.parent, said=said)
    lower_names = {name.casefold() for name in declared}
    undeclared = tuple(name for name in names or () if name.casefold() not in lower_names)
    text = dumps(metadata, undeclared)
    parse(text, file=file.name, folder=file.parent)  # a file that could not be read back is never written
    return Draft(file, text, metadata, gaps(metadata, names), undeclared)


def _with_note(draft: Draft, answers: Answers, *, names: tuple[str, ...] | None, silent: str) -> Draft:
    """The draft; where nothing was asked and something is open, with the reason and the command that closes it."""
    fuller = questions.completed(answers, names)
    if not silent or fuller == answers:
        return draft
    more = "" if answers.columns else "; add --column NAME:TYPE for each column to ask about"
    note = f"Nothing was asked, because {silent}. With your own answers in it, this command fills the gaps{more}:"
    return replace(draft, caveats=(note,), fuller=command_line(fuller.fix(yes=True)))


def _save(draft: Draft, *, replace_old: bool) -> None:
    try:
        if replace_old:
            durable.replace(draft.file, draft.text.encode())
        else:
            durable.write(draft.file, draft.text.encode(), mode=0o666, new=True)
    except FileExistsError:
        raise _already_there(draft.file) from None
    except OSError:
        fix = "Check that you may write there and that the disk is not full, or give another name: -o new.toml"
        raise CannotWrite("The metadata was not written.", f"The file is {str(draft.file)!r}.", fix) from None


def _next(draft: Draft) -> list[str]:
    """Commands that work now: the check, and a first quote where nothing stops a question."""
    about, budget = {"metadata": str(draft.file)}, draft.metadata.budget
    ways = [Fix("", "check", about)]
    if budget is not None and not any(gap.blocks for gap in draft.gaps):
        epsilon = amounts.text_of(min(Fraction(1), budget.epsilon))
        question = f"SELECT COUNT(*) AS n FROM {draft.metadata.schema.name}"
        ways.append(Fix("", "quote", about | {"sql": question, "epsilon": epsilon}))
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


def _picture(draft: Draft, dry_run: bool) -> Any:
    from rich.console import Group

    if dry_run:
        return unwrapped_text(draft.text.rstrip())
    fuller = [] if draft.fuller is None else ["", *draft.caveats, f"  {draft.fuller}"]
    following = "\n".join([*fuller, "", "Next:", *(f"  {line}" for line in _next(draft))])
    return Group(f"Written: {draft.file}\n", gap_list(draft.metadata, draft.gaps), unwrapped_text(following))
