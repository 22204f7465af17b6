"""Training on a dataset: charged to its ledger as a run, taken up where it was killed, replayed for nothing when done.

The ledger knows a training by its request (`identity`): the same call again, in another process too, costs nothing and
gives the same weights to the bit.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from discreet.deep.accounting.plan import Plan
from discreet.deep.clipping.order import outputs_of
from discreet.deep.clipping.secret import own_draws
from discreet.deep.modules.trace import Net, sentence_of
from discreet.deep.table.cells import BINS, Cells, cells_of
from discreet.deep.table.identity import request_of
from discreet.deep.table.net import TableNet
from discreet.deep.table.rows import bounded_rows, no_rows
from discreet.deep.table.saved import table_json
from discreet.deep.training.course import Course
from discreet.deep.training.trainer import Trainer
from discreet.engine.passes import rows_pass
from discreet.engine.protocol import Progress
from discreet.errors import BadValue, NotAnswerable, bad
from discreet.learn.privacy import WHOLE
from discreet.learn.task import LearnQuote
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.query.nodes import Expr
from discreet.relation import Relation
from discreet.schema import Schema
from discreet.schema.unit import ROW
from discreet.table import Table
from discreet.terms import Terms


@dataclass(frozen=True, eq=False)
class Training:
    """A trainer and what it is to be trained on; nothing was charged or read yet."""

    table: Table
    trainer: Trainer
    course: Course
    cells: Cells

    def quote(self, analyst: str | None = None) -> LearnQuote:
        """Price, noise and what would remain; free."""
        plan, schema, where = self.course.plan, self.table.schema, self.cells.subject.where
        terms = Terms(plan.epsilon, plan.delta, typed_delta=plan.delta)
        branches = path(where, schema)
        title = f"{type(self.course.module).__name__} for {self.cells.subject.target.name}"
        quote = LearnQuote(
            title,
            terms.cost_json(schema.relation, unit(schema)),
            self.table.remaining(analyst),
            self.table.remaining_after(plan.cost, terms, analyst=analyst, path=branches),
            tuple(plan.words().splitlines()),
            is_part=bool(branches),
        )
        return self.table.stamped(quote)

    def run(self, analyst: str | None = None, progress: Progress | None = None) -> "Outcome":
        """Charge and train, or go on, or replay; the trainer's module holds the weights."""
        trainer, subject = self.trainer, self.cells.subject
        trainer.require_fresh()
        run = self.table.run(request_of(self.course, self.cells, analyst), self.course.plan.cost, progress=progress)
        own_progress = trainer.progress
        trainer.progress = progress if own_progress is None else own_progress
        try:
            is_replayed = run.result() is not None
            rows = no_rows(self.cells).for_gate(subject.max_rows)
            rows = rows if is_replayed else bounded_rows(run.view, self.cells)
            key = ROW if subject.schema.unit is None else subject.schema.unit.key
            net = trainer.fit_run(run, rows, unit=key, covers=WHOLE)
        finally:
            trainer.progress = own_progress
            run.close()
        public = {**trainer.privacy_.public, "table": table_json(self.cells, net)}
        trainer.privacy_ = self.table.stamped(replace(trainer.privacy_, public=public))
        if isinstance(net, TableNet):
            net.privacy_, net.cells = trainer.privacy_, self.cells
        return Outcome(net, is_replayed)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A trained net, and whether the ledger had it already."""

    net: nn.Module
    is_replayed: bool


def training(
    table: Table,
    trainer: Any,
    *,
    target: str,
    features: str | Iterable[str] | None = None,
    bins: Any = None,
    where: Expr | None = None,
) -> Training:
    """The training of that trainer's net on the table; refused here where it could not be carried out."""
    _require_fresh(trainer)
    _require_table(table)
    cells = _cells(table.schema, trainer, target, features, bins, where)
    rows_pass(table.schema, cells.subject.columns)
    course = trainer.course()
    trainer.require_fit(course, no_rows(cells))
    _require_all_codes(trainer, cells)
    return Training(table, trainer, course, cells)


def _require_fresh(trainer: Any) -> None:
    if not isinstance(trainer, Trainer):
        fix = "Give dp.deep.Trainer(net, loss, optimizer, plan=plan)."
        raise bad("trainer", "must be a trainer of dp.deep", type(trainer).__name__, fix)
    for name in ("ledger", "checkpoint"):
        if getattr(trainer, name) is not None:
            fix = "Leave it out: the dataset's own ledger is charged, and it takes up a training that was interrupted."
            raise bad(f"trainer.{name}", "must be None for a dataset", type(getattr(trainer, name)).__name__, fix)
    if not isinstance(trainer.plan, Plan):
        fix = "Make it by dp.deep.plan(…)."
        raise bad("trainer.plan", "must be a plan with samples for a dataset", type(trainer.plan).__name__, fix)
    trainer.require_fresh()


def _require_all_codes(trainer: Trainer, cells: Cells) -> None:
    """Refuses a net that does not take the last code of every feature, or a loss that does not take the last class:
    a row with one would end the training after its charge."""
    codes = torch.tensor([[size - 1 for size in cells.sizes]] * 2)
    targets = torch.full((2,), len(cells.classes) - 1) if cells.classes else torch.zeros(2)
    net = Net.copy_of(trainer.module, trainer.loss)
    try:
        with torch.no_grad(), own_draws():
            net.losses(outputs_of(net.module, codes), targets)
    except Exception as error:
        what = "The net or its loss does not take all codes and classes of the table."
        why = f"With the last ones, which are public, it raises {sentence_of(error)}."
        raise BadValue(what, why, f"Make both for {cells!r}, or give a table net: dp.deep.table_net.") from None


def _require_table(table: Table) -> None:
    if table.schema.relation is not Relation.ADD_REMOVE:
        why = "A step's sample has each person by a coin, and its price holds for a person who is there or not."
        fix = 'Declare neighbours = "add-remove" for a table of its own budget, or fit a model of dp.learn.'
        raise NotAnswerable("Nets are not trained under replace-one.", why, fix)
    if not table.engine.has_kernels:
        why = "It takes the rows themselves, and in a PostgreSQL server rows are only counted."
        raise NotAnswerable("A net is not trained on a table in PostgreSQL.", why, "Export the table to a file.")


def _cells(schema: Schema, trainer: Trainer, target: str, features: Any, bins: Any, where: Expr | None) -> Cells:
    """The codes that the net gets: those that it was made for, if it is ours."""
    own = trainer.module.cells if isinstance(trainer.module, TableNet) else None
    names = own.features if own is not None and features is None else features
    size = (own.bins if own is not None else BINS) if bins is None else bins
    cells = cells_of(schema, target, names, bins=size, max_rows=trainer.max_rows, where=where)
    if own is not None and own.to_json() != cells.to_json():
        what = "The net was made for other columns."
        why = f"It has {own!r}, and the training {cells!r}."
        raise BadValue(what, why, "Make it of the same dataset, target, features and bins, or leave out the last two.")
    return cells


def train(
    table: Table,
    trainer: Any,
    *,
    target: str,
    features: str | Iterable[str] | None = None,
    bins: Any = None,
    where: Expr | None = None,
    analyst: str | None = None,
    progress: Progress | None = None,
) -> nn.Module:
    """The trainer's net, trained on the table's rows and charged to its ledger; the same training again is free."""
    chosen = training(table, trainer, target=target, features=features, bins=bins, where=where)
    return chosen.run(analyst, progress).net
