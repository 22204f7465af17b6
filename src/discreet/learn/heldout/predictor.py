"""What predicts the persons of a trial: a fitted model, or anything else that can say the same of itself."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.errors import bad
from discreet.learn.fit import Fit, is_stored, price_json
from discreet.learn.privacy import Privacy
from discreet.learn.subject import Subject
from discreet.ledger.ledger import Ledger
from discreet.ndarrays import Floats, Ints
from discreet.query.canonical import canonical_json
from discreet.query.explain import unit


class Predictor(Protocol):
    """A model that was trained: what it learnt from, its promise, and what it says of rows."""

    @property
    def subject(self) -> Subject:
        """Its features, its target and the part of the table that it was trained on."""

    @property
    def title(self) -> str:
        """What kind of model it is, as people call it."""

    @property
    def privacy(self) -> Privacy:
        """Its promise."""

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """A probability for each class, or one number within the bounds of the target, for each row."""

    def digest(self) -> str:
        """A hash of all that predictions follow from."""

    def is_stored(self, ledger: Ledger) -> bool:
        """Whether that ledger holds its charge and the same released numbers."""


@dataclass(frozen=True, eq=False)
class FitPredictor:
    """A fit of `dp.learn` as what predicts."""

    fit: Fit

    @property
    def subject(self) -> Subject:
        """What the fit learnt from."""
        return self.fit.plan.subject

    @property
    def title(self) -> str:
        """The learner's title."""
        return self.fit.facts.title

    @property
    def privacy(self) -> Privacy:
        """The promise of the fit."""
        return self.fit.privacy

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Fit.scores`."""
        return self.fit.scores(columns)

    def digest(self) -> str:
        """As `digest` of the fit."""
        return digest(self.fit)

    def is_stored(self, ledger: Ledger) -> bool:
        """As `is_stored` of fits."""
        return is_stored(self.fit, ledger)


def digest(fit: Fit) -> str:
    """A hash of all that predictions follow from.

    These are the facts, the released numbers, and what bins and smoothing depend on: price, relation and unit.
    """
    schema = fit.plan.subject.schema
    protected = {"neighbours": str(schema.relation), "unit": unit(schema), "max_rows": schema.max_rows}
    facts = fit.facts.to_json() | {"price": price_json(fit.plan.price), "schema": protected}
    hashed = hashlib.sha256(canonical_json(facts).encode())
    for name, numbers in sorted(fit.released.items()):
        array = np.asarray(numbers).astype("<i8")
        hashed.update(canonical_json([name, list(array.shape)]).encode() + array.tobytes())
    return hashed.hexdigest()


def predictor_of(model: Any) -> Predictor:
    """What predicts in a fitted estimator, a fit or a trained table net."""
    own = getattr(model, "predictor", None)
    if callable(own):
        predictor: Predictor = own()
        return predictor
    fit = getattr(model, "fit_", model)
    if not isinstance(fit, Fit):
        rule = "must be a fitted estimator of dp.learn, or a table net that was trained on a dataset"
        raise bad("model", rule, type(model).__name__, "Fit it first.")
    return FitPredictor(fit)
