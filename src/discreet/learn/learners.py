"""The learners by their names in files, keys and command lines: a name and options give the learner again.

A learner that is stored must plan alike: `learner.plan(subject, plan.price)` is the plan again.  So a file needs to
keep only facts, price and released numbers.  To add a learner, write a function here, which bounds its options, its
line in `LEARNERS`, and one in `MODELS` for command lines.
"""

from collections.abc import Callable, Mapping
from typing import Any

from discreet import amounts
from discreet.errors import bad
from discreet.learn.counts.additive import AdditiveLearner
from discreet.learn.counts.gaussian_bayes import GaussianBayesLearner
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.input.column import bins_of
from discreet.learn.learner import Learner
from discreet.learn.risk.descent import PASSES
from discreet.learn.risk.linear import LinearLearner
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
    weights = options.get("class_weight")
    given = {name: options[name] for name in ("loss", "solver", "norm", "rows", "alpha") if name in options}
    given["passes"] = amounts.count(options.get("passes", PASSES), "passes", 1, 1000)
    return LinearLearner(
        **given, class_weight=None if weights is None else tuple((name, float(weight)) for name, weight in weights)
    )


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


MODELS: dict[str, tuple[str, Options]] = {  # as command lines name them
    "naive-bayes": ("naive bayes", {}),
    "additive": ("additive", {}),
    "random-forest": ("random forest", {}),
    "decision-tree": ("decision tree", {}),
    "gaussian-naive-bayes": ("gaussian naive bayes", {}),
    "logistic": ("linear", {"loss": "logistic"}),
    "hinge": ("linear", {"loss": "hinge"}),
    "linear-regression": ("linear", {"loss": "huber"}),
}


def model_learner(model: Any) -> Learner:
    """The learner that a command line names, at its defaults.

    >>> model_learner("naive-bayes").options()
    {'bins': None}
    """
    if model not in MODELS:
        intended = suggestion(model, MODELS) if isinstance(model, str) else None
        fix = f"Write: --model {intended or next(iter(MODELS))}"
        raise bad("model", f"must be one of {', '.join(MODELS)}", model, fix)
    return learner_of(*MODELS[model])


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
