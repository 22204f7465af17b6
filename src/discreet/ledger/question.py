"""The entry of a charge: public words only, in one shape, so that two charges can be compared."""

import json
from datetime import UTC, datetime
from typing import Any

from discreet.errors import bad
from discreet.ledger.chain import canonical
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.rules import text
from discreet.privacy import cost as costs
from discreet.privacy.cost import Cost

_LONGEST_MEMO = 2**16
_DEEPEST_MEMO = 40


def entry(kind: str, **facts: Any) -> dict[str, Any]:
    """An entry with the time of day, which nothing depends on: entries are ordered by number."""
    return {"kind": kind, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **facts}


def charge_entry(kind: str, request: ChargeRequest, cost: Cost, *, purse: int | None = None) -> dict[str, Any]:
    """The charge as it will be stored, without its declared ε and δ and its weight."""
    run = {"request": text(request.request, "request")} if request.request else {}
    return {
        "kind": kind,
        "key": text(request.key, "key"),
        "analyst": None if request.analyst is None else text(request.analyst, "analyst"),
        "path": [list(pair) for pair in request.path],
        "snapshot": snapshot_name(request.snapshot),
        "cost": costs.to_json(costs.require_cost(cost)),
        "memo": _memo(request.memo),
        "purse": purse,
        **run,
    }


def snapshot_name(value: Any) -> str:
    """The name of the table's snapshot, empty if none is given."""
    return "" if value == "" else text(value, "snapshot")


def reason(why: Any) -> str:
    """A curator's reason in their own words; the … that stands for it in a suggested command is refused."""
    words = text(why, "why", 2000)
    if words.strip().strip("….\"'") == "":
        raise bad("why", "must be a reason", words, "Say in your own words why; the ledger keeps it for ever.")
    return words


def _memo(memo: Any) -> Any:
    """A memo as JSON gives it back: public words about the question, short and flat enough to keep for ever."""
    rule, fix = "must be JSON of at most 64 KiB, nested 40 deep at most", "Give the question's text or a small dict."
    try:
        body = canonical(memo)
    except (TypeError, ValueError, RecursionError):
        raise bad("memo", rule, type(memo).__name__, fix) from None
    if len(body) > _LONGEST_MEMO or _depth(memo) > _DEEPEST_MEMO:
        raise bad("memo", rule, f"{len(body)} bytes", fix)
    return json.loads(body)


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, (list, tuple)) else 0
