"""`discreet train card` and `predict`: what a net's file can do by itself, for nothing."""

from pathlib import Path
from typing import Annotated

import typer

from discreet import outputs
from discreet.cli.drawing import draw, require_plot, unwrapped_text
from discreet.cli.learn_fit import ModelFile
from discreet.cli.learn_model import RowsFile
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import train as operation
from discreet.operation.model import ModelCall

Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw ε over the steps as .png or .svg.")]


def card(
    model_file: ModelFile, json: AsJson = False, plot: Plot = None, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Describe a net: its promise in words, how it was trained, and what it is not for.

    The card is Markdown.

    Example: discreet train card income.dp -o income.md --plot spent.png
    """
    require_new(output, yes)
    require_plot(plot, None, output, replace=yes)
    outputs.require_apart(plot, model_file, "must be another file than the net")
    call = ModelCall(model_file, output=output)
    reply = operation.card(call)
    data, content = reply.to_json(command_line), reply.value.encode()
    if plot is None:
        return Reply(data, lambda: reply.value, output, replace=yes, content=content)
    failure = draw(lambda: operation.spending_picture(call), plot, None, alt=reply.value)
    data |= {"plot": None if failure else str(plot), "caveats": [*data["caveats"], *([failure] if failure else [])]}
    notes = failure or f"Drawn: {plot}"
    return Reply(data, lambda: reply.value, output, replace=yes, content=content, notes=lambda: notes)


def predict(
    model_file: ModelFile, rows: RowsFile, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Predict rows of your own with a net's file.

    Costs nothing. The rows need a column for each feature; what they hold is not protected. The result is a CSV with
    the number of each row, its prediction and the probability of each class.

    Example: discreet train predict income.dp rows.csv -o out.csv
    """
    require_new(output, yes)
    reply = operation.predict(ModelCall(model_file, rows, output=output))
    content, unread = reply.value.to_csv(), reply.value.unread_words()
    notes = (lambda: unwrapped_text(unread)) if unread else None
    return Reply(
        reply.to_json(command_line), lambda: content.decode(), output, replace=yes, notes=notes, content=content
    )
