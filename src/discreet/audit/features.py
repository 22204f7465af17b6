"""Features: an event looks at one number that is computed from every output.

Outputs are an array of n runs, or an n × k matrix for mechanisms that answer with k numbers (verdicts of a sparse
vector are −1 for not asked, 0 for below, 1 for above).  A feature is any function of one output: events made from it
are post-processing, so every choice is sound and only the power depends on it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = NDArray[Any]
Values = NDArray[Any]


@dataclass(frozen=True)
class Coordinate:
    """The number itself, or the one in that place."""

    place: int

    def of(self, outputs: Outputs) -> Values:
        return _column(outputs, self.place)

    def __str__(self) -> str:
        return f"y{_index(self.place)}"


@dataclass(frozen=True)
class Total:
    """The sum over all places."""

    def of(self, outputs: Outputs) -> Values:
        total: Values = outputs.reshape(len(outputs), -1).sum(axis=1)
        return total

    def __str__(self) -> str:
        return "sum of y"


@dataclass(frozen=True)
class Difference:
    """One place minus another: what is left when two answers share their noise."""

    place: int
    other: int

    def of(self, outputs: Outputs) -> Values:
        difference: Values = _column(outputs, self.place) - _column(outputs, self.other)
        return difference

    def __str__(self) -> str:
        return f"y[{self.place}] − y[{self.other}]"


@dataclass(frozen=True)
class Residue:
    """The lattice residue: y mod m, of whole parts where y is a float."""

    place: int
    modulus: int

    def of(self, outputs: Outputs) -> Values:
        column = _column(outputs, self.place)
        if column.dtype.kind == "f":
            column = np.floor(np.nan_to_num(column, posinf=0, neginf=0))
        residue: Values = np.mod(column, self.modulus)
        return residue

    def __str__(self) -> str:
        return f"y{_index(self.place)} mod {self.modulus}"


@dataclass(frozen=True)
class LowestBit:
    """The exponent of the lowest set bit: b with y an odd multiple of 2^b, and 1024 for y = 0 or no number.

    Noise added in floats leaves digits whose place depends on the exact value (Mironov 2012).
    """

    place: int

    def of(self, outputs: Outputs) -> Values:
        column = _column(outputs, self.place)
        if column.dtype.kind != "f":
            low = column & -column
            return np.where(low == 0, 1024.0, np.frexp(np.abs(low.astype(np.float64)))[1] - 1)
        mantissa, exponent = np.frexp(np.nan_to_num(column, posinf=0, neginf=0))
        digits = np.ldexp(mantissa, 53).astype(np.int64)
        low = (digits & -digits).astype(np.float64)
        return np.where(low == 0, 1024.0, np.frexp(low)[1] - 1 + exponent - 53)

    def __str__(self) -> str:
        return f"lowest set bit of y{_index(self.place)}"


@dataclass(frozen=True)
class NoNumber:
    """1 where the output is NaN."""

    place: int

    def of(self, outputs: Outputs) -> Values:
        return np.isnan(_column(outputs, self.place)).astype(np.int64)

    def __str__(self) -> str:
        return f"y{_index(self.place)} is no number"


@dataclass(frozen=True)
class Pattern:
    """1 where the first places of the output are exactly these."""

    values: tuple[float, ...]

    def of(self, outputs: Outputs) -> Values:
        rows = outputs.reshape(len(outputs), -1)[:, : len(self.values)]
        same: Values = (rows == np.array(self.values)).all(axis=1).astype(np.int64)
        return same

    def __str__(self) -> str:
        return f"y is ({', '.join(f'{v:g}' for v in self.values)})"


@dataclass(frozen=True)
class Kind:
    """1 where the output is of that kind; the last place of coded outputs holds the kinds' numbers."""

    number: int
    label: str

    def of(self, outputs: Outputs) -> Values:
        return np.equal(outputs[:, -1], self.number).astype(np.int64)

    def __str__(self) -> str:
        return f"y {self.label}"


@dataclass(frozen=True)
class Repeated:
    """1 where the output is that of another start in the same place, which the place `other` holds: NaN for none."""

    other: int
    label: str

    def of(self, outputs: Outputs) -> Values:
        return np.equal(outputs[:, 0], outputs[:, self.other]).astype(np.int64)

    def __str__(self) -> str:
        return f"y repeats an earlier start on {self.label}"


@dataclass(frozen=True)
class Within:
    """A feature of the first places alone."""

    feature: Any
    width: int

    def of(self, outputs: Outputs) -> Values:
        places = outputs[:, 0] if self.width == 1 else outputs[:, : self.width]
        values: Values = self.feature.of(places)
        return values

    def __str__(self) -> str:
        return str(self.feature)


@dataclass(frozen=True)
class Beside:
    """A number that coding put beside the first places, under the name that it has there."""

    column: int
    label: str

    def of(self, outputs: Outputs) -> Values:
        values: Values = outputs[:, self.column]
        return values

    def __str__(self) -> str:
        return self.label


Statement = NoNumber | Pattern | Kind | Repeated  # 1 where it is true, 0 where not

Plain = Coordinate | Total | Difference | Residue | LowestBit | NoNumber


def plain_features(outputs: Outputs) -> list[Plain]:
    """The features that need no training; of many places the first four stand for all."""
    width = 1 if outputs.ndim == 1 else outputs.shape[1]
    places = range(min(width, _PLACES))
    features: list[Plain] = [Coordinate(i) for i in places]
    if width > 1:
        features += [Total(), *(Difference(i, i + 1) for i in places[:-1])]
    features += [LowestBit(i) for i in places[:2]]
    features += [Residue(i, m) for i in places[:2] for m in (2, 3)]
    if outputs.dtype.kind == "f":
        features += [NoNumber(i) for i in places]
    return features


_PLACES = 4


def _column(outputs: Outputs, place: int) -> Outputs:
    return outputs.reshape(len(outputs), -1)[:, place]


def _index(place: int) -> str:
    return "" if place == 0 else f"[{place}]"
