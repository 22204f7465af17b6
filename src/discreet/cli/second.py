"""`--second-ledger --why`: saying on purpose that rows get a second ledger."""

import contextlib
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from discreet.cli.fixes import refitted
from discreet.cli.reasons import require_why
from discreet.errors import BadValue, SecondLedger

Second = Annotated[
    bool, typer.Option("--second-ledger", help="These rows have another ledger, and a second one is meant; with --why.")
]
WhySecond = Annotated[str | None, typer.Option("--why", metavar="TEXT", help="Why so, which both ledgers keep.")]


def reason(second: bool, why: str | None, command: str) -> str | None:
    """Why there is to be a second ledger; None where it was not said that there is."""
    if second:
        return require_why(why, *shlex.split(command), "--second-ledger")
    if why is not None:
        fix = f'{command} --second-ledger --why "…"'
        raise BadValue("--why is the reason of a second ledger.", "There is no --second-ledger.", f"Write: {fix}")
    return None


@contextlib.contextmanager
def said_on_purpose(command: Callable[..., str]) -> Iterator[None]:
    """Rows that have another ledger are refused with the command that says it is meant."""
    try:
        yield
    except SecondLedger as error:
        typed = f'{command("--second-ledger")} --why "…"'
        raise refitted(error, re.sub(r"dp\.open\(.*\)", lambda _: typed, error.fix)) from None
