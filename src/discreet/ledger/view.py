"""Reading entries from the file: in order, by number, by key.  An entry that is looked up alone is checked.

A row is accepted only if its hash follows from the row before it and the row after it follows from its own.  So a wrong
index, or a single edited entry, is refused at once; --verify checks everything else.
"""

import json
import sqlite3
from fractions import Fraction

from discreet.ledger import schema
from discreet.ledger.chain import ROOT, Row, broken, link_hash
from discreet.ledger.written import fraction


class View:
    """The entries and answers that one connection sees."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, after: int) -> list[Row]:
        """The entries after that number."""
        query = "SELECT n, body, hash FROM entries WHERE n > ? ORDER BY n"
        return [Row(n, body, bytes(digest)) for n, body, digest in self._connection.execute(query, (after,))]

    def last(self) -> Row | None:
        """The last entry."""
        row = self._connection.execute("SELECT n, body, hash FROM entries ORDER BY n DESC LIMIT 1").fetchone()
        return None if row is None else Row(row[0], row[1], bytes(row[2]))

    def row(self, number: int) -> Row | None:
        """One entry, its links to both neighbours checked."""
        query = "SELECT n, body, hash FROM entries WHERE n BETWEEN ? AND ?"
        span = (number - 1, number + 1)
        rows = {n: Row(n, body, bytes(digest)) for n, body, digest in self._connection.execute(query, span)}
        row = rows.get(number)
        if row is None:
            return None
        before, after = rows.get(number - 1), rows.get(number + 1)
        if number > 1 and before is None:
            raise broken(f"Entry {number - 1} is missing.")
        if row.hash != link_hash(ROOT if before is None else before.hash, row.body):
            raise broken(f"Entry {number} is not what was written.")
        if after is not None and after.hash != link_hash(row.hash, after.body):
            raise broken(f"Entry {number + 1} is not what was written.")
        return row

    def of_key(self, key: str) -> list[Row]:
        """The charges under that key, in order."""
        numbers = [number for (number,) in self._connection.execute(schema.BY_KEY, (key,))]
        rows = [row for row in map(self.row, numbers) if row is not None]
        if len(rows) != len(numbers) or any(row.entry.get("key") != key for row in rows):
            raise broken("The index of keys names an entry that has another key.")
        return rows

    def last_checkpoint(self, up_to: int) -> int | None:
        """The number of the last checkpoint up to that entry; a file of format 1 has none."""
        if schema.version(self._connection) < schema.VERSION:
            return None
        row = self._connection.execute(schema.LAST_CHECKPOINT, (up_to,)).fetchone()
        return None if row is None else int(row[0])

    def answer(self, charge: int) -> tuple[int, bytes] | None:
        """The entry that stored an answer, and its bytes."""
        query = "SELECT entry, bytes FROM answers WHERE charge = ?"
        row = self._connection.execute(query, (charge,)).fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))

    def charged_epsilon(self, after: int) -> Fraction:
        """The typed ε of the charges after that entry, added up."""
        query = "SELECT body FROM entries WHERE n > ? AND json_extract(body, '$.kind') IN ('charge', 'purse')"
        bodies = self._connection.execute(query, (after,))
        try:
            return sum((fraction(json.loads(body)["epsilon"]) for (body,) in bodies), Fraction(0))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            raise broken("A charge has no ε that can be read.") from None

    def changes(self) -> int:
        """A number that differs once another connection has written."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)
