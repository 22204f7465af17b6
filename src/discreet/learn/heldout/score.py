"""How well a model predicts the persons of a table, as one charged number with its interval."""

from dataclasses import dataclass
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.heldout.auc import BINS, RULE
from discreet.learn.heldout.interval import Estimate
from discreet.learn.heldout.metrics import NAMES, Law, metric_of
from discreet.learn.heldout.trial import Trial, trial_of
from discreet.learn.heldout.trial_gate import Measured, measure
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.table import Table
from discreet.terms import price_text

PERSONS, POPULATION = "persons", "population"
_ABOUT = {
    PERSONS: "The interval covers the noise alone: it is about these persons.",
    POPULATION: "The interval covers the noise and who was drawn: it is about the population that they come from.",
}


@dataclass(frozen=True)
class Score:
    """A metric of a model on some persons, with the interval that holds it as often as the level says."""

    metric: str
    value: float | None
    low: float
    high: float
    level: float
    of: str
    persons: Estimate
    model: str
    caveats: tuple[str, ...]
    cost: dict[str, str | None]
    receipt: str
    is_replayed: bool

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "metric": self.metric,
            "value": self.value,
            "low": finite(self.low),
            "high": finite(self.high),
            "level": self.level,
            "of": self.of,
            "persons": self.persons.to_json(),
            "model": self.model,
            "caveats": list(self.caveats),
            "cost": self.cost,
            "receipt": self.receipt,
            "replayed": self.is_replayed,
        }

    def __str__(self) -> str:
        name = NAMES[self.metric]
        if self.value is None:
            head = f"{name} of {self.model}: not known, since the noise is larger than what was counted."
        else:
            head = f"{name} of {self.model}: {self.value:.4f}, between {self.low:.4f} and {self.high:.4f}."
        often = f"The interval holds it {100 * self.level:g} times in 100."
        counted = f"About {self.persons.value:,.0f} were counted ({self.persons.low:,.0f} to {self.persons.high:,.0f})."
        paid = f"It cost {price_text(self.cost)}; receipt {self.receipt}."
        return "\n".join([head, often, counted, *self.caveats, paid])


def finite(number: float) -> float | None:
    """The number, None where it has no end."""
    return number if abs(number) != float("inf") else None


def score(
    table: Table,
    model: Any,
    *,
    metric: str,
    epsilon: Any,
    where: Expr | None = None,
    target: str | None = None,
    positive: Any = None,
    bins: Any = BINS,
    max_rows: Any = 1,
    level: Any = None,
    of: str = PERSONS,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> Score:
    """Score a model: charged once, and free whenever the same is asked again.

    Of an AUC fewer `bins` have less noise, and say less of the order within a bin.
    """
    trial = trial_of(table.schema, model, target=target, max_rows=max_rows, where=where)
    chosen = metric_of(metric, trial, positive, bins)
    if of not in _ABOUT or (of == POPULATION and metric == "r2"):
        fix = "Give of='persons'." if of == POPULATION else "Give of='persons' or of='population'."
        raise bad("of", "must be persons, or for classes population", of, fix)
    terms = table.terms(epsilon, 0, level)
    name = trial.fit.facts.title
    facts = {"metric": metric, "length": chosen.length, "positive": getattr(chosen, "positive", None)}
    if metric == "auc":
        facts["edges"] = RULE
    text = f"{NAMES[metric]} of {name} for {trial.target.name}"
    touched = 1 if chosen.norm == 1 else chosen.length
    measured = Measured("score", facts, chosen.counts, chosen.norm, touched, text)
    counted = measure(table, trial, measured, terms, analyst=analyst, progress=progress)
    law = Law(float(counted.noise.scale), counted.noise.variance, terms.level, of == POPULATION, trial.max_rows)
    estimate = chosen.estimate(counted.numbers, law)
    result = Score(
        metric,
        estimate.value,
        estimate.low,
        estimate.high,
        float(terms.level),
        of,
        chosen.persons(counted.numbers, law),
        f"{name} for {trial.target.name}",
        (_ABOUT[of], *caveats(trial), *([chosen.caveat] if chosen.caveat else [])),
        terms.cost_json(table.schema.relation, unit(table.schema)),
        counted.receipt,
        counted.is_replayed,
    )
    return table.stamped(result)


def caveats(trial: Trial) -> tuple[str, ...]:
    """Whom the model was trained on, who counts, and with which rows, in sentences."""
    each = "row" if trial.schema.unit is None else trial.schema.unit.key
    rows = "its first row" if trial.max_rows == 1 else f"its first {trial.max_rows} rows"
    counts = f"Each {each} counts with {rows} by a keyed hash." if trial.schema.max_rows > 1 else ""
    missing = f"Rows without {trial.target.name} do not count."
    return tuple(sentence for sentence in (trial.knowledge, counts, missing) if sentence)
