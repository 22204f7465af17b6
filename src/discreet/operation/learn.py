"""Plan and fit a model of a dataset."""

import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import amounts
from discreet.errors import BadValue, BudgetExceeded, CannotWrite, DiscreetError, bad, fixed_by
from discreet.fix import UNKNOWN, Fix
from discreet.operation.cheaper import RAISE
from discreet.operation.dataset import Watch, no_watch, open_called
from discreet.operation.reply import Reply, envelope
from discreet.relation import Relation

if TYPE_CHECKING:
    from discreet.dataset import Dataset
    from discreet.learn.fit import Fit
    from discreet.learn.task import Learning, LearnQuote
    from discreet.operation.train import TrainCall
    from discreet.query.nodes import UnitIn

_NOT_IN_FIXES = ("output", "replaces", "second_ledger", "verb")
_SHARES = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10))  # of what is left
_MOST_ROWS = 10**9


@dataclass(frozen=True)
class LearnCall:
    """A model to be fitted and its price; amounts as they were typed."""

    metadata: Path
    model: str | None = None
    target: str | None = None
    features: str | None = None  # with commas between
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    max_rows: str | None = None
    test: str | None = None  # the share of persons that is held out
    class_weight: tuple[str, ...] = ()  # CLASS=2; this and the next are options of models
    solver: str | None = None
    norm: str | None = None
    alpha: str | None = None
    passes: str | None = None
    rows: str | None = None
    trees: str | None = None
    depth: str | None = None
    bins: str | None = None
    analyst: str | None = None
    rehearse: bool = False
    output: Path | None = None  # the file to write
    replaces: bool = False  # what is there
    second_ledger: str | None = None
    verb: str = "learn fit"

    def fix(self, words: str, **more: Any) -> Fix:
        """The same call as a fix."""
        return call_fix(self, words, more)

    @property
    def price(self) -> dict[str, Any]:
        """The arguments of a plan."""
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}

    @property
    def options(self) -> dict[str, Any]:
        """The options of models that were typed."""
        from discreet.learn.learners import EXAMPLES

        typed = {name: getattr(self, name) for name in EXAMPLES}
        return {name: value for name, value in typed.items() if value not in (None, ())}


def plan(call: LearnCall) -> "Reply[LearnQuote]":
    """Price, noise and what would remain, and the call that fits the model.  Costs nothing."""
    with open_called(call) as dataset:
        learning = _learning(dataset, call)
        quote = learning.quote(**call.price, analyst=call.analyst)
        offer = replace(call, verb="learn fit")
        cheaper = None if quote.fits else _cheaper(learning, offer, Fraction(quote.remaining["epsilon"]))
    fixes: tuple[Fix, ...] = (offer.fix("To fit it:"),) if quote.fits else ()
    fixes = fixes if cheaper is None else (cheaper.fix("This fits:"),)
    return Reply(reply_data(dataset, call, **quote.to_json(), **_model_facts(call, learning)), quote, next=fixes)


def require_file_place(path: Path, *, example: str) -> None:
    """Refuses a file that could not be written: a name that is too long, no folder, or a folder itself."""
    try:
        is_placed, is_folder = path.absolute().parent.is_dir(), path.is_dir()
    except OSError:
        raise bad("output", "must be a name that the system takes", str(path), "Give a shorter one after -o.") from None
    if not is_placed:
        make = f"Make it first: mkdir -p {shlex.quote(str(path.parent))}"
        raise bad("output", "must lie in a folder that exists", str(path), make)
    if is_folder:
        raise bad("output", "must be a file", str(path), f"Name one in it, for example: -o {path / example}")


def output_file(call: "LearnCall | TrainCall") -> Path:
    """The file to write; refused, before anything is spent, if it could not be written afterwards."""
    from discreet.learn.saved.file import require_free

    ending = ".rehearsal.dp" if call.rehearse else ".dp"
    path = call.metadata.parent / f"{call.metadata.stem}{ending}" if call.output is None else call.output
    require_file_place(path, example="model.dp")
    require_free(path, replace=call.replaces and not call.rehearse, toml=call.metadata)
    return path


