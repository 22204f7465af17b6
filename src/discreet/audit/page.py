"""The page of an audit: every claim beside its lower bound, and every planted bug beside what it does wrong."""

import datetime
from collections.abc import Iterable, Mapping, Sequence

from discreet.audit.report import Row, rounded_down
from discreet.inert import markdown

_LEGEND = """\
**Claimed** is what the mechanism says it costs, **at least** the largest lower bound that was found, rounded down. Half
of the **runs** for each neighbour chose the **event** and half were counted, at an error of 10⁻⁶ for each claim;
"exact" means that the output law itself was computed. *Not refuted* does not mean true: a bound below the claim is what
a sound mechanism gives, but also one whose weakness lies elsewhere.
[How to read a row](howto/audit.md), [why it holds](proofs/audit.md)."""


def page(command: str, claims: Sequence[Row], planted: Sequence[Row], wrong: Mapping[str, str]) -> str:
    """Both tables as Markdown; `command` is what writes the page."""
    refuted, caught = sum(row.is_refuted for row in claims), sum(row.is_refuted for row in planted)
    names = len({row.name for row in claims})
    summary = f"{names} claims, {refuted} refuted. {caught} of {len(planted)} planted bugs caught."
    today = datetime.date.today().isoformat()
    parts = ["# Claims and lower bounds", f"{summary} Written by `{command}` on {today}.", _LEGEND]
    parts += ["## Claims", _table(("claim", "claimed", "at least", "runs", "event", "verdict"), map(_cells, claims))]
    if planted:
        columns = ("planted bug", "what is wrong", "claimed", "at least", "runs", "event", "verdict")
        rows = ((row.name, wrong[row.name], *_cells(row)[1:]) for row in planted)
        parts += ["## Planted bugs", "Each must be refuted.", _table(columns, rows)]
    return "\n\n".join(parts) + "\n"


def bound_text(row: Row) -> str:
    """The lower bound of a row, rounded down."""
    bound = rounded_down(row.lower_bound)
    return "∞" if bound == float("inf") else f"{bound:g}"


def runs_text(row: Row) -> str:
    """The runs of a row, or that its law is exact."""
    return f"{row.runs:,}" if row.runs else "exact"


def _cells(row: Row) -> tuple[str, ...]:
    return row.name, row.claim, bound_text(row), runs_text(row), row.event, row.verdict


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns)]
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in (*lines, *([markdown(cell) for cell in row] for row in rows))
    )
