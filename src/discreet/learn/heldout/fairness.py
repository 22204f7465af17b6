"""How well a model predicts each group of persons, as one charged question: accuracy, true and false positives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.engine.protocol import Progress
from discreet.learn.heldout.group_rates import RATES, Group, cells_of, gap_of, group_counts, group_of, rate_moe
from discreet.learn.heldout.interval import Estimate, count_estimate, outward
from discreet.learn.heldout.trial import Scored, Trial, require_class
from discreet.learn.heldout.trial_gate import Measured
from discreet.learn.heldout.trial_plan import Outcome, TrialOptions, TrialPlan
from discreet.learn.heldout.trial_quote import TrialQuote, noise_words, planned_law, quote_of, size_of
from discreet.ndarrays import Ints
from discreet.table import Table
from discreet.terms import price_text

_WORDS = {
    "accuracy": ("", "predicted right"),
    "tpr": (" with {positive}", "predicted so"),
    "fpr": (" without {positive}", "predicted to have it"),
}


@dataclass(frozen=True)
class Fairness(Outcome):
    """Rates of each group, and the largest gap of each rate; all from one release of noisy counts."""

    by: str
    positive: str
    groups: tuple[Group, ...]
    gaps: Mapping[str, Estimate]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "by": self.by,
            "positive": self.positive,
            "groups": [group.to_json() for group in self.groups],
            "gaps": {name: gap.to_json() for name, gap in self.gaps.items()},
            **self.outcome_json(),
        }

    def __str__(self) -> str:
        lines = [f"{self.model}, by {self.by}; intervals hold {self.often} each."]
        for group in self.groups:
            lines.append(f"{self.by} {group.name}: about {group.persons.value:,.0f} {self.noun}.")
            lines += [f"  {self._sentence(name, getattr(group, name))}" for name in RATES]
        lines += [f"The gap of {name} between groups is {_points(self.gaps[name])}." for name in RATES]
        return "\n".join([*lines, *self.closing_lines()])

    def _sentence(self, name: str, rate: Estimate) -> str:
        whom, verb = (words.format(positive=self.positive) for words in _WORDS[name])
        if rate.value is None:
            return f"How many {self.noun}{whom} are {verb} cannot be told: there are too few for this noise."
        low, high = outward(100 * rate.low, 100 * rate.high, 1)
        return f"Of 100 {self.noun}{whom} {100 * rate.value:.1f} are {verb} ({low} to {high})."

    def plot(self) -> Any:
        """The rates of every group with their intervals."""
        from discreet.plot.answer import Mark, points_picture

        marks = [
            Mark(f"{group.name}: {name}", rate.value, rate.low, rate.high)
            for name in RATES
            for group in self.groups
            if (rate := getattr(group, name)).value is not None
        ]
        caption = f"Intervals hold {self.often} each. {price_text(self.cost)}."
        return points_picture(marks, title=f"{self.model}, by {self.by}", measure="share", caption=caption)


def _points(gap: Estimate) -> str:
    low, high = outward(100 * gap.low, 100 * gap.high, 1)
    ends = f"between {low} and {high} of 100"
    return f"not known, {ends}" if gap.value is None else f"{100 * gap.value:.1f} of 100, {ends}"


def fairness(
    table: Table,
    model: Any,
    *,
    by: str,
    epsilon: Any,
    progress: Progress | None = None,
    **options: Any,
) -> Fairness:
    """Count each group's right and wrong predictions: charged once, and free whenever the same is asked again.

    `options` are those of `TrialOptions`.
    """
    parsed = TrialOptions.parse("fairness", ("by", "epsilon", "progress"), options)
    plan, place, names = _plan(table, model, by, epsilon, parsed)
    counted = plan.count(progress)
    law, level = plan.law(counted.noise), plan.terms.level
    cells = counted.numbers.reshape(len(names), -1)
    drawn = float(law.rows if law.is_population else 0)
    groups, at_once = (
        [group_of(name, own, scale=law.scale, level=each, drawn=drawn) for name, own in zip(names, cells, strict=True)]
        for each in (level, 1 - (1 - level) / len(names))
    )
    result = Fairness(
        by=by,
        positive=str(plan.trial.classes[place]),
        groups=tuple(groups),
        gaps={name: gap_of([getattr(group, name) for group in at_once]) for name in RATES},
        **plan.outcome(counted, f"Rows without {by} do not count."),
    )
    return table.stamped(result)


def quote_fairness(
    table: Table, model: Any, *, by: str, epsilon: Any, at_size: Any = None, **options: Any
) -> TrialQuote:
    """What these rates would cost, and their ± where each is about `at_size` persons; free, and no row is read."""
    parsed = TrialOptions.parse("quote_fairness", ("by", "epsilon", "at_size"), options)
    plan, _, names = _plan(table, model, by, epsilon, parsed)
    law, size, cells = planned_law(plan), size_of(plan, at_size, len(names)), cells_of(len(plan.trial.classes))
    radius = count_estimate(0, scale=law.scale, numbers=cells, level=law.level).high
    noise = noise_words(plan, len(names) * cells, radius, f"each {by} has")
    moe = {name: None if size is None else rate_moe(name, size, cells, law) for name in RATES}
    return quote_of(plan, noise, size, moe)


def _plan(table: Table, model: Any, by: str, epsilon: Any, options: TrialOptions) -> tuple[TrialPlan, int, list[str]]:
    """The plan, the place of the class that counts as positive, and the groups."""
    trial = options.trial(table, model, by)
    place, names = require_class(trial, options.positive), _group_names(trial)

    def counts(scored: Scored) -> Ints:
        return group_counts(scored, len(names), len(trial.classes), place)

    measured = Measured("fairness", {"positive": place}, counts, 1, 1, f"rates of {trial.title} by {by}")
    return TrialPlan(table, trial, measured, table.terms(epsilon, 0, options.level), options), place, names


def _group_names(trial: Trial) -> list[str]:
    return [str(value) for value in (trial.by.values if trial.by is not None else None) or ()]
