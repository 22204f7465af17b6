"""Choose a small database through the gate: charged once, stored, and the same again for nothing.

The key has the set of conditions, the cells, N̂ and N.  The order of the queries, α and the level are not in it: they
change only how the stored rows are shown.
"""

from contextlib import closing
from typing import Any

import numpy as np

from discreet import envelope
from discreet.bounded import Bounded, Sensitivity, cells
from discreet.engine.protocol import Progress, View
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError
from discreet.ndarrays import Ints
from discreet.query.canonical import canonical
from discreet.query.compile.exacts import Exacts
from discreet.request import Request
from discreet.synth.small.plan import SmallPlan, small_plan
from discreet.synth.small.result import SmallDatabase
from discreet.synth.small.size import TIGHT

KIND = "small database"
PROOF = "synth/small.md"


def small_database(
    people: Any,
    queries: Any,
    *,
    alpha: Any = None,
    epsilon: Any,
    public_rows: Any,
    size: Any = TIGHT,
    level: Any = None,
    bins: Any = None,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> SmallDatabase:
    """A database of few rows that answers all these queries about as the private table does; charged once.

    The arguments are those of `small_plan`, which says the price and the bounds for nothing.
    """
    plan = small_plan(
        people,
        queries,
        alpha=alpha,
        epsilon=epsilon,
        public_rows=public_rows,
        size=size,
        level=level,
        bins=bins,
    )
    return build(plan, analyst=analyst, progress=progress)


def build(plan: SmallPlan, *, analyst: str | None = None, progress: Progress | None = None) -> SmallDatabase:
    """Charge, count, choose, store; an equal one is read from the ledger, free of charge."""
    table, mechanism = plan.table, plan.selection.mechanism
    table.require_analyst(analyst)
    with closing(table.view(progress)) as view:
        exact = _counts(plan, view)
        if progress is not None:
            progress("choosing a small database", 0.0)

        def pack(counts: Ints) -> bytes:
            law = {"is": "exponential", "rate": str(mechanism.rate)}
            parts = (Part({"is": KIND, "by": list(plan.universe.names)}, law, counts),)
            return Envelope(KIND, envelope.version(), _facts(plan), parts).to_bytes()

        disclosed = table.disclose(request_of(plan, analyst), view, mechanism, exact, pack=pack)
    counts = _read(disclosed.stored, plan)
    return table.stamped(SmallDatabase(plan, counts, disclosed.receipt.name, disclosed.replayed))


def _counts(plan: SmallPlan, view: View) -> Bounded[Ints]:
    """How many rows satisfy each of the different queries, with the bound of this room's page."""
    tally = plan.universe.tally
    (part,) = tally.parts

    def counts(exacts: Exacts) -> Ints:
        histogram = exacts.parts[part]
        if not isinstance(histogram, np.ndarray):
            raise TypeError
        return plan.selection.counts(histogram)

    return view.tally(tally).then(counts, sensitivity_of(plan), proof=PROOF)


def sensitivity_of(plan: SmallPlan) -> Sensitivity:
    """How far one unit of the table's own schema moves the counts; what the gate compares the mechanism with."""
    reach = plan.universe.tally.reach
    return cells(plan.selection.candidates.truths.shape[0], reach.rows, reach.relation)


def request_of(plan: SmallPlan, analyst: str | None) -> Request:
    """The request to the table; its facts name all that an equal small database must share."""
    words = [*plan.words, f"Cost: epsilon {plan.cost['epsilon']}."]
    return Request(_facts(plan), plan.terms, analyst, memo={"text": plan.title, "words": words})


def _facts(plan: SmallPlan) -> dict[str, Any]:
    return {
        KIND: 1,
        "queries": sorted({canonical(condition) for condition in plan.conditions}),
        "by": [canonical(axis.key.item) for axis in plan.universe.tally.cells.keys],
        "size": plan.size,
        "rows": plan.public_rows,
    }


def _read(stored: bytes, plan: SmallPlan) -> Ints:
    parts = envelope.from_bytes(stored, KIND).parts
    if len(parts) == 1 and parts[0].values.shape == (plan.universe.cells,):
        return parts[0].values
    why = "It has other cells than this plan."
    raise IntegrityError("What is stored under this key is another small database.", why, "Verify the ledger.")
