"""The ± of a plan before anything is spent, and the least ε at which it is small enough.

Counts and sums have a ± that follows from public facts alone.  That of a mean or a variance depends on how many rows
there are, which is private; that of a quantile is known in ranks.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet import amounts
from discreet.errors import BadValue, NotAnswerable, bad
from discreet.mechanism.additive import Additive
from discreet.query.bound import Draft
from discreet.query.plan import Plan, plan_of
from discreet.query.recipe import MeanAmong, Picked, PickedTop, Recipe, Single
from discreet.schema.words import suggestion
from discreet.terms import Terms

_DIGITS = 900  # steps a decade: three significant digits
_DECADES = range(-9, 6)


def half_widths(plan: Plan) -> dict[str, Fraction | None]:
    """The ± of every column at the plan's level; None where it is not known beforehand."""
    outputs = plan.draft.question.outputs
    return {o.name: _half_width(r, plan) for o, r in zip(outputs, plan.draft.recipes, strict=True)}


def least_epsilon(draft: Draft, errors: Mapping[str, Any], terms: Terms) -> Fraction:
    """The least ε of three digits, up to that of the terms, at which the ± of every column is within its limit."""
    limits = {_column(name, draft): amounts.positive(error, f"error {name}") for name, error in errors.items()}
    if not limits:
        raise bad("error", "must name a column", "nothing", "Give, for example: n=15")
    for name in limits:
        _require_known(name, draft)

    def widths_at(index: int) -> dict[str, Fraction | None]:
        return half_widths(plan_of(draft, replace(terms, epsilon=_epsilon(index))))

    def are_small(widths: dict[str, Fraction | None]) -> bool:
        return all((width := widths[name]) is not None and width <= error for name, error in limits.items())

    def is_enough(index: int) -> bool:
        try:
            return are_small(widths_at(index))
        except BadValue:  # so small an ε that some part would need wider noise than is ever drawn
            return False

    grid = range(_DIGITS * len(_DECADES))
    low, high = -1, bisect_right(grid, terms.epsilon, key=_epsilon) - 1  # not enough, enough
    if not are_small(widths_at(high)):
        name, error = min(limits.items(), key=lambda pair: pair[1])
        raise bad(
            "error", "must be within reach of some epsilon", f"{name}={amounts.text_of(error)}", "Allow a wider ±."
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return _epsilon(high)


def _epsilon(index: int) -> Fraction:
    """The index-th number of three significant digits from 1.00e-9 on."""
    decade, digits = divmod(index, _DIGITS)
    return Fraction(100 + digits, 100) * Fraction(10) ** _DECADES[decade]


def _half_width(recipe: Recipe, plan: Plan) -> Fraction | None:
    mechanisms = {measured.part: measured.mechanism for measured in plan.measured}
    match recipe:
        case Single():
            part, step = recipe.part, recipe.step
        case MeanAmong():
            part, step = recipe.total, recipe.total.lattice.step / recipe.n
        case _:
            return None
    mechanism = mechanisms[part]
    return mechanism.noise.radius(plan.terms.level) * step if isinstance(mechanism, Additive) else None


def _column(name: str, draft: Draft) -> str:
    names = [output.name for output in draft.question.outputs]
    if name == "" and len(names) == 1:
        return names[0]
    if name in names:
        return name
    suggested = suggestion(name, names)
    fix = f"Did you mean {suggested}=…?" if suggested else f"Name one of: {', '.join(names)}, as in {names[0]}=15."
    rule = "must name a column of the answer" if name else "must name its column where there are several"
    raise bad("error", rule, name, fix)


def _require_known(name: str, draft: Draft) -> None:
    index = [output.name for output in draft.question.outputs].index(name)
    recipe = draft.recipes[index]
    if isinstance(recipe, Single | MeanAmong):
        return
    if isinstance(recipe, Picked | PickedTop):
        why = "It is chosen by ranks, and how far values lie apart is private."
    else:
        why = "It depends on how many rows there are, which is private."
    fix = "Give an epsilon instead, for example --eps 1; a quote shows the ± at a size you name: --at-size 1000."
    raise NotAnswerable(f"The ± of {name} is not known beforehand.", why, fix)
