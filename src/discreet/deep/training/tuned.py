"""The best of a random number of trainings, by a noisy score, as one charge.

Each training takes a candidate by a fair draw, starts from its weights, and ends with one noisy score, which its plan
pays for.  Only the net with the best score is shown, with its candidate and its score.  How many trainings there were
is not shown; whoever could time them could guess it.  Price: accounting/selection.py (Papernot & Steinke 2022).
Proof page: docs/proofs/deep/accounting/selection.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import nn

from discreet import amounts
from discreet.bounded import RowLimit
from discreet.deep.accounting.run_count import LOGARITHMIC
from discreet.deep.accounting.selection import Selection, selection
from discreet.deep.training.block import Block, put, weights_of
from discreet.deep.training.course import Course
from discreet.deep.training.data import Rows, rows_of
from discreet.deep.training.optimizer import Average
from discreet.deep.training.payer import PERSON, require_ledger, schema_of
from discreet.deep.training.promise import privacy_of, public_facts
from discreet.deep.training.score import Metric, Score
from discreet.deep.training.state import bytes_of, contents_of, from_bytes
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training import put_weights
from discreet.deep.training.undo import Undo
from discreet.engine.protocol import View
from discreet.errors import bad
from discreet.learn.fit import purse_of_arrays
from discreet.learn.privacy import Privacy
from discreet.ledger.unbooked import Unbooked
from discreet.noise.source import Source
from discreet.noise.subset import uniform_subsets
from discreet.privacy.cost import Cost
from discreet.run import Run
from discreet.schema.unit import ROW
from discreet.terms import Terms


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a tuning shows: the best net, the number of its candidate, its noisy score, and the promise of it all."""

    module: nn.Module
    candidate: int
    score: float
    privacy_: Privacy
    selection: Selection


@dataclass(frozen=True, eq=False)
class Search:
    """All trainings of a tuning as one mechanism: from rows to the weights with the best score."""

    courses: tuple[Course, ...]
    metric: Metric
    selection: Selection

    @property
    def sensitivity(self) -> RowLimit:
        """As that of each training."""
        return RowLimit(self.courses[0].max_rows)

    @property
    def cost(self) -> Cost:
        """What the best of so many trainings costs."""
        return self.selection.cost

    def __call__(self, exact: Rows, source: Source) -> bytes:
        """The best weights; of two with equal scores the earlier: a fair draw, as trainings are alike."""
        best, best_score = b"", -float("inf")
        undo = [Undo(course) for course in self.courses]
        for _ in range(self.selection.count.draw(source)):
            candidate = int(np.argmax(uniform_subsets(np.array([len(self.courses)]), 1, source)))
            undo[candidate]()  # each training begins where its candidate stood
            course = self.courses[candidate]
            state = from_bytes(Block(course, None, 0, course.plan.steps)(exact, source))
            put(state, course, Average(course.parameters if course.decay else (), course.decay))
            weights = tuple(weights_of(state, course.decay))
            put_weights(course, weights)
            score = Score(course, self.metric)(exact, source)
            if not best or score > best_score:
                best, best_score = bytes_of({"candidate": candidate, "score": score}, weights), score
        for course_undo in undo:
            course_undo()
        return best


