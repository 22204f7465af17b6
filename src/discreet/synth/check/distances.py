"""How far tables of real counts lie from the synthetic shares: Σ over cells of |count − n·share|, behind the gate.

n is the noisy number of units, in steps.  A unit moves each distance by no more than it moves the table's counts, by
the triangle inequality: `moved` steps in l1.  Proof page: docs/proofs/synth/check.md.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.bounded import Bounded, Sensitivity, scalar, side_by_side
from discreet.engine.protocol import View
from discreet.kernel.contract import kernel_of
from discreet.ndarrays import Ints
from discreet.query.nodes import Expr
from discreet.synth.check.tables import Clique, SyntheticCounts, Tables
from discreet.synth.plan import KERNEL, score_sensitivity
from discreet.synth.subject import Subject

PROOF = "synth/check.md"
GRAINS = 2**10  # of what is released, in one unit


def unit_step(tables: Tables) -> Fraction:
    """How far one unit moves the counts of one table, in steps of l1, by the kernel's own bound."""
    return kernel_of(KERNEL).sensitivity(tables.public(tables.cliques[:1]), tables.subject.limit).l1


def mean_sensitivity(step: Fraction, subject: Subject) -> Sensitivity:
    """Of the mean of numbers, each of which a unit moves by at most `step`."""
    return scalar(step, subject.limit.relation)


def each_sensitivity(step: Fraction, tables: int, subject: Subject) -> Sensitivity:
    """Of so many numbers, each of which a unit moves by at most `step`."""
    return score_sensitivity(step, tables, subject)


def expected_counts(synthetic: Ints, total: int, units: int) -> Ints:
    """What the real counts would be at the synthetic shares, in whole steps; `units` is the noisy number, in steps."""
    counts: Ints = np.rint(synthetic * (units / total)).astype(np.int64)
    return counts


def distances(counts: list[Ints], expected: list[Ints]) -> list[int]:
    """Σ |count − expected| of each table.

    >>> distances([np.array([3, 1])], [np.array([1, 2])])
    [3]
    """
    return [int(np.abs(own - other).sum()) for own, other in zip(counts, expected, strict=True)]


def rounding(synthetic: Ints, total: int, units: int) -> float:
    """Σ |expected − n·share| in steps: what whole steps add to a distance at most."""
    exact = synthetic * (units / total)
    return float(np.abs(np.rint(exact) - exact).sum())


def each_distance(
    view: View, tables: Tables, synthetic: SyntheticCounts, units: int, where: Expr | None
) -> Bounded[Ints]:
    """The distance of each table, counted in as many passes as there are cells."""
    return in_batches(view, tables, unit_step(tables), where, lambda batch: _distances(tables, batch, synthetic, units))


def in_batches(
    view: View,
    tables: Tables,
    step: Fraction,
    where: Expr | None,
    numbers: Callable[[list[Clique]], Callable[[Ints], Ints]],
) -> Bounded[Ints]:
    """One number of each table, of which a unit moves each by at most `step`; one pass is held at a time."""
    subject = tables.subject
    parts = dict[str, Bounded[Ints]]()
    for place, batch in enumerate(tables.batches()):
        counted = view.sum(KERNEL, subject.column_names, tables.public(batch), where=where)
        bound = each_sensitivity(step, len(batch), subject)
        parts[str(place)] = counted.then(numbers(batch), bound, proof=PROOF)
    bound = each_sensitivity(step, len(tables.cliques), subject)
    return side_by_side(parts).then(lambda own: np.concatenate([own[name] for name in parts]), bound, proof=PROOF)


def coarse(each: Bounded[Ints], grain: int, step: Fraction, tables: int, subject: Subject) -> Bounded[Ints]:
    """⌊number/grain⌋ of each table.  With a step of m grains, a unit moves each by at most m."""
    bound = each_sensitivity(step / grain, tables, subject)
    return each.then(lambda own: own // grain, bound, proof=PROOF)


def coarse_mean(each: Bounded[Ints], grain: int, step: Fraction, tables: int, subject: Subject) -> Bounded[Ints]:
    """⌊Σ numbers/(tables·grain)⌋.  A unit moves the sum by at most `tables` steps of m grains, so this by m."""
    bound = mean_sensitivity(step / grain, subject)
    return each.then(lambda own: np.array([int(own.sum()) // (tables * grain)]), bound, proof=PROOF)


def _distances(tables: Tables, batch: list[Clique], synthetic: SyntheticCounts, units: int) -> Callable[[Ints], Ints]:
    def numbers(counts: Ints) -> Ints:
        own = expected_counts(synthetic.of(tables.public(batch)), synthetic.total, units)
        return np.array(distances(tables.split(counts, batch), tables.split(own, batch)), dtype=np.int64)

    return numbers
