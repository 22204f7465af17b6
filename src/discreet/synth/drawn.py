"""Synthetic rows as fine codes, drawn from a synthesis; of whole units first the unit, then each of its rows.

The seed follows from what was released, so that the same measurements give the same rows.  Nothing here is protected by
its randomness: rows are post-processing.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.envelope import Part
from discreet.ndarrays import Ints
from discreet.noise.public import Generator, generator
from discreet.synth.column.zeros import is_impossible
from discreet.synth.model.draw import conditional_draws, draw_column
from discreet.synth.model.synthesis import Synthesis


@dataclass(frozen=True, eq=False)
class Codes:
    """For each column the fine code of each row, and for whole units the number of each row's unit."""

    columns: tuple[Ints, ...]
    units: Ints | None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])


def seed_of(parts: Sequence[Part]) -> int:
    """A seed that follows from released numbers."""
    digest = hashlib.sha256(b"discreet synthetic rows 1")
    for part in parts:
        digest.update(np.ascontiguousarray(part.values, dtype="<i8").tobytes())
    return int.from_bytes(digest.digest()[:16], "big")


def draw_rows(synthesis: Synthesis, seed: int) -> Codes:
    """The synthetic rows of that seed."""
    random = generator(seed)
    first, draws = synthesis.plan.subject.first, synthesis.fitted.tree.draws
    units, groups, fine = synthesis.rows, dict[int, Ints](), dict[int, Ints]()
    for draw in [draw for draw in draws if not first or draw.column in first]:
        groups[draw.column] = draw_column(synthesis.fitted, draw, groups, units, random)
        fine[draw.column] = _fine(synthesis, draw.column, groups[draw.column], random)
    owner = None
    if first:
        owner = np.repeat(np.arange(units), _rows_of_units(synthesis, fine))
        groups = {column: codes[owner] for column, codes in groups.items()}
        fine = {column: codes[owner] for column, codes in fine.items()}
        for draw in [draw for draw in draws if draw.column not in first]:
            groups[draw.column] = draw_column(synthesis.fitted, draw, groups, len(owner), random)
            fine[draw.column] = _fine(synthesis, draw.column, groups[draw.column], random)
    columns = tuple(fine[place] for place in range(len(synthesis.plan.subject.columns)))
    return _possible(synthesis, Codes(columns, owner))


def _fine(synthesis: Synthesis, column: int, groups: Ints, random: Generator) -> Ints:
    return conditional_draws(groups, synthesis.within(column), random)


def _rows_of_units(synthesis: Synthesis, fine: dict[int, Ints]) -> Ints:
    """How many rows each unit has: the last feature counts from 1, and its empty cell, which nobody has, as 1."""
    codes = fine[len(synthesis.plan.subject.columns)].astype(np.int64)
    return np.where(codes < synthesis.plan.subject.schema.max_rows, codes + 1, 1)


def _possible(synthesis: Synthesis, codes: Codes) -> Codes:
    """The rows that can occur: where a chance of 0 was lost to rounding, a row is left out."""
    subject = synthesis.plan.subject
    if not subject.zeros:
        return codes
    by_name = {column.name: own for column, own in zip(subject.columns, codes.columns, strict=True)}
    kept = ~is_impossible([zero for zero in subject.zeros if zero.masks.keys() <= by_name.keys()], by_name)
    if kept.all():
        return codes
    return Codes(tuple(own[kept] for own in codes.columns), None if codes.units is None else codes.units[kept])
