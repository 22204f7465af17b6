"""Run topics and print their tables: `python -m benchmarks [TOPIC …] [--json]`."""

import argparse
import contextlib
import importlib
import io
import json
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.report import Report, Table, machine

TOPICS = (
    "noise",
    "privacy",
    "queries",
    "release",
    "scale",
    "channels",
    "postgres",
    "timing",
    "start",
    "ledger",
    "rooms",
    "kernel",
    "learn",
    "deep",
    "fairness",
    "local",
    "synth",
    "attacks",
    "audits",
)
_PRINTING = frozenset({"timing"})  # a topic that prints its own text


def main(arguments: Sequence[str] | None = None) -> None:
    """Each topic in turn; with --json one object at the end."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Speed beside peers, as ratios of CPU time.")
    parser.add_argument("topics", nargs="*", metavar="topic", help=f"any of {', '.join(TOPICS)}; all if none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    chosen = parser.parse_args(arguments)
    if unknown := [topic for topic in chosen.topics if topic not in TOPICS]:
        parser.error(f"no topic {', '.join(unknown)}; there are {', '.join(TOPICS)}")
    topics = chosen.topics or TOPICS
    if chosen.json:
        about = machine()
        reports = {topic: _report(topic) for topic in topics}
        figures = {topic: {"figures": report.figures, "notes": report.notes} for topic, report in reports.items()}
        print(json.dumps({"machine": about, **figures}, ensure_ascii=False))
    else:
        for topic in topics:  # each is shown as soon as it is there: a later one may fail
            _print(machine(), _report(topic))


def _report(topic: str) -> Report:
    """The topic's module is imported only now: each needs different parts of the system."""
    module = importlib.import_module(f"benchmarks.{topic}")
    print(f"Measuring {topic} …", file=sys.stderr)
    if topic not in _PRINTING:
        report: Report = module.report()
        return report
    with contextlib.redirect_stdout(io.StringIO()) as text:
        module.main()
    return Report((), {"text": text.getvalue()}, (text.getvalue(),))


def _print(about: dict[str, Any], report: Report) -> None:
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print("Machine: " + ", ".join(f"{name} {value}" for name, value in about.items()), markup=False)
    for table in report.tables:
        console.print(_drawn(table))
        console.print(table.meaning + "\n", markup=False)
    for note in report.notes:
        console.print(note, markup=False)


def _drawn(table: Table) -> Any:
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(title=table.title, box=box.SIMPLE_HEAD, title_justify="left")
    for name in table.columns:
        drawn.add_column(name)
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    return drawn


if __name__ == "__main__":
    main()
