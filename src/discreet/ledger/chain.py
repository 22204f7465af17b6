"""A chain of entries: each hash covers the entry and, through the hash before, all earlier ones.

    hash₀ = SHA-256("discreet ledger 1"),   hash_n = SHA-256(hash_{n−1} ‖ canonical JSON of entry n)

A changed, dropped or swapped entry changes every later hash.  A cut end changes the last hash, which is also stored in
a second place (head.py).
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
        return entry_of(self.body, self.number)


def canonical(entry: Any) -> str:
    """The one text of a JSON value: sorted keys, no spaces, ASCII; NaN and infinities have none.

    >>> canonical({"b": 1, "a": "ε"})
    '{"a":"\\\\u03b5","b":1}'
    """
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def link_hash(before: bytes, body: str) -> bytes:
    """The hash of an entry that follows the one with hash `before`."""
    return hashlib.sha256(before + body.encode("utf-8", "surrogatepass")).digest()


def next_row(before: Row | None, entry: dict[str, Any]) -> Row:
    """The row that appends `entry`, numbered."""
    number = 1 if before is None else before.number + 1
    body = canonical({**entry, "n": number})
    return Row(number, body, link_hash(ROOT if before is None else before.hash, body))


def checked_rows(rows: Iterable[Row], before: Row | None = None) -> list[Row]:
    """The rows if they follow `before` without a gap; else refused, naming the first that does not."""
    chain, digest, number = [], ROOT if before is None else before.hash, 0 if before is None else before.number
    for row in rows:
        number += 1
        if row.number != number:
            raise broken(f"Entry {number} is missing.")
        if row.hash != link_hash(digest, row.body):
            raise broken(f"Entry {number} is not what was written.")
        digest = row.hash
        chain.append(row)
    return chain


def entry_of(body: str, number: int) -> dict[str, Any]:
    """The entry of a stored text; refused if it is no object or has another number."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or value.get("n") != number:
        raise broken(f"Entry {number} is not an entry.")
    return value


def broken(what: str) -> IntegrityError:
    """The refusal of a ledger whose chain does not hold."""
    return IntegrityError(what, "The ledger's entries are chained by hashes, and the chain does not hold.", _RESTORE)


def export_lines(rows: Iterable[Row]) -> Iterable[str]:
    """The rows as JSON lines, for auditors: anyone can check the chain without the database."""
    for row in rows:
        yield canonical({"entry": json.loads(row.body), "hash": row.hash.hex()})


def rows_of_export(lines: Iterable[str]) -> list[Row]:
    """The rows of an export, their chain checked.

    >>> row = next_row(None, {"kind": "open"})
    >>> rows_of_export(export_lines([row])) == [row]
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
    return checked_rows(rows)
