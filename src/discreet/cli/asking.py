"""What the verbs about a question share: their options, and reading a question from stdin."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.errors import BadValue, bad


def _require_name(text: str | None) -> str | None:
    """Refuses a blank name, which comes from a shell variable that is not set."""
    if text is not None and not text.strip():
        raise bad("--as", "must be a name", text, "Write, for example: --as ana; or leave --as out.")
    return text


Toml = Annotated[Path, typer.Argument(metavar="TOML", readable=False, help="The metadata file, such as people.toml.")]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question; - reads it from stdin.")]
Eps = Annotated[str | None, typer.Option("--eps", "--epsilon", metavar="ε", help="ε to spend.")]
Error = Annotated[
    list[str] | None, typer.Option("--error", metavar="±", help="± to reach instead: n=15, or n=15,total=200.")
]
Delta = Annotated[str | None, typer.Option(metavar="δ", help="δ to spend; a hundredth of the budget's by default.")]
Level = Annotated[str | None, typer.Option(metavar="P", help="Probability that ± holds; 0.95 by default.")]
As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Analyst who asks and has a cap.", callback=_require_name)
]
AtSize = Annotated[str | None, typer.Option(metavar="N", help="Group size for which the ± of means is shown.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="Use invented rows: nothing private is opened or charged.")]


def read_sql(typed: str) -> str:
    """The question's text as typed, or read from stdin for a dash."""
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
