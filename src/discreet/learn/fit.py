"""Fits through the gate, from a dataset or from arrays: one charge, steps that are stored, and the numbers at the end.

From a dataset an equal fit is replayed for nothing, with the price that it had: the table's default δ may be another
since.  From arrays every fit is a charge of its own: nobody can tell
whether two arrays hold the same persons.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import envelope
from discreet.engine.protocol import Progress, View
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError, NotAnswerable, bad
from discreet.inert import visible
from discreet.learn.input.column import LONG
from discreet.learn.learner import Facts, Learner, Model, Plan, Released, facts_of, title_of
from discreet.learn.price import Price, price_of
from discreet.learn.privacy import GIVEN, REHEARSED, WHOLE, Privacy, privacy_of
from discreet.learn.steps import Steps
from discreet.learn.subject import Subject
from discreet.ledger.ledger import Ledger
from discreet.ledger.payer import ChargeRequest
from discreet.ledger.purse import Purse
from discreet.ledger.unbooked import Unbooked
from discreet.ndarrays import Floats, Ints
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Cost, to_json
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.request import Request
from discreet.run import Run
from discreet.schema import Schema
from discreet.schema.unit import ROW
from discreet.table import Table
from discreet.terms import Terms

KIND = "model"
_BY_LOGARITHM = ("linear", "gaussian naive bayes")  # learners that scale numbers, and long ranges so
_BY_COUNTS = ("naive bayes",)  # learners that need no kernel and no rows


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit that was carried out: the public facts, the released numbers and the promise."""

    facts: Facts
    plan: Plan
    released: Released
    privacy: Privacy
    is_replayed: bool = False

    @property
    def is_given(self) -> bool:
        """Whether it was fitted to arrays or a frame of the caller, and not to a dataset."""
        return self.privacy.covers == GIVEN

    @cached_property
    def model(self) -> Model:
        """The model that the released numbers make."""
        return self.plan.model(self.released)

    @property
    def scale_words(self) -> tuple[str, ...]:
        """Which features a model takes by their logarithm, in a sentence; none where it cuts numbers into bins."""
        names = [feature.name for feature in self.plan.subject.features if feature.is_number and feature.is_long]
        is_scaled = self.facts.learner in _BY_LOGARITHM and self.facts.options.get("loss") != "huber"
        if not names or not is_scaled:
            return ()
        why = f"since no value is negative and the bounds are more than {LONG:,} apart"
        return (f"Taken by the logarithm of 1 + x − low, {why}: {', '.join(map(visible, names))}.",)

    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """As `Model.scores`; a predicted number lies within the public bounds of the target."""
        scores, target = self.model.scores(columns), self.plan.subject.target
        return np.clip(scores, float(target.low), float(target.high)) if target.is_number else scores


def request_of(learner: Learner, plan: Plan, analyst: str | None = None) -> Request:
    """The request of a fit to its table; ρ and the ε that states it are two requests, since their noise may differ."""
    subject = plan.subject
    text = f"{title_of(learner)} for {subject.target.name} from {len(subject.features)} features"
    memo = {"text": text, "words": [subject.words(), *plan.mechanisms]}
    branches = path(subject.where, subject.schema)
    facts = facts_of(learner, subject).to_json() | ({"rho": True} if plan.price.is_rho else {})
    return Request(facts, plan.price.terms, analyst, branches, memo)


