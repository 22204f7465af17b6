"""Plan and train a net on a dataset, and use its file: the card, and predictions for rows of one's own."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BadValue, BudgetExceeded, CannotWrite, DiscreetError, IntegrityError, bad, fixed_by
from discreet.fix import UNKNOWN, Fix
from discreet.ledger.refusal import down
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.learn import call_fix, names_in, output_file, parts, reply_data, require_price, rows_of_a_unit
from discreet.operation.model import NET, ModelCall, Predictions, require_other, require_torch
from discreet.operation.reply import Reply, envelope

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.deep.table.net import TableNet
    from discreet.deep.table.work import Work
    from discreet.learn.privacy import Privacy
    from discreet.learn.task import LearnQuote

_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left


@dataclass(frozen=True)
class TrainCall:
    """A net to be trained and its price; amounts as they were typed."""

    metadata: Path
    target: str | None = None
    features: str | None = None  # with commas between
    epsilon: str | None = None
    delta: str | None = None
    epochs: str | None = None
    batch: str | None = None  # persons expected in a step
    rows: str | None = None  # number of persons, if it is public
    hidden: str | None = None  # widths of layers, with commas between
    bins: str | None = None
    learning_rate: str | None = None
    clip: str | None = None
    max_rows: str | None = None
    test: str | None = None  # the share of persons that is held out
    analyst: str | None = None
    rehearse: bool = False
    output: Path | None = None  # the file to write
    replaces: bool = False  # what is there
    second_ledger: str | None = None
    verb: str = "train"

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        return call_fix(self, words, more)

    def options(self) -> dict[str, Any]:
        """The options of a net and its training."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "epochs": self.epochs,
            "batch": None if self.batch is None else amounts.whole(self.batch, "batch", 1, 2**40, such_as=1024),
            "rows": None if self.rows is None else amounts.whole(self.rows, "rows", 1, 2**40, such_as=30_000),
            "hidden": self.hidden,
            "bins": None if self.bins is None else amounts.whole(self.bins, "bins", 2, 1024, such_as=16),
            "learning_rate": self.learning_rate,
            "clip": self.clip,
            "max_rows": rows_of_a_unit(self.max_rows),
        }


def plan(call: TrainCall) -> "Reply[LearnQuote]":
    """Price, steps, noise and what would remain, and the call that trains the net.  Costs nothing."""
    with _open(call) as (dataset, work):
        quote = work.quote(call.analyst)
        offer = replace(call, verb="train")
        cheaper = None if quote.fits else _cheaper(dataset, offer, Fraction(quote.remaining["epsilon"]))
        data = reply_data(dataset, call, **quote.to_json(), **work.to_json())
    fixes: tuple[Fix, ...] = (offer.fix("To train it:"),) if quote.fits else ()
    return Reply(data, quote, next=fixes if cheaper is None else (cheaper.fix("This fits:"),))


