"""`discreet audit --command`: try a program of the user's own on two tables that differ in one unit."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discreet import amounts, outputs
from discreet.cli import terminal
from discreet.cli.audit_table import rows_table
from discreet.cli.reply import Reply, plain
from discreet.errors import BadValue, bad
from discreet.fix import command_line
from discreet.inert import visible
from discreet.operation.reply import envelope

if TYPE_CHECKING:
    from discreet.audit.audited import Audited
    from discreet.audit.bounds import Odds
    from discreet.audit.command import Command

CAVEATS = (
    "Not refuted means that no lower bound above the claim was found, not that the claim is true.",
    "Runs count as independent: a program that prints one draw of noise several times is refuted as it stands.",
    "The bound is a function of the rows of both tables: of real rows it is for their curator alone.",
)
_SHAPE = "--command './tool {table} {repeats}' --pair a.csv b.csv --claim 1"


@dataclass(frozen=True)
class Request:
    """A program, two tables, what it claims, and how long and how often it may run."""

    command: "Command"
    pair: tuple[Path, Path]
    claim: "Odds"
    seconds: str
    most_runs: int


def request_of(command: str | None, pair: tuple[Path, Path] | None, **options: str | None) -> Request | None:
    """What is asked for, checked; None where it is not about a program."""
    if command is None:
        given = [name for name in ("claim", "delta", "seconds") if options[name] is not None]
        given += ["pair"] if pair is not None else []
        if given:
            raise BadValue(f"{given[0]} is about a program.", "No --command was given.", f"Write {_SHAPE}.")
        return None
    if pair is None or options["claim"] is None:
        lacking = "two tables" if pair is None else "a claimed ε"
        raise BadValue(f"command needs {lacking} beside it.", "A claim is tried on neighbours.", f"Write {_SHAPE}.")
    from discreet.audit.callables import claim_of
    from discreet.audit.command import command_of
    from discreet.audit.external import MOST_RUNS
    from discreet.audit.trial import LEAST_RUNS

    test = claim_of(options["claim"], options["delta"] or 0)
    runs = MOST_RUNS if options["runs"] is None else options["runs"]
    most_runs = amounts.whole(runs, "runs", LEAST_RUNS, MOST_RUNS, such_as=20_000)
    return Request(command_of(command), _checked_pair(pair), test, options["seconds"] or "300", most_runs)


def require_alone(others: Any) -> None:
    """Refuses names, --all and --list beside a program."""
    if others:
        raise BadValue("command must stand alone.", "Names, --all and --list are about Discreet's claims.", "Run two.")


def reply(own: Request, output: Path | None, yes: bool) -> Reply:
    """Time it, say what the time can show, run it, and show the bound beside the claim."""
    from discreet.audit import external
    from discreet.audit.suite import Outcome

    if output is not None and any(output.exists() and output.samefile(table) for table in own.pair):
        raise bad("output", "must not be a table of the pair", str(output), "Give another name after -o.")
    if output is not None and any(outputs.is_same_file(output, file) for file in own.command.files()):
        raise bad("output", "must not be a file that the command runs", str(output), "Give another name after -o.")
    watch = external.clock(own.seconds)
    plan = external.plan_of(own.command, own.pair, own.claim, watch, own.most_runs)
    typer.echo(plain(visible(plan.sentence), sys.stderr.encoding), err=True)
    with terminal.bar() as advance:
        audit = external.audit_command(own.command, own.pair, plan, watch, advance)
    problem = Outcome((audit.row,), ()).problem()
    data = envelope(audit=[audit.to_json()], plan=plan.to_json(), caveats=list(CAVEATS))
    if problem is not None:
        data |= problem.to_json(command_line)
    return Reply(data, lambda: _picture(audit), output, exit=problem.exit if problem else 0, replace=yes)


def _checked_pair(pair: tuple[Path, Path]) -> tuple[Path, Path]:
    for table in pair:
        if not table.is_file():
            raise bad("pair", "must be two files", str(table), "Give the table with a unit and the one without it.")
    try:
        is_same = pair[0].read_bytes() == pair[1].read_bytes()
    except OSError:
        is_same = False  # the command will tell
    if is_same:
        why = "Both hold the same bytes, so nothing can tell them apart."
        raise BadValue("pair must be two tables that differ.", why, "Leave one unit out of one of them.")
    return pair


def _picture(audit: "Audited") -> Any:
    from rich.console import Group
    from rich.padding import Padding

    notes = "\n".join(f"· {note}" for note in CAVEATS)
    return Group(rows_table("claim", (audit.row,)), "", audit.sentence, "", Padding(notes, (0, 0), style="dim"))
