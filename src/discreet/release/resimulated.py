"""An approximate ± of the fitted numbers, by drawing the noise again.

The fitted table f is taken for the exact one: R times its places get fresh noise of the same laws and are fitted again,
f*_1 … f*_R.  Of the errors |f*_i − f|, the smallest first,

    alone     the ⌈level·(R + 1)⌉-th of the R of a cell
    pooled    the ⌈level·(R + 1)·n⌉-th of the R·n of that cell in all n places of its level, whose noise has one law
    radius    the larger of the two; 0 where the number is public

and the same for a place's total.  Counts that are mostly small are fitted to 0 nearly everywhere, and noise on such an
f moves little: where the nearest table of all, held to no total, has a total outside the proven interval, it is tried
as well, and the larger radius taken.

Were a table that is tried the exact one, ± radius would hold with probability `level` or more.  But it is not, and near
0, where the fit meets its signs, no number of runs makes up for that: the margin is *approximate*.  It lies beside the
proven interval of the unbiased estimate, never in its place.

All of it is made of released numbers, public facts and fresh noise: no row is read and nothing is charged.
Proof page: docs/proofs/release/resimulated.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from discreet import amounts
from discreet.engine.protocol import Progress
from discreet.errors import bad
from discreet.ndarrays import Bools, Ints
from discreet.noise.source import SYSTEM, Source
from discreet.release.fit import choice
from discreet.release.measure import Form
from discreet.release.plan import ReleasePlan

RUNS = 99
MOST_RUNS = 10_000
MOST_KEPT = 2**27  # errors of cells held by themselves: 1 GiB, and four times that at the peak


@dataclass(frozen=True, eq=False)
class Resimulated:
    """The approximate ± of every fitted cell and of every place's total, with the runs and the level behind them."""

    radius: Ints  # (places, cells)
    total_radius: Ints  # (places,)
    runs: int
    level: Fraction


def resimulated(
    plan: ReleasePlan,
    noisy: Ints,
    *,
    runs: int = RUNS,
    source: Source = SYSTEM,
    progress: Progress | None = None,
) -> Resimulated:
    """The approximate ± of the table fitted to these measurements, at the level of their plan; free, for it sees
    released numbers only."""
    many = _runs(plan.terms.level, runs)
    tables = tried(plan, noisy)
    radius = np.zeros((len(noisy), plan.subject.cells + 1), dtype=np.int64)
    for done, table in enumerate(tables):
        told = None if progress is None else _part_of(progress, done, len(tables))
        radius = np.maximum(radius, np.maximum(*radii(plan, table, runs=many, source=source, progress=told)))
    return Resimulated(np.ascontiguousarray(radius[:, :-1]), radius[:, -1].copy(), many, plan.terms.level)


def tried(plan: ReleasePlan, noisy: Ints) -> list[Ints]:
    """The tables taken for the exact one: the fitted and, for counts without a public total, the nearest of all if its
    total is outside the proven interval."""
    fitted = choice.fitted(plan, noisy)
    if plan.known.total is not None or plan.measurement.form is Form.FROM_TOP:
        return [fitted]
    nearest = choice.held_to(plan, noisy, None)
    measured, far = int(plan.margins.totals(noisy)[0]), int(plan.margins.total_radius[0])
    return [fitted, nearest] if abs(int(nearest[0].sum()) - measured) > far else [fitted]


def _part_of(progress: Progress, done: int, parts: int) -> Progress:
    return lambda step, share: progress(step, (done + share) / parts)


