"""Store a release's measured numbers in an envelope and read them back with the plan of their charge."""

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


def request_facts(plan: ReleasePlan) -> dict[str, Any]:
    """The facts of the key: what is measured, as it was asked for, without what was left to defaults."""
    subject = plan.subject
    spec, tree = subject.spec, subject.tree
    sizes = None if spec.groups is None else {"groups": spec.groups, "largest": subject.cells}
    share = {name: str(plan.shares[tree.levels.index(name)]) for name in plan.locked}
    return {
        "release": spec.hierarchy,
        "by": list(subject.attributes) or None,
        "count": spec.count if sizes is None else None,
        "sizes": sizes,
        "form": str(subject.design.form),
        "marginals": sorted(sorted(view.names) for view in subject.design.marginals),
        "share": share or None,
        "sharing": None if plan.sharing == EVEN else plan.sharing,
    }


def to_bytes(plan: ReleasePlan, noisy: Ints) -> bytes:
    """The stored form: for each marginal of each level what it counts, its noise, and the numbers of each place."""
    tree, measurement = plan.subject.tree, plan.measurement
    parts = []
    for tree_level, marginal in product(range(tree.depth), range(len(measurement.marginals))):
        view, mechanism = measurement.marginals[marginal], measurement.mechanisms[tree_level][marginal]
        tally = {"release": plan.subject.spec.hierarchy, "level": tree.levels[tree_level], "by": list(view.names)}
        values = noisy[tree.places(tree_level), measurement.columns[marginal]]
        parts.append(Part(tally, TAGS.plain(mechanism), np.ascontiguousarray(values)))
    facts = request_facts(plan) | {
        "schema": plan.subject.schema.hash,
        "labels": [list(map(str, labels)) for labels in plan.subject.labels],
        "shares": [str(share) for share in plan.shares],
        "epsilon": str(plan.terms.epsilon),
        "delta": str(plan.terms.delta),
        "why": plan.why,
    }
    return Envelope(KIND, envelope.version(), facts, tuple(parts)).to_bytes()


def read_stored(stored: bytes, plan: ReleasePlan) -> tuple[ReleasePlan, Ints]:
    """The plan with the noise, shares and price of the charge, and the measured numbers."""
    if stored.startswith(_FIRST_HEAD):
        return plan, _first_numbers(stored)
    stored_envelope = envelope.from_bytes(stored, KIND)
    tree, measurement = plan.subject.tree, plan.measurement
    by_tally = {(part.tally["level"], tuple(part.tally["by"])): part for part in stored_envelope.parts}
    noisy = np.empty((len(tree), measurement.columns[-1].stop), dtype=np.int64)
    laws: list[tuple[Additive, ...]] = []
    for tree_level, name in enumerate(tree.levels):
        parts = [by_tally.get((name, view.names)) for view in measurement.marginals]
        for part, columns in zip(parts, measurement.columns, strict=True):
            here = noisy[tree.places(tree_level), columns]
            if part is None or part.values.shape != here.shape:
                raise _other_release()
            here[:] = part.values
        laws.append(tuple(TAGS.value(part.law) for part in parts if part is not None))
    measured = replace(measurement, mechanisms=tuple(laws))
    facts = stored_envelope.facts
    shares = tuple(map(Fraction, facts["shares"]))
    charged = replace(plan.terms, epsilon=Fraction(facts["epsilon"]), delta=Fraction(facts["delta"]))
    return replace(plan, measurement=measured, shares=shares, terms=charged), noisy


def _other_release() -> IntegrityError:
    why = "It was measured with other levels or marginals than this question has."
    return IntegrityError("What is stored under this key is another release.", why, "Verify the ledger.")


# --- the first ledgers -----------------------------------------------------------------------------------------------


def first_stored_key(plan: ReleasePlan, *, schema: str, snapshot: str, analyst: str | None) -> str:
    """The key under which the first ledgers stored such a release; the noise is part of it."""
    spec, design = plan.subject.spec, plan.subject.design
    facts = {
        "hierarchy": spec.hierarchy,
        "by": list(plan.subject.attributes),
        "count": spec.count if spec.groups is None else f"sizes of {spec.groups} to {plan.subject.cells}",
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
