"""`discreet learn quote`, `score` and `fairness`: how well a fitted model predicts persons of a dataset, and groups."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import terminal
from discreet.cli.asking import As, Eps, Level, Toml
from discreet.cli.drawing import draw, quote_picture, require_plot
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


def quote(
    metadata: Toml,
    model_file: ModelFile,
    metric: Metric = None,
    by: By = None,
    target: Target = None,
    positive: Positive = None,
    bins: Bins = None,
    of: Of = None,
    eps: Eps = None,
    level: Level = None,
    max_rows: MaxRows = None,
    test: Test = None,
    at_size: AtSize = None,
    analyst: As = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Show what a score or rates of groups would cost and how exact they are.

    Costs nothing and touches no data. The ± depends on how many persons count: --at-size names a number, otherwise it
    is that of the declared population.

    Example: discreet learn quote people.toml income.dp --metric auc --eps 0.5 --at-size 1000
    """
    require_new(output, yes, metadata)
    call = ScoreCall(
        metadata, model_file, metric, by, target, positive, bins, of, epsilon=eps, level=level, max_rows=max_rows,
        test=test, at_size=at_size, analyst=analyst, output=output, verb="learn quote",
    )  # fmt: skip
    reply = operation.quote(call)
    lines = str(reply.value).splitlines()
    data, picture = reply.to_json(command_line), lambda: quote_picture(lines, reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=metadata)


def score(
    metadata: Toml,
    model_file: ModelFile,
    metric: Metric = None,
    target: Target = None,
    positive: Positive = None,
    bins: Bins = None,
    of: Of = None,
    eps: Eps = None,
    level: Level = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
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
    require_new(output, yes, metadata)
    call = ScoreCall(
        metadata, model_file, metric, None, target, positive, bins, of, epsilon=eps, level=level, max_rows=max_rows,
        test=test, analyst=analyst, output=output,
    )  # fmt: skip
    reply = operation.score(with_second_ledger(call, second_ledger, why), watch=terminal.bar)
    return Reply(reply.to_json(command_line), lambda: str(reply.value), output, replace=yes, toml=metadata)


def fairness(
    metadata: Toml,
    model_file: ModelFile,
    by: By = None,
    target: Target = None,
    positive: Positive = None,
    of: Of = None,
    eps: Eps = None,
    level: Level = None,
    max_rows: MaxRows = None,
    test: Test = None,
    analyst: As = None,
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
    require_new(output, yes, metadata)
    require_plot(plot, metadata, replace=yes)
    call = ScoreCall(
        metadata, model_file, None, by, target, positive, of=of, epsilon=eps, level=level, max_rows=max_rows,
        test=test, analyst=analyst, output=output, plot=plot, verb="learn fairness",
    )  # fmt: skip
    reply = operation.fairness(with_second_ledger(call, second_ledger, why), watch=terminal.bar)
    data, text = reply.to_json(command_line), str(reply.value)
    if plot is None:
        return Reply(data, lambda: text, output, replace=yes, toml=metadata)
    failure = draw(reply.value.plot, plot, metadata, alt=text)
    data |= {"plot": None if failure else str(plot), "caveats": [*data["caveats"], *([failure] if failure else [])]}
    return Reply(data, lambda: text, output, replace=yes, toml=metadata, notes=lambda: failure or f"Drawn: {plot}")
