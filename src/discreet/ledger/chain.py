"""Entries that only grow: each hash covers the entry and, through the hash before, all earlier ones.

    hash₀ = SHA-256("discreet ledger 1"),   hash_n = SHA-256(hash_{n−1} ‖ canonical JSON of entry n)

Whoever changes, drops or swaps an entry changes every hash from there on; whoever cuts the end changes the last one,
which is also kept in a second place (head.py).
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.errors import IntegrityError

ROOT = hashlib.sha256(b"discreet ledger 1").digest()
_RESTORE = "Restore the ledger from a copy that verifies, or ask whoever holds its last head."


@dataclass(frozen=True)
class Row:
    """One stored entry: its number, its canonical text and its hash."""

    number: int
    body: str
    hash: bytes

    @cached_property
    def entry(self) -> dict[str, Any]:
        """The entry as a value, parsed once."""
        return parsed(self.body, self.number)


def canonical(entry: Any) -> str:
    """The one text of a JSON value: sorted keys, no spaces, ASCII; NaN and infinities have none.

    >>> canonical({"b": 1, "a": "ε"})
    '{"a":"\\\\u03b5","b":1}'
    """
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def linked(before: bytes, body: str) -> bytes:
    """The hash of an entry that follows the one with hash `before`."""
    return hashlib.sha256(before + body.encode("utf-8", "surrogatepass")).digest()


def grown(before: Row | None, entry: dict[str, Any]) -> Row:
    """The row that appends `entry`, numbered."""
    number = 1 if before is None else before.number + 1
    body = canonical({**entry, "n": number})
    return Row(number, body, linked(ROOT if before is None else before.hash, body))


def checked(rows: Iterable[Row], before: Row | None = None) -> list[Row]:
    """The rows if they follow `before` without a gap; else refused, naming the first that does not."""
    found, last, number = [], ROOT if before is None else before.hash, 0 if before is None else before.number
    for row in rows:
        number += 1
        if row.number != number:
            raise broken(f"Entry {number} is missing.")
        if row.hash != linked(last, row.body):
            raise broken(f"Entry {number} is not what was written.")
        last = row.hash
        found.append(row)
    return found


def parsed(body: str, number: int) -> dict[str, Any]:
    """The value of a stored text, refused if it is no object or another entry's."""
    try:
        value = json.loads(body)
        same = isinstance(value, dict) and value.get("n") == number
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise broken(f"Entry {number} is not an entry.")
    found: dict[str, Any] = value
    return found


def broken(what: str) -> IntegrityError:
    """The refusal of a ledger whose chain does not hold."""
    return IntegrityError(what, "The ledger's entries are chained by hashes, and the chain does not hold.", _RESTORE)


def exported(rows: Iterable[Row]) -> Iterable[str]:
    """The rows as JSON lines, for auditors: anyone can check the chain without the database."""
    for row in rows:
        yield canonical({"entry": json.loads(row.body), "hash": row.hash.hex()})


def imported(lines: Iterable[str]) -> list[Row]:
    """The rows of an export, their chain checked.

    >>> row = grown(None, {"kind": "open"})
    >>> imported(exported([row])) == [row]
    True
    """
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
            row = Row(number, canonical(value["entry"]), bytes.fromhex(value["hash"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise broken(f"Line {number} is not an exported entry.") from None
        if not isinstance(value["entry"], dict) or value["entry"].get("n") != number:
            raise broken(f"Line {number} is not entry {number}.")
        rows.append(row)
    return checked(rows)
