"""Audit any Python function: call it again and again on two neighbouring inputs and look for a lower bound on its ε."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import amounts
from discreet.audit.audited import Audited, result_of
from discreet.audit.bounds import ALPHA, Odds
from discreet.audit.classify import fitted_score
from discreet.audit.coding import Coder, Raised, are_alike, coder
from discreet.audit.events import Candidates, Feature, pattern_families, threshold_families
from discreet.audit.features import Kind, NoNumber, Outputs, Total, Within, plain_features
from discreet.audit.trial import LEAST_RUNS, findings_of
from discreet.errors import BadValue, bad

MOST_RUNS = 10**7
_FIRST_CALLS = 20
_SEEDED = (
    "Every run on the same input gave the same output: if there is noise in it, its generator is seeded anew each time."
)

_COUNTED_FROM = "Whole numbers beyond 2^53 are counted from the first output: of such, y is the difference."


def mechanism(
    function: Callable[[Any], Any], pair: Sequence[Any], claim: Any = 1, *, delta: Any = 0, runs: Any = 10_000
) -> Audited:
    """Whether a function of your own costs more than the ε (at δ) that it claims: refuted, or not.

    `function` takes one element of `pair`, two inputs that differ in what one unit may change, and returns a number, a
    vector, a text or None; an exception is an output too.  Every call must draw noise of its own, since runs count as
    independent.  Half of the `runs` on each side choose the event, half are counted (docs/proofs/audit.md, 1 and 2).

    >>> import discreet as dp
    >>> def count(rows):
    ...     return len(rows) + dp.noise.discrete_laplace(1, 1)
    >>> audit = dp.audit.mechanism(count, ([], ["Ada"]), claim="0.25", runs=2_000)
    >>> audit.refuted, 0.25 < audit.lower < 1
    (True, True)
    """
    if not callable(function):
        raise bad("function", "must be a function of one input", function, "Give a function such as lambda rows: ….")
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        fix = "Give the input with a unit and the one without it: (table, table_without_ada)."
        raise bad("pair", "must be two inputs", type(pair).__name__, fix)
    test = claim_of(claim, delta)
    size = amounts.whole(runs, "runs", LEAST_RUNS, MOST_RUNS, such_as=10_000)
    first, second = _calls(function, pair, size)
    half = size // 2
    learnt = coder(first[:half], second[:half])
    ahead, behind = learnt.rows(first), learnt.rows(second)
    families = coded_families(learnt, ahead[:half], behind[:half])
    findings = findings_of((test,), families, ahead, behind, ALPHA / 2)
    notes = (_SEEDED,) if all(map(are_alike, (first, second))) else ()
    far = (_COUNTED_FROM,) if any(learnt.origins) else ()
    return result_of("mechanism", test, findings, size, (*notes, *far))


def claim_of(claim: Any, delta: Any) -> Odds:
    """The claim (ε, δ), for δ up to a half: what others promise may lie above our own ceiling."""
    return Odds(amounts.epsilon(claim, "claim"), amounts.delta(delta, ceiling=Fraction(1, 2)))


def coded_families(learnt: Coder, first: Outputs, second: Outputs) -> list[Candidates]:
    """Events of the numbers, where there are any, of what stands beside them, and of kinds."""
    features: list[Feature] = []
    if len(learnt.kinds) > 1:
        features += [Kind(number, label) for number, label in enumerate(learnt.kinds)]
    if learnt.width == 0:
        return threshold_families(features or [Kind(0, learnt.kinds[0])], first, second)
    numbers = [side[:, 0] if learnt.width == 1 else side[:, : learnt.width] for side in (first, second)]
    with np.errstate(invalid="ignore", over="ignore"):  # outputs may be infinite
        for feature in (*plain_features(numbers[0]), fitted_score(*numbers)):
            if not (learnt.beyond and isinstance(feature, Total)):  # it would be the sum of the first places alone
                features.append(feature if isinstance(feature, NoNumber) else Within(feature, learnt.width))
        features += learnt.beside
        families = threshold_families(features, first, second)
        return families if learnt.width == 1 else [*families, *pattern_families(*numbers)]


def _calls(function: Callable[[Any], Any], pair: Sequence[Any], runs: int) -> tuple[list[Any], list[Any]]:
    """The outputs on both inputs, called in turns."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    for run in range(runs):
        for side, given in zip(sides, pair, strict=True):
            side.append(_call(function, given))
        if run == _FIRST_CALLS:
            _require_some_answer([*sides[0], *sides[1]])
    return sides


def _call(function: Callable[[Any], Any], given: Any) -> Any:
    try:
        return function(given)
    except Exception as error:  # whatever it is: whether and how a call fails is what it tells
        return Raised(type(error).__name__)


def _require_some_answer(outputs: list[Any]) -> None:
    if all(isinstance(output, Raised) for output in outputs):
        what, why = "function must return something.", f"The first {len(outputs)} calls raised {outputs[0].name}."
        raise BadValue(what, why, "Call it once by hand: it must take an input of the pair, and nothing else.")
