"""What a synthetic table would cost and how it would be measured, before anything is spent."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

from discreet.amounts import rounded_up, text_of
from discreet.privacy import price
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.synth.measured.pairs import HOPELESS
from discreet.synth.plan import INDEPENDENT, SynthPlan
from discreet.synth.subject import Subject
from discreet.table import Table
from discreet.terms import price_text


@dataclass(frozen=True)
class SynthQuote:
    """Price and plan in public facts.

    `cells` is the most that the fitted tree may have, `units_for_pairs` the number of units from which on pairs of
    columns can be told from noise, and `deviation` the standard deviation of the noise of one count of one column.
    """

    title: str
    method: str
    why: str
    cells: int
    units_for_pairs: int | None
    deviation: float
    cost: dict[str, str | None]
    remaining: dict[str, str]
    remaining_after: dict[str, str]
    words: tuple[str, ...] = field(default=())
    is_part: bool = False  # of the units: more remains if others were charged before
    ledger_epsilon: str | None = None  # ε of the same noise at the budget's δ, where that is less than the quote's

    @property
    def fits(self) -> bool:
        """Whether the budget has room for it."""
        is_left = Fraction(self.remaining_after["epsilon"]) > 0
        if self.ledger_epsilon is not None:
            return is_left
        return is_left or Fraction(self.cost["epsilon"] or 0) <= Fraction(self.remaining["epsilon"])

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "title": self.title,
            "method": self.method,
            "why": self.why,
            "cells": self.cells,
            "units_for_pairs": self.units_for_pairs,
            "deviation": self.deviation,
            "cost": self.cost,
            "ledger_epsilon": self.ledger_epsilon,
            "remaining": self.remaining,
            "remaining_after": self.remaining_after,
            "fits": self.fits,
            "words": list(self.words),
        }

    def __str__(self) -> str:
        left, after = self.remaining["epsilon"], self.remaining_after["epsilon"]
        least = "at least " if self.is_part and left != after else ""
        head = f"{self.title}: {price_text(self.cost)}; of ε = {left} there would remain {least}{after}."
        fit = () if self.fits else ("That does not fit.",)
        return "\n".join([head, *fit, *self._at_ledger, self.why, self._noise, *self.words])

    @property
    def _at_ledger(self) -> tuple[str, ...]:
        if self.ledger_epsilon is None:
            return ()
        return (f"Its δ is above the budget's. At the budget's δ the same noise has ε = {self.ledger_epsilon}.",)

    @property
    def _noise(self) -> str:
        return f"Noise: a standard deviation of at most {self.deviation:.3g} on a count of one column by itself."


def quote_of(table: Table, plan: SynthPlan, analyst: str | None = None) -> SynthQuote:
    """The quote of a plan."""
    terms, schema = plan.price.terms, table.schema
    branches = path(plan.subject.where, schema)
    needed = ceil(plan.score_deviation / HOPELESS) if plan.with_pairs else None
    return SynthQuote(
        title_of(plan.subject),
        "pairs" if plan.with_pairs else INDEPENDENT,
        _why(plan, needed),
        plan.max_cells,
        needed,
        count_deviation(plan),
        terms.cost_json(schema.relation, unit(schema)),
        table.remaining(analyst),
        table.remaining_after(plan.cost, terms, analyst=analyst, path=branches),
        plan.words(),
        bool(branches),
        _ledger_epsilon(table, plan),
    )


def title_of(subject: Subject) -> str:
    """What a table of that subject is called before it is built."""
    columns = len(subject.columns)
    return f"Synthetic table of {columns} column{'s' * (columns != 1)}"


def _ledger_epsilon(table: Table, plan: SynthPlan) -> str | None:
    """ε of the plan's noise at the budget's δ, rounded up; None where the plan's δ is no larger."""
    delta = table.least_delta
    if plan.price.terms.delta <= delta:
        return None
    return text_of(rounded_up(price.epsilon(plan.cost, delta).value, 6))


def count_deviation(plan: SynthPlan) -> float:
    """The largest standard deviation of the noise of one count, from the first look at every column."""
    mechanism = plan.mechanism(plan.singles_public(), plan.singles_share)
    return sqrt(mechanism.variance) / int(plan.singles_weights.min())


def _why(plan: SynthPlan, needed: int | None) -> str:
    each = unit(plan.subject.schema)
    if needed is None and not plan.pairs:
        return "Columns are measured one by one, for there is no pair of them."
    if needed is None:
        return "Columns are measured one by one, as was asked; no relation between them is measured."
    tree = f"the tables of a fitted tree have at most {plan.max_cells:,} cells"
    return (
        f"Pairs of columns whose noisy scores exceed their expected noise are measured; {tree}. Below some "
        f"{needed:,} unit{'s' * (needed != 1)} ({each}) no pair is measured, and weak relations need several times "
        "as many; a larger epsilon or fewer columns lowers that."
    )