def tuned(
    candidates: Sequence[Trainer],
    data: Any,
    units: Any = None,
    *,
    runs: Any = 3,
    law: str = LOGARITHMIC,
    delta: Any = None,
    ledger: Any = None,
) -> Tuned:
    """Train a random number of candidates, `runs` on average, and give the net with the best noisy score.

    Candidates are trainers with one plan that has one score: dp.deep.plan(…, scores=1).  Everything is charged before
    the first training.  `delta` is that of the whole; by default it is the plan's.
    """
    trainers = _require_alike(candidates)
    for trainer in trainers:
        trainer.require_fresh()
    courses, rows = tuple(trainer.course() for trainer in trainers), rows_of(data, units)
    if units is None and courses[0].max_rows != 1:
        raise bad("units", "must be given where a person has several rows", None, "Give the person of each row.")
    for trainer, course in zip(trainers, courses, strict=True):
        trainer.require_fit(course, rows)
    plan = courses[0].plan
    best_of = selection(plan, delta=plan.delta if delta is None else delta, runs=runs, law=law)
    search = Search(courses, trainers[0].score, best_of)
    payer = _payer(ledger, best_of, courses, units is not None)
    run, undo = Run(payer, _no_view), [Undo(course) for course in courses]
    try:
        stored = run.done(run.step("best", search, rows.for_gate(courses[0].max_rows), pack=bytes)).stored
    except BaseException:  # nothing of a training that was not chosen is shown
        for course_undo in undo:
            course_undo()
        raise
    for trainer in trainers:
        trainer.spend()
    facts, weights = contents_of(stored)
    course = courses[facts["candidate"]]
    put_weights(course, weights)
    privacy = _privacy_of(course, best_of, ROW if units is None else PERSON, run.receipt)
    return Tuned(course.module.eval(), facts["candidate"], facts["score"], privacy, best_of)


def _payer(ledger: Any, best_of: Selection, courses: tuple[Course, ...], has_units: bool) -> Any:
    if ledger is None:
        return Unbooked()
    memo = {"text": f"the best of {amounts.text_up(best_of.count.mean, 3)} trainings on average"}
    schema = schema_of(courses[0].max_rows, has_units)
    return purse_of_arrays(require_ledger(ledger), schema, memo, Terms(best_of.epsilon, best_of.delta), best_of.cost)


def _privacy_of(course: Course, best_of: Selection, unit: str, receipt: str) -> Privacy:
    """The promise of the whole tuning, in place of that of one training."""
    plan_privacy = privacy_of(
        course.plan, public_facts(course), noise=course.form, max_rows=course.max_rows, unit=unit, receipt=receipt
    )
    chosen = {"candidate": "chosen by a noisy score, which the promise covers"}
    return replace(
        plan_privacy,
        epsilon=best_of.epsilon,
        delta=best_of.delta,
        cost=best_of.cost,
        mechanisms=(*plan_privacy.mechanisms, *best_of.words().splitlines()),
        public={**plan_privacy.public, **chosen},
    )


def _require_alike(candidates: Any) -> list[Trainer]:
    """The candidates, refused unless any of them could take another's place in the price."""
    fix = "Give trainers with one plan, each with a module of its own."
    if not isinstance(candidates, (list, tuple)) or not all(isinstance(each, Trainer) for each in candidates):
        raise bad("candidates", "must be a list of trainers", type(candidates).__name__, fix)
    if not candidates:
        raise bad("candidates", "must be at least one trainer", 0, fix)
    first = candidates[0]
    if getattr(first.plan, "scores", 0) != 1:
        raise bad("plan", "must have one score", getattr(first.plan, "scores", 0), "Write dp.deep.plan(…, scores=1).")
    if any(each.plan != first.plan or each.max_rows != first.max_rows for each in candidates):
        raise bad("candidates", "must have one plan and one max_rows", len(candidates), fix)
    if any(each.noise != first.noise for each in candidates):
        raise bad("candidates", "must have one form of noise", len(candidates), "Give all of them the same noise=.")
    if any(each.score is not first.score for each in candidates):
        raise bad("candidates", "must have one score function", len(candidates), fix)
    if any(each.ledger is not None or each.checkpoint is not None for each in candidates):
        given = "a trainer with a ledger or a checkpoint"
        raise bad("candidates", "must be paid for together", given, "Give ledger= to dp.deep.tuned alone.")
    parameters = [id(parameter) for each in candidates for parameter in each.module.parameters()]
    if len(set(parameters)) < len(parameters):
        raise bad("candidates", "must have modules of their own", "modules that share weights", fix)
    return list(candidates)


def _no_view() -> View:
    raise AssertionError("the rows of a caller are no view")
