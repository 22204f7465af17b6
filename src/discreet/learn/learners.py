"""The learners by their names in files, keys and command lines: a name and options give the learner again.

A learner that is stored must plan alike: `learner.plan(subject, plan.price)` is the plan again.  So a file needs to
keep only facts, price and released numbers.  To add a learner, write a function here, which bounds its options, its
line in `LEARNERS`, and one in `MODELS` for command lines, with the options that they may give it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet import amounts
from discreet.errors import BadValue, bad, fixed_by
from discreet.learn.counts.additive import AdditiveLearner
from discreet.learn.counts.gaussian_bayes import GaussianBayesLearner
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.input.column import bins_of
from discreet.learn.learner import Learner
from discreet.learn.risk.descent import PASSES
from discreet.learn.risk.linear import LinearLearner, class_weight_of
from discreet.learn.trees.forest import forest_of
from discreet.learn.trees.tree import tree_of
from discreet.schema.words import suggestion

Options = Mapping[str, Any]


def _naive_bayes(options: Options) -> Learner:
    bins = options.get("bins")
    return NaiveBayesLearner(None if bins is None else bins_of(bins))


def _additive(options: Options) -> Learner:
    bins = options.get("bins")
    return AdditiveLearner(None if bins is None else bins_of(bins))


def _linear(options: Options) -> Learner:
    rows, weights = options.get("rows"), options.get("class_weight")
    return LinearLearner(
        options.get("loss", "logistic"),
        options.get("solver", "auto"),
        _positive_text(options, "norm"),
        None if rows is None else amounts.count(rows, "rows", 1, 2**32),
        _positive_text(options, "alpha"),
        amounts.count(options.get("passes", PASSES), "passes", 1, 1000),
        None if weights is None else tuple((name, class_weight_of(weight)) for name, weight in weights),
    )


def _positive_text(options: Options, name: str) -> str | None:
    number = options.get(name)
    return None if number is None else amounts.exact_text(amounts.positive(number, name))


def _forest(options: Options) -> Learner:
    return forest_of(options.get("trees"), options.get("depth"))


def _tree(options: Options) -> Learner:
    return tree_of(options.get("depth"))


def _gaussian_bayes(options: Options) -> Learner:
    return GaussianBayesLearner()


LEARNERS: dict[str, Callable[[Options], Learner]] = {
    "naive bayes": _naive_bayes,
    "additive": _additive,
    "linear": _linear,
    "random forest": _forest,
    "decision tree": _tree,
    "gaussian naive bayes": _gaussian_bayes,
}


@dataclass(frozen=True)
class NamedModel:
    """A learner as command lines name it: what the name stands for, and the options that may be given with it."""

    learner: str
    options: tuple[str, ...] = ()
    fixed: Options = field(default_factory=dict)


_LINEAR = ("solver", "norm", "alpha", "passes", "rows")

MODELS: dict[str, NamedModel] = {
    "naive-bayes": NamedModel("naive bayes", ("bins",)),
    "additive": NamedModel("additive", ("bins",)),
    "random-forest": NamedModel("random forest", ("trees", "depth")),
    "decision-tree": NamedModel("decision tree", ("depth",)),
    "gaussian-naive-bayes": NamedModel("gaussian naive bayes"),
    "logistic": NamedModel("linear", (*_LINEAR, "class_weight"), {"loss": "logistic"}),
    "hinge": NamedModel("linear", (*_LINEAR, "class_weight"), {"loss": "hinge"}),
    "linear-regression": NamedModel("linear", _LINEAR, {"loss": "huber"}),
}
EXAMPLES = {  # of each option that command lines have
    "class_weight": "yes=2",
    "solver": "objective",
    "norm": "2",
    "alpha": "0.1",
    "passes": "50",
    "rows": "10000",
    "trees": "50",
    "depth": "4",
    "bins": "32",
}
_WHOLE = ("passes", "rows", "trees", "depth", "bins")


def model_learner(model: Any, options: Options | None = None) -> Learner:
    """The learner that a command line names, with the options that are typed there; the others are at their defaults.

    >>> model_learner("naive-bayes", {"bins": "32"}).options()
    {'bins': 32}
    """
    named, given = named_model(model), {}
    for name, typed in (options or {}).items():
        with fixed_by(f"Write, for example: --{name.replace('_', '-')} {EXAMPLES[name]}"):
            given[name] = _whole(typed) if name in _WHOLE else typed
            learner_of(named.learner, {**named.fixed, name: given[name]})
    return learner_of(named.learner, {**named.fixed, **given})


def named_model(model: Any) -> NamedModel:
    """The model of that name at a command line."""
    if model not in MODELS:
        intended = suggestion(model, MODELS) if isinstance(model, str) else None
        fix = f"Write: --model {intended or next(iter(MODELS))}"
        raise bad("model", f"must be one of {', '.join(MODELS)}", model, fix)
    return MODELS[model]


def models_with(option: str) -> list[str]:
    """The names of the models that take this option.

    >>> models_with("depth")
    ['random-forest', 'decision-tree']
    """
    return [name for name, named in MODELS.items() if option in named.options]


def model_name(learner: str, options: Options) -> str:
    """What command lines call a learner with these options; its own name where they have none.

    >>> model_name("linear", {"loss": "huber", "passes": 100})
    'linear-regression'
    """
    own = ((name, named.fixed) for name, named in MODELS.items() if named.learner == learner)
    return next((name for name, fixed in own if fixed.items() <= options.items()), learner)


def _whole(typed: str) -> Any:
    """The whole number that a text names; another text as it is, which the learner then refuses."""
    try:
        number = amounts.decimal(typed, "number")
    except BadValue:
        return typed
    return int(number) if number.denominator == 1 else typed


def learner_of(name: Any, options: Options | None = None) -> Learner:
    """The learner of that name in a file; options that are left out are at their defaults."""
    if name not in LEARNERS:
        raise bad("learner", f"must be one of {', '.join(LEARNERS)}", name, "Use the Discreet that saved it.")
    given = dict(options or {})
    learner = LEARNERS[name](given)
    unknown = sorted(set(given) - set(learner.options()))
    if unknown:
        rule = f"must be among {', '.join(sorted(learner.options())) or 'none'}"
        raise bad(f"options of {learner.name}", rule, unknown[0], "Leave it out.")
    return learner
