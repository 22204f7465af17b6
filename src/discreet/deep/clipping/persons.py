"""Pieces of rows as pieces of persons: a person's gradient is the sum over her rows, and is clipped as one.

Rows of a person lie side by side.  Her rows become further positions of the same piece, so her norm has the inner
products between her rows; persons with fewer rows get positions of zeros.
"""

from dataclasses import dataclass

from torch import Tensor

from discreet.deep.clipping.pieces import Outer, Picked, Piece, Plain


@dataclass(frozen=True, eq=False)
class Owners:
    """For each row its person, 0 to `persons` − 1 in order, and its place among her rows."""

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


def owners_of(person: Tensor | None) -> Owners | None:
    """The owners of rows; None where each row is a person."""
    if person is None or not len(person):
        return None
    starts = person.new_ones(len(person), dtype=bool)
    starts[1:] = person[1:] != person[:-1]
    places = person.new_ones(len(person)).cumsum(0) - 1
    first = places[starts]
    place = places - first[starts.cumsum(0) - 1]
    return Owners(starts.cumsum(0) - 1, place, int(starts.sum()), int(place.max()) + 1)
