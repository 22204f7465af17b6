"""The columns of a linear model: an intercept, one column for a number and one for each value of a category."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.kernel.encode import UNIT, root_up
from discreet.learn.input.column import ModelColumn
from discreet.learn.subject import Subject
from discreet.ndarrays import Ints


@dataclass(frozen=True)
class Span:
    """A feature, its first column, and how many columns it has."""

    feature: ModelColumn
    first: int
    size: int

    @property
    def places(self) -> slice:
        """Its columns among all."""
        return slice(self.first, self.first + self.size)


@dataclass(frozen=True)
class DesignColumns:
    """The features of a subject as the columns that a loss is linear in."""

    subject: Subject
    loss: str

    @cached_property
    def features(self) -> list[dict[str, Any]]:
        """What a kernel is told of them: a regression is linear in the number itself, whatever its range."""
        features = self.subject.features
        if self.loss == "huber":
            return [feature.described_number() for feature in features]
        return [feature.described_feature() for feature in features]

    @cached_property
    def spans(self) -> list[Span]:
        """Where each feature lies."""
        spans, first = [], 1
        for feature in self.subject.features:
            spans.append(Span(feature, first, 1 if feature.is_number else feature.cells(0)))
            first += spans[-1].size
        return spans

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.spans[-1].first + self.spans[-1].size

    @property
    def lines(self) -> int:
        """How many weights a column has."""
        return len(self.subject.classes) if self.loss == "softmax" else 1

    @property
    def furthest_centre(self) -> Ints:
        """A centre that is longer than any that can be released."""
        centre = np.zeros(self.width, dtype=np.int64)
        centre[[span.first for span in self.spans]] = 2 * UNIT
        return centre

    @property
    def longest(self) -> Fraction:
        """A norm that no row passes whatever the centre is: 2 for a number, √2 for cells, 1 for the intercept."""
        return root_up(1 + sum(4 if feature.is_number else 2 for feature in self.subject.features))

    def longest_at(self, centre: Ints) -> Fraction:
        """A norm that no row passes once that centre is taken off it."""
        off, square = centre / UNIT, 1.0
        for span in self.spans:
            own = off[span.places]
            if span.feature.is_number:
                square += (1 + abs(float(own[0]))) ** 2
            else:
                square += float(own @ own) + max(0.0, 1 - 2 * float(own.min()))
        return Fraction(ceil(sqrt(square) * UNIT) + 1, UNIT)

    def encoding(self, centre: Ints, norm: Fraction) -> dict[str, Any]:
        """The parameters by which kernels make columns of rows."""
        return {"features": self.features, "centre": centre, "norm": norm, "rows": self.subject.max_rows}
