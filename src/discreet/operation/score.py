"""Operations on a fitted model and a dataset: quote a score or rates of groups, and ask for them."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts, outputs
from discreet.errors import BadValue, BudgetExceeded
from discreet.fix import UNKNOWN, Fix
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.learn import call_fix, parts, reply_data, require_price, rows_of_a_unit
from discreet.operation.model import ModelCall, read_model, require_other
from discreet.operation.reply import Reply

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.learn.heldout.fairness import Fairness
    from discreet.learn.heldout.score import Score
    from discreet.learn.heldout.trial_quote import TrialQuote


@dataclass(frozen=True)
class ScoreCall:
    """A fitted model to be tried on a dataset, by a metric or by groups, and its price; amounts as they were typed."""

    metadata: Path
    model_file: Path
    metric: str | None = None
    by: str | None = None  # the column whose groups are compared
    target: str | None = None  # the column that the model calls otherwise
    positive: str | None = None  # the class that rates and an AUC are about
    bins: str | None = None  # of an AUC
    of: str | None = None  # what intervals are about
    epsilon: str | None = None
    level: str | None = None
    max_rows: str | None = None
    test: str | None = None  # the share of persons that is held out
    at_size: str | None = None  # for which the ± is quoted
    analyst: str | None = None
    output: Path | None = None
    plot: Path | None = None  # the picture of rates
    second_ledger: str | None = None
    rehearse: bool = False
    verb: str = "learn score"

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        return call_fix(self, words, more)

    def options(self, dataset: "Dataset") -> dict[str, Any]:
        """The arguments that scores, rates and their quotes share."""
        bins = None if self.bins is None else amounts.whole(self.bins, "bins", 4, 1024, such_as=16)
        chosen = {
            "metric": self.metric,
            "by": self.by,
            "target": self.target,
            "positive": self.positive,
            "bins": bins,
            "of": self.of,
            "level": self.level,
            "at_size": self.at_size,
            "analyst": self.analyst,
            "where": None if self.test is None else parts(dataset, self.test)[1],
        }
        given = {name: value for name, value in chosen.items() if value is not None}
        return given | {"epsilon": self.epsilon, "max_rows": rows_of_a_unit(self.max_rows)}


def quote(call: ScoreCall) -> "Reply[TrialQuote]":
    """Price, ± and what would remain, and the call that asks for it.  Costs nothing."""
    from discreet.learn.heldout.fairness import quote_fairness
    from discreet.learn.heldout.score import quote_score

    if (call.metric is None) is (call.by is None):
        fix = replace(call, by=None).fix("Name one of them:", metric=call.metric or "accuracy")
        raise BadValue("A quote is of a score or of groups.", "--metric names a score, --by a column of groups.", fix)
    with _open_both(call) as (dataset, fitted):
        function = quote_score if call.by is None else quote_fairness
        value: TrialQuote = function(dataset.table, fitted, **call.options(dataset))
        data = reply_data(dataset, call, **value.to_json())
    asking = replace(call, verb="learn score" if call.by is None else "learn fairness", at_size=None)
    if value.fits:
        return Reply(data, value, next=(asking.fix("To ask it:"),))
    cheaper = _cheaper(asking, Fraction(value.remaining["epsilon"]))
    return Reply(data, value, next=() if cheaper is None else (cheaper.fix("This fits:"),))


def score(call: ScoreCall, *, watch: Watch = no_watch) -> "Reply[Score]":
    """Charge once and score a fitted model on the persons of the dataset, or on those that are held out."""
    from discreet.learn.heldout.score import score as score_table

    if call.metric is None:
        raise BadValue("A score needs a metric.", "--metric was not given.", call.fix("Name one:", metric="accuracy"))
    with _open_both(call) as (dataset, fitted):
        with watch() as progress, _affordable(call):
            value = score_table(dataset.table, fitted, progress=progress, **call.options(dataset))
        data = reply_data(dataset, call, **value.to_json(), remaining=dataset.table.remaining(call.analyst))
    return Reply(data, value)


def fairness(call: ScoreCall, *, watch: Watch = no_watch) -> "Reply[Fairness]":
    """Charge once and compare how well a fitted model predicts each group of these persons."""
    from discreet.learn.heldout.fairness import fairness as fairness_of_table

    if call.by is None:
        raise BadValue("Groups need a column.", "--by was not given.", call.fix("Name it:", by=UNKNOWN))
    with _open_both(call) as (dataset, fitted):
        with watch() as progress, _affordable(call):
            value = fairness_of_table(dataset.table, fitted, progress=progress, **call.options(dataset))
        data = reply_data(dataset, call, **value.to_json(), remaining=dataset.table.remaining(call.analyst))
    return Reply(data, value)


# --- inside ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _open_both(call: ScoreCall) -> "Iterator[tuple[Dataset, Any]]":
    """Open the dataset and read the model; refused without a price, or if files to be written are not apart."""
    require_other(ModelCall(call.model_file, output=call.output))
    _require_own_picture(call)
    fitted = read_model(call.model_file)
    with open_called(call) as dataset:
        require_price(call)
        yield dataset, fitted


def _require_own_picture(call: ScoreCall) -> None:
    """Refuses a picture that would replace the model's file or share one with the output."""
    for other in (call.model_file, call.output):
        outputs.require_apart(call.plot, other, "must be another file than the model and the output")


@contextlib.contextmanager
def _affordable(call: ScoreCall) -> Iterator[None]:
    """Refuse what exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = _cheaper(call, min(error.remaining, error.requested))
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Spend less:"), RAISE)) from None


def _cheaper(call: ScoreCall, remaining: Fraction) -> ScoreCall | None:
    """The same call for what remains; None if nothing does."""
    from discreet.ledger.refusal import down

    epsilon = down(remaining)
    return replace(call, epsilon=epsilon) if Fraction(epsilon) > 0 else None
