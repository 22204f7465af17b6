"""From noisy numbers to a table that adds up: which method, and why.

    integer      the nearest whole table of all (weighted least squares), exactly            counts
    topdown      place by place from the top, simplex and largest remainder: the fast path   counts
    chebyshev    place by place, the largest change least (InfTDA)                           counts
    rounded      least squares over the tree, then controlled rounding                       counts
    cumulative   each place made monotone, then `integer` (M_c^dp)                           sizes from the top
    joint        monotone and additive at once, then groups dealt out whole (M_c^joint)      sizes from the top

A method is chosen from public facts alone and everything here is free: it sees released numbers only.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import bad
from discreet.release.measure import Form
from discreet.release.subject import Subject
from discreet.release.tree import Ints, Tree

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan

SCALE = 1024
LEAST_VARIANCE = 1e-9  # what no weight tells apart from none
LARGE = 10**7  # cells above which the fast path is taken
FAR = {"joint": 2**38, "cumulative": 2**38, "rounded": 2**30}  # the largest numbers that a method takes, if it says so
PLAIN = ("integer", "topdown", "chebyshev", "rounded")
FROM_TOP = ("cumulative", "joint")


def chosen(method: str, subject: Subject, total: int | None) -> tuple[str, str]:
    """The method's name and a sentence on why."""
    known = PLAIN if subject.design.form is Form.PLAIN else FROM_TOP
    if method != "auto":
        if method not in known:
            raise bad("method", f"must be auto, {', '.join(known)} here", method, "Give auto.")
        return method, f"Method {method}, as asked."
    if subject.design.form is Form.FROM_TOP:
        return "joint", "Method joint: sizes are ordered, so that all curves can be made monotone and additive at once."
    cells = len(subject.tree) * subject.cells
    if cells > LARGE:
        return "topdown", f"Method topdown: {cells:,} cells are many, and it is the fast path."
    return "integer", "Method integer: the nearest table of whole numbers that adds up."


def fitted(plan: "ReleasePlan", noisy: Ints) -> Ints:
    """The table of all places and cells: sums hold, nothing is negative, all are whole."""
    tree, weights, total = plan.subject.tree, plan.weights, plan.total
    if plan.measurement.form is Form.FROM_TOP:
        return _sizes(plan.method, tree, noisy, weights, total)
    values, scale = _cells(plan, noisy)
    return _plain_method(plan.method)(tree, values, weights, scale=scale, total=total)


def _cells(plan: "ReleasePlan", noisy: Ints) -> tuple[Ints, int]:
    """The measured cells, or the best combination of all marginals in steps of 1/1,024."""
    if len(plan.measurement.marginals) == 1:
        return noisy, 1
    from discreet.release.attributes import views

    weights = [1.0 / max(one.variance, LEAST_VARIANCE) for one in plan.measurement.mechanisms[-1]]
    return np.rint(views(plan.measurement.marginals, weights).cells(noisy) * SCALE).astype(np.int64), SCALE


def _sizes(method: str, tree: Tree, noisy: Ints, weights: Ints, total: int | None) -> Ints:
    """Sizes from numbers of groups of at least each size: cumulative counts once the columns are turned round."""
    from discreet.release import cumulative, joint

    turned = np.ascontiguousarray(noisy[:, ::-1])
    if method == "joint":
        return np.ascontiguousarray(joint.whole(tree, turned, weights, total=total)[:, ::-1])
    found = cumulative.differences(tree, turned, total=total)
    values = np.ascontiguousarray(found.values[:, ::-1])
    return _plain_method("integer")(tree, values, weights, scale=found.scale, total=total)


def _plain_method(name: str) -> Callable[..., Ints]:
    """The method, imported when it is needed: some bring a compiler or a solver with them."""
    if name == "rounded":
        return _rounded
    method: Callable[..., Ints] = import_module(f"discreet.release.{name}").fitted
    return method


def _rounded(tree: Tree, noisy: Ints, weights: Ints, *, scale: int, total: int | None) -> Ints:
    from discreet.release import prices, rounding

    return rounding.rounded(tree, prices.projected(tree, noisy, weights, scale=scale, total=total))
