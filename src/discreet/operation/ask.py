"""Quote a question, or ask it; a `QuestionCall` has the dataset, the question, the price and who asks."""

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
    """The cost, the ± and what would remain of the budget.  A quote costs nothing and reads no row.

    The reply offers a next call: the one that asks the question, or if it does not fit into the budget, one at a price
    that fits, where there is such a price.
    """
    ask_call = replace(call, verb="ask", at_size=None)
    with open_called(call) as dataset:
        question = asking(dataset, call)
        quoted = quote_of(question, call)
        if quoted.fits:
            fixes: tuple[Fix, ...] = (ask_call.fix("To ask it:"),)
        else:
            remaining, requested = Fraction(quoted.remaining["epsilon"]), Fraction(quoted.cost["epsilon"])
            cheaper = cheaper_call(question, ask_call, remaining=remaining, requested=requested)
            fixes = () if cheaper is None else (cheaper.fix("This fits:"),)
    return Reply(envelope(**quoted.to_json()), quoted, next=fixes)


def ask(
    call: QuestionCall, *, agree: "Callable[[Quote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[Answer]":
    """Answer the question and charge for it, unless it was asked before: then it gives the same answer for nothing.

    First `agree` gets the quote; it raises if the user does not agree, and what it returns is ignored.  `watch` opens a
    display of the progress.  The refusal of a question that exceeds the budget offers a call at a price that fits,
    where there is one.
    """
    with open_called(call) as dataset:
        question = asking(dataset, call)
        if agree is not None:
            agree(quote_of(question, call))
        with watch() as progress, affordable(call, question):
            answer = question.ask(**call.price, analyst=call.analyst, progress=progress)
    return Reply(envelope(**answer.to_json()), answer)