def fit_table(
    table: Table,
    learner: Learner,
    subject: Subject,
    price: Price,
    *,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Fit a model to a table: charged once, and taken up where it stood if it was interrupted."""
    plan = learner.plan(subject, price)
    require_kernels(table, learner)
    run = table.run(request_of(learner, plan, analyst), plan.cost, progress=progress)
    try:
        result = run.result()
        is_replayed = result is not None
        if result is None:
            begun = _begun_price(table, run, learner, plan, price)
            plan = plan if begun is price else learner.plan(subject, begun)
            steps = Steps(run, subject, plan.price, progress)
            result = run.done(to_bytes(plan.fit(steps), learner, subject, begun)).stored
        else:
            stored = stored_price(result) or _begun_price(table, run, learner, plan, price)
            plan = plan if price_json(stored) == price_json(price) else learner.plan(subject, stored)
    finally:
        run.close()
    privacy = table.stamped(privacy_of(plan, receipt=run.receipt, covers=WHOLE))
    return Fit(facts_of(learner, subject), plan, from_bytes(result), privacy, is_replayed)


def require_kernels(table: Table, learner: Learner) -> None:
    """Refuses, before the charge, a learner that passes over rows where the engine only counts."""
    if learner.name not in _BY_COUNTS and not table.engine.has_kernels:
        why = "It passes over the rows, and in a PostgreSQL server rows are only counted."
        fix = "Fit naive Bayes, which needs counts alone, or export the table to a file and open that."
        raise NotAnswerable(f"{title_of(learner).capitalize()} is not fitted to a table in PostgreSQL.", why, fix)


def _begun_price(table: Table, run: Run, learner: Learner, plan: Plan, price: Price) -> Price:
    """The price that the run was charged: where the table's default δ changed since, it is not that of the plan."""
    entry = table.ledger.entry_of(run.receipt.removeprefix(REHEARSED))
    if entry is None:
        raise IntegrityError("The ledger lacks the charge of this fit.", "A receipt names it.", "Verify the ledger.")
    if entry["cost"] == to_json(plan.cost):
        return price
    begun = price_of(Terms(Fraction(entry["epsilon"]), Fraction(entry["delta"])))
    if entry["cost"] != to_json(learner.plan(plan.subject, begun).cost):
        fix = "Give a price that differs more: it is another fit, with a charge of its own."
        raise bad("price", "must be the one that this fit was begun with", to_json(plan.cost), fix)
    return begun


def fit_arrays(learner: Learner, subject: Subject, price: Price, view: View, ledger: Any = None) -> Fit:
    """Fit a model to arrays, charged to a ledger where one is given."""
    plan = learner.plan(subject, price)
    payer: Purse | Unbooked = Unbooked() if ledger is None else _purse(ledger_of(ledger), learner, plan)
    run = Run(payer, lambda: view)
    result = run.done(to_bytes(plan.fit(Steps(run, subject, plan.price)), learner, subject, price)).stored
    privacy = privacy_of(plan, receipt=run.receipt, covers=GIVEN)
    return Fit(facts_of(learner, subject), plan, from_bytes(result), privacy)


def _purse(ledger: Ledger, learner: Learner, plan: Plan) -> Purse:
    """A purse for one fit to arrays, under a key that no other fit has."""
    return purse_of_arrays(ledger, plan.subject.schema, request_of(learner, plan).memo, plan.price.terms, plan.cost)


def purse_of_arrays(
    ledger: Ledger, schema: Schema, memo: Mapping[str, Any], terms: Terms, cost: Cost, *, key: str | None = None
) -> Purse:
    """A purse for rows that a caller hands over; refused unless the ledger protects what `schema` protects.

    Without a key it gets one that no other has.
    """
    opening = ledger.standing().opening
    if schema.relation is not opening.relation:
        fix = f"Give relation={str(opening.relation)!r}, or charge another ledger."
        raise bad("relation", "must be that of the ledger", str(schema.relation), fix)
    if (schema.unit is None) is not (opening.unit == ROW):
        fix = "Give units, the person of each row." if schema.unit is None else "Leave out units."
        raise bad("units", f"must be those of the ledger, which protects each {opening.unit}", unit(schema), fix)
    own = fresh_key() if key is None else key
    told = {**memo, "unit": unit(schema)}
    return ledger.purse(ChargeRequest(own, (), told, None, terms.epsilon, terms.delta), cost)


def fresh_key() -> str:
    """A key that no other charge has."""
    return SYSTEM.words(4).tobytes().hex()


def ledger_of(ledger: Any) -> Ledger:
    """The ledger of a dataset or table, or a ledger itself."""
    table = getattr(ledger, "table", ledger)
    opened = table.ledger if isinstance(table, Table) else ledger
    if not isinstance(opened, Ledger):
        rule = "must be a dataset that dp.open gave, or a ledger"
        raise bad("ledger", rule, type(ledger).__name__, 'Give, for example, dp.open("people.toml").')
    return opened


def to_bytes(released: Released, learner: Learner, subject: Subject, price: Price) -> bytes:
    """What the ledger stores of a finished fit; the price is the one that its plan was made for."""
    parts = tuple(Part({"name": name}, {}, np.asarray(values)) for name, values in released.items())
    own = {"price": price_json(price), "protected": protected_json(subject)}
    facts = facts_of(learner, subject).to_json() | own
    return Envelope(KIND, envelope.version(), facts, parts).to_bytes()


def price_json(price: Price) -> dict[str, Any]:
    """A price as JSON: exact texts, and whether it was typed as ρ."""
    return {
        "epsilon": str(price.terms.epsilon),
        "delta": str(price.terms.delta),
        "sigma": None if price.sigma is None else str(price.sigma),
        "rho": price.is_rho,
    }


def protected_json(subject: Subject) -> dict[str, Any]:
    """Whom a fit protects: the unit, how many rows it has at most, and the relation, as JSON."""
    schema = subject.schema
    key = None if schema.unit is None else schema.unit.key
    return {"unit": key, "max_rows": schema.max_rows, "neighbours": str(schema.relation)}


def stored_protected(stored: bytes) -> dict[str, Any] | None:
    """Whom a stored fit protects; None in one that an older Discreet stored."""
    protected: dict[str, Any] | None = envelope.from_bytes(stored, KIND).facts.get("protected")
    return protected


def stored_price(stored: bytes) -> Price | None:
    """The price in a stored fit; None in one that an older Discreet stored."""
    price = envelope.from_bytes(stored, KIND).facts.get("price")
    if price is None:
        return None
    try:
        terms = Terms(Fraction(price["epsilon"]), Fraction(price["delta"]))
        return Price(terms, None if price["sigma"] is None else Fraction(price["sigma"]), is_rho=price["rho"] is True)
    except (KeyError, TypeError, ValueError):
        pass
    raise IntegrityError("What is stored is no fit.", "Its price cannot be read.", "Verify the ledger.")


def stored_result(ledger: Ledger, receipt: str) -> bytes | None:
    """What the ledger stored of the finished fit with that receipt; None where there is none."""
    entry = ledger.entry_of(receipt)
    purse = ledger.purse_of(entry["key"]) if entry is not None and entry.get("kind") == "purse" else None
    if purse is None or purse.receipt.name != receipt or purse.is_open:
        return None
    return Run(purse, _no_rows).result()


def _no_rows() -> View:
    raise AssertionError("a finished run reads no rows")


def stored_facts(stored: bytes) -> dict[str, Any]:
    """The facts in a stored fit: learner, options and subject."""
    facts = envelope.from_bytes(stored, KIND).facts
    return {name: fact for name, fact in facts.items() if name not in ("price", "protected")}


def is_stored(fit: Fit, ledger: Ledger) -> bool:
    """Whether the ledger has stored a fit to its dataset with that receipt and those facts."""
    stored = stored_result(ledger, fit.privacy.receipt) if fit.privacy.covers == WHOLE else None
    return stored is not None and stored_facts(stored) == json.loads(json.dumps(fit.facts.to_json()))


def from_bytes(stored: bytes) -> Mapping[str, Any]:
    """The released numbers of a stored fit."""
    parts = envelope.from_bytes(stored, KIND).parts
    try:
        return {str(part.tally["name"]): part.values for part in parts}
    except (KeyError, TypeError):
        pass
    raise IntegrityError("What is stored is no fit.", "Its parts have no names.", "Verify the ledger.")
