"""A check through the gate: a run of two steps, each charged, drawn and stored before it is looked at.

    count         how many units there are
    comparison    everything else, scaled by that noisy number

A check that is killed goes on where it stood; an equal one is replayed.  Proof page: docs/proofs/synth/check.md.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import envelope
from discreet.bounded import Bounded, Sensitivity, side_by_side
from discreet.engine.protocol import Progress, View
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError, bad
from discreet.kernel.contract import MOST_UNITS
from discreet.learn.heldout.trial import Scored, Trial
from discreet.learn.price import Price, price_of
from discreet.learn.privacy import REHEARSED
from discreet.mechanism.vectors import vectors
from discreet.ndarrays import Floats, Ints
from discreet.privacy.cost import to_json
from discreet.query.bound import path
from discreet.query.canonical import canonical, canonical_json
from discreet.query.tags import TAGS
from discreet.request import Request
from discreet.run import Run
from discreet.synth.build import Build
from discreet.synth.check.distances import PROOF, coarse, coarse_mean, each_distance
from discreet.synth.check.model import class_counts
from discreet.synth.check.plan import AREA, CLASSES, COUNT, EACH, GAP, CheckPlan, count_public
from discreet.synth.check.products import Products
from discreet.synth.check.tables import STEPS
from discreet.synth.plan import KERNEL
from discreet.table import Table
from discreet.terms import Terms

KIND, STEP = "synthetic check", "synthetic check step"
VERSION = 2  # of what is asked and of how it is counted
COMPARISON = "comparison"


@dataclass(frozen=True, eq=False)
class Released:
    """The noisy numbers by name, the plan at the price that was charged, and the receipt."""

    plan: CheckPlan
    numbers: dict[str, Ints]
    receipt: str
    is_replayed: bool

    @property
    def units(self) -> int:
        """The noisy number of units in steps, at least one unit."""
        return units_of(self.numbers[COUNT])


def units_of(count: Ints) -> int:
    """The noisy number of units in steps as distances are scaled by it: at least one unit, and no more than a pass
    adds up."""
    return min(max(int(count[0]), STEPS), MOST_UNITS * STEPS)


def request_of(plan: CheckPlan, analyst: str | None) -> Request:
    """The request of a check: which synthetic rows are compared with whom, about what, and at which price."""
    build, persons, trial = plan.compared.build, plan.compared.persons, plan.compared.trial
    subject = build.plan.subject
    facts = {
        "synth check": VERSION,
        "subject": subject.to_json(),
        "table": digest(build),
        "target": None if trial is None else trial.target.column,
        "of": None if persons.where is None else canonical(persons.where),
    }
    present = {name: fact for name, fact in facts.items() if fact is not None}
    text = f"check of a synthetic table of {len(subject.columns)} columns"
    branches = path(persons.where, subject.schema)
    return Request(present, plan.price.terms, analyst, branches, {"text": text, "words": [persons.words]})


def digest(build: Build) -> str:
    """A hash of the synthetic rows, and of all that groups follow from: released parts with what they say of
    themselves, and the options of the build."""
    plan = build.plan
    stated = {
        "options": {"method": plan.method, "max_cells": plan.max_cells, "rows": plan.rows},
        "parts": [{"tally": part.tally, "law": part.law} for part in build.parts],
    }
    hashed = hashlib.sha256(b"discreet synthetic table 2")
    text = canonical_json(stated).encode()
    hashed.update(f" {len(text)} ".encode() + text)
    units = () if build.codes.units is None else (build.codes.units,)
    for numbers in (*build.codes.columns, *units, *(part.values for part in build.parts)):
        array = np.ascontiguousarray(numbers, dtype="<i8")
        hashed.update(f" {array.size} ".encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()


def measure(table: Table, plan: CheckPlan, analyst: str | None, progress: Progress | None) -> Released:
    """Count behind the gate, or take up or replay what was counted."""
    run = table.run(request_of(plan, analyst), plan.cost, progress=progress)
    try:
        result = run.result()
        is_replayed = result is not None
        plan = replace(plan, price=begun_price(table, run, plan.price))
        if result is None:
            parts = _parts(run, plan, progress)
            result = run.done(Envelope(KIND, envelope.version(), {"asked": list(plan.asked)}, parts).to_bytes()).stored
    finally:
        run.close()
    stored = envelope.from_bytes(result, KIND)
    numbers = {str(part.tally["name"]): part.values for part in stored.parts}
    if tuple(numbers) != plan.asked:
        raise IntegrityError("What is stored is no such check.", "It asked for other numbers.", "Verify the ledger.")
    return Released(plan, numbers, run.receipt, is_replayed)


def begun_price(table: Table, run: Run, price: Price) -> Price:
    """The price that the run was charged: where the table's default δ changed since, it is another."""
    entry = table.ledger.entry_of(run.receipt.removeprefix(REHEARSED))
    if entry is None:
        raise IntegrityError("The ledger lacks the charge of this check.", "A receipt names it.", "Verify the ledger.")
    if entry["cost"] == to_json(price.cost):
        return price
    terms = Terms(Fraction(entry["epsilon"]), Fraction(entry["delta"]), price.terms.level)
    begun = price_of(terms)
    if entry["cost"] != to_json(begun.cost):
        fix = "Give a price that differs more: it is another check, with a charge of its own."
        raise bad("price", "must be the one that this check was begun with", to_json(price.cost), fix)
    return begun


