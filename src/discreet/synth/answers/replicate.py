"""Replicates: the table as it could have come out with other noise, refitted and drawn anew, to see what noise does.

A replicate is a build of redrawn numbers (`redrawn`).  Its fit and its rows are made as those of the table, and it
carries what smoothing did (`smoothing`), so it varies by noise, fit and sampling of rows.  The i-th replicate follows
from the released numbers and i alone.  Its fit begins anew: begun where that of the table ended,
it would take nearly as long, and at a large ε stop short of its own solution.  As many are made side by side as there
are processors and room.  Fits are large: only the rows are remembered.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from discreet import amounts
from discreet.engine.protocol import Progress
from discreet.errors import NotAnswerable
from discreet.synth.answers.redrawn import generator_of, redrawn_parts
from discreet.synth.answers.smoothing import residuals_of, with_residuals, with_rough_columns
from discreet.synth.build import Build
from discreet.synth.drawing import fit_now
from discreet.synth.drawn import draw_rows, seed_of
from discreet.synth.model.synthesis import synthesis_of
from discreet.synth.synthetic import SyntheticTable

FEWEST, MOST = 2, 1000
MOST_UNITS = 10**8  # of a replicate, which is drawn in memory
MOST_WORKERS = 4
_MOST_CELLS_AT_ONCE = 2 * 10**7  # of the trees that are fitted side by side
_REMEMBERED: "WeakKeyDictionary[Build, dict[int, Build]]" = WeakKeyDictionary()


def replicate_tables(
    table: SyntheticTable, count: Any, *, progress: Progress | None = None
) -> tuple[SyntheticTable, ...]:
    """The first `count` replicates; those of a rehearsal have its stamp."""
    return tuple(each_replicate(table, amounts.count(count, "count", FEWEST, MOST), progress=progress))


def each_replicate(table: SyntheticTable, count: int, *, progress: Progress | None = None) -> Iterator[SyntheticTable]:
    """The same one by one: of the same class and promise as the table; refused for more units than are drawn here."""
    fit_now(table.build, progress)
    _require_few_units(table)
    remembered = _REMEMBERED.setdefault(table.build, {})
    missing = [index for index in range(count) if index not in remembered]
    for index, build in _replicates(table.build, missing):
        remembered[index] = build
        if progress is not None:
            progress("drawing noise again", len(remembered) / count)
    for index in range(count):
        yield replace(table, build=remembered[index])


def _replicates(build: Build, indices: Sequence[int]) -> Iterator[tuple[int, Build]]:
    """The replicates with these indices, each as it is alone."""
    with ThreadPoolExecutor(_workers(build)) as pool:
        waiting = [(index, pool.submit(replicate_build, build, index)) for index in indices]
        try:
            for index, future in waiting:
                yield index, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _workers(build: Build) -> int:
    """How many fits are made side by side."""
    cells = sum(belief.size for belief in build.synthesis.fitted.beliefs)
    return max(1, min(MOST_WORKERS, os.cpu_count() or 1, _MOST_CELLS_AT_ONCE // cells))


def _require_few_units(table: SyntheticTable) -> None:
    """Refuses by the number of units that is public or released."""
    units = table.build.synthesis.rows
    if units > MOST_UNITS:
        what = f"Replicates are drawn of at most {MOST_UNITS:,} units."
        why = f"This table stands for {units:,}: each replicate would have as many in memory."
        raise NotAnswerable(what, why, "Give fewer rows to synthesize: an equal build with other rows costs nothing.")


def replicate_build(build: Build, index: int) -> Build:
    """The build that other noise would have made; of two tables without what smoothing took away (`smoothing`)."""
    fitted, random = build.synthesis, generator_of(build.parts, index)
    if build.plan.subject.absence is not None:  # its second table is counted among units with rows: x is not known here
        parts = redrawn_parts(fitted, build.parts, random)
        synthesis = synthesis_of(build.plan, parts)
    else:
        parts = redrawn_parts(with_rough_columns(fitted), build.parts, random)
        synthesis = with_residuals(synthesis_of(build.plan, parts), residuals_of(fitted.singles), random)
    drawn = Build(build.plan, parts, build.receipt, build.is_replayed)
    drawn.__dict__["codes"] = draw_rows(synthesis, seed_of(parts))  # known, so never drawn from another fit
    return drawn
