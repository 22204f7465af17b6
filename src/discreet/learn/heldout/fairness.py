"""How well a model predicts each group of persons, as one charged question: accuracy, true and false positives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.learn.heldout.group_rates import RATES, Group, cells_of, gap_of, group_counts, group_of
from discreet.learn.heldout.interval import Estimate
from discreet.learn.heldout.score import PERSONS, POPULATION, caveats
from discreet.learn.heldout.trial import Scored, require_class, trial_of
from discreet.learn.heldout.trial_gate import Measured, measure
from discreet.ndarrays import Ints
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.table import Table
from discreet.terms import price_text

_WORDS = {
    "accuracy": "persons are predicted right",
    "tpr": "persons with {positive} are found",
    "fpr": "persons without {positive} are taken for one",
}


@dataclass(frozen=True)
class Fairness:
    """Rates of each group, and the largest gap of each rate; all from one release of noisy counts."""

    by: str
    positive: str
    groups: tuple[Group, ...]
    gaps: Mapping[str, Estimate]
    level: float
    of: str
    model: str
    caveats: tuple[str, ...]
    cost: dict[str, str | None]
    receipt: str
    is_replayed: bool

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "by": self.by,
            "positive": self.positive,
            "groups": [group.to_json() for group in self.groups],
            "gaps": {name: gap.to_json() for name, gap in self.gaps.items()},
            "level": self.level,
            "of": self.of,
            "model": self.model,
            "caveats": list(self.caveats),
            "cost": self.cost,
            "receipt": self.receipt,
            "replayed": self.is_replayed,
        }

    def __str__(self) -> str:
        lines = [f"{self.model}, by {self.by}; intervals hold {100 * self.level:g} times in 100 each."]
        for group in self.groups:
            lines.append(f"{self.by} {group.name}: about {group.persons.value:,.0f} persons.")
            lines += [f"  {_sentence(name, getattr(group, name), self.positive)}" for name in RATES]
        lines += [f"The gap of {name} between groups is {_points(self.gaps[name])}." for name in RATES]
        return "\n".join([*lines, *self.caveats, f"It cost {price_text(self.cost)}; receipt {self.receipt}."])

    def plot(self) -> Any:
        """The rates of every group with their intervals."""
        from discreet.plot.answer import Mark, points_picture

        marks = [
            Mark(f"{group.name}: {name}", rate.value, rate.low, rate.high)
            for name in RATES
            for group in self.groups
            if (rate := getattr(group, name)).value is not None
        ]
        title = f"{self.model}, by {self.by}"
        caption = f"Intervals hold {100 * self.level:g} times in 100 each. {price_text(self.cost)}."
        return points_picture(marks, title=title, measure="share", caption=caption)


def _sentence(name: str, rate: Estimate, positive: str) -> str:
    words = _WORDS[name].format(positive=positive)
    if rate.value is None:
        return f"How many {words} cannot be told: there are too few for this noise."
    low, high = (f"{100 * end:.1f}" for end in (rate.low, rate.high))
    whom, verb = words.split(" are ")
    return f"Of 100 {whom} {100 * rate.value:.1f} are {verb} ({low} to {high})."


def _points(gap: Estimate) -> str:
    ends = f"between {100 * gap.low:.1f} and {100 * gap.high:.1f} of 100"
    return f"not known, {ends}" if gap.value is None else f"{100 * gap.value:.1f} of 100, {ends}"


def fairness(
    table: Table,
    model: Any,
    *,
    by: str,
    epsilon: Any,
    where: Expr | None = None,
    target: str | None = None,
    positive: Any = None,
    max_rows: Any = 1,
    level: Any = None,
    of: str = PERSONS,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> Fairness:
    """Count each group's right and wrong predictions: charged once, and free whenever the same is asked again."""
    trial = trial_of(table.schema, model, target=target, max_rows=max_rows, where=where, by=by)
    place, classes = require_class(trial, positive), len(trial.classes)
    if of not in (PERSONS, POPULATION):
        raise bad("of", "must be persons or population", of, "Give of='persons'.")
    terms = table.terms(epsilon, 0, level)
    names = [str(value) for value in (trial.by.values if trial.by is not None else None) or ()]

    def counts(scored: Scored) -> Ints:
        return group_counts(scored, len(names), classes, place)

    title = f"{trial.fit.facts.title} for {trial.target.name}"
    measured = Measured("fairness", {"positive": place}, counts, 1, 1, f"rates of {title} by {by}")
    counted = measure(table, trial, measured, terms, analyst=analyst, progress=progress)
    cells = counted.numbers.reshape(len(names), cells_of(classes))
    scale, drawn = float(counted.noise.scale), float(trial.max_rows if of == POPULATION else 0)
    groups, at_once = (
        [group_of(name, own, scale=scale, level=each, drawn=drawn) for name, own in zip(names, cells, strict=True)]
        for each in (terms.level, 1 - (1 - terms.level) / len(names))
    )
    about = "the noise and who was drawn" if of == POPULATION else "the noise alone: they are about these persons"
    result = Fairness(
        by,
        str(trial.classes[place]),
        tuple(groups),
        {name: gap_of([getattr(group, name) for group in at_once]) for name in RATES},
        float(terms.level),
        of,
        title,
        (f"Intervals cover {about}.", *caveats(trial), f"Rows without {by} do not count."),
        terms.cost_json(table.schema.relation, unit(table.schema)),
        counted.receipt,
        counted.is_replayed,
    )
    return table.stamped(result)
