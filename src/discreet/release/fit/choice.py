"""From noisy numbers to a table that adds up: which method, and why.

    integer      the nearest whole table of all (weighted least squares), exactly            counts
    together     cells and marginals at once: least squares with signs, then flows           counts, several marginals
    topdown      place by place from the top, simplex and largest remainder: the fast path   counts
    chebyshev    place by place, the largest change least (InfTDA)                           counts
    rounded      least squares over the tree, then controlled rounding                       counts
    flow         least squares, then least-cost flows that keep the public total of each leaf  counts
    cumulative   each place made monotone, then `integer` (M_c^dp)                           sizes from the top
    joint        monotone and additive at once, then groups dealt out whole (M_c^joint)      sizes from the top

Without a public total the top is held to the measured one.  Otherwise many small numbers, none of them negative, would
add up to units that are not there.

The method is chosen from public facts alone.  Fitting is free: it sees released numbers only.
"""

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Ints
from discreet.release.fit import Fit
from discreet.release.known import Known
from discreet.release.measure import Form, Marginal
from discreet.release.subject import Subject

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan

SCALE = 1024
LEAST_VARIANCE = 1e-9  # a smaller variance is weighted like this one
LARGE = 10**7  # cells above which the fast path is taken
LARGEST_NUMBER = {
    "joint": 2**38,
    "cumulative": 2**38,
    "flow": 2**38,
    "together": 2**38,
    "rounded": 2**30,
}  # that a method takes, if it has such a limit
PLAIN = ("integer", "topdown", "chebyshev", "rounded")
_MODULES = {"rounded": "rounding", "flow": "leaf_totals"}  # where the method's name is not its module's
FROM_TOP = ("cumulative", "joint")


def method_and_reason(method: str, subject: Subject, known: Known) -> tuple[str, str]:
    """The method's name and a sentence on why."""
    usable = methods(subject, known)
    if method != "auto":
        if method not in usable:
            raise bad("method", f"must be auto or {' or '.join(usable)} here", method, "Give auto.")
        return method, f"Method {method}, as asked."
    if has_ordered_sizes(subject):
        return _of_sizes(usable)
    cells = len(subject.tree) * subject.cells
    if "together" in usable and cells <= LARGE:
        return "together", "Method together: several marginals were measured, and the table keeps near to all of them."
    if known.leaf_totals is not None:
        return "flow", "Method flow: the total of every leaf is public, and every step keeps all of them."
    if cells > LARGE:
        return "topdown", f"Method topdown: {cells:,} cells are many, and it is the fast path."
    return "integer", "Method integer: the nearest table of whole numbers that adds up."


def has_ordered_sizes(subject: Subject) -> bool:
    """Whether groups of at least each size are counted, for two sizes or more; such counts must be monotone."""
    return subject.design.form is Form.FROM_TOP and subject.cells > 1


def methods(subject: Subject, known: Known) -> tuple[str, ...]:
    """The methods that can keep to the known totals and zeros."""
    if has_ordered_sizes(subject):
        return FROM_TOP if known.allowed is None else ("cumulative",)
    several = ("together",) if len(subject.design.marginals) > 1 else ()
    return (*several, *(PLAIN if known.leaf_totals is None else ("flow",)))


def _of_sizes(usable: tuple[str, ...]) -> tuple[str, str]:
    if "joint" in usable:
        return "joint", "Method joint: sizes are ordered, so that all curves can be made monotone and additive at once."
    return (
        "cumulative",
        "Method cumulative: each place is made monotone by itself, because some sizes were said to be impossible.",
    )


def table_of(plan: "ReleasePlan", noisy: Ints) -> Ints:
    """The fitted table (places, cells): it adds up, is whole and not negative, and keeps to what is known."""
    return table_held_to(plan, noisy, top_total(plan, noisy))


def table_held_to(plan: "ReleasePlan", noisy: Ints, total: int | None) -> Ints:
    """The fitted table with this total at the top, or with whatever total is nearest if None."""
    known = replace(plan.known, total=total)
    if has_ordered_sizes(plan.subject):
        return _sizes(plan, noisy, known)
    if plan.method == "together":
        from discreet.release.fit import together

        views = together.MeasuredViews(*_weighted_views(plan))
        return together.whole_table(plan.subject.tree, noisy, plan.weights, views, known)
    values, scale = _cells(plan, noisy)
    return _fit(plan, plan.method, known, values, scale)


def top_total(plan: "ReleasePlan", noisy: Ints) -> int:
    """The public total, or else its unbiased estimate, at least 0."""
    known, possible = plan.known, plan.known.possible(plan.subject.tree)
    if known.total is not None:
        return known.total
    if possible is not None and not possible[0].any():
        return 0
    return max(0, int(plan.margins.totals(noisy)[0]))


def _cells(plan: "ReleasePlan", noisy: Ints) -> tuple[Ints, int]:
    """The measured cells, or the best combination of all marginals in steps of 1/1,024; and the scale."""
    if len(plan.measurement.marginals) == 1:
        return noisy, 1
    from discreet.release.attributes import views

    return np.rint(views(*_weighted_views(plan)).cells(noisy) * SCALE).astype(np.int64), SCALE


def _weighted_views(plan: "ReleasePlan") -> tuple[tuple[Marginal, ...], list[float]]:
    """The marginals and their weights ∝ 1/variance, the last of them 1; the ratios are the same on all levels."""
    mechanisms = plan.measurement.mechanisms[-1]
    precision = [1.0 / max(mechanism.variance, LEAST_VARIANCE) for mechanism in mechanisms]
    return plan.measurement.marginals, [weight / precision[-1] for weight in precision]


def _sizes(plan: "ReleasePlan", noisy: Ints, known: Known) -> Ints:
    """Counts by size from counts of groups of at least each size: cumulative counts with the columns reversed."""
    from discreet.release.fit import cumulative, joint

    tree, public = plan.subject.tree, known.leaf_totals
    rising = np.ascontiguousarray(noisy[:, ::-1])
    if plan.method == "joint":
        table = joint.whole_sizes(tree, rising, plan.weights, total=known.total, leaf_totals=public)
        return np.ascontiguousarray(table[:, ::-1])
    values, scale = cumulative.differences(tree, rising, total=known.total, leaf_totals=public)
    method = "integer" if public is None else "flow"
    return _fit(plan, method, known, np.ascontiguousarray(values[:, ::-1]), scale)


def _fit(plan: "ReleasePlan", method: str, known: Known, values: Ints, scale: int) -> Ints:
    """The whole table near values/scale.  The method is imported here: some bring a compiler or a solver with them."""
    module = import_module(f"discreet.release.fit.{_MODULES.get(method, method)}")
    fit: Fit = partial(module.fit, leaf_totals=known.leaf_totals) if method == "flow" else module.fit
    return fit(plan.subject.tree, values, plan.weights, scale=scale, total=known.total, allowed=known.allowed)
