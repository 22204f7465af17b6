"""The plan of a small database, for nothing: its price, how many multisets there are, how far answers may be off."""

from dataclasses import dataclass
from typing import Any

from discreet.errors import NotAnswerable, bad
from discreet.query.explain import unit
from discreet.query.nodes import Expr, UnitIn
from discreet.synth.opened import opened_table
from discreet.synth.small.conditions import conditions_of
from discreet.synth.small.law import SmallLaw
from discreet.synth.small.selection import Selection, selection_of
from discreet.synth.small.size import TIGHT
from discreet.synth.small.universe import Universe, universe_of
from discreet.table import Table
from discreet.terms import Terms, price_text

USELESS = 1.0  # a bound on a share that says nothing


@dataclass(frozen=True, eq=False, repr=False)
class SmallPlan:
    """A small database before it is charged: public facts alone."""

    table: Table
    conditions: tuple[Expr, ...]
    universe: Universe
    selection: Selection
    terms: Terms

    @property
    def size(self) -> int:
        """N̂, the rows of the small database."""
        return self.selection.candidates.size

    @property
    def public_rows(self) -> int:
        """N, the rows of the table as they were declared."""
        return self.selection.candidates.rows

    @property
    def cells(self) -> tuple[dict[str, Any], ...]:
        """The different rows that there can be, in the order of histograms."""
        return tuple(map(self.universe.row, range(self.universe.cells)))

    @property
    def databases(self) -> int:
        """How many multisets of that many rows there are, over all cells."""
        return self.selection.databases

    @property
    def enumerated(self) -> int:
        """How many multisets the queries tell apart, over atoms: each is weighed."""
        return self.selection.candidates.number

    @property
    def bound(self) -> float:
        """With probability `level` no answer is further than this from the table's, under `condition`."""
        return self.selection.bound

    @property
    def condition(self) -> str:
        """When the bounds hold, in a sentence."""
        return (
            f"The bounds hold if the table has exactly {self.public_rows:,} rows, none with an empty cell; otherwise "
            "add twice the share by which their number differs."
        )

    @property
    def lecture_bound(self) -> float:
        """The same as the lecture states it."""
        return self.selection.lecture_bound

    @property
    def level(self) -> float:
        """How often the bounds hold, under `condition`: 1 − β."""
        return float(self.terms.level)

    @property
    def cost(self) -> dict[str, str | None]:
        """What is charged."""
        return self.terms.cost_json(self.table.schema.relation, unit(self.table.schema))

    def remaining(self, analyst: str | None = None) -> dict[str, str]:
        """What is left of the budget."""
        return self.table.remaining(analyst)

    def remaining_after(self, analyst: str | None = None) -> dict[str, str]:
        """What would be left."""
        return self.table.remaining_after(self.selection.mechanism.cost, self.terms, analyst=analyst)

    def law(self, histogram: Any) -> SmallLaw:
        """The exact law for an *invented* table: how many of its rows lie in each cell, in the order of `cells`.

        The law depends on the rows of the table, so it is never computed from private ones.
        """
        return self.selection.law(histogram)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"small database of {self.size:,} rows for {_counted(len(self.conditions), 'query', 'queries')}"

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences on what is chosen, how far answers may be off, and when that holds."""
        candidates = self.selection.candidates
        rows = _counted(candidates.cells, "different row", "different rows")
        return (
            f"Chosen: one of {_large(self.databases)} multisets of {_counted(self.size, 'row', 'rows')}, over {rows} "
            f"({', '.join(self.universe.names)}); the queries tell {self.enumerated:,} apart, and each is weighed.",
            bound_words(self),
            "Privacy does not depend on the number of rows.",
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "title": self.title,
            "size": self.size,
            "public_rows": self.public_rows,
            "columns": list(self.universe.names),
            "cells": self.universe.cells,
            "databases": str(self.databases),
            "enumerated": self.enumerated,
            "bound": self.bound,
            "lecture_bound": self.lecture_bound,
            "level": self.level,
            "condition": self.condition,
            "cost": self.cost,
            "remaining": self.remaining(),
            "remaining_after": self.remaining_after(),
            "words": list(self.words),
        }

    def __repr__(self) -> str:
        left, after = self.remaining()["epsilon"], self.remaining_after()["epsilon"]
        head = f"{self.title}: {price_text(self.cost)}; of ε = {left} there would remain {after}."
        return "\n".join([head[0].upper() + head[1:], *self.words])


def small_plan(
    people: Any,
    queries: Any,
    *,
    alpha: Any = None,
    epsilon: Any,
    public_rows: Any,
    size: Any = TIGHT,
    level: Any = None,
    bins: Any = None,
) -> SmallPlan:
    """The plan of a small database of a dataset; it reads no row and charges nothing.

    `queries` are conditions, as SQL texts or in the Python form.  `public_rows` is the published number of rows of the
    table.  `size` is tight, lecture or a whole number, for which `alpha` is left out.  `bins` gives the edges of
    columns that are to be read in bins.
    """
    table = table_of(people)
    schema = table.schema
    conditions = conditions_of(queries, schema)
    terms = table.terms(epsilon, 0, level)
    universe = universe_of(schema, conditions, bins)
    selection = selection_of(
        universe.truths,
        epsilon=terms.epsilon,
        public_rows=public_rows,
        size=size,
        alpha=alpha,
        level=terms.level,
        unit_rows=schema.max_rows,
        relation=schema.relation,
    )
    return table.stamped(SmallPlan(table, conditions, universe, selection, terms))


def table_of(people: Any) -> Table:
    """The table of a dataset."""
    if isinstance(getattr(people, "where", None), UnitIn):
        what = "A small database is of a whole dataset."
        why = "How many rows a part of the persons has is not public."
        raise NotAnswerable(what, why, "Give the dataset, as dp.open returns it.")
    table = opened_table(people)
    if table is None:
        raise bad("people", "must be a dataset", people, 'Write, for example: people = dp.open("people.toml")')
    return table


def bound_words(plan: SmallPlan) -> str:
    """How far answers may be off, and when that holds, in two sentences."""
    often = f"{100 * plan.level:g} times in 100"
    if plan.bound >= USELESS:
        return f"The bound on the worst error is {plan.bound:.3g}: it says nothing, for shares lie between 0 and 1."
    lecture = f"by the lecture's bound {plan.lecture_bound:.3g}"
    return f"No answer is more than {plan.bound:.3g} off, {often}; {lecture}. {plan.condition}"


def _counted(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 10^{len(str(number)) - 1}"
