"""One charge for a whole release: leaves from the engine, noise on every level, stored; the rest is post-processing."""

import hashlib
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

from discreet import amounts, shares
from discreet.engine.protocol import Progress
from discreet.errors import NotAnswerable, bad
from discreet.ledger.ledger import LONGEST_ANSWER
from discreet.mechanism.additive import Additive
from discreet.noise.laplace import DiscreteLaplace
from discreet.query.canonical import canonical_json
from discreet.release.measure import Measurement
from discreet.release.plan import ReleasePlan
from discreet.release.release import Release
from discreet.release.stored import first_stored_key, packed, replayed, wanted
from discreet.release.subject import subject
from discreet.request import Request
from discreet.table import Table

_BYTES = 8  # of a number, before it is packed


def built(table: Table, plan: ReleasePlan, *, analyst: str | None = None, progress: Progress | None = None) -> Release:
    """The release: charged, measured, stored; or the stored one again, for nothing."""
    table.require_own(plan.subject.schema)
    plan = _on_own_subject(plan, table)
    _require_storable(plan)
    _require_installed(plan)
    table.require_analyst(analyst)
    told = progress or _untold
    own = plan.subject
    with closing(table.view(progress)) as view:
        told("measuring", 0.6)
        leaves = view.tally(own.tally).then(own.leaf_table, own.design.sensitivity, proof="release/measure.md")
        disclosed = table.disclose(
            request(plan, analyst),
            view,
            plan.measurement,
            leaves,
            pack=partial(packed, plan),
            older_key=partial(_older_key, table, plan, analyst),
        )
    stored = replayed(disclosed.stored, plan)
    release = Release(*stored, disclosed.receipt.name, disclosed.replayed, table.remaining(analyst), table.toml)
    told("making it add up", 0.8)
    _ = release.fitted
    return release


def _on_own_subject(plan: ReleasePlan, table: Table) -> ReleasePlan:
    """The plan's noise on what this table's facts say is measured: the gate compares the two."""
    own = subject(plan.subject.wanted, table.schema)
    design = own.design
    measurement = Measurement(design.tree, design.form, design.marginals, design.leaf, plan.measurement.mechanisms)
    return replace(plan, subject=own, measurement=measurement)


def _older_key(table: Table, plan: ReleasePlan, analyst: str | None, snapshot: str) -> str:
    """The key under which the first ledgers stored such a release."""
    payer = None if table.budget.share_answers else analyst
    return first_stored_key(plan, schema=table.schema.hash, snapshot=snapshot, analyst=payer)


def _untold(step: str, share: float) -> None:
    """Nobody looks."""


def request(plan: ReleasePlan, analyst: str | None) -> Request:
    """What is asked of the table; the facts name all that an equal measurement must share."""
    asked = wanted(plan)
    digest = hashlib.sha256(canonical_json(asked).encode()).hexdigest()
    memo = {"question": digest, "text": titled(plan), "words": words(plan)}
    return Request(asked, plan.terms, analyst, memo=memo)


def titled(plan: ReleasePlan) -> str:
    """What is released, in a few words."""
    wanted = plan.subject.wanted
    if wanted.groups is not None:
        return f"release of sizes of {wanted.groups} over {wanted.hierarchy}"
    by = f" by {', '.join(wanted.by)}" if wanted.by else ""
    return f"release of {wanted.count} over {wanted.hierarchy}{by}"


def words(plan: ReleasePlan) -> list[str]:
    """How it is measured, in sentences."""
    schema, tree = plan.subject.schema, plan.subject.tree
    lines = [f"Protected: {plan.subject.protects}; neighbours by {schema.relation}."]
    for at, level in enumerate(plan.measurement.mechanisms):
        places = f"{int(tree.first[at + 1] - tree.first[at]):,} × {tree.levels[at]}"
        for seen, one in zip(plan.measurement.marginals, level, strict=True):
            cells = f"{seen.size:,} numbers each" if seen.size > 1 else "1 number each"
            by = f" by {', '.join(seen.names)}" if seen.names else ""
            lines.append(f"Measured: {places}{by}, {cells}. {_noise(one)}")
    price = f"epsilon {amounts.shown(plan.terms.epsilon)}, delta {amounts.shown(plan.terms.delta)}"
    return [*lines, shares.words(plan.level_shares), f"Cost: {price} for the whole release."]


def _noise(one: Additive) -> str:
    law = one.noise
    if isinstance(law, DiscreteLaplace):
        return f"Laplace noise of scale {amounts.shown(amounts.rounded_up(law.scale, 6))}."
    return f"Gaussian noise of sigma {amounts.shown(amounts.rounded_up(law.sigma, 6))}."


def _require_storable(plan: ReleasePlan) -> None:
    """Refuses a release too large to be stored, which would be known only after the charge."""
    numbers = len(plan.subject.tree) * plan.measurement.columns[-1].stop
    if numbers * _BYTES > LONGEST_ANSWER // 2:
        most = LONGEST_ANSWER // 2 // _BYTES
        why = f"{numbers:,} numbers would be measured, and at most {most:,} are stored at once."
        raise NotAnswerable("The release is too large.", why, "Release fewer attributes at once, or fewer levels.")


def _require_installed(plan: ReleasePlan) -> None:
    """Refuses, before the charge, a method whose packages are not there."""
    flows = plan.method in ("rounded", "together") or (plan.known.leaf_totals is not None and plan.method != "joint")
    needed = ["numba", "ortools"] if flows else ["numba"]
    for package in needed:
        if find_spec(package) is None:
            raise bad("method", f"needs the package {package}", plan.method, "Install discreet[release].")
