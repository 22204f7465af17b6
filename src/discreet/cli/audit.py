"""`discreet audit`: every claim beside the largest lower bound that could be found for it."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.reply import AsJson, OutFile, Reply, envelope

if TYPE_CHECKING:
    from discreet.audit.report import Row
    from discreet.audit.suite import Job, Outcome

_PATIENCE = 2.0  # seconds without a bar
CAVEATS = (
    "Not refuted means that no lower bound above the claim was found, not that the claim is true.",
    "A true claim is refuted by chance in at most one audit of a million.",
)


def audit(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]…", help="Claims or planted bugs.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Plant known bugs too; all must be caught.")] = False,
    runs: Annotated[int, typer.Option(metavar="N", help="Runs per neighbour, half to choose events.")] = 20_000,
    json: AsJson = False,
    output: OutFile = None,
) -> Reply:
    """Look for a lower bound on ε above what each mechanism claims.

    Example: discreet audit laplace --runs 100000
    """
    from discreet.audit.suite import Outcome, checked_names, claim_jobs, mutant_jobs

    chosen = [] if everything else checked_names(names or [])
    jobs = claim_jobs(chosen, runs)
    planted = mutant_jobs(chosen) if chosen or everything else []
    rows = list(_made([*jobs, *planted]))
    outcome = Outcome(tuple(rows[: len(jobs)]), tuple(rows[len(jobs) :]))
    problem = outcome.problem()
    data = _data(outcome, {job.name: job.wrong for job in planted})
    if problem is not None:
        data |= problem.as_json()
    return Reply(data, lambda: _picture(outcome), output, exit=problem.exit if problem else 0)


def _made(jobs: "list[Job]") -> "Iterator[Row]":
    """Every row, with a bar on the terminal once it takes more than two seconds."""
    for job in _watched(jobs):
        yield job.row()


def _watched(jobs: "list[Job]") -> "Iterable[Job]":
    if not sys.stderr.isatty():
        yield from jobs
        return
    from rich.console import Console
    from rich.progress import Progress

    begun, bar = time.monotonic(), Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("audit", total=len(jobs))
    with ExitStack() as shown:
        for job in jobs:
            if not bar.live.is_started and time.monotonic() - begun > _PATIENCE:
                shown.enter_context(bar)
            bar.update(task, description=job.name)
            yield job
            bar.advance(task)


def _data(outcome: "Outcome", wrong: dict[str, str]) -> dict[str, Any]:
    data = envelope(audit=[row.as_json() for row in outcome.claims], caveats=list(CAVEATS))
    if outcome.planted:
        data["mutants"] = [row.as_json() | {"wrong": wrong[row.name]} for row in outcome.planted]
    return data


def _picture(outcome: "Outcome") -> Any:
    from rich.console import Group
    from rich.padding import Padding

    parts: list[Any] = []
    if outcome.claims:
        parts += [_table("claims", outcome.claims), ""]
    if outcome.planted:
        caught = sum(row.refuted for row in outcome.planted)
        parts += [
            _table("planted bugs", outcome.planted),
            f"{caught} of {len(outcome.planted)} planted bugs caught",
            "",
        ]
    problem = outcome.problem()
    if problem is not None:
        parts += [str(problem), ""]
    notes = "\n".join(f"· {note}" for note in CAVEATS)
    return Group(*parts, Padding(notes, (0, 0), style="dim"))


def _table(title: str, rows: "tuple[Row, ...]") -> Any:
    from rich.table import Table

    from discreet.audit.report import shown

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (title, "claimed", "at least", "runs", "event", "verdict"):
        table.add_column(name, justify="right" if name in ("at least", "runs") else "left", overflow="fold")
    for row in rows:
        bound = shown(row.lower_bound)
        least = "∞" if bound == float("inf") else f"{bound:g}"
        table.add_row(row.name, row.claim, least, f"{row.runs:,}" if row.runs else "exact", row.event, row.verdict)
    return table
