"""What only a terminal gets: a question before money is spent, and a bar while something takes long."""

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
    """A question on the terminal was left: nothing was written, and nothing could be charged."""

    code = "interrupted"
    exit = 130


def is_terminal() -> bool:
    """Whether somebody sits there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def require_agreed(lines: Sequence[str], again: Fix) -> None:
    """Shows the lines and waits for Enter; anything else is a no."""
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
        raise Stopped("Nothing was asked and nothing was charged.", "You did not agree.", again)


@contextlib.contextmanager
def bar() -> Iterator[Advance]:
    """A function to call with the name of a step and the share that is done; drawn past two seconds, on a terminal."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    drawn = Progress(*columns, console=Console(stderr=True), transient=True)
    task = drawn.add_task("starting", total=1.0)
    patience = threading.Timer(PATIENCE, drawn.start)
    patience.daemon = True
    patience.start()
    try:
        yield lambda step, share: drawn.update(task, description=visible(step), completed=share)
    finally:
        patience.cancel()
        patience.join()
        drawn.stop()


def _unseen(step: str, share: float) -> None:
    """Nobody looks."""
