"""`--second-ledger --why`: saying on purpose that rows get a second ledger."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from discreet.cli.reasons import require_why
from discreet.errors import BadValue
from discreet.fix import UNKNOWN

if TYPE_CHECKING:
    from discreet.operation.question import QuestionCall
    from discreet.operation.release import ReleaseCall

Second = Annotated[
    bool, typer.Option("--second-ledger", help="These rows have another ledger, and a second one is meant; with --why.")
]
WhySecond = Annotated[str | None, typer.Option("--why", metavar="TEXT", help="Why so, which both ledgers keep.")]

AnyCall = TypeVar("AnyCall", "QuestionCall", "ReleaseCall")


def with_second_ledger(call: AnyCall, second: bool, why: str | None) -> AnyCall:
    """The call with the reason for a second ledger; as it is where none is meant."""
    if second:
        return replace(call, second_ledger=require_why(why, call.fix("", second_ledger=True)))
    if why is not None:
        fix = call.fix("Write:", second_ledger=True, why=UNKNOWN)
        raise BadValue("--why is the reason of a second ledger.", "There is no --second-ledger.", fix)
    return call
