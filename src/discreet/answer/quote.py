"""What a question would cost and how exact it would be: public facts only, nothing spent, nothing read."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from discreet import amounts
from discreet.answer.caps import counted_of
from discreet.answer.column import plain
from discreet.answer.compose import cost_json, mechanism_words, noisy_parts
from discreet.answer.estimate import estimated
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
    of: str | None = None  # what a cap leaves to be counted

    @property
    def unknown(self) -> bool:
        """Whether nothing can be said of the ± beforehand."""
        return self.moe is None and self.at_size is None and self.ranks is None

    def to_json(self) -> dict[str, Any]:
        """For `quote --json`."""
        found: dict[str, Any] = {"name": self.name, "mechanism": self.mechanism, "moe": plain(self.moe)}
        if self.at_size is not None:
            found["moe_at_size"] = self.at_size
        if self.ranks is not None:
            found["ranks"] = self.ranks
        if self.of is not None:
            found["of"] = self.of
        return found

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
    alike: bool = True  # whether all counts have the same ±
    most_epsilon: Fraction | None = None  # of one question

    @property
    def fits(self) -> bool:
        """Whether so much is left.

        What is left is a pure ε.  Gaussian noise may fit beyond it, and may not fit within it for its δ: it does where
        some is left after it.
        """
        price, left, after = (Fraction(one["epsilon"]) for one in (self.cost, self.remaining, self.remaining_after))
        if self.most_epsilon is not None and price > self.most_epsilon:
            return False
        if Fraction(self.cost["delta"]) == 0 or price == left:
            return price <= left
        return after > 0

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
            "columns": [one.to_json() for one in self.columns],
            "smallest_group": self.smallest_group,
            "caveats": list(self.caveats),
        }

    def lines(self) -> list[str]:
        """The same for people."""
        sure = amounts.shown(100 * self.level)
        lines = [f"Cost: epsilon {self.cost['epsilon']}, delta {self.cost['delta']}; nothing is spent yet."]
        lines += [
            f"{visible(one.name)}: {one.words(self.at_size)} ({one.mechanism}), {sure} times of 100"
            + ("" if one.of is None else f"; {one.of}")
            for one in self.columns
        ]
        if self.smallest_group:
            which = "the ±" if self.alike else "the largest ±"
            lines.append(f"For a count below {self.smallest_group:,} {which} is more than 10 % of it.")
        left = self.remaining["epsilon"]
        after = f"Left now: epsilon {left}; after it {self.remaining_after['epsilon']}."
        lines.append(after if self.fits else f"It does not fit: epsilon {left} is left. What was asked before is free.")
        return lines + [visible(caveat) for caveat in self.caveats]

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def quoted(
    plan: Plan, *, remaining: dict[str, str], remaining_after: dict[str, str], at_size: int | None = None
) -> Quote:
    """The quote of a plan; `at_size` names a number of rows at which means and variances are judged."""
    size = None if at_size is None else amounts.count(at_size, "at_size", 1)
    known, draft = half_widths(plan), plan.draft
    columns = tuple(
        replace(_expected(output.name, recipe, plan, known[output.name], size), of=counted_of(recipe, draft))
        for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)
    )
    counts = [
        moe
        for output, recipe in zip(draft.question.outputs, draft.recipes, strict=True)
        if (moe := known[output.name]) is not None and not _is_sum(recipe)
    ]
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


def _expected(name: str, recipe: Recipe, plan: Plan, moe: Fraction | None, size: int | None) -> Expected:
    words, by_part = mechanism_words(recipe, plan), {one.part: one.mechanism for one in plan.measured}
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
    found = estimated(recipe, noisy_parts(plan, values), plan.terms.level)
    return float((Fraction(found.high[0]) - Fraction(found.low[0])) / 2)


def _is_sum(recipe: Recipe) -> bool:
    return not any(isinstance(part, Rows | Units | Distinct) for part in parts(recipe))
