"""Rows of whole units as the risk of a linear model: features, answers and what a row counts, by public facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet import amounts
from discreet.errors import bad
from discreet.kernel.encode import UNIT, Encoding, Feature, design_of
from discreet.kernel.rows import UnitRows
from discreet.learn.risk.line_loss import LineLoss
from discreet.learn.risk.minimise import Problem
from discreet.learn.subject import Subject, require_classes, require_number
from discreet.ndarrays import Floats

MOST_COLUMNS = 2**11  # a minimiser solves as many equations at every step
_NORM = 0.85  # of the longest row


@dataclass(frozen=True, eq=False)
class RiskSpec:
    """How rows are encoded, clipped to the norm with the intercept inside it, and weighted.

    A unit's rows have weights that add up to at most 1, so a unit's loss is as steep as one row's.
    """

    features: tuple[Mapping[str, Any], ...]
    target: Mapping[str, Any]
    norm: Fraction
    rows: int = 1
    class_weight: tuple[float, ...] | None = None

    @cached_property
    def encoding(self) -> Encoding:
        """The features behind the intercept, nothing taken off them."""
        return Encoding.parse(self._parameters)

    @property
    def width(self) -> int:
        """How many weights there are."""
        return self.encoding.width

    @property
    def description(self) -> dict[str, Any]:
        """The same, as a kernel and a model are told."""
        return self._parameters | {"centre": np.zeros(self.width, dtype=np.int64)}

    @property
    def _parameters(self) -> dict[str, Any]:
        return {"features": list(self.features), "norm": self.norm, "rows": self.rows}

    def problem(self, rows: UnitRows, loss: LineLoss, ridge: Fraction, tilt: Floats | None = None) -> Problem:
        """The risk over those rows; columns are the features and, last, the target."""
        *names, target = rows.columns
        design, goal = design_of(rows, self._parameters, names), Feature.parse(self.target)
        cells = rows.columns[target]
        if goal.is_number:
            has_answer = ~np.isnan(cells)
            answers = np.where(has_answer, goal.numbers(cells) / UNIT, 0.0)
            weights = np.where(has_answer, design.share, 0.0)
        else:
            codes = goal.codes(cells)
            answers = np.where(codes == 1, 1.0, -1.0)
            weights = np.where(codes >= 0, design.share, 0.0)
            if self.class_weight is not None:
                weights = weights * np.array(self.class_weight)[codes]
        line = np.zeros(self.width) if tilt is None else tilt
        return Problem(design, answers, weights, loss, float(ridge), line)


def least_ridge(spec: RiskSpec, loss: LineLoss) -> Fraction:
    """The smallest ridge: a hundredth of the curvature that one row can have.

    Below it a Hessian can be singular in doubles for some tables and not for others, and a minimum takes very long.
    """
    return loss.curvature * spec.norm**2 / 100


def parse_ridge(alpha: Any, spec: RiskSpec, loss: LineLoss) -> Fraction:
    """The ridge that a caller gave; refused below the smallest."""
    ridge, least = amounts.positive(alpha, "alpha"), least_ridge(spec, loss)
    if ridge < least:
        fix = "Raise it, or leave it out: the rule chooses one from the noise."
        floor = amounts.text_up(least, 3)
        raise bad("alpha", f"must be at least {floor} for these features", alpha, fix)
    return ridge


def spec_of(
    subject: Subject, loss: LineLoss, norm: Any = None, class_weight: tuple[float, ...] | None = None
) -> RiskSpec:
    """The spec of a subject; refused where the loss does not fit the target."""
    if loss.name == "huber":
        require_number(subject)
    elif len(require_classes(subject)) != 2:
        fix = "Give a delta and neither solver nor alpha: descent takes any number of classes."
        raise bad(f"target {subject.target.name!r}", "must have two classes for this solver", len(subject.classes), fix)
    if class_weight is not None and (len(class_weight) != 2 or not all(0 < weight <= 1 for weight in class_weight)):
        raise bad("class_weight", "must be two numbers above 0, at most 1", class_weight, "Scale them.")
    is_linear = loss.name == "huber"
    features = tuple(
        feature.described_number() if is_linear else feature.described_feature() for feature in subject.features
    )
    longest = sqrt(len(features) + 1)
    limit = Fraction(int(_NORM * longest * UNIT), UNIT) if norm is None else amounts.positive(norm, "norm")
    spec = RiskSpec(features, subject.target.described_number(), limit, subject.max_rows, class_weight)
    if spec.width > MOST_COLUMNS:
        fix = "Leave out features with many values, or give a delta and neither solver nor alpha: descent takes them."
        raise bad("features", f"must have at most {MOST_COLUMNS} columns for this solver", spec.width, fix)
    return spec
