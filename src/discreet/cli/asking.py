"""What the verbs about a question share: their flags, the question's text from stdin, and commands to paste."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.errors import BadValue, bad
from discreet.fix import Fix, command_line


def _named(text: str | None) -> str | None:
    """A name as typed, or none at all; a blank one is a slip, such as a variable of the shell that is not set."""
    if text is not None and not text.strip():
        raise bad("--as", "must be a name", text, "Write, for example: --as ana; or leave --as out.")
    return text


Toml = Annotated[Path, typer.Argument(metavar="TOML", readable=False, help="The metadata file, such as people.toml.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question; - reads it from stdin.")]
Eps = Annotated[str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="What the question may cost.")]
Error = Annotated[
    list[str] | None, typer.Option("--error", metavar="±", help="Or the ± to reach: n=15, or n=15,total=200.")
]
Delta = Annotated[str | None, typer.Option(metavar="δ", help="Its δ; by default a hundredth of the budget's.")]
Level = Annotated[str | None, typer.Option(metavar="P", help="How often ± holds; 0.95 by default.")]
As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Who asks, for caps of their own.", callback=_named)
]
AtSize = Annotated[str | None, typer.Option(metavar="N", help="Show the ± of means for groups of N rows.")]
Rehearse = Annotated[
    bool, typer.Option("--rehearse", help="Invent the rows from the metadata: nothing private is opened or charged.")
]
Why = Annotated[str | None, typer.Option(metavar="TEXT", help="The reason, which the ledger keeps.")]


def read_sql(typed: str) -> str:
    """The question's text, from stdin if a dash stands for it."""
    if typed != "-":
        return typed
    try:
        text = sys.stdin.read().strip()
    except UnicodeDecodeError:
        fix = "Write it in UTF-8: iconv -f latin1 -t utf-8 question.sql | discreet ask people.toml - --eps 1"
        raise BadValue("SQL must be text.", "What came from stdin is not UTF-8.", fix) from None
    if not text:
        fix = "Write, for example: echo 'SELECT COUNT(*) AS n FROM people' | discreet ask people.toml - --eps 1"
        raise BadValue("SQL must not be empty.", "Nothing came from stdin.", fix)
    return text


def drawn_commands(fixes: Iterable[Fix]) -> list[Any]:
    """Command lines under their words; they are not wrapped, since a broken one does not run."""
    from rich.text import Text

    lines = [(fix.words, f"  {command_line(fix)}") for fix in fixes]
    return [part for words, line in lines for part in (Text(f"\n{words}"), Text(line, no_wrap=True, overflow="ignore"))]
