"""`discreet learn plan` and `fit`: a model's price, and one charge and a file."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Delta, Eps, Rehearse, Toml
from discreet.cli.drawing import quote_picture, unwrapped_text
from discreet.cli.flags import taking
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import learn as operation
from discreet.operation.learn import LearnCall
from discreet.terms import price_text

if TYPE_CHECKING:
    from discreet.learn.task import LearnQuote

_MODELS = (  # those of learn.learners, which would take long to import for a line of help
    "naive-bayes, additive, random-forest, decision-tree, gaussian-naive-bayes, logistic, hinge, linear-regression"
)
Model = Annotated[str | None, typer.Option(metavar="NAME", help=f"Method, one of {_MODELS}.")]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column to be predicted.")]
Features = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns to predict from; all with public facts by default.")
]
Rho = Annotated[str | None, typer.Option(metavar="ρ", help="ρ of zCDP to spend instead of ε.")]
MaxRows = Annotated[str | None, typer.Option(metavar="N", help="Rows with which a unit counts; 1 by default.")]
Test = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Share of persons held out by a keyed hash, such as 0.2.")
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", readable=False, help="File of a fitted model.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; NAME.dp by default.")]


ClassWeight = Annotated[
    list[str] | None,
    typer.Option(metavar="CLASS=2", help="Public weight of a class in logistic and hinge; repeat."),
]
Solver = Annotated[
    str | None, typer.Option(metavar="NAME", help="Solver of linear models: auto, descent, objective, output, adassp.")
]
Norm = Annotated[str | None, typer.Option(metavar="X", help="Length to which linear models shorten longer rows.")]
Alpha = Annotated[str | None, typer.Option(metavar="X", help="Ridge of linear models, for solvers that have one.")]
Passes = Annotated[str | None, typer.Option(metavar="N", help="Most passes of descent over the rows; 100 by default.")]
Rows = Annotated[str | None, typer.Option(metavar="N", help="Number of persons if it is public, for linear models.")]
Trees = Annotated[str | None, typer.Option(metavar="N", help="Trees of random-forest; from the price by default.")]
Depth = Annotated[str | None, typer.Option(metavar="N", help="Depth of trees; from the noise by default.")]
Bins = Annotated[str | None, typer.Option(metavar="N", help="Cells of a number in naive-bayes and additive.")]


def _flags(
    metadata: Toml,
    model: Model = None,
    target: Target = None,
    features: Features = None,
    eps: Eps = None,
    delta: Delta = None,
    rho: Rho = None,
    max_rows: MaxRows = None,
    test: Test = None,
    class_weight: ClassWeight = None,
    solver: Solver = None,
    norm: Norm = None,
    alpha: Alpha = None,
    passes: Passes = None,
    rows: Rows = None,
    trees: Trees = None,
    depth: Depth = None,
    bins: Bins = None,
    analyst: As = None,
    rehearse: Rehearse = False,
) -> dict[str, Any]:
    """The typed options by the names of a `LearnCall`."""
    typed = dict(locals())
    return typed | {"epsilon": typed.pop("eps"), "class_weight": tuple(class_weight or ())}


@taking(_flags, partial(LearnCall, verb="learn plan"))
def plan(*, call: LearnCall, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Show what a model would cost and with which noise it would be fitted.

    Costs nothing and touches no data.

    Example: discreet learn plan people.toml --model naive-bayes --target income --eps 1
    """
    require_new(output, yes, call.metadata)
    reply = operation.plan(call)
    data, picture = reply.to_json(command_line), lambda: quote_picture(_lines(reply.value), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=call.metadata)


@taking(_flags, LearnCall)
def fit(
    *,
    call: LearnCall,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Fit without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Fit a model: pay once, and write a file that holds it and its promise.

    On a terminal the plan is shown first and Enter agrees. The same fit again costs nothing. With --test some persons
    are held out, on whom `learn score --test` with the same share tries the model.

    Example: discreet learn fit people.toml --model naive-bayes --target income --eps 1 -o income.dp
    """
    call = with_second_ledger(replace(call, output=output, replaces=yes), second_ledger, why)

    def agree(quote: "LearnQuote") -> None:
        terminal.require_agreed(_lines(quote), call.fix("To fit it:", output=output, yes=True))

    confirms = not (yes or json or call.rehearse) and terminal.is_terminal()
    reply = operation.fit(call, agree=agree if confirms else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    return Reply(data, lambda: unwrapped_text(data["file"]), notes=lambda: fit_notes(data))


# --- for people ------------------------------------------------------------------------------------------------------


def _lines(quote: "LearnQuote") -> list[str]:
    return str(quote).splitlines()


def fit_notes(data: dict[str, Any]) -> Any:
    """What a fit cost, whom it protects, and what can follow."""
    from rich.console import Group
    from rich.text import Text

    cost, remaining = data["cost"], data["remaining"]
    price = price_text(cost)
    paid = f"replayed: cost 0 (when first fitted, {price})" if data["replayed"] else f"cost: {price}"
    left = f"remaining: ε = {remaining['epsilon']}, δ = {remaining['delta']}"
    if data.get("rehearsal"):
        paid, left = f"cost: nothing was charged; without --rehearse {price}", "remaining: as before"
    lines = [
        "",
        *data["words"],
        f"{paid}, protecting each {cost['unit']} ({cost['neighbours']})",
        left,
        f"receipt: {data['receipt']}",
    ]
    commands = ["", "Next:", *(f"  {line}" for line in data["next"])]
    return Group(Text("\n".join(lines), style="dim"), unwrapped_text("\n".join(commands), "dim"))
