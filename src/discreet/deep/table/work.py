"""A whole training from a few numbers: net, plan and trainer by the recipe, and a count of persons if need be.

    rows public     one charge, the training
    otherwise       a noisy count of persons for a fiftieth of ε, then the training for the rest

Steps and noise follow from the share of persons that a step draws, so price and noise are known before the count; the
count tells the expected batch, by which noisy sums are divided.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from torch import nn

from discreet import amounts
from discreet.answer.answer import Answer
from discreet.ask.asking import Asking
from discreet.ask.keys import request_of
from discreet.deep.accounting.plan import Plan, plan
from discreet.deep.table.cells import BINS, cells_of
from discreet.deep.table.net import HIDDEN, TableNet
from discreet.deep.table.recipe import EPOCHS, SAMPLE, noise_length, table_trainer
from discreet.deep.table.train import Training, training
from discreet.engine.protocol import Progress
from discreet.errors import BadValue, BudgetExceeded, bad
from discreet.fix import UNKNOWN, Fix
from discreet.learn.heldout.trial import unit_plural
from discreet.learn.privacy import Privacy
from discreet.learn.task import LearnQuote
from discreet.privacy.cost import FREE, Cost, Pure, Together
from discreet.query.bound import path
from discreet.query.explain import unit
from discreet.query.nodes import CountRows, CountUnits, Expr, Output, Question
from discreet.table import Table
from discreet.terms import Terms

COUNT_SHARE = Fraction(1, 50)
_STAND_IN = 10_000  # persons, for a rough idea of the noise where their number is not known


@dataclass(frozen=True, eq=False)
class Work:
    """A net, how it is to be trained, and what the whole may take; `rows` is None where persons are counted first."""

    table: Table
    net: TableNet
    terms: Terms
    rows: int | None
    sampling: dict[str, Any]  # epochs, and the batch or the rate
    recipe: dict[str, Any]  # learning_rate, clip and max_rows
    where: Expr | None

    @property
    def count_epsilon(self) -> Fraction:
        """ε of the count of persons; 0 where their number is public."""
        return Fraction(0) if self.rows is not None else self.terms.epsilon * COUNT_SHARE

    @cached_property
    def draft(self) -> Plan:
        """The plan with a number of persons that is public or, where it is not, assumed."""
        return self.plan(self.rows or self.table.schema.population or _STAND_IN)

    def plan(self, rows: int | Answer) -> Plan:
        """The plan for that many persons."""
        epsilon = self.terms.epsilon - self.count_epsilon
        return plan(rows=rows, epsilon=epsilon, delta=self.terms.delta, **self.sampling)

    def training(self, chosen: Plan) -> Training:
        """The training by that plan."""
        trainer = table_trainer(self.net, chosen, **self.recipe)
        return training(self.table, trainer, target=self.net.cells.subject.target.name, where=self.where)

    def quote(self, analyst: str | None = None) -> LearnQuote:
        """Price, steps, noise and what would remain; free."""
        schema, draft, counting = self.table.schema, self.draft, self.count_epsilon
        self.training(draft)  # refuses what could not be carried out
        terms = Terms(draft.epsilon + counting, draft.delta, typed_delta=draft.delta)
        cost: Cost = Together((draft.cost, Pure(counting) if counting else FREE))
        branches = path(self.where, schema)
        quote = LearnQuote(
            f"a net for {self.net.cells.subject.target.name}",
            terms.cost_json(schema.relation, unit(schema)),
            self.table.remaining(analyst),
            self.table.remaining_after(cost, terms, analyst=analyst, path=branches),
            self.words,
            is_part=bool(branches),
        )
        return self.table.stamped(quote)

    def run(self, analyst: str | None = None, progress: Progress | None = None) -> "Done":
        """Count if need be, train, or replay both for nothing."""
        chosen = self.draft if self.rows is not None else self.plan(self._released_count(analyst, progress))
        work = self.training(chosen)
        outcome = work.run(analyst, progress)
        return Done(outcome.net, work.trainer.privacy_, outcome.is_replayed)

    def to_json(self) -> dict[str, Any]:
        """What is public of the training, for programs; the number of persons only if it was given."""
        draft, trainer = self.draft, table_trainer(self.net, self.draft, **self.recipe)
        return {
            "rows": self.rows,
            "steps": draft.steps,
            "rate": str(draft.rate),
            "sigma": str(draft.sigma),
            "count_epsilon": amounts.text_of(self.count_epsilon),
            "weights": sum(parameter.numel() for parameter in self.net.parameters()),
            "hidden": list(self.net.hidden),
            "bins": self.net.cells.bins,
            "clip": str(trainer.clip),
        }

    @property
    def words(self) -> tuple[str, ...]:
        """The net, its steps and its noise, in sentences."""
        draft, cells, noun = self.draft, self.net.cells, unit_plural(self.table.schema)
        weights = sum(parameter.numel() for parameter in self.net.parameters())
        layers = f"tanh layers of {', '.join(map(str, self.net.hidden))}" if self.net.hidden else "no hidden layer"
        batch = f"{float(draft.divisor):,.0f} expected {noun}"
        length = f"{noise_length(self.net, draft):.2g}"
        known = f"If there were {draft.rows:,} {noun}, the" if self.rows is None else "The"
        verb = "would be" if self.rows is None else "is"
        return (
            f"The net has {len(cells.sizes)} features as {sum(cells.sizes)} codes, {layers}, {weights:,} weights.",
            f"{draft.steps:,} steps; each draws everyone with probability {amounts.text_up(draft.rate)} independently.",
            f"Noise on a sum of gradients has σ = {amounts.text_up(draft.sigma)} clips; the sum is divided by "
            + (f"the {batch}." if self.rows is not None else "the expected batch."),
            f"{known} noise on a step's mean gradient {verb} {length} times as long as that gradient can be.",
            *self._counting_words(noun),
        )

    def _counting_words(self, noun: str) -> Sequence[str]:
        if self.rows is not None:
            return ()
        price = amounts.text_of(self.count_epsilon)
        return (f"The {noun} are counted first, with noise, for ε = {price} of it; --rows tells a public number.",)

    # --- the noisy number of persons ---------------------------------------------------------------------------------

    def _released_count(self, analyst: str | None, progress: Progress | None) -> Answer:
        """The released number of persons; refused, before it is charged, where the training would not fit."""
        schema = self.table.schema
        count = CountRows() if schema.unit is None else CountUnits()
        question = Question(schema.name, (Output("persons", count),), where=self.where)
        asking = Asking(self.table, question)
        if not self.quote(analyst).fits and not self._is_counted(asking, analyst, progress):
            raise self._too_dear(analyst)
        return asking.ask(epsilon=self.count_epsilon, delta=0, analyst=analyst, progress=progress)

    def _is_counted(self, asking: Asking, analyst: str | None, progress: Progress | None) -> bool:
        ledger = self.table.ledger_if_any()
        if ledger is None:
            return False
        request = request_of(asking.plan(epsilon=self.count_epsilon, delta=0), analyst)
        with closing(self.table.view(progress)) as view:
            return ledger.stored(self.table.charge_request(request, view.snapshot).key) is not None

    def _too_dear(self, analyst: str | None) -> BudgetExceeded:
        remaining, asked = Fraction(self.table.remaining(analyst)["epsilon"]), self.terms.epsilon
        what = f"A training for ε = {amounts.text_of(asked)} does not fit the budget."
        why = f"Of ε, {amounts.text_of(remaining)} can be spent at once."
        return BudgetExceeded(what, why, "Spend less, or let the curator raise the budget.", remaining, asked)


@dataclass(frozen=True, eq=False)
class Done:
    """A trained net, its promise, and whether the ledger had it already."""

    net: nn.Module
    privacy: Privacy
    is_replayed: bool


def work_of(
    table: Table,
    target: str,
    features: Sequence[str] | None = None,
    *,
    epsilon: Any,
    delta: Any = None,
    epochs: Any = None,
    batch: int | None = None,
    rows: int | None = None,
    hidden: str | None = None,
    bins: int | None = None,
    learning_rate: Any = None,
    clip: Any = None,
    max_rows: int = 1,
    where: Expr | None = None,
) -> Work:
    """The training of a net for `target`; refused where a number has no meaning."""
    if batch is not None and rows is None:
        what, why = "batch needs rows.", "Which share of persons a step draws is the one over the other."
        raise BadValue(what, why, "Give the public number too: --rows 30000; or leave out --batch.")
    cells = cells_of(
        table.schema, target, features, bins=BINS if bins is None else bins, max_rows=max_rows, where=where
    )
    net = TableNet(cells, HIDDEN if hidden is None else _widths(hidden))
    share = {"rate": SAMPLE} if batch is None else {"batch_size": batch}
    sampling = {"epochs": EPOCHS if epochs is None else epochs, **share}
    recipe = {"learning_rate": learning_rate, "clip": clip, "max_rows": max_rows}
    terms = table.terms(epsilon, delta)
    if not terms.delta:
        raise bad("delta", "must be above 0 for a net: its noise is Gaussian", "0", _delta_fix(table))
    return Work(table, net, terms, rows, sampling, recipe, where)


def _delta_fix(table: Table) -> str | Fix:
    """How to get a δ: by default a training takes a hundredth of the budget's."""
    if table.budget.delta:
        return "Leave it out: a hundredth of the budget's is taken."
    return Fix("Set a budget with a delta:", "budget set", {"delta": "1e-6", "why": UNKNOWN})


def _widths(hidden: str) -> list[int]:
    parts = [part.strip() for part in hidden.split(",")] if hidden.strip() else []
    return [amounts.whole(part, "hidden", 1, 2**16, such_as=32) for part in parts]
