"""An approximate ± of the fitted numbers, by drawing the noise again.

The fitted table f is taken for the exact one: R times its places get fresh noise of the same laws and are fitted again,
f*_1 … f*_R.  Of the errors |f*_i − f|, the smallest first,

    alone     the ⌈level·(R + 1)⌉-th of the R of a cell
    pooled    the ⌈level·(R + 1)·n⌉-th of the R·n of that cell in all n places of its level, whose noise has one law
    radius    the larger of the two; 0 where the number is public

and the same for a place's total.  Counts that are mostly small are fitted to 0 nearly everywhere, and noise moves such
an f little.  So where the nearest table without a given total has a total outside the proven interval, it is used as a
second candidate, and the larger radius is taken.

If a candidate were the exact table, ± radius would hold with probability `level` or more.  It is not, and near 0, where
the fit cuts negative numbers, more runs do not help: the margin is *approximate*.  It is shown beside the proven
interval of the unbiased estimate, never instead of it.

It uses released numbers, public facts and fresh noise: no row is read and nothing is charged.
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


def resimulate(
    plan: ReleasePlan,
    noisy: Ints,
    *,
    runs: int = RUNS,
    source: Source = SYSTEM,
    progress: Progress | None = None,
) -> Resimulated:
    """Draw the noise again and return the approximate ± of the fitted table, at the level of the plan."""
    run_count = _runs(plan.terms.level, runs)
    tables = candidate_tables(plan, noisy)
    radius = np.zeros((len(noisy), plan.subject.cells + 1), dtype=np.int64)
    for done, table in enumerate(tables):
        part_progress = None if progress is None else _part_of(progress, done, len(tables))
        radius = np.maximum(
            radius, np.maximum(*radii(plan, table, runs=run_count, source=source, progress=part_progress))
        )
    return Resimulated(np.ascontiguousarray(radius[:, :-1]), radius[:, -1].copy(), run_count, plan.terms.level)


def candidate_tables(plan: ReleasePlan, noisy: Ints) -> list[Ints]:
    """The tables taken for the exact one: the fitted one and, for counts without a public total, the nearest table if
    its total is outside the proven interval."""
    fitted = choice.table_of(plan, noisy)
    if plan.known.total is not None or plan.measurement.form is Form.FROM_TOP:
        return [fitted]
    nearest = choice.table_held_to(plan, noisy, None)
    measured, far = int(plan.margins.totals(noisy)[0]), int(plan.margins.total_radius[0])
    return [fitted, nearest] if abs(int(nearest[0].sum()) - measured) > far else [fitted]


def _part_of(progress: Progress, done: int, parts: int) -> Progress:
    return lambda step, share: progress(step, (done + share) / parts)


def radii(
    plan: ReleasePlan, table: Ints, *, runs: int, source: Source = SYSTEM, progress: Progress | None = None
) -> tuple[Ints, Ints]:
    """If this table is the exact one: the radius of each cell by its own errors and by those of its level; the last
    column is the places' totals."""
    tree, unknown = plan.subject.tree, _unknown(plan)
    require_room(plan.terms.level, runs, unknown.size)
    levels = [tree.places(tree_level) for tree_level in range(tree.depth)]
    alone = _none(unknown.size, tail_size(plan.terms.level, runs, 1))
    pooled = [_none(unknown.shape[1], tail_size(plan.terms.level, runs, rows.stop - rows.start)) for rows in levels]
    for run, errors in enumerate(_errors(plan, table, runs, source), start=1):
        alone = largest(alone, errors.reshape(-1, 1))
        pooled = [largest(largest_errors, errors[rows].T) for largest_errors, rows in zip(pooled, levels, strict=True)]
        if progress is not None:
            progress("drawing the noise again", run / runs)
    by_level = np.empty((tree.depth, unknown.shape[1]), dtype=np.int64)
    for tree_level, (largest_errors, rows) in enumerate(zip(pooled, levels, strict=True)):
        tail_sizes = [tail_size(plan.terms.level, runs, places) for places in unknown[rows].sum(axis=0).tolist()]
        by_level[tree_level] = np.sort(largest_errors, axis=1)[np.arange(len(tail_sizes)), -np.array(tail_sizes)]
    return alone[:, 0].reshape(unknown.shape), np.where(unknown, by_level[tree.level], 0)


def least_runs(level: Fraction) -> int:
    """The fewest runs R with ⌈level·(R + 1)⌉ ≤ R; with fewer, even the largest error is too small a radius.

    >>> least_runs(Fraction(95, 100)), least_runs(Fraction(99, 100))
    (19, 99)
    """
    return ceil(level / (1 - level))


def tail_size(level: Fraction, runs: int, places: int) -> int:
    """How many of the largest errors to keep: the radius is the smallest of them.

    >>> tail_size(Fraction(95, 100), 99, 1), tail_size(Fraction(95, 100), 19, 1)
    (5, 1)
    """
    return runs * places - ceil(level * (runs + 1) * places) + 1


def largest(errors: Ints, new_errors: Ints) -> Ints:
    """In each row the largest of old and new errors, as many as before; the smallest of them first, then any order."""
    dropped = new_errors.shape[1]
    return np.partition(np.concatenate([errors, new_errors], axis=1), dropped, axis=1)[:, dropped:]


def _none(rows: int, columns: int) -> Ints:
    return np.full((rows, columns), -1, dtype=np.int64)  # no error is below 0


def _unknown(plan: ReleasePlan) -> Bools:
    """Which cells and, in the last column, which totals are not public; the errors of public ones are 0."""
    tree, known = plan.subject.tree, plan.known
    possible = known.possible(tree)
    cells = np.ones((len(tree), plan.subject.cells), dtype=np.bool_) if possible is None else possible
    return np.column_stack([cells, known.totals(tree) < 0])


def _errors(plan: ReleasePlan, table: Ints, runs: int, source: Source) -> Iterator[Ints]:
    """|F(t + noise) − t| of every cell and, in the last column, of every total, once for each run.

    Without a public total, F holds the top to the total that the run measured.
    """
    leaves = table[plan.subject.tree.leaves]
    for _ in range(runs):
        off = choice.table_of(plan, plan.measurement(leaves, source)) - table
        yield np.abs(np.concatenate([off, off.sum(axis=1, keepdims=True)], axis=1))


# --- what is refused -------------------------------------------------------------------------------------------------


def _runs(level: Fraction, runs: Any) -> int:
    fewest, level_text = least_runs(level), amounts.text_of(level)
    if fewest > MOST_RUNS:
        fix = "Plan with a level of at most 0.9999."
        raise bad("level", f"must not need more than {MOST_RUNS:,} runs to be simulated", level_text, fix)
    return amounts.count(runs, f"runs at the level {level_text}", fewest, MOST_RUNS)


def require_room(level: Fraction, runs: int, numbers: int) -> None:
    if tail_size(level, runs, 1) * numbers > MOST_KEPT:
        fix = f"Give fewer; {least_runs(level)} are enough for a margin."
        raise bad("runs", f"must not hold more than {MOST_KEPT:,} errors of so many cells at once", runs, fix)
