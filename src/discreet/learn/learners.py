"""The learners by their names in files, keys and command lines: a name and options give the learner again.

A learner that is stored must plan alike: `learner.plan(subject, plan.price)` is the plan again.  So a file needs to
keep only facts, price and released numbers.  To add a learner, write a function here and its line in `LEARNERS`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.errors import bad
from discreet.learn.additive import AdditiveLearner
from discreet.learn.column import bins_of
from discreet.learn.learner import Learner
from discreet.learn.linear import LinearLearner
from discreet.learn.naive_bayes import NaiveBayesLearner
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
    given = {name: options[name] for name in ("loss", "solver", "norm", "rows", "alpha", "passes") if name in options}
    return LinearLearner(**given, class_weight=None if weights is None else tuple(map(float, weights)))


LEARNERS: dict[str, Callable[[Options], Learner]] = {
    "naive bayes": _naive_bayes,
    "additive": _additive,
    "linear": _linear,
}


def learner_of(name: Any, options: Options | None = None) -> Learner:
    """The learner of that name, spaces or dashes alike; options that are left out are at their defaults.

    >>> learner_of("naive-bayes").options()
    {'bins': None}
    """
    spaced = name.replace("-", " ") if isinstance(name, str) else name
    if spaced not in LEARNERS:
        names = [dashed(known) for known in LEARNERS]
        intended = suggestion(name, names) if isinstance(name, str) else None
        fix = f"Did you mean {intended}?" if intended else f"Name one of: {', '.join(names)}."
        raise bad("model", "must be the name of a learner", name, fix)
    given = dict(options or {})
    learner = LEARNERS[spaced](given)
    unknown = sorted(set(given) - set(learner.options()))
    if unknown:
        rule = f"must be among {', '.join(sorted(learner.options())) or 'none'}"
        raise bad(f"options of {dashed(learner.name)}", rule, unknown[0], "Leave it out.")
    return learner


def dashed(name: str) -> str:
    """The name as command lines spell it.

    >>> dashed("naive bayes")
    'naive-bayes'
    """
    return name.replace(" ", "-")
