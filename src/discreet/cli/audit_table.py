"""The table of an audit: every claim beside the largest lower bound that was found for it."""

from typing import TYPE_CHECKING, Any

from discreet.cli.reply import Fitting

if TYPE_CHECKING:
    from discreet.audit.report import Row


def rows_table(title: str, rows: "tuple[Row, ...]") -> Any:
    """One line per row, or three where the terminal is too narrow for that."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from discreet.audit.page import bound_text, runs_text

    table = Table(box=None, pad_edge=False, header_style="bold")
    stacked: list[Any] = [Text(title, style="bold")]
    for name in (title, "claimed", "at least", "runs", "event", "verdict"):
        table.add_column(name, justify="right" if name in ("at least", "runs") else "left", no_wrap=True)
    for row in rows:
        bound, runs = bound_text(row), runs_text(row)
        table.add_row(row.name, row.claim, bound, runs, row.event, row.verdict)
        details = f"{row.claim}, at least {bound}, {runs if runs == 'exact' else f'{runs} runs'}: {row.verdict}"
        stacked += [Text(row.name), Padding(Text(f"{details}\n{row.event}"), (0, 0, 0, 2))]
    return Fitting(table, Group(*stacked))
