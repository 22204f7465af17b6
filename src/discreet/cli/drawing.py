"""Parts of pictures that several verbs draw: named facts, tables, commands to paste."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from discreet import outputs
from discreet.cli.reply import require_new
from discreet.errors import DiscreetError
from discreet.fix import Fix, command_line


def fact_list(facts: Iterable[tuple[str, str]]) -> Any:
    """A line for each fact, behind its name in bold."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    for name, line in facts:
        grid.add_row(name, line)
    return grid


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, keys: int) -> Any:
    """A table without lines; its first `keys` columns are aligned left, the others right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        table.add_column(Text(name), justify="left" if index < keys else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def unwrapped_text(text: str, style: str = "") -> Any:
    """Lines to copy, longer than a terminal is wide where they must be: a broken command does not run."""
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="ignore")


def quote_picture(lines: Iterable[str], fixes: Iterable[Fix]) -> Any:
    """The lines of a quote, then each command that can follow, under its words."""
    from rich.console import Group
    from rich.text import Text

    commands = [part for fix in fixes for part in (Text(f"\n{fix.words}"), unwrapped_text(f"  {command_line(fix)}"))]
    return Group(*map(Text, lines), *commands)


def require_plot(file: Path | None, metadata: Path | None, output: Path | None, *, replace: bool) -> None:
    """Refuses, before anything is spent, a picture that could not be written afterwards."""
    if file is not None:
        from discreet.plot import style

        style.checked_path(file)
        outputs.require_apart(file, output, "must be another file than the output")
        require_new(file, replace, metadata, flag="plot")


def draw(picture: Callable[[], Any], file: Path, metadata: Path | None, *, alt: str) -> str | None:
    """Draw into the file; the reason if that failed, as what is drawn is paid for and must still be shown."""
    from discreet.plot import style

    try:
        with outputs.replacing(file, metadata, flag="plot") as draft:
            style.write(picture(), draft, alt=alt)
    except DiscreetError as error:
        return f"Not drawn: {error.what} {error.fix_text(command_line)}"
    except OSError:
        return f"Not drawn: {file} could not be written. Ask again with another name, which costs nothing."
    return None
