"""`discreet learn predict`, `card` and `verify`: what a model's file can do by itself, for nothing."""

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.drawing import unwrapped_text
from discreet.cli.learn_fit import ModelFile
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation import model as operation
from discreet.operation.model import ModelCall

RowsFile = Annotated[Path, typer.Argument(metavar="ROWS", readable=False, help="CSV or Parquet file of rows.")]
Ledger = Annotated[
    Path | None, typer.Option("--ledger", metavar="TOML", help="Metadata of the dataset that was charged.")
]


def predict(
    model_file: ModelFile, rows: RowsFile, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Predict rows of your own with a model's file.

    Costs nothing. The rows need a column for each feature; what they hold is not protected. The result is a CSV with
    the number of each row, its prediction and the probability of each class. Cells that are empty or cannot be read
    count as missing, and stderr says how many there are.

    Example: discreet learn predict income.dp rows.csv -o out.csv
    """
    require_new(output, yes)
    reply = operation.predict(ModelCall(model_file, rows, output=output))
    content, unread = reply.value.to_csv(), reply.value.unread_words()
    notes = (lambda: unwrapped_text(unread)) if unread else None
    data = reply.to_json(command_line)
    return Reply(data, lambda: content.decode(), output, replace=yes, notes=notes, content=content)


def card(model_file: ModelFile, json: AsJson = False, output: OutFile = None, yes: Yes = False) -> Reply:
    """Describe a model: its promise in words, and what it is not for.

    The card is Markdown.

    Example: discreet learn card income.dp -o income.md
    """
    require_new(output, yes)
    reply = operation.card(ModelCall(model_file, output=output))
    content = reply.value.encode()
    return Reply(reply.to_json(command_line), lambda: reply.value, output, replace=yes, content=content)


def verify(
    model_file: ModelFile, ledger: Ledger = None, json: AsJson = False, output: OutFile = None, yes: Yes = False
) -> Reply:
    """Recompute what a model's file states, against a ledger too.

    Its digest, its ε and δ from its cost, and its plan from its facts; with --ledger also its charge and that the same
    numbers were released. If anything fails, the exit code is 6.

    Example: discreet learn verify income.dp --ledger people.toml
    """
    require_new(output, yes, ledger)
    reply = operation.verify(ModelCall(model_file, charged_to=ledger, output=output))
    return Reply(reply.to_json(command_line), lambda: str(reply.value), output, replace=yes, toml=ledger)
