"""Audit one question by draws: lower bounds on ε between neighbouring tables, held against the charge.

Many releases of a plan are drawn from the exact integers of both tables; events are chosen on one half of them and
counted on the other (discreet/audit/trial.py).  Every answer is a function of a release and of public facts, so what
holds for the release holds for what is stored and shown.

The first thing an event may look at is the tilt, the sum over released numbers of the log of how much likelier each is
on the first table, by the laws the plan names.  By Neyman & Pearson nothing tells the two tables apart better if the
plan keeps to these laws; if it does not, the other columns and the classifier are there.  docs/proofs/audit/shapes.md
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from audit.copies import Copies, narrowed, side_by_side
from discreet import real
from discreet.audit.bounds import ALPHA, Odds, Test
from discreet.audit.features import Outputs
from discreet.audit.report import Row, verdict
from discreet.audit.trial import RUNS, both_orders
from discreet.engine import Engine
from discreet.errors import IntegrityError
from discreet.mechanism.additive import Additive, root_up
from discreet.mechanism.keys import KeySelection
from discreet.mechanism.quantile import Quantile, scores
from discreet.mechanism.select import TopK
from discreet.ndarrays import Floats, Ints
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import SYSTEM, Source
from discreet.privacy import price
from discreet.privacy.cost import Approx, Cost, Exponential, Gaussian, Pure, Repeated, Together
from discreet.query.compile.exacts import Buckets, Exacts, KeyTuple, exacts_of
from discreet.query.compile.statements import statements
from discreet.query.joint import Measured
from discreet.query.parts import Ranks, Tops
from discreet.query.plan import Plan

Draws = Callable[[Plan, Exacts, int, Source], Copies]
_MOVING = 4  # groups that are looked at, those that move furthest first; and one that does not move
_COLUMNS = 7  # beside the tilt
_VISIBLE_DELTA = Fraction(1, 100)  # a δ that draws show by themselves
_LEAST = 1e-12  # stands for chances that no number of draws would show


@dataclass(frozen=True, eq=False)
class Pair:
    """A plan and its exact integers on two neighbouring tables."""

    plan: Plan
    first: Exacts
    second: Exacts


def exact_of(engine: Engine, plan: Plan) -> Exacts:
    """The plan's exact integers on a prepared table, computed twice: they must not depend on when."""
    draft, parts = plan.draft, [measured.part for measured in plan.measured]
    statement_list = statements(draft.schema, draft.cells, draft.question.where, draft.caps, parts)
    first, second = (
        exacts_of(statement_list, engine.run([s.sql for s in statement_list]), draft.cells) for _ in range(2)
    )
    if not same(first, second):
        why = "Noise is calibrated to exact numbers; these change from one computation to the next."
        raise IntegrityError("The same statements gave different numbers.", why, "Report it.")
    return first


def same(first: Exacts, second: Exacts) -> bool:
    """Whether two computations gave the same groups and the same integers."""
    return first.keys == second.keys and all(
        np.array_equal(*columns)
        for part, numbers in first.parts.items()
        for columns in zip(_columns(numbers), _columns(second.parts[part]), strict=True)
    )


def _columns(numbers: Ints | Buckets) -> list[Ints]:
    return [numbers.cell, numbers.bucket, numbers.count] if isinstance(numbers, Buckets) else [numbers]


def charged_tests(plan: Plan) -> tuple[Test, ...]:
    """What is held against the draws: the charged (ε, δ), and the cost's ε at δ = 1/100 where noise is Gaussian.

    The charge alone would let a Gaussian plan pass with too little noise: what breaks its (ε, δ) may be as rare as δ.
    """
    charge: Test = Odds(plan.terms.epsilon, plan.terms.delta)
    noises = [getattr(measured.mechanism, "noise", None) for measured in plan.measured]
    gaussian = any(isinstance(noise, RoundedGaussian | DiscreteGaussian) for noise in noises)
    return (charge, _at_visible_delta(plan.cost)) if gaussian and plan.terms.delta < _VISIBLE_DELTA else (charge,)


