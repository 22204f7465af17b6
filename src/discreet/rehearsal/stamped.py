"""What a table gives out, stamped where the table is a rehearsal."""

from typing import Any, TypeVar

from discreet.answer.answer import Answer
from discreet.answer.quote import Quote
from discreet.rehearsal.answers import RehearsedAnswer, RehearsedQuote
from discreet.rehearsal.stamp import made_into
from discreet.rehearsal.table import Rehearsal
from discreet.table import Table

Made = TypeVar("Made")


def stamped(table: Table, made: Made) -> Made:
    """An answer, a quote or a release to be: itself, or its like with the stamp on all that leaves it."""
    if not isinstance(table, Rehearsal):
        return made
    rehearsed: Any
    match made:
        case Answer():
            rehearsed = RehearsedAnswer
        case Quote():
            rehearsed = RehearsedQuote
        case _:
            from discreet.rehearsal.releases import RehearsedReleasing as rehearsed
    return made_into(rehearsed, made)  # type: ignore[no-any-return]
