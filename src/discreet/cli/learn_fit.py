"""`discreet learn plan` and `fit`: a model's price, and one charge and a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Delta, Eps, Rehearse, Toml
from discreet.cli.drawing import quote_picture, unwrapped_text
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


def plan(
    metadata: Toml,
    model: Model = None,
    target: Target = None,
    features: Features = None,
    eps: Eps = None,
    delta: Delta = None,
    rho: Rho = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
    rehearse: Rehearse = False,
) -> Reply:
    """Show what a model would cost and with which noise it would be fitted.

    Costs nothing and touches no data.

    Example: discreet learn plan people.toml --model naive-bayes --target income --eps 1
    """
    require_new(output, yes, metadata)
    call = LearnCall(
        metadata, model, target, features, epsilon=eps, delta=delta, rho=rho, max_rows=max_rows, test=test,
        analyst=analyst, rehearse=rehearse, verb="learn plan",
    )  # fmt: skip
    reply = operation.plan(call)
    data, picture = reply.to_json(command_line), lambda: quote_picture(_lines(reply.value), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=metadata)


def fit(
    metadata: Toml,
    model: Model = None,
    target: Target = None,
    features: Features = None,
    eps: Eps = None,
    delta: Delta = None,
    rho: Rho = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
    json: AsJson = False,
    output: Out = None,
    yes: Annotated[bool, typer.Option("--yes", help="Fit without confirmation; replace FILE.")] = False,
    second_ledger: Second = False,
    why: WhySecond = None,
    rehearse: Rehearse = False,
) -> Reply:
    """Fit a model: pay once, and write a file that holds it and its promise.

    On a terminal the plan is shown first and Enter agrees. The same fit again costs nothing. With --test some persons
    are held out, on whom `learn score --test` with the same share tries the model.

    Example: discreet learn fit people.toml --model naive-bayes --target income --eps 1 -o income.dp
    """
    call = LearnCall(
        metadata, model, target, features, epsilon=eps, delta=delta, rho=rho, max_rows=max_rows, test=test,
        analyst=analyst, rehearse=rehearse, output=output, replaces=yes,
    )  # fmt: skip
    call = with_second_ledger(call, second_ledger, why)

    def agree(quote: "LearnQuote") -> None:
        terminal.require_agreed(_lines(quote), call.fix("To fit it:", output=output, yes=True))

    confirms = not (yes or json or rehearse) and terminal.is_terminal()
    reply = operation.fit(call, agree=agree if confirms else None, watch=terminal.bar)
    data = reply.to_json(command_line)
    return Reply(data, lambda: unwrapped_text(data["file"]), notes=lambda: _fit_notes(data))


# --- for people ------------------------------------------------------------------------------------------------------


def _lines(quote: "LearnQuote") -> list[str]:
    return str(quote).splitlines()


def _fit_notes(data: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.text import Text

    cost, remaining = data["cost"], data["remaining"]
    price = price_text(cost)
    paid = f"replayed: cost 0 (when first fitted, {price})" if data["replayed"] else f"cost: {price}"
    lines = [
        "",
        *data["words"],
        f"{paid}, protecting each {cost['unit']} ({cost['neighbours']})",
        f"remaining: ε = {remaining['epsilon']}, δ = {remaining['delta']}",
        f"receipt: {data['receipt']}",
    ]
    commands = ["", "Next:", *(f"  {line}" for line in data["next"])]
    return Group(Text("\n".join(lines), style="dim"), unwrapped_text("\n".join(commands), "dim"))
