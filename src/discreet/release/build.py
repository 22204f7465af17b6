"""One charge for a whole release: leaves from the engine, noise on every level, stored; the rest is post-processing."""

import hashlib
import json
import zlib
from importlib.util import find_spec
from typing import Any

import numpy as np

from discreet import exact
from discreet.bounded import Bounded
from discreet.errors import IntegrityError, NotAnswerable, bad
from discreet.gate import Order, disclose
from discreet.ledger.ledger import LONGEST_ANSWER
from discreet.mechanism.additive import Additive
from discreet.noise.laplace import DiscreteLaplace
from discreet.release.plan import ReleasePlan
from discreet.release.release import Release
from discreet.release.tree import Ints
from discreet.table import Progress, Table

_HEAD = b"discreet release 1 "
_BYTES = 8  # of a number, before it is packed


def built(table: Table, plan: ReleasePlan, *, analyst: str | None = None, progress: Progress | None = None) -> Release:
    """The release: charged, measured, stored; or the stored one again, for nothing."""
    table.require_own(plan.subject.schema)
    _require_storable(plan)
    _require_installed(plan)
    table.require_known(analyst)
    order = ordered(table, plan, analyst, table.prepare(progress))
    told = progress or _untold
    told("measuring", 0.6)
    shared = table.shared(order.key)
    stored, receipt, replayed = _disclosed(table, plan, order) if shared is None else (*shared, True)
    release = Release(plan, unpacked(stored), receipt, replayed, table.remaining(analyst))
    told("making it add up", 0.8)
    _ = release.fitted
    return release


def _disclosed(table: Table, plan: ReleasePlan, order: Order) -> tuple[bytes, str, bool]:
    """What is stored, its receipt, and whether it was there already."""
    subject = plan.subject

    def compute() -> Ints:
        (columns,) = table.engine.run([subject.sql], order.snapshot)
        return subject.leaf_table(columns)

    bounded = Bounded(compute, subject.design.leaf)
    found = disclose(table.ledger, order, plan.measurement, bounded, finish=packed)
    return found.stored, found.receipt.name, found.replayed


def _untold(step: str, share: float) -> None:
    """Nobody looks."""


def ordered(table: Table, plan: ReleasePlan, analyst: str | None, snapshot: str) -> Order:
    """Who pays for what; the key names all that an equal measurement must share."""
    payer = None if table.budget.share_answers else analyst
    facts = described(plan) | {"schema": table.schema.hash, "snapshot": snapshot, "analyst": payer}
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    digest = hashlib.sha256(plan.subject.sql.encode()).hexdigest()
    memo = {"question": digest, "text": titled(plan), "words": words(plan)}
    return Order((), memo, key, analyst, plan.epsilon, plan.delta, snapshot)


def titled(plan: ReleasePlan) -> str:
    """What is released, in a few words."""
    wanted = plan.subject.wanted
    if wanted.groups is not None:
        return f"release of sizes of {wanted.groups} over {wanted.hierarchy}"
    by = f" by {', '.join(wanted.by)}" if wanted.by else ""
    return f"release of {wanted.count} over {wanted.hierarchy}{by}"


def words(plan: ReleasePlan) -> list[str]:
    """How it is measured, in sentences; like `described` without the fit."""
    schema, tree = plan.subject.schema, plan.subject.tree
    lines = [f"Protected: {plan.subject.protects}; neighbours by {schema.relation}."]
    for at, level in enumerate(plan.measurement.mechanisms):
        places = f"{int(tree.first[at + 1] - tree.first[at]):,} × {tree.levels[at]}"
        for seen, one in zip(plan.measurement.marginals, level, strict=True):
            cells = f"{seen.size:,} numbers each" if seen.size > 1 else "1 number each"
            by = f" by {', '.join(seen.names)}" if seen.names else ""
            lines.append(f"Measured: {places}{by}, {cells}. {_noise(one)}")
    price = f"epsilon {exact.shown(plan.epsilon)}, delta {exact.shown(plan.delta)}"
    return [*lines, f"Cost: {price} for the whole release."]


def _noise(one: Additive) -> str:
    law = one.noise
    if isinstance(law, DiscreteLaplace):
        return f"Laplace noise of scale {exact.shown(exact.rounded_up(law.scale, 6))}."
    return f"Gaussian noise of sigma {exact.shown(exact.rounded_up(law.sigma, 6))}."


def described(plan: ReleasePlan) -> dict[str, Any]:
    """What is measured and for how much, as JSON; the fit is not in it, for it is free."""
    wanted, design = plan.subject.wanted, plan.subject.design
    return {
        "hierarchy": wanted.hierarchy,
        "by": list(plan.subject.attributes),
        "count": wanted.count if wanted.groups is None else f"sizes of {wanted.groups} to {plan.subject.cells}",
        "form": str(design.form),
        "marginals": [list(one.names) for one in design.marginals],
        "noise": [[repr(one.noise) for one in level] for level in plan.measurement.mechanisms],
        "shares": [str(share) for share in plan.shares],
        "labels": [list(map(str, each)) for each in plan.subject.labels],
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "relation": str(plan.subject.schema.relation),
    }


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


# --- what the ledger keeps -------------------------------------------------------------------------------------------


def packed(noisy: Ints) -> bytes:
    """The measured numbers in as few bytes as they take."""
    shape = " ".join(map(str, noisy.shape)).encode()
    return _HEAD + shape + b"\n" + zlib.compress(noisy.astype("<i8").tobytes(), 6)


def unpacked(stored: bytes) -> Ints:
    """The numbers again."""
    head, _, body = stored.partition(b"\n")
    if not head.startswith(_HEAD):
        what, why = "What is stored under this key is no release.", "The ledger holds another kind of answer there."
        raise IntegrityError(what, why, "Verify the ledger: discreet ledger … --verify")
    shape = tuple(map(int, head.removeprefix(_HEAD).split()))
    return np.frombuffer(zlib.decompress(body), dtype="<i8").reshape(shape).astype(np.int64)
