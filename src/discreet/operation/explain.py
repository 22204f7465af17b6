"""Explain how a question is answered, from its stored answer or before it is asked.  Costs nothing."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.errors import BadValue, bad
from discreet.fix import Fix
from discreet.operation.dataset import open_called
from discreet.operation.question import QuestionCall, asking, has_price
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.dataset import Dataset
    from discreet.table import Table

_RECEIPT = re.compile(r"\d+(-[0-9a-f]*)?")
_LAST = "last"


def explain(call: QuestionCall) -> Reply[str]:
    """How a question is answered, in words; in place of the question a receipt or the word last may stand."""
    text = call.sql.strip()
    with open_called(call) as dataset:
        if text != _LAST and not _RECEIPT.fullmatch(text):
            return _explain_plan(dataset, call)
        entry = _entry(dataset.table, text)
        if isinstance(entry["memo"], dict) and "words" in entry["memo"]:
            return _explain_release(dataset.table, entry)
        return _explain_answer(_stored_answer(dataset.table, entry))


def _explain_plan(dataset: "Dataset", call: QuestionCall) -> Reply[str]:
    """The plan of a question that is not asked; at ε = 1 if it has no price."""
    from discreet.answer.compose import cost_json
    from discreet.query import explain as explaining

    priced = call if has_price(dataset.sql(call.sql), call) else replace(call, epsilon="1")
    plan = asking(dataset, priced).plan(**priced.price)
    words, caveats = explaining.words(plan), list(explaining.caveats(plan))
    path = explaining.to_json(plan) | {"words": words}
    data = envelope(dataset=dataset.table.schema.name, cost=cost_json(plan), explain=path, caveats=caveats)
    return Reply(data, "\n".join(words))


def _entry(table: "Table", receipt: str) -> dict[str, Any]:
    """The answered charge of a receipt; the newest one for `last`."""
    entries = [] if table.standing() is None else table.ledger.entries()
    charges = [entry for entry in entries if entry.get("state") == "COMMITTED" and entry["kind"] != "part"]
    if not charges:
        question = f"SELECT COUNT(*) AS n FROM {table.schema.name}"
        fix = Fix("Ask first:", "ask", {"sql": question, "epsilon": "1"})
        raise BadValue("There is no answer yet.", f"The ledger of {table.schema.name} holds none.", fix)
    names = {f"{charge['n']}-{charge['hash'][:12]}": charge for charge in charges}
    number, _, digits = receipt.partition("-")
    matches = [name for name in names if name.split("-")[0] == number and name.split("-")[1].startswith(digits)]
    name = next(reversed(names)) if receipt == _LAST else next(iter(matches), None)
    if name is None:
        newest = ", ".join([_LAST, *list(names)[:-4:-1]])
        raise bad("receipt", "must be that of an answered question", receipt, f"Give one of: {newest}")
    return names[name] | {"receipt": name}


def _stored_answer(table: "Table", entry: dict[str, Any]) -> "Answer":
    """The answer of a charge."""
    from discreet.ask.asking import stored_answer
    from discreet.gate import handed_out

    stored = table.ledger.stored(entry["key"])
    if stored is None:
        raise bad("receipt", "must be that of an answered question", entry["receipt"], "Give: last")
    return stored_answer(table, handed_out(stored), entry["receipt"], analyst=entry["analyst"])


def _explain_answer(answer: "Answer") -> Reply[str]:
    """The path to the stored numbers; the first ledgers did not record which version drew them."""
    data = envelope(
        dataset=answer.dataset,
        cost=answer.cost,
        remaining=answer.remaining,
        receipt=answer.receipt,
        explain={**answer.plan, "question": answer.question},
        caveats=list(answer.caveats),
    )
    version = answer.plan.get("version")
    drawn_by = "" if version is None else f", drawn by Discreet {version}"
    return Reply(data, f"{answer.question}\nReceipt {answer.receipt}{drawn_by}.\n\n{answer.explain()}")


def _explain_release(table: "Table", entry: dict[str, Any]) -> Reply[str]:
    """The measurements of a release, in the words that the ledger keeps."""
    memo, receipt = entry["memo"], entry["receipt"]
    data = envelope(
        dataset=table.schema.name,
        remaining=table.remaining(entry["analyst"]),
        receipt=receipt,
        explain={"question": memo["text"], "words": memo["words"]},
    )
    return Reply(data, "\n".join([memo["text"], f"Receipt {receipt}.", "", *memo["words"]]))
