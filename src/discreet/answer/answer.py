"""The answer to a question: values with their ±, what they cost, what remains.

It holds released numbers and public facts alone, so everything done with it is free.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from discreet.answer.column import Column, Plain, one_value
from discreet.answer.first_form import FORMAT, fields_of, unreadable
from discreet.errors import bad, short_text
from discreet.inert import unused_name, visible_lines

if TYPE_CHECKING:
    from discreet.answer.derived import Derived


@dataclass(frozen=True, repr=False)
class Answer:
    """Rows of `keys` and columns.  `remaining`, `receipt` and `replayed` are set when it is handed out; the bytes that
    the ledger keeps do not have them.

    `labels` holds the keys' values, row by row; `cost` has epsilon and delta as decimal text, neighbours and unit;
    `plan` is what `explain` tells: its "words" in sentences, the rest for programs.
    """

    dataset: str
    question: str
    keys: tuple[str, ...]
    labels: tuple[tuple[Plain, ...], ...]
    columns: tuple[Column, ...]
    level: Fraction
    cost: dict[str, Any]
    caveats: tuple[str, ...] = ()
    plan: dict[str, Any] = field(default_factory=dict)
    remaining: dict[str, Any] | None = None
    receipt: str | None = None
    replayed: bool = False

    def __post_init__(self) -> None:
        names = [*self.keys, *(c.name for c in self.columns)]
        if len(set(names)) < len(names):
            raise bad("names", "must differ from each other", names, "Give an alias, as in COUNT(*) AS n.")
        if any(len(c.value) != len(self.labels) for c in self.columns):
            raise ValueError("every column has a value per row")

    # --- looking ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per row: keys first, then values; several favourites are a list."""
        names = [c.name for c in self.columns]
        values = zip(*(map(one_value, c.value) for c in self.columns), strict=True) if names else [()] * len(self)
        return [
            dict(zip(self.keys, label, strict=True)) | dict(zip(names, row, strict=True))
            for label, row in zip(self.labels, values, strict=True)
        ]

    def column(self, name: str) -> Column:
        """The answered column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        names = ", ".join(c.name for c in self.columns)
        raise bad("column", "must be an answered column", name, f"Use one of: {names}.")

    def row_index(self, row: Any) -> int:
        """The index of the row with these keys: a dictionary, a tuple, or the one key's value."""
        if isinstance(row, Mapping):
            label = tuple(row.get(key) for key in self.keys) if set(row) == set(self.keys) else None
        else:
            label = tuple(row) if isinstance(row, (tuple, list)) else (row,)
        if label not in self.labels:
            fix = f"Give {', '.join(self.keys) or 'no keys'} as in {short_text(self.labels[0] if self.labels else ())}."
            raise bad("row", "must be the keys of one row of the answer", row, fix)
        return self.labels.index(label)

    def beside(self, column: Column) -> dict[str, Plain]:
        """Columns to put beside this one in files without metadata: the error of a chosen value, in whole ranks or
        rows, and what is counted."""
        facts: dict[str, Plain] = {
            "ranks": None if column.ranks is None else ceil(column.ranks),
            "shortfall": None if column.shortfall is None else ceil(column.shortfall),
            "of": column.of,
        }
        used = {*self.keys, *(name for c in self.columns for name in (c.name, f"{c.name}_moe"))}
        named = ((f"{column.name}_{fact}", value) for fact, value in facts.items() if value is not None)
        return {unused_name(name, used): value for name, value in named}

    def explain(self) -> str:
        """The path from the question to these numbers, in words."""
        return visible_lines("\n".join(self.plan.get("words", ())))

    def __repr__(self) -> str:
        from discreet.answer.show import text

        return text(self)

    def _repr_html_(self) -> str:
        from discreet.answer.show import html

        return html(self)

    def plot(self, column: str | None = None, *, ax: Any = None) -> Any:
        """A picture of one column, by default the first with a ±: a figure, drawn into `ax` if given."""
        from discreet.answer.picture import picture

        return picture(self, column, ax=ax)

    # --- other forms -------------------------------------------------------------------------------------------------

    @property
    def _outgoing(self) -> "Answer":
        """The answer that frames are made of; a rehearsal marks it."""
        return self

    def to_pandas(self) -> Any:
        """Keys, then each value with its _moe; the provenance in `attrs`."""
        from discreet.answer.convert import to_pandas

        return to_pandas(self._outgoing)

    def to_polars(self) -> Any:
        """Keys, then each value with its _moe."""
        from discreet.answer.convert import to_polars

        return to_polars(self._outgoing)

    def to_arrow(self) -> Any:
        """Keys, then each value with its _moe; the provenance in the schema's metadata."""
        from discreet.answer.convert import to_arrow

        return to_arrow(self._outgoing)

    def to_json(self) -> dict[str, Any]:
        """The object that `ask --json` prints."""
        return {"ok": True, "format": FORMAT} | self.provenance() | {"rows": _with_moe(self)}

    def provenance(self) -> dict[str, Any]:
        """Everything but the rows."""
        return {
            "dataset": self.dataset,
            "cost": self.cost,
            "charged": "0" if self.replayed else self.cost.get("epsilon"),
            "remaining": self.remaining,
            "receipt": self.receipt,
            "caveats": list(self.caveats),
            "columns": [c.to_json() for c in self.columns],
            "level": float(self.level),
            "replayed": self.replayed,
        }

    def to_bytes(self) -> bytes:
        """Canonical JSON: equal answers have equal bytes."""
        stored = {
            "format": FORMAT,
            "dataset": self.dataset,
            "question": self.question,
            "keys": list(self.keys),
            "labels": [list(label) for label in self.labels],
            "columns": [c.to_stored() for c in self.columns],
            "level": str(self.level),
            "cost": self.cost,
            "caveats": list(self.caveats),
            "plan": self.plan,
        }
        return json.dumps(stored, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Answer":
        """The answer with these bytes, not yet handed out; whatever is not an answer is an IntegrityError."""
        try:
            return cls(**fields_of(stored))
        except ValueError:  # fields that contradict each other
            raise unreadable() from None

    # --- from answer to answer ---------------------------------------------------------------------------------------

    def take(self, order: Sequence[int]) -> "Answer":
        """The answer with only these rows, in this order: what HAVING, ORDER BY and LIMIT do."""
        columns = tuple(c.take(order) for c in self.columns)
        return replace(self, labels=tuple(self.labels[i] for i in order), columns=columns)

    def share(self, column: str) -> "tuple[Derived, ...]":
        """Each row's part of the sum over all rows."""
        from discreet.answer.derived import share

        return share(self, column)

    def difference(self, column: str, a: Any, b: Any) -> "Derived":
        """The value at row a less the value at row b; rows by their keys."""
        from discreet.answer.derived import difference

        return difference(self, column, a, b)

    def column_difference(self, a: str, b: str) -> "tuple[Derived, ...]":
        """Column a less column b, row by row."""
        from discreet.answer.derived import column_difference

        return column_difference(self, a, b)

    def ratio(self, a: str, b: str) -> "tuple[Derived, ...]":
        """Column a over column b, row by row."""
        from discreet.answer.derived import ratio

        return ratio(self, a, b)


def _with_moe(answer: Answer) -> list[dict[str, Any]]:
    rows = answer.rows
    for column in answer.columns:
        for row, moe in zip(rows, column.moe, strict=True):
            row[f"{column.name}_moe"] = moe
    # in the order of the columns: a value, then its ±
    names = [*answer.keys, *(name for c in answer.columns for name in (c.name, f"{c.name}_moe"))]
    return [{name: row[name] for name in names} for row in rows]