def train(
    call: TrainCall, *, agree: "Callable[[LearnQuote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[TableNet]":
    """Charge once, train and write the file; before that `agree` gets the quote, and raises without agreement."""
    path = output_file(call)
    with _open(call) as (dataset, work):
        from discreet.deep.saved.file import save  # it brings torch

        quote = work.quote(call.analyst)
        if agree is not None:
            agree(quote)
        with watch() as progress, _affordable(dataset, call):
            outcome = work.run(call.analyst, progress)
        privacy = outcome.privacy
        with fixed_by(call.fix("The net is stored; write it elsewhere for nothing:", output=UNKNOWN), CannotWrite):
            save(outcome.net, privacy, path, replace=call.replaces)
        facts = {name: value for name, value in quote.to_json().items() if name not in ("remaining_after", "fits")}
        facts |= {"remaining": dataset.table.remaining(call.analyst), "receipt": privacy.receipt}
        more = {"file": str(path), "replayed": outcome.is_replayed, "privacy": privacy.to_json()}
        data = reply_data(dataset, call, **facts, **work.to_json(), **more)
    return Reply(data, outcome.net, next=_following(call, path, privacy, work.net.cells.subject.target.is_number))


def card(call: ModelCall) -> Reply[str]:
    """The card of a net: data for programs, Markdown for people."""
    require_other(call)
    net, privacy = _read(call)
    from discreet.deep.saved.card import card as card_of

    return Reply(_data(call, net, privacy, card=card_of(net, privacy, "json")), card_of(net, privacy))


def spending_picture(call: ModelCall) -> Any:
    """The picture of ε over the steps of a net's training."""
    net, privacy = _read(call)
    from discreet.deep.saved.spending import spending
    from discreet.plot import training as plot

    points = [(step, amounts.float_up(epsilon)) for step, epsilon in spending(privacy)]
    about = f"at δ = {amounts.text_of(privacy.delta)}, for each {privacy.unit}; all was charged before the first"
    title = f"What a net for {net.cells.subject.target.name} spent"
    if privacy.is_invented:
        from discreet.rehearsal import stamp

        title = stamp.titled(title)
    return plot.spending_picture(points, title=title, caption=f"ε of the first steps {about}.")


def predict(call: ModelCall) -> Reply[Predictions]:
    """The predictions of a net for rows that the caller has; refused where the output is one of the two files."""
    from discreet.learn.input.file_rows import read_rows, unread_cells
    from discreet.rehearsal import stamp

    if call.rows_file is None:
        raise bad("rows", "must be given", None, "Give a CSV with the columns of the features.")
    require_other(call)
    net, privacy = _read(call)
    subject = net.cells.subject
    columns = read_rows(call.rows_file, subject)
    header, rows = _lines(net, columns)
    if privacy.is_invented:
        header, rows = (stamp.COLUMN, *header), tuple((stamp.CELL, *row) for row in rows)
    predictions = Predictions(header, rows, unread_cells(subject, subject.encoded(columns)))
    told = [dict(zip(header, row, strict=True)) for row in rows]
    caveat = "A prediction tells of people with the same features, not of one."
    data = _data(call, net, privacy, caveat, rows=told, unread=predictions.unread)
    return Reply(data, predictions, next=(Fix("Next:", "train card", {"model_file": str(call.model_file)}),))


# --- inside ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _open(call: TrainCall) -> "Iterator[tuple[Dataset, Work]]":
    """Open the dataset, with the work that the call describes."""
    require_torch()
    with open_called(call) as dataset:
        yield dataset, _work(dataset, call)


def _work(dataset: "Dataset", call: TrainCall) -> "Work":
    """The net to be trained; refused without a target or a price."""
    if call.target is None:
        fix = call.fix("Name it:", target=UNKNOWN)
        raise BadValue("There is nothing to learn yet.", "A training needs --target.", fix)
    require_price(call)
    from discreet.deep.table.work import work_of  # it brings torch

    where = None if call.test is None else parts(dataset, call.test)[0]
    return work_of(dataset.table, call.target, names_in(call.features), where=where, **call.options())


@contextlib.contextmanager
def _affordable(dataset: "Dataset", call: TrainCall) -> Iterator[None]:
    """Refuse what exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = _cheaper(dataset, call, min(error.remaining, error.requested))
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Spend less:"), RAISE)) from None


def _cheaper(dataset: "Dataset", call: TrainCall, remaining: Fraction) -> TrainCall | None:
    """The same call at a price that fits; None if there is none."""
    for share in _SHARES:
        epsilon = Fraction(down(remaining * share))
        offer = replace(call, epsilon=down(epsilon))
        with contextlib.suppress(DiscreetError):
            if epsilon > 0 and _work(dataset, offer).quote(call.analyst).fits:
                return offer
    return None


def _following(call: TrainCall, path: Path, privacy: "Privacy", is_number: bool) -> tuple[Fix, ...]:
    """The card, a score where persons are held out, and predictions after a training on real rows."""
    file = {"model_file": str(path)}
    scored: tuple[Fix, ...] = ()
    if call.test is not None:
        options = {"test": call.test, "analyst": call.analyst, "rehearse": call.rehearse}
        price = {"metric": "r2" if is_number else "accuracy", "epsilon": down(privacy.epsilon)}
        scored = (Fix("Next:", "learn score", {"metadata": str(call.metadata), **file, **price, **options}),)
    first = (*scored, Fix("Next:", "train card", file))
    if call.rehearse:
        return *first, replace(call, rehearse=False).fix("Next:")
    return *first, Fix("Next:", "train predict", {**file, "rows_file": UNKNOWN})


def _read(call: ModelCall) -> "tuple[TableNet, Privacy]":
    from discreet.learn.saved.file import read_bytes

    require_torch()
    stored = read_bytes(call.model_file)
    if not stored.startswith(NET):
        fix = "Give a file that a net was saved to."
        raise IntegrityError("This is no file of a net.", "It does not begin like one.", fix)
    from discreet.deep.table.saved import net_of  # it brings torch, which takes a second

    net = net_of(stored)
    return net, net.privacy_


def _lines(net: "TableNet", columns: Any) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """A header, and for each row its number, its prediction and, of classes, their probabilities."""
    classes = net.cells.classes
    if not classes:
        numbers = net.predict(columns)
        return ("row", "prediction"), tuple((place, float(number)) for place, number in enumerate(numbers, 1))
    shares = net.predict_proba(columns)
    header = ("row", "prediction", *(f"P({name})" for name in classes))
    return header, tuple(
        (place, classes[int(line.argmax())], *map(float, line)) for place, line in enumerate(shares, 1)
    )


def _data(call: ModelCall, net: "TableNet", privacy: "Privacy", *caveats: str, **more: Any) -> dict[str, Any]:
    """What programs read of a reply about that net; the stamp of a rehearsal is the first caveat."""
    from discreet.learn.privacy import INVENTED_WORDS

    promise, is_invented = privacy.to_json(), privacy.is_invented
    return envelope(
        cost={name: promise[name] for name in ("epsilon", "delta", "neighbours", "unit")},
        receipt=promise["receipt"],
        file=str(call.model_file),
        target=net.cells.subject.target.name,
        caveats=[*([INVENTED_WORDS] if is_invented else []), *caveats],
        **more,
        **({"rehearsal": True} if is_invented else {}),
    )
