"""`discreet audit`: show every claim beside the largest lower bound that was found for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts
from discreet.cli import audit_command, terminal
from discreet.cli.audit_table import rows_table
from discreet.cli.drawing import unwrapped_text
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import Fix, command_line
from discreet.operation.reply import envelope

if TYPE_CHECKING:
    from discreet.audit.report import Row
    from discreet.audit.suite import Job, Outcome

CAVEATS = (
    "Not refuted means that no lower bound above the claim was found, not that the claim is true.",
    "A true claim is refuted by chance in at most one audit of a million.",
)


def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Claims and planted bugs, or how their names begin; see --list."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every planted bug too; all must be caught.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the names and run nothing.")] = False,
    runs: Annotated[
        str | None,
        typer.Option(metavar="N", help="Runs per neighbour, half to choose events; 20000, or what the time allows."),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Audit a program of your own: './tool {table} {repeats}' prints numbers."),
    ] = None,
    pair: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A.csv B.csv", help="Two tables that differ in one unit, for --command."),
    ] = None,
    claim: Annotated[str | None, typer.Option(metavar="EPS", help="The ε that the command claims.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="DELTA", help="The δ that the command claims; else 0.")] = None,
    seconds: Annotated[str | None, typer.Option(metavar="S", help="Time for the command; 300 if left out.")] = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Look for a lower bound on ε above what each mechanism claims.

    Without a name every claim is tried; planted bugs run when named, or with --all.  With --command a program of your
    own is tried on two tables.

    Example: discreet audit laplace --runs 1e5
    """
    from discreet.audit.suite import MOST_RUNS, Outcome, checked_names, claim_jobs, mutant_jobs
    from discreet.audit.trial import LEAST_RUNS, RUNS

    require_new(output, yes)
    own = audit_command.request_of(command, pair, claim=claim, delta=delta, seconds=seconds, runs=runs)
    if own is not None:
        audit_command.require_alone(names or everything or listed)
        return audit_command.reply(own, output, yes)
    size = amounts.whole(RUNS if runs is None else runs, "runs", LEAST_RUNS, MOST_RUNS, such_as=RUNS)
    chosen = [] if everything else checked_names(names or [])
    jobs = claim_jobs(chosen, size)
    planted = mutant_jobs(chosen) if chosen or everything or listed else []
    if listed:
        return _listing(list(dict.fromkeys(job.name for job in jobs)), planted, output, yes)
    rows = _run([*jobs, *planted])
    outcome = Outcome(tuple(rows[: len(jobs)]), tuple(rows[len(jobs) :]))
    problem = outcome.problem()
    wrong = {job.name: job.wrong for job in planted}
    data = _data(outcome, wrong)
    if problem is not None:
        data |= problem.to_json(command_line)
    content = _page(outcome, wrong, output, chosen)
    code = problem.exit if problem else 0
    return Reply(data, lambda: _picture(outcome), output, exit=code, replace=yes, content=content)


def _listing(claims: list[str], planted: "list[Job]", output: Path | None, yes: bool) -> Reply:
    """The names alone, and beside each planted bug what it does wrong."""
    bugs = [{"name": job.name, "wrong": job.wrong} for job in planted]

    def picture() -> Any:
        width = max((len(job.name) for job in planted), default=0)
        lines = ["claims", *(f"  {name}" for name in claims)] if claims else []
        lines += ["planted bugs", *(f"  {bug['name']:{width}}  {bug['wrong']}" for bug in bugs)] if bugs else []
        return unwrapped_text("\n".join(lines))

    return Reply(envelope(claims=claims, mutants=bugs), picture, output, replace=yes)


def _run(jobs: "list[Job]") -> "list[Row]":
    """Run every job, with a bar on the terminal if it takes long."""
    rows = []
    with terminal.bar() as advance:
        for index, job in enumerate(jobs):
            advance(job.name, index / len(jobs))
            rows.append(job.row())
    return rows


def _page(outcome: "Outcome", wrong: dict[str, str], output: Path | None, names: Sequence[str]) -> bytes | None:
    """The same as Markdown, where that is what the file is called."""
    if output is None or output.suffix != ".md":
        return None
    from discreet.audit.page import page

    command = command_line(Fix("", "audit", {"all": bool(wrong) and not names, "output": str(output), "yes": True}))
    return page(" ".join([command, *names]), outcome.claims, outcome.planted, wrong).encode()


def _data(outcome: "Outcome", wrong: dict[str, str]) -> dict[str, Any]:
    data = envelope(audit=[row.to_json() for row in outcome.claims], caveats=_caveats())
    if outcome.planted:
        data["mutants"] = [row.to_json() | {"wrong": wrong[row.name]} for row in outcome.planted]
    return data


def _caveats() -> list[str]:
    """What a reader must know, and what this installation left out."""
    from discreet.audit import deep_claims

    return [*CAVEATS, *([] if deep_claims.has_torch() else [deep_claims.LEFT_OUT])]


def _picture(outcome: "Outcome") -> Any:
    from rich.console import Group
    from rich.padding import Padding

    parts: list[Any] = []
    if outcome.claims:
        parts += [rows_table("claims", outcome.claims), ""]
    if outcome.planted:
        caught = sum(row.is_refuted for row in outcome.planted)
        parts += [
            rows_table("planted bugs", outcome.planted),
            f"{caught} of {len(outcome.planted)} planted bugs caught",
            "",
        ]
    problem = outcome.problem()
    if problem is not None:
        parts += [str(problem), ""]
    notes = "\n".join(f"· {note}" for note in _caveats())
    return Group(*parts, Padding(notes, (0, 0), style="dim"))
