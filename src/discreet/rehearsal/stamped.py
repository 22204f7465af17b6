"""The classes that stamp what a rehearsal gives out."""

from typing import Any, TypeVar

from discreet.answer.answer import Answer
from discreet.answer.quote import Quote
from discreet.rehearsal.answers import RehearsedAnswer, RehearsedQuote
from discreet.rehearsal.stamp import as_kind

Value = TypeVar("Value")


def rehearsed(value: Value) -> Value:
    """What a room gives out, so that all that leaves it is stamped."""
    kind: Any
    match value:
        case Answer():
            kind = RehearsedAnswer
        case Quote():
            kind = RehearsedQuote
        case _ if type(value).__module__.startswith("discreet.learn."):
            from discreet.rehearsal.models import stamped_part

            return stamped_part(value)  # type: ignore[no-any-return]
        case _ if type(value).__module__.startswith("discreet.synth."):
            from discreet.rehearsal import synthetic

            return synthetic.stamped_part(value)  # type: ignore[no-any-return]
        case _:
            from discreet.rehearsal.releases import RehearsedReleasing as kind
    return as_kind(kind, value)  # type: ignore[no-any-return]
