"""Gradients of a risk: Σ over units of the gradient of their loss at public weights, in whole steps.

    logistic   log(1 + e^line) − y·line, y = 0 or 1       slope σ(line) − y                        within ± 1
    softmax    −log softmax(lines)_y, y = 0 … C − 1       slopes softmax(lines) − e_y              norm ≤ √2
    hinge      smoothed over a width of 1, y = −1 or 1    slope −y·clamp(1.5 − y·line, 0, 1)       within ± 1
    huber      squared within ± c, then straight          slope clamp(line − y, −c, c)             within ± c
    total      line                                       slope 1

line = x·w + offset, and a row adds slope·x.  x is centred and clipped to the norm (`encode`).  The slope is clipped to
`slope`, by default the bound above, times the row's weight and cut to steps of 2⁻¹⁶ toward 0: a unit moves the sum by
at most norm · slope in l2, to the last step.  Columns are the features and, last, the target: a class by its code, or
for huber a number, scaled as a feature is.  A row without its target adds 0.  Parameters: `loss`; `weights` and
`offset` in steps of 2⁻²⁰, for softmax class by class; `target`, a description like that of a feature; `class_weight`;
`slope`; and those of `encode`.  Proof page: docs/proofs/kernel.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.bounded import RowLimit, Sensitivity
from discreet.errors import bad
from discreet.kernel.contract import MOST_STEPS, Public, require_keys
from discreet.kernel.described import REMEMBERED, Described, description_of, unchangeable
from discreet.kernel.encode import UNIT, Encoding, Feature, design_of, within
from discreet.kernel.rows import UnitRows
from discreet.ndarrays import Floats, Ints
from discreet.noise.powers import exp_minus
from discreet.relation import Relation
from discreet.schema import Column

LOSSES = ("logistic", "softmax", "hinge", "huber", "total")
SLOPE, WEIGHT = 2**16, 2**20  # steps of a slope's 1 and of a weight's 1
FURTHEST_WEIGHT = 2**10
_FAR = 48.0  # from here on e^(−x) is 0
_SHORT = 1 - 2.0**-20  # what doubles get wrong is far below the rest
_OPTIONAL = ("intercept", "centre", "rows", "class_weight", "slope", "offset")
_OF_LOSS = ("loss", "target", "class_weight", "slope", "offset")


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss with its parameters: how many lines it has, and the bound that its slope is clipped to, in steps."""

    name: str
    target: Feature
    lines: int
    steepest: int
    class_weight: Floats
    offset: Ints

    @classmethod
    def parse(cls, public: Public) -> "Loss":
        """From the parameters of a pass."""
        return _loss_of(Described.of(public, _OF_LOSS))

    @classmethod
    def _parse(cls, public: Public) -> "Loss":
        name, target = public["loss"], Feature.parse(public["target"])
        if name not in LOSSES:
            raise bad("loss", f"must be one of {', '.join(LOSSES)}", name, "Give one of them.")
        if name != "total" and target.is_number is not (name == "huber"):
            raise bad("target", "must be a number for huber, and a class otherwise", name, "Describe it so.")
        if name in ("logistic", "hinge") and target.cells != 2:
            raise bad("target", "must have two classes", target.cells, "Use softmax for more.")
        classes = max(target.cells, 1)
        weights = np.array(public.get("class_weight", [1.0] * classes), dtype=np.float64)
        if weights.shape != (classes,) or not ((weights > 0) & (weights <= 1)).all():
            raise bad("class_weight", f"must be {classes} numbers above 0, at most 1", weights.shape, "Scale them.")
        lines = classes if name == "softmax" else 1
        return cls(name, target, lines, _steepest(public, name), weights, _offset(public, lines))

    @property
    def steepest_squared(self) -> int:
        """The largest squared norm of all slopes of a row, in squared steps."""
        return self.steepest**2

    def slopes(self, lines: list[Floats], answers: Any) -> list[Floats]:
        """The slope of each line; NaN where a row has no answer."""
        return _SLOPES[self.name](self, lines, answers)


@lru_cache(REMEMBERED)
def _loss_of(described: Described) -> Loss:
    return Loss._parse(described.public)


