"""A release's measured numbers as the ledger keeps them, and the plan that they were drawn under."""

import zlib
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet import envelope
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError
from discreet.mechanism.additive import Additive
from discreet.ndarrays import Ints
from discreet.query.first_form import first_key
from discreet.query.tags import TAGS
from discreet.release.plan import EVEN, ReleasePlan

KIND = "release"
_FIRST_HEAD = b"discreet release 1 "


def wanted(plan: ReleasePlan) -> dict[str, Any]:
    """What is measured, for the key: as it was asked for, what was not typed left out."""
    subject = plan.subject
    asked, tree = subject.wanted, subject.tree
    sizes = None if asked.groups is None else {"groups": asked.groups, "largest": subject.cells}
    share = {name: str(plan.shares[tree.levels.index(name)]) for name in plan.locked}
    return {
        "release": asked.hierarchy,
        "by": list(subject.attributes) or None,
        "count": asked.count if sizes is None else None,
        "sizes": sizes,
        "form": str(subject.design.form),
        "marginals": sorted(sorted(view.names) for view in subject.design.marginals),
        "share": share or None,
        "sharing": None if plan.sharing == EVEN else plan.sharing,
    }


def packed(plan: ReleasePlan, noisy: Ints) -> bytes:
    """For each marginal of each level what it counts, its noise, and the measured numbers, a row for each place."""
    tree, measurement = plan.subject.tree, plan.measurement
    parts = []
    for level, marginal in product(range(tree.depth), range(len(measurement.marginals))):
        view, mechanism = measurement.marginals[marginal], measurement.mechanisms[level][marginal]
        tally = {"release": plan.subject.wanted.hierarchy, "level": tree.levels[level], "by": list(view.names)}
        values = noisy[tree.places(level), measurement.columns[marginal]]
        parts.append(Part(tally, TAGS.plain(mechanism), np.ascontiguousarray(values)))
    facts = wanted(plan) | {
        "schema": plan.subject.schema.hash,
        "labels": [list(map(str, labels)) for labels in plan.subject.labels],
        "shares": [str(share) for share in plan.shares],
        "epsilon": str(plan.terms.epsilon),
        "delta": str(plan.terms.delta),
        "why": plan.why,
    }
    return Envelope(KIND, envelope.version(), facts, tuple(parts)).to_bytes()


def replayed(stored: bytes, plan: ReleasePlan) -> tuple[ReleasePlan, Ints]:
    """The plan with the noise, shares and price of the day of the charge, and the measured numbers."""
    if stored.startswith(_FIRST_HEAD):
        return plan, _first_numbers(stored)
    kept = envelope.from_bytes(stored, KIND)
    tree, measurement = plan.subject.tree, plan.measurement
    by_tally = {(part.tally["level"], tuple(part.tally["by"])): part for part in kept.parts}
    noisy = np.empty((len(tree), measurement.columns[-1].stop), dtype=np.int64)
    laws: list[tuple[Additive, ...]] = []
    for level, name in enumerate(tree.levels):
        parts = [by_tally.get((name, view.names)) for view in measurement.marginals]
        for part, columns in zip(parts, measurement.columns, strict=True):
            here = noisy[tree.places(level), columns]
            if part is None or part.values.shape != here.shape:
                raise _another()
            here[:] = part.values
        laws.append(tuple(TAGS.value(part.law) for part in parts if part is not None))
    drawn = replace(measurement, mechanisms=tuple(laws))
    facts = kept.facts
    shares = tuple(map(Fraction, facts["shares"]))
    charged = replace(plan.terms, epsilon=Fraction(facts["epsilon"]), delta=Fraction(facts["delta"]))
    return replace(plan, measurement=drawn, shares=shares, terms=charged), noisy


def _another() -> IntegrityError:
    why = "It was measured with other levels or marginals than this question has."
    return IntegrityError("What is stored under this key is another release.", why, "Verify the ledger.")


# --- the first ledgers -----------------------------------------------------------------------------------------------


def first_stored_key(plan: ReleasePlan, *, schema: str, snapshot: str, analyst: str | None) -> str:
    """The key under which the first ledgers stored such a release: today's noise is part of it."""
    asked, design = plan.subject.wanted, plan.subject.design
    facts = {
        "hierarchy": asked.hierarchy,
        "by": list(plan.subject.attributes),
        "count": asked.count if asked.groups is None else f"sizes of {asked.groups} to {plan.subject.cells}",
        "form": str(design.form),
        "marginals": [list(view.names) for view in design.marginals],
        "noise": [[_first_law(mechanism) for mechanism in level] for level in plan.measurement.mechanisms],
        "shares": [str(share) for share in plan.shares],
        "labels": [list(map(str, labels)) for labels in plan.subject.labels],
        "epsilon": str(plan.terms.epsilon),
        "delta": str(plan.terms.delta),
        "relation": str(plan.subject.schema.relation),
        "schema": schema,
        "snapshot": snapshot,
        "analyst": analyst,
    }
    return first_key(facts)


def _first_law(mechanism: Additive) -> str:
    law = TAGS.plain(mechanism.noise)
    name, width = ("DiscreteLaplace", "scale") if law["is"] == "laplace" else ("RoundedGaussian", "sigma")
    value = Fraction(law[width]["of"])
    return f"{name}({width}=Fraction({value.numerator}, {value.denominator}))"


def _first_numbers(stored: bytes) -> Ints:
    head, _, body = stored.partition(b"\n")
    shape = tuple(map(int, head.removeprefix(_FIRST_HEAD).split()))
    return np.frombuffer(zlib.decompress(body), dtype="<i8").reshape(shape).astype(np.int64)
