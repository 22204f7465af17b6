"""A small database that was released: its rows, its answers to the queries, and how far they may be off."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.ndarrays import Ints
from discreet.synth.small.law import SmallLaw
from discreet.synth.small.plan import SmallPlan, bound_words
from discreet.terms import price_text


@dataclass(frozen=True, eq=False, repr=False)
class SmallDatabase:
    """What was released for a plan: how often each cell is in the database."""

    plan: SmallPlan
    counts: Ints
    receipt: str
    is_replayed: bool

    @cached_property
    def database(self) -> list[dict[str, Any]]:
        """The rows, in the order of the cells; a row that is there twice is listed twice.

        They are no persons of the table.
        """
        present = np.flatnonzero(self.counts).tolist()
        return [self.plan.universe.row(cell) for cell in present for _ in range(int(self.counts[cell]))]

    @cached_property
    def answers(self) -> tuple[float, ...]:
        """The share of these rows that satisfy each query, in the order of the queries."""
        held = self.plan.universe.truths.astype(np.int64) @ self.counts
        return tuple(float(Fraction(number, self.plan.size)) for number in held.tolist())

    @property
    def bound(self) -> float:
        """With probability `level` no answer is further than this from the table's, under `plan.condition`."""
        return self.plan.bound

    @property
    def lecture_bound(self) -> float:
        """The same as the lecture states it."""
        return self.plan.lecture_bound

    @property
    def level(self) -> float:
        """How often the bounds hold, under `plan.condition`."""
        return self.plan.level

    @property
    def databases(self) -> int:
        """How many databases of that size there are."""
        return self.plan.databases

    @property
    def cost(self) -> dict[str, str | None]:
        """What was charged for it, when it was first asked for."""
        return self.plan.cost

    def law(self, histogram: Any = None) -> SmallLaw:
        """The exact law from which such a database is drawn, for counts by cell that are *invented*.

        Without any it is the law for a table with the shares of this database: it shows how far noise alone would move
        the answers there.  The law for the private table depends on its rows, so nothing gives it.
        """
        if histogram is not None:
            return self.plan.law(histogram)
        candidates = self.plan.selection.candidates
        held = candidates.held(candidates.atom_counts(self.counts))
        return SmallLaw(candidates, candidates.rows * held, self.plan.selection.mechanism.rate)

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; dates as text."""
        return {
            "title": self.plan.title,
            "database": [{name: _plain(value) for name, value in row.items()} for row in self.database],
            "answers": list(self.answers),
            "bound": self.bound,
            "lecture_bound": self.lecture_bound,
            "level": self.level,
            "condition": self.plan.condition,
            "databases": str(self.databases),
            "size": self.plan.size,
            "public_rows": self.plan.public_rows,
            "cost": self.cost,
            "receipt": self.receipt,
            "replayed": self.is_replayed,
        }

    def __repr__(self) -> str:
        title = self.plan.title
        head = f"{title[0].upper()}{title[1:]}, one of {self.plan.enumerated:,} that differ."
        price = price_text(self.cost)
        paid = f"It was replayed and cost 0 (when first asked, {price})" if self.is_replayed else f"It cost {price}"
        answers = "Answers: " + ", ".join(f"{answer:.3f}" for answer in self.answers[:12])
        more = f" … ({len(self.answers):,} in all)" if len(self.answers) > 12 else ""
        return "\n".join([head, f"{answers}{more}.", bound_words(self.plan), f"{paid}; receipt {self.receipt}."])


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)
