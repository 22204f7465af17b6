"""A model to be fitted to a dataset: `quote` tells price and noise for nothing, `fit` charges once and stores."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.fit import Fit, fit_table, require_kernels
from discreet.learn.learner import Learner, Plan, title_of
from discreet.learn.price import Price, price_of, require_single_price, rho_price
from discreet.learn.subject import Subject, subject_of
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.table import Table
from discreet.terms import price_text


@dataclass(frozen=True)
class LearnQuote:
    """What a fit would cost, what would remain, and what would be measured with which noise."""

    title: str
    cost: dict[str, str | None]
    remaining: dict[str, str]
    remaining_after: dict[str, str]
    words: tuple[str, ...]
    is_part: bool = field(default=False, kw_only=True)  # of the persons: more remains if others were charged before

    @property
    def at_least(self) -> str:
        """What stands before the remaining ε."""
        return "at least " if self.is_part and self.remaining != self.remaining_after else ""

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
            "words": list(self.words),
        }

    def __str__(self) -> str:
        left, after = self.remaining["epsilon"], self.remaining_after["epsilon"]
        head = f"{self.title}: {price_text(self.cost)}; of ε = {left} there would remain {self.at_least}{after}."
        return "\n".join([head, *self.words])


@dataclass(frozen=True)
class Learning:
    """A learner, a table and a subject; the core of `people.learn(…)`, without any face."""

    table: Table
    learner: Learner
    subject: Subject

    def price(self, *, epsilon: Any = None, delta: Any = None, rho: Any = None) -> Price:
        """The price in the terms of this table: δ is a hundredth of the budget's unless given."""
        require_single_price(epsilon, rho)
        if rho is None:
            return price_of(self.table.terms(epsilon, delta))
        typed = self.table.delta(delta)
        price = rho_price(rho, typed)
        return replace(price, terms=replace(price.terms, typed_delta=typed))

    def plan(self, **price: Any) -> Plan:
        """The plan at that price; it reads no data."""
        return self.learner.plan(self.subject, self.price(**price))

    def quote(self, *, analyst: str | None = None, **price: Any) -> LearnQuote:
        """Price, noise and what would remain; free."""
        plan, schema = self.plan(**price), self.table.schema
        require_kernels(self.table, self.learner)
        terms = plan.price.terms
        title = f"{title_of(self.learner)} for {self.subject.target.name}"
        branches = path(self.subject.where, schema)
        quote = LearnQuote(
            title,
            terms.cost_json(schema.relation, unit(schema)),
            self.table.remaining(analyst),
            self.table.remaining_after(plan.cost, terms, analyst=analyst, path=branches),
            plan_words(plan),
            is_part=bool(branches),
        )
        return self.table.stamped(quote)

    def fit(self, *, analyst: str | None = None, progress: Progress | None = None, **price: Any) -> Fit:
        """Fit the model: charged once and stored; an equal fit is free."""
        terms = self.price(**price)
        return fit_table(self.table, self.learner, self.subject, terms, analyst=analyst, progress=progress)


def plan_words(plan: Plan) -> tuple[str, ...]:
    """How a unit counts and what is measured, in sentences."""
    return plan.subject.words(), *(f"Measured: {mechanism}." for mechanism in plan.mechanisms)


def learning(
    table: Table,
    learner: Learner,
    target: str,
    features: str | Iterable[str] | None = None,
    *,
    max_rows: Any = 1,
    where: Expr | None = None,
) -> Learning:
    """A model to be fitted; refused here where its columns have no public facts."""
    subject = subject_of(table.schema, target, _names(features), max_rows=max_rows, where=where)
    return Learning(table, learner, subject)


def _names(features: Any) -> list[Any] | None:
    """The names of several features, or of a single one; None for the default."""
    if features is None or isinstance(features, str):
        return None if features is None else [features]
    if not isinstance(features, Iterable):
        raise bad("features", "must be names of columns", features, 'Give, for example, features=["age", "region"].')
    return list(features)
