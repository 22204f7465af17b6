"""`discreet learn quote`, `score` and `fairness`: how well a fitted model predicts persons of a dataset, and groups."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Eps, Level, Rehearse, Toml
from discreet.cli.drawing import draw, quote_picture, require_plot
from discreet.cli.flags import taking
from discreet.cli.learn_fit import MaxRows, ModelFile, Test
from discreet.cli.reasons import Second, WhySecond, with_second_ledger
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import score as operation
from discreet.operation.score import ScoreCall

Metric = Annotated[str | None, typer.Option(metavar="NAME", help="accuracy, auc, log_loss or r2.")]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with public values, whose groups are compared.")]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of the target, if the model has another name.")
]
Positive = Annotated[str | None, typer.Option(metavar="CLASS", help="Class that an AUC or true positives are about.")]
Bins = Annotated[str | None, typer.Option(metavar="N", help="Bins of an AUC; 96 by default, fewer have less noise.")]
Of = Annotated[str | None, typer.Option(metavar="WHAT", help="What ± is about: persons (default) or population.")]
AtSize = Annotated[str | None, typer.Option(metavar="N", help="Number of persons for which the ± is shown.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the rates as .png or .svg.")]


def _flags(
    metadata: Toml,
    model_file: ModelFile,
    target: Target = None,
    positive: Positive = None,
    of: Of = None,
    eps: Eps = None,
    level: Level = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
    rehearse: Rehearse = False,
) -> dict[str, Any]:
    """The typed options by the names of a `ScoreCall`."""
    typed = dict(locals())
    return typed | {"epsilon": typed.pop("eps")}


@taking(_flags, partial(ScoreCall, verb="learn quote"))
def quote(
    *,
    metric: Metric = None,
    by: By = None,
    bins: Bins = None,
    call: ScoreCall,
    at_size: AtSize = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Show what a score or rates of groups would cost and how exact they are.

    Costs nothing and touches no data. The ± depends on how many persons count: --at-size names a number, otherwise it
    is that of the declared population.

    Example: discreet learn quote people.toml income.dp --metric auc --eps 0.5 --at-size 1000
    """
    require_new(output, yes, call.metadata)
    reply = operation.quote(replace(call, metric=metric, by=by, bins=bins, at_size=at_size, output=output))
    lines = str(reply.value).splitlines()
    data, picture = reply.to_json(command_line), lambda: quote_picture(lines, reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=call.metadata)


@taking(_flags, ScoreCall)
def score(
    *,
    metric: Metric = None,
    bins: Bins = None,
    call: ScoreCall,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Score a fitted model on the persons of a dataset, with its ±.

    It is charged once, and the same score again costs nothing. With --test only persons that are held out count.

    Example: discreet learn score people.toml income.dp --metric accuracy --eps 0.5 --test 0.2
    """
    require_new(output, yes, call.metadata)
    call = with_second_ledger(replace(call, metric=metric, bins=bins, output=output), second_ledger, why)
    reply = operation.score(call, watch=terminal.bar)
    return Reply(reply.to_json(command_line), lambda: str(reply.value), output, replace=yes, toml=call.metadata)


@taking(_flags, partial(ScoreCall, verb="learn fairness"))
def fairness(
    *,
    by: By = None,
    call: ScoreCall,
    json: AsJson = False,
    plot: Plot = None,
    output: OutFile = None,
    yes: Yes = False,
    second_ledger: Second = False,
    why: WhySecond = None,
) -> Reply:
    """Compare how well a fitted model predicts each group, with ±.

    Accuracy, true and false positives of each group and the gaps between groups are one charge, and the same again
    costs nothing. With --test only persons that are held out count.

    Example: discreet learn fairness people.toml income.dp --by sex --eps 0.5 --test 0.2
    """
    metadata = call.metadata
    require_new(output, yes, metadata)
    require_plot(plot, metadata, output, replace=yes)
    call = with_second_ledger(replace(call, by=by, output=output, plot=plot), second_ledger, why)
    reply = operation.fairness(call, watch=terminal.bar)
    data, text = reply.to_json(command_line), str(reply.value)
    if plot is None:
        return Reply(data, lambda: text, output, replace=yes, toml=metadata)
    failure = draw(reply.value.plot, plot, metadata, alt=text)
    data |= {"plot": None if failure else str(plot), "caveats": [*data["caveats"], *([failure] if failure else [])]}
    return Reply(data, lambda: text, output, replace=yes, toml=metadata, notes=lambda: failure or f"Drawn: {plot}")
