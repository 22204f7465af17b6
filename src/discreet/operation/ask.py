"""Quote a question; ask it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.fix import Fix
from discreet.operation.cheaper import affordable, cheaper_call
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.question import QuestionCall, asking, quote_of
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.answer.quote import Quote


def quote(call: QuestionCall) -> "Reply[Quote]":
    """Cost, ± and what would remain, and the call that asks it, or that still fits.  Costs nothing, touches no data."""
    offer = replace(call, verb="ask", at_size=None)
    with open_called(call) as dataset:
        question = asking(dataset, call)
        value = quote_of(question, call)
        if value.fits:
            fixes: tuple[Fix, ...] = (offer.fix("To ask it:"),)
        else:
            remaining, requested = Fraction(value.remaining["epsilon"]), Fraction(value.cost["epsilon"])
            cheaper = cheaper_call(question, offer, remaining=remaining, requested=requested)
            fixes = () if cheaper is None else (cheaper.fix("This fits:"),)
    return Reply(envelope(**value.to_json()), value, next=fixes)


def ask(
    call: QuestionCall, *, agree: "Callable[[Quote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[Answer]":
    """Charge and answer the question; before that `agree` gets the quote, and raises if the user does not agree."""
    with open_called(call) as dataset:
        question = asking(dataset, call)
        if agree is not None:
            agree(quote_of(question, call))
        with watch() as progress, affordable(call, question):
            answer = question.ask(**call.price, analyst=call.analyst, progress=progress)
    return Reply(envelope(**answer.to_json()), answer)
