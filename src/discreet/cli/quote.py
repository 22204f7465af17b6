"""`discreet quote`: cost, ± and what would remain.  Costs nothing, touches no data."""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cli.asking import (
    As,
    AtSize,
    Delta,
    Eps,
    Error,
    Level,
    Rehearse,
    Sql,
    Toml,
    Wanted,
    asking,
    opened,
    read_sql,
)
from discreet.cli.fixes import cheaper
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
    rehearse: Rehearse = False,
) -> Reply:
    """What a question would cost and how exact it would be.

    Costs nothing and touches no data. A typed --eps is the whole price; --error finds the least that reaches a ±.

    Example: discreet quote people.toml "SELECT region, COUNT(*) AS n FROM people GROUP BY region" --eps 1
    """
    require_new(output, yes, metadata)
    text = read_sql(sql)
    wanted = Wanted("quote", metadata, text, eps, tuple(error or ()), delta, level, analyst, at_size, rehearse)
    with opened(metadata, rehearse=rehearse) as dataset:
        question = asking(dataset, wanted)
        found = quoted(question, wanted)
        to_ask = Wanted("ask", metadata, text, eps, wanted.error, delta, level, analyst, rehearse=rehearse)
        offered = to_ask if found.fits else _cheaper(question, to_ask, found)
    lines = [] if offered is None else [offered.command()]
    return Reply(data(found) | {"next": lines}, lambda: _picture(found, lines), output, replace=yes, toml=metadata)


def quoted(question: "Asking", wanted: Wanted) -> "Quote":
    """The quote at the price that was typed."""
    found = question.quote(**wanted.price, at_size=wanted.size, analyst=wanted.analyst)
    return replace(found, most_epsilon=question.table.budget.max_epsilon_per_question)


def _cheaper(question: "Asking", wanted: Wanted, found: "Quote") -> Wanted | None:
    left, price = Fraction(found.remaining["epsilon"]), Fraction(found.cost["epsilon"])
    return cheaper(question, wanted, left=left, price=price)


def data(found: "Quote") -> dict[str, Any]:
    """The quote for programs."""
    return envelope(**found.to_json())


def _picture(found: "Quote", offered: list[str]) -> Any:
    from rich.console import Group
    from rich.text import Text

    said = [Text(""), Text("To ask it:" if found.fits else "This fits:")] if offered else []
    commands = (Text(f"  {line}", no_wrap=True, overflow="ignore") for line in offered)
    return Group(*map(Text, found.lines()), *said, *commands)