def _at_visible_delta(cost: Cost) -> Test:
    """The ε of a cost at δ = 1/100 by plain sums, ε and δ of its parts and μ² = Σ 1/σ²: quick, and never too small."""
    epsilon, delta, mu_squared = added_up(cost)
    normal = Gaussian(1 / root_up(mu_squared))
    return Odds(epsilon + price.epsilon(normal, _VISIBLE_DELTA - delta).value, _VISIBLE_DELTA)


def added_up(cost: Cost) -> tuple[Fraction, Fraction, Fraction]:
    """ε and δ of a plan's cost, added up, and μ² of all that is Gaussian: the plainest composition there is."""
    match cost:
        case Pure(epsilon) | Exponential(epsilon):
            return epsilon, Fraction(0), Fraction(0)
        case Approx(epsilon, delta):
            return epsilon, delta, Fraction(0)
        case Gaussian(sigma):
            return Fraction(0), Fraction(0), 1 / sigma**2
        case Repeated(once, times):
            epsilon, delta, mu_squared = added_up(once)
            return times * epsilon, times * delta, times * mu_squared
        case Together(costs):
            columns = zip(*map(added_up, costs), strict=True)
            epsilon, delta, mu_squared = (sum(column, Fraction(0)) for column in columns)
            return epsilon, delta, mu_squared
        case _:
            raise TypeError(type(cost).__name__)


def audited_answer(
    name: str,
    pair: Pair,
    *,
    runs: int = RUNS,
    alpha: float = ALPHA,
    draws: Draws = side_by_side,
    source: Source = SYSTEM,
) -> Row:
    """The row of one question on one pair: the order and event whose lower bound came nearest to the charge."""
    narrow = Pair(pair.plan, *(narrowed(side, _observed_keys(pair)) for side in (pair.first, pair.second)))
    tests = charged_tests(pair.plan)
    first, second = (outputs(narrow, draws(narrow.plan, side, runs, source)) for side in (narrow.first, narrow.second))
    findings = both_orders(tests, first, second, alpha / (2 * len(tests)))
    worst = max(findings, key=lambda f: (f.is_refuted, f.excess))
    return Row(name, str(worst.test), worst.bound, runs, str(worst.event), verdict(worst.is_refuted))


# --- how far a pair is apart -----------------------------------------------------------------------------------------


def pull(pair: Pair) -> float:
    """How far the log-odds of a release can be pulled by this pair, a group weighed by its chance to be seen."""
    return sum(_pulls(pair).values())


def _observed_keys(pair: Pair) -> list[KeyTuple]:
    """The groups that move furthest; second, for comparison, the first of those that do not move."""
    pulls = _pulls(pair)
    moving = sorted((key for key in pulls if pulls[key] > 0), key=lambda key: -pulls[key])
    still = [key for key in pulls if pulls[key] == 0]
    return [*moving[:1], *still[:1], *moving[1:_MOVING]]


def _pulls(pair: Pair) -> dict[KeyTuple, float]:
    keys = tuple(dict.fromkeys((*pair.first.keys, *pair.second.keys)))
    chances = np.maximum(*(_chances(pair.plan, side, keys) for side in (pair.first, pair.second)))
    total = np.zeros(len(keys))
    for measured in pair.plan.measured:
        total += [_largest_log_odds(measured, *_both(pair, measured, key)) for key in keys]
    return dict(zip(keys, (total * chances).tolist(), strict=True))


def _largest_log_odds(measured: Measured, first: Ints, second: Ints) -> float:
    """How much likelier an output can become, as a log, in one group of one part."""
    apart = float(np.abs(first - second).max(initial=0))
    match measured.mechanism:
        case Quantile(choice=choice, q=q):
            return float(choice.rate) * float(np.abs(scores(first, q) - scores(second, q)).max())
        case TopK(choice=choice, k=k):
            return float(choice.rate) * k * apart
        case Additive(noise=noise) | KeySelection(noise=noise):
            return apart / _width(noise)
        case _:
            raise TypeError(type(measured.mechanism).__name__)


def _both(pair: Pair, measured: Measured, key: KeyTuple) -> tuple[Ints, Ints]:
    return _numbers_of(pair.first, measured, key), _numbers_of(pair.second, measured, key)


def _width(noise: Any) -> float:
    return max(float(noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma), _LEAST)


