"""What a check would cost and about the ± of all that it would tell, before anything is spent."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.learn.heldout.interval import upward
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.synth.check.plan import AREA, CLASSES, COUNT, EACH, GAP, LIMITS, CheckPlan
from discreet.synth.check.tables import MOST_CELLS, ORDERS
from discreet.table import Table
from discreet.terms import price_text

PLAIN = {
    COUNT: "how many {noun} there are",
    "cells": "the mean error of {numbers} columns by their cells",
    "columns": "the mean error of {numbers} columns by groups of cells",
    "pairs": "the mean error of {numbers} pairs",
    "triples": "the mean error of {numbers} triples",
    GAP: "the mean gap of {numbers} correlations",
    "each column": "the error of each of {numbers} columns",
    "each pair": "the error of each of {numbers} pairs",
    "each correlation": "each of {numbers} correlations",
    CLASSES: "the accuracy of a model of the synthetic rows",
    AREA: "the area under its ROC curve",
}
_OF_ONE = {
    "cells": "the error of the one column by its cells",
    "columns": "the error of the one column by groups of cells",
    "pairs": "the error of the one pair",
    "triples": "the error of the one triple",
    GAP: "the gap of the one correlation",
    "each column": "the error of the one column",
    "each pair": "the error of the one pair",
    "each correlation": "the one correlation",
}


@dataclass(frozen=True)
class CheckQuote:
    """Price and plan in public facts; `moe` has about the ± of each kind of number, None where it is not asked."""

    title: str
    cost: dict[str, str | None]
    remaining: dict[str, str]
    remaining_after: dict[str, str]
    moe: dict[str, float | None]
    shares: dict[str, str]
    words: tuple[str, ...] = field(default=())
    is_part: bool = False  # of the units: more remains if others were charged before

    @property
    def fits(self) -> bool:
        """Whether the budget has room for it."""
        return Fraction(self.cost["epsilon"] or 0) <= Fraction(self.remaining["epsilon"]) or (
            Fraction(self.remaining_after["epsilon"]) > 0
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "title": self.title,
            "cost": self.cost,
            "remaining": self.remaining,
            "remaining_after": self.remaining_after,
            "fits": self.fits,
            "moe": self.moe,
            "shares": self.shares,
            "words": list(self.words),
        }

    def __str__(self) -> str:
        left, after = self.remaining["epsilon"], self.remaining_after["epsilon"]
        least = "at least " if self.is_part and left != after else ""
        head = f"{self.title}: {price_text(self.cost)}; of ε = {left} there would remain {least}{after}."
        return "\n".join([head, *self.words])


def quote_of(table: Table, plan: CheckPlan, analyst: str | None = None) -> CheckQuote:
    """The quote of a plan; it reads no rows."""
    terms, schema = plan.price.terms, table.schema
    branches = path(plan.compared.persons.where, schema)
    moe: dict[str, float | None] = {name: plan.moe(name) for name in plan.asked}
    about = f"About {plan.compared.units:,.0f} {plan.compared.persons.noun} would be compared, as the build released."
    return CheckQuote(
        title_of(plan),
        terms.cost_json(schema.relation, unit(schema)),
        table.remaining(analyst),
        table.remaining_after(plan.cost, terms, analyst=analyst, path=branches),
        moe | dict.fromkeys(plan.left_out),
        {name: str(plan.share(name)) for name in plan.asked},
        (about, *_moe_words(plan), *not_asked(plan), plan.compared.persons.words),
        bool(branches),
    )


def title_of(plan: CheckPlan) -> str:
    """What a check is called."""
    columns = len(plan.compared.build.plan.subject.columns)
    return f"Check of a synthetic table of {columns} column{'s' * (columns != 1)}"


def name_words(plan: CheckPlan, name: str) -> str:
    """What a name of the plan is about, for people."""
    about = plan.compared
    numbers = about.numbers(name) if EACH.get(name, name) in (*ORDERS, GAP) else 0
    if numbers == 1:
        return _OF_ONE[name]
    return PLAIN[name].format(noun=about.persons.noun, numbers=f"{numbers:,}")


def _moe_words(plan: CheckPlan) -> list[str]:
    often = f"{100 * float(plan.price.terms.level):g} times in 100"
    widths = [f"{name_words(plan, name)} within about ± {upward(plan.moe(name), 2)}" for name in plan.asked]
    return [f"It would tell, {often} each: {'; '.join(widths)}."]


def not_asked(plan: CheckPlan) -> tuple[str, ...]:
    """What the check leaves out, each with the reason, in sentences."""
    sentences = [_too_noisy(plan, name) for name in plan.left_out]
    about = plan.compared
    for kind in ORDERS:
        tables, noun = about.tables[kind], "columns" if ORDERS[kind] == 1 else kind
        if tables.possible > len(tables.cliques):
            sentences.append(
                f"Of {tables.possible:,} {noun} {len(tables.cliques):,} are compared, chosen by public words: together "
                f"they may have at most {MOST_CELLS:,} cells."
            )
    if about.products is None:
        sentences.append("Correlations are not compared: there are no two numeric columns that vary.")
    elif about.products.tables.possible > len(about.products.tables.cliques):
        sentences.append(f"Correlations are of the first {len(about.products.scores)} numeric columns that vary.")
    return tuple(sentences)


def _too_noisy(plan: CheckPlan, name: str) -> str:
    names = [*plan.asked, name]
    moe, limit = plan.moe(name, names), LIMITS[name]
    needed = amounts.rounded_up(plan.price.terms.epsilon * Fraction(moe / limit), 2)
    return (
        f"Not asked: {name_words(plan, name)}, which would be within ± {upward(moe, 2)} and is asked from ± {limit:g} "
        f"on; that takes about ε = {needed:,f}."
    )
