"""Counts of a trial through the gate: charged once, with Laplace noise, and stored; an equal trial is free.

The key has a digest of the model, which is its public facts, its relation and unit, its price and its released numbers,
what is counted, and the part of the table.  The level and what an interval is about are not in it: they change how
stored numbers are shown.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import envelope
from discreet.engine.protocol import Progress
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError
from discreet.learn.heldout.trial import Scored, Trial
from discreet.mechanism import additive
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.bound import path
from discreet.query.canonical import canonical
from discreet.request import Request
from discreet.table import Table
from discreet.terms import Terms

PROOF = "learn/heldout/score.md"


@dataclass(frozen=True)
class Measured:
    """What is counted of scored rows: a name and options for the key, and how far one row moves it."""

    kind: str
    facts: Mapping[str, Any]
    counts: Callable[[Scored], Ints]
    norm: int
    touched: int
    text: str


@dataclass(frozen=True, eq=False)
class Counted:
    """Noisy counts, the law of their noise, and the receipt."""

    numbers: Ints
    noise: DiscreteLaplace
    receipt: str
    is_replayed: bool


def mechanism_of(trial: Trial, measured: Measured, terms: Terms) -> Additive:
    """The noise that the counts get."""
    return additive.laplace(trial.sensitivity(measured.norm, measured.touched), terms.epsilon)


def measure(
    table: Table,
    trial: Trial,
    measured: Measured,
    terms: Terms,
    *,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> Counted:
    """Charge, read, predict, count, add noise, store; whatever goes wrong behind the charge has one fixed reply."""
    mechanism = mechanism_of(trial, measured, terms)
    sensitivity = mechanism.sensitivity
    facts = {
        measured.kind: 1,
        **measured.facts,
        "model": trial.model.digest(),
        "target": trial.target.column,
        "max_rows": trial.max_rows,
        "by": None if trial.by is None else trial.by.column,
        "where": None if trial.where is None else canonical(trial.where),
    }
    branches = path(trial.where, table.schema)
    request = Request(facts, terms, analyst, branches, {"text": measured.text, "words": [trial.knowledge]})
    with closing(table.view(progress)) as view:
        rows = view.rows(trial.columns, where=trial.where)
        exact = rows.then(lambda held: measured.counts(trial.predictions(held)), sensitivity, proof=PROOF)

        def pack(released: Ints) -> bytes:
            law = {"is": "laplace", "scale": str(sensitivity.l1 / terms.epsilon)}
            parts = (Part({"is": measured.kind}, law, released),)
            return Envelope(measured.kind, envelope.version(), facts, parts).to_bytes()

        if progress is not None:
            progress("scoring", 0.0)
        disclosed = table.disclose(request, view, mechanism, exact, pack=pack)
    numbers, noise = _read(disclosed.stored, measured.kind)
    return Counted(numbers, noise, disclosed.receipt.name, disclosed.replayed)


def _read(stored: bytes, kind: str) -> tuple[Ints, DiscreteLaplace]:
    parts = envelope.from_bytes(stored, kind).parts
    try:
        (part,) = parts
        return part.values, DiscreteLaplace(Fraction(part.law["scale"]))
    except (KeyError, TypeError, ValueError):
        pass
    raise IntegrityError("What is stored is no score.", "Its noise is not stated.", "Verify the ledger.")
