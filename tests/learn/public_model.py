"""A fit of public numbers: a line in one column, for tests of what is done with models."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from discreet.learn.fit import Fit
from discreet.learn.learner import Facts
from discreet.learn.privacy import WHOLE
from discreet.learn.subject import subject_of
from discreet.ledger.unbooked import NOWHERE


@dataclass(frozen=True)
class LinePlan:
    """A plan that has nothing to measure."""

    subject: Any

    def model(self, released):
        return LineModel(self.subject, float(released["line"][0]), float(released["line"][1]))


@dataclass(frozen=True)
class LineModel:
    """intercept + slope · column."""

    subject: Any
    intercept: float
    slope: float

    def scores(self, columns):
        (feature,) = self.subject.features
        return (self.intercept + self.slope * columns[feature.name])[:, None]


def linear_fit(schema, target, feature, intercept, slope):
    """A fit whose model is that line."""
    plan = LinePlan(subject_of(schema, target, [feature]))
    facts = Facts("line", {}, plan.subject.to_json())
    return Fit(facts, plan, {"line": np.array([intercept, slope])}, SimpleNamespace(covers=WHOLE, receipt=NOWHERE))
