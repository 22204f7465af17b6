"""`discreet quote`: cost, ± and what would remain.  Costs nothing, touches no data."""

from typing import TYPE_CHECKING, Any

from discreet.cli.asking import As, AtSize, Delta, Eps, Error, Level, Sql, Toml, Wanted, asking, opened, read_sql
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new

if TYPE_CHECKING:
    from discreet.answer.quote import Quote
    from discreet.dataset import Asking


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
) -> Reply:
    """What a question would cost and how exact it would be.

    Costs nothing and touches no data. A typed --eps is the whole price; --error finds the least that reaches a ±.

    Example: discreet quote people.toml "SELECT region, COUNT(*) AS n FROM people GROUP BY region" --eps 1
    """
    require_new(output, yes, metadata)
    text = read_sql(sql)
    wanted = Wanted("quote", metadata, text, eps, tuple(error or ()), delta, level, analyst, at_size)
    with opened(metadata) as dataset:
        found = quoted(asking(dataset, wanted), wanted)
    to_ask = Wanted("ask", metadata, text, eps, wanted.error, delta, level, analyst).command()
    return Reply(data(found) | {"next": [to_ask]}, lambda: _picture(found, to_ask), output, replace=yes, toml=metadata)


def quoted(question: "Asking", wanted: Wanted) -> "Quote":
    """The quote at the price that was typed."""
    return question.quote(**wanted.price, at_size=wanted.size, analyst=wanted.analyst)


def data(found: "Quote") -> dict[str, Any]:
    """The quote for programs."""
    return envelope(**found.to_json())


def _picture(found: "Quote", to_ask: str) -> Any:
    from rich.console import Group
    from rich.text import Text

    return Group(
        *map(Text, found.lines()), "", Text("To ask it:"), Text(f"  {to_ask}", no_wrap=True, overflow="ignore")
    )
