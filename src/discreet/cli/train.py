"""`discreet train` and `train plan`: a net on the rows of a dataset, its price first, and one file."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Delta, Eps, Rehearse, Toml
from discreet.cli.drawing import quote_picture, unwrapped_text
from discreet.cli.flags import taking
from discreet.cli.learn_fit import Features, Out, Target, Test, fit_notes
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import train as operation
from discreet.operation.train import TrainCall

if TYPE_CHECKING:
    from discreet.learn.task import LearnQuote

Epochs = Annotated[str | None, typer.Option(metavar="N", help="How often each person is drawn on average; 20.")]
Batch = Annotated[
    str | None, typer.Option(metavar="N", help="Persons expected in a step, with --rows; a sixteenth of all.")
]
Rows = Annotated[
    str | None, typer.Option(metavar="N", help="Number of persons if it is public; else a fiftieth of ε counts them.")
]
Hidden = Annotated[str | None, typer.Option(metavar="N,N", help="Widths of tanh layers; 32 by default.")]
Bins = Annotated[str | None, typer.Option(metavar="N", help="Cells that a number is cut into; 16 by default.")]
Rate = Annotated[str | None, typer.Option(metavar="X", help="Learning rate; from the noise by default.")]
Clip = Annotated[str | None, typer.Option(metavar="X", help="Length that a person's gradient is shortened to; 1.")]
MaxRows = Annotated[str | None, typer.Option(metavar="N", help="Rows a person brings to a step at most; 1.")]


def _flags(
    metadata: Toml,
    target: Target = None,
    features: Features = None,
    eps: Eps = None,
    delta: Delta = None,
    epochs: Epochs = None,
    batch: Batch = None,
    rows: Rows = None,
    hidden: Hidden = None,
    bins: Bins = None,
    learning_rate: Rate = None,
    clip: Clip = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
    rehearse: Rehearse = False,
) -> dict[str, Any]:
    """The typed options by the names of a `TrainCall`."""
    typed = dict(locals())
    return typed | {"epsilon": typed.pop("eps")}


@taking(_flags, partial(TrainCall, verb="train plan"))
def plan(*, call: TrainCall, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Show what training a net would cost, its steps and its noise.

    Costs nothing and touches no data.

    Example: discreet train plan people.toml --target income --eps 1
    """
    require_new(output, yes, call.metadata)
    reply = operation.plan(call)
    data, picture = reply.to_json(command_line), lambda: quote_picture(_lines(reply.value), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=call.metadata)


@taking(_flags, TrainCall)
def train(
    *,
    call: TrainCall,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Train without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Train a net on a dataset: pay before the first step, and write a file that holds it and its promise.

    On a terminal the plan is shown first and Enter agrees. The same training again costs nothing, and one that was
    interrupted goes on where it stood. Without --rows a noisy count of persons is paid for first, inside the same ε.

    Example: discreet train people.toml --target income --eps 1 -o income.dp
    """
    call = with_second_ledger(replace(call, output=output, replaces=yes), second_ledger, why)

    def agree(quote: "LearnQuote") -> None:
        terminal.require_agreed(_lines(quote), call.fix("To train it:", output=output, yes=True))

    confirms = not (yes or json or call.rehearse) and terminal.is_terminal()
    reply = operation.train(call, agree=agree if confirms else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    return Reply(data, lambda: unwrapped_text(data["file"]), notes=lambda: fit_notes(data))


def _lines(quote: "LearnQuote") -> list[str]:
    return str(quote).splitlines()
