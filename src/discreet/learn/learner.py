"""What a learner is: from public facts to a plan, from a plan through the gate to released numbers, from these to a
model.

    learner.plan(subject, price) → Plan            reads no data; refuses what cannot be learnt
    plan.fit(steps) → released                      every number in it was released by a step, or follows from those
    plan.model(released) → Model                    free, and the same whenever it is computed

What the ledger and a model's file store of a fit are public facts and these numbers: those that steps released or, of
a descent and of an additive classifier, the weights and cells that follow from them.  So an old fit can be read again,
checked and shown better.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.learn.price import Price
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject
from discreet.ndarrays import Floats, Ints
from discreet.privacy.cost import Cost

Released = Mapping[str, Ints]  # named vectors and tables of whole numbers


class Model(Protocol):
    """A fitted model, made of released numbers and public facts."""

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """For each row the probability of each class, or, of a regression, the predicted number in one column.

        The columns are encoded: by the features' names, as a view hands out rows (`kernel.rows`), and as
        `Subject.encoded` makes them of cells that are not behind the gate.
        """

    def parameters(self) -> dict[str, Any]:
        """Its numbers for people: weights, tables, shapes."""


class Plan(Protocol):
    """A fit that has not run yet."""

    @property
    def subject(self) -> Subject: ...

    @property
    def price(self) -> Price: ...

    @property
    def cost(self) -> Cost:
        """What is charged before the first step."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """What is measured, with which noise, a sentence each."""

    @property
    def arithmetic(self) -> str:
        """LATTICE or REAL: what the guarantee holds for."""

    def fit(self, steps: Steps) -> Released:
        """Take the steps."""

    def model(self, released: Released) -> Model:
        """The model that these numbers make."""


class Learner(Protocol):
    """A method of learning with its options."""

    @property
    def name(self) -> str:
        """Its name in files and keys; it is never renamed."""

    def options(self) -> dict[str, Any]:
        """What the caller chose, as JSON."""

    def plan(self, subject: Subject, price: Price) -> Plan: ...


LATTICE = "whole numbers with exact noise"
REAL = "real numbers: the proof is for exact arithmetic, and the last step rounds to a lattice with exact noise"
_TITLES = {"logistic": "logistic regression", "hinge": "linear classifier", "huber": "linear regression"}


@dataclass(frozen=True, eq=False)
class PricedPlan:
    """A plan's subject and price, and what follows from them alone: the price of all steps is what is charged."""

    subject: Subject
    price: Price
    arithmetic = LATTICE

    @property
    def cost(self) -> Cost:
        """As `Plan.cost`."""
        return self.price.cost


@dataclass(frozen=True)
class Facts:
    """All that an equal fit shares: the learner, its options and the subject, as JSON."""

    learner: str
    options: Mapping[str, Any]
    subject: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The facts of a request, and of a model's file."""
        return {"learn": 1, "learner": self.learner, "options": dict(self.options), "subject": dict(self.subject)}

    @property
    def title(self) -> str:
        """What people call the model: a linear one is named by its loss."""
        return _TITLES.get(str(self.options.get("loss")), self.learner)


def facts_of(learner: Learner, subject: Subject) -> Facts:
    """The facts of that fit."""
    return Facts(learner.name, learner.options(), subject.to_json())


def title_of(learner: Learner) -> str:
    """What people call the models of a learner."""
    return Facts(learner.name, learner.options(), {}).title