def fit(
    call: LearnCall, *, agree: "Callable[[LearnQuote], object] | None" = None, watch: Watch = no_watch
) -> "Reply[Fit]":
    """Charge once, fit and write the file; before that `agree` gets the quote, and raises without agreement."""
    from discreet.learn.saved.file import save

    path = output_file(call)
    with open_called(call) as dataset:
        learning = _learning(dataset, call)
        quote = learning.quote(**call.price, analyst=call.analyst)
        if agree is not None:
            agree(quote)
        with watch() as progress, _affordable(call, learning):
            fitted = learning.fit(**call.price, analyst=call.analyst, progress=progress)
        with fixed_by(call.fix("The fit is stored; write it elsewhere for nothing:", output=UNKNOWN), CannotWrite):
            save(fitted, path, replace=call.replaces, toml=call.metadata)
        facts = {name: value for name, value in quote.to_json().items() if name not in ("remaining_after", "fits")}
        facts |= _paid_facts(fitted)  # begun at another default δ, a fit keeps its price, and the quote has the new one
        facts |= {"remaining": dataset.table.remaining(call.analyst), "receipt": fitted.privacy.receipt}
    more = {"file": str(path), "replayed": fitted.is_replayed, "privacy": fitted.privacy.to_json()}
    data = reply_data(dataset, call, **facts, **_model_facts(call, learning), **more)
    return Reply(data, fitted, next=_following(call, path, fitted, Fraction(facts["remaining"]["epsilon"])))


# --- shared with scores and nets -------------------------------------------------------------------------------------


def call_fix(call: Any, words: str, more: Mapping[str, Any]) -> Fix:
    """A call as a fix, with `more` in place of its own arguments."""
    names = [field.name for field in fields(call) if field.name not in _NOT_IN_FIXES]
    return Fix(words, call.verb, {name: getattr(call, name) for name in names} | dict(more))


def rows_of_a_unit(max_rows: str | None) -> int:
    """How many rows of a unit count."""
    return 1 if max_rows is None else amounts.whole(max_rows, "max-rows", 1, _MOST_ROWS, such_as=2)


def names_in(features: str | None) -> list[str] | None:
    """The columns that were typed with commas between; None for the default."""
    names = None if features is None else [name.strip() for name in features.split(",")]
    if names is not None and "" in names:
        fix = "Write, for example: --features age,region"
        raise bad("features", "must name columns, with commas between", features, fix)
    return names


def parts(dataset: "Dataset", test: str) -> "tuple[UnitIn, UnitIn]":
    """The persons to train on, and those that are held out."""
    train, held_out = dataset.split(test=test)
    return train.where, held_out.where


def require_price(call: Any) -> None:
    """Refuses a call without a price; the fix is the same call with one."""
    if call.epsilon is None and getattr(call, "rho", None) is None:
        options = "--eps or --rho says" if hasattr(call, "rho") else "--eps says"
        fix = replace(call, epsilon="1").fix("Say what to spend:")
        raise BadValue("There is no price.", f"{options} what it may cost.", fix)


def reply_data(dataset: "Dataset", call: Any, **more: Any) -> dict[str, Any]:
    """What programs read of a reply about that dataset."""
    rehearsed = {"rehearsal": True} if call.rehearse else {}
    return envelope(dataset=dataset.table.schema.name, **more, **rehearsed)


# --- inside ----------------------------------------------------------------------------------------------------------


def _paid_facts(fitted: "Fit") -> dict[str, Any]:
    """The cost of a fit and what it measured, at the price that it has."""
    from discreet.learn.task import plan_words

    privacy, plan = fitted.privacy, fitted.plan
    cost = plan.price.terms.cost_json(Relation(privacy.relation), privacy.unit)
    return {"cost": cost, "words": list(plan_words(plan))}


def _learning(dataset: "Dataset", call: LearnCall) -> "Learning":
    """The model to be fitted; refused without a model, a target or a price."""
    from discreet.learn.learners import MODELS, model_learner
    from discreet.learn.task import learning

    if call.model is None or call.target is None:
        fix = call.fix("Name both:", model=call.model or next(iter(MODELS)), target=call.target or UNKNOWN)
        raise BadValue("There is nothing to learn yet.", "A fit needs --model and --target.", fix)
    learner = model_learner(call.model, _model_options(dataset, call))
    names, rows = names_in(call.features), rows_of_a_unit(call.max_rows)
    where = None if call.test is None else parts(dataset, call.test)[0]
    task = learning(dataset.table, learner, call.target, names, max_rows=rows, where=where)
    require_price(call)
    return task


