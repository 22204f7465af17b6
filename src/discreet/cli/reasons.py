"""Reasons that the ledger keeps for ever: of a curator's act, and of a second ledger over the same rows."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from discreet.errors import BadValue
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.question import reason

if TYPE_CHECKING:
    from discreet.operation.learn import LearnCall
    from discreet.operation.question import QuestionCall
    from discreet.operation.release import ReleaseCall
    from discreet.operation.score import ScoreCall
    from discreet.operation.synth import SynthCall
    from discreet.operation.synth_report import SynthReportCall
    from discreet.operation.train import TrainCall

Why = Annotated[str | None, typer.Option(metavar="TEXT", help="Reason to record in the ledger.")]
Second = Annotated[bool, typer.Option("--second-ledger", help="Give these rows a second ledger; needs --why.")]
WhySecond = Annotated[str | None, typer.Option("--why", metavar="TEXT", help="Reason to record in both ledgers.")]

AnyCall = TypeVar(
    "AnyCall", "LearnCall", "QuestionCall", "ReleaseCall", "ScoreCall", "SynthCall", "SynthReportCall", "TrainCall"
)


def require_why(why: str | None, act: Fix) -> str:
    """The reason; refused where there is none, with the act and a place for one."""
    if why is None or not why.strip():
        fix = Fix("Write:", act.verb, {**act.arguments, "why": UNKNOWN})
        raise BadValue("A reason must be given.", "The ledger keeps it beside the change.", fix)
    return reason(why.strip())


def with_second_ledger(call: AnyCall, second: bool, why: str | None) -> AnyCall:
    """The call with the reason for a second ledger; unchanged without --second-ledger."""
    if second:
        return replace(call, second_ledger=require_why(why, call.fix("", second_ledger=True)))
    if why is not None:
        fix = call.fix("Write:", second_ledger=True, why=UNKNOWN)
        raise BadValue("--why is the reason for a second ledger.", "There is no --second-ledger.", fix)
    return call
