"""`discreet quote`: show cost, ± and what would remain.  Costs nothing, touches no data."""

from discreet.cli.asking import As, AtSize, Delta, Eps, Error, Level, Rehearse, Sql, Toml, read_sql
from discreet.cli.drawing import quote_picture
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, require_new
from discreet.fix import command_line
from discreet.operation.ask import quote as quote_question
from discreet.operation.question import QuestionCall


def quote(
    metadata: Toml,
    sql: Sql,
    eps: Eps = None,
    error: Error = None,
    delta: Delta = None,
    level: Level = None,
    analyst: As = None,
    at_size: AtSize = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
    rehearse: Rehearse = False,
) -> Reply:
    """Show what a question would cost and how exact it would be.

    Costs nothing and touches no data. A typed --eps is the whole price; --error finds the least that reaches a ±.

    Example: discreet quote people.toml "SELECT region, COUNT(*) AS n FROM people GROUP BY region" --eps 1
    """
    require_new(output, yes, metadata)
    sql, widths = read_sql(sql), tuple(error or ())
    call = QuestionCall(metadata, sql, eps, widths, delta, level, analyst, at_size, rehearse, verb="quote")
    reply = quote_question(call)
    data, picture = reply.to_json(command_line), lambda: quote_picture(reply.value.lines(), reply.next or ())
    return Reply(data, picture, output, replace=yes, toml=metadata)
