"""`discreet explain`: show how a question is answered, from its stored answer or before it is asked."""

from typing import Annotated

import typer

from discreet.cli.asking import Delta, Eps, Error, Level, Toml, read_sql
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation.explain import explain as explain_question
from discreet.operation.question import QuestionCall


def explain(
    metadata: Toml,
    question: Annotated[str, typer.Argument(metavar="RECEIPT|SQL", help="A receipt, the word last, or a question.")],
    eps: Eps = None,
    error: Error = None,
    delta: Delta = None,
    level: Level = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """Explain how a question is answered, before or after it is asked.

    Caps, sensitivity and its rule, mechanism, scale, step and the split of ε, in words or as JSON. A question without
    --eps is explained at 1. Costs nothing.

    Example: discreet explain people.toml last
    """
    require_new(output, yes, metadata)
    call = QuestionCall(metadata, read_sql(question), eps, tuple(error or ()), delta, level, verb="explain")
    reply = explain_question(call)
    return Reply(reply.to_json(command_line), lambda: reply.value, output, replace=yes, toml=metadata)