def radii(
    plan: ReleasePlan, table: Ints, *, runs: int, source: Source = SYSTEM, progress: Progress | None = None
) -> tuple[Ints, Ints]:
    """Where this table is the exact one, the radius of each cell by its own errors and by those of its level; the last
    column is the places' totals."""
    tree, unknown = plan.subject.tree, _unknown(plan)
    require_room(plan.terms.level, runs, unknown.size)
    levels = [tree.places(level) for level in range(tree.depth)]
    alone = _none(unknown.size, kept(plan.terms.level, runs, 1))
    pooled = [_none(unknown.shape[1], kept(plan.terms.level, runs, here.stop - here.start)) for here in levels]
    for run, errors in enumerate(_errors(plan, table, runs, source), start=1):
        alone = largest(alone, errors.reshape(-1, 1))
        pooled = [largest(held, errors[here].T) for held, here in zip(pooled, levels, strict=True)]
        if progress is not None:
            progress("drawing the noise again", run / runs)
    by_level = np.empty((tree.depth, unknown.shape[1]), dtype=np.int64)
    for level, (held, here) in enumerate(zip(pooled, levels, strict=True)):
        few = [kept(plan.terms.level, runs, places) for places in unknown[here].sum(axis=0).tolist()]
        by_level[level] = np.sort(held, axis=1)[np.arange(len(few)), -np.array(few)]
    return alone[:, 0].reshape(unknown.shape), np.where(unknown, by_level[tree.level], 0)


def least_runs(level: Fraction) -> int:
    """The fewest runs R with ⌈level·(R + 1)⌉ ≤ R: with fewer, the largest error of all is not enough.

    >>> least_runs(Fraction(95, 100)), least_runs(Fraction(99, 100))
    (19, 99)
    """
    return ceil(level / (1 - level))


def kept(level: Fraction, runs: int, places: int) -> int:
    """How many of the largest errors tell the radius: it is the smallest of them.

    >>> kept(Fraction(95, 100), 99, 1), kept(Fraction(95, 100), 19, 1)
    (5, 1)
    """
    return runs * places - ceil(level * (runs + 1) * places) + 1


def largest(held: Ints, seen: Ints) -> Ints:
    """In each row the largest of both, as many as were held; the smallest of them first, the rest in any order."""
    beyond = seen.shape[1]
    return np.partition(np.concatenate([held, seen], axis=1), beyond, axis=1)[:, beyond:]


def _none(rows: int, few: int) -> Ints:
    return np.full((rows, few), -1, dtype=np.int64)  # no error is below 0


def _unknown(plan: ReleasePlan) -> Bools:
    """Which cells and, in the last column, which totals are not public: errors of the others are 0 and in no pool."""
    tree, known = plan.subject.tree, plan.known
    possible = known.possible(tree)
    cells = np.ones((len(tree), plan.subject.cells), dtype=np.bool_) if possible is None else possible
    return np.column_stack([cells, known.totals(tree) < 0])


def _errors(plan: ReleasePlan, table: Ints, runs: int, source: Source) -> Iterator[Ints]:
    """|F(t + noise) − t| of every cell and, in the last column, of every total, once for each run.

    Without a public total, F holds the top to what each run itself measured: its total errs by that noise alone, but
    for what is below 0.
    """
    leaves = table[plan.subject.tree.leaves]
    for _ in range(runs):
        off = choice.fitted(plan, plan.measurement(leaves, source)) - table
        yield np.abs(np.concatenate([off, off.sum(axis=1, keepdims=True)], axis=1))


# --- what is refused -------------------------------------------------------------------------------------------------


def _runs(level: Fraction, runs: Any) -> int:
    least, said = least_runs(level), amounts.shown(level)
    if least > MOST_RUNS:
        fix = "Plan with a level of at most 0.9999."
        raise bad("level", f"must not need more than {MOST_RUNS:,} runs to be simulated", said, fix)
    return amounts.count(runs, f"runs at the level {said}", least, MOST_RUNS)


def require_room(level: Fraction, runs: int, numbers: int) -> None:
    if kept(level, runs, 1) * numbers > MOST_KEPT:
        fix = f"Give fewer; {least_runs(level)} are enough for a margin."
        raise bad("runs", f"must not hold more than {MOST_KEPT:,} errors of so many cells at once", runs, fix)