def _logistic(loss: Loss, lines: list[Floats], codes: Ints) -> list[Floats]:
    return [_weighted(loss, sigmoid(lines[0]) - codes, codes)]


def _hinge(loss: Loss, lines: list[Floats], codes: Ints) -> list[Floats]:
    sign = np.where(codes == 1, 1.0, -1.0)
    return [_weighted(loss, -sign * np.clip(1.5 - sign * lines[0], 0.0, 1.0), codes)]


def _softmax(loss: Loss, lines: list[Floats], codes: Ints) -> list[Floats]:
    top = lines[0]
    for line in lines[1:]:
        top = np.maximum(top, line)
    powers = [exp_minus(np.minimum(top - line, _FAR)) for line in lines]
    total = np.zeros_like(top)
    for power in powers:
        total += power
    return [_weighted(loss, power / total - (codes == place), codes) for place, power in enumerate(powers)]


def _huber(loss: Loss, lines: list[Floats], numbers: Floats) -> list[Floats]:
    return [lines[0] - numbers / UNIT]


def _total(loss: Loss, lines: list[Floats], answers: Any) -> list[Floats]:
    has_answer = ~np.isnan(answers) if loss.target.is_number else answers >= 0
    return [np.where(has_answer, 1.0, np.nan)]


_SLOPES: dict[str, Callable[[Loss, list[Floats], Any], list[Floats]]] = {
    "logistic": _logistic,
    "hinge": _hinge,
    "softmax": _softmax,
    "huber": _huber,
    "total": _total,
}


def _weighted(loss: Loss, slope: Floats, codes: Ints) -> Floats:
    return np.where(codes >= 0, slope * loss.class_weight[codes], np.nan)


def _steepest(public: Public, name: str) -> int:
    """The bound of the slope, for softmax of the norm of all slopes, rounded up to whole steps."""
    largest = isqrt(2 * SLOPE**2) + 1 if name == "softmax" else SLOPE
    if "slope" not in public:
        return largest
    slope = amounts.positive(public["slope"], "slope")
    if not Fraction(1, 2**8) <= slope <= (4 if name == "huber" else Fraction(largest, SLOPE)):
        raise bad(
            "slope", "must be at least 1/256, and at most what the loss reaches", public["slope"], "Leave it out."
        )
    return int(slope * SLOPE)


def _offset(public: Public, lines: int) -> Ints:
    offset = np.asarray(public.get("offset", [0] * lines))
    if offset.shape != (lines,) or offset.dtype != np.int64 or not within(offset, FURTHEST_WEIGHT * WEIGHT):
        raise bad("offset", f"must be {lines} whole numbers, within ± {FURTHEST_WEIGHT}", offset.shape, "Leave it out.")
    return unchangeable(offset)


