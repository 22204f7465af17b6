"""The first stage of a descent: one noisy sum that gives the number n of units and a centre of the features.

    (w·n, Σ x)   over rows clipped to the norm √(2K), w = √K

Rows of a unit weigh 1 together.  n is the sum of the first column alone: the cells of a category add up to it only
where none is empty.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from discreet.kernel.encode import UNIT, root_up
from discreet.kernel.risk import SLOPE
from discreet.learn.price import Price
from discreet.learn.risk.design_columns import DesignColumns
from discreet.learn.steps import Steps
from discreet.ndarrays import Ints

CENTRE_SHARE = Fraction(5, 100)  # of 1/σ²
_HEAVIEST = 15.0


@dataclass(frozen=True, eq=False)
class Centre:
    """The noisy number of units, raised by the standard deviation of its noise, and what is taken off each column."""

    rows: float
    steps: Ints


def centre_public(columns: DesignColumns) -> dict[str, Any]:
    """The parameters of the sum."""
    return {
        "loss": "total",
        "features": columns.features,
        "target": columns.subject.target.described_number(),
        "weights": np.zeros(columns.width, dtype=np.int64),
        "intercept": _count_weight(columns),
        "norm": root_up(2 * len(columns.subject.features)),
        "rows": columns.subject.max_rows,
    }


def centre_of(columns: DesignColumns, price: Price, steps: Steps) -> Centre:
    """The centre that one step releases: of a number its mean, of a category the shares of its values."""
    sums = steps.sum("centre", "risk", centre_public(columns), CENTRE_SHARE) / (UNIT * SLOPE)
    noise = (
        columns.subject.schema.relation.changes
        * sqrt(2 * len(columns.subject.features))
        / (price.mu * sqrt(float(CENTRE_SHARE)))
    )
    deviation = noise / _count_weight(columns)
    rows = max(float(sums[0]) / _count_weight(columns), deviation)
    centre = np.zeros(columns.width)
    for span in columns.spans:
        if span.feature.is_number:
            centre[span.first] = np.clip(sums[span.first] / (rows + noise), -1.0, 1.0)
        else:
            masses = np.maximum(sums[span.places], 0.0) + noise / sqrt(span.size)
            centre[span.places] = masses / masses.sum()
    return Centre(rows + deviation, np.rint(centre * UNIT).astype(np.int64))


def _count_weight(columns: DesignColumns) -> float:
    """w: √K, and less where a row would move the number of units by 2³⁰ steps."""
    return min(sqrt(len(columns.subject.features)), _HEAVIEST)
