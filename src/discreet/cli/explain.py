"""`discreet explain`: the path from a question to its numbers, from the stored answer or before asking."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.asking import Delta, Eps, Error, Level, Toml, Wanted, asking, opened, read_sql
from discreet.cli.reply import AsJson, OutFile, Reply, Yes, envelope, require_new
from discreet.errors import BadValue, bad

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.dataset import Dataset
    from discreet.table import Table

_RECEIPT = re.compile(r"\d+(-[0-9a-f]*)?")
_LAST = "last"


def explain(
    metadata: Toml,
    what: Annotated[str, typer.Argument(metavar="RECEIPT|SQL", help="A receipt, the word last, or a question.")],
    eps: Eps = None,
    error: Error = None,
    delta: Delta = None,
    level: Level = None,
    json: AsJson = False,
    output: OutFile = None,
    yes: Yes = False,
) -> Reply:
    """How a question is answered, before or after it is asked.

    Caps, sensitivity and its rule, mechanism, scale, step and the split of ε, in words or as JSON. A question without
    --eps is explained at 1. Costs nothing.

    Example: discreet explain people.toml last
    """
    require_new(output, yes, metadata)
    text = what.strip()
    if text == _LAST or _RECEIPT.fullmatch(text):
        with opened(metadata) as dataset:
            entry = _entry(dataset.table, text, metadata)
            if isinstance(entry["memo"], dict) and "words" in entry["memo"]:
                return _released(dataset.table, entry, output, replace=yes)
            answer = _stored(dataset.table, entry)
        told = f"{answer.question}\nReceipt {answer.receipt}{_drawn_by(answer)}.\n\n{answer.explain()}"
        return Reply(_answer_data(answer), lambda: _picture(told), output, replace=yes, toml=metadata)
    wanted = Wanted("explain", metadata, read_sql(what), eps, tuple(error or ()), delta, level)
    with opened(metadata) as dataset:
        data = _planned(dataset, wanted)
    words: list[str] = data["explain"]["words"]
    return Reply(data, lambda: _picture("\n".join(words)), output, replace=yes, toml=metadata)


def _planned(dataset: "Dataset", wanted: Wanted) -> dict[str, Any]:
    """The plan of a question that is not asked."""
    from discreet.answer.compose import cost_json
    from discreet.query import explain as explaining

    question = dataset.sql(wanted.sql)
    if wanted.eps is None and not wanted.error and question.options.epsilon is None:
        wanted = replace(wanted, eps="1")
    made = asking(dataset, wanted).plan(**wanted.price)
    told = explaining.as_json(made) | {"words": explaining.words(made)}
    caveats = list(explaining.caveats(made))
    return envelope(dataset=dataset.table.schema.name, cost=cost_json(made), explain=told, caveats=caveats)


def _entry(table: "Table", receipt: str, toml: Path) -> dict[str, Any]:
    """The charge of a receipt that was answered; the newest one for `last`."""
    there = table.standing() is not None
    charges = [one for one in table.ledger.entries() if one.get("state") == "COMMITTED"] if there else []
    if not charges:
        ask = f"SELECT COUNT(*) AS n FROM {table.schema.name}"
        fix = f'Ask first: discreet ask {shlex.quote(str(toml))} "{ask}" --eps 1'
        raise BadValue("There is no answer yet.", f"The ledger of {table.schema.name} holds none.", fix)
    names = {f"{one['n']}-{one['hash'][:12]}": one for one in charges}
    number, _, digits = receipt.partition("-")
    same = [name for name in names if name.split("-")[0] == number and name.split("-")[1].startswith(digits)]
    found = next(reversed(names)) if receipt == _LAST else next(iter(same), None)
    if found is None:
        fix = f"Give one of: {', '.join(['last', *list(names)[:-4:-1]])}"
        raise bad("receipt", "must be that of an answered question", receipt, fix)
    return names[found] | {"receipt": found}


def _stored(table: "Table", entry: dict[str, Any]) -> "Answer":
    """The answer of a charge."""
    from discreet.ask.room import recalled
    from discreet.gate import handed_out

    stored = table.ledger.stored(entry["key"])
    if stored is None:
        raise bad("receipt", "must be that of an answered question", entry["receipt"], "Give: last")
    return recalled(table, handed_out(stored), entry["receipt"], analyst=entry["analyst"])


def _drawn_by(answer: "Answer") -> str:
    """Which version drew the numbers; the first ledgers did not write it down."""
    version = answer.plan.get("version")
    return "" if version is None else f", drawn by Discreet {version}"


def _released(table: "Table", entry: dict[str, Any], output: Path | None, *, replace: bool) -> Reply:
    """How a release was measured, as the ledger keeps it."""
    memo, receipt = entry["memo"], entry["receipt"]
    data = envelope(
        dataset=table.schema.name,
        remaining=table.remaining(entry["analyst"]),
        receipt=receipt,
        explain={"question": memo["text"], "words": memo["words"]},
    )
    told = "\n".join([memo["text"], f"Receipt {receipt}.", "", *memo["words"]])
    return Reply(data, lambda: _picture(told), output, replace=replace, toml=table.toml)


def _answer_data(answer: "Answer") -> dict[str, Any]:
    return envelope(
        dataset=answer.dataset,
        cost=answer.cost,
        remaining=answer.remaining,
        receipt=answer.receipt,
        explain={**answer.plan, "question": answer.question},
        caveats=list(answer.caveats),
    )


def _picture(text: str) -> Any:
    from rich.text import Text

    return Text(text)
