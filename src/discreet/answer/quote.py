"""Quote a question: its cost and its ±, from public facts only; nothing is spent or read."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from discreet import amounts
from discreet.answer.caps import counted_of
from discreet.answer.column import plain
from discreet.answer.compose import cost_json, mechanism_words, noisy_parts
from discreet.answer.estimate import estimates_of
from discreet.answer.show import ranks
from discreet.inert import visible
from discreet.mechanism.quantile import Quantile
from discreet.query import explain
from discreet.query.parts import Distinct, Part, Rows, Units
from discreet.query.plan import Plan
from discreet.query.recipe import CorrelationOf, CovarianceOf, MeanOf, Picked, Recipe, VarianceOf, parts
from discreet.query.target import half_widths

_RELATIVE = 10  # the ± of a count ten times as large is 10 % of it


@dataclass(frozen=True)
class Expected:
    """One column before asking: its ±, or the ± at a named size, or in ranks."""

    name: str
    mechanism: str
    moe: Fraction | None
    at_size: float | None = None
    ranks: float | None = None
    of: str | None = None  # what is counted under a cap

    @property
    def unknown(self) -> bool:
        """Whether nothing can be said of the ± beforehand."""
        return self.moe is None and self.at_size is None and self.ranks is None

    def to_json(self) -> dict[str, Any]:
        """For `quote --json`."""
        optional = {"moe_at_size": self.at_size, "ranks": self.ranks, "of": self.of}
        present = {name: value for name, value in optional.items() if value is not None}
        return {"name": self.name, "mechanism": self.mechanism, "moe": plain(self.moe), **present}

    def words(self, at_size: int | None) -> str:
        """The ± in words."""
        if self.moe is not None:
            return f"± {float(self.moe):,.6g}"
        if self.ranks is not None:
            return ranks(self.ranks)
        if self.at_size is not None:
            return f"± {self.at_size:,.3g} in a group of {at_size:,} rows"
        return "± depends on how many rows there are: name a size with --at-size"


@dataclass(frozen=True)
class Quote:
    """The price and the errors of a question."""

    dataset: str
    cost: dict[str, str]
    level: Fraction
    columns: tuple[Expected, ...]
    smallest_group: int | None
    remaining: dict[str, str]
    remaining_after: dict[str, str]
    caveats: tuple[str, ...]
    at_size: int | None = None
    has_one_moe: bool = True  # whether all counts have the same ±
    max_epsilon: Fraction | None = None  # of one question

    @property
    def fits(self) -> bool:
        """Whether the price fits into what remains.

        What remains is a pure ε.  Gaussian noise may fit beyond it, and for its δ may not fit within it: it fits if
        something remains after it.
        """
        epsilon, remaining = Fraction(self.cost["epsilon"]), Fraction(self.remaining["epsilon"])
        if self.max_epsilon is not None and epsilon > self.max_epsilon:
            return False
        if Fraction(self.cost["delta"]) == 0 or epsilon == remaining:
            return epsilon <= remaining
        return Fraction(self.remaining_after["epsilon"]) > 0

    def to_json(self) -> dict[str, Any]:
        """The object that `quote --json` prints."""
        return {
            "ok": True,
            "format": 1,
            "dataset": self.dataset,
            "cost": self.cost,
            "remaining": self.remaining,
            "remaining_after": self.remaining_after,
            "fits": self.fits,
            "receipt": None,
            "level": float(self.level),
            "columns": [column.to_json() for column in self.columns],
            "smallest_group": self.smallest_group,
            "caveats": list(self.caveats),
        }

    def lines(self) -> list[str]:
        """The same for people."""
        percent = amounts.text_of(100 * self.level)
        lines = [f"Cost: epsilon {self.cost['epsilon']}, delta {self.cost['delta']}; nothing is spent yet."]
        lines += [
            f"{visible(column.name)}: {column.words(self.at_size)} ({column.mechanism}), {percent} times of 100"
            + ("" if column.of is None else f"; {column.of}")
            for column in self.columns
        ]
        if self.smallest_group:
            moe = "the ±" if self.has_one_moe else "the largest ±"
            lines.append(f"For a count below {self.smallest_group:,} {moe} is more than 10 % of it.")
        now, after = self.remaining["epsilon"], self.remaining_after["epsilon"]
        if self.fits:
            lines.append(f"Left now: epsilon {now}; after it {after}.")
        else:
            lines.append(f"It does not fit: epsilon {now} is left. What was asked before is free.")
        return lines + [visible(caveat) for caveat in self.caveats]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def quote_of(
    plan: Plan, *, remaining: dict[str, str], remaining_after: dict[str, str], at_size: int | None = None
) -> Quote:
    """The quote of a plan; `at_size` names a number of rows at which means and variances are judged."""
    size = None if at_size is None else amounts.count(at_size, "at_size", 1)
    widths, draft = half_widths(plan), plan.draft
    named = [(output.name, recipe) for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)]
    columns = tuple(
        replace(_expectation(name, recipe, plan, widths[name], size), of=counted_of(recipe, draft))
        for name, recipe in named
    )
    counts = [moe for name, recipe in named if (moe := widths[name]) is not None and not _is_sum(recipe)]
    smallest = ceil(_RELATIVE * max(counts)) if counts else None
    return Quote(
        draft.schema.name,
        cost_json(plan),
        plan.terms.level,
        columns,
        smallest,
        remaining,
        remaining_after,
        (*explain.caveats(plan), *explain.undeclared_steps(plan)),
        size,
        len(set(counts)) < 2,
    )


def _expectation(name: str, recipe: Recipe, plan: Plan, moe: Fraction | None, size: int | None) -> Expected:
    words, by_part = mechanism_words(recipe, plan), {measured.part: measured.mechanism for measured in plan.measured}
    if isinstance(recipe, Picked):
        mechanism = by_part[recipe.part]
        if isinstance(mechanism, Quantile):
            ranks = mechanism.rank_error(recipe.part.grid.points, 1 - plan.terms.level)
            return Expected(name, words, None, ranks=ranks)
    if size is not None and isinstance(recipe, MeanOf | VarianceOf | CovarianceOf | CorrelationOf):
        return Expected(name, words, None, at_size=_at_size(recipe, plan, size))
    return Expected(name, words, moe)


def _at_size(recipe: Recipe, plan: Plan, size: int) -> float:
    """Half the interval's width for a typical group of that size: its mean in the middle, its squares halfway."""
    values: dict[Part, Any] = {
        part: np.array([size if isinstance(part, Rows) else 0], dtype=np.int64) for part in parts(recipe)
    }
    estimates = estimates_of(recipe, noisy_parts(plan, values), plan.terms.level)
    return float((Fraction(estimates.high[0]) - Fraction(estimates.low[0])) / 2)


def _is_sum(recipe: Recipe) -> bool:
    return not any(isinstance(part, Rows | Units | Distinct) for part in parts(recipe))
