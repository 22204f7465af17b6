"""Reports of many people, and tallies of them: what a server keeps, never an exact answer."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import bad
from discreet.local.code import Code
from discreet.local.words import Bytes
from discreet.ndarrays import Ints


@dataclass(frozen=True, eq=False)
class Reports:
    """A row of bytes for each person."""

    bytes: Bytes

    def __len__(self) -> int:
        return len(self.bytes)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of reports; `rejected` ones cannot have been drawn and count nowhere else.

    `about` has the values of the protocol, or low and step of its numbers: a code alone knows integers.
    """

    code: Code
    about: tuple[Any, ...]
    counts: Ints
    reports: int
    rejected: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally) or (other.code, other.about) != (self.code, self.about):
            fix = "Add tallies of the same protocol, with the same epsilon and values."
            raise bad("tally", "must be of the same protocol", type(other).__name__, fix)
        reports, rejected = self.reports + other.reports, self.rejected + other.rejected
        return Tally(self.code, self.about, self.counts + other.counts, reports, rejected)


def tally_of(code: Code, about: tuple[Any, ...], reports: Any) -> Tally:
    """The counts of reports; rows that cannot have been drawn are rejected."""
    rows = rows_of(code, reports)
    valid = code.is_report(rows)
    accepted = rows if valid.all() else rows[valid]
    return Tally(code, about, code.counts(accepted), len(accepted), len(rows) - len(accepted))


def rows_of(code: Code, reports: Any) -> Bytes:
    """Reports as an array (n, report_bytes), from Reports, an array, or a list of bytes."""
    rows = reports.bytes if isinstance(reports, Reports) else reports
    if isinstance(rows, list | tuple):
        if not all(isinstance(row, bytes) and len(row) == code.report_bytes for row in rows):
            raise _wrong_shape(code)
        rows = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, code.report_bytes)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.ndim != 2:
        raise _wrong_shape(code)
    if rows.shape[1] != code.report_bytes:
        raise _wrong_shape(code)
    return rows


def _wrong_shape(code: Code) -> Exception:
    rule = f"must be reports of {code.report_bytes} bytes each"
    return bad("reports", rule, "something else", "Give what encode returned, an array (n, bytes), or a list of bytes.")
