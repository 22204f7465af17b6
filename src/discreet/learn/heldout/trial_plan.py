"""What scores and rates of groups share: their options, the plan that is quoted or charged, and what a result says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import BadValue, bad
from discreet.learn.heldout.interval import Law
from discreet.learn.heldout.trial import Trial, trial_of, unit_plural
from discreet.learn.heldout.trial_gate import Counted, Measured, measure
from discreet.learn.privacy import INVENTED
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.schema.words import suggestion
from discreet.table import Table
from discreet.terms import Terms, price_text

PERSONS, POPULATION = "persons", "population"
_ABOUT = {
    PERSONS: "Intervals cover the noise alone: they are about these {units}.",
    POPULATION: "Intervals cover the noise and who was drawn: they are about the population of these {units}.",
}


@dataclass(frozen=True)
class TrialOptions:
    """What a score and rates of groups can be told beside the model and ε.

    `target` names the column that the model calls otherwise, `positive` the class that rates and areas are about.  A
    unit counts with its first `max_rows` rows.  `of` is what intervals are about: these persons, or the population that
    they were drawn from.
    """

    where: Expr | None = None
    target: str | None = None
    positive: Any = None
    max_rows: Any = 1
    level: Any = None
    of: str = PERSONS
    analyst: str | None = None

    @classmethod
    def parse(cls, function: str, own: Iterable[str], options: Mapping[str, Any]) -> "TrialOptions":
        """The options that a function was given beside its own; refused where one has another name."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                known = [*own, *(name for name in names if name != "where")]
                similar = suggestion(name, known)
                fix = f"Did you mean {similar}?" if similar else "Leave it out."
                raise BadValue(f"{function} has no option {name}.", f"Its options are {', '.join(known)}.", fix)
        return cls(**options)

    def trial(self, table: Table, model: Any, by: str | None = None) -> Trial:
        """The trial of a model on that table, for the groups of a column where one is named."""
        if self.of not in _ABOUT:
            raise bad("of", "must be persons or population", self.of, "Name one of these.")
        trial = trial_of(table.schema, model, target=self.target, max_rows=self.max_rows, where=self.where, by=by)
        if trial.model.privacy.covers == INVENTED and not table.is_rehearsal:
            what = "The model is of a rehearsal, and this table is not."
            why = "It was trained on invented rows, so its score would be charged and say nothing about real ones."
            fix = (
                "Rehearse this too: --rehearse at the command line, dp.open(…, rehearsal=True) in Python; or fit the "
                "model to the table first, without a rehearsal."
            )
            raise BadValue(what, why, fix)
        ledger = table.ledger_if_any()  # a quote makes none
        return replace(trial, is_of_table=ledger is not None and trial.model.is_stored(ledger))


@dataclass(frozen=True, eq=False)
class TrialPlan:
    """Counts of a trial, at their price, before they are charged."""

    table: Table
    trial: Trial
    measured: Measured
    terms: Terms
    options: TrialOptions

    @property
    def cost(self) -> dict[str, str | None]:
        """What is charged, as results state it."""
        return self.terms.cost_json(self.table.schema.relation, unit(self.table.schema))

    def law(self, noise: DiscreteLaplace) -> Law:
        """The law of counts with that noise."""
        is_population = self.options.of == POPULATION
        return Law(float(noise.scale), noise.variance, self.terms.level, is_population, self.trial.max_rows)

    def count(self, progress: Progress | None = None) -> Counted:
        """Charge, count and add noise; an equal plan that was charged before is free."""
        analyst = self.options.analyst
        return measure(self.table, self.trial, self.measured, self.terms, analyst=analyst, progress=progress)

    def outcome(self, counted: Counted, *caveats: str) -> dict[str, Any]:
        """The fields of an `Outcome`."""
        about = _ABOUT[self.options.of].format(units=unit_plural(self.table.schema))
        return {
            "level": float(self.terms.level),
            "of": self.options.of,
            "model": self.trial.title,
            "noun": self.trial.noun,
            "caveats": (about, *self.trial.words(), *(caveat for caveat in caveats if caveat)),
            "cost": self.cost,
            "receipt": counted.receipt,
            "is_replayed": counted.is_replayed,
        }


@dataclass(frozen=True)
class Outcome:
    """What a score and rates of groups both say."""

    level: float
    of: str
    model: str
    noun: str  # for what was counted, such as persons
    caveats: tuple[str, ...]
    cost: dict[str, str | None]
    receipt: str
    is_replayed: bool

    def outcome_json(self) -> dict[str, Any]:
        """What all results share, as JSON."""
        return {
            "level": self.level,
            "of": self.of,
            "model": self.model,
            "caveats": list(self.caveats),
            "cost": self.cost,
            "receipt": self.receipt,
            "replayed": self.is_replayed,
        }

    @property
    def often(self) -> str:
        """How often an interval holds, in words."""
        return f"{100 * self.level:g} times in 100"

    def closing_lines(self) -> list[str]:
        """The caveats, and what was paid."""
        price = price_text(self.cost)
        paid = f"It was replayed and cost 0 (when first asked, {price})" if self.is_replayed else f"It cost {price}"
        return [*self.caveats, f"{paid}; receipt {self.receipt}."]
