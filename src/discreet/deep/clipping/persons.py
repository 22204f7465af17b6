"""Pieces of rows as pieces of persons: a person's gradient is the sum over her rows, and is clipped as one.

A person's rows become further positions of the same piece, so her norm has the inner products between her rows; persons
with fewer rows get positions of zeros.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.clipping.pieces import Outer, Picked, Piece, Plain


@dataclass(frozen=True, eq=False)
class Owners:
    """For each row its person, 0 to `persons` − 1, and its place among her rows."""

    person: Tensor
    place: Tensor
    persons: int
    longest: int

    def of_persons(self, piece: Piece) -> Piece:
        """The piece with a person where it had a row."""
        match piece:
            case Plain():
                values = piece.values
                sums = values.new_zeros(self.persons, *values.shape[1:]).index_add_(0, self.person, values)
                return Plain(sums, piece.axes)
            case Outer():
                return Outer(self._spread(piece.left), self._spread(piece.right))
            case Picked():
                return Picked(self._spread(piece.rows), self._spread(piece.right), piece.height)

    def _spread(self, values: Tensor) -> Tensor:
        """Persons × (rows of a person · T) × …, with zeros where a person has fewer rows."""
        wide = values.new_zeros(self.persons, self.longest, *values.shape[1:])
        wide[self.person, self.place] = values
        return wide.flatten(1, 2)


def owners_of(names: Tensor | None) -> Owners | None:
    """The owners of rows by the name of each row's person, wherever her rows lie; None where each row is a person."""
    if names is None or not len(names):
        return None
    _, person, sizes = torch.unique(names, return_inverse=True, return_counts=True)
    order = torch.argsort(person, stable=True)
    place = torch.empty_like(person)
    place[order] = torch.arange(len(names)) - (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
    return Owners(person, place, len(sizes), int(sizes.max()))