def _model_options(dataset: "Dataset", call: LearnCall) -> dict[str, Any]:
    """The typed options, weights as pairs of a class and a text; refused where the model has no such option."""
    from discreet.learn.learners import models_with, named_model

    taken = named_model(call.model).options
    for name in call.options:
        if name not in taken:
            others, flag = models_with(name), f"--{name.replace('_', '-')}"
            why = f"{flag} is an option of {', '.join(others[:-1])}{' and ' * (len(others) > 1)}{others[-1]}."
            unset: Any = () if name == "class_weight" else None
            raise BadValue(f"{call.model} has no option {flag}.", why, call.fix("Leave it out:", **{name: unset}))
    weights = [_class_and_weight(dataset, call.target, text) for text in call.class_weight]
    if len({name for name, _ in weights}) < len(weights):
        raise bad("class-weight", "must name each class once", list(call.class_weight), "Leave out what is there.")
    return call.options | ({"class_weight": weights} if weights else {})


def _class_and_weight(dataset: "Dataset", target: str | None, text: str) -> tuple[Any, str]:
    """The class and the weight in CLASS=2; a text that names no class stays as it is, and the plan refuses it."""
    from discreet.learn.heldout.trial import class_place
    from discreet.learn.input.column import model_column

    name, _, weight = text.rpartition("=")
    if not name:
        raise bad("class-weight", "must be CLASS=WEIGHT", text, "Write, for example: --class-weight yes=2")
    column = dataset.table.schema.find(target or "")
    classes = () if column is None else model_column(column).values or ()
    place = class_place(classes, name)
    return name if place is None else classes[place], weight


def _model_facts(call: LearnCall, learning: "Learning") -> dict[str, Any]:
    """The model and the options that were given, for programs."""
    options = learning.learner.options()
    return {"model": call.model, "options": {name: options[name] for name in call.options}}


@contextlib.contextmanager
def _affordable(call: LearnCall, learning: "Learning") -> Iterator[None]:
    """Refuse what exceeds the budget with the call that still fits."""
    try:
        yield
    except BudgetExceeded as error:
        cheaper = _cheaper(learning, call, min(error.remaining, error.requested))
        if cheaper is None:
            raise
        raise error.with_fix((cheaper.fix("Spend less:"), RAISE)) from None


def _cheaper(learning: "Learning", call: LearnCall, remaining: Fraction) -> LearnCall | None:
    """The same call at a price that fits; None if there is none."""
    from discreet.ledger.refusal import down

    for share in _SHARES:
        epsilon = Fraction(down(remaining * share))
        offer = replace(call, epsilon=down(epsilon), rho=None)
        if epsilon > 0 and _fits(learning, offer):
            return offer
    return None


def _fits(learning: "Learning", call: LearnCall) -> bool:
    try:
        return learning.quote(**call.price, analyst=call.analyst).fits
    except DiscreetError:
        return False


def _following(call: LearnCall, path: Path, fitted: "Fit", remaining: Fraction) -> tuple[Fix, ...]:
    """A score, the card, and after a fit to real rows its verification and predictions."""
    file = {"model_file": str(path)}
    first = (*_scoring(call, file, fitted, remaining), Fix("Next:", "learn card", file))
    if call.rehearse:
        return *first, replace(call, rehearse=False).fix("Next:")
    return (
        *first,
        Fix("Next:", "learn verify", {**file, "charged_to": str(call.metadata)}),
        Fix("Next:", "learn predict", {**file, "rows_file": UNKNOWN}),
    )


def _scoring(call: LearnCall, file: Mapping[str, str], fitted: "Fit", remaining: Fraction) -> tuple[Fix, ...]:
    """The score for as much as the fit cost: of held-out persons, who were not charged for it, or of all, for what
    remains at most."""
    from discreet.ledger.refusal import down

    paid = fitted.privacy.epsilon
    epsilon = down(paid if call.test is not None else min(paid, remaining))
    if epsilon == "0":
        return ()
    metric = "r2" if fitted.plan.subject.target.is_number else "accuracy"
    options = {"epsilon": epsilon, "test": call.test, "analyst": call.analyst, "rehearse": call.rehearse}
    arguments = {"metadata": str(call.metadata), **file, "metric": metric, **options}
    return (Fix("Next:", "learn score", arguments),)
