"""Sentences on public totals and zeros that contradict the measured numbers.

A number is doubted if it lies 1½ times as far from its estimate as noise goes once in a million times.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.answer.column import label_text, plain
from discreet.ndarrays import Ints
from discreet.release.known import NOTHING
from discreet.release.margins import Margins

if TYPE_CHECKING:
    from discreet.release.plan import ReleasePlan

SURE = 1 - Fraction(1, 10**6)


def doubts(plan: "ReleasePlan", noisy: Ints) -> list[str]:
    """The sentences; none where nothing is doubted.  They change no number."""
    if plan.known.total is None and plan.known.allowed is None:
        return []
    usual, sure = (plan.margins_at(level, NOTHING) for level in (plan.terms.level, SURE))
    return [*_totals(plan, noisy, usual, sure), *_zeros(plan, noisy, usual, sure)]


def _totals(plan: "ReleasePlan", noisy: Ints, usual: Margins, sure: Margins) -> list[str]:
    tree, public = plan.subject.tree, plan.known.totals(plan.subject.tree)
    if (public < 0).all():
        return []
    measured = sure.totals(noisy)
    off = np.where(public >= 0, np.abs(measured - public) - _far(sure.total_radius), 0)
    if not (off > 0).any():
        return []
    worst = int(tree.leaves[np.argmax(off[tree.leaves])])  # a wrong leaf makes all places above it wrong
    worst = worst if off[worst] > 0 else 0
    what = "The total" if worst == 0 else tree.names[worst]
    given = (
        f"{what} was given as {public[worst]:,}, but {measured[worst]:,} ± {usual.total_radius[worst]:,} was measured"
    )
    leaves = int(np.sum(off[tree.leaves] > 0))
    more = f" So it is with {leaves - 1:,} more of the lowest places." if leaves > 1 else ""
    return [f"{given}: check what it counts.{more}"]


def _zeros(plan: "ReleasePlan", noisy: Ints, usual: Margins, sure: Margins) -> list[str]:
    possible = plan.known.possible(plan.subject.tree)
    if possible is None:
        return []
    cells = sure.cells(noisy)
    off = np.where(possible, 0, np.abs(cells) - _far(sure.radius))
    if not (off > 0).any():
        return []
    place, cell = np.unravel_index(int(np.argmax(off)), off.shape)
    where = ", ".join([plan.subject.tree.names[place], *_labels(plan, int(cell))])
    count = int(np.sum(off > 0))
    measured = f"{where}: {cells[place, cell]:,} ± {usual.radius[place, cell]:,}"
    return [
        f"{count:,} cells that were said to be empty were measured far from 0, most of all {measured}. Check the zeros."
    ]


def _far(radius: Ints) -> Ints:
    return radius + radius // 2


def _labels(plan: "ReleasePlan", cell: int) -> list[str]:
    labels = plan.subject.labels
    indices = np.unravel_index(cell, tuple(map(len, labels))) if labels else ()
    return [label_text(plain(each[int(number)])) for each, number in zip(labels, indices, strict=True)]