def _parts(run: Run, plan: CheckPlan, progress: Progress | None) -> tuple[Part, ...]:
    """Both steps, one after the other."""
    first = _step(run, plan, (COUNT,), _count(run.view, plan), progress)
    units = units_of(first[0].values)
    rest = tuple(name for name in plan.asked if name != COUNT)
    exact = {name: comparison(run.view, plan, name, units) for name in rest}
    return (*first, *_step(run, plan, rest, exact, progress))


def _step(
    run: Run, plan: CheckPlan, names: tuple[str, ...], exact: dict[str, Bounded[Ints]], progress: Progress | None
) -> tuple[Part, ...]:
    """What the step released, drawn and stored now or before."""
    step = COUNT if names == (COUNT,) else COMPARISON
    if progress is not None:
        progress(f"checking: {step}", 0.0)
    mechanisms = {name: plan.mechanism(name) for name in names}

    def pack(noisy: dict[str, Ints]) -> bytes:
        parts = [Part({"name": name}, TAGS.plain(mechanisms[name].noise), noisy[name]) for name in names]
        return Envelope(STEP, envelope.version(), {}, tuple(parts)).to_bytes()

    stored = run.step(step, vectors(mechanisms), side_by_side(exact), pack=pack)
    return envelope.from_bytes(stored, STEP).parts


def _count(view: View, plan: CheckPlan) -> dict[str, Bounded[Ints]]:
    subject, where = plan.compared.build.plan.subject, plan.compared.persons.where
    public = count_public(plan.compared.build)
    return {COUNT: view.sum(KERNEL, subject.column_names, public, where=where)}


def comparison(view: View, plan: CheckPlan, name: str, units: int) -> Bounded[Ints]:
    """The exact numbers of that name, at the noisy number of units."""
    about, where = plan.compared, plan.compared.persons.where
    if about.trial is not None and name in (CLASSES, AREA):
        return _predictions(view, about.trial, _counts(plan, about.trial, name))
    kind, subject = EACH.get(name, name), about.build.plan.subject
    if kind == GAP and about.products is not None:
        each = about.products.real(view, about.units_moved, where)
        if name not in EACH:
            each = _gaps(each, about.products, about.products.synthetic(about.synthetic), units)
    else:
        each = each_distance(view, about.tables[kind], about.synthetic, units, where)
    released = coarse if name in EACH else coarse_mean
    return released(each, about.grain(name), about.step(name), about.numbers(name), subject)


def _gaps(each: Bounded[Ints], products: Products, correlations: Floats, units: int) -> Bounded[Ints]:
    """How far each sum of products lies from what the synthetic correlation would give."""
    expected = products.expected_sums(correlations, units)
    if not isinstance(each.sensitivity, Sensitivity):
        raise TypeError
    return each.then(lambda sums: np.abs(sums - expected), each.sensitivity, proof=PROOF)


def _counts(plan: CheckPlan, trial: Trial, name: str) -> Callable[[Scored], Ints]:
    area = plan.compared.area
    if name == AREA and area is not None:
        return area.counts
    return lambda scored: class_counts(scored, len(trial.classes))


def _predictions(view: View, trial: Trial, counts: Callable[[Scored], Ints]) -> Bounded[Ints]:
    """Counts of what the model says of real rows, one of each unit."""
    rows: Bounded[Any] = view.rows(trial.columns, where=trial.where)
    return rows.then(
        lambda held: counts(trial.predictions(held)), trial.sensitivity(1, 1), proof="learn/heldout/score.md"
    )
