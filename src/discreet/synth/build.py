"""A synthesis through the gate: one purse, three steps that are stored, and rows that follow from them.

A build that is killed goes on where it stood and pays nothing twice; an equal build is replayed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet import envelope
from discreet.engine.protocol import Progress
from discreet.envelope import Envelope, Part
from discreet.errors import IntegrityError, NotAnswerable, bad
from discreet.learn.fit import price_json
from discreet.learn.price import price_of
from discreet.learn.privacy import REHEARSED
from discreet.ndarrays import Floats, Ints
from discreet.privacy.cost import to_json
from discreet.query.bound import path
from discreet.request import Request
from discreet.run import Run
from discreet.synth.drawn import Codes, draw_rows, seed_of
from discreet.synth.law import law_of
from discreet.synth.measured import expected
from discreet.synth.measured.expected import Expected
from discreet.synth.measured.noisy import deviation_of, groups_of
from discreet.synth.measured.pairs import HOPELESS, Room, is_any_worthwhile, worthwhile_pairs
from discreet.synth.measuring import Measuring
from discreet.synth.model.junction import Pair
from discreet.synth.model.synthesis import Singles, Synthesis, groups_for, required_pairs, singles_of, synthesis_of
from discreet.synth.plan import MAX_CELLS, SCORES, SINGLES, SynthPlan
from discreet.table import Table
from discreet.terms import Terms

KIND = "synthesis"


@dataclass(frozen=True, eq=False)
class Build:
    """What a build released, and whether the ledger had it already."""

    plan: SynthPlan
    parts: tuple[Part, ...]
    receipt: str
    is_replayed: bool

    @cached_property
    def synthesis(self) -> Synthesis:
        """The distribution that the released numbers make."""
        return synthesis_of(self.plan, self.parts)

    @cached_property
    def codes(self) -> Codes:
        """The synthetic rows."""
        return draw_rows(self.synthesis, seed_of(self.parts))


def request_of(plan: SynthPlan, analyst: str | None = None) -> Request:
    """The request of a synthesis: what is synthesised, how, and at which price."""
    facts = {
        "synth": 1,
        "subject": plan.subject.to_json(),
        "method": plan.method,
        "max_cells": plan.max_cells if plan.with_pairs else MAX_CELLS,  # single columns are counted alike in any case
        "rho": True if plan.price.is_rho else None,
    }
    text = f"synthetic table of {len(plan.subject.columns)} columns"
    present = {name: fact for name, fact in facts.items() if fact is not None}
    branches = path(plan.subject.where, plan.subject.schema)
    return Request(present, plan.price.terms, analyst, branches, {"text": text, "words": list(plan.words())})


def build(table: Table, plan: SynthPlan, *, analyst: str | None = None, progress: Progress | None = None) -> Build:
    """Measure through the gate, or take up or replay what was measured."""
    require_kernels(table)
    run = table.run(request_of(plan, analyst), plan.cost, progress=progress)
    try:
        result = run.result()
        is_replayed = result is not None
        plan = begun_plan(table, run, plan)
        if result is None:
            parts = measure(Measuring(run, plan, progress))
            stored = Envelope(KIND, envelope.version(), facts_of(plan), parts).to_bytes()
            result = run.done(stored).stored
    finally:
        run.close()
    return Build(plan, envelope.from_bytes(result, KIND).parts, run.receipt, is_replayed)


def begun_plan(table: Table, run: Run, plan: SynthPlan) -> SynthPlan:
    """The plan at the price that the run was charged: where the table's default δ changed since, it is another."""
    entry = table.ledger.entry_of(run.receipt.removeprefix(REHEARSED))
    if entry is None:
        raise IntegrityError("The ledger lacks the charge of this table.", "A receipt names it.", "Verify the ledger.")
    if entry["cost"] == to_json(plan.cost):
        return plan
    begun = replace(plan, price=price_of(Terms(Fraction(entry["epsilon"]), Fraction(entry["delta"]))))
    if entry["cost"] != to_json(begun.cost):
        fix = "Give a price that differs more: it is another table, with a charge of its own."
        raise bad("price", "must be the one that this table was begun with", to_json(plan.cost), fix)
    return begun


def facts_of(plan: SynthPlan) -> dict[str, Any]:
    """The public facts that are stored beside the released numbers."""
    return {"subject": plan.subject.to_json(), "method": plan.method, "price": price_json(plan.price)}


def measure(measuring: Measuring) -> tuple[Part, ...]:
    """All steps, one after the other."""
    plan = measuring.plan
    first = measuring.singles()
    if not plan.with_pairs:
        return (first,)
    singles = singles_of(plan, [first])
    groups = groups_for(plan, singles)
    left, pairs, scores = 1 - SINGLES, tuple[Pair, ...](), tuple[Part, ...]()
    if plan.score_deviation < HOPELESS * singles.total:
        left -= SCORES
        scores = (measuring.scores(groups, expected_of(plan, singles, groups), singles.total),)
        groups, pairs = chosen_pairs(plan, scores[0], left)
    return (first, *scores, *measuring.tables(groups, pairs, left))


def expected_of(plan: SynthPlan, singles: Singles, groups: Sequence[Ints]) -> Expected:
    """What is expected of pairs before any of them was measured."""
    return expected.expected_of(plan.subject, singles.shares, singles.coarse_shares(groups), groups)


def chosen_pairs(plan: SynthPlan, scores: Part, share: Fraction) -> tuple[list[Any], tuple[Pair, ...]]:
    """The groups that the scores were counted by, and the pairs that are worth their noise at that share."""
    return groups_of(scores), worthwhile_pairs(*_score_facts(plan, scores, share))


def has_worthwhile_pair(plan: SynthPlan, scores: Part, share: Fraction) -> bool:
    """Whether a pair by itself is worth its noise at that share, if any number of cells were allowed."""
    return is_any_worthwhile(*_score_facts(plan, scores, share))


def _score_facts(plan: SynthPlan, scores: Part, share: Fraction) -> tuple[Floats, float, list[Pair], list[int], Room]:
    """Scores in units, their deviation, their pairs, the sizes of features by groups, and the room for pairs."""
    unit, law = scores.tally["steps"], law_of(plan.price)
    fine = law.parts(np.array(plan.subject.sizes, dtype=np.float64))
    required = required_pairs(plan)
    room = Room(law, plan.precision(share), float(fine.sum()), plan.max_cells, required, plan.subject.first)
    pairs = [(int(left), int(right)) for left, right in scores.tally["pairs"]]
    sizes = [int(group.max()) + 1 for group in groups_of(scores)]
    return scores.values / unit, deviation_of(scores) / unit, pairs, sizes, room


def require_kernels(table: Table) -> None:
    """Refuses, before the charge, a table in a server, where rows are only counted."""
    if not table.engine.has_kernels:
        why = "Hundreds of tables are counted in one pass, and a PostgreSQL server is asked for single counts only."
        fix = "Export the table to a file and open that."
        raise NotAnswerable("A table in PostgreSQL is not synthesised.", why, fix)
