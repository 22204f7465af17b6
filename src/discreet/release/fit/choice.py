"""From noisy numbers to a table that adds up: which method, and why.

    integer      the nearest whole table of all (weighted least squares), exactly            counts
    together     cells and marginals at once: least squares with signs, then flows           counts, several marginals
    topdown      place by place from the top, simplex and largest remainder: the fast path   counts
    chebyshev    place by place, the largest change least (InfTDA)                           counts
    rounded      least squares over the tree, then controlled rounding                       counts
    flow         least squares, then least-cost flows that keep the public total of each leaf  counts
    cumulative   each place made monotone, then `integer` (M_c^dp)                           sizes from the top
    joint        monotone and additive at once, then groups dealt out whole (M_c^joint)      sizes from the top

Without a public total the top is held to the measured one: else numbers that cannot be negative, many of them small,
add up to units that are not there, and levels below have no use of them either.

A method is chosen from public facts alone and everything here is free: it sees released numbers only.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.release.known import Known
from discreet.release.measure import Form, Marginal
from discreet.release.subject import Subject
from discreet.release.tree import Tree, summed

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan

SCALE = 1024
LEAST_VARIANCE = 1e-9  # what no weight tells apart from none
_NEAR = 2.0**-10  # of a whole number: there what is shared out could step over it
LARGE = 10**7  # cells above which the fast path is taken
FAR = {
    "joint": 2**38,
    "cumulative": 2**38,
    "flow": 2**38,
    "together": 2**38,
    "rounded": 2**30,
}  # the largest numbers that a method takes, if it says so
PLAIN = ("integer", "topdown", "chebyshev", "rounded")
FROM_TOP = ("cumulative", "joint")


def chosen(method: str, subject: Subject, known: Known) -> tuple[str, str]:
    """The method's name and a sentence on why."""
    usable = methods(subject, known)
    if method != "auto":
        if method not in usable:
            raise bad("method", f"must be auto or {' or '.join(usable)} here", method, "Give auto.")
        return method, f"Method {method}, as asked."
    if ordered(subject):
        return _of_sizes(usable)
    cells = len(subject.tree) * subject.cells
    if "together" in usable and cells <= LARGE:
        return "together", "Method together: several marginals were measured, and the table keeps near to all of them."
    if known.leaf_totals is not None:
        return "flow", "Method flow: the total of every leaf is public, and every step keeps all of them."
    if cells > LARGE:
        return "topdown", f"Method topdown: {cells:,} cells are many, and it is the fast path."
    return "integer", "Method integer: the nearest table of whole numbers that adds up."


def ordered(subject: Subject) -> bool:
    """Whether numbers of groups of at least each size are to be made monotone: with one size they are plain counts."""
    return subject.design.form is Form.FROM_TOP and subject.cells > 1


def methods(subject: Subject, known: Known) -> tuple[str, ...]:
    """Those that can keep what is known."""
    if ordered(subject):
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


def fitted(plan: "ReleasePlan", noisy: Ints) -> Ints:
    """The table of all places and cells: sums hold, nothing is negative, all are whole, and what is known is kept."""
    return held_to(plan, noisy, total(plan, noisy))


def held_to(plan: "ReleasePlan", noisy: Ints, top: int | None) -> Ints:
    """The same with another total at the top, or with none that it is held to."""
    held = replace(plan.known, total=top)
    if ordered(plan.subject):
        return _sizes(plan, noisy, held)
    if plan.method == "together":
        from discreet.release.fit import together

        return together.fitted(plan.subject.tree, noisy, plan.weights, together.Seen(*_views(plan)), held)
    values, scale = _cells(plan, noisy)
    return _whole(plan, plan.method, held, values, scale)


def total(plan: "ReleasePlan", noisy: Ints) -> int:
    """What the top is held to: the public total, or else the unbiased estimate, 0 at least."""
    known, possible = plan.known, plan.known.possible(plan.subject.tree)
    if known.total is not None:
        return known.total
    if possible is not None and not possible[0].any():
        return 0
    return max(0, int(plan.margins.totals(noisy)[0]))


def _cells(plan: "ReleasePlan", noisy: Ints) -> tuple[Ints, int]:
    """The measured cells, or the best combination of all marginals in steps of 1/1,024."""
    if len(plan.measurement.marginals) == 1:
        return noisy, 1
    from discreet.release.attributes import views

    return np.rint(views(*_views(plan)).cells(noisy) * SCALE).astype(np.int64), SCALE


def _views(plan: "ReleasePlan") -> tuple[tuple[Marginal, ...], list[float]]:
    """The marginals and their weights ∝ 1/variance, the last of them 1; the ratios are the same on all levels."""
    precision = [1.0 / max(one.variance, LEAST_VARIANCE) for one in plan.measurement.mechanisms[-1]]
    return plan.measurement.marginals, [one / precision[-1] for one in precision]


def _sizes(plan: "ReleasePlan", noisy: Ints, held: Known) -> Ints:
    """Sizes from numbers of groups of at least each size: cumulative counts once the columns are turned round."""
    from discreet.release.fit import cumulative, joint

    tree, public = plan.subject.tree, held.leaf_totals
    turned = np.ascontiguousarray(noisy[:, ::-1])
    if plan.method == "joint":
        return np.ascontiguousarray(
            joint.whole(tree, turned, plan.weights, total=held.total, leaf_totals=public)[:, ::-1]
        )
    found = cumulative.differences(tree, turned, total=held.total, leaf_totals=public)
    method = "integer" if public is None else "flow"
    return _whole(plan, method, held, np.ascontiguousarray(found.values[:, ::-1]), found.scale)


def _whole(plan: "ReleasePlan", method: str, held: Known, values: Ints, scale: int) -> Ints:
    """The whole table near values/scale by a method, imported now: some bring a compiler or a solver with them."""
    tree, weights = plan.subject.tree, plan.weights
    if method == "flow":
        from discreet.release.fit import leaf_totals

        assert held.leaf_totals is not None
        return leaf_totals.fitted(tree, values, weights, held.leaf_totals, scale=scale, allowed=held.allowed)
    made: Callable[..., Ints] = (
        _rounded if method == "rounded" else import_module(f"discreet.release.fit.{method}").fitted
    )
    return made(tree, values, weights, scale=scale, total=held.total, allowed=held.allowed)


def _rounded(tree: Tree, noisy: Ints, weights: Ints, *, scale: int, total: int | None, allowed: Bools | None) -> Ints:
    """The real table, made whole by controlled rounding of what is above its leaves' whole parts: sums of parts below 1
    are as exact as floats can be, and what they miss the total by is shared out."""
    from discreet.release.fit import prices, rounding

    real = prices.projected(tree, noisy, weights, scale=scale, total=total, allowed=allowed)[tree.leaves]
    below = np.floor(real).astype(np.int64)
    rest = real - below
    inner = (rest > _NEAR) & (rest < 1 - _NEAR)
    if total is not None and inner.any():
        rest[inner] += (total - int(below.sum()) - rest.sum()) / inner.sum()
    return summed(tree, below) + rounding.rounded(tree, summed(tree, rest), allowed=allowed)
