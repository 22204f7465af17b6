"""Trainer: a net trained by noisy gradients, charged before the first step.

What invented rows show of a net and a loss that cannot be trained is refused before the charge.
After it, whatever goes wrong has one fixed reply.  No loss, score or gradient of a row is shown or stored.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

import torch
from torch import nn

from discreet import amounts
from discreet.bounded import Bounded
from discreet.deep.accounting.stream import StreamPlan
from discreet.deep.audit.one_run import OneRun, audit_of
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.rule import rule_of
from discreet.deep.modules.check import apart_from_training, require_clippable
from discreet.deep.modules.unsuited import require_suited
from discreet.deep.saved import card, file
from discreet.deep.training.course import Course, require_plain, tensors_digest
from discreet.deep.training.data import Rows, rows_of
from discreet.deep.training.draws import AnyPlan, require_plan
from discreet.deep.training.noise import require_form
from discreet.deep.training.optimizer import factors_of, require_decay, require_optimizer, trained_parameters
from discreet.deep.training.payer import PERSON, paying
from discreet.deep.training.progress import Telling
from discreet.deep.training.promise import privacy_of, public_facts
from discreet.deep.training.score import accuracy, require_own_scores, require_scored
from discreet.deep.training.training import BLOCKS, Stops, Trained, train
from discreet.deep.training.undo import Undo, modes_of, put_modes
from discreet.engine.protocol import Progress, View
from discreet.errors import BadValue, EngineFailed, bad, fixed_by
from discreet.learn.privacy import GIVEN, Privacy
from discreet.run import Run
from discreet.schema.unit import ROW

_BROKEN = (
    "Train on invented or public rows to find what breaks: one row of another shape, or with a class or an id out of "
    "range, is enough. On a dataset, and under one checkpoint, an equal training is tried once more under its charge; "
    "any other is charged anew."
)


class Trainer:
    """A module, its loss and its optimizer, and the public plan that they are trained by.

    module       trained in place; `fit` returns it, with averaged weights, in the mode of evaluation
    loss         (outputs, targets) → one number for each example
    optimizer    one of torch that steps on gradients alone, or dp.deep.Adam, over exactly the trainable parameters
    plan         dp.deep.plan(…): samples, steps, noise and price
    clip         the length that a person's gradient is shortened to, or dp.deep.Automatic(…)
    at_once      how many rows are differentiated at a time, about; None takes 128 where a layer sees several positions
                 of a row (pictures, sequences, codes of a table) and in the first step of a block, else 1,024; it moves
                 memory, time and last digits
    average      decay of the average of the weights that is returned; None returns those of the last step
    schedule     function of progress, from 0 to almost 1 → factor on the learning rate
    noise        "exact", or "float": quicker, with a promise in real arithmetic alone
    max_rows     how many rows of a person a step takes at most, drawn afresh in each
    ledger       the dataset or ledger that the fit is charged to
    checkpoint   a file: a fit that was interrupted is taken up there, with the ε of an uninterrupted one
    score        (outputs, targets) → a number in [0, 1] for each row, where the plan has noisy scores
    patience     end after so many scores without a better one; what was charged stays charged
    progress     function of a text and the share that is done, called at most once a second; in it the module has
                 the weights from before the fit; one that raises an exception is not called again

    A finished checkpoint gives its net again, whatever rows are handed over.
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Any,
        optimizer: Any,
        *,
        plan: AnyPlan,
        clip: Any = 0.1,
        at_once: int | None = None,
        average: float | None = 0.99,
        schedule: Any = None,
        noise: str = "exact",
        max_rows: int = 1,
        ledger: Any = None,
        checkpoint: Any = None,
        score: Any = accuracy,
        patience: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.module, self.loss, self.optimizer, self.plan, self.clip = module, loss, optimizer, plan, clip
        self.at_once, self.average, self.schedule, self.noise, self.max_rows = (
            at_once,
            average,
            schedule,
            noise,
            max_rows,
        )
        self.ledger, self.checkpoint, self.progress = ledger, checkpoint, progress
        self.score, self.patience = score, patience
        self.history_: tuple[float, ...] = ()
        self.renew()
        self.course()

    def fit(self, data: Any, units: Any = None) -> nn.Module:
        """Train on the rows of (X, y) or of a Dataset; `units` has the person of each row, without it each row is one.

        It is charged, but for a fit that goes on or is replayed under a checkpoint.  A trainer fits once.
        """
        self.require_fresh()
        course, rows = self.course(), rows_of(data, units)
        if units is None and self.max_rows != 1:
            raise bad("units", "must be given where a person has several rows", None, "Give the person of each row.")
        self.require_fit(course, rows)
        self.rows_like_ = rows.shapes()
        can_resume = self.checkpoint is not None
        with paying(course, units is not None, self.ledger, self.checkpoint) as purse:
            run = Run(purse, _no_view)
            if self._is_spent and run.result() is None:
                what, why = "The checkpoint holds no finished training.", "This trainer has trained its net already."
                raise BadValue(what, why, "Make net and trainer anew.")
            unit = ROW if units is None else PERSON
            return self.fit_run(run, rows.for_gate(self.max_rows), unit=unit, blocks=BLOCKS if can_resume else 1)

    def fit_run(
        self, run: Run, rows: Bounded[Rows], *, unit: str, blocks: int = BLOCKS, covers: str = GIVEN
    ) -> nn.Module:
        """Train inside a run whose purse holds the plan's cost: for rooms that have the rows of a dataset."""
        course = self.course()
        undo, stops = Undo(course), Stops(self.score, self.patience)
        report = (lambda step: None) if self.progress is None else Telling(self.plan, _apart(self.progress, undo))
        try:
            with fixed_by(_BROKEN, EngineFailed):
                outcome: Trained = train(run, course, rows, stops, blocks=blocks, report=report)
        except BaseException:  # whatever was drawn and not stored is not shown
            undo()
            raise
        self.history_, self.steps_ = outcome.history, outcome.steps
        self.privacy_: Privacy = privacy_of(
            self.plan, public_facts(course), noise=course.form, max_rows=course.max_rows, unit=unit,
            receipt=run.receipt, covers=covers,
        )  # fmt: skip
        self._trained_digest = self._digest()
        self._trained_under = None if self.checkpoint is None else os.path.abspath(self.checkpoint)
        self.spend()
        return self.module.eval()

    def require_fresh(self) -> None:
        """Refuses a trainer that has trained its net; under the same checkpoint that training may be replayed."""
        if self._is_spent and not self._is_under_checkpoint():
            what, why = "This trainer has trained its net already.", "Another fit would be charged anew."
            fix = (
                "Make net and trainer anew: on a dataset, or with a checkpoint, an equal training is replayed for "
                "nothing. To go on, make a trainer of the net: what both cost adds up."
            )
            raise BadValue(what, why, fix)

    def _is_under_checkpoint(self) -> bool:
        """Whether the checkpoint is that of the net's own training, and is still there."""
        place = None if self.checkpoint is None else os.path.abspath(self.checkpoint)
        return place is not None and place == self._trained_under and os.path.lexists(place)

    def renew(self) -> None:
        """Note that the net was not trained yet."""
        self._is_spent, self._trained_under = False, None

    def spend(self) -> None:
        """Note that the net was trained: its card states one price, so it is not trained again."""
        self._is_spent = True

    def require_fit(self, course: Course, rows: Rows) -> None:
        """Refuses, on invented rows, a module or a loss that cannot be trained person by person."""
        modes, invented = modes_of(self.module), rows.invented_rows(2)
        self.module.train()  # as it will be differentiated
        with contextlib.ExitStack() as stack:
            stack.callback(put_modes, modes)
            stack.enter_context(apart_from_training())
            require_suited(self.module)
            if invented is None:  # an empty Dataset shows no shapes, and nothing will be differentiated
                return
            inputs, targets = invented
            require_clippable(self.module, self.loss, inputs, targets)
            with Clipper(self.module, self.loss, clip=course.rule, precision=course.precision) as clipper:
                clipper.total(inputs, targets, torch.zeros(2, dtype=torch.int64) if self.max_rows > 1 else None)
            if course.scores:
                self.module.eval()
                require_clippable(self.module, self.loss, inputs, targets)
                require_own_scores(course, self.score, invented)

    def card(self, format: str = "markdown") -> Any:
        """What the net is, what it promises and what it is not for: Markdown, or with "json" an object."""
        return card.card(self.module, self._own_privacy(), format)

    def save(self, path: Any, *, replace: bool = False) -> Path:
        """Write the trained net to a file that runs nothing when it is read: dp.deep.load gives it back."""
        return file.save(self.module, self._own_privacy(), path, replace=replace)

    def audit(
        self, canaries: int = 1000, *, example: Any = None, score: str = "gradients", confidence: Any = "0.95"
    ) -> OneRun:
        """A lower bound on ε, shown beside the claim, from a training of a copy on invented persons: charged nowhere.

        It takes about as long as a fit.  `example` has a few public rows (inputs, targets), of which shapes and types
        are used; after a fit it may be left out.
        """
        return audit_of(self, canaries, example=example, score=score, confidence=confidence)

    def _own_privacy(self) -> Privacy:
        if not hasattr(self, "privacy_"):
            raise bad("trainer", "must be fitted first", type(self).__name__, "Call fit.")
        if self._digest() != self._trained_digest:
            fix = "Save the net before you change it, or put its weights back: the promise is about those of the fit."
            raise bad("module", "must hold the weights that the fit gave it", "a module with others", fix)
        return self.privacy_

    def _digest(self) -> str:
        """Of all that a file of the net holds."""
        return tensors_digest(file.stored_tensors(self.module))

    def course(self) -> Course:
        """The course that the present options describe; refused where one of them is none."""
        if not isinstance(self.module, nn.Module):
            raise bad("module", "must be a module of torch", type(self.module).__name__, "Give a torch.nn.Module.")
        if not callable(self.loss):
            fix = 'Give, for example, torch.nn.CrossEntropyLoss(reduction="none").'
            raise bad("loss", "must be a function of outputs and targets", type(self.loss).__name__, fix)
        plan = require_plan(self.plan)
        require_plain(trained_parameters(self.module) or [torch.zeros(1)])
        require_optimizer(self.optimizer, self.module)
        max_rows = amounts.count(self.max_rows, "max_rows", 1)
        at_once = None if self.at_once is None else amounts.count(self.at_once, "at_once", 1)
        if at_once is not None and at_once < max_rows:
            fix = "Give a larger at_once: a person's rows are differentiated together."
            raise bad("at_once", f"must be at least max_rows, {max_rows}", at_once, fix)
        if self.patience is not None:
            amounts.count(self.patience, "patience", 1)
            require_scored(plan)
        if isinstance(plan, StreamPlan) and self.checkpoint is not None:
            fix = "Leave out the checkpoint, or make a plan with samples."
            raise bad("checkpoint", "must be None for a stream plan, which is one block", str(self.checkpoint), fix)
        factors, rule = factors_of(self.schedule, plan.steps), rule_of(self.clip)
        course = Course(
            self.module, self.loss, self.optimizer, plan, rule, max_rows, at_once, require_decay(self.average),
            factors, require_form(self.noise), self.score, self.patience,
        )  # fmt: skip
        _ = course.noise  # refused where the plan has no such noise
        return course


def _apart(progress: Progress, undo: Undo) -> Progress:
    """The caller's function, which sees nothing of a block that is not stored."""

    def tell(text: str, share: float) -> None:
        with undo.as_before():
            progress(text, share)

    return tell


def _no_view() -> View:
    raise AssertionError("the rows of a caller are no view")
