"""Quoting and asking: what a question would cost, and its answer."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.fix import Fix
from discreet.operation.cheaper import affordable, cheaper
from discreet.operation.dataset import Watch, opened, unwatched
from discreet.operation.question import QuestionCall, asking, quoted
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.answer.quote import Quote


def quote(call: QuestionCall) -> "Reply[Quote]":
    """Cost, ± and what would remain, and the call that asks it, or that still fits.  Costs nothing, touches no data."""
    offer = replace(call, verb="ask", at_size=None)
    with opened(call) as dataset:
        question = asking(dataset, call)
        value = quoted(question, call)
        if value.fits:
            ways: tuple[Fix, ...] = (offer.fix("To ask it:"),)
        else:
            left, price = Fraction(value.remaining["epsilon"]), Fraction(value.cost["epsilon"])
            less = cheaper(question, offer, left=left, price=price)
            ways = () if less is None else (less.fix("This fits:"),)
    return Reply(envelope(**value.to_json()), value, next=ways)


def ask(
    call: QuestionCall, *, agree: "Callable[[Quote], object] | None" = None, watch: Watch = unwatched
) -> "Reply[Answer]":
    """The answer, charged; before that the quote goes to `agree`, which raises where nobody does."""
    with opened(call) as dataset:
        question = asking(dataset, call)
        if agree is not None:
            agree(quoted(question, call))
        with watch() as progress, affordable(call, question):
            answer = question.ask(**call.price, analyst=call.analyst, progress=progress)
    return Reply(envelope(**answer.to_json()), answer)
