"""How well a model predicts the persons of a table, as one charged number with its interval."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.heldout.auc import BINS, RULE
from discreet.learn.heldout.interval import Estimate, outward
from discreet.learn.heldout.metrics import NAMES, Auc, Metric, metric_of
from discreet.learn.heldout.r_squared import RSquared
from discreet.learn.heldout.trial_gate import Measured
from discreet.learn.heldout.trial_plan import POPULATION, Outcome, TrialOptions, TrialPlan
from discreet.learn.heldout.trial_quote import (
    TrialQuote,
    noise_words,
    planned_law,
    quote_of,
    size_of,
    told_words,
)
from discreet.table import Table


@dataclass(frozen=True)
class Score(Outcome):
    """A metric of a model on some persons, with the interval that holds it as often as the level says."""

    metric: str
    value: float | None
    low: float
    high: float
    persons: Estimate
    exact_scores: Estimate | None = None  # of an AUC: the interval that holds it whatever the order within bins is

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "metric": self.metric,
            "value": self.value,
            "low": finite(self.low),
            "high": finite(self.high),
            "persons": self.persons.to_json(),
            **({} if self.exact_scores is None else {"exact_scores": _ends_json(self.exact_scores)}),
            **self.outcome_json(),
        }

    def __str__(self) -> str:
        name = NAMES[self.metric]
        if self.value is None:
            is_bounded = self.high < 1 and self.low == float("-inf")
            at_most = f", but at most {outward(0.0, self.high, 4)[1]}" if is_bounded else ""
            reason = "hides how far the target spreads" if self.metric == "r2" else "is larger than what was counted"
            head = f"{name} of {self.model}: not known{at_most}, since the noise {reason}."
        else:
            low, high = outward(self.low, self.high, 4)
            head = f"{name} of {self.model}: {self.value:.4f}, between {low} and {high}."
        least, largest = outward(self.persons.low, self.persons.high, 0)
        counted = f"About {self.persons.value:,.0f} {self.noun} were counted ({least} to {largest})."
        held = () if self.value is None else (f"The interval holds it {self.often}.",)
        return "\n".join([head, *held, *self._exact_line(), counted, *self.closing_lines()])

    def _exact_line(self) -> list[str]:
        if self.exact_scores is None or self.value is None:
            return []
        low, high = outward(self.exact_scores.low, self.exact_scores.high, 4)
        ends = f"between {low} and {high}, an interval that holds it {self.often}"
        return [f"By exact scores, whatever their order within a bin, it lies {ends}."]


def _ends_json(estimate: Estimate) -> dict[str, float]:
    return {"low": estimate.low, "high": estimate.high}


def finite(number: float) -> float | None:
    """The number, None where it has no end."""
    return number if abs(number) != float("inf") else None


def score(
    table: Table,
    model: Any,
    *,
    metric: str,
    epsilon: Any,
    bins: Any = BINS,
    progress: Progress | None = None,
    **options: Any,
) -> Score:
    """Score a model: charged once, and free whenever the same is asked again; `options` are those of `TrialOptions`.

    Of an AUC fewer `bins` have less noise, and say less of the order within a bin.
    """
    parsed = TrialOptions.parse("score", ("metric", "epsilon", "bins", "progress"), options)
    plan, chosen = _plan(table, model, metric, bins, epsilon, parsed)
    counted = plan.count(progress)
    law = plan.law(counted.noise)
    estimate = chosen.estimate(counted.numbers, law)
    result = Score(
        metric=metric,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        persons=chosen.persons(counted.numbers, law),
        exact_scores=chosen.exact_scores(counted.numbers, law) if isinstance(chosen, Auc) else None,
        **plan.outcome(counted, chosen.caveat),
    )
    return table.stamped(result)


def quote_score(
    table: Table,
    model: Any,
    *,
    metric: str,
    epsilon: Any,
    bins: Any = BINS,
    at_size: Any = None,
    **options: Any,
) -> TrialQuote:
    """What that score would cost, and its ± where `at_size` persons count; free, and no row is read."""
    parsed = TrialOptions.parse("quote_score", ("metric", "epsilon", "bins", "at_size"), options)
    plan, chosen = _plan(table, model, metric, bins, epsilon, parsed)
    law, size = planned_law(plan), size_of(plan, at_size)
    known = chosen.persons(np.zeros(chosen.length, dtype=np.int64), law)
    noise = noise_words(plan, chosen.length, known.high, "count")
    warnings = told_words(plan, chosen, size, law) if isinstance(chosen, RSquared) else ()
    return quote_of(plan, noise, size, {metric: None if size is None else chosen.moe(size, law)}, warnings)


def _plan(
    table: Table, model: Any, metric: str, bins: Any, epsilon: Any, options: TrialOptions
) -> tuple[TrialPlan, Metric]:
    trial = options.trial(table, model)
    chosen = metric_of(metric, trial, options.positive, bins)
    if options.of == POPULATION and metric == "r2":
        raise bad("of", "must be persons for r2", options.of, "Name persons, or leave it out.")
    facts = {"metric": metric, "length": chosen.length, "positive": getattr(chosen, "positive", None)}
    if metric == "auc":
        facts["edges"] = RULE
    touched = 1 if chosen.norm == 1 else chosen.length
    text = f"{NAMES[metric]} of {trial.title}"
    measured = Measured("score", facts, chosen.counts, chosen.norm, touched, text)
    return TrialPlan(table, trial, measured, table.terms(epsilon, 0, options.level), options), chosen
