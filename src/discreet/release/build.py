"""Build a release through the gate: one charge, leaves from the engine, noise on every level, stored."""

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
from discreet.release.plan import ReleasePlan
from discreet.release.release import Release
from discreet.release.stored import first_stored_key, read_stored, request_facts, to_bytes
from discreet.release.subject import subject
from discreet.request import Request
from discreet.table import Table

_BYTES = 8  # of a number, before it is packed


def build(table: Table, plan: ReleasePlan, *, analyst: str | None = None, progress: Progress | None = None) -> Release:
    """Charge, measure and store the release; an equal one is read from the ledger, free of charge."""
    table.require_own(plan.subject.schema)
    plan = _on_own_subject(plan, table)
    _require_storable(plan)
    _require_installed(plan)
    table.require_analyst(analyst)
    report = progress or (lambda step, share: None)
    with closing(table.view(progress)) as view:
        report("measuring", 0.6)
        tally, design = view.tally(plan.subject.tally), plan.subject.design
        leaves = tally.then(plan.subject.leaf_table, design.sensitivity, proof="release/measure.md")
        disclosed = table.disclose(
            request(plan, analyst),
            view,
            plan.measurement,
            leaves,
            pack=partial(to_bytes, plan),
            older_key=partial(_older_key, table, plan, analyst),
        )
    stored = read_stored(disclosed.stored, plan)
    release = Release(*stored, disclosed.receipt.name, disclosed.replayed, table.remaining(analyst), table.toml)
    report("making it add up", 0.8)
    _ = release.fitted
    return release


def _on_own_subject(plan: ReleasePlan, table: Table) -> ReleasePlan:
    """The plan with the subject that this table's own schema gives; the gate compares it with the plan's noise."""
    table_subject = subject(plan.subject.spec, table.schema)
    measurement = table_subject.design.measured_by(plan.measurement.mechanisms)
    return replace(plan, subject=table_subject, measurement=measurement)


def _older_key(table: Table, plan: ReleasePlan, analyst: str | None, snapshot: str) -> str:
    """The key under which the first ledgers stored such a release."""
    payer = None if table.budget.share_answers else analyst
    return first_stored_key(plan, schema=table.schema.hash, snapshot=snapshot, analyst=payer)


def request(plan: ReleasePlan, analyst: str | None) -> Request:
    """The request to the table; its facts name all that an equal measurement must share."""
    facts = request_facts(plan)
    digest = hashlib.sha256(canonical_json(facts).encode()).hexdigest()
    memo = {"question": digest, "text": title(plan), "words": words(plan)}
    return Request(facts, plan.terms, analyst, memo=memo)


def title(plan: ReleasePlan) -> str:
    """The title of the release."""
    spec = plan.subject.spec
    if spec.groups is not None:
        return f"release of sizes of {spec.groups} over {spec.hierarchy}"
    by = f" by {', '.join(spec.by)}" if spec.by else ""
    return f"release of {spec.count} over {spec.hierarchy}{by}"


def words(plan: ReleasePlan) -> list[str]:
    """Sentences on how the release is measured."""
    schema, tree = plan.subject.schema, plan.subject.tree
    lines = [f"Protected: {plan.subject.protects}; neighbours by {schema.relation}."]
    for tree_level, mechanisms in enumerate(plan.measurement.mechanisms):
        places = f"{int(tree.first[tree_level + 1] - tree.first[tree_level]):,} × {tree.levels[tree_level]}"
        for marginal, mechanism in zip(plan.measurement.marginals, mechanisms, strict=True):
            cells = f"{marginal.size:,} numbers each" if marginal.size > 1 else "1 number each"
            by = f" by {', '.join(marginal.names)}" if marginal.names else ""
            lines.append(f"Measured: {places}{by}, {cells}. {_noise(mechanism)}")
    price = f"epsilon {amounts.text_of(plan.terms.epsilon)}, delta {amounts.text_of(plan.terms.delta)}"
    return [*lines, shares.words(plan.level_shares), f"Cost: {price} for the whole release."]


def _noise(mechanism: Additive) -> str:
    law = mechanism.noise
    if isinstance(law, DiscreteLaplace):
        return f"Laplace noise of scale {amounts.text_up(law.scale, 6)}."
    return f"Gaussian noise of sigma {amounts.text_up(law.sigma, 6)}."


def _require_storable(plan: ReleasePlan) -> None:
    """Refuse, before the charge, a release that is too large to be stored."""
    numbers = len(plan.subject.tree) * plan.measurement.columns[-1].stop
    if numbers * _BYTES > LONGEST_ANSWER // 2:
        limit = LONGEST_ANSWER // 2 // _BYTES
        why = f"{numbers:,} numbers would be measured, and at most {limit:,} are stored at once."
        raise NotAnswerable("The release is too large.", why, "Release fewer attributes at once, or fewer levels.")


def _require_installed(plan: ReleasePlan) -> None:
    """Refuse, before the charge, a method whose packages are not installed."""
    flows = plan.method in ("rounded", "together") or (plan.known.leaf_totals is not None and plan.method != "joint")
    needed = ["numba", "ortools"] if flows else ["numba"]
    for package in needed:
        if find_spec(package) is None:
            raise bad("method", f"needs the package {package}", plan.method, "Install discreet[release].")