class Risk:
    """A number for each weight, in steps of 2⁻²⁶."""

    def require(self, public: Public, columns: Sequence[Column]) -> None:
        """As `Kernel.require`."""
        self.length(public)
        if len(columns) < 2:
            raise bad("columns", "must be features and the target", len(columns), "Name the target last.")
        Encoding.parse(public).require(columns[:-1])
        Loss.parse(public).target.require(columns[-1])

    def length(self, public: Public) -> int:
        """As `Kernel.length`."""
        require_keys(public, ("loss", "weights", "features", "target", "norm"), _OPTIONAL)
        loss, encoding = Loss.parse(public), Encoding.parse(public)
        lines, width, weights = loss.lines, encoding.width, public["weights"]
        if type(weights) is not np.ndarray or weights.dtype != np.int64 or weights.shape != (lines * width,):
            rule = f"must be {lines * width} whole numbers as int64"
            raise bad("weights", rule, getattr(weights, "shape", type(weights).__name__), "Give one a column and line.")
        if not within(weights, FURTHEST_WEIGHT * WEIGHT):
            raise bad("weights", f"must lie within ± {FURTHEST_WEIGHT}", "beyond", "Scale the features.")
        if _furthest(loss, encoding) > MOST_STEPS:
            rule = f"must be such that a row moves no number by more than {MOST_STEPS} steps"
            raise bad("intercept, norm and slope", rule, _furthest(loss, encoding), "Lower the intercept or the norm.")
        return lines * width

    def per_row(self, public: Public) -> int:
        """As `Kernel.per_row`."""
        return self.length(public)

    def sensitivity(self, public: Public, limit: RowLimit) -> Sensitivity:
        """As `Kernel.sensitivity`: l2 = norm · slope, whatever the number of rows; twice that under replace-one."""
        encoding, loss = Encoding.parse(public), Loss.parse(public)
        squared = Fraction(loss.steepest_squared * encoding.norm**2)
        length = loss.lines * encoding.width
        touched = min(encoding.touched * min(encoding.rows, limit.rows) * loss.lines, length)
        linf = Fraction(_furthest(loss, encoding))
        if limit.relation is Relation.ADD_REMOVE:
            return Sensitivity(Fraction(touched), _l1(touched, squared), squared, linf, limit.relation)
        both = min(2 * touched, length)
        return Sensitivity(Fraction(both), 2 * _l1(touched, squared), 4 * squared, 2 * linf, limit.relation)

    def __call__(self, chunk: UnitRows, public: Public) -> Ints:
        """As `Kernel.__call__`."""
        *names, target = chunk.columns
        loss, design = Loss.parse(public), design_of(chunk, public, names)
        answers = _answers(chunk, loss, target, public["target"])
        weights = np.asarray(public["weights"]).reshape(loss.lines, -1)
        with np.errstate(all="ignore"):
            lines = [
                design.lines(line) * (design.clipping / (UNIT * WEIGHT)) + int(offset) / WEIGHT
                for line, offset in zip(weights, loss.offset, strict=True)
            ]
            slopes = _clipped(loss.slopes(lines, answers), loss.steepest)
            sums = [design.sums(_cut(slope * design.weight)) for slope in slopes]
        return np.concatenate(sums)


def whole_weights(weights: Floats) -> Ints:
    """Weights as parameters have them: whole steps, within the furthest that is taken."""
    return np.rint(np.clip(weights, -FURTHEST_WEIGHT, FURTHEST_WEIGHT) * WEIGHT).astype(np.int64)


def _furthest(loss: Loss, encoding: Encoding) -> int:
    """How far one row moves any number, in steps."""
    return loss.steepest * min(encoding.norm, encoding.largest)


def _clipped(slopes: list[Floats], steepest: int) -> list[Floats]:
    """The slopes in steps, their norm clipped."""
    steps = [slope * SLOPE for slope in slopes]
    if len(steps) == 1:
        return [np.clip(steps[0], -steepest, steepest)]
    squares = np.zeros_like(steps[0])
    for step in steps:
        squares += step * step
    shorter = np.minimum(1.0, steepest * _SHORT / np.sqrt(np.maximum(squares, 1.0)))
    return [step * shorter for step in steps]


def _cut(steps: Floats) -> Floats:
    """Whole steps, cut toward 0; 0 where there is no answer."""
    whole = np.trunc(steps)
    return np.where(np.isnan(whole), 0.0, whole)


def _answers(chunk: UnitRows, loss: Loss, target: str, description: Any) -> Any:
    """The class or the scaled number of each row, −1 or NaN without one; remembered for a pass with this target."""
    key = description_of([description, target])
    remembered = chunk.remembered.get("answers")
    if remembered is None or remembered[0] != key:
        chunk.remembered["answers"] = remembered = (key, _answers_of(loss.target, chunk.columns[target]))
    return remembered[1]


def _answers_of(target: Feature, cells: Any) -> Any:
    if not target.is_number:
        return target.codes(cells)
    has_none = target.codes(cells) < 0 if target.cells else np.isnan(cells)
    return np.where(has_none, np.nan, target.numbers(cells))


def sigmoid(line: Floats) -> Floats:
    """1/(1 + e^(−x)) within 2⁻⁴⁰, by operations that are rounded one by one."""
    power = exp_minus(np.minimum(np.abs(line), _FAR))
    return np.where(line >= 0, 1.0, power) / (1.0 + power)


def _l1(touched: int, squared: Fraction) -> Fraction:
    """√(touched · l2²), rounded up."""
    return Fraction(isqrt(int(touched * squared) - 1) + 2)


RISK = Risk()
