"""For terminals only: confirmation before a charge, and a bar while something takes long."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import typer

from discreet.errors import DiscreetError
from discreet.fix import Fix
from discreet.inert import visible, visible_lines

PATIENCE = 2.0  # seconds without a bar
Advance = Callable[[str, float], None]


class Stopped(DiscreetError):
    """The user left a question on the terminal: nothing was written, and nothing could be charged."""

    code = "interrupted"
    exit = 130


def is_terminal() -> bool:
    """Whether a user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def require_agreed(lines: Sequence[str], fix: Fix) -> None:
    """Show the lines and wait for Enter; refuses at any other answer."""
    from discreet.cli.reply import plain

    try:
        for line in [*lines, ""]:
            typer.echo(plain(visible_lines(line), sys.stderr.encoding), err=True)
        typer.echo("Enter asks it, n leaves it: ", nl=False, err=True)
        typed = input().strip().casefold()
    except (EOFError, KeyboardInterrupt):
        typer.echo("", err=True)
        typed = "n"
    if typed not in ("", "y", "yes"):
        raise Stopped("Nothing was asked and nothing was charged.", "You did not agree.", fix)


@contextlib.contextmanager
def bar() -> Iterator[Advance]:
    """A function to call with the name of a step and the share that is done; drawn after two seconds, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda step, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task("starting", total=1.0)
    patience = threading.Timer(PATIENCE, progress.start)
    patience.daemon = True
    patience.start()
    try:
        yield lambda step, share: progress.update(task, description=visible(step), completed=share)
    finally:
        patience.cancel()
        patience.join()
        progress.stop()