def _numbers_of(exact: Exacts, measured: Measured, key: KeyTuple) -> Ints:
    """The exact number of a group, or the counts of all its buckets; 0 where the table does not have it."""
    match measured.part:
        case Ranks(grid=grid):
            size = grid.points
        case Tops(values=values):
            size = len(values)
        case _:
            size = 1
    if key not in exact.keys:
        return np.zeros(size, dtype=np.int64)
    numbers, place = exact.parts[measured.part], exact.keys.index(key)
    return numbers.of(place, size) if isinstance(numbers, Buckets) else numbers[place : place + 1]


def _chances(plan: Plan, exact: Exacts, keys: tuple[KeyTuple, ...]) -> Floats:
    """How likely each key is to be released."""
    for measured in plan.measured:
        if isinstance(measured.mechanism, KeySelection):
            counts = [int(_numbers_of(exact, measured, key)[0]) for key in keys]
            above, least = measured.mechanism.noise.above, measured.mechanism.threshold
            return np.array([_chance(above, least - count) if count >= 1 else 0.0 for count in counts])
    return np.ones(len(keys))


def _chance(above: Callable[[int], arb], least: int) -> float:
    return float(real.upper(lambda: above(least)))


# --- what an event may look at ----------------------------------------------------------------------------------------


def outputs(pair: Pair, copies: Copies) -> Outputs:
    """A row a release: the tilt; numbers of the groups looked at, less the first table's; how many keys were shown."""
    keys, n = tuple(_observed_keys(pair)), len(copies.shown)
    shown = np.zeros((n, len(keys)), dtype=np.bool_)
    for place, key in enumerate(keys):
        if key in copies.keys:
            shown[:, place] = copies.shown[:, copies.keys.index(key)]
    tilt = np.where(shown, *_log_odds(pair, keys)).sum(axis=1)
    columns = []
    for turn, measured in enumerate(m for m in pair.plan.measured if m.part in copies.parts):
        for place, key in enumerate(keys):
            first, second = _both(pair, measured, key)
            numbers = _released(copies, measured, key)
            tilt += np.where(shown[:, place], _tilt(measured, numbers, first, second), 0.0)
            less = first[0] if isinstance(measured.mechanism, Additive) else 0
            columns += [(turn + place, np.where(shown[:, place], number - less, np.nan)) for number in numbers.T]
    ordered = [column for _, column in sorted(columns, key=lambda entry: entry[0])[:_COLUMNS]]
    return np.column_stack([tilt, *ordered, *([] if pair.plan.draft.cells.public else [shown.sum(axis=1)])])


def _released(copies: Copies, measured: Measured, key: KeyTuple) -> Ints:
    """n × 1, or n × k where k values are chosen."""
    n = len(copies.shown)
    if key not in copies.keys:
        return np.zeros((n, measured.part.k if isinstance(measured.part, Tops) else 1), dtype=np.int64)
    return copies.parts[measured.part][:, copies.keys.index(key)].reshape(n, -1)


def _log_odds(pair: Pair, keys: tuple[KeyTuple, ...]) -> tuple[Floats, Floats]:
    """ln P[shown on the first]/P[shown on the second] a key, and the same of not being shown."""
    first, second = (np.clip(_chances(pair.plan, x, keys), _LEAST, 1 - _LEAST) for x in (pair.first, pair.second))
    return np.log(first / second), np.log((1 - first) / (1 - second))


def _tilt(measured: Measured, numbers: Ints, first: Ints, second: Ints) -> Floats:
    """ln of how much likelier these numbers are with the first exact value than with the second, but for a constant."""
    match measured.mechanism:
        case Quantile(choice=choice, q=q):
            difference = (scores(first, q) - scores(second, q))[numbers[:, 0]]
            return np.asarray(difference * float(choice.rate), dtype=np.float64)
        case TopK(choice=choice):
            difference = (first - second)[numbers].sum(axis=1)
            return np.asarray(difference * float(choice.rate), dtype=np.float64)
        case Additive(noise=noise):
            first_gap, second_gap = ((numbers[:, 0] - exact[0]) / _width(noise) for exact in (first, second))
            flat = isinstance(noise, DiscreteLaplace)
            return np.asarray(
                abs(second_gap) - abs(first_gap) if flat else (second_gap**2 - first_gap**2) / 2, dtype=np.float64
            )
        case _:
            raise TypeError(type(measured.mechanism).__name__)
