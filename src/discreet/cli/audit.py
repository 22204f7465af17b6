"""`discreet audit`: show every claim beside the largest lower bound that was found for it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import amounts
from discreet.cli import terminal
from discreet.cli.drawing import unwrapped_text
from discreet.cli.reply import AsJson, Fitting, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
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
    runs: Annotated[str, typer.Option(metavar="N", help="Runs per neighbour, half to choose events.")] = "20000",
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Look for a lower bound on ε above what each mechanism claims.

    Without a name every claim is tried; planted bugs run when named, or with --all.

    Example: discreet audit laplace --runs 1e5
    """
    from discreet.audit.suite import MOST_RUNS, Outcome, checked_names, claim_jobs, mutant_jobs
    from discreet.audit.trial import LEAST_RUNS

    require_new(output, yes)
    size = amounts.whole(runs, "runs", LEAST_RUNS, MOST_RUNS, such_as=20_000)
    chosen = [] if everything else checked_names(names or [])
    jobs = claim_jobs(chosen, size)
    planted = mutant_jobs(chosen) if chosen or everything or listed else []
    if listed:
        return _listing(list(dict.fromkeys(job.name for job in jobs)), planted, output, yes)
    rows = _run([*jobs, *planted])
    outcome = Outcome(tuple(rows[: len(jobs)]), tuple(rows[len(jobs) :]))
    problem = outcome.problem()
    data = _data(outcome, {job.name: job.wrong for job in planted})
    if problem is not None:
        data |= problem.to_json(command_line)
    return Reply(data, lambda: _picture(outcome), output, exit=problem.exit if problem else 0, replace=yes)


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
        parts += [_table("claims", outcome.claims), ""]
    if outcome.planted:
        caught = sum(row.is_refuted for row in outcome.planted)
        parts += [
            _table("planted bugs", outcome.planted),
            f"{caught} of {len(outcome.planted)} planted bugs caught",
            "",
        ]
    problem = outcome.problem()
    if problem is not None:
        parts += [str(problem), ""]
    notes = "\n".join(f"· {note}" for note in _caveats())
    return Group(*parts, Padding(notes, (0, 0), style="dim"))


def _table(title: str, rows: "tuple[Row, ...]") -> Any:
    """One line per row, or three where the terminal is too narrow for that."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    stacked: list[Any] = [Text(title, style="bold")]
    for name in (title, "claimed", "at least", "runs", "event", "verdict"):
        table.add_column(name, justify="right" if name in ("at least", "runs") else "left", no_wrap=True)
    for row in rows:
        bound, runs = _bound_text(row), f"{row.runs:,}" if row.runs else "exact"
        table.add_row(row.name, row.claim, bound, runs, row.event, row.verdict)
        details = f"{row.claim}, at least {bound}, {runs if runs == 'exact' else f'{runs} runs'}: {row.verdict}"
        stacked += [Text(row.name), Padding(Text(f"{details}\n{row.event}"), (0, 0, 0, 2))]
    return Fitting(table, Group(*stacked))


def _bound_text(row: "Row") -> str:
    from discreet.audit.report import rounded_down

    bound = rounded_down(row.lower_bound)
    return "∞" if bound == float("inf") else f"{bound:g}"
