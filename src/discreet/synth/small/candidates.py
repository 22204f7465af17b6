"""All databases of N̂ rows, and the exact draw of one with odds ∝ e^(−rate·loss).

Cells that no query tells apart form an atom, and the loss depends on the counts of rows by atom alone.  So multisets
over atoms are enumerated, each with the number M of sequences over cells that it stands for:

    loss(c) = max_k |N·a_k(c) − t_k|        in steps of 1/(N·N̂); a_k rows satisfy query k, t_k = N̂ times its true count

A class is all multisets of one loss.  First a class is chosen, ∝ ΣM·e^(−rate·loss), then a multiset in it ∝ M, then
the cell of each row, uniform in its atom.  That is the law ∝ e^(−rate·loss) over all sequences of cells.
Proof page: docs/proofs/synth/small.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.ndarrays import Bools, Ints
from discreet.noise.multiplicity import multiplicity_choice, place_of, whole_below
from discreet.noise.select import uniforms
from discreet.noise.source import Source
from discreet.synth.small.multisets import Multiplicity, multisets, number_of_multisets

_BLOCK = 1 << 15  # multisets that are looked at together
_BLOCK_NUMBERS = 1 << 22  # of their counts: fewer multisets where there are many atoms
_RUN = 256  # multisets of which one is chosen by whole numbers of any size


@dataclass(frozen=True, eq=False)
class Losses:
    """The losses that can occur, rising, and for each query the place of its own at each number of rows."""

    values: Ints
    places: Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """Databases of `size` rows for a table of `rows` rows; `truths` says which queries hold in which atoms."""

    size: int
    rows: int
    atom_of: Ints  # of each cell
    truths: Bools  # different queries × atoms

    @cached_property
    def multiplicity(self) -> Multiplicity:
        """How many sequences of cells the counts by atom stand for."""
        return Multiplicity(self.size, tuple(np.bincount(self.atom_of).tolist()))

    @property
    def cells(self) -> int:
        """|X|: how many different rows there are."""
        return len(self.atom_of)

    @property
    def atoms(self) -> int:
        """How many sets of cells the queries tell apart."""
        return len(self.truths.T)

    @property
    def number(self) -> int:
        """How many multisets over atoms are enumerated."""
        return number_of_multisets(self.size, self.atoms)

    @cached_property
    def _atoms_of_queries(self) -> list[Ints]:
        return [np.flatnonzero(held) for held in self.truths]

    @cached_property
    def _members(self) -> list[Ints]:
        """The cells of each atom."""
        return [np.flatnonzero(self.atom_of == atom) for atom in range(self.atoms)]

    def held(self, counts: Ints) -> Ints:
        """How many rows satisfy each query, from the counts by atom of one database."""
        return self.truths.astype(np.int64) @ counts

    def atom_counts(self, cell_counts: Ints) -> Ints:
        """The counts by atom of a database or a histogram over cells."""
        counts = np.zeros(self.atoms, dtype=np.int64)
        np.add.at(counts, self.atom_of, cell_counts)
        return counts

    def sequences(self, cell_counts: Ints) -> int:
        """How many sequences of cells have these counts by cell: N̂!/∏ c!."""
        return Multiplicity(self.size, (1,) * self.cells).exact(cell_counts.tolist())

    def losses(self, targets: Ints) -> Losses:
        """The losses against targets t_k, one for each query."""
        steps = np.abs(self.rows * np.arange(self.size + 1)[None, :] - targets[:, None])
        values, places = np.unique(steps, return_inverse=True)
        return Losses(values, places.reshape(steps.shape).astype(np.int64))

    def loss(self, counts: Ints, targets: Ints) -> int:
        """The loss of one database, in steps of 1/(N·N̂)."""
        return int(np.abs(self.rows * self.held(counts) - targets).max())

    def _classes(self, counts: Ints, losses: Losses) -> Ints:
        """The place of each multiset's loss; one multiset a column."""
        classes = np.zeros(counts.shape[1], dtype=np.int64)
        for atoms, places in zip(self._atoms_of_queries, losses.places, strict=True):
            np.maximum(classes, places[counts[atoms].sum(axis=0)], out=classes)
        return classes

    def blocks(self) -> Iterator[Ints]:
        """All multisets in blocks of whole runs, one multiset a column."""
        width = max(_RUN, min(_BLOCK, _BLOCK_NUMBERS // self.atoms) // _RUN * _RUN)
        for first in range(0, self.number, width):
            numbers = np.arange(first, min(first + width, self.number))
            yield multisets(numbers, self.size, self.atoms)

    def weights(self, losses: Losses) -> list[int]:
        """ΣM over the multisets of each loss: exact, and Σ over all losses is (number of cells)^N̂."""
        primes = np.array(self.multiplicity.primes)[:, None]
        sums = np.zeros((primes.size, losses.values.size), dtype=np.int64)
        for counts in self.blocks():
            classes = self._classes(counts, losses)
            for row, residues in zip(sums, self.multiplicity.residues(counts), strict=True):
                # whole numbers below 2³¹·2¹⁵, which doubles add up exactly
                added = np.bincount(classes, weights=residues.astype(np.float64), minlength=losses.values.size)
                row += added.astype(np.int64)
            sums %= primes
        return self.multiplicity.sums(sums)

    def run_weights(self, losses: Losses, chosen: int) -> list[int]:
        """ΣM over the multisets of one loss in each run of neighbours: exact."""
        sums = []
        for counts in self.blocks():
            is_chosen = self._classes(counts, losses) == chosen
            residues = self.multiplicity.residues(counts).view(np.int64) * is_chosen
            sums.append(np.add.reduceat(residues, np.arange(0, counts.shape[1], _RUN), axis=1))
        return self.multiplicity.sums(np.concatenate(sums, axis=1))

    def draw(self, targets: Ints, rate: Fraction, n: int, source: Source) -> Ints:
        """n independent databases, one a row, as counts by cell; each costs ε."""
        losses = self.losses(targets)
        weights = self.weights(losses)
        chosen = multiplicity_choice(losses.values.tolist(), weights, rate, n, source)
        drawn = np.zeros((n, self.cells), dtype=np.int64)
        for loss_class in sorted(set(chosen)):
            rows = [row for row, own in enumerate(chosen) if own == loss_class]
            for row, counts in zip(rows, self._draw_multisets(losses, loss_class, len(rows), source), strict=True):
                drawn[row] = self._draw_cells(counts, source)
        return drawn

    def _draw_multisets(self, losses: Losses, chosen: int, n: int, source: Source) -> list[Ints]:
        """n independent multisets of that class as counts by atom, each ∝ M."""
        weights = self.run_weights(losses, chosen)
        total, runs = sum(weights), dict[int, tuple[Ints, list[int]]]()
        drawn: list[Ints] = []
        for _ in range(n):
            run, position = place_of(whole_below(total, source), weights)
            if run not in runs:
                runs[run] = self._run(losses, chosen, run)
            counts, times = runs[run]
            drawn.append(counts[:, place_of(position, times)[0]])
        return drawn

    def _run(self, losses: Losses, chosen: int, run: int) -> tuple[Ints, list[int]]:
        """The multisets of one run, and M of each that has the chosen loss, 0 of the others."""
        numbers = np.arange(run * _RUN, min((run + 1) * _RUN, self.number))
        counts = multisets(numbers, self.size, self.atoms)
        is_chosen = (self._classes(counts, losses) == chosen).tolist()
        columns = counts.T.tolist()
        return counts, [self.multiplicity.exact(own) if has else 0 for own, has in zip(columns, is_chosen, strict=True)]

    def _draw_cells(self, counts: Ints, source: Source) -> Ints:
        """Counts by cell: each row takes a uniform cell of its atom."""
        drawn = np.zeros(self.cells, dtype=np.int64)
        for members, number in zip(self._members, counts.tolist(), strict=True):
            np.add.at(drawn, members[uniforms(members.size, number, source)], 1)
        return drawn
