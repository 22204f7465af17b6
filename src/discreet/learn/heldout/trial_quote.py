"""Quotes of scores and of rates of groups: price and ± from public facts alone, before anything is spent.

The ± depends on how many count, and that is not public unless the metadata declare a population or the caller names a
size.  It is about the ± that an interval will have, at the share where it is widest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.learn.heldout.interval import Law, upward
from discreet.learn.heldout.metrics import NAMES
from discreet.learn.heldout.r_squared import RSquared
from discreet.learn.heldout.trial_gate import mechanism_of
from discreet.learn.heldout.trial_plan import TrialPlan
from discreet.learn.task import LearnQuote
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.bound import path
from discreet.query.nodes import UnitIn

_LARGEST = 10**12
_SPREAD, _NEAR_AN_END = 0.1, 0.9  # of the width of bounds; of the way from their middle to an end


@dataclass(frozen=True)
class TrialQuote(LearnQuote):
    """What a score or rates of groups would cost, and about the ± of each where `size` count; None if not known."""

    level: float
    size: int | None
    moe: Mapping[str, float | None]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return super().to_json() | {"level": self.level, "size": self.size, "moe": dict(self.moe)}


def size_of(plan: TrialPlan, at_size: Any, groups: int = 1) -> int | None:
    """For how many the ± is quoted: as told, else one of so many equal groups of the declared population."""
    if at_size is not None:
        return amounts.whole(at_size, "at_size", 1, _LARGEST, such_as=1000)
    population, where = plan.table.schema.population, plan.trial.where
    share = where.end - where.first if isinstance(where, UnitIn) else Fraction(1)
    return None if population is None else max(int(population * share / groups), 1)


def planned_law(plan: TrialPlan) -> Law:
    """The law that the counts will have."""
    sensitivity = mechanism_of(plan.trial, plan.measured, plan.terms).sensitivity
    return plan.law(DiscreteLaplace(Fraction(sensitivity.l1) / plan.terms.epsilon))


def quote_of(
    plan: TrialPlan, noise: str, size: int | None, moe: Mapping[str, float | None], warnings: Sequence[str] = ()
) -> TrialQuote:
    """Price, noise, ± and what would remain; free.  `warnings` are sentences on what would have no value."""
    table, terms, analyst = plan.table, plan.terms, plan.options.analyst
    cost = mechanism_of(plan.trial, plan.measured, terms).cost
    branches = path(plan.trial.where, table.schema)
    quote = TrialQuote(
        plan.measured.text,
        plan.cost,
        table.remaining(analyst),
        table.remaining_after(cost, terms, analyst=analyst, path=branches),
        (*plan.trial.words(), noise, *_moe_words(plan, size, moe), *warnings),
        float(terms.level),
        size,
        moe,
        is_part=bool(branches),
    )
    return table.stamped(quote)


def noise_words(plan: TrialPlan, numbers: int, radius: float, whom: str) -> str:
    """How many numbers are measured with which noise, and within which ± that tells how many count."""
    scale = planned_law(plan).scale / plan.measured.norm
    return (
        f"Measured: {numbers} numbers with Laplace noise of scale {upward(scale, 3)}, where a row adds 1 in all. "
        f"How many {plan.trial.noun} {whom} would be known within ± {upward(radius, 3)}."
    )


def told_words(plan: TrialPlan, metric: RSquared, size: int | None, law: Law) -> tuple[str, ...]:
    """From how far the target must spread, or from how many must count, R² has a value: noise may hide the spread."""
    noun, target = plan.trial.noun, plan.trial.target.name
    few, many = (metric.told_size(law, _SPREAD, mean) for mean in (0.0, _NEAR_AN_END))
    needed = (
        f"Where the standard deviation of {target} is a tenth of the width of its bounds, R² has a value from about "
        f"{few:,} {noun} on, {many:,} if its mean lies near a bound; a hundredth needs a hundred times as many."
    )
    if size is None:
        return (needed,)
    spreads = [metric.told_spread(size, law, mean) for mean in (0.0, _NEAR_AN_END)]
    if spreads[0] is None:
        return (f"With {size:,} {noun} R² would have no value: the noise hides how far {target} spreads.", needed)
    skewed_spread = "none then is enough" if spreads[1] is None else f"{spreads[1]:.2g}"
    known = (
        f"With {size:,} {noun} R² has a value where the standard deviation of {target} is at least {spreads[0]:.2g} of "
        f"the width of its bounds; if its mean lies near a bound, {skewed_spread}."
    )
    return known, needed


def _moe_words(plan: TrialPlan, size: int | None, moe: Mapping[str, float | None]) -> list[str]:
    names, noun = ", ".join(NAMES.get(name, name) for name in moe), plan.trial.noun
    if size is None:
        told = "Name a number (at_size, --at-size at the command line), or declare the population in the metadata."
        return [f"The ± of {names} depends on how many {noun} count, which is not public. {told}"]
    often = f"{100 * float(plan.terms.level):g} times in 100"
    widths = {NAMES.get(name, name): width for name, width in moe.items() if width is not None}
    if not widths:
        return [f"The ± of {names} depends on more than how many {noun} count: it is not known beforehand."]
    return [
        f"With {size:,} {noun} {name} would be within about ± {upward(width, 2)}, {often}."
        for name, width in widths.items()
    ]
